"""What deltalake reads of a table on a store: `read_whole.py TABLE < settings`, one line of JSON."""

import json
import sys
import urllib.parse

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

delta = DeltaTable(sys.argv[1], storage_options=json.loads(sys.stdin.readline()))
adds = pa.table(delta.get_add_actions(flatten=True))
rows = QueryBuilder().register("t", delta).execute("select count(*) as n from t").read_all()
facts = {
    "version": delta.version(),
    "paths": sorted(urllib.parse.unquote(path) for path in adds["path"].to_pylist()),
    "rows": pa.table(rows)["n"].to_pylist()[0],
}
print(json.dumps(facts))
