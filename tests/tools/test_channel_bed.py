# SPDX-License-Identifier: BSD-3-Clause
"""lull channel bed: what users type, what the kernel is told, what its counters say."""

from pathlib import Path

import pytest

from lull.channel import bed, bed_wire
from lull.channel.bed_plan import Plan, Port, Rail, changed, changed_port, check_id, rails
from lull.cli import main
from lull.errors import LullError

pytestmark = pytest.mark.usefixtures("signals")


def test_rails_are_read() -> None:
    found = rails("200M, full:mtu=9000:loss=0.1%,50k:silent:nodes=ba:largest=1400")
    assert found == (
        Rail(Port(rate_bps=200e6)),
        Rail(Port(loss=0.001), mtu=9000),
        Rail(Port(rate_bps=50e3, silent=True, largest_bytes=1400), nodes="ab"))
    assert rails("1G:delay=1ms:jitter=100us:reorder=2:duplicate=3%")[0].port == Port(
        rate_bps=1e9, delay_ns=1e6, jitter_ns=1e5, reorder=0.02, duplicate=0.03)


def test_words_change_what_they_name() -> None:
    before = Rail(Port(rate_bps=1e6, loss=0.5, silent=True, largest_bytes=700), mtu=1400)
    assert changed(before, ["rate=full", "heard"]) == Rail(
        Port(loss=0.5, largest_bytes=700), mtu=1400)
    assert changed(before, ["mtu=9000", "loss=0", "largest=any"]) == Rail(
        Port(rate_bps=1e6, silent=True), mtu=9000)


@pytest.mark.parametrize("port", [
    Port(), Port(rate_bps=123456.0, loss=0.000123, silent=True),
    Port(rate_bps=2e8, largest_bytes=1400, delay_ns=1.5e6, jitter_ns=1e3, reorder=0.01,
         duplicate=0.5)])
def test_words_of_a_port_make_it_again(port: Port) -> None:
    again = Port(loss=0.9)
    for word in ["loss=0", *port.words().split()]:
        again = changed_port(again, word)
    assert again.words() == port.words()
    assert again.loss == pytest.approx(port.loss)


@pytest.mark.parametrize(("text", "why"), [
    ("", "a rate is"), ("fast", "a rate is"), ("1kk", "a rate is"), ("9k", "a rate is"),
    ("1T", "a rate is"), ("nan", "a rate is"), ("1M:loss=101", "a share is"),
    ("1M:loss=nan", "a share is"), ("1M:loss", "write rate=RATE"), ("1M:mtu=575", "576 to"),
    ("1M:mtu=1e3", "576 to"), ("1M:delay=-1", "a time is"), ("1M:jitter=11s", "a time is"),
    ("1M:nodes=ax", "letters of the nodes"), ("1M:nodes=", "letters of the nodes"),
    ("1M:quiet", "write rate=RATE"), (",".join(["1M"] * 17), "at most 16")])
def test_bad_rails_are_refused(text: str, why: str) -> None:
    with pytest.raises(LullError, match=why) as error:
        rails(text)
    assert error.value.status == 2


def test_bad_ids_are_refused() -> None:
    assert check_id("abc9") == "abc9"
    for text in ("", "a-b", "../x", "A", "a" * 17):
        with pytest.raises(LullError, match="--id"):
            check_id(text)


def test_losses_stand_in_one_order() -> None:
    """Silence first, then length, then chance, and each packet is seen before."""
    text = bed_wire.chain("b.r1", Port(loss=0.01, silent=True, largest_bytes=1400))
    assert text.splitlines() == [
        "flush chain netdev bed b_r1",
        "add rule netdev bed b_r1 counter name b_r1_seen",
        "add rule netdev bed b_r1 counter name b_r1_silenced drop",
        "add rule netdev bed b_r1 meta length > 1414 counter name b_r1_large drop",
        "add rule netdev bed b_r1 numgen random mod 1000000 < 10000 counter name b_r1_lost drop"]
    assert bed_wire.chain("a.r0", Port(rate_bps=1e6)).count("\n") == 2


def test_every_port_has_a_chain() -> None:
    text = bed_wire.table(Plan(nodes=3, rails=rails("1M,1M:nodes=ac")))
    assert [name for name in ("a.r0", "b.r0", "c.r0", "a.r1", "b.r1", "c.r1")
            if f'device "{name}"' in text] == ["a.r0", "b.r0", "c.r0", "a.r1", "c.r1"]


def test_netem_is_asked_for_what_it_does() -> None:
    words = bed_wire.netem_words(Port(delay_ns=1e6, jitter_ns=2e5, reorder=0.1, duplicate=0.01))
    assert words[2:] == ["delay", "1000us", "200us", "reorder", "10%", "duplicate", "1%"]
    assert not Port(rate_bps=1e6, loss=0.1, silent=True).needs_netem()


def test_counters_are_put_together() -> None:
    link = {"ifname": "b.r0", "ifalias": "rate=200M loss=1%",
            "stats64": {"rx": {"packets": 7, "bytes": 700}, "tx": {"packets": 87, "bytes": 8700}}}
    counters = bed_wire.counters(
        '{"nftables": [{"metainfo": {}}, {"counter": {"name": "b_r0_seen", "packets": 100,'
        ' "bytes": 10000}}, {"counter": {"name": "b_r0_lost", "packets": 10, "bytes": 1000}},'
        ' {"counter": {"name": "a_r0_lost", "packets": 99, "bytes": 1000}}]}')
    shapers = [{"kind": "tbf", "root": True, "drops": 2, "qlen": 1}]
    seen = bed_wire.port_look(0, "b", link, counters, shapers)
    assert seen.port == Port(rate_bps=2e8, loss=0.01)
    assert (seen.seen_pkts, seen.seen_bytes, seen.lost_pkts, seen.silenced_pkts) == (
        100, 10000, 10, 0)
    assert (seen.queue_drops, seen.backlog_pkts, seen.delivered_pkts, seen.sent_pkts) == (
        2, 1, 87, 7)


@pytest.mark.parametrize("words", ["up", "down --all", "show", "set r1 silent", "exec a true"])
def test_needs_root(words: str, monkeypatch: pytest.MonkeyPatch,
                    capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert main(["channel", "bed", *words.split()]) == 1
    assert "a bed needs root" in capsys.readouterr().err


def test_names_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    for name in ("ip", "tc", "bridge"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LullError, match="install the package nftables"):
        bed.check_rights()


def test_only_own_names_are_beds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bed, "namespaces", lambda: [
        "lull-bed-0-a", "lull-bed-x-switch", "lull-bed-a", "lull-bed--a", "lull-bed-y-f",
        "lull-bedroom-a", "other"])
    assert bed.beds() == ["0", "x"]
    assert bed.Bed("0").nodes() == ["a"]
