"""One suite over every dataset: what is broken in its sample is noticed, and by whom."""

import json
import re
import shutil
from importlib import import_module
from itertools import chain
from pathlib import Path

import pytest
from build_changes import in_memory
from mutations import changed, found_by, general, inner, nodes, swap

from parley.base.errors import RecordError
from parley.builds.built_folder import open_folder
from parley.builds.sources import Sources, open_source, split_plan
from parley.declaration.figures import marked
from parley.declaration.registry import discover
from parley.rows.splits import generate
from parley.schema.shapes import parse
from parley.source.reader import Reader

DATASETS = discover()
DECLARED = {name: import_module(f"mutations.{name}") for name in DATASETS}


@pytest.fixture
def declared(dataset):
    return DECLARED[dataset.name]


def own_checks(dataset):
    return {check.__name__: check for check in marked(dataset.checks, "is_check")}


def problems_of(built, check):
    if own := own_checks(built.dataset).get(check):
        return list(own(built))
    return found_by(check, built)


def another(value, names=()):
    """Return another value of the same type; of a label, another that it can be."""
    if names:
        return (value + 1) % len(names)
    if isinstance(value, bool):
        return not value
    return f"{value}." if isinstance(value, str) else value + 1


def ways(value, names=()):
    """Yield every way in which a value can be wrong, by its name, and what the value becomes."""
    if isinstance(value, list):
        yield from (("fewer", value[:-1]), ("twice", [*value, *value[-1:]]), ("none", []))
        yield "swapped", swap(0, 1)([*value]) if value[1:] else value
    elif not isinstance(value, dict):
        yield "another", another(value, names)
    yield "null", None


def test_the_rows_of_the_sample_stay(dataset, declared, sample_build):
    configs = open_folder(sample_build / dataset.name, dataset).provenance["configs"]
    found = [[name, *(s["digest"][:8] for s in of.values())] for name, of in configs.items()]
    assert " ".join(chain(*found)) == declared.SAMPLE


def test_every_change_is_noticed_by_the_check_that_guards_it(dataset, declared, sample_build):
    """Else it contradicts some other row, or upstream's shape."""
    folder, unguarded, missed, seen = in_memory(sample_build / dataset.name), {}, [], set()
    guards = declared.GUARDS
    assert own_checks(dataset).keys() <= guards.keys()
    for way, value in list(nodes(folder.held)):
        config = way[0].partition("/")[0] if way else ""
        place = general((config, *way[1:]))
        if value is None or not way or place in seen:
            continue
        seen.add(place)
        inside = inner(folder.held, way)
        feature = dataset.features(config)[way[2]] if way[2:] else None
        names = getattr(getattr(feature, "feature", feature), "names", ())
        for name, other in ways(value, names):
            if other == value or not (other or way[1:]):  # counts notices an empty split
                continue
            inside[way[-1]] = other
            owners = [c for c, its in guards.items() if re.fullmatch(its, f"{place} {name}")]
            missed += [(check, place, name) for check in owners if not notices(folder, check)]
            if not owners and not any(notices(folder, check) for check in [*guards, "records"]):
                unguarded.setdefault(place, []).append(name)
        inside[way[-1]] = value
    assert not missed
    assert {place: " ".join(names) for place, names in unguarded.items()} == declared.UNGUARDED
    for check, changes in declared.ROWS.items():
        for place, change in changes.items():
            folder = in_memory(sample_build / dataset.name)
            changed(folder.held, place, change)
            assert problems_of(folder, check), place


def notices(built, check):
    try:
        return bool(problems_of(built, check))
    except Exception:  # which verify reports as well
        return True


RECORDS = [(name, *record) for name in DATASETS for record in DECLARED[name].RECORDS]


@pytest.mark.parametrize(("name", "file", "place", "change", "named"), RECORDS)
def test_a_broken_record_is_refused(tmp_path, name, file, place, change, named):
    dataset = DATASETS[name]
    folder = Path(shutil.copytree(dataset.sample, tmp_path / "source"))
    rewrite(folder / file, place, change)
    source = Sources(dataset, folder, sample=True)
    config, split = next(
        (config, split)
        for config, splits in dataset.splits.items()
        for split, sources in splits.items()
        if any(f"{file}/".startswith(f"{each.path}/") for each in sources)
    )
    with pytest.raises(RecordError) as refused:
        list(generate(split_plan(source, config, split)))
    problem = str(refused.value.problems[0])
    assert re.match(rf"(records\[\d+\]: )?{re.escape(file)}", problem)
    assert named in problem


def rewrite(path, place, change):
    """Change a file: a JSON value, or the list of its lines, parsed if they are JSON."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        path.write_text(json.dumps(changed(json.loads(text), place, change)), encoding="utf-8")
        return
    load, dump = (json.loads, json.dumps) if path.suffix == ".jsonl" else (str, str)
    lines = changed([load(line) for line in text.splitlines()], place, change)
    path.write_text("".join(f"{dump(line)}\n" for line in lines), encoding="utf-8")


def test_a_record_of_another_shape_is_none(dataset, declared):
    """Few parts can be absent or null; no object takes another key.

    No place takes a value of another type, but for those of `LOOSE`.
    """
    lacked, loose = set(), set()
    for record, shape in records_of(open_source(dataset, None, sample=True)):
        fits = parse(shape).fits
        assert fits(record)
        for way, value in list(nodes(record)):
            if not way or value is None:
                continue
            inside, place = inner(record, way), general(way)
            others = ("7", int(value) if type(value) is float else 7, 7.5, True, [], {})
            others = [other for other in others if type(other) is not type(value)]
            if isinstance(value, dict):
                others.append({**value, "note": 1})
            for other, allowed in (*((other, loose) for other in others), (None, lacked)):
                inside[way[-1]] = other
                allowed |= {place} if fits(record) else set()
            if isinstance(inside, dict):
                del inside[way[-1]]
                lacked |= {place} if fits(record) else set()
            inside[way[-1]] = value
    for pattern, places in ((declared.OPTIONAL, lacked), (getattr(declared, "LOOSE", ""), loose)):
        assert not [place for place in places if not re.fullmatch(pattern, place)]


def records_of(source):
    """Yield each record of the sample that is an object, with the shape it is read with."""
    reader = Reader(source.folder)
    for each in source.dataset.sources.values():
        for _, record in reader.read(each):
            if isinstance(record, dict):
                yield record, each.shape
