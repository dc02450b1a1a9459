# SPDX-License-Identifier: BSD-3-Clause
import json
from pathlib import Path
from typing import Any

import pytest

from lull.cli import main
from lull.demo import markdown, report, shared_plot
from lull.demo.result import Result, load, save, to_json
from lull.errors import LullError

ROOT = Path(__file__).resolve().parents[2]


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines() if line.startswith("| ")]


def without_classes(outcome: Result) -> Result:
    """As an older program gives it."""
    return outcome.model_copy(update={
        "runs": [run.model_copy(update={"sched_class": ""}) for run in outcome.runs]})


NEW = {"run_wait_pct", "other_pct", "other_of_rest_pct", "sched_class", "sched_changes",
       "sink_gap_us", "kept", "rounds_kept", "other", "sched_policy", "realtime"}


def without(data: Any) -> Any:
    """The same data, the new names left out."""
    if isinstance(data, dict):
        return {name: without(value) for name, value in data.items() if name not in NEW}
    return [without(value) for value in data] if isinstance(data, list) else data


def alone(outcome: Result) -> Result:
    """No other program."""
    return outcome.model_copy(update={"runs": [run for run in outcome.runs if not run.beside]})


def test_shared(outcome: Result) -> None:
    text = markdown.shared(outcome)
    head, spin, _, objective = rows(text)
    assert head[1:] == ["class", "the loop takes", "the other program gets", "p50", "p99"]
    assert spin == ["spin", "other", "50 %", "50 %", "4.8 µs", "4 ms ✗"]
    assert objective[:4] == ["objective", "fifo", "8.8 %", "91 %"]
    assert "✗" not in objective[5]
    assert "Objective: p99 at most 200 µs and no loss; ✗: not kept." in text
    assert "Simulated CPU, 2 CPUs, KVM guest" in text
    assert rows(markdown.shared(without_classes(outcome)))[0][1] == "the loop takes"


def test_traffic(outcome: Result) -> None:
    text = markdown.traffic(outcome)
    found = rows(text)
    assert found[0] == ["traffic", *(f"{name}: CPU, p99" for name in outcome.settings.governors)]
    assert len(found) == 6
    assert found[5][2].endswith(", lost 651 ✗")
    assert "Governor objective kept the objective in 6 of 6 phases; spin in 5 of 6" in text
    worse = outcome.model_copy(update={"runs": [
        run.model_copy(update={"p99_us": 201.0}) if run.phase == "idle" else run
        for run in outcome.runs]})
    text = markdown.traffic(worse)
    assert rows(text)[1][3].endswith(", 201 µs ✗")
    assert ("In phase idle, objective did not keep the objective: p99 is 201 µs, 1 µs above the "
            "objective. Possible causes: ") in text


def test_documents_have_their_places() -> None:
    """Where devtools/demo-docs puts them."""
    readme = (ROOT / "README.md").read_text()
    for part in markdown.PARTS:
        assert f"<!-- demo-{part}: begin -->\n" in readme
        assert f"<!-- demo-{part}: end -->\n" in readme
    assert "(docs/images/demo.png)" in readme


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_picture(outcome: Result, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"demo.{ending}"
    shared_plot.save(outcome, path)
    first = path.read_bytes()
    assert len(first) > 2000
    shared_plot.save(outcome, path)
    assert path.read_bytes() == first
    if ending == "svg":
        assert "other program" in first.decode() or "path" in first.decode()


def test_no_picture_without_another_program(outcome: Result, tmp_path: Path) -> None:
    with pytest.raises(LullError, match="no phase beside another program to draw"):
        shared_plot.save(alone(outcome), tmp_path / "demo.png")


def test_command(outcome: Result, tmp_path: Path, capsys: pytest.CaptureFixture[str],
                 signals: None) -> None:
    assert signals is None
    save(outcome, tmp_path / "result.json")
    result = str(tmp_path / "result.json")
    assert main(["report", result, "--markdown", "shared"]) == 0
    assert capsys.readouterr().out == markdown.shared(outcome)
    assert main(["report", result, "--plot", str(tmp_path / "p.png")]) == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["p.png", "result.json"]
    assert main(["report", result, "--plot", str(tmp_path / "p.gif")]) == 2
    assert "end the name with .png, .svg, .pdf" in capsys.readouterr().err


def test_page_beside_another_program(outcome: Result) -> None:
    page = report.render(outcome)
    for words in ("Beside another program on the same CPU", "<th>class</th>", "of the rest",
                  "Governor objective kept the objective in 6 of 6 phases",
                  "left to another program",
                  "One kind of other program"):
        assert words in page
    assert "<th>class</th>" not in report.render(without_classes(outcome))
    page = report.render(alone(outcome))
    for words in ("Beside another program", "left to another program", "of the rest"):
        assert words not in page


def test_older_results_are_read(outcome: Result, tmp_path: Path) -> None:
    """Before there was another program, a class or a word about what was kept."""
    path = tmp_path / "result.json"
    text = to_json(alone(outcome).model_copy(update={"samples": []}))
    path.write_text(json.dumps(without(json.loads(text))))
    older = load(path)
    assert older.runs[0].kept is None
    assert older.kept(older.runs[0])
    assert "Governor objective kept the objective in 5 of 5 phases" in report.render(older)
