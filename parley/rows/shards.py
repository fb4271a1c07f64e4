"""The names of a split's Parquet files, called shards."""


def shard_names(split: str, count: int) -> list[str]:
    """Return `SPLIT-00000-of-00002.parquet` and so on, in the order of the rows."""
    return [f"{split}-{number:05d}-of-{count:05d}.parquet" for number in range(count)]
