"""Checks of a build, and the differences of two."""
