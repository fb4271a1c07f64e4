"""`verify` refuses a Parquet file with right rows and any other byte than a build writes.

Each file has the hash that the provenance states, as somebody writes it who hides the change.
"""

import hashlib
import shutil

import pytest
from build_changes import restate

from parley.base.errors import OutputError
from parley.builds.built_folder import open_folder
from parley.verification import folder_checks
from parley.verification.diff import compare_builds
from parley.verification.results import Aside

FILE = "speakers/train-00000-of-00001.parquet"


OLDEST = 62  # the greatest age, as the footer's statistics state it


def ends_of(data):
    """Return what stands before a footer, and the footer."""
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:start], data[start:]


def with_oldest(age):
    """Return a change of the greatest age in the statistics alone."""

    def change(data):
        pages, footer = ends_of(data)
        stated, other = (each.to_bytes(8, "little") for each in (OLDEST, age))
        assert stated in footer
        return pages + footer.replace(stated, other)

    return change


def between(data):
    pages, footer = ends_of(data)
    return pages + b"more" + footer


# a change -> whether it is refused also where bytes are not compared
CHANGES = {with_oldest(40): True, with_oldest(99): True, between: False, lambda d: d + d: False}


@pytest.fixture(scope="module")
def folder(sample_build, tmp_path_factory):
    return shutil.copytree(sample_build / "casino", tmp_path_factory.mktemp("changed") / "casino")


def refused(built):
    try:
        found = [*folder_checks.schema(built)]
        found = found or folder_checks.shards(built, folder_checks.Rebuilt(built, {}))
        return [each for each in found if not isinstance(each, Aside)]
    except OutputError:
        return True


def put_in(folder, data):
    """Write a file, with its hash in the provenance."""
    (folder / FILE).write_bytes(data)
    recorded = {"path": FILE, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    restate(folder, "configs.speakers.train.files[0]", recorded)
    return open_folder(folder)


@pytest.mark.parametrize(("change", "misleads"), CHANGES.items())
def test_a_file_of_other_bytes_is_refused(sample_build, folder, change, misleads):
    built = put_in(folder, change((sample_build / "casino" / FILE).read_bytes()))
    assert list(folder_checks.files(built)) == []
    assert refused(built)
    built.provenance["built_with"]["pyarrow"] = "1.0.0"
    assert bool(refused(built)) is misleads


def test_a_difference_names_equal_rows_of_other_bytes(folder, sample_build):
    built = put_in(folder, with_oldest(99)((sample_build / "casino" / FILE).read_bytes()))
    found = compare_builds(open_folder(sample_build / "casino"), built)
    (differing,) = (each for each in found.splits if each.differs)
    assert (differing.config, differing.changed, len(differing.schema)) == ("speakers", [], 1)
