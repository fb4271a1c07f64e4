"""The prompts of the task `agreement`: a model rates a dialogue as a judge, in its language.

A change of a prompt or reader needs a new `version`: tests hold the sha256 of the sample's prompts.
"""

from collections.abc import Iterator

from parley import Asking, Data, Question, chat, object_schema, read_number, reader, spoken

MEANING = {
    "en": {
        "preference": "how much a user would like to talk with this bot again",
        "stylistic_similarity": "how similar the bot's style of speaking is to the user's",
        "consistency": "how free of contradictions the bot's utterances are",
        "empathy": "how well the bot understands and shares the user's feelings",
        "engagingness": "how engaging the dialogue with the bot is",
    },
    "ja": {
        "preference": "ユーザがこのボットとまた話したいと思う度合い",
        "stylistic_similarity": "ボットの話し方がユーザの話し方に似ている度合い",
        "consistency": "ボットの発話に矛盾がない度合い",
        "empathy": "ボットがユーザの気持ちを理解し、寄り添っている度合い",
        "engagingness": "ボットとの対話に引き込まれる度合い",
    },
}
_PROMPT = {
    "en": "Read a dialogue of a user and a bot and rate it by one aspect: {meaning}. Give a score "
    'from 1 (lowest) to 5 (highest). Answer in JSON: {{"score": n}}.',
    "ja": "ユーザとボットの対話を読み、次の観点で評価してください：{meaning}。1（最低）から"
    '5（最高）までの点数を付け、JSONで答えてください：{{"score": n}}',
}
_NAMES = {"en": {"Human": "User", "Bot": "Bot"}, "ja": {"Human": "ユーザ", "Bot": "ボット"}}
_TALK = {"en": "The dialogue:", "ja": "対話："}
_SCORE = {"type": "number", "minimum": 1, "maximum": 5}


def agreement(data: Data, aspect: str) -> Iterator[Question]:
    """Ask for a score of an aspect of each dialogue."""
    for row in data.rows("dialogues", "en", "ja"):
        language = row["language"]
        names = _NAMES[language]
        talk = spoken((names[turn["speaker"]], turn["message"]) for turn in row["dialogue"])
        system = _PROMPT[language].format(meaning=MEANING[language][aspect])
        messages = chat(system, f"{_TALK[language]}\n{talk}")
        yield Question((row["dialogue_id"],), messages, object_schema(score=_SCORE))


AGREEMENT = Asking("1", agreement, reader(read_number, "score", 1, 5), max_tokens=60)
