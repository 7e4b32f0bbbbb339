"""Files of two GiB packed into larger ones: how much memory that takes, how long, and whether every
row is still there. `pack.py TIDEMARK`, alone or from bench.py.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

# MiB that a packing may take at most, whatever the files.
MEMORY = 512
GIB = 1 << 30
ROWS = 1 << 20
# Bytes of a row: a number and a value that nothing compresses.
WIDTH = 120


def batch(first, rows):
    values = pa.py_buffer(os.urandom(rows * WIDTH))
    values = pa.Array.from_buffers(pa.binary(WIDTH), rows, [None, values]).cast(pa.binary())
    return pa.table({"id": pa.array(range(first, first + rows), pa.int64()), "value": values})


def write(path, size, first, whole, index):
    """A file of about so many bytes, in row groups of 125 MiB or in one."""
    rows = 0
    schema = batch(0, 1).schema
    with pq.ParquetWriter(path, schema, compression="snappy", use_dictionary=False, write_page_index=index) as file:
        if whole:
            tables = [batch(first + at, ROWS) for at in range(0, size // (WIDTH + 8), ROWS)]
            table = pa.concat_tables(tables)
            file.write_table(table, row_group_size=len(table))
            return len(table)
        while rows * (WIDTH + 8) < size:
            more = min(ROWS, size // (WIDTH + 8) - rows)
            file.write_table(batch(first + rows, more), row_group_size=ROWS)
            rows += more
    return rows


def table(folder, partitions, whole, index):
    """A table with a large and a small file in each partition; its rows."""
    (folder / "_delta_log").mkdir(parents=True)
    field = lambda name, kind: {"name": name, "type": kind, "nullable": True, "metadata": {}}
    schema = {"type": "struct", "fields": [field("id", "long"), field("value", "binary"), field("p", "long")]}
    log = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": {"id": "b", "format": {"provider": "parquet", "options": {}}, "schemaString": json.dumps(schema),
                      "partitionColumns": ["p"], "configuration": {}, "createdTime": 1}},
    ]
    first = 0
    for partition in range(partitions):
        for size in (2 * GIB, 1 << 20):
            name = f"f{partition}-{size}.parquet"
            rows = write(folder / name, size, first, whole and size > GIB, index)
            first += rows
            log.append({"add": {
                "path": name, "partitionValues": {"p": str(partition)}, "size": (folder / name).stat().st_size,
                "modificationTime": 1, "dataChange": True, "stats": json.dumps({"numRecords": rows}),
            }})
    (folder / "_delta_log" / f"{0:020}.json").write_text("\n".join(map(json.dumps, log)) + "\n")
    return first


def ids(files):
    """How many ids there are, and their sum."""
    count, total = 0, 0
    for file in files:
        for piece in pq.ParquetFile(file).iter_batches(columns=["id"]):
            count += len(piece)
            total += pc.sum(piece.column(0)).as_py()
    return count, total


def measured(command):
    """Runs a command; gives its answer, seconds and peak MiB. What the system says of a child's
    memory after its end counts this process's own, too, so it is asked while it runs."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output)
        peak = 0
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text()
            own = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
            peak = max([peak, *map(int, own)])
            time.sleep(0.02)
        if process.returncode != 0:
            sys.exit(f"bench: optimize ended with {process.returncode}")
        output.seek(0)
        return json.load(output), time.perf_counter() - started, peak / 1024


def packed(tidemark, name, partitions, whole, index):
    """Whether it took no more memory than it may."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TIDEMARK_BENCH_TMP")) as scratch:
        folder = Path(scratch) / "table"
        rows = table(folder, partitions, whole, index)
        config = Path(scratch) / "tidemark.toml"
        config.write_text('[optimize]\nmin = "4GiB"\ntarget = "4GiB"\n')
        command = [tidemark, "optimize", folder, "--config", config, "--apply", "--json"]
        answer, seconds, peak = measured(command)
        assert answer["applied"]["proven_files"] == partitions, answer
        assert ids(folder.glob("p=*/*.parquet")) == (rows, rows * (rows - 1) // 2)
        gib = answer["plan"]["bytes_to_rewrite"] / GIB
        print(f"  {name}: {gib:.1f} GiB in {seconds:.1f} s, {peak:.0f} MiB of memory")
        if peak > MEMORY:
            print(f"  MISSED: {MEMORY} MiB at most")
        return peak <= MEMORY


def packs(tidemark):
    """Whether the target is met."""
    print(f"(e) files of 2 GiB packed within {MEMORY} MiB")
    cases = [
        ("row groups of 125 MiB", 1, False, True),
        ("one row group, its pages indexed", 1, True, True),
        ("one row group without an index", 1, True, False),
        ("two at once", 2, False, True),
    ]
    return all([packed(tidemark, *case) for case in cases])


if __name__ == "__main__":
    sys.exit(0 if packs(sys.argv[1]) else 1)
