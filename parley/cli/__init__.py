"""The command line: a module for each group of commands."""

from parley.cli import data, dataset, jobs, publish, read, score, sql  # noqa: F401 - each adds its commands
from parley.cli.common import app as app
from parley.cli.process import main as main
