"""CaSiNo's records: their shapes, the files that hold them, and how several files join."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from parley import Checked, ClassLabel, Data, Field, File

from .pins import PINS
from .scenarios import ISSUES, PACKAGES, SIDES, points_of

Record = dict[str, Any]

PARTNER = {"mturk_agent_1": "mturk_agent_2", "mturk_agent_2": "mturk_agent_1"}
STRATEGY = ClassLabel(  # after the paper's section 3, in our own words
    {
        "small-talk": "talks about other things than the negotiation, to build rapport",
        "showing-empathy": "acknowledges the partner's personal situation, or feels with it",
        "promote-coordination": "offers a trade or mutual concession, or suggests cooperation",
        "no-need": "says that the speaker does not need an item",
        "elicit-pref": "asks about the partner's preferences",
        "uv-part": "plays down the partner's need for an item",
        "vouch-fair": "appeals to fairness, for the speaker's own benefit",
        "self-need": "argues that the speaker needs an item personally",
        "other-need": "argues that others than the speaker need an item, such as children",
        "non-strategic": "uses none of the nine strategies",
    }
)
STRATEGIES = STRATEGY.names
SATISFACTION = [
    "Extremely dissatisfied", "Slightly dissatisfied", "Undecided", "Slightly satisfied",
    "Extremely satisfied",
]  # fmt: skip
LIKENESS = [
    "Extremely dislike", "Slightly dislike", "Undecided", "Slightly like", "Extremely like",
]  # fmt: skip
ANSWERS = {"accept_deal": "Accept-Deal", "reject_deal": "Reject-Deal", "walk_away": "Walk-Away"}
GENDERS = ["female", "male", "other"]
ORIENTATIONS = {  # after the paper's section 2, in our own words
    "prosocial": "tends to cooperate in negotiations",
    "proself": "tends to be individualistic",
    "unclassified": "",
}

ITEM = Field(set(ISSUES), "the item of this priority")
REASON = Field(str, "the reason for this priority, as the participant wrote it before the chat")


def by_level(*levels: str) -> dict[str, Field]:
    """Return the fields that hold a side's priorities, and its reasons for them."""
    return {
        "value2issue": Field(dict.fromkeys(levels, ITEM), "the side's order of the items"),
        "value2reason": Field(dict.fromkeys(levels, REASON), "the side's reasons for its order"),
    }


OUTCOME = {
    "points_scored": Field(
        int,
        "5, 4 and 3 for each package of the high, medium and low priority, at most 36; 5 for both "
        "sides after a walk-away",
    ),
    "satisfaction": Field(set(SATISFACTION), "how satisfied the side is with the outcome"),
    "opponent_likeness": Field(set(LIKENESS), "how much the side likes its partner"),
}
ETHNICITY = Field(
    {
        "white american", "black or african american", "asian american", "hispanic or latino",
        "multi-racial", "alaska native or native american",
        "native hawaiian or other specific islander", "other (please specify)",
    },
    "ethnicity",
)  # fmt: skip
EDUCATION = Field(
    {
        "some high school, no diploma", "high school graduate / ged", "trade school",
        "some 2 year college, no degree", "some 2 year college, associate's degree",
        "some 4 year college, no degree", "some 4 year college, bachelor's degree",
        "master's degree", "doctorate degree",
    },
    "the highest level of education",
)  # fmt: skip
DEMOGRAPHICS = {
    "age": Field(int, "as the participant typed it (see Known limits in the card)", "years"),
    "gender": Field(set(GENDERS), "gender"),
    "ethnicity": ETHNICITY,
    "education": EDUCATION,
}
TRAITS = (
    "extraversion", "agreeableness", "conscientiousness", "emotional-stability",
    "openness-to-experiences",
)  # fmt: skip
TRAIT = Field(float, "score of the Ten-Item Personality Inventory, 1 to 7 in steps of 0.5")
PERSONALITY = {
    "svo": Field(set(ORIENTATIONS), "social value orientation"),
    "big-five": Field(dict.fromkeys(TRAITS, TRAIT), "the five traits"),
}

_ACTIONS = {"Submit-Deal", *ANSWERS.values()}
_counts = dict.fromkeys(ISSUES, Field({"0", "1", "2", "3"}, "packages of this item"))
_side = Field(
    {
        **by_level("Low", "Medium", "High"),
        "outcomes": Field(OUTCOME, "what came of the dialogue for the side"),
        "demographics": Field(DEMOGRAPHICS, "the participant's own statements"),
        "personality": Field(PERSONALITY, "scores of the survey"),
    },
    "a side's priorities, outcome and person",
)


def annotation(pair: list[str]) -> None:
    """Check an [utterance, "label,label"] pair; upstream has an empty label in one of them."""
    if len(pair) != 2 or not {"", *STRATEGIES}.issuperset(pair[1].split(",")):
        raise ValueError(f"an utterance and labels among {', '.join(STRATEGIES)}")


ENTRY = {
    "text": Field(str, f"the utterance, or `Submit-Deal`, `{'`, `'.join(ANSWERS.values())}`"),
    "task_data": Field(
        (
            {"data": Field(set(ANSWERS), "the side's decision")},
            {
                "issue2youget": Field(_counts, "packages for the side that submits"),
                "issue2theyget": Field(_counts, "packages for the other side"),
            },
            {},
        ),
        "the deal action; all null for an utterance",
    ),
    "id": Field(set(SIDES), "the side that acts"),
}
DIALOGUE = {
    "dialogue_id": Field(int, "upstream's number of the dialogue, from 0"),
    "chat_logs": Field([ENTRY], "utterances and deal actions, in order"),
    "participant_info": Field(dict.fromkeys(SIDES, _side), "the two sides"),
    "annotations": Field(
        [Checked([str], annotation)],
        "an `[utterance, labels]` pair for each annotated utterance, in order, the labels joined "
        "by commas (see Annotation in the card); empty without annotation",
    ),
}

_guess = {"partner_highest_item": set(ISSUES), "partner_lowest_item": set(ISSUES)}
GUESSES = {str: {"mturk_agent_1": _guess, "mturk_agent_2": _guess}}  # by a dialogue's id
FOLDS = {
    "seeds": [int],
    "cvs": {number: {"train": [int], "val": [int], "test": [int]} for number in "01234"},
}


def labelled(record: Record) -> Iterator[tuple[int, Record, list[str] | None]]:
    """Yield the turn, the chat entry and its labels, None if it has none.

    Annotations follow the utterances by text, in order, and pass over some of them and over
    the deal actions. A label may be empty. The record may be a row of `dialogues`.
    """
    pending = list(record["annotations"])
    for turn, entry in enumerate(record["chat_logs"]):
        said = not any(entry["task_data"].values())
        found = said and pending and entry["text"] == pending[0][0]
        yield turn, entry, pending.pop(0)[1].split(",") if found else None
    if pending:
        where = f"annotations[{len(record['annotations']) - len(pending)}]"
        expected = f"the text of a chat entry that follows, found {pending[0][0]!r:.60}"
        raise ValueError(f"dialogue {record['dialogue_id']}: {where}: expected {expected}")


def counts(items: dict[str, str] | None) -> dict[str, int] | None:
    """Return upstream's item counts, which are strings, as integers."""
    return {issue: int(items[issue]) for issue in ISSUES} if items else None


def items_of(record: Record) -> dict[str, Any]:
    """Return each side's packages by the last deal submitted; None after Walk-Away."""
    if record["chat_logs"][-1]["task_data"].get("data") != "accept_deal":
        return dict.fromkeys(PARTNER)
    deal = [each for each in record["chat_logs"] if each["task_data"].get("issue2youget")][-1]
    return {
        deal["id"]: counts(deal["task_data"]["issue2youget"]),
        PARTNER[deal["id"]]: counts(deal["task_data"]["issue2theyget"]),
    }


def require_sound(record: dict[str, Any]) -> None:
    """Raise ValueError if a record contradicts itself.

    In upstream's records, the text of each deal action names the action. A deal shares out three
    packages of each issue, and the other side answers in the next entry. Accepting or walking away
    ends the dialogue. The points are those of the deal. Each annotation has its utterance.
    """

    def refuse(field: str, expected: str, found: Any) -> None:
        raise ValueError(f"{field}: expected {expected}, found {found!r:.60}")

    last = len(record["chat_logs"]) - 1
    if last < 0:
        refuse("chat_logs", "at least one entry", [])
    submitter = None  # of the entry before
    for turn, entry in enumerate(record["chat_logs"]):
        task, text, side = entry["task_data"], entry["text"], entry["id"]
        answer, deal = task.get("data"), "issue2youget" in task
        named = "Submit-Deal" if deal else ANSWERS[answer] if answer else None
        if text != named and (named or text in _ACTIONS):
            refuse(f"chat_logs[{turn}].text", f"that of the task_data {task}", text)
        if (answer in ("accept_deal", "walk_away")) != (turn == last):
            refuse(f"chat_logs[{turn}].task_data.data", "the last entry alone to end it", answer)
        if answer in ("accept_deal", "reject_deal") and submitter != PARTNER[side]:
            refuse(f"chat_logs[{turn}].id", "the other side's deal before this", side)
        for issue in ISSUES if deal else ():
            shares = [int(task[key][issue]) for key in ("issue2youget", "issue2theyget")]
            if sum(shares) != PACKAGES:
                refuse(f"chat_logs[{turn}].task_data: {issue}", "three in all", shares)
        submitter = side if deal else None
    items = items_of(record)
    for side, info in record["participant_info"].items():
        worth, got = info["value2issue"], items[side]
        if {*worth.values()} != {*ISSUES}:
            refuse(f"participant_info.{side}.value2issue", "each issue once", worth)
        points = points_of(worth, got)
        if points != (found := info["outcomes"]["points_scored"]):
            field = f"participant_info.{side}.outcomes.points_scored"
            refuse(field, f"{points} by the deal", found)
    for _ in labelled(record):
        pass


def _dialogues(path: str) -> File:
    return File(path, DIALOGUE, validate=require_sound, **PINS[path])


def _later(name: str, shape: Any) -> File:
    path = f"opponent-modeling/{name}"
    return File(path, shape, read="json value", **PINS[path])


DATA = _dialogues("data/casino.json")
OFFICIAL = {
    split: [_dialogues(f"data/split/casino_{name}.json")]
    for split, name in (("train", "train"), ("validation", "valid"), ("test", "test"))
}
GUESSING = _later("casino_ix2guessing.json", GUESSES)
SEEDS = _later("data_splits_seeds.json", FOLDS)


def with_guesses(sources: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each dialogue with its `guesses` from the other file.

    Raises ValueError unless the file has guesses of exactly these dialogues.
    """
    dialogues, (guesses,) = map(list, sources.values())
    numbers = {str(record["dialogue_id"]) for record in dialogues}
    if wrong := sorted(guesses.keys() ^ numbers):
        due = f"{GUESSING.path}: expected guesses of the {len(numbers)} dialogues"
        found = (f"{'none' if each in numbers else 'some'} of {each}" for each in wrong[:5])
        raise ValueError(f"{due}, found {', '.join(found)}")
    for record in dialogues:
        yield {**record, "guesses": guesses[str(record["dialogue_id"])]}


def guesses_again(data: Data, split: str) -> Iterator[dict[str, Any]]:
    """Yield the same records from the rows of a build, the guesses from `participants`."""
    sides: dict[int, dict[str, Any]] = {}
    for row in data.rows("participants", split):
        guess = {column: row[f"guess_{column}"] for column in _guess}
        sides.setdefault(row["dialogue_id"], {})[row["speaker"]] = guess
    for row in data.rows("dialogues"):
        record, guesses = data.record("dialogues", row), sides.get(row["dialogue_id"], {})
        yield {**record, "guesses": {side: guesses.get(side, {}) for side in SIDES}}


def folds(sources: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the folds, each with its number and the seeds."""
    (found,) = sources[SEEDS.path]
    for number, parts in found["cvs"].items():
        ids = {FOLD_PARTS[name]: each for name, each in parts.items()}
        yield {"fold": int(number), "seeds": found["seeds"], **ids}


def unfolded(records: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the record of all folds: the inverse of `folds`."""
    found: dict[str, Any] = {}
    for record in records:
        parts = {name: record[part] for name, part in FOLD_PARTS.items()}
        found = {"cvs": {**found.get("cvs", {}), str(record["fold"]): parts}}
        found["seeds"] = record["seeds"]
    yield SEEDS.path, found


FOLD_PARTS = {"train": "train", "val": "validation", "test": "test"}  # upstream's name -> column
FOLD = {
    "fold": Field(int, "upstream's number of the fold, from 0"),
    **{
        part: Field([int], "the `dialogue_id` of each dialogue of this part, ascending")
        for part in FOLD_PARTS.values()
    },
    "seeds": Field([int], "upstream's seeds, equal in all rows; their use is not documented"),
}
