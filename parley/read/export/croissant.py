"""Write a build as Croissant: Parquet files and a machine-readable description.

    DIR/croissant.json           https://docs.mlcommons.org/croissant/, version 1.1, with the
                                 vocabulary of responsible AI and of provenance
    DIR/<config>/*.parquet       the files that it describes

Unlike the Hub's own description, it names upstream's files with their hashes, the card's sections
on collection, annotation, personal data, biases, impact and limits, and the documented figures.
A property whose section the card lacks is left out. So is `datePublished`, of whose lack the
validator warns: a build does not know when it will be published.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import mlcroissant as mlc
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from parley.base.errors import OutputError
from parley.builds.built_folder import BuiltFolder
from parley.builds.card import licence_section, parse, prose
from parley.builds.card_parts import meaning_of
from parley.declaration.measured import measured
from parley.declaration.registry import Dataset
from parley.schema.features import item_of, labels_of

DESCRIPTION = "croissant.json"
_CONFORMS = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
# Property -> the card's section, or the paragraph of "Biases and impact", that it is
_SAID = {
    "dataCollection": "How it was collected",
    "dataAnnotationProtocol": "Annotation",
    "personalSensitiveInformation": "Personal and sensitive information",
    "dataBiases": "Biases",
    "dataSocialImpact": "Social impact",
    "dataLimitations": "Known limits",
    "dataPreprocessingProtocol": "What we changed",
}
# Activity of the data's way -> its section
_ACTIVITIES = {
    "collection": "How it was collected",
    "annotation": "Annotation",
    "conversion by Parley": "What we changed",
}


def croissant(built: BuiltFolder, folder: Path) -> None:
    """Write the description and its files; OutputError if it is not valid Croissant."""
    for config, split in built.declared_splits:
        (folder / config).mkdir(exist_ok=True)
        for path in built.files(config, split):
            shutil.copyfile(path, folder / config / path.name)
    front, body = parse(built.card, "README.md")
    dataset, builder = built.dataset, built.dataset.builder
    context = mlc.Context()
    texts = _sections(body)
    urls = dict.fromkeys(pin["url"] for pin in built.provenance["sources"].values())
    uses = [f"{name}: {config.use}" for name, config in dataset.configs.items() if config.use]
    described = {
        "@context": context.rdf.context | {"prov": "http://www.w3.org/ns/prov#"},
        "@type": "sc:Dataset",
        "name": dataset.name,
        "description": builder.description(),
        "conformsTo": _CONFORMS,
        "citeAs": builder.CITATION,
        "creator": [{"@type": "sc:Person", "name": name} for name in _creators(builder.CITATION)],
        "inLanguage": front.get("language", []),
        "keywords": front.get("tags", []),
        "license": _licences(front, built),
        "url": builder.HOMEPAGE,
        "version": built.version,
        "distribution": list(_files(built)),
        "recordSet": list(_record_sets(built)),
        **{f"rai:{name}": texts[of] for name, of in _SAID.items() if of in texts},
        "rai:dataUseCases": [*uses, *(f"to predict {t.summary}" for t in dataset.tasks.values())],
        "rai:hasSyntheticData": "machine-generated" in front.get("language_creators", ()),
        "prov:wasDerivedFrom": [{"@id": url} for url in urls],
        "prov:wasGeneratedBy": [
            {"@type": "prov:Activity", "prov:label": name, "sc:description": texts[of]}
            for name, of in _ACTIVITIES.items()
            if of in texts
        ],
        "variableMeasured": list(_figures(dataset)),
    }
    text = json.dumps(described, indent=2, ensure_ascii=False)
    try:
        mlc.Metadata.from_json(context, json.loads(text))
    except mlc.ValidationError as error:
        raise OutputError(f"{built.path}: cannot be described as Croissant: {error}") from error
    (folder / DESCRIPTION).write_text(f"{text}\n", encoding="utf-8")


def _licences(front: Mapping[str, Any], built: BuiltFolder) -> list[str]:
    """Return the address of each licence, or what the card says where none is known."""
    ids = front.get("license", "unknown")
    try:
        names = [*map(canonicalize_license_expression, [ids] if isinstance(ids, str) else ids)]
    except InvalidLicenseExpression:
        return [licence_section(built.card, "README.md") or built.dataset.builder.LICENSE]
    return [f"https://spdx.org/licenses/{name}.html" for name in names]


def _creators(citation: str) -> list[str]:
    """Return the authors of the first work of a BibTeX text, family names last."""
    match = re.search(r"\bauthor\s*=\s*\{(.+?)\}\s*(?:,\s*\w+\s*=|\}?\s*$)", citation, re.DOTALL)
    authors = re.split(r"\s+and\s+", match[1].strip()) if match else []
    return [" ".join(reversed(re.split(r",\s*", author, maxsplit=1))) for author in authors]


def _sections(body: str) -> dict[str, str]:
    """Return a card's sections by their headings, without generated text."""
    parts = re.split(r"^## (.+)\n", prose(body), flags=re.MULTILINE)[1:]
    texts = {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)}
    for paragraph in texts.get("Biases and impact", "").split("\n\n"):
        name, _, text = paragraph.partition(": ")
        texts[name] = text
    return {heading: text for heading, text in texts.items() if text}


def _files(built: BuiltFolder) -> Iterator[dict[str, Any]]:
    """Yield the available upstream files and the Parquet files of each config."""
    for source, pin in built.provenance["sources"].items():
        if "sha256" in pin:  # a file of which git's name alone is known has no hash of Croissant's
            size = {"contentSize": f"{pin['size']} B"} if "size" in pin else {}
            about = {"contentUrl": pin["url"], **size, "sha256": pin["sha256"]}
            named = {"@type": "cr:FileObject", "@id": f"upstream/{source}", "name": source}
            yield named | about | {"encodingFormat": "text/plain"}
    for config in dict.fromkeys(config for config, _ in built.declared_splits):
        files = [path for split in built.splits(config) for path in built.files(config, split)]
        named = {"@type": "cr:FileSet", "@id": f"parquet/{config}", "name": config}
        names = [f"{config}/{path.name}" for path in files]
        yield named | {"encodingFormat": "application/x-parquet", "includes": names}


def _record_sets(built: BuiltFolder) -> Iterator[dict[str, Any]]:
    """Yield each config with a field `split`, then its splits and its labels, which fields name."""
    configs, builder = built.dataset.configs, built.dataset.builder
    licences = {name: builder.licence(name) for name in configs}
    for config in dict.fromkeys(config for config, _ in built.declared_splits):
        features = built.column_types(config)
        meanings = {column.path: meaning_of(column) for column in configs[config].fields}
        left_out = [name for name, feature in features.items() if not _readable(feature)]
        description = configs[config].description or config
        if left_out:
            description += f"; not described, as they hold lists in lists: {', '.join(left_out)}"
        if len(set(licences.values())) > 1:
            description += f"; licence: {licences[config]}"
        splits = built.splits(config)
        split = _node("cr:Field", f"{config}/split", "split", "the split of the row") | {
            "dataType": "sc:Text",
            "references": {"field": {"@id": f"splits/{config}/name"}},
            "source": {
                "fileSet": {"@id": f"parquet/{config}"},
                "extract": {"fileProperty": "fullpath"},
                "transform": {"regex": f"(?:{config}/)?({'|'.join(splits)})(?:-.+)?$"},
            },
        }
        described = [name for name in features if name not in left_out]
        fields = [_field((config, name), features[name], meanings) for name in described]
        yield _node("cr:RecordSet", config, config, description) | {"field": [split, *fields]}
        rows: list[dict[str, Any]] = [{"name": split} for split in splits]
        yield _listed(f"splits/{config}", f"the splits of {config}", "cr:Split", "name", rows)
        for name, feature in features.items():
            if labels := labels_of(_inner(feature)[0]):
                rows = [{"value": n, "name": label} for n, label in enumerate(labels)]
                id, of = f"labels/{config}/{name}", f"the labels of {name} in {config}"
                yield _listed(id, of, "sc:Enumeration", "value", rows)


def _node(type_: str, id: str, name: str, description: str) -> dict[str, Any]:
    return {"@type": type_, "@id": id, "name": name, "description": description}


def _listed(id: str, of: str, kind: str, key: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a set whose records stand in the description itself."""
    types = {"name": "sc:Text", "value": "sc:Integer"}
    fields = [_node("cr:Field", f"{id}/{n}", n, of) | {"dataType": types[n]} for n in rows[0]]
    data = [{f"{id}/{name}": value for name, value in row.items()} for row in rows]
    about = {"dataType": kind, "key": {"@id": f"{id}/{key}"}, "field": fields, "data": data}
    return _node("cr:RecordSet", id, id, of) | about


def _field(
    path: tuple[str, ...], feature: Any, meanings: Mapping[str, str], place: str = ""
) -> dict[str, Any]:
    """Return the field of a feature, by its path: config, column, and keys within that.

    Its `place` is the path of its meaning, as `turns[].text`.
    """
    inner, repeated = _inner(feature)
    config, column, *keys = path
    place = place or column
    field = _node("cr:Field", "/".join(path), path[-1], meanings.get(place, ""))
    field |= {"repeated": True} if repeated else {}
    if isinstance(inner, dict):
        above = f"{place}[]" if repeated else place
        within = [_field((*path, k), of, meanings, f"{above}.{k}") for k, of in inner.items()]
        return field | {"subField": within}
    if labels_of(inner):
        field["references"] = {"field": {"@id": f"labels/{'/'.join(path)}/value"}}
    json_path = ".".join(key if key.isidentifier() else repr(key) for key in keys)
    return field | {
        "dataType": _type(inner),
        "source": {
            "fileSet": {"@id": f"parquet/{config}"},
            "extract": {"column": column},
            **({"transform": {"jsonPath": json_path}} if keys else {}),
        },
    }


def _inner(feature: Any) -> tuple[Any, bool]:
    """Return a feature, or the items of a list, and whether it is a list."""
    repeated = False
    while item := item_of(feature):
        feature, repeated = item, True
    return feature, repeated


def _readable(feature: Any, in_list: bool = False) -> bool:
    """Tell whether mlcroissant can read a feature: not lists within the objects of a list."""
    inner, repeated = _inner(feature)
    within = inner.values() if isinstance(inner, dict) else ()
    return not (repeated and in_list) and all(_readable(v, repeated or in_list) for v in within)


def _type(feature: Any) -> str:
    kind = feature.dtype
    if labels_of(feature) or kind.startswith(("int", "uint")):
        return "sc:Integer"
    if kind.startswith("float"):
        return "sc:Float"
    return "sc:Boolean" if kind == "bool" else "sc:Text"


def _figures(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Yield the documented figures of a dataset in schema.org's terms."""
    for figure in measured(dataset).figures(dataset):
        reason = f" ({figure.reason})" if figure.reason else ""
        yield {
            "@type": "sc:PropertyValue",
            "name": figure.name,
            "value": None if figure.measured is None else str(figure.measured),
            "description": f"documented {figure.stated}: {figure.verdict}{reason}",
            "citation": figure.place,
        }
