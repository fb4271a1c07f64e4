import pytest

from parley.errors import OutputError
from parley.folder.card import BEGIN, END, parse, render

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
    card = render(CARD, *arguments)
    front, body = parse(card, "here")
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
    assert render(card, *arguments) == card


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ("# No front matter\n", "expected YAML front matter"),
        ("---\n- a list\n---\n", "expected YAML front matter"),
        ("---\na: [\n---\n", "is not valid YAML"),
        ("---\na: !!python/object/apply:os.system [true]\n---\n", "is not valid YAML"),
        ("---\na: 1\n---\nno marks\n", "expected the lines"),
        (f"---\na: 1\n---\n{BEGIN}\n{BEGIN}\n{END}\n", "expected the lines"),
    ],
)
def test_a_broken_card_is_an_error_that_names_it(card, message):
    with pytest.raises(OutputError, match=message) as error:
        render(card, "some/README.md", {}, "a", [], "")
    assert str(error.value).startswith("some/README.md: ")
