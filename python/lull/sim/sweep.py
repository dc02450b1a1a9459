# SPDX-License-Identifier: BSD-3-Clause
"""Sweep: lists and ranges of settings, and every combination of them.

A list is A,B,C; a range is LOW-HIGH:COUNT, evenly spaced for a share and by
equal factors for a time or a rate.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lull.errors import LullError
from lull.quantities import digits, parse_ns, parse_rate, rate_word, time_word

COUNT_MAX = 1000


@dataclass(frozen=True)
class Kind:
    """How one swept setting is read and written."""

    parse: Callable[[str], float]
    write: Callable[[float], str]
    even: bool = False
    example: str = ""


def _share(text: str) -> float:
    value = float(text.strip().removesuffix("%"))
    if not 0 <= value <= 100:
        raise ValueError(text)
    return value


LINK = Kind(parse_rate, rate_word, example="10G, 1G,10G or 1G-100G:5")
OBJECTIVE = Kind(parse_ns, time_word, example="100us, 50us,200us or 50us-1ms:8")
LOAD = Kind(_share, digits, even=True, example="50, 0,10,90 or 10-90:9 (percent)")


def values(option: str, text: str, kind: Kind) -> list[str]:
    """The words of a list or range, each as lull-sim takes it."""
    found: list[str] = []
    for part in text.split(","):
        try:
            found += _part(part.strip(), kind)
        except (ValueError, KeyError, ZeroDivisionError, OverflowError):
            raise LullError(f"{option}: {part.strip() or 'nothing'}: "
                            f"expected {kind.example}", 2) from None
    return list(dict.fromkeys(found))


def _part(text: str, kind: Kind) -> list[str]:
    ends, colon, count_text = text.partition(":")
    if not colon:
        return [kind.write(kind.parse(text))]
    low_text, dash, high_text = ends.partition("-")
    low, high, count = kind.parse(low_text), kind.parse(high_text), int(count_text)
    if not dash or not 2 <= count <= COUNT_MAX or low >= high or (low <= 0 and not kind.even):
        raise ValueError(text)
    steps = [step / (count - 1) for step in range(count)]
    if kind.even:
        return [kind.write(low + (high - low) * step) for step in steps]
    return [kind.write(float(f"{low * (high / low) ** step:.3g}")) for step in steps]


def product(axes: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Every combination, the last axis turning fastest."""
    return [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values())]
