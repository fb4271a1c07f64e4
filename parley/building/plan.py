"""The plan of a build: what makes each of its splits, asked of the source once."""

from parley.building.rows.split import SplitPlan
from parley.building.sources import Sources
from parley.source.reader import Reader


def plan(source: Sources) -> list[SplitPlan]:
    """Return the plan of each split whose files exist, in the order of the script.

    The plans share a reader, which checks each file once.
    """
    dataset, remedy, reader = source.dataset, source.remedy, Reader(source.folder)
    return [
        dataset.builder.plan(dataset.name, config, split, files, reader, remedy)
        for config, splits in dataset.splits.items()
        for split in splits
        if (files := source.files(config, split))
    ]


def split_plan(source: Sources, config: str, split: str) -> SplitPlan:
    """Return the plan of one split, whose files exist."""
    return next(each for each in plan(source) if each.name == (config, split))
