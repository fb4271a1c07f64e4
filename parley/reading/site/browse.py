"""Shows builds in a browser on this machine until it is interrupted."""

import webbrowser
from collections.abc import Sequence
from pathlib import Path

from parley.base.console import plain, print_output, progress
from parley.base.errors import Interrupted
from parley.base.temporary import temporary_folder
from parley.building.folder import BuiltFolder
from parley.reading.site.data import ALL, Asked
from parley.reading.site.serve import Parts, serving
from parley.reading.site.write import Site


def browse(
    folders: Sequence[BuiltFolder],
    catalogue: Path | None = None,
    *,
    port: int = 0,
    open_browser: bool = True,
    is_kept: bool = True,
    asked: Asked = ALL,
) -> None:
    """Serve the pages of builds, and print their address.

    A dataset is read when its first page is asked for. `is_kept` tells whether the builds stay, so
    that the pages may name them in code; `asked` is what to show, by default all.
    """
    try:
        with temporary_folder("browse") as pages:
            writer = Site(folders, catalogue, is_kept=is_kept, asked=asked)

            def make(name: str) -> None:
                with progress("dialogues") as advance:
                    writer.write_dataset(pages, name, advance)
                writer.write_front(pages)

            writer.write_assets(pages)
            writer.write_front(pages)
            parts = Parts(writer.datasets)
            with serving(pages, port, parts) as url:
                print_output(plain(f"{url} shows them; Ctrl-C ends it"))
                if open_browser:
                    webbrowser.open(url)
                parts.make_asked(make)
    except (Interrupted, KeyboardInterrupt):
        return
