"""What DuckDB and deltalake read of tables at some versions, every row of it: `packed.py < lines of
{"table", "versions"}`.

Answers one line of JSON a table and version: by each peer how many rows there are and a sum of their
hashes, which does not depend on their order. A peer that cannot read has null.
"""

import json
import sys

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from duck import duck

ROWS = "select count(*), coalesce(sum(hash(t)::hugeint), 0)::varchar from {} t"


def by_duckdb(connection, table, version):
    name = table.replace("'", "''")
    scan = f"delta_scan('{name}', version = {version})"
    return connection.execute(ROWS.format(scan)).fetchone()


def by_deltalake(connection, table, version):
    query = QueryBuilder().register("t", DeltaTable(table, version=version))
    connection.register("rows", pa.table(query.execute("select * from t").read_all()))
    return connection.execute(ROWS.format("rows")).fetchone()


def main():
    connection = duck()
    for line in sys.stdin:
        asked = json.loads(line)
        for version in asked["versions"]:
            facts = {"table": asked["table"], "version": version, "errors": []}
            for name, read in (("duckdb", by_duckdb), ("deltalake", by_deltalake)):
                try:
                    facts[name] = read(connection, asked["table"], version)
                except BaseException as error:
                    facts[name] = None
                    facts["errors"].append(str(error).splitlines()[0] if str(error) else repr(error))
            print(json.dumps(facts), flush=True)


main()
