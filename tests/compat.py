"""Run an installed Parley, and load its builds, with other versions of `datasets`.

    python tests/compat.py                     all versions
    VERSIONS="3.6.0 newest" python tests/compat.py

Each environment has the wheel and a version of `datasets`, as pip installs them. Its Parley builds
the samples, verifies one and publishes all to a local Hub. With every name of tests/loader_files.py
that may stand there, `datasets` loads every split from the Hub, streams it, and loads it from its
folder; Parley's own ways are `parley.load`'s, the builder class, and before datasets 4 the script,
which `load_dataset` runs. Another build never gives rows of this one. With PARLEY_SOURCE, it loads
the real builds, too.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import loader_files
from processes import python

import parley

VERSIONS = os.environ.get("VERSIONS", "2.21.0 3.6.0 4.0.0 newest").split()
OLDEST_DUCKDB = "duckdb==1.5.*"  # of those that run the SQL of a selection
HOME = Path(__file__).resolve().parent.parent
UV = str(Path(sys.executable).with_name("uv"))


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subprocess.run([UV, "build", "--quiet", "--wheel", "--out-dir", folder, HOME], check=True)
        if os.environ.get("PARLEY_SOURCE"):
            python("-m", "parley", "build", "--allow-missing", "--build", folder / "real")
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # processes do the work
            list(pool.map(lambda version: check_version(version, folder), VERSIONS))


def check_version(version, folder):
    """Use Parley in an environment with this version of `datasets`, as its users do."""
    import publish_without_checks
    from local_hub import Hub

    own, start = environment(version, folder), time.perf_counter()
    place = folder / version
    sample = place / "sample"
    with Hub() as hub:
        hub.tokens["hf_compat"] = "write"
        environ = hub.environ(place / "home", "hf_compat") | {
            "HF_DATASETS_TRUST_REMOTE_CODE": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",  # datasets 2 counts loads elsewhere
            "PARLEY_CACHE": str(place / "cache"),
        }

        def run(*args):  # in a folder without Parley's source
            python(*args, "--build", sample, executable=own, env=environ, cwd=folder)

        run("-m", "parley", "build", "--sample")
        run("-m", "parley", "verify", "casino")
        plant(sample, hub)
        for name in parley.list():
            run(publish_without_checks.__file__, "publish", name, "--repo", f"org/{name}")
        require_listed(own, version, sample / "casino")
        check = [own, __file__, "check", sample, folder / "real"]
        subprocess.run(check, check=True, env=environ)
    print(f"datasets {version}: {time.perf_counter() - start:.0f} s", flush=True)


def plant(sample, hub):
    """Plant names of others in every build and repository where they may stand."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    evil = pa.BufferOutputStream()
    pq.write_table(pa.table({"evil": [1]}), evil)
    for path in sample.iterdir():
        names = loader_files.contents(path.name, evil.getvalue().to_pybytes())
        write(path, {name: names[name] for name in loader_files.KNOWN})
        with tempfile.TemporaryDirectory() as empty:
            hub.seed(f"org/{path.name}", empty)
        hub.push(f"org/{path.name}", {name: names[name] for name in loader_files.LEFT})


def write(folder, files):
    for name, body in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)


def require_listed(python, version, sample):
    """Exit unless `verify` refuses the names that this version reads, and the list has them."""
    from parley.builds.built_folder import open_folder
    from parley.verification.folder_checks import files

    done = subprocess.run([python, loader_files.__file__], check=True, capture_output=True)
    listed, suffixes = json.loads(done.stdout)
    if unknown := set(listed) - loader_files.NAMES.keys():
        names = ", ".join(sorted(unknown))
        sys.exit(f"datasets {version} reads {names}: see tests/loader_files.py")
    names = {f"dialogues/train-{number}{each}": b"" for number, each in enumerate(suffixes)}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(sample, Path(folder) / "casino"))
        write(copy, names)
        found = set(files(open_folder(copy)))
    if taken := {f"{name}: unknown file" for name in names} - found:
        sys.exit(f"datasets {version}: `verify` takes {taken}")


def environment(version, folder):
    """Make or reuse an environment with the wheel and this version; return its Python."""
    home = HOME / ".compat" / version
    own = str(home / "bin" / "python")
    wanted = "datasets" if version == "newest" else f"datasets=={version}"
    if not Path(own).exists():
        subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, home], check=True)
    install = [UV, "pip", "install", "--quiet", "--python", own, "--upgrade", wanted, OLDEST_DUCKDB]
    subprocess.run([*install, *folder.glob("*.whl")], check=True)
    return own


def check(sample, real):
    """Compare all splits; runs in an environment of `environment`."""
    import datasets
    import pyarrow.parquet as pq
    import yaml

    yaml.SafeLoader = yaml.CSafeLoader  # a card is read hundreds of times
    datasets.disable_progress_bars()
    datasets.config.USE_PARQUET_EXPORT = False  # datasets 2 would ask the dataset viewer
    counts = []
    with tempfile.TemporaryDirectory() as cache:
        datasets.config.HF_DATASETS_CACHE = Path(cache)
        datasets.config.HF_MODULES_CACHE = cache
        for file in sorted(sample.glob("*/*/*.parquet")):
            rows = pq.read_table(file).to_pylist()
            for way, loaded in ways(datasets, file, cache):
                compare(list(loaded), rows, f"{file} by {way}")
            if not counts:
                loads_what_was_recorded(datasets, file, rows, cache)
            counts.append(len(rows))
        for file in real.glob("*/*/*-of-*"):
            loaded = load(datasets, file.parents[1], file, cache).with_format("arrow")[:]
            plain = [each.replace_schema_metadata() for each in (loaded, pq.read_table(file))]
            if not plain[0].equals(plain[1]):
                sys.exit(f"{file}: other rows")
            counts.append(len(loaded))
    print(f"datasets {datasets.__version__}: {len(counts)} splits, {sum(counts):,} rows are equal")
    selects_by_sql(sample / "casino")


def selects_by_sql(build):
    """Run the SQL of a selection on the page, and that of its tables, in DuckDB alone."""
    import duckdb

    from parley.read.sql import view_of

    sql, made = Path(__file__).with_name("selection.sql").read_text(), duckdb.connect()
    made.execute("create schema casino")
    for config in ("dialogues", "utterances", "participants", "strategies", "results"):
        made.execute(view_of(parley.open(build), config, build))
    found = ", ".join(str(id) for (id,) in made.execute(sql).fetchall())
    if not sql.endswith(f"-- finds {found}\n"):
        sys.exit(f"DuckDB {duckdb.__version__} finds {found} by tests/selection.sql")


def load(datasets, place, file, cache, **options):
    split, config = file.name.split("-")[0], file.parent.name
    return datasets.load_dataset(str(place), config, split=split, cache_dir=cache, **options)


def ways(datasets, file, cache):
    from parley.builds.load import load_splits

    folder, config, split = file.parents[1], file.parent.name, file.name.split("-")[0]
    version = "v" + json.loads((folder / "provenance.json").read_text())["version"]
    repo = f"org/{folder.name}"
    yield "the Hub", load(datasets, repo, file, cache, revision=version)
    yield "the Hub, streamed", load(datasets, repo, file, cache, revision=version, streaming=True)
    yield "its folder", load(datasets, folder, file, cache)
    yield "Parley", load_splits(parley.open(folder), config, [split])[split]
    dataset = parley.dataset(folder.name)
    data = {"data_dir": str(dataset.sample)}
    builder = dataset.builder(config_name=config, cache_dir=cache, **data)
    yield "its class", builder.as_streaming_dataset(split)
    if int(datasets.__version__.split(".")[0]) < 4:
        options = data | {"streaming": True, "trust_remote_code": True}
        yield "its script", load(datasets, dataset.folder, file, cache, **options)


def loads_what_was_recorded(datasets, file, rows, cache):
    """Load a split after another build of equal sizes."""
    import pyarrow.parquet as pq

    folder, home = file.parents[1], Path(cache)
    copy = Path(shutil.copytree(folder, home / "other" / folder.name))
    card, other = copy / "README.md", copy / file.relative_to(folder)
    provenance = json.loads((copy / "provenance.json").read_text())
    stated = provenance["configs"][file.parent.name][file.name.split("-")[0]]
    pq.write_table(pq.read_table(file).take([*range(len(rows))][::-1]), other)
    text = card.read_text(encoding="utf-8")
    card.write_text(text.replace(stated["digest"], "0" * 64), encoding="utf-8")
    for place, due in ((copy, rows[::-1]), (folder, rows), (copy, rows[::-1])):
        compare(list(load(datasets, place, file, cache)), due, f"{place} in turn with another")
    shutil.copy(file, other)
    again = load(datasets, copy, file, cache, download_mode="force_redownload")
    compare(list(again), rows, f"{copy} loaded again by force")


def compare(loaded, rows, what):
    if loaded != rows:
        pairs = enumerate(zip(loaded, rows, strict=False))
        first = next((f"row {n}: {a} is not {b}" for n, (a, b) in pairs if a != b), "")
        sys.exit(f"{what}: expected {len(rows)} rows, found {len(loaded)}. {first[:2000]}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        check(*map(Path, sys.argv[2:]))
    else:
        main()
