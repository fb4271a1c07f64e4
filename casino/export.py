"""Write CaSiNo as a ConvoKit corpus, equal in content to ConvoKit's own casino-corpus."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from parley import Data
from parley.read import write_corpus

from .records import labelled
from .views import numbered

CORPUS = {
    "name": "Campsite Negotiation Dialogues",
    "dataset_url": "https://github.com/kushalchawla/CaSiNo",
    "paper_url": "https://aclanthology.org/2021.naacl-main.254/",
}


def convokit(data: Data, folder: Path) -> None:
    """Write the files that `convokit.Corpus(filename=folder)` opens."""
    records = (data.record("dialogues", row) for row in data.rows("dialogues", "train"))
    write_corpus(folder, CORPUS, conversations(records))


def conversations(records: Iterator[dict[str, Any]]) -> Iterator[Any]:
    """Yield the ids, the metadata and the utterances of each dialogue."""
    ids = map("utterance_{}".format, count())
    for record, speakers in numbered(records):
        about, sides = {"dialogue_id": record["dialogue_id"]}, record["participant_info"]
        said = []
        for _, entry, labels in labelled(record):
            speaker = {"speaker_id": speakers[entry["id"]]}
            person = speaker | kept(sides[entry["id"]], "demographics", "personality")
            marks = {"annotations": labels and ",".join(labels), "speaker_internal_id": entry["id"]}
            meta = {**entry["task_data"], **about, **marks, **speaker}
            said.append((speakers[entry["id"]], person, entry["text"], meta))
        known = {n: kept(s, "value2issue", "value2reason", "outcomes") for n, s in sides.items()}
        yield [next(ids) for _ in said], {**about, "participant_info": known}, said


def kept(side: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return these values of a side."""
    return {key: side[key] for key in keys}


EXPORTS = {"convokit": convokit}
