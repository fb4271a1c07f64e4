"""Upstream files: their pins, how they are fetched, and how their records are read."""
