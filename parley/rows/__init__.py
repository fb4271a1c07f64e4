"""From source files to Parquet: strict reading, strict rows, digests, workers."""
