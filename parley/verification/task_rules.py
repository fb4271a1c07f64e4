"""Rules for tasks: each yields a line for each violation, with its remedy."""

import fnmatch
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice

from parley.base.errors import ParleyError, ScriptError, few
from parley.base.extras import extra_of
from parley.builds.built_folder import BuiltFolder
from parley.declaration.registry import module_path
from parley.read.dialogues import dialogue_ids
from parley.scoring.evaluate import score
from parley.scoring.gold import load_gold, running
from parley.scoring.metrics import Epoch, Names, Predictions, TaskRows
from parley.scoring.questions import Questions
from parley.tasks.games import Playing
from parley.tasks.kinds import normalized_name, written
from parley.tasks.prediction_formats import UNREADABLE, Key, Prediction
from parley.tasks.prompts import Asking
from parley.tasks.task import Gold, Task
from parley.verification.dataset_folder import DatasetFolder
from parley.verification.results import Aside, Found, at, lines_of
from parley.verification.task_leaks import of_unnamed_columns

_SOME = 10  # wrong answers that are tried, of many


def tasks_score_the_sample(folder: DatasetFolder) -> Iterator[Found]:
    """Each task reads configs and columns, gold is of rows and scores best, baselines score."""
    configs = folder.dataset.configs
    columns = [f"{name}.{column.path}" for name in configs for column in configs[name].fields]
    for name, task in folder.dataset.tasks.items():
        where = f"{_file(folder)}: {name}"
        if absent := [config for config in task.configs if config not in configs]:
            yield f"{where}: no config {', '.join(absent)}; name another"
            continue
        patterns = {column: column.replace("[", "[[]") for column in task.columns}
        if unknown := [c for c in task.columns if not fnmatch.filter(columns, patterns[c])]:
            yield f"{where}: no column {', '.join(unknown)}; name others"
        gold, _ = load_gold(folder.built, name, task.chosen({}))
        if strangers := _strangers(folder, task, gold):
            problem = f"no row of {', '.join(task.configs)} has {few(strangers)}"
            yield f"{where}: gold: {problem}; take keys of rows"
        if not gold:
            yield f"{where}: gold: the sample has none; add a record that has some"
            continue
        ids = {id for key, value in gold.items() for id in task.dialogues(key, value)}
        known, shared = dialogue_ids(folder.built), folder.dataset.splits_share_ids
        if unknown := [str(id) for id in ids if str(id) not in known]:
            problem = f"no dialogue is {few(unknown)}; give `dialogue_ids` such as"
            yield f"{where}: gold: {problem} {', '.join(islice(known, 3))}"
        kinds = set(map(type, ids))
        for subset, of in task.subsets.items():
            of_split = {id for id in of.ids if shared and "/" not in str(id)}
            if odd := [repr(id) for id in of.ids if type(id) not in kinds or id in of_split]:
                problem = f"no dialogue can be {few(odd)}; give ids as gold has them, such as"
                yield f"{where}: subset {subset}: {problem} {next(iter(ids))!r}"
        tries: dict[str, Iterator[Found]] = {}
        if task.has_right_answers:
            rows = TaskRows(folder.built, name, task.chosen({}), gold)
            tries["right answers"] = problems_of_answers(rows)
        tries |= {method: _of_baseline(folder, name, method, gold) for method in task.baselines}
        for what, problems in tries.items():
            try:
                yield from (at(f"{where}: {what}", found) for found in problems)
            except ModuleNotFoundError as error:
                if not extra_of((error.name or "").partition(".")[0]):
                    yield f"{where}: {what}: {error}; remove this import"
            except ParleyError as error:
                yield from (f"{where}: {what}: {line}" for line in lines_of(error))


def _file(folder: DatasetFolder) -> str:
    return module_path(folder.dataset.folder, "tasks").name


def _strangers(folder: DatasetFolder, task: Task, gold: Gold) -> list[str]:
    """Return the keys of gold that no row has, by the most fields of the key that a config has."""
    columns = {config: folder.dataset.configs[config].features for config in task.configs}
    fields = max(([f for f in task.gold_key if f in of] for of in columns.values()), key=len)
    known = {
        tuple(row[field] for field in fields)
        for config in task.configs
        if columns[config].keys() >= {*fields}
        for row in folder.built.rows(config)
    }
    places = [task.gold_key.index(field) for field in fields]
    return [str(key) for key in gold if fields and tuple(key[n] for n in places) not in known]


def _of_baseline(folder: DatasetFolder, name: str, baseline: str, gold: Gold) -> Iterator[str]:
    """Yield what is wrong with a baseline's predictions."""
    task, built = folder.dataset.tasks[name], folder.built
    with running(built):
        runs = (task.baselines[baseline](built, **task.chosen({})) for _ in range(2))
        predictions, again = map(list, runs)
    if again != predictions:
        yield f"{baseline}: gives other predictions in a second run; seed what it draws"
    score(built, name, {}, predictions=predictions)
    if not task.has_right_answers:
        return
    right = right_answers(task, gold)
    are_right = [p == right[tuple(p[name] for name in task.key)] for p in predictions]
    is_explained = any(of.name == baseline and of.note for of in task.references)
    if all(are_right) and not is_explained:
        problem = "it reads gold, or gold is too small; say in the note of its reference if it may"
        yield f"{baseline}: gives all right answers of the sample: {problem}"


def right_answers(task: Task, gold: Gold) -> dict[Key, Prediction]:
    """Return the right prediction of each key, with the fields of gold."""
    fields_of = {key: {n: v for n, v in of.items() if n in task.answer} for key, of in gold.items()}
    return {key: dict(zip(task.key, key, strict=True)) | fields_of[key] for key in gold}


def problems_of_answers(rows: TaskRows) -> Iterator[Found]:
    """Yield where right, wrong or unreadable answers have another score than they should."""
    task = rows.task
    with running(rows.built):
        right = right_answers(task, rows.gold)
    for key, prediction in right.items():
        if problem := next(task.node.problems(prediction), None):
            yield f"the answer of {key} is no prediction: {problem}; give its fields in gold"
            return
    wrong = _wrong_answers(task, right)
    lost = {key: {**dict(zip(task.key, key, strict=True)), UNREADABLE: "a try"} for key in right}

    def numbers(changes: Predictions) -> dict[Names, float]:
        """Return the metrics of right answers with some changes."""
        return Epoch(rows, {**right, **changes}).score.numbers

    changes: list[Predictions] = [{}, lost, {key: lost[key]}, wrong]
    best, unread, one_lost, all_wrong = map(numbers, changes)
    lower = {path for path in best if not {*path}.isdisjoint(task.lower)}
    due = {path: task.ends_of(path)[0 if path in lower else 1] for path in best}
    if not best or not wrong:
        alone = [Epoch(rows, right).within({key}).score.numbers for key in right]
        are_best = all(math.isinf(due[n]) or math.isclose(best[n], due[n]) for n in best)
        if not are_best or any(one != alone[0] for one in alone):
            yield "all are the same, but gold is not; give the fields of each in gold"
        why = "no wrong one can be tried; add a record with another right answer"
        yield Aside("not checked", why)
        return
    one_wrong = [numbers({key: wrong[key]}) for key in [*wrong][:_SOME]]
    known = {next(iter(best))[0], *task.metrics}
    # a right answer need not correlate with the ratings of others
    best = {n: each for n, each in best.items() if n[0] in known or task.ends_of(n)[0] >= 0}
    for path, value in best.items():
        worse = [tried.get(path, value) for tried in (*one_wrong, all_wrong, one_lost, unread)]
        if math.isinf(expected := due[path]):
            expected = min(value, *worse) if path in lower else max(value, *worse)
        if not math.isclose(value, expected, abs_tol=1e-9):
            what = f"gold itself scores {value:g}, expected {expected:g}"
            remedy = "repair the metric, name it in `lower` if less is better, or name its `ends`"
            yield f"{' '.join(path)}: {what}; {remedy}"
        elif path in unread and path in all_wrong:
            expected = all_wrong[path] if path in lower else max(all_wrong[path], 0)
            gain = expected - unread[path] if path in lower else unread[path] - expected
            if gain > 1e-9:
                what = f"expected {expected:g} for unreadable answers, as for wrong ones"
                remedy = "count them as wrong"
                yield f"{' '.join(path)}: {what}, found {unread[path]:g}; {remedy}"
    for place, name in enumerate(task.metrics):
        tries = [*one_wrong, all_wrong, unread] if place else one_wrong
        of_gold = {path: value for path, value in best.items() if name in path}
        if of_gold and all(
            math.isclose(tried.get(path, value), value)
            for path, value in of_gold.items()
            for tried in tries
        ):
            change = "all wrong or unreadable" if place else "one wrong"
            yield f"{name}: is the same with {change}; compare each prediction with its gold"


def _wrong_answers(task: Task, right: Mapping[Key, Prediction]) -> dict[Key, Prediction]:
    """Return a wrong prediction of each key: the first answer of another key that differs."""
    answers = [task.without_key(prediction) for prediction in right.values()]
    firsts = [next((a for a in answers if a != answer), None) for answer in answers]
    pairs = zip(right, firsts, strict=True)
    return {key: {**right[key], **other} for key, other in pairs if other is not None}


def tasks_ask_for_right_answers(folder: DatasetFolder) -> Iterator[Found]:
    """A question for each key of gold, of the named columns, which names and reads each label."""
    for name, task in folder.dataset.tasks.items():
        where, built = f"{_file(folder)}: {name}: asking", folder.built
        try:
            every = task.ids(name).values()
            problems = list[Found]()
            for options in every:
                problems += _of_keys(built, name, options)
            if not problems and isinstance(task.asking, Asking):
                questions = Questions(built, name, task.chosen({}))
                with running(built):
                    for problems_of in (_of_labels, of_unnamed_columns):
                        problems += problems_of(questions)
        except ParleyError as error:
            problems = [*lines_of(error)]
        yield from (at(where, found) for found in dict.fromkeys(problems))


def _of_keys(built: BuiltFolder, name: str, options: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys without a question, and the questions without gold."""
    task, chosen = built.dataset.task(name), " ".join([*options.values(), ""])
    if task.asking is None:
        return
    gold, _ = load_gold(built, name, options)
    with running(built):
        if isinstance(task.asking, Playing):
            keys = {key for key, _ in task.asking.scenarios(built, **options)}
        else:
            keys = {question.key for question in task.asking.questions(built, **options)}
    for lacking, without in (("question", gold.keys() - keys), ("gold", keys - gold.keys())):
        if without:
            problem = f"has no {lacking}; ask for each key of gold and no other"
            yield f"{chosen}{few(sorted(map(str, without)))} {problem}"


def _of_labels(questions: Questions) -> Iterator[str]:
    """Yield the labels that a question lacks, and right answers that are read as others."""
    task = questions.task
    chats = questions.by_key.values()
    texts = ["\n".join(message["content"] for message in chat) for chat in chats]
    with suppress(ScriptError):  # some shapes have no columns
        for name, field in task.asked.items():
            for label in chain.from_iterable(column.values for column in field.columns("")):
                letters = r"[\s_-]*".join(map(re.escape, normalized_name(str(label))))
                named = re.compile(rf"(?i)(?<![a-z0-9]){letters}(?![a-z0-9])")
                if isinstance(label, str) and not all(map(named.search, texts)):
                    yield f"no question names {label}, a value of {name}; name all in the prompt"
    for right in right_answers(task, questions.gold).values():
        fields = task.without_key(right)
        text = written(task.asked, fields)
        if (read := task.read(text)) != fields:
            yield f"the answer {text:.200} is read as {read}; let its kind read it as {fields}"
