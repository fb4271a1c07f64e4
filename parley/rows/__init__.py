"""From checked records to rows, Arrow, Parquet and a digest; a build, opened."""
