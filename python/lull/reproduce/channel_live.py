# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction of the channel, live: lull-channel-perf between two nodes of a test bed."""

import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from lull.channel import bed_plan
from lull.channel.bed import Bed
from lull.document import Document
from lull.errors import LullError
from lull.program.child import die_with_parent, end_process
from lull.reproduce.channel import (
    ALL_THE_TIME,
    LOSSES,
    ORIGINAL,
    OURS,
    POLLING,
    RAILS,
    STEPS,
    ChannelSeen,
)
from lull.reproduce.channel_run import Advance, ChannelBench
from lull.reproduce.reproduction import Curves, Figure, Side

BED = "reproduce"
NAME = "lull-channel-perf"
EAL = "--no-huge -m 512"  # of eight ports in software; hugepages may be few
GOVERNORS = {ORIGINAL: "spin", POLLING: "spin", OURS: "phase"}
JOBS = {ALL_THE_TIME: "bandwidth", STEPS: "periodic"}
LINES = {ALL_THE_TIME: (ORIGINAL, OURS), STEPS: (POLLING, OURS)}
READY_S = 20.0
LIMIT_S = 30.0


class PathReply(Document):
    """A path of the sender."""

    tx_pkts: int
    lost_pkts: int
    late_pkts: int
    resent_pkts: int


class SideReply(Document):
    """What the other side told."""

    cpu_pct: float
    goodput_bits_per_s: float


class PeerReply(Document):
    """The job with a node."""

    cpu_pct: float
    far: SideReply
    paths: list[PathReply]


class PerfReply(Document):
    """What lull-channel-perf says."""

    peers: list[PeerReply]


def plan(figures: Sequence[Figure], bench: ChannelBench) -> list[tuple[str, str, int]]:
    """Figure, line and size of each run."""
    names = {ALL_THE_TIME if figure.name == LOSSES else figure.name for figure in figures}
    return [(figure, line, size) for figure in JOBS if figure in names
            for line in LINES[figure] for size in bench.live_sizes]


def seen(text: str) -> ChannelSeen:
    """What one run showed."""
    try:
        peer = PerfReply.model_validate(json.loads(text)).peers[0]
    except (ValueError, IndexError) as error:
        raise LullError(f"{NAME}: result not understood ({str(error)[:160]}): rebuild it with "
                        "'make build'") from None
    sent, lost, late, again = (sum(getattr(path, name) for path in peer.paths) for name in (
        "tx_pkts", "lost_pkts", "late_pkts", "resent_pkts"))
    return ChannelSeen(
        send=Side(cpu_pct=peer.cpu_pct),
        receive=Side(cpu_pct=peer.far.cpu_pct, speed_bps=peer.far.goodput_bits_per_s),
        loss_ppm=1e6 * max(0, lost - late) / max(1, sent), resent_ppm=1e6 * again / max(1, sent))


def words(program: Path, node: str, line: str) -> list[str]:
    """How a node is started."""
    return [str(program), "--name", node, "--security", "open", "--stats", "0", "--governor",
            GOVERNORS[line], f"--eal={EAL}",
            *(word for rail in range(RAILS) for word in ("--rail", f"dpdk:af_packet=r{rail}"))]


def measure(program: Path, figures: Sequence[Figure], bench: ChannelBench,
            advance: Advance) -> dict[str, Curves]:
    """Lay a bed, measure, remove it."""
    found: dict[str, dict[str, list[tuple[float, ChannelSeen]]]] = {}
    rails = ",".join([bench.live_rate] * RAILS)
    with Bed.lay(bed_plan.Plan(id=BED, nodes=2, rails=bed_plan.rails(rails))) as bed:
        for figure, line, size in plan(figures, bench):
            one = _run(bed, program, figure, line, size, bench)
            found.setdefault(figure, {}).setdefault(line, []).append((float(size), one))
            advance()
    curves: dict[str, Curves] = dict(found)
    if ALL_THE_TIME in curves:
        curves[LOSSES] = curves[ALL_THE_TIME]
    return curves


def _run(bed: Bed, program: Path, figure: str, line: str, size: int,
         bench: ChannelBench) -> ChannelSeen:
    """Node b listens, node a sends."""
    with tempfile.TemporaryDirectory(prefix="lull-") as folder:
        result = Path(folder) / "result.json"
        listener = _start(bed, "b", [*words(program, "b", line), "--listen"], folder)
        sender = None
        try:
            _await(Path(folder) / "b", listener)
            sender = _start(bed, "a", [
                *words(program, "a", line), "--to", "b", "--job", JOBS[figure], "--message",
                str(size), "--window", str(bench.step_under_way // 2), "--duration",
                f"{bench.live_s:g}s", "--json", str(result)], folder)
            _, told = sender.communicate(timeout=bench.live_s + LIMIT_S)
            if sender.returncode != 0:
                raise LullError(f"{NAME} failed: {told.decode(errors='replace').strip()[-300:]}")
            return seen(result.read_text(encoding="utf-8"))
        except subprocess.TimeoutExpired:
            raise LullError(f"{NAME} did not end within {bench.live_s + LIMIT_S:g} s") from None
        finally:
            for process in (sender, listener):
                if process is not None:
                    end_process(process)
                    process.communicate()


def _start(bed: Bed, node: str, command: list[str], folder: str) -> subprocess.Popen[bytes]:
    """A program in a node, with a folder of its own."""
    home = Path(folder) / node
    home.mkdir()
    return subprocess.Popen(
        ["env", f"RUNTIME_DIRECTORY={home}", *bed.command(node, *command)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=die_with_parent)  # noqa: PLW1509 - one call, async-signal-safe


def _await(home: Path, process: subprocess.Popen[bytes]) -> None:
    """Until its telemetry socket is there: it listens then."""
    end_s = time.monotonic() + READY_S
    while not list(home.glob("dpdk/*/dpdk_telemetry.v2*")):
        if process.poll() is not None:
            _, told = process.communicate()
            raise LullError(f"{NAME} --listen failed: "
                            f"{told.decode(errors='replace').strip()[-300:]}")
        if time.monotonic() > end_s:
            raise LullError(f"{NAME} --listen does not begin")
        time.sleep(0.02)
