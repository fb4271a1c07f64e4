"""Tests a dataset folder against its rules: `parley check`."""
