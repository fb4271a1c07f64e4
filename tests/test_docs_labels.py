"""docs/labels.md: its files, commands and Python in their order, and what they print.

test_labels.py has the answers in the files of the tools.
"""

import re
import shlex
import shutil
from pathlib import Path

PAGE = (Path(__file__).parent.parent / "docs" / "labels.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:^`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_runs_in_its_order_and_prints_what_it_shows(
    run, sample_build, tmp_path, monkeypatch, capsys
):
    shutil.copytree(sample_build / "casino", tmp_path / "build" / "casino")
    monkeypatch.chdir(tmp_path)
    shown, names, printed = [], {}, ""
    serve = lambda folders, selection, **options: shown.append(selection.files.tables)  # noqa: E731
    monkeypatch.setattr("parley.page.serve.browse", serve)  # which would not end
    Path("ids.txt").write_text("2001\n")
    Path("coded.csv").write_text("dialogue_id,turn,coder,x\n2001,0,a,1\n2001,0,b,1\n")
    tools = Path(__file__).with_name("labels")
    for path in (*tools.glob("*.json*"), *tools.glob("doccano-1.8/*")):  # of the page's tools
        shutil.copy(path, tmp_path)
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
