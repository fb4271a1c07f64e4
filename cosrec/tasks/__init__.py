"""The tasks of CoSRec."""

from .intents import INTENTS
from .retrieval import RETRIEVAL

TASKS = {"retrieval": RETRIEVAL, "intents": INTENTS}
