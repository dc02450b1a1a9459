# SPDX-License-Identifier: BSD-3-Clause
"""Foreign senders into the back ends of lull-cam over veth: pictures compared byte by byte.

What comes whole must be the sender's picture, else the test fails at once. Whether all of it comes
is another matter on a host that stands still now and then: that may be tried again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from rights import skip
from verdict import check, wait_for
from world import World, run, world

SENDER, RECEIVER = "10.9.0.1", "10.9.0.2"
JUMBO = 9000
LIMIT_S = 60


class WrongPixels(AssertionError):
    """A frame that is called complete and is not the sender's: never a matter of luck."""


@dataclass
class Stream:
    """What is sent to a port, and how it arrives."""

    name: str
    pixel: str
    width: int
    height: int
    packet: int  # bytes
    pictures: list[bytes]  # as they should arrive
    more: str = ""  # for lull-cam
    port: int = 0

    def spec(self) -> str:
        return (
            f"protocol=rfc4175,name={self.name},port={self.port},width={self.width},"
            f"height={self.height},pixel={self.pixel},deadline=1s,buffers=8{self.more}"
        )


def needs(program: str) -> None:
    if shutil.which(program) is None:
        skip(f"needs {program}")


@dataclass
class Wire:
    """A sender's namespace and a receiver's."""

    world: World
    sender: str
    receiver: str
    mtu: int

    def call(self, namespace: str, *command: str) -> None:
        result = subprocess.run(
            ["ip", "netns", "exec", namespace, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        check(result.returncode == 0, command[0], result.stderr)

    def send(self, *command: str) -> None:
        self.call(self.sender, *command)


def mac_of(namespace: str, name: str) -> str:
    link = ["ip", "-n", namespace, "-j", "link", "show", name]
    result = subprocess.run(link, check=True, capture_output=True, text=True)
    return str(json.loads(result.stdout)[0]["address"])


@contextmanager
def wire(mtu: int) -> Iterator[Wire]:
    """veth; the sender knows where the receiver is, for AF_XDP would take its question."""
    with world() as here:
        sender, receiver = here.namespace("camera"), here.namespace("host")
        here.veth((sender, "v0"), (receiver, "v1"))
        for namespace, name, address in ((sender, "v0", SENDER), (receiver, "v1", RECEIVER)):
            run("ip", "-n", namespace, "link", "set", name, "arp", "on", "mtu", str(mtu))
            run("ip", "-n", namespace, "addr", "add", f"{address}/24", "dev", name)
        mac = mac_of(receiver, "v1")
        run("ip", "-n", sender, "neigh", "replace", RECEIVER, "lladdr", mac, "dev", "v0")
        yield Wire(here, sender, receiver, mtu)


class Receiver:
    """lull-cam in the receiver's namespace, recording."""

    def __init__(self, link: Wire, lull_cam: str, backend: str, specs: list[str], frames: int):
        self.folder: Path = link.world.path("pictures")
        shutil.rmtree(self.folder, ignore_errors=True)
        words = [f"--backend {backend} --unchecked --record {self.folder} --frames {frames}"]
        words += [f"--stream {spec}" for spec in specs]
        words.append("--duration 20s")
        self.program = link.world.start("lull-cam", lull_cam, " ".join(words), link.receiver)
        wait_for("lull-cam receives", self.receives)

    def receives(self) -> bool:
        check(self.program.process.poll() is None, "lull-cam", self.program.stderr())
        return "receiving" in self.program.stderr()

    def frames(self) -> list[dict[str, Any]]:
        """What came, after all of it came or the time was over."""
        self.result = self.program.finish()
        index = (self.folder / "frames.jsonl").read_text()
        return [json.loads(line) for line in index.splitlines()]

    def picture(self, frame: dict[str, Any]) -> bytes:
        return (self.folder / str(frame["file"])).read_bytes()


def difference(seen: bytes, sent: bytes) -> str:
    if len(seen) != len(sent):
        return f"{len(seen)} bytes, not {len(sent)}"
    at = next(i for i in range(len(seen)) if seen[i] != sent[i])
    count = sum(a != b for a, b in zip(seen, sent, strict=True))
    return f"{count} bytes differ from {at} on: {seen[at : at + 8].hex()} {sent[at : at + 8].hex()}"


def compare(receiver: Receiver, frames: list[dict[str, Any]], stream: Stream) -> int:
    """Complete frames, all of them like what was sent and in that order."""
    complete, sent = 0, 0
    for frame in frames:
        if frame["stream"] != stream.name or frame["reason"] != "complete":
            continue
        seen = receiver.picture(frame)
        rest = range(sent, len(stream.pictures))
        here = next((i for i in rest if stream.pictures[i] == seen), None)
        if here is None:
            told = difference(seen, stream.pictures[min(sent, len(stream.pictures) - 1)])
            raise WrongPixels(f"{stream.name}, frame {frame['number']}: {told}")
        sent = here + 1
        complete += 1
    return complete


def report(sender: str, backend: str, streams: list[Stream], counts: list[int]) -> None:
    """A row of the table in docs/camera.md for each stream."""
    for stream, count in zip(streams, counts, strict=True):
        print(
            f"| {sender} | {stream.name} | {stream.pixel} | {stream.width} x {stream.height} | "
            f"{stream.packet} | {backend.split('=')[0].removesuffix(':v1')} | "
            f"{len(stream.pictures)} | {count} | {count} |"
        )


def receive(
    link: Wire, lull_cam: str, backend: str, streams: list[Stream], sender: list[str]
) -> None:
    """Let the sender send all streams once, and compare."""
    total = sum(len(stream.pictures) for stream in streams)
    specs = [stream.spec() for stream in streams]
    receiver = Receiver(link, lull_cam, backend, specs, total)
    link.send(*sender)
    frames = receiver.frames()
    counts = [compare(receiver, frames, stream) for stream in streams]
    report(Path(sender[0]).name, backend, streams, counts)
    short = [s.name for s, count in zip(streams, counts, strict=True) if count < len(s.pictures)]
    check(not short, f"{backend}: all frames come whole", f"{short}, {receiver.result['totals']}")
