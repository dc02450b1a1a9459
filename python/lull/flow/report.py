# SPDX-License-Identifier: BSD-3-Clause
"""Flow report: records and result of a lull-flow as one HTML page that needs nothing else."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from lull import atomic, drawing, page
from lull.document import Document
from lull.flow import plot as flow_plot
from lull.flow.record import protocol_name, read
from lull.flow.result import FlowResult, imbalance, load
from lull.flow.summary import Summary, octets_of, summarise
from lull.program.replies import FLOW_DROPS
from lull.quantities import digits, si

TEMPLATE = "flow/report.html.j2"


class Statement(Document):
    """A sentence that is good news, or is not."""

    text: str
    good: bool


class Section(Document):
    """A picture and how to read it."""

    title: str
    reading: str
    png: str


def statements(result: FlowResult, summary: Summary) -> list[Statement]:
    """What one wants to know first."""
    totals, checks = result.totals, result.conservation
    lost = {name: totals.get(name, 0) for name in FLOW_DROPS if totals.get(name, 0)}
    causes = ", ".join(f"{name} {count}" for name, count in lost.items())
    made = [
        Statement(text=f"every packet accounted for at {checks.checks} checks", good=True)
        if not checks.violations else
        Statement(text=f"packets unaccounted for at {checks.violations} of {checks.checks} checks: "
                       f"{checks.first}; this is a bug in lull, please report it", good=False),
        Statement(text="no packet of a flow was lost" if not lost else
                  f"{sum(lost.values())} of {totals.get('rx', 0)} packets were lost: {causes}",
                  good=not lost)]
    told = (totals.get("records", 0), totals.get("recorded", 0))
    found = (summary.whole.flows, summary.whole.packets)
    if told != found:
        made.append(Statement(good=False, text=(
            f"the result tells of {told[0]} records with {told[1]} packets, the file holds "
            f"{found[0]} with {found[1]}: they are not of one run, or records are missing")))
    if summary.inexact:
        made.append(Statement(text=f"{summary.inexact} records are not exact: part of their flow "
                                   "was lost or evicted", good=False))
    return made


def sections(result: FlowResult, summary: Summary) -> list[Section]:
    """Every picture."""
    uneven = digits(imbalance(result.worker_pkts()))
    agreed = 100 * result.counter("shadow_agreed") / max(1, result.counter("pkts"))
    shadow = f" The shadow chose alike for {digits(agreed)} % of the packets." if (
        sum(result.shadow_pkts())) else ""
    many = "" if summary.talkers.exact else " Too many addresses to count all: light ones are left"
    reordered = (f" {si(summary.reordered)} packets were finished after a later one of their flow."
                 if summary.workers else "")

    def section(title: str, reading: str, made: Figure) -> Section:
        return Section(title=title, reading=reading, png=drawing.to_base64(made))

    with drawing.style():
        return [
            section("Balance over workers", f"The busiest worker has {uneven} times the mean."
                    + shadow, flow_plot.balance(result)),
            section("Moves", "How often flows changed worker, and why others did not." + reordered,
                    flow_plot.moves(result, summary)),
            section("Protocols", "As identified; IP bytes of both directions.",
                    flow_plot.protocols(summary)),
            section("Top talkers", "Each flow counts for both its addresses."
                    + (many and f"{many} out, the heaviest may miss a little."),
                    flow_plot.talkers(summary)),
            section("Over time", "By the packets' stamps; the bytes of a flow are spread evenly "
                    "over its time.", flow_plot.time(summary))]


def render(result: FlowResult, summary: Summary, source: Path) -> str:
    """The page."""
    return page.fill(
        TEMPLATE, {"si": si, "digits": digits, "protocol": protocol_name}, result=result,
        summary=summary, source=source.name, statements=statements(result, summary),
        sections=sections(result, summary), octets_of=octets_of,
        protocols=_by_protocol(summary))


def _by_protocol(summary: Summary) -> Sequence[str]:
    return [f"{name} {si(volume.octets)}" for name, volume in summary.protocols.heaviest(4)]


def make(source: Path, result_path: Path) -> str:
    """The page of two files."""
    result = load(result_path)
    return render(result, summarise(read(source)), source)


def save(text: str, path: Path) -> None:
    """Write it, whole or not at all."""
    atomic.write(path, text)
