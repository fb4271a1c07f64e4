"""Cards and measured.json: what is written is read back, and what is damaged is named."""

import dataclasses
import importlib.util
import types
from pathlib import Path

import datasets
import pytest
import yaml

from parley.base.errors import OutputError
from parley.building import card
from parley.building.card import (
    BEGIN,
    END,
    figures_section,
    own_parts,
    parse,
    render,
    splits_section,
)
from parley.building.collection import get
from parley.building.measured import FILE, measured, text_of
from parley.declaring.figures import Differs, documented, figures

CARD = f"""---
license: mit
tags:
- dialogue
---
# Name

before

{BEGIN}
old
{END}

after
"""


SPLITS = {"a": {"train": {}, "test": {}}, "b": {}}
TRAIN = {"rows": 1234, "digest": "0", "bytes": 10, "arrow_bytes": 20, "null": ["b", "c.d"]}


def dataset_of(text=CARD, where="here", **more):
    """Return what a card is rendered for: a dataset of the configs `a` and `b`."""
    given = {"tasks": {}, **more}
    return types.SimpleNamespace(
        name="name",
        card=Path(where),
        read_card=lambda: text,
        splits=SPLITS,
        default="a",
        features=lambda config: datasets.Features({"é: '1'": datasets.Value("string")}),
        builder=types.SimpleNamespace(licence=lambda config: "mit"),
        **given,
    )


def test_a_card_is_rendered():
    text = render(dataset_of(), {"a": {"train": TRAIN}}, "| new |\n")
    front, body = parse(text, "here")
    assert front["license"] == "mit"
    assert front["configs"] == [
        {
            "config_name": "a",
            "default": True,
            "data_files": [{"split": "train", "path": "a/train-*.parquet"}],
        }
    ]
    assert front["dataset_info"] == [
        {
            "config_name": "a",
            "description": "Digests of the rows: train 0",
            "license": "mit",
            "features": [{"name": "é: '1'", "dtype": "string"}],
            "splits": [{"name": "train", "num_bytes": 20, "num_examples": 1234}],
            "download_size": 10,
            "dataset_size": 20,
        }
    ]
    assert body == f"# Name\n\nbefore\n\n{BEGIN}\n\n| new |\n\n{END}\n\nafter\n"


def test_the_tasks_of_a_card_end_the_section_tasks():
    text = CARD + "## Tasks\n\nmine\n\n## Next\n"
    _, body = own_parts(dataset_of(text, tasks=get("casino").tasks))
    _, _, rest = body.partition("## Tasks\n\nmine\n\n### `name strategies`\n")
    assert "| LR-BoW | 49.6 |" in rest
    assert rest.endswith("\n\n## Next\n")


def test_a_card_is_the_same_without_libyaml(monkeypatch):
    for name in ("CSafeLoader", "CSafeDumper"):
        monkeypatch.delattr(yaml, name, raising=False)
    spec = importlib.util.spec_from_file_location("card_without_libyaml", card.__file__)
    other = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(other)
    assert issubclass(other._Loader, yaml.SafeLoader)
    text = render(dataset_of(), {"a": {"train": TRAIN}}, "")
    assert other.render(dataset_of(), {"a": {"train": TRAIN}}, "") == text
    assert other.parse(text, "here") == parse(text, "here")


def test_the_table_of_splits_tells_counted_documented_and_null():
    splits = {"a": {"train": TRAIN, "test": {"documented": 5247}, "raw": {}}}
    dataset = types.SimpleNamespace(splits=splits)
    rows = splits_section(dataset, splits).splitlines()[2:]
    assert rows == [
        "| `a` | `train` | 1,234 | `b`, `c.d` |",
        "| `a` | `test` | 5,247 documented, not built: its source is missing |  |",
        "| `a` | `raw` | not built: its source is missing |  |",
    ]


# Figures, as a figures.py has them, and what was measured of them ---------------------------


@documented("paper | its table", {"a | b": Differs("x | y", "x | z", "a | reason")})
def f(data, key):
    """Text."""
    return "x | z"


@documented("our card", "17e3")
def g(data):
    """A number."""
    return 17464


@documented("paper", {"of": "3.47 ± 1.31"})
def h(data, key):
    """A mean and an SD."""
    return 3.4688, 1.31


@documented("paper", 3, not_reproducible="the data lacks it")
def i(data):
    """Nothing."""


FIGURES = types.SimpleNamespace(f=f, g=g, h=h, i=i)


def test_figures_come_back_from_measured_json_whatever_they_hold(tmp_path):
    dataset = dataset_of(folder=tmp_path, version="1.0.0", figures=FIGURES, configs=["a"])
    found = list(figures(FIGURES, None))
    assert [each.verdict for each in found] == [
        "differs",
        "matches",
        "matches",
        "matches",
        "not reproducible",
    ]
    skipped = {"measured": None, "verdict": "not checked", "reason": "a package is missing"}
    found[1] = dataclasses.replace(found[1], **skipped)
    splits = {"a": {"train": TRAIN, "test": {"documented": 7}, "raw": {}}}
    (tmp_path / FILE).write_text(text_of(dataset, splits, found), encoding="utf-8")
    known = measured(dataset)
    assert known.figures(dataset) == found
    assert (known.version, known.splits) == ("1.0.0", splits)
    assert [known.digest("a", split) for split in ("train", "test", "none")] == ["0", None, None]
    text = figures_section(found)
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) == len(found)
    assert {line.count("|") for line in rows} == {6}  # as Markdown counts them


def test_of_a_new_dataset_nothing_was_measured(tmp_path):
    dataset = types.SimpleNamespace(folder=tmp_path, figures=FIGURES)
    assert {each.verdict for each in measured(dataset).figures(dataset)} == {
        "not checked",
        "not reproducible",
    }


SPLIT = '{"rows": 1, "digest": "0", "bytes": 1, "arrow_bytes": 1, "null": [], "c": 1}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read"),
        ("<<<<<<< ours\n{}", "cannot be read"),
        ('{"version": "1", "version": "2"}', "cannot be read"),
        ('{"version": "1", "figures": {"f": {"measured": NaN}}}', "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("[]", "expected an object"),
        ('{"version": "1", "splits": {}}', r"\.figures: missing"),
        ('{"version": 1, "splits": {}, "figures": {}}', r"\.version: expected a string, found 1"),
        (
            f'{{"version": "1", "figures": {{}}, "splits": {{"a": {{"b": {SPLIT}}}}}}}',
            r"\.splits\.a\.b\.c: unknown field",
        ),
        (
            '{"version": "1", "splits": {}, "figures": {"f": {"measured": null, "verdict": "x"}}}',
            r"\.figures\.f\.measured: expected",
        ),
    ],
)
def test_a_damaged_measured_json_is_an_error_that_names_it(tmp_path, text, message):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(OutputError, match=message) as error:
        measured(types.SimpleNamespace(folder=tmp_path))
    assert str(error.value).startswith(str(tmp_path / FILE))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# No front matter\n", "expected YAML front matter"),
        ("---\n- a list\n---\n", "expected YAML front matter"),
        ("---\na: [\n---\n", "is not valid YAML"),
        ("---\na: 1\na: 1\n---\n", "is not valid YAML: it has the key 'a' twice"),
        ("---\na: {b: {c: 1, 'c': 2}}\n---\n", "is not valid YAML: it has the key 'c' twice"),
        ("---\na: !!python/object/apply:os.system [true]\n---\n", "is not valid YAML"),
        ("---\na: 1\n---\nno marks\n", "expected the lines"),
        (f"---\na: 1\n---\n{BEGIN}\n{BEGIN}\n{END}\n", "expected the lines"),
    ],
)
def test_a_broken_card_is_an_error_that_names_it(text, message):
    with pytest.raises(OutputError, match=message) as error:
        render(dataset_of(text, "some/README.md"), {}, "")
    assert str(error.value).startswith("some/README.md: ")
