"""CoSRec's catalogue in plain Python, slow and in memory: what the job's output is compared with.

It follows the order of upstream's work as documented, and shares no code with the job.
"""

import gzip
import io
import json
import math
import re
from collections import Counter
from contextlib import suppress


def reference(folder):
    """Return upstream's output of a folder's files, and what refused lines of each category."""
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
