"""Checks of a DUO build, besides the checks of every dataset."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from statistics import mean
from typing import Any

from parley import Data, chat_of, check, differing, related_rows

Row = dict[str, Any]

# Dialogues -------------------------------------------------------------------------------


def every_row(data: Data) -> Iterator[tuple[str, str, Row]]:
    """Yield place, split and row of the dialogues of every built config."""
    for config in ("dialogues", "ed", "wow"):
        for split in data.splits(config):
            for dialogue in data.rows(config, split):
                yield f"{config}/{split} dialogue {dialogue['dialogue_id']}", split, dialogue


@check
def rows_stand_in_their_split(data: Data) -> Iterator[str]:
    """A dialogue's language is its split; its setting, by the record's shape, is its config's."""
    for place, split, dialogue in every_row(data):
        if dialogue["language"] != split:
            yield f"{place}: is in {dialogue['language']}"


@check
def ed_and_wow_make_up_dialogues(data: Data) -> Iterator[str]:
    """A split of `dialogues` holds the rows of `ed`, then those of `wow`."""
    for split in data.splits("dialogues"):
        if split in data.splits("ed") and split in data.splits("wow"):
            due = data.rows("ed", split) + data.rows("wow", split)
            yield from differing(f"dialogues/{split}", data.rows("dialogues", split), due)


@check
def dialogue_ids_are_unique(data: Data) -> Iterator[str]:
    """No two dialogues have the same id, over both languages and settings."""
    rows = data.rows("dialogues", *data.splits("dialogues"))
    for name, count in Counter(dialogue["dialogue_id"] for dialogue in rows).items():
        if count > 1:
            yield f"dialogue_id {name} stands {count} times"


@check
def means_follow_from_the_scores(data: Data) -> Iterator[str]:
    """Every objective mean is the mean of its three scores, rounded to two decimals."""
    for place, _, dialogue in every_row(data):
        objective = dialogue["objective_evaluation"] or {}
        for name, scores in objective.items():
            if name.endswith("_scores") and scores is not None:
                stated = objective[name.removesuffix("_scores")]
                if stated is None or round(mean(scores), 2) != stated:
                    yield f"{place}: {name} {scores} have not the mean {stated}"


@check
def a_person_talks_with_a_bot(data: Data) -> Iterator[str]:
    """Messages are numbered from 0, and those of a dialogue are one person's and one bot's."""
    for place, _, dialogue in every_row(data):
        numbers = [message["message_id"] for message in dialogue["dialogue"]]
        if numbers != list(range(len(numbers))):
            yield f"{place}: message_id runs {numbers}"
        ids = {(m["speaker"], m["user_id"], m["system_id"]) for m in dialogue["dialogue"]}
        if sorted(speaker for speaker, _, _ in ids) != ["Bot", "Human"]:
            yield f"{place}: the messages are of {sorted(map(str, ids))}"


@check
def a_system_is_a_model_with_a_prompt(data: Data) -> Iterator[str]:
    """A `system_id` stands for one model with one prompt in a language and setting."""
    systems: dict[tuple[str, ...], set[tuple[str, str]]] = defaultdict(set)
    for _, _, dialogue in every_row(data):
        for system in {m["system_id"] for m in dialogue["dialogue"]} - {None}:
            key = (dialogue["setting"], dialogue["language"], system)
            systems[key].add((dialogue["model"], dialogue["prompt"]))
    for (setting, language, system), found in systems.items():
        if len(found) > 1:
            yield f"system_id {system} of {setting} in {language} is {sorted(found)}"


# Views -----------------------------------------------------------------------------------


def about(dialogue: Row, *more: str) -> Row:
    """Return the columns about a dialogue in each view, and those only in some."""
    return {name: dialogue[name] for name in ("dialogue_id", "language", "setting", *more)}


@check
def utterances_are_the_turns(data: Data) -> Iterator[str]:
    """`utterances` holds each message of `dialogues` once, in order, with its other columns."""
    ids = ("message_id", "user_id", "system_id")
    for place, rows, dialogues in related_rows(data, "utterances", "dialogues"):
        due = [
            about(dialogue, "model", "prompt")
            | {"turn": turn, "speaker": message["speaker"], "text": message["message"]}
            | {name: message[name] for name in ids}
            for dialogue in dialogues
            for turn, message in enumerate(dialogue["dialogue"])
        ]
        yield from differing(place, rows, due)


def scores(dialogue: Row) -> Iterator[Row]:
    """Yield the scores of a dialogue, the person's before the annotators'."""
    for aspect, score in dialogue["subjective_evaluation"].items():
        if score is not None:
            yield {"source": "subjective", "aspect": aspect, "annotator": None, "score": score}
    for name, three in (dialogue["objective_evaluation"] or {}).items():
        if name.endswith("_scores"):
            for annotator, score in enumerate(three or ()):
                aspect = name.removesuffix("_scores")
                found = {"aspect": aspect, "annotator": annotator, "score": score}
                yield {"source": "objective", **found}


@check
def ratings_are_the_scores(data: Data) -> Iterator[str]:
    """`ratings` holds each score of `dialogues` once, in order, with its other columns."""
    for place, rows, dialogues in related_rows(data, "ratings", "dialogues"):
        due = [about(dialogue) | score for dialogue in dialogues for score in scores(dialogue)]
        yield from differing(place, rows, due)


@check
def messages_are_the_dialogues(data: Data) -> Iterator[str]:
    """`messages` holds each dialogue once, in order, as a chat, with the person's scores."""
    roles = {"Human": "user", "Bot": "assistant"}
    for place, rows, dialogues in related_rows(data, "messages", "dialogues"):
        due = [
            about(dialogue, "model")
            | {"prompt_style": dialogue["prompt"]}
            | dialogue["subjective_evaluation"]
            | chat_of((roles[turn["speaker"]], turn["message"]) for turn in dialogue["dialogue"])
            for dialogue in dialogues
        ]
        yield from differing(place, rows, due)
