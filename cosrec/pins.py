"""The pins of upstream's files: the URL, size and git hash of each."""

from typing import Any

_URL = "https://raw.githubusercontent.com/CAMEO-22/CoSRec/d2f238d8c172bd7f0954a4394699de1e5b823b8a/"

PINS: dict[str, dict[str, Any]] = {
    "dataset/crowd/conversations.jsonl": {
        "url": _URL + "dataset/crowd/conversations.jsonl",
        "size": 748_706,
        "git_blob": "45281583ced1aca07ce365a2d6e33c8343f97a53",
    },
    "dataset/crowd/intent_annotations.jsonl": {
        "url": _URL + "dataset/crowd/intent_annotations.jsonl",
        "size": 992_560,
        "git_blob": "afc2e1ec8ecbf5b9344a5c72cb2eb348fce14568",
    },
    "dataset/crowd/keywords.jsonl": {
        "url": _URL + "dataset/crowd/keywords.jsonl",
        "size": 45_874,
        "git_blob": "cf994005cc3d4b1cdaff0f146fbd63724e1120e1",
    },
    "dataset/crowd/profiles.jsonl": {
        "url": _URL + "dataset/crowd/profiles.jsonl",
        "size": 178_289,
        "git_blob": "83b1e3da297b153bcedb0badef9d9e9c697694c7",
    },
    "dataset/crowd/quality.jsonl": {
        "url": _URL + "dataset/crowd/quality.jsonl",
        "size": 104_423,
        "git_blob": "4a3fa4c29f9acc2f9698c64976ff3e012e087a3a",
    },
    "dataset/curated/conversations.jsonl": {
        "url": _URL + "dataset/curated/conversations.jsonl",
        "size": 47_782,
        "git_blob": "ef9012cac0d06be7ab80f4f3de91ffa73162530f",
    },
    "dataset/curated/intents.jsonl": {
        "url": _URL + "dataset/curated/intents.jsonl",
        "size": 43_327,
        "git_blob": "11b02543b48623b31e9c82fe59f56dcaa7fde8f8",
    },
    "dataset/curated/keywords.jsonl": {
        "url": _URL + "dataset/curated/keywords.jsonl",
        "size": 4_477,
        "git_blob": "1badb25500ae0c231fda18c2dbf659740ada26ff",
    },
    "dataset/curated/profiles.jsonl": {
        "url": _URL + "dataset/curated/profiles.jsonl",
        "size": 14_827,
        "git_blob": "ce589ec1c6ad22442776129f22cf979aea2e07f8",
    },
    "dataset/curated/qrels.qrels": {
        "url": _URL + "dataset/curated/qrels.qrels",
        "size": 744_807,
        "git_blob": "0ccb479be89d4eb53d4b11e1dc33c510577d9527",
    },
    "dataset/curated/quality.jsonl": {
        "url": _URL + "dataset/curated/quality.jsonl",
        "size": 7_145,
        "git_blob": "2974f0143ce2715231b8b3079f4b98d9a9e8942c",
    },
    "dataset/raw/conversations.jsonl": {
        "url": _URL + "dataset/raw/conversations.jsonl",
        "git_blob": "aebbcffc08ea96c0b61e12917a73b7c366e3bf39",
    },
    "prompts/conversation_generation_prompt.txt": {
        "url": _URL + "prompts/conversation_generation_prompt.txt",
        "size": 2_828,
        "git_blob": "42ca8481005c028c8fc9251663595437493e4886",
    },
    "prompts/product_to_query_prompt.txt": {
        "url": _URL + "prompts/product_to_query_prompt.txt",
        "size": 592,
        "git_blob": "956d798615b721a313b8a70a2538b95a1a57d873",
    },
    "prompts/user_keywords_prompt.txt": {
        "url": _URL + "prompts/user_keywords_prompt.txt",
        "size": 1_256,
        "git_blob": "dfebaa5fbae9c365789686178cdb16dbb0a21f1b",
    },
    "prompts/user_summary_prompt.txt": {
        "url": _URL + "prompts/user_summary_prompt.txt",
        "size": 793,
        "git_blob": "76843cd65fec38ce54888c750060a91cc70e0f3f",
    },
}
