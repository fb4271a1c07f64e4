"""Programs that tests start."""

import subprocess
import sys


def python(*args, executable=sys.executable, **more):
    """Run Python in a process of its own, which must not fail; return what it printed."""
    done = subprocess.run([executable, *args], capture_output=True, encoding="utf-8", **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done
