"""The builders read from URLs, prepared and streamed: a server on loopback stands for upstream."""

import io
import zipfile

import pytest
from server import Page, Server

pytest.importorskip("aiohttp", reason="reading http needs the extra fsspec[http]")


@pytest.fixture
def upstream(dataset, monkeypatch):
    """Serve the sample, and let the dataset's SOURCES name it, archives included."""
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", False)  # for loopback
    with Server() as server:
        archives = {}
        for source, pin in dataset.module.SOURCES.items():
            path = f"/{source}" if "git_tree" not in pin else "/archive.zip"
            monkeypatch.setitem(pin, "url", server.url(path))
            if "git_tree" in pin:
                archives[source] = pin["member"]
            else:
                server.pages[path] = Page((dataset.sample / source).read_bytes())
        if archives:
            body = io.BytesIO()
            with zipfile.ZipFile(body, "w") as archive:
                for source, member in archives.items():
                    for file in sorted((dataset.sample / source).iterdir()):
                        archive.write(file, f"{member}/{file.name}")
            server.pages["/archive.zip"] = Page(body.getvalue(), ranges=False)
        yield server


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
