"""What fetching needs of HTTP: a client, the body of an answer, the wait it asks for."""

import math
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx2

from parley.base.errors import UsageError
from parley.base.secret import without_secrets
from parley.base.version import __version__

_Client = TypeVar("_Client", httpx2.Client, httpx2.AsyncClient)
_GZIP = 31  # of zlib: what it reads has the header of gzip


def open_client(kind: type[_Client], headers: Mapping[str, str], **options: Any) -> _Client:
    """Return a client that retries nothing, follows no redirect and asks for no compression.

    UsageError for a proxy in the environment that cannot be used, as for SOCKS.
    """
    own = {"Accept-Encoding": "identity", "User-Agent": f"parley/{__version__}"}
    try:
        return kind(headers={**own, **headers}, **options)
    except (ImportError, ValueError, httpx2.InvalidURL) as error:
        raise UsageError(
            f"the proxy of the environment cannot be used: {without_secrets(str(error))}"
        ) from None


def unpacker(response: httpx2.Response) -> Callable[[bytes, int], bytes]:
    """Return a function that unpacks the next part of a raw body to at most so many bytes.

    A server that compresses unasked is read in steps: few bytes of gzip may stand for gigabytes.
    ValueError for another compression; the function raises zlib.error for what is no gzip.
    """
    form = response.headers.get("Content-Encoding", "identity").strip().lower()
    if form == "gzip":
        return zlib.decompressobj(wbits=_GZIP).decompress
    if form != "identity":
        raise ValueError(f"the answer is compressed: {form:.40}")
    return lambda part, most: part


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, 0 or more; None if it names none."""
    given = headers.get("Retry-After", "")
    seconds = math.nan
    with suppress(ValueError):
        seconds = float(given)
    with suppress(ValueError, TypeError, OverflowError):
        seconds = (parsedate_to_datetime(given) - datetime.now(timezone.utc)).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None
