"""One suite over every dataset: what `parley check` asserts of any, and what a build of one is."""

import pyarrow.parquet as pq
import pytest

from parley.collection import discover
from parley.folder.built import open_folder
from parley.folder.card import BEGIN, END, parse
from parley.linting.dataset_folder import DatasetFolder
from parley.linting.run import RULES, run_rule


@pytest.fixture(scope="session")
def subjects(tmp_path_factory):
    """Every dataset folder."""
    return {
        name: DatasetFolder(dataset, tmp_path_factory.mktemp(name))
        for name, dataset in discover().items()
    }


@pytest.mark.parametrize("check", RULES, ids=lambda check: check.__name__)
def test_what_must_hold_of_any_dataset(dataset, check, subjects):
    assert run_rule(check, subjects[dataset.name]).problems == []


def test_parquet_is_made_for_streaming(dataset, sample_build):
    built = open_folder(sample_build / dataset.name)
    for config, split in built.declared:
        path = sample_build / dataset.name / config / f"{split}-00000-of-00001.parquet"
        metadata = pq.read_metadata(path)
        column = metadata.row_group(0).column(0)
        assert column.has_offset_index
        assert column.has_column_index
        assert column.compression == "SNAPPY"
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            assert group.num_rows < 1500 or group.total_byte_size < 2 << 20


def test_built_card_says_what_it_is_and_how_large(dataset, sample_build):
    folder = sample_build / dataset.name
    front, body = parse((folder / "README.md").read_text(encoding="utf-8"), "README.md")
    assert "invented records" in body[body.index(BEGIN) : body.index(END)]
    for info in front["dataset_info"]:
        size = sum(p.stat().st_size for p in (folder / info["config_name"]).iterdir())
        assert info["download_size"] == size
