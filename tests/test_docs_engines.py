"""Other engines read the same rows in order from a build and its shards.

test_docs.py reads from the Hub with each.
"""

import json
import os
import shutil
import sys
from functools import partial

import datasets
import pyarrow as pa
import pyarrow.dataset
import pytest

import parley

# None of these is about what is read: PySpark and Dask do not suit pandas 3 in all they do, and
# PySpark 4.0 leaves it to Python to close the sockets that rows come through.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


def package(name):
    return pytest.importorskip(name, reason="the extra `engines` is not installed")


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """One Spark on two cores for all tests of the module."""
    package("pyspark")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Spark needs Java 17 or newer, which the extra `engines` cannot bring")
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    options = {
        "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g", "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": "2", "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false"
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        gateway = session.sparkContext._gateway
        session.stop()
        # Java would stay until Python ends
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(60)
        SparkContext._gateway = SparkContext._jvm = None


def read_duckdb(files):
    with package("duckdb").connect() as connection:
        found = connection.execute("select * from read_parquet(?)", [files])
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def read_polars(files):
    return package("polars").scan_parquet(files).collect().to_dicts()


def read_pandas(files):
    pandas = package("pandas")
    parts = [pandas.read_parquet(file, dtype_backend="pyarrow") for file in files]
    return pandas.concat(parts).to_dict("records")


def read_pyarrow(files):
    return pa.dataset.dataset(files).to_table().to_pylist()


def read_datasets(files):
    given = {"split": "train", "streaming": True}
    return list(datasets.load_dataset("parquet", data_files=files, **given))


def read_dask(files):
    frame = package("dask.dataframe").read_parquet(files, dtype_backend="pyarrow")
    return frame.compute(scheduler="threads").to_dict("records")


def read_spark(spark, files):
    frame = spark.read.parquet(*files)
    if len(files) > 1:  # it takes them by size
        frame = frame.orderBy("_metadata.file_path", "_metadata.row_index")
    return frame.toArrow().to_pylist()


READ = {
    "duckdb": read_duckdb, "polars": read_polars, "pandas": read_pandas, "pyarrow": read_pyarrow,
    "dask": read_dask, "datasets": read_datasets
}  # fmt: skip


@pytest.fixture(params=[*READ, "spark"])
def read(request):
    """Each engine's function from files to rows."""
    return READ.get(request.param) or partial(read_spark, request.getfixturevalue("spark"))


@pytest.mark.parametrize("builds", ["sample_build", "shards"])
def test_every_split_has_the_rows_that_were_written(read, builds, request):
    builts = [parley.open(path) for path in sorted(request.getfixturevalue(builds).glob("*/"))]
    assert all(built.declared_splits for built in builts)
    for built in builts:
        for place in built.declared_splits:
            rows = read([str(path) for path in built.files(*place)])
            due = list(built.each_row(*place))
            assert json.dumps(rows) == json.dumps(due), place  # 1 is neither 1.0 nor true
