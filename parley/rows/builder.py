"""Base class for a dataset's script: a GeneratorBasedBuilder that needs no methods."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.base.disk import cache_folder
from parley.declaration.script import Script
from parley.schema.features import datasets_features
from parley.source.files import Source
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


class Builder(Script, _Base):
    """The declaration of a dataset, a GeneratorBasedBuilder of `datasets`.

    It becomes one when `datasets` is loaded and the first builder is made or the next declared.

    A subclass describes the dataset in its docstring, and declares

        VERSION   the version of the rows, as "1.0.0"
        HOMEPAGE  upstream's page
        LICENSE   the Hub's name of the licence, or "unknown"
        LANGUAGES the languages of the texts, as ("en",)
        CONFIGS   its configs; the first is `dialogues`, the default
        SHOWN     the config of which cards show an invented row; by default the first

    What to cite stands in CITATION.bib beside the script. `datasets` before 4 copies the script
    away from it, and then knows no citation.

    Raises:
        ScriptError: the class definition has mistakes; names all of them.
    """

    BUILDER_CONFIGS = _Configs()
    config: Any  # this and the next: of `datasets`
    dataset_name: str

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if "datasets" in sys.modules:  # it may be what imports the script
            _inherit()
        super().__init_subclass__(**kwargs)
        cls.require_sound()

    def __new__(cls, *args: Any, **kwargs: Any) -> "Builder":  # noqa: D102
        _inherit()
        return super().__new__(cls)

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
            from parley.source.fetch import fetch

            pins = {each.path: each.pin for each in sources}
            folder = fetch(self.dataset_name, pins, cache_folder())
        from parley.rows.splits import SplitPlan, generate  # not at the top: pyarrow

        config = self.configs()[self.config.name]
        join, reader = self.base(config.name).records, Reader(Path(folder))
        plan = SplitPlan(self.dataset_name, config, "", sources, reader, join)
        yield from enumerate(generate(plan))


def _inherit() -> None:
    """Make every Builder, with its subclasses, one of `datasets`."""
    import datasets

    # Assigned at run time, since `list`, `show` and `check` start without `datasets`, which is slow
    Builder.__bases__ = (Script, datasets.GeneratorBasedBuilder)
