"""Load builds in fresh environments with other versions of `datasets`.

    python tests/compat.py                     all versions
    VERSIONS="3.6.0 newest" python tests/compat.py

Builds the samples and publishes them to a local Hub. Builds and repositories also hold every name
of tests/planted.py that `verify` or `publish` lets stand; all others must be refused. Each
environment loads every split and compares it row by row, and streams it through its script: before
datasets 4 a loading script, later an imported class. A process that reads one streamed row must
exit cleanly. Another build or a damaged file never gives rows of this one, where docs/using.md says
so. If PARLEY_SOURCE is set, each environment loads the real builds, too.
"""

import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import planted

VERSIONS = os.environ.get("VERSIONS", "2.21.0 3.6.0 4.0.0 newest").split()
HOME = Path(__file__).resolve().parent.parent


def main():
    """Build, make the environments, and run `check` in each."""
    from hub import Hub, User

    with tempfile.TemporaryDirectory() as folder, Hub() as hub:
        folder = Path(folder)
        hub.tokens["hf_compat"] = User("compat", orgs=("org",))
        job = build(folder)
        real = folder / "real"
        if os.environ.get("PARLEY_SOURCE"):
            command = [sys.executable, "-m", "parley", "build", "--allow-missing", "--build", real]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            subprocess.run(command, check=True, **quiet)
        plant(folder, hub)
        # publish without the checks of the command, which refuses samples
        environ = hub.environ(folder / "home", "hf_compat")
        subprocess.run([sys.executable, __file__, "publish", folder], check=True, env=environ)

        def run(version):
            python, start = environment(version), time.perf_counter()
            require_listed(python, version, folder / "build" / "casino")
            environ = hub.environ(folder / version) | {
                "HF_DATASETS_TRUST_REMOTE_CODE": "1",
                "HF_UPDATE_DOWNLOAD_COUNTS": "0",  # datasets 2 counts loads elsewhere
                "PYTHONPATH": str(HOME),  # scripts import parley
            }
            subprocess.run([python, __file__, "check", job, real], check=True, env=environ)
            print(f"datasets {version}: {time.perf_counter() - start:.0f} s", flush=True)

        with ThreadPoolExecutor(os.cpu_count()) as pool:  # processes do the work
            list(pool.map(run, VERSIONS))


def build(folder):
    """Build the samples and write the rows that loading must give."""
    import pyarrow.parquet as pq

    from parley.building.registry import discover

    command = [sys.executable, "-m", "parley", "build", "--sample", "--questions", "--build"]
    subprocess.run([*command, folder / "build"], check=True, stderr=subprocess.DEVNULL)
    splits = [
        (str(path.parents[1]), path.parent.name, path.name.split("-")[0], str(path),
         pq.read_table(path).to_pylist())
        for path in sorted(folder.glob("build/*/*/*.parquet"))
    ]  # fmt: skip
    scripts = {name: str(dataset.folder) for name, dataset in discover().items()}
    job = folder / "job.json"
    job.write_text(json.dumps({"splits": splits, "scripts": scripts}))
    return job


def plant(folder, hub):
    """Plant names of others in every build and repository where they may stand."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"evil": [1]}), folder / "evil.parquet")
    for path in sorted(folder.glob("build/*/")):
        names = planted.contents(path.name, (folder / "evil.parquet").read_bytes())
        for name in planted.KNOWN:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(names[name])
        with tempfile.TemporaryDirectory() as empty:
            hub.seed(f"org/{path.name}", empty)
        # `publish` refuses another's `eval.yaml` beside one of the build
        left = [name for name in planted.LEFT if not (path / name).exists()]
        hub.push(f"org/{path.name}", {name: names[name] for name in left})


def require_listed(python, version, sample):
    """Exit unless `verify` refuses the names that this version reads, and the list has them."""
    from parley.building.folder import open_folder
    from parley.verifying.folder_checks import files

    done = subprocess.run([python, planted.__file__], check=True, capture_output=True)
    listed, suffixes = json.loads(done.stdout)
    if unknown := set(listed) - planted.NAMES.keys():
        sys.exit(f"datasets {version} reads {', '.join(sorted(unknown))}: see tests/planted.py")
    names = planted.contents("casino", b"")
    names |= {f"dialogues/train-{number}{each}": b"" for number, each in enumerate(suffixes)}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(sample, Path(folder) / "casino"))
        for name, body in names.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(body)
        built = open_folder(copy)
        found = set(files(built))
    own = planted.KNOWN.union(built.texts)  # of a file of this name another check reads the text
    if taken := {f"{name}: unknown file" for name in names.keys() - own} - found:
        sys.exit(f"datasets {version}: `verify` takes {taken}")


def environment(version):
    """Make or reuse an environment with this version of datasets."""
    folder = HOME / ".compat" / version
    python = str(folder / "bin" / "python")
    wanted = "datasets" if version == "newest" else f"datasets=={version}"
    uv = str(Path(sys.executable).with_name("uv"))
    if not Path(python).exists():
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    install = [uv, "pip", "install", "--quiet", "--python", python, "--upgrade", wanted]
    install += ["jsonlines", "orjson"]  # parley needs them to run a script
    subprocess.run(install, check=True)
    return python


def publish(folder):
    """Publish every build to the local Hub, as org/NAME."""
    from parley.building.folder import open_folder
    from parley.hub.publish import publish as publish_folder

    for path in sorted(Path(folder).glob("build/*/")):
        built = open_folder(path)
        publish_folder(built, built.hashes(), f"org/{path.name}")


def check(job_file, real):
    """Compare all splits; runs in an environment of `environment`."""
    import datasets
    import yaml

    # A card is read hundreds of times: in C. `one_streamed_row` reads it in Python.
    yaml.SafeLoader = yaml.CSafeLoader
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as cache:
        datasets.config.HF_DATASETS_CACHE = Path(cache)
        datasets.config.HF_MODULES_CACHE = cache
        datasets.config.USE_PARQUET_EXPORT = False  # datasets 2 would ask the dataset viewer
        job = json.loads(Path(job_file).read_text())
        for folder, config, split, _, rows in job["splits"]:
            script = job["scripts"][Path(folder).name]
            for way, loaded in ways(datasets, folder, config, split, script, cache):
                compare(list(loaded), rows, f"{folder} {config}/{split} by {way}")
        loads_what_was_recorded(datasets, *job["splits"][0])
        one_streamed_row(*job["splits"][0][:3])
        rows = sum(loads_real_rows(datasets, path, cache) for path in Path(real).glob("*/*/*-of-*"))
    equal = f"{len(job['splits'])} splits of samples and {rows:,} real rows"
    print(f"datasets {datasets.__version__}: {equal} are equal", flush=True)


def loads_real_rows(datasets, path, cache):
    """Load a split of one shard, and return the number of its rows."""
    import pyarrow.parquet as pq

    folder, config, split = path.parents[1], path.parent.name, path.name.split("-")[0]
    loaded = datasets.load_dataset(str(folder), config, split=split, cache_dir=cache)
    found = loaded.with_format("arrow")[:].replace_schema_metadata()
    if not found.equals(pq.read_table(path).replace_schema_metadata()):
        sys.exit(f"{path}: other rows")
    return len(loaded)


def ways(datasets, folder, config, split, script, cache):
    """Yield the ways of loading a split."""
    load, options = datasets.load_dataset, {"split": split, "cache_dir": cache}
    version = "v" + json.loads((Path(folder) / "provenance.json").read_text())["version"]
    repo = f"org/{Path(folder).name}"
    yield "the Hub", load(repo, config, revision=version, **options)
    yield "the Hub, streamed", load(repo, config, revision=version, streaming=True, **options)
    yield "its folder", load(folder, config, **options)
    if config.startswith("questions-"):  # of the tool, not of the script
        return
    data = {"data_dir": str(Path(script) / "sample"), "cache_dir": cache}
    if int(datasets.__version__.split(".")[0]) < 4:
        options = data | {"streaming": True, "trust_remote_code": True}
        yield "its script", load(script, config, split=split, **options)
        return
    module = importlib.import_module(f"{Path(script).name}.{Path(script).name}")
    (found,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, datasets.GeneratorBasedBuilder)
        and value.__module__ == module.__name__
    )
    yield "its class", found(config_name=config, **data).as_streaming_dataset(split)


def loads_what_was_recorded(datasets, folder, config, split, path, rows):
    """Load a split after another build of equal sizes, and damaged."""
    import pyarrow.parquet as pq

    version = tuple(map(int, datasets.__version__.split(".")[:2]))
    with tempfile.TemporaryDirectory() as home:
        copy = Path(shutil.copytree(folder, Path(home) / "other" / Path(folder).name))
        card, file = copy / "README.md", copy / config / Path(path).name
        stated = json.loads((copy / "provenance.json").read_text())["configs"][config][split]
        table = pq.read_table(file)
        pq.write_table(table.take([*range(len(rows))][::-1]), file)
        text = card.read_text(encoding="utf-8")
        card.write_text(text.replace(stated["digest"], "0" * 64), encoding="utf-8")
        for place, due in ((copy, rows[::-1]), (folder, rows), (copy, rows[::-1])):
            loaded = datasets.load_dataset(str(place), config, split=split, cache_dir=home)
            compare(list(loaded), due, f"{place} {config}/{split} in turn with another build")
        shutil.copy(path, file)
        options = {"split": split, "cache_dir": home, "download_mode": "force_redownload"}
        loaded = datasets.load_dataset(str(copy), config, **options)
        compare(list(loaded), rows, f"{copy} {config}/{split} loaded again by force")
        if version >= (4, 2):
            checked_pages(datasets, config, split, Path(path), rows, copy, file)


def checked_pages(datasets, config, split, path, rows, copy, file):
    """Flip bits of pages; `load_dataset` that verifies checksums never gives other rows."""
    import pyarrow.dataset

    options = pyarrow.dataset.ParquetFragmentScanOptions(page_checksum_verification=True)
    given = {"split": split, "streaming": True, "fragment_scan_options": options}
    shutil.copy(path.parent.parent / "README.md", copy)
    data = path.read_bytes()
    for number in spread(4, len(data) - 8 - int.from_bytes(data[-8:-4], "little")):
        flip(path, file, number)
        try:
            found = list(datasets.load_dataset(str(copy), config, **given))
        except Exception:  # of pyarrow or of datasets, by what the bit is of
            continue
        compare(found, rows, f"{file} with another bit in byte {number}, checksums verified")


def spread(start, end):
    """Return some 40 places from start to end, in all bits of a byte."""
    return range(start, end, max(1, (end - start) // 40) | 1)


def flip(path, copy, number):
    """Write a copy of a file with one bit of a byte flipped."""
    data = bytearray(path.read_bytes())
    data[number] ^= 1 << number % 8
    copy.write_bytes(data)


def compare(loaded, rows, what):
    """Fail with the first row that differs."""
    if loaded != rows:
        pairs = enumerate(zip(loaded, rows, strict=False))
        first = next((f"row {n}: {a} is not {b}" for n, (a, b) in pairs if a != b), "")
        sys.exit(f"{what}: expected {len(rows)} rows, found {len(loaded)}. {first[:2000]}")


def one_streamed_row(*split):
    """Read one row of a stream in a process of its own, which must exit cleanly.

    Up to ten tries, because pyarrow aborts now and then when a process ends while a stream is
    being closed (apache/arrow#45214, huggingface/datasets#7357): whatever the file, and more
    often on a busy machine. A layout that invites it, such as huge row groups, always fails.
    """
    program = (
        "import datasets, sys; folder, config, split = sys.argv[1:]; "
        "next(iter(datasets.load_dataset(folder, config, split=split, streaming=True)))"
    )
    command = [sys.executable, "-c", program, *split]
    for _ in range(10):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return
    sys.exit(f"reading one streamed row ended with {done.returncode}: {done.stderr[-2000:]}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["check", job, real]:
            check(job, real)
        case ["publish", folder]:
            publish(folder)
        case _:
            main()
