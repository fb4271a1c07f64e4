"""Every row of every `messages` config is a chat that strict chat templates take.

That its turns are those of its dialogue is for `integrity.py` of its dataset.
"""

import copy

import pytest
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from mutations import InMemory

from parley.folder import integrity
from parley.folder.built import open_folder

# Each refuses what its models' own template refuses: a role out of turn, a system message that is
# not the first, a role that it does not know. Where the own template takes no system message, it
# is that of the next version, which does.
LLAMA_2 = """\
{% if messages[0]['role'] == 'system' %}
  {% set system = '<<SYS>>\\n' + messages[0]['content'] + '\\n<</SYS>>\\n\\n' %}
  {% set messages = messages[1:] %}
{% else %}
  {% set system = '' %}
{% endif %}
{% for message in messages %}
  {% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
    {{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') -}}
  {% elif message['role'] == 'user' %}
    {{- bos_token + '[INST] ' + (system if loop.first else '') + message['content'] + ' [/INST]' -}}
  {% elif message['role'] == 'assistant' %}
    {{- ' ' + message['content'] + ' ' + eos_token -}}
  {% else %}
    {{- raise_exception('Only user and assistant roles are supported!') -}}
  {% endif %}
{% endfor %}
"""

MISTRAL = """\
{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
  {%- set system = messages[0]['content'] %}
  {%- set messages = messages[1:] %}
{%- endif %}
{%- for message in messages %}
  {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
    {{- raise_exception('After the optional system message, roles must alternate user/assistant') }}
  {%- endif %}
  {%- if message['role'] == 'user' %}
    {%- if loop.first and system is defined %}
      {{- '[INST] ' + system + '\\n\\n' + message['content'] + '[/INST]' }}
    {%- else %}
      {{- '[INST] ' + message['content'] + '[/INST]' }}
    {%- endif %}
  {%- elif message['role'] == 'assistant' %}
    {{- ' ' + message['content'] + eos_token }}
  {%- else %}
    {{- raise_exception('Only user and assistant roles are supported, and a system message') }}
  {%- endif %}
{%- endfor %}
"""

GEMMA = """\
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


# as transformers makes it, but that what is undefined is an error
ENVIRONMENT = ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
)
ENVIRONMENT.globals["raise_exception"] = refuse
TEMPLATES = {
    name: ENVIRONMENT.from_string(text)
    for name, text in {"llama-2": LLAMA_2, "mistral": MISTRAL, "gemma": GEMMA}.items()
}


def render(template, chat):
    return TEMPLATES[template].render(messages=chat, bos_token="<s>", eos_token="</s>")


def chats_of(built):
    if "messages" not in built.dataset.splits:
        pytest.skip(f"{built.dataset.name} has no config messages")
    return built.rows("messages", *built.splits("messages"))


def assert_rendered(chats):
    """Each template takes each row, and writes every message, in order."""
    assert chats
    for row in chats:
        for template in TEMPLATES:
            text, at = render(template, row["messages"]), 0
            for message in row["messages"]:
                content = message["content"].strip()
                assert content in text[at:], (template, row["messages"], text)
                at = text.index(content, at) + len(content)


def test_sample_chats_render(dataset, sample_build):
    assert_rendered(chats_of(open_folder(sample_build / dataset.name)))


def test_real_chats_render(dataset, real_build):
    assert_rendered(chats_of(open_folder(real_build / dataset.name)))


# What templates, and the check of any folder, must refuse -----------------------------------


def first(chat):
    """Where the first user message stands."""
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
    """Return what `verify` finds wrong with a chat."""
    config = built.dataset.splits["messages"]
    folder = InMemory(built, {f"messages/{split}": [row] for split in config})
    return list(integrity.chats(integrity.Inputs(folder, None)))


@pytest.mark.parametrize(
    "spoil", [user_twice, assistant_first, assistant_twice, system_later, another_role]
)
def test_what_does_not_alternate_is_refused(dataset, sample_build, spoil):
    built = open_folder(sample_build / dataset.name)
    for row in copy.deepcopy(chats_of(built)):
        assert not problems(built, row)
        spoil(row["messages"])
        assert any("expected user and assistant in turn" in each for each in problems(built, row))
        for template in TEMPLATES:
            with pytest.raises(TemplateError, match="roles"):
                render(template, row["messages"])


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
def test_turns_that_are_not_all_there_are_noticed(dataset, sample_build, spoil):
    built = open_folder(sample_build / dataset.name)
    for row in copy.deepcopy(chats_of(built)):
        spoil(row["source_turns"])
        assert problems(built, row)


def test_what_templates_make_of_a_chat():
    chat = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "<start>"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "Hello "},
    ]
    assert [render(template, chat) for template in TEMPLATES] == [
        "<s>[INST] <<SYS>>\nBe kind.\n<</SYS>>\n\n<start> [/INST] Hi </s><s>[INST] Hello  [/INST]",
        "<s>[INST] Be kind.\n\n<start>[/INST] Hi</s>[INST] Hello [/INST]",
        "<s><start_of_turn>user\nBe kind.\n\n<start><end_of_turn>\n"
        "<start_of_turn>model\nHi<end_of_turn>\n<start_of_turn>user\nHello<end_of_turn>\n",
    ]
