# SPDX-License-Identifier: BSD-3-Clause
"""lull reproduce channel on the real simulator, short: what its page says of published and ours."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "netns"))

from lull.reproduce import channel, channel_run, reproduction
from lull.sim.simulation import Pool
from verdict import check

SHORT = channel_run.ChannelBench(
    rounds=1, settle="100ms", duration="20ms", steps="200ms", sizes=(512,), rests_us=(250, 2000),
)  # fmt: skip
MATCH = {
    channel.ALL_THE_TIME: (
        "eight ports are one link: speed over what they can carry, original",
        "most CPU of a sender, kalman", "most CPU of a receiver, kalman",
        "empty polling rate of a sender falls, kalman",
    ),
    channel.LOSSES: ("loss, phase",),
    channel.STEPS: (
        "most CPU of either side, kalman", "most CPU of either side, phase", "loss, phase",
        "speed, phase against polling, at the worst of all sizes",
        "sent again, phase, beyond polling",
    ),
    channel.RINGS: (
        "loss with the longest rests, no rail credit", "loss with rail credit, any rest",
        "loss with rests of a quarter of a ring, no rail credit",
    ),
}  # fmt: skip


def main() -> int:
    """Run it; each statement above is reproduced."""
    figures = [figure for figure in channel.figures() if figure.name in MATCH]
    with Pool(Path(sys.argv[1])) as pool:
        jobs = channel_run.plan(figures, SHORT)
        curves = channel_run.simulate(pool, jobs, lambda: None)
    wanted = {channel.ALL_THE_TIME: {512}, channel.STEPS: {512}}
    for name, sizes in wanted.items():
        for line, points in curves[name].items():
            check({x for x, _ in points} == sizes, f"{name}: {line} is whole", points)
    for figure in figures:
        claims = [
            claim for claim in figure.claims
            if not claim.text.startswith("speed at 768")
        ]  # fmt: skip
        rows = {
            claim.text: reproduction.row(
                figure.name, claim, [curves[figure.name]], None, 1
            )
            for claim in claims
        }
        for text in MATCH[figure.name]:
            found = rows[text].simulated
            check(found.verdict == reproduction.REPRODUCED, f"{figure.name}: {text}", found)
            print(f"{figure.name}: {text}: {found.value:.6g} {rows[text].unit}")
    lossless = [seen.loss_ppm for _, seen in curves[channel.STEPS][channel.OURS]]
    check(lossless == [0], "ours loses nothing", lossless)
    return 0


if __name__ == "__main__":
    sys.exit(main())
