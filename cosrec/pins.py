"""The pins of upstream's files: the URL, size and git hash of each."""

from typing import Any

_URL = "https://raw.githubusercontent.com/CAMEO-22/CoSRec/d2f238d8c172bd7f0954a4394699de1e5b823b8a/"
_FILES: dict[str, dict[str, tuple[int | None, str]]] = {
    "dataset/crowd": {
        "conversations.jsonl": (748_706, "45281583ced1aca07ce365a2d6e33c8343f97a53"),
        "intent_annotations.jsonl": (992_560, "afc2e1ec8ecbf5b9344a5c72cb2eb348fce14568"),
        "keywords.jsonl": (45_874, "cf994005cc3d4b1cdaff0f146fbd63724e1120e1"),
        "profiles.jsonl": (178_289, "83b1e3da297b153bcedb0badef9d9e9c697694c7"),
        "quality.jsonl": (104_423, "4a3fa4c29f9acc2f9698c64976ff3e012e087a3a"),
    },
    "dataset/curated": {
        "conversations.jsonl": (47_782, "ef9012cac0d06be7ab80f4f3de91ffa73162530f"),
        "intents.jsonl": (43_327, "11b02543b48623b31e9c82fe59f56dcaa7fde8f8"),
        "keywords.jsonl": (4_477, "1badb25500ae0c231fda18c2dbf659740ada26ff"),
        "profiles.jsonl": (14_827, "ce589ec1c6ad22442776129f22cf979aea2e07f8"),
        "qrels.qrels": (744_807, "0ccb479be89d4eb53d4b11e1dc33c510577d9527"),
        "quality.jsonl": (7_145, "2974f0143ce2715231b8b3079f4b98d9a9e8942c"),
    },
    "dataset/raw": {"conversations.jsonl": (None, "aebbcffc08ea96c0b61e12917a73b7c366e3bf39")},
    "prompts": {
        "conversation_generation_prompt.txt": (2_828, "42ca8481005c028c8fc9251663595437493e4886"),
        "product_to_query_prompt.txt": (592, "956d798615b721a313b8a70a2538b95a1a57d873"),
        "user_keywords_prompt.txt": (1_256, "dfebaa5fbae9c365789686178cdb16dbb0a21f1b"),
        "user_summary_prompt.txt": (793, "76843cd65fec38ce54888c750060a91cc70e0f3f"),
    },
}

PINS: dict[str, dict[str, Any]] = {
    f"{folder}/{name}": {"url": f"{_URL}{folder}/{name}"}
    | ({"size": size} if size else {})
    | {"git_blob": blob}
    for folder, files in _FILES.items()
    for name, (size, blob) in files.items()
}
