# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction of the channel: what the text states of BPCM, which it put its sleep model into.

BPCM showed the eight ports of a server as one. Its own paper is not open; what is compared is what
the text on the sleep model says of it in words or digits (Fig. 20 to 22 there), and beside it
what our channel makes of the same ports. Tolerances are ours and stand in each row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from lull.reproduce.reproduction import (
    Claim,
    Curves,
    Figure,
    Observation,
    at,
    half,
    lost_ppm,
    moving,
    value,
)
from lull.reproduce.reproduction import worst as worst_of

RAILS = 8
SIZES = (64, 128, 256, 512, 768)  # bytes of a message, which is one packet
RESTS_US = (250, 500, 1000, 2000, 4000)
# In front of and behind a message: Ethernet 14, ours 28, head 32, tag 8, what a wire adds 24.
OVERHEAD_BYTES = 106
# A rail's rate is told as that of full frames of 1514 bytes, each of which takes 1538.
WIRE_RATIO = 1538 / 1514
ORIGINAL, PAPER, OURS = "original", "kalman", "phase"
POLLING, CROWDED = "ours, polling", "phase, twice under way"
POLICIES = (ORIGINAL, PAPER, OURS)
UNCREDITED, CREDITED = "no rail credit", "rail credit"

ALL_THE_TIME = "Fig. 20, 21"
LOSSES = "Fig. 22"
STEPS = "Training steps"
RINGS = "Rings"
NAMES = (ALL_THE_TIME, LOSSES, STEPS, RINGS)

FEW_1E5, FEW_1E4 = (10.0, 99.9), (100.0, 999.0)

WORKS = ("eight ports at full speed leave a polling thread that little time: what is not empty "
         "polling is work")
WALKS = ("the published search takes each step that costs less than its tolerance for none, and "
         "walks on while the speed falls; how much is under way at once decides when, and the "
         "text does not give it")
NO_LOSS = ("nothing is lost: messages wait for acknowledgements, so a search that looks at the "
           "speed alone stops before a ring of 1024 is full; what the text lost without any sleep "
           "came from NIC or host, which it does not describe")
AT_WORK = ("it rests only while nothing is expected, and here something always is; see the "
           "training steps, for which it was made")
TAILS = ("queues of that length outlast the timer of a tail, so pieces are sent again that nobody "
         "lost, and the nodes are at work for longer: a weakness of ours")
POLLS = "a thread that polls is busy all the time in the simulator"
NOT_LIVE = "the library never rests while packets are expected, and always says how long"
SHARED = "both nodes, the switch and other programs share the cores of this machine"


class ChannelSeen(Observation):
    """One run: both sides, loss, and what was sent again."""

    resent_ppm: float = 0


def resent(name: str, base: str = "") -> Callable[[Curves], float | None]:
    """The most that was sent again along a line, beyond another one; where data arrived."""
    def again(curves: Curves, line: str) -> float:
        return max(cast("ChannelSeen", seen).resent_ppm for _, seen in curves[line])

    return moving(lambda curves: again(curves, name) - (again(curves, base) if base else 0.0),
                  name, *([base] if base else []))


def most(name: str, *paths: str) -> Callable[[Curves], float | None]:
    """The largest along a line, where data arrived."""
    return moving(lambda curves: max(
        value(seen, path) for _, seen in curves[name] for path in paths), name)


def loss(name: str) -> Callable[[Curves], float | None]:
    """The most that was lost along a line, of what was sent."""
    return lambda curves: worst_of(lost_ppm(seen) for _, seen in curves[name])


def least(name: str, *paths: str) -> Callable[[Curves], float]:
    """The smallest along a line."""
    return lambda curves: min(value(seen, path) for _, seen in curves[name] for path in paths)


def emptier(name: str, side: str) -> Callable[[Curves], float]:
    """By how much the empty polling rate falls at least."""
    path = f"{side}.empty_pct"
    return lambda curves: min(value(before, path) - value(after, path) for (_, before), (_, after)
                              in zip(curves[ORIGINAL], curves[name], strict=True))


def slower(name: str, size: int, base: str = ORIGINAL) -> Callable[[Curves], float | None]:
    """Change of the speed against another line, in percent; None: nothing came there."""
    def measure(curves: Curves) -> float | None:
        before = value(at(curves[base], size), "receive.speed_bps")
        after = value(at(curves[name], size), "receive.speed_bps")
        return 100 * (after / before - 1) if before else None

    return measure


def worst(name: str, base: str) -> Callable[[Curves], float | None]:
    """The largest fall of the speed along a line."""
    def measure(curves: Curves) -> float | None:
        changes = [slower(name, int(size), base)(curves) for size, _ in curves[name]]
        known = [one for one in changes if one is not None]
        return min(known) if len(known) == len(changes) else None

    return measure


def ceiling_bps(size: int, rail_bps: float) -> float:
    """What all ports can carry of messages of this size."""
    return RAILS * rail_bps * WIRE_RATIO * size / (size + OVERHEAD_BYTES)


def summed(rail_bps: float) -> Callable[[Curves], float]:
    """Least share of what the ports can carry together, in percent."""
    return lambda curves: min(100 * value(seen, "receive.speed_bps")
                              / ceiling_bps(int(size), rail_bps)
                              for size, seen in curves[ORIGINAL])


def tenfold(curves: Curves) -> float | None:
    """Loss with the published policy over that without; None: there is none without."""
    before, after = (loss(name)(curves) for name in (ORIGINAL, PAPER))
    return after / before if before and after is not None else None


# ---- figures ----


@dataclass(frozen=True)
class Rate:
    """Of a rail, simulated and live."""

    simulated: float = 1e9
    live: float = 100e6


def figures(rate: Rate | None = None) -> list[Figure]:
    """Everything that the text tells of BPCM, and what ours makes of it."""
    return [_all_the_time(rate or Rate()), _losses(), _steps(), _rings()]


def _figure(name: str, title: str, claims: list[Claim[Curves]], note: str,
            panels: tuple[str, ...], axis: str = "message, bytes") -> Figure:
    return Figure(name, title, axis, (), tuple(claims), note, panels)


def _all_the_time(rate: Rate) -> Figure:
    sides = (("send", "sender"), ("receive", "receiver"))
    claims = [
        Claim[Curves]("eight ports are one link: speed over what they can carry, original",
                      "the sum", summed(rate.simulated), low=95.0, tolerance="at least 95",
                      unit="%", no_live=NOT_LIVE)]
    for side, word in sides:
        claims += [
            Claim(f"least CPU of a {word}, original", "about 99",
                  least(ORIGINAL, f"{side}.cpu_pct"), low=95.0, tolerance="at least 95",
                  unit="%", assumed=POLLS, live_because=SHARED),
            Claim(f"most CPU of a {word}, kalman", "below 20", most(PAPER, f"{side}.cpu_pct"),
                  high=20.0, tolerance="at most 20", unit="%", sim_because=WORKS, no_live=NOT_LIVE),
            Claim(f"empty polling rate of a {word} falls, kalman", "more than 70",
                  emptier(PAPER, side), low=70.0, tolerance="at least 70", unit="points",
                  sim_because=WORKS, no_live=NOT_LIVE)]
    claims += [Claim(f"speed at {size} bytes, kalman", f"-{drop:g}", slower(PAPER, size),
                     near=half(-drop), tolerance="half of it", unit="%",
                     sim_because=WALKS, no_live=NOT_LIVE)
               for size, drop in ((512, 4.3), (768, 4.7))]
    claims += [
        Claim("speed, phase, at the worst of all sizes", "(ours: as polling)",
              worst(OURS, ORIGINAL), low=-2.0, tolerance="at most 2 less", unit="%", ours=True,
              live_because=SHARED),
        Claim("most CPU of either side, phase", "(ours: below 20 too)",
              most(OURS, "send.cpu_pct", "receive.cpu_pct"), high=20.0, tolerance="at most 20",
              unit="%", ours=True, sim_because=AT_WORK, live_because=AT_WORK)]
    return _figure(
        ALL_THE_TIME, "CPU and speed while data flows all the time", claims,
        "Six servers as there: five send to one. CPU and empty polling are of the busiest sender "
        "and of the receiver, for the thread that moves the packets of all eight ports. Live: one "
        "sends to one.",
        ("send.cpu_pct", "receive.cpu_pct", "receive.speed_bps"))


def _losses() -> Figure:
    claims = [
        Claim[Curves]("loss, original", "a few hundred-thousandths", loss(ORIGINAL),
                      low=FEW_1E5[0], high=FEW_1E5[1], tolerance="10 to 100", unit="ppm",
                      no_sim=NO_LOSS, live_because=SHARED),
        Claim[Curves]("loss, kalman", "a few ten-thousandths", loss(PAPER),
                      low=FEW_1E4[0], high=FEW_1E4[1], tolerance="100 to 1000", unit="ppm",
                      sim_because=NO_LOSS, no_live=NOT_LIVE),
        Claim[Curves]("loss, kalman over original", "ten times", tenfold, low=5.0, high=20.0,
                      tolerance="5 to 20", unit="times", sim_because=NO_LOSS, no_live=NOT_LIVE),
        Claim[Curves]("loss, phase", "(ours: none)", loss(OURS), high=0.0,
                      tolerance="none", unit="ppm", ours=True, live_because=SHARED)]
    return _figure(LOSSES, "Loss while data flows all the time", claims,
                   "The same runs. Lost packets are sent again, so no message is lost in any of "
                   "them. When rests do overflow rings is below.", ("loss_ppm", "resent_ppm"))


def _steps() -> Figure:
    both = ("send.cpu_pct", "receive.cpu_pct")
    claims = [
        Claim[Curves]("most CPU of either side, kalman", "below 20", most(PAPER, *both),
                      high=20.0, tolerance="at most 20", unit="%", no_live=NOT_LIVE),
        *(Claim[Curves](f"speed at {size} bytes, kalman", f"-{drop:g}", slower(PAPER, size),
                        near=half(-drop), tolerance="half of it", unit="%",
                        sim_because=WALKS, no_live=NOT_LIVE)
          for size, drop in ((512, 4.3), (768, 4.7))),
        Claim[Curves]("most CPU of either side, phase", "(ours: at most 15)", most(OURS, *both),
                      high=15.0, tolerance="at most 15", unit="%", ours=True,
                      live_because=SHARED),
        Claim[Curves]("speed, phase against polling, at the worst of all sizes",
                      "(ours: at most 2 less)", worst(OURS, POLLING), low=-2.0,
                      tolerance="at most 2 less", unit="%", ours=True, live_because=SHARED),
        Claim[Curves]("loss, phase", "(ours: none)", loss(OURS), high=0.0,
                      tolerance="none", unit="ppm", ours=True, live_because=SHARED),
        Claim[Curves]("sent again, phase, beyond polling", "(ours: nothing)",
                      resent(OURS, POLLING), high=0.0,
                      tolerance="none", unit="ppm", ours=True, live_because=SHARED),
        Claim[Curves]("most CPU of either side, phase, twice as many messages under way",
                      "(ours: at most 15)", most(CROWDED, *both), high=15.0,
                      tolerance="at most 15", unit="%", ours=True, sim_because=TAILS,
                      no_live=NOT_LIVE),
        Claim[Curves]("sent again, phase, twice as many messages under way",
                      "(ours: nothing)", resent(CROWDED), high=0.0,
                      tolerance="none", unit="ppm", ours=True, sim_because=TAILS, no_live=NOT_LIVE)]
    return _figure(
        STEPS, "Traffic in steps, as of training: 10 ms in each 100 ms", claims,
        "The text names this traffic as the reason to sleep, and gives no figures for it: its own "
        "are those above. Two nodes send to each other. original and kalman have the number of "
        "messages under way with which kalman loses least, phase half of it. Live: one sends to "
        "one.",
        ("send.cpu_pct", "receive.cpu_pct", "receive.speed_bps", "loss_ppm", "resent_ppm"))


def _rings() -> Figure:
    def longest(name: str) -> Callable[[Curves], float | None]:
        return lambda curves: lost_ppm(curves[name][-1][1])

    claims = [
        Claim[Curves]("loss with the longest rests, no rail credit", "rises with sleep",
                      longest(UNCREDITED), low=FEW_1E4[0], tolerance="at least 100", unit="ppm",
                      no_live=NOT_LIVE),
        Claim[Curves]("loss with rests of a quarter of a ring, no rail credit", "slight",
                      lambda curves: lost_ppm(curves[UNCREDITED][0][1]),
                      high=FEW_1E4[1], tolerance="at most 1000", unit="ppm", no_live=NOT_LIVE),
        Claim[Curves]("loss with rail credit, any rest", "(ours: none)",
                      loss(CREDITED), high=0.0, tolerance="none", unit="ppm",
                      ours=True, no_live=NOT_LIVE)]
    return _figure(
        RINGS, "What long rests do to rings", claims,
        "Not in the text: the six servers with messages of 128 bytes, and rests of one length that "
        "nothing cuts short, also while packets come. A ring of 1024 holds 1.9 ms of them. Rail "
        "credit bounds what all senders together have under way towards a port by its ring. Only "
        "simulated: the library does not rest while packets are expected.",
        ("receive.speed_bps", "loss_ppm", "resent_ppm"), "rest, us")
