# SPDX-License-Identifier: BSD-3-Clause
import pytest

from lull.demo.settings import (
    GOVERNOR_SUMMARY,
    GOVERNORS,
    PHASES,
    Phase,
    choose_governors,
    choose_phases,
    plan,
)
from lull.errors import LullError


def test_default_plan() -> None:
    settings = plan()
    assert settings.rounds == 3
    assert settings.window_s >= 1
    assert settings.total_s() == pytest.approx(90, abs=0.5)


@pytest.mark.parametrize("duration", [17, 30, 60, 120, 300, 3600])
def test_time_is_used_and_not_exceeded(duration: float) -> None:
    settings = plan(duration)
    assert settings.total_s() == pytest.approx(duration, abs=0.5)
    assert settings.rounds == 1 or settings.window_s >= 1


def test_too_short_or_long() -> None:
    with pytest.raises(LullError, match=r"duration: 5 is not in 16\.\.3600 \(s\)") as caught:
        plan(5)
    assert caught.value.status == 2
    with pytest.raises(LullError, match="duration: 4000"):
        plan(4000)
    with pytest.raises(LullError, match="duration: nan"):
        plan(float("nan"))


def test_choices() -> None:
    assert choose_governors(["ramp", "spin", "ramp"]) == ("ramp", "spin")
    assert [phase.name for phase in choose_phases(["burst", "idle"])] == ["idle", "burst"]
    with pytest.raises(LullError, match="governors: fast is not one of spin, "):
        choose_governors(["fast"])
    with pytest.raises(LullError, match="phases: peak is not one of idle, low, mid, high, burst"):
        choose_phases(["peak"])


def test_table() -> None:
    assert set(GOVERNORS) <= set(GOVERNOR_SUMMARY)
    assert [phase.name for phase in PHASES] == ["idle", "low", "mid", "high", "burst", "shared"]


def test_schedule() -> None:
    """All of it, once each, and what needs another program last."""
    settings = plan()
    turns = list(settings.schedule())
    assert len(turns) == len(set(turns)) == settings.runs() == 54
    assert [phase.other for _, phase, _ in turns] == [False] * 45 + [True] * 9
    first = [name for number, phase, name in turns if (number, phase.name) == (1, "idle")]
    second = [name for number, phase, name in turns if (number, phase.name) == (2, "idle")]
    assert first == ["spin", "ramp", "objective"]
    assert second == ["ramp", "objective", "spin"]


def test_largest_rate() -> None:
    assert max(PHASES, key=Phase.peak_pps).name == "burst"
    assert [phase.peak_pps() for phase in PHASES] == [100, 1e3, 50e3, 300e3, 500e3, 100e3]
