# SPDX-License-Identifier: BSD-3-Clause
"""Palette: one colour per governor, the same on the terminal and in the report.

Light and dark variants keep their order of lightness for readers who do not
see all colours; the report also tells governors apart by marker.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ink:
    """How one governor looks."""

    light: str     # on paper white
    dark: str      # on near black
    terminal: str  # name that rich knows
    marker: str    # of matplotlib


INKS = {
    "spin": Ink("#7a8290", "#8d96a5", "bright_black", "s"),
    "ramp": Ink("#d9822b", "#eb9a45", "yellow", "^"),
    "objective": Ink("#0b7a8c", "#35b5c9", "cyan", "o"),
    "fixed": Ink("#8b5fbf", "#ab86d9", "magenta", "D"),
    "halve": Ink("#b5475f", "#dd7289", "red", "v"),
    "drain": Ink("#4f7d33", "#7fb35e", "green", "P"),
    "metronome": Ink("#3b63c4", "#7a9bef", "blue", "X"),
    "yield": Ink("#a98b00", "#cfb53b", "bright_yellow", "d"),
    "kalman": Ink("#8c6d46", "#c4a276", "bright_magenta", "p"),
    "kalman-guarded": Ink("#5c4a8f", "#9d8bd1", "bright_blue", "h"),
    "phase": Ink("#a3357a", "#d97ab8", "bright_red", "H"),
}
# The program that shares the CPU of a loop.
PROGRAM = Ink("#8fa0c8", "#6f82b3", "bright_blue", "")
OTHER = Ink("#555555", "#aaaaaa", "white", "*")


def ink(governor: str) -> Ink:
    """Colours of a governor; a plain one for those not known here."""
    return INKS.get(governor, OTHER)
