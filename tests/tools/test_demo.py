# SPDX-License-Identifier: BSD-3-Clause
from collections import Counter
from pathlib import Path

import pytest

from conftest import Bench
from lull.demo import settings as demo_settings
from lull.demo.demo import Demo, View
from lull.demo.result import Sample, summarise
from lull.demo.settings import Settings, choose_phases
from lull.demo.view import SilentView
from lull.errors import LullError
from lull.program.energy import EnergyMeter
from lull.program.telemetry import Telemetry, TelemetryError
from lull.program.tree import Tree
from machine_tree import write
from simulated_program import Faults

SHARED = Settings(rounds=3, phases=choose_phases(["low", "shared"]))
SHORT = Settings(rounds=2, phases=choose_phases(["low", "burst"]))


def run(bench: Bench, settings: Settings = SHORT, view: View | None = None,
        root: Path = Path("/nonexistent")) -> list[Sample]:
    with Telemetry(bench.server.path) as telemetry:
        return Demo(telemetry, settings, view or SilentView(), bench.pace,
                    EnergyMeter(Tree(root)), Tree(root), bench.program.neighbour).run()


def test_whole_demo(bench: Bench) -> None:
    begin = bench.pace.now()
    settings = demo_settings.plan()
    samples = run(bench, settings)
    assert len(samples) == settings.runs() == 54
    # Takes the time it was given, give or take the handshakes.
    assert bench.pace.now() - begin == pytest.approx(90, abs=4)
    assert bench.program.settings["traffic"] == "off"
    runs = {(one.phase, one.governor): one for one in summarise(samples, settings)}
    assert len(runs) == 18
    assert runs["idle", "spin"].cpu_pct == pytest.approx(100, abs=0.1)
    assert runs["idle", "objective"].cpu_pct < 10
    assert runs["high", "spin"].offered_pps == pytest.approx(300_000, rel=0.01)
    assert runs["burst", "objective"].offered_pps == pytest.approx(100_000, rel=0.01)
    assert 0 < runs["mid", "objective"].p50_us < runs["mid", "objective"].p99_us <= 200
    assert runs["low", "ramp"].p99_us > 200
    assert runs["burst", "ramp"].lost > 0
    assert runs["burst", "spin"].lost == runs["burst", "objective"].lost == 0
    for one in runs.values():
        assert one.p99_bound_us >= one.p99_us
        assert one.received + one.lost >= one.sent
        assert one.rounds == 3
    assert runs["low", "objective"].verdict == "feasible"
    assert "latency objective" in runs["low", "objective"].verdict_text
    assert runs["low", "spin"].rests == runs["low", "spin"].rest_mean_us == 0


def test_rounds_are_paired_and_turn(bench: Bench) -> None:
    samples = run(bench)
    order = [(one.round, one.phase, one.governor) for one in samples]
    assert order[:3] == [(1, "low", name) for name in ("spin", "ramp", "objective")]
    assert order[6:9] == [(2, "low", name) for name in ("ramp", "objective", "spin")]
    assert set(Counter((phase, name) for _, phase, name in order).values()) == {2}


def test_the_generator_keeps_its_governor(bench: Bench) -> None:
    run(bench)
    changes = [request for request in bench.program.log if "set,governor" in request]
    assert changes
    assert all("governor@fwd0=" in change for change in changes)


def test_sums_add_up(bench: Bench) -> None:
    for sample in run(bench):
        assert sample.offered == sample.sent + sample.rejected + sample.no_buffer
        assert sample.lost == sample.offered - sample.received
        assert sum(sample.latency_bins[1::2]) == sample.received


@pytest.mark.parametrize(("faults", "message"), [
    (Faults(leak=3), "low with spin: packets unaccounted for: offered = "),
    (Faults(forward_leak=True), "packets unaccounted for: rx_pkts of fwd0 = "),
    (Faults(mark_never=True), r"waited 2 s for measurement window 1: .*'lull doctor'"),
    (Faults(drain_never=True), r"waited 3 s for the last packets after traffic=off"),
    (Faults(no_loops=True), r"has 0 forward loops, the demo needs one"),
    (Faults(refuse="traffic"), "traffic: no such setting"),
    (Faults(clock_stopped=False, no_lull=True), "no answer to /lull/info"),
])
def test_troubles_are_told(bench: Bench, faults: Faults, message: str) -> None:
    bench.program.faults = faults
    with pytest.raises(LullError, match=message) as caught:
        run(bench)
    assert "\n" not in str(caught.value)


def test_someone_else_marks(bench: Bench) -> None:
    class Meddler(SilentView):
        live = True

        def tick(self, governor: str, cpu_pct: float, done_s: float) -> None:  # noqa: ARG002
            bench.program._window += 1

    with pytest.raises(LullError, match="someone else measures"):
        run(bench, view=Meddler())


def test_program_ends_in_the_middle(bench: Bench) -> None:
    class Killer(SilentView):
        def measured(self, sample: Sample, done_s: float) -> None:  # noqa: ARG002
            bench.server.hang_up()

    with pytest.raises(TelemetryError, match="hung up"):
        run(bench, view=Killer())


@pytest.mark.parametrize("faults", [Faults(tail_lost=4)])
def test_packets_lost_at_the_very_end(bench: Bench) -> None:
    """They never come back, so in_flight stays above zero: silence must end the wait."""
    samples = run(bench)
    assert min(sample.lost for sample in samples) == 4


@pytest.mark.parametrize("faults", [Faults(steal_ns_per_s=10_000_000)])
def test_steal_is_counted_and_summed(bench: Bench) -> None:
    for one in summarise(run(bench), SHORT):
        assert one.steal_ms == pytest.approx(2 * 14, rel=0.02)


def test_live_view_gets_ticks(bench: Bench) -> None:
    class Watcher(SilentView):
        live = True
        ticks: list[tuple[str, float]]

        def tick(self, governor: str, cpu_pct: float, done_s: float) -> None:  # noqa: ARG002
            self.ticks.append((governor, cpu_pct))

    view = Watcher()
    view.ticks = []
    samples = run(bench, view=view)
    assert len(view.ticks) == 5 * len(samples)
    assert {name for name, _ in view.ticks} == {"spin", "ramp", "objective"}
    assert all(share == pytest.approx(100, abs=1) for name, share in view.ticks if name == "spin")


def test_no_look_in_a_window_when_cpus_are_short(bench: Bench) -> None:
    run(bench)
    looks = [request for request in bench.program.log if request.startswith("/lull/loop,fwd0")]
    # Quiet, three looks for the mark, begin, end, final: seven for each of the 12, two to find.
    assert len(looks) <= 12 * 7 + 2


def test_energy_is_read_around_the_window(bench: Bench, tmp_path: Path) -> None:
    zone = tmp_path / "sys/class/powercap/intel-rapl:0"
    zone.mkdir(parents=True)
    (zone / "name").write_text("package-0\n")
    (zone / "max_energy_range_uj").write_text("100000000\n")
    (zone / "energy_uj").write_text("0\n")
    sleep = bench.pace.sleep

    def use_power(seconds: float) -> None:
        sleep(seconds)
        now_uj = round(bench.pace.now() * 20e6) % 100_000_001  # 20 W
        (zone / "energy_uj").write_text(f"{now_uj}\n")

    bench.pace.sleep = use_power  # type: ignore[method-assign]
    for one in summarise(run(bench, root=tmp_path), SHORT):
        assert one.package_w == pytest.approx(20, rel=0.02)


def test_no_energy_no_figure(bench: Bench) -> None:
    assert all(one.package_w is None for one in summarise(run(bench), SHORT))


def test_other_programs_on_the_cpus(bench: Bench, tmp_path: Path) -> None:
    """The kernel says how long threads were ready and did not run."""
    warnings: list[str] = []

    class Listener(SilentView):
        def warn(self, what: str) -> None:
            warnings.append(what)

    sleep = bench.pace.sleep
    tids = {bench.program.pid + 1: 0.1, bench.program.pid + 2: 0.2}

    def share_cpus(seconds: float) -> None:
        sleep(seconds)
        for tid, share in tids.items():
            waited_ns = round(share * bench.pace.now() * 1e9)
            write(tmp_path, {f"proc/{tid}/schedstat": f"5 {waited_ns} 7"})

    bench.pace.sleep = share_cpus  # type: ignore[method-assign]
    share_cpus(0)
    runs = summarise(run(bench, view=Listener(), root=tmp_path), SHORT)
    assert warnings == ["other programs use these CPUs: a loop waits 20 % of the time; "
                        "stop them for figures that mean something"]
    for one in runs:
        assert one.waited_pct == pytest.approx(20, rel=0.02)
        assert one.disturbed


def test_quiet_machine_is_not_disturbed(bench: Bench) -> None:
    assert not any(one.disturbed for one in summarise(run(bench), SHORT))


@pytest.mark.parametrize("faults", [Faults(sched_policy="auto")])
def test_beside_another_program(bench: Bench) -> None:
    samples = run(bench, SHARED)
    assert bench.program.neighbours == 9
    assert bench.program.beside is None
    order = [(one.round, one.phase) for one in samples]
    assert order == [(number, phase) for phase in ("low", "shared") for number in (1, 2, 3)
                     for _ in range(3)]
    assert [one.governor for one in samples[12:15]] == ["ramp", "objective", "spin"]
    runs = {(one.phase, one.governor): one for one in summarise(samples, SHARED)}
    assert {one.other_pct for one in runs.values() if one.phase == "low"} == {None}
    spin, objective = runs["shared", "spin"], runs["shared", "objective"]
    assert spin.cpu_pct == pytest.approx(50, abs=0.1)
    assert spin.other_pct == pytest.approx(50, abs=0.1)
    assert objective.other_pct is not None
    assert objective.other_pct + objective.cpu_pct == pytest.approx(100, abs=0.1)
    assert objective.other_pct > 90
    assert objective.other_of_rest_pct == pytest.approx(100, abs=0.1)
    # The same setting for all: what never rests stays in the ordinary class by itself.
    assert [runs["shared", name].sched_class for name in ("spin", "ramp", "objective")] == [
        "other", "fifo", "fifo"]
    assert (spin.kept, spin.rounds_kept) == (False, 0)
    assert (objective.kept, objective.rounds_kept) == (True, 3)
    assert not any(one.disturbed for one in runs.values())


@pytest.mark.parametrize("faults", [Faults(sched_policy="auto", may_realtime=False)])
def test_beside_another_program_in_the_ordinary_class(bench: Bench) -> None:
    runs = {(one.phase, one.governor): one for one in summarise(run(bench, SHARED), SHARED)}
    assert runs["shared", "objective"].sched_class == "other"
    assert runs["shared", "objective"].kept is False
    assert runs["low", "objective"].kept is True


@pytest.mark.parametrize(("faults", "message"), [
    (Faults(mark_never=True), "waited 2 s for measurement window"),
    (Faults(leak=3), "shared with spin: packets unaccounted for")])
def test_the_other_program_ends_in_trouble(bench: Bench, message: str) -> None:
    with pytest.raises(LullError, match=message):
        run(bench, Settings(phases=choose_phases(["shared"])))
    assert bench.program.neighbours == 1
    assert bench.program.beside is None


def test_waiting_is_the_point_beside_another_program(bench: Bench, tmp_path: Path) -> None:
    """The loop waits for its CPU, which is told; the measurement suffers if the traffic does."""
    sleep = bench.pace.sleep
    shares = {bench.program.pid + 1: 0.4, bench.program.pid + 2: 0.001}

    def share_cpus(seconds: float) -> None:
        sleep(seconds)
        for tid, share in shares.items():
            write(tmp_path, {f"proc/{tid}/schedstat": f"5 {round(share * bench.pace.ns)} 7"})

    bench.pace.sleep = share_cpus  # type: ignore[method-assign]
    share_cpus(0)
    runs = summarise(run(bench, SHARED, root=tmp_path), SHARED)
    assert {one.phase for one in runs if one.disturbed} == {"low"}
    assert all(one.run_wait_pct == pytest.approx(40, rel=0.02) for one in runs)
    shares[bench.program.pid + 2] = 0.2
    runs = summarise(run(bench, SHARED, root=tmp_path), SHARED)
    assert all(one.disturbed for one in runs)


@pytest.mark.parametrize("faults", [Faults(strangers=0.1)])
def test_strangers_beside_the_other_program(bench: Bench) -> None:
    """Nobody's time is idle there: what neither of the two got, strangers had."""
    runs = summarise(run(bench, SHARED), SHARED)
    assert {one.phase for one in runs if one.disturbed} == {"shared"}
    for one in runs:
        if one.other_pct is not None:
            assert one.waited_pct == pytest.approx(10, abs=0.2)


@pytest.mark.parametrize("faults", [Faults(one_cpu=True)])
def test_one_cpu_is_too_few(bench: Bench) -> None:
    warnings: list[str] = []

    class Listener(SilentView):
        def warn(self, what: str) -> None:
            warnings.append(what)

    samples = run(bench, SHARED, view=Listener())
    assert {one.phase for one in samples} == {"low"}
    assert warnings == ["loop and traffic share one CPU: phase shared is left out"]
    with pytest.raises(LullError, match="phase shared needs two CPUs"):
        run(bench, Settings(phases=choose_phases(["shared"])))
    assert bench.program.neighbours == 0
