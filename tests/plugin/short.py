# SPDX-License-Identifier: BSD-3-Clause
"""A driver whose short bursts leave packets: whom the plugin asks how many, and what it says of
those that stayed behind. 255 of 256 packets do, so their wait is the one that is reported."""

from __future__ import annotations

import re

from stand import FORWARDER_CPU, Files, Host, main
from verdict import check
from world import World

REST_US = 200
ENV = {"LULL": "on", "LULL_GOVERNOR": "fixed", "LULL_REST": f"{REST_US}us",
       "LULL_MAX_REST": f"{REST_US}us"}


def play(here: World, files: Files, driver: str, count: str) -> tuple[int, float]:
    """How often the driver was asked, and the wait added at most, in us."""
    argv = f"{files.short} -d {files.plugin} --lcores 0@{FORWARDER_CPU} --no-huge --no-pci -m 64"
    argv += f" --vdev net_ring0 --file-prefix PREFIX -- {driver} {count}"
    said = Host(here, "short", argv.split(), env=ENV).finish()
    taken, asked = map(int, re.findall(r"taken (\d+) asked (\d+)", said)[0])
    rests = int(re.findall(r"in (\d+) rests", said)[0])
    check(taken > 10_000 and rests > 1_000, f"{driver}: it received and rested", said)
    return asked, float(re.findall(r"wait added at most p99 ([0-9.]+) us", said)[0])


def one_that_counts(here: World, files: Files) -> str:
    asked, wait_us = play(here, files, "net_ice", "counts")
    check(asked > 0, "it is asked", asked)
    check(wait_us >= REST_US, "those that it left waited for the rest", wait_us)
    return f"asked {asked} times, p99 {wait_us} us"


def one_whose_count_lies(here: World, files: Files) -> str:
    """It is not asked; who asked would take those that are left for newcomers."""
    asked, wait_us = play(here, files, "net_bnxt", "lies")
    check(asked == 0, "it is not asked", asked)
    check(wait_us >= REST_US, "those that it left waited for the rest", wait_us)
    believed, fooled_us = play(here, files, "net_ice", "lies")
    check(believed > 100 and fooled_us < REST_US, "this is what asking does", (believed, fooled_us))
    return f"p99 {wait_us} us, {fooled_us} us had it been asked"


def one_that_cannot_count(here: World, files: Files) -> str:
    asked, wait_us = play(here, files, "net_ice", "lacks")
    check(asked == 0 and wait_us >= REST_US, "not asked, and bounded", (asked, wait_us))
    return f"p99 {wait_us} us"


def one_that_leaves_nothing(here: World, files: Files) -> None:
    asked, _ = play(here, files, "net_igc", "counts")
    check(asked == 0, "it is not asked", asked)


if __name__ == "__main__":
    main([one_that_counts, one_whose_count_lies, one_that_cannot_count, one_that_leaves_nothing])
