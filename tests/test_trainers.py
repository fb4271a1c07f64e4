"""The `messages` configs feed PyTorch: each row once, shuffled and by rank.

test_docs runs the code of docs/training.md; these tests check its claims on builds.
"""

import itertools

import pyarrow.parquet as pq
import pytest
from datasets import load_dataset
from datasets.distributed import split_dataset_by_node

NEEDED = "not installed, but comes with the extra `trainers`"
torch = pytest.importorskip("torch", reason=f"torch is {NEEDED}")

pytestmark = [
    pytest.mark.slow,
    # Python's, from 3.12: DataLoader forks, its default on Linux, beside the threads of Arrow
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    # torch's, on a machine of one core
    pytest.mark.filterwarnings("ignore:This DataLoader will create 2 worker:UserWarning"),
]


@pytest.fixture(params=["grouped_build", "real_build"])
def folder(request):
    """CaSiNo's build: the sample in four row groups, the real one in two."""
    return request.getfixturevalue(request.param) / "casino"


def stream(folder):
    return load_dataset(str(folder), "messages", split="train", streaming=True)


def shuffled(folder):
    """The stream of docs/training.md."""
    rows = stream(folder).reshard()
    return rows.shuffle(seed=42, buffer_size=20_000, max_buffer_input_shards=1)


def keys(rows):
    """Return the keys of a batch's rows; also a `collate_fn`."""
    return [(row["dialogue_id"], row["speaker"]) for row in rows]


def order(rows, workers=0):
    """Return the keys of a loader's rows, in order."""
    given = {"num_workers": workers, "collate_fn": keys, "timeout": 60 if workers else 0}
    return [*itertools.chain(*torch.utils.data.DataLoader(rows, 4, **given))]


def all_keys(folder):
    """Return the keys in the files, in order."""
    files = sorted(folder.glob("messages/*.parquet"))
    found = keys([row for file in files for row in pq.read_table(file).to_pylist()])
    assert len(set(found)) == len(found)
    return found


def test_the_real_row_groups(real_build):
    """docs/training.md states these numbers."""
    (file,) = (real_build / "casino" / "messages").glob("*.parquet")
    metadata = pq.read_metadata(file)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    assert [group.num_rows for group in groups] == [1000, 1060]
    parts = of_ranks(stream(real_build / "casino").reshard(), 0)
    assert [len(part) for part in parts] == [1000, 1060]
    parts = of_ranks(stream(real_build / "casino"), 0)
    assert [len(part) for part in parts] == [1030, 1030]


def of_ranks(rows, workers):
    return [order(split_dataset_by_node(rows, rank=n, world_size=2), workers) for n in range(2)]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("make", [stream, shuffled])
def test_each_row_comes_once_an_epoch_also_to_two_ranks(folder, workers, make):
    expected = sorted(all_keys(folder))
    assert sorted(order(make(folder), workers)) == expected
    assert sorted(itertools.chain(*of_ranks(make(folder), workers))) == expected
