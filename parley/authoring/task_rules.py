"""Rules for tasks: each yields a line for each violation, with its remedy."""

import fnmatch
import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import reduce
from itertools import chain, islice
from operator import getitem
from typing import Any

from parley.authoring.dataset_folder import DatasetFolder
from parley.base.errors import ParleyError, ScriptError, few
from parley.base.extras import extra_of
from parley.base.values import flat
from parley.builds.card_parts import columns_of
from parley.declaration.registry import module_path
from parley.read.dialogues import dialogues
from parley.rows.folder import BuiltFolder
from parley.tasks.answers import in_any_form
from parley.tasks.asking import Asking
from parley.tasks.evaluate import score
from parley.tasks.formats import JSON_LINES, UNREADABLE, Key, Prediction
from parley.tasks.games import Playing
from parley.tasks.metrics import Predictions, Rows
from parley.tasks.questions import Questions
from parley.tasks.task import MOST, Gold, Task, Undefined, load_gold, running
from parley.verification.check import NotChecked, lines_of

Way = tuple[Any, ...]  # the number of a row, then keys and numbers of places

_SOME = 10  # rows or cells that are tried, of many


def tasks_score_the_sample(folder: DatasetFolder) -> Iterator[str]:
    """Each task reads configs and columns, gold is of rows and scores best, baselines score."""
    configs = folder.dataset.configs
    columns = [f"{name}.{c.path}" for name, each in configs.items() for c in columns_of(each)]
    for name, task in folder.dataset.tasks.items():
        where = f"{_file(folder)}: {name}"
        if absent := [each for each in task.configs if each not in configs]:
            yield f"{where}: no config {', '.join(absent)}; name another"
            continue
        if unknown := [
            each for each in task.columns if not fnmatch.filter(columns, each.replace("[", "[[]"))
        ]:
            yield f"{where}: no column {', '.join(unknown)}; name others"
        gold, _ = load_gold(folder.built, name, task.chosen({}))
        if strangers := _strangers(folder, task, gold):
            said = f"no row of {', '.join(task.configs)} has {few(strangers)}; take keys of rows"
            yield f"{where}: gold: {said}"
        if not gold:
            yield f"{where}: gold: the sample has none; add a record that has some"
            continue
        if (key := tuple(task.example[each] for each in task.gold_key)) not in gold:
            said = f"{key} is no key of gold on the sample; take one, such as {next(iter(gold))}"
            yield f"{where}: example: {said}"
        tries = {each: _of_baseline(folder, name, each, gold) for each in task.baselines}
        if task.format is JSON_LINES and not isinstance(task.asking, Playing):
            rows = Rows(folder.built, name, task.chosen({}), gold)
            tries = {"right answers": problems_of_answers(rows), **tries}
        for what, found in tries.items():
            try:
                yield from (type(each)(f"{where}: {what}: {each}") for each in found)
            except ModuleNotFoundError as error:
                if not extra_of((error.name or "").partition(".")[0]):
                    yield f"{where}: {what}: {error}; remove this import"
            except ParleyError as error:
                yield from (f"{where}: {what}: {line}" for line in lines_of(error))


def _file(folder: DatasetFolder) -> str:
    return module_path(folder.dataset.folder, "tasks").name


def _strangers(folder: DatasetFolder, task: Task, gold: Gold) -> list[str]:
    """Return the keys of gold that no row has, by the most fields of the key that a config has."""
    columns = {each: folder.dataset.configs[each].features for each in task.configs}
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
        found = list(task.baselines[baseline](built, **task.chosen({})))
    score(built, name, {}, found=found)
    if task.format is not JSON_LINES or isinstance(task.asking, Playing):
        return
    right = right_answers(task, gold)
    is_right = (each == right[tuple(each[name] for name in task.key)] for each in found)
    if baseline not in task.upper and all(is_right):
        said = "it reads them, or they are too few; name it in `upper` if it may know them"
        yield f"{baseline}: gives all right answers of the sample: {said}"


# Right answers -----------------------------------------------------------------------------


def right_answers(task: Task, gold: Gold) -> dict[Key, Prediction]:
    """Return the right prediction of each key; without `target`, gold is its fields or its one."""
    (field, *_) = [each for each in task.shape if each not in task.key]
    found = {key: task.target(each) if task.target else each for key, each in gold.items()}
    given = {k: each if isinstance(each, Mapping) else {field: each} for k, each in found.items()}
    return {key: dict(zip(task.key, key, strict=True), **each) for key, each in given.items()}


def problems_of_answers(rows: Rows) -> Iterator[str]:
    """Yield where right, wrong or unreadable answers have another score than is due."""
    task = rows.task
    with running(rows.of[0]):
        right = right_answers(task, rows.gold)
    for key, each in right.items():
        if problem := next(task.node.problems(each), None):
            yield f"the answer of {key} is no prediction: {problem}; make it one by `target`"
            return
    answers = [task.answer(each) for each in right.values()]
    others = [next((each for each in answers if each != own), None) for own in answers]
    wrong = {key: {**right[key], **each} for key, each in zip(right, others, strict=True) if each}
    lost = {key: {**dict(zip(task.key, key, strict=True)), UNREADABLE: "a try"} for key in right}

    def tried(found: Predictions) -> dict[tuple[str, ...], float]:
        metrics = flat(rows.score({**right, **found}).metrics)
        return {path: v for path, v in metrics.items() if not isinstance(v, Undefined)}

    best, unread, one_lost, all_wrong = map(tried, ({}, lost, {key: lost[key]}, wrong))
    if not best or not wrong:
        yield NotChecked("no wrong one can be tried; add a record with another right answer")
        return
    one_wrong, most = [tried({key: wrong[key]}) for key in [*wrong][:_SOME]], MOST.get(task.unit)
    if task.unit == "correlation":  # with the ratings of others a right answer has no due one
        best = {path: value for path, value in best.items() if path[0] == next(iter(best))[0]}
    for path, value in best.items():
        worse = [each.get(path, value) for each in (*one_wrong, all_wrong, one_lost, unread)]
        low, high = min(worse), max(worse)
        if not math.isclose(value, most) if most else low < value < high:
            said = f"gold itself scores {value:g}, expected {most or high:g}; repair the metric"
            yield f"{' '.join(path)}: {said}, or say in `unit` that less is better"
        elif path in unread and path in all_wrong:
            due, sign = (all_wrong[path], -1) if high > value else (max(all_wrong[path], 0), 1)
            if sign * (unread[path] - due) > 1e-9:
                said = f"expected {due:g} for unreadable answers, as for wrong ones, found"
                yield f"{' '.join(path)}: {said} {unread[path]:g}; count them as wrong"
    for place, name in enumerate(task.metrics):
        tries = [*one_wrong, all_wrong, unread] if place else one_wrong
        own = {path: value for path, value in best.items() if name in path}
        if own and all(math.isclose(each.get(p, v), v) for p, v in own.items() for each in tries):
            said = "all wrong or unreadable" if place else "one wrong"
            yield f"{name}: is the same with {said}; compare each prediction with its gold"


# Questions ---------------------------------------------------------------------------------


def tasks_ask_for_right_answers(folder: DatasetFolder) -> Iterator[str]:
    """A question for each key of gold, which names and reads each label, and hides the answer."""
    for name, task in folder.dataset.tasks.items():
        where, built = f"{_file(folder)}: {name}: asking", folder.built
        try:
            found = [each for of in task.ids(name).values() for each in _of_keys(built, name, of)]
            if not found and isinstance(task.asking, Asking):
                asked = Questions(built, name, task.chosen({}))
                with running(built):
                    found = [*_of_labels(asked), *_of_turns(asked), *_of_gold(asked)]
        except ParleyError as error:
            found = [*lines_of(error)]
        yield from (f"{where}: {each}" for each in dict.fromkeys(found))


def _of_keys(built: BuiltFolder, name: str, options: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys without a question, and the questions without gold."""
    task, given = built.dataset.task(name), " ".join([*options.values(), ""])
    if task.asking is None:
        return
    gold, _ = load_gold(built, name, options)
    with running(built):
        if isinstance(task.asking, Playing):
            keys = {key for key, _ in task.asking.scenarios(built, **options)}
        else:
            keys = {each.key for each in task.asking.questions(built, **options)}
    for lacking, of in (("question", gold.keys() - keys), ("gold", keys - gold.keys())):
        if of:
            said = f"has no {lacking}; ask for each key of gold and no other"
            yield f"{given}{few(sorted(map(str, of)))} {said}"


def _of_labels(asked: Questions) -> Iterator[str]:
    """Yield the labels that a question lacks, and the answers that are not read as they are."""
    task, asking = asked.task, asked.asking
    right = [task.answer(each) for each in right_answers(task, asked.gold).values()]
    texts = ["\n".join(m["content"] for m in each.messages) for each in asked.by_key.values()]
    given = [*right]
    with suppress(ScriptError):  # some shapes have no columns
        for column in task.node.columns(""):
            field = re.split(r"\W", column.path)[0]
            for label in column.values if field not in task.key else ():
                known = ({**right[0], field: value} for value in (label, [label]))
                given += (own := [f for f in known if task.node.fits({**task.example, **f})])
                forms = [label, *(v for each in own for v in asking.answer(each).values())]
                names = "|".join(in_any_form(each) for each in forms if isinstance(each, str))
                named = re.compile(rf"(?i)(?<![a-z0-9_-])(?:{names})(?![a-z0-9_-])")
                if names and not all(map(named.search, texts)):
                    yield f"no question names {label}, a value of {field}; name all in the prompt"
    for each in given:
        text = json.dumps(asking.answer(each), ensure_ascii=False)
        if (found := asking.fields(text)) != each:
            yield f"the answer {text:.200} is read as {found}; let the reader take it as {each}"


def _of_turns(asked: Questions) -> Iterator[str]:
    """Yield a question about a turn that shows later ones, however the key counts turns."""
    if asked.task.leak or not all(key[1:] and type(key[-1]) is int for key in asked.gold):
        return
    said = {each.id: each.transcript.turns for each in dialogues(asked.built)}
    shown = dict[Key, tuple[Any, set[int], int]]()
    for key, question in asked.by_key.items():
        (id, *_) = asked.task.dialogues(key, asked.gold[key])
        texts = [" ".join(turn.text.split()) for turn in said.get(str(id), ())]
        whole = " ".join(" ".join(each["content"] for each in question.messages).split())
        new = {n for n, t in enumerate(texts) if t[_SOME:] and t not in " ".join(texts[:n])}
        if seen := {n for n in new if texts[n] in whole}:
            shown[key] = said[str(id)], new - seen, max(seen)

    def ends(speaker: str, first: int) -> bool:
        """Tell whether each question ends at its turn if keys count a speaker's turns, or all."""
        for key, (turns, hidden, last) in shown.items():
            places = [n for n, turn in enumerate(turns) if speaker in ("", turn.speaker)]
            place = dict(enumerate(places, first)).get(key[-1], -1)
            if last > place or place in hidden:
                return False
        return True

    speakers = {"", *(turn.speaker for turns, *_ in shown.values() for turn in turns)}
    later = [(key, last) for key, (*_, last) in shown.items() if last > key[-1]]
    if later and not any(ends(each, first) for each in speakers for first in (0, 1)):
        said_of = "the question of {} shows the later turn {}; leave it out, or warn in `leak`"
        yield said_of.format(*later[0])


def _of_gold(asked: Questions) -> Iterator[str]:
    """Yield a column that holds a right answer, and changes the question about it."""
    built, task, options = asked.built, asked.task, asked.options
    keys = {*task.key}.union(*(each.keys for each in built.dataset.configs.values()))
    right = right_answers(task, asked.gold)

    def leaks(place: tuple[str, str], cells: Mapping[Way, Any]) -> list[Key]:
        """Return the keys whose answer and question both change if cells have other values."""
        rows: Any = [*built.rows(*place)]
        for number in {way[0] for way in cells}:
            rows[number] = deepcopy(rows[number])
        for (*way, last), value in cells.items():
            reduce(getitem, way, rows)[last] = value
        with suppress(Exception):  # the rows may contradict each other
            other = built.holding({place: rows})
            answers = right_answers(task, task.gold(other, **options))
            changed = [key for key in right if answers.get(key, right[key]) != right[key]]
            shown = {e.key: e.messages for e in asked.asking.questions(other, **options)}
            own = {key: asked.by_key[key].messages for key in changed}
            return [key for key in changed if shown.get(key, own[key]) != own[key]]
        return []

    for place in ((config, split) for config in task.configs for split in built.splits(config)):
        paths = dict[str, dict[Way, Any]]()
        for way, value in _leaves(built.rows(*place)):
            if way[1] not in keys:
                path = "".join("[]" if type(each) is int else f".{each}" for each in way[1:])
                paths.setdefault(f"{place[0]}{path}", {})[way] = value
        for path, cells in paths.items():
            first, *others = sorted({*cells.values()}, key=repr)
            after = dict(zip([first, *others], [*others, first], strict=True))
            other = {way: after[value] for way, value in cells.items()}
            each = (leaks(place, {way: other[way]}) for way in islice(other, 10 * _SOME))
            if leaks(place, other) and (key := next(chain.from_iterable(each), None)):
                yield f"the question of {key} shows {path}, which makes its answer; leave it out"
                return


def _leaves(value: Any, way: Way = ()) -> Iterator[tuple[Way, Any]]:
    """Yield each scalar within a value, with the way to it, without nulls."""
    if isinstance(value, dict | list):
        for step, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(each, (*way, step))
    elif value is not None:
        yield way, value
