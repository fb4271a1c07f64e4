"""The card of a built catalogue: description, columns, terms and counts."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import yaml

from .sources import STATED
from .tables import SCHEMAS

_PROSE = """
# CoSRec's product catalogue

Products and their reviews from Amazon Reviews 2023 (McAuley Lab), filtered by the rules of CoSRec's
`catalogue_preprocessing.py`. CoSRec's judgments name recommended products by `parent_asin`. The
command `parley run cosrec catalogue` built this folder from the raw files. `provenance.json` has
their hashes, `counts.json` the number of lines that each rule refused, by category.

A split is a category: `load_dataset(FOLDER, "products", split="Books")`, or `split="all"`.

- `products`, by `parent_asin`: title, description (with the features after it), details (JSON),
  categories, store, price, `num_ratings` and `avg_ratings` of the metadata. `stars_1` to
  `stars_5` count the reviews' ratings, `star_count` and `star_mean` are their number and mean (null
  without any), `review_count` is the number of kept reviews.
- `reviews`, by product and time: `timestamp` is in milliseconds, `rating` in whole stars.
- `num_valid_ratings` and `avg_valid_ratings` are the faulty values of CoSRec's script: always 5,
  and a fifth of the sum of the stars. Use `star_count` and `star_mean`.
- `exact` is JSON with the values that a column cannot hold, under upstream's names: a lone
  surrogate (U+FFFD in the column), an integer of more than 64 bits (null), or `true` for an integer
  (1). Otherwise it is null.

## Licence and terms

Amazon Reviews 2023 states no licence; its authors publish it for research. The texts belong to
Amazon's customers and sellers, and some reviewers write about themselves. Use it for research, cite
Hou et al. 2024 (Bridging Language and Items for Retrieval and Recommendation), and do not publish
this folder. Publish the hashes in `provenance.json` and the command instead.
"""


def render(
    categories: Mapping[str, Any], counts: Mapping[str, Any], given: Mapping[str, Any]
) -> str:
    """Return the card, from the categories and options of provenance.json and the other files."""
    configs = []
    for table in SCHEMAS:
        files = [
            {"split": name, "path": f"{table}/{name}-*.parquet"}
            for name, entry in categories.items()
            if entry[table]["rows"]
        ]
        if files:
            default = table == "products"
            configs.append({"config_name": table, "default": default, "data_files": files})
    front = {
        "license": "unknown",
        "language": ["en"],
        "pretty_name": "CoSRec's product catalogue",
        "configs": configs,
    }
    head = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=1000)
    parts = [_PROSE, "## Counts\n", _table(counts)]
    if given["skip_broken"]:
        parts.append("Broken lines were skipped.\n")
    return f"---\n{head}---\n" + "\n".join(parts)


def _table(counts: Mapping[str, Any]) -> str:
    columns = ("read", "documented", "kept")
    lines = [
        f"| category | products {' | '.join(columns)} | reviews {' | '.join(columns)} |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(_line(name, [count]) for name, count in counts.items()),
        _line("**all**", counts.values()),
    ]
    return "".join(f"{line}\n" for line in lines)


def _line(name: str, counts: Iterable[Mapping[str, Any]]) -> str:
    """Return a line of the table; documented numbers are of a category's raw files."""
    cells = []
    for table, stated in zip(SCHEMAS, STATED.get(name, (None, None)), strict=True):
        read, kept = (sum(count[table][what] for count in counts) for what in ("read", "kept"))
        cells += [f"{read:,}", _stated(stated), f"{kept:,}"]
    return f"| {name} | {' | '.join(cells)} |"


def _stated(value: int | str | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"about {Decimal(value):,f}"
