"""Every row of every `messages` config is a chat that strict chat templates take."""

import copy
from collections import Counter

import pyarrow.parquet as pq
import pytest
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

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


def rows(build, dataset, config):
    files = sorted((build / dataset.name / config).glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


@pytest.fixture
def sample_chats(dataset, sample_build):
    if "messages" not in dataset.module.SPLITS:
        pytest.skip(f"{dataset.name} has no config messages")
    return rows(sample_build, dataset, "messages")


@pytest.fixture
def real_chats(dataset, real_build):
    if "messages" not in dataset.module.SPLITS:
        pytest.skip(f"{dataset.name} has no config messages")
    return rows(real_build, dataset, "messages")


def problems(row, turns=None):
    """Yield what is wrong with a row; `turns` is how many its dialogue has, where that is known."""
    chat, source = row["messages"], row["source_turns"]
    if any(set(message) != {"role", "content"} for message in chat):
        yield "a message is not a role and a content"
    if any(not message["content"] for message in chat):
        yield "a message is empty"
    roles = [message["role"] for message in chat]
    system = roles[:1] == ["system"]
    if roles[system : system + 1] != ["user"]:
        yield "does not begin with user"
    if roles[system:] != [("user", "assistant")[n % 2] for n in range(len(roles) - system)]:
        yield "user and assistant do not alternate"
    if len(source) != len(chat):
        yield "source_turns are not parallel to messages"
    covered = [turn for made_from in source for turn in made_from]
    if covered != list(range(len(covered) if turns is None else turns)):
        yield "source_turns are not each turn once, in order"
    cue = system if chat[system:][:1] == [{"role": "user", "content": "<start>"}] else None
    for number, made_from in enumerate(source):
        if not made_from and number != cue and not (system and number == 0):
            yield f"message {number} was made from no turn"


def assert_chats(dataset, build, chats):
    assert chats
    turns = Counter(row["dialogue_id"] for row in rows(build, dataset, "utterances"))
    for row in chats:
        assert list(problems(row, turns[row["dialogue_id"]] if turns else None)) == [], row


def assert_rendered(chats):
    """Each template takes each row, and writes every message, in order."""
    for row in chats:
        for template in TEMPLATES:
            text, at = render(template, row["messages"]), 0
            for message in row["messages"]:
                content = message["content"].strip()
                assert content in text[at:], (template, row["messages"], text)
                at = text.index(content, at) + len(content)


def test_sample_chats_alternate_and_lose_no_turn(dataset, sample_build, sample_chats):
    assert_chats(dataset, sample_build, sample_chats)


def test_real_chats_alternate_and_lose_no_turn(dataset, real_build, real_chats):
    assert_chats(dataset, real_build, real_chats)


def test_sample_chats_render(sample_chats):
    assert_rendered(sample_chats)


def test_real_chats_render(real_chats):
    assert_rendered(real_chats)


# What the tests above must refuse -----------------------------------------------------------


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


def first(chat):
    """Where the first user message stands."""
    return int(chat[0]["role"] == "system")


BREAKS = [user_twice, assistant_first, assistant_twice, system_later, another_role]


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("spoil", BREAKS)
def test_templates_refuse_what_does_not_alternate(sample_chats, template, spoil):
    for row in sample_chats:
        chat = copy.deepcopy(row["messages"])
        render(template, chat)
        spoil(chat)
        with pytest.raises(TemplateError, match="roles"):
            render(template, chat)


@pytest.mark.parametrize("spoil", BREAKS)
def test_a_row_that_does_not_alternate_is_a_problem(sample_chats, spoil):
    for row in copy.deepcopy(sample_chats):
        spoil(row["messages"])
        assert "user and assistant do not alternate" in list(problems(row))


def drop_the_last(source):
    source[-1].pop()


def repeat_the_last(source):
    source[-1].append(source[-1][-1])


def swap_the_first(source):
    made_from = [turns for turns in source if turns]
    made_from[0][0], made_from[1][0] = made_from[1][0], made_from[0][0]


def lose_one(source):
    source.pop()


@pytest.mark.parametrize("spoil", [drop_the_last, repeat_the_last, swap_the_first, lose_one])
def test_a_row_whose_turns_are_not_all_there_is_a_problem(sample_chats, spoil):
    for row in copy.deepcopy(sample_chats):
        turns = sum(map(len, row["source_turns"]))
        spoil(row["source_turns"])
        assert any("source_turns" in problem for problem in problems(row, turns))


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
