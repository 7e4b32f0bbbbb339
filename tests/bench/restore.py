"""A restore of ours beside deltalake's, each on a copy of one table: half of its files left in the
newest commit and come back. Plan, commit and proof, in a process of its own from start to end.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PEER = Path(__file__).with_name("peer.py")
# Files of the table; times faster than deltalake, where that is asked.
SIZES = [(10_000, 3), (100_000, None), (1_000_000, None)]
# Files that come back at most: one HEAD each is the store's time and not ours.
BACK = 5_000


def write(folder, files):
    """A table of so many files, of which some went in version 1."""
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    schema = {"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]}
    head = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": {"id": "b", "format": {"provider": "parquet", "options": {}}, "schemaString": json.dumps(schema),
                      "partitionColumns": [], "configuration": {}, "createdTime": 1}},
    ]
    stats = json.dumps({"numRecords": 100, "minValues": {"id": 0}, "maxValues": {"id": 99}, "nullCount": {"id": 0}})
    back = min(BACK, files // 2)
    with open(log / f"{0:020}.json", "w") as lines:
        for action in head:
            print(json.dumps(action), file=lines)
        for n in range(files):
            add = {"path": f"part-{n:07}.parquet", "partitionValues": {}, "size": 1000, "modificationTime": 1,
                   "dataChange": True, "stats": stats}
            print(json.dumps({"add": add}), file=lines)
    with open(log / f"{1:020}.json", "w") as lines:
        print(json.dumps({"commitInfo": {"timestamp": 2, "operation": "DELETE"}}), file=lines)
        for n in range(back):
            remove = {"path": f"part-{n:07}.parquet", "dataChange": True, "deletionTimestamp": 2,
                      "extendedFileMetadata": True, "partitionValues": {}, "size": 1000, "stats": stats}
            print(json.dumps({"remove": remove}), file=lines)
    for n in range(back):
        (folder / f"part-{n:07}.parquet").touch()
    return back


def timed(command):
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}")
    return json.loads(done.stdout), time.perf_counter() - started


def restores(tidemark, runs):
    """Whether the target is met."""
    met = True
    for files, target in SIZES:
        with tempfile.TemporaryDirectory() as scratch:
            table = Path(scratch) / "table"
            back = write(table, files)
            ours, peers = [], []
            for run in range(runs):
                for which, costs in (("ours", ours), ("peer", peers)):
                    copy = Path(scratch) / f"{which}-{run}"
                    # Data files are empty and never read: a link is as good as a copy.
                    shutil.copytree(table, copy, copy_function=os.link)
                    if which == "ours":
                        command = [tidemark, "restore", copy, "--version", "0", "--apply", "--json"]
                        answer, seconds = timed(command)
                        assert answer["applied"]["proven_files"] == files, answer
                        costs.append((seconds, answer["applied"]["took_ms"]))
                    elif target:
                        answer, seconds = timed([sys.executable, PEER, "restore", copy])
                        assert answer["files"] == files, answer
                        costs.append((seconds, 0))
                    shutil.rmtree(copy, ignore_errors=True)
        seconds, took = min(ours)
        print(f"(d) restore on {files:,} files, {back:,} of which come back")
        print(f"  tidemark   {seconds:8.3f} s  of which put and proof {took} ms")
        if target:
            faster = min(peers)[0] / seconds
            ok = faster >= target
            met = met and ok
            print(f"  deltalake  {min(peers)[0]:8.3f} s")
            print(f"  {faster:.1f} times faster (target {target}): {'met' if ok else 'MISSED'}", flush=True)
    return met
