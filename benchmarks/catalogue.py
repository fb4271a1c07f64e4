"""Compare making CoSRec's catalogue with only reading its files.

    python benchmarks/catalogue.py DIR [--memory 1GB] [--rounds 1]

DIR holds the files of `generate_catalogue.py`. The limit reads every line in one process with
`gzip` and `orjson`. Processor seconds and memory include all processes of a method; shared memory
counts once.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import psutil
from run import MB, Benchmark, Result, to_first

LIMIT = """
import gzip, sys, orjson
from pathlib import Path
for path in sorted(Path(sys.argv[1]).rglob("*.jsonl*")):
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for line in file:
            orjson.loads(line)
"""


def measure(*command: str, place: str = "") -> Result:
    """Return the seconds, processor seconds and peak MB of a command, that may write in `place`."""
    if place:
        command += ("--output", f"{tempfile.mkdtemp(dir=place)}/catalogue")
    start, used, peak = time.perf_counter(), sum(os.times()[2:4]), 0  # of ended children
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        while process.poll() is None:
            peak = max(peak, memory(psutil.Process(process.pid)))
            time.sleep(0.2)
    if process.returncode:
        raise SystemExit(f"{command} failed")
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "cpu": sum(os.times()[2:4]) - used, "mb": peak / 1e6}


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
        runs = {"limit": partial(measure, sys.executable, "-c", LIMIT, str(given.folder))}
        for workers in "02":
            command = [*job, "--workers", workers]
            runs[f"--workers {workers}"] = partial(measure, *command, place=scratch)
        columns = [*to_first("limit"), *MB]
        bench = Benchmark(Path(scratch), given.rounds)
        bench.compare("CoSRec's catalogue", "method", runs, columns)


if __name__ == "__main__":
    main()
