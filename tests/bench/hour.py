"""(g): an hour of 20,000 tiny objects compacted into a run, on local disk.

    hour.py TIDEMARK BENCH_HOUR FOLDER [--runs N]

The objects are written once. Each run begins with them alone: markers and runs of the one before are
deleted. Wall time is the best of N runs, memory the worst. Ends with 1 where rows are lost, where the
run is not what the marker says, where a compaction held 512 MiB or more, or said nothing of how far
it was.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OBJECTS, ROWS = 20_000, 50
MEMORY = 512
TARGET = 16 * 2**20
HOUR = "learning/progress/event_date=2026-11-10/hour=13"
OF_HOUR = ["learning.progress", "--date", "2026-11-10", "--hour", "13"]
CONFIG = """
[[zone]]
name = "raw"
url = "file://{folder}/"

[[dataset]]
name = "learning.progress"
zone = "raw"
prefix = "learning/progress/"
partition = ["event_date", "hour"]
event_time = "event_time"
definition_version = "progress-raw-1"
close_after = "1s"
columns = {{ event_id = "string", learner_id = "string", course_id = "string", lesson_id = "string", event_time = "timestamp", event_type = "string" }}
"""


def again(folder):
    """Leaves the loose keys alone."""
    shutil.rmtree(folder / "learning/progress/_markers", ignore_errors=True)
    for run in (folder / HOUR).glob("run_id=*"):
        shutil.rmtree(run)


def peak(process):
    """MiB that a process has held at most so far. What the kernel tells of an ended one counts the
    process that it was forked from, too."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return 0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) / 1024 if lines else 0


def compact(tidemark, config):
    """Compacts the hour; gives what was said, what was said of how far it was, seconds and peak MiB."""
    command = [tidemark, "--config", str(config), "compact", *OF_HOUR, "--target-size", str(TARGET), "--apply", "--json"]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        memory = 0
        while process.poll() is None:
            memory = max(memory, peak(process))
            time.sleep(0.01)
        seconds = time.perf_counter() - started
        output.seek(0)
        errors.seek(0)
        answer, told = output.read(), errors.read().decode()
    if process.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} ended with {process.returncode}: {told}")
    return json.loads(answer), [json.loads(line) for line in told.splitlines()], seconds, memory


def rows_of(files):
    import duckdb

    (row,) = duckdb.sql(f"select count(*), count(distinct event_id) from read_parquet('{files}/*.parquet')").fetchall()
    return row


def hour(tidemark, writer, folder, runs):
    """Whether the rows add up and the memory is bounded."""
    folder = Path(folder).absolute() / "hour"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([writer, folder, str(OBJECTS), str(ROWS)], check=True)
        (folder / "complete").touch()
        # A sink that put a key a moment ago has not left.
        time.sleep(3)
    config = folder.with_suffix(".toml")
    config.write_text(CONFIG.format(folder=folder))
    before = rows_of(folder / HOUR)
    costs, ok = [], True
    for _ in range(runs):
        again(folder)
        told, steps, *cost = compact(tidemark, config)
        costs.append(cost)
        run = folder / HOUR / f"run_id={told['marker']['run_id']}"
        sizes = [path.stat().st_size for path in run.iterdir()]
        after = rows_of(run)
        wrong = [
            what
            for what, holds in {
                f"{told['outcome']}, {told['state']}": (told["outcome"], told["state"]) == ("published", "closed"),
                f"{before} rows became {after}": before == after == (OBJECTS * ROWS, OBJECTS * ROWS),
                "the marker counts otherwise": (len(sizes), sum(sizes))
                == (told["marker"]["object_count"], told["marker"]["bytes"]),
                "loose keys are gone": len(list((folder / HOUR).glob("*.parquet"))) == OBJECTS,
                "nothing was said of how far it was": len(steps) > 0 and all(step["of"] for step in steps),
            }.items()
            if not holds
        ]
        for what in wrong:
            print(f"    wrong: {what}")
        ok &= not wrong
    # What was superseded would be counted by the next run.
    again(folder)
    seconds, memory = min(cost[0] for cost in costs), max(cost[1] for cost in costs)
    ok &= memory < MEMORY
    mib = ", ".join(f"{size / 2**20:.1f}" for size in sorted(sizes))
    print(f"(g) an hour of {OBJECTS:,} objects and {before[0]:,} rows compacted: {seconds:.2f} s, {memory:.0f} MiB "
          f"(under {MEMORY} wanted), of {', '.join(format(cost[0], '.2f') for cost in costs)}")
    print(f"    {len(sizes)} objects of {mib} MiB, aimed at {TARGET / 2**20:.0f}; how far it was, told {len(steps)} times: "
          f"{'ok' if ok else 'MISSED'}", flush=True)
    return ok


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tidemark")
    parser.add_argument("writer")
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    sys.exit(0 if hour(given.tidemark, given.writer, given.folder, given.runs) else 1)
