"""The builders read from URLs, prepared and streamed: a server on loopback stands for upstream."""

import hashlib
import io
import zipfile

import pytest
from datasets.exceptions import DatasetGenerationError
from server import Page, Server

from parley.source.pins import git_tree

pytest.importorskip("aiohttp", reason="reading http needs the extra fsspec[http]")


@pytest.fixture
def upstream(dataset, monkeypatch):
    """Serve the sample, and let the dataset's SOURCES name and pin it, archives included."""
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", False)  # for loopback
    with Server() as server:
        archives = {}
        for source, pin in dataset.module.SOURCES.items():
            path = f"/{source}" if "git_tree" not in pin else "/archive.zip"
            new = {"url": server.url(path), **hash_of(dataset.sample / source, pin)}
            if "git_tree" in pin:
                archives[source] = pin["member"]
            else:
                server.pages[path] = Page((dataset.sample / source).read_bytes())
            monkeypatch.setitem(dataset.module.SOURCES, source, new)
        if archives:
            body = io.BytesIO()
            with zipfile.ZipFile(body, "w") as archive:
                for source, member in archives.items():
                    for file in sorted((dataset.sample / source).iterdir()):
                        archive.write(file, f"{member}/{file.name}")
            server.pages["/archive.zip"] = Page(body.getvalue(), ranges=False)
        yield server


def hash_of(path, pin):
    """Return what pins a file or folder in the way that a pin does."""
    if "git_tree" in pin:
        return {"member": pin["member"], "git_tree": git_tree(list(path.iterdir()))}
    content = path.read_bytes()
    size = {"size": len(content)}
    if "sha256" in pin:
        return size | {"sha256": hashlib.sha256(content).hexdigest()}
    return size | {"git_blob": hashlib.sha1(b"blob %d\0%b" % (len(content), content)).hexdigest()}


def test_builders_read_from_urls(dataset, upstream, tmp_path):
    for config, splits in dataset.module.SPLITS.items():
        local = dataset.builder(
            config_name=config, data_dir=str(dataset.sample), cache_dir=str(tmp_path / "local")
        )
        remote = dataset.builder(config_name=config, cache_dir=str(tmp_path / "remote"))
        remote.download_and_prepare()
        for split in splits:
            rows = list(local.as_streaming_dataset(split=split))
            assert rows
            assert list(remote.as_dataset(split=split)) == rows
            assert list(remote.as_streaming_dataset(split=split)) == rows
    assert upstream.requests


@pytest.mark.parametrize("way", ["prepared", "streamed"])
def test_builders_refuse_what_is_not_as_pinned(dataset, upstream, tmp_path, monkeypatch, way):
    config, splits = list(dataset.module.SPLITS.items())[-1]
    split, sources = list(splits.items())[-1]
    pin = dataset.module.SOURCES[sources[-1]]
    wrong = {
        kind: "0" * len(pin[kind]) for kind in ("sha256", "git_blob", "git_tree") if kind in pin
    }
    monkeypatch.setitem(dataset.module.SOURCES, sources[-1], pin | wrong)
    builder = dataset.builder(config_name=config, cache_dir=str(tmp_path))
    read = {
        "prepared": builder.download_and_prepare,
        "streamed": lambda: next(iter(builder.as_streaming_dataset(split=split))),
    }[way]
    with pytest.raises((ValueError, DatasetGenerationError)) as error:
        read()
    cause = error.value
    while not isinstance(cause, ValueError):
        cause = cause.__cause__
    assert sources[-1] in str(cause)
    assert f"{next(iter(wrong))} expected {'0' * 40}" in str(cause)
    assert "damaged or upstream changed" in str(cause)
