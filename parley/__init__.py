"""Build, check, load and score dialogue datasets.

For users: `list`, `load`, `open`, `fetch`, `build`, `verify`, `questions`, `score`, `compare`,
`labels`, `connect` and `browse`.
For the script of a dataset: `Builder` and its parts, as `help(parley.Builder)` shows; for its
figures and checks `documented`, `counted` and `check`; and all exceptions. `parley.tasks` has the
words of tasks, `parley.read` those of transcripts, charts and exports.
"""

from parley.base.doors import door

__getattr__, _, __all__ = door(__name__, __file__)


def __dir__() -> tuple[str, ...]:
    """Return what users need: `help(parley)` shows the functions, not the words of scripts."""
    from parley import api

    found = {name: getattr(api, name, None) for name in __all__}
    functions = [
        name for name, each in found.items() if getattr(each, "__module__", "") == "parley.api"
    ]
    return (*functions, "__all__", "__doc__", "__file__", "__name__", "__path__", "__version__")
