"""The tasks of CraigslistBargains, a file each."""

from .deal import DEAL
from .deals import DEALS

TASKS = {"deal": DEAL, "deals": DEALS}
