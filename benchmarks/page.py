"""Measure the page in Chromium with generated conversations and with real data.

    python benchmarks/page.py [--dialogues 8938]

Build each dataset, write the site, open the dialogues from disk, wait for all text, and type.
A keystroke takes from its event to the next drawn frame. Memory is the resident memory of the tab's
process. The charts are drawn when the page about the dataset is complete. Imports are not counted.
PARLEY_SOURCE names the real datasets.
"""

import argparse
import os
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import generate
from playwright.sync_api import Browser, sync_playwright
from run import machine

from parley import dataset
from parley import list as datasets
from parley import open as open_folder
from parley.builds.build import build as build_folder
from parley.builds.card_parts import markdown_table
from parley.builds.sources import Sources, at_hand
from parley.page.site import write_site

WATCH = """
    window.seen = {};
    (function look() {
      if (document.querySelector("#window li")) seen.list ??= performance.now();
      if (document.querySelector("#progress")?.hidden) seen.text ??= performance.now();
      if (!seen.text) setTimeout(look, 5);
    })();
"""
TYPE = """async (words) => {
    const query = document.getElementById("query"), took = [];
    for (const word of words)
      for (let end = 1; end <= word.length; end++) {
        query.value = word.slice(0, end);
        const start = performance.now();
        query.dispatchEvent(new Event("input"));
        await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
        took.push(performance.now() - start);
      }
    return took;
}"""
KEYSTROKES = 50
COLUMNS = ["dialogues of", "number", "build, s", "site, s", "of the build", "list, s"]
COLUMNS += ["all text, s", "keystroke, ms", "tab, MB", "charts, ms"]


def main() -> None:
    """Measure the generated conversations, then each real dataset."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dialogues", type=int, default=8938)
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))))
    print(machine())
    rows = []
    with tempfile.TemporaryDirectory(prefix="page-") as place, sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium)
        for number, (name, source) in enumerate(sources(Path(place), options.dialogues).items()):
            rows.append([name, *measured(browser, source, Path(place) / str(number))])
        browser.close()
    print("\n".join(markdown_table(COLUMNS, rows, right=COLUMNS[1:])))


def sources(place: Path, dialogues: int) -> dict[str, Sources]:
    """Return the sources to measure, by their name in the table."""
    cosrec = dataset("cosrec")
    missing = [file for file in cosrec.sources if file != generate.RAW]
    folder = generate.write(place / "generated", dialogues)
    found = {"cosrec, generated": Sources(cosrec, folder, missing=missing)}
    if real := os.environ.get("PARLEY_SOURCE"):
        at = {name: at_hand(dataset(name), Path(real)) for name in datasets()}
        found |= {name: source for name, source in at.items() if source}
    return found


def measured(browser: Browser, source: Sources, place: Path) -> list[str]:
    """Return the values of a row of the table."""
    name = source.dataset.name
    built = timed(lambda: build_folder(source, place / "build"))
    folder = open_folder(place / "build" / name)
    site = timed(lambda: write_site([folder], place / "site"))
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.add_init_script(WATCH)
    page.goto((place / "site" / name / "dialogues.html").as_uri())
    page.wait_for_function("seen.text")
    seen = page.evaluate("seen")
    number = page.inner_text("#count strong").split()[0]
    said = page.evaluate("page.dialogues.get(0).turns.map((turn) => turn.text).join(' ')")
    words = re.findall(r"\w{5,}", said)
    took: list[float] = []
    while len(took) < KEYSTROKES:
        took += page.evaluate(TYPE, [words.pop(0)])
    seconds = [built, site, site / built, seen["list"] / 1000, seen["text"] / 1000]
    others = [statistics.median(took[:KEYSTROKES]), memory(browser)]
    page.goto((place / "site" / name / "index.html").as_uri() + "#charts")
    page.wait_for_selector("#charts svg")
    others.append(page.evaluate("performance.getEntriesByType('navigation')[0].domComplete"))
    page.close()
    return [number, *(f"{each:.2f}" for each in seconds), *(f"{each:.0f}" for each in others)]


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def memory(browser: Browser) -> float:
    """Return the MB of the largest tab."""
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    tabs = [Path(f"/proc/{p['id']}/status") for p in processes if p["type"] == "renderer"]
    sizes = [re.findall(r"VmRSS:\s+(\d+)", tab.read_text())[0] for tab in tabs]
    return max(map(int, sizes)) * 1024 / 1e6


if __name__ == "__main__":
    main()
