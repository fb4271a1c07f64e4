"""From a file to checked records, Arrow, Parquet and a digest."""
