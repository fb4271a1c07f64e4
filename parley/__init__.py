"""Parley builds, checks and publishes dialogue datasets as Hub folders that load everywhere."""

__version__ = "1.0.0"
