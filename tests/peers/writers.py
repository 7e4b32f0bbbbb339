"""Writes Delta tables with published engines, one statement at a time.

    writers.py deltalake|pysail FOLDER

After each statement one line of JSON on standard output says what the engines hold to be true of
the table now; the next statement waits for a line on standard input, so that whoever asks can look
at the table as it is.
"""

import json
import os
import sys
import urllib.parse

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, QueryBuilder, write_deltalake

from sails import sails


def key_of(folder, path):
    """add.path is percent-encoded once; the object's key is what exists on disk."""
    return path if os.path.exists(f"{folder}/{path}") else urllib.parse.unquote(path)


def facts(folder, statement, rows=None):
    table = DeltaTable(folder)
    adds = pa.table(table.get_add_actions(flatten=True))
    if rows is None and adds.num_rows == 0:
        rows = 0
    elif rows is None:
        count = QueryBuilder().register("t", table).execute("select count(*) as n from t")
        rows = pa.table(count.read_all())["n"].to_pylist()[0]
    metadata, protocol = table.metadata(), table.protocol()
    sizes = adds["size_bytes"].to_pylist()
    keys = [key_of(folder, path) for path in adds["path"].to_pylist()]
    return {
        "table": folder,
        "statement": statement,
        "version": table.version(),
        "files": sorted(zip(keys, sizes)),
        "rows": rows,
        "schema": json.loads(table.schema().to_json()),
        "partition_columns": metadata.partition_columns,
        "properties": metadata.configuration,
        "min_reader_version": protocol.min_reader_version,
        "min_writer_version": protocol.min_writer_version,
        "history": [
            [h["version"], h.get("operation"), h.get("timestamp")] for h in table.history()
        ],
    }


def say(folder, statement, rows=None):
    print(json.dumps(facts(folder, statement, rows)), flush=True)
    if not sys.stdin.readline():
        sys.exit("nobody is listening")


def learners(start, count, regions=("US", "UK", "DE")):
    ids = range(start, start + count)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "region": pa.array([regions[i % len(regions)] for i in ids], pa.string()),
            "score": pa.array([i / 4 for i in ids], pa.float64()),
            "seen": pa.array([i * 1_000_000 for i in ids], pa.timestamp("us", tz="UTC")),
        }
    )


def every_statement(folder):
    """A partitioned table through everything that deltalake can do to one."""
    write_deltalake(folder, learners(0, 90), partition_by=["region"], name="learners")
    say(folder, "create")
    for start in (100, 200, 300):
        write_deltalake(folder, learners(start, 30), mode="append")
        say(folder, "append")
    table = DeltaTable(folder)
    table.delete("id % 10 = 3")
    say(folder, "delete some rows")
    table.delete("region = 'DE'")
    say(folder, "delete a partition")
    table.update(updates={"score": "score + 1"}, predicate="id < 20")
    say(folder, "update")
    source = learners(10, 120, ("US", "IN"))
    merge = table.merge(source, "t.id = s.id", source_alias="s", target_alias="t")
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    say(folder, "merge")
    table.create_checkpoint()
    say(folder, "checkpoint")
    write_deltalake(folder, learners(1000, 12), mode="append")
    say(folder, "append after the checkpoint")
    more = learners(2000, 6).append_column("plan", pa.array(["pro"] * 6))
    write_deltalake(folder, more, mode="append", schema_mode="merge")
    say(folder, "add a column")
    table = DeltaTable(folder)
    table.optimize.compact()
    say(folder, "compact")
    table.alter.add_constraint({"id_is_positive": "id >= 0"})
    say(folder, "add a constraint")
    table = DeltaTable(folder)
    table.alter.set_table_properties({"delta.logRetentionDuration": "interval 3 days"})
    say(folder, "set a property")
    table = DeltaTable(folder)
    table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    say(folder, "vacuum")
    write_deltalake(folder, more, mode="overwrite", predicate="id >= 2000")
    say(folder, "overwrite where")
    before = DeltaTable(folder).version()
    reason = CommitProperties(custom_metadata={"why": "a reload, \u201cby hand\u201d"})
    write_deltalake(folder, more, mode="overwrite", commit_properties=reason)
    say(folder, "overwrite everything")
    DeltaTable(folder).restore(before)
    say(folder, "restore")
    table = DeltaTable(folder)
    table.create_checkpoint()
    table.optimize.z_order(["id"])
    say(folder, "z-order")
    write_deltalake(folder, learners(0, 4).select(["id", "score"]), mode="overwrite", schema_mode="overwrite", partition_by=[])
    say(folder, "overwrite with another schema and no partitions")


def odd_partitions(folder):
    """Values that have to be encoded in keys, and null."""
    values = ["A/A", "B B", "R&D", "100%", "a%20b", "2024-01-01 10:00:00", "\u00e9", "\u6771\u4eac",
              "a+b", "a?b#c", "[x]", "p=q", None]
    rows = pa.table({"x": pa.array(values, pa.string()), "n": pa.array(range(len(values)), pa.int32())})
    write_deltalake(folder, rows, partition_by=["x"])
    say(folder, "create")
    write_deltalake(folder, rows, mode="append")
    say(folder, "append")
    DeltaTable(folder).optimize.compact()
    say(folder, "compact")
    DeltaTable(folder).delete("x = 'A/A' or x is null")
    say(folder, "delete")
    # deltalake writes this one and cannot find it again to rewrite it.
    rows = pa.table({"x": pa.array(["a~b"]), "n": pa.array([1], pa.int32())})
    write_deltalake(folder, rows, mode="append")
    say(folder, "append a tilde")


def nested_types(folder):
    rows = pa.table(
        {
            "s": pa.array([{"a": 1, "b": {"c": "x"}}, None], pa.struct([("a", pa.int16()), ("b", pa.struct([("c", pa.string())]))])),
            "l": pa.array([[1, 2], []], pa.list_(pa.int8())),
            "m": pa.array([[("k", 1.5)], None], pa.map_(pa.string(), pa.float32())),
            "d": pa.array([None, 125], pa.decimal128(12, 3)),
            "b": pa.array([b"\x00", None], pa.binary()),
            "day": pa.array([1, 2], pa.date32()),
            "t": pa.array([True, None], pa.bool_()),
            "ntz": pa.array([5, None], pa.timestamp("us")),
        }
    )
    write_deltalake(folder, rows)
    say(folder, "create")
    DeltaTable(folder).create_checkpoint()
    write_deltalake(folder, rows, mode="append")
    say(folder, "append after the checkpoint")


def long_log(folder):
    """A log with compactions, a checkpoint, and its old commits cleaned away."""
    properties = {"delta.logRetentionDuration": "interval 0 seconds", "delta.checkpointInterval": "1000"}
    write_deltalake(folder, learners(0, 2), configuration=properties)
    for n in range(1, 24):
        write_deltalake(folder, learners(n * 10, 2), mode="append")
        if n in (7, 15):
            DeltaTable(folder).delete(f"id < {n * 5}")
    say(folder, "appends and deletes")
    DeltaTable(folder).compact_logs(2, 9)
    DeltaTable(folder).compact_logs(10, 20)
    say(folder, "log compaction")
    DeltaTable(folder).create_checkpoint()
    write_deltalake(folder, learners(900, 2), mode="append")
    DeltaTable(folder).cleanup_metadata()
    say(folder, "old commits cleaned")
    write_deltalake(folder, learners(910, 2), mode="append")
    say(folder, "append")


def mapped(mode):
    def write(folder):
        properties = {"delta.columnMapping.mode": mode, "delta.minReaderVersion": "2", "delta.minWriterVersion": "5"}
        write_deltalake(folder, learners(0, 9), partition_by=["region"], configuration=properties)
        say(folder, "create")
        write_deltalake(folder, learners(50, 9), mode="append")
        say(folder, "append")

    return write


SAIL = {
    "plain": "",
    "column mapping by name": "'delta.columnMapping.mode'='name'",
    "column mapping by id": "'delta.columnMapping.mode'='id'",
    "deletion vectors": "'delta.enableDeletionVectors'='true'",
    "in-commit timestamps": "'delta.enableInCommitTimestamps'='true'",
    "checkpoints": "'delta.checkpointInterval'='3'",
    "v2 checkpoints": "'delta.checkpointPolicy'='v2','delta.checkpointInterval'='3'",
    "vectors and v2 checkpoints": "'delta.enableDeletionVectors'='true','delta.checkpointPolicy'='v2','delta.checkpointInterval'='2'",
}


def sail(spark, name, properties, folder):
    """The same statements on a table of each feature that Sail can write."""
    table = name.replace(" ", "_").replace("-", "_")
    given = f"tblproperties ({properties})" if properties else ""

    def run(statement):
        spark.sql(statement.replace("TABLE", table)).collect()
        rows = spark.sql(f"select count(*) from {table}").collect()[0][0]
        say(folder, f"{name}: {statement}", rows)

    run(f"create table TABLE (id bigint, region string, score double) using delta location '{folder}' partitioned by (region) {given}")
    run("insert into TABLE values (1,'US',1.5),(2,'UK',2.5),(3,null,3.5),(4,'US',4.5),(5,'US',5.5)")
    run("insert into TABLE values (6,'UK',1.5),(7,'DE',2.5),(8,'US',0.5)")
    run("delete from TABLE where id in (1, 6)")
    run("update TABLE set score = 9 where id = 2")
    run("delete from TABLE where id = 4")
    run("merge into TABLE using (select 5 id, 'US' region, 8.0 score union all select 9, 'FR', 1.0) s "
        "on TABLE.id = s.id when matched then update set score = s.score "
        "when not matched then insert (id, region, score) values (s.id, s.region, s.score)")
    run("insert overwrite TABLE values (1,'US',1.5),(2,'UK',2.5)")


def main(engine, folder):
    if engine == "deltalake":
        every_statement(f"{folder}/every statement")
        odd_partitions(f"{folder}/odd")
        nested_types(f"{folder}/nested")
        long_log(f"{folder}/long")
        mapped("name")(f"{folder}/mapped by name")
        mapped("id")(f"{folder}/mapped by id")
        return
    with sails() as spark:
        for name, properties in SAIL.items():
            sail(spark, name, properties, f"{folder}/{name.replace(' ', '-')}")


main(*sys.argv[1:])
