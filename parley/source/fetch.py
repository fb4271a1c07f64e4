"""Brings the pinned sources of a dataset into the cache.

    url ──GET, resumed with Range──▶ <file>.part ──hash is the pin's──▶ <file>
    archive url ──GET──▶ <archive>.part ──extract──▶ <folder>.part/ ──tree is the pin's──▶ <folder>/

What has its final name is whole and hash-checked. A fetch holds the lock of the .part that it
writes, so that another on the same cache waits and then finds the work done. What an interrupted
fetch leaves is a .part, and the next one goes on from there.
"""

import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import BaseHTTPResponse, Retry
from urllib3.exceptions import InvalidHeader

from parley.errors import FetchError
from parley.source.archive import LIMIT, extract
from parley.source.pins import Pin, hash_file, problem

Progress = Callable[[str, int, int | None], None]  # source, bytes so far, bytes in all if known

_BLOCK = 1 << 14  # what a broken connection loses at most
_NUMBER = "[0-9]{1,18}"  # of bytes, as a server may say it: Python refuses very long ones
_DAMAGED = "The download is damaged or upstream changed: fetch again; if it stays so, report it"


@dataclass(frozen=True)
class Patience:
    """How long to bear with a server; times in seconds."""

    tries: int = 5  # in a row that bring nothing new
    backoff: float = 0.5  # wait after the first of them, doubled after each further one
    longest_wait: float = 60  # between two tries, whatever the server asks for
    connect: float = 10
    read: float = 60


_PATIENCE = Patience()


def cache_folder() -> Path:
    """Return the folder for fetched files: `PARLEY_CACHE`, or parley's in the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("PARLEY_CACHE") or Path(home, "parley"))


def fetch(
    name: str,
    sources: Mapping[str, Pin],
    cache: Path,
    *,
    on_progress: Progress = lambda source, done, total: None,
    patience: Patience = _PATIENCE,
) -> Path:
    """Bring each source of a dataset to cache/name/<source>, and return cache/name.

    What is there and passes its pin is left alone. When one source fails the others are still
    fetched; then FetchError names each that failed and why.
    """
    folder = cache / name
    jobs: dict[str, dict[str, Pin]] = {}  # one a file, one an archive
    for source, pin in sources.items():
        jobs.setdefault(pin["url"] if "git_tree" in pin else source, {})[source] = pin
    failures = []
    with _session(patience) as session:
        fetcher = _Fetcher(session, folder, on_progress, patience)
        for pins in jobs.values():
            try:
                failures += fetcher.bring(pins)
            except FetchError as error:
                failures.append(f"{', '.join(pins)}: {error}")
            except OSError as error:
                failures.append(
                    f"{', '.join(pins)}: cannot be written below {folder}: "
                    f"{error.strerror or error}. Make room there, or set PARLEY_CACHE"
                )
    if failures:
        raise FetchError("\n".join([f"{name} could not be fetched:", *failures]))
    return folder


class _BrokenError(Exception):
    """The body ended early or cannot be resumed: worth another try."""


@dataclass(frozen=True)
class _Fetcher:
    session: requests.Session
    folder: Path
    on_progress: Progress
    patience: Patience

    def bring(self, pins: dict[str, Pin]) -> list[str]:
        """Bring one file, or the folders of one archive; return what is wrong with which."""
        if not self._lacking(pins):  # before anything is written: the cache may be read-only
            return []
        (source, pin), *_ = pins.items()
        archive = "git_tree" in pin
        target = self.folder / (Path(urlsplit(pin["url"]).path).name if archive else source)
        with _open_part(target) as part:
            lacking = self._lacking(pins)  # less than before if another fetch was faster
            if lacking and archive:
                self._download(part, {"url": pin["url"]}, target.name)
                wrong = {s: extract(part, pin, self.folder / s) for s, pin in lacking.items()}
            else:
                wrong = {s: self._download(part, pin, s) for s, pin in lacking.items()}
                if wrong and not any(wrong.values()):
                    os.fsync(part.fileno())
                    os.replace(part.name, target)
                    return []
            part.truncate(0)
        return [f"{s}: {what}. {_DAMAGED}" for s, what in wrong.items() if what]

    def _lacking(self, pins: dict[str, Pin]) -> dict[str, Pin]:
        return {s: pin for s, pin in pins.items() if problem(self.folder / s, pin) is not None}

    def _download(self, part: BinaryIO, pin: Pin, label: str) -> str | None:
        """Fill `part`, however often the connection breaks; return how it differs from its pin."""
        furthest = tries = 0
        while True:
            try:
                return self._stream(part, pin, label)
            except _BrokenError as broken:
                reached = part.seek(0, os.SEEK_END)
                tries = 1 if reached > furthest else tries + 1
                furthest = max(furthest, reached)
                if tries >= self.patience.tries:
                    raise FetchError(
                        f"{pin['url']}: {broken} after {reached:,} bytes, {tries} times in a row. "
                        "Fetch again to go on from there"
                    ) from None
                wait = self.patience.backoff * 2 ** (tries - 1)
                time.sleep(min(wait, self.patience.longest_wait))

    def _stream(self, part: BinaryIO, pin: Pin, label: str) -> str | None:
        """Bring the rest of `part` in one response, hashed as it comes."""
        path, start = Path(part.name), part.seek(0, os.SEEK_END)
        if start and start == pin.get("size"):  # interrupted just before the end
            return problem(path, pin)
        with self._get(pin["url"], start) as response:
            resumed = response.status_code == 206
            first, total = _range(response)
            if response.status_code == 416 or (resumed and first != start):
                part.truncate(0)
                raise _BrokenError("the server would not resume")
            if not resumed:
                start = part.truncate(0)
            size = pin.get("size", total)
            if total is not None and total != size:
                return f"size expected {size:,} bytes, found {total:,}"
            limit = LIMIT if size is None else size
            pinned = "sha256" in pin or "git_blob" in pin
            hasher = hash_file(path, pin, size) if pinned and size is not None else None
            done = start
            try:
                for block in response.iter_content(_BLOCK):
                    part.write(block)
                    done += len(block)
                    if hasher:
                        hasher.update(block)
                    self.on_progress(label, done, size)
                    if done > limit:
                        return f"size expected at most {limit:,} bytes, found more"
            except requests.RequestException:
                raise _BrokenError("the connection broke") from None
        part.flush()
        if size is not None and done < size:
            raise _BrokenError("the connection ended")
        if not pinned:
            return None
        return (hasher or hash_file(path, pin, done)).problem()

    def _get(self, url: str, start: int) -> requests.Response:
        headers = {"Range": f"bytes={start}-"} if start else {}
        timeout = (self.patience.connect, self.patience.read)
        try:
            response = self.session.get(url, headers=headers, stream=True, timeout=timeout)
        except (requests.RequestException, ValueError) as error:  # of a redirect to no URL
            cause = error.args[0] if error.args else error
            raise FetchError(f"{url}: {getattr(cause, 'reason', cause)}. Try again later") from None
        if response.status_code not in (200, 206, 416):
            response.close()
            answer = f"{response.status_code} {response.reason}"
            raise FetchError(f"{url}: the server answered {answer}. Try again later")
        return response


def _session(patience: Patience) -> requests.Session:
    class Capped(Retry):  # what urllib3 only lately has an option for
        def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
            try:
                wait = super().get_retry_after(response)
            except (InvalidHeader, ValueError, OverflowError):  # neither seconds nor a date
                return None
            return wait and min(wait, patience.longest_wait)

    retry = Capped(
        patience.tries,
        status_forcelist=(429, 500, 502, 503, 504),
        backoff_factor=patience.backoff,
        backoff_max=patience.longest_wait,
        raise_on_status=False,
    )
    session = requests.Session()
    session.max_redirects = 5
    session.headers.update({"Accept-Encoding": "identity", "User-Agent": "parley"})
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry))
    return session


def _range(response: requests.Response) -> tuple[int | None, int | None]:
    """Return the position of a response's first byte, and the size of the whole file if given."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        return None, None  # what is counted is not what arrives
    if response.status_code != 206:
        length = response.headers.get("Content-Length", "")
        return 0, int(length) if re.fullmatch(_NUMBER, length) else None
    found = re.fullmatch(
        rf"bytes ({_NUMBER})-\d+/({_NUMBER}|\*)", response.headers.get("Content-Range", "")
    )
    if not found:
        return None, None
    return int(found[1]), None if found[2] == "*" else int(found[2])


@contextmanager
def _open_part(target: Path) -> Iterator[BinaryIO]:
    """Open the .part of a file, alone, at its end. Afterwards an empty one is removed."""
    path = target.with_name(f"{target.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("a+b") as part:
            fcntl.flock(part, fcntl.LOCK_EX)
            if not _is_at(part, path):  # its last holder moved or removed it
                continue
            try:
                yield part
            finally:
                if _is_at(part, path) and not part.seek(0, os.SEEK_END):
                    path.unlink()
            return


def _is_at(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
