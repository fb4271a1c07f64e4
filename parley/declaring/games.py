"""The rules of a negotiation between two sides, as plain functions without a framework.

The sides speak in turns. A turn is a text that may end with one action in brackets:

    [Offer: TERMS]  [Accept]  [Reject]  [Walk-Away]

Accept and Reject answer the other side's last offer; an offer rejects it, too. A negotiation ends
with a deal, with a side that walks away, at the turn limit, or with a turn that cannot be read.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from parley.declaring.prediction_formats import Key
from parley.declaring.questions import (
    AMBIGUOUS,
    EMPTY,
    INVALID,
    Message,
    Playing,
    Unreadable,
    final_text,
)

DEAL, WALK_AWAY, TURN_LIMIT, UNREADABLE = "deal", "walk_away", "turn_limit", "unreadable"
_VERBS = r"(?:i )?(?:counter-? ?)?(?:offer|accept|reject|walk[ _-]*away)"
_ACTION = re.compile(rf"\[\s*({_VERBS})(\w*)\s*:?\s*([^\][]*)(\]?)", re.IGNORECASE)
_IT = ("", "offer", "the offer", "deal", "the deal", "your offer", "this offer", "this deal")
_BEGIN = "Begin the negotiation."


@dataclass(frozen=True)
class Rules:
    """The rules of a game beside those of this module.

    Args:
        roles: The two sides; the first one begins.
        prompt: Scenario, role -> the instruction of this side.
        read_offer: Scenario, role, terms -> the offer, or ValueError with the reason.
        limit: The number of turns after which the negotiation ends.
    """

    roles: tuple[str, str]
    prompt: Callable[[Any, str], str]
    read_offer: Callable[[Any, str, str], Any]
    limit: int = 20


@dataclass(frozen=True)
class State:
    """A negotiation up to now.

    Args:
        scenario: What both sides negotiate over.
        turns: (role, text) of each turn.
        offer: The offer on the table; the agreed one after a deal.
        offered_by: The role that made it, "" without an offer.
        end: "", DEAL, WALK_AWAY, TURN_LIMIT or UNREADABLE.
        reason: The reason of UNREADABLE.
    """

    scenario: Any
    turns: tuple[tuple[str, str], ...] = ()
    offer: Any = None
    offered_by: str = ""
    end: str = ""
    reason: str = ""


def turn(rules: Rules, state: State) -> str:
    """Return the role that speaks next, "" at the end."""
    return "" if state.end else rules.roles[len(state.turns) % 2]


def messages(rules: Rules, state: State) -> tuple[Message, ...]:
    """Return the chat that the next speaker sees: its own turns are the assistant's."""
    role = turn(rules, state)
    said = [
        {"role": "assistant" if speaker == role else "user", "content": text}
        for speaker, text in state.turns
    ]
    opening = [] if role != rules.roles[0] else [{"role": "user", "content": _BEGIN}]
    system = {"role": "system", "content": rules.prompt(state.scenario, role)}
    return (system, *opening, *said)


def legal(rules: Rules, state: State) -> tuple[str, ...]:
    """Return the actions that the next speaker may take."""
    if not (role := turn(rules, state)):
        return ()
    answers = ("accept", "reject") if state.offered_by not in ("", role) else ()
    return ("offer", *answers, "walk-away")


def step(rules: Rules, state: State, text: str) -> State:
    """Return the state after the next speaker's text.

    A turn that is empty, has several actions or one within its text, an action that is not legal,
    or an offer that cannot be read ends the negotiation as UNREADABLE.

    Raises:
        ValueError: the negotiation has ended.
    """
    if not (role := turn(rules, state)):
        raise ValueError(f"the negotiation has ended: {state.end}")
    text = final_text(text)
    after = replace(state, turns=(*state.turns, (role, text)))
    name, terms = _action(text)
    if name in (EMPTY, AMBIGUOUS, INVALID):
        return replace(after, end=UNREADABLE, reason=name)
    if name and name not in legal(rules, state):
        return replace(after, end=UNREADABLE, reason=f"illegal action: {name}")
    if name == "accept":
        return replace(after, end=DEAL)
    if name == "walk-away":
        return replace(after, end=WALK_AWAY)
    if name == "reject":
        after = replace(after, offer=None, offered_by="")
    if name == "offer":
        try:
            offer = rules.read_offer(state.scenario, role, terms)
        except ValueError as error:
            return replace(after, end=UNREADABLE, reason=f"invalid offer: {error}")
        after = replace(after, offer=offer, offered_by=role)
    return replace(after, end=TURN_LIMIT) if len(after.turns) >= rules.limit else after


def _action(text: str) -> tuple[str, str]:
    """Return the action at the end of a text and its terms, ("", "") without one.

    In the place of the name: EMPTY; AMBIGUOUS for several actions or one within the text; INVALID
    for one that is not closed, or has terms that it does not take.
    """
    if not text:
        return EMPTY, ""
    found = [*_ACTION.finditer(text)]
    if not found:
        return "", ""
    rest = _ACTION.sub("", text[found[0].start() :])
    actions = {(_name(match[1]), " ".join(match[3].split())) for match in found}
    if len(actions) > 1:  # an offer rejects by itself
        actions -= {("reject", terms) for terms in _IT}
    if len(actions) > 1 or re.search(r"\w", rest):
        return AMBIGUOUS, ""
    ((name, terms),) = actions
    is_odd = any(not match[4] or match[2] or match[1][:2].casefold() == "i " for match in found)
    if is_odd or (name != "offer" and terms.casefold().rstrip(".!") not in _IT):
        return INVALID, ""
    return name, terms


def _name(action: str) -> str:
    return next(
        name
        for name, part in (
            ("offer", "offer"),
            ("accept", "accept"),
            ("reject", "reject"),
            ("walk-away", "walk"),
        )
        if part in action.casefold()
    )


def make_game(
    rules: Rules,
    version: str,
    start: Callable[..., Iterable[tuple[Key, Any]]],
    points: Callable[[Any, Any], Mapping[str, float]],
    agreed: str,
    people: str,
    agents: Mapping[str, Callable[[State, str], str]],
    max_tokens: int = 200,
) -> Playing:
    """Return the game of a task.

    Args:
        rules: Its rules.
        version: A new one for every change of rules or prompts.
        start: Build and the task's options -> (key, scenario), one for each key.
        points: Scenario, the deal or None -> role -> points.
        agreed: The field of a prediction that holds the deal, an offer, None without one.
        people: The baseline of the task with the people's own deals.
        agents: Name -> a scripted agent: state, its role -> text.
        max_tokens: The longest turn, in tokens.
    """

    def begin(data: Any, **options: Any) -> Iterable[tuple[Key, State]]:
        return ((key, State(scenario)) for key, scenario in start(data, **options))

    def result(state: State) -> Mapping[str, Any] | Unreadable:
        if state.end == UNREADABLE:
            return Unreadable(state.reason)
        end = {"end": TURN_LIMIT} if state.end == TURN_LIMIT else {}
        return {agreed: state.offer if state.end == DEAL else None, **end}

    def points_of(state: State, fields: Mapping[str, Any]) -> Mapping[str, float]:
        return points(state.scenario, fields[agreed]) if agreed in fields else {}

    def speak(agent: Callable[[State, str], str], state: State) -> str:
        return agent(state, turn(rules, state))

    scripted = {name: partial(speak, agent) for name, agent in agents.items()}
    return Playing(
        version,
        rules.roles,
        begin,
        partial(turn, rules),
        partial(messages, rules),
        partial(step, rules),
        result,
        points_of,
        agreed,
        people,
        scripted,
        max_tokens,
    )


def play(game: Playing, state: Any, players: Mapping[str, Callable[[Any], str]]) -> Any:
    """Return the state at the end of a game between players: role -> state -> text."""
    while role := game.turn(state):
        state = game.step(state, players[role](state))
    return state
