"""Secrets of whoever runs a command, which others may give back in what is printed or written.

A Hub knows the token that it was sent, and can answer with it as a name, a path or a commit.
"""

import json
import os
from urllib.parse import quote

_TOKENS = (
    "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "HF_OIDC_ID_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
)
_URLS = ("HF_ENDPOINT", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")  # proxies in small letters too
_SHORTEST = 6  # characters; what is shorter may be any word
_INSTEAD = "…"

_kept: set[str] = set()


def keep_secret(secret: str) -> None:
    """Let `without_secrets` know a secret that does not stand in the environment."""
    _kept.add(secret)


def without_secrets(text: str) -> str:
    """Return a text with "…" for each secret in it, as it is or as JSON or a URL writes it.

    Secrets are the tokens for the Hub, and names and passwords in the URLs of the Hub and proxies.
    """
    for secret in sorted(_secrets(), key=len, reverse=True):  # one may be part of another
        for written in (secret, json.dumps(secret)[1:-1], quote(secret, safe="")):
            text = text.replace(written, _INSTEAD)
    return text


def _secrets() -> set[str]:
    found = {os.environ.get(name, "").strip() for name in _TOKENS} | _kept
    found = {secret for secret in found if len(secret) >= _SHORTEST}
    for name in (*_URLS, *map(str.lower, _URLS)):
        _, _, rest = os.environ.get(name, "").partition("://")
        login, at, _ = rest.partition("/")[0].rpartition("@")
        password = login.partition(":")[2] or login
        found |= {part for part in (login + at, password) if at and len(part) >= _SHORTEST}
    return found
