# SPDX-License-Identifier: BSD-3-Clause
"""Sleep probe: how late this machine wakes a thread, and what a sleep costs."""

import ctypes
import threading
import time
from dataclasses import asdict, dataclass

PR_SET_TIMERSLACK = 29
REQUESTS_US = (1, 10, 20, 50, 100, 200, 500, 1000)
BUDGET_S = 0.12   # per request
SLEEPS_MAX = 2000
SLEEPS_MIN = 50


@dataclass(frozen=True)
class SleepRow:
    """One length of sleep."""

    request_us: float
    slack_ns: int
    count: int
    median_us: float
    p99_us: float
    cpu_us: float

    @property
    def overshoot_us(self) -> float:
        """How much longer than asked for, as a rule."""
        return self.median_us - self.request_us

    @property
    def cpu_pct(self) -> float:
        """Share of a CPU when a loop does nothing but sleep like this."""
        return 100 * self.cpu_us / self.median_us if self.median_us else 0.0

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return asdict(self) | {"overshoot_us": round(self.overshoot_us, 2)}


def measure_sleeps() -> list[SleepRow]:
    """A table with the slack that lull's loops use, and one row with the default for comparison."""
    rows: list[SleepRow] = []

    def work() -> None:
        # Slack belongs to the thread and ends with it.
        libc = ctypes.CDLL(None)
        rows.append(_measure(50, 50_000))
        libc.prctl(PR_SET_TIMERSLACK, 1)
        rows.extend(_measure(request, 1) for request in REQUESTS_US)

    thread = threading.Thread(target=work, name="sleep-probe")
    thread.start()
    thread.join()
    return rows[1:] + rows[:1]


def _measure(request_us: int, slack_ns: int) -> SleepRow:
    count = max(SLEEPS_MIN, min(SLEEPS_MAX, int(BUDGET_S / ((request_us + 60) / 1e6))))
    seconds = request_us / 1e6
    lengths: list[int] = []
    cpu_begin = time.thread_time_ns()
    for _ in range(count):
        begin = time.perf_counter_ns()
        time.sleep(seconds)
        lengths.append(time.perf_counter_ns() - begin)
    cpu_ns = time.thread_time_ns() - cpu_begin
    lengths.sort()
    return SleepRow(
        request_us=request_us, slack_ns=slack_ns, count=count,
        median_us=round(lengths[count // 2] / 1e3, 2),
        p99_us=round(lengths[min(count - 1, count * 99 // 100)] / 1e3, 2),
        cpu_us=round(cpu_ns / count / 1e3, 2))
