"""Readers that stream a table over a restore: each case is written twice, so that Spark restores one
and Tidemark the other, and readers that had got to the newest version go on over either.
"""

import os
import re
import shutil

TARGET = 1
PLAIN = "create table TABLE_ (id bigint, part int) using delta AT_ partitioned by (part)"
MAPPED = """create table TABLE_ (id bigint, part int, n int, sure int not null) using delta AT_ partitioned by (part)
            tblproperties ('delta.columnMapping.mode'='name', 'delta.enableTypeWidening'='true')"""


def adds(run):
    run("delete from TABLE_ where part = 1")


def removes(run):
    run("insert into TABLE_ select * from TABLE_")


def both(run):
    run("update TABLE_ set id = id + 1000 where id in (1, 2)")
    run("insert into TABLE_ values (200, 1)")


def vectors(run):
    run("alter table TABLE_ set tblproperties ('delta.enableDeletionVectors'='true')")
    run("delete from TABLE_ where id in (3, 4)")


def properties(run):
    run("alter table TABLE_ set tblproperties ('note'='mine')")


def replaced(run):
    run(f"create or replace {PLAIN.removeprefix('create')}")
    run("insert into TABLE_ values (300, 1)")


def narrower(run):
    run("alter table TABLE_ add columns (note string)")


def narrower_with_files(run):
    run("alter table TABLE_ alter column sure drop not null")
    run("insert into TABLE_ values (200, 1, 1, null)")


def wider(run):
    run("alter table TABLE_ drop column n")


def dropped(run):
    run("alter table TABLE_ add columns (note string)")


def renamed(run):
    run("alter table TABLE_ rename column id to number")


def widened(run):
    run("alter table TABLE_ alter column n type bigint")


# What is done after version 1, to a table of which columns, and the options that a reader is given
# afterwards: without any it is `none`.
FILES = ["none", "ignoreDeletes", "ignoreChanges", "skipChangeCommits"]
SETTINGS = ["none", "skipChangeCommits"]
CASES = {
    f"streams_{act.__name__}": (act, create, options)
    for create, options, acts in [
        (PLAIN, FILES, [adds, removes, both, vectors]),
        (PLAIN, SETTINGS, [properties, replaced, narrower]),
        (MAPPED, SETTINGS, [narrower_with_files, wider, dropped, renamed, widened]),
    ]
    for act in acts
}


class Reader:
    """A stream of the table, as far as it gets."""

    def __init__(self, run, table, checkpoint, option, **trigger):
        self.rows = []
        reader = run.spark.readStream.format("delta")
        if option != "none":
            reader = reader.option(option, "true")
        stream = reader.load(run.location(table)).writeStream.foreachBatch(self.keep)
        self.query = stream.trigger(**trigger).option("checkpointLocation", checkpoint).start()

    def keep(self, frame, _):
        self.rows.extend(str(row.asDict()) for row in frame.collect())

    def end(self):
        """The rows that came since it was asked last, and the error that stopped it."""
        error = None
        try:
            self.query.processAllAvailable()
        except Exception as failure:
            named = re.search(r"\b(DELTA|DIFFERENT_DELTA)_[A-Z_]+", str(failure))
            error = named[0] if named else str(failure)[:2000]
        rows, self.rows = sorted(self.rows), []
        return {"rows": rows, "error": error}


def write(run, case, table):
    act, create, _ = CASES[case]

    def statement(text):
        run.quietly(text.replace("TABLE_", table).replace("AT_", f"location '{run.location(table)}'"))

    statement(create)
    more = ", id, 1" if create == MAPPED else ""
    statement(f"insert into TABLE_ select id, cast(id % 2 as int){more} from range(0, 10, 1, 1)")
    act(statement)


def stream(run):
    """Says for each option, and for a reader that never stopped, how it ended over Spark's restore and
    how over ours."""
    case, (_, _, options) = run.table, CASES[run.table]
    tables = theirs, ours = f"{case}_by_spark", f"{case}_by_us"
    scratch = {table: f"{os.environ['SPARK_SCRATCH']}/{table}" for table in tables}
    running = []
    for table in tables:
        write(run, case, table)
        reader = Reader(run, table, f"{scratch[table]}/running", "none", processingTime="1 second")
        read = reader.end()
        assert read["rows"] and not read["error"], read
        running.append(reader)
        for option in options:
            shutil.copytree(f"{scratch[table]}/running", f"{scratch[table]}/{option}")
    run.quietly(f"restore table {theirs} to version as of {TARGET}")
    run.desk.say(table=case, streams=ours, target=TARGET)
    run.desk.wait(case)
    ends = {"running": [reader.end() for reader in running]}
    for reader in running:
        reader.query.stop()
    for option in options:
        readers = [Reader(run, table, f"{scratch[table]}/{option}", option, availableNow=True) for table in tables]
        ends[option] = [reader.end() for reader in readers]
    run.desk.say(table=case, ends=ends)
    run.desk.wait(case)
