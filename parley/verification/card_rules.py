"""Rules for dataset cards: each yields a line for each violation, with its remedy."""

import re
import sys
from collections.abc import Iterator

from huggingface_hub import DatasetCard

from parley.authoring.new import SKELETON
from parley.base.errors import few
from parley.builds.card import PARTS, renewed_card
from parley.builds.card_parts import with_parts, without_parts
from parley.declaration.measured import measured
from parley.declaration.registry import CITATION
from parley.source.hashes import PLACEHOLDER
from parley.verification.dataset_folder import DatasetFolder
from parley.verification.folder_checks import NotChecked

# Keys that the front matter must have
_KEYS = ("license", "language", "pretty_name", "task_categories", "size_categories", "tags")
# The Hub's text tasks, July 2026
TASKS = (
    "text-classification", "token-classification", "table-question-answering",
    "question-answering", "zero-shot-classification", "translation", "summarization",
    "feature-extraction", "text-generation", "fill-mask", "sentence-similarity",
    "text-retrieval", "text-ranking", "tabular-regression", "other",
)  # fmt: skip
TO_REPLACE = ("Describe the dataset", "describe the dataset in a line", "The Title of the Paper")
# The Hub's ids of licences, November 2026
_LICENCES = """
    afl-3.0 agpl-3.0 apache-2.0 apple-amlr apple-ascl artistic-2.0 bigcode-openrail-m
    bigscience-bloom-rail-1.0 bigscience-openrail-m bsd bsd-2-clause bsd-3-clause
    bsd-3-clause-clear bsl-1.0 c-uda cc cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-nc-2.0
    cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0
    cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0
    cdla-permissive-2.0 cdla-sharing-1.0 creativeml-openrail-m ecl-2.0 epl-1.0 epl-2.0
    etalab-2.0 eupl-1.1 eupl-1.2 gemma gfdl gpl gpl-2.0 gpl-3.0 h-research intel-research isc
    lgpl lgpl-2.1 lgpl-3.0 lgpl-lr llama2 llama3 llama3.1 llama3.2 llama3.3 llama4 lppl-1.3c
    mit mpl-2.0 ms-pl ncsa odbl odc-by ofl-1.1 open-mdw openrail openrail++ osl-3.0 other pddl
    postgresql unknown unlicense wtfpl zlib
"""
# ISO 639-1; a code of three letters is not compared
_LANGUAGES = """
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy
    da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht
    hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky
    la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny
    oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss
    st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo
    za zh zu
"""
# an entry without a key, or a field without a comma before it
_NO_BIBTEX = re.compile(r'^@\w+\{(?![^\s,{}]+,)|[}"\w]\s*\n\s*\w+\s*=\s*[{"\d]', re.MULTILINE)
_CODES = "|".join(_LANGUAGES.split())
_LANGUAGE = re.compile(rf"({_CODES}|[a-z]{{3}})(-[A-Za-z0-9]{{2,8}})*|code|multilingual")


def _sections(body: str) -> dict[str, str]:
    """Return heading -> text of the second-level sections."""
    titles = (section.partition("\n") for section in body.split("\n## ")[1:])
    return {title: text.strip() for title, _, text in titles}


SECTIONS = _sections((SKELETON / "README.md").read_text(encoding="utf-8"))
"""Heading -> text of the sections of `parley new`: those that every card has, in order."""
# what it only describes; the others are generated
TO_WRITE = [title for title, text in SECTIONS.items() if "<!--" not in text]


def card_can_be_read(folder: DatasetFolder) -> Iterator[str]:
    """The card has YAML front matter, and the marks of each generated part."""
    _, body = folder.card
    with_parts(body, str(folder.dataset.card), dict.fromkeys(PARTS, ""))
    yield from ()


def card_has_its_parts(folder: DatasetFolder) -> Iterator[str]:
    """The card has the required headings in order."""
    _, body = folder.card
    titles = re.findall(r"^## (.*)$", body, re.MULTILINE)
    if titles != [*SECTIONS]:
        problem = "has another order"
        if unknown := {*titles} - SECTIONS.keys():
            problem = f"has the unknown {', '.join(sorted(unknown))}"
        elif lacking := SECTIONS.keys() - {*titles}:
            problem = f"lacks {', '.join(sorted(lacking))}"
        yield f"README.md: {problem}; let its second-level headings be {', '.join(SECTIONS)}"
    for unfinished in re.findall("TODO|More Information Needed", body):
        yield f"README.md: contains {unfinished}; write the missing text"


def card_is_up_to_date(folder: DatasetFolder) -> Iterator[str]:
    """The generated parts, the counted numbers and the front matter are those of the dataset."""
    dataset = folder.dataset
    if dataset.read_card() != renewed_card(dataset):
        problem = "a generated part, a counted number or the front matter is stale"
        yield f"README.md: {problem}; run `parley card {dataset.name}`"


def placeholders_are_replaced(folder: DatasetFolder) -> Iterator[str]:
    """Card and script have no text or address of `parley new` that waits for the author's own.

    Until the dataset is measured, built with --source, such texts are no error.
    """
    dataset, builder = folder.dataset, folder.dataset.builder
    script = f"{dataset.name}.py"
    about = (sys.modules[builder.__module__].__doc__, builder.__doc__)
    places = {file: str(pin["url"]) for file, pin in dataset.pins.items()}
    places["HOMEPAGE"] = builder.HOMEPAGE
    none = [file for file, url in places.items() if url.startswith(PLACEHOLDER)]
    left = [f"{script}, pins.py: {PLACEHOLDER} for {few(none)}"] if none else []
    _, body = folder.card
    texts = {
        "README.md": without_parts(body),
        script: "\n".join(text or "" for text in about),
        CITATION: builder.CITATION,
    }
    left += [f"{file}: {one}" for file, text in texts.items() for one in TO_REPLACE if one in text]
    sections = _sections(body)
    for title in TO_WRITE:
        last = SECTIONS[title].split(". ")[-1]
        if not sections.get(title) or last in sections[title]:
            left.append(f"README.md: {title}")
    problem = "what `parley new` wrote is still there; write your own"
    if left and not measured(dataset).version:
        yield NotChecked(f"{few(left)}: {problem}")
    else:
        yield from (f"{place}: {problem}" for place in left)


def card_has_the_form_of_the_hub(folder: DatasetFolder) -> Iterator[str]:
    """Front matter has the Hub's tasks, licences and languages; the citation is BibTeX."""
    front, _ = folder.card
    DatasetCard.load(folder.dataset.card)  # parses the card like the Hub
    for key in (key for key in _KEYS if not front.get(key)):
        yield f"README.md: the front matter lacks {key}; add it"
    tasks = front.get("task_categories") or []
    for task in tasks if isinstance(tasks, list) else [tasks]:
        if task not in TASKS:
            problem = f"the Hub knows no {task}; take one of {', '.join(TASKS)}"
            yield f"README.md: task_categories: {problem}"
    builder, script = folder.dataset.builder, f"{folder.dataset.name}.py"
    licences = ", ".join(dict.fromkeys(map(builder.licence, folder.dataset.configs)))
    for part in re.sub(r"\([^)]*\)", "", licences).split(","):  # "mit (the texts), cc0-1.0"
        licence = part.strip()
        if licence not in _LICENCES.split():
            problem = f"{licence} is no licence of the Hub; take one, as cc-by-4.0, or other"
            yield f"{script}: LICENSE: {problem}"
    bibtex = builder.CITATION
    if bibtex.count("{") != bibtex.count("}") or _NO_BIBTEX.search(bibtex):
        form = "@KIND{KEY, and a comma after each field, and all braces closed"
        yield f"{CITATION}: expected {form}; repair it"
    for language in builder.LANGUAGES:
        if not _LANGUAGE.fullmatch(language):
            problem = f"{language} is no code of a language; take one of ISO 639, as en"
            yield f"{script}: LANGUAGES: {problem}"
