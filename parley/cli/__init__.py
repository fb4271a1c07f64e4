"""The command line: a module for each command, imported when the command is run."""

from parley.cli.commands import app as app
from parley.cli.process import main as main
