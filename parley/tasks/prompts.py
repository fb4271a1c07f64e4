"""What every prompt says, and the questions to a language model, which is called elsewhere."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from parley.tasks.prediction_formats import Key, Prediction

Message = Mapping[str, str]  # {"role": "system" | "user" | "assistant", "content": text}
ANSWER_RULE = {
    "en": "End with one JSON object: {form}. If you write several, the last one counts.",
    "ja": "最後に次の形式のJSONオブジェクトを1つ書いてください：{form}。"
    "複数書いた場合は最後のものを回答とします。",
}
# In a game
GAME_RULE = (
    "The negotiation ends without a deal after {limit} messages, those of both sides together. A "
    "message wastes your turn if it is empty, holds two actions, or holds one that is not written "
    "as above or not possible at that moment. At your third such message you walk away."
)
BEGIN = "Begin the negotiation."
SILENCE = "(no message)"
WARNING = "(Rules: your last message held no valid action: {}. Warning {} of {}.)\n"


@dataclass(frozen=True)
class Question:
    """A question for one prediction, without the form of the answer, which its task adds.

    Args:
        key: The values of the task's key.
        system: The instruction.
        user: The question.
        language: The language of both, "en" or "ja".
    """

    key: Key
    system: str
    user: str
    language: str = "en"

    def messages(self, form: str) -> tuple[Message, ...]:
        """Return the chat that a model sees; it ends in the rule by which answers are read."""
        user = f"{self.user}\n\n{ANSWER_RULE[self.language].format(form=form)}"
        return ({"role": "system", "content": self.system}, {"role": "user", "content": user})


@dataclass(frozen=True)
class Asking:
    """The questions of a task.

    Args:
        version: A new one for every change of a prompt or of how its answers are read.
        questions: Build and the task's options -> the questions, one for each key.
        max_tokens: The longest answer, in tokens.
        examples: Keywords for `questions` and `gold` that give rows to take examples of, if others
            than those of the task: {"split": "validation"}.
        shown: Build and options -> the predictions that examples show instead of the right ones,
            which would teach a model to be certain.
    """

    version: str
    questions: Callable[..., Iterable[Question]]
    max_tokens: int = 200
    examples: Mapping[str, str] = field(default_factory=dict)
    shown: Callable[..., Iterable[Prediction]] | None = None


def text_of_turns(turns: Iterable[tuple[str, str]]) -> str:
    """Return turns as lines "Name: text"; a line break in a text becomes a space."""
    return "\n".join(f"{name}: {' '.join(text.split())}" for name, text in turns)
