"""Within a dataset a key has one name and one type, so that its configs join in any engine."""

from collections import Counter
from itertools import combinations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

# A key that keeps upstream's name, in the one config that keeps all of upstream's names
NAMED = {("craigslist_bargains", "negotiations"): {"uuid": "dialogue_id"}}
# Configs that share no key with another
ALONE = {
    ("casino", "priority_folds"),  # its column of dialogue_ids is one of lists
    ("cosrec", "prompts"),
    ("craigslist_bargains", "dialogues"),  # the documented schema: its rows join by their place
}
# Pairs that have a key in common, but by their nature no value of it
APART = {("cosrec", "crowd", "curated"), ("cosrec", "crowd", "queries"), ("duo", "ed", "wow")}


@pytest.fixture
def keys(dataset, sample_build):
    """The columns of each config that are keys, of all its splits."""
    found = {}
    for config, declared in dataset.configs.items():
        named = NAMED.get((dataset.name, config), {})
        columns = [name for name in declared.features if name.endswith("_id") or name in named]
        files = sorted((sample_build / dataset.name / config).glob("*.parquet"))
        table = pa.concat_tables([pq.read_table(file, columns=columns) for file in files])
        found[config] = table.rename_columns([named.get(name, name) for name in columns])
    return found


def pairs(keys):
    """Yield each two configs that share keys, with these."""
    for one, other in combinations(keys, 2):
        if shared := [name for name in keys[one].column_names if name in keys[other].column_names]:
            yield one, other, shared


def test_a_key_has_one_type(keys):
    types = {}
    for table in keys.values():
        for field in table.schema:
            types.setdefault(field.name, set()).add(field.type)
    assert {name: found for name, found in types.items() if len(found) > 1} == {}


def test_each_config_shares_a_key_with_another(dataset, keys):
    joined = {config for one, other, _ in pairs(keys) for config in (one, other)}
    assert {(dataset.name, config) for config in keys.keys() - joined} == {
        place for place in ALONE if place[0] == dataset.name
    }


def test_every_pair_of_configs_joins(dataset, keys):
    """In pandas and in DuckDB, each row with each that has its keys."""
    pytest.importorskip("pandas", reason="it is in the extra `engines`")
    duckdb = pytest.importorskip("duckdb", reason="it is in the extra `engines`")
    for one, other, shared in pairs(keys):
        left, right = (keys[config].select(shared).drop_null() for config in (one, other))
        counts = [Counter(zip(*table.to_pydict().values(), strict=True)) for table in (left, right)]
        expected = sum(count * counts[1][key] for key, count in counts[0].items())
        assert (expected == 0) == ((dataset.name, one, other) in APART), (one, other)
        assert len(left.to_pandas().merge(right.to_pandas(), on=shared)) == expected
        connection = duckdb.connect()
        connection.register("one", left)
        connection.register("other", right)
        joined = f"one JOIN other USING ({', '.join(shared)})"
        (found,) = connection.execute(f"SELECT count(*) FROM {joined}").fetchone()
        assert found == expected, (one, other)
