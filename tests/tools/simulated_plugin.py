# SPDX-License-Identifier: BSD-3-Clause
"""A DPDK program with the plugin, as telemetry shows it: threads that poll, no traffic."""

from collections.abc import Callable
from typing import Any

from simulated_program import UINT64_MAX, SimulatedProgram

MODES = ("off", "passive", "shadow", "on")
FORWARD_ONLY = ("rx_pkts", "tx_pkts", "tx_drops", "tx_retries")


class SimulatedPlugin(SimulatedProgram):
    """The threads may be changed while it runs."""

    def __init__(self, now_ns: Callable[[], int], pid: int = 4711) -> None:
        super().__init__(now_ns, pid, name="dpdk-testpmd")
        self.settings["mode"] = "on"
        self.threads = ["rte-worker-1", "fifteen-letters"]

    def rest_length_ns(self) -> float:
        return super().rest_length_ns() if self.settings["mode"] == "on" else 0.0

    def loops(self) -> list[str]:
        return [f"poll{index}" for index in range(len(self.threads))]

    def answer_info(self, _: str) -> dict[str, Any]:
        return super().answer_info("") | {"loops": self.loops()}

    def answer_loop(self, name: str) -> dict[str, Any] | None:
        if name not in self.loops():
            return None
        reply = super().answer_loop("fwd0")
        assert reply is not None
        index = self.loops().index(name)
        own = {"name": name, "kind": "plugin", "thread": self.threads[index], "cpu": UINT64_MAX,
               "mode": self.settings["mode"],
               "tid": self.pid + index}
        return {key: value for key, value in reply.items() if key not in FORWARD_ONLY} | own

    def answer_explain(self, name: str) -> dict[str, Any] | None:
        return super().answer_explain("fwd0") if name in self.loops() else None

    def answer_traffic(self, _: str) -> dict[str, Any]:
        return {"error": "this loop does not make traffic"}

    def answer_set(self, assignment: str) -> dict[str, Any]:
        key, _, value = assignment.partition("=")
        key, _, loop = key.partition("@")
        if loop not in ("", *self.loops()):
            return {"error": f"no loop {loop}"}
        if key == "mode" and value not in MODES:
            return {"error": f"mode: {value} is not one of {' '.join(MODES)}"}
        return super().answer_set(f"{key}={value}")
