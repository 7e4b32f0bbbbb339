"""Sail: a server of its own in this process, spoken to as Spark is."""

import os
import warnings
from contextlib import contextmanager


@contextmanager
def sails():
    os.environ["RUST_LOG"] = "error"
    warnings.simplefilter("ignore")
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer(port=0)
    server.start(background=True)
    _, port = server.listening_address
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    try:
        yield spark
    finally:
        # Without it the process never ends.
        spark.stop()
        server.stop()
