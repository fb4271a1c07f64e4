"""Cards and measured.json: what is written is read back, and what is damaged is named."""

import dataclasses
import json
import re
import types

import pytest

from parley import ClassLabel, Config, Field, File, View
from parley.base.errors import OutputError
from parley.builds.built_folder import BuiltFolder
from parley.builds.card import built_card, determined, parse, prose, renewed_card
from parley.builds.card_parts import (
    SAMPLE,
    field_tables,
    figures_part,
    in_code,
    marks,
    row_part,
    splits_part,
)
from parley.declaration.figures import Differs, documented
from parley.declaration.measured import FILE, Measured, measured, measured_text
from parley.verification.figures import figures

TRAIN = {"rows": 1234, "digest": "0", "bytes": 10, "arrow_bytes": 20, "null": ["b", "c.d"]}


def card_of(dataset, known=None):
    """Return the card of a build of 1,234 dialogues."""
    provenance = {"sample": False, "missing": [], "sources": {}, "configs": {}}
    built = BuiltFolder(dataset.folder, dataset, provenance)
    return built_card(built, {"dialogues": {"train": TRAIN}}, known or Measured())


def parts_of(card):
    """Return name -> text of the parts of a card that commands write."""
    form = re.compile(r"<!-- parley: (\w+) from here -->\n(.*?)<!-- parley: \1 to here -->", re.S)
    return {name: text.strip("\n") for name, text in form.findall(card)}


def test_the_card_of_a_build_is_its_own_one_completed(tea):
    front, body = parse(card_of(tea), "here")
    assert front["size_categories"] == ["1K<n<10K"]  # of the build
    large = {"dialogues": {"train": {"rows": 10**9}}}
    assert determined(tea, large)["size_categories"] == ["1B<n<10B"]
    data_files = [{"split": "train", "path": "dialogues/train-*.parquet"}]
    config = {"config_name": "dialogues", "default": True, "data_files": data_files}
    assert front["configs"] == [config]
    (info,) = front["dataset_info"]
    assert [each["name"] for each in info.pop("features")] == ["id", "turns", "rating"]
    assert info == {
        "config_name": "dialogues", "description": "Digests of the rows: train 0",
        "splits": [{"name": "train", "num_bytes": 20, "num_examples": 1234}],
        "license": "cc-by-4.0", "download_size": 10, "dataset_size": 20,
    }  # fmt: skip
    own = tea.read_card()
    assert renewed_card(tea) == own
    assert prose(body) == prose(parse(own, "here")[1])
    parts, of_own = parts_of(body), parts_of(own)
    assert "| `dialogues` | `train` | 1,234 |" in parts["splits"]
    same = parts.keys() - {"splits"}
    assert {part: parts[part] for part in same} == {part: of_own[part] for part in same}
    assert all(parts.values())


def test_the_table_of_splits_tells_counted_documented_and_null():
    splits = {"a": {"train": TRAIN, "test": {"documented": 5247}, "raw": {}}}
    configs = {"a": types.SimpleNamespace(use="read")}
    dataset = types.SimpleNamespace(splits=splits, configs=configs)
    assert f"{SAMPLE}\n" in splits_part(dataset, splits, [SAMPLE])
    part = splits_part(dataset, splits, ())
    cells = [line.strip("| ").split(" | ") for line in part.splitlines()[2:5]]
    assert [(split, use) for _, split, _, use in cells] == [
        ("`train`", "read"), ("`test`", "read"), ("`raw`", "read"),
    ]  # fmt: skip
    assert [re.sub(r"\D", "", rows) for _, _, rows, _ in cells] == ["1234", "5247", ""]
    assert "- `a`, `train`: `b`, `c.d`" in part


@pytest.mark.parametrize(("before", "after"), [
    ("0<!-- n.a b -->", "1,030<!-- n.a b -->"), ("9,999.9<!-- m -->%", "−1,234.50<!-- m -->%"),
    ("1<!-- e -->", "0.0000001<!-- e -->")
])  # fmt: skip
def test_a_counted_number_is_renewed(tea, before, after):
    known, own = Measured(counted={"n.a b": 1030, "m": "-1234.50", "e": 1e-07}), tea.read_card()
    for text in (before, after):  # renewing it again changes nothing
        tea.card.write_text(own.replace("known errors", text))
        made = card_of(tea, known=known)
        assert f"; {after}." in made
    assert "<!--" not in prose(parse(made, "here")[1])


@pytest.mark.parametrize("text", ["1 <!-- e -->", "**1**<!-- e -->", "3-5<!-- e -->"])
def test_a_comment_that_follows_no_number_is_an_error(tea, text):
    tea.card.write_text(tea.read_card().replace("known errors", text))
    with pytest.raises(OutputError):
        card_of(tea, known=Measured(counted={"e": 1}))


def test_the_determined_front_matter_keeps_what_is_written_by_hand(tea):
    own = tea.read_card()
    tea.card.write_text(re.sub(r"license:.*", "license:\n- mit\n- x", own))
    assert renewed_card(tea) == own


def test_a_card_is_renewed_before_its_default_config_is_measured(tea):
    known = json.loads(measured_text(tea, {}, [], {}, {})) | {"splits": {"messages": {"train": {}}}}
    (tea.folder / FILE).write_text(json.dumps(known))
    assert 'split="train"' in renewed_card(tea)


def test_the_row_is_the_first_of_the_sample_shortened(tea):
    sample = tea.sample / "dialogues.jsonl"
    first = json.loads(sample.read_text().splitlines()[0])
    first["turns"] = first["turns"][:1] * 5
    first["turns"][0]["text"] = "<!-- " + "x" * 200
    sample.write_text(json.dumps(first))
    row = json.loads(re.search("```json\n(.*)```", part := row_part(tea), re.DOTALL)[1])
    assert [type(turn) for turn in row["turns"]] == [dict] * 3 + [str]
    assert row["turns"][0]["text"].startswith("<!-- xxx")
    assert "x" * 200 not in part
    assert "<!--" not in part
    sample.unlink()
    assert row_part(tea) == ""


def test_fields_are_told_once():
    id_ = Field(str, "the dialogue")
    age, svo = Field((int, None), "age when asked", "years"), Field({"b", "a"}, "type")
    person = {"age": age, "svo": svo}
    file = File(
        "a.json",
        {"id": id_, "who": {"one": person, "two": person}, "said": Field({str: [str]}, "texts")},
        url="https://example.org/a.json", sha256="0" * 64,
    )  # fmt: skip
    mood = Field((ClassLabel({"bad": "", "good": "a | b"}), None), "it")

    scores = {"id": id_, "n": mood, "of": {"it": [mood]}}
    view = View("a score", scores, of="dialogues", key="id")(iter)
    same = {"dialogues": "a dialogue", "same": "the same"}
    configs = {n: Config(n, said, {"train": [file]}, key="id") for n, said in same.items()}
    whole, more = field_tables(configs | {"more": view})
    assert whole.configs == same
    assert whole.rows == [
        ("`id`", "string", "", "the dialogue"),
        ("`who`", "struct", "", ""),
        ("`who.one`, `.two`", "struct", "", ""),
        ("`who.*.age`", "int64", "yes", "age when asked, in years"),
        ("`who.*.svo`", "string", "", "type; one of `a`, `b`"),
        ("`said`", "list of struct", "", "texts"),
        ("`said[].key`", "string", "", "upstream's key"),
        ("`said[].value`", "list of string", "", "its value"),
    ]
    assert more.elsewhere == {"dialogues": ["id"]}
    assert more.rows == [
        ("`n`", "ClassLabel", "yes", "it"),
        ("`n`: `bad`", "label", "", ""),
        ("`n`: `good`", "label", "", "a | b"),
        ("`of`", "struct", "", ""),
        ("`of.it`", "list of ClassLabel or null", "", "it; one of `bad`, `good`"),
    ]


def test_a_column_is_within_no_other_that_its_name_begins_with():
    shape = {"a": Field(str, "it"), "a.b": Field(int, "other"), "c": Field(str, "it")}
    file = File("a.json", shape, url="https://example.org/a", sha256="0" * 64)
    (table,) = field_tables({"x": Config("x", "it", {"train": [file]}, key=())})
    assert [row[0] for row in table.rows] == ["`a`, `c`", "`a.b`"]


@pytest.mark.parametrize("text", ["a|b", "`", marks("row")[0], "two\nlines", " ", "../../x", ".x"])
def test_a_name_or_a_label_ends_no_code_no_cell_and_no_part(text):
    (inner,) = re.fullmatch(r"`([^`|\n]+)`", in_code(text)).groups()
    assert "<!--" not in inner
    assert inner == text or json.loads(inner) == text
    file = File("a.json", {text: {text: str}}, url="https://example.org/a.json", sha256="0" * 64)
    config = Config("dialogues", "a dialogue", {"train": [file]}, key=())
    assert [column.path for column in config.fields] == [text, f"{text}.{text}"]
    (table,) = field_tables({"dialogues": config})
    assert [row[0] for row in table.rows] == [in_code(text), in_code(f"{text}.{text}")]


@documented("paper | its table", {"a | b": Differs("x | y", "x | z", "a | reason")})
def f(data, key):
    """Text."""
    return "x | z"


@documented("a paper", "17e3")
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
    dataset = types.SimpleNamespace(folder=tmp_path, version="1.0.0", figures=FIGURES, configs={})
    assert {each.verdict for each in measured(dataset).figures(dataset)} == {
        "not checked",  # of a new dataset nothing was measured
        "not reproducible",
    }
    found = list(figures(FIGURES, None))
    due = ["differs", *["matches"] * 3, "not reproducible"]
    assert [each.verdict for each in found] == due
    skipped = {"measured": None, "verdict": "not checked", "reason": "a package is missing"}
    found[1] = dataclasses.replace(found[1], **skipped)
    splits = {"a": {"train": TRAIN, "test": {"documented": 7}, "raw": {}}}
    (tmp_path / FILE).write_text(
        measured_text(dataset, splits, found, {"g": 1.5}, {}), encoding="utf-8"
    )
    known = measured(dataset)
    assert known.figures(dataset) == found
    assert (known.version, known.splits, known.counted) == ("1.0.0", splits, {"g": 1.5})
    text = figures_part(found)
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) == len(found)
    assert {line.count("|") for line in rows} == {6}  # as Markdown counts them


FIRST = '{"version": "1", "splits": {}'


@pytest.mark.parametrize(("text", "place"), [
    *((text, None) for text in ("<<<<<<< ours\n{}", "[" * 100_000, '{"a": "1", "a": "2"}')),
    (f"{FIRST}}}", ".figures"),
    (f'{FIRST}, "figures": {{"f": {{"measured": null, "verdict": "x"}}}}}}', ".figures.f.measured"),
])  # fmt: skip
def test_a_damaged_measured_json_is_an_error_that_names_it(tmp_path, text, place):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(OutputError) as error:
        measured(types.SimpleNamespace(folder=tmp_path))
    assert str(error.value).startswith(str(tmp_path / FILE))
    assert place is None or place in [problem.place for problem in error.value.problems]


BROKEN = ["# No front matter\n", "---\n- a list\n---\n", "---\na: {b: {c: 1, 'c': 2}}\n---\n"]


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_card_is_an_error_that_names_it(tea, text):
    tea.card.write_text(text)
    with pytest.raises(OutputError) as error:
        card_of(tea)
    assert str(error.value).startswith(f"{tea.card}: ")


@pytest.mark.parametrize("form", ["", "{b}", "{e}{b}", "{b}{e}" * 2, "{b}{b}{e}", "{b}{e}{o}"])
def test_a_card_with_other_marks_than_once_each_is_an_error(tea, form):
    begin, end = marks("fields")
    before, _, rest = tea.card.read_text().partition(begin)
    marked = form.format(b=f"{begin}\n", e=f"{end}\n", o="\n".join(marks("feilds")))
    tea.card.write_text(before + marked + rest.partition(end)[2])
    with pytest.raises(OutputError):
        card_of(tea)
