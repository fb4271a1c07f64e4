"""Compare Parley with a limit and with alternatives, and print Markdown tables of ratios.

    python benchmarks/run.py                       all parts: some 20 minutes
    python benchmarks/run.py limit use             only these parts: limit, real, growth, use
    python benchmarks/run.py --dialogues 10000     smaller
    python benchmarks/run.py --quick               limit and real, small: two minutes

Each measurement is a separate process; the methods take turns. Each result is the median of
`--repeat` rounds, and comes with a ratio to another one of the same rounds. On a busy machine the
ratios of processor seconds are the better ones. PARLEY_SOURCE names the real datasets.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import generate
import methods

HERE = Path(__file__).parent
PARTS = ("limit", "real", "growth", "use")
QUICK = ("limit", "real")
Result = dict[str, float]


def main() -> None:
    """Run the parts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--dialogues", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    quick = options.quick
    print(machine())
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        bench = Benchmark(
            Path(folder), 3 if quick else options.repeat, 20_000 if quick else options.dialogues
        )
        for part in QUICK if quick else options.parts or PARTS:
            for line in getattr(bench, part)():
                print(line, flush=True)
            print(f"Load average: {load()}\n", flush=True)


def machine() -> str:
    """Return the date, the machine, its load, the versions, and whether imports are compiled."""
    packages = ("datasets", "pyarrow", "orjson", "numpy", "huggingface_hub")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        f"{date.today()}, {platform.system()} {platform.machine()}, {cores} cores, "
        f"Python {platform.python_version()}, {versions}. Load average: {load()}. Python writes "
        f"{'no bytecode, so imports take longer' if sys.dont_write_bytecode else 'bytecode'}.\n"
    )


def load() -> str:
    """Return the average number of processes that wanted to run in 1, 5 and 15 minutes."""
    return ", ".join(f"{number:.1f}" for number in os.getloadavg())


def measure(*command: Any, env: dict[str, str] | None = None) -> Result:
    """Run one method in a process, and return its result."""
    done = subprocess.run(
        [sys.executable, HERE / "methods.py", *map(str, command)],
        capture_output=True,
        text=True,
        # without torch, which takes datasets a second and 150 MB to import
        env={**os.environ, "HF_HUB_OFFLINE": "1", "USE_TORCH": "0", **(env or {})},
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"seconds"')]
    if not lines:
        sys.exit(f"{command}: {done.stderr[-2000:]}")
    return json.loads(lines[-1])  # after it a streaming process may abort: apache/arrow#45214


def timed(*command: str) -> Result:
    """Run a command, and return its milliseconds."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return {"ms": 1000 * (time.perf_counter() - start)}


def median(results: list[Result], what: str) -> float:
    """Return the median of one value."""
    return statistics.median(result[what] for result in results)


def summary(found: dict[str, list[Result]], *columns: tuple[str, str]) -> list[list[str]]:
    """Return a row of formatted medians for each method.

    "/seconds" is the ratio to the seconds of the first method; "us/row" are microseconds per row.
    """
    first = next(iter(found.values()))

    def value(results: list[Result], what: str) -> float:
        if what == "rows/s":
            return median(results, "rows") / median(results, "seconds")
        if what == "us/row":
            return 1e6 * median(results, "seconds") / median(results, "rows")
        if what.startswith("/"):
            return value(results, what[1:]) / value(first, what[1:])
        return median(results, what)

    return [
        [name, *(format(value(results, what), form) for what, form in columns)]
        for name, results in found.items()
    ]


def table(columns: list[str], rows: list[list[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    head = [f"| {' | '.join(columns)} |", f"|{' --- |' + ' ---: |' * (len(columns) - 1)}"]
    return [*head, *(f"| {' | '.join(row)} |" for row in rows), ""]


class Benchmark:
    """The parts; each yields lines of Markdown."""

    def __init__(self, folder: Path, repeat: int, dialogues: int) -> None:
        self.folder, self.repeat, self.dialogues = folder, repeat, dialogues

    def rounds(self, runs: dict[str, Any]) -> dict[str, list[Result]]:
        """Call each run, or measure its method with its arguments, in turn, as often as wanted."""
        found: dict[str, list[Result]] = {name: [] for name in runs}
        for _ in range(self.repeat):
            for name, run in runs.items():
                found[name].append(run() if callable(run) else measure(*run))
        return found

    def source(self, dialogues: int) -> Path:
        """Return a generated source folder."""
        folder = self.folder / f"source-{dialogues}"
        return folder if folder.exists() else generate.write(folder, dialogues)

    def limit(self) -> list[str]:
        """Compare writing with the limit and with alternatives."""
        source = self.source(self.dialogues)
        raw = source / generate.RAW
        found = self.rounds(
            {
                "limit: orjson + pyarrow": ("limit", raw),
                "parley": ("parley", source),
                "datasets: download_and_prepare": ("datasets_builder", source),
            }
        )
        columns = ["method", "seconds", "of the limit", "processor seconds", "of the limit"]
        ratios = ("seconds", ".2f"), ("/seconds", ".2f"), ("cpu", ".2f"), ("/cpu", ".2f")
        rows = summary(found, *ratios, ("rows/s", ",.0f"), ("mb", ".0f"))
        size = raw.stat().st_size / 1e6
        return [
            f"### {self.dialogues:,} CoSRec-shaped dialogues ({size:.0f} MB of JSON) to Parquet",
            "",
            *table([*columns, "rows a second", "peak MB"], rows),
        ]

    def growth(self) -> list[str]:
        """Measure time and memory by the number of dialogues."""
        sizes = (10_000, 100_000, 1_000_000)
        found = self.rounds({f"{n:,}": ("parley", self.source(n)) for n in sizes})
        ratios = ("us/row", ".1f"), ("/us/row", ".2f")
        rows = summary(found, ("seconds", ".2f"), *ratios, ("mb", ".0f"))
        columns = ["dialogues", "seconds", "microseconds a dialogue", "of the first", "peak MB"]
        return ["### How a build grows", "", *table(columns, rows)]

    def real(self) -> list[str]:
        """Build the real datasets, and compare with the limit for the same rows."""
        source = os.environ.get("PARLEY_SOURCE")
        if not source:
            return ["PARLEY_SOURCE is not set: real datasets skipped", ""]
        from parley import list as datasets

        rows_folder = self._rows_of(Path(source))
        found = self.rounds(
            {
                "`parley build` of all available files": ("build", source),
                "`parley verify` of the same; rows: its figures": (
                    "verify_all",
                    source,
                    self.folder / "real",
                ),
            }
        )
        ratios = ("seconds", ".2f"), ("/seconds", ".2f"), ("cpu", ".2f"), ("/cpu", ".2f")
        rows = summary(found, ("rows", ",.0f"), *ratios, ("mb", ".0f"))
        columns = ["work", "rows", "seconds", "of the build", "processor seconds", "of the build"]
        lines = ["### The real datasets", "", *table([*columns, "peak MB"], rows)]
        rows = []
        for name in datasets():
            limit, own = ("limit_of_rows", rows_folder, name), ("build", source, name)
            found = self.rounds({"limit": limit, name: own})
            due = f"{median(found['limit'], 'seconds'):.2f}"
            rows.append([*summary(found, ("rows", ",.0f"), *ratios, ("mb", ".0f"))[1], due])
        columns = ["dataset, without imports", "rows", "seconds", "of the limit"]
        columns += ["processor seconds", "of the limit", "peak MB", "seconds of the limit"]
        return [*lines, *table(columns, rows)]

    def _rows_of(self, source: Path) -> Path:
        """Build the real datasets, and write each split as JSON Lines with its schema."""
        import orjson
        import pyarrow.parquet as pq

        built, folder = self.folder / "real", self.folder / "rows"
        command = ("build", "--source", source, "--allow-missing", "--build", built)
        subprocess.run(
            [sys.executable, "-m", "parley", *map(str, command)], check=True, capture_output=True
        )
        for number, path in enumerate(sorted(built.glob("*/*/*.parquet"))):
            own = folder / path.relative_to(built).parts[0]
            own.mkdir(parents=True, exist_ok=True)
            content = pq.read_table(path)
            lines = (orjson.dumps(row) + b"\n" for row in content.to_pylist())
            (own / f"{number}.jsonl").write_bytes(b"".join(lines))
            (own / f"{number}.jsonl.schema").write_bytes(content.schema.serialize())
        return folder

    def use(self) -> list[str]:
        """Measure the command line, streaming and loading."""
        return [*self._command_line(), *self._reading()]

    def _command_line(self) -> list[str]:
        python, script = sys.executable, str(Path(sys.executable).parent / "parley")
        found = self.rounds(
            {
                '`python -c "import typer, rich"`': lambda: timed(
                    python, "-c", "import typer, rich"
                ),
                '`python -c "import parley"`': lambda: timed(python, "-c", "import parley"),
                "`parley --help`": lambda: timed(script, "--help"),
                "`parley list`": lambda: timed(script, "list"),
            }
        )
        rows = summary(found, ("ms", ".0f"), ("/ms", ".2f"))
        return ["### The command line", "", *table(["command", "ms", "of the first"], rows)]

    def _reading(self) -> list[str]:
        sys.path.append(str(HERE.parent / "tests"))
        from hub import Hub

        from parley.building.build import build as build_folder

        build_folder(methods.only_raw(self.source(self.dialogues)), self.folder / "large")
        folder = self.folder / "large" / "cosrec"
        (file,) = folder.rglob("*.parquet")
        with Hub() as hub:
            hub.seed("org/large", folder)
            online = hub.environ(self.folder / "home") | {"USE_TORCH": "0"}
            plain = "pyarrow alone, to Python rows"
            found = self.rounds(
                {
                    plain: ("plain_pyarrow", file),
                    "first streamed row, from the local Hub": lambda: measure(
                        "first_row", "org/large", "dialogues", "raw", env=online
                    ),
                    "full streamed pass": ("streamed", file),
                    "pyarrow alone, to Arrow": ("read_table", file),
                    "load_dataset, cold": lambda: self._load(folder, times=1),
                    "load_dataset, warm": lambda: self._load(folder, times=2),
                }
            )
        ratios = ("seconds", ".3f"), ("/seconds", ".2f")
        rows = summary(found, *ratios, ("rows/s", ",.0f"), ("mb", ".0f"))
        columns = ["reading", "seconds", f"of {plain}", "rows a second", "peak MB"]
        return [f"### Reading {self.dialogues:,} dialogues", "", *table(columns, rows)]

    def _load(self, folder: Path, times: int) -> Result:
        """Load a build so many times, and return the last result."""
        with tempfile.TemporaryDirectory(dir=self.folder) as cache:
            return [measure("load", folder, "dialogues", cache) for _ in range(times)][-1]


if __name__ == "__main__":
    main()
