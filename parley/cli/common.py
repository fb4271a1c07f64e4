"""Parts that commands share: files that they read, selection and output."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from typer import echo

from parley.base.console import plain, print_message, print_output, to_json
from parley.base.errors import Failures, ParleyError, UsageError
from parley.base.replace import require_free, same_file
from parley.base.secret import secrets_found_once
from parley.builds.built_folder import BuiltFolder, find_folder
from parley.declaration.registry import Dataset, discover, get


def require_file(option: str, path: Path) -> None:
    """Raise UsageError unless a path is a regular file; to read a pipe could wait for ever."""
    if not path.is_file():
        what = "not a regular file" if path.exists() else "no such file"
        raise UsageError(f"{option} {path}: {what}")


def require_outputs(outputs: Sequence[Path], inputs: Iterable[Path], overwrite: bool) -> None:
    """Raise an error unless outputs are new, or to overwrite, and neither an input nor another."""
    if overwrite and not outputs:
        raise UsageError("--overwrite: no file to write is named")
    for number, path in enumerate(outputs):
        require_free(path, overwrite=overwrite)
        for other in (*inputs, *outputs[:number]):
            if same_file(path, other):
                raise UsageError(f"{path}: is also {other}; name another file for each")


def options_of(settings: list[str] | None) -> dict[str, str]:
    """Return the values of `--set OPTION=VALUE`, or raise UsageError."""
    options: dict[str, str] = {}
    for setting in settings or ():
        key, equals, value = setting.partition("=")
        if not (key and equals) or key in options:
            raise UsageError(f"--set {setting}: expected OPTION=VALUE, each option once")
        options[key] = value
    return options


def read_file(option: str, path: Path) -> str:
    """Return the text of a file, or raise UsageError."""
    require_file(option, path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(f"{option} {path}: cannot be read: {error}") from error


def read_ids(file: Path | None) -> list[str] | None:
    """Return the lines of a file of ids, or raise UsageError."""
    if file is None:
        return None
    if not (ids := [line for line in read_file("--ids", file).split("\n") if line]):
        raise UsageError(f"--ids {file}: has no ids")
    return ids


def select(names: list[str] | None) -> list[Dataset]:
    """Return the named datasets, or all."""
    return [get(name) for name in dict.fromkeys(names)] if names else list(discover().values())


def select_built(names: list[str] | None, build: Path) -> list[Dataset]:
    """Return the selected datasets with a build; UsageError if a named one, or each, has none."""
    datasets = select(names)
    built = [dataset for dataset in datasets if (build / dataset.name).is_dir()]
    if names or not built:
        for dataset in datasets:
            find_folder(build, dataset)  # raises an error that says how to build
    if absent := [dataset.name for dataset in datasets if dataset not in built]:
        print_message(f"not built, and so left out: {', '.join(absent)}", "yellow")
    return built


def open_built(names: list[str] | None, build: Path, catalogue: Path | None) -> list[BuiltFolder]:
    """Return the builds of the selected datasets; UsageError also for a wrong `--catalogue`."""
    if catalogue is not None and not catalogue.is_dir():
        raise UsageError(f"--catalogue {catalogue}: no such folder")
    return [find_folder(build, dataset) for dataset in select_built(names, build)]


class Attempts:
    """Collects the errors of single datasets, so that one does not stop the others."""

    def __init__(self) -> None:
        self.failed: list[ParleyError] = []

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Keep an error that the block raises."""
        try:
            yield
        except ParleyError as error:
            self.failed.append(error)

    def finish(self) -> None:
        """Raise the kept errors together."""
        if self.failed:
            raise Failures(self.failed)


@secrets_found_once()
def print_result(
    as_json: bool, value: Any, layout: Callable[..., RenderableType], *arguments: Any
) -> None:
    """Print a value as JSON, or what `layout` makes of the arguments for people."""
    if as_json:
        echo(to_json(value))
    else:
        print_output(layout(*arguments))


def print_line(text: str) -> None:
    """Print a line, with control characters escaped."""
    print_output(plain(text))
