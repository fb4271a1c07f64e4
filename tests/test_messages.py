"""Strict chat templates accept every row of every `messages` config, and refuse invalid chats."""

import copy

import pytest
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from mutations import InMemory

from parley.folder import integrity
from parley.folder.built import open_folder

# Like models' own templates, it refuses roles out of turn, later system messages and unknown roles.
TEMPLATE = """\
{%- set prefix = '' %}
{%- if messages[0]['role'] == 'system' %}
  {%- set prefix = messages[0]['content'] + '\\n\\n' %}
  {%- set messages = messages[1:] %}
{%- endif %}
{%- for message in messages %}
  {%- if message['role'] != ('user', 'assistant')[loop.index0 % 2] %}
    {{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
  {%- endif %}
  {{- '<start_of_turn>' + ('model' if message['role'] == 'assistant' else 'user') + '\\n' }}
  {{- (prefix if loop.first else '') + message['content'] | trim + '<end_of_turn>\\n' }}
{%- endfor %}
"""


def refuse(reason):
    raise TemplateError(reason)


# the environment of transformers, but undefined values are errors
ENVIRONMENT = ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
)
ENVIRONMENT.globals["raise_exception"] = refuse
render = ENVIRONMENT.from_string(TEMPLATE).render


def chats_of(built):
    if "messages" not in built.dataset.splits:
        pytest.skip(f"{built.dataset.name} has no config messages")
    return built.rows("messages", *built.splits("messages"))


@pytest.mark.parametrize("build", ["sample_build", "real_build"])
def test_chats_render_with_every_message_in_order(dataset, build, request):
    chats = chats_of(open_folder(request.getfixturevalue(build) / dataset.name))
    assert chats
    for row in chats:
        text, at = render(messages=row["messages"]), 0
        for message in row["messages"]:
            content = message["content"].strip()
            assert content in text[at:], (row["messages"], text)
            at = text.index(content, at) + len(content)


def problems(built, row):
    """Return the problems that `verify` finds in a chat."""
    config = built.dataset.splits["messages"]
    folder = InMemory(built, {f"messages/{split}": [row] for split in config})
    return list(integrity.chats(integrity.Inputs(folder, None)))


OUT_OF_TURN = {  # given a chat, and the index of its first message of the user
    "user twice": lambda chat, at: chat.insert(at, {"role": "user", "content": "Hello?"}),
    "assistant first": lambda chat, at: chat.pop(at),
    "assistant twice": lambda chat, at: chat.insert(at + 1, {"role": "assistant", "content": "Hi"}),
    "system later": lambda chat, at: chat[at + 1].update(role="system"),
    "another role": lambda chat, at: chat[at + 1].update(role="bot"),
}


@pytest.mark.parametrize("spoil", OUT_OF_TURN.values(), ids=OUT_OF_TURN)
def test_chats_that_do_not_alternate_are_refused(dataset, sample_build, spoil):
    built = open_folder(sample_build / dataset.name)
    for row in copy.deepcopy(chats_of(built)):
        assert not problems(built, row)
        chat = row["messages"]
        spoil(chat, int(chat[0]["role"] == "system"))
        assert any("user and assistant" in each for each in problems(built, row))
        with pytest.raises(TemplateError, match="roles"):
            render(messages=chat)


def swap_the_first(source):
    made_from = [turns for turns in source if turns]
    made_from[0][0], made_from[1][0] = made_from[1][0], made_from[0][0]


LOST = {
    "repeated": lambda source: source[-1].append(source[-1][-1]),
    "swapped": swap_the_first,
    "a message": lambda source: source.pop(),
    "its turns": lambda source: source[-1].clear(),
}


@pytest.mark.parametrize("spoil", LOST.values(), ids=LOST)
def test_lost_or_moved_turns_are_noticed(dataset, sample_build, spoil):
    built = open_folder(sample_build / dataset.name)
    for row in copy.deepcopy(chats_of(built)):
        spoil(row["source_turns"])
        assert problems(built, row)
