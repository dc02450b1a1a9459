# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction of the sleep model: what its text states about each figure and table.

Most of its curves are pictures without numbers; only what the text says in words or digits is
claimed here. Tolerances are ours: half of the effect where the text has a number.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from lull.reproduce import reproduction
from lull.reproduce.reproduction import (
    BLOCK,
    POLL,
    USLEEP,
    Claim,
    Curves,
    Figure,
    Rest,
    Scenario,
    Series,
    at,
    change_pct,
    fall_share,
    half,
    lost_ppm,
    moving,
    rise_share,
    threshold,
    value,
    worst,
)

SIZES = (128, 256, 512, 768, 1024)
DELAYS_US = (0, 10, 20, 50, 100, 200, 500, 1000)
SEND_US = (0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 120, 150, 180, 200, 220, 250, 300, 400)
RECEIVE_US = (0, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 800, 1000, 1500, 2000, 3000)
STEPS_US = (5.0, 10.0, 20.0, 50.0, 100.0)
KEEPS = 0.99  # of the speed: still unchanged
FEW_1E5, FEW_1E4 = (10.0, 99.9), (100.0, 999.0)

CROSSED = 4   # CPUs that producer, sender, receiver and consumer want
ASLEEP = 2    # where the thread that counts sleeps most of the time
EVERY_STEP = "every step, but for 1 % of the whole"

NO_LOSS = ("packets were lost there without any sleep too, so in NIC or host, which the text does "
           "not describe: the simulator has no such cause")
DEEP_RING = ("the only cause of loss in the simulator is a full ring, and one of 1024 holds 2.3 ms "
             "of 256-byte packets, far more than this sleep")
SPINS = "a delay that spins is simulated as a thread that polls"
POLLS = "a thread that polls is busy all the time in the simulator"
TAUGHT = ("the costs of the simulated machine were chosen so that usleep(0) takes less than 10 % "
          "of a core")
STATED_COSTS = "the simulator is told what a burst costs"
ONE_BURST = ("the speed begins to fall where a sleep and its error take longer than 64 packets on "
             "the wire, here at 86 us for 256 and 217 us for 512 bytes; the text has no formula "
             "for its smaller values")
FULL_SPEED = ("kalman rests longer than 64 packets take on the wire and so gives up speed, most "
              "with small packets; at full speed no governor can rest longer than ours does")
ERROR_HERE = "a sleep of this machine ends later or sooner than the 55 us of the text"
IN_MEMORY = ("the live link is a ring in memory between two threads that share this machine's "
             "cores with producer and consumer, not a NIC")
WALKS = ("an interval that a packet more fell into by chance becomes the record, and the search "
         "stops early; or each accepted step lowers the speed that it remembers as the best by up "
         "to its tolerance, so it walks on while the speed falls (known weaknesses of the "
         "published policy)")
TRACE = ("a run shows only what the search makes of it; the unit tests of the estimators hold it: "
         "meson test -C build kalman")
SILENT = "a table without digits in the text"
NOISE = "noise of a shared machine"


def usleep(us: float) -> Rest:
    """What the text calls usleep(us)."""
    return Rest(USLEEP, us)


def sweep(name: str, places: tuple[int, ...],
          make: Callable[[int], Scenario]) -> Series:
    """A line over a sleep."""
    return Series(name, tuple((float(us), make(us)) for us in places))


# ---- what claims measure ----


def falls(name: str, path: str) -> Callable[[Curves], float]:
    """Share of the steps along a line that do not rise."""
    return lambda curves: fall_share(curves[name], path)


def loss_at(name: str, x: float) -> Callable[[Curves], float | None]:
    """Loss at one place of a line, of what was sent."""
    return lambda curves: lost_ppm(at(curves[name], x))


def loss_worst(*names: str) -> Callable[[Curves], float | None]:
    """The most lost along lines, of what was sent."""
    return lambda curves: worst(lost_ppm(seen) for name in names for _, seen in curves[name])


def faster(name: str, side: str, later_us: float) -> Callable[[Curves], float]:
    """By how many points more empty polling falls than CPU up to a sleep."""
    def measure(curves: Curves) -> float:
        begin, later = curves[name][0][1], at(curves[name], later_us)
        return sum(sign * (value(begin, path) - value(later, path)) for sign, path in (
            (1, f"{side}.empty_requested_pct"), (-1, f"{side}.cpu_pct")))

    return measure


def close(curves: Curves) -> float | None:
    """Points between usleep(0) and usleep(100); None where a longer sleep changes nothing."""
    shortest, hundred, longest = (value(at(curves["usleep"], us), "receive.cpu_pct")
                                  for us in (0, 100, 1000))
    return shortest - hundred if shortest - longest > abs(shortest - hundred) else None


# ---- figures ----


def _falling(text: str, name: str, path: str, cpus: int = ASLEEP,
             sim_because: str = "") -> Claim[Curves]:
    return Claim(text, "yes", falls(name, path), low=100.0, tolerance=EVERY_STEP,
                 unit="% of steps", sim_because=sim_because, live_because=NOISE, cpus=cpus)


def _idle() -> Figure:
    return Figure(
        "Fig. 2", "CPU of the receiver when nothing arrives", "delay or sleep, us",
        (sweep("block", DELAYS_US, lambda us: Scenario(0, receive=Rest(BLOCK, us))),
         sweep("usleep", DELAYS_US, lambda us: Scenario(0, receive=usleep(us)))),
        (Claim("least CPU with rte_delay_us_block", "above 95", least("block", "receive.cpu_pct"),
               low=95.0, tolerance="at least 95", unit="%", assumed=SPINS, cpus=CROSSED),
         _falling("CPU with usleep falls as the sleep grows", "usleep", "receive.cpu_pct"),
         Claim("usleep(0) and usleep(100) are close", "close, by the error of 55 us", close,
               low=-5.0, high=5.0, tolerance="within 5 points, and less than beyond",
               unit="points", assumed=TAUGHT, live_because=ERROR_HERE, cpus=ASLEEP)),
        panels=("receive.cpu_pct",))


def _with_data() -> list[Figure]:
    def receive(kind: str) -> Callable[[int], Scenario]:
        return lambda us: Scenario(256, usleep(100), Rest(kind, us))

    return [Figure(
        "Fig. 3", "rte_delay_us_block with data: 256 bytes, sender sleeps 100 us", "delay, us",
        (sweep("block", DELAYS_US, receive(BLOCK)),),
        (Claim("least CPU of the receiver", "close to 100", least("block", "receive.cpu_pct"),
               low=95.0, tolerance="at least 95", unit="%", assumed=SPINS, cpus=CROSSED),
         Claim("loss with short delays", "none", loss_at("block", 0), high=0.0, tolerance="none",
               unit="ppm", assumed=SPINS, live_because=IN_MEMORY, cpus=CROSSED))), Figure(
        "Fig. 4", "usleep with data: 256 bytes, sender sleeps 100 us", "sleep, us",
        (sweep("usleep", DELAYS_US, receive(USLEEP)),),
        (_falling("CPU of the receiver falls as the sleep grows", "usleep", "receive.cpu_pct"),
         Claim("speed with a sleep of 100 us against usleep(0)", "unchanged",
               lambda curves: change_pct(curves["usleep"], "receive.speed_bps", 100), low=-1.0,
               high=1.0, tolerance="within 1 %", unit="%", live_because=IN_MEMORY,
               cpus=CROSSED)))]


def _sender_losses() -> list[Figure]:
    lines = tuple(Series(f"{size} B", (
        (0.0, Scenario(size)),
        *((float(us), Scenario(size, usleep(us))) for us in SEND_US if us)))
        for size in (256, 512))

    def claims(size: int, us: int, drop: float) -> tuple[Claim[Curves], ...]:
        name = f"{size} B"
        return (
            Claim(f"{size} bytes: loss when the sender sleeps {us} us", "zero",
                  loss_at(name, us), high=0.0, tolerance="none", unit="ppm", assumed=DEEP_RING,
                  live_because=IN_MEMORY, cpus=CROSSED),
            Claim(f"{size} bytes: speed then, against no sleep", f"-{drop:g}",
                  lambda curves: change_pct(curves[name], "receive.speed_bps", us),
                  near=half(-drop), tolerance="half of it", unit="%", sim_because=ONE_BURST,
                  live_because=ERROR_HERE + "; " + IN_MEMORY, cpus=CROSSED),
            _falling(f"{size} bytes: the speed falls as the sleep grows", name,
                     "receive.speed_bps", CROSSED))

    lossy = Claim[Curves](
        "loss when neither side sleeps", "some", lambda curves: worst(
            lost_ppm(at(curves[name], 0)) for name in ("256 B", "512 B")),
        low=1.0, tolerance="at least 1", unit="ppm", no_sim=NO_LOSS, live_because=IN_MEMORY,
        cpus=CROSSED)
    return [Figure("Table 1, Fig. 7", "The sender sleeps, the receiver polls", "sender's sleep, us",
                   lines, (lossy, *claims(256, 100, 11), *claims(512, 200, 3.4)),
                   note="The first point polls.", panels=(
                       "send.cpu_pct", "send.empty_requested_pct", "receive.speed_bps",
                       "loss_ppm"))]


def _usleep_zero() -> Figure:
    sizes = (256, 512)
    names = {"poll": (POLL, POLL), "receiver only": (POLL, usleep(0)),
             "both": (usleep(0), usleep(0))}
    series = tuple(Series(name, tuple((float(size), Scenario(size, *rests)) for size in sizes))
                   for name, rests in names.items())

    def drop(path: str) -> Callable[[Curves], float]:
        return lambda curves: min(value(before, path) - value(after, path) for (_, before), (
            _, after) in zip(curves["poll"], curves["both"], strict=True))

    def less(side: str, word: str) -> Claim[Curves]:
        return Claim(f"CPU of the {word}, usleep(0) on both sides", "below 10",
                     moving(most("both", f"{side}.cpu_pct"), "both"), high=10.0,
                     tolerance="at most 10", unit="%", assumed=TAUGHT,
                     live_because=ERROR_HERE + " and costs more CPU", cpus=CROSSED)

    return Figure(
        "Table 2", "usleep(0) on the receiver alone and on both sides", "packet size, bytes",
        series,
        (less("send", "sender"), less("receive", "receiver"),
         Claim("empty polling rate falls (published variant)", "20",
               drop("receive.empty_requested_pct"), near=half(20.0), tolerance="half of it",
               unit="points",
               sim_because="with usleep(0) the published variant counts the whole error of the "
               "sleep as empty polling, so what is left depends only on how long bursts take",
               live_because="the published variant counts the error of the sleep as polling",
               cpus=CROSSED),
         Claim("loss, usleep(0) on both sides", "a few hundred-thousandths", loss_worst("both"),
               low=FEW_1E5[0], high=FEW_1E5[1], tolerance="10 to 100", unit="ppm", no_sim=NO_LOSS,
               live_because=IN_MEMORY, cpus=CROSSED),
         Claim("loss, usleep(0) on the receiver only", "a few ten-thousandths",
               loss_worst("receiver only"), low=FEW_1E4[0], high=FEW_1E4[1],
               tolerance="100 to 1000", unit="ppm", no_sim=NO_LOSS, live_because=IN_MEMORY,
               cpus=CROSSED),
         Claim("speed, usleep(0) on the receiver only", "does not fall",
               lambda curves: reproduction.least(
                   change_pct(curves["receiver only"], "receive.speed_bps", size,
                              at(curves["poll"], size)) for size in sizes),
               low=-1.0, tolerance="at most 1 % less", unit="%", live_because=IN_MEMORY,
               cpus=CROSSED)),
        note="Empty polling as the text has it: from the requested sleep, which is 0.")


def _threshold(published_us: float, sim_because: str, live_because: str) -> Claim[Curves]:
    return Claim("sleep from which the speed falls", f"{published_us:g}",
                 lambda curves: threshold(curves["usleep"], "receive.speed_bps", KEEPS),
                 near=half(published_us), unit="us",
                 tolerance="half of it; 1 % less is a fall", sim_because=sim_because,
                 live_because=live_because, cpus=CROSSED)


def _empties(side: str, published_us: float) -> Claim[Curves]:
    return Claim("empty polling rate falls more than CPU before that", "yes",
                 faster("usleep", side, published_us), low=1.0, tolerance="at least 1 point more",
                 unit="points", live_because=ERROR_HERE, cpus=CROSSED)


def _sender(name: str, size: int, published_us: float) -> Figure:
    return Figure(
        name, f"Sender's sleep at {size} bytes, receiver with usleep(0)", "sender's sleep, us",
        (sweep("usleep", SEND_US, lambda us: Scenario(size, usleep(us), usleep(0))),),
        (_threshold(published_us, ONE_BURST, ERROR_HERE + "; " + IN_MEMORY),
         _falling("the speed falls as the sleep grows", "usleep", "receive.speed_bps", CROSSED),
         _falling("CPU of the sender falls as the sleep grows", "usleep", "send.cpu_pct"),
         _empties("send", published_us),
         Claim("loss falls as the speed does", "yes", falls("usleep", "loss_ppm"), low=100.0,
               tolerance=EVERY_STEP, unit="% of steps", no_sim=NO_LOSS, live_because=IN_MEMORY,
               cpus=CROSSED)),
        panels=("send.cpu_pct", "send.empty_requested_pct", "receive.speed_bps", "loss_ppm"))


def _receiver(name: str, size: int, send_us: int, published_us: float) -> Figure:
    deep = "the ring of 1024 holds more than what comes in the longest sleep of this figure"
    return Figure(
        name, f"Receiver's sleep at {size} bytes, sender sleeps {send_us} us",
        "receiver's sleep, us",
        (sweep("usleep", RECEIVE_US, lambda us: Scenario(size, usleep(send_us), usleep(us))),),
        (_threshold(published_us, "a ring of 1024 at this speed takes longer than 2 ms to run "
                    "full, and only then is anything lost; the published values fit a ring of "
                    "about 150", IN_MEMORY),
         _falling("the speed falls as the sleep grows", "usleep", "receive.speed_bps", CROSSED,
                  deep),
         Claim("loss rises as the sleep grows", "yes",
               lambda curves: rise_share(curves["usleep"], "loss_ppm"), low=100.0,
               tolerance=EVERY_STEP, unit="% of steps", sim_because=deep, live_because=IN_MEMORY,
               cpus=CROSSED),
         _falling("CPU of the receiver falls as the sleep grows", "usleep", "receive.cpu_pct"),
         _empties("receive", published_us),
         Claim("loss with the longest sleep", "soars", loss_at("usleep", RECEIVE_US[-1]),
               low=1000.0, tolerance="at least 1000", unit="ppm", sim_because=deep,
               live_because=IN_MEMORY, cpus=CROSSED)))


def _loops() -> Figure:
    def loops(side: str, word: str) -> Claim[Curves]:
        return _falling(f"loops of the {word} as its sleep grows to the threshold", word,
                        f"{side}.loops_per_s", CROSSED)

    return Figure(
        "Fig. 12", "Loops by sleep, up to the thresholds of Fig. 8 and 10", "sleep, us",
        (sweep("sender", tuple(us for us in SEND_US if us <= 60),
               lambda us: Scenario(256, usleep(us), usleep(0))),
         sweep("receiver", tuple(us for us in RECEIVE_US if us <= 300),
               lambda us: Scenario(256, usleep(100), usleep(us)))),
        (loops("send", "sender"), loops("receive", "receiver"),
         Claim("equation 10, of three sleeps and the threshold", "holds", nothing,
               no_sim="the equation is a picture in the text at hand",
               no_live="the equation is a picture in the text at hand")),
        panels=("send.loops_per_s", "receive.loops_per_s"))


def nothing(_curves: Curves) -> None:
    """Of what a run does not show."""


def _estimates() -> list[Figure]:
    claims = tuple(Claim[Curves](text, "yes", nothing, no_sim=TRACE, no_live=TRACE) for text in (
        "estimate between measurement and observation",
        "zero variance: estimate equals observation",
        "smaller variance of the observation pulls harder"))
    return [Figure("Fig. 17", "Estimate of the packet size", "", (), claims),
            Figure("Fig. 18", "Estimate of the speed", "", (), claims)]


def _search() -> Figure:
    series = tuple(Series(f"{size} B", tuple(
        (step, Scenario(size, Rest("kalman"), usleep(0), step)) for step in STEPS_US))
        for size in (1280, 1500))

    def cycles(size: int, step: float) -> Callable[[Curves], float]:
        return lambda curves: value(at(curves[f"{size} B"], step), "send.rest_us") / step

    def fewer(curves: Curves) -> float:
        counts = [cycles(1280, step)(curves) for step in STEPS_US]
        return 100 * sum(b < a for a, b in pairwise(counts)) / (len(counts) - 1)

    because = "counted as the sleep reached at the end over the step; " + WALKS
    once = "the search is counted in the simulator only"
    return Figure(
        "Table 4, Fig. 19", "Search of the sleep: cycles against step", "step, us", series,
        (Claim("cycles for 1280 bytes, step 10 us", "64", cycles(1280, 10), near=(64, 16),
               tolerance="within 25 %", sim_because=because, no_live=once),
         Claim("cycles for 1500 bytes, step 10 us", "below 100", cycles(1500, 10), low=64.0,
               high=100.0, tolerance="64 to 100", sim_because=because, no_live=once),
         Claim("cycles fall as the step grows, 1280 bytes", "yes", fewer, low=100.0,
               tolerance=EVERY_STEP, unit="% of steps", sim_because=because, no_live=once),
         Claim("accuracy of each step (Table 4)", SILENT, nothing, no_sim=SILENT,
               no_live=SILENT)),
        panels=("send.rest_us", "send.cpu_pct"))


def most(name: str, path: str) -> Callable[[Curves], float]:
    """The largest along a line."""
    return lambda curves: max(value(seen, path) for _, seen in curves[name])


def least(name: str, path: str) -> Callable[[Curves], float]:
    """The smallest along a line."""
    return lambda curves: min(value(seen, path) for _, seen in curves[name])


def slower(name: str, size: int) -> Callable[[Curves], float | None]:
    """Change of the speed against the original."""
    return lambda curves: change_pct(curves[name], "receive.speed_bps", size,
                                     at(curves["original"], size))


def emptier(name: str, side: str) -> Callable[[Curves], float]:
    """By how much the empty polling rate falls at least."""
    path = f"{side}.empty_pct"
    return lambda curves: min(
        value(before, path) - value(after, path) for (_, before), (_, after) in zip(
            curves["original"], curves[name], strict=True))


def _own_claims(name: str) -> list[Claim[Curves]]:
    """What ours must do beside the published policy."""
    def beyond(sizes: Sequence[int]) -> Callable[[Curves], float | None]:
        return moving(lambda curves: max(
            value(at(curves[name], size), path) - value(at(curves["kalman"], size), path)
            for size in sizes for path in ("send.cpu_pct", "receive.cpu_pct")), name, "kalman")

    def slowest(curves: Curves) -> float | None:
        return reproduction.least(slower(name, size)(curves) for size in (512, 768))

    def busiest(curves: Curves) -> float:
        return max(most(name, f"{side}.cpu_pct")(curves) for side in ("send", "receive"))

    bound = "it sleeps no longer than its objective and its ring allow"
    return [
        Claim(f"most CPU of either side, {name}", "(ours: below 20 too)",
              moving(busiest, name), high=20.0, tolerance="at most 20", unit="%", ours=True,
              sim_because=bound, live_because=bound, cpus=CROSSED),
        Claim(f"CPU of either side beyond kalman's, 512 bytes and more, {name}",
              "(ours: not more)", beyond(SIZES[2:]), high=0.5, tolerance="at most 0.5",
              unit="points", ours=True, sim_because=FULL_SPEED, live_because=FULL_SPEED,
              cpus=CROSSED),
        Claim(f"CPU of either side beyond kalman's, 128 and 256 bytes, {name}",
              "(ours: not more)", beyond(SIZES[:2]), high=0.5, tolerance="at most 0.5",
              unit="points", ours=True, sim_because=FULL_SPEED, live_because=FULL_SPEED,
              cpus=CROSSED),
        Claim(f"loss, {name}", "(ours: none)", loss_worst(name), high=0.0, tolerance="none",
              unit="ppm", ours=True, live_because=IN_MEMORY, cpus=CROSSED),
        Claim(f"speed at 512 and 768 bytes, {name}", "(ours: less lost than above)", slowest,
              low=-4.3, tolerance="at most 4.3 % less", unit="%", ours=True,
              sim_because=ONE_BURST, live_because=IN_MEMORY, cpus=CROSSED)]


def _evaluation() -> Figure:
    policies = {"original": POLL, "kalman": Rest("kalman"),
                "kalman-guarded": Rest("kalman-guarded"), "objective": Rest("objective")}
    series = tuple(Series(name, tuple((float(size), Scenario(size, rest, rest)) for size in SIZES))
                   for name, rest in policies.items())

    claims = []
    for side, word in (("send", "sender"), ("receive", "receiver")):
        claims += [
            Claim(f"least CPU of the {word}, original", "about 99", least("original",
                  f"{side}.cpu_pct"), low=95.0, tolerance="at least 95", unit="%",
                  assumed=POLLS, live_because="other threads took the core", cpus=CROSSED),
            Claim(f"most CPU of the {word}, kalman", "below 20", moving(
                  most("kalman", f"{side}.cpu_pct"), "kalman"), high=20.0,
                  tolerance="at most 20", unit="%",
                  sim_because="small packets leave less time to sleep",
                  live_because=ERROR_HERE + " and costs more CPU", cpus=CROSSED),
            Claim(f"empty polling rate of the {word} falls, kalman", "more than 70",
                  emptier("kalman", side), low=70.0, tolerance="at least 70", unit="points",
                  sim_because="what is not empty polling is work: there was less to lose",
                  live_because=IN_MEMORY, cpus=CROSSED)]
    for size, drop in ((512, 4.3), (768, 4.7)):
        claims.append(Claim(
            f"speed at {size} bytes, kalman", f"-{drop:g}", slower("kalman", size),
            near=half(-drop), tolerance="half of it", unit="%",
            sim_because=WALKS, live_because=WALKS + "; " + IN_MEMORY, cpus=CROSSED))
    search = ("the search has no bound from the ring: it loses nothing as long as its sleep stays "
              "below 2 ms, and much beyond")
    claims += [
        Claim("loss, original", "a few hundred-thousandths", loss_worst("original"),
              low=FEW_1E5[0], high=FEW_1E5[1], tolerance="10 to 100", unit="ppm",
              no_sim=NO_LOSS, live_because=IN_MEMORY, cpus=CROSSED),
        Claim("loss, kalman", "a few ten-thousandths", loss_worst("kalman"), low=FEW_1E4[0],
              high=FEW_1E4[1], tolerance="100 to 1000", unit="ppm", sim_because=search,
              live_because=IN_MEMORY, cpus=CROSSED),
        Claim("loss, kalman, against that of a gigabit card", "within 5e-4",
              loss_worst("kalman"), high=500.0, tolerance="at most 500", unit="ppm",
              sim_because=search, live_because=IN_MEMORY, cpus=CROSSED)]
    claims += [*_own_claims("objective"), *_own_claims("kalman-guarded")]
    return Figure("Fig. 20-22", "The whole: original, kalman and ours on both sides",
                  "packet size, bytes", series, tuple(claims), panels=(
                      "send.cpu_pct", "receive.cpu_pct", "send.empty_pct", "receive.empty_pct",
                      "receive.speed_bps", "loss_ppm"))


def figures() -> list[Figure]:
    """Everything, in the order of the paper; Fig. 6 is made by itself."""
    return [_idle(), *_with_data(), *_sender_losses(), _usleep_zero(), _sender("Fig. 8", 256, 60),
            _sender("Fig. 9", 512, 150), _receiver("Fig. 10", 256, 100, 300),
            _receiver("Fig. 11", 512, 200, 500), _loops(), *_estimates(), _search(),
            _evaluation()]
