"""The functions of `parley` for programs."""

import builtins
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.base.disk import cache_folder
from parley.base.errors import UsageError
from parley.base.extras import naming_extras
from parley.declaration.registry import Dataset, discover, get

if TYPE_CHECKING:
    import datasets as hf

    from parley.annotators.comparison import Comparison
    from parley.builds.built_folder import BuiltFolder
    from parley.models.compare import Comparisons
    from parley.scoring.evaluate import Result
    from parley.verification.verify import Verification


def list() -> builtins.list[str]:
    """Return the names of all datasets in order, including those of `PARLEY_DATASETS`.

    >>> parley.list()
    ['casino', 'cosrec', 'craigslist_bargains', 'duo']

    Raises:
        UsageError: `PARLEY_DATASETS` names no folder of datasets, or two datasets share a name.
    """
    return [*discover()]


def dataset(name: str) -> Dataset:
    """Return a dataset with its configs, splits, pins, tasks and modules.

    >>> sorted(parley.dataset("casino").splits["official_split"])
    ['test', 'train', 'validation']

    Raises:
        UsageError: no dataset has this name.
    """
    return get(name)


def fetch(name: str) -> Path:
    """Download a dataset's pinned upstream files into the cache, and return their folder.

    A file that is there is kept; an interrupted download resumes.

    >>> sorted(path.name for path in parley.fetch("casino").iterdir())
    ['data', 'opponent-modeling']

    Raises:
        UsageError: no dataset has this name.
        FetchError: a file cannot be had, or has not the content that its pin states.
    """
    from parley.source.fetch import fetch as fetch_sources

    return fetch_sources(name, get(name).pins, cache_folder())


@naming_extras
def build(
    name: str,
    build: str | Path = "build",
    *,
    source: str | Path | None = None,
    sample: bool = False,
    allow_missing: bool = False,
    measure: bool = False,
) -> "BuiltFolder":
    """Build a dataset: its checked rows as Parquet, with card and provenance.

    Replaces an earlier build as a whole; an error leaves it as it is.

    >>> built = parley.build("casino", sample=True)
    >>> len(built.rows("dialogues", "train"))
    5

    Args:
        name: A dataset listed by `list`.
        build: The folder of builds; the build is `NAME` in it.
        source: The folder of upstream files, with one folder for each dataset; by default that of
            `PARLEY_SOURCE`, else the cache.
        sample: Whether to build the invented sample instead.
        allow_missing: Whether to leave out splits whose files are missing.
        measure: Whether to recompute figures and baselines, and to renew `measured.json`.

    Raises:
        UsageError: no such dataset or source, or a sample with `source` or `measure`.
        SourceError: files are missing or differ from their pins; names all of them.
        RecordError: records differ from their declared shape; names all of them.
        ScriptError: measured figures fail, or the sample has sentences of upstream.
        OutputError: the build cannot be written.
    """
    from parley.builds.build import build as write_build
    from parley.builds.built_folder import find_folder
    from parley.builds.sources import open_source, source_folder
    from parley.verification.measure import measure as measure_build

    if sample and (source is not None or measure):
        raise UsageError("sample=True excludes source= and measure=True")
    declared = get(name)
    upstream = None if sample else source_folder(source, "source=")
    files = open_source(declared, upstream, sample=sample, allow_missing=allow_missing)
    measured = measure_build if measure else None
    write_build(files, Path(build), measure=measured)
    return find_folder(Path(build), declared)


@naming_extras
def verify(
    built: "BuiltFolder | str | Path", *, source: str | Path | None = None
) -> "Verification":
    """Verify a build: its checks, and every documented figure from the rows.

    >>> parley.verify("build/casino").failed
    False

    Args:
        built: A build, or its path.
        source: Upstream files to compare the rows with; else `PARLEY_SOURCE`, else the cache.

    Returns:
        Its `checks`, `figures` with verdicts, and `failed`.

    Raises:
        OutputError: the folder is no build.
    """
    from parley.builds.sources import at_hand, source_folder
    from parley.verification.verify import verify as verify_build

    built = _opened(built)
    place = source_folder(source, "source=")
    files = None if built.is_sample else at_hand(built.dataset, place)
    return verify_build(built, files)


def load(
    name: str,
    config: str | None = None,
    split: str | None = None,
    *,
    build: str | Path | None = None,
    source: str | Path | None = None,
) -> "hf.Dataset | hf.DatasetDict":
    """Return the rows of one split, or of all splits of a config, in memory.

    Takes the build in the folder `build`. Without one, it takes the first of these places that has
    the rows in this version:

    1. the build `build/NAME`, if it is not of the sample, and `source` is not given;
    2. the build in the user's cache;
    3. the upstream files, which it builds into the cache: those in `source`, else in the folder
       that `PARLEY_SOURCE` names, else those of the cache, which it fetches.

    Every file is compared with the sha256, and the rows with the digest in the build's provenance.

    >>> parley.load("casino", "strategies", split="train").num_rows
    4615

    Args:
        name: A dataset listed by `list`.
        config: One of its configs, by default `dialogues`.
        split: A split such as "train", by default all of them.
        build: A folder of builds, which alone is looked into.
        source: The folder of upstream files, with one folder for each dataset.

    Raises:
        UsageError: no such dataset, config, split, build or source, or both build and source.
        SourceError: no place has the rows, or the named build does not; names each problem.
        OutputError: a file of the build is damaged, or the cache cannot be written.
    """
    from parley.builds.load import load_rows

    return load_rows(get(name), config, split, build, source)


def open(built: str | Path) -> "BuiltFolder":
    """Open a build; its `rows(config, split)` returns rows as dicts, which cannot be changed.

    `rows(config)` returns those of all splits.

    >>> parley.open("build/casino").rows("dialogues", "train")[0]["dialogue_id"]
    2001

    Args:
        built: The output of `parley build`: "build/NAME".

    Raises:
        OutputError: the folder is no build.
        UsageError: its dataset is unknown.
    """
    from parley.builds.built_folder import open_folder

    return open_folder(Path(built))


def questions(
    name: str,
    task: str,
    *,
    build: str | Path = "build",
    subset: str = "",
    limit: int = 0,
    ids: Collection[Any] = (),
    **options: str,
) -> builtins.list[dict[str, Any]]:
    """Return the questions of a task, to ask a model in a loop of your own.

    `score` takes the answers: {**question["key"], "answer": text} for each question.

    >>> first, *others = parley.questions("casino", "outcomes")
    >>> [*first["key"]]
    ['dialogue_id', 'speaker']

    Args:
        name: A dataset listed by `list`.
        task: A task of it that asks a model, and is no game.
        build: The folder of builds.
        subset: A published subset of the task.
        limit: The number of questions of a pilot, 0 for all.
        ids: The ids of the dialogues to ask about alone; none for all.
        options: Options of the task: at="turns".

    Returns:
        A dict for each question, those of a pilot first:

            {
                "key": {"dialogue_id": 683, ...},
                "messages": [
                    {"role": "system", "content": "..."},
                    {"role": "user", "content": "..."},
                ],
                "schema": {...},  # the JSON schema of the answer
                "target": {...},  # the right answer, or None: not to be sent to a model
                "pilot": 0,       # the first is in each pilot, the next in those of 2 or more
            }

    Raises:
        UsageError: no such dataset, task, option, subset, dialogue or build, or a task that cannot
            be asked so.
        OutputError: the build lacks a split that the task reads.
    """
    from parley.builds.built_folder import find_folder
    from parley.scoring.gold import Part
    from parley.scoring.questions import asked

    part = Part(subset, limit, ids=frozenset(map(str, _each(ids))))
    return asked(find_folder(Path(build), get(name)), task, options, part)


@naming_extras
def score(
    built: "BuiltFolder | str | Path",
    task: str,
    predictions: str | Path | Iterable[Any] | None = None,
    *,
    baseline: str = "",
    subset: str = "",
    limit: int = 0,
    ids: Collection[Any] = (),
    unreadable: str = "wrong",
    **options: str,
) -> "Result":
    """Return the score of predictions, or of a baseline, on a task.

    >>> result = parley.score("build/casino", "outcomes", baseline="commonest")
    >>> sorted(result.as_dict()["metrics"])
    ['likeness', 'mae', 'quadratic_kappa', 'satisfaction']

    Args:
        built: A build, or its path.
        task: A task of its dataset (`parley tasks` lists them).
        predictions: A file of predictions, a log, or predictions (`parley score --template`).
        baseline: A baseline of the task, instead of predictions.
        subset: A published subset of the task.
        limit: The number of questions of a pilot, 0 for all.
        ids: The ids of the dialogues to score alone; none for all.
        unreadable: What an unreadable prediction is: "wrong", or "drop" to score the others alone.
        options: Options of the task: topics="search".

    Returns:
        A result whose `as_dict()` has metrics, intervals, ends, coverage, counts and references.

    Raises:
        UsageError: no such task, option, subset, dialogue, baseline or policy, or no predictions.
        RecordError: the predictions have mistakes; names all of them.
        OutputError: the build lacks a split that the task reads.
    """
    from parley.models.logs import score_file
    from parley.scoring.evaluate import score as evaluate
    from parley.scoring.gold import Part

    built, part = _opened(built), Part(subset, limit, ids=frozenset(map(str, _each(ids))))
    if isinstance(predictions, str | Path) and not baseline:
        return score_file(built, task, options, str(predictions), part, unreadable)
    given: dict[str, Any] = {"predictions": predictions, "baseline": baseline}
    return evaluate(built, task, options, **given, part=part, policy=unreadable)


@naming_extras
def compare(
    *logs: str | Path,
    build: str | Path = "build",
    task: str = "",
    metrics: Collection[str] = (),
    subset: str = "",
    limit: int = 0,
    ids: Collection[Any] = (),
    unreadable: str = "wrong",
) -> "Comparisons":
    """Compare models by their logs or predictions, each with the first one of its task.

    >>> found = parley.compare("mine.jsonl", "other.jsonl", task="casino/outcomes")
    >>> mine, other = found.as_dict()["tasks"][0]["logs"]
    >>> other["differences"]["satisfaction"]["value"]
    0.0

    Args:
        logs: Logs of inspect, folders of them, or files of predictions.
        build: The folder of builds.
        task: The task of files, DATASET/TASK; by default that of the logs.
        metrics: Metrics or groups, by default those outside groups, and points.
        subset: As of `score`.
        limit: As of `score`.
        ids: As of `score`.
        unreadable: As of `score`.

    Returns:
        A comparison whose `as_dict()` is what `parley compare --json` prints:

            {
                "tasks": [
                    {
                        "task": "outcomes",
                        "logs": [{"metrics": {...}, "intervals": {...}, "differences": {...}}, ...],
                    }
                ],
                "left_out": [],  # which logs of folders are in no table, and why
            }

    Raises:
        UsageError: no such file, task, metric, subset, dialogue, build or policy, or files that do
            not state their task.
        RecordError: predictions or a log have mistakes; names all of them.
        OutputError: the build lacks a split that a task reads.
    """
    from parley.models.compare import compare_logs
    from parley.scoring.gold import Part

    part, paths = Part(subset, limit, ids=frozenset(map(str, _each(ids)))), [*map(Path, logs)]
    asked = _each(metrics), task, unreadable, part
    return compare_logs(Path(build), paths, lambda *_: None, *asked)


@naming_extras
def labels(
    built: "BuiltFolder | str | Path", config: str, *files: str | Path, annotator: str = "annotator"
) -> "Comparison":
    """Compare the labels of annotators with each other, and with those of a config.

    Values are read as the config declares its columns; other columns are codes of one's own.
    docs/labels.md lists the layouts. Intervals are over whole dialogues.

    >>> found = parley.labels("build/casino", "strategies", "ann1.csv", "ann2.csv")
    >>> sorted(found.as_dict()["annotators"])
    ['ann1', 'ann2']

    Args:
        built: A build, or its path.
        config: The config whose rows are labelled.
        files: Files of labels, of one person each, or with a column of annotators.
        annotator: The name of the column of annotators.

    Returns:
        A comparison whose `as_dict()` has counts, Krippendorff's alpha, Cohen's kappa and percent
        agreement (0 to 100) with intervals, and whose `differences()` are rows.

    Raises:
        UsageError: no such config or column, a file that is none of the layouts, or one of which
            nothing can be compared.
        RecordError: rows of a file are wrong; names all of them.
    """
    from parley.annotators.comparison import compare

    return compare(_opened(built), config, files, annotator)


@naming_extras
def connect(
    *builds: "BuiltFolder | str | Path", labels: str | Path | Collection[str | Path] = ()
) -> Any:
    """Return a connection of DuckDB in which each config of these builds is a table.

    `casino.strategies` has the rows of all splits, with the column `split`, and with the names of
    labels instead of their numbers. Nothing is copied. `describe` lists the labels of a column;
    the comments in `duckdb_columns()` hold the meanings. Of the files only their hashes are
    compared, when it connects: DuckDB believes their statistics, so verify a build of a stranger.
    DuckDB refuses any change of these tables. A statement of yours can write files all the same,
    also those of a build, and detach a table. A temporary table, and a file or data frame that a
    query names, can stand beside them.

    >>> with parley.connect("build/casino") as connection:
    ...     connection.sql("select split, count(*) from casino.strategies group by all").fetchall()
    [('train', 25)]

    Args:
        builds: Builds, their paths, or folders of builds; by default "build".
        labels: Files of labels of one build, as `labels` reads them: each is a table by its name
            without suffix, with the key, `annotator`, and columns as the config has them. A set of
            labels equals the dataset's own set as a list.

    Raises:
        UsageError: a folder is no build and holds none, two builds are of one dataset, or a file
            cannot be read as labels.
        RecordError: rows of a file of labels are wrong; names all of them.
        OutputError: a build is damaged, or a file of it is not readable Parquet.
        ModuleNotFoundError: DuckDB is not installed; says what to install.
    """
    from parley.builds.built_folder import BuiltFolder
    from parley.read.sql import builds_in
    from parley.read.sql import connect as connect_builds

    opened: builtins.list[BuiltFolder] = []
    for each in builds or ("build",):
        opened += [each] if isinstance(each, BuiltFolder) else builds_in(Path(each))
    connection = connect_builds(opened)
    if labels:
        from parley.annotators.tables import add_tables

        files = [labels] if isinstance(labels, str | Path) else [*labels]
        add_tables(connection, opened, files)
    return connection


@naming_extras
def browse(*builds: "BuiltFolder | str | Path", port: int = 0, open_browser: bool = True) -> None:
    """Show builds in a browser until it is interrupted, as by Ctrl-C; print the address.

    A dataset is read when its first page is opened. Only this machine can open the pages.

    >>> parley.browse("build/casino", "build/duo", open_browser=False)
    http://127.0.0.1:.../ shows them; Ctrl-C ends it

    Args:
        builds: Builds, or their paths.
        port: The port, by default any free one.
        open_browser: Whether to open the browser.

    Raises:
        UsageError: the port cannot be taken.
        OutputError: a folder is no build.
    """
    from parley.page.serve import browse as browse_builds

    browse_builds([*map(_opened, builds)], port=port, open_browser=open_browser)


def _opened(built: "BuiltFolder | str | Path") -> "BuiltFolder":
    return open(built) if isinstance(built, str | Path) else built


def _each(values: Collection[Any]) -> Collection[Any]:
    """Return values, of which a text is one, not its letters."""
    return (values,) if isinstance(values, str) else values
