"""What is broken in the sample of DUO."""

from mutations import DROP

GUARDS = {
    "dialogues_are_sound": r"(dialogues|ed|wow)\[\]\.(language|objective_evaluation\.\w+_scores\[\]"
    r"|dialogue\[\]\.(speaker|message_id)) .*",
    "ed_and_wow_make_up_dialogues": "(dialogues|ed|wow).*",
    "a_system_is_a_model_with_a_prompt": r"(dialogues|ed|wow)\[\]\.(model|prompt) .*",
    "views": "(utterances|ratings|messages).*",
}
ROWS = {"a_system_is_a_model_with_a_prompt": {"dialogues/en[1].dialogue[1].system_id": "0911"}}
UNGUARDED = {}

_SUBJECTIVE = r"subjective_evaluation.engagingness: expected 1.0 or 2.0 or"
_THREE = r"objective_evaluation.empathy_scores: expected (three scores|a list)"
_SCORE = r"empathy_scores\[1\]: expected 1.0 or 2.0 or"

RECORDS = [
    # another place than the record names
    ("ed/en/0901.json", "dialogue_id", "901", "this place, found those of ed/en/901.json$"),
    ("wow/en/1901.json", "dialogue_id", "1902", "found those of wow/en/1902.json$"),
    # what the other language, or setting, has
    ("ed/en/0901.json", "prompt", "ent", "0901.json.prompt: expected"),
    ("ed/ja/2901.json", "prompt", "aligned", "prompt: expected"),
    ("wow/ja/3901.json", "setting", "ed", 'setting: expected "wow"'),
    ("ed/en/0901.json", "topic", "Harmonica", "topic: unknown field"),
    ("wow/en/1901.json", "episode", "I baked.", "episode: unknown field"),
    ("ed/en/0902.json", "dialogue[0].speaker", "Bot", r"dialogue\[0\]"),
    ("ed/en/0902.json", "dialogue[1].speaker", "Human", r"dialogue\[1\]"),
    # scores
    *(
        ("wow/en/1901.json", "subjective_evaluation.engagingness", score, _SUBJECTIVE)
        for score in (0.0, 3.5, 6.0)
    ),
    *(
        ("ed/ja/2901.json", "objective_evaluation.empathy_scores", scores, _THREE)
        for scores in ([4.0] * 2, [4.0] * 4, [])
    ),
    ("ed/ja/2901.json", "objective_evaluation.empathy_scores", [4.0, 3.5, 4.0], _SCORE),
    # what contradicts itself
    ("ed/en/0901.json", "dialogue", [], r"dialogue\[0\].speaker: expected .*, found \[\]$"),
    ("wow/ja/3901.json", "dialogue[0]", DROP, r"dialogue\[0\].speaker: expected \['Bot'\]"),
    ("ed/en/0901.json", "dialogue[1]", DROP, r"dialogue\[1\].message_id: expected 1, found 2"),
    ("ed/en/0901.json", "dialogue[2].user_id", "1", r"dialogue\[2\].user_id: expected '0901'"),
    ("ed/en/0901.json", "dialogue[3].system_id", "1", r"\[3\].system_id: expected '0911'"),
    ("ed/en/0901.json", "objective_evaluation.empathy", 1.5, "empathy: expected .*, found 1.5"),
]

OPTIONAL = "objective_evaluation"

SAMPLE = (
    "dialogues b85b9ab0 2699f77d ed 2165cf1d c6038fc8 wow 9128a416 7cb38051 utterances "
    "a493bc01 b0da7342 ratings 3682ef3b 322075a9 messages 3906ece7 d227d3dd"
)
