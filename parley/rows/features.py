"""A config's features as Arrow schema, Parquet footer and card YAML.

Every supported version of `datasets` reads the footer and the YAML. Versions before 4.0 do not know
`_type: List`. So a list of structs is `[{...}]` in the footer and `list:` in the card; any other
list is a `Sequence` and `sequence:`.
"""

import json
from typing import Any

import datasets
import pyarrow as pa


def arrow_schema(features: datasets.Features) -> pa.Schema:
    """Return the Arrow schema of the features with its footer metadata.

    The second key tells the Hub about content-defined chunking, which pyarrow does not record.
    """
    info = {"info": {"features": {name: _footer(f) for name, f in features.items()}}}
    return features.arrow_schema.with_metadata(
        {"huggingface": json.dumps(info), "use_content_defined_chunking": "true"}
    )


def card_yaml(features: datasets.Features) -> list[dict[str, Any]]:
    """Return the features for the card's `dataset_info.features`."""
    return [{"name": name, **_yaml(feature)} for name, feature in features.items()]


def _element(feature: Any) -> Any:
    """Return the feature of a list's items, or None for other features."""
    if isinstance(feature, list):
        return feature[0]
    return feature.feature if isinstance(feature, datasets.Sequence | datasets.List) else None


def _footer(feature: Any) -> Any:
    if isinstance(feature, dict):
        return {name: _footer(inner) for name, inner in feature.items()}
    if (element := _element(feature)) is not None:
        inner = _footer(element)
        return [inner] if isinstance(element, dict) else {"feature": inner, "_type": "Sequence"}
    if isinstance(feature, datasets.ClassLabel):
        return {"names": feature.names, "_type": "ClassLabel"}
    return {"dtype": feature.dtype, "_type": "Value"}


def _yaml(feature: Any) -> dict[str, Any]:
    if isinstance(feature, dict):
        return {"struct": card_yaml(datasets.Features(feature))}
    if (element := _element(feature)) is not None:
        inner = _yaml(element)
        if isinstance(element, dict):
            return {"list": inner["struct"]}
        return {"sequence": inner["dtype"] if list(inner) == ["dtype"] else inner}
    if isinstance(feature, datasets.ClassLabel):
        names = {str(number): name for number, name in enumerate(feature.names)}
        return {"dtype": {"class_label": {"names": names}}}
    return {"dtype": feature.dtype}
