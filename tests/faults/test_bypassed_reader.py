"""A script that makes rows of what the reader did not check is noticed, and told what to do.

Each dataset's `records` is given another `read` than the reader's for one file after the other,
as if the script parsed that file by itself.
"""

import os
from contextlib import suppress
from itertools import islice
from pathlib import Path

import generate as generated
import pytest

from parley.build import build
from parley.collection import discover, get
from parley.errors import ScriptError
from parley.folder.built import open_folder
from parley.folder.verify import verify
from parley.rows import workers
from parley.rows.generate import generate
from parley.source.files import Source, open_source

# Ways around the reader -------------------------------------------------------------------
# Each yields all records of a sound file, so that no row shows that they were not checked.


def parse_alone(read, parse, path, shape):
    return parse(path, shape)


def parse_the_rest(read, parse, path, shape):
    yield from islice(read(path, shape), 1)
    yield from islice(parse(path, shape), 1, None)


def stop_at_the_last(read, parse, path, shape):
    """What the reader objects to is said at the end of the file, which is not asked for."""
    yield from islice(read(path, shape), len(list(parse(path, shape))))


def go_on_after_an_error(read, parse, path, shape):
    with suppress(Exception):
        yield from read(path, refused)
    yield from parse(path, shape)


def refused(value):
    raise ValueError("nothing")


def pass_by(read, parse, path, shape):
    """Another record of the folder is read; without the only file there would be no rows."""
    return []


NEVER, LEFT = "not read with the `read` it was given", "left before its end"
FAULT = "file that a script reads without the reader, or not to its end"
WAYS = {
    parse_alone: NEVER,
    parse_the_rest: LEFT,
    stop_at_the_last: LEFT,
    go_on_after_an_error: LEFT,
    pass_by: NEVER,
}


def go_around(monkeypatch, module, config, way, files):
    """Let the script's `records` read these files, or all if there are none, in this way.

    It does so for one config.
    """
    sound = module.records

    def records(wanted, paths, read=module.read):
        def read_some(path, shape):
            if wanted != config or (files and str(path) not in files):
                return read(path, shape)
            return way(read, lambda *given: iter(module.read(*given)), path, shape)

        return sound(wanted, paths, read_some)

    monkeypatch.setattr(module, "records", records)


def splits_of(source):
    """Yield each config and split, and the files that it is made from."""
    for config in source.dataset.module.SPLITS:
        for split in source.splits(config):
            paths = map(Path, source.paths(config, split).values())
            files = [f for p in paths for f in (sorted(p.iterdir()) if p.is_dir() else [p])]
            yield config, split, list(map(str, files))


def require_named(error, files, source, how):
    """Fail unless an error names just these files, and says what to do."""
    first, *named, remedy = str(error).splitlines()
    script = f"{source.dataset.name}.py"
    assert first.endswith(f"{script} makes rows without all records of their files:")
    assert named == [f"  {os.path.relpath(file, source.folder)}: {how}" for file in files]
    assert "`records` must go through `read(path, shape)` to the end of each file" in remedy


@pytest.mark.parametrize("way", WAYS)
def test_one_of_its_files_or_all(way, monkeypatch, tally):
    tried = 0
    for dataset in discover().values():
        source = open_source(dataset, None, sample=True)
        for config, split, files in splits_of(source):
            chosen = [[file] for file in files]
            if way is pass_by and len(files) == len(source.paths(config, split)):
                continue  # its sources are no folders
            if way is not pass_by and len(files) > 1:
                chosen.append(files)
            for some in chosen:
                with monkeypatch.context() as patch:
                    go_around(patch, dataset.module, config, way, some)
                    with pytest.raises(ScriptError) as error:
                        list(generate(source, config, split))
                require_named(error.value, some, source, WAYS[way])
                tried += 1
    assert tried > 20
    tally(FAULT, tried)


def test_one_config_of_several(dataset, sample_build, tmp_path, monkeypatch, tally):
    """For the others the file was read; the build leaves nothing, and `verify` fails."""
    source = open_source(dataset, None, sample=True)
    *_, (config, _, files) = splits_of(source)
    go_around(monkeypatch, dataset.module, config, parse_alone, files[-1:])
    with pytest.raises(ScriptError) as error:
        build(source, tmp_path)
    require_named(error.value, files[-1:], source, NEVER)
    assert not list(tmp_path.iterdir())
    (failed,) = (c for c in verify(open_folder(sample_build / dataset.name)).checks if c.failed)
    assert failed.name == "source"
    assert f"{os.path.relpath(files[-1], source.folder)}: {NEVER}" in failed.problems[0]
    tally(FAULT, 2)


@pytest.mark.parametrize("way", [way for way in WAYS if way is not pass_by])
def test_where_processes_share_the_lines(way, tmp_path, monkeypatch, tally):
    dataset = get("cosrec")
    missing = sorted(set(dataset.module.SOURCES) - {generated.RAW})
    source = Source(dataset, generated.write(tmp_path / "source", 200), missing=missing)
    monkeypatch.setattr(workers, "PART", 10_000)
    monkeypatch.setattr(workers, "SLOT", 200_000)
    go_around(monkeypatch, dataset.module, "dialogues", way, [])
    with pytest.raises(ScriptError) as error:
        build(source, tmp_path / "out", workers=2)
    require_named(error.value, [source.folder / generated.RAW], source, WAYS[way])
    assert not list((tmp_path / "out").iterdir())
    tally(FAULT, 1)
