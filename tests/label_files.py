"""Files of labels that tests write."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

KEYS = ("dialogue_id", "turn")


def only(rows, *names):
    """Return the rows with these columns alone."""
    return [{name: row[name] for name in names} for row in rows]


def write_file(path, rows, separator=",", encoding="utf-8"):
    """Write rows as CSV, Parquet or JSON Lines, by the name."""
    if path.suffix == ".csv":
        pd.DataFrame(rows).to_csv(path, sep=separator, encoding=encoding, index=False)
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("\n".join(map(json.dumps, rows)), encoding=encoding)
    return path
