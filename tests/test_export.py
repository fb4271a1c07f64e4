"""`parley export`: any format that a dataset folder offers."""

import os
import subprocess
import sys

import pytest

from parley.collection import discover


def run(*args, cwd):
    command = [sys.executable, "-m", "parley", "export", *map(str, args)]
    return subprocess.run(command, cwd=cwd, env=dict(os.environ), capture_output=True, text=True)


def test_every_format_of_every_dataset_is_written_twice_alike(sample_build, tmp_path):
    formats = [(format, name) for name, d in discover().items() for format in d.exports]
    assert {"convokit", "trec"} <= {format for format, _ in formats}
    for format, name in formats:
        for target in ("one", "two"):
            done = run(
                name, format, tmp_path / name / target, "--build", sample_build, cwd=tmp_path
            )
            assert done.returncode == 0, done.stderr
        first, second = (
            {p.relative_to(tmp_path / name / t): p.read_bytes() for p in files(tmp_path / name / t)}
            for t in ("one", "two")
        )
        assert first
        assert first == second


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (("casino", "xml", "out"), 2, "casino has no export 'xml'; there are: "),
        (("duo", "convokit", "out"), 2, "duo has no export 'convokit'; there are: "),
    ],
)
def test_errors(tmp_path, sample_build, args, status, message):
    done = run(*args, "--build", sample_build, cwd=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False)
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_in_it_is_left_alone(sample_build, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    done = run("cosrec", "trec", tmp_path / "out", "--build", sample_build, cwd=tmp_path)
    assert done.returncode == 1
    assert "stands there already" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]
