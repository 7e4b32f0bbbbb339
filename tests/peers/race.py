"""Eight writers on one table at once: seven append, one updates, until the table has enough commits.

    race.py TABLE COMMITS < settings of the store, as one line of JSON

Each attempt carries an id of its own into the log. One line of JSON tells what its writer was told
of it: {"id", "acknowledged": true | false}.
"""

import json
import multiprocessing
import random
import sys
import uuid

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

APPENDERS = 7


def attempt(kind, table, settings, id):
    properties = CommitProperties(custom_metadata={"race": id}, max_commit_retries=30)
    if kind == "append":
        rows = pa.table({"id": [id] * 20, "n": list(range(20)), "part": [random.choice("ab")] * 20})
        write_deltalake(
            table, rows, mode="append", storage_options=settings, commit_properties=properties
        )
        return
    delta = DeltaTable(table, storage_options=settings)
    n = random.randrange(20)
    delta.update(updates={"n": "n + 100"}, predicate=f"n = {n}", commit_properties=properties)


def write(kind, table, commits, settings, said):
    while DeltaTable(table, storage_options=settings).version() < commits:
        id = str(uuid.uuid4())
        try:
            attempt(kind, table, settings, id)
            said.put({"id": id, "kind": kind, "acknowledged": True, "why": None})
        except Exception as error:
            said.put({"id": id, "kind": kind, "acknowledged": False, "why": str(error)[:200]})
    said.put(None)


def main(table, commits):
    settings = json.loads(sys.stdin.readline())
    # Fresh processes: a runtime of Rust does not survive a fork.
    spawn = multiprocessing.get_context("spawn")
    said = spawn.Queue()
    kinds = ["append"] * APPENDERS + ["update"]
    writers = [
        spawn.Process(target=write, args=(kind, table, commits, settings, said)) for kind in kinds
    ]
    for writer in writers:
        writer.start()
    going = len(writers)
    while going:
        line = said.get()
        if line is None:
            going -= 1
        else:
            print(json.dumps(line), flush=True)
    for writer in writers:
        writer.join()
        if writer.exitcode:
            sys.exit(f"a writer ended with {writer.exitcode}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
