"""Test every rule on a dataset folder and collect all problems."""

from collections.abc import Callable, Iterator

from parley.base.replace import temporary_folder
from parley.declaration.registry import Dataset
from parley.verification import card_rules, folder_rules, task_rules
from parley.verification.dataset_folder import DatasetFolder
from parley.verification.results import Check, Found, run_check
from parley.verification.verify import OnStep

Rule = Callable[[DatasetFolder], Iterator[Found]]

RULES: tuple[Rule, ...] = (
    folder_rules.modules_load,
    folder_rules.every_field_has_a_meaning,
    folder_rules.views_are_of_dialogues,
    folder_rules.measured_is_up_to_date,
    card_rules.card_can_be_read,
    card_rules.card_has_its_parts,
    card_rules.placeholders_are_replaced,
    card_rules.card_has_the_form_of_the_hub,
    card_rules.card_is_up_to_date,
    folder_rules.sample_builds,
    folder_rules.sample_shows_each_alternative,
    folder_rules.sample_verifies,
    folder_rules.figures_compute,
    folder_rules.transcript_lays_out_every_row,
    folder_rules.charts_are_drawn,
    folder_rules.exports_write_the_sample,
    task_rules.tasks_score_the_sample,
    task_rules.tasks_ask_for_right_answers,
)
# by all rules after them
_NEEDED = {folder_rules.modules_load, card_rules.card_can_be_read, folder_rules.sample_builds}


def check_folder(dataset: Dataset, on_step: OnStep = lambda dataset, step: None) -> list[Check]:
    """Test every rule on a dataset folder; `on_step` takes its name and the rule to test next."""
    checks: list[Check] = []
    skipped = ""
    with temporary_folder("check") as work:
        folder = DatasetFolder(dataset, work)
        for rule in RULES:
            words = rule.__name__.replace("_", " ")
            on_step(dataset.name, words)
            checks.append(run_check(rule, folder, skipped=skipped))
            if rule in _NEEDED and checks[-1].failed:
                skipped = f"not tested until this rule holds: {words}"
    return checks
