"""What every side of the comparison does: load, then answer one request a line.

  <- {"loaded": {"seconds": …, …}, "forms": {"a": 1, …}}
  -> {"query": "b", "form": 0, "runs": 3}
  <- {"ms": [...], "digest": "count-sum-mix"}
"""
import datetime, json, os, sys, time
import numpy as np

NOW, DAY = 1767225600, 86400
CORES = os.cpu_count()


def since(days):
    return datetime.datetime.fromtimestamp(NOW - days * DAY, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def digest(ids):
    """Of a set of contacts, in whatever order; Kurier's side reckons the same."""
    ids = np.asarray(ids).astype(np.uint64)
    mixed = (ids + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    return f"{len(ids)}-{int(ids.sum())}-{int(mixed.sum(dtype=np.uint64))}"


def serve(load, queries, run, ids):
    """`load()` gives facts about itself; `queries` the forms of each; `run(form)` all ids in the
    side's own shape, which is what is timed; `ids(found)` makes numbers of them."""
    began = time.perf_counter()
    facts = load() or {}
    facts.setdefault("seconds", time.perf_counter() - began)
    say({"loaded": facts, "forms": {name: len(forms) for name, forms in queries.items()}})
    for line in sys.stdin:
        asked = json.loads(line)
        form, spent = queries[asked["query"]][asked["form"]], []
        for _ in range(asked["runs"]):
            began = time.perf_counter()
            found = run(form)
            spent.append((time.perf_counter() - began) * 1e3)
        say({"ms": spent, "digest": digest(ids(found))})


def say(what):
    print(json.dumps(what), flush=True)
