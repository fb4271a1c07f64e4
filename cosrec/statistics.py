"""CoSRec's documented figures, in the order of the documents, each with its computation.

readme: upstream's README.md at commit 1057270; an earlier one has no introduction.
our card: README.md of this folder, where it says "counted".
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from parley.figures import Data, Known, check, documented
from parley.shapes import problems

PARTS = ("crowd", "curated")  # the annotated ones: each a config, and its only split
TYPES = ("search", "recommendation", "product_details")
LABELS = (0, 1, 2)

# What the figures are computed from ------------------------------------------------------


def annotated(data: Data, *parts: str) -> list[dict[str, Any]]:
    """The annotated conversations, of these parts or of both."""
    return [row for part in parts or PARTS for row in data.rows(part, part)]


def judgments(data: Data) -> list[dict[str, Any]]:
    """The rows of `qrels`."""
    return data.rows("qrels", "curated")


def turns(rows: list[dict[str, Any]], role: str) -> int:
    """How many turns a role has."""
    return sum(turn["role"] == role for row in rows for turn in row["turns"])


def ratings(data: Data, *parts: str) -> list[dict[str, int]]:
    """The ratings, one a conversation and rater."""
    return [rating for row in annotated(data, *parts) for rating in row["ratings"] or ()]


def users(data: Data, *parts: str) -> list[dict[str, Any]]:
    """The users of all conversations."""
    return [user for row in annotated(data, *parts) for user in row["users"] or ()]


def annotations(data: Data) -> list[dict[str, Any]]:
    """The annotated utterances of crowd."""
    return [entry for row in annotated(data, "crowd") for entry in row["intent_annotations"] or ()]


def lists(data: Data) -> list[list[dict[str, str]]]:
    """What one annotator saw in one utterance of crowd, for all of both."""
    return [seen for entry in annotations(data) for seen in entry["intent_annotations"]]


def reviewed(data: Data) -> list[dict[str, Any]]:
    """The utterances of curated with reviewed intents."""
    return [entry for row in annotated(data, "curated") for entry in row["intents"] or ()]


def intents(data: Data) -> list[dict[str, Any]]:
    """The reviewed intents of curated."""
    return [intent for entry in reviewed(data) for intent in entry["intents"]]


def intent_id(query_id: str) -> str:
    """A query id without the user index."""
    return query_id.partition("#")[0]


def conversation_id(intent: str) -> str:
    """The conversation of an intent's id, which is <conversation_id>_<utterance>_<index>."""
    return intent.rsplit("_", 2)[0]


def judged(data: Data) -> list[dict[str, Any]]:
    """The rows of `queries`."""
    return data.rows("queries", "curated")


def kind(data: Data, row: dict[str, Any]) -> str:
    """The type that a row of `qrels`, `queries` or `intents` has, by name."""
    return str(data.module.FEATURES["queries"]["type"].int2str(row["type"]))


def user_indices(data: Data) -> dict[str, set[int]]:
    """The user indices that the judgments of each curated conversation use."""
    found: dict[str, set[int]] = {key: set() for key in numbers_of_users(data)}
    for query_id in {row["query_id"] for row in judgments(data)}:
        intent, _, index = query_id.partition("#")
        if index:
            found.setdefault(conversation_id(intent), set()).add(int(index))
    return found


def numbers_of_users(data: Data) -> Counter[str]:
    """How many users each curated conversation has in keywords and profiles."""
    rows = annotated(data, "curated")
    return Counter({row["conversation_id"]: len(row["users"] or ()) for row in rows})


def asked(data: Data, name: str, what: str) -> tuple[int, int]:
    """The m and n of "from m to n" before what a prompt asks for; 0 if it does not say so."""
    texts = {row["name"]: row["text"] for row in data.rows("prompts", "prompts")}
    found = re.search(rf"from (\d+) to (\d+) {what}", texts.get(name, ""))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def span(values: Iterable[int]) -> dict[str, int]:
    """The fewest and the most."""
    found = list(values)
    return {"fewest": min(found), "most": max(found)}


def by_type(found: Iterable[str]) -> dict[str, int]:
    """How often each type of intent occurs."""
    counts = Counter(found)
    return {kind: counts[kind] for kind in TYPES}


# readme, introduction: conversations ------------------------------------------------------


@documented("3", "readme, introduction")
def percent_annotated(data: Data) -> float:
    """Conversations of crowd and curated in a hundred of all; the readme says approximately 3."""
    return 100 * len(annotated(data)) / len(data.rows("dialogues", "raw", *PARTS))


@documented(20, "readme, introduction")
def judged_conversations(data: Data) -> int:
    """Conversations with judgments of at least one of their intents."""
    return len({conversation_id(intent_id(row["query_id"])) for row in judgments(data)})


@documented(9249, "readme, introduction")
def number_of_conversations(data: Data) -> int:
    """Rows of `dialogues`, all three splits."""
    return len(data.rows("dialogues", "raw", *PARTS))


@documented(8938, "readme, introduction and Repository Structure")
def raw_conversations(data: Data) -> int:
    """Rows of `dialogues`, split raw."""
    return len(data.rows("dialogues", "raw"))


@documented(71656, "readme, introduction")
def raw_utterances(data: Data) -> int:
    """Turns of the user in raw."""
    return turns(data.rows("dialogues", "raw"), "user")


@documented({"crowd": 291, "curated": 20}, "readme, introduction and Repository Structure")
def annotated_conversations(data: Data) -> dict[str, int]:
    """Rows of `dialogues`, split crowd or curated."""
    return {part: len(data.rows("dialogues", part)) for part in PARTS}


@documented({"crowd": 2329, "curated": 150}, "readme, introduction")
def annotated_utterances(data: Data) -> dict[str, int]:
    """Turns of the user in crowd or curated."""
    return {part: turns(data.rows("dialogues", part), "user") for part in PARTS}


# readme, introduction: annotation ---------------------------------------------------------


@documented(311, "readme, introduction")
def rated_conversations(data: Data) -> int:
    """Conversations of crowd and curated with ratings."""
    return sum(bool(row["ratings"]) for row in annotated(data))


@documented(
    99,
    "readme, introduction",
    not_reproducible="neither the ratings nor the intents say which annotator gave them",
)
def annotators(data: Data) -> None:
    """Distinct annotators."""


@documented({"aspects": 4, "lowest": 1, "highest": 5}, "readme, introduction")
def rating_scale(data: Data) -> dict[str, int]:
    """Aspects that every rating has, and the extremes over crowd and curated."""
    values = {value for rating in ratings(data) for value in rating.values()} - {None}
    aspects = min(len(rating) for rating in ratings(data))
    return {"aspects": aspects, "lowest": min(values), "highest": max(values)}


@documented(3, "readme, introduction")
def types_of_intents(data: Data) -> int:
    """Distinct types of intents in crowd and curated."""
    crowd = {intent["type"] for seen in lists(data) for intent in seen}
    return len(crowd | {intent["type"] for intent in intents(data)})


@documented(
    0,
    "readme, introduction: each utterance was annotated by multiple annotators",
    differs=Known(5, "CoSRec-Crowd_220 has one list an utterance; the files do not say why"),
)
def utterances_with_a_single_annotator(data: Data) -> int:
    """Annotated utterances of crowd with the list of only one annotator."""
    return sum(len(entry["intent_annotations"]) == 1 for entry in annotations(data))


@documented("17e3", "readme, introduction")
def thousands_of_judgments(data: Data) -> int:
    """Rows of `qrels`."""
    return len(judgments(data))


@documented("0, 1, 2", "readme, introduction")
def relevance_labels(data: Data) -> str:
    """The labels that occur."""
    return ", ".join(map(str, sorted({row["relevance"] for row in judgments(data)})))


# readme, Repository Structure -------------------------------------------------------------


@documented(4, "readme, Repository Structure and Prompts; our card, Splits")
def number_of_prompts(data: Data) -> int:
    """Rows of `prompts`."""
    return len(data.rows("prompts", "prompts"))


# readme, CoSRec Curated: the user index ---------------------------------------------------


@documented(
    {"lowest": 0, "highest": 4},
    "readme, CoSRec Curated, second note",
    differs={"highest": Known(3, "no judgment has the index 4; the files do not say why")},
)
def user_index(data: Data) -> dict[str, int]:
    """The extremes of <user_index> in the query ids."""
    found = set().union(*user_indices(data).values())
    return {"lowest": min(found), "highest": max(found)}


@documented(
    20,
    "readme, CoSRec Curated, second note: an index is the place of a user of the conversation",
    differs=Known(
        0,
        "every conversation has one index more than users in keywords and profiles;"
        " which index is without a user is not documented",
    ),
)
def conversations_whose_indices_are_places_of_users(data: Data) -> int:
    """Curated conversations in which each index is smaller than the number of users."""
    numbers = numbers_of_users(data)
    return sum(max(used, default=-1) < numbers[key] for key, used in user_indices(data).items())


# readme, Scripts and Prompts --------------------------------------------------------------


@documented(
    12312760,
    "readme, Scripts, Conversations Generation, catalogue_size",
    not_reproducible="the catalogue AR-filtered is not part of the files",
)
def products_of_the_catalogue(data: Data) -> None:
    """Products of the filtered Amazon Reviews catalogue."""


@documented(
    10,
    "readme, Prompts; our card, How it was collected",
    not_reproducible="the passages retrieved for a conversation are not part of the files",
)
def passages_a_conversation(data: Data) -> None:
    """Passages of MS MARCO retrieved for a conversation."""


# our card, introduction -------------------------------------------------------------------


@documented(17464, "our card, introduction and Splits")
def number_of_judgments(data: Data) -> int:
    """Rows of `qrels`."""
    return len(judgments(data))


# our card, Fields -------------------------------------------------------------------------


@documented({"fewest": 4, "most": 5}, "our card, Fields, `ratings`")
def ratings_a_conversation(data: Data) -> dict[str, int]:
    """Ratings of a conversation of crowd or curated."""
    return span(len(row["ratings"] or ()) for row in annotated(data))


@documented(0, "our card, Fields, `ratings`, `intent_annotations` and `intents`: null nowhere")
def conversations_without_annotation(data: Data) -> int:
    """Conversations of crowd and curated in which ratings or intents are null."""
    names = ("ratings", "intent_annotations", "intents")
    return sum(any(row.get(name, "") is None for name in names) for row in annotated(data))


@documented(0, "our card, Fields, `users`: ordered by id")
def conversations_with_users_out_of_order(data: Data) -> int:
    """Conversations of crowd and curated whose users are not in the order of their ids."""
    found = ([user["user_id"] for user in row["users"] or ()] for row in annotated(data))
    return sum(ids != sorted(ids) for ids in found)


@documented({"with": 184, "without": 107}, "our card, Fields, `users`, and Known limits")
def crowd_conversations_with_users(data: Data) -> dict[str, int]:
    """Crowd conversations with users in keywords and profiles, and those without any."""
    found = Counter(row["users"] is None for row in annotated(data, "crowd"))
    return {"with": found[False], "without": found[True]}


@documented(0, "our card, Fields, `users`: null in crowd alone")
def curated_conversations_without_users(data: Data) -> int:
    """Curated conversations without users in keywords and profiles."""
    return sum(row["users"] is None for row in annotated(data, "curated"))


@documented({"fewest": 28, "most": 28}, "our card, Fields, `users[].user_id`")
def characters_of_a_user_id(data: Data) -> dict[str, int]:
    """Characters of a user id."""
    return span(len(user["user_id"]) for user in users(data))


@documented({"fewest": 1, "most": 13}, "our card, Fields, `users[].keywords`")
def keywords_a_user(data: Data) -> dict[str, int]:
    """Keywords of a user."""
    return span(len(user["keywords"]) for user in users(data))


@documented({"crowd": 23, "curated": 0}, "our card, Fields, `users[].profile`, and Known limits")
def users_without_profile(data: Data) -> dict[str, int]:
    """Users with keywords whose profile is null."""
    return {part: sum(user["profile"] is None for user in users(data, part)) for part in PARTS}


@documented({"fewest": 1, "most": 6}, "our card, Fields, `intent_annotations`")
def annotators_an_utterance(data: Data) -> dict[str, int]:
    """Lists of an annotated utterance of crowd, one an annotator."""
    return span(len(entry["intent_annotations"]) for entry in annotations(data))


@documented({"fewest": 1, "most": 2}, "our card, Fields, `intents`")
def intents_an_utterance(data: Data) -> dict[str, int]:
    """Reviewed intents of a curated utterance that has any."""
    return span(len(entry["intents"]) for entry in reviewed(data))


@documented({"fewest": 1, "most": 5}, "our card, Fields, `query_variants`")
def variants_an_intent(data: Data) -> dict[str, int]:
    """Formulations of a reviewed intent."""
    return span(len(intent["query_variants"]) for intent in intents(data))


# our card, How it was collected -----------------------------------------------------------


@documented({"crowd": 2277, "curated": 146}, "our card, How it was collected")
def turns_of_the_assistant(data: Data) -> dict[str, int]:
    """Turns of the assistant in crowd or curated."""
    return {part: turns(data.rows("dialogues", part), "assistant") for part in PARTS}


# our card, Annotation ---------------------------------------------------------------------


@documented({"crowd": 1378, "curated": 94}, "our card, Annotation, Ratings")
def number_of_ratings(data: Data) -> dict[str, int]:
    """Ratings, one a conversation and rater."""
    return {part: len(ratings(data, part)) for part in PARTS}


@documented({"crowd": 2052, "curated": 126}, "our card, Annotation, Intents")
def utterances_with_annotations(data: Data) -> dict[str, int]:
    """Utterances that are listed in the intents of their conversation."""
    return {"crowd": len(annotations(data)), "curated": len(reviewed(data))}


@documented({"all": 9217, "empty": 738}, "our card, Annotation, Intents, crowd")
def lists_of_annotators(data: Data) -> dict[str, int]:
    """Lists of one annotator for one utterance, and those that hold no intent."""
    return {"all": len(lists(data)), "empty": lists(data).count([])}


@documented({"crowd": 8851, "curated": 143}, "our card, Annotation, Intents")
def number_of_intents(data: Data) -> dict[str, int]:
    """Intents: of every annotator in crowd, reviewed in curated."""
    return {"crowd": sum(map(len, lists(data))), "curated": len(intents(data))}


@documented(
    {"search": 2520, "recommendation": 3157, "product_details": 3174},
    "our card, Annotation, Intents, crowd",
)
def crowd_intents(data: Data) -> dict[str, int]:
    """Intents of every annotator in crowd, by type."""
    return by_type(intent["type"] for seen in lists(data) for intent in seen)


@documented({"crowd": 8851, "curated": 143}, "our card, Annotation, Intents, config `intents`")
def rows_of_intents(data: Data) -> dict[str, int]:
    """Rows of `intents`, by split."""
    return {part: len(data.rows("intents", part)) for part in PARTS}


@documented(0, "our card, Annotation, Intents, crowd: the same number in one conversation")
def crowd_conversations_with_uneven_lists(data: Data) -> int:
    """Crowd conversations whose utterances have different numbers of annotators' lists."""
    return sum(len(numbers_of_lists(row)) > 1 for row in annotated(data, "crowd"))


def numbers_of_lists(row: dict[str, Any]) -> set[int]:
    """The numbers of annotators' lists that the utterances of a crowd conversation have."""
    return {len(entry["intent_annotations"]) for entry in row["intent_annotations"] or ()}


@documented(
    {"search": 43, "recommendation": 62, "product_details": 38},
    "our card, Annotation, Intents, curated",
)
def curated_intents(data: Data) -> dict[str, int]:
    """Reviewed intents in curated, by type."""
    return by_type(intent["type"] for intent in intents(data))


@documented(
    {
        "search, queries": 43,
        "search, judgments": 2314,
        "search, documents": 2131,
        "recommendation, queries": 225,
        "recommendation, judgments": 15150,
        "recommendation, documents": 6351,
    },
    "our card, Annotation, Judgments",
)
def judgments_by_type(data: Data) -> dict[str, int]:
    """Distinct queries, rows and distinct documents of `qrels`, by type."""
    table = {}
    for name in ("search", "recommendation"):
        rows = [row for row in judgments(data) if kind(data, row) == name]
        table[f"{name}, queries"] = len({row["query_id"] for row in rows})
        table[f"{name}, judgments"] = len(rows)
        table[f"{name}, documents"] = len({row["document_id"] for row in rows})
    return table


@documented({"0": 6150, "1": 4793, "2": 6521}, "our card, Annotation, Judgments")
def judgments_by_label(data: Data) -> dict[str, int]:
    """Rows of `qrels`, by relevance."""
    counts = Counter(row["relevance"] for row in judgments(data))
    return {str(label): counts[label] for label in LABELS}


@documented(
    {"search": 43, "recommendation": 62, "product_details": 0},
    "our card, Annotation, Judgments: all intents of the first two types, none of the third",
)
def judged_intents(data: Data) -> dict[str, int]:
    """Reviewed intents with judgments, by type."""
    judged = {intent_id(row["query_id"]) for row in judgments(data)}
    return by_type(intent["type"] for intent in intents(data) if intent["id"] in judged)


@documented(
    {"search": 43, "recommendation": 225, "product_details": 0},
    "our card, Annotation, Judgments, config `queries`",
)
def rows_of_queries(data: Data) -> dict[str, int]:
    """Rows of `queries`, by type."""
    return by_type(kind(data, row) for row in judged(data))


@documented({"fewest": 24, "most": 122}, "our card, Annotation, Judgments")
def documents_a_query(data: Data) -> dict[str, int]:
    """Documents judged for a query."""
    return span(len(row["judgments"]) for row in judged(data))


# our card, Personal and sensitive information ---------------------------------------------


@documented({"users": 590, "distinct": 590}, "our card, Personal and sensitive information")
def number_of_users(data: Data) -> dict[str, int]:
    """Users of the conversations of crowd and curated, and distinct ids among them."""
    ids = [user["user_id"] for user in users(data)]
    return {"users": len(ids), "distinct": len(set(ids))}


# our card, Known limits -------------------------------------------------------------------


@documented(20, "our card, Known limits")
def conversations_with_one_index_more_than_users(data: Data) -> int:
    """Curated conversations with one distinct user index more than users."""
    numbers = numbers_of_users(data)
    return sum(len(used) == numbers[key] + 1 for key, used in user_indices(data).items())


@documented(20, "our card, Known limits")
def crowd_conversations_that_lack_profiles(data: Data) -> int:
    """Crowd conversations in which some user has keywords but no profile."""
    rows = annotated(data, "crowd")
    return sum(any(user["profile"] is None for user in row["users"] or ()) for row in rows)


@documented(5, "our card, Known limits")
def keywords_asked_for(data: Data) -> int:
    """The most keywords a user that user_keywords_prompt allows."""
    return asked(data, "user_keywords_prompt", "keywords")[1]


@documented({"too many": 12, "one twice": 5, "an empty one": 2}, "our card, Known limits")
def users_with_odd_keywords(data: Data) -> dict[str, int]:
    """Users with more keywords than the prompt allows, with one twice, or with an empty one."""
    found = [user["keywords"] for user in users(data)]
    most = asked(data, "user_keywords_prompt", "keywords")[1]
    return {
        "too many": sum(len(keywords) > most for keywords in found),
        "one twice": sum(len(set(keywords)) < len(keywords) for keywords in found),
        "an empty one": sum("" in keywords for keywords in found),
    }


@documented({"crowd": 9, "curated": 0}, "our card, Known limits")
def conversations_that_do_not_alternate(data: Data) -> dict[str, int]:
    """Conversations in which a speaker has two turns in a row."""
    return {
        part: sum(
            any(one["role"] == next_one["role"] for one, next_one in pairwise(row["turns"]))
            for row in data.rows("dialogues", part)
        )
        for part in PARTS
    }


@documented({"crowd": 61, "curated": 4}, "our card, Known limits")
def conversations_that_end_with_the_user(data: Data) -> dict[str, int]:
    """Conversations whose last turn is the user's."""
    return {
        part: sum(row["turns"][-1]["role"] == "user" for row in data.rows("dialogues", part))
        for part in PARTS
    }


@documented({"fewest": 6, "most": 8}, "our card, Known limits")
def utterances_asked_for(data: Data) -> dict[str, int]:
    """Utterances that conversation_generation_prompt asks for."""
    return span(asked(data, "conversation_generation_prompt", "utterances"))


@documented({"fewest": 8, "most": 34}, "our card, Known limits")
def turns_a_crowd_conversation(data: Data) -> dict[str, int]:
    """Turns of both speakers in a crowd conversation."""
    return span(len(row["turns"]) for row in data.rows("dialogues", "crowd"))


@documented({"fewest": 11, "most": 22}, "our card, Known limits")
def turns_a_curated_conversation(data: Data) -> dict[str, int]:
    """Turns of both speakers in a curated conversation."""
    return span(len(row["turns"]) for row in data.rows("dialogues", "curated"))


@documented(103, "our card, Known limits")
def crowd_conversations_with_other_raters(data: Data) -> int:
    """Crowd conversations with other numbers of ratings and of annotators' lists an utterance."""
    rows = annotated(data, "crowd")
    return sum(numbers_of_lists(row) != {len(row["ratings"] or ())} for row in rows)


@documented(2, "our card, Known limits")
def judgments_of_products_in_lower_case(data: Data) -> int:
    """Judgments for recommendations whose product id has lower-case letters."""
    rows = [row for row in judgments(data) if kind(data, row) == "recommendation"]
    return sum(row["document_id"] != row["document_id"].upper() for row in rows)


@documented(
    {"highly relevant": 7, "relevant at all": 0, "not relevant": 4}, "our card, Known limits"
)
def queries_without_a_document(data: Data) -> dict[str, int]:
    """Queries for which no document was judged highly relevant, 2; relevant, 1 or 2; not, 0."""
    rows = judged(data)
    return {
        "highly relevant": sum(not row["judged_2"] for row in rows),
        "relevant at all": sum(not row["judged_1"] + row["judged_2"] for row in rows),
        "not relevant": sum(not row["judged_0"] for row in rows),
    }


@documented(11, "our card, Known limits")
def repeated_intents(data: Data) -> int:
    """Intents of crowd that their annotator gave before, in the same words, for the utterance."""
    columns = ("dialogue_id", "utterance", "annotator", "type")
    rows = data.rows("intents", "crowd")
    return len(rows) - len({(*(r[c] for c in columns), *r["formulations"]) for r in rows})


# our card, What we changed ----------------------------------------------------------------


@documented(3, "our card, What we changed")
def intents_with_several_longest_formulations(data: Data) -> int:
    """Reviewed intents with more than one formulation of the greatest length."""
    sizes = [list(map(len, row["formulations"])) for row in data.rows("intents", "curated")]
    return sum(found.count(max(found)) > 1 for found in sizes)


@documented({"crowd": 4597, "curated": 296}, "our card, What we changed")
def messages_of_chats(data: Data) -> dict[str, int]:
    """Messages of the chats in `messages`, crowd and curated."""
    return {part: sum(len(c["messages"]) for c in data.rows("messages", part)) for part in PARTS}


@documented({"joined": 9, "with the cue": 0}, "our card, What we changed")
def chats_that_differ_from_their_turns(data: Data) -> dict[str, int]:
    """Chats of crowd and curated with a message of several turns, and those with `<start>`."""
    chats = data.rows("messages", *PARTS)
    return {
        "joined": sum(any(len(turns) > 1 for turns in chat["source_turns"]) for chat in chats),
        "with the cue": sum([] in chat["source_turns"] for chat in chats),
    }


# What must hold of every build ------------------------------------------------------------

KEYS = {
    "dialogues": ("conversation_id",),
    "crowd": ("conversation_id",),
    "curated": ("conversation_id",),
    "qrels": ("query_id", "document_id"),
    "prompts": ("name",),
    "queries": ("query_id",),
    "intents": ("dialogue_id", "utterance", "annotator", "index"),
    "messages": ("dialogue_id",),
}


def built(data: Data, config: str) -> list[dict[str, Any]]:
    """The rows of all splits of a config that are there."""
    return data.rows(config, *data.splits(config))


@check
def rows_go_back_to_records(data: Data) -> Iterator[str]:
    """Every row goes back to records of upstream's shape, and these give the row again."""
    for config, to_record in data.module.TO_RECORD.items():
        for row in built(data, config):
            name = " ".join(row[column] for column in KEYS[config])
            try:
                record = to_record(row)
                found = list(record_problems(data, config, record))
                if not found and data.module.TO_ROW[config](record) != row:
                    found = [": the record gives another row"]
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                found = [f": has no record: {error!r}"]
            for problem in found:
                yield f"{config} {name}{problem}"


def record_problems(data: Data, config: str, record: Any) -> Iterator[str]:
    """How the record of a row differs from the shape of upstream's."""
    shapes = data.module.LINES
    if config == "dialogues":
        yield from problems(record, shapes["conversations"])
    elif config == "qrels":
        yield from problems(record, data.module.judgment)
    elif config == "prompts":
        yield from problems(record["text"], data.module.PROMPT)
    else:  # what the lines of several files hold for a conversation
        for name in record.keys() - {"conversation_id"}:
            yield from problems({name: record[name]}, shapes[name])


@check
def no_conversation_is_in_two_splits(data: Data) -> Iterator[str]:
    """The splits of `dialogues` have no conversation in common."""
    seen: dict[str, str] = {}
    for split in data.splits("dialogues"):
        for row in data.rows("dialogues", split):
            if (other := seen.setdefault(row["conversation_id"], split)) != split:
                yield f"dialogues: {row['conversation_id']} is in {other} and {split}"


@check
def annotated_conversations_are_those_of_dialogues(data: Data) -> Iterator[str]:
    """`crowd` and `curated` hold the conversations of these splits of `dialogues`, turn by turn."""
    for part in PARTS:
        if part not in data.splits(part) or part not in data.splits("dialogues"):
            continue  # one was not built
        whole = {row["conversation_id"]: row["turns"] for row in data.rows("dialogues", part)}
        for row in data.rows(part, part):
            if whole.pop(row["conversation_id"], None) != row["turns"]:
                yield f"{part}: {row['conversation_id']} is not one of dialogues, once"
        for left in whole:
            yield f"dialogues/{part}: {left} is not in {part}"


@check
def utterances_with_intents_exist(data: Data) -> Iterator[str]:
    """Intents are listed once an utterance, which is a turn of the user."""
    for part, column in (("crowd", "intent_annotations"), ("curated", "intents")):
        for row in built(data, part):
            left = set(range(turns([row], "user")))
            for entry in row[column] or ():
                if entry["utterance"] not in left:
                    where = f"{part}: {row['conversation_id']}"
                    yield f"{where} has no utterance {entry['utterance']}, or lists it twice"
                left.discard(entry["utterance"])


@check
def intent_ids_have_the_documented_form(data: Data) -> Iterator[str]:
    """The id of an intent is <conversation_id>_<utterance>_<index>, the index from 0 on."""
    for row in built(data, "curated"):
        for entry in row["intents"] or ():
            for index, intent in enumerate(entry["intents"]):
                due = f"{row['conversation_id']}_{entry['utterance']}_{index}"
                if intent["id"] != due:
                    yield f"curated: expected the intent id {due}, found {intent['id']}"


@check
def users_are_told_apart(data: Data) -> Iterator[str]:
    """A conversation has each user once, and a profile belongs to a user with keywords."""
    for part in PARTS:
        for row in built(data, part):
            where = f"{part}: {row['conversation_id']}"
            counts = Counter(user["user_id"] for user in row["users"] or ())
            for user_id in (user_id for user_id, count in counts.items() if count > 1):
                yield f"{where} has the user {user_id} twice"
            for user in row["users"] or ():
                if user["user_id"] is None or user["keywords"] is None:
                    yield f"{where} has a user {user['user_id']} without id or keywords"


@check
def judgments_are_of_intents(data: Data) -> Iterator[str]:
    """A query id is a search intent's, or a recommendation intent's with # and 0 to 4.

    So intents of type product_details have no judgments. The column `type` is the intent's.
    """
    if not data.splits("curated"):
        return  # was not built
    types = {
        intent["id"]: intent["type"]
        for row in built(data, "curated")
        for entry in row["intents"] or ()
        for intent in entry["intents"]
    }
    rows = built(data, "qrels")
    queries = {(row["query_id"], kind(data, row)): None for row in rows}  # in order
    for query_id, stated in queries:
        form = re.fullmatch(r"([^#]*)(#[0-4])?", query_id)
        if form is None:
            yield f"qrels: {query_id} is not of the form <intent id> or <intent id>#<0 to 4>"
            continue
        due = "recommendation" if form[2] else "search"
        found = types.get(form[1])
        if not found == due == stated:
            yield f"qrels: {query_id} is of type {stated} and refers to {found or 'no'} intent"


@check
def queries_are_the_judged_intents(data: Data) -> Iterator[str]:
    """`queries` has the queries of `qrels`, in order, and of each its judgments and its intent."""
    if not (data.splits("queries") and data.splits("qrels") and data.splits("curated")):
        return  # one was not built
    due: dict[str, list[dict[str, Any]]] = {}
    for row in built(data, "qrels"):
        judgment = {"document_id": row["document_id"], "relevance": row["relevance"]}
        due.setdefault(row["query_id"], []).append(judgment)
    rows = built(data, "queries")
    if [row["query_id"] for row in rows] != list(due):
        yield "queries: the query ids are not those of qrels, in their order"
    known = {
        intent["id"]: (conversation, entry["utterance"], intent)
        for conversation in built(data, "curated")
        for entry in conversation["intents"] or ()
        for intent in entry["intents"]
    }
    for row in rows:
        where = f"queries: {row['query_id']}"
        if row["judgments"] != due.get(row["query_id"]):
            yield f"{where} has not the judgments of qrels"
        found = Counter(judgment["relevance"] for judgment in row["judgments"])
        if any(row[f"judged_{label}"] != found[label] for label in LABELS):
            yield f"{where} has other numbers of judgments than judgments"
        index = "" if row["user_index"] is None else f"#{row['user_index']}"
        if row["query_id"] != row["intent_id"] + index:
            yield f"{where} does not consist of intent_id and user_index"
        if row["intent_id"] not in known:
            yield f"{where}: curated has no intent {row['intent_id']}"
            continue
        conversation, utterance, intent = known[row["intent_id"]]
        place = [row["dialogue_id"], row["utterance"], row["turn"]]
        if place != [conversation["conversation_id"], utterance, turn_of(conversation, utterance)]:
            yield f"{where} does not stand where its intent does"
        if [kind(data, row), row["variants"]] != [intent["type"], intent["query_variants"]]:
            yield f"{where} is not of the type of its intent, or not in its words"
        if row["text"] not in row["variants"] or len(row["text"]) < max(map(len, row["variants"])):
            yield f"{where}: the text is not the longest formulation"


def turn_of(conversation: dict[str, Any], utterance: int) -> int:
    """The place among all turns of an utterance, a place among the user's."""
    roles = [turn["role"] for turn in conversation["turns"]]
    places = [place for place, role in enumerate(roles) if role == "user"]
    return places[utterance]


@check
def intents_stand_in_their_dialogues(data: Data) -> Iterator[str]:
    """An intent has the text of its turn, which is the user's, and the turns before it."""
    for part in data.splits("intents"):
        if part not in data.splits("dialogues"):
            continue  # was not built
        turns_of = {row["conversation_id"]: row["turns"] for row in data.rows("dialogues", part)}
        for row in data.rows("intents", part):
            where = f"intents/{part}: {row['dialogue_id']}, turn {row['turn']}"
            turns = turns_of.get(row["dialogue_id"], [])
            whole = [{"speaker": turn["role"], "text": turn["text"]} for turn in turns]
            context, place = row["context"], row["turn"]
            spoken = {"speaker": row["speaker"], "text": row["text"]}
            if row["speaker"] != "user" or whole[place : place + 1] != [spoken]:
                yield f"{where}: the text is not that of a turn of the user"
            if len(context) != place or context != whole[:place]:
                yield f"{where}: the context is not the turns before it"
            if [turn["speaker"] for turn in context].count("user") != row["utterance"]:
                yield f"{where} is not the utterance {row['utterance']}"


@check
def intents_are_those_of_the_annotation(data: Data) -> Iterator[str]:
    """`intents` has every intent of `crowd` and `curated`, once, in order, and no other."""
    for part in PARTS:
        if part not in data.splits("intents") or part not in data.splits(part):
            continue  # one was not built
        due = [intent for row in data.rows(part, part) for intent in annotated_intents(row)]
        found = [
            {
                "dialogue_id": row["dialogue_id"],
                **{name: row[name] for name in ("utterance", "annotator", "annotators", "index")},
                "type": kind(data, row),
                **{name: row[name] for name in ("formulations", "intent_id", "product")},
            }
            for row in data.rows("intents", part)
        ]
        if len(found) != len(due):
            yield f"intents/{part}: {len(found)} rows, but {part} has {len(due)} intents"
        for number, (one, other) in enumerate(zip(found, due, strict=False)):
            if one != other:
                yield f"intents/{part}[{number}]: expected {other}, found {one}"


def annotated_intents(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The intents of a row of `crowd` or `curated`, with the names that `intents` has for them."""
    for entry in row.get("intents") or row.get("intent_annotations") or ():
        place = {"dialogue_id": row["conversation_id"], "utterance": entry["utterance"]}
        for index, intent in enumerate(entry.get("intents", ())):
            yield {
                **place,
                "annotator": None,
                "annotators": None,
                "index": index,
                "type": intent["type"],
                "formulations": intent["query_variants"],
                "intent_id": intent["id"],
                "product": intent["product"],
            }
        for annotator, seen in enumerate(entry.get("intent_annotations", ())):
            for index, intent in enumerate(seen):
                yield {
                    **place,
                    "annotator": annotator,
                    "annotators": len(entry["intent_annotations"]),
                    "index": index,
                    "type": intent["type"],
                    "formulations": [intent["query"]],
                    "intent_id": None,
                    "product": None,
                }


@check
def messages_are_the_dialogues(data: Data) -> Iterator[str]:
    """Chats alternate, the user first, and join back to the turns of their dialogue, each once."""
    for part in data.splits("messages"):
        if part not in data.splits("dialogues"):
            continue  # was not built
        left = {row["conversation_id"]: row["turns"] for row in data.rows("dialogues", part)}
        for row in data.rows("messages", part):
            where = f"messages/{part}: {row['dialogue_id']}"
            spoken = left.pop(row["dialogue_id"], None)
            if spoken is None:
                yield f"{where} is not one of dialogues, once"
                continue
            chat, sources = row["messages"], row["source_turns"]
            roles = [message["role"] for message in chat]
            if roles != [("user", "assistant")[n % 2] for n in range(len(chat))]:
                yield f"{where} does not alternate, beginning with the user"
            if [n for turns in sources for n in turns] != list(range(len(spoken))):
                yield f"{where}: source_turns do not cover each turn once, in order"
                continue
            due = [
                {
                    "role": spoken[turns[0]]["role"],
                    "content": "\n".join(spoken[n]["text"] for n in turns),
                }
                for turns in sources
                if turns
            ]
            if not sources[0] and spoken[0]["role"] == "assistant":
                due.insert(0, {"role": "user", "content": "<start>"})
            if chat != due:
                yield f"{where} does not say what the turns do"
        yield from (f"dialogues/{part}: {name} is not in messages" for name in left)


@check
def ratings_of_chats_are_means(data: Data) -> Iterator[str]:
    """`messages` has the number of ratings and their means; null where there is none, as in raw."""
    aspects = ("coherence", "logicality", "informativeness", "fluency")
    for part in data.splits("messages"):
        if part in PARTS and part not in data.splits(part):
            continue  # was not built
        rows = data.rows(part, part) if part in PARTS else []
        given = {row["conversation_id"]: row["ratings"] for row in rows}
        for row in data.rows("messages", part):
            ratings = given.get(row["dialogue_id"]) or []
            due = {
                aspect: sum(rating[aspect] for rating in ratings) / len(ratings)
                if ratings
                else None
                for aspect in aspects
            }
            if {"raters": len(ratings) or None, **due} != {n: row[n] for n in ("raters", *aspects)}:
                yield f"messages/{part}: {row['dialogue_id']} has not the means of its ratings"
