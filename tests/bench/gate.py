"""(f): whether a million purchase lines are complete, ours beside DuckDB's Python client.

    gate.py BENCH_GATE FOLDER [--runs N]

The files are written once, by DuckDB, with holes that are known. Both sides are processes of their
own, from start to end, and both read key and sequence of the same local files. The client's seconds
are also told without its start: what its query alone takes. Ends with 1 where the figures differ, or
where ours is less than three times faster.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ORDERS, FILES = 181_819, 12
TARGET = 3

PEER = """
import json, sys, time
import duckdb
run, letters = sys.argv[1:]
started = time.perf_counter()
row = duckdb.sql(f'''
with seen as (
    select order_id, line_seq, bool_or(landed) as landed from (
        select order_id, line_seq, true as landed from read_parquet('{run}/*.parquet')
        union all
        select order_id, line_seq, false from read_json('{letters}/*.json', format='newline_delimited',
            columns={{order_id: 'VARCHAR', line_seq: 'INTEGER'}})
    ) group by order_id, line_seq
), orders as (
    select order_id, max(line_seq) as last, count(*) as seen,
        count(*) filter (where landed) as landed from seen group by order_id
)
select count(*), sum(landed)::bigint, sum(seen - landed)::bigint, sum(last - seen)::bigint,
    (select list(order_id order by order_id) from
        (select order_id from orders where last > seen order by order_id limit 100))
from orders
''').fetchone()
took = time.perf_counter() - started
print(json.dumps({"orders": row[0], "landed": row[1], "dead_lettered": row[2], "missing": row[3],
    "examples": row[4] or [], "took": took}))
"""


def write(folder):
    """Lines of orders of one to ten lines. Every 500th line did not land, and of these every second
    one is a dead letter; the last line of an order always landed, so that its end is known."""
    import duckdb

    run, letters = folder / "run", folder / "dlq"
    run.mkdir(parents=True)
    letters.mkdir()
    db = duckdb.connect()
    db.sql(f"""
        create table lines as
        select uuid_of(n) as order_id, seq::int as line_seq, n, row_number() over () as place,
            1 + n % 10 = seq as last,
            'sku-' || (at_hash % 5000) as sku, (at_hash % 100000) / 100.0 as amount,
            timestamp '2026-11-10 13:00:00' + to_microseconds((n * 19)::bigint) as event_time
        from (select n, seq, hash(n * 16 + seq) as at_hash
            from range({ORDERS}) orders(n), range(1, 11) lines(seq) where seq <= 1 + n % 10)
        order by n, seq
    """.replace("uuid_of(n)", "md5(n::varchar)::uuid::varchar"))
    hole = "(place % 500 = 0 and not last)"
    for part in range(FILES):
        # Lines of an order came at different times: a file holds parts of many orders.
        db.sql(f"""copy (select * exclude (n, place, last) from lines
            where not {hole} and hash(n, line_seq) % {FILES} = {part} order by event_time, line_seq)
            to '{run}/part-{part:05}.snappy.parquet' (format parquet)""")
    db.sql(f"""copy (select order_id, line_seq from lines where {hole} and place % 1000 = 0)
        to '{letters}/part-00000.json' (format json)""")
    total, lost, dead = db.sql(f"""select count(*), count(*) filter (where {hole}),
        count(*) filter (where {hole} and place % 1000 = 0) from lines""").fetchone()
    known = {"orders": ORDERS, "landed": total - lost, "dead_lettered": dead, "missing": lost - dead}
    (folder / "known.json").write_text(json.dumps(known))


def measure(command):
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"bench: {command[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return json.loads(output), seconds, usage.ru_maxrss / 1024


def gate(binary, folder, runs):
    """Whether the figures agree and ours is fast enough."""
    folder = Path(folder).absolute() / "lines"
    if not (folder / "known.json").exists():
        write(folder)
    known = json.loads((folder / "known.json").read_text())
    where = [str(folder / "run"), str(folder / "dlq")]
    ours, peers, queries = [], [], []
    for _ in range(runs):
        mine, *cost = measure([binary, *where])
        ours.append(cost)
        theirs, *cost = measure([sys.executable, "-c", PEER, *where])
        peers.append(cost)
        queries.append(theirs["took"])
        for what, answer in (("ours", mine), ("DuckDB's", theirs)):
            differ = {key: (answer[key], value) for key, value in known.items() if answer[key] != value}
            if differ:
                print(f"    {what} figures are wrong: {differ}")
                return False
        if mine["examples"] != theirs["examples"]:
            print("    the examples differ")
            return False
    our, our_memory = min(ours)[0], min(cost[1] for cost in ours)
    peer, query = min(peers)[0], min(queries)
    ok = peer >= TARGET * our
    print(f"(f) completeness of {known['landed'] + known['dead_lettered'] + known['missing']:,} lines: "
          f"ours {our * 1000:.0f} ms and {our_memory:.0f} MiB, DuckDB {peer * 1000:.0f} ms and "
          f"{min(cost[1] for cost in peers):.0f} MiB ({query * 1000:.0f} ms of it its query)")
    print(f"    {peer / our:.1f} times faster, {query / our:.1f} times than the query alone, "
          f"at least {TARGET} wanted: {'ok' if ok else 'MISSED'}")
    return ok


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    sys.exit(0 if gate(given.binary, given.folder, given.runs) else 1)
