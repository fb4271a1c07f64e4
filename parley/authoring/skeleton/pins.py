"""The pins of upstream's files: replace this one of the sample's file."""

from typing import Any

PINS: dict[str, dict[str, Any]] = {
    "dialogues.jsonl": {
        "url": "https://example.org/skeleton/1.0/dialogues.jsonl",
        "size": 423,
        "sha256": "0f461b7785d3a48e8c8cd93a580276d08a920e59ae4c70e4a87a7865de8f8fc3",
    }
}
