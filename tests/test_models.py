"""The tasks of inspect: what a model sees, what becomes of its answers, logs and their scores."""

import hashlib
import json
import os
import sys
from dataclasses import replace
from importlib.metadata import entry_points
from itertools import permutations
from pathlib import Path

import pytest
from click import ClickException
from every_task import ASKED, allowed, read_log

import parley
from parley.base.errors import UsageError
from parley.base.values import flat
from parley.builds.built_folder import find_folder
from parley.declaration.registry import discover
from parley.scoring.gold import Part
from parley.scoring.questions import Questions
from parley.tasks.answers import NO_ANSWER
from parley.tasks.games import Playing
from parley.tasks.kinds import written
from parley.verification.task_leaks import exchanged

# inspect leaves the connections of a model open until they are collected
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

SINGLE = [name for name, (_, _, task) in ASKED.items() if not isinstance(task.asking, Playing)]
GAMES = [name for name in ASKED if name not in SINGLE]


@pytest.fixture
def of(sample_build):
    """Return the questions of a task of the samples."""

    def of(name, limit=0, **how):
        dataset, each, task = ASKED[name]
        built = find_folder(sample_build, dataset)
        return Questions(built, each, task.chosen({}), Part(limit=limit), **how)

    return of


@pytest.fixture
def asked(inspect_runs, sample_build, tmp_path):
    """Return a function that asks a task of the samples, and returns the path of its log."""

    def asked(task, reply, **given):
        build = os.path.relpath(sample_build)  # a log is retried in the same folder
        return Path(inspect_runs.ask(task, reply, build, tmp_path / "logs", **given))

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
    scores = read_log(log).results.scores
    (found,) = (each.metrics for each in scores if "undefined" in each.metrics)
    return {name: metric.value for name, metric in found.items()}


@pytest.mark.parametrize("name", ["casino partner-priorities", "casino beliefs"])
def test_a_prompt_shows_the_priorities_of_one_side(name, of):
    questions, changed_by = of(name), {}
    rows = questions.built.rows("participants", "train")
    for number, row in enumerate(rows):
        of_side = changed_by.setdefault(row["speaker"], {})
        of_side |= {("train", number, n): v for n, v in row.items() if n.startswith("priority_")}
    for side, cells in changed_by.items():
        built = exchanged(questions.built, "participants", cells)
        other = Questions(built, questions.name, questions.options)
        changed_by[side] = {k for k, of in other.by_key.items() if of != questions.by_key[k]}
    one, two = changed_by.values()
    assert one | two == {*questions.by_key}
    assert not one & two


def changed(value):
    """Return a value of the same type that holds nothing of the old one."""
    if isinstance(value, dict):
        return {name: changed(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [changed(inner) for inner in value]
    return {str: "SENTINEL", bool: not value, int: 987654, float: 98765.5}.get(type(value), value)


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
            other_state = replace(state, scenario=scenario | private)
            seen, due = (prompts(questions.asking, each) for each in (other_state, state))
            assert seen[place] == due[place]
            assert seen[1 - place] != due[1 - place]


def lines_of(messages):
    """Return the texts of the turns that a prompt shows."""
    return {line.partition(": ")[2] for line in messages[1]["content"].splitlines()}


def test_a_prompt_holds_no_later_turn(of):
    questions = of("cosrec intents")
    for row in questions.built.rows("curated", *questions.built.splits("curated")):
        places = [place for place, turn in enumerate(row["turns"]) if turn["role"] == "user"]
        for entry in row["intents"] or ():
            text = str(questions.by_key[row["dialogue_id"], entry["utterance"]])
            later = row["turns"][places[entry["utterance"]] + 1 :]
            assert not [turn for turn in later if turn["text"] in text]
    actions = {"Submit-Deal", "Accept-Deal", "Reject-Deal", "Walk-Away"}
    for name in ("casino partner-priorities", "casino final-deal", "casino outcomes"):
        assert not any(lines_of(question) & actions for question in of(name).by_key.values())
    questions = of("craigslist_bargains deal")
    rows = questions.built.rows_with_names("utterances", "test")
    for offer in [row for row in rows if row["action"] == "offer"]:
        own = [row for row in rows if row["dialogue_id"] == offer["dialogue_id"]]
        later = {row["text"] for row in own if row["turn"] > offer["turn"]} - {None, ""}
        assert not lines_of(questions.by_key[(offer["dialogue_id"],)]) & later


OFFERS = {"casino deals": "[Offer: Food=1 Water=2 Firewood=3]"}
OFFERS["craigslist_bargains deals"] = "[Offer: 120]"


def by_schema(messages, schema):
    """Answer in the form of the schema, and with nonsense without one."""
    return json.dumps(next(allowed(schema))) if schema else "Bananas!"


def test_a_model_is_sent_the_schema_if_wanted(asked, scored, of):
    name, limit, sent = "casino outcomes", 2, []

    def reply(messages, schema):
        sent.append(schema)
        return by_schema(messages, schema)

    for schema, due in ((True, {}), (False, {NO_ANSWER: limit})):
        assert scored(name, asked(name, reply, schema=schema, limit=limit))["unreadable"] == due
    assert sent == [of(name).schema] * limit + [None] * limit


def answering(name, questions):
    """Return a function that answers rightly, by the schema, or not at all, by the last message."""
    known = {}
    for key, gold in () if name in GAMES else questions.gold.items():
        known[questions.by_key[key][-1]["content"]] = written(questions.task.asked, gold)

    def reply(messages, schema):
        text = messages[-1]["content"]
        turn = sum(map(ord, text)) % 3
        if name in GAMES:
            return ["[Accept]", OFFERS[name], "Hm."][turn]
        return ["", json.dumps(next(allowed(schema))), known.get(text, "3")][turn]

    return reply


@pytest.mark.parametrize("name", ASKED)
def test_log_predictions_and_answers_give_what_inspect_printed(name, asked, scored, of, tmp_path):
    questions, given = of(name), {"turns": 5} if name in GAMES else {}
    log = asked(name, answering(name, questions), limit=9, **given)
    due, found = printed(log), scored(name, log)
    metrics = {".".join(path): value for path, value in flat(found["metrics"]).items()}
    known = {each: value for each, value in metrics.items() if value is not None}
    assert known == {each: due[each] for each in known}
    assert due["undefined"] == len(metrics) - len(known)
    predictions = []
    for sample in read_log(log).samples:
        score = sample.scores["parley_answers"]
        assert bool(sample.target) == (name not in GAMES)
        assert (score.answer is None) == (score.value["readable"] == 0)
        predictions.append(score.metadata["prediction"])
    kept = tmp_path / "of-log"
    scored(name, log, "--save-predictions", kept)
    both = [*map(json.loads, kept.read_text().splitlines())]
    answers = [{field: line[field] for field in (*questions.task.key, "answer")} for line in both]
    for lines in (predictions, both) if name in GAMES else (predictions, both, answers):
        (file := tmp_path / "mine").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        (again := tmp_path / "again").unlink(missing_ok=True)
        other = scored(name, file, "--limit", 9, "--save-predictions", again)
        if lines is answers:
            assert again.read_text() == kept.read_text()
        same = "metrics", "unreadable", "counts", "references", "provenance"
        assert {each: other[each] for each in same} == {each: found[each] for each in same}


def test_answers_by_the_names_of_a_file_are_counted(scored, of, run, sample_build, tmp_path):
    (key,) = of("casino bids", limit=1).by_key
    line = dict(zip(("dialogue_id", "speaker", "turn"), key, strict=True))
    line["answer"] = '{"Food": 1, "Water": 2, "Firewood": 3}'
    (file := tmp_path / "answers").write_text(json.dumps(line))
    assert scored("casino bids", file, "--limit", 1)["under_own_names"] == 1
    for how in ([file, "--limit", 1, "--build", sample_build], ["--template"]):
        assert '{"own": {"Food": n, ' in run("score", "casino", "bids", *how).stdout


def test_a_raw_answer_is_no_answer_to_another_question_or_in_a_game(scored, tmp_path):
    file = tmp_path / "answers.jsonl"
    for task, line in (
        ("casino outcomes", {"dialogue_id": 999, "participant": "mturk_agent_1", "answer": "?"}),
        ("casino outcomes", {"answer": "?"}),
        ("casino outcomes", {"dialogue_id": 2001, "participant": "mturk_agent_1", "answer": 3}),
        ("casino deals", {"dialogue_id": 2001, "answer": "[Accept]"}),
    ):
        file.write_text(json.dumps(line))
        assert "line 1" in scored(task, file, status=1)


def test_a_part_has_one_score_whoever_cuts_it(asked, scored, of):
    name, count = "casino outcomes", "sides"
    questions = of(name)
    reply = answering(name, questions)
    ids = ["-".join(map(str, key)) for key in [*questions.by_key][:4]]
    pilot = asked(name, reply, limit=4)
    found = scored(name, pilot)
    assert (found["pilot"], found["counts"][count]) == (4, 4)
    for cut in ({"first": 4}, {"sample_id": ids}):
        log = asked(name, reply, **cut)
        assert printed(log) == printed(pilot)
        assert scored(name, log)["metrics"] == found["metrics"]
    assert scored(name, asked(name, reply, sample_id=ids[1:]))["counts"][count] == 3
    assert scored(name, asked(name, reply, limit=500))["pilot"] == 0


def test_epochs_are_repetitions(asked, scored):
    from inspect_ai.scorer import SampleScore

    from parley.models.inspect_tasks import parley_score

    turns = iter(range(100))
    camp = json.dumps({"satisfaction": "Undecided", "likeness": "Slightly like"})
    log = asked("casino outcomes", lambda *_: camp if next(turns) % 3 else "?", epochs=3, limit=3)
    found = scored("casino outcomes", log)
    assert found["metrics"]["likeness"] == printed(log)["likeness"]
    assert found["run"]["epochs"] == 3
    answers = [each.scores["parley_answers"] for each in read_log(log).samples]
    due = sum(each.value["likeness"] for each in answers) / 9
    assert found["metrics"]["likeness"] == pytest.approx(due)
    shown = parley_score(**read_log(log).eval.scorers[0].options)
    assert shown([SampleScore(score=each) for each in answers[:4]]) == {}  # in the middle


def test_the_primary_metric_of_epochs_is_first(asked, scored):
    name = "craigslist_bargains deal"  # auc is no mean over rows, as the next is
    found = scored(name, asked(name, by_schema, epochs=2))
    assert next(iter(found["metrics"])) == next(iter(ASKED[name][2].metrics)) == "auc"


CHANGES = {  # part of a log -> another value
    "samples[0].output.choices[0].message.content": '{"satisfaction": "Undecided"}',
    "samples[0].scores['parley_answers'].metadata['prediction']['likeness']": "Undecided",
    "samples[0].metadata['key']": [2001, "nobody"], "samples[1].metadata['key']": 5,
    "samples[0].scores": {},
    "samples[1]": lambda log: log.samples[0].model_copy(update={"id": log.samples[1].id}),
    "samples[0].invalidation": {"author": "x", "reason": "y"},
    "samples[0].error": {"message": "x", "traceback": "x", "traceback_ansi": "x"},
    "samples[:1]": [], "samples[1:1]": lambda log: log.samples[:1], "invalidated": True,
    "eval.metadata['questions']": "0" * 64, "eval.metadata['rows']": "0" * 64,
    "eval.metadata['version']": "0.0.1", "eval.metadata['asking']": "2",
    "eval.metadata['options']": ["x"], "status": "cancelled",
}  # fmt: skip


@pytest.fixture(scope="module")
def outcomes_log(inspect_runs, sample_build, tmp_path_factory):
    """A log of casino's outcomes."""
    folder = tmp_path_factory.mktemp("logs")
    camp = json.dumps({"You": {"satisfaction": "Slightly satisfied", "likeness": "Slightly like"}})
    return Path(inspect_runs.ask("casino outcomes", lambda *_: camp, sample_build, folder))


@pytest.mark.parametrize("part", CHANGES)
def test_a_log_that_was_changed_or_is_of_other_questions_is_refused(
    part, outcomes_log, scored, tmp_path
):
    from inspect_ai.log import write_eval_log

    log, value = read_log(outcomes_log), CHANGES[part]
    if callable(value):
        value = value(log)
    exec(f"log.{part} = value", {"log": log, "value": value})
    write_eval_log(log, str(path := tmp_path / "changed.json"))
    assert str(path) in scored("casino outcomes", path, status=1 + ("options" in part))


def test_what_no_log_can_be_scored_as_is_named(outcomes_log, scored, tmp_path, monkeypatch):
    from inspect_ai.log import write_eval_log

    for task, *more in (("casino strategies",), ("casino outcomes", "--limit", 2)):
        scored(task, outcomes_log, *more, status=2)
    damaged = tmp_path / "damaged.eval"
    damaged.write_bytes(outcomes_log.read_bytes()[:-1000])
    scored("casino outcomes", damaged, status=1)
    (killed := read_log(outcomes_log)).status = "started"
    write_eval_log(killed, str(damaged))
    assert "inspect log recover" in scored("casino outcomes", damaged, status=1)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    said = scored("casino outcomes", outcomes_log, status=2)
    assert 'pip install "parley-datasets[models]"' in said


def test_inspect_scores_a_log_again(outcomes_log, monkeypatch):
    (command,) = entry_points(group="console_scripts", name="inspect")
    again = outcomes_log.with_name("again.eval")
    args = ["score", str(outcomes_log), "--action", "overwrite", "--output-file", str(again)]
    monkeypatch.setattr(sys, "argv", ["inspect", *args, "--display", "none"])
    with pytest.raises(SystemExit, match=r"^0$"):
        command.load()()
    assert printed(again) == printed(outcomes_log)


def test_a_refusal_is_no_answer_and_no_turn(asked, scored, of):
    from inspect_ai.model import ChatMessageAssistant, ContentText, ModelOutput

    def refuse(messages, schema):
        said = [ContentText(text="[Walk-Away] I cannot help with that.", refusal=True)]
        return ModelOutput.from_message(ChatMessageAssistant(content=said))

    found = scored("casino outcomes", asked("casino outcomes", refuse, limit=2))
    assert found["unreadable"] == {"refused": 2}
    assert found["metrics"]["likeness"] == 0
    found = scored("casino deals", asked("casino deals", refuse, limit=2))
    first, second = of("casino deals").asking.roles
    assert found["metrics"]["malformed"] == {first: 3, second: 2}


def test_a_call_that_fails_for_good_counts_if_told(asked, scored, of):
    bad = f"{'word ' * 20}{'wrong/' * 15}"  # first words that are cut, and an end without a space
    third = [*of("casino outcomes", limit=5).by_key.values()][2][-1]["content"]

    def reply(messages, schema):
        if messages[-1]["content"] == third:
            raise ValueError(f"status 400: {bad}")
        return json.dumps(next(allowed(schema)))

    failed = asked("casino outcomes", reply, limit=5, fails={"error"})
    assert "eval-retry" in scored("casino outcomes", failed, status=1)
    log = asked("casino outcomes", reply, limit=5, fail_on_error=0.5)
    found = scored("casino outcomes", log)
    ((reason, count),) = found["unreadable"].items()
    assert (bad[-80:] in reason, count) == (True, 1)
    assert found["metrics"]["likeness"] == printed(log)["likeness"]


@pytest.mark.parametrize("name", SINGLE)
def test_examples_are_of_dialogues_that_are_not_scored(name, of):
    part = {} if name == "craigslist_bargains deal" else {"limit": 1}
    plain, varied = of(name, **part), of(name, **part, shots=2, prompt="Do it.")
    assert plain.digest != varied.digest
    all_of = of(name) if part else plain
    known = {each[-1]["content"]: key for key, each in all_of.by_key.items()}
    scored_dialogues = {key[0] for key in varied.by_key}
    for key, (system, *shown, last) in varied.by_key.items():
        assert system == {"role": "system", "content": "Do it."}
        assert last == plain.by_key[key][-1]
        assert [each["role"] for each in shown] == ["user", "assistant"] * 2
        for asked, answer in zip(shown[::2], shown[1::2], strict=True):
            if part:
                own = known[asked["content"]]
                assert own[0] not in scored_dialogues
                found = varied.task.read(answer["content"])
                if name == "casino beliefs":  # of no example is a model to learn to be certain
                    assert sum(found["probabilities"].values()) == pytest.approx(1)
                    assert max(found["probabilities"].values()) < 1
                else:
                    assert found == varied.task.right(all_of.gold[own])
            else:
                assert asked["content"] not in known
    for shots in (1000, 1) if part else (1000,):
        with pytest.raises(UsageError):
            of(name, shots=shots)


def test_a_variant_is_asked_and_stated(asked, scored, tmp_path):
    (prompt := tmp_path / "prompt.txt").write_text("Guess.\n")
    seen = []

    def reply(messages, schema):
        seen.append([messages[0]["content"], *(each["role"] for each in messages)])
        return json.dumps(next(allowed(schema)))

    log = asked("casino outcomes", reply, limit=2, shots=1, prompt=str(prompt))
    assert seen == [["Guess.\n", "system", "user", "assistant", "user"]] * 2
    prompt.unlink()
    run = scored("casino outcomes", log)["run"]
    assert (run["shots"], run["prompt"]) == (1, hashlib.sha256(b"Guess.\n").hexdigest())


@pytest.mark.parametrize(("name", "given"), [
    ("casino outcomes", {"turns": 4}), ("casino outcomes", {"swap": True}),
    ("casino outcomes", {"limit": -1}), ("casino outcomes", {"schema": "flase"}),
    ("casino outcomes", {"prompt": "/no/such/file"}), ("casino outcomes", {"limt": 2}),
    ("casino outcomes", {"subset": "nobody2030"}),
    ("casino outcomes", {"subset": ["kwon2024", "bond2026"]}),  # of -T subset=a,b
    ("casino deals", {"turns": 1}), ("casino deals", {"turns": 2.5}),
    ("casino deals", {"swap": "flase"}), ("casino deals", {"shots": 1}),
    ("casino deals", {"schema": False}), ("duo agreement", {"aspect": "colour"}),
])  # fmt: skip
def test_a_setting_that_cannot_be_is_refused(name, given, asked):
    with pytest.raises(ClickException):
        asked(name, by_schema, **given)


def test_the_build_is_the_one_here_or_that_of_load(sample_build, monkeypatch, tmp_path):
    tasks = pytest.importorskip("parley.models.inspect_tasks", reason="needs the extra models")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ClickException, match="parley build casino"):
        tasks.casino_outcomes()
    for folder in (tmp_path / "cache" / "built" / discover()["casino"].version, tmp_path / "build"):
        folder.mkdir(parents=True)
        (folder / "casino").symlink_to(sample_build / "casino")
        assert len(tasks.casino_outcomes().dataset)


@pytest.mark.parametrize("name", GAMES)
def test_two_models_play(name, asked, scored, of):
    first, second = of(name).asking.roles

    def reply(messages, schema):
        said = [each["content"] for each in messages if each["role"] == "user"]
        return OFFERS[name] if "Begin" in said[0] else "Fine.\n[Accept]"

    log = asked(name, reply, limit=2)
    assert scored(name, log)["counts"]["deals"] == 2
    for sample in read_log(log).samples:
        assert [turn["role"] for turn in sample.metadata["turns"]] == [first, second]
    for text, due in {
        "[Walk-Away]": {"walked_away": {first: 1, second: 0}, "turns": {first: 1, second: 0}},
        "Hm.": {"turn_limits": 1, "turns": {first: 10, second: 10}},
        "[Accept]": {"walked_away": {first: 1, second: 0}, "turns": {first: 3, second: 2}},
    }.items():
        metrics = scored(name, asked(name, lambda *_, text=text: text, limit=1))["metrics"]
        assert {metric: metrics[metric] for metric in due} == due
        faults = due["turns"] if text == "[Accept]" else {first: 0, second: 0}
        assert metrics["malformed"] == faults
        assert {*metrics["points"].values()} == {5.0 if name.startswith("casino") else -0.5}


@pytest.mark.parametrize("name", GAMES)
def test_swapped_seats_judge_models_apart_from_sides(name, asked, scored, of):
    first, second = of(name).asking.roles

    def played(one, two, **how):
        roles = {first: f"parley/{one}", second: f"parley/{two}"}
        return asked(name, by_schema, roles=roles, turns=18, limit=2, **how)

    pairs = permutations(("concede", "joint"))
    of_seats = [scored(name, played(*pair))["metrics"] for pair in pairs]
    log = played("concede", "joint", swap=True)
    found, shown = scored(name, log), printed(log)
    seats = {"parley/concede": (first, second), "parley/joint": (second, first)}
    for metric in ("points", "turns", "below_walk_away"):
        one, two = (each[metric] for each in of_seats)
        due = {role: (one[role] + two[role]) / 2 for role in (first, second)}
        assert found["metrics"][metric] == pytest.approx(due, abs=1e-9)
        due = {agent: (one[a] + two[b]) / 2 for agent, (a, b) in seats.items()}
        assert found["metrics"]["by_model"][metric] == pytest.approx(due, abs=1e-9)
        assert {each: shown[f"by_model.{metric}.{each}"] for each in due} == pytest.approx(due)
    counts = found["counts"]
    assert counts["games"] == 2 * counts["scenarios"] == len(read_log(log).samples)


def play(questions, *agents):
    """Return the predictions of games between two scripted agents, without inspect."""
    game, found = questions.asking, {}
    for key, state in questions.by_key.items():
        seats = dict(zip(game.roles, agents, strict=True))
        while role := game.turn(state):
            state = game.step(state, game.speak(seats[role], state))
        found[key] = {**dict(zip(questions.task.key, key, strict=False)), **game.outcome(state)}
    return found


@pytest.mark.parametrize(("name", "pair", "due"), [
    ("casino deals", ("joint", "joint"), {"share_of_most": 1, "fairness": 0.4223}),
    ("casino deals", ("concede", "concede"), {"share_of_most": 0.9183, "turn_limits": 0}),
    ("casino deals", ("firm", "concede"), {"turn_limits": 1}),
    ("craigslist_bargains deals", ("joint", "joint"), {"sl": 0.5, "deals": 1}),
    ("craigslist_bargains deals", ("concede", "concede"), {"sl": 0.4618, "deals": 1}),
    ("craigslist_bargains deals", ("firm", "concede"), {"sl": 1, "turn_limits": 1 / 3}),
])  # fmt: skip
def test_scripted_agents_reach_what_they_aim_at(name, pair, due, of):
    questions = of(name)
    metrics = parley.score(questions.built, "deals", play(questions, *pair).values()).score.metrics
    assert {metric: metrics[metric] for metric in due} == pytest.approx(due, abs=1e-4)


def test_a_game_of_no_such_agent_or_side_says_which_there_are(asked):
    for role, there in (("mturk_agent_1=meek", "parley/firm"), ("agent_1=firm", "mturk_agent_2")):
        side, agent = role.split("=")
        roles = {side: f"parley/{agent}"}
        log = asked("casino deals", by_schema, roles=roles, limit=1, fails={"error"})
        assert there in read_log(log).samples[0].error.message


def test_a_run_that_failed_goes_on(asked, scored, monkeypatch, tmp_path):
    from inspect_ai import eval_retry

    name, game = "casino deals", ASKED["casino deals"][2].asking
    joint, played = game.agents["joint"], []

    def one_fails(state, role):
        played.append(state.scenario["dialogue_id"])
        if played[-1] != played[0]:
            raise ValueError("status 500")
        return joint(state, role)

    how = {"roles": dict.fromkeys(game.roles, "parley/joint"), "limit": 2}
    whole = asked(name, by_schema, **how)
    monkeypatch.setitem(game.agents, "joint", one_fails)
    failed = asked(name, by_schema, fails={"error"}, **how)
    assert "eval-retry" in scored(name, failed, status=1)
    monkeypatch.undo()
    (again,) = eval_retry(str(failed), log_dir=str(tmp_path / "again"), display="log")
    answered = {each.uuid for each in read_log(failed).samples if not each.error}
    assert set() < answered < {each.uuid for each in again.samples}  # which are not asked again
    assert scored(name, again.location)["metrics"] == scored(name, whole)["metrics"]
