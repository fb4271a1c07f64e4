"""Remove the user's secrets from output: a Hub may return the token in a name or a path."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote, unquote

_TOKENS = ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_OIDC_ID_TOKEN"]
_TOKENS += ["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]
_URLS = ("HF_ENDPOINT", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")  # also in lower case
_SHORTEST = 8  # characters; a shorter text may be a part of any word

_kept: set[str] = set()
_found: list[str] | None = None  # within `secrets_found_once`


def keep_secret(secret: str) -> None:
    """Add a secret that is not in the environment."""
    global _found
    _kept.add(secret)
    _found = None


def without_secrets(text: str) -> str:
    """Replace tokens for the Hub and logins in URLs by "…", also as escaped for JSON or a URL."""
    for written in _written() if _found is None else _found:
        text = text.replace(written, "…")
    return text


@contextmanager
def secrets_found_once() -> Iterator[None]:
    """Look up the environment's secrets once for the texts of a block, as the cells of a table."""
    global _found
    _found = _written()
    try:
        yield
    finally:
        _found = None


def _written() -> list[str]:
    return [
        written
        for secret in sorted(_secrets(), key=len, reverse=True)  # one may contain another
        for written in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""))
    ]


def _secrets() -> set[str]:
    secrets = {os.environ.get(name, "").strip() for name in _TOKENS} | _kept
    for name in (*_URLS, *map(str.lower, _URLS)):
        _, _, rest = os.environ.get(name, "").partition("://")
        login, at, _ = rest.partition("/")[0].rpartition("@")
        password = login.partition(":")[2] or login
        typed = {login + at, password} if at else set()
        secrets |= typed | {*map(unquote, typed)}  # a server may repeat it decoded
    return {value for value in secrets if len(value) >= _SHORTEST}
