"""Refuse a release under another address or version than the package's own.

    python .github/release.py dist https://HOST/OWNER/NAME v1.0.0

The address in pyproject.toml is a placeholder until somebody sets it: it equals no repository.
"""

import re
import sys
import zipfile
from email.parser import HeaderParser
from pathlib import Path

folder, repository, tag = sys.argv[1:]
(wheel,) = Path(folder).glob("*.whl")
with zipfile.ZipFile(wheel) as file:
    (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = HeaderParser().parsestr(file.read(name).decode())
urls = dict(line.split(", ", 1) for line in metadata.get_all("Project-URL", []))
citation = Path("CITATION.cff").read_text(encoding="utf-8")
cited = dict(re.findall(r'^(version|repository-code): "?([^"\n]+)', citation, re.MULTILINE))
for where, found, due in (
    ("`repository` in pyproject.toml", urls.get("Repository"), repository),
    ("`repository-code` in CITATION.cff", cited.get("repository-code"), repository),
    ("`__version__`, as a tag", f"v{metadata['Version']}", tag),
    ("`version` in CITATION.cff, as a tag", f"v{cited.get('version')}", tag),
):
    if found != due:
        sys.exit(f"{where}: expected {due}, found {found}. Set it, and tag the new commit.")
