"""Other engines read the same rows in order from a build, its copy on the Hub and its shards.

The tests compare the digest of each engine's rows, as Python values, with provenance.json.
"""

import json
import os
import re
import shutil
import sys

import generate
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from hub import Hub, _Handler
from huggingface_hub import HfFileSystem, constants, snapshot_download

from parley.build import build
from parley.collection import discover, get
from parley.rows.arrow import to_batch
from parley.rows.digest import Digest
from parley.rows.features import arrow_schema
from parley.source.files import Source

try:
    from huggingface_hub import close_session
except ImportError:  # before huggingface_hub 1.0 sessions are requests'
    from huggingface_hub.utils import reset_sessions as close_session

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
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
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


# Reading ----------------------------------------------------------------------------------
#
# Files are paths, or URLs of the Hub with the file system that knows it.


def read_duckdb(files, hf=None, columns=("*",)):
    with package("duckdb").connect() as connection:
        if hf:
            connection.register_filesystem(hf)
        query = f"select {', '.join(columns)} from read_parquet(?)"
        found = connection.execute(query, [files])
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def read_polars(files, hf=None, columns="*"):
    if hf:  # its own hf:// knows no other Hub than huggingface.co
        files = [
            re.sub("hf://(datasets/[^/]+/[^/]+)/", rf"{hf.endpoint}/\1/resolve/main/", file)
            for file in files
        ]
    return package("polars").scan_parquet(files).select(columns).collect().to_dicts()


def read_pandas(files, hf=None, columns=None):
    pandas = package("pandas")
    options = {"dtype_backend": "pyarrow", "columns": columns, "storage_options": storage(hf)}
    parts = [pandas.read_parquet(file, **options) for file in files]
    return pandas.concat(parts).to_dict("records")


def read_pyarrow(files, hf=None, columns=None):
    names = [file.removeprefix("hf://") for file in files]
    return pa.dataset.dataset(names, filesystem=hf).to_table(columns).to_pylist()


def read_dask(files, hf=None, columns=None):
    options = {"dtype_backend": "pyarrow", "columns": columns, "storage_options": storage(hf)}
    frame = package("dask.dataframe").read_parquet(files, **options)
    return frame.compute(scheduler="threads").to_dict("records")


def storage(hf):
    """Return what pandas and Dask make such a file system from."""
    if hf is None:
        return None
    own = {"endpoint": hf.endpoint, "block_size": hf.block_size}
    return {**own, "token": False, "skip_instance_cache": True}


@pytest.fixture
def read_spark(spark):
    def read(files):
        frame = spark.read.parquet(*files)
        if len(files) > 1:  # it takes them by size
            frame = frame.orderBy("_metadata.file_path", "_metadata.row_index")
        return frame.toArrow().to_pylist()

    return read


READ = {
    "duckdb": read_duckdb,
    "polars": read_polars,
    "pandas": read_pandas,
    "pyarrow": read_pyarrow,
    "dask": read_dask,
}


@pytest.fixture(params=[*READ, "spark"])
def read(request):
    """Each engine's function from files to rows."""
    return READ.get(request.param) or request.getfixturevalue("read_spark")


def splits(folder):
    """Yield (dataset, entry) for each split in a folder of built datasets."""
    for path in sorted(folder.glob("*/provenance.json")):
        for config in json.loads(path.read_text())["configs"].values():
            yield from ((path.parent.name, entry) for entry in config.values())


def holds(rows, name, entry):
    """Tell whether an engine's rows are those of a split of a dataset."""
    config, _ = entry["files"][0]["path"].split("/")
    schema = arrow_schema(get(name).features(config))
    digest = Digest(schema)
    digest.update(to_batch(list(rows), schema))
    return (digest.rows, digest.hexdigest()) == (entry["rows"], entry["digest"])


def differing(read, folder, root, *options):
    """Return the splits that an engine reads otherwise than they were written, and how many."""
    wrong, total = [], 0
    for name, entry in splits(folder):
        files = [f"{root}/{name}/{file['path']}" for file in entry["files"]]
        if not holds(read(files, *options), name, entry):
            wrong.append(files)
        total += 1
    return wrong, total


# Folders and the Hub ----------------------------------------------------------------------


def test_a_built_folder(read, sample_build):
    wrong, total = differing(read, sample_build, sample_build)
    assert not wrong
    assert total > 40


def test_the_real_data(read, real_build):
    wrong, total = differing(read, real_build, real_build)
    assert not wrong
    assert total > 40


@pytest.fixture
def hub(monkeypatch):
    """A Hub that this process may ask."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with Hub() as hub:
        yield hub
        close_session()


def file_system(hub, **options):
    return HfFileSystem(endpoint=hub.endpoint, token=False, skip_instance_cache=True, **options)


@pytest.mark.parametrize("engine", READ)
def test_the_hub(engine, hub, sample_build):
    for folder in sample_build.iterdir():
        hub.seed(f"org/{folder.name}", folder)
    wrong, total = differing(READ[engine], sample_build, "hf://datasets/org", file_system(hub))
    assert not wrong
    asked = {path for method, path, _ in hub.log if method == "GET" and "/resolve/" in path}
    assert len(asked) == total > 40


def test_a_snapshot_of_the_hub(read, hub, sample_build, tmp_path):
    """For what knows no hf://, and for the second time."""
    hub.seed("org/casino", sample_build / "casino", tags=["v1.0.0"])
    options = {"revision": "v1.0.0", "endpoint": hub.endpoint, "cache_dir": tmp_path / "cache"}
    folder = snapshot_download("org/casino", repo_type="dataset", token=False, **options)
    (tmp_path / "casino").symlink_to(folder)
    wrong, total = differing(read, tmp_path, tmp_path)
    assert not wrong
    assert total == sum(map(len, discover()["casino"].splits.values()))


# Shards -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    """A build with a large split in several shards, which are not all of one size."""
    return generated(tmp_path_factory.mktemp("cut"), 8600, max_shard_size=2_000_000)


def generated(folder, dialogues, **options):
    missing = sorted(set(get("cosrec").sources) - {generate.RAW})
    source = Source(get("cosrec"), generate.write(folder / "source", dialogues), missing=missing)
    build(source, folder / "build", **options)
    return folder / "build"


def test_shards(read, cut):
    assert len(list((cut / "cosrec/dialogues").glob("raw-*.parquet"))) >= 8
    wrong, total = differing(read, cut, cut)
    assert not wrong
    assert total == 2


@pytest.mark.parametrize("engine", READ)
def test_shards_on_the_hub(engine, hub, cut):
    hub.seed("org/cosrec", cut / "cosrec")
    wrong, total = differing(READ[engine], cut, "hf://datasets/org", file_system(hub))
    assert not wrong
    assert total == 2


@pytest.mark.parametrize("engine", READ)
def test_one_column_costs_few_bytes(engine, hub, tmp_path, monkeypatch):
    """Of a file on the Hub only the parts with the column are fetched, given a block size."""
    built = generated(tmp_path, 3000)
    hub.seed("org/cosrec", built / "cosrec")
    path = "dialogues/raw-00000-of-00001.parquet"
    send_header, sent = _Handler.send_header, []

    def count(self, name, value):
        if (self.command, name) == ("GET", "Content-Length") and path in self.path:
            sent.append(int(value))
        send_header(self, name, value)

    monkeypatch.setattr(_Handler, "send_header", count)
    files, columns = [f"hf://datasets/org/cosrec/{path}"], ["dialogue_id"]
    rows = READ[engine](files, file_system(hub, block_size=1 << 16), columns=columns)
    file = built / "cosrec" / path
    assert rows == pq.read_table(file, columns=columns).to_pylist()
    assert 0 < sum(sent) < file.stat().st_size / 10
