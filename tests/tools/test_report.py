# SPDX-License-Identifier: BSD-3-Clause
import re
import xml.etree.ElementTree as ET

import pytest

from lull.demo import report
from lull.demo.plots import ladder, plots
from lull.demo.result import Result


@pytest.fixture(scope="module")
def page(outcome: Result) -> str:
    return report.render(outcome)


def tree(page: str) -> ET.Element:
    """The page is well-formed XML too, so any parser tells a tag left open."""
    return ET.fromstring(page.removeprefix("<!DOCTYPE html>").strip())  # noqa: S314 - our own text


def test_well_formed(page: str) -> None:
    root = tree(page)
    assert root.tag == "html"
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_references_inside_only(page: str) -> None:
    root = tree(page)
    ids = {element.get("id") for element in root.iter()}
    for element in root.iter():
        for name, value in element.attrib.items():
            if name.endswith(("href", "src")):
                assert value.startswith("#")
                assert value[1:] in ids
            for target in re.findall(r"url\(#([^)]*)\)", value):
                assert target in ids
    assert "<script" not in page
    assert "@import" not in page
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_colours_come_from_the_page(page: str) -> None:
    used = set(re.findall(r"var\(--([\w-]+)\)", page))
    defined = set(re.findall(r"--([\w-]+):", page))
    assert used <= defined
    assert "spin" in used
    drawings = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert set(re.findall(r"#[0-9a-f]{6}\b", drawings)) == set()


def test_says_what_was_measured(page: str, outcome: Result) -> None:
    text = " ".join("".join(tree(page).itertext()).split())
    for words in ("objective", "lull demo", "Simulated CPU", "poisson:50k", "200 µs", "†",
                  "RAPL", "Guest halt polling", "rests 180 us at a time"):
        assert words in text
    rows = [row for row in tree(page).iter("tr") if row.find("td") is not None]
    assert len(rows) == len(outcome.runs)


def test_markup_in_data_is_text(outcome: Result) -> None:
    nasty = '<script>alert("1 & 2")</script>'
    changed = outcome.model_copy(update={
        "machine": outcome.machine.model_copy(update={"cpu": nasty}),
        "runs": [run.model_copy(update={"verdict_text": nasty}) for run in outcome.runs]})
    page = report.render(changed)
    assert "<script" not in page
    assert nasty in "".join(tree(page).itertext())


def test_without_histograms_and_samples(outcome: Result) -> None:
    bare = outcome.model_copy(update={
        "samples": [], "runs": [run.model_copy(update={"latency_bins": []})
                                for run in outcome.runs]})
    assert len(plots(outcome)) == 4
    assert len(plots(bare)) == 3
    tree(report.render(bare))


def test_one_governor_one_phase_all_lost(outcome: Result) -> None:
    run = outcome.runs[0].model_copy(update={
        "received": 0, "lost": 9, "p50_us": 0.0, "p99_us": 0.0, "max_us": 0.0, "latency_bins": []})
    settings = outcome.settings.model_copy(update={
        "governors": (run.governor,), "phases": outcome.settings.phases[:1], "rounds": 1})
    tree(report.render(outcome.model_copy(update={
        "runs": [run], "samples": [], "settings": settings})))


def test_same_data_same_page(outcome: Result, page: str) -> None:
    assert report.render(outcome) == page


def test_ladder_ends_where_packets_are_few(outcome: Result) -> None:
    run = outcome.runs[0]
    bins = [number for step in range(1000) for number in (1000 * step, 1)]
    steps = dict(ladder(run.model_copy(update={"latency_bins": bins})))
    assert steps[500_000] == 499
    assert steps[990_000] == 989
    assert max(steps) == 990_000
    assert ladder(run.model_copy(update={"latency_bins": []})) == []
