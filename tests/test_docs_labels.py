"""docs/labels.md: its files, commands and Python in their order, and what they print."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import parley

pytest.importorskip("duckdb", reason="the extra `sql` is not installed")
pytest.importorskip("scipy", reason="the extra `tasks` is not installed")
PAGE = (Path(__file__).parent.parent / "docs" / "labels.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:^`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KEY, ONE, BOTH = {"dialogue_id": 2001, "turn": 0}, ["small-talk"], ["small-talk", "self-need"]


def exports(text):
    """Return the invented export of each tool, as it writes one: small-talk, then self-need too."""
    task, id = KEY | {"text": text}, {"_input_hash": 1, "_task_hash": 2}
    options = [{"id": name, "text": name} for name in BOTH]
    choices = [{"from_name": "labels", "value": {"choices": labels}} for labels in (ONE, BOTH)]
    done = [{"completed_by": by, "result": [one]} for by, one in enumerate(choices, 1)]
    prodigy = [("camp-anna", ONE, "accept"), ("camp-ben", BOTH, "accept"), ("c", ONE, "ignore")]
    argilla = {"": [ONE, BOTH, ONE], ".users": ["u1", "u2", "u3"]}
    argilla[".status"] = ["submitted", "submitted", "discarded"]
    return {
        "label-studio.json": [[{"id": 9, "data": task, "annotations": done}]],
        "anna.jsonl": [task | {"id": 9, "label": ONE, "Comments": []}],
        "ben.jsonl": [task | {"id": 9, "label": BOTH, "Comments": []}],
        "prodigy.jsonl": [
            task | id | {"options": options, "accept": labels, "answer": answer, "_session_id": by}
            for by, labels, answer in prodigy
        ],
        "argilla.jsonl": [
            {**task, "dialogue_id": "2001", "id": "a", "status": "completed", "_server_id": "b"}
            | {f"labels.responses{part}": values for part, values in argilla.items()}
        ],
    }


def test_the_page_runs_in_its_order_and_prints_what_it_shows(
    run, sample_build, tmp_path, monkeypatch, capsys
):
    shutil.copytree(sample_build / "casino", tmp_path / "build" / "casino")
    monkeypatch.chdir(tmp_path)
    shown, names, printed = [], {}, ""
    serve = lambda folders, selection, **options: shown.append(selection.files.tables)  # noqa: E731
    monkeypatch.setattr("parley.read.site.serve.browse", serve)  # which would not end
    Path("ids.txt").write_text("2001\n")
    Path("coded.csv").write_text("dialogue_id,turn,coder,x\n2001,0,a,1\n2001,0,b,1\n")
    for name, content in exports(parley.open("build/casino").rows("strategies")[0]["text"]).items():
        Path(name).write_text("\n".join(map(json.dumps, content)), encoding="utf-8")
    for name, kind, code in BLOCK.findall(PAGE):
        if name and Path(name).exists():  # written by a command
            assert Path(name).read_text(encoding="utf-8-sig") == code
        elif name:
            Path(name).write_text(code, encoding="utf-8")
        elif kind == "python":
            exec(code, names)
            printed = capsys.readouterr().out
        elif kind == "text":
            assert code in re.sub(" +$", "", printed, flags=re.MULTILINE)
        for command in re.split("^(?=parley )", code, flags=re.MULTILINE) * (kind == "bash"):
            program, *arguments = shlex.split(command, comments=True) or ["prodigy"]
            if program != "prodigy":
                done = run(*arguments)
                printed = done.stdout + done.stderr
                assert done.returncode == ("wrong.csv" in arguments), printed
    assert [*shown[0]] == [*names["found"].tables()]
    for files in ("label-studio.json", "anna.jsonl ben.jsonl", "prodigy.jsonl", "argilla.jsonl"):
        read = parley.labels("build/casino", "strategies", *files.split()).labels.annotators
        given = [values.get("labels") for units in read.values() for values in units.values()]
        assert given[:2] == [(*ONE,), (*BOTH,)], files
        assert not any(given[2:]), files
