"""One suite over every dataset: what holds for each, on its sample and on the real files."""

import ast
import json
import re
import sys

import datasets
import pyarrow.parquet as pq
from huggingface_hub import DatasetCard, metadata_load

from parley.figures import figures
from parley.folder.built import open_folder
from parley.folder.card import BEGIN, END, parse, stated_figures
from parley.source.files import open_source

HEADINGS = [
    "How to load",
    "What a row looks like",
    "Fields",
    "Splits",
    "Tasks",  # of a dataset that has some
    "How it was collected",
    "Annotation",
    "Personal and sensitive information",
    "Known limits",
    "What we changed",
    "Citation",
    "Licence",
]


def splits_of(dataset):
    return [(c, split) for c, splits in dataset.module.SPLITS.items() for split in splits]


def table_of(build, dataset, config, split):
    return pq.read_table(build / dataset.name / config / f"{split}-00000-of-00001.parquet")


def test_script_stands_alone(dataset):
    """It imports the standard library, datasets and jsonlines, and what stands beside it."""
    modules = [dataset.name]
    for module in modules:
        for name in imports(dataset.folder / f"{module}.py"):
            if name.startswith("."):
                modules.append(name[1:])
            else:
                assert name in {*sys.stdlib_module_names, "datasets", "jsonlines"}


def imports(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        name if name.startswith(".") else name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else ["." * node.level + (node.module or "")]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }


def test_script_opens_with_what_it_is(dataset):
    head = (dataset.folder / f"{dataset.name}.py").read_text(encoding="utf-8")[:2500]
    assert "(invented" in head
    assert head.index("SOURCES" if "SOURCES" in head else "_URL") > head.index("A row")


def test_every_source_is_pinned_to_content(dataset):
    for file, pin in dataset.module.SOURCES.items():
        kinds = {"sha256": 64, "git_blob": 40, "git_tree": 40}
        pinned = [kind for kind in kinds if kind in pin]
        assert len(pinned) == 1, file
        assert re.fullmatch(f"[0-9a-f]{{{kinds[pinned[0]]}}}", pin[pinned[0]]), file
        assert pin["url"].startswith("https://"), file
        assert not re.search("/(main|master|HEAD)/", pin["url"]), file


def test_the_sample_has_every_source(dataset):
    for file in dataset.module.SOURCES:
        assert (dataset.sample / file).exists(), f"the sample lacks {file}"


def test_configs_agree(dataset):
    configs = [config.name for config in dataset.builder.BUILDER_CONFIGS]
    assert configs == list(dataset.module.SPLITS) == list(dataset.module.FEATURES)
    assert dataset.builder.DEFAULT_CONFIG_NAME == configs[0] == "dialogues"
    for config in dataset.builder.BUILDER_CONFIGS:
        assert config.description
        assert config.version == dataset.builder.VERSION


def test_info_is_complete(dataset, tmp_path):
    for config in dataset.module.SPLITS:
        info = dataset.builder(config_name=config, cache_dir=str(tmp_path)).info
        assert info.features == dataset.module.FEATURES[config]
        assert info.description
        assert info.license
        assert info.homepage.startswith("https://")
        assert info.citation.startswith("@")
        assert info.version == dataset.builder.VERSION


def test_parquet_is_made_for_streaming(dataset, sample_build):
    for config, split in splits_of(dataset):
        path = sample_build / dataset.name / config / f"{split}-00000-of-00001.parquet"
        metadata = pq.read_metadata(path)
        column = metadata.row_group(0).column(0)
        assert column.has_offset_index
        assert column.has_column_index
        assert column.compression == "SNAPPY"
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            assert group.num_rows < 1500 or group.total_byte_size < 2 << 20


def test_sample_round_trip(dataset, sample_build):
    """Every record comes back equal, types and all, from the Parquet that was built."""
    source = open_source(dataset, None, sample=True)
    assert dataset.module.TO_RECORD
    for config, to_record in dataset.module.TO_RECORD.items():
        for split in source.splits(config):
            rows = table_of(sample_build, dataset, config, split).to_pylist()
            found = dataset.module.records(config, source.paths(config, split))
            records = [record for _, record in found]
            assert len(rows) == len(records) > 0
            for row, record in zip(rows, records, strict=True):
                assert typed(to_record(row)) == typed(record)


def typed(value):
    """Return a value in a form that tells 1 from True, and a number from a string."""
    if isinstance(value, dict):
        return {key: typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [typed(inner) for inner in value]
    return (
        bool if isinstance(value, bool) else float if isinstance(value, int) else type(value),
        value,
    )


def test_rows_are_those_of_datasets_itself(dataset, sample_build, tmp_path):
    """The tool writes what `datasets` makes of the same builder, prepared and streamed."""
    for config in dataset.module.SPLITS:
        builder = dataset.builder(
            config_name=config, data_dir=str(dataset.sample), cache_dir=str(tmp_path)
        )
        builder.download_and_prepare()
        assert set(builder.as_dataset()) == set(dataset.module.SPLITS[config])
        for split in dataset.module.SPLITS[config]:
            ours = table_of(sample_build, dataset, config, split).to_pylist()
            assert list(builder.as_dataset(split=split)) == ours
            assert list(builder.as_streaming_dataset(split=split)) == ours


def test_load_dataset(dataset, sample_build, tmp_path):
    folder = str(sample_build / dataset.name)
    default = datasets.load_dataset(folder, cache_dir=str(tmp_path))
    assert set(default) == set(dataset.module.SPLITS["dialogues"])
    for config, split in splits_of(dataset):
        rows = table_of(sample_build, dataset, config, split).to_pylist()
        kwargs = {"name": config, "split": split, "cache_dir": str(tmp_path)}
        loaded = datasets.load_dataset(folder, **kwargs)
        assert list(loaded) == rows != []
        assert loaded.features == dataset.module.FEATURES[config]
        assert loaded.info.license
        assert list(datasets.load_dataset(folder, streaming=True, **kwargs)) == rows


def test_missing_is_null(dataset, sample_build):
    """Sentinels stand only where the documented schema of a config demands them."""
    documented = {("craigslist_bargains", "dialogues")}
    for config, split in splits_of(dataset):
        if (dataset.name, config) not in documented:
            rows = table_of(sample_build, dataset, config, split).to_pylist()
            for row in rows:
                assert not list(sentinels(row)), f"{config}/{split}"


def sentinels(value):
    if isinstance(value, dict):
        for inner in value.values():
            yield from sentinels(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from sentinels(inner)
    elif value in ("None", "null", "N/A") or (isinstance(value, float) and value == -1.0):
        yield value


# The card ---------------------------------------------------------------------------------


def test_card_is_valid_for_the_hub(dataset):
    front = metadata_load(dataset.card)
    DatasetCard.load(dataset.card)  # parses what the Hub would
    needed = {
        "license",
        "language",
        "pretty_name",
        "task_categories",
        "size_categories",
        "tags",
        "configs",
        "dataset_info",
    }
    assert needed <= front.keys()
    assert set(front["task_categories"]) <= HUB_TASKS
    assert all(re.fullmatch(r"(n<1K|1K<n<10K|10K<n<100K)", s) for s in front["size_categories"])
    assert [config["config_name"] for config in front["configs"]] == list(dataset.module.SPLITS)
    assert [config.get("default", False) for config in front["configs"]].count(True) == 1


def test_card_has_every_section_and_field(dataset):
    _, body = parse(dataset.card.read_text(encoding="utf-8"), dataset.name)
    headings = [name for name in HEADINGS if name != "Tasks" or dataset.tasks]
    assert re.findall(r"^## (.*)$", body, re.MULTILINE) == headings
    assert not re.search("TODO|More Information Needed", body)
    fields = body[body.index("## Fields") : body.index("## Splits")]
    for config, features in dataset.module.FEATURES.items():
        assert f"`{config}`" in fields, f"Fields does not speak of the config {config}"
        for column in features:
            assert re.search(rf"`{column}\b", fields), f"Fields lacks {config}.{column}"
    assert dataset.module.CITATION.strip() in body


def test_card_example_is_a_row_of_the_schema(dataset):
    _, body = parse(dataset.card.read_text(encoding="utf-8"), dataset.name)
    block = re.search(r"## What a row looks like.*?```json\n(.*?)```", body, re.DOTALL)
    assert block, "no JSON block under 'What a row looks like'"
    columns = set(dataset.module.FEATURES["dialogues"])
    assert set(json.loads(block[1])) in [columns, *map(set, dataset.module.FEATURES.values())]


def test_built_card_says_what_it_is_and_how_large(dataset, sample_build):
    folder = sample_build / dataset.name
    front, body = parse((folder / "README.md").read_text(encoding="utf-8"), "README.md")
    assert "invented records" in body[body.index(BEGIN) : body.index(END)]
    for info in front["dataset_info"]:
        size = sum(p.stat().st_size for p in (folder / info["config_name"]).iterdir())
        assert info["download_size"] == size


def test_committed_card_states_the_figures_of_the_module(dataset):
    """Names and documented values, in the module's order; what was measured needs the data."""
    stated = stated_figures(dataset.read_card())
    due = {f.name: f.stated for f in figures(dataset.figures, None, "not now")}
    assert {name: documented for name, (documented, _, _) in stated.items()} == due


def test_committed_card_has_the_features_and_counts_of_the_real_data(dataset, real_build):
    """Of the splits that it was made of; more of them may be at hand."""
    built, _ = parse(open_folder(real_build / dataset.name).card, "built")
    committed, _ = parse(dataset.read_card(), "committed")
    infos = {info["config_name"]: info for info in built["dataset_info"]}
    for info in committed["dataset_info"]:
        found = infos[info["config_name"]]
        for key in ("features", "license"):
            assert info[key] == found[key]
        counted = {split["name"]: split for split in found["splits"]}
        assert info["splits"] == [counted[split["name"]] for split in info["splits"]]


# From the Hub's list of tasks, July 2026, as far as text is concerned
HUB_TASKS = {
    "text-classification",
    "token-classification",
    "table-question-answering",
    "question-answering",
    "zero-shot-classification",
    "translation",
    "summarization",
    "feature-extraction",
    "text-generation",
    "fill-mask",
    "sentence-similarity",
    "text-retrieval",
    "text-ranking",
    "tabular-regression",
    "other",
}
