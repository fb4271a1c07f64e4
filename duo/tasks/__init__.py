"""The task of DUO."""

from .agreement import AGREEMENT

TASKS = {"agreement": AGREEMENT}
