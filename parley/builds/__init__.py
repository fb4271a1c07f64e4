"""A whole build: rows, card and measured values."""
