"""CoSRec's documented figures, and the numbers that were counted for its card.

readme: upstream's README.md at commit 1057270; an earlier one has no introduction.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations, pairwise
from typing import Any

from parley import Data, Differs, MissingSplitError, counted, documented

from .catalogue.sources import PRODUCTS_IN_ALL
from .rows import TYPES

Row = dict[str, Any]

PARTS = ("crowd", "curated")  # the annotated ones: each a config, and its only split
ALL = ("raw", *PARTS)
JUDGED = ("search", "recommendation")  # the types with judgments
ASKED_FOR = ("utterances", "keywords")  # what the prompts limit
ENTRIES = {"crowd": "intent_annotations", "curated": "intents"}  # the column of utterances
WITHOUT_CATALOGUE = (
    "this needs the raw files of the catalogue, 377 GB; the card that `parley run cosrec catalogue`"
    " writes has documented and counted numbers"
)


def per_part(count: Callable[[str], Any]) -> dict[str, Any]:
    """A count of crowd, and of curated."""
    return {part: count(part) for part in PARTS}


def annotated(data: Data, *parts: str) -> list[Row]:
    """The annotated conversations, of these parts or of both."""
    return [row for part in parts or PARTS for row in data.rows(part, part)]


def turns(data: Data, part: str, role: str) -> int:
    """Number of turns of a role in a part."""
    rows = data.rows("dialogues", part)
    return sum(turn["role"] == role for row in rows for turn in row["turns"])


def ratings(data: Data, *parts: str) -> list[dict[str, int]]:
    """The ratings, one a conversation and rater."""
    return [rating for row in annotated(data, *parts) for rating in row["ratings"] or ()]


def users(data: Data, *parts: str) -> list[Row]:
    """The users of all conversations."""
    return [user for row in annotated(data, *parts) for user in row["users"] or ()]


def utterances(data: Data, part: str) -> list[Row]:
    """The utterances that crowd lists with annotations, or curated with reviewed intents."""
    return [entry for row in annotated(data, part) for entry in row[ENTRIES[part]] or ()]


def lists(data: Data) -> list[list[dict[str, str]]]:
    """The lists of intents of crowd: one for each annotator of each utterance."""
    return [seen for entry in utterances(data, "crowd") for seen in entry["intent_annotations"]]


def numbers_of_lists(row: Row) -> set[int]:
    """The distinct numbers of lists of a crowd conversation's utterances."""
    return {len(entry["intent_annotations"]) for entry in row["intent_annotations"] or ()}


def intents(data: Data, part: str) -> list[Row]:
    """The intents: of every annotator in crowd, reviewed in curated."""
    if part == "crowd":
        return [intent for seen in lists(data) for intent in seen]
    return [intent for entry in utterances(data, part) for intent in entry["intents"]]


def judgments(data: Data) -> list[Row]:
    """The rows of `qrels`."""
    return data.rows("qrels", "curated")


def judged_intents(data: Data) -> set[str]:
    """The ids of intents with judgments: query ids without the user index."""
    return {row["query_id"].partition("#")[0] for row in judgments(data)}


def dialogue_id(intent_id: str) -> str:
    """The conversation of an intent, <dialogue_id>_<utterance>_<index>."""
    return intent_id.rsplit("_", 2)[0]


def user_indices(data: Data) -> Iterator[tuple[set[int], int]]:
    """Yield the user indices in the judgments and the users of each curated conversation."""
    found: dict[str, set[int]] = defaultdict(set)
    for intent_id, _, index in {row["query_id"].partition("#") for row in judgments(data)}:
        if index:
            found[dialogue_id(intent_id)].add(int(index))
    for row in annotated(data, "curated"):
        yield found[row["dialogue_id"]], len(row["users"] or ())


def span(values: Iterable[int]) -> dict[str, int]:
    """The fewest and the most."""
    found = list(values)
    return {"fewest": min(found), "most": max(found)}


@documented(
    "readme, introduction",
    {
        "conversations": 9249,
        "percent annotated": "3",
        "judged conversations": 20,
        "rated conversations": 311,
        "aspects of a rating": 4,
        "lowest rating": 1,
        "highest rating": 5,
        "types of intents": 3,
        "judgments": "17e3",
        "relevance labels": "0, 1, 2",
    },
)
def introduction(data: Data, what: str) -> float | str:
    """The readme's numbers of crowd and curated; conversations and percentage also of raw."""
    rated, scores = annotated(data), ratings(data)
    values = {value for rating in scores for value in rating.values()} - {None}
    counts: dict[str, Callable[[], float | str]] = {
        "conversations": lambda: len(data.rows("dialogues", *ALL)),
        "percent annotated": lambda: 100 * len(rated) / len(data.rows("dialogues", *ALL)),
        "judged conversations": lambda: len({*map(dialogue_id, judged_intents(data))}),
        "rated conversations": lambda: sum(bool(row["ratings"]) for row in rated),
        "aspects of a rating": lambda: min(map(len, scores)),
        "lowest rating": lambda: min(values),
        "highest rating": lambda: max(values),
        "types of intents": lambda: len(
            types_of(intents(data, "crowd") + intents(data, "curated"))
        ),
        "judgments": lambda: len(judgments(data)),
        "relevance labels": lambda: ", ".join(
            sorted({str(row["relevance"]) for row in judgments(data)})
        ),
    }
    return counts[what]()


ROWS = {"dialogues": {"raw": 8938, "crowd": 291, "curated": 20}}


@documented("readme, introduction and Repository Structure", ROWS["dialogues"])
def conversations(data: Data, part: str) -> int:
    """Rows of `dialogues`, by split."""
    return len(data.rows("dialogues", part))


@documented("readme, introduction", {"raw": 71656, "crowd": 2329, "curated": 150})
def turns_of_the_user(data: Data, part: str) -> int:
    """Turns of the user, which the readme calls utterances, by split of `dialogues`."""
    return turns(data, part, "user")


@documented(
    "readme, introduction", 99, not_reproducible="neither ratings nor intents name their annotator"
)
def annotators(data: Data) -> None:
    """Distinct annotators."""


@documented(
    "readme, introduction: each utterance was annotated by multiple annotators",
    Differs(0, 5, "CoSRec-Crowd_220 has one list for each utterance; the files give no reason"),
)
def utterances_with_a_single_annotator(data: Data) -> int:
    """Annotated utterances of crowd with one annotator's list only."""
    return sum(len(entry["intent_annotations"]) == 1 for entry in utterances(data, "crowd"))


@documented("readme, Repository Structure and Prompts", 4)
def number_of_prompts(data: Data) -> int:
    """Rows of `prompts`."""
    return len(data.rows("prompts", "prompts"))


@documented(
    "readme, CoSRec Curated, second note",
    {
        "lowest": 0,
        "highest": Differs(4, 3, "no judgment has the index 4; the files give no reason"),
    },
)
def user_index(data: Data) -> dict[str, int]:
    """The lowest and highest <user_index> in the query ids."""
    found = {index for indices, _ in user_indices(data) for index in indices}
    return {"lowest": min(found), "highest": max(found)}


ONE_MORE = (
    "every conversation has one index more than users in keywords and profiles; "
    "upstream does not document which index lacks a user"
)


@documented(
    "readme, CoSRec Curated, second note: an index is the place of a user of the conversation",
    Differs(20, 0, ONE_MORE),
)
def conversations_whose_indices_are_places_of_users(data: Data) -> int:
    """Curated conversations in which each index is smaller than the number of users."""
    return sum(max(indices, default=-1) < number for indices, number in user_indices(data))


@documented("readme, Scripts, Conversations Generation, catalogue_size", PRODUCTS_IN_ALL)
def products_of_the_catalogue(data: Data) -> int:
    """Products of the filtered Amazon Reviews catalogue."""
    raise MissingSplitError(WITHOUT_CATALOGUE)


@documented(
    "readme, Prompts",
    10,
    not_reproducible="the passages retrieved for a conversation are not part of the files",
)
def passages_a_conversation(data: Data) -> None:
    """Passages of MS MARCO retrieved for a conversation."""


@counted()
def lengths(data: Data) -> dict[str, dict[str, int]]:
    """The fewest and the most entries of a list, and the fewest and most characters of a user id.

    The lists: ratings of a conversation, keywords of a user, annotators' lists of an utterance of
    crowd, reviewed intents of an utterance of curated, formulations of such an intent.
    """
    holders = {
        "ratings": annotated(data),
        "user_id": users(data),
        "keywords": users(data),
        "intent_annotations": utterances(data, "crowd"),
        "intents": utterances(data, "curated"),
        "query_variants": intents(data, "curated"),
    }
    return {name: span(len(each[name] or ()) for each in some) for name, some in holders.items()}


@counted()
def conversations_by_mean_rating(data: Data) -> dict[str, int]:
    """Conversations of crowd and curated whose mean rating is 3.5 to 4, 4 to 4.5, 4.5 to 5."""
    ratings = ([v for rating in row["ratings"] for v in rating.values()] for row in annotated(data))
    halves = Counter(2 * sum(values) // len(values) for values in ratings)
    return {"3.5": halves[7], "4.0": halves[8], "4.5": halves[9] + halves[10]}


def types_of(seen: list[dict[str, str]]) -> set[str]:
    """The types of a list of intents."""
    return {intent["type"] for intent in seen}


@counted(decimals=1)
def lists_of_two_annotators(data: Data) -> dict[str, float]:
    """Pairs of lists of one utterance, and the percentage with the same types."""
    pairs = (combinations(entry["intent_annotations"], 2) for entry in utterances(data, "crowd"))
    alike = [types_of(one) == types_of(other) for one, other in chain.from_iterable(pairs)]
    return {"pairs": len(alike), "percent_alike": 100 * sum(alike) / len(alike)}


@counted()
def unanimous(data: Data) -> dict[str, int]:
    """Utterances of crowd whose lists have the same types: all, and those with an intent."""
    found = [
        {frozenset(types_of(seen)) for seen in entry["intent_annotations"]}
        for entry in utterances(data, "crowd")
    ]
    return {
        "utterances": len(found),
        "alike": sum(len(each) == 1 for each in found),
        "alike_of_rows": sum(len(each - {frozenset()}) == 1 for each in found),
    }


@counted()
def intents_by_type(data: Data) -> dict[str, Counter[str]]:
    """Intents by type: every annotator's in crowd, the reviewed ones in curated."""
    return per_part(lambda part: Counter(intent["type"] for intent in intents(data, part)))


@counted()
def judgments_by_type(data: Data) -> dict[str, dict[str, int]]:
    """Distinct queries, rows and distinct documents of `qrels`, by type and in all."""

    def count(*types: str) -> dict[str, int]:
        rows = [row for row in data.rows_with_names("qrels", "curated") if row["type"] in types]
        return {
            "queries": len({row["query_id"] for row in rows}),
            "judgments": len(rows),
            "documents": len({row["document_id"] for row in rows}),
        }

    return {type_: count(type_) for type_ in JUDGED} | {"all": count(*JUDGED)}


@counted()
def judgments_by_label(data: Data) -> Counter[str]:
    """Rows of `qrels`, by relevance."""
    return Counter(str(row["relevance"]) for row in judgments(data))


@counted()
def judged_intents_by_type(data: Data) -> dict[str, int]:
    """Reviewed intents with judgments, by type."""
    judged = judged_intents(data)
    found = [intent["type"] for intent in intents(data, "curated") if intent["id"] in judged]
    return {type_: found.count(type_) for type_ in TYPES}


@counted()
def documents_a_query(data: Data) -> dict[str, int]:
    """Documents judged for a query."""
    return span(len(row["judgments"]) for row in data.rows("queries", "curated"))


@counted()
def number_of_users(data: Data) -> dict[str, int]:
    """Users in crowd and curated, and their distinct ids."""
    ids = [user["user_id"] for user in users(data)]
    return {"users": len(ids), "distinct": len(set(ids))}


@counted()
def conversations_with(data: Data) -> dict[str, dict[str, int]]:
    """Conversations that do not alternate or that the user ends; fewest and most turns."""

    def count(part: str) -> dict[str, int]:
        found = [[turn["role"] for turn in row["turns"]] for row in data.rows("dialogues", part)]
        return {
            "two_turns_in_a_row": sum(any(a == b for a, b in pairwise(roles)) for roles in found),
            "the_user_last": sum(roles[-1] == "user" for roles in found),
            "fewest_turns": min(map(len, found)),
            "most_turns": max(map(len, found)),
        }

    return per_part(count)


@counted()
def of_each_part(data: Data) -> dict[str, dict[str, int]]:
    """Counts of crowd, and of curated.

    Utterances are those with intents: every annotator's, or the reviewed ones.
    """
    counts: dict[str, Callable[[str], int]] = {
        "turns of the assistant": lambda part: turns(data, part, "assistant"),
        "ratings": lambda part: len(ratings(data, part)),
        "utterances": lambda part: len(utterances(data, part)),
        "intents": lambda part: len(intents(data, part)),
        "with users": lambda part: sum(row["users"] is not None for row in annotated(data, part)),
        "without users": lambda part: sum(row["users"] is None for row in annotated(data, part)),
        "users without profile": lambda part: sum(
            user["profile"] is None for user in users(data, part)
        ),
        "messages": lambda part: sum(len(row["messages"]) for row in data.rows("messages", part)),
    }
    return {name: per_part(count) for name, count in counts.items()}


@counted()
def conversations_that_have(data: Data) -> dict[str, int]:
    """Conversations of crowd and curated, from `uneven_lists` on of crowd alone, with an oddity.

    One distinct user index more than users; other numbers of ratings and of annotators' lists an
    utterance; utterances with different numbers of lists.
    """
    rows, names = annotated(data), ("ratings", *ENTRIES.values())
    ids = [[user["user_id"] for user in row["users"] or ()] for row in rows]
    lists = [(numbers_of_lists(row), row) for row in annotated(data, "crowd")]
    return {
        "no_annotation": sum(any(row.get(name, "") is None for name in names) for row in rows),
        "users_out_of_order": sum(each != sorted(each) for each in ids),
        "one_index_more_than_users": sum(len(i) == n + 1 for i, n in user_indices(data)),
        "uneven_lists": sum(len(numbers) > 1 for numbers, _ in lists),
        "users_without_profile": sum(
            any(user["profile"] is None for user in row["users"] or ()) for _, row in lists
        ),
        "other_raters": sum(numbers != {len(row["ratings"] or ())} for numbers, row in lists),
    }


@counted()
def lists_of_annotators(data: Data) -> dict[str, int]:
    """Lists of one annotator for one utterance: all, and the empty ones."""
    return {"all": len(lists(data)), "empty": lists(data).count([])}


@counted()
def exceptions(data: Data) -> dict[str, int]:
    """What is rarely so.

    Intents that repeat one of the same annotator and utterance word for word; judged products
    whose id has lower-case letters; reviewed intents with several formulations of the greatest
    length.
    """
    columns = ("dialogue_id", "utterance", "annotator", "type")
    seen = [
        (*(r[c] for c in columns), *r["formulations"]) for r in data.rows("intent_labels", "crowd")
    ]
    products = [
        r for r in data.rows_with_names("qrels", "curated") if r["type"] == "recommendation"
    ]
    sizes = [list(map(len, row["formulations"])) for row in data.rows("intent_labels", "curated")]
    return {
        "repeated intents": len(seen) - len(set(seen)),
        "lower case": sum(r["document_id"] != r["document_id"].upper() for r in products),
        "several longest": sum(found.count(max(found)) > 1 for found in sizes),
    }


@counted()
def queries_without_a_document(data: Data) -> dict[str, int]:
    """Queries without a document judged highly relevant (2), relevant (1 or 2), or not (0)."""
    judged = {"highly_relevant": (2,), "relevant": (1, 2), "not_relevant": (0,)}
    rows = data.rows("queries", "curated")
    return {
        name: sum(not any(row[f"judged_{label}"] for label in labels) for row in rows)
        for name, labels in judged.items()
    }


@counted()
def utterances_that_are_not(data: Data) -> dict[str, dict[str, int]]:
    """Entries whose utterance number is not their place in the list, or not half their turn."""

    def misplaced(part: str) -> int:
        entries = (enumerate(row[ENTRIES[part]]) for row in annotated(data, part))
        return sum(place != entry["utterance"] for row in entries for place, entry in row)

    def not_half(part: str) -> int:
        rows = data.rows("intent_labels", part)
        return len({(r["dialogue_id"], r["turn"]) for r in rows if r["turn"] != 2 * r["utterance"]})

    return {"their_place": per_part(misplaced), "half_their_turn": per_part(not_half)}


@counted()
def judgments_of_documents_with_a_number_sign(data: Data) -> dict[str, int]:
    """Judgments of documents with # in their id, by type."""
    rows = data.rows_with_names("qrels", "curated")
    found = [row["type"] for row in rows if "#" in row["document_id"]]
    return {type_: found.count(type_) for type_ in JUDGED}


@counted()
def asked_for(data: Data) -> dict[str, dict[str, int]]:
    """Utterances and keywords of a user that the prompts ask for: "from m to n"."""
    text = "\n".join(row["text"] for row in data.rows("prompts", "prompts"))
    found = {what: re.findall(rf"from (\d+) to (\d+) {what}", text) for what in ASKED_FOR}
    return {
        what: {"fewest": int(fewest), "most": int(most)}
        for what, ((fewest, most),) in found.items()
    }


@counted()
def users_with_odd_keywords(data: Data) -> dict[str, int]:
    """Users with too many keywords for the prompt, with one twice, or with an empty one."""
    found = [user["keywords"] for user in users(data)]
    most = asked_for(data)["keywords"]["most"]
    return {
        "too_many": sum(len(keywords) > most for keywords in found),
        "one_twice": sum(len(set(keywords)) < len(keywords) for keywords in found),
        "an_empty_one": sum("" in keywords for keywords in found),
    }


@counted()
def chats_that_differ_from_their_turns(data: Data) -> dict[str, int]:
    """Chats of crowd and curated with a message of several turns, and those with `<start>`."""
    chats = data.rows("messages", *PARTS)
    return {
        "joined": sum(any(len(turns) > 1 for turns in chat["source_turns"]) for chat in chats),
        "with_the_cue": sum([] in chat["source_turns"] for chat in chats),
    }
