# SPDX-License-Identifier: BSD-3-Clause
"""Camera latency as an HTML page that needs nothing else, or as Markdown."""

from pathlib import Path

from lull import atomic, drawing, page
from lull.camera.latency import RECEIVERS, Report
from lull.camera.latency_plot import picture
from lull.camera.latency_table import (
    INVALID_WORDS,
    crowd,
    headline,
    invalid,
    markdown,
    remarks,
    sheets,
    time,
    where,
)
from lull.errors import LullError

TEMPLATE = "camera/latency.html.j2"
FORMATS = (".html", ".md")


def check_path(path: Path) -> None:
    """Complain before the work about a name that does not tell the format."""
    if path.suffix.lower() not in FORMATS:
        raise LullError(f"{path}: end the name with {' or '.join(FORMATS)}", 2)
    atomic.check_target(path)


def save(report: Report, path: Path) -> None:
    """Write it, whole or not at all."""
    html = path.suffix.lower() == ".html"
    atomic.write(path, render(report) if html else markdown(report))


def render(report: Report) -> str:
    """The page."""
    return page.fill(
        TEMPLATE, {"crowd": crowd, "time": time}, sheets=sheets(report), report=report,
        where=where(report.machine), headline=headline(report.settings),
        invalid=invalid(report), words=INVALID_WORDS, remarks=remarks(report),
        png=drawing.to_base64(picture(report)), receivers=RECEIVERS)
