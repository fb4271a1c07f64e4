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
{{ bos_token }}
{%- set prefix = '' %}
{%- if messages[0]['role'] == 'system' %}
  {%- set prefix = messages[0]['content'] + '\\n\\n' %}
  {%- set messages = messages[1:] %}
{%- endif %}
{%- for message in messages %}
  {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
    {{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
  {%- endif %}
  {%- if message['role'] not in ('user', 'assistant') %}
    {{- raise_exception('Only user and assistant roles are supported') }}
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
RENDERER = ENVIRONMENT.from_string(TEMPLATE)


def render(chat):
    return RENDERER.render(messages=chat, bos_token="<s>")


def chats_of(built):
    if "messages" not in built.dataset.splits:
        pytest.skip(f"{built.dataset.name} has no config messages")
    return built.rows("messages", *built.splits("messages"))


@pytest.mark.parametrize("build", ["sample_build", "real_build"])
def test_chats_render_with_every_message_in_order(dataset, build, request):
    chats = chats_of(open_folder(request.getfixturevalue(build) / dataset.name))
    assert chats
    for row in chats:
        text, at = render(row["messages"]), 0
        for message in row["messages"]:
            content = message["content"].strip()
            assert content in text[at:], (row["messages"], text)
            at = text.index(content, at) + len(content)


def first(chat):
    """Return the index of the first user message."""
    return int(chat[0]["role"] == "system")


def user_twice(chat):
    chat.insert(first(chat), {"role": "user", "content": "Hello?"})


def assistant_first(chat):
    del chat[first(chat)]


def assistant_twice(chat):
    chat.insert(first(chat) + 1, {"role": "assistant", "content": "Hello?"})


def system_later(chat):
    chat[first(chat) + 1]["role"] = "system"


def another_role(chat):
    chat[first(chat) + 1]["role"] = "bot"


def problems(built, row):
    """Return the problems that `verify` finds in a chat."""
    config = built.dataset.splits["messages"]
    folder = InMemory(built, {f"messages/{split}": [row] for split in config})
    return list(integrity.chats(integrity.Inputs(folder, None)))


@pytest.mark.parametrize(
    "spoil", [user_twice, assistant_first, assistant_twice, system_later, another_role]
)
def test_chats_that_do_not_alternate_are_refused(dataset, sample_build, spoil):
    built = open_folder(sample_build / dataset.name)
    for row in copy.deepcopy(chats_of(built)):
        assert not problems(built, row)
        spoil(row["messages"])
        assert any("user and assistant" in each for each in problems(built, row))
        with pytest.raises(TemplateError, match="roles"):
            render(row["messages"])


def repeat_the_last(source):
    source[-1].append(source[-1][-1])


def swap_the_first(source):
    made_from = [turns for turns in source if turns]
    made_from[0][0], made_from[1][0] = made_from[1][0], made_from[0][0]


def lose_a_message(source):
    source.pop()


def lose_its_turns(source):
    source[-1].clear()


@pytest.mark.parametrize("spoil", [repeat_the_last, swap_the_first, lose_a_message, lose_its_turns])
def test_lost_or_moved_turns_are_noticed(dataset, sample_build, spoil):
    built = open_folder(sample_build / dataset.name)
    for row in copy.deepcopy(chats_of(built)):
        spoil(row["source_turns"])
        assert problems(built, row)
