# SPDX-License-Identifier: BSD-3-Clause
"""lull-flow --user: started by root, it goes on as nobody, and all of its life goes on too."""

from __future__ import annotations

import json
import os
import pwd
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

import frames
from frames import Traffic
from verdict import check, wait_for
from world import Program, World, main, world

RING = "framecnt=4096,framesz=2048,blocksz=4096"
FLOWS, COUNT = 20, 400
EXPORT_SLACK_S = 20
NOBODY = pwd.getpwnam("nobody")
OPTIONS = ("--workers 2 --seed 0 --idle-timeout=300ms --active-timeout=0 --stats 1 "
           "--rotate-size 8000 --facts --user nobody")


class Collector:
    """Lines that come to a socket, of all connections."""

    def __init__(self, path: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(path))
        os.chown(path, NOBODY.pw_uid, NOBODY.pw_gid)
        path.chmod(0o600)
        self.listener.listen(4)
        self.connection: socket.socket | None = None
        self.connections = 0
        self.text = b""
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        while True:
            connection, _ = self.listener.accept()
            self.connections += 1
            self.connection = connection
            while data := connection.recv(65536):
                self.text += data
            connection.close()

    def cut(self) -> None:
        assert self.connection is not None
        self.connection.shutdown(socket.SHUT_RDWR)


class Probe(Program):
    def __init__(self, here: World, binary: str) -> None:
        self.near, self.far = here.namespace("near"), here.namespace("far")
        here.veth((self.near, "n0"), (self.far, "f0"))
        here.directory.chmod(0o755)
        self.folder = here.path("out")
        self.folder.mkdir()
        os.chown(self.folder, NOBODY.pw_uid, NOBODY.pw_gid)
        self.socket = self.folder / "collector"
        words = ["--vdev", f"net_af_packet0,iface=f0,{RING}", *OPTIONS.split(),
                 "--records", str(self.folder / "flow.records"),
                 "--records", f"unix:{self.socket}"]
        super().__init__(here, "out/flow", [binary, *words], self.far)  # with its result
        here.programs.append(self)
        self.ready()

    def send(self, data: list[bytes]) -> None:
        path = frames.write(self.world.path("send.frames"), data)
        frames.send_from(self.near, "n0", path)

    def records(self) -> list[dict[str, Any]]:
        """Of all files of records, wherever they have been moved to."""
        texts = [path.read_text(encoding="utf-8") for path in self.folder.glob("flow*.records*")]
        return [json.loads(line) for text in texts for line in text.splitlines(keepends=True)
                if line[-1] == "\n"]

    def threads(self) -> dict[str, dict[str, str]]:
        """By thread: what the kernel says of it."""
        found = {}
        for path in Path(f"/proc/{self.process.pid}/task").glob("*/status"):
            lines = path.read_text(encoding="ascii").splitlines()
            found[path.parent.name] = dict(line.split(":\t", 1) for line in lines)
        return found

    def main_user(self) -> int:
        """It answers a moment earlier."""
        return int(self.threads()[str(self.process.pid)]["Uid"].split()[0])


def check_threads(probe: Probe) -> None:
    threads = probe.threads()
    uid, gid = str(NOBODY.pw_uid), str(NOBODY.pw_gid)
    check(len(threads) > 6, "it has threads", len(threads))
    for number, told in threads.items():
        who = f"thread {number} ({told['Name']})"
        check(told["Uid"].split() == [uid] * 4, f"{who}: user", told["Uid"])
        check(told["Gid"].split() == [gid] * 4, f"{who}: group", told["Gid"])
        check(told["Groups"].split() == [gid], f"{who}: groups", told["Groups"])
        check(told["NoNewPrivs"] == "1", f"{who}: nothing to win", told["NoNewPrivs"])
        for rights in ("CapPrm", "CapEff", "CapAmb"):
            check(int(told[rights], 16) == 0, f"{who}: {rights}", told[rights])


def all_of_its_life_goes_on(binaries: list[str]) -> None:
    with world() as here:
        probe, traffic = Probe(here, binaries[1]), Traffic()
        wait_for("root has gone", lambda: probe.main_user() == NOBODY.pw_uid)
        check_threads(probe)
        collector = Collector(probe.socket)  # it comes when root has gone
        wait_for("connects", lambda: collector.connections == 1, EXPORT_SLACK_S)
        for times in range(1, 4):
            probe.send(traffic.mix(FLOWS, COUNT))
            wait_for("exported", lambda: frames.sums(probe.records()) == traffic.sent,
                     EXPORT_SLACK_S)
            if times == 1:
                collector.cut()
        wait_for("connects again", lambda: collector.connections == 2, EXPORT_SLACK_S)
        wait_for("files are rotated", lambda: list(probe.folder.glob("flow-*.records")))
        moved = probe.folder / "flow.records.1"
        (probe.folder / "flow.records").rename(moved)
        probe.process.send_signal(signal.SIGHUP)
        wait_for("a new file", (probe.folder / "flow.records").exists)
        probe.send(traffic.mix(FLOWS, COUNT))
        wait_for("exported there", lambda: frames.sums(probe.records()) == traffic.sent,
                 EXPORT_SLACK_S)
        check_threads(probe)
        owners = {path.stat().st_uid for path in probe.folder.glob("*.records*")}
        check(owners == {NOBODY.pw_uid}, "they are that user's", owners)
        probe.process.send_signal(signal.SIGTERM)
        check(probe.wait() == 0, "ends with 0", probe.stderr())
        here.check_clean()
        records = probe.records()
        check(frames.sums(records) == traffic.sent, "every packet is in a record")
        check(all(record["exact"] for record in records), "nothing is missing")
        lines = collector.text.decode().splitlines()
        check(len(lines) > len(records) // 2, "the collector has records", len(lines))


def killed_it_leaves_nothing(binaries: list[str]) -> None:
    with world() as here:
        probe = Probe(here, binaries[1])
        probe.process.kill()
        probe.process.wait()
        wait_for("the folder is gone", lambda: not list(here.runtime.glob("dpdk/*")))


def what_the_user_may_not_is_refused(binaries: list[str]) -> None:
    with world() as here:
        here.directory.chmod(0o755)
        free, full = here.path("free"), here.path("full")
        free.mkdir()
        full.mkdir()
        os.chown(free, NOBODY.pw_uid, NOBODY.pw_gid)
        stuck = full / "may.records"
        stuck.touch()
        os.chown(stuck, NOBODY.pw_uid, NOBODY.pw_gid)
        private = full / "private.records"
        private.touch(mode=0o600)
        cases = [
            (["--user", "nobody", "--records", str(full / "new.records")], 1, "Permission denied"),
            (["--user", "nobody", "--records", str(private)], 1, "Permission denied"),
            (["--user", "nobody", "--records", str(stuck), "--rotate-time", "60"], 1,
             "cannot be rotated"),
            (["--user", "nobody", "--json", str(full / "new.json")], 1, "Permission denied"),
            (["--user", "no-such-user"], 2, "there is no user"),
            (["--user", "nobody:no-such-group"], 2, "there is no group"),
            (["--user", "root"], 2, "is root"),
            (["--user", "4242424"], 2, "needs its group"),
        ]
        for words, status, sentence in cases:
            command = [binaries[1], "--vdev", "net_null0", "--duration", "10s", *words]
            run = subprocess.run(command, capture_output=True, text=True, check=False,
                                 env=here.env)
            check(run.returncode == status, f"{words}: {status}", (run.returncode, run.stderr))
            check(sentence in run.stderr, f"{words}: says {sentence}", run.stderr)
        here.check_clean()
        # Root could, and what is not root cannot become anybody.
        words = ["--vdev", "net_null0", "--duration", "100ms", "--rotate-time", "60"]
        for extra, status in (([], 0), (["--user", "nobody"], 1)):
            command = [binaries[1], *words, "--records", str(free / f"{status}.records"), *extra]
            demoted = NOBODY.pw_uid if status else None
            here.runtime.chmod(0o777)
            run = subprocess.run(command, capture_output=True, text=True, check=False,
                                 env=here.env, user=demoted)
            check(run.returncode == status, f"{extra}: {status}", (run.returncode, run.stderr))
        check("only root can become nobody" in run.stderr, "says so", run.stderr)


main([all_of_its_life_goes_on, killed_it_leaves_nothing, what_the_user_may_not_is_refused],
     need="root")
