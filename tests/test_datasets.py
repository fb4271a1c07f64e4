"""Rules and properties of builds that hold for every dataset."""

import re

import pyarrow.parquet as pq

from parley.authoring.rules import check_folder
from parley.rows.built_folder import open_folder


def test_every_rule_holds(dataset):
    assert [check for check in check_folder(dataset) if check.failed or check.skipped] == []


def test_a_script_imports_each_module_that_its_modules_import(dataset):
    """`datasets` before 4 copies no others; tests/compat.py loads the scripts with them."""

    def imported(module):
        text = (dataset.folder / f"{module}.py").read_text(encoding="utf-8")
        return set(re.findall(r"^from \.(\w+)", text, re.MULTILINE))

    script = (dataset.folder / f"{dataset.name}.py").read_text(encoding="utf-8")
    assert not re.search(r"^from \..*#", script, re.MULTILINE)  # taken for a file to copy
    direct = imported(dataset.name)
    assert set().union(*map(imported, direct)) <= direct


def test_parquet_suits_streaming(dataset, sample_build):
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
