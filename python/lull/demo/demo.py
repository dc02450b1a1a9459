# SPDX-License-Identifier: BSD-3-Clause
"""Demo: drive one lull-fwd through phases and governors, and judge what it did.

Each round visits every phase, and in each phase every governor one after the
other, so that governors are compared under the same weather. The order of the
governors turns by one from round to round; round 1 begins with the first.
Phases beside another program follow when all others are done: it runs on the
CPU of the loop under test, from before each measurement until after it.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from lull.demo.measurement import Readings, check_conservation, make_sample
from lull.demo.neighbour import Busy, Neighbour
from lull.demo.result import Sample
from lull.demo.settings import Phase, Settings
from lull.errors import LullError
from lull.program.energy import EnergyMeter
from lull.program.pace import Pace
from lull.program.replies import Info, Loop, Traffic
from lull.program.runqueue import DISTURBED_PCT, waited_ns, waited_pct
from lull.program.telemetry import Telemetry
from lull.program.tree import Tree


class View(Protocol):
    """Who watches a demo."""

    #: May the view draw, and may we ask the program, while a measurement runs?
    live: bool

    def started(self, settings: Settings, info: Info) -> None:
        """The program answers."""
        ...

    def stage(self, what: str, done_s: float) -> None:
        """Something begins; done_s of the planned time is over."""
        ...

    def running(self, governor: str, phase: Phase, round_number: int, done_s: float) -> None:
        """A measurement begins."""
        ...

    def tick(self, governor: str, cpu_pct: float, done_s: float) -> None:
        """A measurement goes on; only when the view is live."""
        ...

    def measured(self, sample: Sample, done_s: float) -> None:
        """A measurement is complete."""
        ...

    def warn(self, what: str) -> None:
        """Something will make the figures worth less."""
        ...


class Demo:
    """One demo on one program."""

    def __init__(self, telemetry: Telemetry, settings: Settings, view: View, pace: Pace,
                 energy: EnergyMeter, tree: Tree,
                 neighbour: Callable[[int], AbstractContextManager[Busy]] = Neighbour) -> None:
        """The neighbour is the other program, started on a CPU."""
        self._telemetry = telemetry
        self._settings = settings
        self._view = view
        self._pace = pace
        self._energy = energy
        self._tree = tree
        self._neighbour = neighbour
        self._tids: list[int] = []
        self._cpu = -1
        self._alone = True
        self._forward = ""
        self._traffic = ""
        self._done_s = 0.0

    def run(self) -> list[Sample]:
        """Everything; the program is left without traffic."""
        info = self._telemetry.info()
        self._find_loops(info)
        self._view.started(self._settings, info)
        self._set("max-latency", f"{self._settings.max_latency_us:g}", self._forward)
        # The same cap for governors that only know one: ramp, halve and drain.
        self._set("max-rest", f"{self._settings.max_latency_us:g}", self._forward)
        self._set("percentile", self._settings.percentile, self._forward)
        self._set("loss", self._settings.loss, self._forward)
        self._warm_up()
        samples = []
        for round_number, phase, governor in self._schedule():
            sample = self._measure(governor, phase, round_number)
            samples.append(sample)
            self._done_s = self._settings.warm_up_s() + len(samples) * self._settings.run_s()
            self._view.measured(sample, self._done_s)
        return samples

    def _schedule(self) -> list[tuple[int, Phase, str]]:
        """Without the phases that this machine has too few CPUs for."""
        schedule = list(self._settings.schedule())
        if self._alone or not any(phase.other for _, phase, _ in schedule):
            return schedule
        found = [turn for turn in schedule if not turn[1].other]
        if not found:
            raise LullError("loop and traffic share one CPU: phase shared needs two CPUs")
        self._view.warn("loop and traffic share one CPU: phase shared is left out")
        return found

    def _find_loops(self, info: Info) -> None:
        loops = self._telemetry.loops(info)
        for kind in ("forward", "traffic"):
            found = [loop for loop in loops if loop.kind == kind]
            if len(found) != 1:
                raise LullError(f"{info.program} (pid {info.pid}) has {len(found)} {kind} loops, "
                                "the demo needs one: start it with --traffic off --threads 1")
            self._tids.append(found[0].tid)
            if kind == "forward":
                self._forward, self._cpu = found[0].name, found[0].cpu
            else:
                self._traffic, self._alone = found[0].name, found[0].cpu != self._cpu

    def _warm_up(self) -> None:
        """Learn what a rest costs and how fast packets can come, before anything counts."""
        self._view.stage("warm-up: learning the largest rate", 0.0)
        self._set("governor", "spin", self._forward)
        self._set("traffic", max(self._settings.phases, key=Phase.peak_pps).traffic)
        waited = self._waited()
        self._pace.sleep(self._settings.warm_up_rate_s)
        share = max(_shares(waited, self._waited(), round(self._settings.warm_up_rate_s * 1e9)))
        if share > DISTURBED_PCT:
            self._view.warn(f"other programs use these CPUs: a loop waits {share:.0f} % of the "
                            "time; stop them for figures that mean something")
        if "objective" in self._settings.governors:
            self._view.stage("warm-up: measuring how long rests take",
                             self._settings.warm_up_rate_s)
            self._set("traffic", self._settings.phases[0].traffic)
            self._set("governor", "objective", self._forward)
            self._wait("calibration", self._settings.warm_up_calibration_s, self._calibrated,
                       required=False)
        self._set("traffic", "off")
        self._drain()
        self._done_s = self._settings.warm_up_s()

    def _calibrated(self) -> bool:
        return self._telemetry.explain(self._forward).state not in ("calibrating", "none")

    def _measure(self, governor: str, phase: Phase, round_number: int) -> Sample:
        self._view.running(governor, phase, round_number, self._done_s)
        with self._neighbour(self._cpu) if phase.other else nullcontext() as other:
            return self._window(governor, phase, round_number, other)

    def _window(self, governor: str, phase: Phase, round_number: int,
                other: Busy | None) -> Sample:
        quiet = self._telemetry.loop(self._forward)
        self._set("governor", governor, self._forward)
        self._set("traffic", phase.traffic)
        self._pace.sleep(self._settings.settle_s)
        window = self._mark()
        source_begin = self._telemetry.loop(self._traffic)
        joules_begin = self._energy.joules()
        waited_begin = self._waited()
        other_begin = self._had(other)
        begin = self._telemetry.loop(self._forward)
        self._watch(governor, begin)
        end = self._telemetry.loop(self._forward)
        other_end = self._had(other)
        waited_end = self._waited()
        joules_end = self._energy.joules()
        source_end = self._telemetry.loop(self._traffic)
        explain = self._telemetry.explain(self._forward)
        self._set("traffic", "off")
        traffic = self._drain()
        final = self._telemetry.loop(self._forward)
        self._check_window(window, final, traffic)
        check_conservation(traffic, quiet, final, f"{phase.name} with {governor}")
        passed_ns = end.now_ns - begin.now_ns
        run_wait_pct, traffic_wait_pct = _shares(waited_begin, waited_end, passed_ns)
        return make_sample(self._settings, governor, phase.name, round_number, Readings(
            begin=begin, end=end, final=final, source_begin=source_begin, source_end=source_end,
            traffic=traffic, explain=explain,
            run_wait_pct=run_wait_pct, traffic_wait_pct=traffic_wait_pct,
            other_pct=_share(other_begin, other_end) if other else None,
            latency_bins=self._telemetry.histogram(self._traffic, "latency").bins,
            energy_j=(None if joules_begin is None or joules_end is None
                      else round(joules_end - joules_begin, 6))))

    def _watch(self, governor: str, begin: Loop) -> None:
        """Let the measurement run; look on only when that disturbs nobody."""
        end_s = self._pace.now() + self._settings.window_s
        last = begin
        while self._view.live and end_s - self._pace.now() > 1.5 * self._settings.tick_s:
            self._pace.sleep(self._settings.tick_s)
            loop = self._telemetry.loop(self._forward)
            passed_ns = loop.now_ns - last.now_ns
            if passed_ns > 0:
                share = 100 * (loop.thread_cpu_ns - last.thread_cpu_ns) / passed_ns
                left_s = max(0.0, end_s - self._pace.now())
                self._view.tick(governor, share, self._done_s + self._settings.settle_s
                                + self._settings.window_s - left_s)
            last = loop
        self._pace.sleep(end_s - self._pace.now())

    def _waited(self) -> list[int]:
        """Of the loop and of its traffic: the measurement suffers from either."""
        return [waited_ns(self._tree, tid) for tid in self._tids]

    def _had(self, other: Busy | None) -> tuple[float, float]:
        """When, and the CPU seconds that the other program has had until then."""
        return self._pace.now(), other.cpu_ns() / 1e9 if other else 0.0

    def _mark(self) -> int:
        window = self._telemetry.mark()

        def begun() -> bool:
            return all(self._telemetry.loop(name).window == window
                       for name in (self._forward, self._traffic))

        self._wait(f"measurement window {window}", self._settings.mark_timeout_s, begun)
        return window

    def _drain(self) -> Traffic:
        """Wait for the last packet. One that was lost never comes: then silence must do."""
        state: dict[str, Traffic | float] = {}

        def drained() -> bool:
            now = self._pace.now()
            traffic = self._telemetry.traffic(self._traffic)
            last = state.get("traffic")
            same = isinstance(last, Traffic) and _figures(last) == _figures(traffic)
            since = state.get("since")
            state["traffic"] = traffic
            if not same or not isinstance(since, float):
                state["since"] = now
                return False
            return traffic.in_flight == 0 or now - since >= self._settings.drain_quiet_s

        self._pace.sleep(self._settings.poll_s)
        self._wait("the last packets after traffic=off", self._settings.drain_timeout_s, drained)
        traffic = state["traffic"]
        assert isinstance(traffic, Traffic)
        return traffic

    def _wait(self, what: str, timeout_s: float, done: Callable[[], bool],
              required: bool = True) -> None:
        deadline = self._pace.now() + timeout_s
        while not done():
            if self._pace.now() >= deadline:
                if not required:
                    return
                raise LullError(f"{self._telemetry.path}: waited {timeout_s:g} s for {what}: "
                                "a loop does not get its turn; are its CPUs taken by other work? "
                                "'lull doctor' looks")
            self._pace.sleep(self._settings.poll_s)

    def _check_window(self, window: int, loop: Loop, traffic: Traffic) -> None:
        found = {loop.window, traffic.window}
        if found != {window}:
            raise LullError(f"{self._telemetry.path}: window {window} became "
                            f"{', '.join(map(str, sorted(found)))}: someone else measures with "
                            "this program; let it be the only one")

    def _set(self, key: str, value: str, loop: str = "") -> None:
        self._telemetry.set(key, value, loop)


def _shares(before: list[int], after: list[int], passed_ns: int) -> list[float]:
    return [waited_pct(one, other, passed_ns) for one, other in zip(before, after, strict=True)]


def _share(before: tuple[float, float], after: tuple[float, float]) -> float:
    return 100 * (after[1] - before[1]) / max(after[0] - before[0], 1e-9)


def _figures(traffic: Traffic) -> dict[str, object]:
    return traffic.model_dump(exclude={"now_ns"})
