"""Load builds in fresh environments with other versions of `datasets`.

    python tests/compat.py                     all versions
    VERSIONS="3.6.0 newest" python tests/compat.py

Builds the samples and, if PARLEY_SOURCE is set, the real files, and publishes them to a local Hub.
Builds and repositories also hold every name of tests/planted.py that `verify` or `publish` lets
stand; all others must be refused. Each environment loads every split in several ways and compares
it row by row. It also runs the builder scripts: before datasets 4 as loading scripts, later as
imported classes. A process that reads one streamed row must exit cleanly. Other builds and damaged
files never give rows that are not recorded, by `parley.load` and where docs/using.md says so.
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
        hub.tokens["hf_compat"] = User("compat", orgs=("sample", "real"))
        jobs = [build(Path(folder) / "sample", "--sample")]
        if os.environ.get("PARLEY_SOURCE"):
            jobs.append(build(Path(folder) / "real", "--allow-missing"))
        plant(Path(folder), hub)
        # publish without the checks of the command, which refuses samples and partial builds
        environ = hub.environ(Path(folder) / "home", "hf_compat")
        publishing = [sys.executable, __file__, "publish", *map(str, jobs)]
        subprocess.run(publishing, check=True, env=environ)

        def run(version):
            python, start = environment(version), time.perf_counter()
            require_listed(python, version, Path(folder) / "sample" / "build" / "casino")
            environ = hub.environ(Path(folder) / version) | {
                "HF_DATASETS_TRUST_REMOTE_CODE": "1",
                "HF_UPDATE_DOWNLOAD_COUNTS": "0",  # datasets 2 counts loads elsewhere
                "PYTHONPATH": str(HOME),  # scripts import parley
            }
            for job in jobs:
                subprocess.run([python, __file__, "check", job], check=True, env=environ)
            print(f"datasets {version}: {time.perf_counter() - start:.0f} s", flush=True)

        with ThreadPoolExecutor(os.cpu_count()) as pool:  # processes do the work
            list(pool.map(run, VERSIONS))


def build(output, option):
    """Build everything and write the rows that loading must give."""
    import pyarrow.parquet as pq

    from parley.building.registry import discover
    from parley.building.sources import open_source

    subprocess.run(
        [
            sys.executable,
            "-m",
            "parley",
            "build",
            option,
            "--questions",
            "--build",
            output / "build",
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    splits = []
    for path in sorted(output.glob("build/*/*/*.parquet")):
        rows = output / f"{len(splits)}.jsonl"
        with rows.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in pq.read_table(path).to_pylist())
        split = path.name.split("-")[0]
        splits.append([str(path.parent.parent), path.parent.name, split, str(path), str(rows)])
    source = os.environ.get("PARLEY_SOURCE", "")
    scripts = {}
    for name, dataset in discover().items():
        options = {"sample": option == "--sample", "allow_missing": True}
        files = open_source(dataset, Path(source or "."), **options)
        scripts[name] = [str(dataset.folder), str(files.folder)]
    job = output / "job.json"
    job.write_text(json.dumps({"splits": splits, "scripts": scripts}))
    return job


def plant(folder, hub):
    """Plant names of others in every build and repository where they may stand."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"evil": [1]}), folder / "evil.parquet")
    for path in sorted(folder.glob("*/build/*/")):
        names = planted.contents(path.name, (folder / "evil.parquet").read_bytes())
        for name in planted.KNOWN:
            place = path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(names[name])
        repo = f"{path.parent.parent.name}/{path.name}"
        with tempfile.TemporaryDirectory() as empty:
            hub.seed(repo, empty)
        # `publish` refuses another's `eval.yaml` beside one of the build
        left = [name for name in planted.LEFT if not (path / name).exists()]
        hub.push(repo, {name: names[name] for name in left})


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


def publish(jobs):
    """Publish every build of the jobs to the local Hub, as sample/NAME or real/NAME."""
    from parley.building.folder import open_folder
    from parley.hub.publish import publish as publish_folder

    for job in map(Path, jobs):
        for folder in sorted(job.parent.glob("build/*/")):
            built = open_folder(folder)
            repo = f"{job.parent.name}/{folder.name}"
            publish_folder(built, built.hashes(), repo)


def check(job_file):
    """Compare all splits of a job; runs in an environment of `environment`."""
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
        count = 0
        for folder, config, split, path, rows_file in job["splits"]:
            with open(rows_file, encoding="utf-8") as file:
                rows = [json.loads(line) for line in file]
            repo = f"{Path(job_file).parent.name}/{Path(folder).name}"
            for way, loaded in ways(datasets, folder, repo, config, split, path, cache):
                compare(list(loaded), rows, f"{folder} {config}/{split} by {way}")
                count += len(rows)
            if config.startswith("questions-"):  # of the tool, not of the script
                continue
            script, data_dir = job["scripts"][Path(folder).name]
            for way, loaded in by_script(datasets, script, config, split, data_dir, cache):
                compare(list(loaded), rows, f"{script} {config}/{split} by {way}")
                count += len(rows)
        if Path(job_file).parent.name == "sample":
            loads_what_was_recorded(datasets, *job["splits"][0])
        first = {folder: split for folder, *split, _, _ in reversed(job["splits"])}
        for folder, (config, split) in first.items():
            one_streamed_row(folder, config, split)
    print(f"datasets {datasets.__version__}: {count:,} rows equal", flush=True)


def ways(datasets, folder, repo, config, split, path, cache):
    """Yield the ways of loading a split."""
    load, options = datasets.load_dataset, {"split": split, "cache_dir": cache}
    version = "v" + json.loads((Path(folder) / "provenance.json").read_text())["version"]
    yield "the Hub", load(repo, config, revision=version, **options)
    yield "streaming", load(repo, config, revision=version, streaming=True, **options)
    if config == "dialogues":  # the default
        yield "the Hub, without a config", load(repo, **options)
    if repo.startswith("real/"):  # larger, but of the same form
        return
    yield "folder", load(folder, config, **options)
    yield "streaming", load(folder, config, streaming=True, **options)
    yield 'load_dataset("parquet")', load("parquet", data_files={split: path}, **options)
    yield "Dataset.from_parquet", datasets.Dataset.from_parquet(path, cache_dir=cache)


def loads_what_was_recorded(datasets, folder, config, split, path, rows_file):
    """Load a split after another build of equal sizes, of a card that leads out, and damaged."""
    import pyarrow.parquet as pq

    rows = [json.loads(line) for line in Path(rows_file).read_text(encoding="utf-8").splitlines()]
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
        if version >= (4, 0):
            own_loading(config, split, Path(folder), rows, card, file, text)
        if version >= (4, 2):
            checked_pages(datasets, config, split, Path(path), rows, copy, file)


def own_loading(config, split, folder, rows, card, file, text):
    """Load as `parley.load` does, from a copy whose file is another and whose card leads to it."""
    from parley.base.errors import OutputError
    from parley.building.folder import open_folder
    from parley.building.load import load_splits

    evil = shutil.copy(file, card.parent.parent / "evil.parquet")
    shutil.copy(folder / config / file.name, file)
    card.write_text(text.replace(f"{config}/{split}-*.parquet", str(evil)), encoding="utf-8")
    found = load_splits(open_folder(card.parent), config, [split])
    compare(list(found[split]), rows, f"{config}/{split} by parley.load")
    for number in spread(0, file.stat().st_size):
        flip(folder / config / file.name, file, number)
        try:
            load_splits(open_folder(card.parent), config, [split])
        except OutputError:
            continue
        sys.exit(f"{file}: parley.load does not notice bit {number % 8} of byte {number}")


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


def by_script(datasets, script, config, split, data_dir, cache):
    """Yield the ways of loading a split through the builder script itself."""
    # If sources of other splits may be missing, a split can only be streamed.
    whole = Path(data_dir).name == "sample"
    if int(datasets.__version__.split(".")[0]) < 4:
        options = {"data_dir": data_dir, "cache_dir": cache, "trust_remote_code": True}
        load, place = datasets.load_dataset, (script, config)
        yield "its script, streamed", load(*place, split=split, streaming=True, **options)
        if whole:
            yield "its script", load(*place, split=split, **options)
        return
    module = importlib.import_module(f"{Path(script).name}.{Path(script).name}")
    (found,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, datasets.GeneratorBasedBuilder)
        and value.__module__ == module.__name__
    )
    builder = found(config_name=config, data_dir=data_dir, cache_dir=cache)
    yield "its class, streamed", builder.as_streaming_dataset(split)
    if whole:
        builder.download_and_prepare()
        yield "its class, prepared", builder.as_dataset(split)


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
        case ["check", job]:
            check(job)
        case ["publish", *jobs]:
            publish(jobs)
        case _:
            main()
