"""Polars in memory: the whole frame, and one frame for each event name (its best): polars_side.py FOLDER"""
import datetime, sys
import polars as pl
from side import DAY, NOW, serve

folder = sys.argv[1]
frames = {}


def load():
    contacts = pl.read_parquet(f"{folder}/contacts.parquet")
    events = pl.read_parquet(f"{folder}/events.parquet").drop("id")
    frames["contacts"] = contacts.with_columns(pl.col("id").cast(pl.UInt32)).rechunk()
    whole = events.with_columns(pl.col("contact_id").cast(pl.UInt32)).rechunk()
    frames["whole"] = whole
    ordered = whole.sort("contact_id", "event_time")
    frames["parts"] = {name: part.rechunk() for (name,), part in ordered.partition_by("event_type", as_dict=True).items()}
    return {"version": pl.__version__}


def since(days):
    return datetime.datetime.fromtimestamp(NOW - days * DAY, datetime.timezone.utc)


def of(name, apart):
    if apart:
        return frames["parts"][name].lazy()
    return frames["whole"].lazy().filter(pl.col("event_type") == name)


TIME, AMOUNT, WHO = pl.col("event_time"), pl.col("amount"), pl.col("contact_id")
GERMAN = (pl.col("country") == "DE") & pl.col("plan").is_in(["pro", "team"])


def a(_):
    return frames["contacts"].lazy().filter(GERMAN).select("id")


def b(apart):
    return of("purchase", apart).filter(TIME > since(30)).select(WHO.unique())


def c(apart):
    return of("purchase", apart).filter(AMOUNT > 100).group_by(WHO).len().filter(pl.col("len") >= 3).select(WHO)


def d(apart):
    bought = of("purchase", apart).filter(TIME > since(90)).group_by(WHO).agg(AMOUNT.sum()).filter(AMOUNT > 500)
    return bought.join(of("refund", apart), on="contact_id", how="anti").select(WHO)


def e(apart):
    counts = of("login", apart).filter(TIME > since(90)).group_by(WHO).agg(pl.len().alias("all"), (TIME > since(7)).sum().alias("recent"))
    return counts.filter((pl.col("all") >= 5) & (pl.col("recent") == 0)).select(WHO)


def f(apart):
    people = frames["contacts"].lazy()
    both = lambda kept, found: people.filter(kept).join(found, left_on="id", right_on="contact_id", how="semi").select("id")
    vip = (pl.col("score") > 50) & pl.col("tags").list.contains("vip")
    return pl.concat([both(GERMAN, b(apart)), both(pl.col("age") >= 30, c(apart)), both(vip, e(apart))]).unique()


QUERIES = {name: [(query, False), (query, True)] for name, query in {"b": b, "c": c, "d": d, "e": e, "f": f}.items()}
QUERIES["a"] = [(a, False)]
serve(load, QUERIES, lambda form: form[0](form[1]).collect(), lambda found: found.to_series().to_numpy())
