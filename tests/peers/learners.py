"""A table on a store, written and read by deltalake; AWS_* variables name the store.

    learners.py write URL            a table with partitions through appends, deletes, a merge
    learners.py read URL VERSION…    every row of each version: id, region, score, seconds

What is read is one line of JSON a version.
"""

import json
import sys

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder, write_deltalake


def learners(start, count, regions=("US", "a b", "100%", None)):
    ids = range(start, start + count)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "region": pa.array([regions[i % len(regions)] for i in ids], pa.string()),
            "score": pa.array([i / 4 for i in ids], pa.float64()),
            "seen": pa.array([i * 1_000_000 for i in ids], pa.timestamp("us", tz="UTC")),
        }
    )


def write(url):
    write_deltalake(url, learners(0, 80), partition_by=["region"])
    for start in (100, 200):
        write_deltalake(url, learners(start, 12), mode="append")
    DeltaTable(url).delete("id % 10 = 3")
    merge = DeltaTable(url).merge(learners(40, 70), "t.id = s.id", source_alias="s", target_alias="t")
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    DeltaTable(url).create_checkpoint()
    DeltaTable(url).delete("region = 'US'")


def read(url, versions):
    for version in map(int, versions):
        table = DeltaTable(url, version=version)
        rows = QueryBuilder().register("t", table).execute("select id, region, score, seen from t")
        rows = pa.table(rows.read_all())
        seconds = [seen and seen.timestamp() for seen in rows["seen"].to_pylist()]
        columns = [rows[name].to_pylist() for name in ("id", "region", "score")]
        print(json.dumps(list(zip(*columns, seconds))), flush=True)


def main(verb, url, *versions):
    if verb == "write":
        write(url)
    else:
        read(url, versions)


main(*sys.argv[1:])
