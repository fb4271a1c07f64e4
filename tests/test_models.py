"""The tasks of inspect: what a model sees, what becomes of its answers, logs and their scores."""

import json
from dataclasses import replace
from fnmatch import fnmatch
from itertools import permutations
from pathlib import Path

import pytest

from parley.building.built import find_folder
from parley.building.collection import discover
from parley.declaring.questions import NO_ANSWER, Playing
from parley.declaring.tasks import flat
from parley.models.questions import Questions
from parley.models.variants import AS_DECLARED
from parley.scoring.gold import Part

ASKED = {
    f"{name} {each}": (dataset, each, task)
    for name, dataset in discover().items()
    for each, task in dataset.tasks.items()
    if task.asking
}
SINGLE = [name for name, (_, _, task) in ASKED.items() if not isinstance(task.asking, Playing)]
GAMES = [name for name in ASKED if name not in SINGLE]


@pytest.fixture
def of(sample_build):
    """Return the questions of a task of the samples."""

    def of(name, subset="", limit=0, turns=0, swap=False, variant=AS_DECLARED, **options):
        dataset, each, task = ASKED[name]
        built = find_folder(sample_build, dataset)
        return Questions(
            built, each, task.chosen(options), Part(subset, limit), turns, swap, variant
        )

    return of


@pytest.fixture
def asked(sample_build, tmp_path):
    """Return a function that asks a task of the samples, and returns the path of its log."""
    evals = pytest.importorskip("evals", reason="needs the extra models")

    def asked(task, reply, **given):
        return Path(evals.ask(task, reply, sample_build, tmp_path / "logs", **given))

    return asked


@pytest.fixture
def scored(sample_build, run):
    """Return a function that scores a log or file by the command, and returns the result."""

    def scored(task, file, *more, status=0):
        done = run("score", *task.split(), file, *more, "--build", sample_build, "--json")
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout) if not status else done.stderr

    return scored


def printed(log):
    """Return the metrics that inspect printed."""
    from inspect_ai.log import read_eval_log

    (found,) = (
        each.metrics
        for each in read_eval_log(str(log)).results.scores
        if "undefined" in each.metrics
    )
    return {name: metric.value for name, metric in found.items()}


# What a model sees -----------------------------------------------------------------------


class Hidden:
    """A build in which everything that a task hides is replaced."""

    def __init__(self, built, columns):
        self._built, self._columns = built, columns

    def __getattr__(self, name):
        return getattr(self._built, name)

    def rows(self, config, *splits):
        return [self._hide(config, row) for row in self._built.rows(config, *splits)]

    def named(self, config, *splits):
        return [self._hide(config, row) for row in self._built.named(config, *splits)]

    def _hide(self, config, row):
        return {
            name: value if self._is_seen(f"{config}.{name}") else changed(value)
            for name, value in row.items()
        }

    def _is_seen(self, column):
        return column.partition(".")[2] in KEYS or any(fnmatch(column, c) for c in self._columns)


KEYS = {"dialogue_id", "turn", "speaker", "scenario_id", "query_id", "language"}
STEERS = {f"utterances.{name}" for name in ("data", "issue2youget", "action")} | {
    "curated.intents"
}  # they select what is asked


def changed(value):
    """Return a value of the same type that holds nothing of the old one."""
    if isinstance(value, dict):
        return {name: changed(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [changed(inner) for inner in value]
    kinds = {str: "SENTINEL", bool: not value, int: 987654, float: 98765.5}
    return kinds.get(type(value), value)


@pytest.mark.parametrize("name", ASKED)
def test_a_prompt_holds_nothing_but_the_named_columns(name, of):
    questions = of(name)
    _, _, task = ASKED[name]
    built = questions.built
    there = [
        f"{each}.{column}" for each in built.dataset.configs for column in built.features(each)
    ]
    for column in task.columns:
        assert any(fnmatch(each, column) for each in there), column
    hidden = Hidden(built, {*task.columns, *STEERS})
    options = task.chosen({})
    if name in SINGLE:
        found = {each.key: each.messages for each in task.asking.questions(hidden, **options)}
        assert found == {each.key: each.messages for each in questions.by_key.values()}
    else:
        for key, state in task.asking.start(hidden, task.asking.limit, **options):
            assert prompts(task.asking, state) == prompts(task.asking, questions.by_key[key])


def prompts(game, state):
    """Return the prompt of each side."""
    return [game.messages(each)[0]["content"] for each in (state, game.step(state, "Hi"))]


@pytest.mark.parametrize("name", GAMES)
def test_a_side_does_not_see_the_private_knowledge_of_the_other(name, of):
    questions = of(name)
    for state in questions.by_key.values():
        scenario = state.scenario
        for place, (own, other) in enumerate(permutations(questions.asking.roles)):
            private = {n: changed(v) for n, v in scenario.items() if n.startswith(other)}
            assert private, own
            hidden = replace(state, scenario=scenario | private)
            seen, due = (prompts(questions.asking, each) for each in (hidden, state))
            assert seen[place] == due[place]
            assert seen[1 - place] != due[1 - place]


def test_a_prompt_holds_no_later_turn(of):
    hidden = {}
    questions = of("cosrec intents")
    for row in questions.built.rows("curated", *questions.built.splits("curated")):
        places = [place for place, turn in enumerate(row["turns"]) if turn["role"] == "user"]
        for entry in row["intents"] or ():
            place = places[entry["utterance"]]
            hidden[row["dialogue_id"], entry["utterance"]] = row["turns"][place + 1 :]
    assert any(hidden.values())
    for key, turns in hidden.items():
        text = str(questions.by_key[key].messages)
        assert not [turn for turn in turns if turn["text"] in text]
    questions = of("casino strategies")
    for row in questions.built.rows("strategies", "train"):
        text = questions.by_key[row["dialogue_id"], row["turn"]].messages[1]["content"]
        assert text.endswith(f"A: {' '.join(row['text'].split())}")
    actions = {"Submit-Deal", "Accept-Deal", "Reject-Deal", "Walk-Away"}
    for name in ("casino partner-priorities", "casino final-deal", "casino outcomes"):
        lines = "\n".join(str(each.messages[1]["content"]) for each in of(name).by_key.values())
        assert not {line.partition(": ")[2] for line in lines.splitlines()} & actions
    questions = of("craigslist_bargains deal")
    for row in questions.built.named("utterances", "test"):
        if row["action"] == "offer":
            later = [
                each["text"]
                for each in questions.built.named("utterances", "test")
                if each["dialogue_id"] == row["dialogue_id"] and each["turn"] > row["turn"]
            ]
            lines = questions.by_key[(row["dialogue_id"],)].messages[1]["content"].splitlines()
            assert not {line.partition(": ")[2] for line in lines} & {
                each for each in later if each
            }


# Answers ---------------------------------------------------------------------------------

OFFERS = {"casino deals": "[Offer: Food=1 Water=2 Firewood=3]"}
OFFERS["craigslist_bargains deals"] = "[Offer: 120]"


def made(schema):
    """Return an answer in the form of a schema."""
    if "anyOf" in schema:
        return made(schema["anyOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {name: made(each) for name, each in schema["properties"].items()}
    return {"integer": 2, "number": 0.5, "boolean": False}[schema["type"]]


def by_schema(messages, schema):
    """Answer in the form of the schema, and with nonsense without one."""
    return json.dumps(made(schema)) if schema else "Bananas!"


@pytest.mark.parametrize("name", SINGLE)
def test_what_is_answered_by_the_schema_is_read(name, asked, scored, of):
    count = len(of(name).gold)
    assert scored(name, asked(name, by_schema))["unreadable"] == {}
    without = scored(name, asked(name, by_schema, schema=False))
    assert without["unreadable"] == {NO_ANSWER: count}
    for schema in {
        json.dumps(each.schema): each.schema for each in of(name).by_key.values()
    }.values():
        from inspect_ai.util import JSONSchema

        assert JSONSchema.model_validate(schema).model_dump(exclude_none=True) == schema


def varied(name, questions):
    """Return a function that answers rightly, wrongly or not at all, by the last message."""
    known = (
        {
            each.messages[-1]["content"]: json.dumps(
                questions.asking.answer(questions.task.target(questions.gold[key]))
            )
            for key, each in questions.by_key.items()
            if questions.task.target
        }
        if name in SINGLE
        else {}
    )

    def reply(messages, schema):
        text = messages[-1]["content"]
        turn = sum(map(ord, text)) % 3
        if name in GAMES:
            return ["[Accept]", OFFERS[name], "Hm."][turn]
        return ["", json.dumps(made(schema)), known.get(text, "3")][turn]

    return reply


@pytest.mark.parametrize("name", ASKED)
def test_a_score_of_a_log_is_what_inspect_printed(name, asked, scored, of):
    questions = of(name)
    given = {"turns": 5} if name in GAMES else {}
    log = asked(name, varied(name, questions), **given)
    found, due = scored(name, log), printed(log)
    metrics = {".".join(path): value for path, value in flat(found["metrics"]).items()}
    known = {name: value for name, value in metrics.items() if value is not None}
    assert known == {name: due[name] for name in known}
    assert due["undefined"] == len(metrics) - len(known)
