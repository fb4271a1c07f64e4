import importlib.util

import pytest
import yaml

from parley.errors import OutputError
from parley.figures import Figure
from parley.folder import card
from parley.folder.card import (
    BEGIN,
    END,
    SplitLine,
    figures_on,
    figures_section,
    parse,
    render,
    splits_section,
    stated_figures,
)

CARD = f"""---
license: mit
tags:
- dialogue
configs: old
dataset_info: old
---
# Name

before

{BEGIN}
old
{END}

after
"""


def test_a_card_is_rendered_and_rendering_again_changes_nothing():
    infos = [{"config_name": "a", "splits": []}]
    arguments = ("here", {"a": ["train", "test"], "b": []}, "a", infos, "| new |\n")
    text = render(CARD, *arguments)
    front, body = parse(text, "here")
    assert front == {
        "license": "mit",
        "tags": ["dialogue"],
        "configs": [
            {
                "config_name": "a",
                "default": True,
                "data_files": [
                    {"split": "train", "path": "a/train-*.parquet"},
                    {"split": "test", "path": "a/test-*.parquet"},
                ],
            }
        ],
        "dataset_info": infos,
    }
    assert body == f"# Name\n\nbefore\n\n{BEGIN}\n\n| new |\n\n{END}\n\nafter\n"
    assert render(text, *arguments) == text


def test_a_card_is_the_same_without_libyaml(monkeypatch):
    for name in ("CSafeLoader", "CSafeDumper"):
        monkeypatch.delattr(yaml, name, raising=False)
    spec = importlib.util.spec_from_file_location("card_without_libyaml", card.__file__)
    other = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(other)
    assert other._LOADER is yaml.SafeLoader
    infos = [{"config_name": "a", "features": [{"name": "é: '1'", "dtype": "string"}]}]
    text = render(CARD, "here", {"a": ["train"]}, "a", infos, "")
    assert other.render(CARD, "here", {"a": ["train"]}, "a", infos, "") == text
    assert other.parse(text, "here") == parse(text, "here")


def test_the_table_of_splits_tells_counted_documented_and_null():
    lines = [
        SplitLine("a", "train", 1234, 999, ["b", "c.d"]),
        SplitLine("a", "test", None, 5247),
        SplitLine("a", "raw", None),
    ]
    rows = splits_section(lines, sample=False).splitlines()[2:]
    assert rows == [
        "| `a` | `train` | 1,234 | `b`, `c.d` |",
        "| `a` | `test` | 5,247 documented, not built: its source was not at hand |  |",
        "| `a` | `raw` | not built: its source was not at hand |  |",
    ]


def test_figures_come_back_from_a_card_whatever_they_hold():
    figures = [
        Figure("f.a | b", "x | y", "paper | its table", "", "x | z", "differs", "a | reason"),
        Figure("g", "17e3", "our card", "", 17464, "matches"),
        Figure("h", 3, "paper", "", None, "not checked", "not here"),
    ]
    text = splits_section([SplitLine("a", "train", 1)], False) + "\n" + figures_section(figures)
    body = parse(render(CARD, "here", {}, "a", [], text), "here")[1]
    assert stated_figures(body) == {
        "f.a | b": ("x | y", "x | z", "differs", "a | reason", "paper | its table"),
        "g": ("about 17000", "17464", "matches", "", "our card"),
        "h": ("3", "", "not checked", "not here", "paper"),
    }
    assert figures_on(body) == figures_section(figures)
    rows = [line for line in body.splitlines() if line.startswith("| `")]
    assert {line.count("|") for line in rows[1:]} == {6}  # as Markdown counts them


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# No front matter\n", "expected YAML front matter"),
        ("---\n- a list\n---\n", "expected YAML front matter"),
        ("---\na: [\n---\n", "is not valid YAML"),
        ("---\na: !!python/object/apply:os.system [true]\n---\n", "is not valid YAML"),
        ("---\na: 1\n---\nno marks\n", "expected the lines"),
        (f"---\na: 1\n---\n{BEGIN}\n{BEGIN}\n{END}\n", "expected the lines"),
    ],
)
def test_a_broken_card_is_an_error_that_names_it(text, message):
    with pytest.raises(OutputError, match=message) as error:
        render(text, "some/README.md", {}, "a", [], "")
    assert str(error.value).startswith("some/README.md: ")
