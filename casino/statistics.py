"""CaSiNo's documented figures, in the order of the documents, each with its computation.

paper: Chawla et al., NAACL 2021. ConvoKit: the corpus card of casino-corpus.
"""

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from operator import mul
from statistics import correlation, mean, stdev
from typing import Any

from parley.figures import Data, Known, check, documented
from parley.shapes import problems

SIDES = ("mturk_agent_1", "mturk_agent_2")
DEALS = ("Submit-Deal", "Accept-Deal", "Reject-Deal", "Walk-Away")
ISSUES = ("Food", "Water", "Firewood")
POINTS = {"High": 5, "Medium": 4, "Low": 3}
WALKED_AWAY = 5  # points for both
SATISFACTION = (
    "Extremely dissatisfied",
    "Slightly dissatisfied",
    "Undecided",
    "Slightly satisfied",
    "Extremely satisfied",
)
LIKENESS = (
    "Extremely dislike",
    "Slightly dislike",
    "Undecided",
    "Slightly like",
    "Extremely like",
)

# What the figures are computed from ------------------------------------------------------


def dialogues(data: Data) -> list[dict[str, Any]]:
    """All 1,030 dialogues."""
    return data.rows("dialogues", "train")


def annotated(data: Data) -> list[dict[str, Any]]:
    """The dialogues with strategy labels."""
    return [dialogue for dialogue in dialogues(data) if dialogue["annotations"]]


def utterances(data: Data) -> list[dict[str, Any]]:
    """The chat entries that are not deal actions."""
    return [e for d in dialogues(data) for e in d["chat_logs"] if e["text"] not in DEALS]


def spoken(dialogue: dict[str, Any]) -> int:
    """The number of a dialogue's chat entries that are not deal actions."""
    return sum(entry["text"] not in DEALS for entry in dialogue["chat_logs"])


def label_sets(data: Data) -> list[set[str]]:
    """The labels of each annotated utterance."""
    return [
        set(labels.split(",")) - {""} for d in annotated(data) for _, labels in d["annotations"]
    ]


def identity(side: dict[str, Any]) -> str:
    """Who a side is, as far as the data tells: the demographics and the personality."""
    return json.dumps([side["demographics"], side["personality"]], sort_keys=True)


def people(data: Data) -> list[dict[str, Any]]:
    """The participants, each once."""
    sides = (d["participant_info"][side] for d in dialogues(data) for side in SIDES)
    return list({identity(side): side for side in sides}.values())


def worth(side: dict[str, Any], items: dict[str, str]) -> int:
    """The points of a side for the items it gets."""
    return sum(POINTS[level] * int(items[issue]) for level, issue in side["value2issue"].items())


def final_items(dialogue: dict[str, Any]) -> dict[str, dict[str, str]] | None:
    """What each side gets in the end: the last deal submitted; None after walking away."""
    entries = dialogue["chat_logs"]
    if entries[-1]["task_data"]["data"] == "walk_away":
        return None
    deal = [e for e in entries if e["task_data"]["issue2youget"]][-1]
    theirs = SIDES[1 - SIDES.index(deal["id"])]
    return {
        deal["id"]: deal["task_data"]["issue2youget"],
        theirs: deal["task_data"]["issue2theyget"],
    }


def potential(dialogue: dict[str, Any]) -> int:
    """The most points that both sides can reach together."""
    first, second = (dialogue["participant_info"][side]["value2issue"] for side in SIDES)
    mine = {issue: POINTS[level] for level, issue in first.items()}
    theirs = {issue: POINTS[level] for level, issue in second.items()}
    return sum(3 * max(mine[issue], theirs[issue]) for issue in ISSUES)


def outcomes(data: Data) -> dict[str, list[float]]:
    """The six variables of Table 7 over all sides; P. is the partner's."""
    columns: dict[str, list[float]] = {}
    for dialogue in dialogues(data):
        sides = [dialogue["participant_info"][side]["outcomes"] for side in SIDES]
        for prefix, order in (("", sides), ("P.", sides[::-1])):
            for side in order:
                for name, value in (
                    ("Points-Scored", side["points_scored"]),
                    ("Satisfaction", SATISFACTION.index(side["satisfaction"])),
                    ("Opp-Likeness", LIKENESS.index(side["opponent_likeness"])),
                ):
                    columns.setdefault(prefix + name, []).append(value)
    return columns


# Section 2: the dataset ------------------------------------------------------------------


@documented(1030, "paper, abstract and section 2; ConvoKit, statistics")
def number_of_dialogues(data: Data) -> int:
    """Rows of `dialogues`."""
    return len(dialogues(data))


@documented(846, "paper, section 2 and appendix A; ConvoKit, statistics")
def number_of_participants(data: Data) -> int:
    """Distinct pairs of demographics and personality."""
    return len(people(data))


@documented("11.6", "paper, section 2, Data Collection")
def utterances_per_dialogue(data: Data) -> float:
    """Chat entries without the deal actions, a dialogue."""
    return len(utterances(data)) / len(dialogues(data))


@documented(
    10,
    "paper, section 2, Negotiation Dialogue: at least 10 utterances",
    differs=Known(
        6, "the paper does not say why; it removed irrelevant utterances from a few (appendix C)"
    ),
)
def fewest_utterances(data: Data) -> int:
    """Chat entries without the deal actions of the shortest dialogue."""
    return min(map(spoken, dialogues(data)))


@documented({"deal actions left out": 4, "deal actions counted": 2}, "our card, Known limits")
def dialogues_under_ten_utterances(data: Data) -> dict[str, int]:
    """Dialogues with fewer than the documented minimum of 10 chat entries."""
    return {
        "deal actions left out": sum(spoken(d) < 10 for d in dialogues(data)),
        "deal actions counted": sum(len(d["chat_logs"]) < 10 for d in dialogues(data)),
    }


@documented("22", "paper, section 2, Data Collection; ConvoKit, statistics")
def tokens_per_utterance(data: Data) -> float:
    """Mean number of Moses tokens of a chat entry, without the deal actions."""
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(lang="en")
    return mean(len(tokenizer.tokenize(e["text"], escape=False)) for e in utterances(data))


@documented(
    {"items of each kind": 3, "high": 5, "medium": 4, "low": 3, "at most": 36},
    "paper, section 2, Preparation Phase and Negotiation Dialogue",
)
def points(data: Data) -> dict[str, int]:
    """Items shared out in every deal, and the points of a high, medium and low item.

    The points are those, from 1 to 9, that explain the score of every side that made a deal.
    """
    totals, scores = set(), set()
    for dialogue in dialogues(data):
        if items := final_items(dialogue):
            totals |= {sum(int(items[side][issue]) for side in SIDES) for issue in ISSUES}
            for name in SIDES:
                side = dialogue["participant_info"][name]
                counts = [int(items[name][side["value2issue"][level]]) for level in POINTS]
                scores.add((*counts, side["outcomes"]["points_scored"]))
    (each,) = totals
    ((high, medium, low),) = (
        worths
        for worths in product(range(1, 10), repeat=3)
        if all(sum(map(mul, counts, worths)) == score for *counts, score in scores)
    )
    most = each * (high + medium + low)
    return {
        "items of each kind": each,
        "high": high,
        "medium": medium,
        "low": low,
        "at most": most,
    }


@documented(5, "paper, section 2, Data Collection")
def points_after_walking_away(data: Data) -> int:
    """Points of both sides of every dialogue that ends with Walk-Away."""
    (found,) = {
        side["outcomes"]["points_scored"]
        for dialogue in dialogues(data)
        if final_items(dialogue) is None
        for side in dialogue["participant_info"].values()
    }
    return int(found)


@documented(2060, "paper, section 2: two sides of 1,030 dialogues, scored by these points")
def sides_whose_points_follow_from_the_deal(data: Data) -> int:
    """Sides whose points are those of the items they got, or 5 after Walk-Away."""
    count = 0
    for dialogue in dialogues(data):
        items = final_items(dialogue)
        for name in SIDES:
            side = dialogue["participant_info"][name]
            due = WALKED_AWAY if items is None else worth(side, items[name])
            count += due == side["outcomes"]["points_scored"]
    return count


# Section 3 and Table 2: strategy annotations ---------------------------------------------


@documented(396, "paper, section 3, Collecting annotations; ConvoKit, statistics")
def annotated_dialogues(data: Data) -> int:
    """Dialogues with strategy labels."""
    return len(annotated(data))


@documented(4615, "paper, section 3, Collecting annotations")
def annotated_utterances(data: Data) -> int:
    """Utterances with strategy labels."""
    return len(label_sets(data))


@documented(
    "4e1", "paper, section 5, In-Domain Pre-Training; ConvoKit, utterance-level information"
)
def percent_annotated(data: Data) -> float:
    """Annotated dialogues in a hundred; the documents say nearly, or about, 40."""
    return 100 * len(annotated(data)) / len(dialogues(data))


LABELS = {
    "Small-Talk": "small-talk",
    "Empathy": "showing-empathy",
    "Coordination": "promote-coordination",
    "No-Need": "no-need",
    "Elicit-Pref": "elicit-pref",
    "Undervalue-Partner": "uv-part",
    "Vouch-Fairness": "vouch-fair",
    "Self-Need": "self-need",
    "Other-Need": "other-need",
    "Non-strategic": "non-strategic",
}


@documented(
    {
        "Small-Talk": 1054,
        "Empathy": 254,
        "Coordination": 579,
        "No-Need": 196,
        "Elicit-Pref": 377,
        "Undervalue-Partner": 131,
        "Vouch-Fairness": 439,
        "Self-Need": 964,
        "Other-Need": 409,
        "Non-strategic": 1455,
    },
    "paper, Table 2, Count",
)
def strategy_counts(data: Data) -> dict[str, int]:
    """Utterances that carry the label."""
    counts = Counter(label for labels in label_sets(data) for label in labels)
    return {name: counts[label] for name, label in LABELS.items()}


@documented(
    {
        "Small-Talk": "0.81",
        "Empathy": "0.42",
        "Coordination": "0.42",
        "No-Need": "0.77",
        "Elicit-Pref": "0.77",
        "Undervalue-Partner": "0.72",
        "Vouch-Fairness": "0.62",
        "Self-Need": "0.75",
        "Other-Need": "0.89",
    },
    "paper, Table 2, alpha",
    not_reproducible="the labels of the single annotators were not released",
)
def krippendorff_alpha(data: Data) -> None:
    """Krippendorff's alpha of three annotators on ten dialogues."""


# Section 4: correlational analysis -------------------------------------------------------


@documented(
    {"low": 36, "medium": 39, "high": 42},
    "paper, section 4, Discovering the integrative potential",
)
def joint_points_at_most(data: Data) -> dict[str, int]:
    """The most joint points that the two priority orders allow: its three values in the data."""
    return dict(
        zip(("low", "medium", "high"), sorted(set(map(potential, dialogues(data)))), strict=True)
    )


@documented(".425", "paper, section 4, Discovering the integrative potential")
def potential_and_joint_points(data: Data) -> float:
    """Pearson's r of the integrative potential, 1 to 3, and joint points, annotated dialogues."""
    joint = [
        sum(side["outcomes"]["points_scored"] for side in d["participant_info"].values())
        for d in annotated(data)
    ]
    levels = {
        most: level for level, most in enumerate(sorted(set(map(potential, dialogues(data)))))
    }
    return correlation([levels[potential(d)] for d in annotated(data)], joint)


# Section 5 and Table 3: strategy prediction ----------------------------------------------


@documented(
    "39.4",
    "paper, section 5, Results",
    differs=Known(
        "39.5", "the paper's is a mean over five folds that were not published; why is not known"
    ),
)
def majority_joint_accuracy(data: Data) -> float:
    """Annotated utterances, in a hundred, with none of the seven strategies of the task."""
    left_out = {"non-strategic", "showing-empathy", "promote-coordination"}
    return 100 * mean(labels <= left_out for labels in label_sets(data))


# Appendix A: the participants ------------------------------------------------------------


def ages(data: Data) -> list[int]:
    """The participants' ages, without the one who gave 3, as in the paper."""
    return [age for p in people(data) if (age := p["demographics"]["age"]) != 3]


@documented("36.97", "paper, appendix A")
def age_mean(data: Data) -> float:
    """Mean age of the participants, without the one who gave the age 3."""
    return mean(ages(data))


@documented("10.81", "paper, appendix A")
def age_sd(data: Data) -> float:
    """Standard deviation of the age, without the one who gave the age 3."""
    return stdev(ages(data))


@documented({"female": 472, "male": 372, "other": 2}, "paper, appendix A")
def gender(data: Data) -> Counter[str]:
    """Participants by gender."""
    return Counter(p["demographics"]["gender"] for p in people(data))


@documented(625, "paper, appendix A")
def white_american(data: Data) -> int:
    """Participants who identify as White American."""
    return sum(p["demographics"]["ethnicity"] == "white american" for p in people(data))


@documented(346, "paper, appendix A")
def four_year_bachelor(data: Data) -> int:
    """Participants with a bachelor's degree of a four-year college."""
    degree = "some 4 year college, bachelor's degree"
    return sum(p["demographics"]["education"] == degree for p in people(data))


@documented({"proself": 364, "prosocial": 463, "unclassified": 19}, "paper, appendix A")
def social_value_orientation(data: Data) -> Counter[str]:
    """Participants by social value orientation."""
    return Counter(p["personality"]["svo"] for p in people(data))


@documented(
    {
        "agreeableness": "5.27",
        "conscientiousness": "5.6",
        "emotional-stability": "4.91",
        "extraversion": "3.69",
        "openness-to-experiences": "5.04",
    },
    "paper, appendix A",
)
def big_five(data: Data) -> dict[str, float]:
    """Mean of the trait over the participants, 1 to 7."""
    traits = people(data)[0]["personality"]["big-five"]
    return {t: mean(p["personality"]["big-five"][t] for p in people(data)) for t in traits}


# Appendix E, Table 7: correlations of the outcomes ----------------------------------------


@documented(
    {
        "Points-Scored, Satisfaction": ".376",
        "Points-Scored, Opp-Likeness": ".276",
        "Satisfaction, Opp-Likeness": ".702",
        "P.Points-Scored, Points-Scored": "-.092",
        "P.Points-Scored, Satisfaction": ".105",
        "P.Points-Scored, Opp-Likeness": ".132",
        "P.Satisfaction, Satisfaction": ".180",
        "P.Satisfaction, Opp-Likeness": ".244",
        "P.Opp-Likeness, Opp-Likeness": ".344",
    },
    "paper, Table 7",
)
def outcome_correlations(data: Data) -> dict[str, float]:
    """Pearson's r of two outcomes over all sides; P. is the partner's, levels count 0 to 4."""
    columns = outcomes(data)
    names = ("Points-Scored", "Satisfaction", "Opp-Likeness")
    pairs = [(names[0], names[1]), (names[0], names[2]), (names[1], names[2])]
    pairs += [(f"P.{a}", b) for n, a in enumerate(names) for b in names[n:]]
    return {f"{a}, {b}": correlation(columns[a], columns[b]) for a, b in pairs}


# ConvoKit's card -------------------------------------------------------------------------


@documented(14297, "ConvoKit, utterance-level information and statistics")
def chat_entries(data: Data) -> int:
    """Chat entries, deal actions included."""
    return sum(len(dialogue["chat_logs"]) for dialogue in dialogues(data))


# The official split ----------------------------------------------------------------------


@documented({"test": 167, "validation": 58}, "our card, Known limits")
def participants_of(data: Data) -> dict[str, int]:
    """Participants of a split of `official_split`."""
    return {split: len(who(data, split)) for split in ("test", "validation")}


@documented({"test": 116, "validation": 45}, "our card, Known limits")
def participants_also_in_train(data: Data) -> dict[str, int]:
    """Of these, participants that the train split has too."""
    return {s: len(who(data, s) & who(data, "train")) for s in ("test", "validation")}


def who(data: Data, split: str) -> set[str]:
    """The participants of a split of `official_split`."""
    rows = data.rows("official_split", split)
    return {identity(d["participant_info"][side]) for d in rows for side in SIDES}


# The views --------------------------------------------------------------------------------


@documented({"utterances": 14297, "speakers": 846}, "ConvoKit, statistics")
def rows_that_convokit_counts(data: Data) -> dict[str, int]:
    """Rows of the view."""
    return {name: len(data.rows(name, "train")) for name in ("utterances", "speakers")}


@documented({"participants": 2060, "strategies": 4615, "messages": 2060}, "our card, Splits")
def rows_of_the_other_views(data: Data) -> dict[str, int]:
    """Rows of the view."""
    views = ("participants", "strategies", "messages")
    return {name: len(data.rows(name, "train")) for name in views}


@documented(
    {
        "Small-Talk": 1054,
        "Empathy": 254,
        "Coordination": 579,
        "No-Need": 196,
        "Elicit-Pref": 377,
        "Undervalue-Partner": 131,
        "Vouch-Fairness": 439,
        "Self-Need": 964,
        "Other-Need": 409,
        "Non-strategic": 1455,
    },
    "paper, Table 2, Count",
)
def labels_of_strategies(data: Data) -> dict[str, int]:
    """Rows of `strategies` that carry the label."""
    counts = Counter(label for row in view(data, "strategies") for label in set(row["labels"]))
    return {name: counts[label] for name, label in LABELS.items()}


@documented({"0": 913, "1": 937, "2": 909, "3": 959, "4": 897}, "our card, Splits")
def fold_sizes(data: Data) -> dict[str, int]:
    """Rows of `strategies` in the fold."""
    counts = Counter(row["fold"] for row in data.rows("strategies", "train"))
    return {str(fold): counts[fold] for fold in sorted(counts)}


# What must hold of every build -----------------------------------------------------------

KEYS = {
    "dialogues": ("dialogue_id",),
    "official_split": ("dialogue_id",),
    "utterances": ("dialogue_id", "turn"),
    "speakers": ("speaker_id",),
    "participants": ("dialogue_id", "speaker"),
    "strategies": ("dialogue_id", "turn"),
    "messages": ("dialogue_id", "speaker"),
}


@check
def rows_go_back_to_records(data: Data) -> Iterator[str]:
    """Every row goes back to a record of upstream's shape, labels and speakers included."""
    for config in data.module.TO_RECORD:
        for split in data.splits(config):
            for row in data.rows(config, split):
                record = data.module.to_record(row)
                for problem in problems(record, data.module.DIALOGUE):
                    yield f"{config}/{split} dialogue {row['dialogue_id']}{problem}"


@check
def official_split_is_a_partition(data: Data) -> Iterator[str]:
    """The official split holds each dialogue of `dialogues` once, with equal content."""
    if len(data.splits("official_split")) < 3 or not data.splits("dialogues"):
        return  # some were not built
    whole = {row["dialogue_id"]: row for row in dialogues(data)}
    for split in data.splits("official_split"):
        for row in data.rows("official_split", split):
            if whole.pop(row["dialogue_id"], None) != row:
                yield f"official_split/{split}: {row['dialogue_id']} is not one of dialogues, once"
    for left in whole:
        yield f"dialogue {left} is in no split of official_split"


# What must hold of the views, computed from `dialogues` ------------------------------------


def check_views(function: Callable[[Data], Iterator[str]]) -> Callable[[Data], Iterator[str]]:
    """Mark a check of the views; they and `dialogues` are built of one file, or not at all."""

    @functools.wraps(function)
    def run(data: Data) -> Iterator[str]:
        if data.splits("dialogues"):
            yield from function(data)

    return check(run)


def named(value: Any, feature: Any) -> Any:
    """A value with the names of labels in place of their numbers."""
    if isinstance(value, list):
        inner = feature[0] if isinstance(feature, list) else feature.feature
        return [named(item, inner) for item in value]
    return feature.names[value] if hasattr(feature, "names") and value is not None else value


def view(data: Data, name: str) -> list[dict[str, Any]]:
    """The rows of a view, with the names of labels in place of their numbers."""
    features = data.module.FEATURES[name]
    return [
        {column: named(value, features[column]) for column, value in row.items()}
        for row in data.rows(name, "train")
    ]


def of_dialogues(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The rows of a view by dialogue."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["dialogue_id"], []).append(row)
    return found


def differing(name: str, rows: list[dict[str, Any]], due: list[dict[str, Any]]) -> Iterator[str]:
    """Say which rows differ from those due, in the columns that are due."""
    if len(rows) != len(due):
        yield f"{name}: expected {len(due)} rows, found {len(rows)}"
    for number, (row, expected) in enumerate(zip(rows, due, strict=False)):
        for column, value in expected.items():
            if row[column] != value:
                yield f"{name}[{number}].{column}: expected {value!r}, found {row[column]!r}"


def integers(items: dict[str, str] | None) -> dict[str, int] | None:
    """Items as numbers."""
    return {issue: int(items[issue]) for issue in ISSUES} if items else None


def without_empty(annotations: list[list[str]]) -> list[tuple[str, list[str]]]:
    """The annotations of a dialogue, each with its labels, without the empty one."""
    return [(text, [name for name in names.split(",") if name]) for text, names in annotations]


def speaker_ids(data: Data) -> dict[tuple[str, str], str]:
    """The participant of each side of each dialogue, numbered as they first come."""
    known: dict[str, str] = {}
    return {
        (str(dialogue["dialogue_id"]), side): known.setdefault(
            identity(dialogue["participant_info"][side]), f"speaker_{len(known)}"
        )
        for dialogue in dialogues(data)
        for side in SIDES
    }


def flat(side: dict[str, Any]) -> dict[str, Any]:
    """The columns that describe a participant."""
    traits = side["personality"]["big-five"]
    return {
        **side["demographics"],
        "svo": side["personality"]["svo"],
        **{trait.replace("-", "_"): traits[trait] for trait in traits},
    }


@check_views
def utterances_are_the_chat_entries(data: Data) -> Iterator[str]:
    """Rows of `utterances` are the chat entries, in order, with their speaker, deal and ids."""
    speakers = speaker_ids(data)
    due: list[dict[str, Any]] = []
    for dialogue in dialogues(data):
        first = len(due)
        for turn, entry in enumerate(dialogue["chat_logs"]):
            due.append(
                {
                    "dialogue_id": str(dialogue["dialogue_id"]),
                    "turn": turn,
                    "speaker": entry["id"],
                    "text": entry["text"],
                    "id": f"utterance_{len(due)}",
                    "conversation_id": f"utterance_{first}",
                    "reply_to": f"utterance_{len(due) - 1}" if turn else None,
                    "speaker_id": speakers[str(dialogue["dialogue_id"]), entry["id"]],
                    "speaker_internal_id": entry["id"],
                    "data": entry["task_data"]["data"],
                    "issue2youget": integers(entry["task_data"]["issue2youget"]),
                    "issue2theyget": integers(entry["task_data"]["issue2theyget"]),
                }
            )
    yield from differing("utterances", data.rows("utterances", "train"), due)


@check_views
def annotations_find_their_utterances(data: Data) -> Iterator[str]:
    """`utterances` and `strategies` have each annotation of a dialogue, in order, and no other."""
    for name, column in (("utterances", "annotations"), ("strategies", "labels")):
        rows = of_dialogues(view(data, name))
        for dialogue in dialogues(data):
            number = str(dialogue["dialogue_id"])
            labelled = [r for r in rows.get(number, ()) if r[column] is not None]
            if any(r["text"] in DEALS for r in labelled):
                yield f"{name}: a deal action of dialogue {number} has labels"
            found = [(row["text"], row[column]) for row in labelled]
            if found != without_empty(dialogue["annotations"]):
                yield f"{name}: the labels of dialogue {number} are not its annotations"


@check_views
def speakers_are_the_participants(data: Data) -> Iterator[str]:
    """Rows of `speakers` are the people, as first seen, with the dialogues each takes part in."""
    counts = Counter(speaker_ids(data).values())
    due = [
        {"speaker_id": f"speaker_{number}", **flat(side)}
        for number, side in enumerate(people(data))
    ]
    due = [{**row, "dialogues": counts[row["speaker_id"]]} for row in due]
    yield from differing("speakers", view(data, "speakers"), due)


@check_views
def participants_follow_from_their_dialogues(data: Data) -> Iterator[str]:
    """A side's columns are its dialogue's, and its points those of the items it got."""
    speakers, due = speaker_ids(data), []
    for dialogue in dialogues(data):
        items = final_items(dialogue) or dict.fromkeys(SIDES)
        for name, partner in (SIDES, SIDES[::-1]):
            side = dialogue["participant_info"][name]
            got = integers(items[name]) or dict.fromkeys(ISSUES)
            outcomes = dialogue["participant_info"][partner]["outcomes"]
            dialogue_id = str(dialogue["dialogue_id"])
            due.append(
                {
                    "dialogue_id": dialogue_id,
                    "speaker": name,
                    "speaker_id": speakers[dialogue_id, name],
                    **{f"priority_{k.lower()}": v for k, v in side["value2issue"].items()},
                    **{f"reason_{k.lower()}": v for k, v in side["value2reason"].items()},
                    "integrative_potential": (36, 39, 42).index(potential(dialogue)) + 1,
                    **{f"{issue.lower()}_got": got[issue] for issue in ISSUES},
                    "deal": items[name] is not None,
                    **side["outcomes"],
                    **{f"partner_{key}": value for key, value in outcomes.items()},
                    **flat(side),
                }
            )
    rows = view(data, "participants")
    yield from differing("participants", rows, due)
    for number, row in enumerate(rows):
        got = {level: row[f"{row[f'priority_{level.lower()}'].lower()}_got"] for level in POINTS}
        points = sum(POINTS[k] * got[k] for k in POINTS) if row["deal"] else WALKED_AWAY
        if row["points_scored"] != points:
            yield f"participants[{number}]: {row['points_scored']} points, but items of {points}"


@check_views
def strategies_stand_in_their_dialogues(data: Data) -> Iterator[str]:
    """A row of `strategies` is its turn, after the three utterances before it, in one fold."""
    whole = {str(dialogue["dialogue_id"]): dialogue for dialogue in dialogues(data)}
    folds: dict[str, int] = {}
    for number, row in enumerate(data.rows("strategies", "train")):
        chat = [
            {"speaker": e["id"], "text": e["text"]} for e in whole[row["dialogue_id"]]["chat_logs"]
        ]
        if {"speaker": row["speaker"], "text": row["text"]} != chat[row["turn"]]:
            yield f"strategies[{number}]: is not turn {row['turn']} of its dialogue"
        before = [entry for entry in chat[: row["turn"]] if entry["text"] not in DEALS]
        if row["context"] != before[-3:]:
            yield f"strategies[{number}]: the context is not the three utterances before it"
        if folds.setdefault(row["dialogue_id"], row["fold"]) != row["fold"]:
            yield f"strategies[{number}]: its dialogue stands in two folds"
    sizes = [list(folds.values()).count(fold) for fold in range(5)]
    if sum(sizes) != len(folds) or max(sizes) - min(sizes) > 1:
        yield f"strategies: expected 5 folds of equally many dialogues, found {sizes}"


@check_views
def messages_alternate_and_join_back(data: Data) -> Iterator[str]:
    """A chat is system, then user and assistant by turns; it says every turn once, as it was."""
    whole = {str(dialogue["dialogue_id"]): dialogue for dialogue in dialogues(data)}
    rows = data.rows("messages", "train")
    for number, row in enumerate(rows):
        dialogue, chat, turns = whole[row["dialogue_id"]], row["messages"], row["source_turns"]
        entries = dialogue["chat_logs"]
        roles = ["system"] + ["user", "assistant"] * len(chat)
        if [message["role"] for message in chat] != roles[: len(chat)]:
            yield f"messages[{number}]: expected system, user, assistant, user, …"
        if [turn for each in turns for turn in each] != list(range(len(entries))):
            yield f"messages[{number}]: source_turns are not each turn once, in order"
            continue
        cue: list[list[int]] = [[]] if entries[0]["id"] == row["speaker"] else []
        if turns[: 1 + len(cue)] != [[], *cue] or [] in turns[1 + len(cue) :]:
            yield f"messages[{number}]: a message without turns is not the system's or the cue"
        for message, each in zip(chat[1:], turns[1:], strict=True):
            said = "\n".join(in_words(entries[turn]) for turn in each) if each else "<start>"
            mine = {entries[turn]["id"] == row["speaker"] for turn in each} or {False}
            if message["content"] != said or mine != {message["role"] == "assistant"}:
                yield f"messages[{number}]: a message is not the turns {each}"
        side = dialogue["participant_info"][row["speaker"]]
        for level, issue in side["value2issue"].items():
            known = (
                f"{level.lower()} priority is {issue.lower()} ({POINTS[level]} points a package)"
            )
            if f"{known}: {side['value2reason'][level]}" not in chat[0]["content"]:
                yield f"messages[{number}]: the system message lacks the {level.lower()} priority"
    columns = ["dialogue_id", "speaker", "speaker_id", "deal"]
    columns += [c for c in rows[0] if c.endswith(("points_scored", "satisfaction", "likeness"))]
    sides = [{c: side[c] for c in columns} for side in data.rows("participants", "train")]
    yield from differing("messages", rows, sides)


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
