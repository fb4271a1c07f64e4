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

RECORDS = [
    # another place than the record names
    ("ed/en/0901.json", "dialogue_id", "901", "found those of ed/en/901.json"),
    ("wow/en/1901.json", "dialogue_id", "1902", "found those of wow/en/1902.json"),
    # what the other language, or setting, has
    ("ed/en/0901.json", "prompt", "ent", "0901.json.prompt: "),
    ("ed/ja/2901.json", "prompt", "aligned", "2901.json.prompt: "),
    ("wow/ja/3901.json", "setting", "ed", "3901.json.setting: "),
    ("ed/en/0901.json", "topic", "Harmonica", "0901.json.topic: "),
    ("wow/en/1901.json", "episode", "I baked.", "1901.json.episode: "),
    ("ed/en/0902.json", "dialogue[0].speaker", "Bot", ".dialogue[0]"),
    ("ed/en/0902.json", "dialogue[1].speaker", "Human", ".dialogue[1]"),
    *(
        ("wow/en/1901.json", "subjective_evaluation.engagingness", score, ".engagingness: ")
        for score in (0.0, 3.5, 6.0)
    ),
    *(
        ("ed/ja/2901.json", "objective_evaluation.empathy_scores", scores, ".empathy_scores: ")
        for scores in ([4.0] * 2, [4.0] * 4, [])
    ),
    ("ed/ja/2901.json", "objective_evaluation.empathy_scores", [4.0, 3.5, 4.0], "scores[1]: "),
    # what contradicts itself
    ("ed/en/0901.json", "dialogue", [], "dialogue[0].speaker: "),
    ("wow/ja/3901.json", "dialogue[0]", DROP, "dialogue[0].speaker: "),
    ("ed/en/0901.json", "dialogue[1]", DROP, "dialogue[1].message_id: "),
    ("ed/en/0901.json", "dialogue[2].user_id", "1", "dialogue[2].user_id: expected '0901'"),
    ("ed/en/0901.json", "dialogue[3].system_id", "1", "dialogue[3].system_id: expected '0911'"),
    ("ed/en/0901.json", "objective_evaluation.empathy", 1.5, "objective_evaluation.empathy: "),
]

OPTIONAL = "objective_evaluation"

SAMPLE = (
    "dialogues b85b9ab0 2699f77d ed 2165cf1d c6038fc8 wow 9128a416 7cb38051 utterances "
    "a493bc01 b0da7342 ratings 3682ef3b 322075a9 messages 3906ece7 d227d3dd"
)
