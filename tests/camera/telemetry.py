# SPDX-License-Identifier: BSD-3-Clause
"""lull top, show, explain and set on lull-cam with every back end; what clients may do to it.

telemetry.py LULL-CAM LULL-CAM-SOURCE [CASE ...]
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from lull_cam import HEIGHT, ROW_BYTES, WIDTH, row_packet
from verdict import TIMEOUT_S, check, wait_for
from world import Program, World, main, world

TREE = Path(__file__).resolve().parents[2]
PORT = 5004
STREAM = f"protocol=rfc4175,port={PORT},width={WIDTH},height={HEIGHT},pixel=rgb8"
PICTURES = 40
FRAMES = 1000  # of a capture: more than a pipe holds lines about them
ENDING = (signal.SIGINT, signal.SIGTERM)


def receive(here: World, binaries: list[str], backend: str, *words: str) -> Program:
    options = ["--backend", backend, "--stream", STREAM, "--unchecked", "--stats", "0", *words]
    return here.start("cam", binaries[0], " ".join(options)).ready()


def lull(here: World, *words: str) -> str:
    """A subcommand of lull: what it says where it ends well."""
    run = subprocess.run(
        [sys.executable, "-m", "lull", *words],
        env={**here.env, "PYTHONPATH": str(TREE / "python"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    check(run.returncode == 0, f"lull {' '.join(words)}", run.stdout + run.stderr)
    return run.stdout


def send_picture(number: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for row in range(HEIGHT):
            sender.sendto(row_packet(number, row, bytes(ROW_BYTES)), ("127.0.0.1", PORT))


def loop(cam: Program) -> dict[str, Any]:
    told: dict[str, Any] = cam.ask("/lull/loop,cam0")
    return told


def seen_by_all(here: World, cam: Program) -> None:
    """Each command that looks on names the loop."""
    for words in (["show"], ["top", "--count", "1"], ["explain"]):
        said = lull(here, *words)
        check("cam0" in said, f"lull {words[0]} shows cam0", said)
    told = loop(cam)
    advised = "lull set objective" in said
    check(advised == (told["governor"] != "kernel"), "advises where there is a choice", said)
    check(told["kind"] == "camera" and told["thread"] == "lull-camera", "what it is", told)
    check(told["tid"] != cam.process.pid and told["thread_cpu_ns"] > 0, "its thread", told)


def set_governor(here: World, cam: Program) -> None:
    said = lull(here, "set", "governor=fixed", "rest=70us")
    check("governor = fixed" in said, "lull set says so", said)
    wait_for("the loop has it", lambda: loop(cam)["governor"] == "fixed")
    wait_for("and the rest", lambda: loop(cam)["rest_us"] == 70)
    cam.set("governor@cam0=ramp")
    wait_for("by the name of the loop", lambda: loop(cam)["governor"] == "ramp")
    reply = cam.ask("/lull/set,governor@cam1=ramp")
    check("cam0" in reply.get("error", ""), "says which there is", reply)
    window = cam.ask("/lull/mark")["window"]
    wait_for("a window begins", lambda: loop(cam)["window"] == window)


def receives(cam: Program) -> None:
    before = loop(cam)["pkts"]
    send_picture(1)
    wait_for("counts packets", lambda: loop(cam)["pkts"] >= before + HEIGHT)
    check(loop(cam)["rx_bytes"] >= ROW_BYTES * HEIGHT, "and bytes", loop(cam))


def loses(cam: Program) -> None:
    """Packets that found no room while it stood still: the governor hears of them."""
    cam.process.send_signal(signal.SIGSTOP)
    for number in range(2, 60):
        send_picture(number)
    cam.process.send_signal(signal.SIGCONT)
    wait_for("counts what was lost", lambda: loop(cam)["rx_missed"] > 0)
    wait_for(
        "and tells the governor",
        lambda: sum(loop(cam)[name] for name in ("misses", "misses_other")),
    )


def takes_commands_at_once(cam: Program) -> None:
    """A command ends the wait in the kernel, which without one takes a second each."""
    begin = time.monotonic()
    for _ in range(5):
        window = cam.ask("/lull/mark")["window"]
        wait_for("a window begins", lambda: loop(cam)["window"] == window)  # noqa: B023
    check(time.monotonic() - begin < 2.5, "at once", time.monotonic() - begin)


def kernel(binaries: list[str]) -> None:
    with world() as here:
        cam = receive(here, binaries, "kernel:lo")
        receives(cam)
        seen_by_all(here, cam)
        told = loop(cam)
        check(told["governor"] == "kernel" and told["rests_interrupt"] > 0, "blocks", told)
        tells_cameras(here, cam, "kernel")
        check("kernel wakes" in cam.ask("/lull/explain,cam0")["text"], "explains itself")
        reply = cam.ask("/lull/set,governor=fixed")
        check("without a governor" in reply.get("error", ""), "refuses a governor", reply)
        check(cam.ask("/lull/settings")["governor"] == "phase", "and keeps what it had")
        takes_commands_at_once(cam)
        lull(here, "set", "sched-policy=other")
        check(loop(cam)["sched_policy"] == "other", "its class", loop(cam))
        lull(here, "set", "cpu-latency=77us")
        check(cam.ask("/lull/settings")["cpu_latency"] == "77us", "a limit on C-states")
        text = cam.ask("/lull/explain,cam0")["cpu_latency_text"]
        check("may run on several CPUs" in text or "77 us" in text, "and what came of it", text)
        lull(here, "set", "cpu-latency=off")
        check("cpu_latency_text" not in cam.ask("/lull/explain,cam0"), "and off")
        cam.finish(signal.SIGINT)
        here.check_clean()


def kernel_busy(binaries: list[str]) -> None:
    with world() as here:
        cam = receive(here, binaries, "kernel-busy:lo")
        receives(cam)
        check("objective" not in lull(here, "show"), "the governor is phase")
        check(loop(cam)["governor"] == "phase", "the one that was asked for", loop(cam))
        set_governor(here, cam)
        receives(cam)
        cam.finish(signal.SIGTERM)
        here.check_clean()
        cam = receive(here, binaries, "kernel-busy:lo", "--socket-buffer", "65536")
        loses(cam)
        cam.finish(signal.SIGTERM)


def dpdk(binaries: list[str]) -> None:
    with world() as here:
        cam = receive(here, binaries, "dpdk:af_packet=lo")
        receives(cam)
        seen_by_all(here, cam)
        tells_cameras(here, cam, "bound", "--json")
        check(cam.ask("/lull/info")["dpdk"] != "", "on DPDK's socket", cam.ask("/lull/info"))
        set_governor(here, cam)
        cam.finish(signal.SIGTERM)
        here.check_clean()


def tells_the_rest(binaries: list[str]) -> None:
    """Rests of 900 us, no stamps: what is shown is no less than what the sender's stamps say."""
    with world() as here:
        resting = ("--sent-stamp", "--governor", "fixed", "--rest", "900us", "--max-rest", "900us")
        cam = receive(here, binaries, "dpdk:af_packet=lo", "--frames", str(PICTURES), *resting)
        source = subprocess.run(
            [binaries[1], "--protocol", "rfc4175", "--to", f"127.0.0.1:{PORT}", "--width",
             str(WIDTH), "--height", str(HEIGHT), "--pixel", "rgb8", "--rate", "73", "--frames",
             str(PICTURES), "--sent-stamp", "--stats", "0", "--linger", "0"],
            capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
        check(source.returncode == 0, "the sender ends well", source.stderr)
        result = cam.finish()
        (stream,) = result["streams"]
        shown, sent = stream["latency_ns"], stream["sent_done_ns"]
        check(result["latency_from"] == "bound", "an upper bound", result["latency_from"])
        check(sent["p50"] > 200_000, "it rested", sent)
        check(0.9 * sent["p50"] <= shown["p50"], "what was shown is true", (shown, sent))
        check(shown["p50"] < sent["p50"] + 2_000_000, "about", (shown, sent))
        check(stream["fetched_ns"]["mean"] > shown["mean"], "fetched later", stream)
        check("(from: bound)" in cam.stderr(), "the summary says so", cam.stderr())


def tells_cameras(here: World, cam: Program, origin: str, *words: str) -> None:
    told = cam.ask("/lull/cameras")
    check(told["name"] == ["cam0"] and told["latency_from"] == origin, "cameras", told)
    check(len(told["latency_p50_ns"]) == 1 and told["frames"] == [1], "a figure each", told)
    said = lull(here, "show", *words)
    if words:
        shown = json.loads(said)["cameras"]
        frames = [one["frames"] for one in shown["streams"]]
        check(shown["latency_from"] == origin and frames == [1], "JSON", shown)
    else:
        whence = "the kernel's stamp of the last packet"
        check(whence in " ".join(said.split()), "lull show tells whence", said)


def write_capture(path: Path) -> None:
    """One row of each picture: all are partial, and a line is written about each."""
    out = bytearray(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for number in range(FRAMES):
        udp = row_packet(number, 0, bytes(ROW_BYTES))
        packet = bytes(12) + b"\x08\x00"
        packet += struct.pack("!BBHIBBH", 0x45, 0, 28 + len(udp), 0, 64, 17, 0)
        packet += bytes([192, 0, 2, 1, 192, 0, 2, 2])
        packet += struct.pack("!HHHH", 4000, PORT, 8 + len(udp), 0) + udp
        out += struct.pack("<IIII", number, 0, len(packet), len(packet)) + packet
    path.write_bytes(out)


def pcap(binaries: list[str]) -> None:
    """The capture waits for the program, and the program for the reader of a pipe."""
    with world() as here:
        write_capture(here.path("capture.pcap"))
        pipe = here.path("missing")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        backend = f"pcap:{here.path('capture.pcap')}"
        cam = receive(here, binaries, backend, "--missing", str(pipe))
        wait_for("rests", lambda: sum(loop(cam)[f"rests_{d}"] for d in ("pause", "sleep")) > 10)
        seen_by_all(here, cam)
        check(loop(cam)["max_rest_us"] == 50, "looks often", loop(cam))
        set_governor(here, cam)
        reply = cam.ask("/lull/set,sched-policy=fifo")
        check("capture" in reply.get("error", ""), "it has no class of its own", reply)
        check(loop(cam)["pkts"] < FRAMES, "has not read all of it", loop(cam))
        os.set_blocking(reader, True)
        lines = 0
        while bytes_read := os.read(reader, 65536):
            lines += bytes_read.count(b"\n")
        os.close(reader)
        result = cam.finish()
        check(lines == FRAMES, "a line for each frame", lines)
        check(result["streams"][0]["frames"] == FRAMES, "no frame is lost", result["streams"])
        here.check_clean()


def connect(cam: Program) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect(str(cam.socket_path))  # waits while others stand in line
    client.settimeout(TIMEOUT_S)
    return client


def is_hung_up(client: socket.socket) -> bool:
    try:
        while client.recv(65536):
            pass
    except (ConnectionError, BrokenPipeError):
        pass
    client.close()
    return True


def use(cam: Program) -> list[int]:
    """Files and threads that it has."""
    process = Path(f"/proc/{cam.process.pid}")
    return [len(list((process / kind).iterdir())) for kind in ("fd", "task")]


def hostile(binaries: list[str]) -> None:
    with world() as here:
        cam = receive(here, binaries, "kernel:lo")
        before = use(cam)
        for request in (b"x" * 1025, b"/lull/info," + b"y" * 60000, b"/lull/info\0", bytes(64)):
            client = connect(cam)
            client.send(request)
            check(is_hung_up(client), "hangs up", request[:20])
        with connect(cam) as client:
            client.recv(1024)
            for request in (b"/" + b"z" * 1000, b"\xff\xfe,\xfd", b",", b'/"\\\n',
                            b"/lull/set,\xff=\xff"):  # fmt: skip
                client.send(request)
                json.loads(client.recv(65536))
        many = [connect(cam) for _ in range(40)]
        for client in many[10:]:
            check(is_hung_up(client), "an eleventh is hung up on")
        deaf = many[0]
        deaf.setblocking(False)
        try:
            while True:
                deaf.send(b"/lull/loop,cam0")
        except (BlockingIOError, ConnectionError):
            pass
        for client in many[:10]:
            client.close()
        wait_for("they are gone", lambda: use(cam) == before)
        for _ in range(300):
            connect(cam).close()
        check(cam.ask("/lull/info")["pid"] == cam.process.pid, "answers as before")
        wait_for("nothing stays", lambda: use(cam) == before)
        receives(cam)
        cam.finish(signal.SIGINT)
        here.check_clean()


def place(binaries: list[str]) -> None:
    """Its folder is the user's alone; without one it receives all the same."""
    with world() as here:
        for sign in ENDING:
            cam = receive(here, binaries, "kernel:lo")
            mode = cam.socket_path.parent.stat().st_mode
            check(mode & 0o777 == 0o700, "the user's alone", oct(mode))
            held = connect(cam)
            cam.finish(sign)
            held.close()
            here.check_clean()
        here.env["RUNTIME_DIRECTORY"] = "/proc/none"
        words = f"--backend kernel:lo --stream {STREAM} --unchecked --stats 0"
        cam = here.start("cam", binaries[0], words)
        wait_for("says why", lambda: "no telemetry" in cam.stderr())
        cam.finish(signal.SIGINT)


if __name__ == "__main__":
    main([kernel, kernel_busy, dpdk, tells_the_rest, pcap, hostile, place], "rings")
