"""Build the samples; show, load and score them; write the page.

    python examples/demo.py build

One process runs all commands, because each new one takes two seconds to import `datasets`.
"""

import io
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

import parley

if len(sys.argv) != 2:
    sys.exit("usage: demo.py FOLDER, the folder for the builds and the page")
build, page = f"{sys.argv[1]}/demo", f"{sys.argv[1]}/demo-site"


def command(*args: str) -> None:
    """Print a command of parley, and run it."""
    print(f"$ parley {' '.join(args)}", flush=True)
    sys.argv[1:] = args
    try:
        runpy.run_module("parley", run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise


with redirect_stdout(io.StringIO()):  # a table of 57 splits
    command("build", "--sample", "--build", build)
for name in parley.list():
    command("show", name, "--build", build)
    print()
for script in ("load_every_config.py", "score_every_task.py"):
    print(f"$ python examples/{script} {build}", flush=True)
    sys.argv[1:] = [build]
    runpy.run_path(str(Path(__file__).with_name(script)))
    print()
command("site", "--build", build, "--output", page)
