# SPDX-License-Identifier: BSD-3-Clause
"""View: a channel on a terminal, and in plain lines."""

from dataclasses import dataclass

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lull.channel.look import Watch
from lull.program.channel_replies import Path, Peer, Rail
from lull.quantities import micros, percent, si, time_word

STATES = {"up": "green", "small": "yellow", "suspect": "yellow", "join": "yellow",
          "down": "bold red", "none": "dim"}
WAITS = {"nothing": "", "window": "waits: all paths are full",
         "credit": "waits: the peer has not received yet, or has no room",
         "path": "waits: no path is up"}
UNKNOWN = "–"


@dataclass
class Picture:
    """What `lull channel top` shows again and again."""

    watch: Watch

    def look(self) -> None:
        """Read everything once more."""
        self.watch.look()

    def render(self, width: int) -> RenderableType:  # noqa: ARG002 - tables shrink by themselves
        """The whole picture."""
        return render(self.watch)

    def lines(self) -> list[str]:
        """A line for each path."""
        return [" ".join((peer.name, _ends(self.watch, path), path.state,
                          *_rates(self.watch, peer, path)[:2],
                          f"lost {path.lost_pkts}", micros(path.srtt_ns / 1e3)))
                for peer in self.watch.now.peers for path in self.watch.now.paths[peer.peer]]


def render(watch: Watch) -> RenderableType:
    """Head, then a table of paths for each peer, then the rails."""
    parts: list[RenderableType] = [*head(watch)]
    for peer in watch.now.peers:
        parts += [Text(), peer_line(watch, peer), paths_table(watch, peer)]
    if not watch.now.peers:
        parts += [Text(), Text("no peer: nobody is connected", "dim")]
    parts += [Text(), rails_table(watch.now.rails)]
    return Padding(Group(*parts), (1, 1, 0, 1))


def head(watch: Watch) -> list[Text]:
    """Who it is, how it is set, and what its thread does."""
    channel, info = watch.now.channel, watch.info
    first = Text.assemble((channel.name, "bold"), f"   {info.program} {info.version}"
                          f"   pid {info.pid}   ", (channel.security, "bold"))
    if channel.security == "open":
        first.append("  not protected against attackers", "yellow")
    second = Text.assemble(("spread ", "dim"), channel.spread, ("  control ", "dim"),
                           channel.control)
    if channel.governor:
        second.append("  governor ", "dim").append(
            f"{channel.governor}, at most {time_word(channel.max_latency_ns)}")
    rates = watch.loop_rates()
    if rates is not None:
        second.append("  CPU ", "dim").append(percent(rates.cpu_pct))
        second.append("  at rest ", "dim").append(percent(rates.rest_pct))
    lines = [first, second]
    for words, count, p50_ns, p99_ns in (
            ("short messages", channel.short_count, channel.short_p50_ns, channel.short_p99_ns),
            ("longer messages", channel.long_count, channel.long_p50_ns, channel.long_p99_ns)):
        if count:
            lines.append(Text.assemble(
                (f"{words} ", "dim"), si(count), ("  until done p50 ", "dim"), micros(p50_ns / 1e3),
                ("  p99 ", "dim"), micros(p99_ns / 1e3)))
    bad = watch.bad_packets()
    if bad:
        lines.append(Text.assemble(("refused packets ", "dim"), (", ".join(
            f"{name.removesuffix('_pkts')} {si(count)}" for name, count in bad.items()), "yellow")))
    return lines


def peer_line(watch: Watch, peer: Peer) -> Text:
    """What goes to and comes from a peer, and what it waits for."""
    rates = watch.peer_rates(peer)
    state = ("up", "green") if peer.up else ("down", "bold red")
    if peer.busy:
        state = ("busy", "yellow")
    sent, received = (
        (f"{si(rates.sent_bps)}bit/s", f"{si(rates.received_bps)}bit/s") if rates
        else (f"{si(peer.sent_bytes)}B", f"{si(peer.received_bytes)}B"))
    line = Text.assemble((peer.name, "bold"), " ", state, ("  to it ", "dim"), sent,
                         ("  from it ", "dim"), received, ("  messages ", "dim"),
                         f"{si(peer.sent_messages)} / {si(peer.received_messages)}")
    if peer.rest_ns_max:
        line.append("  rests ", "dim").append(f"up to {micros(peer.rest_ns_max / 1e3)}")
    if peer.busy:
        line.append(f"  not heard for {micros(_age_us(watch, peer.heard_ns))}", "yellow")
    waits = WAITS.get(peer.waits, f"waits: {peer.waits}")
    if waits:
        line.append(f"  {waits}", "yellow")
    return line


def paths_table(watch: Watch, peer: Peer) -> Table:
    """A row for each path of a peer."""
    table = _table("path", "state", "since")
    for title in ("offered", "delivered", "lost", "again", "dup", "rate", "RTT", "least",
                  "window", "credit"):
        table.add_column(title, justify="right", no_wrap=True)
    for path in watch.now.paths[peer.peer]:
        table.add_row(
            _ends(watch, path), Text(path.state, STATES.get(path.state, "")),
            micros(_age_us(watch, path.state_since_ns)), *_rates(watch, peer, path),
            *(si(count) for count in (path.lost_pkts, path.resent_pkts, path.duplicate_pkts)),
            f"{si(path.rate_bps)}bit/s" if path.rate_bps else UNKNOWN,
            micros(path.srtt_ns / 1e3) if path.srtt_ns else UNKNOWN,
            micros(path.base_rtt_ns / 1e3) if path.base_rtt_ns else UNKNOWN,
            f"{path.under_way_pkts}/{path.window_pkts}", str(path.credit_pkts))
    return table


def rails_table(rails: list[Rail]) -> Table:
    """A row for each local port."""
    table = _table("rail", "port", "link")
    direct = any(one.direct_rx_pkts or one.direct_tx_pkts or one.neighbours for one in rails)
    shown = ("neighbours", "direct in", "direct out") if direct else ()
    for title in ("MTU", "Mb/s", "received", "sent", "no room", *shown):
        table.add_column(title, justify="right", no_wrap=True)
    for one in rails:
        counts = (one.neighbours, one.direct_rx_pkts, one.direct_tx_pkts) if direct else ()
        table.add_row(
            str(one.rail), one.text, Text("up", "green") if one.up else Text("down", "bold red"),
            str(one.mtu_bytes), str(one.mbps) if one.mbps else UNKNOWN, si(one.rx_pkts),
            si(one.tx_pkts), Text(si(one.missed_pkts), "bold red" if one.missed_pkts else ""),
            *(si(count) for count in counts))
    return table


def _table(*titles: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for title in titles:
        table.add_column(title, no_wrap=True)
    return table


def _rates(watch: Watch, peer: Peer, path: Path) -> tuple[str, str]:
    """Offered and delivered: per second, else in all."""
    rates = watch.path_rates(peer.peer, path)
    if rates is None:
        return f"{si(path.offered_bytes)}B", f"{si(path.delivered_bytes)}B"
    return f"{si(rates.offered_bps)}bit/s", f"{si(rates.delivered_bps)}bit/s"


def _ends(watch: Watch, path: Path) -> str:
    """The rail's own words, and the number of the other side's rail."""
    text = next((one.text for one in watch.now.rails if one.rail == path.rail), str(path.rail))
    return f"{text} → {path.remote_rail}"


def _age_us(watch: Watch, since_ns: int) -> float:
    return max(0, watch.now.channel.now_ns - since_ns) / 1e3
