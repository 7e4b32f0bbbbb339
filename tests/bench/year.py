"""(h): a year of a dataset in the browser, 8,760 hours and 105,120 objects on local disk.

    year.py BENCH_HOURS TIDEMARK FOLDER [--runs N]

From an empty cache: what the browser asks for, whether the first cells come before the last listing
has ended, and how smoothly the grid goes from the newest day to the oldest, by the wheel and by a
key that is held. Of all runs the worst counts. Ends with 1 where a target is missed.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

FRAMES, ELEMENTS, REQUESTS = 50, 3000, 250


def year(command, tidemark, folder, runs):
    folder = Path(folder) / "year"
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "TIDEMARK_BIN": tidemark}
    told = subprocess.run([command, str(folder), str(runs)], env=environment, stdout=subprocess.PIPE, check=True)
    costs = json.loads(told.stdout)
    ways = [cost[way] for cost in costs for way in ("wheel", "keys")]
    frames = min(way["per_second"] for way in ways)
    elements = max(way["elements"] for way in ways)
    requests = max(cost["requests"] for cost in costs)
    ahead = min(cost["cells_before_last_list"] for cost in costs)
    ok = frames >= FRAMES and elements < ELEMENTS and requests <= REQUESTS and ahead > 0
    print("(h) a year of a dataset in the browser: 8,760 hours, 105,120 objects")
    print(f"  whole after {min(cost['seconds'] for cost in costs):.2f} s, first cells {ahead:.2f} s before the last "
          f"listing ended (target: before), {requests} requests (target {REQUESTS})")
    for way in ("wheel", "keys", "bare"):
        told = ", ".join(f"{cost[way]['per_second']:.1f} (longest {cost[way]['longest']:.0f} ms)" for cost in costs)
        name = "of an empty page" if way == "bare" else f"by {way}"
        target = "" if way == "bare" else f" (target {FRAMES})"
        print(f"  frames a second {name:16}  {told}{target}")
    print(f"  {elements:,} elements (target under {ELEMENTS:,}): {'met' if ok else 'MISSED'}", flush=True)
    return ok


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bench_hours")
    parser.add_argument("tidemark")
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=1)
    given = parser.parse_args()
    sys.exit(0 if year(given.bench_hours, given.tidemark, given.folder, given.runs) else 1)
