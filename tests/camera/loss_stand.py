# SPDX-License-Identifier: BSD-3-Clause
"""A camera that loses on purpose, a receiver, and what each of them says of it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from camera_world import CAMERA, HOST, Link, inside
from verdict import check, wait_for
from world import World

PORT = 5000
WIDTH, HEIGHT = 640, 200
PACKET = 1400
IP_UDP = 28
GVCP_PORT = 3956
PIXELS = {"rfc4175": "uyvy8", "gvsp": "bayer-rg12p", "cmp": "raw12-csi", "rvf": "mono8"}
BACKENDS = ("kernel:v1", "dpdk:af_packet=v1")
KEY_BITS = {"rfc4175": 32, "gvsp": 16, "cmp": 16}

Spans = list[list[int]]


def claim_cpu() -> None:
    """The programs shall lose what they are told to, not what a busy machine makes them lose."""
    with suppress(PermissionError):  # a wish
        os.setpriority(os.PRIO_PROCESS, 0, -15)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def joined(spans: Spans) -> Spans:
    """In order, none touching another."""
    out: Spans = []
    for offset, size in sorted(spans):
        if out and sum(out[-1]) == offset:
            out[-1][1] += size
        else:
            out.append([offset, size])
    return out


@dataclass
class Trial:
    """What the two programs said at the end."""

    protocol: str
    frames: int  # sent
    source: dict[str, Any]
    result: dict[str, Any]
    log: list[dict[str, Any]]
    missing: list[dict[str, Any]]
    recorded: list[dict[str, Any]]

    @property
    def stream(self) -> dict[str, Any]:
        first: dict[str, Any] = self.result["streams"][0]
        return first

    def lost(self) -> dict[int, Spans]:
        """Bytes that were never sent, by frame; frames without such bytes are left out."""
        found: dict[int, Spans] = {}
        for event in self.log:
            if event["event"] in ("lose", "refused") and event["bytes"]:
                found.setdefault(event["frame"], []).extend(event["bytes"])
        return {frame: joined(spans) for frame, spans in found.items()}

    def frame_of(self, line: dict[str, Any]) -> int:
        """Which of the sender's frames it is."""
        key = int(line["key"])
        if self.protocol == "rvf":
            return key - 1  # it has no counter; the reader counts from 1
        key &= (1 << KEY_BITS[self.protocol]) - 1
        if self.protocol == "rfc4175":
            return round(key * float(self.source["settings"]["rate"]) / 90000)
        return key - 1 if self.protocol == "gvsp" else key

    def check_nothing_else_lost(self) -> None:
        """Whatever was sent came in: what is missing is the injector's doing alone."""
        sent, came = self.source["packets"], self.result["totals"]["pkts"]
        check(self.result["totals"]["missed"] == 0, "the receiver missed nothing", self.result)
        check(sent == came, "the receiver lost nothing of its own", (sent, came))

    def check_maps(self) -> None:
        """Exactly the frames that were damaged say so, and name exactly the bytes lost."""
        lost = self.lost()
        told = {self.frame_of(line): line["missing"] for line in self.missing}
        for frame in sorted(lost.keys() | told.keys()):
            check(told.get(frame) == lost.get(frame), f"map of frame {frame}",
                  (told.get(frame), lost.get(frame)))  # fmt: skip
        for line in self.missing:
            there = line["bytes"] - sum(size for _, size in line["missing"])
            check(line["bytes_there"] == there and not line["missing_more"], "bytes there", line)
            check(line["reason"] != "complete", "a damaged frame is not complete", line)
        reasons = self.stream["reasons"]
        check(self.stream["frames"] == self.frames, "frames", self.stream)
        check(self.stream["partial"] == len(lost), "partial frames", self.stream)
        check(reasons["complete"] == self.frames - len(lost), "complete frames", reasons)


class Wire(Link):
    """Camera and host, addresses and all."""

    def __init__(self, world: World, binaries: list[str]) -> None:
        super().__init__(world, binaries)
        self.address_host()

    def stream(self, protocol: str, more: str, port: int = PORT) -> str:
        words = f"protocol={protocol},width={WIDTH},height={HEIGHT},pixel={PIXELS[protocol]}"
        if protocol == "gvsp":
            words += f",packet-bytes={PACKET + IP_UDP}"
        if protocol in ("rfc4175", "gvsp"):
            words += f",port={port}"
        return f"--stream {words},buffers=64,open=16{more}"

    def camera_options(self, protocol: str, frames: int, port: int = PORT) -> str:
        words = f"--protocol {protocol} --width {WIDTH} --height {HEIGHT} --packet {PACKET}"
        words += f" --pixel {PIXELS[protocol]} --rate 60 --pace spread:8ms --frames {frames}"
        if protocol in ("cmp", "rvf"):
            return f"{words} --interface v0"
        words += f" --to {HOST}:{port}"
        return f"{words} --bind {CAMERA}:0 --linger 0" if protocol == "gvsp" else words

    def trial(self, backend: str, protocol: str, frames: int, faults: str,
              *, arrive: int | None = None, more: str = ",deadline=400ms",
              record: bool = False) -> Trial:  # fmt: skip
        """Send @p frames, of which @p arrive come in, at least in part."""
        stem = self.world.path(f"trial{self.programs}")
        options = f"--backend {backend} --unchecked --missing {stem}.missing"
        options += f" --frames {frames if arrive is None else arrive} "
        if record:
            options += f"--record {stem} "
        receiver = self.receive(options + self.stream(protocol, more))
        sender = self.send(f"{self.camera_options(protocol, frames)} --log {stem}.log {faults}")
        source, result = sender.finish(), receiver.finish()
        return Trial(
            protocol, frames, source, result, lines(Path(f"{stem}.log")),
            lines(Path(f"{stem}.missing")),
            lines(stem / "frames.jsonl") if record else [],
        )  # fmt: skip


@dataclass
class Repair:
    """A GVSP camera under control, some packets lost and asked for again."""

    source: dict[str, Any]
    result: dict[str, Any]

    @property
    def lost(self) -> int:
        """Packets, answers among them."""
        return int(self.source["lost"] + self.source["refused"] + self.source["resend_lost"])

    @property
    def complete(self) -> int:
        return int(self.result["streams"][0]["reasons"]["complete"])

    @property
    def requested(self) -> int:
        return int(self.result["streams"][0]["counters"]["requested"])

    @property
    def requested_per_lost(self) -> float:
        return self.requested / max(self.lost, 1)


def listens(wire: Link, port: int) -> bool:
    with inside(wire.camera):
        table = Path("/proc/thread-self/net/udp").read_text()
    return any(line.split()[1].endswith(f":{port:04X}") for line in table.splitlines()[1:])


def repair(wire: Wire, backend: str, frames: int, more: str, size: tuple[int, int]) -> Repair:
    """Take a camera of @p size that loses 1 %, and ask for what is lost."""
    width, height = size
    sender = wire.send(
        f"--protocol gvsp --bind {CAMERA} --width {width} --height {height} --packet {PACKET}"
        f" --rate 50 --pace spread:10ms --frames {frames} --lose 10000 --linger 1s --memory 64"
        f" {more}"
    )
    wait_for("the camera listens", lambda: listens(wire, GVCP_PORT))
    receiver = wire.receive(
        f"--backend {backend} --unchecked --frames {frames} --stream protocol=gvsp,port={PORT},"
        f"control={CAMERA},resend=yes,width={width},height={height},pixel=bayer-rg12p,"
        "deadline=400ms,buffers=64,open=16"
    )
    result = receiver.finish()
    return Repair(sender.finish(), result)
