"""Tidemark beside deltalake and DuckDB, on the same files, in one run.

    bench.py TIDEMARK FOLDER [--runs N] [--page BENCH_PAGE] [--gate BENCH_GATE]
             [--hour BENCH_HOUR] [--hours BENCH_HOURS]

Every measurement is a process of its own, from its start to its end: wall time is the best of N
runs, which alternate so that both find the same caches, and memory is the peak of the same run.
The answers are compared too. With BENCH_PAGE the layout of (a) is opened in a browser as well. Ends
with 1 where a target is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import deltalake

from gate import gate
from hour import hour
from pack import packs
from restore import restores
from year import year

PEER = Path(__file__).with_name("peer.py")
# (name, folder, what ours is asked, what the peer is asked, times faster)
CASES = [
    ("(a) a million files behind a checkpoint: open, layout", "files", ["layout"], "layout", 5),
    ("(b) a hundred thousand JSON commits replayed: snapshot", "commits", ["snapshot"], "snapshot", 5),
    ("(c) newest 50 commits of (b): history", "commits", ["history", "--limit", "50"], "history", 100),
]
MEMORY = 0.5
# Of the page: milliseconds of its longest task, and MiB of its worker.
LONGEST_TASK, WORKER = 100, 1024


def measure(command):
    """Runs a command; gives its output, seconds and peak MiB."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} ended with {process.returncode}")
    return json.loads(output), seconds, usage.ru_maxrss / 1024


def ours_to_compare(answer, what):
    if what == "history":
        return {"commits": [commit["version"] for commit in answer["commits"]]}
    if what == "layout":
        return {"files": answer["files"], "bytes": answer["bytes"], "partitions": len(answer["partitions"])}
    return {key: answer[key] for key in ("version", "files", "bytes", "rows")}


def compare(tidemark, case, folder, runs):
    name, table, ask, what, target = case
    where = str(Path(folder) / table)
    ours_command = [tidemark, ask[0], where, *ask[1:], "--json"]
    peer_command = [sys.executable, str(PEER), what, where]
    ours, peers = [], []
    for _ in range(runs):
        answer, *cost = measure(ours_command)
        ours.append(cost)
        theirs, *cost = measure(peer_command)
        peers.append(cost)
        mine = ours_to_compare(answer, what)
        if mine != theirs:
            sys.exit(f"bench: {name}: the answers differ\n  ours   {mine}\n  theirs {theirs}")
    (our_time, our_memory), (peer_time, peer_memory) = min(ours), min(peers)
    faster, smaller = peer_time / our_time, our_memory / peer_memory
    ok = faster >= target and smaller <= MEMORY
    print(name)
    print(f"  tidemark   {our_time:8.3f} s  {our_memory:8.0f} MiB    of {seconds_of(ours)}")
    print(f"  deltalake  {peer_time:8.3f} s  {peer_memory:8.0f} MiB    of {seconds_of(peers)}")
    print(f"  {faster:.1f} times faster (target {target}), {smaller:.2f} of the memory (target {MEMORY}): "
          f"{verdict(ok)}", flush=True)
    return ok, peer_time, answer


def browse(command, folder, layout, peer_time, runs):
    """The layout of (a) in a browser: from an empty cache to the figure on the page."""
    text = f"{layout['files']:,} files"
    tidemark = {**os.environ, "TIDEMARK_BIN": command[1]}
    where = str(Path(folder) / "files")
    told = subprocess.run([command[0], where, text, str(runs)], env=tidemark, stdout=subprocess.PIPE, check=True)
    costs = json.loads(told.stdout)
    seconds = min(cost["seconds"] for cost in costs)
    # Of all runs the worst: nothing may block, ever.
    longest = max((took for cost in costs for _, took in cost["long_tasks"]), default=0)
    worker = max(cost["worker_bytes"] for cost in costs) / 2**20
    ok = seconds < peer_time and longest <= LONGEST_TASK and worker < WORKER
    print("(a) in the browser: the page opened at the layout, read by the worker")
    print(f"  tidemark   {seconds:8.3f} s  {worker:8.0f} MiB    of "
          f"{', '.join(format(cost['seconds'], '.2f') for cost in costs)}")
    # The browser tells of tasks from 50 ms on.
    blocked = f"{longest:.0f}" if longest else "under 50"
    print(f"  {peer_time / seconds:.1f} times faster than deltalake (target 1), longest task of the page {blocked} ms "
          f"(target {LONGEST_TASK}), worker under {WORKER} MiB: {verdict(ok)}", flush=True)
    return ok


def verdict(ok):
    return "met" if ok else "MISSED"


def seconds_of(costs):
    return ", ".join(f"{seconds:.2f}" for seconds, _ in costs)


def log_of(folder):
    log = Path(folder) / "_delta_log"
    sizes = [entry.stat().st_size for entry in os.scandir(log)]
    return f"{len(sizes):,} objects, {sum(sizes) / 2**20:,.0f} MiB"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tidemark")
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", help="a, b, c, d, e, f, g or h")
    parser.add_argument("--gate", help="the program that asks whether lines are complete")
    parser.add_argument("--hour", help="the program that writes an hour of tiny objects")
    parser.add_argument("--hours", help="the program that scrolls through a year in a browser")
    parser.add_argument("--page", help="the program that opens a layout in a browser")
    given = parser.parse_args()
    for table in ("files", "commits"):
        print(f"{given.folder}/{table}: {log_of(Path(given.folder) / table)}")
    print(f"deltalake {deltalake.__version__}, best of {given.runs} runs each, {os.cpu_count()} cores\n")
    cases = [case for case in CASES if given.only in (None, case[0][1])]
    met = []
    for case in cases:
        ok, peer_time, answer = compare(given.tidemark, case, given.folder, given.runs)
        met.append(ok)
        if given.page and case[3] == "layout":
            met.append(browse((given.page, given.tidemark), given.folder, answer, peer_time, given.runs))
    if given.only in (None, "d"):
        met.append(restores(given.tidemark, given.runs))
    if given.only in (None, "e"):
        met.append(packs(given.tidemark))
    if given.gate and given.only in (None, "f"):
        met.append(gate(given.gate, given.folder, given.runs))
    if given.hour and given.only in (None, "g"):
        met.append(hour(given.tidemark, given.hour, given.folder, given.runs))
    if given.hours and given.only in (None, "h"):
        met.append(year(given.hours, given.tidemark, given.folder, given.runs))
    sys.exit(0 if all(met) else 1)


main()
