"""What deltalake would vacuum, and what deltalake and DuckDB read: `vacuumed.py < lines of {"table"}`.

Answers one line of JSON a table: `listed`, the keys that deltalake's FULL dry run with no retention
names; `files` and `rows` of the newest version. What a peer cannot do is named with its error.
"""

import json
import sys
import urllib.parse

import pyarrow as pa
from deltalake import DeltaTable

from duck import duck


def listed(connection, table):
    found = DeltaTable(table).vacuum(
        retention_hours=0, enforce_retention_duration=False, dry_run=True, full=True
    )
    return sorted(found)


def files(connection, table):
    adds = pa.table(DeltaTable(table).get_add_actions(flatten=False))
    return sorted(urllib.parse.unquote(path) for path in adds["path"].to_pylist())


def rows(connection, table):
    name = table.replace("'", "''")
    return connection.execute(f"select count(*) from delta_scan('{name}')").fetchone()[0]


def main():
    connection = duck()
    for line in sys.stdin:
        table = json.loads(line)["table"]
        facts = {"table": table, "errors": []}
        for ask in (listed, files, rows):
            try:
                facts[ask.__name__] = ask(connection, table)
            except BaseException as error:
                text = str(error).splitlines()
                facts["errors"].append(text[0] if text else repr(error))
        print(json.dumps(facts), flush=True)


main()
