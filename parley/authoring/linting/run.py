"""Test every rule on a dataset folder and collect all problems."""

from collections.abc import Callable, Iterator

from parley.authoring.linting import card_rules, folder_rules, sample_rules
from parley.authoring.linting.dataset_folder import DatasetFolder
from parley.base.temporary import temporary_folder
from parley.building.registry import Dataset
from parley.verifying.check import Check, OnStep, run_check

Rule = Callable[[DatasetFolder], Iterator[str]]

_SCRIPT = (folder_rules.script_declares, folder_rules.modules_load)
_CARD = (folder_rules.script_declares, card_rules.card_can_be_read)
_SAMPLE = (folder_rules.sample_builds,)
# rule -> the earlier rules that it needs
RULES: dict[Rule, tuple[Rule, ...]] = {
    folder_rules.script_declares: (),
    folder_rules.script_opens_with_what_it_is: (folder_rules.script_declares,),
    folder_rules.every_field_has_a_meaning: (folder_rules.script_declares,),
    sample_rules.views_are_of_dialogues: (folder_rules.script_declares,),
    folder_rules.sources_have_addresses: (folder_rules.script_declares,),
    folder_rules.modules_load: (folder_rules.script_declares,),
    folder_rules.measured_is_up_to_date: _SCRIPT,
    card_rules.card_can_be_read: (),
    card_rules.card_has_its_parts: (*_CARD, folder_rules.modules_load),
    card_rules.placeholders_are_replaced: _CARD,
    card_rules.card_is_valid_for_the_hub: _CARD,
    card_rules.card_is_up_to_date: (*_CARD, folder_rules.modules_load),
    folder_rules.sample_builds: (*_SCRIPT, card_rules.card_can_be_read),
    sample_rules.sample_shows_each_alternative: _SAMPLE,
    folder_rules.records_stay_as_they_are: _SAMPLE,
    folder_rules.missing_is_null: _SAMPLE,
    folder_rules.sample_verifies: _SAMPLE,
    folder_rules.figures_compute: _SAMPLE,
    sample_rules.transcript_lays_out_every_row: _SAMPLE,
    folder_rules.exports_write_the_sample: _SAMPLE,
    folder_rules.tasks_score_the_sample: _SAMPLE,
}


def check_each(folders: list[Dataset], on_step: OnStep) -> Iterator[tuple[str, list[Check]]]:
    """Test several dataset folders; yield the name and the results of each.

    `on_step` takes a dataset's name and the rule to test next.
    """
    with temporary_folder("check") as place:
        for dataset in folders:
            work = place / dataset.name
            work.mkdir()
            yield dataset.name, check_folder(DatasetFolder(dataset, work), on_step)


def check_folder(
    folder: DatasetFolder, on_step: OnStep = lambda dataset, step: None
) -> list[Check]:
    """Test every rule on a dataset folder."""
    found: dict[Rule, Check] = {}
    for rule, needed in RULES.items():
        on_step(folder.dataset.name, rule.__name__.replace("_", " "))
        lacking = [each for each in needed if found[each].failed or found[each].skipped]
        words = lacking[-1].__name__.replace("_", " ") if lacking else ""
        skipped = f"not tested until this rule holds: {words}" if lacking else ""
        found[rule] = run_check(rule, folder, skipped=skipped)
    return [*found.values()]
