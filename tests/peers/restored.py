"""What deltalake and DuckDB read of many tables: `restored.py < lines of {"table", "versions"}`.

Answers one line of JSON a table and version: files, bytes and records by deltalake, rows that DuckDB
counts in the data files. A peer that cannot read is named with its error and has no figures.
"""

import json
import os
import sys
import urllib.parse

import pyarrow as pa
from deltalake import DeltaTable

from duck import duck


def by_deltalake(table, version):
    adds = pa.table(DeltaTable(table, version=version).get_add_actions(flatten=False))
    files = sorted(zip(adds["path"].to_pylist(), adds["size_bytes"].to_pylist()))
    return {"files": [[urllib.parse.unquote(path), size] for path, size in files]}


def by_duckdb(connection, table, version):
    name = table.replace("'", "''")
    count = f"select count(*) from delta_scan('{name}', version = {version})"
    return {"rows": connection.execute(count).fetchone()[0]}


def main():
    connection = duck()
    for line in sys.stdin:
        asked = json.loads(line)
        for version in asked["versions"]:
            facts = {"table": asked["table"], "version": version, "errors": []}
            for peer in (by_deltalake, lambda t, v: by_duckdb(connection, t, v)):
                try:
                    facts.update(peer(asked["table"], version))
                except BaseException as error:
                    facts["errors"].append(str(error).splitlines()[0] if str(error) else repr(error))
            print(json.dumps(facts), flush=True)


main()
