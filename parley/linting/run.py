"""Runs every check over a dataset folder: a line a check, and all problems at once."""

from collections.abc import Callable, Iterator

from parley.collection import Dataset
from parley.errors import ParleyError
from parley.figures import definition_of
from parley.folder.verify import Check, OnStep
from parley.linting import card_rules, folder_rules
from parley.linting.subject import NotYetError, Subject, lines_of, one_line
from parley.temporary import temporary_folder

Checker = Callable[[Subject], Iterator[str]]

_SCRIPT = (folder_rules.script_declares, folder_rules.modules_load)
_CARD = (folder_rules.script_declares, card_rules.card_can_be_read)
_SAMPLE = (folder_rules.sample_builds,)
# check -> those before it without which it can say nothing
CHECKS: dict[Checker, tuple[Checker, ...]] = {
    folder_rules.script_declares: (),
    folder_rules.script_opens_with_what_it_is: (folder_rules.script_declares,),
    folder_rules.sources_have_addresses: (folder_rules.script_declares,),
    folder_rules.modules_load: (folder_rules.script_declares,),
    card_rules.card_can_be_read: (),
    card_rules.card_has_its_parts: (*_CARD, folder_rules.modules_load),
    card_rules.card_is_valid_for_the_hub: (card_rules.card_can_be_read,),
    card_rules.card_describes_every_field: _CARD,
    card_rules.card_shows_a_row: _CARD,
    card_rules.card_cites: _CARD,
    card_rules.card_is_up_to_date: (*_CARD, folder_rules.modules_load),
    folder_rules.sample_builds: (*_SCRIPT, card_rules.card_can_be_read),
    folder_rules.records_stay_as_they_are: _SAMPLE,
    folder_rules.missing_is_null: _SAMPLE,
    folder_rules.views_show_every_dialogue: _SAMPLE,
    folder_rules.sample_verifies: _SAMPLE,
    folder_rules.figures_compute: _SAMPLE,
    folder_rules.transcript_lays_out_every_row: _SAMPLE,
    folder_rules.exports_write_the_sample: _SAMPLE,
    folder_rules.tasks_score_the_sample: _SAMPLE,
}


def check_each(folders: list[Dataset], on_step: OnStep) -> Iterator[tuple[str, list[Check]]]:
    """Check several dataset folders; yield the name of each with its checks.

    Args:
        folders: The datasets.
        on_step: Called with a dataset's name and what is about to be checked of it.
    """
    with temporary_folder("check") as place:
        for dataset in folders:
            work = place / dataset.name
            work.mkdir()
            yield dataset.name, check_folder(Subject(dataset, work), on_step)


def check_folder(subject: Subject, on_step: OnStep = lambda dataset, step: None) -> list[Check]:
    """Make every check of a dataset folder that can be made.

    Args:
        subject: The folder.
        on_step: Called with the dataset's name and what is about to be checked.
    """
    found: dict[Checker, Check] = {}
    for check, needed in CHECKS.items():
        on_step(subject.dataset.name, check.__name__.replace("_", " "))
        skipped = ""
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
            for problem in check(subject):
                problems.append(problem)
        except NotYetError as error:
            skipped = one_line(str(error))
        except ParleyError as error:
            problems += lines_of(error)
        except Exception as error:  # what no check expects must not hide the rest
            problems.append(one_line(f"cannot be checked: {type(error).__name__}: {error}"))
    return Check(check.__name__, definition_of(check), problems, skipped)
