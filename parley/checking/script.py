"""What must hold of a builder script, one function a check.

Each yields a line for everything that contradicts its docstring, and says what to do.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from parley.checking.subject import Subject, lines_of
from parley.errors import ScriptError

_MAY_IMPORT = {*sys.stdlib_module_names, "datasets", "jsonlines"}
_HEX = {"sha256": 64, "git_blob": 40, "git_tree": 40}  # digits


def script_stands_alone(subject: Subject) -> Iterator[str]:
    """It imports the standard library, datasets, jsonlines and what stands beside it, no more."""
    folder = subject.dataset.folder
    reached = [subject.script]
    for path in reached:  # which grows
        for line, name in _imports(path):
            where = f"{path.name}, line {line}"
            beside = folder / f"{name.lstrip('.')}.py"
            if name.startswith("."):
                if name.startswith("..") or not beside.is_file():
                    yield f"{where}: imports {name}, which does not stand beside it; add {beside}"
                elif beside not in reached:
                    reached.append(beside)
            elif name == "parley":
                yield (
                    f"{where}: imports parley, without which a script has to work; move what "
                    "needs it to figures.py, checks.py, transcript.py or export.py"
                )
            elif name not in _MAY_IMPORT:
                remedy = "do without it: a script may use the standard library, datasets, jsonlines"
                if beside.is_file():
                    remedy = f"write `from .{name} import ...`, as it stands beside it"
                yield f"{where}: imports {name}; {remedy}"


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the first name of each import; ".name" for what stands beside the file."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return  # which `script_loads` names
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            modules = [node.module] if node.module else [alias.name for alias in node.names]
            for module in modules:
                yield node.lineno, dots + module.partition(".")[0]


def folder_shadows_nothing(subject: Subject) -> Iterator[str]:
    """No module of the folder has the name of one of the standard library."""
    for path in sorted(subject.dataset.folder.glob("*.py")):
        if path.stem in sys.stdlib_module_names:
            yield f"{path.name}: hides a module of the standard library; give it another name"


def script_opens_with_what_it_is(subject: Subject) -> Iterator[str]:
    """Its docstring shows an invented record, and says what a row is."""
    try:
        text = ast.get_docstring(ast.parse(subject.script.read_text(encoding="utf-8"))) or ""
    except (SyntaxError, ValueError):
        return
    if "(invented" not in text:
        yield (
            f"{subject.script.name}: the docstring shows no invented record; add one under "
            '"A record looks like this (invented):"'
        )
    if "A row" not in text:
        yield (
            f"{subject.script.name}: the docstring does not say what becomes of a record; add a "
            'sentence that begins with "A row is"'
        )


def script_loads(subject: Subject) -> Iterator[str]:
    """It can be imported, and declares and defines what it must."""
    try:
        subject.dataset.module  # noqa: B018 - importing it is the check
    except ScriptError as error:
        yield from lines_of(error)


def sources_are_pinned(subject: Subject) -> Iterator[str]:
    """Every source has an https URL that names one version, and the hash of its content."""
    for source, pin in subject.module.SOURCES.items():
        for kind in _HEX.keys() & pin.keys():
            if not re.fullmatch(f"[0-9a-f]{{{_HEX[kind]}}}", str(pin[kind])):
                yield (
                    f"SOURCES[{source!r}]: {kind} expected {_HEX[kind]} hexadecimal digits, found "
                    f"{pin[kind]!r:.80}; compute it from the file, as docs/adding.md shows"
                )
        url = str(pin["url"])
        if not url.startswith("https://"):
            yield f"SOURCES[{source!r}]: expected an https:// URL, found {url}; give one"
        elif branch := re.search("/(main|master|HEAD)/", url):
            yield (
                f"SOURCES[{source!r}]: the URL follows {branch[1]}, which changes; put the id of "
                "a commit in its place"
            )


def configs_agree(subject: Subject) -> Iterator[str]:
    """Configs have one order everywhere, `dialogues` the first and default, each described."""
    module, builder = subject.module, subject.dataset.builder
    due = list(module.SPLITS)
    for name, found in (
        ("BUILDER_CONFIGS", [config.name for config in builder.BUILDER_CONFIGS]),
        ("FEATURES", list(module.FEATURES)),
    ):
        if found != due:
            order = f"{', '.join(due)}, found {', '.join(found)}; make it that of SPLITS"
            yield f"{name}: expected the configs {order}"
    if not builder.DEFAULT_CONFIG_NAME == due[0] == "dialogues":
        yield (
            "DEFAULT_CONFIG_NAME: expected dialogues, the first config of SPLITS, found "
            f"{builder.DEFAULT_CONFIG_NAME} and {due[0]}; name the config that keeps everything so"
        )
    for config in builder.BUILDER_CONFIGS:
        if not config.description:
            yield f"BUILDER_CONFIGS: {config.name} has no description; say what its rows are"
        if config.version != builder.VERSION:
            yield (
                f"BUILDER_CONFIGS: {config.name} is of version {config.version}, not "
                f"{builder.VERSION}; give it VERSION"
            )


def info_is_complete(subject: Subject) -> Iterator[str]:
    """Each config has its features, a description, a licence, a homepage and a citation."""
    for config in subject.module.SPLITS:
        try:
            info = subject.dataset.info(config)
        except Exception as error:
            yield f"_info: fails for {config}: {type(error).__name__}: {error}; mend it"
            continue
        for field, holds, remedy in (
            ("features", info.features == subject.module.FEATURES[config], f"FEATURES[{config!r}]"),
            ("description", bool(info.description), "what the dataset is, in a sentence or two"),
            ("license", bool(info.license), 'what the Hub calls it, or "unknown"'),
            ("homepage", str(info.homepage).startswith("https://"), "an https:// URL"),
            ("citation", str(info.citation).startswith("@"), "a BibTeX entry"),
            ("version", info.version == subject.dataset.builder.VERSION, "VERSION"),
        ):
            if not holds:
                found = f"{getattr(info, field)!r:.60}"
                yield f"_info: {field} of {config}: expected {remedy}, found {found}; give it"
