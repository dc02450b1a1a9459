#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""lull-fwd limits the C-states of its loop's CPU while it runs, and gives back what it found.

The CPU's files are replaced by ours in this test's own mount namespace.

c_states.py LULL-GEN LULL-FWD
"""

from __future__ import annotations

import signal
import sys

from sysfs import CPUS, LIMIT, CpuFiles, available, mount
from verdict import check, wait_for
from world import Program, World, main, world

FITS = "10"  # of 200 us


class Scene(CpuFiles):
    """The files, and programs that hold."""

    def __init__(self, here: World, binary: str) -> None:
        super().__init__(here)
        self.here, self.binary, self.count = here, binary, 0

    def start(self, *words: str) -> Program:
        self.count += 1
        return self.here.start(f"fwd{self.count}", self.binary, f"--traffic off {' '.join(words)}")


def two_signals(scene: Scene) -> None:
    for sign in (signal.SIGINT, signal.SIGTERM):
        program = scene.start().ready()
        cpu = program.ask("/lull/loop,fwd0")["cpu"]
        wait_for("it holds", lambda want=cpu: scene.held() == {want: FITS})  # type: ignore[misc]
        loop = program.ask("/lull/loop,fwd0")
        check(loop["cpu_latency_ns"] == 10_000, "and says so", loop)
        text = program.ask("/lull/explain,fwd0")["cpu_latency_text"]
        check(f"CPU {cpu} uses no C-state" in text, "in words", text)
        program.finish(sign)
        check(scene.held() == {}, "gives back", scene.held())


def changes_live(scene: Scene) -> None:
    program = scene.start("--cpu-latency", "off").ready()
    check(scene.held() == {}, "off", scene.held())
    cpu = program.ask("/lull/loop,fwd0")["cpu"]
    for assignment, held in (("cpu-latency=auto", {cpu: FITS}), ("max-latency=20us", {cpu: "2"}),
                             ("cpu-latency=77us", {cpu: "77"}), ("max-latency=1ms", {cpu: "77"}),
                             ("cpu-latency=auto", {}), ("max-latency=200us", {cpu: FITS}),
                             ("cpu-latency=off", {}), ("cpu-latency=auto", {cpu: FITS})):
        program.set(assignment)
        wait_for(assignment, lambda want=held: scene.held() == want)  # type: ignore[misc]
    check(program.ask("/lull/settings")["cpu_latency"] == "auto", "a setting")
    # Somebody else's value is theirs.
    scene.limits[cpu].write_text("33\n")
    program.finish(signal.SIGTERM)
    check(scene.held() == {cpu: "33"}, "stays", scene.held())
    scene.limits[cpu].write_text("0\n")


def killed(scene: Scene) -> None:
    program = scene.start().ready()
    wait_for("it holds", lambda: scene.held())
    program.process.send_signal(signal.SIGKILL)
    program.wait()
    check(list(scene.held().values()) == [FITS], "nobody gave it back", scene.held())
    for limit in scene.limits.values():
        limit.write_text("0\n")


def not_available(scene: Scene) -> None:
    for cpu in scene.cpus:
        mount("-o", "remount,bind,ro", CPUS / f"cpu{cpu}/{LIMIT}")
    program = scene.start().ready()
    text = program.ask("/lull/explain,fwd0")["cpu_latency_text"]
    check("is not available: Read-only file system" in text, "says why", text)
    check(scene.held() == {}, "holds nothing", scene.held())
    program.finish(signal.SIGTERM)  # and it is no error


def c_states(binaries: list[str]) -> None:
    with world() as here:
        if not available():
            print("skipped: this kernel has no cpuidle")
            sys.exit(77)
        scene = Scene(here, binaries[1])
        try:
            two_signals(scene)
            changes_live(scene)
            killed(scene)
            not_available(scene)
        finally:
            scene.close()


main([c_states])
