"""CraigslistBargains: 6,682 negotiations between a buyer and a seller over a Craigslist post.

Collected on Amazon Mechanical Turk by He et al. (EMNLP 2018) and published as one JSON file a
split, each a list of negotiations. A record looks like this (invented, shortened):

    {"uuid": "C_5d0c...", "scenario_uuid": "S_kR3t...", "agents": {"0": "human", "1": "human"},
     "scenario": {"uuid": "S_kR3t...", "category": "bike", "post_id": "6150000001",
       "kbs": [{"personal": {"Role": "buyer", "Target": 84, "Bottomline": null},
                "item": {"Category": "bike", "Title": "City bike", "Price": 120, ...}}, ...]},
     "agents_info": null, "outcome": {"reward": 1, "offer": {"price": 92.5, "sides": ""}},
     "events": [
       {"agent": 0, "action": "message", "data": "Could we meet at $92.5?", "time": "1499000123.4",
        "start_time": "1499000110.08", "metadata": {"intent": "counter-price", "price": 92.5}},
       {"agent": 0, "action": "offer", "data": {"price": 92.5, "sides": ""}, ...},
       {"agent": 1, "action": "accept", "data": null, "metadata": {"intent": "accept"}, ...}]}

Upstream's parser has added `agents_info` and each event's `metadata`, its dialogue act, to the
train and validation files; the test file has neither. A row of `dialogues` has the schema of the
Hub's old script, with "" and -1.0 for missing. A row of `negotiations` keeps the whole record. The
rows of `acts` have the dialogue acts of every event, by upstream's rules.
"""

import hashlib
import json
import os
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import datasets

# `datasets` 2 and 3 copy just the modules that the script itself imports, and no others.
from .acts import Contexts, acts, read_contexts, train_contexts
from .views import VIEW_FEATURES, VIEWS
from .word_counts import MOST_BYTES

# Where the files come from --------------------------------------------------------------

_URL = "https://worksheets.codalab.org/rest/bundles/"
# Copies by others, for when CodaLab has lost its own. That of validation is the same JSON with its
# keys in another order; that of train could not be compared.
_MIRROR = (
    "https://raw.githubusercontent.com/Kenjiro-study/my_study/"
    "d598355d8240adb4106626465a9c4e76a183aaa0/"
)
# The word lists of upstream's rules for dialogue acts, of which upstream published only the code.
TRACKER = "price_tracker.pkl"
_TRACKER_URL = (
    "https://raw.githubusercontent.com/Joyce-0214/NegotiationToM-py310/"
    "15e6ad886937a4b79251d5426d0f2de49f8236f0/craigslistbargain/data/price_tracker.pkl"
)

SOURCES: dict[str, dict[str, Any]] = {
    "train.json": {
        "url": _URL + "0xd34bbbc5fb3b4fccbd19e10756ca8dd7/contents/blob/parsed.json",
        "size": 20_148_723,
        "sha256": "34033ff87565b9fc9eb0efe867e9d3e32456dbe1528cd1683f94a84b09f66ace",
        "mirrors": [
            {
                "url": _MIRROR + "src/rule/train-parsed.json",
                "git_blob": "9972ac9dadf6f7fd0698a8a95642d10c3a3a2e4a",
            }
        ],
    },
    "validation.json": {
        "url": _URL + "0x15c4160b43d44ee3a8386cca98da138c/contents/blob/parsed.json",
        "size": 2_287_054,
        "sha256": "03b35dc18bd90d87dac46893ac4db8ab3eed51786d192975be68d3bab38e306e",
        "mirrors": [
            {
                "url": _MIRROR + "src/rule/dev-parsed.json",
                "size": 2_287_054,
                "git_blob": "0f3b937eca5856518db2ce820f8ae5e35aebd880",
            }
        ],
    },
    "test.json": {
        "url": _URL + "0x54d325bbcfb2463583995725ed8ca42b/contents/blob/",
        "size": 2_937_841,
        "sha256": "c802f15f80ea3066d429375393319d7234daacbd6a26a6ad5afd0ad78a2f7736",
        "mirrors": [
            {
                "url": _MIRROR + "craigslistbargain/data/test.json",
                "size": 2_937_841,
                "git_blob": "8cb1e078a46b8e89814113b0708dee00d73954fb",
            }
        ],
    },
    TRACKER: {
        "url": _TRACKER_URL,
        "size": 5_764,
        "sha256": "97e210fd8267dee006089be97ce7d00876bc412ad0ae9770b8aa42402018692d",
    },
}

# source -> the sources that serve in its place where it is missing: the lists are learnt from train
STAND_INS = {TRACKER: ("train.json",)}

# config -> split -> the sources it is made from
_SPLITS: dict[str, tuple[str, ...]] = {
    "train": ("train.json",),
    "validation": ("validation.json",),
    "test": ("test.json",),
}
SPLITS: dict[str, dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("dialogues", "negotiations", *VIEW_FEATURES), _SPLITS),
    "acts": {split: (*files, TRACKER) for split, files in _SPLITS.items()},
}

# What a record upstream looks like ------------------------------------------------------
# A type, {values}: one of these, [x]: a list of x, (x, y): x or y, "key?": may be absent,
# a function: raises ValueError. `parley build` refuses a record that differs.

# The same in every record, so no column; `to_record` puts it back.
_NAMES = ("Role", "Bottomline", "Target", "Title", "Category", "Price", "Images", "Description")
_TYPES = ("role", "price", "price", "text", "text", "price", "text", "text")
ATTRIBUTES = [
    {"name": name, "value_type": kind, "unique": False, "multivalued": False, "entity": False}
    for name, kind in zip(_NAMES, _TYPES, strict=True)
]
_ATTRIBUTES = json.dumps(ATTRIBUTES, sort_keys=True)


def attributes(value: Any) -> None:
    """Check the descriptions of the attributes, which never change."""
    # Python's equality is not enough: 0 equals False.
    same = value == ATTRIBUTES and json.dumps(value, sort_keys=True) == _ATTRIBUTES
    if not same:
        raise ValueError("the eight attributes that every record lists, in the same order")


def number(value: Any) -> None:
    """Check a number, which may be an integer: float64 holds it exactly, float32 nearly."""
    if type(value) not in (int, float) or float(value) != value:
        raise ValueError("a number")
    if value != 0 and not 1.2e-38 < abs(value) < 3.4e38:
        raise ValueError("a number in the range of float32, as the documented schema has it")


def seconds(value: Any) -> None:
    """Check a time: a string, as Python 2 prints a float, that float64 gives back exactly."""
    try:
        exact = repr(float(value)) == value and abs(float(value)) < 1e11  # so neither nan nor inf
    except (TypeError, ValueError):
        exact = False
    if not exact:
        raise ValueError('seconds as a string that is the repr of a float, e.g. "1499000123.4"')


def _event(actions: set[str], data: Any, act: dict[str, Any]) -> dict[str, Any]:
    return {
        "agent": {0, 1},
        "action": actions,
        "data": data,
        "time": seconds,
        "start_time": (seconds, None),
        "metadata": (act, None),
    }


_category = {"bike", "car", "electronics", "furniture", "housing", "phone"}
_talk = {"intro", "inquiry", "inform", "agree", "disagree", "unknown"}
_price_talk = {"init-price", "counter-price", "vague-price", "insist"}
_ends = {"accept", "reject", "quit"}
_price = (number, None)
_offered = {"price": _price, "sides": str}
_events = (
    _event({"message"}, str, {"intent": _talk | _price_talk, "price": _price}),
    _event({"offer"}, _offered, {"intent": {"offer"}, "price": _price}),
    _event(_ends, None, {"intent": _ends}),
)
_kb = {
    "personal": {"Role": {"buyer", "seller"}, "Target": number, "Bottomline": _price},
    "item": {
        "Category": _category,
        "Title": str,
        "Price": _price,
        "Images": [str],
        "Description": [str],
    },
}
_scenario = {
    "uuid": str,
    "category": _category,
    "post_id": str,
    "attributes": attributes,
    "kbs": [_kb],
}
_record = {
    "uuid": str,
    "scenario_uuid": str,
    "agents": {"0": str, "1": str},
    "outcome": {"reward": {0, 1}, "offer?": (_offered, None)},
}
PARSED = {**_record, "scenario": _scenario, "agents_info": None, "events": [_events]}
UNPARSED = {
    **_record,
    "scenario": {**_scenario, "intersection?": number},
    "events": [tuple({k: v for k, v in e.items() if k != "metadata"} for e in _events)],
}
NEGOTIATION = (PARSED, UNPARSED)


def word_counts(value: Any) -> None:
    """Check the bytes of the price tracker, of which nothing is run."""
    try:
        read_contexts(value)
    except ValueError as error:
        raise ValueError(f"a pickle of two counts of words and of nothing else ({error})") from None


# What a row looks like ------------------------------------------------------------------

_string, _integer, _number, _flag = (
    datasets.Value(t) for t in ("string", "int64", "float64", "bool")
)
_int32, _float32 = datasets.Value("int32"), datasets.Value("float32")
_dialogue = datasets.Features(
    {
        "agent_info": {"Bottomline": [_string], "Role": [_string], "Target": [_float32]},
        "agent_turn": [_int32],
        "dialogue_acts": {"intent": [_string], "price": [_float32]},
        "utterance": [_string],
        "items": {
            "Category": [_string],
            "Images": [_string],
            "Price": [_float32],
            "Description": [_string],
            "Title": [_string],
        },
    }
)
_offer = {"price": _number, "sides": _string}
_negotiation = datasets.Features(
    {
        "uuid": _string,
        "scenario_uuid": _string,
        "scenario": {
            "uuid": _string,
            "category": _string,
            "post_id": _string,
            "intersection": _number,
            "kbs": [
                {
                    "personal": {"Role": _string, "Target": _number, "Bottomline": _number},
                    "item": {
                        "Category": _string,
                        "Title": _string,
                        "Price": _number,
                        "Images": [_string],
                        "Description": [_string],
                    },
                }
            ],
        },
        "agents": {"0": _string, "1": _string},
        "outcome": {"reward": _integer, "offer": _offer, "offer_absent": _flag},
        "events": [
            {
                "agent": _integer,
                "action": _string,
                "text": _string,
                "offer": _offer,
                "time": _number,
                "start_time": _number,
                "metadata": {"intent": _string, "price": _number},
            }
        ],
        "parsed": _flag,
    }
)
FEATURES = {"dialogues": _dialogue, "negotiations": _negotiation, **VIEW_FEATURES}

# The builder ----------------------------------------------------------------------------

DESCRIPTION = """\
6,682 English dialogues in which a buyer and a seller negotiate the price of an item posted on \
Craigslist, with the post, each side's target price, offers and outcome, and rule-based dialogue \
acts of every event."""

CITATION = """\
@inproceedings{he2018decoupling,
  title = {Decoupling Strategy and Generation in Negotiation Dialogues},
  author = {He, He and Chen, Derek and Balakrishnan, Anusha and Liang, Percy},
  booktitle = {Proceedings of the 2018 Conference on Empirical Methods in Natural Language \
Processing},
  pages = {2333--2343},
  year = {2018},
  url = {https://aclanthology.org/D18-1256/}
}"""


class CraigslistBargains(datasets.GeneratorBasedBuilder):
    """CraigslistBargains from its URLs, or from a local copy of the files in `data_dir`."""

    VERSION = datasets.Version("1.2.0")
    DEFAULT_CONFIG_NAME = "dialogues"
    BUILDER_CONFIGS = [
        datasets.BuilderConfig("dialogues", VERSION, description="the Hub's old schema"),
        datasets.BuilderConfig("negotiations", VERSION, description="everything upstream holds"),
        datasets.BuilderConfig("utterances", VERSION, description="events, one a row"),
        datasets.BuilderConfig("outcomes", VERSION, description="dialogues as flat scalars"),
        datasets.BuilderConfig("scenarios", VERSION, description="posts with both sides' targets"),
        datasets.BuilderConfig("messages", VERSION, description="chats, one side the assistant"),
        datasets.BuilderConfig("acts", VERSION, description="dialogue acts by upstream's rules"),
    ]

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=DESCRIPTION,
            features=FEATURES[self.config.name],
            homepage="https://worksheets.codalab.org/worksheets/0x453913e76b65495d8b9730d41c7e0a0c/",
            license="unknown",
            citation=CITATION,
        )

    def _split_generators(
        self, dl_manager: datasets.DownloadManager
    ) -> list[datasets.SplitGenerator]:
        splits = SPLITS[self.config.name]
        files = sorted({file for sources in splits.values() for file in sources})
        if self.config.data_dir:
            paths = {file: os.path.join(self.config.data_dir, file) for file in files}
        else:
            paths = dl_manager.download({file: SOURCES[file]["url"] for file in files})
        return [
            datasets.SplitGenerator(split, {"paths": {file: paths[file] for file in sources}})
            for split, sources in splits.items()
        ]

    def _generate_examples(self, paths: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
        if not self.config.data_dir:
            for file, path in paths.items():
                require_pinned(file, path)
        yield from rows(self.config.name, records(self.config.name, paths))


def require_pinned(source: str, path: str) -> None:
    """Raise ValueError if a downloaded file is not the one that `SOURCES` pins."""
    with open(path, "rb") as file:  # text mode cannot stream over http
        content = file.read()
    found = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    for kind, value in found.items():
        if value != (expected := SOURCES[source][kind]):
            raise ValueError(
                f"{source}: {kind} expected {expected}, found {value}; "
                "the download is damaged or upstream changed"
            )


# From file to rows ----------------------------------------------------------------------


def read(path: str, shape: Any, loads: Callable[[bytes], Any] = json.loads) -> Iterable[Any]:
    """Return the records of one upstream file, each of the given shape; the tracker as bytes."""
    with open(path, "rb") as file:
        content = file.read(MOST_BYTES + 1 if shape is word_counts else -1)
    return [content] if shape is word_counts else loads(content)


def records(
    config: str, paths: dict[str, str], read: Callable[[str, Any], Iterable[Any]] = read
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key and the record of each negotiation of a split; `paths` is by source.

    For `acts` a record is a negotiation with the word lists of the rules.
    """
    path = next(iter(paths.values()))
    contexts = contexts_of(paths, read) if config == "acts" else None
    for record in read(path, NEGOTIATION):
        roles = [kb["personal"]["Role"] for kb in record["scenario"]["kbs"]]
        if roles != ["buyer", "seller"]:  # `agent` of an event is an index into this list
            raise ValueError(
                f"{path}: {record['uuid']}: scenario.kbs: expected the roles "
                f"['buyer', 'seller'], found {roles}"
            )
        if contexts is None:
            yield record["uuid"], record
            continue
        if TRACKER not in paths:
            require_upstreams(record, contexts)
        yield record["uuid"], {"negotiation": record, "contexts": contexts}


def contexts_of(paths: dict[str, str], read: Callable[[str, Any], Iterable[Any]]) -> Contexts:
    """Return the word lists of the rules, or learn them again from train where they are missing."""
    if TRACKER in paths:
        (content,) = read(paths[TRACKER], word_counts)
        return read_contexts(content)
    return train_contexts(read(paths["train.json"], NEGOTIATION))


def require_upstreams(record: dict[str, Any], contexts: Contexts) -> None:
    """Raise ValueError if the rules give an event another act than upstream did.

    With the published lists they give every act of validation; lists that were learnt again must.
    """
    for turn, (event, act) in enumerate(zip(record["events"], acts(record, contexts), strict=True)):
        if stated := event.get("metadata"):
            found = {"intent": act.intent, "price": act.price}
            due = {"intent": stated["intent"], "price": stated.get("price")}
            if found != due:
                raise ValueError(
                    f"{record['uuid']}: events[{turn}]: expected upstream's act {due}, found "
                    f"{found}; word lists learnt from train.json do not do: get {TRACKER}"
                )


def rows(
    config: str, records: Iterable[tuple[str, dict[str, Any]]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key and each row that a config makes of records, given with their keys."""
    if view := VIEWS.get(config):
        yield from view(record for _, record in records)
    else:
        to_row = to_dialogue_row if config == "dialogues" else to_negotiation_row
        for key, record in records:
            yield key, to_row(record)


# From record to row and back ------------------------------------------------------------


def to_dialogue_row(record: dict[str, Any]) -> dict[str, Any]:
    """Return the documented row of a record, value for value what the old Hub script gave.

    Missing is "" or -1.0, lists of an item are joined by commas, and a dialogue act's price of
    zero is -1.0 too. One way only: the row does not hold the whole record.
    """
    kbs, events = record["scenario"]["kbs"], record["events"]
    sides, items = [kb["personal"] for kb in kbs], [kb["item"] for kb in kbs]
    acts = [event.get("metadata") or {} for event in events]
    return {
        "agent_info": {
            "Bottomline": [str(side["Bottomline"]) for side in sides],
            "Role": [side["Role"] for side in sides],
            "Target": [_to_float32(side["Target"]) for side in sides],
        },
        "agent_turn": [event["agent"] for event in events],
        "dialogue_acts": {
            "intent": [act.get("intent") or "" for act in acts],
            "price": [_to_float32(act.get("price") or -1.0) for act in acts],
        },
        "utterance": [e["data"] if e["action"] == "message" else "" for e in events],
        "items": {
            "Category": [item["Category"] for item in items],
            "Images": [",".join(item["Images"]) for item in items],
            "Price": [_to_float32(item["Price"] or -1.0) for item in items],
            "Description": [",".join(item["Description"]) for item in items],
            "Title": [item["Title"] for item in items],
        },
    }


def to_negotiation_row(record: dict[str, Any]) -> dict[str, Any]:
    """Return the full row of a record: typed, with null for what is missing."""
    outcome, scenario = record["outcome"], _floats(record["scenario"], "intersection")
    del scenario["attributes"]
    scenario["kbs"] = [
        {
            "personal": _floats(kb["personal"], "Target", "Bottomline"),
            "item": _floats(kb["item"], "Price"),
        }
        for kb in scenario["kbs"]
    ]
    return {
        "uuid": record["uuid"],
        "scenario_uuid": record["scenario_uuid"],
        "scenario": scenario,
        "agents": record["agents"],
        "outcome": {
            "reward": outcome["reward"],
            "offer": _floats(outcome.get("offer"), "price"),
            "offer_absent": "offer" not in outcome,
        },
        "events": [_to_event_row(event) for event in record["events"]],
        "parsed": "agents_info" in record,
    }


def _to_event_row(event: dict[str, Any]) -> dict[str, Any]:
    action, data = event["action"], event["data"]
    return {
        "agent": event["agent"],
        "action": action,
        "text": data if action == "message" else None,
        "offer": _floats(data, "price") if action == "offer" else None,
        "time": float(event["time"]),
        "start_time": None if event["start_time"] is None else float(event["start_time"]),
        "metadata": _floats(event.get("metadata"), "price"),
    }


def to_record(row: dict[str, Any]) -> dict[str, Any]:
    """Return the upstream record of a full row: the inverse of `to_negotiation_row`."""
    scenario = {**row["scenario"], "attributes": [dict(attribute) for attribute in ATTRIBUTES]}
    if scenario["intersection"] is None:
        del scenario["intersection"]
    outcome = dict(row["outcome"])
    if outcome.pop("offer_absent"):
        del outcome["offer"]
    record = {
        "uuid": row["uuid"],
        "scenario_uuid": row["scenario_uuid"],
        "scenario": scenario,
        "agents": row["agents"],
        "outcome": outcome,
        "events": [_to_event(event, row["parsed"]) for event in row["events"]],
    }
    return {**record, "agents_info": None} if row["parsed"] else record


def _to_event(row: dict[str, Any], parsed: bool) -> dict[str, Any]:
    action, act = row["action"], row["metadata"]
    event = {
        "agent": row["agent"],
        "action": action,
        "data": {"message": row["text"], "offer": row["offer"]}.get(action),
        "time": repr(row["time"]),
        "start_time": None if row["start_time"] is None else repr(row["start_time"]),
    }
    if not parsed:
        return event
    if act is not None and action not in ("message", "offer"):
        act = {"intent": act["intent"]}  # upstream gives these acts no price, not even null
    return {**event, "metadata": act}


def _floats(struct: Any, *names: str) -> Any:
    """Return the struct, if there is one, with these numbers as floats and null for missing."""
    if struct is None:
        return None
    numbers = {name: struct.get(name) for name in names}
    return {**struct, **{n: None if v is None else float(v) for n, v in numbers.items()}}


def _to_float32(value: float) -> float:
    return array("f", [value])[0]  # what a float32 column can hold exactly


# The configs that keep everything, each with the way back to the records of its sources, and the
# shape of such a record
TO_RECORD = {"negotiations": to_record}
RECORDS = {"negotiations": NEGOTIATION}
