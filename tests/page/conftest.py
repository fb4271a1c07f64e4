"""Sites and a browser; every test of the page is slow."""

import shutil

import hostile_dataset
import pytest

from parley.builds.build import build
from parley.builds.sources import open_source
from parley.declaration.registry import get

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browsed():
    """What the tests share, which needs playwright and the extra `site`."""
    return pytest.importorskip("browsed")


@pytest.fixture(scope="module")
def browser(browsed):
    """A browser of a module: while it is open, other tests could run no event loop."""
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        pytest.skip("no Chromium is installed")
    with browsed.playwright.sync_playwright() as tool:
        opened = tool.chromium.launch(executable_path=chromium)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def served(browsed, tmp_path_factory):
    """A served folder for sites, and its address."""
    root = tmp_path_factory.mktemp("served")
    with browsed.serve.serving(root) as address:
        yield root, address


@pytest.fixture(scope="session")
def sample(browsed, served, sample_build):
    return browsed.written(served, sample_build, "sample")


@pytest.fixture(scope="session")
def real(browsed, served, real_build):
    return browsed.written(served, real_build, "real")


@pytest.fixture(scope="module")
def attacked(browsed, served, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PARLEY_DATASETS", str(hostile_dataset.write(folder)))
        build(open_source(get("hostile"), None, sample=True), folder / "build")
        hostile_dataset.spoil(folder / "build" / "hostile" / "provenance.json")
        yield browsed.written(served, folder / "build", "hostile")


@pytest.fixture
def open_page(browsed, browser, served):
    """A function that opens an address; fail on foreign requests, errors and dialogs."""
    context = browser.new_context(viewport=browsed.WIDE)
    context.set_default_timeout(20_000)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    wrong = []
    own = (served[1], served[0].as_uri())

    def request(asked):
        if not asked.url.startswith(own):
            wrong.append(f"asks for {asked.url}")

    def console(message):
        if message.type in ("error", "warning"):
            wrong.append(message.text)

    context.on("request", request)
    context.on("console", console)
    context.on("weberror", lambda raised: wrong.append(str(raised.error)))
    context.on("dialog", lambda asks: wrong.append(f"says {asks.message}"))

    def opened(address):
        page = context.new_page()
        browsed.visit(page, address)
        return page

    yield opened
    context.close()
    assert not wrong
