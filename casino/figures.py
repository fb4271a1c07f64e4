"""CaSiNo's documented figures, in the order of the documents, and what its card counts.

paper: Chawla et al., NAACL 2021. ConvoKit: the card of casino-corpus.
"""

from collections import Counter
from collections.abc import Callable
from itertools import chain, combinations, pairwise, permutations, product
from operator import mul
from statistics import correlation, fmean, mean, stdev
from typing import Any

import numpy as np

from parley import Data, Differs, counted, documented, moses_tokenizer

from .records import LIKENESS, PARTNER, SATISFACTION, STRATEGIES, items_of
from .scenarios import ISSUES, POINTS, SIDES, most_joint_points, points_of
from .subsets import SUBSETS
from .tasks.moments import AFTER, BOND, Moment, moments
from .tasks.strategies import ALPHA, COUNT, SEVEN, STRATEGY, bag_of_words, majority, matrix
from .views import potential_of

DEALS = ("Submit-Deal", "Accept-Deal", "Reject-Deal", "Walk-Away")


def dialogues(data: Data) -> list[dict[str, Any]]:
    """All 1,030 dialogues."""
    return data.rows("dialogues", "train")


def annotated(data: Data) -> list[dict[str, Any]]:
    """The dialogues with strategy labels."""
    return [dialogue for dialogue in dialogues(data) if dialogue["annotations"]]


def utterances(dialogue: dict[str, Any]) -> list[str]:
    """The texts of the chat entries that are not deal actions."""
    return [entry["text"] for entry in dialogue["chat_logs"] if entry["text"] not in DEALS]


def label_sets(data: Data) -> list[set[str]]:
    """The labels of each annotated utterance."""
    pairs = chain.from_iterable(dialogue["annotations"] for dialogue in dialogues(data))
    return [set(labels.split(",")) - {""} for _, labels in pairs]


def sides(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The `participant_info` of each side of each of these dialogues."""
    return [dialogue["participant_info"][side] for dialogue in rows for side in SIDES]


def participants_of(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The participants of these dialogues, each once, by demographics and personality."""
    return {repr((side["demographics"], side["personality"])): side for side in sides(rows)}


def score(side: dict[str, Any]) -> int:
    """The points that a side scored."""
    return int(side["outcomes"]["points_scored"])


def results(data: Data) -> list[tuple[dict[str, Any], dict[str, int] | None]]:
    """Each side with its packages by the accepted deal; None after a walk-away."""
    return [
        (dialogue["participant_info"][side], items)
        for dialogue in dialogues(data)
        for side, items in items_of(dialogue).items()
    ]


@documented("paper, abstract and section 2; ConvoKit, statistics", 1030)
def number_of_dialogues(data: Data) -> int:
    """Rows of `dialogues`."""
    return len(dialogues(data))


@documented("paper, section 2 and appendix A; ConvoKit, statistics", 846)
def number_of_participants(data: Data) -> int:
    """Distinct pairs of demographics and personality."""
    return len(participants_of(dialogues(data)))


@documented("paper, section 2, Data Collection", "11.6")
def utterances_per_dialogue(data: Data) -> float:
    """Mean number of utterances of a dialogue."""
    return mean(len(utterances(dialogue)) for dialogue in dialogues(data))


WHY_SO_FEW = "the paper gives no reason; it removed irrelevant utterances from a few (appendix C)"


@documented(
    "paper, section 2, Negotiation Dialogue: at least 10 utterances", Differs(10, 6, WHY_SO_FEW)
)
def fewest_utterances(data: Data) -> int:
    """Number of utterances of the shortest dialogue."""
    return min(len(utterances(dialogue)) for dialogue in dialogues(data))


@documented("paper, section 2, Data Collection; ConvoKit, statistics", "22")
def tokens_per_utterance(data: Data) -> float:
    """Mean number of Moses tokens of an utterance."""
    tokens = moses_tokenizer("en")
    texts = (text for dialogue in dialogues(data) for text in utterances(dialogue))
    return mean(len(tokens(text)) for text in texts)


@documented(
    "paper, section 2, Preparation Phase and Negotiation Dialogue",
    {"items of each kind": 3, "high": 5, "medium": 4, "low": 3, "at most": 36},
)
def points(data: Data) -> dict[str, int]:
    """Packages of each item in every deal, and the points of a high, medium and low package.

    Only these points, of 1 to 9 each, explain the scores of all sides with a deal.
    """
    made = [(side, items) for side, items in results(data) if items]
    deals = zip(made[::2], made[1::2], strict=True)
    (shared,) = {
        mine[issue] + theirs[issue] for (_, mine), (_, theirs) in deals for issue in ISSUES
    }
    got = (([items[side["value2issue"][level]] for level in POINTS], side) for side, items in made)
    scores = {(*counts, score(side)) for counts, side in got}
    (worths,) = (
        worths
        for worths in product(range(1, 10), repeat=3)
        if all(sum(map(mul, counts, worths)) == score for *counts, score in scores)
    )
    named = zip(("high", "medium", "low"), worths, strict=True)
    return {"items of each kind": shared, **dict(named), "at most": shared * sum(worths)}


@documented("paper, section 2, Data Collection", 5)
def points_after_walking_away(data: Data) -> int:
    """Points of each side after a walk-away."""
    (found,) = {score(side) for side, items in results(data) if items is None}
    return found


@documented("paper, section 2: two sides of 1,030 dialogues, scored by these points", 2060)
def sides_whose_points_follow_from_the_deal(data: Data) -> int:
    """Sides whose points are those of their packages, or 5 after a walk-away."""
    return sum(
        score(side) == points_of(side["value2issue"], items) for side, items in results(data)
    )


@documented("paper, section 3, Collecting annotations; ConvoKit, statistics", 396)
def annotated_dialogues(data: Data) -> int:
    """Dialogues with strategy labels."""
    return len(annotated(data))


@documented("paper, section 3, Collecting annotations", 4615)
def annotated_utterances(data: Data) -> int:
    """Utterances with strategy labels."""
    return len(label_sets(data))


@documented(
    "paper, section 5, In-Domain Pre-Training; ConvoKit, utterance-level information", "4e1"
)
def percent_annotated(data: Data) -> float:
    """Percentage of annotated dialogues; the documents say "nearly" and "about" 40."""
    return 100 * len(annotated(data)) / len(dialogues(data))


@documented("paper, Table 2, Count", dict(zip(STRATEGY, map(int, COUNT), strict=True)))
def labelled_utterances(data: Data) -> dict[str, int]:
    """Utterances with the label."""
    counts = Counter(chain.from_iterable(label_sets(data)))
    return {name: counts[label] for name, label in zip(STRATEGY, STRATEGIES, strict=True)}


@documented(
    "paper, Table 2, alpha",
    dict(zip(STRATEGY[:-1], ALPHA[:-1], strict=True)),
    not_reproducible="the annotators' individual labels were not published",
)
def krippendorff_alpha(data: Data) -> None:
    """Krippendorff's alpha of three annotators on ten dialogues."""


@documented(
    "paper, section 4, Discovering the integrative potential", {"low": 36, "medium": 39, "high": 42}
)
def joint_points_at_most(data: Data) -> dict[str, int]:
    """The three values of the most joint points that two priority orders allow."""
    sides = (dialogue["participant_info"].items() for dialogue in dialogues(data))
    found = {most_joint_points({s: info["value2issue"] for s, info in each}) for each in sides}
    return dict(zip(("low", "medium", "high"), sorted(found), strict=True))


@documented("paper, section 4, Discovering the integrative potential", ".425")
def potential_and_joint_points(data: Data) -> float:
    """Pearson's r of integrative potential (1 to 3) and joint points, in annotated dialogues."""
    found = annotated(data)
    joint = [sum(map(score, sides([dialogue]))) for dialogue in found]
    return correlation([*map(potential_of, found)], joint)


WHY_HIGHER = (
    "39.54, over all utterances and as the mean of the authors' folds; the reason is unknown"
)


@documented("paper, section 5, Results", Differs("39.4", "39.5", WHY_HIGHER))
def majority_joint_accuracy(data: Data) -> float:
    """Percentage of annotated utterances without any of the task's seven strategies."""
    return 100 * mean(labels.isdisjoint(SEVEN) for labels in label_sets(data))


@documented(
    "paper, Table 11, Overall Validation F1",
    {
        "Majority": "0.0",
        "LR-BoW": Differs(
            "49.6",
            "52.5",
            "the paper gives neither its 2,645 words (scikit-learn's defaults give 2,485) nor the "
            "settings of the regression",
        ),
    },
)
def validation_f1(data: Data, model: str) -> float:
    """Mean F1 over folds and labels on the last 5% of each fold's training dialogues."""
    from sklearn.metrics import f1_score

    predict = {"Majority": majority, "LR-BoW": bag_of_words}[model]
    rows = data.rows_with_names("strategies", "train")
    found = []
    for fold in range(5):
        training = [row for row in rows if row["fold"] != fold]
        numbers = sorted({row["dialogue_id"] for row in training})
        kept = {*numbers[: int(0.95 * len(numbers))]}
        parts = [[row for row in training if (row["dialogue_id"] in kept) == has] for has in (1, 0)]
        texts = [[row["text"] for row in part] for part in parts]
        known, truth = (matrix(row["labels"] for row in part) for part in parts)
        predicted = np.array(predict(texts[0], known, texts[1]))
        found.append(100 * f1_score(truth, predicted, average="macro", zero_division=0))
    return float(mean(found))


@documented("paper, appendix A", "36.97 ± 10.81")
def age(data: Data) -> tuple[float, float]:
    """Mean and SD of the participants' ages, without the age 3."""
    ages = [side["demographics"]["age"] for side in participants_of(dialogues(data)).values()]
    adults = [age for age in ages if age != 3]
    return mean(adults), stdev(adults)


@documented(
    "paper, appendix A",
    {
        "gender": {"female": 472, "male": 372, "other": 2},
        "svo": {"proself": 364, "prosocial": 463, "unclassified": 19},
    },
)
def participants_by(data: Data, about: str) -> Counter[str]:
    """Participants by gender, and by social value orientation."""
    part = "personality" if about == "svo" else "demographics"
    return Counter(side[part][about] for side in participants_of(dialogues(data)).values())


@documented(
    "paper, appendix A",
    {
        "ethnicity": {"white american": 625},
        "education": {"some 4 year college, bachelor's degree": 346},
    },
)
def participants_with(data: Data, about: str, value: str) -> int:
    """Participants with this ethnicity or education; the paper counts no other."""
    found = participants_of(dialogues(data)).values()
    return sum(side["demographics"][about] == value for side in found)


@documented(
    "paper, appendix A",
    {"agreeableness": "5.27", "conscientiousness": "5.6", "emotional-stability": "4.91"}
    | {"extraversion": "3.69", "openness-to-experiences": "5.04"},
)
def big_five(data: Data, trait: str) -> float:
    """Mean score of the trait over the participants, from 1 to 7."""
    found = participants_of(dialogues(data)).values()
    return fmean(side["personality"]["big-five"][trait] for side in found)


OUTCOME_VALUES: dict[str, Callable[[dict[str, Any]], int]] = {
    "Points-Scored": lambda found: int(found["points_scored"]),
    "Satisfaction": lambda found: SATISFACTION.index(found["satisfaction"]),
    "Opp-Likeness": lambda found: LIKENESS.index(found["opponent_likeness"]),
}


@documented(
    "paper, Table 7",
    {
        "Points-Scored": {"Satisfaction": ".376", "Opp-Likeness": ".276"},
        "Satisfaction": {"Opp-Likeness": ".702"},
        "P.Points-Scored": dict(zip(OUTCOME_VALUES, ("-.092", ".105", ".132"), strict=True)),
        "P.Satisfaction": {"Satisfaction": ".180", "Opp-Likeness": ".244"},
        "P.Opp-Likeness": {"Opp-Likeness": ".344"},
    },
)
def outcome_correlations(data: Data, one: str, other: str) -> float:
    """Pearson's r of two outcomes over all sides; P. is the partner's, levels are 0 to 4."""
    return correlation(outcomes(data, one), outcomes(data, other))


def outcomes(data: Data, variable: str) -> list[int]:
    """A variable of Table 7 for each side of each dialogue."""
    order = SIDES[::-1] if variable.startswith("P.") else SIDES
    found = [d["participant_info"][side]["outcomes"] for d in dialogues(data) for side in order]
    return [OUTCOME_VALUES[variable.removeprefix("P.")](each) for each in found]


@documented("ConvoKit, utterance-level information and statistics", 14297)
def chat_entries(data: Data) -> int:
    """Chat entries, deal actions included."""
    return sum(len(dialogue["chat_logs"]) for dialogue in dialogues(data))


@documented("ConvoKit, statistics", {"utterances": 14297, "speakers": 846})
def rows_that_convokit_counts(data: Data, view: str) -> int:
    """Rows of the view."""
    return len(data.rows(view, "train"))


@documented(BOND, {"dialogues": 150, "turns": 1054, "answers": 87, "deals": 86})
def moments_of_agent_1(data: Data, of: str) -> int:
    """Of mturk_agent_1 in bond2026: dialogues, turns, answers to a deal, and submitted deals."""
    ids = SUBSETS["bond2026"].ids
    return moments_among([m for m in moments(data, side=SIDES[0]) if m.dialogue_id in ids])[of]


def moments_among(asked: list[Moment]) -> dict[str, int]:
    """Dialogues, turns of a side, its answers to a deal, accepted ones, and submitted deals."""
    answers = [moment for moment in asked if moment.is_answer]
    return {
        "dialogues": len({moment.dialogue_id for moment in asked}),
        "turns": len(asked),
        "answers": len(answers),
        "accepted": sum(moment.next["data"] == "accept_deal" for moment in answers),
        "deals": sum(bool(moment.next["issue2youget"]) for moment in asked),
    }


@counted()
def moments_by(data: Data) -> dict[str, dict[str, int]]:
    """Turns of both sides, answers to a deal, accepted ones and submitted deals; of bond2026, too.

    And the sides that are asked after so many of the partner's utterances.
    """
    every = [*moments(data)]
    ids = SUBSETS["bond2026"].ids
    return {
        "all": moments_among(every),
        "bond2026": moments_among([moment for moment in every if moment.dialogue_id in ids]),
        "sides": {at: len([*moments(data, at)]) for at in AFTER},
    }


@counted()
def chat_entries_by(data: Data) -> dict[str, int]:
    """Chat entries that are utterances, those that are deal actions, and these by their kind."""
    actions = Counter(
        entry["text"]
        for dialogue in dialogues(data)
        for entry in dialogue["chat_logs"]
        if entry["text"] in DEALS
    )
    made = sum(actions.values())
    return {"utterances": chat_entries(data) - made, "deal actions": made, **actions}


@counted()
def exceptions(data: Data) -> dict[str, int]:
    """Dialogues with fewer than 10 utterances, the documented minimum, or entries; and others.

    Those in which one side has two chat entries in a row, deal actions included; sides whose
    participant gave the age 3; dialogues with an annotation of which one label is empty.
    """
    found = dialogues(data)
    chats = ([entry["id"] for entry in dialogue["chat_logs"]] for dialogue in found)
    labels = ([each for _, each in dialogue["annotations"]] for dialogue in found)
    return {
        "under ten utterances": sum(len(utterances(dialogue)) < 10 for dialogue in found),
        "under ten entries": sum(len(dialogue["chat_logs"]) < 10 for dialogue in found),
        "twice in a row": sum(any(a == b for a, b in pairwise(chat)) for chat in chats),
        "sides aged 3": sum(side["demographics"]["age"] == 3 for side in sides(found)),
        "empty label": sum(any("" in each.split(",") for each in some) for some in labels),
    }


@counted()
def participants_met_again(data: Data) -> dict[str, int]:
    """Participants of more than one dialogue, and the most dialogues of one."""
    times = [row["dialogues"] for row in data.rows("speakers", "train")]
    return {"several": sum(count > 1 for count in times), "most": max(times)}


@counted()
def linked_dialogues(data: Data) -> dict[str, int]:
    """The largest group of participants that shared dialogues link, and the others.

    Two participants of a dialogue are in one group, with all its dialogues.
    """
    group: dict[str, set[str]] = {}
    of_dialogue: dict[int, list[str]] = {}
    for row in data.rows("participants", "train"):
        of_dialogue.setdefault(row["dialogue_id"], []).append(row["speaker_id"])
    for pair in of_dialogue.values():
        joined = set(pair).union(*(group.get(person, ()) for person in pair))
        group |= dict.fromkeys(joined, joined)
    groups = sorted({frozenset(each) for each in group.values()}, key=len)
    *small, largest = groups
    outside = {number for number, pair in of_dialogue.items() if pair[0] not in largest}
    return {
        "participants": len(largest),
        "dialogues": len(of_dialogue) - len(outside),
        "other groups": len(small),
        "other dialogues": len(outside),
        "others annotated": sum(each["dialogue_id"] in outside for each in annotated(data)),
        "most of another": len(small[-1]) if small else 0,
    }


@counted(decimals=0)
def shared_with_train(data: Data) -> dict[str, dict[str, float]]:
    """Participants and dialogues of a split of `official_split`, and those that train shares.

    A dialogue shares one side, or both, if these participants are also in train.
    """
    rows = {split: data.rows("official_split", split) for split in ("train", "validation", "test")}
    persons = {split: participants_of(each).keys() for split, each in rows.items()}
    found = {}
    for split in ("validation", "test"):
        shared = persons[split] & persons["train"]
        known = [len(participants_of([row]).keys() & shared) for row in rows[split]]
        found[split] = {
            "participants": len(persons[split]),
            "in train": len(shared),
            "percent": 100 * len(shared) / len(persons[split]),
            "dialogues": len(known),
            "one side": sum(map(bool, known)),
            "both sides": known.count(2),
        }
    return {**found, "both": {"participants": len(persons["test"] & persons["validation"])}}


@counted()
def fold_sizes(data: Data) -> dict[str, Counter[int]]:
    """Rows of `strategies` in each fold, and their dialogues."""
    rows = data.rows("strategies", "train")
    pairs = {(row["dialogue_id"], row["fold"]) for row in rows}
    return {
        "utterances": Counter(row["fold"] for row in rows),
        "dialogues": Counter(fold for _, fold in sorted(pairs)),
    }


@counted()
def dialogues_of_a_priority_fold(data: Data) -> dict[str, int]:
    """Dialogues in each part of each of the five folds."""
    ((training, validation, testing),) = {
        (len(row["train"]), len(row["validation"]), len(row["test"]))
        for row in data.rows("priority_folds", "train")
    }
    return {"train": training, "validation": validation, "test": testing}


@counted()
def messages_made_of(data: Data) -> dict[str, int]:
    """Rows of `messages` in which the assistant begins, and messages made of several turns."""
    rows = data.rows("messages", "train")
    return {
        "rows with a cue": sum(not row["source_turns"][1] for row in rows),
        "several turns": sum(len(turns) > 1 for row in rows for turns in row["source_turns"]),
    }


@counted(decimals=1)
def guesses(data: Data) -> dict[str, float]:
    """Sides with guesses, the percentages of right ones, and sides that name one item twice.

    A right guess names the item of the partner's `value2issue` for High, for Low, or for both.
    """
    sides_of = {each["dialogue_id"]: each["participant_info"] for each in dialogues(data)}
    found = []
    for row in data.rows("participants", "train"):
        truth = sides_of[row["dialogue_id"]][PARTNER[row["speaker"]]]["value2issue"]
        first, last = row["guess_partner_highest_item"], row["guess_partner_lowest_item"]
        found.append((first == truth["High"], last == truth["Low"], first == last))
    return {
        "sides": len(found),
        "highest": 100 * mean(first for first, _, _ in found),
        "lowest": 100 * mean(last for _, last, _ in found),
        "both": 100 * mean(first and last for first, last, _ in found),
        "one item twice": sum(twice for _, _, twice in found),
    }


@counted()
def labels_joined_wrongly_by_position(data: Data) -> dict[str, int]:
    """Annotations whose place in `annotations` is not their turn, and their dialogues."""
    turns: dict[int, list[int]] = {}
    for row in data.rows("strategies", "train"):
        turns.setdefault(row["dialogue_id"], []).append(row["turn"])
    wrong = [sum(turn != number for number, turn in enumerate(found)) for found in turns.values()]
    return {"dialogues": sum(map(bool, wrong)), "labels": sum(wrong)}


@counted()
def published_dialogues(data: Data) -> dict[str, dict[str, int]]:
    """Dialogues of each published subset and of two of them, by part of the official split."""
    rows = data.rows("scenarios", "train")
    there = {row["dialogue_id"] for row in rows}
    ids = {name: there & subset.ids for name, subset in SUBSETS.items()}
    for one, other in combinations(SUBSETS, 2):
        if both := ids[one] & ids[other]:
            ids[f"{one} and {other}"] = both
    split_of = {
        row["dialogue_id"]: split
        for split in data.splits("official_split")
        for row in data.rows("official_split", split)
    }
    return {
        name: {"all": len(found), **Counter(split_of[number] for number in found)}
        for name, found in ids.items()
    }


@counted(decimals=1)
def priorities_given_away(data: Data) -> dict[str, float]:
    """Chance in percent that a random order that fits the partner's points and deal is right.

    The mean over the sides. After a walk-away all six orders fit.
    """
    rows = {(row["dialogue_id"], row["speaker"]): row for row in data.rows("participants", "train")}
    exact, highest = [], []
    for number, side in rows:
        partner = rows[number, PARTNER[side]]
        due = tuple(partner[f"priority_{level.lower()}"] for level in POINTS)
        got = {issue: partner[f"{issue.lower()}_got"] for issue in ISSUES}
        orders = [dict(zip(POINTS, each, strict=True)) for each in permutations(ISSUES)]
        if partner["deal"]:
            reached = partner["points_scored"]
            orders = [each for each in orders if points_of(each, got) == reached]
        fits = [tuple(each.values()) for each in orders]
        exact.append(fits.count(due) / len(fits))
        highest.append([each[0] for each in fits].count(due[0]) / len(fits))
    return {"exact order": 100 * mean(exact), "highest item": 100 * mean(highest)}
