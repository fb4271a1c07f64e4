"""Within a dataset a key has one name and one type, so its configs join in any engine."""

from itertools import combinations

import pyarrow as pa
import pyarrow.parquet as pq

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


def keys(dataset, folder):
    """Return the key columns of each config, all splits together."""
    found = {}
    for config, declared in dataset.configs.items():
        named = NAMED.get((dataset.name, config), {})
        columns = [name for name in declared.features if name.endswith("_id") or name in named]
        files = sorted((folder / config).glob("*.parquet"))
        table = pa.concat_tables([pq.read_table(file, columns=columns) for file in files])
        found[config] = table.rename_columns([named.get(name, name) for name in columns])
    return found


def test_keys_have_one_type_and_shared_values(dataset, sample_build):
    found, types = keys(dataset, sample_build / dataset.name), {}
    for field in (field for table in found.values() for field in table.schema):
        assert types.setdefault(field.name, field.type) == field.type, field.name
    alone = set(found)
    for one, other in combinations(found, 2):
        shared = [name for name in found[one].column_names if name in found[other].column_names]
        if shared:
            alone -= {one, other}
            left, right = (
                set(zip(*found[c].select(shared).drop_null().to_pydict().values(), strict=True))
                for c in (one, other)
            )
            apart = (dataset.name, one, other) in APART
            assert left.isdisjoint(right) == apart, (one, other)
    assert {(dataset.name, config) for config in alone} == {
        place for place in ALONE if place[0] == dataset.name
    }
