# SPDX-License-Identifier: BSD-3-Clause
"""lull flow report: sums over records, what is said about a run, the page."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from flow_lines import BEGAN_US, FACTS, record, write
from lull.cli import main
from lull.flow import report as flow_report
from lull.flow.result import FlowResult, imbalance
from lull.flow.summary import BINS_MAX, Timeline, Volumes, summarise

pytestmark = pytest.mark.usefixtures("signals")
RECORDS = [record(index, **FACTS) for index in range(40)]


def result(records: list[dict[str, Any]] = RECORDS, **more: Any) -> dict[str, Any]:
    """What lull-flow --json writes, as far as it matters here."""
    pkts = sum(one["packets"] + one["packets_rev"] for one in records)
    dispatch = {"pkts": pkts, "moves": 8, "moves_inflight": 0, "held_order": 3, "held_pin": 2,
                "relieved": 9, "retried": 0, "shadow_agreed": pkts // 2, "shadow_moves": 4}
    return {"program": "lull-flow", "version": "0.1.0", "duration_s": 1.5,
            "settings": {"workers": "4", "scheduler": "sticky", "shadow": "hrw", "order": "drain"},
            "totals": {"rx": pkts, "dispatched": pkts, "recorded": pkts, "records": len(records),
                       "drop_ring": 0, "not_ip": 3},
            "conservation": {"checks": 7, "violations": 0, "first": None},
            "dispatch": [dispatch | {"worker_pkts": [30, 10, 0, 0], "shadow_pkts": [9, 9, 9, 13]},
                         dispatch | {"worker_pkts": [0, 10, 0, 0], "shadow_pkts": [1, 1, 1, 7]}],
            } | more


# ---- sums ----


def test_sums() -> None:
    summary = summarise(iter(RECORDS))
    packets = sum(one["packets"] + one["packets_rev"] for one in RECORDS)
    octets = sum(one["bytes"] + one["bytes_rev"] for one in RECORDS)
    assert (summary.whole.flows, summary.whole.packets, summary.whole.octets) == (
        40, packets, octets)
    for volumes in (summary.apps, summary.protocols):
        assert volumes.total() == summary.whole
    assert [name for name, _ in summary.apps.heaviest(9)] == ["TLS", "DNS"]
    assert dict(summary.protocols.heaviest(9))["UDP"].flows == len(range(2, 40, 3))
    # Each flow has two addresses here.
    assert summary.talkers.total().flows == 80
    assert summary.flows == RECORDS[:10]
    assert summary.workers == {2: 40}
    assert summary.moves == {2: 40}
    assert (summary.reordered, summary.inexact) == (40, 0)


def test_equal_flows_stand_as_they_came() -> None:
    same = [record(0, src_port=port) for port in range(30)]
    assert [one["src_port"] for one in summarise(same).flows] == list(range(10))


def test_a_flow_to_itself_counts_once() -> None:
    summary = summarise([record(0, src_ip="192.0.2.1", dst_ip="192.0.2.1", app="")])
    assert summary.talkers.total().flows == 1
    assert summary.apps.heaviest(1)[0][0] == "unknown"
    assert not summary.workers


def test_of_many_names_the_heavy_stay() -> None:
    volumes = Volumes(names_max=10)
    for index in range(10):
        volumes.add(f"heavy{index % 3}", 1, 1000)
    assert volumes.exact
    for index in range(100):
        volumes.add(f"light{index}", 1, 1)
    assert not volumes.exact
    assert [name for name, _ in volumes.heaviest(3)] == ["heavy0", "heavy1", "heavy2"]
    assert len(volumes.heaviest(1000)) <= 10


@pytest.mark.parametrize("span_us", [0, 1, 1000, 10**6, 10**9, 25 * 365 * 86400 * 10**6])
def test_timeline_loses_nothing(span_us: int) -> None:
    line = Timeline()
    flows = [(BEGAN_US + span_us * step // 7, BEGAN_US + span_us, 1000 + step) for step in range(8)]
    for first, last, octets in flows:
        line.add(first, last, octets)
    slices = line.slices()
    seconds = line.width_us / 1e6
    assert 1 <= len(slices) <= BINS_MAX
    assert sum(one.bps for one in slices) * seconds / 8 == pytest.approx(
        sum(octets for _, _, octets in flows))
    assert sum(one.begun_per_s for one in slices) * seconds == pytest.approx(8)
    assert slices[-1].active == 8
    assert slices[0].begin_us <= BEGAN_US < slices[0].begin_us + line.width_us


def test_timeline_tells_when_flows_end() -> None:
    line = Timeline()
    line.add(0, 10_000, 10)
    line.add(20_000, 20_000, 10)
    active = [one.active for one in line.slices()]
    assert active[:11] == [1] * 11
    assert active[11:20] == [0] * 9
    assert active[20] == 1
    assert Timeline().slices() == []


def test_imbalance() -> None:
    assert imbalance([4, 4, 4, 4]) == 1
    assert imbalance([8, 0, 0, 0]) == 4
    assert imbalance([]) == imbalance([0, 0]) == 1


# ---- statements ----


def said(**more: Any) -> list[tuple[str, bool]]:
    found = FlowResult.model_validate(result(**more))
    return [(one.text, one.good) for one in flow_report.statements(found, summarise(RECORDS))]


def test_good_news() -> None:
    assert said() == [("every packet accounted for at 7 checks", True),
                      ("no packet of a flow was lost", True)]


def test_bad_news() -> None:
    totals = result()["totals"]
    texts = [text for text, good in said(
        totals=totals | {"records": 39, "drop_ring": 5, "missed": 2},
        conservation={"checks": 9, "violations": 2, "first": "rx 5"}) if not good]
    assert "at 2 of 9 checks: rx 5" in texts[0]
    assert texts[1].startswith("7 of ")
    assert texts[1].endswith("were lost: drop_ring 5, missed 2")
    assert "39 records" in texts[2]
    broken = summarise([record(0, **FACTS | {"exact": False})])
    assert "1 records are not exact" in flow_report.statements(
        FlowResult.model_validate(result([record(0)])), broken)[-1].text


def test_several_dispatchers_are_summed() -> None:
    found = FlowResult.model_validate(result())
    assert found.worker_pkts() == [30, 20, 0, 0]
    assert found.shadow_pkts() == [10, 10, 10, 20]
    assert found.counter("moves") == 16


# ---- the page ----


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "result.json").write_text(json.dumps(result()))
    return write(tmp_path / "flows.jsonl", RECORDS), tmp_path / "result.json"


@pytest.mark.parametrize("records", [RECORDS, [record(0, app="$a$ <b>")], []])
def test_page(records: list[dict[str, Any]], tmp_path: Path,
              capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "flows.jsonl", records)
    (tmp_path / "result.json").write_text(json.dumps(result(records)))
    assert main(["flow", "report", str(source), "--result", str(tmp_path / "result.json")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'report.html'}\n"
    page = (tmp_path / "report.html").read_text()
    root = ET.fromstring(page.removeprefix("<!DOCTYPE html>").strip())  # noqa: S314 - our own
    assert len(list(root.iter("img"))) == 5
    text = " ".join("".join(root.itertext()).split())
    assert f"{len(records)} flows" in text
    assert "every packet accounted for" in text
    assert "2.4 times the mean" in text
    assert f"The shadow chose alike for {50 if records else 0} %" in text
    for one in records[:10]:
        assert f"{one['src_ip']} {one['src_port']}" in text
    assert not re.search(r'(?:src|href)="http', page)


def test_page_on_standard_output(files: tuple[Path, Path],
                                 capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flow", "report", str(files[0]), "--result", str(files[1]), "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(("content", "words"), [
    (None, "No such file or directory: lull-flow --json writes it"),
    ("{", "not a result of lull-flow"), ("{}", "not a result of lull-flow"),
    (json.dumps(result(program="lull-gen")), "a result of lull-gen, not of lull-flow")])
def test_refusals(content: str | None, words: str, files: tuple[Path, Path],
                  capsys: pytest.CaptureFixture[str]) -> None:
    files[1].unlink() if content is None else files[1].write_text(content)
    assert main(["flow", "report", str(files[0]), "--result", str(files[1])]) == 1
    assert words in capsys.readouterr().err
    assert not files[0].with_name("report.html").exists()
