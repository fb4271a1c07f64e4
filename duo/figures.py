"""DUO's documented figures and their computations, in the order of the documents.

readme: upstream's README.md at the pinned commit.
earlier readme: the same of the SIGDIAL version, before ratings were added for the journal article.
"""

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain, combinations, groupby
from statistics import correlation, mean, stdev
from typing import Any

from parley import Data, Differs, counted, documented, moses_tokenizer, tasks

from .records import ASPECTS, ONLY_IN

Row = dict[str, Any]

COLUMNS = ("en.ed", "en.wow", "ja.ed", "ja.wow")  # of the readme's tables: language and setting


def mean_and_deviation(values: Iterable[float]) -> tuple[float, float]:
    """The mean and the sample SD, the two figures of a cell "3.47 ± 1.31"."""
    numbers = list(values)
    return mean(numbers), stdev(numbers)


def row(*cells: Any) -> dict[str, Any]:
    """A row of a table, by columns; None is an empty cell."""
    return dict(zip(COLUMNS, cells, strict=True))


# Differences of cells that count tokens, and of cells over dialogues without published ratings
tokenized = functools.partial(
    Differs,
    reason="the readme names no tokenizer; of those tried, Moses' comes closest, "
    "but does not give the same count",
)
of_more = functools.partial(
    Differs,
    reason="the readme has the journal article's figure, of 70 (ed) and 71 (wow) dialogues; the "
    "published files hold objective ratings of 50 and 46, those of the earlier readme",
)


def dialogues(data: Data, column: str) -> list[Row]:
    """The dialogues of a column."""
    language, setting = column.split(".")
    return data.rows(setting, language)


def everything(data: Data) -> list[Row]:
    """All 455 dialogues."""
    return data.rows("dialogues", "en", "ja")


def messages(found: Iterable[Row]) -> list[Row]:
    """The messages of dialogues."""
    return [message for dialogue in found for message in dialogue["dialogue"]]


def by_the_person(message: Row) -> bool:
    """Whether a message is the person's."""
    return bool(message["speaker"] == "Human")


def participants_of(found: Iterable[Row]) -> Counter[str]:
    """The number of dialogues of each `user_id`, in dialogues of one language."""
    ids = ({m["user_id"] for m in messages([each]) if by_the_person(m)} for each in found)
    return Counter(name for (name,) in ids)


def rated(found: Iterable[Row]) -> list[Row]:
    """The annotators' ratings of each dialogue that has them."""
    evaluations = (dialogue["objective_evaluation"] for dialogue in found)
    return [evaluation for evaluation in evaluations if evaluation is not None]


def by_others(data: Data, column: str, name: str) -> list[Any]:
    """The annotators' mean or three scores of each dialogue in a column."""
    return [evaluation[name] for evaluation in rated(dialogues(data, column))]


def span(lengths: list[int]) -> int | str:
    """The least and the greatest length, as "20-23"; one number if they are equal."""
    least, greatest = min(lengths), max(lengths)
    return least if least == greatest else f"{least}-{greatest}"


@functools.cache
def tokenizer(language: str) -> Callable[[str], list[str]]:
    """The tokenizer that comes closest to the documented counts; the readme names none.

    Japanese: MeCab with unidic-lite, which gives every documented figure once the spaces between
    words are no tokens. English: Moses'. Aggressive dash splits, text lower-cased before, and the
    tokenizers of NLTK, spaCy and sacreBLEU are farther off; escaping makes no difference, nor do
    the releases of sacremoses from 0.0.19 to 0.2.0 and Moses' own script, version 1.1.
    """
    if language == "en":
        return moses_tokenizer("en")
    from fugashi import GenericTagger
    from unidic_lite import DICDIR  # type: ignore[import-untyped]

    tagger = GenericTagger(f'-Owakati -r "{DICDIR}/mecabrc" -d "{DICDIR}"')
    return lambda text: tagger.parse(text).split()


@functools.cache
def tokens(language: str, text: str) -> tuple[str, ...]:
    """The tokens of a message."""
    return tuple(tokenizer(language)(text))


def lengths(found: Iterable[Row]) -> list[int]:
    """The number of tokens of each message of dialogues."""
    return [len(tokens(each["language"], m["message"])) for each in found for m in each["dialogue"]]


def vocabulary(found: Iterable[Row]) -> set[str]:
    """The distinct tokens of dialogues; English ones are lower-cased, Japanese ones are not."""
    return {
        token.lower() if dialogue["language"] == "en" else token
        for dialogue in found
        for message in dialogue["dialogue"]
        for token in tokens(dialogue["language"], message["message"])
    }


@documented(
    "readme, Basic Statistics, {0}",
    {
        "Number of dialogues": row(157, 157, 68, 73),
        "Number of dialogues with objective evaluations": row(
            of_more(70, 50), of_more(71, 46), 45, 45
        ),
        "Number of participants": row(34, 34, 52, 52),
        "Number of utterances": row(3148, 3302, 1360, 1533),
        "Number of tokens": row(tokenized(44640, 44648), tokenized(63157, 63187), 23046, 35524),
        "Number of unique emotions": row(30, None, 28, None),
        "Number of unique topics": row(None, 133, None, 73),
        "Dialogue length(min-max)": row("20-23", "20-23", 20, 21),
        "Avg. Number of utterances per dialogue": row("20.05", "21.03", 20, 21),
        "Utterance length(min-max)": row("1-76", tokenized("1-146", "1-147"), "1-84", "2-76"),
        "Avg. of utterance length": row("14.18", tokenized("19.13", "19.14"), "16.95", "23.17"),
        "Vocabulary": row(tokenized(3819, 3822), tokenized(6439, 6441), 2707, 3669),
        "Type-token ratio": row("0.086", "0.10", "0.117", "0.103"),
        "Herdan's C": row("0.77", "0.79", "0.787", "0.783"),
    },
)
def basic_statistics(data: Data, about: str, column: str) -> float | str:
    """Utterances are messages, of the person and of the bot; their length is in tokens.

    Tokens are Moses' in English, and MeCab's with unidic-lite in Japanese. The vocabulary is the
    distinct ones, in English lower-cased; Herdan's C the ratio of logarithms.
    """
    found = dialogues(data, column)
    turns = [len(dialogue["dialogue"]) for dialogue in found]
    counts: dict[str, Callable[[], float | str]] = {
        "Number of dialogues": lambda: len(found),
        "Number of dialogues with objective evaluations": lambda: len(rated(found)),
        "Number of participants": lambda: len(participants_of(found)),
        "Number of utterances": lambda: sum(turns),
        "Number of tokens": lambda: sum(lengths(found)),
        "Number of unique emotions": lambda: len({d["emotion"] for d in found}),
        "Number of unique topics": lambda: len({d["topic"] for d in found}),
        "Dialogue length(min-max)": lambda: span(turns),
        "Avg. Number of utterances per dialogue": lambda: mean(turns),
        "Utterance length(min-max)": lambda: span(lengths(found)),
        "Avg. of utterance length": lambda: mean(lengths(found)),
        "Vocabulary": lambda: len(vocabulary(found)),
        "Type-token ratio": lambda: len(vocabulary(found)) / sum(lengths(found)),
        "Herdan's C": lambda: math.log(len(vocabulary(found)), sum(lengths(found))),
    }
    return counts[about]()


def name_of(aspect: str) -> str:
    """The data's name of an aspect in the readme's tables."""
    return aspect.lower().replace(" ", "_")


@documented(
    "readme, Subjective evaluations, {0}",
    {
        "Preference": row("3.47 ± 1.31", "3.96 ± 1.11", "3.53 ± 1.00", "3.82 ± 1.06"),
        "Consistency": row("4.40 ± 0.80", "4.57 ± 0.68", "4.13 ± 0.83", "3.93 ± 1.13"),
        "Stylistic similarity": row("3.32 ± 1.31", "3.86 ± 1.06", "3.47 ± 0.95", "3.59 ± 1.09"),
        "Empathy": row("3.87 ± 1.19", None, "3.74 ± 0.99", None),
        "Engagingness": row(None, "3.87 ± 1.18", None, "3.62 ± 1.08"),
    },
)
def subjective_evaluations(data: Data, aspect: str, column: str) -> tuple[float, float]:
    """Mean and sample SD over dialogues of the person's score."""
    return mean_and_deviation(
        d["subjective_evaluation"][name_of(aspect)] for d in dialogues(data, column)
    )


TIE = "the mean is 3.8148; it gives 3.82 only if rounded to 3.815 first"


@documented(
    "readme, Objective evaluations, {0}",
    {
        "Preference": row(
            of_more("3.55 ± 0.75", "3.50 ± 0.79"),
            of_more("3.55 ± 0.72", "3.57 ± 0.72"),
            "3.63 ± 0.68",
            "3.73 ± 0.55",
        ),
        "Consistency": row(
            of_more("4.60 ± 0.38", "4.55 ± 0.42"),
            of_more("4.54 ± 0.54", "4.49 ± 0.57"),
            Differs("3.82 ± 0.45", "3.81 ± 0.45", TIE),
            "3.96 ± 0.52",
        ),
        "Stylistic similarity": row(
            of_more("3.50 ± 0.54", "3.51 ± 0.54"),
            of_more("3.41 ± 0.70", "3.18 ± 0.73"),
            "3.25 ± 0.77",
            "3.52 ± 0.66",
        ),
        "Empathy": row(of_more("4.14 ± 0.55", "4.10 ± 0.58"), None, "3.53 ± 0.63", None),
        "Engagingness": row(None, of_more("3.80 ± 0.73", "3.62 ± 0.75"), None, "3.67 ± 0.55"),
    },
)
def objective_evaluations(data: Data, aspect: str, column: str) -> tuple[float, float]:
    """Mean and sample SD over dialogues of the mean of the three annotators' scores.

    The published means have two decimals; from them one more Japanese figure would differ: the SD
    of the preference in `ed` would be 0.674.
    """
    return mean_and_deviation(map(mean, by_others(data, column, f"{name_of(aspect)}_scores")))


@documented(
    "earlier readme, Number of dialogues with objective evaluations", {"en.ed": 50, "en.wow": 46}
)
def dialogues_rated_in_the_earlier_readme(data: Data, column: str) -> int:
    """Dialogues of the column with objective ratings."""
    return len(rated(dialogues(data, column)))


@documented(
    "earlier readme, Objective evaluations, {0}",
    {
        "Preference": {"en.ed": "3.50 ± 0.79", "en.wow": "3.56 ± 0.72"},
        "Consistency": {"en.ed": "4.55 ± 0.42", "en.wow": "4.49 ± 0.57"},
        "Stylistic similarity": {"en.ed": "3.51 ± 0.54", "en.wow": "3.18 ± 0.73"},
        "Empathy": {"en.ed": "4.10 ± 0.58"},
        "Engagingness": {"en.wow": "3.62 ± 0.75"},
    },
)
def published_objective_evaluations(data: Data, aspect: str, column: str) -> tuple[float, float]:
    """Mean and sample SD over dialogues of the published mean, which has two decimals.

    From the three scores one would differ: the mean of the preference in `wow` would be 3.57.
    """
    return mean_and_deviation(by_others(data, column, name_of(aspect)))


@documented(
    "readme, Data Format, the example",
    {
        "setting": "ed",
        "model": "gpt-4o",
        "prompt": "neutral",
        "emotion": "Excited",
        "objective_evaluation": {
            "preference": 3.67,
            "stylistic_similarity": 3.67,
            "consistency": 4.33,
            "empathy": 4.0,
            "preference_scores": "3.0, 4.0, 4.0",
            "stylistic_similarity_scores": "4.0, 3.0, 4.0",
            "consistency_scores": "4.0, 5.0, 4.0",
            "empathy_scores": "3.0, 5.0, 4.0",
        },
        "subjective_evaluation": {
            "preference": 1.0,
            "stylistic_similarity": Differs(
                4.0,
                1.0,
                "the published file of dialogue 0000 has 1.0 where the readme's example has 4.0",
            ),
            "consistency": 5.0,
            "empathy": 4.0,
        },
    },
)
def example(data: Data) -> dict[str, Any]:
    """The record of dialogue 0000, its texts left out."""
    (found,) = (d for d in data.rows("ed", "en") if d["dialogue_id"] == "0000")
    record = data.record("dialogues", found)
    for source in ("objective_evaluation", "subjective_evaluation"):
        for name, value in record[source].items():
            if isinstance(value, list):
                record[source][name] = ", ".join(map(str, value))
    texts = ("dialogue_id", "episode", "dialogue")
    return {name: value for name, value in record.items() if name not in texts}


@counted()
def numbers(data: Data) -> dict[str, int]:
    """Dialogues: all, those of a language, and those that others rated, too; and other numbers.

    Distinct `emotion` over both languages; the most dialogues of one `user_id` within a setting and
    language; messages that hold the placeholder <name>.
    """
    found = everything(data)
    return {
        "dialogues": len(found),
        **Counter(dialogue["language"] for dialogue in found),
        "rated_by_others": len(rated(found)),
        "emotions": len({dialogue["emotion"] for dialogue in found} - {None}),
        "most_of_a_person": max(max(participants_of(dialogues(data, c)).values()) for c in COLUMNS),
        "names_replaced": sum("<name>" in message["message"] for message in messages(found)),
    }


@counted()
def dialogues_by(data: Data) -> dict[str, dict[str, Counter[str]]]:
    """Dialogues by model and by prompt."""

    def count(column: str, key: str) -> Counter[str]:
        return Counter(dialogue[key] for dialogue in dialogues(data, column))

    return {key: {c: count(c, key) for c in COLUMNS} for key in ("model", "prompt")}


@counted(decimals=2)
def published_objective_preference(data: Data) -> dict[str, tuple[float, float]]:
    """Mean and sample SD over Japanese dialogues of the published mean, which has two decimals."""
    columns = COLUMNS[2:]
    return {c: mean_and_deviation(by_others(data, c, "preference")) for c in columns}


@counted(decimals=4)
def mean_preference_in_english_wow(data: Data) -> dict[str, float]:
    """Mean over dialogues of the published mean, and of the mean of the three scores."""
    return {
        "published": mean(by_others(data, "en.wow", "preference")),
        "of_scores": mean(map(mean, by_others(data, "en.wow", "preference_scores"))),
    }


@counted(decimals=2)
def agreement(data: Data) -> dict[str, Any]:
    """Krippendorff's alpha, for ordinal values, of the three annotators of each dialogue."""
    found = {
        aspect: {
            column: tasks.alpha(by_others(data, column, f"{aspect}_scores"), tasks.ordinal)
            for column in COLUMNS
            if ONLY_IN.get(aspect, column[3:]) == column[3:]
        }
        for aspect in ASPECTS
    }
    preference = found["preference"].values()
    return found | {
        "highest": max(chain.from_iterable(map(dict.values, found.values()))),
        "lowest of preference": min(preference),
        "highest of preference": max(preference),
    }


RATINGS = {
    "own_preference": ("subjective_evaluation", "preference"),
    "own_similarity": ("subjective_evaluation", "stylistic_similarity"),
    "others_preference": ("objective_evaluation", "preference"),
    "others_similarity": ("objective_evaluation", "stylistic_similarity"),
}


@counted(decimals=3)
def correlations(data: Data) -> dict[str, dict[str, float]]:
    """Pearson's r over dialogues with both ratings; the others' is the published mean.

    Similarity is that of style.
    """

    def correlated(column: str, *ratings: str) -> float:
        places = [RATINGS[rating] for rating in ratings]
        found = [
            [dialogue[source][aspect] for source, aspect in places]
            for dialogue in dialogues(data, column)
            if all(dialogue[source] is not None for source, _ in places)
        ]
        return correlation(*zip(*found, strict=True))

    pairs = combinations(RATINGS, 2)
    return {".".join(pair): {c: correlated(c, *pair) for c in COLUMNS} for pair in pairs}


@counted()
def participants_of_both_settings(data: Data) -> dict[str, int]:
    """The `user_id` of a language that occur in both `ed` and `wow`."""
    participants = {column: participants_of(dialogues(data, column)).keys() for column in COLUMNS}
    return {
        each: len(participants[f"{each}.ed"] & participants[f"{each}.wow"]) for each in ("en", "ja")
    }


@counted()
def dialogues_that_the_person_ends(data: Data) -> Counter[str]:
    """Dialogues whose last message is the person's, by language."""
    found = (each for each in everything(data) if by_the_person(each["dialogue"][-1]))
    return Counter(dialogue["language"] for dialogue in found)


@counted()
def messages_in_a_row(data: Data) -> dict[str, int]:
    """The most messages of one side in a row, of each dialogue that does not alternate."""
    most = {
        dialogue["dialogue_id"]: max(
            len(list(group)) for _, group in groupby(dialogue["dialogue"], key=by_the_person)
        )
        for dialogue in everything(data)
    }
    return {name: number for name, number in most.items() if number > 1}


@counted()
def white_space(data: Data) -> dict[str, int]:
    """Messages with white space at the end or the beginning, and messages with a line break."""
    found: Counter[str] = Counter()
    for message in messages(everything(data)):
        text, person = message["message"], by_the_person(message)
        begins, ends = text != text.lstrip(), text != text.rstrip()
        found["persons_end"] += ends and person
        found["bots_beginning"] += begins and not person
        found["elsewhere"] += (ends and not person) + (begins and person)
        found["line_break"] += "\n" in text
    return found


@counted()
def utterances_by_speaker(data: Data) -> dict[str, Counter[str]]:
    """Rows of `utterances` by `speaker`."""
    return by_language(data, "utterances", "speaker")


@counted()
def ratings_by(data: Data) -> dict[str, dict[str, Counter[str]]]:
    """Rows of `ratings` by `source`, and by `aspect`."""
    return {key: by_language(data, "ratings", key) for key in ("source", "aspect")}


def by_language(data: Data, config: str, key: str) -> dict[str, Counter[str]]:
    """The number of rows of each language by the value of a column."""
    return {s: Counter(row[key] for row in data.rows_with_names(config, s)) for s in ("en", "ja")}


@counted()
def start_messages(data: Data) -> dict[str, int]:
    """Rows of `messages` that begin with the message <start>, and published messages with it."""
    said = sum("<start>" in found["text"] for found in data.rows("utterances", "en", "ja"))
    rows = {split: data.rows("messages", split) for split in ("en", "ja")}
    begun = {
        split: sum(not row["source_turns"][0] for row in found) for split, found in rows.items()
    }
    return {**begun, "published": said}
