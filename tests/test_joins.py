"""Keys join the configs of a dataset in any engine; joins of files lose nothing."""

from itertools import combinations

import pytest

from parley.authoring.new import write_skeleton
from parley.builds.build import build
from parley.builds.built_folder import open_folder
from parley.builds.sources import Sources
from parley.declaration.registry import Dataset
from parley.verification.verify import verify

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


def test_keys_have_one_type_and_shared_values(dataset, sample_build):
    built, keys, types = open_folder(sample_build / dataset.name), {}, {}
    for config, declared in dataset.configs.items():
        named = NAMED.get((dataset.name, config), {})
        columns = [name for name in declared.features if name.endswith("_id") or name in named]
        keys[config] = {named.get(name, name): name for name in columns}
        for key, name in keys[config].items():
            assert types.setdefault(key, declared.features[name]) == declared.features[name], name
    alone = set(keys)
    for one, other in combinations(keys, 2):
        if shared := keys[one].keys() & keys[other].keys():
            alone -= {one, other}
            left, right = (
                {tuple(row[keys[config][key]] for key in shared) for row in built.rows(config)}
                for config in (one, other)
            )
            both = [values for values in left & right if None not in values]
            assert (not both) == ((dataset.name, one, other) in APART), (one, other)
    assert alone == {config for name, config in ALONE if name == dataset.name}


FILES = {
    "turns.csv": "talk,who,text,at\n"
    "a,A,Well , 09:30:15\na,B,Yes,09:31:00\na,A,Yes,09:32:00\na,A,,09:33:00\n"
    "b,A,Hello,10:00:01\nb,B,Bye,10:00:02\n",
    "meetings.jsonl": '{"talk": "a", "place": "Hall"}\n{"talk": "a", "place": "Yard"}\n'
    '{"talk": "b", "place": "Hall"}\n',
}
SCRIPT = """from parley import Builder, Config, File

PIN = {{"sha256": "0" * 64}}
SHAPES = {{
    "turns.csv": {{"talk": str, "who": str, "text": str, "at": str}},
    "meetings.jsonl": {{"talk": str, "place": str}},
}}
FILES = [File(p, shape, url=f"https://a.b/1/{{p}}", **PIN) for p, shape in SHAPES.items()]
NAMES = {{"turns.csv": "turns", "meetings.jsonl": "meetings"}}


def records(sources):
    found = {{}}
    for path, source in sources.items():
        for row in source:
            empty = {{name: [] for name in NAMES.values()}}
            talk = found.setdefault(row["talk"], {{"talk": row["talk"], **empty}})
            talk[NAMES[path]].append({{key: row[key] for key in row if key != "talk"}})
    for talk in found.values():
        turns, meetings = talk["turns"], talk["meetings"]
        {loss}
        yield talk


def unjoin(records):
    for record in records:
        for path, name in NAMES.items():
            for row in record[name]:
                yield path, {{"talk": record["talk"], **row}}


TURN = {{"who": str, "text": (str, None), "at": str}}
SHAPE = {{"talk": str, "turns": [TURN], "meetings": [{{"place": str}}]}}


class Joined(Builder):
    "Talks."

    VERSION, LICENSE, HOMEPAGE = "1.0.0", "mit", "https://a.b"
    CONFIGS = [
        Config("dialogues", "a talk", {{"train": FILES}}, key="talk", records=records,
               unjoin=unjoin, shape=SHAPE, left_out={left_out})
    ]
"""
LOSSES = {
    "texts stripped": "for t in turns: t['text'] = t['text'].strip()",
    "null for an empty text": "for t in turns: t['text'] = t['text'] or None",
    "turns reversed": "turns.reverse()",
    "a list cut": "del turns[2:]",
    "a dialogue dropped": "if talk['talk'] == 'b': continue",
}


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """Return the checks that fail on a dataset of two files, by the loss in its join."""

    def of(loss, left_out=None, old="", new=""):
        path = tmp_path_factory.mktemp("joins")
        dataset = Dataset("joined", write_skeleton("joined", path))
        for name in ("figures.py", "transcript.py", "sample/dialogues.jsonl"):
            (dataset.folder / name).unlink()
        for name, text in FILES.items():
            (dataset.sample / name).write_text(text)
        script = SCRIPT.format(loss=loss, left_out=left_out or {}).replace(old, new)
        (dataset.folder / "joined.py").write_text(script)
        build(Sources(dataset, dataset.sample, sample=True), path / "out")
        found = verify(open_folder(path / "out" / "joined", dataset))
        return {check.name for check in found.checks if check.failed}

    return of


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_what_a_join_loses_is_an_error(failing, loss):
    assert failing(loss) == {"joins"}


def test_a_join_may_leave_out_what_it_declares(failing):
    assert failing("pass") == set()
    declared = {"train": {"meetings.jsonl": 1}}
    assert failing("pass", declared) == set()  # the sample may lack it
    assert failing("del meetings[1:]", declared) == set()
    assert failing("del turns[1:]", declared) == {"joins"}


@pytest.mark.parametrize(("old", "new", "loss", "due"), [
    ("yield path,", 'yield "",', "pass", set()),
    ("yield path,", 'yield "",', "turns.reverse()", {"joins"}),
    ("record[name]:", "record[name] * 2:", "pass", {"joins"}),
    ("record[name]:", "record['none']:", "pass", {"joins"}),
], ids=["of any file", "of any file, in another order", "twice", "with an error"])  # fmt: skip
def test_an_inverse_gives_each_record_once(failing, old, new, loss, due):
    assert failing(loss, None, old, new) == due
