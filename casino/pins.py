"""Upstream's files: the place, size and content hash of each."""

from typing import Any

_RELEASE = (
    "https://raw.githubusercontent.com/kushalchawla/CaSiNo/2f6ed4a6a55110152a7699fbaa8150d6036314be"
)
# The repository of the authors' paper on modelling the opponent
_LATER = (
    "https://raw.githubusercontent.com/kushalchawla/opponent-modeling/"
    "107e954f9ed5aea551ff8d019c6b210240240286"
)

PINS: dict[str, dict[str, Any]] = {
    "data/casino.json": {
        "url": f"{_RELEASE}/data/casino.json",
        "size": 4_300_019,
        "sha256": "4f2c4560a0070906ed018c3f0766e35f8f8f31b36274ebf35b608621915744ab",
    },
    "data/split/casino_train.json": {
        "url": f"{_RELEASE}/data/split/casino_train.json",
        "size": 3_763_692,
        "git_blob": "12c603a57bdb75758d2d68d545e412249dc2c34d",
    },
    "data/split/casino_valid.json": {
        "url": f"{_RELEASE}/data/split/casino_valid.json",
        "size": 112_116,
        "git_blob": "2aad92fcd8c8eb4406b1202d6dfe6febb1c0bff0",
    },
    "data/split/casino_test.json": {
        "url": f"{_RELEASE}/data/split/casino_test.json",
        "size": 424_211,
        "git_blob": "e4ce0a249e533648d6a39faaabf5d5b9f8ec0ec4",
    },
    "opponent-modeling/casino_ix2guessing.json": {
        "url": f"{_LATER}/storage/misc/casino_ix2guessing.json",
        "size": 185_071,
        "git_blob": "7f861e79f12b9e29461cbf2991ddc4c173dd0790",
    },
    "opponent-modeling/data_splits_seeds.json": {
        "url": f"{_LATER}/storage/misc/data_splits_seeds.json",
        "size": 25_573,
        "git_blob": "67f02c005877c3363b61898242d68007e7e76966",
    },
}
