"""The ConvoKit export of CaSiNo, held against upstream's own file."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from parley.collection import get
from parley.exports.export import export
from parley.folder.built import open_folder

casino = get("casino")
FILES = ["conversations.json", "corpus.json", "index.json", "speakers.json", "utterances.jsonl"]


@pytest.fixture(scope="module")
def sample(sample_build, tmp_path_factory):
    """The records of the sample, and their export."""
    return exported(sample_build, casino.sample, tmp_path_factory.mktemp("convokit") / "corpus")


@pytest.fixture(scope="module")
def real(source, real_build, tmp_path_factory):
    """The records of upstream's file, and their export."""
    return exported(real_build, source / "casino", tmp_path_factory.mktemp("convokit") / "corpus")


def exported(build: Path, root: Path, folder: Path) -> tuple[list[Any], dict[str, Any]]:
    written = export(open_folder(build / "casino"), "convokit", folder)
    assert set(written) - {"SAMPLE.txt"} == set(FILES)
    corpus = {name: json.loads((folder / name).read_text()) for name in FILES[:-1]}
    lines = (folder / FILES[-1]).read_text(encoding="ascii").splitlines()
    corpus["utterances.jsonl"] = [json.loads(line) for line in lines]
    return json.loads((root / "data/casino.json").read_bytes()), corpus


def test_the_sample_is_what_upstream_says(sample):
    assert_content(*sample)


def test_the_real_data_is_what_upstream_says(real):
    records, corpus = real
    assert_content(records, corpus)
    assert len(corpus["utterances.jsonl"]) == 14_297
    assert len(corpus["speakers.json"]) == 846
    assert len(corpus["conversations.json"]) == 1_030
    annotations = [u["meta"]["annotations"] for u in corpus["utterances.jsonl"]]
    assert sum(a is not None for a in annotations) == 4_615
    assert annotations.count("small-talk,self-need,,vouch-fair") == 1
    keys = Counter(key for u in corpus["utterances.jsonl"] for key in u["meta"])
    assert (keys["data"], keys["issue2youget"], keys["issue2theyget"]) == (1197, 1181, 1181)
    speakers = corpus["speakers.json"].values()
    assert sum(s["meta"]["demographics"]["gender"] == "female" for s in speakers) == 472


def assert_content(records: list[Any], corpus: dict[str, Any]) -> None:
    """Hold every utterance, speaker and conversation against upstream's records."""
    utterances = iter(corpus["utterances.jsonl"])
    number = 0
    seen: dict[str, str] = {}
    for record in records:
        sides = record["participant_info"]
        first = f"utterance_{number}"
        ids = {}
        for name in ("mturk_agent_1", "mturk_agent_2"):
            person = [sides[name]["demographics"], sides[name]["personality"]]
            ids[name] = seen.setdefault(json.dumps(person, sort_keys=True), f"speaker_{len(seen)}")
            assert corpus["speakers.json"][ids[name]] == {
                "meta": {
                    "speaker_id": ids[name],
                    "demographics": person[0],
                    "personality": person[1],
                },
                "vectors": [],
            }
        kept = ("value2issue", "value2reason", "outcomes")
        assert corpus["conversations.json"][first] == {
            "meta": {
                "dialogue_id": record["dialogue_id"],
                "participant_info": {
                    name: {key: side[key] for key in kept} for name, side in sides.items()
                },
            },
            "vectors": [],
        }
        annotated = []
        for turn, entry in enumerate(record["chat_logs"]):
            utterance = next(utterances)
            labels = utterance["meta"].pop("annotations")
            if labels is not None:
                assert not entry["task_data"]
                annotated.append([utterance["text"], labels])
            assert utterance == {
                "id": f"utterance_{number}",
                "conversation_id": first,
                "text": entry["text"],
                "speaker": ids[entry["id"]],
                "meta": {
                    **entry["task_data"],
                    "dialogue_id": record["dialogue_id"],
                    "speaker_internal_id": entry["id"],
                    "speaker_id": ids[entry["id"]],
                },
                "reply-to": f"utterance_{number - 1}" if turn else None,
                "timestamp": None,
                "vectors": [],
            }
            utterance["meta"]["annotations"] = labels
            number += 1
        assert annotated == record["annotations"]
    assert next(utterances, None) is None
    assert len(corpus["conversations.json"]) == len(records)
    assert corpus["speakers.json"].keys() == set(seen.values())


def test_the_speakers_of_the_sample(sample):
    _, corpus = sample
    # 2001 opens with agent 2, but agent 1 is the first; it comes again in 2003, as agent 2
    assert [u["speaker"] for u in corpus["utterances.jsonl"][:2]] == ["speaker_1", "speaker_0"]
    last_of_2003 = corpus["utterances.jsonl"][13 + 12 + 10]
    assert (last_of_2003["text"], last_of_2003["speaker"]) == ("Walk-Away", "speaker_0")
    assert last_of_2003["meta"]["annotations"] is None


def test_the_empty_label_stands_as_published(sample):
    _, corpus = sample
    found = [u["meta"]["annotations"] for u in corpus["utterances.jsonl"]]
    assert "no-need,other-need,,promote-coordination" in found


def test_the_index_names_each_metadata_field_and_its_type(sample):
    _, corpus = sample
    index = corpus["index.json"]
    assert (index["version"], index["vectors"]) == (2, [])
    components = {
        "utterances-index": [u["meta"] for u in corpus["utterances.jsonl"]],
        "speakers-index": [s["meta"] for s in corpus["speakers.json"].values()],
        "conversations-index": [c["meta"] for c in corpus["conversations.json"].values()],
        "overall-index": [corpus["corpus.json"]],
    }
    for name, metas in components.items():
        types: dict[str, set[str]] = {}
        for meta in metas:
            for key, value in meta.items():
                types.setdefault(key, set()).update([] if value is None else [str(type(value))])
        assert index[name] == {key: sorted(found) for key, found in types.items()}, name
    assert index.keys() == {*components, "version", "vectors"}


def test_the_corpus_says_where_it_is_from(sample):
    _, corpus = sample
    assert corpus["corpus.json"] == {
        "name": "Campsite Negotiation Dialogues",
        "dataset_url": "https://github.com/kushalchawla/CaSiNo",
        "paper_url": "https://aclanthology.org/2021.naacl-main.254/",
    }
