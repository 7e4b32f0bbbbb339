"""Every row of some versions as deltalake, DuckDB and Sail read it: `rows.py TABLE VERSION…`.

One line of JSON for each version and peer: how many rows there are, and a digest of all of them in an
order of their own, which is the same whoever reads the same rows. Sail reads the last version alone: it
finds none that is older than the checkpoint which `_last_checkpoint` names.
"""

import hashlib
import json
import sys

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from duck import duck
from sails import sails


def by_deltalake(table, version):
    read = QueryBuilder().register("t", DeltaTable(table, version=version)).execute("select * from t")
    return pa.table(read.read_all())


def digest(rows):
    columns = []
    for name in sorted(rows.column_names):
        column = rows[name]
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us", column.type.tz and "UTC"))
        columns.append(column.to_pylist())
    lines = sorted(map(repr, zip(*columns)))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def main(table, versions):
    connection = duck()
    name = table.replace("'", "''")
    with sails() as spark:
        peers = {
            "deltalake": by_deltalake,
            "duckdb": lambda _, v: connection.execute(f"select * from delta_scan('{name}', version = {v})").to_arrow_table(),
            "pysail": lambda _, v: spark.read.format("delta").option("versionAsOf", v).load(table).toArrow(),
        }
        for version in map(int, versions):
            for peer, read in peers.items():
                if peer == "pysail" and str(version) != versions[-1]:
                    continue
                rows = read(table, version)
                facts = {"version": version, "peer": peer, "rows": rows.num_rows, "digest": digest(rows)}
                print(json.dumps(facts), flush=True)


main(sys.argv[1], sys.argv[2:])
