"""Load builds in fresh environments with other versions of `datasets`.

    python tests/compat.py                     all versions
    VERSIONS="3.6.0 newest" python tests/compat.py

Builds the samples, with every name of tests/loader_files.py that may stand, and publishes them to a
local Hub. Each environment loads every split from the Hub, streams it, and loads it from its folder
and through its script: before datasets 4 a loading script, later an imported class. Another build
never gives rows of this one. With PARLEY_SOURCE, it loads the real builds, too.
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
HOME = Path(__file__).resolve().parent.parent


def main():
    import publish_without_checks
    from local_hub import Hub

    with tempfile.TemporaryDirectory() as place, Hub() as hub:
        folder = Path(place)
        python("-m", "parley", "build", "--sample", "--questions", "--build", folder / "sample")
        if os.environ.get("PARLEY_SOURCE"):
            python("-m", "parley", "build", "--allow-missing", "--build", folder / "real")
        hub.tokens["hf_compat"] = "write"
        plant(folder, hub)
        environ = hub.environ(folder / "home", "hf_compat")
        environ["PARLEY_CACHE"] = str(folder / "cache")
        program, place = publish_without_checks.__file__, ("--build", folder / "sample")
        for name in parley.list():
            python(program, "publish", name, "--repo", f"org/{name}", *place, env=environ)

        def check_version(version):
            own, start = environment(version), time.perf_counter()
            require_listed(own, version, folder / "sample" / "casino")
            environ = hub.environ(folder / version) | {
                "HF_DATASETS_TRUST_REMOTE_CODE": "1",
                "HF_UPDATE_DOWNLOAD_COUNTS": "0",  # datasets 2 counts loads elsewhere
                "PYTHONPATH": str(HOME),  # scripts import parley
            }
            subprocess.run([own, __file__, "check", folder], check=True, env=environ)
            print(f"datasets {version}: {time.perf_counter() - start:.0f} s", flush=True)

        with ThreadPoolExecutor(os.cpu_count()) as pool:  # processes do the work
            list(pool.map(check_version, VERSIONS))


def plant(folder, hub):
    """Plant names of others in every build and repository where they may stand."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"evil": [1]}), folder / "evil.parquet")
    for path in (folder / "sample").iterdir():
        names = loader_files.contents(path.name, (folder / "evil.parquet").read_bytes())
        write(path, {name: names[name] for name in loader_files.KNOWN})
        with tempfile.TemporaryDirectory() as empty:
            hub.seed(f"org/{path.name}", empty)
        # `publish` refuses another's `eval.yaml` beside one of the build
        left = [name for name in loader_files.LEFT if not (path / name).exists()]
        hub.push(f"org/{path.name}", {name: names[name] for name in left})


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


def environment(version):
    """Make or reuse an environment with this version of datasets; return its Python."""
    folder = HOME / ".compat" / version
    python, uv = str(folder / "bin" / "python"), str(Path(sys.executable).with_name("uv"))
    wanted = "datasets" if version == "newest" else f"datasets=={version}"
    if not Path(python).exists():
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    install = [uv, "pip", "install", "--quiet", "--python", python, "--upgrade", wanted]
    needed = ["jsonlines", "lazy-loader", "orjson"]  # by a script
    subprocess.run([*install, *needed], check=True)
    return python


def check(folder):
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
        for file in sorted(folder.glob("sample/*/*/*.parquet")):
            rows = pq.read_table(file).to_pylist()
            for way, loaded in ways(datasets, file, cache):
                compare(list(loaded), rows, f"{file} by {way}")
            if not counts:
                loads_what_was_recorded(datasets, file, rows, cache)
            counts.append(len(rows))
        for file in folder.glob("real/*/*/*-of-*"):
            loaded = load(datasets, file.parents[1], file, cache).with_format("arrow")[:]
            plain = [each.replace_schema_metadata() for each in (loaded, pq.read_table(file))]
            if not plain[0].equals(plain[1]):
                sys.exit(f"{file}: other rows")
            counts.append(len(loaded))
    print(f"datasets {datasets.__version__}: {len(counts)} splits, {sum(counts):,} rows are equal")


def load(datasets, place, file, cache, **options):
    split, config = file.name.split("-")[0], file.parent.name
    return datasets.load_dataset(str(place), config, split=split, cache_dir=cache, **options)


def ways(datasets, file, cache):
    folder, config, split = file.parents[1], file.parent.name, file.name.split("-")[0]
    version = "v" + json.loads((folder / "provenance.json").read_text())["version"]
    repo = f"org/{folder.name}"
    yield "the Hub", load(datasets, repo, file, cache, revision=version)
    yield "the Hub, streamed", load(datasets, repo, file, cache, revision=version, streaming=True)
    yield "its folder", load(datasets, folder, file, cache)
    if config.startswith("questions-"):  # of the tool, not of the script
        return
    script = HOME / folder.name
    data = {"data_dir": str(script / "sample")}
    if int(datasets.__version__.split(".")[0]) < 4:
        options = data | {"streaming": True, "trust_remote_code": True}
        yield "its script", load(datasets, script, file, cache, **options)
        return
    builder = parley.dataset(folder.name).builder(config_name=config, cache_dir=cache, **data)
    yield "its class", builder.as_streaming_dataset(split)


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
        check(Path(sys.argv[2]))
    else:
        main()
