"""Verification on real data, that each check of any folder can fail, and the comparison of two."""

import json
import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from build_changes import edit, in_memory, of_rows, parquet, reseal, restate, retable
from mutations import DROP, changed, found_by, swap

from parley.base.errors import MissingSplitError, OutputError, UsageError
from parley.builds.build import build as build_files
from parley.builds.built_folder import open_folder
from parley.builds.card_parts import marks
from parley.builds.sources import Sources, open_source
from parley.declaration.figures import UNEXPLAINED, Figure
from parley.declaration.measured import FILE, Measured, measured
from parley.declaration.registry import discover, get
from parley.read.export.export import export
from parley.verification import folder_checks, row_checks
from parley.verification.diff import compare_builds
from parley.verification.measure import measure
from parley.verification.results import Aside, Check, at, run_check
from parley.verification.verify import Verification, verify, verify_each


@pytest.fixture
def build(sample_build, tmp_path):
    def copy(name):
        return Path(shutil.copytree(sample_build / name, tmp_path / "build" / name))

    return copy


def failed(found):
    return {check.name for check in found.checks if check.failed}


@pytest.fixture(scope="session")
def verifications(source, real_build):
    """What `verify` finds of the real build, by dataset."""
    found = list(verify_each(list(discover().values()), real_build, source, lambda *step: None))
    assert all(isinstance(each, Verification) for each in found), found
    return {each.dataset: each for each in found}


def test_the_real_build_holds(dataset, verifications):
    found = verifications[dataset.name]
    assert not found.failed, [check for check in found.checks if check.failed] + [
        figure for figure in found.figures if figure.verdict == "UNEXPLAINED"
    ]
    assert not any(check.skipped for check in found.checks)
    assert all(figure.place and figure.definition for figure in found.figures)
    assert len({figure.name for figure in found.figures}) == len(found.figures)
    assert sum(len(found.figures) for found in verifications.values()) >= 271


def rewrite(folder, place, change):
    """Change rows on disk, as someone would who keeps the file readable."""
    config, _, split = (name := place.partition("[")[0]).partition("/")
    damage = of_rows(lambda rows: changed({name: rows}, place, change)[name])
    retable(parquet(folder, config, split), damage)


def flip(folder):
    path = parquet(folder, "dialogues", "train")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


def undeclared(folder, config="speakers"):
    more = f"{config}-more"
    shutil.copytree(folder / config, folder / more)
    recorded = json.dumps(json.loads((folder / "provenance.json").read_text())["configs"][config])
    restate(folder, f"configs.{more}", json.loads(recorded.replace(f'"{config}/', f'"{more}/')))


def on_table(config, change):
    """Return a damage that changes the table of a file of casino."""
    return lambda folder: retable(parquet(folder, config, "train"), change)


def turned_labels(table):
    info = json.loads(table.schema.metadata[b"huggingface"])
    info["info"]["features"]["svo"]["names"].reverse()
    metadata = table.schema.metadata | {b"huggingface": json.dumps(info).encode()}
    return table.replace_schema_metadata(metadata)


drop_a_column = on_table("dialogues", lambda table: table.drop_columns(["annotations"]))


def on_card(old, new):
    return lambda folder: edit(folder / "README.md", old, new)


def rows(place, change):
    return lambda folder: rewrite(folder, place, change)


def all_missing(folder):
    restate(folder, "sample", False)
    restate(folder, "missing", [*get("casino").pins])


def blanks(folder):
    with (folder / "provenance.json").open("a") as file:
        file.write(" " * 1_000_000)


def resealed(config, change):
    def damage(folder):
        on_table(config, change)(folder)
        reseal(folder)

    return damage


def provenance(place, change):
    return lambda folder: restate(folder, place, change)


COUNTED = """

from parley.declaration.figures import counted


@counted(decimals=2)
def turns(data: Data) -> dict[str, Any]:
    return {"a": {"b": 6}, "share": 1 / 3}


@counted()
def gone(data: Data) -> int:
    import sacremoses
"""


DAMAGE = {  # check -> what of casino's built sample it must notice
    "files": {
        "a flipped byte": flip,
        "a file too many": lambda folder: (folder / "casino.py").write_text(""),
        "an empty folder": lambda folder: (folder / "casino.py").mkdir(),
        "an undeclared split, recorded": undeclared,
        "a link": lambda folder: (folder / "official_split/more.parquet").symlink_to("/etc/hosts"),
        "a file too few": lambda folder: parquet(folder, "utterances", "train").unlink(),
    },
    "schema": {
        "a column too few": drop_a_column,
        "names of labels in another order": on_table("speakers", turned_labels),
    },
    "shards": {"the same rows, written otherwise": resealed("dialogues", lambda table: table)},
    "provenance": {
        "another version": provenance("version", "9.9.9"),
        "all sources missing, and their rows": all_missing,
        "an unknown source": provenance("missing", ["no/such/file"]),
        "no versions": provenance("built_with", {}),
        "a version that words follow": provenance("built_with.parley", "1.0, public domain"),
        "a config less": provenance("configs.official_split", DROP),
        "two rows that change places": rows("dialogues/train", swap(0, 1)),
        "blanks": blanks,
    },
    "card": {
        "another count": on_card("num_examples: ", "num_examples: 1"),
        "words in a part": on_card(marks("load")[1], f"Public domain.\n{marks('load')[1]}"),
        "no config": lambda folder: shutil.rmtree(folder / "official_split"),
    },
    "as_measured": {"rows that were not measured": provenance("sample", False)},
    "keys": {"a row twice": rows("speakers/train", lambda found: [*found, found[0]])},
    "empty_texts": {
        "an empty text": rows("dialogues/train[0].chat_logs[0].text", ""),
        "an empty text in a list of a view": rows("scenarios/train[0].published_in", [""]),
    },
    "records": {"a label's number too high": rows("utterances/train[0].annotations", [10])},
    "views": {"another text": rows("utterances/train[0].text", "Hi!")},
    "shown": {
        "a dialogue too few": rows("scenarios/train", lambda found: found[1:]),
        "a turn too few": rows("messages/train[0].source_turns[-1]", DROP),
        "a participant too few": rows("participants/train", lambda found: found[1:]),
    },
    "source": {"another text": rows("dialogues/train[0].chat_logs[0].text", "Hi!")},
    "transcripts": {
        "another text of a turn": rows("utterances/train[0].text", "Hi!"),
        "another speaker": rows("utterances/train[1].speaker", "mturk_agent_2"),
        "no such turn": rows("strategies/train[0].turn", 99),
        "another case in a message": rows("messages/train[0].messages[1].content", str.upper),
        "shifted turns": rows("messages/train[0].source_turns", lambda of: [*of[1:], []]),
        "a role": rows("messages/train[0].messages[-2].role", "assistant"),
        "the roles of a chat": rows("messages/train[0].speaker", "mturk_agent_2"),
    },
}


@pytest.mark.parametrize(("check", "what"), [(c, what) for c in DAMAGE for what in DAMAGE[c]])
def test_damage_is_noticed_by_the_check_that_guards_against_it(build, check, what):
    folder = build("casino")
    DAMAGE[check][what](folder)
    built = open_folder(folder)
    if check == "source":
        assert check in failed(verify(built))  # which knows the sample's records
    else:
        assert found_by(check, built)


def test_no_text_around_what_was_not_checked_makes_it_a_problem():
    aside = Aside("not checked", "no file")

    def check(text):
        yield at("here", aside)
        yield f"here: {text()}"

    assert run_check(check, lambda: "odd") == Check("check", "", ["here: odd"], "here: no file")
    assert "TypeError" in run_check(check, lambda: f"{aside}").problems[0]


def test_every_check_is_known_to_fail(sample_build):
    names = {check.name for check in verify(open_folder(sample_build / "casino")).checks}
    own = {c for c in names if hasattr(get("casino").checks, c)}
    # Of the sample none is counted; tests/test_joins.py and tests/test_check.py damage the others
    assert names - own - {"counted", "joins", "subsets"} == DAMAGE.keys()


def test_counted_numbers_are_compared_like_digests(tea, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    path = tea.folder / "figures.py"
    path.write_text(path.read_text() + COUNTED)
    build_files(Sources(tea, tea.sample), tmp_path / "out", measure=measure)
    assert measured(tea).counted == {"turns.a.b": 6, "turns.share": "0.33", "gone": None}

    def found():
        checks = verify(open_folder(tmp_path / "out/tea", tea)).checks
        return next(check for check in checks if check.name == "counted")

    sound = (tea.folder / FILE).read_text()
    assert found().problems == []
    assert found().skipped.startswith("gone: ")
    for old, new, due in (('b": 6', 'b": 7', 1), ("0.33", "0.34", 1), (".share", ".rest", 2)):
        (tea.folder / FILE).write_text(sound.replace(old, new))
        assert len(found().problems) == due


def test_bytes_of_another_writer_are_not_compared(build):
    """As another pyarrow writes other bytes of the same rows; `publish` refuses such a build."""
    folder = build("casino")
    resealed("speakers", lambda table: table)(folder)
    restate(folder, "built_with.pyarrow", "1.0.0")
    found = {check.name: check for check in verify(open_folder(folder)).checks}
    assert found["shards"].skipped
    assert not found["shards"].failed


def test_damage_is_noticed_by_no_other_check(build):
    folder = build("casino")
    on_card("num_examples: ", "num_examples: 1")(folder)
    assert failed(verify(open_folder(folder))) == {"card"}
    drop_a_column(folder)  # stops what reads rows
    found = verify(open_folder(folder))
    assert failed(found) == {"files", "schema"}
    assert {figure.verdict for figure in found.figures} <= {"not checked", "not reproducible"}
    folder = build("cosrec")
    rewrite(folder, "prompts/prompts[0].text", "Generate.")
    found = verify(open_folder(folder))
    assert failed(found) == {"files", "shards", "provenance", "card", "source", "joins"}


def test_null_where_no_check_expects_it_fails_that_check(build):
    folder = build("craigslist_bargains")
    rewrite(folder, "negotiations/test[0].events", None)
    found = {check.name: check for check in verify(open_folder(folder)).checks}
    assert "the check failed: TypeError" in found["shown"].problems[0]
    assert "].events" in found["source"].problems[0]


@pytest.mark.parametrize(("turned", "changes", "named"), [
    (False, {}, None),
    (True, {}, "speakers/train: "),  # a build by a changed view agrees with itself
    (True, {"version": "0.9.9"}, None), (False, {"found": {"f": {"measured": 9}}}, "f: "),
    (False, {"splits": {}, "found": {}}, None),
], ids=["the same", "a changed view", "another version", "a figure", "not measured"])  # fmt: skip
def test_rows_and_figures_that_change_without_the_version_are_noticed(
    sample_build, tmp_path, monkeypatch, turned, changes, named
):
    if turned:
        declared = get("casino").configs["speakers"]
        rows = declared.rows
        monkeypatch.setitem(vars(declared), "rows", lambda records: [*rows(records)][::-1])
    build_files(open_source(get("casino"), None, sample=True), tmp_path)
    restate(tmp_path / "casino", "sample", False)
    built, before = open_folder(tmp_path / "casino"), open_folder(sample_build / "casino")
    found = {"f": {"measured": 8, "verdict": "differs"}}
    known = replace(Measured(built.version, {}, before.provenance["configs"], found), **changes)
    monkeypatch.setattr(folder_checks, "measured", lambda dataset: known)
    figure = Figure("f", 7, "paper", "what is computed", 8, "differs", "a reason")
    problems = found_by("as_measured", built, [figure])
    assert [each.startswith(named or "") for each in problems] == [True] * bool(named)


@pytest.mark.parametrize("shared", [False, True])
def test_a_key_in_two_splits_is_noticed_unless_splits_share_keys(sample_build, monkeypatch, shared):
    built = open_folder(sample_build / "casino")
    row = built.rows("official_split", "train")[0]
    monkeypatch.setitem(vars(built.dataset.configs["official_split"]), "splits_share_keys", shared)
    found = list(row_checks.keys(in_memory(built.path, {"official_split/test": [row]})))
    named = f"official_split/test: {row['dialogue_id']} "
    assert [each.startswith(named) for each in found] == ([] if shared else [True])


def test_one_broken_folder_does_not_hide_the_others(build, run):
    (build("casino") / "provenance.json").write_text("{}")
    command = ("verify", "--build", build("duo").parent)
    status, out, err = run(*command)
    assert status == 1
    assert "casino/provenance.json: " in err
    assert out.startswith("FAILED: casino")
    assert "\nduo " in out
    found = {each["dataset"]: each["failed"] for each in json.loads(run(*command, "--json")[1])}
    assert found == {"duo": False, "casino": True}


def also(name, made):
    """Return recorded configs or splits with the first under another name, too."""
    return made | {name: next(iter(made.values()))}


HERE = "configs.dialogues.train.files"
NO_NAMES = ("..", ".x", "a/b", "", "\x00")
# what a provenance says at a place, and the place that the error names, if it is another
MISSTATED = [
    *((f"{HERE}[0].path", path) for path in (
        "../../outside/secret.txt", "", "dialogues/train-00001-of-00002.parquet",
        "dialogues/../dialogues/train-00000-of-00001.parquet",
    )),
    (HERE, []), (HERE, lambda files: [*files, *files], f"{HERE}[0].path"),
    ("configs", None), ("version", DROP), ("configs.dialogues.train.rows", DROP),
    *((f"configs{at}", partial(also, name), f"configs{at}.{name}{end}")
      for name in NO_NAMES for at, end in (("", ".train"), (".dialogues", ""))),
    ("more", 1),
]  # fmt: skip
NO_TEXTS = ("", "[]", "{}", '{"a": 1, "a": 1}', '{"a":' * 1_000_000, "\udcff\udcfe")


@pytest.fixture
def stated(sample_build, tmp_path):
    (tmp_path / "casino").mkdir()
    shutil.copy(sample_build / "casino" / "provenance.json", tmp_path / "casino")
    return tmp_path / "casino"


@pytest.mark.parametrize(("place", "value", "named"), [(*each, each[0])[:3] for each in MISSTATED])
def test_a_provenance_of_another_form_is_refused_by_the_place(stated, place, value, named):
    """By whoever opens the build: every command, and `parley.open`."""
    restate(stated, place, value)
    with pytest.raises(OutputError) as error:
        open_folder(stated)
    assert named in [problem.place.lstrip(".") for problem in error.value.problems]


def test_a_provenance_that_is_none_or_of_no_dataset(stated):
    restate(stated, "dataset", "../../outside")
    with pytest.raises(UsageError):
        open_folder(stated)
    for text in NO_TEXTS:
        (stated / "provenance.json").write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(OutputError):
            open_folder(stated)


@pytest.mark.parametrize(
    "method", ["rows", "rows_with_names", "each_row", "each_row_with_names", "ids", "tables"]
)
def test_every_reader_of_a_split_knows_its_config_and_split(build, method):
    folder = build("casino")
    shutil.rmtree(folder / "speakers")
    read = getattr(open_folder(folder), method)
    wrong = [("utterance", "train"), ("utterances", "trian"), ("speakers", "train")]
    if method in ("rows", "rows_with_names"):
        wrong += [("utterance",), ("speakers",)]
        assert read("official_split") == read("official_split", "train", "validation", "test")
    for place in wrong:
        error = MissingSplitError if place[0] == "speakers" else UsageError
        with pytest.raises(error):
            list(read(*place))


@pytest.mark.parametrize("lose", [0, 1])
def test_a_split_that_has_lost_a_shard_is_not_read_in_part(shards, tmp_path, lose):
    built = open_folder(Path(shutil.copytree(shards / "casino", tmp_path / "casino")))
    built.files("dialogues", "train")[lose].unlink()
    with pytest.raises(MissingSplitError, match="dialogues/train"):
        built.rows("dialogues", "train")
    with pytest.raises(OutputError, match="dialogues/train"):
        export(built, "csv", tmp_path / "csv")
    assert {"files", "card"} <= failed(verify(built))


@pytest.fixture
def difference(sample_build, build):
    def compared(name, damage):
        folder = build(name)
        damage(folder)
        found = compare_builds(open_folder(sample_build / name), open_folder(folder))
        return found, {(s.config, s.split): s for s in found.splits if s.differs}

    return compared


def test_equal_folders_do_not_differ(dataset, sample_build, build, run):
    assert run("diff", sample_build / dataset.name, build(dataset.name)).returncode == 0


def test_changed_added_and_removed_rows_are_named(difference, sample_build, tmp_path, run):
    def change(found):
        found[0]["chat_logs"][1]["text"] = "changed\x1b[2J"
        found[2]["dialogue_id"] = 7777
        return found

    _, splits = difference("casino", rows("dialogues/train", change))
    (split,) = splits.values()
    assert (split.added, split.removed) == (["7777"], ["2003"])
    (row,) = split.changed
    assert row.key == "2001"
    ((path, _, new),) = row.fields
    assert (path, new) == ("chat_logs[1].text", "changed\x1b[2J")
    status, out, _ = run("diff", sample_build / "casino", tmp_path / "build/casino")
    assert status == 1
    assert "chat_logs[1].text" in out
    assert "\x1b" not in out


def test_rows_in_another_order_and_a_missing_split(difference):
    def damage(folder):
        rewrite(folder, "ed/en", swap(0, 1))
        parquet(folder, "wow", "ja").unlink()

    _, splits = difference("duo", damage)
    assert splits.keys() == {("ed", "en"), ("wow", "ja")}
    assert splits["ed", "en"].reordered
    assert not splits["ed", "en"].changed
    assert splits["wow", "ja"].new_rows is None


def test_rows_without_a_key_are_aligned_by_content(difference):
    def change(found):
        found[2]["utterance"][0] = "changed"
        return found[1:]

    _, splits = difference("craigslist_bargains", rows("dialogues/test", change))
    (split,) = splits.values()
    assert (split.removed, split.added, split.reordered) == (["row 0"], [], False)
    assert [(row.key, row.fields[0][0]) for row in split.changed] == [("row 2", "utterance[0]")]


def test_of_fewer_rows_replaced_by_more_none_is_called_changed(difference):
    def change(found):
        return [*found[:-1], *({**found[-1], "utterance": [new]} for new in ("one", "other"))]

    _, splits = difference("craigslist_bargains", rows("dialogues/test", change))
    (split,) = splits.values()
    assert (len(split.removed), len(split.added), split.changed) == (1, 2, [])


def test_a_config_too_many_and_another_provenance_are_named(difference):
    def damage(folder):
        undeclared(folder, "scenarios")
        restate(folder, "version", "9.9.9")

    found, splits = difference("casino", damage)
    ((place, of),) = splits.items()
    assert (place, of.old_rows) == (("scenarios-more", "train"), None)
    assert [(what, new) for what, _, new in found.provenance] == [("version", "9.9.9")]


def narrow(table):
    return table.set_column(2, "relevance", table["relevance"].cast(pa.int32()))


def more_text(table):
    turns = table["turns"].to_pylist()
    turns[0][0]["text"] = "changed"
    table = table.set_column(1, "turns", pa.array(turns, table.schema.field("turns").type))
    return table.append_column("empty", pa.nulls(len(table), pa.string()))


def more_labels(table):
    return turned_labels(table).append_column("new", table["age"])


LABELS = "footer, features.svo.names["
ORDER = "columns in another order: "


@pytest.mark.parametrize(("place", "change", "due", "fields"), [
    ("casino speakers/train", more_labels, ["new: absent", LABELS, LABELS], []),
    ("casino dialogues/train", lambda table: table.select(table.schema.names[::-1]), [ORDER], []),
    ("cosrec qrels/curated", narrow, ["relevance: int64 -> int32"], []),
    ("cosrec qrels/curated", lambda table: table.append_column("relevance", table["relevance"]),
     ["relevance: int64 -> int64, int64"], []),
    ("cosrec dialogues/raw", more_text, ["empty: absent -> string"], ["turns[0].text"]),
])  # fmt: skip
def test_a_changed_schema_is_named_and_not_in_every_row(difference, place, change, due, fields):
    name, config, split = place.replace("/", " ").split()
    _, splits = difference(name, lambda folder: retable(parquet(folder, config, split), change))
    (found,) = splits.values()
    assert (found.config, found.split) == (config, split)
    assert all(map(str.startswith, found.schema, due)), found.schema
    assert len(found.schema) == len(due)
    assert [path for row in found.changed for path, _, _ in row.fields] == fields
    assert not found.added + found.removed


def test_figures_that_moved_are_named(tea, tmp_path, monkeypatch):
    """Of a build of the sample's files that is not that of the sample, which has no figures."""
    monkeypatch.setenv("PARLEY_DATASETS", str(tmp_path / "more"))
    build_files(Sources(tea, tea.sample), tmp_path / "out")
    before = in_memory(tmp_path / "out/tea")
    fewer = {"dialogues/train": before.rows("dialogues", "train")[1:]}
    assert ("size.dialogues", 2, 1) in compare_builds(before, in_memory(before.path, fewer)).figures


@pytest.mark.parametrize(
    ("place", "value"),
    [("emotion", "Odd"), ("dialogue[1].message_id", True)],  # which equals 1
)
def test_a_record_that_does_not_come_back_is_named(sample_build, monkeypatch, place, value):
    declared = get("duo").configs["ed"]
    read = declared.to_record
    monkeypatch.setitem(vars(declared), "to_record", lambda row: changed(read(row), place, value))
    built = open_folder(sample_build / "duo")
    (source,) = (each.problems[0] for each in verify(built).checks if each.name == "source")
    for problem in (source, next(row_checks.records(built, {}))):  # with the source, and without
        assert problem.startswith("ed/en[0]")
        assert value is True or place in problem


def test_a_check_or_a_figure_alone_fails_a_verification():
    held, failed = Check("a", "", []), Check("b", "", ["wrong"])
    figure = Figure("f", 1, "somewhere", "", 2, UNEXPLAINED)
    assert not Verification("x", checks=[held]).failed
    assert Verification("x", checks=[held, failed]).failed
    assert Verification("x", checks=[held], figures=[figure]).failed
