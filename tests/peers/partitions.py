"""The partitions that a Hive metastore has of a table, as JSON."""

import json
import sys

from pymetastore.hive_metastore import ThriftHiveMetastore
from thrift.protocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

port, database, table = sys.argv[1:]
transport = TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", int(port)))
client = ThriftHiveMetastore.Client(TBinaryProtocol.TBinaryProtocol(transport))
transport.open()
found = client.get_partitions(database, table, -1)
print(json.dumps([{"values": p.values, "location": p.sd.location} for p in found]))
