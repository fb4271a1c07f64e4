"""Exports of a build."""
