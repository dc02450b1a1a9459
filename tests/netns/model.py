# SPDX-License-Identifier: BSD-3-Clause
"""lull-model in two processes over veth: what one sends and the other receives adds up."""

from __future__ import annotations

import signal
from typing import Any

from verdict import check, wait_for
from world import Program, World, main, world

RING = "framecnt=4096,framesz=2048,blocksz=4096"
REST = {"none": "none", "usleep": "usleep:100us", "governor": "objective"}


class Pair:
    """Two namespaces with a wire between them, a side of lull-model in each."""

    def __init__(self, here: World, model: str) -> None:
        self.here = here
        self.model = model
        self.send_namespace = here.namespace("send")
        self.receive_namespace = here.namespace("receive")
        here.veth((self.send_namespace, "s0"), (self.receive_namespace, "r0"))

    def receive(self, options: str) -> Program:
        words = f"--side receive --vdev net_af_packet0,iface=r0,{RING} {options}"
        return self.here.start("receive", self.model, words, self.receive_namespace).ready()

    def send(self, options: str) -> Program:
        words = f"--side send --vdev net_af_packet0,iface=s0,{RING} {options}"
        return self.here.start("send", self.model, words, self.send_namespace)


def check_sides(send: dict[str, Any], receive: dict[str, Any], what: str) -> None:
    sender, receiver, consumer = send["sender"], receive["receiver"], receive["consumer"]
    check(send["receiver"] is None and receive["sender"] is None, f"{what}: a side each")
    check(sender["tx_pkts"] > 0 and sender["tx_drops"] == 0, f"{what}: sends", sender)
    lost = sender["total_taken"] - receiver["total_taken"]
    check(0 <= lost <= receiver["missed"], f"{what}: nothing lost but what was missed", lost)
    check(consumer["received"] + receiver["tx_drops"] == receiver["rx_pkts"], what, receive)
    check(consumer["foreign"] == consumer["duplicates"] == 0, what, consumer)
    for side in (sender, receiver):
        check(0 <= side["empty_pct"] <= 100 and 0 <= side["usage_pct"] <= 100, what, side)


def run_pair(binaries: list[str], rest: str, link: str) -> None:
    with world() as here:
        pair = Pair(here, binaries[0])
        receive = pair.receive(f"--receive-rest {rest}")
        send = pair.send(f"--send-rest {rest} --rate 5k --link {link} --duration 500ms")
        sent = send.finish()
        path = "/lull/loop,receiver"
        total = sent["sender"]["total_taken"]
        wait_for("the receiver has it all",
                 lambda: receive.ask(path)["pkts"] + receive.ask(path)["rx_missed"] >= total)
        check_sides(sent, receive.finish(signal.SIGTERM), rest)
        here.check_clean()


def spinning(binaries: list[str]) -> None:
    run_pair(binaries, REST["none"], "1G")


def sleeping(binaries: list[str]) -> None:
    run_pair(binaries, REST["usleep"], "1G")


def governed(binaries: list[str]) -> None:
    run_pair(binaries, REST["governor"], "1G")


def without_link(binaries: list[str]) -> None:
    run_pair(binaries, REST["usleep"], "0")


def one_process_two_ports(binaries: list[str]) -> None:
    with world() as here:
        space = here.namespace("one")
        here.veth((space, "s0"), (space, "r0"))
        ports = f"--vdev net_af_packet0,iface=s0,{RING} --vdev net_af_packet1,iface=r0,{RING} "
        result = here.start("one", binaries[0], ports + "--rate 5k --duration 500ms",
                            space).finish()
        check(result["lost"] <= result["receiver"]["missed"], "adds up", result)
        check(result["consumer"]["received"] > 0, "arrives", result["consumer"])
        here.check_clean()


main([spinning, sleeping, governed, without_link, one_process_two_ports], need="rings")
