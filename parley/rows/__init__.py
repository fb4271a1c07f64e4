"""From checked files to Parquet: strict reading, strict rows, digests, workers.

Its arrows run down, to `source` for the files; it knows no card, figure or built folder.
"""
