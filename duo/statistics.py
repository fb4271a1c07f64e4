"""DUO's documented figures, in the order of the documents, each with its computation.

readme: upstream's README.md at the pinned commit. Its tables have four columns: en.ed, en.wow,
ja.ed and ja.wow.
"""

import functools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import mean, stdev
from typing import Any

from parley.figures import Data, Known, check, documented
from parley.shapes import problems

COLUMNS = ("en.ed", "en.wow", "ja.ed", "ja.wow")

Row = dict[str, Any]

# How the readme's tables are written -----------------------------------------------------


def row(*cells: Any) -> dict[str, Any]:
    """A row of a table, its cells by column; None is an empty cell."""
    return {c: cell for c, cell in zip(COLUMNS, cells, strict=True) if cell is not None}


def means_and_sds(*cells: str | None) -> dict[str, str]:
    """A row of cells like "3.47 ± 1.31", as two figures each."""
    return {
        f"{column}.{name}": number
        for column, cell in row(*cells).items()
        for name, number in zip(("mean", "sd"), cell.split(" ± "), strict=True)
    }


# What the figures are computed from ------------------------------------------------------


def columns(data: Data) -> dict[str, list[Row]]:
    """The dialogues of each column."""
    return {column: data.rows(*reversed(column.split("."))) for column in COLUMNS}


def by_column(data: Data, compute: Callable[[list[Row]], Any]) -> dict[str, Any]:
    """A figure of each column, from its dialogues."""
    return {column: compute(dialogues) for column, dialogues in columns(data).items()}


def everything(data: Data) -> list[Row]:
    """All 455 dialogues."""
    return data.rows("dialogues", "en", "ja")


def messages(dialogues: list[Row]) -> list[Row]:
    """The messages of dialogues."""
    return [message for dialogue in dialogues for message in dialogue["dialogue"]]


def span(lengths: list[int]) -> int | str:
    """The least and the greatest length, like "20-23"; just the number where they are equal."""
    least, greatest = min(lengths), max(lengths)
    return least if least == greatest else f"{least}-{greatest}"


def participant(dialogue: Row) -> str:
    """The id of the person in a dialogue."""
    ids: set[str] = {m["user_id"] for m in dialogue["dialogue"] if m["speaker"] == "Human"}
    (found,) = ids
    return found


def participants(dialogues: list[Row]) -> set[str]:
    """The people in dialogues; an id is one person within a language."""
    return set(map(participant, dialogues))


@functools.cache
def tokenizer(language: str) -> Callable[[str], list[str]]:
    """The tokenizer that comes closest to the documented counts; the readme names none.

    Japanese: MeCab with unidic-lite, which gives every documented figure once the spaces between
    words are no tokens. English: Moses'. Aggressive dash splits, text lower-cased before, and the
    tokenizers of NLTK, spaCy and sacreBLEU are farther off; escaping makes no difference, nor do
    the releases of sacremoses from 0.0.19 to 0.2.0 and Moses' own script, version 1.1.
    """
    if language == "en":
        from sacremoses import MosesTokenizer

        return functools.partial(MosesTokenizer(lang="en").tokenize, escape=False)
    from fugashi import GenericTagger
    from unidic_lite import DICDIR  # type: ignore[import-untyped]

    tagger = GenericTagger(f'-Owakati -r "{DICDIR}/mecabrc" -d "{DICDIR}"')
    return lambda text: tagger.parse(text).split()


@functools.cache
def tokens(language: str, text: str) -> tuple[str, ...]:
    """The tokens of a message."""
    return tuple(tokenizer(language)(text))


def utterances(dialogues: list[Row]) -> list[tuple[str, ...]]:
    """The tokens of each message of dialogues in one language."""
    language = dialogues[0]["language"]
    return [tokens(language, message["message"]) for message in messages(dialogues)]


def lengths(dialogues: list[Row]) -> list[int]:
    """The number of tokens of each message."""
    return list(map(len, utterances(dialogues)))


def vocabulary_of(dialogues: list[Row]) -> set[str]:
    """The distinct tokens; English ones are lower-cased, Japanese ones are not."""
    found = {token for utterance in utterances(dialogues) for token in utterance}
    return {token.lower() for token in found} if dialogues[0]["language"] == "en" else found


def mean_and_sd(data: Data, score: Callable[[Row], float | None]) -> dict[str, float]:
    """Mean and sample SD of a score of dialogues, in the columns whose dialogues have it."""
    found: dict[str, float] = {}
    for column, dialogues in columns(data).items():
        scores = [given for d in dialogues if (given := score(d)) is not None]
        if scores:
            found |= {f"{column}.mean": mean(scores), f"{column}.sd": stdev(scores)}
    return found


def subjective(data: Data, aspect: str) -> dict[str, float]:
    """Mean and sample SD of the person's score."""
    return mean_and_sd(data, lambda dialogue: dialogue["subjective_evaluation"][aspect])


def objective(data: Data, aspect: str) -> dict[str, float]:
    """Mean and sample SD of the mean of the three scores, which is not rounded here.

    The published means have two decimals; from them one more Japanese figure would differ: the SD
    of the preference in `ed` would be 0.674.
    """

    def score(dialogue: Row) -> float | None:
        scores = (dialogue["objective_evaluation"] or {}).get(f"{aspect}_scores")
        return mean(scores) if scores else None

    return mean_and_sd(data, score)


# Why figures differ ----------------------------------------------------------------------

TOKENIZER = (
    "the readme does not name its tokenizer; Moses' comes closest of those tried, "
    "but does not give the same count"
)
JOURNAL = (
    "the readme's figure is the journal article's, over 70 (ed) and 71 (wow) dialogues; "
    "the published files hold objective ratings of 50 and 46"
)
ROUNDING = "the mean is 3.8148; only rounded to 3.815 first would it give 3.82"

# Basic statistics ------------------------------------------------------------------------


@documented(row(157, 157, 68, 73), "readme, Basic Statistics, Number of dialogues")
def number_of_dialogues(data: Data) -> dict[str, int]:
    """Rows of `ed` and `wow`."""
    return by_column(data, len)


@documented(
    row(70, 71, 45, 45),
    "readme, Basic Statistics, Number of dialogues with objective evaluations",
    differs={"en.ed": Known(50, JOURNAL), "en.wow": Known(46, JOURNAL)},
)
def dialogues_with_objective_evaluations(data: Data) -> dict[str, int]:
    """Rows whose `objective_evaluation` is not null."""
    return by_column(data, lambda found: sum(d["objective_evaluation"] is not None for d in found))


@documented(row(34, 34, 52, 52), "readme, Basic Statistics, Number of participants")
def number_of_participants(data: Data) -> dict[str, int]:
    """Distinct `user_id`."""
    return by_column(data, lambda found: len(participants(found)))


@documented(row(3148, 3302, 1360, 1533), "readme, Basic Statistics, Number of utterances")
def number_of_utterances(data: Data) -> dict[str, int]:
    """Messages, of the person and of the bot."""
    return by_column(data, lambda found: len(messages(found)))


@documented(
    row(44640, 63157, 23046, 35524),
    "readme, Basic Statistics, Number of tokens",
    differs={"en.ed": Known(44648, TOKENIZER), "en.wow": Known(63187, TOKENIZER)},
)
def number_of_tokens(data: Data) -> dict[str, int]:
    """Tokens of all messages: Moses' in English, MeCab's with unidic-lite in Japanese."""
    return by_column(data, lambda found: sum(lengths(found)))


@documented(row(30, None, 28, None), "readme, Basic Statistics, Number of unique emotions")
def unique_emotions(data: Data) -> dict[str, int]:
    """Distinct `emotion` in `ed`."""
    counts = by_column(data, lambda found: len({d["emotion"] for d in found}))
    return {column: counts[column] for column in ("en.ed", "ja.ed")}


@documented(row(None, 133, None, 73), "readme, Basic Statistics, Number of unique topics")
def unique_topics(data: Data) -> dict[str, int]:
    """Distinct `topic` in `wow`."""
    counts = by_column(data, lambda found: len({d["topic"] for d in found}))
    return {column: counts[column] for column in ("en.wow", "ja.wow")}


@documented(row("20-23", "20-23", 20, 21), "readme, Basic Statistics, Dialogue length(min-max)")
def dialogue_length(data: Data) -> dict[str, int | str]:
    """The least and the greatest number of messages of a dialogue."""
    return by_column(data, lambda found: span([len(d["dialogue"]) for d in found]))


@documented(
    row("20.05", "21.03", 20, 21),
    "readme, Basic Statistics, Avg. Number of utterances per dialogue",
)
def utterances_per_dialogue(data: Data) -> dict[str, float]:
    """Mean number of messages of a dialogue."""
    return by_column(data, lambda found: mean(len(d["dialogue"]) for d in found))


@documented(
    row("1-76", "1-146", "1-84", "2-76"),
    "readme, Basic Statistics, Utterance length(min-max)",
    differs={"en.wow": Known("1-147", TOKENIZER)},
)
def utterance_length(data: Data) -> dict[str, int | str]:
    """The least and the greatest number of tokens of a message."""
    return by_column(data, lambda found: span(lengths(found)))


@documented(
    row("14.18", "19.13", "16.95", "23.17"),
    "readme, Basic Statistics, Avg. of utterance length",
    differs={"en.wow": Known("19.14", TOKENIZER)},
)
def utterance_length_mean(data: Data) -> dict[str, float]:
    """Mean number of tokens of a message."""
    return by_column(data, lambda found: mean(lengths(found)))


@documented(
    row(3819, 6439, 2707, 3669),
    "readme, Basic Statistics, Vocabulary",
    differs={"en.ed": Known(3822, TOKENIZER), "en.wow": Known(6441, TOKENIZER)},
)
def vocabulary(data: Data) -> dict[str, int]:
    """Distinct tokens, in English lower-cased."""
    return by_column(data, lambda found: len(vocabulary_of(found)))


@documented(row("0.086", "0.10", "0.117", "0.103"), "readme, Basic Statistics, Type-token ratio")
def type_token_ratio(data: Data) -> dict[str, float]:
    """Vocabulary over tokens."""
    return by_column(data, lambda found: len(vocabulary_of(found)) / sum(lengths(found)))


@documented(row("0.77", "0.79", "0.787", "0.783"), "readme, Basic Statistics, Herdan's C")
def herdans_c(data: Data) -> dict[str, float]:
    """Logarithm of the vocabulary over the logarithm of the tokens."""
    return by_column(data, lambda found: math.log(len(vocabulary_of(found)), sum(lengths(found))))


# Subjective evaluations ------------------------------------------------------------------


@documented(
    means_and_sds("3.47 ± 1.31", "3.96 ± 1.11", "3.53 ± 1.00", "3.82 ± 1.06"),
    "readme, Subjective evaluations, Preference",
)
def subjective_preference(data: Data) -> dict[str, float]:
    """Mean and sample SD over dialogues of the person's score."""
    return subjective(data, "preference")


@documented(
    means_and_sds("4.40 ± 0.80", "4.57 ± 0.68", "4.13 ± 0.83", "3.93 ± 1.13"),
    "readme, Subjective evaluations, Consistency",
)
def subjective_consistency(data: Data) -> dict[str, float]:
    """Mean and sample SD over dialogues of the person's score."""
    return subjective(data, "consistency")


@documented(
    means_and_sds("3.32 ± 1.31", "3.86 ± 1.06", "3.47 ± 0.95", "3.59 ± 1.09"),
    "readme, Subjective evaluations, Stylistic similarity",
)
def subjective_stylistic_similarity(data: Data) -> dict[str, float]:
    """Mean and sample SD over dialogues of the person's score."""
    return subjective(data, "stylistic_similarity")


@documented(
    means_and_sds("3.87 ± 1.19", None, "3.74 ± 0.99", None),
    "readme, Subjective evaluations, Empathy",
)
def subjective_empathy(data: Data) -> dict[str, float]:
    """Mean and sample SD over dialogues of the person's score."""
    return subjective(data, "empathy")


@documented(
    means_and_sds(None, "3.87 ± 1.18", None, "3.62 ± 1.08"),
    "readme, Subjective evaluations, Engagingness",
)
def subjective_engagingness(data: Data) -> dict[str, float]:
    """Mean and sample SD over dialogues of the person's score."""
    return subjective(data, "engagingness")


# Objective evaluations -------------------------------------------------------------------


@documented(
    means_and_sds("3.55 ± 0.75", "3.55 ± 0.72", "3.63 ± 0.68", "3.73 ± 0.55"),
    "readme, Objective evaluations, Preference",
    differs={
        "en.ed.mean": Known("3.50", JOURNAL),
        "en.ed.sd": Known("0.79", JOURNAL),
        "en.wow.mean": Known("3.57", JOURNAL),
    },
)
def objective_preference(data: Data) -> dict[str, float]:
    """Mean and sample SD over dialogues of the mean of the three annotators' scores."""
    return objective(data, "preference")


@documented(
    means_and_sds("4.60 ± 0.38", "4.54 ± 0.54", "3.82 ± 0.45", "3.96 ± 0.52"),
    "readme, Objective evaluations, Consistency",
    differs={
        "en.ed.mean": Known("4.55", JOURNAL),
        "en.ed.sd": Known("0.42", JOURNAL),
        "en.wow.mean": Known("4.49", JOURNAL),
        "en.wow.sd": Known("0.57", JOURNAL),
        "ja.ed.mean": Known("3.81", ROUNDING),
    },
)
def objective_consistency(data: Data) -> dict[str, float]:
    """Mean and sample SD over dialogues of the mean of the three annotators' scores."""
    return objective(data, "consistency")


@documented(
    means_and_sds("3.50 ± 0.54", "3.41 ± 0.70", "3.25 ± 0.77", "3.52 ± 0.66"),
    "readme, Objective evaluations, Stylistic similarity",
    differs={
        "en.ed.mean": Known("3.51", JOURNAL),
        "en.wow.mean": Known("3.18", JOURNAL),
        "en.wow.sd": Known("0.73", JOURNAL),
    },
)
def objective_stylistic_similarity(data: Data) -> dict[str, float]:
    """Mean and sample SD over dialogues of the mean of the three annotators' scores."""
    return objective(data, "stylistic_similarity")


@documented(
    means_and_sds("4.14 ± 0.55", None, "3.53 ± 0.63", None),
    "readme, Objective evaluations, Empathy",
    differs={
        "en.ed.mean": Known("4.10", JOURNAL),
        "en.ed.sd": Known("0.58", JOURNAL),
    },
)
def objective_empathy(data: Data) -> dict[str, float]:
    """Mean and sample SD over dialogues of the mean of the three annotators' scores."""
    return objective(data, "empathy")


@documented(
    means_and_sds(None, "3.80 ± 0.73", None, "3.67 ± 0.55"),
    "readme, Objective evaluations, Engagingness",
    differs={
        "en.wow.mean": Known("3.62", JOURNAL),
        "en.wow.sd": Known("0.75", JOURNAL),
    },
)
def objective_engagingness(data: Data) -> dict[str, float]:
    """Mean and sample SD over dialogues of the mean of the three annotators' scores."""
    return objective(data, "engagingness")


# The example record ----------------------------------------------------------------------


@documented(
    {
        "setting": "ed",
        "model": "gpt-4o",
        "prompt": "neutral",
        "emotion": "Excited",
        "objective_evaluation.preference": 3.67,
        "objective_evaluation.stylistic_similarity": 3.67,
        "objective_evaluation.consistency": 4.33,
        "objective_evaluation.empathy": 4.0,
        "objective_evaluation.preference_scores": "3.0, 4.0, 4.0",
        "objective_evaluation.stylistic_similarity_scores": "4.0, 3.0, 4.0",
        "objective_evaluation.consistency_scores": "4.0, 5.0, 4.0",
        "objective_evaluation.empathy_scores": "3.0, 5.0, 4.0",
        "subjective_evaluation.preference": 1.0,
        "subjective_evaluation.stylistic_similarity": 4.0,
        "subjective_evaluation.consistency": 5.0,
        "subjective_evaluation.empathy": 4.0,
    },
    "readme, Data Format, the example",
    differs={
        "subjective_evaluation.stylistic_similarity": Known(
            1.0, "the published file of dialogue 0000 has 1.0 where the readme's example has 4.0"
        )
    },
)
def example(data: Data) -> dict[str, Any]:
    """The record of dialogue 0000, its texts left out."""
    (found,) = (d for d in data.rows("ed", "en") if d["dialogue_id"] == "0000")
    record = data.module.to_record(found)
    parts: Row = {key: record[key] for key in ("setting", "model", "prompt", "emotion")}
    for source in ("objective_evaluation", "subjective_evaluation"):
        for name, value in record[source].items():
            listed = isinstance(value, list)
            parts[f"{source}.{name}"] = ", ".join(map(str, value)) if listed else value
    return parts


# What our card counts --------------------------------------------------------------------


@documented({"en": 314, "ja": 141}, "our card, introduction and Splits")
def dialogues_by_language(data: Data) -> dict[str, int]:
    """Rows of `dialogues`."""
    return {split: len(data.rows("dialogues", split)) for split in ("en", "ja")}


@documented(455, "our card, introduction and Fields, dialogue_id")
def distinct_dialogue_ids(data: Data) -> int:
    """Distinct `dialogue_id` over both languages and settings."""
    return len({dialogue["dialogue_id"] for dialogue in everything(data)})


@documented(186, "our card, introduction")
def dialogues_with_objective_evaluations_in_all(data: Data) -> int:
    """Rows of `dialogues` whose `objective_evaluation` is not null."""
    return sum(dialogue["objective_evaluation"] is not None for dialogue in everything(data))


@documented(31, "our card, Fields, emotion")
def emotions_in_all(data: Data) -> int:
    """Distinct `emotion` over both languages."""
    return len({dialogue["emotion"] for dialogue in everything(data)} - {None})


@documented(row(83, 83, 68, 73), "our card, How it was collected")
def dialogues_with_gpt_4o(data: Data) -> dict[str, int]:
    """Dialogues with this model."""
    return by_column(data, lambda found: sum(d["model"] == "gpt-4o" for d in found))


@documented(row(74, 74, 0, 0), "our card, How it was collected")
def dialogues_with_llama(data: Data) -> dict[str, int]:
    """Dialogues with Llama-3.1-70B-Instruct."""
    return by_column(data, lambda found: sum(d["model"] == "Llama-3.1-70B-Instruct" for d in found))


@documented(row(48, 51, 19, 20), "our card, How it was collected")
def dialogues_aligned(data: Data) -> dict[str, int]:
    """Dialogues with the prompt `aligned`."""
    return by_column(data, lambda found: sum(d["prompt"] == "aligned" for d in found))


@documented(row(56, 55, 23, 26), "our card, How it was collected")
def dialogues_neutral(data: Data) -> dict[str, int]:
    """Dialogues with the prompt `neutral`."""
    return by_column(data, lambda found: sum(d["prompt"] == "neutral" for d in found))


@documented(row(53, 51, 26, 27), "our card, How it was collected")
def dialogues_not_aligned(data: Data) -> dict[str, int]:
    """Dialogues with the prompt `not_aligned`."""
    return by_column(data, lambda found: sum(d["prompt"] == "not_aligned" for d in found))


@documented(row(157, 0, 68, 0), "our card, How it was collected: every ed dialogue, and no wow one")
def dialogues_begun_by_the_person(data: Data) -> dict[str, int]:
    """Dialogues whose first message is the person's."""
    return by_column(data, lambda found: sum(d["dialogue"][0]["speaker"] == "Human" for d in found))


@documented(
    means_and_sds("3.50 ± 0.79", "3.56 ± 0.72", "3.63 ± 0.67", "3.73 ± 0.55"),
    "our card, Annotation, objective preference, counted",
)
def published_objective_preference(data: Data) -> dict[str, float]:
    """Mean and sample SD over dialogues of the published mean, which has two decimals."""
    return mean_and_sd(data, lambda d: (d["objective_evaluation"] or {}).get("preference"))


@documented(1, "our card, Personal and sensitive information")
def messages_with_a_name_replaced(data: Data) -> int:
    """Messages that hold the placeholder <name>."""
    return sum("<name>" in message["message"] for message in messages(everything(data)))


@documented(7, "our card, Personal and sensitive information")
def most_dialogues_of_a_person(data: Data) -> int:
    """The most dialogues of one `user_id` within a setting and language."""
    counts = by_column(data, lambda found: max(Counter(map(participant, found)).values()))
    return int(max(counts.values()))


@documented({"en": 29, "ja": 25}, "our card, Personal and sensitive information")
def participants_of_both_settings(data: Data) -> dict[str, int]:
    """The `user_id` that a language has in `ed` and in `wow`."""
    people = by_column(data, participants)
    return {split: len(people[f"{split}.ed"] & people[f"{split}.wow"]) for split in ("en", "ja")}


@documented("0046, 0094, 0126, 1101", "our card, Known limits")
def dialogues_that_do_not_alternate(data: Data) -> str:
    """Dialogues in which somebody writes two messages in a row."""
    return ", ".join(
        dialogue["dialogue_id"]
        for dialogue in everything(data)
        if any(one["speaker"] == other["speaker"] for one, other in pairwise(dialogue["dialogue"]))
    )


@documented(
    "0046, 0094, 0118, 0126, 1029, 1082, 1089, 1101, 1119, 1122",
    "our card, Known limits",
)
def english_dialogues_that_the_person_ends(data: Data) -> str:
    """English dialogues whose last message is the person's."""
    return ", ".join(
        dialogue["dialogue_id"]
        for dialogue in data.rows("dialogues", "en")
        if dialogue["dialogue"][-1]["speaker"] == "Human"
    )


@documented(
    {"at the end, person": 289, "at the beginning, bot": 1, "elsewhere": 0, "line break": 18},
    "our card, Known limits",
)
def white_space(data: Data) -> dict[str, int]:
    """Messages with white space at the end or the beginning, and messages with a line break."""
    people, bots = (
        [m["message"] for m in messages(everything(data)) if m["speaker"] == speaker]
        for speaker in ("Human", "Bot")
    )
    return {
        "at the end, person": sum(text != text.rstrip() for text in people),
        "at the beginning, bot": sum(text != text.lstrip() for text in bots),
        "elsewhere": sum(text != text.lstrip() for text in people)
        + sum(text != text.rstrip() for text in bots),
        "line break": sum("\n" in text for text in people + bots),
    }


# What our card counts in the views --------------------------------------------------------


def in_view(data: Data, view: str, key: Callable[[Row], str]) -> dict[str, int]:
    """The rows of a view by split and key, like "en.Human"."""
    return {
        f"{split}.{name}": count
        for split in ("en", "ja")
        for name, count in Counter(map(key, data.rows(view, split))).items()
    }


def label(data: Data, view: str, column: str) -> Callable[[Row], str]:
    """What gives the name of a row's label."""
    feature = data.module.FEATURES[view][column]
    return lambda found: str(feature.int2str(found[column]))


@documented({"en": 6450, "ja": 2893}, "our card, Splits, rows of utterances")
def rows_of_utterances(data: Data) -> dict[str, int]:
    """Rows of `utterances`."""
    return {split: len(data.rows("utterances", split)) for split in ("en", "ja")}


@documented(
    {"en.Human": 3154, "en.Bot": 3296, "ja.Human": 1410, "ja.Bot": 1483},
    "our card, How it was collected, messages",
)
def utterances_by_speaker(data: Data) -> dict[str, int]:
    """Rows of `utterances` by `speaker`."""
    return in_view(data, "utterances", lambda found: str(found["speaker"]))


@documented(
    row(3148, 3302, 1360, 1533),
    "readme, Basic Statistics, Number of utterances, as the rows of the view",
)
def utterances_by_setting(data: Data) -> dict[str, int]:
    """Rows of `utterances` by `setting`."""
    return in_view(data, "utterances", label(data, "utterances", "setting"))


@documented({"en": 2408, "ja": 1644}, "our card, Splits, rows of ratings")
def rows_of_ratings(data: Data) -> dict[str, int]:
    """Rows of `ratings`."""
    return {split: len(data.rows("ratings", split)) for split in ("en", "ja")}


@documented(
    {"en.subjective": 1256, "en.objective": 1152, "ja.subjective": 564, "ja.objective": 1080},
    "our card, Annotation, scores in ratings",
)
def ratings_by_source(data: Data) -> dict[str, int]:
    """Rows of `ratings` by `source`."""
    return in_view(data, "ratings", label(data, "ratings", "source"))


@documented(
    {
        "en.preference": 602,
        "en.stylistic_similarity": 602,
        "en.consistency": 602,
        "en.empathy": 307,
        "en.engagingness": 295,
        "ja.preference": 411,
        "ja.stylistic_similarity": 411,
        "ja.consistency": 411,
        "ja.empathy": 203,
        "ja.engagingness": 208,
    },
    "our card, Annotation, scores in ratings",
)
def ratings_by_aspect(data: Data) -> dict[str, int]:
    """Rows of `ratings` by `aspect`."""
    return in_view(data, "ratings", label(data, "ratings", "aspect"))


@documented({"en": 314, "ja": 141}, "our card, Splits, rows of messages")
def rows_of_messages(data: Data) -> dict[str, int]:
    """Rows of `messages`."""
    return {split: len(data.rows("messages", split)) for split in ("en", "ja")}


@documented({"en": 157, "ja": 73}, "our card, What we changed, messages that begin with <start>")
def chats_that_begin_with_the_cue(data: Data) -> dict[str, int]:
    """Rows of `messages` whose first message was made from no turn."""
    return {
        split: sum(not found["source_turns"][0] for found in data.rows("messages", split))
        for split in ("en", "ja")
    }


@documented(0, "our card, What we changed, published messages that hold <start>")
def turns_that_hold_the_cue(data: Data) -> int:
    """Rows of `utterances` that hold the text <start>."""
    return sum("<start>" in found["text"] for found in data.rows("utterances", "en", "ja"))


@documented("0046, 0094, 0126, 1101", "our card, What we changed, messages joined")
def chats_with_joined_turns(data: Data) -> str:
    """Rows of `messages` in which a message was made from more than one turn."""
    return ", ".join(
        found["dialogue_id"]
        for found in data.rows("messages", "en", "ja")
        if any(len(turns) > 1 for turns in found["source_turns"])
    )


# What must hold of every build -----------------------------------------------------------

KEYS = {
    "dialogues": ("dialogue_id",),
    "ed": ("dialogue_id",),
    "wow": ("dialogue_id",),
    "utterances": ("dialogue_id", "turn"),
    "ratings": ("dialogue_id", "source", "aspect", "annotator"),
    "messages": ("dialogue_id",),
}


def every_row(data: Data) -> Iterator[tuple[str, Row]]:
    """The dialogues of every config and split that was built, each with where it stands."""
    for config in data.module.TO_RECORD:
        for split in data.splits(config):
            for dialogue in data.rows(config, split):
                yield f"{config}/{split} dialogue {dialogue['dialogue_id']}", dialogue


@check
def rows_go_back_to_records(data: Data) -> Iterator[str]:
    """Every row goes back to a record of upstream's shape, and that record gives the row.

    In this shape only the person's messages have a `user_id`, and only the bot's a `system_id`.
    """
    for place, dialogue in every_row(data):
        record = data.module.to_record(dialogue)
        shape = data.module.DIALOGUE[f"{dialogue['setting']}/{dialogue['language']}"]
        wrong = [place + problem for problem in problems(record, shape)]
        if not wrong and data.module.to_row(record) != dialogue:
            wrong = [f"{place} is not the row of its record"]
        yield from wrong


@check
def rows_stand_in_their_config_and_split(data: Data) -> Iterator[str]:
    """A dialogue's setting is its config's, and its language is its split."""
    for config in data.module.TO_RECORD:
        settings = {"ed", "wow"} if config == "dialogues" else {config}
        for split in data.splits(config):
            for dialogue in data.rows(config, split):
                if dialogue["setting"] not in settings or dialogue["language"] != split:
                    found = f"{dialogue['setting']} in {dialogue['language']}"
                    yield f"{config}/{split} dialogue {dialogue['dialogue_id']}: is {found}"


@check
def ed_and_wow_make_up_dialogues(data: Data) -> Iterator[str]:
    """`ed` and `wow` hold each dialogue of a split of `dialogues` once, with equal content."""
    for split in data.splits("dialogues"):
        if split not in data.splits("ed") or split not in data.splits("wow"):
            continue  # it was not built
        whole = {found["dialogue_id"]: found for found in data.rows("dialogues", split)}
        for setting in ("ed", "wow"):
            for found in data.rows(setting, split):
                name = found["dialogue_id"]
                if whole.pop(name, None) != found:
                    yield f"{setting}/{split}: {name} is not one of dialogues, once"
        for left in whole:
            yield f"dialogues/{split}: {left} is neither in ed nor in wow"


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
    for place, dialogue in every_row(data):
        objective = dialogue["objective_evaluation"] or {}
        for name, scores in objective.items():
            if name.endswith("_scores") and scores is not None:
                stated = objective[name.removesuffix("_scores")]
                if stated is None or round(mean(scores), 2) != stated:
                    yield f"{place}: {name} {scores} have not the mean {stated}"


@check
def a_person_talks_with_a_bot(data: Data) -> Iterator[str]:
    """Messages are numbered from 0, and those of a dialogue are one person's and one bot's."""
    for place, dialogue in every_row(data):
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
    for _, dialogue in every_row(data):
        for system in {m["system_id"] for m in dialogue["dialogue"]} - {None}:
            key = (dialogue["setting"], dialogue["language"], system)
            systems[key].add((dialogue["model"], dialogue["prompt"]))
    for (setting, language, system), found in systems.items():
        if len(found) > 1:
            yield f"system_id {system} of {setting} in {language} is {sorted(found)}"


# What must hold of the views -------------------------------------------------------------


def beside(data: Data, view: str) -> Iterator[tuple[str, list[Row], dict[str, Row]]]:
    """Each split of a view: where it stands, its rows, labels as names, and the dialogues by id."""
    labels = {
        column: feature
        for column, feature in data.module.FEATURES[view].items()
        if hasattr(feature, "int2str")
    }
    for split in data.splits(view):
        if split in data.splits("dialogues"):
            rows = [
                found | {column: labels[column].int2str(found[column]) for column in labels}
                for found in data.rows(view, split)
            ]
            dialogues = {found["dialogue_id"]: found for found in data.rows("dialogues", split)}
            yield f"{view}/{split}", rows, dialogues


def differences(place: str, found: Row, dialogue: Row) -> Iterator[str]:
    """A message for each column that a row of a view shares with its dialogue and has otherwise."""
    for column in found:
        if column in dialogue and found[column] != dialogue[column]:
            yield f"{place}: {column} is {found[column]!r}, in the dialogue {dialogue[column]!r}"


@check
def utterances_are_the_turns(data: Data) -> Iterator[str]:
    """`utterances` holds each message of `dialogues` once, in order, with what is said of it."""
    for place, rows, dialogues in beside(data, "utterances"):
        turns = [(d, turn) for d in dialogues.values() for turn in range(len(d["dialogue"]))]
        named = [(found["dialogue_id"], found["turn"]) for found in rows]
        if named != [(dialogue["dialogue_id"], turn) for dialogue, turn in turns]:
            yield f"{place}: is not each message of dialogues once, in order"
            continue
        for found, (dialogue, turn) in zip(rows, turns, strict=True):
            where = f"{place} {dialogue['dialogue_id']} {turn}"
            message = dict(dialogue["dialogue"][turn])
            message["text"] = message.pop("message")
            yield from differences(where, found, message)
            yield from differences(where, found, dialogue)


def rated(dialogue: Row) -> Iterator[tuple[str, str, dict[int | None, float], float]]:
    """The source and the aspect of each rating, its scores by annotator, and its published mean."""
    for aspect, score in dialogue["subjective_evaluation"].items():
        if score is not None:
            yield "subjective", aspect, {None: score}, score
    objective = dialogue["objective_evaluation"] or {}
    for column, scores in objective.items():
        if column.endswith("_scores") and scores is not None:
            aspect = column.removesuffix("_scores")
            yield "objective", aspect, {n: scores[n] for n in range(len(scores))}, objective[aspect]


@check
def ratings_are_those_of_the_dialogues(data: Data) -> Iterator[str]:
    """`ratings` holds each score of `dialogues`, and no other; their means are those published."""
    for place, rows, dialogues in beside(data, "ratings"):
        given: dict[tuple[str, str, str], dict[int | None, float]] = defaultdict(dict)
        for found in rows:
            name = found["dialogue_id"]
            yield from differences(f"{place} {name}", found, dialogues.get(name, {}))
            given[name, found["source"], found["aspect"]][found["annotator"]] = found["score"]
        for name, dialogue in dialogues.items():
            for source, aspect, expected, stated in rated(dialogue):
                scores = given.pop((name, source, aspect), {})
                if scores != expected or round(mean(scores.values()), 2) != stated:
                    yield f"{place} {name}: {source} {aspect} are {scores}, of mean {stated}"
        for name, source, aspect in given:
            yield f"{place} {name}: has no {source} rating of {aspect}"


@check
def messages_are_the_dialogues(data: Data) -> Iterator[str]:
    """`messages` holds each dialogue once: user and assistant in turns, user first, every turn.

    A message made from turns is their texts, joined by line breaks, all of the person (user) or
    all of the bot (assistant); only the first can be made from none, and is the cue then.
    """
    roles = {"Human": "user", "Bot": "assistant"}
    for place, rows, dialogues in beside(data, "messages"):
        if [found["dialogue_id"] for found in rows] != list(dialogues):
            yield f"{place}: is not each dialogue once, in order"
            continue
        for found, dialogue in zip(rows, dialogues.values(), strict=True):
            where = f"{place} {found['dialogue_id']}"
            chat, source, turns = found["messages"], found["source_turns"], dialogue["dialogue"]
            if [m["role"] for m in chat] != [
                ("user", "assistant")[n % 2] for n in range(len(chat))
            ]:
                yield f"{where}: user and assistant do not take turns, user first"
            if [turn for made_from in source for turn in made_from] != list(range(len(turns))):
                yield f"{where}: source_turns are not each turn once, in order"
            elif len(source) != len(chat) or not all(source[1:]):
                yield f"{where}: source_turns are not those of the messages"
            else:
                for message, made_from in zip(chat, source, strict=True):
                    said = [turns[turn]["message"] for turn in made_from] or ["<start>"]
                    sides = {roles[turns[turn]["speaker"]] for turn in made_from} or {"user"}
                    if (message["content"], {message["role"]}) != ("\n".join(said), sides):
                        yield f"{where}: a message is not the turns {made_from}"
            yield from differences(where, found, dialogue)
            yield from differences(where, found, dialogue["subjective_evaluation"])
