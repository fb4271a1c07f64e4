"""The builders read from URLs, prepared and streamed: a server on loopback stands for upstream."""

import io
import zipfile

import pytest
from datasets.exceptions import DatasetGenerationError
from file_server import Page

from parley.base.errors import SourceError
from parley.builds.built_folder import open_folder
from parley.source.hashes import git_tree, hash_file

KINDS = {"sha256", "git_blob", "git_tree"}  # of hashes in a pin


@pytest.fixture
def upstream(dataset, server, monkeypatch, tmp_path):
    """Serve the sample, and let the dataset's sources name and pin it, archives included."""
    monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "fetched"))  # no other test finds it
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", False)  # for loopback
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr(f"other-{'0' * 40}/README.md", "of another commit")
        for path, source in dataset.sources.items():
            (kind,) = KINDS & source.pin.keys()
            place, pin = dataset.sample / path, {"url": server.url(f"/{path}")}
            if kind != "git_tree":
                server.pages[f"/{path}"] = Page(place.read_bytes())
                pin[kind] = hash_file(place, kind)
            else:
                files = sorted(place.iterdir(), reverse=True)
                pin = {"url": server.url("/archive.zip"), "member": source.pin["member"]}
                pin[kind] = git_tree(files)
                for file in files:
                    archive.write(file, f"{pin['member']}/{file.name}")
            for name, value in {"pin": pin, "url": pin["url"]}.items():
                monkeypatch.setitem(vars(source), name, value)
    server.pages["/archive.zip"] = Page(body.getvalue(), ranges=False)
    return server


def test_builders_read_from_urls(dataset, upstream, sample_build, tmp_path):
    for config, splits in dataset.splits.items():
        builder = dataset.builder(config_name=config, cache_dir=str(tmp_path))
        builder.download_and_prepare()
        for split in splits:
            rows = open_folder(sample_build / dataset.name).rows(config, split)
            assert list(builder.as_dataset(split=split)) == rows
            stream = builder.as_streaming_dataset(split=split)
            assert [list(stream), list(stream)] == [rows, rows], "a stream can be read again"
    assert upstream.requests


def test_builders_refuse_what_is_not_as_pinned(dataset, upstream, tmp_path, monkeypatch):
    config, splits = list(dataset.splits.items())[-1]
    *_, split = splits
    source = splits[split][-1]
    (kind,) = KINDS & source.pin.keys()
    pin = source.pin | {kind: "0" * len(source.pin[kind]), "mirrors": []}
    monkeypatch.setitem(vars(source), "pin", pin)
    builder = dataset.builder(config_name=config, cache_dir=str(tmp_path))
    stream = builder.as_streaming_dataset
    for read in (lambda: list(stream(split=split)), builder.download_and_prepare):
        with pytest.raises((SourceError, DatasetGenerationError)) as error:
            read()
        cause = error.value
        while not isinstance(cause, SourceError):
            cause = cause.__cause__
        assert source.path in str(cause)
        assert kind in str(cause)
