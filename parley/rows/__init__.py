"""From source files to Parquet: strict reading, strict rows, digests, workers.

The package imports from `source`, but not from modules for cards, figures or builds.
"""
