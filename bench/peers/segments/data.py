"""Contacts and events of a made-up shop, the same in every run: data.py CONTACTS EVENTS FOLDER

FOLDER/contacts.parquet   id, email, country, plan, age, score, tags (six attributes) and signup
FOLDER/events.parquet     in the order of their times, over the 180 days before NOW
FOLDER/plain/             the same rows, read back from the Parquet files, as Kurier's loader takes them

Times are whole seconds and amounts multiples of 0.25, so that sums are exact in any order and
every side must find exactly the same contacts.
"""
import json, os, sys
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

NOW, DAY, SEED = 1767225600, 86400, 20260101  # 2026-01-01T00:00:00Z
DAYS, SLICE = 180, 1_000_000
COUNTRIES = "US DE GB FR ES IT NL AT CH PL SE BE DK NO FI PT CZ IE CA AU".split()
PLANS, PLAN_SHARES = ["free", "starter", "pro", "team"], [0.60, 0.25, 0.10, 0.05]
NAMES = """page_view email_open login search click purchase add_to_cart email_click logout session_start
video_play share comment like download form_submit chat_open invite push_open refund upgrade downgrade
support_ticket survey_answer coupon_used trial_start trial_end password_reset profile_update unsubscribe""".split()
WITH_AMOUNT = {"purchase", "add_to_cart", "refund", "coupon_used"}
WITH_SKU = {"purchase", "add_to_cart", "refund"}
WITH_PAGE = {"page_view", "click", "search", "session_start"}
TAGS = "vip newsletter beta partner trial b2b b2c churned reseller student".split() + [f"tag{n:02}" for n in range(40)]
SKUS = [f"SKU-{n:05}" for n in range(5000)]
PAGES = [f"/p/{n:03}/landing" for n in range(300)]
NONE = 0xFFFF
PLAIN = np.dtype([("time", "<i8"), ("amount", "<f8"), ("contact", "<u4"), ("sku", "<u2"), ("page", "<u2"), ("name", "<u4"), ("pad", "<u4")])


def zipf(count, exponent):
    weights = np.arange(1, count + 1, dtype=float) ** -exponent
    return weights / weights.sum()


def words(codes, values, keep=None):
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=None if keep is None else ~keep), pa.array(values))


def times(seconds):
    return pa.array(seconds.astype(np.int64) * 1000).cast(pa.timestamp("ms", tz="UTC"))


def contacts(count, random):
    tag_counts = random.integers(0, 6, count)
    offsets = np.concatenate([[0], np.cumsum(tag_counts)]).astype(np.int32)
    tags = words(random.choice(len(TAGS), offsets[-1], p=zipf(len(TAGS), 0.7)).astype(np.int8), TAGS)
    return pa.table({
        "id": np.arange(count, dtype=np.int64),
        "email": pa.array([f"user{n}@mail{n % 97}.example" for n in range(count)]),
        "country": words(random.choice(len(COUNTRIES), count, p=zipf(len(COUNTRIES), 0.8)).astype(np.int8), COUNTRIES),
        "plan": words(random.choice(len(PLANS), count, p=PLAN_SHARES).astype(np.int8), PLANS),
        "age": np.clip(random.normal(41, 14, count), 18, 90).astype(np.int32),
        "score": np.round(random.beta(2, 3, count) * 100, 2),
        "tags": pa.ListArray.from_arrays(pa.array(offsets), tags.cast(pa.string())),
        "signup": times(NOW - random.integers(0, 1500 * DAY, count)),
    })


def slice_of_events(first, count, span, who, random):
    """Events number `first` and so many more, within a span of time; a few contacts do most."""
    when = np.sort(random.integers(*span, count)) + NOW - DAYS * DAY
    contact = np.minimum(np.searchsorted(who, random.random(count), side="right"), len(who) - 1)
    name = random.choice(len(NAMES), count, p=zipf(len(NAMES), 1.0)).astype(np.int8)
    has = lambda names: np.array([n in names for n in NAMES])[name]
    amount = np.maximum(np.round(random.lognormal(3.9, 0.9, count) * 4), 1) / 4
    return pa.table({
        "id": np.arange(first, first + count, dtype=np.int64),
        "contact_id": contact.astype(np.int64),
        "event_type": words(name, NAMES),
        "event_time": times(when),
        "amount": pa.array(amount, mask=~has(WITH_AMOUNT)),
        "sku": words(random.integers(0, len(SKUS), count).astype(np.int16), SKUS, has(WITH_SKU)),
        "page": words(random.integers(0, len(PAGES), count).astype(np.int16), PAGES, has(WITH_PAGE)),
    })


def write(count, event_count, folder):
    random = np.random.default_rng(SEED)
    pq.write_table(contacts(count, random), f"{folder}/contacts.parquet", compression="zstd")
    activity = np.cumsum(random.lognormal(0, 1.1, count))
    activity /= activity[-1]
    slices = -(-event_count // SLICE)
    edges = np.linspace(0, DAYS * DAY, slices + 1).astype(int)
    writer = None
    for number in range(slices):
        first = number * SLICE
        rows = slice_of_events(first, min(SLICE, event_count - first), edges[number:number + 2], activity, np.random.default_rng([SEED, number]))
        writer = writer or pq.ParquetWriter(f"{folder}/events.parquet", rows.schema, compression="zstd")
        writer.write_table(rows)
    writer.close()


def codes(column, values):
    """Which of `values` each is; NONE where there is nothing."""
    column = column.combine_chunks().dictionary_encode() if not pa.types.is_dictionary(column.type) else column.combine_chunks()
    place = {value: at for at, value in enumerate(values)}
    known = np.array([place[value] for value in column.dictionary.to_pylist()] + [NONE])
    return known[column.indices.fill_null(len(column.dictionary)).to_numpy()]


def write_plain(folder):
    os.makedirs(f"{folder}/plain", exist_ok=True)
    with open(f"{folder}/plain/names.json", "w") as file:
        json.dump({"names": NAMES, "skus": SKUS, "pages": PAGES, "now": NOW}, file)
    with open(f"{folder}/plain/contacts.ndjson", "w") as file:
        for batch in pq.ParquetFile(f"{folder}/contacts.parquet").iter_batches():
            for row in batch.to_pylist():
                signup = int(row.pop("signup").timestamp())
                file.write(json.dumps({"id": row.pop("id"), "signup": signup, "traits": row}) + "\n")
    source = pq.ParquetFile(f"{folder}/events.parquet")
    with open(f"{folder}/plain/events.bin", "wb") as file:
        for group in range(source.num_row_groups):
            rows = source.read_row_group(group)
            plain = np.zeros(len(rows), PLAIN)
            plain["time"] = rows["event_time"].cast(pa.int64()).to_numpy() // 1000
            plain["amount"] = rows["amount"].fill_null(float("nan")).to_numpy()
            plain["contact"] = rows["contact_id"].to_numpy()
            plain["sku"], plain["page"] = codes(rows["sku"], SKUS), codes(rows["page"], PAGES)
            plain["name"] = codes(rows["event_type"], NAMES)
            plain.tofile(file)


if __name__ == "__main__":
    folder = sys.argv[3]
    os.makedirs(folder, exist_ok=True)
    write(int(sys.argv[1]), int(sys.argv[2]), folder)
    write_plain(folder)
    open(f"{folder}/done", "w").close()
