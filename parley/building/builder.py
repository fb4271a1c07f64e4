"""Base class for a dataset's script: a GeneratorBasedBuilder that needs no methods."""

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.base.errors import Problem, ScriptError
from parley.building.configs import Config, View
from parley.schema.features import datasets_features
from parley.source.files import REMEDY, Source
from parley.source.reader import Reader

if TYPE_CHECKING:
    import datasets


class _Configs:
    """The class attribute BUILDER_CONFIGS, made when `datasets` reads it."""

    def __get__(self, _: object, cls: "type[Builder]") -> "list[datasets.BuilderConfig]":
        import datasets

        version = datasets.Version(cls.VERSION)
        return [
            datasets.BuilderConfig(config.name, version, description=config.description)
            for config in cls.CONFIGS
        ]


class _Base:
    """The base of `Builder` until `datasets` is imported, which is slow."""


class Builder(_Base):
    """The declaration of a dataset, a GeneratorBasedBuilder of `datasets`.

    It becomes one when `datasets` is loaded and the first builder is made or the next declared.

    A subclass describes the dataset in its docstring, and declares

        VERSION   the version of the rows, as "1.0.0"
        HOMEPAGE  upstream's page
        LICENSE   the Hub's name of the licence, or "unknown"
        LANGUAGES the languages of the texts, as ("en",)
        CITATION  a BibTeX entry
        CONFIGS   its configs; the first is `dialogues`, the default
        SHOWN     the config of which cards show an invented row; by default the first

    Raises:
        ScriptError: the class definition has mistakes; names all of them.
    """

    VERSION = HOMEPAGE = LICENSE = CITATION = DEFAULT_CONFIG_NAME = SHOWN = ""
    LANGUAGES: Sequence[str] = ()
    CONFIGS: list[Config | View] = []
    BUILDER_CONFIGS = _Configs()
    config: Any  # this and the next: of `datasets`
    dataset_name: str

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if "datasets" in sys.modules:  # it may be what imports the script
            _inherit()
        super().__init_subclass__(**kwargs)
        if found := list(_problems(cls)):
            raise ScriptError(cls.__name__, *found, remedy=REMEDY)
        cls.VERSION = str(cls.VERSION)
        cls.DEFAULT_CONFIG_NAME = cls.CONFIGS[0].name

    def __new__(cls, *args: Any, **kwargs: Any) -> "Builder":  # noqa: D102
        _inherit()
        return super().__new__(cls)

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
        found = cls.configs()[config]
        return found if found.splits or not isinstance(found, View) else cls.configs()[found.of]

    @classmethod
    def licence(cls, config: str) -> str:
        """Return the licence of a config."""
        return cls.configs()[config].licence or cls.LICENSE

    @classmethod
    def description(cls) -> str:
        """Return the docstring of the class as one line."""
        return " ".join((inspect.getdoc(cls) or "").split())

    def _info(self) -> "datasets.DatasetInfo":
        import datasets

        config = self.configs()[self.config.name]
        return datasets.DatasetInfo(
            description=self.description(),
            features=datasets_features(config.features),
            homepage=self.HOMEPAGE,
            license=self.licence(config.name),
            citation=self.CITATION,
        )

    def _split_generators(self, dl_manager: Any) -> "list[datasets.SplitGenerator]":
        import datasets

        splits = self.splits()[self.config.name]
        return [datasets.SplitGenerator(split, {"sources": some}) for split, some in splits.items()]

    def _generate_examples(
        self, sources: tuple[Source, ...]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        folder = self.config.data_dir
        if folder is None:
            from parley.source.fetch import cache_folder, fetch

            pins = {each.path: each.pin for each in sources}
            folder = fetch(self.dataset_name, pins, cache_folder())
        from parley.building.rows.split import SplitPlan, generate  # not at the top: pyarrow

        config = self.configs()[self.config.name]
        join, reader = self.base(config.name).records, Reader(Path(folder))
        plan = SplitPlan(self.dataset_name, config, "", sources, reader, join)
        yield from enumerate(generate(plan))


def _inherit() -> None:
    """Make every Builder, with its subclasses, one of `datasets`."""
    import datasets

    Builder.__bases__ = (datasets.GeneratorBasedBuilder,)


def _problems(cls: type[Builder]) -> Iterator[Problem]:
    """Yield the mistakes in the declarations of a subclass."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", str(cls.VERSION)):
        yield Problem("VERSION", 'numbers as in "1.0.0"', repr(cls.VERSION))
    for name, due in (("HOMEPAGE", "https://"), ("CITATION", "@"), ("LICENSE", "")):
        found = getattr(cls, name)
        if not isinstance(found, str) or not found.startswith(due) or not found:
            yield Problem(name, f"text that begins with {due}" if due else "text", f"{found!r:.60}")
    if not cls.__doc__ and sys.flags.optimize < 2:  # which leaves docstrings out
        yield Problem("the docstring", what="missing; describe the dataset")
    listed = isinstance(cls.CONFIGS, list | tuple) and cls.CONFIGS
    if not listed or not all(isinstance(each, Config | View) for each in cls.CONFIGS):
        yield Problem("CONFIGS", "a list of Configs and Views", f"{cls.CONFIGS!r:.60}")
        return
    names = [config.name for config in cls.CONFIGS]
    if names[0] != "dialogues":
        yield Problem("CONFIGS", "`dialogues` as the first config", names[0])
    if "default" in names:
        yield Problem(
            "CONFIGS", what="has `default`, a name reserved by `datasets`; rename the config"
        )
    for name in {name for name in names if names.count(name) > 1}:
        yield Problem("CONFIGS", what=f"has {name} more than once")
    languages = cls.LANGUAGES
    if isinstance(languages, str) or not all(isinstance(each, str) for each in languages):
        yield Problem("LANGUAGES", "codes of languages, as ('en',)", repr(languages))
    if cls.SHOWN and cls.SHOWN not in names:
        yield Problem("SHOWN", f"one of {', '.join(names)}", repr(cls.SHOWN))
    lossless = {config.name: config for config in cls.CONFIGS if isinstance(config, Config)}
    for view in (config for config in cls.CONFIGS if isinstance(config, View)):
        if view.of and view.of not in lossless:
            yield Problem(f"View({view.name!r}).of", "a Config", repr(view.of))
    if not lossless:
        yield Problem("CONFIGS", what="has no Config; at least one config must be lossless")
    seen: dict[str, Source] = {}
    for config in cls.CONFIGS:
        for source in chain.from_iterable(config.splits.values()):
            if seen.setdefault(source.path, source) is not source:
                yield Problem(source.path, what="declared twice; declare it once and reuse it")
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
    there = f"columns among {', '.join(features)}"
    place = f"{type(config).__name__}({config.name!r})"
    for column in config.keys:
        if not hasattr(features.get(column), "dtype"):
            yield Problem(f"{place}.key", there, repr(column))
    shown = config.shown.values() if isinstance(config, View) else ()
    if unknown := [column for column in shown if column and column not in features]:
        yield Problem(f"{place}.shows", there, str(unknown))
