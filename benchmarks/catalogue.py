"""Compare making CoSRec's catalogue with only reading its files.

    python benchmarks/catalogue.py DIR [--memory 1GB] [--rounds 1]

DIR holds the files of `generate_catalogue.py`. The limit reads every line in one process with
`gzip` and `orjson`. Processor seconds and memory include all processes of a method; shared memory
counts once.
"""

import argparse
import contextlib
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from run import MB, Result, summary, table, to_first

LIMIT = """
import gzip, sys, orjson
from pathlib import Path
for path in sorted(Path(sys.argv[1]).rglob("*.jsonl*")):
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for line in file:
            orjson.loads(line)
"""


def measure(command: list[str]) -> Result:
    """Return the seconds, processor seconds and peak MB of a command."""
    start, used, peak = time.perf_counter(), processor(), 0
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        while process.poll() is None:
            peak = max(peak, memory(psutil.Process(process.pid)))
            time.sleep(0.2)
    if process.returncode:
        raise SystemExit(f"{command} failed")
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "cpu": processor() - used, "mb": peak / 1e6}


def processor() -> float:
    """Return the processor seconds of all finished child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def memory(process: psutil.Process) -> int:
    """Return the bytes of a process and its descendants; what they share counts once."""
    found = 0
    with contextlib.suppress(psutil.Error):  # one has ended
        for each in (process, *process.children(recursive=True)):
            found += each.memory_full_info().pss
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder.parent) as scratch:
        job = [sys.executable, "-m", "parley", "run", "cosrec", "catalogue"]
        job += ["--input", str(given.folder), "--memory", given.memory]
        methods = {"limit": [sys.executable, "-c", LIMIT, str(given.folder)]}
        for workers in (0, 2):
            methods[f"--workers {workers}"] = [*job, "--workers", str(workers)]
        found: dict[str, list[Result]] = {name: [] for name in methods}
        for number in range(given.rounds):
            for name, command in methods.items():
                output = ["--output", f"{scratch}/{name}{number}"] if name != "limit" else []
                found[name].append(measure([*command, *output]))
    columns = [*to_first("limit"), *MB]
    headings = ["method", *(heading for heading, _, _ in columns)]
    print("\n".join(table(headings, summary(found, columns))))


if __name__ == "__main__":
    main()
