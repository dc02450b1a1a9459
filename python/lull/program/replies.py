# SPDX-License-Identifier: BSD-3-Clause
"""Replies: what a lull program says by telemetry, as typed plain data.

Unknown members are kept: a newer program may say more.
"""


from lull.document import Document

UINT64_MAX = 2**64 - 1
# Depths that hand the CPU back to the kernel; leaving one is a wake-up.
WAKING_IDLE_STATES = ("sleep", "interrupt")
# Why packets of flows may be in no record; those that belong to no flow are not among them.
FLOW_DROPS = ("drop_ring", "missed", "nombuf", "errors", "unrecorded")
IDLE_STATES = ("pause", "monitor", "sleep", "interrupt")
# Why packets of flows may be in no record; those that belong to no flow are not among them.
FLOW_DROPS = ("drop_ring", "missed", "nombuf", "errors", "unrecorded")


class Reply(Document, keep_unknown=True):
    """Base of all replies."""

    def count(self, name: str) -> int:
        """A counter by its name in the C table; 0 when the program does not have it."""
        value = getattr(self, name, None)
        return value if isinstance(value, int) else 0


class Greeting(Reply):
    """First packet on a telemetry socket."""

    version: str
    pid: int
    max_output_len: int


class Info(Reply):
    """/lull/info."""

    program: str
    version: str
    pid: int
    loops: list[str]
    dpdk: str = ""
    started_ns: int = 0
    now_ns: int = 0


class Loop(Reply):
    """/lull/loop,NAME; counters run since the start, percentiles since the window began."""

    name: str
    kind: str
    thread: str = ""
    mode: str = "on"
    cpu: int = -1
    tid: int = 0
    now_ns: int
    thread_cpu_ns: int
    steal_ns: int = 0
    window: int = 0
    window_begin_ns: int = 0
    governor: str = ""
    max_latency_us: float = 0
    percentile: str = ""
    loss: str = ""
    sched_policy: str = ""  # asked for
    sched_class: str = ""   # now
    sched_changes: int = 0
    run_wait_ns: int = 0    # ready to run while others ran
    cpu_latency_ns: int = 0  # limit on the C-states of its CPU that is held; 0: none
    empty_ppm: int = 0
    usage_ppm: int = 0
    iterations: int = 0
    iterations_empty: int = 0
    pkts: int = 0
    rest_ns: int = 0
    wait_count: int = 0
    wait_p50_ns: int = 0
    wait_p99_ns: int = 0
    wait_p995_ns: int = 0
    wait_p999_ns: int = 0
    wait_max_ns: int = 0

    def check(self) -> None:
        """Threads of other programs may move: -1, which telemetry can only say unsigned."""
        if self.cpu == UINT64_MAX:
            object.__setattr__(self, "cpu", -1)

    def rests(self) -> int:
        """Rests in every idle state since the start."""
        return sum(self.count(f"rests_{idle_state}") for idle_state in IDLE_STATES)

    def shares(self) -> bool:
        """Does its thread share queues with others?"""
        return "tries" in self.model_extra

    def wakes(self) -> int:
        """Rests that gave the CPU away, since the start."""
        return sum(self.count(f"rests_{idle_state}") for idle_state in WAKING_IDLE_STATES)


class Explain(Reply):
    """/lull/explain,NAME: the verdict of the loop's governor."""

    state: str = "none"
    binding: str = "none"
    idle_state: str = "none"
    rest_ns: int = 0
    # Most packets of one queue in any window of 1, 2, 4 ... us.
    arrival_pkts: list[int] = []
    # What would help where the objective does not hold: a list for each member, best first.
    remedies: list[str] = []
    remedy_fits: list[int] = []
    remedy_rest_ns: list[int] = []
    remedy_cpu_ppm: list[int] = []
    text: str = ""
    # A string of a DPDK reply holds 127 characters, so a long sentence continues here.
    text_more: str = ""
    # Why the thread has its scheduling class; the sentence above has it too where it fits.
    sched_text: str = ""
    sched_text_more: str = ""
    # The limit on the C-states of its CPU, or why there is none.
    cpu_latency_text: str = ""
    cpu_latency_text_more: str = ""

    def ways(self) -> dict[str, str]:
        """How the loop rests in each idle state, or why it cannot."""
        told = self.model_extra
        return {name.removeprefix("way_"): f"{words}{told.get(name + '_more', '')}"
                for name, words in told.items()
                if name.startswith("way_") and not name.endswith("_more")}

    def c_states(self) -> str:
        """The sentence about C-states."""
        return f"{self.cpu_latency_text}{self.cpu_latency_text_more}".strip()

    def sentence(self) -> str:
        """The whole explanation."""
        text = f"{self.text}{self.text_more}".strip()
        scheduling = f"{self.sched_text}{self.sched_text_more}".strip()
        return "; ".join(filter(None, (text, "" if scheduling in text else scheduling)))


class Traffic(Reply):
    """/lull/traffic,NAME; everything of this window."""

    now_ns: int = 0
    window: int = 0
    offered: int
    sent: int
    rejected: int = 0
    no_buffer: int = 0
    received: int
    duplicates: int = 0
    reordered: int = 0
    gaps: int = 0
    foreign: int = 0
    stale: int = 0
    lost: int = 0
    in_flight: int = 0
    latency_count: int = 0
    latency_min_ns: int = 0
    latency_p50_ns: int = 0
    latency_p99_ns: int = 0
    latency_p999_ns: int = 0
    latency_max_ns: int = 0
    latency_mean_ns: int = 0
    sink_gap_p995_ns: int = 0
    late_p99_ns: int = 0


class Histogram(Reply):
    """/lull/histogram,NAME,WHICH: low edge and count in turn, ascending, empty bins left out."""

    bins: list[int] = []

    def pairs(self) -> list[tuple[int, int]]:
        """(low edge in ns, count) of each bin."""
        return list(zip(self.bins[0::2], self.bins[1::2], strict=True))


class FlowTotals(Reply):
    """/lull/flow: packets by their fate since the start, decisions, order."""

    now_ns: int
    rx: int
    dispatched: int
    records: int = 0
    worker_pkts: list[int] = []

    def dropped(self) -> int:
        """Packets of flows that are in no record, for whatever cause."""
        return sum(self.count(name) for name in FLOW_DROPS)


class FlowTop(Reply):
    """/lull/flow_top: the heaviest flows, heaviest first; a list per column."""

    now_ns: int
    src: list[str]
    dst: list[str]
    proto: list[int]
    vlan_id: list[int]
    packets: list[int]
    bytes: list[int]
    packets_rev: list[int]
    bytes_rev: list[int]
    first_us: list[int]
    last_us: list[int]
    app: list[str]
    workers: list[int]

    def check(self) -> None:
        """One value of each column for each row."""
        if len({len(getattr(self, name)) for name in FlowRow.model_names()}) != 1:
            raise ValueError("columns differ in length")

    def rows(self) -> list["FlowRow"]:
        """Flow by flow."""
        names = FlowRow.model_names()
        columns = (getattr(self, name) for name in names)
        return [FlowRow.model_validate(dict(zip(names, row, strict=True)))
                for row in zip(*columns, strict=True)]


class FlowRow(Document):
    """One flow of /lull/flow_top; workers has a bit for each that had packets of it."""

    src: str
    dst: str
    proto: int
    vlan_id: int
    packets: int
    bytes: int
    packets_rev: int
    bytes_rev: int
    first_us: int
    last_us: int
    app: str
    workers: int


class SetReply(Reply):
    """/lull/set."""

    ok: int = 0
    error: str = ""


class MarkReply(Reply):
    """/lull/mark."""

    window: int
