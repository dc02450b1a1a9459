# SPDX-License-Identifier: BSD-3-Clause
"""A lull-fwd without packets: the same answers, from a small model and a clock one hands in.

Nothing here is random; counters follow the clock, so that a test which moves
the clock knows what must come out.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

GOVERNORS = ("spin", "yield", "fixed", "ramp", "halve", "drain", "metronome", "kalman",
             "kalman-guarded", "objective", "phase")
UINT64_MAX = 2**64 - 1
SERVICE_NS = 400       # per packet
COST_NS = 9_000        # CPU time of a sleep
OVERSHOOT_NS = 6_000
RING_NS = 3_000        # through two rings and back
SINK_GAP_NS = 900
BESIDE_LATE_NS = 4_000_000  # an ordinary thread waits for its turn beside another program
SHAPE = ((0.50, 1.0), (0.40, 1.6), (0.085, 2.2), (0.012, 3.5), (0.0025, 6.0), (0.0005, 12.0))


@dataclass
class Faults:
    """What goes wrong on purpose."""

    mark_never: bool = False      # a window is announced and never begins
    drain_never: bool = False     # packets stay under way and their number changes for ever
    tail_lost: int = 0            # packets lost at the end of each run: in_flight never gets to 0
    leak: int = 0                 # packets that nobody accounts for
    forward_leak: bool = False    # the forward loop neither sends nor counts some packets
    steal_ns_per_s: int = 0       # the hypervisor takes time
    no_loops: bool = False
    refuse: str = ""              # setting that is always refused
    no_lull: bool = False         # an ordinary DPDK program
    clock_stopped: bool = False   # loops do not get their turn
    sched_policy: str = ""        # of a program that knows of classes
    may_realtime: bool = True
    one_cpu: bool = False         # loop and traffic share it
    shares_queues: bool = False   # its thread shares queues with others
    strangers: float = 0          # part of the loop's CPU that programs unknown to us take


@dataclass
class Spent:
    """Where a loop's time went, and what it saw."""

    cpu_ns: float = 0
    busy_ns: float = 0
    empty_ns: float = 0
    rest_ns: float = 0
    rests: float = 0
    pkts: float = 0
    steal_ns: float = 0


class SimulatedProgram:
    """State of the program; answer() is what the telemetry socket gives."""

    def __init__(self, now_ns: Callable[[], int], pid: int = 4711, faults: Faults | None = None,
                 name: str = "lull-fwd") -> None:
        self._clock = now_ns
        self.faults = faults or Faults()
        self.name = name
        self.pid = pid
        self.settings = {"governor": "objective", "max-latency": "200", "percentile": "99",
                         "loss": "zero", "max-rest": "1000", "rest": "50", "pps-max": "auto",
                         "traffic": "off"}
        self.log: list[str] = []
        self._started_ns = self._last_ns = now_ns()
        self._spent = Spent()
        self._window = 0
        self._window_begin_ns = self._last_ns
        self._pending: tuple[int, int] | None = None  # window, looks until it begins
        self._offered = 0.0
        self._lost_share = 0.0
        self._in_flight = 0
        self._drain_looks = 0
        self._calibration_looks = 3
        self._wait: tuple[str, float] = ("spin", 0.0)  # governor and rate while packets came
        self._late = False
        self.beside: SimulatedNeighbour | None = None
        self.neighbours = 0

    # ---- the model ----

    def rate(self) -> float:
        """Mean packets per second of the traffic setting."""
        kind, _, rest = self.settings["traffic"].partition(":")
        parts = rest.split(",")
        if kind == "off":
            return 0.0
        rate = float(parts[0].replace("k", "e3").replace("M", "e6"))
        if kind == "onoff":
            on, off = (float(part.removesuffix("ms")) for part in parts[1:3])
            rate *= on / (on + off)
        return rate

    def rest_length_ns(self) -> float:
        """Mean real rest of the governor; 0: it does not rest."""
        governor = self.settings["governor"]
        load = min(0.95, self.rate() * SERVICE_NS / 1e9)
        limit_ns = float(self.settings["max-latency"]) * 1e3
        if governor == "objective":
            return max(0.0, limit_ns * 0.9) if limit_ns > 2 * OVERSHOOT_NS else 0.0
        if governor in ("spin", "yield"):
            return 0.0
        longest = float(self.settings["max-rest"]) * 1e3
        return longest * (1 - load) / (1 + self.rate() / 2e4)

    def advance(self) -> None:
        """Let everything happen that has happened since the last look."""
        now = self._clock()
        passed = now - self._last_ns
        self._last_ns = now
        if passed <= 0 or self.faults.clock_stopped:
            return
        spent, rate, rest = self._spent, self.rate(), self.rest_length_ns()
        busy = min(1.0, rate * SERVICE_NS / 1e9)
        rests = (1 - busy) * passed / rest if rest else 0.0
        spent.rests += rests
        spent.rest_ns += (1 - busy) * passed if rest else 0
        spent.empty_ns += 0 if rest else (1 - busy) * passed
        spent.busy_ns += busy * passed
        used = busy * passed + (rests * COST_NS if rest else (1 - busy) * passed)
        if self.beside is not None:
            used = min(used, passed / 2)
            self.beside.ns += passed * (1 - self.faults.strangers) - used
        spent.cpu_ns += used
        spent.pkts += rate * passed / 1e9
        spent.steal_ns += self.faults.steal_ns_per_s * passed / 1e9
        self._offered += rate * passed / 1e9
        if rate:
            self._wait = (self.settings["governor"], rest)
            self._in_flight = 3
            self._late = self.beside is not None and self.sched_class() in ("", "other")

    def sched_class(self) -> str:
        """A loop that rests may have a real-time class, one that never does stays as it is."""
        policy = self.faults.sched_policy
        if not policy:
            return ""
        realtime = policy != "other" and self.faults.may_realtime and self.rest_length_ns() > 0
        return "other" if not realtime else "fifo" if policy == "auto" else policy

    def neighbour(self, cpu: int) -> "SimulatedNeighbour":
        """Another program on the CPU of the forwarding loop."""
        assert cpu == 1
        return SimulatedNeighbour(self)

    def bins(self) -> list[int]:
        """Latency of the packets of this window."""
        count = self.traffic()["received"]
        governor, rest = self._wait
        bins: list[int] = []
        if not count:
            return bins
        if not rest:
            shares = [(share, RING_NS * factor) for share, factor in SHAPE]
        else:
            shares = [(0.98 / 20, RING_NS + rest * (step + 0.5) / 20) for step in range(20)]
            tail = 1.02 if governor == "objective" else 1.1
            shares += [(0.019, RING_NS + rest * tail), (0.001, RING_NS + rest * 1.6)]
        if self._late:
            shares = [*[(share * 0.95, low) for share, low in shares], (0.05, BESIDE_LATE_NS)]
        reached, share_reached = 0, 0.0
        for share, low in shares:
            share_reached += share
            part = round(share_reached * count) - reached
            reached += part
            bins += [int(low), part] if part else []
        return bins

    def quantile_ns(self, share: float) -> int:
        """Latency that a share of the packets does not exceed."""
        bins = self.bins()
        total, reached = sum(bins[1::2]), 0
        for low, count in zip(bins[0::2], bins[1::2], strict=True):
            reached += count
            if reached >= share * total:
                return low
        return 0

    # ---- the answers ----

    def answer(self, request: str) -> Any:
        """Value for "/command,parameter"; None as DPDK says it does not know."""
        self.log.append(request)
        command, _, parameter = request.partition(",")
        if not command.startswith("/lull/"):
            return ["/"] if command == "/" else None
        if self.faults.no_lull:
            return None
        self.advance()
        handler = getattr(self, "answer_" + command.removeprefix("/lull/"), None)
        return handler(parameter) if handler else None

    def answer_info(self, _: str) -> dict[str, Any]:
        loops = [] if self.faults.no_loops else ["fwd0", "gen0"]
        return {"program": self.name, "version": "0.1.0", "pid": self.pid, "loops": loops,
                "dpdk": "DPDK 22.11.11", "started_ns": self._started_ns, "now_ns": self._last_ns}

    def answer_loop(self, name: str) -> dict[str, Any] | None:
        if name not in ("fwd0", "gen0"):
            return None
        self._begin_window()
        reply = {"name": name, "now_ns": self._last_ns, "window": self._window,
                 "window_begin_ns": self._window_begin_ns,
                 "max_latency_us": float(self.settings["max-latency"]), "percentile": "99",
                 "loss": "zero", "max_rest_us": 1000, "rest_us": 50, "pps_max": "learned"}
        return reply | (self._forward() if name == "fwd0" else self._source())

    def _begin_window(self) -> None:
        if self._pending is None or self.faults.mark_never:
            return
        window, looks = self._pending
        if looks > 0:
            self._pending = (window, looks - 1)
            return
        self._pending = None
        self._window, self._window_begin_ns = window, self._last_ns
        self._offered = 0.0

    def _forward(self) -> dict[str, Any]:
        spent = self._spent
        pkts = math.floor(spent.pkts)
        wait = {f"wait_{name}_ns": max(0, self.quantile_ns(share) - SINK_GAP_NS // 2)
                for name, share in (("p50", .5), ("p99", .99), ("p995", .995), ("p999", .999),
                                    ("max", 1.0))}
        iterations = int(spent.rests + spent.empty_ns / 60 + pkts / 4)
        return {"kind": "forward", "cpu": 1, "tid": self.pid + 1,
                "governor": self.settings["governor"],
                "thread_cpu_ns": int(spent.cpu_ns), "steal_ns": int(spent.steal_ns),
                "iterations": iterations, "iterations_empty": int(iterations - pkts / 4),
                "pkts": pkts,
                "busy_ns": int(spent.busy_ns), "empty_ns": int(spent.empty_ns),
                "rest_ns": int(spent.rest_ns), "rests_pause": 0, "rests_monitor": 0,
                "rests_sleep": int(spent.rests), "rests_interrupt": 0,
                "rx_pkts": pkts, "tx_pkts": pkts * 9 // 10 if self.faults.forward_leak else pkts,
                "tx_drops": 0, "tx_retries": 0, "rx_missed": 0, "rx_nombuf": 0,
                "empty_ppm": 0, "usage_ppm": 0,
                "wait_count": self.traffic()["received"]} | wait | self._sched() | self._share()

    def _share(self) -> dict[str, Any]:
        return {"tries": 9, "tries_failed": 1} if self.faults.shares_queues else {}

    def _sched(self) -> dict[str, Any]:
        """Members that older programs do not have."""
        if not self.faults.sched_policy:
            return {}
        return {"sched_policy": self.faults.sched_policy, "sched_class": self.sched_class(),
                "sched_changes": 1, "run_wait_ns": 0}

    def _source(self) -> dict[str, Any]:
        passed = self._last_ns - self._started_ns
        return {"kind": "traffic", "cpu": 1 if self.faults.one_cpu else 0, "tid": self.pid + 2,
                "governor": "spin",
                "thread_cpu_ns": passed, "steal_ns": 0, "iterations": passed // 100,
                "iterations_empty": passed // 100, "pkts": 0, "busy_ns": 0, "empty_ns": passed,
                "rest_ns": 0}

    def answer_explain(self, name: str) -> dict[str, Any] | None:
        if name != "fwd0":
            return {"state": "none", "text": ""} if name == "gen0" else None
        if self.settings["governor"] != "objective":
            return {"state": "none", "binding": "none", "idle_state": "none", "rest_ns": 0,
                    "text": ""}
        self._calibration_looks = max(0, self._calibration_looks - 1)
        rest = int(self.rest_length_ns())
        state = "calibrating" if self._calibration_looks else "feasible" if rest else "infeasible"
        text = (f"rests {rest / 1e3:.0f} us at a time: the latency objective binds" if rest else
                "no sleep fits the objective: wake-ups alone come later than it allows")
        return {"state": state, "binding": "latency" if rest else "overshoot",
                "idle_state": "sleep" if rest else "pause", "rest_ns": rest,
                "latency_bound_ns": int(float(self.settings["max-latency"]) * 1e3),
                "ring_bound_ns": UINT64_MAX, "break_even_ns": 25_000, "predicted_ns": rest,
                "predicted_cpu_ppm": 70_000, "overshoot_p50_ns": OVERSHOOT_NS,
                "overshoot_p99_ns": 2 * OVERSHOOT_NS, "overshoot_p9999_ns": 9 * OVERSHOOT_NS,
                "cost_ns": COST_NS, "load_ppm": 1000, "resting_ppm": 980_000,
                "arrival_pps": int(self.rate()), "envelope": "learned", "pps_max": 1_000_000,
                "calibration_count": 5000, "text": text, "text_more": ""}

    def traffic(self) -> dict[str, int]:
        """Counters of the traffic loop in this window, without the latency."""
        offered = math.floor(self._offered)
        rejected = math.floor(self._offered * self._lost_share)
        flying = self._in_flight if self.settings["traffic"] != "off" or self._drain_looks else 0
        lost_later = min(offered, self.faults.tail_lost)
        received = max(0, offered - rejected - flying - lost_later)
        return {"offered": offered, "sent": offered - rejected + self.faults.leak,
                "rejected": rejected, "no_buffer": 0, "received": received, "duplicates": 0,
                "reordered": 0, "gaps": rejected, "foreign": 0, "stale": 2, "rx_pkts": received + 2,
                "lost": offered - received, "in_flight": flying + lost_later}

    def answer_traffic(self, name: str) -> dict[str, Any] | None:
        if name != "gen0":
            return None
        if self.settings["traffic"] == "off":
            if self.faults.drain_never:
                self._in_flight += 1
            else:
                self._drain_looks = max(0, self._drain_looks - 1)
        times = {f"latency_{key}_ns": self.quantile_ns(share) for key, share in (
            ("min", 0.0), ("p50", .5), ("p99", .99), ("p999", .999), ("max", 1.0), ("mean", .5))}
        counters = self.traffic()
        return {"now_ns": self._last_ns, "window": self._window, **counters,
                "latency_count": counters["received"], **times,
                "sink_gap_p995_ns": SINK_GAP_NS, "late_p99_ns": 700}

    def answer_histogram(self, parameter: str) -> dict[str, Any] | None:
        name, _, which = parameter.partition(",")
        known = (name, which) in (("gen0", "latency"), ("fwd0", "wait"), ("fwd0", "rest"))
        return {"bins": self.bins()} if known else None

    def answer_settings(self, _: str) -> dict[str, str]:
        return {key.replace("-", "_"): value for key, value in self.settings.items()}

    def answer_set(self, assignment: str) -> dict[str, Any]:
        key, _, value = assignment.partition("=")
        key, _, loop = key.partition("@")
        if loop not in ("", "fwd0", "gen0"):
            return {"error": f"{key}: no loop is called {loop}"}
        if key not in self.settings or key == self.faults.refuse:
            return {"error": f"{key}: no such setting"}
        if key == "governor" and value not in GOVERNORS:
            return {"error": f"governor: '{value}' is not one of {' '.join(GOVERNORS)}"}
        if key == "max-latency" and not 1 <= float(value) <= 1_000_000:
            return {"error": f"max-latency: {value} is not in 1..1000000 (us)"}
        if loop != "gen0":
            self.settings[key] = value
        if key == "traffic":
            self._drain_looks = 2 if value == "off" else 0
            if value != "off":
                overflow = self.settings["governor"] == "ramp" and value.startswith("onoff")
                self._lost_share = 0.002 if overflow else 0.0
        return {"ok": 1}

    def answer_mark(self, _: str) -> dict[str, int]:
        window = self._window + 1
        self._pending = (window, 2)
        return {"window": window}


class SimulatedNeighbour:
    """Takes what the loop leaves of its CPU, half of it at least."""

    def __init__(self, program: SimulatedProgram) -> None:
        self._program = program
        self.ns = 0.0

    def __enter__(self) -> Self:
        assert self._program.beside is None
        self._program.advance()
        self._program.beside = self
        self._program.neighbours += 1
        return self

    def __exit__(self, *what: object) -> None:
        self._program.advance()
        self._program.beside = None

    def cpu_ns(self) -> int:
        """CPU time so far."""
        self._program.advance()
        return int(self.ns)
