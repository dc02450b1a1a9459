# SPDX-License-Identifier: BSD-3-Clause
"""Flow top: the heaviest flows of a running lull-flow, and what changed between two looks."""

from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lull.flow.record import protocol_name
from lull.program.replies import FlowRow, FlowTotals, Info
from lull.program.telemetry import Telemetry
from lull.quantities import si

Key = tuple[str, str, int, int, int]
WIDE = 110   # columns of a terminal from which totals stand beside the rates
BAR_WIDTH = 24


@dataclass(frozen=True)
class FlowRates:
    """What a flow did between two looks, both directions together."""

    pps: float
    bps: float


@dataclass(frozen=True)
class Seen:
    """A flow, and its rates once it was seen twice."""

    row: FlowRow
    rates: FlowRates | None = None


@dataclass(frozen=True)
class TotalRates:
    """What the program did between two looks."""

    rx_pps: float
    drop_pps: float
    records_per_s: float
    worker_pps: tuple[float, ...]


def key(row: FlowRow) -> Key:
    """What tells flows apart; one that began anew is another one."""
    return row.src, row.dst, row.proto, row.vlan_id, row.first_us


class FlowWatch:
    """Looks at the heaviest flows again and again."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self.info: Info = telemetry.info()
        self.totals: FlowTotals = telemetry.flow()
        self.rates: TotalRates | None = None
        self.flows: list[Seen] = []
        self._now_ns = 0
        self._look_at_flows()

    def look(self) -> None:
        """Read everything once more."""
        before, self.totals = self.totals, self._telemetry.flow()
        self.rates = total_rates(before, self.totals)
        self._look_at_flows()

    def _look_at_flows(self) -> None:
        top = self._telemetry.flow_top()
        before = {key(one.row): one.row for one in self.flows}
        seconds = (top.now_ns - self._now_ns) / 1e9
        self.flows = [Seen(row, flow_rates(before.get(key(row)), row, seconds))
                      for row in top.rows()]
        self._now_ns = top.now_ns

    def render(self, width: int) -> RenderableType:
        """The whole picture."""
        return render(self, width)

    def lines(self) -> list[str]:
        """A line for each flow."""
        return [" ".join((f"{one.row.src} -> {one.row.dst}", protocol_name(one.row.proto),
                          one.row.app or "-", *rate_words(one))) for one in self.flows]


def flow_rates(before: FlowRow | None, row: FlowRow, seconds: float) -> FlowRates | None:
    """Rates from one look to the next; None when the flow was not there before."""
    if before is None or seconds <= 0:
        return None
    pkts = row.packets + row.packets_rev - before.packets - before.packets_rev
    octets = row.bytes + row.bytes_rev - before.bytes - before.bytes_rev
    return FlowRates(max(0, pkts) / seconds, 8 * max(0, octets) / seconds)


def total_rates(before: FlowTotals, after: FlowTotals) -> TotalRates | None:
    """Rates from one look to the next; None when no time went by."""
    seconds = (after.now_ns - before.now_ns) / 1e9
    if seconds <= 0:
        return None
    workers = zip(before.worker_pkts, after.worker_pkts, strict=False)
    return TotalRates(
        rx_pps=max(0, after.rx - before.rx) / seconds,
        drop_pps=max(0, after.dropped() - before.dropped()) / seconds,
        records_per_s=max(0, after.records - before.records) / seconds,
        worker_pps=tuple(max(0, new - old) / seconds for old, new in workers))


def rate_words(one: Seen) -> tuple[str, str]:
    """Packets and bits per second; nothing is known at the first look."""
    if one.rates is None:
        return "–", "–"
    return f"{si(one.rates.pps)} packets/s", f"{si(one.rates.bps)}bit/s"


def render(watch: FlowWatch, width: int) -> RenderableType:
    """The whole picture."""
    info = watch.info
    head = Text.assemble((info.program, "bold"), f" {info.version}   pid {info.pid}")
    return Padding(Group(head, totals_line(watch), *worker_lines(watch), Text(),
                         flows_table(watch, width)), (1, 1, 0, 1))


def totals_line(watch: FlowWatch) -> Text:
    """All packets, and those that were lost."""
    totals, rates = watch.totals, watch.rates
    rx = f"{si(rates.rx_pps)} packets/s" if rates else f"{si(totals.rx)} packets"
    line = Text.assemble(rx, ("  in flight ", "dim"), si(totals.count("in_flight")),
                         ("  open flows ", "dim"), si(totals.count("open_flows")))
    if rates:
        line.append("  records ", "dim").append(f"{si(rates.records_per_s)}/s")
    line.append("  lost ", "dim")
    line.append(si(totals.dropped()), "bold red" if totals.dropped() else "green")
    if totals.count("violations"):
        line.append(f"  packets unaccounted for at {totals.count('violations')} checks", "bold red")
    return line


def worker_lines(watch: FlowWatch) -> list[Text]:
    """A bar for each worker: its share of what was dispatched of late."""
    loads = watch.rates.worker_pps if watch.rates else tuple(map(float, watch.totals.worker_pkts))
    most = max(loads, default=0.0)
    if len(loads) < 2 or most == 0:
        return []
    whole = sum(loads)
    return [Text.assemble((f"worker{index}  ", "dim"),
                          ("█" * max(1, round(BAR_WIDTH * load / most)) if load else "", "cyan"),
                          f" {100 * load / whole:.0f} %") for index, load in enumerate(loads)]


def flows_table(watch: FlowWatch, width: int) -> Table:
    """A row for each flow, heaviest first."""
    wide = width >= WIDE
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("from", overflow="ellipsis", no_wrap=True)
    table.add_column("to", overflow="ellipsis", no_wrap=True)
    table.add_column("proto", no_wrap=True)
    table.add_column("app", overflow="ellipsis", no_wrap=True)
    for title in ("pkts/s", "bit/s", *(("packets", "bytes", "workers") if wide else ("bytes",))):
        table.add_column(title, justify="right", no_wrap=True)
    for one in watch.flows:
        table.add_row(*flow_cells(one, wide))
    return table


def flow_cells(one: Seen, wide: bool) -> list[RenderableType]:
    """Cells of one flow."""
    row, rates = one.row, one.rates
    rate = [Text("…", "dim")] * 2 if rates is None else [
        Text(si(rates.pps), "bold"), Text(si(rates.bps), "bold")]
    octets = si(row.bytes + row.bytes_rev)
    totals = [si(row.packets + row.packets_rev), octets, str(row.workers.bit_count())] if wide \
        else [octets]
    return [Text(row.src), Text(row.dst), protocol_name(row.proto), Text(row.app or "–"),
            *rate, *totals]


def as_data(watch: FlowWatch) -> dict[str, Any]:
    """Everything known, for JSON; rates are null for flows seen once."""
    rates = watch.rates
    return {
        "info": watch.info.model_dump(),
        "totals": watch.totals.model_dump(),
        "rates": None if rates is None else {
            "rx_pps": rates.rx_pps, "drop_pps": rates.drop_pps,
            "records_per_s": rates.records_per_s, "worker_pps": list(rates.worker_pps)},
        "flows": [one.row.model_dump()
                  | {"pps": one.rates and one.rates.pps, "bps": one.rates and one.rates.bps}
                  for one in watch.flows],
    }
