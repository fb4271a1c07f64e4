"""The shapes of records and rows: they check values, convert them, and give features."""
