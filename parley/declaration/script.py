"""The declaration of a dataset, as the class of its script states it."""

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from parley.base.errors import Problem, ScriptError
from parley.declaration.configs import Config, View
from parley.source.files import REMEDY, Source


class Script:
    """A dataset's attributes and configs, which `parley.Builder` describes.

    Raises:
        ScriptError: the class definition has mistakes; names all of them.
    """

    VERSION = HOMEPAGE = LICENSE = DEFAULT_CONFIG_NAME = SHOWN = ""
    CITATION = ""  # of CITATION.bib, which `Dataset.builder` reads
    LANGUAGES: Sequence[str] = ()
    CONFIGS: list[Config | View] = []

    @classmethod
    def require_sound(cls) -> None:
        """Raise ScriptError with all mistakes of the declaration; else complete it."""
        if problems := list(_problems(cls)):
            raise ScriptError(cls.__name__, *problems, remedy=REMEDY)
        cls.VERSION = str(cls.VERSION)
        cls.DEFAULT_CONFIG_NAME = cls.CONFIGS[0].name

    @classmethod
    def configs(cls) -> dict[str, Config | View]:
        """Return the configs by name, in their order."""
        return {config.name: config for config in cls.CONFIGS}

    @classmethod
    def splits(cls) -> dict[str, dict[str, tuple[Source, ...]]]:
        """Return config -> split -> its sources."""
        return {
            config: {split: tuple(some) for split, some in cls.base(config).splits.items()}
            for config in cls.configs()
        }

    @classmethod
    def base(cls, config: str) -> Config | View:
        """Return the config that provides splits and records: the config itself or its `of`."""
        entry = cls.configs()[config]
        return entry if entry.splits or not isinstance(entry, View) else cls.configs()[entry.of]

    @classmethod
    def licence(cls, config: str) -> str:
        """Return the licence of a config."""
        return cls.configs()[config].licence or cls.LICENSE

    @classmethod
    def description(cls) -> str:
        """Return the docstring of the class as one line."""
        return " ".join((inspect.getdoc(cls) or "").split())


def _problems(cls: type[Script]) -> Iterator[Problem]:
    """Yield the mistakes in the declarations of a subclass."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", str(cls.VERSION)):
        yield Problem("VERSION", 'numbers as in "1.0.0"', repr(cls.VERSION))
    if not isinstance(cls.HOMEPAGE, str) or not cls.HOMEPAGE.startswith("https://"):
        yield Problem("HOMEPAGE", "text that begins with https://", f"{cls.HOMEPAGE!r:.60}")
    if not isinstance(cls.LICENSE, str) or not cls.LICENSE:
        yield Problem("LICENSE", "text", f"{cls.LICENSE!r:.60}")
    if cls.CITATION:
        yield Problem("CITATION", what="write it into CITATION.bib beside the script")
    if not cls.__doc__ and sys.flags.optimize < 2:  # which leaves docstrings out
        yield Problem("the docstring", what="missing; describe the dataset")
    has_configs = isinstance(cls.CONFIGS, list | tuple) and cls.CONFIGS
    if not has_configs or not all(isinstance(config, Config | View) for config in cls.CONFIGS):
        yield Problem("CONFIGS", "a list of Configs and Views", f"{cls.CONFIGS!r:.60}")
        return
    names = [config.name for config in cls.CONFIGS]
    if names[0] != "dialogues":
        yield Problem("CONFIGS", "`dialogues` as the first config", names[0])
    if "default" in names:
        what = "has `default`, a name reserved by `datasets`; rename the config"
        yield Problem("CONFIGS", what=what)
    for name in {name for name in names if names.count(name) > 1}:
        yield Problem("CONFIGS", what=f"has {name} more than once")
    languages = cls.LANGUAGES
    if isinstance(languages, str) or not all(isinstance(code, str) for code in languages):
        yield Problem("LANGUAGES", "codes of languages, as ('en',)", repr(languages))
    if cls.SHOWN and cls.SHOWN not in names:
        yield Problem("SHOWN", f"one of {', '.join(names)}", repr(cls.SHOWN))
    lossless = {config.name: config for config in cls.CONFIGS if isinstance(config, Config)}
    for view in (config for config in cls.CONFIGS if isinstance(config, View)):
        if view.of in lossless:
            view.inherit(lossless[view.of])
        elif view.of:
            yield Problem(f"View({view.name!r}).of", "a Config", repr(view.of))
    if not lossless:
        yield Problem("CONFIGS", what="has no Config; at least one config must be lossless")
    sources: dict[str, Source] = {}
    for config in cls.CONFIGS:
        for source in chain.from_iterable(config.splits.values()):
            if sources.setdefault(source.path, source) is not source:
                yield Problem(source.path, what="declared twice; declare it once and reuse it")
    hashes: dict[tuple[str, Any], list[Any]] = {}
    for path, source in sources.items():
        content = [source.pin.get(kind) for kind in ("sha256", "git_blob", "git_tree")]
        if hashes.setdefault((source.url, source.pin.get("member")), content) != content:
            yield Problem(f"{path}.url", "a URL of its own, as its hash is its own", source.url)
        yield from _column_problems(config)


def _column_problems(config: Config | View) -> Iterator[Problem]:
    try:
        features = config.features
    except ScriptError as error:
        yield from (problem.at(f"{error.message}: ") for problem in error.problems)
        return
    lower = [column.lower() for column in features]
    for column in features:
        if column.lower() == "split" or lower.count(column.lower()) > 1:
            what = "another name than `split`, and one that differs in more than case: SQL needs it"
            yield Problem(f"{type(config).__name__}({config.name!r}).columns", what, repr(column))
    expected = f"columns among {', '.join(features)}"
    place = f"{type(config).__name__}({config.name!r})"
    for column in config.keys:
        if not hasattr(features.get(column), "dtype"):
            yield Problem(f"{place}.key", expected, repr(column))
    columns = config.shown.values() if isinstance(config, View) else ()
    if unknown := [column for column in columns if column and column not in features]:
        yield Problem(f"{place}.shows", expected, str(unknown))
