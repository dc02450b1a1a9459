# SPDX-License-Identifier: BSD-3-Clause
"""Judges of lull reproduce: each can say no, and those of the text say yes to what it tells."""

from collections.abc import Callable, Mapping

import pytest

from lull.reproduce import channel as reproduction_channel
from lull.reproduce import dispatch as reproduction_dispatch
from lull.reproduce import sleep as reproduction_sleep
from lull.reproduce.channel import ChannelSeen
from lull.reproduce.dispatch import Shown
from lull.reproduce.reproduction import (
    REPRODUCED,
    Claim,
    Curve,
    Curves,
    Figure,
    Observation,
    Scenario,
    Side,
    judge,
)
from lull.sim.flow_reply import FlowDispatch, FlowRun, FlowWorker

Run = Callable[[Scenario], Observation]


def observed(send: float, receive: float, speed: float = 9e8, loss: float = 0.0,
             **more: float) -> Observation:
    return Observation(send=Side(cpu_pct=send, **more), loss_ppm=loss,
                       receive=Side(cpu_pct=receive, speed_bps=speed, **more))


def lines(figure: Figure, run: Run) -> Curves:
    """What a world would show of a figure."""
    return {series.name: [(x, run(scenario)) for x, scenario in series.points]
            for series in figure.series}


# ---- the sleep model ----


def told(scenario: Scenario) -> Observation:
    """The world of the text, as far as it tells: sleeps of 55 us more, losses of its NICs."""
    def cpu(kind: str, us: float) -> float:
        if kind in ("none", "block"):
            return 99.0
        return 9.0 / (1 + us / 500) if kind == "usleep" else 18.0

    send, receive = scenario.send, scenario.receive
    knee_us = {256: (60, 300), 512: (150, 500)}.get(scenario.size, (1e9, 1e9))
    over = max(0.0, send.us - knee_us[0]) + max(0.0, receive.us - knee_us[1])
    slowness = {256: 0.11 / 40, 512: 0.034 / 50}.get(scenario.size, 0.0) * over
    searched = {512: 0.043, 768: 0.047}.get(scenario.size, 0.0) * (send.kind == "kalman")
    loss = 20.0 if "none" == send.kind == receive.kind else 0.0
    loss = 300.0 if "kalman" in (send.kind, receive.kind) or (
        (send.kind, receive.kind, receive.us) == ("none", "usleep", 0)) else loss
    if send.kind == receive.kind == "usleep" and send.us == receive.us == 0:
        loss = 50.0
    if receive.us > knee_us[1]:
        loss += 1e3 * receive.us / knee_us[1]
    elif send.us and receive == reproduction_sleep.usleep(0):
        loss = max(0.0, 50.0 - send.us / 10)
    empties = {"none": 95.0, "block": 95.0, "usleep": 75.0}
    return Observation(loss_ppm=loss, send=Side(
        cpu_pct=cpu(send.kind, send.us), empty_pct=empties.get(send.kind, 5.0),
        empty_requested_pct=empties.get(send.kind, 5.0) / (1 + send.us / 50),
        loops_per_s=1e6 / (1 + send.us),
        rest_us={1280: 640.0, 1500: 800.0}.get(scenario.size, 0.0)
        / (1 + scenario.kalman_step_us / 1e9)), receive=Side(
        cpu_pct=cpu(receive.kind, receive.us), empty_pct=empties.get(receive.kind, 5.0),
        empty_requested_pct=empties.get(receive.kind, 5.0) / (1 + receive.us / 50),
        loops_per_s=1e6 / (1 + receive.us),
        speed_bps=9e8 * (scenario.size > 0) / (1 + slowness) * (1 - searched)))


WRONG: Mapping[str, Run] = {
    "does nothing": lambda _: observed(0, 0, 0),
    "is always the same": lambda _: observed(50, 50, empty_pct=50, empty_requested_pct=50,
                                             loops_per_s=9, rest_us=100),
    "the other way round": lambda s: observed(
        99 + s.send.us, 99 + s.receive.us, 5e8 + 1e5 * (s.send.us + s.receive.us),
        1e6 - s.receive.us, empty_requested_pct=s.send.us + s.receive.us,
        loops_per_s=1 + s.send.us + s.receive.us, rest_us=s.kalman_step_us ** 2),
    "kalman and polling do better": lambda s: observed(
        10, 10, 9e8) if {s.send.kind, s.receive.kind} <= {"none", "kalman"} else observed(
            30, 30, 5e8, 9.0),
}
SLEEP = [(figure, claim) for figure in reproduction_sleep.figures() for claim in figure.claims
         if claim.measure is not reproduction_sleep.nothing]


def verdict(figure: Figure, claim: Claim[Curves], run: Run) -> str:
    return judge(claim, [lines(figure, run)], "").verdict


@pytest.mark.parametrize(("figure", "claim"), SLEEP, ids=lambda one: getattr(one, "text", ""))
def test_a_world_that_does_nothing_reproduces_nothing(figure: Figure,
                                                      claim: Claim[Curves]) -> None:
    assert verdict(figure, claim, WRONG["does nothing"]) != REPRODUCED


@pytest.mark.parametrize(("figure", "claim"), SLEEP, ids=lambda one: getattr(one, "text", ""))
def test_a_wrong_world_is_told_from_the_one_of_the_text(figure: Figure,
                                                        claim: Claim[Curves]) -> None:
    others = [verdict(figure, claim, WRONG[name]) for name in (
        "is always the same", "the other way round", "kalman and polling do better")]
    assert others.count(REPRODUCED) < len(others)
    if not claim.ours:
        assert verdict(figure, claim, told) == REPRODUCED


# ---- the channel ----


def channel_lines(cpu: float, speed: float, loss: float,
                  again: float) -> dict[str, Curve]:
    seen = ChannelSeen(send=Side(cpu_pct=cpu), loss_ppm=loss, resent_ppm=again,
                       receive=Side(cpu_pct=cpu, speed_bps=speed))
    names = (reproduction_channel.ORIGINAL, reproduction_channel.PAPER, reproduction_channel.OURS,
             reproduction_channel.POLLING, reproduction_channel.CROWDED,
             reproduction_channel.UNCREDITED, reproduction_channel.CREDITED)
    return {name: [(float(size), seen) for size in (512, 768)] for name in names}


CHANNEL = [claim for figure in reproduction_channel.figures() for claim in figure.claims]


@pytest.mark.parametrize("claim", CHANNEL, ids=lambda one: one.text)
def test_each_judge_of_the_channel_refuses(claim: Claim[Curves]) -> None:
    """A world at rest that moves nothing shows nothing; of two busy ones each fails one."""
    assert judge(claim, [channel_lines(0, 0, 0, 0)], "").verdict != REPRODUCED
    worst = channel_lines(50, 5e8, 1e5, 1e5)
    for name in (reproduction_channel.OURS, reproduction_channel.CROWDED):
        worst[name] = [(x, ChannelSeen(send=Side(cpu_pct=90), loss_ppm=1e5, resent_ppm=2e5,
                                       receive=Side(cpu_pct=90, speed_bps=1e8)))
                       for x, _ in worst[name]]
    verdicts = [judge(claim, [one], "").verdict
                for one in (worst, channel_lines(50, 5e8, 0, 0))]
    assert verdicts.count(REPRODUCED) < 2


# ---- dispatch ----

LOADS = (0.05, 0.1, 0.2, 0.4, 0.8)


def world(loss_ppm: Callable[[str, float], float], pkts: tuple[int, ...] = (25, 25, 25, 25)
          ) -> Shown:
    names = reproduction_dispatch.SCHEDULERS
    runs = {(traffic, name): [
        FlowRun(scheduler=name, load=load, offered=sum(pkts), lost=int(loss_ppm(name, load)),
                loss_ppm=loss_ppm(name, load), worker=[FlowWorker(packets=one) for one in pkts])
        for load in LOADS] for traffic in reproduction_dispatch.TRAFFICS for name in names}
    run = FlowRun(scheduler=reproduction_dispatch.PAPER, load=0.7, offered=1, lost=0, loss_ppm=0,
                  watched_lost_pct=5, dispatch=FlowDispatch(relieved=9))
    odds = dict.fromkeys(reproduction_dispatch.THRESHOLDS, run)
    costs = {name: 29.0 if name == "subflow" else 20.0 for name in names}
    return Shown(runs=runs, odds=odds, costs=costs)


DISPATCH_WRONG = {
    "nothing is ever lost": world(lambda _name, _load: 0.0),
    "all is lost": world(lambda _name, _load: 1e6),
    "one worker gets all": world(lambda _name, _load: 0.0, (100, 0, 0, 0)),
    "rr carries least": world(lambda name, load: 1e5 * (name == "rr-burst" and load > 0.1)),
}
DISPATCH = [claim for figure in reproduction_dispatch.figures() for claim in figure.claims
            if claim.bounds() != (None, None)]


@pytest.mark.parametrize("claim", DISPATCH, ids=lambda one: one.text)
def test_each_judge_of_dispatch_refuses(claim: Claim[Shown]) -> None:
    assert {name for name, one in DISPATCH_WRONG.items()
            if judge(claim, [one], "").verdict != REPRODUCED}
