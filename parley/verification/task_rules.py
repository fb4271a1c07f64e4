"""Rules for tasks: each yields a line for each violation, with its remedy."""

import fnmatch
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import reduce
from itertools import chain, islice
from operator import getitem
from typing import Any

from parley.base.errors import ParleyError, ScriptError, UsageError, few, one_line
from parley.base.extras import extra_of
from parley.builds.built_folder import BuiltFolder
from parley.declaration.registry import module_path
from parley.read.dialogues import dialogues, require_dialogues
from parley.rows.splits import Name
from parley.tasks.asking import Asking
from parley.tasks.evaluate import score
from parley.tasks.games import Playing
from parley.tasks.kinds import form_of, normalized_name, written
from parley.tasks.metrics import Epoch, Names, Predictions, TaskRows
from parley.tasks.prediction_formats import UNREADABLE, Key, Prediction
from parley.tasks.questions import Questions
from parley.tasks.task import MOST, Gold, Task, load_gold, running
from parley.verification.dataset_folder import DatasetFolder
from parley.verification.folder_checks import NotChecked
from parley.verification.verify import lines_of

Way = tuple[Any, ...]  # the number of a row, then keys and numbers of places
Cells = dict[Way, Any]  # the way to each cell -> its value

_SOME = 10  # rows or cells that are tried, of many


def tasks_score_the_sample(folder: DatasetFolder) -> Iterator[str]:
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
        kinds = set(map(type, ids))
        try:
            require_dialogues(folder.built, [*map(str, ids)])
        except UsageError as error:
            yield one_line(f"{where}: dialogues: {error}")
        for subset, of in task.subsets.items():
            if odd := [repr(id) for id in of.ids if type(id) not in kinds]:
                problem = f"{few(odd)} are not of the type of the dialogues' ids"
                yield f"{where}: subset {subset}: {problem}; give ids as the rows have them"
        tries = {method: _of_baseline(folder, name, method, gold) for method in task.baselines}
        if task.has_right_answers:
            rows = TaskRows(folder.built, name, task.chosen({}), gold)
            tries = {"right answers": problems_of_answers(rows), **tries}
        for what, problems in tries.items():
            try:
                yield from (type(text)(f"{where}: {what}: {text}") for text in problems)
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
        problem = "it reads them, or they are too few; say in the note of its reference if it may"
        yield f"{baseline}: gives all right answers of the sample: {problem}"


# Right answers -----------------------------------------------------------------------------


def right_answers(task: Task, gold: Gold) -> dict[Key, Prediction]:
    """Return the right prediction of each key, with the fields of gold."""
    fields_of = {key: {n: v for n, v in of.items() if n in task.answer} for key, of in gold.items()}
    return {key: dict(zip(task.key, key, strict=True)) | fields_of[key] for key in gold}


def problems_of_answers(rows: TaskRows) -> Iterator[str]:
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
    most = MOST.get(task.unit)
    if not best or not wrong:
        alone = [Epoch(rows, right).within({key}).score.numbers for key in right]
        are_best = all(math.isclose(value, most or value) for value in best.values())
        if not are_best or any(one != alone[0] for one in alone):
            yield "all are the same, but gold is not; give the fields of each in gold"
        yield NotChecked("no wrong one can be tried; add a record with another right answer")
        return
    one_wrong = [numbers({key: wrong[key]}) for key in [*wrong][:_SOME]]
    if task.unit == "correlation":  # a right answer need not correlate with the ratings of others
        best = {path: value for path, value in best.items() if path[0] == next(iter(best))[0]}
    for path, value in best.items():
        worse = [tried.get(path, value) for tried in (*one_wrong, all_wrong, one_lost, unread)]
        low, high = min(worse), max(worse)
        if not math.isclose(value, most) if most else low < value < high:
            problem = f"gold itself scores {value:g}, expected {most or high:g}"
            remedy = "repair the metric, or say in `unit` that less is better"
            yield f"{' '.join(path)}: {problem}; {remedy}"
        elif path in unread and path in all_wrong:
            less_is_better = high > value
            expected = all_wrong[path] if less_is_better else max(all_wrong[path], 0)
            gain = expected - unread[path] if less_is_better else unread[path] - expected
            if gain > 1e-9:
                problem = f"expected {expected:g} for unreadable answers, as for wrong ones"
                remedy = "count them as wrong"
                yield f"{' '.join(path)}: {problem}, found {unread[path]:g}; {remedy}"
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


# Questions ---------------------------------------------------------------------------------


def tasks_ask_for_right_answers(folder: DatasetFolder) -> Iterator[str]:
    """A question for each key of gold, which names and reads each label, and hides the answer."""
    for name, task in folder.dataset.tasks.items():
        where, built = f"{_file(folder)}: {name}: asking", folder.built
        try:
            every = task.ids(name).values()
            problems = [line for options in every for line in _of_keys(built, name, options)]
            if not problems and isinstance(task.asking, Asking):
                questions = Questions(built, name, task.chosen({}))
                with running(built):
                    for problems_of in (_of_labels, _of_turns, _of_gold):
                        problems += problems_of(questions)
        except ParleyError as error:
            problems = [*lines_of(error)]
        yield from (f"{where}: {problem}" for problem in dict.fromkeys(problems))


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


def _of_turns(questions: Questions) -> Iterator[str]:
    """Yield a question about a turn that shows later ones, however the key counts turns."""
    task, gold = questions.task, questions.gold
    if task.leak or not all(key[1:] and type(key[-1]) is int for key in gold):
        return
    turns_of = {talk.id: talk.transcript.turns for talk in dialogues(questions.built)}
    # key -> the turns of its dialogue, the long ones that its question hides, the last it shows
    in_question = dict[Key, tuple[Any, set[int], int]]()
    for key, question in questions.by_key.items():
        (id, *_) = task.dialogues(key, gold[key])
        texts = [" ".join(turn.text.split()) for turn in turns_of.get(str(id), ())]
        messages = " ".join(message["content"] for message in question)
        whole = " ".join(messages.split())
        new = {n for n, t in enumerate(texts) if t[_SOME:] and t not in " ".join(texts[:n])}
        if visible := {n for n in new if texts[n] in whole}:
            in_question[key] = turns_of[str(id)], new - visible, max(visible)

    def ends(speaker: str, first: int) -> bool:
        """Tell whether each question ends at its turn if keys count a speaker's turns, or all."""
        for key, (turns, hidden, last) in in_question.items():
            places = [n for n, turn in enumerate(turns) if speaker in ("", turn.speaker)]
            place = dict(enumerate(places, first)).get(key[-1], -1)
            if last > place or place in hidden:
                return False
        return True

    speakers = {"", *(turn.speaker for turns, *_ in in_question.values() for turn in turns)}
    later = [(key, last) for key, (*_, last) in in_question.items() if last > key[-1]]
    if later and not any(ends(speaker, first) for speaker in speakers for first in (0, 1)):
        key, last = later[0]
        problem = f"the question of {key} shows the later turn {last}"
        yield f"{problem}; leave it out, or warn in `leak`"


def _of_gold(questions: Questions) -> Iterator[str]:
    """Yield a column that makes or holds a right answer, and changes the question about it."""
    right = right_answers(questions.task, questions.gold)
    for place in questions.built.declared_splits:
        for path, cells in _columns(questions, place).items():
            answered = _answered(questions, right, place, cells)
            if place[0] not in questions.task.configs and not answered:
                continue
            others = _exchanged(cells)
            if not _leaking(questions, right, place, others, answered):
                continue
            for way in islice(others, 10 * _SOME):
                if keys := _leaking(questions, right, place, {way: others[way]}, answered):
                    problem = (
                        f"the question of {keys[0]} shows {path}, which is or makes its answer"
                    )
                    yield f"{problem}; leave it out, or add a record in which they differ"
                    return


def _columns(questions: Questions, place: Name) -> dict[str, Cells]:
    """Return the cells of each column of a split by its path, without those of keys."""
    configs = questions.built.dataset.configs.values()
    keys = {*questions.task.key}.union(*(config.keys for config in configs))
    found: dict[str, Cells] = {}
    for way, value in _leaves(questions.built.rows(*place)):
        if way[1] not in keys:
            path = "".join("[]" if type(step) is int else f".{step}" for step in way[1:])
            found.setdefault(f"{place[0]}{path}", {})[way] = value
    return found


def _exchanged(cells: Cells) -> Cells:
    """Return each cell with the value that follows its own, of all in their order."""
    values = sorted({*cells.values()}, key=repr)
    following = dict(zip(values, [*values[1:], values[0]], strict=True))
    return {way: following[value] for way, value in cells.items()}


def _leaking(
    questions: Questions,
    right: Mapping[Key, Prediction],
    place: Name,
    cells: Cells,
    answered: Mapping[Way, Key],
) -> list[Key]:
    """Return the keys whose question changes with these cells, as their right answers do."""
    built, task, options = questions.built, questions.task, questions.options
    rows: Any = [*built.rows(*place)]
    for number in {way[0] for way in cells}:
        rows[number] = deepcopy(rows[number])
    for (*steps, last), value in cells.items():
        reduce(getitem, steps, rows)[last] = value
    other = built.copy_with_rows({place: rows})
    try:
        answers = right_answers(task, task.gold(other, **options))
        asked = questions.asking.questions(other, **options)
        after = {each.key: each.messages(form_of(task.asked)) for each in asked}
    except Exception:  # the rows may contradict each other
        return []
    of_cells = {answered[way] for way in cells if way in answered}
    changed = [
        key for key in right if key in of_cells or answers.get(key, right[key]) != right[key]
    ]
    return [key for key in changed if key in after and after[key] != questions.by_key[key]]


def _answered(
    questions: Questions, right: Mapping[Key, Prediction], place: Name, cells: Cells
) -> dict[Way, Key]:
    """Return the key of each cell of a column that holds a field of all right answers, else {}."""
    rows: Any = questions.built.rows_with_names(*place)
    ways: dict[Key, list[Way]] = {}
    for way in cells:
        if (key := _key_of(questions, right, place[0], rows[way[0]], way)) is not None:
            ways.setdefault(key, []).append(way)
    values = {key: [reduce(getitem, way, rows) for way in ways[key]] for key in ways}
    for field in questions.task.without_key(next(iter(right.values()))):
        due = {key: [value for _, value in _leaves([right[key].get(field)])] for key in ways}
        if values == due and len({*map(repr, due.values())}) > 1:
            return {way: key for key in ways for way in ways[key]}
    return {}


def _key_of(
    questions: Questions, right: Mapping[Key, Prediction], config: str, row: Any, way: Way
) -> Key | None:
    """Return the key of right answers that a cell of a row is of.

    It is that of the row, or of the row's dialogue, alone or with the turn or side in the way.
    """
    names = questions.built.dataset.configs[config].keys
    if not names:
        return None
    own = tuple(row[f] for f in questions.task.gold_key if isinstance(row.get(f), str | int))
    keys: list[Key] = [own, (row[names[0]],)]
    turn = next((step for step in way[1:] if type(step) is int), None)
    for step in way[1:]:
        if step == turn or type(step) is str:
            keys.append((row[names[0]], step))
    return next((key for key in keys if key in right), None)


def _leaves(value: Any, way: Way = ()) -> Iterator[tuple[Way, Any]]:
    """Yield each scalar within a value, with the way to it, without nulls."""
    if isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, (*way, step))
    elif value is not None:
        yield way, value
