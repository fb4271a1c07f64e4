"""Compare Parley with a limit and with alternatives, and print Markdown tables of ratios.

    python benchmarks/run.py                       all parts: some 20 minutes
    python benchmarks/run.py limit use             only these parts: limit, real, use
    python benchmarks/run.py --dialogues 10000 --repeat 3     smaller

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

from parley.builds.card_parts import markdown_table

HERE = Path(__file__).parent
PARTS = ("limit", "real", "use")
Result = dict[str, float]
Column = tuple[str, str, str]  # a heading, a value of `summary`, and its format
MB: list[Column] = [("peak MB", "mb", ".0f")]


def main() -> None:
    """Run the parts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--dialogues", type=int, default=100_000)
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        bench = Benchmark(Path(folder), options.repeat, options.dialogues)
        for part in options.parts or PARTS:
            getattr(bench, part)()
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


def measure(*command: Any) -> Result:
    """Run one method in a process, and return its result."""
    done = subprocess.run(
        [sys.executable, HERE / "methods.py", *map(str, command)],
        capture_output=True,
        text=True,
        # without torch, which takes datasets a second and 150 MB to import
        env={**os.environ, "HF_HUB_OFFLINE": "1", "USE_TORCH": "0"},
    )
    if done.returncode:
        sys.exit(f"{command}: {done.stderr[-2000:]}")
    found: Result = json.loads(done.stdout.splitlines()[-1])
    return found


def timed(*command: str) -> Result:
    """Run a command, and return its milliseconds."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return {"ms": 1000 * (time.perf_counter() - start)}


def summary(found: dict[str, list[Result]], columns: list[Column]) -> list[list[str]]:
    """Return a row of formatted medians for each method.

    "/seconds" is the ratio to the seconds of the first method, "seconds/rows" one of two values.
    """
    first = next(iter(found.values()))

    def value(results: list[Result], what: str) -> float:
        one, _, other = what.partition("/")
        if not one:
            return value(results, other) / value(first, other)
        if other:
            return value(results, one) / value(results, other)
        return statistics.median(result[what] for result in results)

    return [
        [name, *(format(value(results, what), form) for _, what, form in columns)]
        for name, results in found.items()
    ]


def to_first(name: str) -> list[Column]:
    """Return the columns of seconds and processor seconds, each with its ratio to the first."""
    cpu = [("processor seconds", "cpu", ".2f"), (f"of the {name}", "/cpu", ".2f")]
    return [("seconds", "seconds", ".2f"), (f"of the {name}", "/seconds", ".2f"), *cpu]


class Benchmark:
    """The parts; each prints Markdown."""

    def __init__(self, folder: Path, repeat: int, dialogues: int = 0) -> None:
        self.folder, self.repeat, self.dialogues = folder, repeat, dialogues

    def compare(self, title: str, of: str, runs: dict[str, Any], columns: list[Column]) -> None:
        """Print a table of runs, which take turns; `of` says what they are.

        Each is called, or is a method and its arguments.
        """
        found: dict[str, list[Result]] = {name: [] for name in runs}
        for _ in range(self.repeat):
            for name, run in runs.items():
                found[name].append(run() if callable(run) else measure(*run))
        headings = [of, *(heading for heading, _, _ in columns)]
        rows = markdown_table(headings, summary(found, columns), right=headings[1:])
        print(f"### {title}\n", *rows, sep="\n", flush=True)

    def source(self) -> Path:
        """Return a generated source folder of CoSRec."""
        folder = self.folder / "source"
        return folder if folder.exists() else generate.write(folder, self.dialogues)

    def limit(self) -> None:
        """Compare writing with the limit and with alternatives."""
        source = self.source()
        size = (source / generate.RAW).stat().st_size / 1e6
        self.compare(
            f"{self.dialogues:,} generated dialogues ({size:.0f} MB of JSON)",
            "method",
            {
                "limit: orjson + pyarrow": ("limit", source / generate.RAW),
                "parley": ("parley", source),
                "datasets: download_and_prepare": ("datasets_builder", source),
            },
            [*to_first("limit"), ("rows a second", "rows/seconds", ",.0f"), *MB],
        )

    def real(self) -> None:
        """Build the real datasets, and compare with the limit for the same rows."""
        source = os.environ.get("PARLEY_SOURCE")
        if not source:
            print("PARLEY_SOURCE is not set: real datasets skipped\n")
            return
        from parley import list as datasets

        built, rows_folder = self._built(Path(source))
        runs = {
            "`parley build` of all available files": ("build", source),
            "`parley verify` of the same; rows: its figures": ("verify_all", source, built),
        }
        number = ("rows", "rows", ",.0f")
        self.compare("The real datasets", "work", runs, [number, *to_first("build"), *MB])
        many = ((40, 3), (200, 3), (7, 14_297))
        runs = {f"{n} annotators, {of:,} turns each": ("labels", built, n, of) for n, of in many}
        self.compare("`parley labels`", "files", runs, [number, *MB])
        for name in datasets():
            runs = {"limit": ("limit_of_rows", rows_folder, name), name: ("build", source, name)}
            columns = [number, *to_first("limit"), *MB]
            self.compare(f"{name}, without imports", "method", runs, columns)

    def _built(self, source: Path) -> tuple[Path, Path]:
        """Build the real datasets, and write each split as JSON Lines with its schema."""
        import orjson
        import pyarrow.parquet as pq

        built, folder = self.folder / "real", self.folder / "rows"
        command = ("build", "--source", source, "--allow-missing", "--build", built)
        python = (sys.executable, "-m", "parley")
        subprocess.run([*python, *command], check=True, capture_output=True)
        for number, path in enumerate(sorted(built.glob("*/*/*.parquet"))):
            own = folder / path.relative_to(built).parts[0]
            own.mkdir(parents=True, exist_ok=True)
            content = pq.read_table(path)
            lines = (orjson.dumps(row) + b"\n" for row in content.to_pylist())
            (own / f"{number}.jsonl").write_bytes(b"".join(lines))
            (own / f"{number}.jsonl.schema").write_bytes(content.schema.serialize())
        return built, folder

    def use(self) -> None:
        """Measure the command line."""
        python, script = sys.executable, str(Path(sys.executable).parent / "parley")
        runs = {
            '`python -c "import typer, rich"`': lambda: timed(python, "-c", "import typer, rich"),
            '`python -c "import parley"`': lambda: timed(python, "-c", "import parley"),
            "`parley --help`": lambda: timed(script, "--help"),
            "`parley list`": lambda: timed(script, "list"),
        }
        columns = [("ms", "ms", ".0f"), ("of the first", "/ms", ".2f")]
        self.compare("The command line", "command", runs, columns)


if __name__ == "__main__":
    main()
