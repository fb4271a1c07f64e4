"""Try an installed Parley without its repository: build, load, score and browse the samples.

    PYTHON tests/try_installed.py    # in an empty folder, with the Python of the environment

Needs the extras `site` and `tasks`.
"""

import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import datasets

import parley

PARLEY = [sys.executable, "-m", "parley"]


def page_of(url):
    """Return a page of a dataset once the dataset is read; before, its status is 503."""
    for _ in range(200):
        try:
            with urllib.request.urlopen(url, timeout=60) as page:
                return page.read().decode()
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            time.sleep(0.3)
    raise TimeoutError(url)


def main():
    """Run each command on one or all samples; a failed one is an error."""
    subprocess.run([*PARLEY, "build", "--sample"], check=True, stdout=subprocess.DEVNULL)
    for name in parley.list():
        rows = datasets.load_dataset(f"build/{name}")
        assert all(split.num_rows for split in rows.values()), rows
    score = [*PARLEY, "score", "casino", "strategies", "--baseline", "majority"]
    done = subprocess.run(score, check=True, capture_output=True, text=True)
    assert f"parley {parley.__version__}, casino " in done.stdout, done.stdout
    with subprocess.Popen(
        [*PARLEY, "browse", "casino", "--no-open"], stdout=subprocess.PIPE, text=True
    ) as browse:
        try:
            address = re.match(r"http://\S+", browse.stdout.readline())
            assert "CaSiNo" in page_of(f"{address[0]}casino/index.html")
        finally:
            browse.send_signal(signal.SIGINT)
        assert browse.wait(timeout=60) == 0


if __name__ == "__main__":
    main()
