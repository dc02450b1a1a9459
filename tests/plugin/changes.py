# SPDX-License-Identifier: BSD-3-Clause
"""testpmd is told to start, stop, close, attach and change queues in random order, with traffic.

LULL_STEPS (150, with LULL_LONG 500) and LULL_SEED (by the clock) can be set; the seed is printed.
Ports are rings, which lead back to themselves, so packets are on their way all the time.
"""

from __future__ import annotations

import os
import random
import time

from stand import LONG, Files, Testpmd, main
from verdict import check, wait_for
from world import World

STEPS = int(os.environ.get("LULL_STEPS", "500" if LONG else "150"))
SEED = int(os.environ.get("LULL_SEED", str(time.time_ns() % 1_000_000)))
PORTS_MAX = 4


class Driver:
    """What testpmd was told so far, so that each step makes sense to it."""

    def __init__(self, testpmd: Testpmd, seed: int) -> None:
        self.testpmd = testpmd
        self.random = random.Random(seed)
        self.ports = {0: "net_ring0", 1: "net_null0"}
        self.made = 2
        self.forwarding = False
        self.steps: list[str] = []

    def type(self, line: str) -> None:
        self.steps.append(line)
        self.testpmd.command(line)

    def stop(self) -> None:
        if self.forwarding:
            self.type("stop")
        self.forwarding = False

    def start(self) -> None:
        if not self.forwarding:
            self.type("start tx_first" if self.random.random() < 0.5 else "start")
        self.forwarding = True

    def restart_port(self) -> None:
        self.stop()
        port = self.random.choice(list(self.ports))
        self.type(f"port stop {port}")
        self.type(f"port start {port}")

    def queues(self) -> None:
        """All ports at once: testpmd keeps one number for all."""
        self.stop()
        count = self.random.choice([1, 2, 3, 4])
        self.type("port stop all")
        self.type(f"port config all rxq {count}")
        self.type(f"port config all txq {count}")
        self.type("port start all")

    def detach(self) -> None:
        if len(self.ports) < 2:
            return
        self.stop()
        port = self.random.choice(list(self.ports))
        self.type(f"port stop {port}")
        self.type(f"port close {port}")
        self.type(f"device detach {self.ports.pop(port)}")

    def attach(self) -> None:
        if len(self.ports) == PORTS_MAX:
            return
        self.stop()
        kind = self.random.choice(["net_ring", "net_null"])
        name = f"{kind}{self.made}"
        self.made += 1
        quiet = ",no-rx=1" if kind == "net_null" and self.random.random() < 0.8 else ""
        self.type(f"port attach {name}{quiet}")
        port = next(i for i in range(PORTS_MAX) if i not in self.ports)
        self.ports[port] = name
        self.type(f"port start {port}")

    def settings(self) -> None:
        key, value = self.random.choice(
            [
                ("mode", "off"),
                ("mode", "on"),
                ("mode", "on"),
                ("mode", "shadow"),
                ("mode", "passive"),
                ("governor", "fixed"),
                ("governor", "objective"),
                ("governor", "spin"),
                ("governor", "kalman"),
                ("governor", "kalman-guarded"),
                ("kalman-layout", "array"),
                ("kalman-window", "1ms"),
                ("max-latency", "50us"),
                ("max-rest", "1ms"),
            ]
        )
        self.steps.append(f"set {key}={value}")
        self.testpmd.telemetry.set(f"{key}={value}")

    def lcores(self) -> None:
        self.stop()
        self.type(f"set nbcore {self.random.choice([1, 2])}")

    def forward(self) -> None:
        self.stop()
        self.type(f"set fwd {self.random.choice(['io', 'mac', 'rxonly', 'macswap'])}")

    def step(self) -> None:
        choices = [self.start, self.stop, self.restart_port, self.queues, self.detach]
        choices += [self.attach, self.settings, self.lcores, self.forward, self.start]
        self.random.choice(choices)()


def attached_queue_rests(testpmd: Testpmd) -> None:
    """After all that, a thread that polls is seen and obeys."""
    testpmd.telemetry.set("mode=on")
    testpmd.telemetry.set("governor=fixed")
    wait_for(
        "a polling thread under fixed",
        lambda: [
            loop
            for loop in testpmd.telemetry.loops().values()
            if loop["governor"] == "fixed" and loop["thread"] != "dpdk-testpmd"
        ],
    )


def in_any_order(here: World, files: Files) -> str:
    print(f"{STEPS} steps (LULL_SEED={SEED} LULL_STEPS={STEPS} repeats them)", flush=True)
    ports = ["net_ring0", "net_null0,no-rx=1"]
    testpmd = Testpmd(here, ports, plugin=files.plugin, lcores=2, options="--rxq=2 --txq=2")
    driver = Driver(testpmd, SEED)
    try:
        while len(driver.steps) < STEPS:
            driver.step()
        driver.start()
        attached_queue_rests(testpmd)
        driver.stop()
        said = testpmd.quit()
    except AssertionError:
        print("\n".join(driver.steps[-12:]), flush=True)
        raise
    check("Segmentation" not in said, "no fault", said[-500:])
    return f"{len(driver.steps)} lines"


if __name__ == "__main__":
    main([in_any_order])
