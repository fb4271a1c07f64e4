"""The pins of CraigslistBargains' files: the upstream URL, size and content hash of each.

CodaLab's bundles never change. A mirror is a public copy at a fixed commit, for when CodaLab has no
file. That of validation has its keys in another order; that of train could not be compared, so its
size is not known.
"""

from typing import Any

_BUNDLES = "https://worksheets.codalab.org/rest/bundles/"
_MIRROR = (
    "https://raw.githubusercontent.com/Kenjiro-study/my_study/"
    "d598355d8240adb4106626465a9c4e76a183aaa0/"
)

PINS: dict[str, dict[str, Any]] = {
    "train.json": {
        "url": _BUNDLES + "0xd34bbbc5fb3b4fccbd19e10756ca8dd7/contents/blob/parsed.json",
        "size": 20148723,
        "sha256": "34033ff87565b9fc9eb0efe867e9d3e32456dbe1528cd1683f94a84b09f66ace",
        "mirrors": [
            {
                "url": _MIRROR + "src/rule/train-parsed.json",
                "git_blob": "9972ac9dadf6f7fd0698a8a95642d10c3a3a2e4a",
            }
        ],
    },
    "validation.json": {
        "url": _BUNDLES + "0x15c4160b43d44ee3a8386cca98da138c/contents/blob/parsed.json",
        "size": 2287054,
        "sha256": "03b35dc18bd90d87dac46893ac4db8ab3eed51786d192975be68d3bab38e306e",
        "mirrors": [
            {
                "url": _MIRROR + "src/rule/dev-parsed.json",
                "size": 2287054,
                "git_blob": "0f3b937eca5856518db2ce820f8ae5e35aebd880",
            }
        ],
    },
    "test.json": {
        "url": _BUNDLES + "0x54d325bbcfb2463583995725ed8ca42b/contents/blob/",
        "size": 2937841,
        "sha256": "c802f15f80ea3066d429375393319d7234daacbd6a26a6ad5afd0ad78a2f7736",
        "mirrors": [
            {
                "url": _MIRROR + "craigslistbargain/data/test.json",
                "size": 2937841,
                "git_blob": "8cb1e078a46b8e89814113b0708dee00d73954fb",
            }
        ],
    },
    "price_tracker.pkl": {
        "url": "https://raw.githubusercontent.com/Joyce-0214/NegotiationToM-py310/"
        "15e6ad886937a4b79251d5426d0f2de49f8236f0/craigslistbargain/data/price_tracker.pkl",
        "size": 5764,
        "sha256": "97e210fd8267dee006089be97ce7d00876bc412ad0ae9770b8aa42402018692d",
    },
}
