"""Shared by the fault tests: processes to kill."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


class Forks:
    """A process with the imports of a job that runs each job in a fork.

    A job starts at once and can be killed alone at any moment.
    """

    PROGRAM = """
import os, signal, sys
{prepare}
for line in sys.stdin:
    arguments = line.rstrip("\\n").split("\\t")
    child = os.fork()
    if not child:
        signal.alarm(60)
        status = 1
        try:
            {job}
            status = 0
        except SystemExit as ended:
            status = ended.code or 0
        finally:
            sys.stderr.flush()
            os._exit(status)
    print(child, flush=True)
    sys.stdin.readline()  # until then its id is not reused
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""

    def __init__(self, prepare, job, folder):
        program = self.PROGRAM.format(prepare=prepare, job=job)
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            env=os.environ | {"TMPDIR": str(folder)},  # for what a killed job leaves
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def start(self, *arguments):
        """Start a job and return its process id."""
        self._process.stdin.write("\t".join(map(str, arguments)) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def wait(self):
        """Return the exit status of the job, negative if a signal ended it."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self):
        """End it all."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.kill()
        self._process.wait(timeout=20)


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    """Make `Forks` that end with the module."""
    folder, made = tmp_path_factory.mktemp("forks"), []

    def make(prepare, job):
        made.append(Forks(prepare, job, folder))
        return made[-1]

    yield make
    for each in made:
        each.close()
