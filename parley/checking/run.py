"""Runs every check over a dataset folder: a line a check, and all problems at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import datasets
from datasets.utils import are_progress_bars_disabled

from parley.checking import beside, card, sample, script
from parley.checking.subject import Subject, lines_of, one_line
from parley.collection import Dataset
from parley.errors import ParleyError
from parley.figures import definition_of
from parley.folder.verify import Check, OnStep
from parley.temporary import temporary_folder

SECONDS = 120  # that one check may take; over a sample of a few records all together take some
Checker = Callable[[Subject], Iterator[str]]

_SCRIPT = (script.script_loads,)
_CARD = (*_SCRIPT, card.card_can_be_read)
_SAMPLE = (sample.sample_builds,)
# check -> those before it without which it can say nothing
CHECKS: dict[Checker, tuple[Checker, ...]] = {
    script.script_opens_with_what_it_is: (),
    script.script_stands_alone: (),
    script.folder_shadows_nothing: (),
    script.script_loads: (),
    script.sources_are_pinned: _SCRIPT,
    script.configs_agree: _SCRIPT,
    script.info_is_complete: _SCRIPT,
    beside.modules_load: _SCRIPT,
    beside.jobs_say_what_they_do: (beside.modules_load,),
    card.card_can_be_read: (),
    card.card_has_its_parts: (*_CARD, beside.modules_load),
    card.card_is_valid_for_the_hub: (card.card_can_be_read,),
    card.card_describes_every_field: _CARD,
    card.card_shows_a_row: _CARD,
    card.card_cites: _CARD,
    card.card_is_up_to_date: (*_CARD, script.info_is_complete, beside.modules_load),
    card.card_tells_of_the_tasks: (card.card_can_be_read, beside.modules_load),
    sample.sample_is_there: _SCRIPT,
    sample.sample_builds: (
        sample.sample_is_there,
        script.info_is_complete,
        beside.modules_load,
        card.card_can_be_read,
    ),
    sample.rows_go_back_to_records: _SAMPLE,
    sample.records_stay_as_they_are: _SAMPLE,
    sample.shapes_refuse_what_they_do_not_know: _SAMPLE,
    sample.missing_is_null: _SAMPLE,
    sample.keys_tell_rows_apart: _SAMPLE,
    sample.sample_verifies: _SAMPLE,
    sample.script_alone_makes_the_same_rows: _SAMPLE,
    sample.downloads_are_compared_with_their_pins: (script.info_is_complete,),
    sample.folder_loads: _SAMPLE,
    beside.figures_compute: _SAMPLE,
    beside.transcript_lays_out_every_row: _SAMPLE,
    beside.exports_write_the_sample: _SAMPLE,
    beside.tasks_score_the_sample: _SAMPLE,
    card.card_counts_the_real_data: (*_SAMPLE, card.card_is_up_to_date),
}
NEEDS_REAL_FILES = card.card_counts_the_real_data


def check_each(
    folders: list[Dataset], sources: Path | None, on_step: OnStep
) -> Iterator[tuple[str, list[Check]]]:
    """Check several dataset folders; yield the name of each with its checks.

    Args:
        folders: The datasets.
        sources: A folder of real upstream files, one folder a dataset; None to do without.
        on_step: Called with a dataset's name and what is about to be checked of it.
    """
    with temporary_folder("check") as folder, _quiet():
        for dataset in folders:
            work = folder / dataset.name
            work.mkdir()
            yield dataset.name, check_folder(Subject(dataset, work, sources=sources), on_step)


@contextmanager
def _quiet() -> Iterator[None]:
    """Let `datasets` show no bars, say nothing of its own, and stay off the network."""
    bars, level = are_progress_bars_disabled(), datasets.logging.get_verbosity()
    offline = datasets.config.HF_HUB_OFFLINE
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity_error()
    datasets.config.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE = offline
        datasets.logging.set_verbosity(level)
        if not bars:
            datasets.enable_progress_bars()


def check_folder(subject: Subject, on_step: OnStep = lambda dataset, step: None) -> list[Check]:
    """Make every check of a dataset folder that can be made.

    Args:
        subject: The folder.
        on_step: Called with the dataset's name and what is about to be checked.
    """
    found: dict[Checker, Check] = {}
    for check, needed in CHECKS.items():
        on_step(subject.name, check.__name__.replace("_", " "))
        skipped = ""
        if check is NEEDS_REAL_FILES and subject.sources is None:
            skipped = "name the upstream files with --source"
        for each in needed:
            if found[each].failed or found[each].skipped:
                skipped = f"first mend what fails in: {each.__name__.replace('_', ' ')}"
        found[check] = made(check, subject, skipped)
    return [*found.values()]


def made(check: Checker, subject: Subject, skipped: str = "") -> Check:
    """Make one check, unless it is to be skipped."""
    problems: list[str] = []
    if not skipped:
        try:
            with _limited():
                problems = list(check(subject))
        except ParleyError as error:
            problems = list(lines_of(error))
        except Exception as error:  # what no check expects must not hide the rest
            problems = [one_line(f"cannot be checked: {type(error).__name__}: {error}")]
    return Check(check.__name__, definition_of(check), problems, skipped)


@contextmanager
def _limited() -> Iterator[None]:
    """Raise TimeoutError in a block that takes too long, where the system can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(signum: int, frame: object) -> None:
        raise TimeoutError(
            f"it takes more than {SECONDS} seconds; keep the sample small, and look for a loop "
            "that does not end"
        )

    usual = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, usual)
