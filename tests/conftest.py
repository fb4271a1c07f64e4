import fcntl
import os
import shutil
import subprocess
import sys
import threading
from collections import namedtuple
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from file_server import BODY, Page, Server, pinned
from hypothesis import settings
from local_hub import Hub

import parley
from parley.declaration.registry import Dataset, discover, get

# A test may change a script twice in a second, which Python does not notice if it kept the first
sys.dont_write_bytecode = True

# before anything imports datasets: nothing may reach out, nothing may touch the user's caches
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"  # where the tests' servers are
# Spark's Java does not run long enough for its thorough compiler, which takes half of the time
os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

# A busy machine is no fault of an example, which by default may take 0.2 seconds
settings.register_profile("parley", deadline=None)
settings.load_profile("parley")


def pytest_collection_modifyitems(items):
    """Mark every fault test and every test of the page as slow."""
    for item in items:
        if item.path.parent.name in ("faults", "page"):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _own_caches(tmp_path_factory):
    folder = tmp_path_factory.mktemp("caches")
    import datasets

    datasets.disable_progress_bars()
    patch = pytest.MonkeyPatch()
    patch.setattr(datasets.config, "HF_DATASETS_CACHE", str(folder / "datasets"))
    patch.setenv("PARLEY_CACHE", str(folder / "parley"))
    yield
    patch.undo()


@pytest.fixture(params=discover(), ids=str)
def dataset(request):
    return discover()[request.param]


@pytest.fixture(scope="session")
def inspect_runs():
    return pytest.importorskip("inspect_runs", reason="needs the extra models")


@pytest.fixture
def tea(tmp_path):
    """A dataset in `more`: that of the skeleton, under a name of its own."""
    from parley.authoring.new import write_skeleton

    return Dataset("tea", write_skeleton("tea", tmp_path / "more"))


@pytest.fixture
def hub():
    with Hub() as hub:
        hub.tokens["hf_writes"] = "write"
        yield hub


@pytest.fixture
def server():
    with Server() as server:
        server.pages["/a"] = Page(BODY)
        yield server


@pytest.fixture
def pin(server):
    return pinned(server.url("/a"), BODY)


@pytest.fixture
def small_disk(tmp_path):
    """A file system with 900 kB of room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=900k", "tmpfs", str(disk)]
    try:
        allowed = subprocess.run(mount, capture_output=True, timeout=20).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("may not mount a small tmpfs here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True, timeout=20)


@pytest.fixture(scope="session")
def source():
    """The folder of real upstream files; tests that need it are skipped without it."""
    folder = os.environ.get("PARLEY_SOURCE")
    if not folder:
        pytest.skip("PARLEY_SOURCE is not set: no real upstream files at hand")
    return Path(folder).resolve()


@pytest.fixture(autouse=True)
def _its_files_are_there(request):
    """Skip a test of a dataset's real files where nothing of it is in PARLEY_SOURCE."""
    if {"dataset", "source"} <= set(request.fixturenames):
        dataset, source = map(request.getfixturevalue, ("dataset", "source"))
        if not any((source / dataset.name / file).exists() for file in dataset.sources):
            pytest.skip(f"nothing of {dataset.name} is in PARLEY_SOURCE")


def shared(factory, name, sources):
    """Return a folder of builds that the first of the test's processes to need it makes."""
    from parley.builds.build import build

    root = factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / name).exists():
            for source in filter(None, sources):
                build(source, root / f"{name}.part")
            (root / f"{name}.part").rename(root / name)
    return root / name


@pytest.fixture(scope="session")
def sample_build(tmp_path_factory):
    from parley.builds.sources import open_source

    sources = (open_source(each, None, sample=True) for each in discover().values())
    return shared(tmp_path_factory, "samples", sources)


@pytest.fixture(scope="module")
def casino(sample_build):
    return parley.open(sample_build / "casino")


@pytest.fixture(scope="session")
def grouped_build(sample_build, tmp_path_factory):
    """The sample of casino, its ten `messages` in four row groups."""
    output = tmp_path_factory.mktemp("grouped")
    shutil.copytree(sample_build / "casino", output / "casino")
    (file,) = (output / "casino" / "messages").glob("*.parquet")
    pq.write_table(pq.read_table(file), file, row_group_size=3)
    return output


@pytest.fixture(scope="session")
def real_build(source, tmp_path_factory):
    """What is at hand of the real datasets, built."""
    from parley.builds.sources import at_hand

    return shared(tmp_path_factory, "real", (at_hand(each, source) for each in discover().values()))


@pytest.fixture(scope="session")
def shards(tmp_path_factory):
    """The sample of casino, each split in files of at most 2 kB or one row."""
    from parley.builds.build import build
    from parley.builds.sources import open_source

    folder = tmp_path_factory.mktemp("shards")
    with pytest.MonkeyPatch.context() as patch:
        for name, size in (("BATCH", 1), ("GROUP", 0), ("SHARD", 2_000)):
            patch.setattr(f"parley.rows.parquet.{name}", size)
        build(open_source(get("casino"), None, sample=True), folder)
    return folder


# What a command gave: its exit status, and what it printed to either stream
Done = namedtuple("Done", ("returncode", "stdout", "stderr"))


def piped(data):
    """Return the end of a pipe to read `data` from."""
    read, write = os.pipe()

    def fill():
        with suppress(BrokenPipeError), os.fdopen(write, "wb") as file:
            file.write(data)

    threading.Thread(target=fill, daemon=True).start()
    return os.fdopen(read)


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs a command in this process.

    It takes what a pipe holds for standard input, and more of an environment.
    """
    from parley.cli import main

    monkeypatch.delenv("PARLEY_SOURCE", raising=False)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # as main does, but only for this test
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*args, stdin=b"", **environ):
        capsys.readouterr()
        with monkeypatch.context() as patch, piped(stdin) as pipe:
            patch.setattr("sys.stdin", pipe)
            patch.setattr("sys.argv", ["parley", *map(str, args)])
            for name, value in environ.items():
                patch.setenv(name, str(value))
            with pytest.raises(SystemExit) as ended:
                main()
        out, err = capsys.readouterr()
        assert "PARLEY_TRACEBACK" not in err, (args, err)  # which an internal error names
        assert "Traceback" not in out + err
        assert ended.value.code in (None, 0, 1, 2)
        return Done(ended.value.code or 0, out, err)

    return run
