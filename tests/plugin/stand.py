# SPDX-License-Identifier: BSD-3-Clause
"""Programs that nobody changed, with the plugin and without; what their threads cost.

Every case is tried with the plugin. What makes sure that the measure is right, the same without
it, is tried once for each kind of case, and with LULL_LONG set for each.

CPU time is judged against the time a thread could have run: what other programs took
from it (schedstat's run delay) is no time at rest. On a machine that does not let the
objective hold, a case falls back to the governor `fixed`, which promises nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from rights import skip, take
from verdict import Failure, check, wait_for
from world import World

# All that there is to try, for which there is no time every day: `make test-long`.
LONG = bool(os.environ.get("LULL_LONG"))
MEMORY_MB = 256
IDLE_MOST = 0.20  # of a core, at rests of up to 100 us, where a sleep costs what it should
IDLE_LIMIT = 0.50  # however dear a sleep is
SLEEPS = 300
SPIN_LEAST = 0.95
MEASURE_S = 1.0  # of time it could have run
PROMPT = "testpmd> "
FORWARDER_CPU, OTHER_CPU = 1, 0


@dataclass(frozen=True)
class Files:
    """What meson built."""

    plugin: Path  # a copy where EAL loads it from
    gen: Path
    host: Path
    host_static: Path
    duties: Path
    duties_static: Path
    short: Path


class Telemetry:
    """Questions over a program's telemetry socket."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def ask(self, command: str) -> Any:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.settimeout(30)
            wait_for("the socket listens", partial(self.connects, client), 5)
            limit = json.loads(client.recv(1024))["max_output_len"]
            client.send(command.encode())
            return json.loads(client.recv(limit))[command.split(",", 1)[0]]

    def connects(self, client: socket.socket) -> bool:
        """DPDK's socket is there before it listens."""
        try:
            client.connect(str(self.path))
        except ConnectionRefusedError:
            return False
        return True

    def set(self, assignment: str) -> None:
        reply = self.ask(f"/lull/set,{assignment}")
        check(reply == {"ok": 1}, f"set {assignment}", reply)

    def loops(self) -> dict[str, Any]:
        """The threads that poll, by their name in the operating system."""
        names = self.ask("/lull/info")["loops"]
        loops = [self.ask(f"/lull/loop,{name}") for name in names]
        return {loop["thread"]: loop for loop in loops}

    def loop(self, thread: str) -> Any:
        return wait_for(f"{thread} polls", lambda: self.loops().get(thread))


class Host:
    """A DPDK program of someone else."""

    def __init__(
        self,
        here: World,
        name: str,
        argv: list[str],
        *,
        env: dict[str, str] | None = None,
        namespace: str | None = None,
    ) -> None:
        self.here = here
        self.name = name
        self.argv = argv
        self.prefix = f"{name}-{os.getpid()}-{len(here.programs)}"
        self.telemetry_path: Path | None = None  # when it has a prefix of its own
        self.log_path = here.path(f"{self.prefix}.log")
        # Ahead of the rest of a busy machine, whose share of the lateness is not ours.
        command = ["nice", "-n", "-20"]
        command += ["ip", "netns", "exec", namespace] if namespace else []
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, *(word.replace("PREFIX", self.prefix) for word in argv)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={**here.env, **(env or {})},
                restore_signals=False,  # virtio-user dies of SIGPIPE when its peer has gone
            )
        here.programs.append(self)  # type: ignore[arg-type]

    def stderr(self) -> str:
        return self.log()

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    @property
    def socket_path(self) -> Path:
        return self.here.runtime / "dpdk" / self.prefix / "dpdk_telemetry.v2"

    @property
    def telemetry(self) -> Telemetry:
        return Telemetry(self.telemetry_path or self.socket_path)

    def check_alive(self) -> None:
        status = self.process.poll()
        if status is not None:
            raise Failure(f"{self.name} ended with {status}: {self.log()[-1500:]}")

    def says(self, text: str, times: int = 1) -> None:
        def said() -> bool:
            if self.log().count(text) >= times:
                return True
            self.check_alive()
            return False

        wait_for(f"{self.name} says {text!r}", said, 60)

    def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.check_alive()
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def finish(self, sign: int | None = None) -> str:
        """Let it end; status 0. Returns what it said."""
        if sign is not None:
            self.process.send_signal(sign)
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} does not end: {self.log()[-1500:]}") from None
        check(status == 0, f"{self.name} ends with 0", f"{status}, {self.log()[-1500:]}")
        return self.log()

    def threads(self) -> dict[str, int]:
        threads = {}
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            with suppress(OSError):  # ended meanwhile
                threads[(task / "comm").read_text().strip()] = int(task.name)
        return threads

    def share(self, thread: str) -> float:
        """Part of the time it could have run in which a thread did."""
        tid = wait_for(f"thread {thread}", lambda: self.threads().get(thread))
        path = Path(f"/proc/{self.process.pid}/task/{tid}/schedstat")

        def read() -> tuple[float, float, float]:
            ran, waited, _ = path.read_text().split()
            return time.monotonic(), int(ran) / 1e9, int(waited) / 1e9

        begin = read()
        while True:
            time.sleep(0.2)
            wall, ran, waited = (now - then for now, then in zip(read(), begin, strict=True))
            if wall - waited > MEASURE_S or wall > 20 * MEASURE_S:
                return ran / max(wall - waited, 0.001)


class Testpmd(Host):
    """dpdk-testpmd as Debian has it, told what to do line by line."""

    def __init__(
        self,
        here: World,
        vdevs: list[str],
        *,
        plugin: Path | None,
        env: dict[str, str] | None = None,
        lcores: int = 1,
        options: str = "",
        namespace: str | None = None,
    ) -> None:
        cpus = [FORWARDER_CPU, OTHER_CPU]
        workers = [f"{i + 1}@{cpus[i % 2]}" for i in range(lcores)]
        # Line by line: its prompt goes past its buffered output.
        argv = ["stdbuf", "-oL", "dpdk-testpmd", "--lcores", ",".join([f"0@{OTHER_CPU}", *workers])]
        argv += f"--no-huge --no-pci -m {MEMORY_MB} --file-prefix PREFIX".split()
        if plugin is not None:
            argv += ["-d", str(plugin)]
        for vdev in vdevs:
            argv += ["--vdev", vdev]
        argv += ["--", "-i", f"--nb-cores={lcores}", "--total-num-mbufs=8192", *options.split()]
        if plugin is not None:
            env = {"LULL": "on", **(env or {})}
        super().__init__(here, "testpmd", argv, env=env, namespace=namespace)
        self.prompts = 1
        self.says(PROMPT)

    def command(self, line: str) -> str:
        """Type a line; what it answered."""
        before = len(self.log())
        self.type(line)
        self.prompts += 1
        self.says(PROMPT, self.prompts)
        return self.log()[before:]

    def quit(self) -> str:
        self.type("quit")
        return self.finish()


def rest_count(loop: Any) -> int:
    """Rests of any depth."""
    return sum(int(loop[f"rests_{depth}"]) for depth in ("pause", "sleep"))


def idle_most() -> float:
    """IDLE_MOST, or more where the kernel or the host makes sleeps dear just now.

    Half as much again as a thread here takes that sleeps for 100 us in turn: on a host under load
    a sleep has cost 5 us in one minute and 35 us in the next.
    """
    begin = time.thread_time()
    for _ in range(SLEEPS):
        time.sleep(100e-6)
    cost = (time.thread_time() - begin) / SLEEPS
    return min(IDLE_LIMIT, max(IDLE_MOST, 1.5 * cost / (100e-6 + cost)))


def rested(host: Host, thread: str) -> str:
    """Its share is at most idle_most() under the objective, or, if this machine cannot hold
    that just now, under `fixed`. Returns a remark.

    The objective then has to say that it cannot hold and to rest all the same, as it does on the
    worst of machines: one that never rests has failed, whatever `fixed` does.
    """
    telemetry = host.telemetry
    before = rest_count(telemetry.loop(thread))
    for _ in range(3):
        share = host.share(thread)
        loop = telemetry.loop(thread)
        verdict = telemetry.ask(f"/lull/explain,{loop['name']}")
        seen = f"{share:.0%}, {verdict['text']}{verdict.get('text_more', '')}"
        check(rest_count(loop) > before, f"{thread} rests at all", seen)
        if share <= idle_most():
            return f"{share:.0%}"
        if verdict["state"] == "infeasible" and not LONG:
            break  # on a machine that says so it seldom comes to more
    predicted = verdict["predicted_cpu_ppm"] / 1e6
    check(
        verdict["state"] in ("calibrating", "infeasible", "suspended")
        or (verdict["state"] == "feasible" and IDLE_MOST < share < predicted + IDLE_MOST),
        f"{thread} uses so much and says why",
        seen,
    )
    # Five times less often than by default: a slow machine's wake-ups fit as well.
    for setting in ("governor=fixed", "max-rest=500us", "rest=500us"):
        telemetry.set(setting)
    share = host.share(thread)
    check(share <= idle_most(), f"{thread} rests (objective: {seen})", f"{share:.0%}")
    for setting in ("max-rest=100us", "governor=objective"):
        telemetry.set(setting)
    return f"{share:.0%} under fixed; objective: {seen}"


def spins(host: Host, thread: str) -> None:
    shares: list[float] = []
    while len(shares) < 5 and max(shares, default=0) < SPIN_LEAST:
        shares.append(host.share(thread))
    check(max(shares) >= SPIN_LEAST, f"{thread} spins", shares)


class Lacking(Exception):
    """What one case needs and this machine does not give; the other cases run."""


def main(
    cases: Sequence[Callable[[World, Files], str | None]], need: str = "namespaces"
) -> None:
    """SCRIPT PLUGIN LULL_GEN HOST HOST_STATIC DUTIES DUTIES_STATIC SHORT [CASE ...]."""
    if shutil.which("dpdk-testpmd") is None:
        skip("needs dpdk-testpmd")
    take(need)
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda number, _frame: sys.exit(128 + number))
    paths = [Path(path).resolve() for path in sys.argv[1:8]]
    failed = 0
    # EAL loads nothing from below a directory that anybody may write to, such as /tmp.
    with tempfile.TemporaryDirectory(prefix="lull-plugin-", dir="/run") as folder:
        plugin = Path(shutil.copy(paths[0], folder))
        for case in cases:
            if len(sys.argv) > 8 and case.__name__ not in sys.argv[8:]:
                continue
            failed += not run_case(case, Files(plugin, *paths[1:]))
    sys.exit(1 if failed else 0)


def run_case(case: Callable[[World, Files], str | None], files: Files) -> bool:
    begin = time.monotonic()
    here = World()
    verdict = "ok"
    try:
        remark = case(here, files) or ""
    except Lacking as lacking:
        remark = f"# SKIP needs {lacking}"
    except (Failure, OSError, LookupError, ValueError) as failure:
        verdict, remark = "not ok", repr(failure)
    finally:
        here.close()
    seconds = time.monotonic() - begin
    print(f"{verdict} - {case.__name__} [{seconds:.1f} s] {remark}", flush=True)
    return verdict == "ok"
