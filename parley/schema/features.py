"""The features of a config, and their forms: `datasets.Features`, Arrow schema, footer, card YAML.

The features of a script are of Parley: `Value`, `ClassLabel`, a list [feature] and a dict of
features. `datasets`, slow to import, is needed only when a builder runs or its types are asked for.

Every supported version of `datasets` reads the footer and the YAML. Versions before 4.0 do not know
`_type: List`. So a list of structs is `[{...}]` in the footer and `list:` in the card; any other
list is a `Sequence` and `sequence:`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parley.base.errors import ScriptError

if TYPE_CHECKING:
    import datasets
    import pyarrow as pa

DTYPES = {str: "string", int: "int64", float: "float64", bool: "bool"}


@dataclass(frozen=True)
class Value:
    """A feature of one type, as of Arrow: "string", "int32", "float64" and so on."""

    dtype: str


FLOAT = Value("float64")


@dataclass(frozen=True, init=False)
class ClassLabel:
    """A feature that holds the numbers of labels, counted from 0.

    Args:
        names: The labels, or label -> its meaning in Markdown, "" if the name says all that is
            known.
        is_ordered: Whether their order means something, as from dissatisfied to satisfied.
    """

    names: Sequence[str]
    meanings: Mapping[str, str]  # label -> its meaning; empty for names alone
    is_ordered: bool

    dtype = "int64"  # of the column

    def __init__(self, names: Sequence[str] | Mapping[str, str], is_ordered: bool = False) -> None:
        texts = not isinstance(names, str) and all(isinstance(n, str) for n in names)
        if not texts or not names or len(set(names)) < len(names):
            what = f"ClassLabel: names: expected labels, each once, found {names!r:.60}"
            raise ScriptError(what)
        meanings = dict(names) if isinstance(names, Mapping) else {}
        for name, meaning in meanings.items():
            require_line(f"ClassLabel: names: {name!r:.60}", meaning)
        vars(self).update(names=[*names], meanings=meanings, is_ordered=is_ordered)


def require_line(where: str, text: Any) -> None:
    """Raise ScriptError unless a meaning or a unit is one line, which no comment of a card cuts."""
    if not isinstance(text, str) or len(text.splitlines()) > 1 or "<!--" in text:
        what = f"{where}: expected one line of text without comments"
        raise ScriptError(f"{what}, found {text!r:.60}")


def datasets_features(features: Mapping[str, Any]) -> "datasets.Features":
    """Return the features as those of `datasets`."""
    import datasets

    def made(feature: Any) -> Any:
        if isinstance(feature, Value):
            return datasets.Value(feature.dtype)
        if isinstance(feature, ClassLabel):
            return datasets.ClassLabel(names=list(feature.names))
        if isinstance(feature, list):
            return [made(feature[0])]
        return {n: made(f) for n, f in feature.items()} if type(feature) is dict else feature

    return datasets.Features(made(features))


def arrow_schema(features: Mapping[str, Any]) -> "pa.Schema":
    """Return the Arrow schema of the features, ours or of `datasets`, with its footer metadata.

    The second key tells the Hub about content-defined chunking, which pyarrow does not record.
    """
    info = {"info": {"features": {name: _footer(f) for name, f in features.items()}}}
    import pyarrow as pa  # not at the top: only rows need it

    return pa.schema(
        [(name, _arrow_type(feature)) for name, feature in features.items()],
        {"huggingface": json.dumps(info), "use_content_defined_chunking": "true"},
    )


def _arrow_type(feature: Any) -> "pa.DataType":
    import pyarrow as pa

    if isinstance(feature, dict):
        return pa.struct([(name, _arrow_type(inner)) for name, inner in feature.items()])
    if (element := item_of(feature)) is not None:
        return pa.list_(_arrow_type(element))
    return pa.type_for_alias(feature.dtype)


def card_yaml(features: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the features for the card's `dataset_info.features`."""
    return [{"name": name, **_yaml(feature)} for name, feature in features.items()]


def item_of(feature: Any) -> Any:
    """Return the feature of a list's items, or None for other features."""
    return feature[0] if isinstance(feature, list) else getattr(feature, "feature", None)


def labels_of(feature: Any) -> list[str] | None:
    """Return the names of a ClassLabel, or None for other features."""
    return list(names) if (names := getattr(feature, "names", None)) else None


def type_of(feature: Any) -> str:
    """Return the name of a feature's type for readers."""
    if isinstance(feature, list):
        return f"list of {type_of(feature[0])}"
    return "struct" if isinstance(feature, dict) else str(getattr(feature, "dtype", feature))


def _footer(feature: Any) -> Any:
    if isinstance(feature, dict):
        return {name: _footer(inner) for name, inner in feature.items()}
    if (element := item_of(feature)) is not None:
        inner = _footer(element)
        return [inner] if isinstance(element, dict) else {"feature": inner, "_type": "Sequence"}
    if (names := labels_of(feature)) is not None:
        return {"names": names, "_type": "ClassLabel"}
    return {"dtype": feature.dtype, "_type": "Value"}


def _yaml(feature: Any) -> dict[str, Any]:
    if isinstance(feature, dict):
        return {"struct": card_yaml(feature)}
    if (element := item_of(feature)) is not None:
        inner = _yaml(element)
        if isinstance(element, dict):
            return {"list": inner["struct"]}
        return {"sequence": inner["dtype"] if list(inner) == ["dtype"] else inner}
    if (names := labels_of(feature)) is not None:
        numbered = {str(number): name for number, name in enumerate(names)}
        return {"dtype": {"class_label": {"names": numbered}}}
    return {"dtype": feature.dtype}
