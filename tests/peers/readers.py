"""What deltalake and DuckDB read of a table, one line of JSON a version: `readers.py TABLE VERSION…`.

Files and bytes are deltalake's, rows are what DuckDB counts in the data files themselves; `null`
where a data file is gone.
"""

import json
import os
import sys
import urllib.parse

import pyarrow as pa
from deltalake import DeltaTable

from duck import duck


def main(table, versions):
    connection = duck()
    for version in versions:
        adds = pa.table(DeltaTable(table, version=int(version)).get_add_actions(flatten=False))
        keys = [urllib.parse.unquote(path) for path in adds["path"].to_pylist()]
        rows = None
        if all(os.path.exists(f"{table}/{key}") for key in keys):
            count = f"select count(*) from delta_scan('{table}', version = {version})"
            rows = connection.execute(count).fetchone()[0]
        facts = {
            "version": int(version),
            "files": adds.num_rows,
            "bytes": sum(adds["size_bytes"].to_pylist()),
            "rows": rows,
        }
        print(json.dumps(facts), flush=True)


main(sys.argv[1], sys.argv[2:])
