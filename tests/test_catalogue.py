"""CoSRec's product catalogue: its output against a reference, and what may fail."""

import gzip
import importlib
import io
import json
import math
import os
import re
import shutil
from codecs import BOM_UTF8
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from catalogue_files import PRODUCT, REVIEW, hostile
from local_hub import contents
from processes import python

from parley.base.errors import RecordError, SourceError, UsageError
from parley.declaration.registry import get

catalogue = get("cosrec").jobs["catalogue"].run
HOME = "parley_datasets.cosrec.catalogue"
files = importlib.import_module(f"{HOME}.files")
sources = importlib.import_module(f"{HOME}.sources")


def run(folder, output, workers=0, **options):
    """Run the job as the command line would."""
    catalogue(input=folder, output=output, workers=workers, **options)


@pytest.fixture
def raw(tmp_path):
    """Write raw files of one category or more: {category: (products, reviews)}."""

    def write(categories, suffix=".jsonl"):
        folder = tmp_path / "raw"
        for number, (kind, prefix) in enumerate((("meta", "meta_"), ("review", ""))):
            (folder / f"{kind}_categories").mkdir(parents=True, exist_ok=True)
            for category, records in categories.items():
                data = b"".join(
                    r if isinstance(r, bytes) else json.dumps(r).encode() + b"\n"
                    for r in records[number]
                )
                path = folder / f"{kind}_categories" / f"{prefix}{category}{suffix}"
                path.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
        return folder

    return write


@pytest.fixture
def folder(raw):
    """Raw files of one category, with a product and its review."""
    return raw({"C": ([PRODUCT], [REVIEW])})


def digests(output):
    entries = json.loads((output / "provenance.json").read_text())["categories"]
    return {(c, t): entries[c][t]["digest"] for c in entries for t in ("products", "reviews")}


def refused(output):
    """Return counts.json as {category: {table: {rule: number}}}, without what is 0."""
    counts = json.loads((output / "counts.json").read_text())
    return {
        category: {
            table: {rule: number for rule, number in of["refused"].items() if number}
            for table, of in tables.items()
        }
        for category, tables in counts.items()
    }


def reference(folder):
    """Return upstream's output of a folder's files, and what refused lines of each category.

    In plain Python, in the order of upstream's work as documented: it shares no code with the job.
    """
    metas = stems(folder / "meta_categories", "meta_")
    reviews = stems(folder / "review_categories", "")
    output, counts = [], {}
    for category in sorted(metas.keys() & reviews.keys()):
        refused = counts[category] = {"products": Counter(), "reviews": Counter()}
        catalogue = {}
        for record in records(metas[category]):
            product = to_product(record)
            if isinstance(product, str):
                refused["products"][product] += 1
            else:
                catalogue[record["parent_asin"]] = product
        for record in records(reviews[category]):
            why = add_review(catalogue, record)
            if why:
                refused["reviews"][why] += 1
        for _, product in sorted(catalogue.items()):
            product["valid_reviews"].sort(key=lambda review: review["timestamp"])
            stars = product["valid_ratings"]
            product["num_valid_ratings"] = len(stars)
            product["avg_valid_ratings"] = sum(int(s) * n for s, n in stars.items()) / len(stars)
            output.append(json.dumps(product) + "\n")
    return "".join(output).encode(), counts


def stems(folder, prefix):
    form = re.compile(rf"{prefix}(.+?)\.jsonl(\.gz)?")
    return {match[1]: path for path in folder.iterdir() if (match := form.fullmatch(path.name))}


def records(path):
    data = path.read_bytes()
    if path.name.endswith(".gz"):
        data = gzip.decompress(data)
    return [json.loads(line) for line in io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")]


def is_filled_text(value):
    return isinstance(value, str) and value != ""


def is_text_list(value):
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def share(text):
    return len([c for c in text if ord(c) < 256]) / len(text)


def cleaned(text):
    return re.sub(r"\s+", " ", text.replace("<br />", "")).strip()


def to_product(r):
    """Return the output record of a metadata record, or the name of the rule that refuses it."""
    r["bought_together"] is None or len(r["bought_together"])
    asin, title, categories = r["parent_asin"], r["title"], r["categories"]
    description, features, details = r["description"], r["features"], r["details"]
    store, price, average, number = r["store"], r["price"], r["average_rating"], r["rating_number"]
    if not is_filled_text(asin):
        return "parent_asin"
    if not is_filled_text(title):
        return "title"
    if not is_text_list(description) or not is_text_list(features) or description + features == []:
        return "description"
    if not isinstance(details, dict) or details == {}:
        return "details"
    if not is_text_list(categories) or categories in ([], [""]):
        return "categories"
    if not isinstance(number, int) or not number > 0:
        return "ratings"
    if not isinstance(average, float) or not math.isfinite(average) or average < 0:
        return "ratings"
    if not is_filled_text(store):
        return "store"
    if isinstance(price, str):
        with suppress(ValueError):  # stays text
            price = float(price)
    if not isinstance(price, float) or not math.isfinite(price) or not price > 0:
        return "price"
    text = " ".join(description) + " " + " ".join(features)
    if len(text) < 10:
        return "short"
    if share(title) < 0.5 or share(text) < 0.8:
        return "not_english"
    return {
        "parent_asin": asin, "title": cleaned(title),
        "description": [cleaned(part) for part in description + features], "details": details,
        "categories": categories, "store": store, "price": price, "num_ratings": number,
        "avg_ratings": average, "valid_reviews": [], "valid_ratings": dict.fromkeys("12345", 0),
    }  # fmt: skip


def add_review(catalogue, r):
    """Add a review to its product, or return the name of the rule that refuses it."""
    asin, title, text, time = r["parent_asin"], r["title"], r["text"], r["timestamp"]
    user, verified = r["user_id"], r["verified_purchase"]
    rating, helpful = r["rating"], r["helpful_vote"]
    if not is_filled_text(asin):
        return "parent_asin"
    if asin not in catalogue:
        return "not_in_catalogue"
    if not is_filled_text(user):
        return "user_id"
    if not isinstance(time, int) or time < 0:
        return "timestamp"
    if not isinstance(rating, float) or not 1 <= rating <= 5:
        return "rating"
    stars = round(rating + 0.001)
    catalogue[asin]["valid_ratings"][str(stars)] += 1
    if not is_filled_text(title):
        return "title"
    if not is_filled_text(text):
        return "text"
    if not isinstance(verified, bool):
        return "verified_purchase"
    if not isinstance(helpful, int) or helpful < 0:
        return "helpful_vote"
    if len(text) < 10:
        return "short"
    if share(title) < 0.5 or share(text) < 0.8:
        return "not_english"
    review = {"user": user, "timestamp": time, "verified purchase": verified}
    review |= {"title": cleaned(title), "text": cleaned(text), "rating": stars, "helpful": helpful}
    catalogue[asin]["valid_reviews"].append(review)
    return None


@pytest.mark.parametrize(("seed", "workers"), [(1, 0), (2, 2)])
def test_the_output_is_the_reference(seed, workers, tmp_path, monkeypatch):
    """Byte for byte, and each refused line by the same rule, on hostile files in small blocks."""
    monkeypatch.setattr(files, "BLOCK", 50_000)
    folder = hostile(tmp_path / "raw", seed, records=250)
    expected, counts = reference(folder)
    assert expected.count(b"\n") > 20
    run(folder, tmp_path / "out", workers=workers, jsonl=tmp_path / "out.jsonl.gz")
    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == expected
    assert refused(tmp_path / "out") == counts
    for tables in json.loads((tmp_path / "out" / "counts.json").read_text()).values():
        for count in tables.values():
            parts = count["broken"] + sum(count["refused"].values()) + count["kept"]
            assert count["read"] == parts + count.get("replaced", 0) > 0


def test_right_values_stand_beside_upstreams_and_odd_ones_under_exact(raw, tmp_path):
    stars = [5.0, 4.0, 4.0, 1.5]
    reviews = [REVIEW | {"rating": star, "timestamp": n} for n, star in enumerate(stars)]
    reviews[0] |= {"helpful_vote": True, "timestamp": 2**64}
    reviews.append(REVIEW | {"rating": 3.0, "text": "short"})  # its star counts
    other = PRODUCT | {"parent_asin": "B02", "title": "a \ud800 title", "rating_number": 2**63}
    run(raw({"C": ([other, PRODUCT], reviews)}), tmp_path / "out")
    first, second = pq.read_table(tmp_path / "out" / "products").to_pylist()
    assert [first[f"stars_{star}"] for star in range(1, 6)] == [0, 1, 1, 2, 1]
    assert (first["star_count"], first["star_mean"], first["review_count"]) == (5, 18 / 5, 4)
    assert (first["num_valid_ratings"], first["avg_valid_ratings"]) == (5, 18 / 5)
    assert (second["star_count"], second["star_mean"], second["review_count"]) == (0, None, 0)
    assert (second["num_valid_ratings"], second["avg_valid_ratings"]) == (5, 0.0)
    assert (second["title"], second["num_ratings"]) == ("a \ufffd title", None)
    assert json.loads(second["exact"]) == {"title": "a \ud800 title", "num_ratings": 2**63}
    rows = pq.read_table(tmp_path / "out" / "reviews").to_pylist()
    (row,) = [row for row in rows if row["exact"]]
    assert (row["helpful"], row["timestamp"]) == (1, None)
    assert json.loads(row["exact"]) == {"helpful": True, "timestamp": 2**64}


def test_the_python_of_the_page_runs(raw, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    run(raw({"Software": ([PRODUCT], [REVIEW])}), tmp_path / "catalogue")
    card = (tmp_path / "catalogue" / "README.md").read_text()
    assert re.search(r"^\| Software \| 1 \| .* \| 1 \| 1 \|.* \| 1 \|$", card, re.M), card
    page = Path(__file__).parent.parent / "docs" / "catalogue.md"
    (block,) = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    names = {}
    exec(block, names)
    assert names["products"]["parent_asin"] == [PRODUCT["parent_asin"]]
    assert [row["text"] for row in names["reviews"]] == [REVIEW["text"]]
    corpus = json.loads(Path("corpus.jsonl").read_text(encoding="utf-8"))
    assert (corpus["_id"], corpus["title"]) == (PRODUCT["parent_asin"], PRODUCT["title"])


WITHOUT_PRICE = {key: value for key, value in PRODUCT.items() if key != "price"}


@pytest.mark.parametrize(("line", "workers"), [
    *((line, 0) for line in (b"{", b"", b"[]", b'{"a": "\xff"}')),
    (json.dumps(WITHOUT_PRICE).encode(), 2)
])  # fmt: skip
def test_broken_lines_are_named_at_once_or_skipped(line, workers, raw, tmp_path):
    products = [PRODUCT, line + b"\n", PRODUCT | {"parent_asin": "B02"}, b"5\n"]
    folder = raw({"C": (products, [b"{}\n", REVIEW])})
    with pytest.raises(RecordError) as caught:
        run(folder, tmp_path / "out", workers=workers)
    places = [Path(problem.place).name for problem in caught.value.problems]
    assert places == ["meta_C.jsonl:2", "meta_C.jsonl:4", "C.jsonl:1"]
    assert "--skip-broken" in caught.value.remedy
    assert not list((tmp_path / "out").rglob("*.parquet"))
    run(folder, tmp_path / "other", workers=workers, skip_broken=True)
    counts = json.loads((tmp_path / "other" / "counts.json").read_text())["C"]["products"]
    assert (counts["read"], counts["broken"], counts["kept"]) == (4, 2, 2)


@pytest.mark.parametrize(("damage", "workers"), [
    (lambda data: data[:-20], 0), (lambda data: data + b"more", 0),
    (lambda data: data[:-5] + bytes([data[-5] ^ 1]) + data[-4:], 2),  # of the checksum
], ids=["cut", "garbage", "flip"])  # fmt: skip
def test_a_damaged_gzip_is_an_error(damage, workers, raw, tmp_path):
    records = [PRODUCT], [REVIEW] * 500
    folder = raw({"Alpha": records, "Zeta": records}, ".jsonl.gz")
    path = folder / "review_categories" / "Zeta.jsonl.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(SourceError, match=r"\bZeta\.jsonl"):
        run(folder, tmp_path / "out", workers=workers)
    assert {c for c, _ in digests(tmp_path / "out")} == {"Alpha"}
    assert not list(tmp_path.glob(".*parley-*"))


def test_input_that_is_not_there_or_a_line_without_end(raw, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST", 100_000)
    monkeypatch.setattr(files, "BLOCK", 10_000)
    with pytest.raises(SourceError, match=r"\bC\.jsonl"):
        run(raw({"C": ([PRODUCT], [b" " * 200_000])}), tmp_path / "out")
    shutil.rmtree(tmp_path / "raw")
    with pytest.raises(UsageError):
        run(tmp_path, tmp_path / "out")
    folder = raw({"C": ([PRODUCT], [REVIEW])})
    with pytest.raises(UsageError):
        run(folder, tmp_path / "out", category=["D"])
    path = folder / "meta_categories" / "meta_C.jsonl"
    path.with_name("meta_C.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(UsageError):
        run(folder, tmp_path / "out")
    path.unlink()
    path.with_name("meta_C.jsonl.gz").rename(path.with_name("meta_D.jsonl.gz"))
    with pytest.raises(UsageError):
        run(folder, tmp_path / "out")


def test_pins_of_the_raw_files():
    found = {file: pin for files in sources.SOURCES.values() for file, pin in files.items()}
    assert (len(sources.SOURCES), len(found)) == (34, 68)
    assert sum(pin["size"] for pin in found.values()) == 376_799_050_396
    assert all(len(bytes.fromhex(pin["sha256"])) == 32 for pin in found.values())
    assert all(pin["url"].endswith(f"/{file}") for file, pin in found.items())


def test_categories_are_added_and_what_is_there_stays(tmp_path, capsys):
    folder = hostile(tmp_path / "raw", 9, records=100)
    run(folder, tmp_path / "whole")
    run(folder, tmp_path / "out", category=["Zeta"])
    first = contents(tmp_path / "out")
    capsys.readouterr()
    run(folder, tmp_path / "out", workers=2)
    assert "1 of 4 categories" in capsys.readouterr().err
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert {name for name in first if name.endswith(".parquet")} < set(contents(tmp_path / "out"))


def test_another_input_or_a_lost_file_makes_a_category_anew(folder, raw, tmp_path):
    run(folder, tmp_path / "out")
    whole, before = contents(tmp_path / "out"), digests(tmp_path / "out")
    next((tmp_path / "out" / "reviews").iterdir()).unlink()
    run(folder, tmp_path / "out")
    assert contents(tmp_path / "out") == whole
    raw({"C": ([PRODUCT | {"store": "Other"}], [REVIEW])})
    run(folder, tmp_path / "out")
    after = digests(tmp_path / "out")
    assert [before[key] == after[key] for key in before] == [False, True]


@pytest.mark.parametrize("place", [".", "no/where.jsonl", "mine.jsonl.gz", "link.jsonl"])
def test_upstreams_form_takes_the_place_of_nothing_else(place, folder, tmp_path, monkeypatch):
    """It is refused before any work: what is in the way, and where it cannot be."""
    (tmp_path / "mine.jsonl.gz").write_text('{"parent_asin": "of mine"}\n')
    (tmp_path / "link.jsonl").symlink_to("gone.jsonl")
    before = contents(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"^--jsonl "):
        run(folder, tmp_path / "out", jsonl=Path(place))
    assert contents(tmp_path) == before


# Engines cannot read a name with a backslash
@pytest.mark.parametrize(
    ("option", "value"), [("memory", "much"), ("memory", "9" * 400 + "GB"), ("output", "a\\b")]
)
def test_a_setting_that_means_nothing_is_an_error_before_any_work(option, value, folder, tmp_path):
    with pytest.raises(UsageError) as caught:
        run(folder, **{"output": tmp_path / "out", option: value})
    assert f"--{option}" in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


@pytest.mark.slow
def test_spark_gives_the_same(tmp_path):
    """On a worker that is a process of its own, and so has nothing of this checkout.

    Splits are of 20 kB, so that each plain file has several.
    """
    pytest.importorskip("pyspark", reason="the extra `engines` is not installed")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Spark needs Java 17 or newer")
    small = "--conf spark.sql.files.maxPartitionBytes=20000 "
    small += "--conf spark.sql.files.openCostInBytes=1000 "
    small += "--conf spark.sql.shuffle.partitions=2 pyspark-shell"
    folder = hostile(tmp_path / "raw", 14, records=60, padded=False)
    for category in ("Alpha", "alpha"):  # two are enough
        for path in folder.rglob(f"*{category}.jsonl*"):
            path.unlink()
    expected, counts = reference(folder)
    assert expected.count(b"\n") > 5
    path = min(folder.rglob("*_categories/*.jsonl"))  # its first line is broken by a mark
    path.write_bytes(BOM_UTF8 + json.dumps(PRODUCT | REVIEW).encode() + b"\n" + path.read_bytes())
    job = ["-m", "parley", "run", "cosrec", "catalogue", "--input", folder]
    output = ["--output", tmp_path / "spark", "--jsonl", tmp_path / "spark.jsonl", "--skip-broken"]
    cluster = ["--engine", "spark", "--master", "local-cluster[1,1,1024]"]
    python(*job, *output, *cluster, env=os.environ | {"PYSPARK_SUBMIT_ARGS": small})
    assert (tmp_path / "spark.jsonl").read_bytes() == expected
    assert refused(tmp_path / "spark") == counts
    run(folder, tmp_path / "duckdb", skip_broken=True)
    built = [contents(tmp_path / name) for name in ("spark", "duckdb")]
    same = (".parquet", "counts.json")
    tables = [{k: v for k, v in each.items() if k.endswith(same)} for each in built]
    assert tables[0] == tables[1]
