# SPDX-License-Identifier: BSD-3-Clause
"""lull flow parquet: every record arrives, typed; what does not fit is named."""

import io
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from flow_lines import BEGAN_US, FACTS, record, write
from lull.cli import main
from lull.flow import parquet as flow_parquet
from lull.flow.record import protocol_name, read

pytestmark = pytest.mark.usefixtures("signals")


def test_all_members(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "flows.jsonl", [
        record(0), record(1, **FACTS, payload="00ff", payload_rev="")])
    out = tmp_path / "flows.parquet"
    assert main(["flow", "parquet", str(source), str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: 2 records\n"
    table = pq.read_table(out)
    assert table.schema.equals(flow_parquet.SCHEMA)
    plain, full = table.to_pylist()
    assert {name: plain[name] for name in FACTS} == dict.fromkeys(FACTS)
    assert plain["payload"] is None
    assert {name: full[name] for name in FACTS} == FACTS
    assert (full["payload"], full["payload_rev"]) == (b"\x00\xff", b"")
    assert full["first_us"] == datetime.fromtimestamp((BEGAN_US + 1000) / 1e6, UTC)
    times = ("first_us", "last_us")
    assert {name: plain[name] for name in record(0) if name not in times} == {
        name: value for name, value in record(0).items() if name not in times}


def test_largest_values_fit(tmp_path: Path) -> None:
    largest = {"bytes": 2**64 - 1, "dst_port": 65535, "proto": 255, "moves": 2**32 - 1,
               "workers": list(range(64))}
    source = write(tmp_path / "flows.jsonl", [record(0, **largest)])
    assert flow_parquet.write(source, tmp_path / "out") == 1
    row = pq.read_table(tmp_path / "out").to_pylist()[0]
    assert {name: row[name] for name in largest} == largest


def test_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow_parquet, "BATCH_RECORDS", 7)
    source = write(tmp_path / "flows.jsonl", [record(index) for index in range(20)])
    assert flow_parquet.write(source, tmp_path / "out") == 20
    made = pq.ParquetFile(tmp_path / "out")
    assert [made.metadata.row_group(group).num_rows
            for group in range(made.num_row_groups)] == [7, 7, 6]
    assert made.read().column("packets").to_pylist() == [
        record(index)["packets"] for index in range(20)]


def test_no_records(tmp_path: Path) -> None:
    assert flow_parquet.write(write(tmp_path / "none", []), tmp_path / "out") == 0
    assert pq.read_table(tmp_path / "out").num_rows == 0


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path / "flows.jsonl", [record(0)])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(source.read_bytes())))
    assert main(["flow", "parquet", "-", str(tmp_path / "out")]) == 0
    assert pq.read_table(tmp_path / "out").num_rows == 1


@pytest.mark.parametrize(("line", "words"), [
    ('{"src_ip":"192.0.2.1"', "flows.jsonl:2: not JSON"),
    ("[]", "flows.jsonl:2: not a flow record"),
    ("{}", "flows.jsonl:2: not a flow record: member src_port is missing or no count"),
])
def test_lines_that_are_none(line: str, words: str, tmp_path: Path,
                             capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "flows.jsonl", [record(0)])
    source.write_text(source.read_text() + line + "\n")
    before = set(tmp_path.iterdir())
    assert main(["flow", "parquet", str(source), str(tmp_path / "out")]) == 1
    assert words in capsys.readouterr().err
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("wrong", [
    {"dst_port": 65536}, {"packets": -1}, {"first_us": 2**63}, {"src_ip": 7}, {"proto": True},
    {"payload": "0"}, {"payload": 3}, {"workers": "0"}, {"workers": [256]}, {"exact": "yes"}])
def test_values_that_do_not_fit(wrong: dict[str, Any], tmp_path: Path,
                                capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "flows.jsonl", [record(0, **wrong)])
    assert main(["flow", "parquet", str(source), str(tmp_path / "out")]) == 1
    assert next(iter(wrong)) in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flow", "parquet", str(tmp_path / "none"), str(tmp_path / "out")]) == 1
    assert "none: No such file or directory: it is what lull-flow --records wrote" in (
        capsys.readouterr().err)
    source = write(tmp_path / "flows.jsonl", [record(0)])
    assert main(["flow", "parquet", str(source), str(source / "out")]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_blank_lines_are_none(tmp_path: Path) -> None:
    source = tmp_path / "flows.jsonl"
    source.write_text("\n \n")
    assert list(read(source)) == []


def test_protocol_names() -> None:
    assert [protocol_name(number) for number in (6, 17, 58, 253)] == ["TCP", "UDP", "ICMPv6", "253"]


def test_without_its_library(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                             monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "lull.flow.parquet")
    monkeypatch.delattr("lull.flow.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    source = write(tmp_path / "flows.jsonl", [record(0)])
    assert main(["flow", "parquet", str(source), str(tmp_path / "out.parquet")]) == 1
    assert "the Python library pyarrow is missing" in capsys.readouterr().err
    assert not (tmp_path / "out.parquet").exists()
