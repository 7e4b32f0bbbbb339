"""Starts Spark with Delta on an S3 store, writes the tables of tables.py one statement at a time, and
says after each what Spark holds to be true of the table now; then lets the streams of streams.py read.

    spark.py BUCKET-URL [TABLE…]

One line of JSON on standard output for each statement; the next one of that table waits for the
table's name on standard input, so that whoever asks can look at the table as it is. Two tables are
written at a time. The store is named by AWS_* variables.
"""

import glob
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from pyspark.sql import SparkSession

import streams
import tables


def session():
    environment = os.environ
    confs = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1500m",
        "spark.driver.extraClassPath": ":".join(glob.glob(f"{environment['SPARK_JARS']}/*.jar")),
        # Tables are tiny: what starts quickly is quicker than what runs quickly. The first compiler
        # alone gets room for far less code than Spark has, and stops for good when it is full.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=400m -XX:+UseSerialGC -Xmn600m "
        "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote -Duser.timezone=UTC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.lightweightPlanChangeValidation": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.databricks.delta.snapshotPartitions": "1",
        # The tasks of a listing before a vacuum, of which there would be 10,000.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": environment["SPARK_SCRATCH"],
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # Rows are counted by reading them, not from the log.
        "spark.databricks.delta.optimizeMetadataQuery.enabled": "false",
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",
        "spark.databricks.delta.vacuum.logging.enabled": "true",
        "spark.hadoop.fs.s3a.endpoint": environment["AWS_ENDPOINT_URL"],
        "spark.hadoop.fs.s3a.access.key": environment["AWS_ACCESS_KEY_ID"],
        "spark.hadoop.fs.s3a.secret.key": environment["AWS_SECRET_ACCESS_KEY"],
        "spark.hadoop.fs.s3a.endpoint.region": environment["AWS_REGION"],
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.change.detection.mode": "none",
        "spark.hadoop.fs.s3a.audit.enabled": "false",
        "spark.hadoop.fs.s3a.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
    }
    builder = SparkSession.builder.appName("tidemark")
    for key, value in confs.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


class Desk:
    """Where lines are said, and where whoever asks says which table goes on; with a word more where
    Tidemark has changed it."""

    def __init__(self, tables):
        self.done = {}
        self.lock = threading.Lock()
        self.turns = {table: threading.Semaphore(0) for table in tables}
        threading.Thread(target=self.listen, daemon=True).start()

    def say(self, **line):
        with self.lock:
            print(json.dumps(line), flush=True)

    def listen(self):
        # Unbuffered: a buffer's lock, held here for good, would be in the way at the end.
        for table in open(0, "rb", buffering=0):
            table, *word = table.decode().split()
            self.done[table] = bool(word)
            self.turns[table].release()
        os._exit(1)

    def wait(self, table):
        """Answers whether Tidemark has changed the table meanwhile."""
        self.turns[table].acquire()
        return self.done[table]


class Writer:
    """Statements against one table, in a session of its own, and facts about it."""

    def __init__(self, spark, bucket, desk, table):
        self.spark = spark
        self.bucket = bucket
        self.desk = desk
        self.table = table

    def location(self, table=None):
        return f"{self.bucket}/{table or self.table}"

    def scratch(self, name):
        """A local folder that goes with the process."""
        return f"file://{os.environ['SPARK_SCRATCH']}/{self.table}/{name}"

    def conf(self, key, value):
        self.spark.conf.set(f"spark.databricks.delta.{key}", value)

    def names(self, *names):
        """As Scala takes them."""
        gateway = self.spark.sparkContext._gateway
        array = gateway.new_array(gateway.jvm.String, len(names))
        for n, name in enumerate(names):
            array[n] = name
        return array

    def quietly(self, statement):
        """A statement after which nobody looks."""
        return self.spark.sql(self.written(statement)).collect()

    def __call__(self, statement):
        self.quietly(statement)
        self.say(statement)

    def written(self, statement):
        """TABLE is the table, AT where it lies."""
        at = f"location '{self.location()}'"
        return statement.replace("TABLE_", self.table).replace("AT_", at)

    def say(self, statement):
        self.desk.say(**self.facts(statement))
        self.desk.wait(self.table)

    def facts(self, statement):
        name = f"delta.`{self.location()}`"
        detail = self.spark.sql(f"describe detail {name}").collect()[0]
        history = self.spark.sql(f"describe history {name}").collect()
        table = self.spark.table(name)
        # Spark itself cannot read a variant out of a file that has a deletion vector.
        columns = ", ".join(f"`{field.name}`" for field in table.schema if field.dataType.typeName() != "variant")
        every = table.selectExpr(f"cast(xxhash64(to_json(struct({columns}))) as decimal(20)) row")
        rows, digest = every.selectExpr("count(*)", "sum(row)").collect()[0]
        return {
            "table": self.table,
            "statement": statement,
            "version": history[0].version,
            "rows": rows,
            "digest": str(digest),
            "files": detail.numFiles,
            "bytes": detail.sizeInBytes,
            "paths": sorted(table.inputFiles()),
            "id": detail.id,
            "schema": json.loads(table.schema.json()),
            "partition_columns": detail.partitionColumns,
            "clustering_columns": detail.clusteringColumns or [],
            "properties": detail.properties,
            "min_reader_version": detail.minReaderVersion,
            "min_writer_version": detail.minWriterVersion,
            "features": sorted(detail.tableFeatures),
            "history": [
                {
                    "version": row.version,
                    "operation": row.operation,
                    "timestamp": int(row.timestamp.timestamp() * 1000 + 0.5),
                    "metrics": row.operationMetrics or None,
                    "reason": row.userMetadata,
                    "engine": row.engineInfo,
                }
                for row in history
            ],
        }


# What Tidemark does to a table, what is said of it afterwards, and how Spark goes on.
ACTS = [
    ("restore", "restored by Tidemark", tables.after_restore),
    ("tidy", "packed and vacuumed by Tidemark", tables.after_tidying),
]


def main(bucket, *wanted):
    started = time.monotonic()
    writes = [write for write in tables.ALL if not wanted or write.__name__ in wanted]
    cases = [case for case in streams.CASES if not wanted or case in wanted]
    desk = Desk([write.__name__ for write in writes] + cases)
    spark = session()
    desk.say(started=round(time.monotonic() - started))

    def whole(write):
        table = write.__name__
        try:
            run = Writer(spark.newSession(), bucket, desk, table)
            write(run)
            # Now Tidemark acts on what Spark wrote, Spark looks, and goes on with what it finds.
            for act, word, go_on in ACTS:
                desk.say(table=table, act=act)
                if not desk.wait(table):
                    break
                facts = run.facts(word)
                run.restored_as = facts["version"]
                desk.say(**facts)
                desk.wait(table)
                go_on(run)
            desk.say(table=table, whole=True)
        except Exception as error:
            desk.say(table=table, failed=str(error)[:2000])

    def streamed(case):
        try:
            streams.stream(Writer(spark.newSession(), bucket, desk, case))
            desk.say(table=case, whole=True)
        except Exception as error:
            desk.say(table=case, failed=str(error)[:2000])

    # Most of a statement is planning it, in which one core has nothing to do.
    with ThreadPoolExecutor(2) as lanes:
        list(chain(lanes.map(whole, writes), lanes.map(streamed, cases)))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
