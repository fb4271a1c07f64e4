"""A config's features as Arrow schema, Parquet footer and card YAML.

Every supported version of `datasets` reads the footer and the YAML. Versions before 4.0 do not know
`_type: List`. So a list of structs is `[{...}]` in the footer and `list:` in the card; any other
list is a `Sequence` and `sequence:`.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import datasets
    import pyarrow as pa


def arrow_schema(features: "datasets.Features") -> "pa.Schema":
    """Return the Arrow schema of the features with its footer metadata.

    The second key tells the Hub about content-defined chunking, which pyarrow does not record.
    """
    info = {"info": {"features": {name: _footer(f) for name, f in features.items()}}}
    return features.arrow_schema.with_metadata(
        {"huggingface": json.dumps(info), "use_content_defined_chunking": "true"}
    )


def card_yaml(features: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the features for the card's `dataset_info.features`."""
    return [{"name": name, **_yaml(feature)} for name, feature in features.items()]


def item_of(feature: Any) -> Any:
    """Return the feature of a list's items, or None for other features."""
    return feature[0] if isinstance(feature, list) else getattr(feature, "feature", None)


def labels_of(feature: Any) -> list[str] | None:
    """Return the names of a ClassLabel, or None for other features."""
    return getattr(feature, "names", None)


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
