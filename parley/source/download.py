"""Downloads one URL into one open file, with retries, and extracts a folder of a zip archive.

A passing failure (busy server, broken connection) is retried from where it broke; a lasting one
(missing URL, unknown host) is reported at once. An archive is not trusted: it must hold a flat
folder of plain files, not too many or too large.
"""

import math
import os
import re
import shutil
import socket
import ssl
import stat
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import httpx2

from parley.base.disk import part_of
from parley.base.errors import FetchError, Problem, UsageError, shorten
from parley.base.secret import without_secrets
from parley.base.version import __version__
from parley.source.hashes import Pin, problem

Progress = Callable[[str, int | str, int | None], None]
"""Takes a source, the bytes so far or a reason to wait, and the total bytes if known."""

_BLOCK = 1 << 14  # what a broken connection loses at most
_BYTES = "[0-9]{1,18}"  # of bytes, as a server may say it: Python refuses very long ones
_REDIRECTS = 5  # in a row
TRIES = 5  # in a row without progress
BACKOFF = 0.5  # seconds to wait after the first of them, doubled after each further one
LONGEST_WAIT = 60.0  # seconds between two tries, whatever the server asks for
CONNECT, READ = 10.0, 60.0  # seconds
_BUSY = (408, 425, 429, 500, 502, 503, 504)  # answers that pass

_LATER = (
    "Fetch again later, which resumes. If it lasts, check the proxy (HTTPS_PROXY, NO_PROXY), or "
    "report it."
)
_ELSEWHERE = "report it, or get the file elsewhere and build with --source."
_GONE = f"Upstream moved or removed the file: {_ELSEWHERE}"
_REFUSED = f"The server refuses the request: {_ELSEWHERE}"
_ODD = "Report this server's answer."
_OFFLINE = (
    "Check your connection, the proxy (HTTPS_PROXY, NO_PROXY), and this computer's clock and "
    "certificates (SSL_CERT_FILE names others)."
)
_DAMAGED = (
    "The file differs from its pin: damaged in transit or changed upstream. Fetch again; if it "
    "still differs, report it."
)


def open_client() -> httpx2.Client:
    """Return a client that follows no redirect; UsageError for a proxy that it cannot use."""
    headers = {"Accept-Encoding": "identity", "User-Agent": f"parley/{__version__}"}
    try:
        return httpx2.Client(headers=headers)
    except (ImportError, ValueError, httpx2.InvalidURL) as error:
        cause = without_secrets(str(error))
        raise UsageError(f"the proxy of the environment cannot be used: {cause}") from None


@dataclass(eq=False)
class _TroubleError(Exception):
    """A download failed."""

    what: str  # the failure
    remedy: str
    passing: bool = False  # whether another try may succeed
    wait: float = 0  # seconds that the server asks to wait


@dataclass(frozen=True)
class Downloader:
    """Fills files from URLs."""

    client: httpx2.Client
    on_progress: Progress

    def fill(
        self, part: BinaryIO, pin: Pin, label: str, check: Callable[[], list[Problem]]
    ) -> None:
        """Download the pin's URL into `part`, resuming what it holds, or raise FetchError.

        It is open to read and append, and emptied if `check` finds problems of it when complete.
        """
        furthest = tries = 0
        while True:
            try:
                resumed = self._stream(part, pin, label)
                if not (problems := check()):
                    return
                part.truncate(0)
                if not resumed:  # else its beginning may be another file's, as of a mirror
                    raise FetchError("", *problems, remedy=_DAMAGED)
            except _TroubleError as trouble:
                reached = part.seek(0, os.SEEK_END)
                tries = 1 if reached > furthest else tries + 1
                furthest = max(reached, furthest)
                if not trouble.passing or tries >= TRIES:
                    row = f", {tries} times in a row" if tries > 1 else ""
                    problem = Problem(label, what=f"{pin['url']}: {trouble.what}{row}")
                    raise FetchError("", problem, remedy=trouble.remedy) from None
                self._wait(label, pin, trouble, tries)

    def _wait(self, label: str, pin: Pin, trouble: _TroubleError, tries: int) -> None:
        wait = min(trouble.wait or BACKOFF * 2 ** (tries - 1), LONGEST_WAIT)
        again = f"trying again in {wait:.3g} s ({tries + 1} of {TRIES})"
        self.on_progress(label, f"{_host(pin['url'])}: {trouble.what}, {again}", None)
        time.sleep(wait)

    def _stream(self, part: BinaryIO, pin: Pin, label: str) -> bool:
        """Download the rest of `part` in one response; tell whether it resumed earlier content."""
        start = part.seek(0, os.SEEK_END)
        if start and start == pin.get("size"):  # interrupted just before the end
            return True
        response = self._get(pin["url"], label, start)
        try:
            resumed = response.status_code == 206
            first, total = _range(response)
            if response.status_code == 416 or (resumed and first != start):
                part.truncate(0)
                raise _TroubleError("the server would not resume", _LATER, True)
            if not resumed:
                start = part.truncate(0)
            size = pin.get("size", total)
            if total is not None and total != size:
                self._refuse(part, f"size expected {size:,} bytes, found {total:,}")
            limit = LIMIT if size is None else size
            done, broken = start, ""
            try:
                for block in response.iter_raw(_BLOCK):
                    part.write(block)
                    done += len(block)
                    self.on_progress(label, done, size)
                    if done > limit:
                        self._refuse(part, f"size expected at most {limit:,} bytes, found more")
            except httpx2.RequestError:
                broken = "broke"
        finally:
            response.close()
        part.flush()
        if not broken and size is not None and done < size:
            broken = "ended"
        if broken:
            raise _TroubleError(f"the connection {broken} after {done:,} bytes", _LATER, True)
        return start > 0

    def _refuse(self, part: BinaryIO, what: str) -> None:
        part.truncate(0)
        raise _TroubleError(what, _DAMAGED)

    def _get(self, url: str, label: str, start: int) -> httpx2.Response:
        """Return an answer with a body to read, after its redirects."""
        headers = {"Range": f"bytes={start}-"} if start else {}
        timeout = httpx2.Timeout(READ, connect=CONNECT)
        self.on_progress(label, f"asking {_host(url)}", None)
        try:
            request = self.client.build_request("GET", url, headers=headers, timeout=timeout)
            for _ in range(1 + _REDIRECTS):
                response = self.client.send(request, stream=True)
                packed = response.headers.get("Content-Encoding", "identity").strip()
                if response.status_code == 416 or (
                    response.status_code in (200, 206) and packed.lower() == "identity"
                ):
                    return response
                response.close()  # the body of a redirect is not read, however long
                if response.is_success:
                    raise _TroubleError(
                        f"the answer is compressed unasked: {shorten(packed, 40)}", _ODD
                    )
                if not response.next_request:
                    raise _bad_answer(response)
                request = response.next_request
        except (httpx2.RequestError, httpx2.InvalidURL, UnicodeError) as error:  # of a long name
            raise _no_answer(error) from None
        raise _TroubleError(f"Exceeded {_REDIRECTS} redirects", _ODD)


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def _no_answer(error: Exception) -> _TroubleError:
    cause: BaseException = error
    while deeper := cause.__cause__ or cause.__context__:
        cause = deeper
    what = f"no answer: {' '.join(str(cause).split()) or type(cause).__name__}"
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol | UnicodeError):
        return _TroubleError(what, _ODD)
    lasting = isinstance(cause, socket.gaierror | ssl.SSLCertVerificationError)
    return _TroubleError(what, _OFFLINE if lasting else _LATER, passing=not lasting)


def _bad_answer(response: httpx2.Response) -> _TroubleError:
    status = response.status_code
    what = f"the server answered {status} {response.reason_phrase}"
    if status in _BUSY:
        return _TroubleError(what, _LATER, True, wait=_retry_after(response))
    if status >= 500:
        return _TroubleError(what, _LATER)
    if status in (404, 410):
        return _TroubleError(what, _GONE)
    return _TroubleError(what, _REFUSED if status in (401, 403, 407, 451) else _ODD)


def _retry_after(response: httpx2.Response) -> float:
    """Return the seconds that a server asks to wait, 0 if it names none."""
    answer = response.headers.get("Retry-After", "")
    seconds = math.nan
    with suppress(ValueError):
        seconds = float(answer)
    with suppress(ValueError, TypeError, OverflowError):
        seconds = (parsedate_to_datetime(answer) - datetime.now(timezone.utc)).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else 0.0


def _range(response: httpx2.Response) -> tuple[int | None, int | None]:
    """Return the position of a response's first byte, and the size of the whole file if given."""
    if response.status_code != 206:
        length = response.headers.get("Content-Length", "")
        return 0, int(length) if re.fullmatch(_BYTES, length) else None
    content = response.headers.get("Content-Range", "")
    if not (match := re.fullmatch(rf"bytes ({_BYTES})-\d+/({_BYTES}|\*)", content)):
        return None, None
    return int(match[1]), None if match[2] == "*" else int(match[2])


LIMIT = 1 << 30  # bytes of an archive, and of one folder extracted from it
_FILES = 10_000  # in one folder
_DIRECTORY = 16_000_000  # bytes of an archive's list of entries: some 200,000 entries
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what git makes
_ENCRYPTED = 1  # this bit of an entry's flags
_ARCHIVE_BLOCK = 1 << 20


def extract(archive: BinaryIO, pin: Pin, target: Path) -> str | None:
    """Extract the pin's folder to `target`, whole or not at all; return the problem, if any."""
    part = part_of(target)
    shutil.rmtree(part, ignore_errors=True)  # of an interrupted fetch
    try:
        part.mkdir(parents=True)
        for name, block in _blocks(archive, pin):
            with (part / name).open("ab") as copy:
                copy.write(block)
        if difference := problem(part, pin):
            return difference
        if target.is_dir():
            shutil.rmtree(target)  # damaged, or it would not be fetched again
        part.rename(target)
        return None
    except ArchiveError as error:
        return f"the archive is refused: {error}"
    finally:
        shutil.rmtree(part, ignore_errors=True)


class ArchiveError(Exception):
    """The archive is damaged or unsafe."""


# zipfile's errors after flipped bits: also OSError for a negative offset, RuntimeError for an
# unknown version
_DAMAGED_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)


class _Limited:
    """An opened archive whose list of entries, which zipfile reads at once, must not be large."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if size > _DIRECTORY:
            raise ArchiveError(f"its list of entries has {size:,} bytes, more than {_DIRECTORY:,}")
        return self._file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def open_archive(file: BinaryIO) -> zipfile.ZipFile:
    """Open a zip archive; ArchiveError if it has far too many entries."""
    archive: Any = _Limited(file)
    return zipfile.ZipFile(archive)


def _blocks(archive: BinaryIO, pin: Pin) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the files of the pin's folder, a large file in several blocks."""
    try:
        with open_archive(archive) as file:
            for name, member in _members(file, pin["member"]).items():
                with file.open(member) as opened:
                    yield name, b""  # creates an empty file too
                    while block := opened.read(_ARCHIVE_BLOCK):
                        yield name, block
    except (*_DAMAGED_ARCHIVE, ValueError) as error:
        raise ArchiveError(f"it cannot be read: {error}") from None


def _members(file: zipfile.ZipFile, folder: str) -> dict[str, zipfile.ZipInfo]:
    prefix = f"{folder}/"
    members: dict[str, zipfile.ZipInfo] = {}
    for entry in file.infolist():
        path = entry.filename
        if re.match(r"[/\\]|[A-Za-z]:", path) or {".", ".."} & set(re.split(r"[/\\]", path)):
            raise ArchiveError(f"its entry {path!r} may lead outside the folder")
        name = path.removeprefix(prefix)
        if name in ("", path):  # the folder itself, or outside it
            continue
        kind = stat.S_IFMT(entry.external_attr >> 16)  # 0 where the archive does not say
        if re.search(r"[/\\]", name) or kind not in (0, stat.S_IFREG):
            raise ArchiveError(f"its entry {path!r} is not a file of a flat folder")
        if name in members:
            raise ArchiveError(f"it has two entries {path!r}")
        if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
            raise ArchiveError(f"its entry {path!r} is neither stored nor deflated")
        members[name] = entry
    size = sum(member.file_size for member in members.values())
    if not members:
        raise ArchiveError(f"it has no files in {prefix}")
    if len(members) > _FILES or size > LIMIT:
        what = f"{prefix} has {len(members):,} files and {size:,} bytes"
        raise ArchiveError(f"{what}, more than {_FILES:,} files or {LIMIT:,} bytes")
    return members
