# SPDX-License-Identifier: BSD-3-Clause
import errno
import json
import os
from pathlib import Path

import pytest

from lull import atomic
from lull.demo.judgement import caveats, headline
from lull.demo.result import Result, load, merge_bins, save, summarise, to_json
from lull.errors import LullError


def test_medians_and_sums(outcome: Result) -> None:
    cell = [sample for sample in outcome.samples
            if (sample.phase, sample.governor) == ("mid", "objective")]
    changed = [one.model_copy(update={"p99_us": value, "lost": lost, "max_us": value,
                                      "verdict": verdict})
               for one, value, lost, verdict in zip(
                   cell, (100.0, 900.0, 120.0), (1, 2, 3),
                   ("feasible", "suspended", "feasible"), strict=True)]
    run, = summarise(changed, outcome.settings)
    assert (run.p99_us, run.lost, run.max_us, run.verdict) == (120.0, 6, 900.0, "feasible")
    assert run.sent == sum(one.sent for one in cell)


def test_merge_bins() -> None:
    assert merge_bins([[5, 1, 9, 2], [1, 1, 9, 3], []]) == [1, 1, 5, 1, 9, 5]


def test_names_of_the_result(outcome: Result) -> None:
    """What spec and manual promise."""
    data = json.loads(to_json(outcome))
    assert {"cpu", "cores", "kernel", "hypervisor", "dpdk", "commit", "date"} <= set(
        data["machine"])
    assert {"governor", "phase", "offered_pps", "cpu_pct", "p50_us", "p99_us", "p999_us", "max_us",
            "p99_bound_us", "sent", "received", "lost", "duplicates", "reordered", "rests",
            "rest_mean_us", "wakes_per_s", "empty_pct", "steal_ms", "rounds", "verdict",
            "verdict_text"} <= set(data["runs"][0])


def test_save_and_load(outcome: Result, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "result.json"
    save(outcome, path)
    assert load(path).runs == outcome.runs
    assert [one.name for one in path.parent.iterdir()] == ["result.json"]
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_full_disk_leaves_nothing(outcome: Result, tmp_path: Path, call: str,
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.json"
    path.write_text("old")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if call == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(LullError, match=r"result\.json: cannot write \(No space left"):
        save(outcome, path)
    assert [one.name for one in tmp_path.iterdir()] == ["result.json"]
    assert path.read_text() == "old"


def test_place_is_checked_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LullError, match="choose another place with --out"):
        atomic.check_writable(tmp_path / "file" / "below")
    atomic.check_writable(tmp_path / "not" / "yet")
    assert not (tmp_path / "not").exists()


@pytest.mark.parametrize(("text", "message"), [
    ("", "not a result of 'lull demo'"),
    ("{", "not a result"),
    ("[]", "not a result"),
    ('{"runs": []}', "machine: is missing"),
    ("\0\1", "not a result"),
])
def test_load_nonsense(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(text)
    with pytest.raises(LullError, match=message) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_load_binary_missing_empty_and_newer(outcome: Result, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    with pytest.raises(LullError, match="cannot read"):
        load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(LullError, match="not text"):
        load(path)
    path.write_text(to_json(outcome.model_copy(update={"runs": []})))
    with pytest.raises(LullError, match="holds no measurement"):
        load(path)
    path.write_text(to_json(outcome.model_copy(update={"format": 2})))
    with pytest.raises(LullError, match="format 2 is not 1"):
        load(path)


def test_names_cannot_break_out_of_the_page(outcome: Result, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(to_json(outcome).replace('"ramp"', '"a;}</style>"'))
    with pytest.raises(LullError, match="not a result"):
        load(path)


def test_headline(outcome: Result) -> None:
    text = headline(outcome)
    assert "of its core on average, with spin 100 %." in text
    assert "It kept p99 within 200 µs in every phase and lost none of " in text
    worse = outcome.model_copy(update={"runs": [
        run.model_copy(update={"p99_us": 300.0, "lost": 7}) if run.phase == "low" else run
        for run in outcome.runs]})
    assert "It kept p99 within 200 µs in 5 of 6 phases and lost 7 of " in headline(worse)


def test_caveat_of_shared_cpus(outcome: Result) -> None:
    shared = outcome.model_copy(update={"runs": [
        run.model_copy(update={"waited_pct": 45.0}) for run in outcome.runs]})
    caveat = next(one for one in caveats(shared) if one.title.startswith("Other programs"))
    assert "up to 45 % of the time" in caveat.text


def test_caveats_follow_the_machine(outcome: Result) -> None:
    titles = {caveat.title for caveat in caveats(outcome)}
    assert {"The host took time away", "Guest halt polling hides cost", "A virtual machine",
            "Few packets", "No watts", "In-process traffic"} <= titles
    metal = outcome.model_copy(update={
        "machine": outcome.machine.model_copy(update={
            "hypervisor": "none", "cpuidle_driver": "intel_idle"}),
        "runs": [run.model_copy(update={"steal_ms": 0.0, "package_w": 30.0, "received": 10**6})
                 for run in outcome.runs]})
    titles = {caveat.title for caveat in caveats(metal)}
    assert titles == {"In-process traffic", "Loss is bounded by a learned rate",
                      "One kind of other program"}
