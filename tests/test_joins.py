"""Within a dataset a key has one name and one type, so its configs join in any engine."""

from itertools import combinations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

# This config keeps upstream's names
NAMED = {("craigslist_bargains", "negotiations"): {"uuid": "dialogue_id"}}
# Configs that share no key with another
ALONE = {
    ("casino", "priority_folds"),  # dialogue_ids is a list
    ("cosrec", "prompts"),
    ("craigslist_bargains", "dialogues"),  # upstream's schema: rows join by position
}
# Pairs that share a key but no value
APART = {("cosrec", "crowd", "curated"), ("cosrec", "crowd", "queries"), ("duo", "ed", "wow")}


@pytest.fixture
def keys(dataset, sample_build):
    """Key columns of each config, all splits together."""
    found = {}
    for config, declared in dataset.configs.items():
        named = NAMED.get((dataset.name, config), {})
        columns = [name for name in declared.features if name.endswith("_id") or name in named]
        files = sorted((sample_build / dataset.name / config).glob("*.parquet"))
        table = pa.concat_tables([pq.read_table(file, columns=columns) for file in files])
        found[config] = table.rename_columns([named.get(name, name) for name in columns])
    return found


def pairs(keys):
    """Yield each pair of configs that share keys, with the keys."""
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


def test_configs_that_share_a_key_share_values(dataset, keys):
    for one, other, shared in pairs(keys):
        left, right = (
            set(zip(*keys[config].select(shared).drop_null().to_pydict().values(), strict=True))
            for config in (one, other)
        )
        assert left.isdisjoint(right) == ((dataset.name, one, other) in APART), (one, other)
