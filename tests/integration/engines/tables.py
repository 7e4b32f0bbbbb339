"""The tables that Spark writes: each is a function named as the table, and is given what runs a
statement on it and says what came of it. `TABLE_` stands for the table, `AT_` for its location.
"""

DELETION_VECTORS = "'delta.enableDeletionVectors'='true'"
ROWS = "select id, concat('learner ', id) name, id % 3 region, cast(id / 4 as double) score from range"


def deletion_vectors(run):
    run(f"create table TABLE_ using delta AT_ tblproperties ({DELETION_VECTORS}) as {ROWS}(0, 100, 1, 2)")
    run("delete from TABLE_ where id % 10 = 3")
    run("delete from TABLE_ where id % 10 = 4")
    run("update TABLE_ set score = score + 1 where id < 5")
    run("""merge into TABLE_ t using (select id * 5 as id from range(10, 30)) s on t.id = s.id
           when matched and t.id < 60 then delete
           when matched then update set name = 'merged'
           when not matched then insert (id, name) values (s.id, 'new')
           when not matched by source and t.id = 99 then delete""")
    run("restore table TABLE_ to version as of 1")
    run("reorg table TABLE_ apply (purge)")
    run("delete from TABLE_ where id = 50")
    run("optimize TABLE_")
    run("delete from TABLE_")


def row_tracking(run):
    run(f"""create table TABLE_ (id bigint, name string) using delta AT_
            tblproperties ('delta.enableRowTracking'='true', {DELETION_VECTORS}, 'delta.checkpointInterval'='4')""")
    run("insert into TABLE_ select id, 'a' from range(0, 20, 1, 2)")
    run("insert into TABLE_ select id, 'b' from range(20, 30, 1, 1)")
    run("update TABLE_ set name = 'c' where id % 7 = 0")
    run("optimize TABLE_")
    run("delete from TABLE_ where id = 11")
    run("restore table TABLE_ to version as of 2")


def row_tracking_later(run):
    run("create table TABLE_ using delta AT_ as select id, 'a' as name from range(0, 20, 1, 2)")
    run("insert into TABLE_ select id, 'b' from range(20, 30, 1, 1)")
    run("alter table TABLE_ set tblproperties ('delta.enableRowTracking'='true')")
    run("update TABLE_ set name = 'c' where id % 7 = 0")


def in_commit_timestamps(run):
    run("""create table TABLE_ (id bigint) using delta AT_
           tblproperties ('delta.enableInCommitTimestamps'='true', 'delta.checkpointInterval'='3')""")
    for n in range(4):
        run(f"insert into TABLE_ values ({n})")
    run("delete from TABLE_ where id = 1")


def in_commit_timestamps_later(run):
    run("create table TABLE_ (id bigint) using delta AT_ tblproperties ('delta.checkpointInterval'='4')")
    run("insert into TABLE_ values (1)")
    run("alter table TABLE_ set tblproperties ('delta.enableInCommitTimestamps'='true')")
    run("insert into TABLE_ values (2)")
    run("insert into TABLE_ values (3)")
    run("delete from TABLE_ where id = 2")


def in_commit_timestamps_ended(run):
    run("create table TABLE_ (id bigint) using delta AT_ tblproperties ('delta.enableInCommitTimestamps'='true')")
    run("insert into TABLE_ values (1)")
    run("alter table TABLE_ set tblproperties ('delta.enableInCommitTimestamps'='false')")
    run("insert into TABLE_ values (2)")


def v2_checkpoints(run):
    """Sidecars of few actions each, below a checkpoint in Parquet."""
    run.conf("checkpoint.partSize", "5")
    run.conf("checkpointV2.topLevelFileFormat", "parquet")
    run(f"""create table TABLE_ (id bigint, region string) using delta AT_ partitioned by (region)
            tblproperties ('delta.checkpointPolicy'='v2', 'delta.checkpointInterval'='2', {DELETION_VECTORS})""")
    run("insert into TABLE_ select id, id % 12 from range(0, 60, 1, 1)")
    run("insert into TABLE_ select id, id % 12 from range(60, 120, 1, 1)")
    run("delete from TABLE_ where id % 9 = 4")
    run("delete from TABLE_ where region = '7'")
    run("optimize TABLE_ where region = '3'")
    run("insert into TABLE_ select id, null from range(200, 204, 1, 1)")


def v2_checkpoints_in_json(run):
    run.conf("checkpoint.partSize", "5")
    run.conf("checkpointV2.topLevelFileFormat", "json")
    run("""create table TABLE_ (id bigint, region string) using delta AT_ partitioned by (region)
           tblproperties ('delta.checkpointPolicy'='v2', 'delta.checkpointInterval'='2')""")
    run("insert into TABLE_ select id, id % 12 from range(0, 60, 1, 1)")
    run("insert into TABLE_ select id, id % 12 from range(60, 120, 1, 1)")
    run("delete from TABLE_ where id % 9 = 4")
    run("alter table TABLE_ set tblproperties ('delta.checkpointPolicy'='classic')")
    run("insert into TABLE_ select id, id % 12 from range(120, 130, 1, 1)")
    run("insert into TABLE_ select id, id % 12 from range(130, 140, 1, 1)")
    run("alter table TABLE_ unset tblproperties ('delta.checkpointPolicy')")


def multi_part_checkpoints(run):
    """Checkpoints in parts, with partition values as structs too."""
    run.conf("checkpoint.partSize", "5")
    run("""create table TABLE_ (id bigint, region string) using delta AT_ partitioned by (region)
           tblproperties ('delta.checkpointInterval'='2', 'delta.checkpoint.writeStatsAsStruct'='true')""")
    run("insert into TABLE_ select id, id % 12 from range(0, 60, 1, 1)")
    run("insert into TABLE_ select id, id % 12 from range(60, 120, 1, 1)")
    run("delete from TABLE_ where id % 9 = 4")
    run("insert into TABLE_ values (500, 'x')")


def column_mapping(run):
    run("""create table TABLE_ (id bigint, first string, s struct<a: int, b: string>, region string) using delta AT_
           partitioned by (region)""")
    run("insert into TABLE_ values (1, 'a', struct(1, 'x'), 'US'), (2, 'b', null, 'UK')")
    run("""alter table TABLE_ set tblproperties ('delta.columnMapping.mode'='name',
           'delta.minReaderVersion'='2', 'delta.minWriterVersion'='5')""")
    run("alter table TABLE_ rename column first to `given name`")
    run("insert into TABLE_ values (3, 'c', struct(3, 'z'), 'DE')")
    run("alter table TABLE_ rename column s.b to c")
    run("alter table TABLE_ rename column region to country")
    run("alter table TABLE_ drop column s.a")
    run("insert into TABLE_ values (4, 'd', struct('w'), null)")
    run("alter table TABLE_ drop column `given name`")
    run("alter table TABLE_ add column (first int after id)")
    run("insert into TABLE_ values (5, 55, struct('v'), 'US')")
    run("delete from TABLE_ where country = 'UK'")
    run("optimize TABLE_")
    run("alter table TABLE_ set tblproperties ('delta.checkpointInterval'='1')")
    run("insert into TABLE_ values (6, 66, struct('u'), 'a b')")


def column_mapping_by_id(run):
    run(f"""create table TABLE_ (id bigint, `a, b` string, l array<struct<x: int>>, m map<string, struct<y: int>>)
            using delta AT_ tblproperties ('delta.columnMapping.mode'='id', {DELETION_VECTORS})""")
    run("insert into TABLE_ values (1, 'a', array(struct(1)), map('k', struct(1))), (2, 'b', null, null)")
    run("alter table TABLE_ rename column l.element.x to z")
    run("alter table TABLE_ rename column `a, b` to `c=d`")
    run("update TABLE_ set `c=d` = 'e' where id = 2")
    run("alter table TABLE_ drop column m")
    run("insert into TABLE_ values (3, 'c', null)")


def type_widening(run):
    run("""create table TABLE_ (b tinyint, i int, f float, d decimal(10, 2), day date, s struct<x: smallint>) using delta AT_
           tblproperties ('delta.enableTypeWidening'='true', 'delta.feature.timestampNtz'='supported')""")
    run("insert into TABLE_ values (1, 2, 1.5, 2.5, date'2026-01-01', struct(3))")
    run("alter table TABLE_ alter column b type int")
    run("alter table TABLE_ alter column i type bigint")
    run("alter table TABLE_ alter column f type double")
    run("alter table TABLE_ alter column d type decimal(20, 5)")
    run("alter table TABLE_ alter column day type timestamp_ntz")
    run("alter table TABLE_ alter column s.x type int")
    run("insert into TABLE_ values (300, 5000000000, 1e300, 12345678901.12345, timestamp_ntz'2026-01-01 10:00:00', struct(70000))")
    run("alter table TABLE_ alter column b type double")
    run("optimize TABLE_")


def clustering(run):
    run(f"create table TABLE_ (id bigint, a int, b string) using delta AT_ cluster by (a, b) tblproperties ({DELETION_VECTORS})")
    run("insert into TABLE_ select id, id % 5, id % 3 from range(0, 50, 1, 2)")
    run("insert into TABLE_ select id, id % 5, id % 3 from range(50, 80, 1, 2)")
    run("optimize TABLE_")
    run("alter table TABLE_ cluster by (id)")
    run("optimize TABLE_ full")
    run("delete from TABLE_ where id < 3")
    run("alter table TABLE_ cluster by none")
    run("restore table TABLE_ to version as of 3")


def identity_and_generated(run):
    # Spark hands no such columns to this catalog, so that no statement can create them.
    delta, session = run.spark._jvm.io.delta.tables.DeltaTable, run.spark._jsparkSession
    number = delta.columnBuilder(session, "n").dataType("bigint").generatedAlwaysAsIdentity(10, 5)
    day = delta.columnBuilder(session, "day").dataType("date").generatedAlwaysAs("cast(seen as date)")
    table = delta.create(session).tableName(run.table).location(run.location()).addColumn(number.build())
    table = table.addColumn("id", "bigint").addColumn("seen", "timestamp").addColumn(day.build())
    table.partitionedBy(run.names("day")).execute()
    run.say("create with columns that Spark fills")
    run("insert into TABLE_ (id, seen) values (1, timestamp'2026-03-01 10:00:00'), (2, timestamp'2026-03-02 23:59:59.999')")
    run("insert into TABLE_ (id, seen) values (3, null)")
    run("update TABLE_ set seen = timestamp'1969-12-31 23:00:00' where id = 3")
    run("""merge into TABLE_ t using (select 2 id union all select 9) s on t.id = s.id
           when matched then update set id = 20 when not matched then insert (id, seen) values (s.id, timestamp'2026-03-01 00:00:00')""")


def variant(run):
    run(f"create table TABLE_ (id bigint, v variant) using delta AT_ tblproperties ({DELETION_VECTORS}, 'delta.checkpointInterval'='2')")
    run("""insert into TABLE_ select 1, parse_json('{"a": [1, 2.5, null, "x"], "b": {"c": true}}') union all select 2, null""")
    run("insert into TABLE_ select id, parse_json(cast(id as string)) from range(3, 9, 1, 1)")
    run("delete from TABLE_ where id = 4")


def change_data_feed(run):
    run("""create table TABLE_ using delta AT_ partitioned by (region) tblproperties ('delta.enableChangeDataFeed'='true')
           as select id, id % 3 region, 0.5D score from range(0, 30, 1, 1)""")
    run("update TABLE_ set score = 2 where id % 4 = 0")
    run("delete from TABLE_ where id % 4 = 1")
    run("""merge into TABLE_ t using (select id + 25 as id from range(10)) s on t.id = s.id
           when matched then update set score = 9 when not matched then insert (id, region, score) values (s.id, null, 1)""")
    run("delete from TABLE_ where region = 2")


def cloned(run):
    """A shallow clone: its files lie in another table."""
    source = run.location("cloned_source")
    run.quietly(f"create table cloned_source using delta location '{source}' partitioned by (region) "
                f"tblproperties ({DELETION_VECTORS}) as select id, concat('a b', id % 3) region from range(0, 30, 1, 1)")
    run.quietly("delete from cloned_source where id = 3")
    run("create table TABLE_ shallow clone cloned_source AT_")
    run("insert into TABLE_ values (100, 'mine')")
    run("delete from TABLE_ where id in (4, 5)")
    run("update TABLE_ set id = 99 where id = 7")
    run("alter table TABLE_ set tblproperties ('delta.checkpointInterval'='1')")
    run("insert into TABLE_ values (101, 'mine')")
    run.quietly("insert into cloned_source values (200, 'theirs')")
    run("delete from TABLE_")
    run("create or replace table TABLE_ shallow clone cloned_source AT_")
    run("restore table TABLE_ to version as of 1")


def maintained(run):
    """Appends, packed, restored and vacuumed."""
    run(f"create table TABLE_ using delta AT_ as {ROWS}(0, 40, 1, 4)")
    for n in range(1, 4):
        run(f"insert into TABLE_ {ROWS}({n * 100}, {n * 100 + 10}, 1, 2)")
    run("optimize TABLE_")
    run("delete from TABLE_ where id >= 300")
    run("restore table TABLE_ to version as of 2")
    run("optimize TABLE_ zorder by (score)")
    run("vacuum TABLE_ retain 0 hours")
    run(f"insert overwrite TABLE_ {ROWS}(7, 9, 1, 1)")
    run("delete from TABLE_")
    run(f"insert into TABLE_ {ROWS}(9, 12, 1, 1)")


def odd_partitions(run):
    values = ["A/A", "B B", "R&D", "100%", "a%20b", "2026-01-01 10:00:00", "\u00e9", "\u6771\u4eac", "a+b", "a?b#c", "[x]",
              "p=q", "a:b", "a~b", "it''s", "a\"b", "", "{z}", "x^y|z", "back\\\\slash", "tab\there", "line\nbreak", " ", "."]
    rows = ", ".join(f"('{value}', {n})" for n, value in enumerate(values))
    run("create table TABLE_ (x string, n int) using delta AT_ partitioned by (x) tblproperties ('delta.checkpointInterval'='3')")
    run(f"insert into TABLE_ values {rows}, (null, 100)")
    run(f"insert into TABLE_ values {rows}, (null, 101)")
    run("optimize TABLE_")
    run("delete from TABLE_ where x = 'A/A' or x is null or x = 'a%20b'")
    run("update TABLE_ set n = -1 where x = 'p=q'")
    run("vacuum TABLE_ retain 0 hours")


def typed_partitions(run):
    run("""create table TABLE_ (id bigint, `the day` date, t timestamp, n decimal(8, 3), b boolean, f double) using delta AT_
           partitioned by (`the day`, t, n, b, f) tblproperties ('delta.columnMapping.mode'='name', 'delta.checkpointInterval'='2')""")
    run("""insert into TABLE_ values (1, date'2026-02-28', timestamp'2026-02-28 01:02:03.456789', 1.5, true, 0.1),
           (2, null, null, null, null, null), (3, date'0001-01-01', timestamp'9999-12-31 23:59:59', -1.25, false, double('NaN'))""")
    run("insert into TABLE_ values (4, date'2026-02-28', timestamp'2026-02-28 01:02:03', 100, true, 1e300)")
    run("delete from TABLE_ where b")


def constraints(run):
    run("create table TABLE_ (id bigint not null, plan string default 'free', n int) using delta AT_ "
        "tblproperties ('delta.feature.allowColumnDefaults'='supported')")
    run("alter table TABLE_ add constraint positive check (id > 0)")
    run("alter table TABLE_ add constraint `some plan` check (plan is not null or n = 1)")
    run("insert into TABLE_ (id, n) values (1, 2)")
    run("alter table TABLE_ alter column n set default 7")
    run("insert into TABLE_ (id) values (3)")
    run("alter table TABLE_ alter column plan drop default")
    run("alter table TABLE_ drop constraint `some plan`")
    run("alter table TABLE_ alter column id drop not null")
    run("alter table TABLE_ alter column n comment 'how \"many\"'")


def replaced(run):
    run(f"create table TABLE_ using delta AT_ partitioned by (region) comment 'the first' as {ROWS}(0, 9, 1, 1)")
    run("insert into TABLE_ select id, 'x', 1, 0.5 from range(50, 53, 1, 1)")
    run("create or replace table TABLE_ (id string, `when` timestamp, d decimal(38, 18)) using delta AT_ comment 'the second'")
    run("insert into TABLE_ values ('a', timestamp'2026-01-01 00:00:00', 1.5)")
    run(f"create or replace table TABLE_ using delta AT_ cluster by (id) as {ROWS}(0, 4, 1, 1)")
    run("restore table TABLE_ to version as of 1")


def overwritten(run):
    """Overwrites of all, of some partitions, and where a predicate holds; new columns as they come."""
    run(f"create table TABLE_ using delta AT_ partitioned by (region) as {ROWS}(0, 30, 1, 1)")
    run(f"insert into TABLE_ replace where region = 1 {ROWS}(1, 2, 1, 1)")
    frame = run.spark.sql("select 1000L id, 'z' name, 2L region, 0.5D score")
    writer = frame.write.format("delta").mode("overwrite").option("partitionOverwriteMode", "dynamic")
    writer.option("userMetadata", "a reload, \u201cby hand\u201d").save(run.location())
    run.say("overwrite partitions")
    frame = run.spark.sql("select 1001L id, 0L region, struct(array(1, 2) as a, map('k', 1.5D) as m) nested")
    frame.write.format("delta").mode("append").option("mergeSchema", "true").save(run.location())
    run.say("append with a new column")
    run("alter table TABLE_ add columns (nested.more array<struct<x: date>>, note varchar(12))")
    run("insert into TABLE_ values (5, 'n', 1, 1.5, struct(array(), map(), array(struct(null))), 'note')")
    frame = run.spark.sql("select 'only' one")
    frame.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(run.location())
    run.say("overwrite with another schema")


def converted(run):
    """Plain Parquet made a Delta table."""
    frame = run.spark.sql("select id, id % 2 half, concat('a b', id % 3) third from range(0, 20, 1, 2)")
    frame.write.partitionBy("half", "third").parquet(run.location())
    run.quietly(f"convert to delta parquet.`{run.location()}` partitioned by (half bigint, third string)")
    run.say("convert to delta")
    run.quietly("create table TABLE_ using delta AT_")
    run("delete from TABLE_ where id = 5")
    run("insert into TABLE_ values (100, 0, null)")


def streamed(run):
    source = run.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
    query = source.writeStream.format("delta").trigger(processingTime="0 seconds").option(
        "checkpointLocation", run.scratch("checkpoint")).start(run.location())
    while query.lastProgress is None or query.lastProgress["batchId"] < 3:
        query.awaitTermination(1)
    query.stop()
    run.say("four batches")


def features_dropped(run):
    run(f"create table TABLE_ using delta AT_ tblproperties ({DELETION_VECTORS}) as {ROWS}(0, 20, 1, 1)")
    run("delete from TABLE_ where id = 7")
    run("alter table TABLE_ drop feature deletionVectors")
    run("delete from TABLE_ where id = 8")


def every_type(run):
    run("""create table TABLE_ (a tinyint, b smallint, c int, d bigint, e float, f double, g decimal(38, 10), h string, i binary,
           j boolean, k date, l timestamp, m timestamp_ntz, n char(3),
           p struct<x: struct<y: array<map<string, decimal(5, 1)>>>>) using delta AT_""")
    run("""insert into TABLE_ values (127, 32767, 2147483647, 9223372036854775807, float('NaN'), double('-Infinity'),
           9999999999999999999999999999.9999999999, concat('long ', repeat('x', 200)), x'00ff', true, date'9999-12-31',
           timestamp'2026-01-01 00:00:00.000001', timestamp_ntz'2026-01-01 00:00:00.999999', 'abc',
           struct(struct(array(map('k', 1.5))))), (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null)""")
    run("alter table TABLE_ set tblproperties ('delta.dataSkippingNumIndexedCols'='0', 'delta.checkpointInterval'='1', 'note'='a = b; \u201cc\u201d')")
    run("insert into TABLE_ (a) values (1)")
    run("comment on table TABLE_ is 'every type'")


def without_statistics(run):
    run.conf("stats.collect", "false")
    run("create table TABLE_ using delta AT_ as select id from range(0, 20, 1, 2)")
    run.conf("stats.collect", "true")
    run("insert into TABLE_ values (100)")


def checkpoints_without_statistics(run):
    """Neither as text nor as structs, which Spark would not write."""
    run("create table TABLE_ using delta AT_ tblproperties ('delta.checkpoint.writeStatsAsJson'='false', "
        "'delta.checkpointInterval'='2') as select id from range(0, 20, 1, 2)")
    run("insert into TABLE_ values (100)")
    run("insert into TABLE_ values (101)")
    run("insert into TABLE_ values (102)")


def after_restore(run):
    """How a table is written to after Tidemark has restored it."""
    if run.table == "identity_and_generated":
        return
    run("insert into TABLE_ select * from TABLE_ limit 3")
    # Spark finds no column of type char again in the source of a merge.
    if run.table != "every_type":
        run("merge into TABLE_ t using (select * from TABLE_ limit 2) s on false when not matched then insert *")


def after_tidying(run):
    """How it is written to after Tidemark has packed and vacuumed it."""
    if run.table != "identity_and_generated":
        run("insert into TABLE_ select * from TABLE_ limit 1")
    run("optimize TABLE_")
    run("delete from TABLE_ where true")
    run(f"restore table TABLE_ to version as of {run.restored_as}")


ALL = [
    deletion_vectors,
    row_tracking,
    row_tracking_later,
    in_commit_timestamps,
    in_commit_timestamps_later,
    in_commit_timestamps_ended,
    v2_checkpoints,
    v2_checkpoints_in_json,
    multi_part_checkpoints,
    column_mapping,
    column_mapping_by_id,
    type_widening,
    clustering,
    identity_and_generated,
    variant,
    change_data_feed,
    cloned,
    maintained,
    odd_partitions,
    typed_partitions,
    constraints,
    replaced,
    overwritten,
    converted,
    streamed,
    features_dropped,
    every_type,
    without_statistics,
    checkpoints_without_statistics,
]
