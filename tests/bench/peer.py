"""What deltalake is asked, in a process of its own, the cheapest way to the figures that ours
gives: `peer.py layout|snapshot|history|restore TABLE`. Prints them as JSON.
"""

import json
import sys

import pyarrow as pa
from deltalake import DeltaTable


def adds(table):
    # flatten=False is cheaper: statistics stay nested and are not made columns of their own.
    return pa.table(table.get_add_actions(flatten=False))


def layout(path):
    """Files, bytes and rows by partition."""
    files = adds(DeltaTable(path))
    names = [field.name for field in files.schema.field("partition").type]
    columns = {name: pa.compute.struct_field(files["partition"], name) for name in names}
    columns |= {"bytes": files["size_bytes"], "rows": files["num_records"]}
    groups = pa.table(columns).group_by(names)
    groups = groups.aggregate([("bytes", "count"), ("bytes", "sum"), ("rows", "sum")])
    return {
        "files": files.num_rows,
        "bytes": pa.compute.sum(files["size_bytes"]).as_py(),
        "partitions": groups.num_rows,
    }


def snapshot(path):
    """Files, bytes and rows of the newest version."""
    table = DeltaTable(path)
    files = adds(table)
    return {
        "version": str(table.version()),
        "files": files.num_rows,
        "bytes": pa.compute.sum(files["size_bytes"]).as_py(),
        "rows": pa.compute.sum(files["num_records"]).as_py(),
    }


def history(path):
    """The newest 50 commits. deltalake has no way to them that does not open the table."""
    commits = DeltaTable(path).history(50)
    return {"commits": [str(commit["version"]) for commit in commits]}


def restore(path):
    """Version 0 again; the table's files afterwards."""
    table = DeltaTable(path)
    table.restore(0)
    return {"files": adds(table).num_rows}


what, where = sys.argv[1:]
print(json.dumps({"layout": layout, "snapshot": snapshot, "history": history, "restore": restore}[what](where)))
