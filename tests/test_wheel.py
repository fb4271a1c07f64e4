"""The wheel contains the datasets and works without the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from parley.building.collection import discover

pytestmark = pytest.mark.slow
HOME = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", folder, HOME]
    subprocess.run(command, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_contains_all_datasets(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    for name, dataset in discover().items():
        for path in dataset.folder.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                relative = path.relative_to(dataset.folder).as_posix()
                assert f"parley/collection_data/{name}/{relative}" in inside
    skeleton = [path for path in (HOME / "parley/authoring/skeleton").rglob("*") if path.is_file()]
    for path in skeleton:
        if "__pycache__" not in path.parts:
            assert path.relative_to(HOME).as_posix() in inside
    assert not [name for name in inside if "__pycache__" in name or name.startswith("tests/")]


def test_the_wheel_works_from_any_folder(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "site")
    program = (
        "import sys, parley; "
        "assert parley.__file__.startswith(sys.argv.pop()), parley.__file__; "
        "from parley.cli import main; main()"
    )
    for command in (["build", "--sample"], ["site", "--output", "page"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *command, str(tmp_path / "site")],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in (tmp_path / "build").iterdir()) == list(discover())
    assert {p.name for p in (tmp_path / "page").iterdir()} > {"index.html", *discover()}
