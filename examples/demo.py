"""Build the samples, show a dialogue, load and score all, and write the page.

    python examples/demo.py build

One process runs all commands, because each new one takes two seconds to import `datasets`.
"""

import io
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

if len(sys.argv) != 2:
    sys.exit("usage: demo.py FOLDER, the folder for the builds and the page")
build, page = f"{sys.argv[1]}/demo", f"{sys.argv[1]}/demo-site"
SHORT = ("craigslist_bargains", "C_eefd3b9fce1f60e8ec860ff9ec1e664d")


def command(*args: str) -> None:
    """Print a command of parley, and run it."""
    print(f"$ parley {' '.join(args)}", flush=True)
    sys.argv[1:] = args
    try:
        runpy.run_module("parley", run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise


with redirect_stdout(io.StringIO()):  # a table of every split
    command("build", "--sample", "--build", build)
command("show", *SHORT, "--build", build)
print()
for script in ("load_every_config.py", "score_every_task.py"):
    print(f"$ python examples/{script} {build}", flush=True)
    sys.argv[1:] = [build]
    runpy.run_path(str(Path(__file__).with_name(script)))
with redirect_stdout(io.StringIO()):
    command("site", "--build", build, "-o", page)
print("Scores of invented rows mean nothing. Next: .venv/bin/parley browse --sample")
print("The page, for your browser:", Path(page, "index.html").resolve().as_uri())
