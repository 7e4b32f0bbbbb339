"""The first version of a table that many will write to: `race_begin.py TABLE < settings`."""

import json
import sys

import pyarrow as pa
from deltalake import write_deltalake

rows = pa.table({"id": ["first"] * 20, "n": list(range(20)), "part": ["a"] * 20})
write_deltalake(
    sys.argv[1], rows, partition_by=["part"], storage_options=json.loads(sys.stdin.readline())
)
