"""DuckDB with its Delta extension, which comes from PyPI too."""

from pathlib import Path

import duckdb
import duckdb_extension_delta


def duck():
    [extension] = Path(duckdb_extension_delta.__file__).parent.glob("extensions/*/*.duckdb_extension")
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"load '{extension}'")
    return connection
