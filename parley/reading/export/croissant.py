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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import mlcroissant as mlc
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from rdflib.namespace import SDO  # mlcroissant is built on it

from parley.base.errors import OutputError
from parley.building.card import licence_section, parse, prose
from parley.building.folder import BuiltFolder
from parley.building.measurements import measured
from parley.building.registry import Dataset
from parley.schema.features import item_of, labels_of
from parley.schema.fields import columns_of, meaning_of

DESCRIPTION = "croissant.json"
_PARQUET = "application/x-parquet"
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
    for config, split in built.declared:
        (folder / config).mkdir(exist_ok=True)
        for path in built.files(config, split):
            shutil.copyfile(path, folder / config / path.name)
    context = mlc.Context()
    front, body = parse(built.card, "README.md")
    builder = built.dataset.builder
    try:
        metadata = mlc.Metadata(
            ctx=context,
            conforms_to=list(_CONFORMS),
            name=built.dataset.name,
            description=builder.description(),
            version=built.version,
            license=_licences(front, built),
            creators=[mlc.Person(ctx=context, name=name) for name in _creators(builder.CITATION)],
            url=builder.HOMEPAGE,
            cite_as=builder.CITATION,
            in_language=list(front.get("language", ())),
            keywords=list(front.get("tags", ())),
            distribution=list(_files(context, built)),
            record_sets=list(_record_sets(context, built)),
        )
    except mlc.ValidationError as error:
        raise OutputError(f"{built.path}: cannot be described as Croissant: {error}") from error
    described = metadata.to_json() | dict(_responsible(built, front, _sections(body)))
    described["@context"]["prov"] = "http://www.w3.org/ns/prov#"
    described["variableMeasured"] = list(_figures(built.dataset))
    text = json.dumps(described, indent=2, ensure_ascii=False, default=str)
    (folder / DESCRIPTION).write_text(f"{text}\n", encoding="utf-8")


def _licences(front: Mapping[str, Any], built: BuiltFolder) -> list[str]:
    """Return the address of each licence, or what the card says where none is known."""
    named = front.get("license", "unknown")
    try:
        names = [
            canonicalize_license_expression(name)
            for name in ([named] if isinstance(named, str) else named)
        ]
    except InvalidLicenseExpression:
        return [licence_section(built.card, "README.md") or built.dataset.builder.LICENSE]
    return [f"https://spdx.org/licenses/{name}.html" for name in names]


def _creators(citation: str) -> list[str]:
    """Return the authors of the first work of a BibTeX text, family names last."""
    found = re.search(r"\bauthor\s*=\s*\{(.+?)\}\s*(?:,\s*\w+\s*=|\}?\s*$)", citation, re.DOTALL)
    authors = re.split(r"\s+and\s+", found[1].strip()) if found else []
    return [" ".join(reversed(re.split(r",\s*", author, maxsplit=1))) for author in authors]


def _sections(body: str) -> dict[str, str]:
    """Return a card's sections by their headings, without generated text."""
    own = prose(body)
    parts = re.split(r"^## (.+)\n", own, flags=re.MULTILINE)[1:]
    found = {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)}
    for paragraph in found.get("Biases and impact", "").split("\n\n"):
        name, _, text = paragraph.partition(": ")
        found[name] = text
    return found


def _responsible(
    built: BuiltFolder, front: Mapping[str, Any], sections: Mapping[str, str]
) -> Iterator[tuple[str, Any]]:
    """Yield the properties of responsible AI and of provenance."""
    sources = built.provenance["sources"]
    yield from ((f"rai:{name}", text) for name, of in _SAID.items() if (text := sections.get(of)))
    uses = [f"{name}: {each.use}" for name, each in built.dataset.configs.items() if each.use]
    yield (
        "rai:dataUseCases",
        [*uses, *(f"to predict {t.summary}" for t in built.dataset.tasks.values())],
    )
    yield "rai:hasSyntheticData", "machine-generated" in front.get("language_creators", ())
    yield (
        "prov:wasDerivedFrom",
        [{"@id": url} for url in dict.fromkeys(pin["url"] for pin in sources.values())],
    )
    yield (
        "prov:wasGeneratedBy",
        [
            {"@type": "prov:Activity", "prov:label": name, "sc:description": text}
            for name, of in _ACTIVITIES.items()
            if (text := sections.get(of))
        ],
    )


def _files(context: Any, built: BuiltFolder) -> Iterator[Any]:
    """Yield the available upstream files and the Parquet files of each config."""
    for source, pin in built.provenance["sources"].items():
        if "sha256" in pin:  # a file of which git's name alone is known has no hash of Croissant's
            yield mlc.FileObject(
                ctx=context,
                id=f"upstream/{source}",
                name=source,
                content_url=pin["url"],
                content_size=f"{pin['size']} B" if "size" in pin else None,
                sha256=pin["sha256"],
                encoding_formats=["text/plain"],
            )
    for config in {config: None for config, _ in built.declared}:
        names = [
            f"{config}/{path.name}" for s in built.splits(config) for path in built.files(config, s)
        ]
        place = {"id": f"parquet/{config}", "includes": names}
        yield mlc.FileSet(ctx=context, name=config, encoding_formats=[_PARQUET], **place)


def _record_sets(context: Any, built: BuiltFolder) -> Iterator[Any]:
    """Yield each config with a field `split`, then its splits and its labels, which fields name."""
    configs, builder = built.dataset.configs, built.dataset.builder
    licences = {name: builder.licence(name) for name in configs}
    for config in {config: None for config, _ in built.declared}:
        features = built.dataset.features(config)
        meanings = {each.path: meaning_of(each) for each in columns_of(configs[config])}
        left_out = [name for name, feature in features.items() if not _readable(feature)]
        description = configs[config].description or config
        if left_out:
            description += f"; not described, as they hold lists in lists: {', '.join(left_out)}"
        if len(set(licences.values())) > 1:
            description += f"; licence: {licences[config]}"
        splits = built.splits(config)
        names = "|".join(splits)
        named = {"id": f"{config}/split", "name": "split", "description": "the split of the row"}
        split = mlc.Field(ctx=context, data_types=[mlc.DataType.TEXT], **named)
        split.source = mlc.Source(
            ctx=context,
            file_set=f"parquet/{config}",
            extract=mlc.Extract(ctx=context, file_property="fullpath"),
            # of a path, and of a split's name: mlcroissant applies it a second time
            transforms=[mlc.Transform(ctx=context, regex=f"(?:{config}/)?({names})(?:-.+)?$")],
        )
        split.references = mlc.Source(ctx=context, field=f"splits/{config}/name")
        fields = [
            _field(context, (config, name), feature, meanings)
            for name, feature in features.items()
            if name not in left_out
        ]
        about = {"id": config, "name": config, "description": description}
        yield mlc.RecordSet(ctx=context, fields=[split, *fields], **about)
        rows: list[dict[str, Any]] = [{"name": split} for split in splits]
        of = f"the splits of {config}"
        yield _listed(context, f"splits/{config}", of, mlc.DataType.SPLIT, "name", rows)
        for name, feature in features.items():
            if labels := labels_of(_inner(feature)[0]):
                rows = [{"value": n, "name": label} for n, label in enumerate(labels)]
                id, of = f"labels/{config}/{name}", f"the labels of {name} in {config}"
                yield _listed(context, id, of, SDO.Enumeration, "value", rows)


def _listed(context: Any, id: str, of: str, kind: Any, key: str, rows: list[dict[str, Any]]) -> Any:
    """Return a set whose records stand in the description itself."""
    types = {"name": mlc.DataType.TEXT, "value": mlc.DataType.INTEGER}
    return mlc.RecordSet(
        ctx=context,
        id=id,
        name=id,
        description=of,
        data_types=[kind],
        key=[f"{id}/{key}"],
        fields=[
            mlc.Field(ctx=context, id=f"{id}/{n}", name=n, description=of, data_types=[types[n]])
            for n in rows[0]
        ],
        data=[{f"{id}/{name}": value for name, value in row.items()} for row in rows],
    )


def _field(
    context: Any, path: tuple[str, ...], feature: Any, meanings: Mapping[str, str], place: str = ""
) -> Any:
    """Return the field of a feature, by its path: config, column, and keys within that.

    Its `place` is the path of its meaning, as `turns[].text`.
    """
    inner, repeated = _inner(feature)
    config, column, *keys = path
    place = place or column
    field = mlc.Field(ctx=context, id="/".join(path), name=path[-1], repeated=repeated or None)
    field.description = meanings.get(place) or None
    if isinstance(inner, dict):
        above = place + "[]" * repeated
        field.sub_fields = [
            _field(context, (*path, key), each, meanings, f"{above}.{key}")
            for key, each in inner.items()
        ]
        return field
    field.data_types = [_type(inner)]
    field.source = mlc.Source(
        ctx=context,
        file_set=f"parquet/{config}",
        extract=mlc.Extract(ctx=context, column=column),
        transforms=[mlc.Transform(ctx=context, json_path=_json_path(keys))] if keys else [],
    )
    if labels_of(inner):
        field.references = mlc.Source(ctx=context, field=f"labels/{'/'.join(path)}/value")
    return field


def _json_path(keys: Sequence[str]) -> str:
    return ".".join(key if key.isidentifier() else repr(key) for key in keys)


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


def _type(feature: Any) -> Any:
    kind = feature.dtype
    if labels_of(feature) or kind.startswith(("int", "uint")):
        return mlc.DataType.INTEGER
    if kind.startswith("float"):
        return mlc.DataType.FLOAT
    return mlc.DataType.BOOL if kind == "bool" else mlc.DataType.TEXT


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
