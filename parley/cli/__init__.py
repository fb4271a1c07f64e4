"""The command line: modules of commands, each imported when one of its commands is run."""

from parley.cli.commands import app as app
from parley.cli.process import main as main
