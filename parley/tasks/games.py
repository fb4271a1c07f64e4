"""The rules of a negotiation between two sides, without a framework.

The sides speak in turns. A turn is a text that may hold one action, on a line of its own:

    [Offer: TERMS]  [Accept]  [Reject]  [Walk-Away]

Accept and Reject answer the other side's last offer; an offer rejects it, too. A negotiation ends
with a deal, with a side that walks away, or at the turn limit. A malformed turn is empty, or has
several actions, or one that is part of a sentence, cannot be read or is not legal. Nothing happens
in it, and the rules warn its side, which walks away at the third warning.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from parley.schema.shapes import Checked, Field
from parley.tasks.answers import EMPTY, TRUNCATED
from parley.tasks.prediction_formats import Key
from parley.tasks.prompts import BEGIN, GAME_RULE, SILENCE, WARNING, Message
from parley.tasks.thoughts import final_text

DEAL, WALK_AWAY, TURN_LIMIT = "deal", "walk_away", "turn_limit"
LIMIT = 20  # turns, unless others are asked for
WARNINGS = 3  # of a side, at the last of which it walks away
_ACTION = re.compile(
    r"\[\s*(?:i )?(?:counter-? ?)?(offer|accept|reject|walk[ _-]*away)(\w*)\s*:?\s*([^\][]*)(\]?)",
    re.IGNORECASE,
)
_UNCLOSED = re.compile(r"\[[^\][]*$")  # a bracket that a token limit may have left open
_IT = ("", "offer", "the offer", "deal", "the deal", "your offer", "this offer", "this deal")


@dataclass(frozen=True)
class PlayedTurn:
    """What a side says, "" for nothing, and why the turn is malformed, "" if it is not."""

    role: str
    text: str
    fault: str = ""


@dataclass(frozen=True)
class NegotiationState:
    """A negotiation up to now.

    Args:
        scenario: What both sides negotiate over.
        limit: The number of turns of both sides after which it ends.
        turns: The turns up to now.
        offer: The offer on the table; the agreed one after a deal.
        offered_by: The role that made it, "" without an offer.
        end: "", DEAL, WALK_AWAY (of the last turn's side) or TURN_LIMIT.
    """

    scenario: Any
    limit: int = LIMIT
    turns: tuple[PlayedTurn, ...] = ()
    offer: Any = None
    offered_by: str = ""
    end: str = ""


@dataclass(frozen=True)
class Playing:
    """A negotiation between two models, played once for each key of a task.

    Args:
        version: A new one for every change of rules or prompts.
        roles: The two sides; the first one begins.
        scenarios: Build and the task's options -> (key, scenario), one for each key.
        prompt: Scenario, role -> this side's knowledge, aim and actions. The turn limit and the
            rule of malformed turns are added.
        read_offer: Scenario, role, terms -> the offer, or ValueError with the reason.
        points: Scenario, the deal or None -> role -> points.
        agreed: The field of a prediction that holds the deal, an offer, None without one.
        agents: Name -> a scripted agent: state, its role -> text.
        max_tokens: The longest turn, in tokens.
    """

    version: str
    roles: tuple[str, str]
    scenarios: Callable[..., Iterable[tuple[Key, Any]]]
    prompt: Callable[[Any, str], str]
    read_offer: Callable[[Any, str, str], Any]
    points: Callable[[Any, Any], Mapping[str, float]]
    agreed: str
    agents: Mapping[str, Callable[[NegotiationState, str], str]]
    max_tokens: int = 200

    @property
    def fields(self) -> dict[str, Field]:
        """The fields of a prediction beside its key and the deal; a prediction may lack each."""
        counts = {role: Checked(int, _not_negative) for role in self.roles}
        return {
            "end?": Field({TURN_LIMIT}, "only if the negotiation ended at its turn limit"),
            "walked_away?": Field(
                {*self.roles},
                "the side that walked away, also by its third malformed turn, if one did",
            ),
            "turns?": Field(counts, "the number of turns of each side, if known"),
            "malformed?": Field(counts, "the number of malformed turns of each side, if known"),
        }

    def turn(self, state: NegotiationState) -> str:
        """Return the role that speaks next, "" at the end."""
        return "" if state.end else self.roles[len(state.turns) % 2]

    def speak(self, agent: str, state: NegotiationState) -> str:
        """Return the next turn of a scripted agent."""
        return self.agents[agent](state, self.turn(state))

    def messages(self, state: NegotiationState) -> tuple[Message, ...]:
        """Return the chat that the next speaker sees: its own turns are the assistant's.

        A warning stands before the other side's answer. The other side's malformed turns are
        without their actions, so that nobody answers an offer that was not made.
        """
        role = self.turn(state)
        rule = GAME_RULE.format(limit=state.limit)
        chat = [{"role": "system", "content": f"{self.prompt(state.scenario, role)}\n{rule}"}]
        if role == self.roles[0]:
            chat.append({"role": "user", "content": BEGIN})
        warnings, warning = 0, ""
        for turn in state.turns:
            if turn.role == role:
                chat.append({"role": "assistant", "content": turn.text or SILENCE})
                warning = ""
                if turn.fault:
                    warnings += 1
                    warning = WARNING.format(turn.fault, warnings, WARNINGS)
            else:
                text = _ACTION.sub("", turn.text).strip() if turn.fault else turn.text
                chat.append({"role": "user", "content": f"{warning}{text or SILENCE}"})
        return tuple(chat)

    def step(self, state: NegotiationState, text: str, reason: str = "") -> NegotiationState:
        """Return the state after the next speaker's text.

        `reason` tells why the text is no whole answer, "" if it is one. What a truncated one says
        counts, also a complete action; any other reason makes the turn malformed. ValueError if
        the negotiation has ended.
        """
        if not (role := self.turn(state)):
            raise ValueError(f"the negotiation has ended: {state.end}")
        text = final_text(text) if reason in ("", TRUNCATED) else ""
        if reason == TRUNCATED:
            text = _UNCLOSED.sub("", text).strip()
        name, offer, fault = self._action(state, text) if text else ("", None, reason or EMPTY)
        after = replace(state, turns=(*state.turns, PlayedTurn(role, text, fault)))
        warnings = sum(bool(turn.fault) for turn in after.turns if turn.role == role)
        if name == "accept":
            return replace(after, end=DEAL)
        if name == "walk-away" or warnings == WARNINGS:
            return replace(after, end=WALK_AWAY)
        if name == "offer":
            after = replace(after, offer=offer, offered_by=role)
        elif name == "reject":
            after = replace(after, offer=None, offered_by="")
        return replace(after, end=TURN_LIMIT) if len(after.turns) >= state.limit else after

    def _action(self, state: NegotiationState, text: str) -> tuple[str, Any, str]:
        """Return the action of a text, the offer, and why the turn is malformed."""
        matches = [*_ACTION.finditer(text)]
        lines = [line for line in text.splitlines() if _ACTION.search(line)]
        if any(_ACTION.sub("", line).strip(" \t*_`.!-") for line in lines):
            return "", None, "an action that is not on a line of its own"
        # "walk-away" however it is spelled, as "Walk Away"
        names = [re.sub("walk.*", "walk-away", match[1].casefold()) for match in matches]
        terms_of = [" ".join(match[3].split()) for match in matches]
        actions = {*zip(names, terms_of, strict=True)}
        if len(actions) > 1:
            return "", None, "several actions"
        if not actions:
            return "", None, ""
        ((name, terms),) = actions
        is_odd = any(not match[4] or match[2] for match in matches)
        if is_odd or (name != "offer" and terms.casefold().rstrip(".!") not in _IT):
            return "", None, "unreadable action"
        if name in ("accept", "reject") and state.offered_by in ("", self.turn(state)):
            return "", None, f"illegal action, {name} without an offer of the other side"
        if name != "offer":
            return name, None, ""
        try:
            return name, self.read_offer(state.scenario, self.turn(state), terms), ""
        except ValueError as error:
            return "", None, f"invalid offer, {error}"

    def outcome(self, state: NegotiationState) -> dict[str, Any]:
        """Return the fields of the prediction of a negotiation at its end, beside its key."""
        fields: dict[str, Any] = {self.agreed: state.offer if state.end == DEAL else None}
        if state.end == TURN_LIMIT:
            fields["end"] = TURN_LIMIT
        if state.end == WALK_AWAY:
            fields["walked_away"] = state.turns[-1].role
        faults = {role: [t.fault for t in state.turns if t.role == role] for role in self.roles}
        fields["turns"] = {role: len(of_side) for role, of_side in faults.items()}
        fields["malformed"] = {role: sum(map(bool, of_side)) for role, of_side in faults.items()}
        return fields


def _not_negative(number: int) -> None:
    if number < 0:
        raise ValueError("0 or more")
