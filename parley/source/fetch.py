"""Fetches the pinned sources of a dataset into the cache.

    url ──GET, resumed with Range──▶ PART of <file> ──hash is the pin's──▶ <file>
    archive url ──GET──▶ PART of <zip> ──extract──▶ PART of <folder> ──tree is the pin's──▶ <folder>

The PART of NAME is NAME.parley-part. A file with its final name is complete and hash-checked. A
fetch locks the part file that it writes: a second fetch waits and finds the work done. After an
interruption, the next fetch resumes.

If the URL fails or its content differs from the pin, the first mirror that matches its pin is used.
"""

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from parley.base.disk import open_part, part_of
from parley.base.errors import FetchError, Problem
from parley.source.download import Downloader, Progress, extract, open_client
from parley.source.hashes import UNREADABLE, Pin, places, problem

OnMirror = Callable[[str, Pin, Sequence[Problem]], None]
"""Takes a source, the mirror that served it, and the problems of the places before it."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def fetch(
    name: str,
    sources: Mapping[str, Pin],
    cache: Path,
    *,
    on_progress: Progress = lambda source, done, total: None,
    on_mirror: OnMirror = lambda source, mirror, why: None,
) -> Path:
    """Fetch each source that is lacking to cache/name; FetchError has the problems of all."""
    folder = cache / name
    errors: list[FetchError] = []
    jobs: dict[str, dict[str, Pin]] = {}  # one per file or archive
    for source, pin in sources.items():
        difference = problem(folder / source, pin)
        if difference and difference.startswith(UNREADABLE):
            unreadable = Problem(str(folder / source), what=difference)
            remedy = "Grant permission to read it, or remove it."
            errors.append(FetchError("", unreadable, remedy=remedy))
        elif difference:
            jobs.setdefault(pin["url"] if "git_tree" in pin else source, {})[source] = pin
    parts = {source: _part(folder, source, pin) for source, pin in sources.items()}
    needed = {parts[source] for pins in jobs.values() for source in pins}
    for part in {*parts.values()} - needed:  # which a killed fetch may have left
        with suppress(OSError):
            if part.exists():
                with open_part(part) as file:
                    file.truncate(0)
    if jobs:
        with open_client() as client:
            fetcher = _Fetcher(Downloader(client, on_progress), folder, on_mirror)
            for pins in jobs.values():
                try:
                    fetcher.fetch_one(pins)
                except FetchError as error:
                    errors.append(error)
                except OSError as error:
                    errors.append(_unwritable(", ".join(pins), folder, error))
    if errors:
        raise _together(f"{name} could not be fetched", errors)
    return folder


def _part(folder: Path, source: str, pin: Pin) -> Path:
    """Return the path of the part file of a source; a folder uses its archive's."""
    name = Path(urlsplit(pin["url"]).path).name if "git_tree" in pin else source
    return part_of(folder / name)


def _together(message: str, errors: Sequence[FetchError]) -> FetchError:
    """Return one error with the problems of all, and each remedy once."""
    problems = (problem for error in errors for problem in error.problems)
    remedies = dict.fromkeys(error.remedy for error in errors)
    return FetchError(message, *problems, remedy=" ".join(remedies))


def _unwritable(place: str, folder: Path, error: OSError) -> FetchError:
    what = f"cannot be written below {folder}: {error.strerror or error}"
    remedy = "Set PARLEY_CACHE to a folder that can be written."
    if error.errno in _FULL:
        remedy = "Make room there, or set PARLEY_CACHE to a folder on another disk."
    return FetchError("", Problem(place, what=what), remedy=remedy)


@dataclass(frozen=True)
class _Fetcher:
    downloader: Downloader
    folder: Path
    on_mirror: OnMirror

    def fetch_one(self, pins: dict[str, Pin]) -> None:
        """Fetch one file, or the folders of one archive, unless another fetch was faster."""
        (source, pin), *_ = pins.items()
        place = _part(self.folder, source, pin)
        place.parent.mkdir(parents=True, exist_ok=True)
        with open_part(place) as part:
            lacking = {s: pin for s, pin in pins.items() if problem(self.folder / s, pin)}
            if lacking and "git_tree" in pin:
                self._fetch_archive(part, place.stem, lacking)
            elif lacking:
                self._fetch_file(part, source, pin)
                os.replace(part.name, place.with_suffix(""))

    def _fetch_archive(self, part: BinaryIO, name: str, pins: dict[str, Pin]) -> None:
        def check() -> list[Problem]:
            wrong = {s: extract(part, pin, self.folder / s) for s, pin in pins.items()}
            return [Problem(s, what=f"{pins[s]['url']}: {w}") for s, w in wrong.items() if w]

        (pin, *_) = pins.values()
        self.downloader.fill(part, {"url": pin["url"]}, name, check)
        part.truncate(0)

    def _fetch_file(self, part: BinaryIO, source: str, pin: Pin) -> None:
        errors: list[FetchError] = []
        for place in places(pin):

            def check(place: Pin = place) -> list[Problem]:
                wrong = problem(Path(part.name), place)
                return [Problem(source, what=f"{place['url']}: {wrong}")] if wrong else []

            try:
                self.downloader.fill(part, place, source, check)
            except FetchError as error:
                errors.append(error)
            else:
                os.fsync(part.fileno())
                if errors:
                    self.on_mirror(source, place, _together("", errors).problems)
                return
        raise _together("", errors)
