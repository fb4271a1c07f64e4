"""The wheel: its files, its page on the index, and its work without the checkout."""

import os
import re
import subprocess
import sys
import venv
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest
import readme_renderer.markdown
import yaml
from processes import python

from parley import __version__
from parley.declaration.registry import discover

pytestmark = pytest.mark.slow
HOME = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    python(*command, "--wheel-dir", folder, HOME)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_contains_all_datasets(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    homes = {"parley/authoring/skeleton": HOME / "parley/authoring/skeleton"}
    homes |= {f"parley/collection_data/{name}": each.folder for name, each in discover().items()}
    for home, folder in homes.items():
        for path in folder.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"{home}/{path.relative_to(folder).as_posix()}" in inside
    skill = "parley/.agents/skills/parley/SKILL.md"
    _, front, _ = zipfile.ZipFile(wheel).read(skill).decode().split("---\n", 2)
    assert yaml.safe_load(front)["name"] == Path(skill).parent.name
    assert not [name for name in inside if "__pycache__" in name or name.startswith("tests/")]


def test_the_wheel_works_without_the_checkout(wheel, tmp_path):
    """It is unpacked into an environment that has its dependencies and no checkout."""
    venv.create(tmp_path / "bare", symlinks=True)
    (site,) = (tmp_path / "bare").glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    here = Path(pytest.__file__).parents[1]
    (site / "dependencies.pth").write_text(f"{here}\n")  # without the .pth of the checkout in it
    (tmp_path / "try_installed.py").write_bytes((HOME / "tests" / "try_installed.py").read_bytes())
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environ |= {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}

    def run(*args):
        command = [tmp_path / "bare/bin/python", *args]
        return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)

    done = run("try_installed.py")
    assert done.returncode == 0, done.stderr
    lacking = "import sys; sys.modules['jinja2'] = None; from parley.cli import main; main()"
    assert "parley-datasets[site]" in run("-c", lacking, "site", "-o", "page").stderr
    assert sorted(path.name for path in (tmp_path / "build").iterdir()) == list(discover())


@pytest.fixture(scope="module")
def metadata(wheel):
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        return HeaderParser().parsestr(file.read(name).decode())


def test_the_page_on_the_index_leads_to_files_of_this_version(metadata):
    """Nothing is relative to a repository that the index does not have, and no diagram undrawn."""
    html = readme_renderer.markdown.render(metadata.get_payload(), variant="GFM")
    links = re.findall(r'(?:href|src)="([^"]+)"', html)
    repository = dict(line.split(", ") for line in metadata.get_all("Project-URL"))["Repository"]
    own = [link for link in links if link.startswith(f"{repository}/")]
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    assert len(own) > 10
    for link in own:
        kind, tag, path = link.removeprefix(f"{repository}/").split("/", 2)
        assert (kind in ("blob", "raw"), tag) == (True, f"v{__version__}")
        assert (HOME / path.split("#")[0]).is_file()
    assert "mermaid" not in html


@pytest.mark.parametrize(
    ("repository", "tag", "released"),
    [("{}", "v{}", True), ("https://example.org/parley", "v{}", False), ("{}", "v0.0.1", False)],
)
def test_a_release_of_another_place_or_version_fails(wheel, metadata, repository, tag, released):
    urls = dict(line.split(", ") for line in metadata.get_all("Project-URL"))
    command = [sys.executable, ".github/release.py", wheel.parent]
    command += [repository.format(urls["Repository"]), tag.format(__version__)]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True)
    assert (done.returncode == 0, bool(done.stderr)) == (released, not released)
