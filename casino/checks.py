"""What must hold of every build of CaSiNo.

The views are recomputed from the built `dialogues`, by another way than `views.py` made them.
"""

from collections import defaultdict
from collections.abc import Iterator
from math import ceil
from typing import Any

from parley import Data, chat_of, check, differing

from .figures import DEALS, final_items, identity, potential
from .scenarios import ISSUES, POINTS, SIDES, points_of

# What the checks are computed from -------------------------------------------------------


def rows_of(data: Data, config: str) -> list[dict[str, Any]]:
    """The rows of a config with the names of labels; none where its source was missing."""
    return data.named(config, *data.splits(config))


def dialogues_of(data: Data) -> dict[int, dict[str, Any]]:
    """The dialogues by their id."""
    return {dialogue["dialogue_id"]: dialogue for dialogue in rows_of(data, "dialogues")}


def sides_of(data: Data) -> Iterator[tuple[int, dict[str, Any], str, str]]:
    """Each side of each dialogue: id, dialogue, side, and participant as they first come."""
    known: dict[str, str] = {}
    for number, dialogue in dialogues_of(data).items():
        for side in SIDES:
            who = identity(dialogue["participant_info"][side])
            yield number, dialogue, side, known.setdefault(who, f"speaker_{len(known)}")


def integers(items: dict[str, str] | None) -> dict[str, int] | None:
    """Items as numbers."""
    return {issue: int(items[issue]) for issue in ISSUES} if items else None


def flat(side: dict[str, Any]) -> dict[str, Any]:
    """The columns that describe a participant."""
    traits = side["personality"]["big-five"]
    return {
        **side["demographics"],
        "svo": side["personality"]["svo"],
        **{trait.replace("-", "_"): traits[trait] for trait in traits},
    }


DECISIONS = {
    "accept_deal": "[I accept the deal.]",
    "reject_deal": "[I reject the deal.]",
    "walk_away": "[I walk away.]",
}


def in_words(entry: dict[str, Any]) -> str:
    """A chat entry as `messages` has to say it."""
    action = entry["task_data"]
    if action["data"]:
        return DECISIONS[action["data"]]
    if not action["issue2youget"]:
        return str(entry["text"])
    mine, yours = (
        "{Food} food, {Water} water, {Firewood} firewood".format(**action[f"issue2{who}get"])
        for who in ("you", "they")
    )
    return f"[I submit a deal: I get {mine}; you get {yours}.]"


# The checks ------------------------------------------------------------------------------


@check
def official_split_is_a_partition(data: Data) -> Iterator[str]:
    """The official split holds each dialogue of `dialogues` once, with equal content."""
    if len(data.splits("official_split")) < 3 or not data.splits("dialogues"):
        return  # some were not built
    rows = sorted(rows_of(data, "official_split"), key=lambda row: str(row["dialogue_id"]))
    due = sorted(rows_of(data, "dialogues"), key=lambda row: str(row["dialogue_id"]))
    yield from differing("official_split, sorted", rows, due)


@check
def utterances_are_the_chat_entries(data: Data) -> Iterator[str]:
    """Rows of `utterances` are the chat entries, in order, with their speaker, deal and ids."""
    speakers = {(number, side): speaker for number, _, side, speaker in sides_of(data)}
    due: list[dict[str, Any]] = []
    for number, dialogue in dialogues_of(data).items():
        first = len(due)
        for turn, entry in enumerate(dialogue["chat_logs"]):
            due.append(
                {
                    "dialogue_id": number,
                    "turn": turn,
                    "speaker": entry["id"],
                    "text": entry["text"],
                    "id": f"utterance_{len(due)}",
                    "conversation_id": f"utterance_{first}",
                    "reply_to": f"utterance_{len(due) - 1}" if turn else None,
                    "speaker_id": speakers[number, entry["id"]],
                    "speaker_internal_id": entry["id"],
                    "data": entry["task_data"]["data"],
                    "issue2youget": integers(entry["task_data"]["issue2youget"]),
                    "issue2theyget": integers(entry["task_data"]["issue2theyget"]),
                }
            )
    yield from differing("utterances", rows_of(data, "utterances"), due)


@check
def annotations_find_their_utterances(data: Data) -> Iterator[str]:
    """`utterances` and `strategies` have each annotation of a dialogue, in order, and no other."""
    for config, column in (("utterances", "annotations"), ("strategies", "labels")):
        labelled = defaultdict(list)
        for row in rows_of(data, config):
            if row[column] is not None:
                labelled[row["dialogue_id"]].append((row["text"], row[column]))
        for number, dialogue in dialogues_of(data).items():
            found = labelled[number]
            if any(text in DEALS for text, _ in found):
                yield f"{config}: a deal action of dialogue {number} has labels"
            if found != [
                (text, [label for label in labels.split(",") if label])  # one of them is empty
                for text, labels in dialogue["annotations"]
            ]:
                yield f"{config}: the labels of dialogue {number} are not its annotations"


@check
def speakers_are_the_participants(data: Data) -> Iterator[str]:
    """Rows of `speakers` are the people, as first seen, with the dialogues each takes part in."""
    due: dict[str, dict[str, Any]] = {}
    for _, dialogue, side, speaker in sides_of(data):
        person = flat(dialogue["participant_info"][side])
        row = due.setdefault(speaker, {"speaker_id": speaker, **person, "dialogues": 0})
        row["dialogues"] += 1
    yield from differing("speakers", rows_of(data, "speakers"), [*due.values()])


def side_due(number: int, dialogue: dict[str, Any], name: str, speaker: str) -> dict[str, Any]:
    """What `participants`, and `messages` in part, have to say of a side."""
    side = dialogue["participant_info"][name]
    (partner,) = (dialogue["participant_info"][other] for other in SIDES if other != name)
    items = final_items(dialogue)[name]
    got = items or dict.fromkeys(ISSUES)
    return {
        "dialogue_id": number,
        "speaker": name,
        "speaker_id": speaker,
        **{f"priority_{k.lower()}": v for k, v in side["value2issue"].items()},
        **{f"reason_{k.lower()}": v for k, v in side["value2reason"].items()},
        "integrative_potential": (36, 39, 42).index(potential(dialogue)) + 1,
        **{f"{issue.lower()}_got": got[issue] for issue in ISSUES},
        "deal": items is not None,
        **side["outcomes"],
        "points_scored": points_of(side["value2issue"], items),
        **{f"partner_{key}": value for key, value in partner["outcomes"].items()},
        **flat(side),
    }


@check
def participants_follow_from_their_dialogues(data: Data) -> Iterator[str]:
    """A side's columns are its dialogue's, its points those of the items it got, guesses items."""
    if not (rows := rows_of(data, "participants")):
        return  # its guesses were missing
    yield from differing("participants", rows, [side_due(*side) for side in sides_of(data)])
    for number, row in enumerate(rows):
        for column in ("guess_partner_highest_item", "guess_partner_lowest_item"):
            if row[column] not in ISSUES:
                yield f"participants[{number}].{column}: expected an item, found {row[column]!r}"


@check
def strategies_stand_in_their_dialogues(data: Data) -> Iterator[str]:
    """A row of `strategies` is its turn, after the three utterances before it, in its fold.

    The folds cut the annotated dialogues, in their order, into five pieces as equal as can be.
    """
    said = {
        number: [{"speaker": entry["id"], "text": entry["text"]} for entry in dialogue["chat_logs"]]
        for number, dialogue in dialogues_of(data).items()
    }
    folds: dict[int, int] = {}
    rest = [number for number, dialogue in dialogues_of(data).items() if dialogue["annotations"]]
    for fold in range(5):
        size = ceil(len(rest) / (5 - fold))
        folds |= dict.fromkeys(rest[:size], fold)
        rest = rest[size:]
    rows = rows_of(data, "strategies")
    due = []
    for row in rows:
        chat, turn = said[row["dialogue_id"]], row["turn"]
        context = [entry for entry in chat[:turn] if entry["text"] not in DEALS][-3:]
        due.append({**chat[turn], "context": context, "fold": folds[row["dialogue_id"]]})
    yield from differing("strategies", rows, due)


@check
def messages_say_what_was_said(data: Data) -> Iterator[str]:
    """A chat tells the system what this side knows, then every turn as it was, each side's own."""
    rows, due = rows_of(data, "messages"), []
    columns = data.features("messages")
    for each in sides_of(data):
        _, dialogue, side, _ = each
        chat = chat_of(
            ("assistant" if entry["id"] == side else "user", in_words(entry))
            for entry in dialogue["chat_logs"]
        )
        due.append({c: v for c, v in side_due(*each).items() if c in columns} | chat)
    talk = [row | {name: row[name][1:] for name in ("messages", "source_turns")} for row in rows]
    yield from differing("messages", talk, due)
    for number, (row, (_, dialogue, name, _)) in enumerate(zip(rows, sides_of(data), strict=False)):
        system, side = row["messages"][0], dialogue["participant_info"][name]
        for level, issue in side["value2issue"].items():
            worth, reason = f"({POINTS[level]} points a package)", side["value2reason"][level]
            known = f"{level.lower()} priority is {issue.lower()} {worth}: {reason}"
            if system["role"] != "system" or known not in system["content"]:
                yield f"messages[{number}]: the system message lacks the {level.lower()} priority"


@check
def scenarios_are_what_was_negotiated(data: Data) -> Iterator[str]:
    """A scenario is its dialogue's two sides, and its points give the scores that they reached."""
    rows, dialogues = rows_of(data, "scenarios"), [*dialogues_of(data).values()]
    yield from differing("scenarios", rows, [scenario_due(dialogue) for dialogue in dialogues])
    for number, (row, dialogue) in enumerate(zip(rows, dialogues, strict=False)):
        for name, items in final_items(dialogue).items():
            side = dialogue["participant_info"][name]
            worth = {issue: row["points"][level] for level, issue in side["value2issue"].items()}
            score = sum(worth[issue] * count for issue, count in (items or {}).items())
            found = row["points_after_walking_away"] if items is None else score
            if found != (points := side["outcomes"]["points_scored"]):
                yield f"scenarios[{number}]: expected points that give {name} {points}, not {found}"


def scenario_due(dialogue: dict[str, Any]) -> dict[str, Any]:
    """What `scenarios` has to say of a dialogue."""
    known = ("value2issue", "value2reason")
    return {
        "dialogue_id": dialogue["dialogue_id"],
        **{name: {key: dialogue["participant_info"][name][key] for key in known} for name in SIDES},
        "packages": {"Food": 3, "Water": 3, "Firewood": 3},
        "points": {"High": 5, "Medium": 4, "Low": 3},
        "points_after_walking_away": 5,
    }


@check
def priority_folds_are_partitions(data: Data) -> Iterator[str]:
    """A fold has each dialogue in one part of three; over the folds each is tested once."""
    rows, known = rows_of(data, "priority_folds"), sorted(dialogues_of(data))
    if not rows or not known:
        return  # one of them was not built
    yield from differing("priority_folds", rows, [{"fold": fold} for fold in range(5)])
    for number, row in enumerate(rows):
        if sorted([*row["train"], *row["validation"], *row["test"]]) != known:
            yield f"priority_folds[{number}]: expected each dialogue once in its three parts"
    if sorted(dialogue for row in rows for dialogue in row["test"]) != known:
        yield "priority_folds: expected each dialogue in one test part"
