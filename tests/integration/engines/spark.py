"""Starts Spark with Delta on an S3 store, writes the tables of tables.py one statement at a time, and
says after each what Spark holds to be true of the table now.

    spark.py BUCKET-URL [TABLE…]

One line of JSON on standard output for each statement; the next one waits for a line on standard
input, so that whoever asks can look at the table as it is. The store is named by AWS_* variables.
"""

import glob
import json
import os
import sys
import time
import urllib.parse

from pyspark.sql import SparkSession

import tables


def session():
    environment = os.environ
    confs = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1500m",
        "spark.driver.extraClassPath": ":".join(glob.glob(f"{environment['SPARK_JARS']}/*.jar")),
        # Tables are tiny: what starts quickly is quicker than what runs quickly.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-BytecodeVerificationRemote -Duser.timezone=UTC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
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
        "spark.hadoop.fs.s3a.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
    }
    builder = SparkSession.builder.appName("tidemark")
    for key, value in confs.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


class Writer:
    """One table at a time: statements against it, and facts about it."""

    def __init__(self, spark, bucket):
        self.spark = spark
        self.bucket = bucket
        self.table = None

    def start(self, table):
        self.table = table

    def location(self, table=None):
        return f"{self.bucket}/{table or self.table}"

    def scratch(self, name):
        """A local folder that goes with the process."""
        return f"file://{os.environ['SPARK_SCRATCH']}/{self.table}/{name}"

    def conf(self, key, value):
        self.spark.conf.set(f"spark.databricks.delta.{key}", value)

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
        print(json.dumps(self.facts(statement)), flush=True)
        if not sys.stdin.readline():
            sys.exit("nobody is listening")

    def facts(self, statement):
        name = f"delta.`{self.location()}`"
        detail = self.spark.sql(f"describe detail {name}").collect()[0]
        history = self.spark.sql(f"describe history {name}").collect()
        table = self.spark.table(name)
        # Their names are URLs, in which keys are percent-encoded.
        files = [urllib.parse.unquote(url) for url in table.inputFiles()]
        return {
            "table": self.table,
            "statement": statement,
            "version": history[0].version,
            "rows": table.groupBy().count().collect()[0][0],
            "files": detail.numFiles,
            "bytes": detail.sizeInBytes,
            "paths": sorted(files),
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


def main(bucket, *wanted):
    started = time.monotonic()
    spark = session()
    print(json.dumps({"started": round(time.monotonic() - started)}), flush=True)
    writer = Writer(spark, bucket)
    for write in tables.ALL:
        if wanted and write.__name__ not in wanted:
            continue
        writer.start(write.__name__)
        try:
            write(writer)
        except Exception as error:
            print(json.dumps({"table": writer.table, "failed": str(error)[:2000]}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
