"""Build, check and publish dialogue datasets as Hub folders that load everywhere.

The names in `__all__` are the public API.
"""

import importlib
from typing import TYPE_CHECKING, Any

from parley.base.version import __version__

if TYPE_CHECKING:
    from parley.api import dataset, datasets, load, open, score, select  # noqa: A004 - as `parley.open`
    from parley.base.console import print_message
    from parley.base.errors import (
        OutputError,
        ParleyError,
        Problem,
        RecordError,
        RowError,
        ScriptError,
        SourceError,
        UsageError,
    )
    from parley.base.replace import write_whole, writing
    from parley.building.build import build as build_folder
    from parley.building.builder import Builder
    from parley.building.built import BuiltFolder
    from parley.building.collection import Dataset
    from parley.building.sources import Source, at_hand, open_source
    from parley.declaring.charts import Bar, Bars, Chart, Dots, Heatmap, Panel, Panels
    from parley.declaring.chats import CHAT, chat_of
    from parley.declaring.declaration import Config, File, Folder, View
    from parley.declaring.features import ClassLabel, Value, arrow_schema, card_yaml
    from parley.declaring.figures import (
        Data,
        Differs,
        MissingSplitError,
        check,
        counted,
        differing,
        differing_views,
        documented,
        mean_and_deviation,
        moses_tokenizer,
        records_of,
        related_rows,
    )
    from parley.declaring.games import Rules as NegotiationRules
    from parley.declaring.games import State as NegotiationState
    from parley.declaring.games import make_game
    from parley.declaring.jobs import Job
    from parley.declaring.prediction_formats import (
        NO_HIT,
        TREC_RUN,
        UNREADABLE,
        Key,
        Prediction,
        Run,
    )
    from parley.declaring.questions import (
        Asking,
        Playing,
        Question,
        Unreadable,
        chat,
        choice,
        object_schema,
        read_labels,
        read_number,
        read_object,
        read_order,
        reader,
        spoken,
    )
    from parley.declaring.shapes import Checked, Converted, Field, as_json, null_or_absent, problems
    from parley.declaring.spread import Folds, Interval, interval, means, over_folds, resamples
    from parley.declaring.tasks import MEASURED, Reference, Score, Subset, Task, Undefined
    from parley.declaring.transcript import (
        Facets,
        Fact,
        Judged,
        Note,
        Pool,
        Table,
        Transcript,
        Turn,
    )
    from parley.reading.export.convokit import utterance, write_corpus
    from parley.reading.export.export import export as export_folder
    from parley.reading.site.write import write_site
    from parley.rows.digest import Digest
    from parley.rows.parquet import write as write_parquet
    from parley.scoring.evaluate import Result
    from parley.verifying.verify import Verification, verify_each

# Module -> its public names, imported on first use: `import parley` loads neither `datasets` nor
# pyarrow. "name:inner" renames the module's `inner`.
_PUBLIC = {
    # Using datasets
    "parley.api": "datasets dataset load open score select",
    "parley.building.built": "BuiltFolder",
    "parley.scoring.evaluate": "Result",
    # A dataset's script
    "parley.building.builder": "Builder",
    "parley.declaring.declaration": "Config File Folder View",
    "parley.declaring.shapes": "Checked Converted Field as_json null_or_absent problems",
    "parley.declaring.chats": "CHAT chat_of",
    # Other modules of a dataset
    "parley.declaring.figures": "Data Differs MissingSplitError check counted differing"
    " differing_views documented mean_and_deviation moses_tokenizer records_of related_rows",
    "parley.declaring.transcript": "Fact Facets Judged Note Pool Table Transcript Turn",
    "parley.declaring.charts": "Bar Bars Chart Dots Heatmap Panel Panels",
    "parley.declaring.tasks": "MEASURED Reference Score Subset Task Undefined",
    "parley.declaring.questions": "Asking Playing Question Unreadable chat choice object_schema"
    " read_labels read_number read_object read_order reader spoken",
    "parley.declaring.games": "NegotiationRules:Rules NegotiationState:State make_game",
    "parley.declaring.prediction_formats": "NO_HIT TREC_RUN UNREADABLE Key Prediction Run",
    "parley.declaring.spread": "Folds Interval interval means over_folds resamples",
    "parley.reading.export.convokit": "utterance write_corpus",
    "parley.declaring.jobs": "Job",
    # Output of jobs
    "parley.base.replace": "write_whole writing",
    "parley.rows.digest": "Digest",
    "parley.declaring.features": "ClassLabel Value arrow_schema card_yaml",
    "parley.rows.parquet": "write_parquet:write",
    "parley.base.console": "print_message",
    # Functions behind the commands
    "parley.building.collection": "Dataset",
    "parley.building.sources": "Source at_hand open_source",
    "parley.building.build": "build_folder:build",
    "parley.verifying.verify": "Verification verify_each",
    "parley.reading.export.export": "export_folder:export",
    "parley.reading.site.write": "write_site",
    "parley.base.errors": "OutputError ParleyError Problem RecordError RowError ScriptError"
    " SourceError UsageError",
}
_PLACES = {
    name: (module, inner or name)
    for module, names in _PUBLIC.items()
    for name, _, inner in (each.partition(":") for each in names.split())
}
__all__ = ["CHAT", "MEASURED", "NO_HIT", "TREC_RUN", "UNREADABLE", "Asking", "Bar", "Bars"]
__all__ += ["Builder", "BuiltFolder", "Chart", "Checked", "Config", "Converted", "Data"]
__all__ += [
    "ClassLabel",
    "Dataset",
    "Differs",
    "Digest",
    "Dots",
    "Facets",
    "Fact",
    "Field",
    "File",
    "Folder",
    "Folds",
    "Heatmap",
]
__all__ += ["Interval", "Job", "Judged", "Key", "MissingSplitError", "NegotiationRules"]
__all__ += ["NegotiationState", "Note", "OutputError", "Panel", "Panels", "ParleyError", "Playing"]
__all__ += ["Pool", "Prediction", "Problem", "Question", "RecordError", "Reference", "Result"]
__all__ += ["RowError", "Run", "Score", "ScriptError", "Source", "SourceError", "Subset", "Table"]
__all__ += ["Task", "Transcript", "Turn", "Undefined", "Unreadable", "UsageError", "Verification"]
__all__ += [
    "ClassLabel",
    "Value",
    "View",
    "__version__",
    "arrow_schema",
    "as_json",
    "at_hand",
    "build_folder",
]
__all__ += [
    "card_yaml",
    "chat",
    "chat_of",
    "check",
    "choice",
    "counted",
    "dataset",
    "datasets",
    "differing",
]
__all__ += ["differing_views", "documented", "export_folder", "interval", "load", "make_game"]
__all__ += ["mean_and_deviation", "means", "moses_tokenizer", "null_or_absent", "object_schema"]
__all__ += ["open", "open_source", "over_folds", "print_message", "problems", "read_labels"]
__all__ += ["read_number", "read_object", "read_order", "reader", "records_of", "related_rows"]
__all__ += ["resamples", "score", "select", "spoken", "utterance", "verify_each", "write_corpus"]
__all__ += ["write_parquet", "write_site", "write_whole", "writing"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'parley' has no attribute {name!r}")
    module, inner = _PLACES[name]
    return getattr(importlib.import_module(module), inner)


def __dir__() -> list[str]:  # for `help(parley)`
    return [*globals(), *_PLACES]
