"""A script that does not read a file to its end gets an error with a remedy.

Scripts get files opened, as records of a checking reader. These tests replace the records.
"""

from itertools import islice

import pytest

from parley.base.errors import ScriptError
from parley.builds.built_folder import open_folder
from parley.builds.sources import open_source, split_plan
from parley.declaration.registry import discover, get
from parley.rows.splits import generate
from parley.source.files import Opened
from parley.source.reader import Reader
from parley.verification.verify import verify

# Ways to bypass the reader. Each yields all records of a sound file, so the rows look right.
WAYS = {
    # as a script that opens the file itself
    "take others": lambda checked, plain: iter(plain),
    # the reader reports problems at the end of the file, which is never reached
    "stop at the last": lambda checked, plain: islice(checked, len(plain)),
}


def leave(monkeypatch, source, config, way, paths):
    """Make `records` of a config read some of its sources in this way."""
    declared = source.dataset.configs[config]
    sound = declared.records

    def left(opened, path):
        plain = list(Reader(source.folder).read(source.dataset.sources[path]))
        return Opened(lambda: way(opened.items(), plain)) if path in paths else opened

    def records(sources):
        return sound({path: left(each, path) for path, each in sources.items()})

    monkeypatch.setitem(vars(declared), "records", records)


def splits_of(source):
    """Yield each config and split whose records join sources, with the paths of these."""
    for name, config in source.dataset.configs.items():
        for split in source.splits(name) if config.records else ():
            yield name, split, [each.path for each in source.files(name, split)]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_bypass_of_one_file_or_all_is_an_error(way, monkeypatch):
    tried = 0
    for dataset in discover().values():
        source = open_source(dataset, None, sample=True)
        for config, split, paths in splits_of(source):
            for some in [[path] for path in paths] + [paths] * (len(paths) > 1):
                with monkeypatch.context() as patch:
                    leave(patch, source, config, way, some)
                    with pytest.raises(ScriptError) as error:
                        list(generate(split_plan(source, config, split)))
                assert [problem.place for problem in error.value.problems] == some
                assert error.value.remedy
                tried += 1
    assert tried > 20


def test_verify_reports_a_bypass(sample_build, monkeypatch):
    source = open_source(get("duo"), None, sample=True)
    *_, (config, _, (*_, path)) = splits_of(source)
    leave(monkeypatch, source, config, WAYS["take others"], [path])
    (failed,) = (c for c in verify(open_folder(sample_build / "duo")).checks if c.failed)
    assert failed.name == "source"
    assert path in failed.problems[0]
