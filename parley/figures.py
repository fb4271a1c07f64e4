"""The words of a dataset's `figures.py` and `checks.py`: documented and counted numbers, checks."""

from parley.building.figures import Data as Data
from parley.building.figures import Differs as Differs
from parley.building.figures import MissingSplitError as MissingSplitError
from parley.building.figures import check as check
from parley.building.figures import counted as counted
from parley.building.figures import differing as differing
from parley.building.figures import documented as documented
from parley.building.figures import mean_and_deviation as mean_and_deviation
from parley.building.figures import moses_tokenizer as moses_tokenizer

__all__ = sorted(name for name in dir() if not name.startswith("_"))
