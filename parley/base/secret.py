"""Remove the user's secrets from output: a Hub may return the token in a name or a path."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote, unquote

_TOKENS = ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_OIDC_ID_TOKEN"]
_TOKENS += ["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]
_URLS = ("HF_ENDPOINT", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")  # also in lower case
_SHORTEST = 8  # characters; a shorter text may be a part of any word

_kept: set[str] = set()
_found: re.Pattern[str] | None = None  # within `secrets_found_once`


def keep_secret(secret: str) -> None:
    """Add a secret that is not in the environment."""
    global _found
    _kept.add(secret)
    _found = None


def without_secrets(text: str) -> str:
    """Replace tokens for the Hub and logins in URLs by "…", also as JSON, Python or a URL has them.

    Hide first and cut then: a part of a secret is not found.
    """
    found = _written() if _found is None else _found
    return found.sub("…", text) if found.pattern else text


@contextmanager
def secrets_found_once() -> Iterator[None]:
    """Look up the environment's secrets once for the texts of a block, as the cells of a table."""
    global _found
    _found = _written()
    try:
        yield
    finally:
        _found = None


def _written() -> re.Pattern[str]:
    ordered = sorted(_secrets(), key=len, reverse=True)  # one may contain another
    return re.compile("|".join("".join(map(_forms, secret)) for secret in ordered))


def _forms(sign: str) -> str:
    """Return an expression for a character as it is, and as it may be escaped, also twice."""
    if sign.isascii() and sign.isalnum():
        return sign
    forms = {sign, f"\\{sign}", json.dumps(sign)[1:-1], ascii(sign)[1:-1], quote(sign, safe="")}
    escaped = (re.escape(form).replace(r"\\", r"\\+") for form in sorted(forms, key=len)[::-1])
    return f"(?i:{'|'.join(escaped)})"


def _secrets() -> set[str]:
    secrets = {os.environ.get(name, "").strip() for name in _TOKENS} | _kept
    for name in (*_URLS, *map(str.lower, _URLS)):
        _, _, rest = os.environ.get(name, "").partition("://")
        login, at, _ = rest.partition("/")[0].rpartition("@")
        password = login.partition(":")[2] or login
        typed = {login + at, password} if at else set()
        secrets |= typed | {*map(unquote, typed)}  # a server may repeat it decoded
    return {value for value in secrets if len(value) >= _SHORTEST}
