"""A whole build: rows, card, questions and measured values."""
