"""One suite over every dataset: what is broken in its sample is noticed, and by whom."""

import json
import pickle
import re
import shutil
from pathlib import Path

import pytest
from mutations import NAMES, InMemory, changed, found_by, general, nodes, of

from parley.base.errors import RecordError
from parley.building.built import open_folder
from parley.building.collection import discover
from parley.building.plan import split_plan
from parley.building.sources import Source, open_source
from parley.declaring.figures import checks_of
from parley.declaring.shapes import parse
from parley.rows.generate import generate
from parley.rows.reader import Reader

DATASETS = discover()


@pytest.fixture
def declared(dataset):
    """What is declared of the dataset's sample, as far as somebody has done so."""
    if dataset.name not in NAMES:
        pytest.skip(f"there is no tests/mutations/{dataset.name}.py yet")
    return of(dataset.name)


@pytest.fixture(scope="session")
def sample_rows(sample_build):
    """The rows of the built samples by dataset, as one pickle each, which is quick to copy."""
    rows = {}
    for name, dataset in DATASETS.items():
        built = open_folder(sample_build / name, dataset)
        rows[name] = pickle.dumps({f"{c}/{s}": built.rows(c, s) for c, s in built.declared})
    return rows


@pytest.fixture
def built(sample_build, sample_rows):
    """Return the sample of a dataset with rows of its own in memory."""

    def make(dataset):
        folder = open_folder(sample_build / dataset.name, dataset)
        return InMemory(folder, pickle.loads(sample_rows[dataset.name]))

    return make


def own_checks(dataset):
    return {check.__name__: check for check in checks_of(dataset.checks)}


def problems_of(built, check):
    if own := own_checks(built.dataset).get(check):
        return list(own(built))
    return found_by(check, built)


# Rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "check", "place", "change"),
    [
        pytest.param(name, check, place, change, id=f"{name}-{check}-{place}")
        for name in DATASETS
        for check, changes in of(name).ROWS.items()
        for place, change in changes
    ],
)
def test_a_broken_row_is_noticed_by_the_check_that_guards_it(built, name, check, place, change):
    folder = built(DATASETS[name])
    changed(folder.held, place, change)
    assert problems_of(folder, check)


def test_the_rows_of_the_sample_stay(dataset, declared, sample_build):
    configs = open_folder(sample_build / dataset.name, dataset).provenance["configs"]
    found = {
        name: [split["digest"][:8] for split in each.values()] for name, each in configs.items()
    }
    assert {name: " ".join(digests) for name, digests in found.items()} == declared.SAMPLE


def test_every_check_is_known_to_fail(dataset, declared):
    assert own_checks(dataset).keys() <= declared.ROWS.keys()


def test_every_value_is_guarded(dataset, built, declared):
    """A value that is another, or null, contradicts some other row, or upstream's shape."""
    folder = built(dataset)
    asked = [*own_checks(dataset), "records"]
    unguarded, tried = set(), set()
    for config, splits in dataset.splits.items():
        features = dataset.features(config)
        for split in splits:
            rows = folder.held[f"{config}/{split}"]
            for way, value in list(nodes(rows)):
                place = f"{config}.{general(way[1:])}"
                if value is None or isinstance(value, dict | list) or place in tried:
                    continue
                tried.add(place)
                inside = inner(rows, way)
                for other in (another(value, features[way[1]]), None):
                    inside[way[-1]] = other
                    if not any(notices(folder, check) for check in asked):
                        unguarded.add(place)
                inside[way[-1]] = value
    assert unguarded == declared.UNGUARDED


def inner(value, way):
    """Return the dict or list that holds the end of a way."""
    for step in way[:-1]:
        value = value[step]
    return value


def another(value, feature=None, far=1):
    """Return another value of the same type; of a label, another that it can be."""
    names = getattr(getattr(feature, "feature", feature), "names", None)
    if names:
        return (value + 1) % len(names)
    if isinstance(value, bool):
        return not value
    return f"{value}." if isinstance(value, str) else value + far


def notices(built, check):
    try:
        return bool(problems_of(built, check))
    except Exception:  # which verify reports as well
        return True


# Upstream's records -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "file", "place", "change", "message"),
    [
        pytest.param(name, file, place, change, message, id=f"{name}-{file}{place}-{number}")
        for name in DATASETS
        for number, (file, place, change, message) in enumerate(of(name).RECORDS)
    ],
)
def test_a_broken_record_is_refused(tmp_path, name, file, place, change, message):
    dataset = DATASETS[name]
    folder = Path(shutil.copytree(dataset.sample, tmp_path / "source"))
    rewrite(folder / file, place, change)
    source = Source(dataset, folder, sample=True)
    config, split = first_with(dataset, file)
    with pytest.raises(RecordError) as refused:
        list(generate(split_plan(source, config, split)))
    problem = str(refused.value.problems[0])
    assert problem.startswith(file)
    assert re.search(message, problem), problem


def first_with(dataset, file):
    """Return the first config and split that is made from a file."""
    for config, splits in dataset.splits.items():
        for split, sources in splits.items():
            if any(f"{file}/".startswith(f"{each.path}/") for each in sources):
                return config, split
    raise AssertionError(f"nothing is made from {file}")


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
    """Few parts can be absent or null, few be any value of their type; the rest is for check."""
    lacked, free = set(), set()
    for record, shape in records_of(open_source(dataset, None, sample=True)):
        fits = parse(shape).fits
        assert fits(record)
        for way, value in list(nodes(record)):
            if not way:
                continue
            inside = inner(record, way)
            if value is not None and not isinstance(value, dict | list):
                inside[way[-1]] = another(value, far=1000)
                if fits(record):
                    free.add(general(way))
            inside[way[-1]] = None
            if value is not None and fits(record):
                lacked.add(general(way))
            if isinstance(inside, dict):
                del inside[way[-1]]
                if fits(record):
                    lacked.add(general(way))
            inside[way[-1]] = value
    for pattern, places in ((declared.OPTIONAL, lacked), (declared.FREE, free)):
        assert not [place for place in places if not re.fullmatch(pattern, place)]


def records_of(source):
    """Yield each record of the sample that is an object, with the shape it is read with."""
    reader = Reader(source.folder)
    for each in source.dataset.sources.values():
        for _, record in reader.read(each):
            if isinstance(record, dict):
                yield record, each.shape
