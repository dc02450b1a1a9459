# SPDX-License-Identifier: BSD-3-Clause
"""Flow parquet: flow records as a Parquet file that table tools read, a batch at a time.

One schema whatever the options of lull-flow were: a member that a record lacks is null, so that
files of several runs are one table.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lull import atomic
from lull.errors import LullError
from lull.flow.record import NUMBERS, TEXTS, Record, read

BATCH_RECORDS = 32768  # also of a row group
TIME = pa.timestamp("us", tz="UTC")
# Hexadecimal in JSON, bytes here.
PAYLOADS = ("payload", "payload_rev")
TYPES = {
    "src_ip": pa.string(), "src_port": pa.uint16(), "dst_ip": pa.string(),
    "dst_port": pa.uint16(), "proto": pa.uint8(), "vlan_id": pa.uint16(),
    "packets": pa.uint64(), "bytes": pa.uint64(), "packets_rev": pa.uint64(),
    "bytes_rev": pa.uint64(), "first_us": TIME, "last_us": TIME, "app": pa.string(),
    "payload_bytes": pa.uint64(), "payload_bytes_rev": pa.uint64(), "tcp_flags": pa.uint8(),
    "tcp_flags_rev": pa.uint8(), "tcp_state": pa.string(), "icmp_type": pa.uint8(),
    "icmp_code": pa.uint8(), "tunnel": pa.string(), "tunnel_id": pa.uint32(),
    "mpls_label": pa.uint32(), "interface": pa.uint16(),
    "observation_point": pa.uint32(), "payload": pa.binary(), "payload_rev": pa.binary(),
    "workers": pa.list_(pa.uint8()), "moves": pa.uint32(),
    "reordered": pa.uint32(), "fragments": pa.uint32(), "end": pa.string(), "exact": pa.bool_(),
}
SCHEMA = pa.schema([pa.field(name, kind, nullable=name not in (*NUMBERS, *TEXTS))
                    for name, kind in TYPES.items()])


def write(source: Path, out: Path) -> int:
    """Turn a file of JSON lines into a Parquet file, whole or not at all; returns the records."""
    count = 0
    with (atomic.replacing(out) as path,
          pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer):
        for batch in batches(read(source)):
            writer.write_batch(table(batch, f"{source}: record {count + 1} or a later one"))
            count += len(batch)
    return count


def batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Parts that fit in memory."""
    rest = iter(records)
    while batch := list(islice(rest, BATCH_RECORDS)):
        yield batch


def table(records: list[Record], where: str) -> pa.RecordBatch:
    """Columns of some records."""
    return pa.RecordBatch.from_arrays(
        [_column(name, [record.get(name) for record in records], where) for name in TYPES],
        schema=SCHEMA)


def _column(name: str, values: list[Any], where: str) -> pa.Array:
    try:
        if name in PAYLOADS:
            values = [None if value is None else bytes.fromhex(value) for value in values]
        return pa.array(values, TYPES[name])
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise LullError(f"{where}: {name} does not fit its column ({error})") from None
