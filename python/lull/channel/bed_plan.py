# SPDX-License-Identifier: BSD-3-Clause
"""Bed plan: what a test bed is to be like, from the words that users type."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from lull.errors import LullError
from lull.quantities import parse_ns, parse_rate, rate_word, time_word

NODES_MAX = 5
RAILS_MAX = 16
NODE_NAMES = "abcde"
MTU_MIN, MTU_MAX = 576, 65521  # veth takes no more
RATE_MIN, RATE_MAX = 1e4, 1e11  # bit/s
ID = re.compile(r"[a-z0-9]{1,16}")
USAGE = 2


@dataclass(frozen=True)
class Port:
    """What the switch does to packets that leave it towards one node, on one rail."""

    rate_bps: float | None = None  # None: as fast as the kernel is
    loss: float = 0.0  # share of the packets, 0..1
    silent: bool = False  # everything is lost, and the link stays up
    largest_bytes: int | None = None  # longer IP packets are lost, whatever the MTU says
    delay_ns: float = 0.0
    jitter_ns: float = 0.0
    reorder: float = 0.0  # share of the packets that overtake those that are delayed
    duplicate: float = 0.0

    def needs_netem(self) -> bool:
        """Whether the kernel must have it."""
        return bool(self.delay_ns or self.jitter_ns or self.reorder or self.duplicate)

    def words(self) -> str:
        """In the words that set it, without what is as usual; silent is not among them."""
        found = ["rate=" + ("full" if self.rate_bps is None else rate_word(self.rate_bps))]
        found += [f"{key}={100 * share:g}%" for key, share in (
            ("loss", self.loss), ("reorder", self.reorder), ("duplicate", self.duplicate)) if share]
        found += [f"{key}={time_word(ns)}"
                  for key, ns in (("delay", self.delay_ns), ("jitter", self.jitter_ns)) if ns]
        if self.largest_bytes is not None:
            found.append(f"largest={self.largest_bytes}")
        return " ".join(found + ["silent"] * self.silent)


@dataclass(frozen=True)
class Rail:
    """One rail: a wire from each of its nodes to the switch."""

    port: Port = Port()
    mtu: int = 1500
    nodes: str = NODE_NAMES  # which have it


@dataclass(frozen=True)
class Plan:
    """A whole bed."""

    id: str = "0"
    nodes: int = 2
    rails: tuple[Rail, ...] = field(default=(Rail(), Rail()))
    control: bool = False  # one more network, which is not shaped
    joined: bool = False  # all rails at one switch: each reaches each
    offloads: bool = False  # segments of 64 KiB are packets for the switch then

    def names(self) -> str:
        """Names of the nodes, a letter each."""
        return NODE_NAMES[:self.nodes]

    def of(self, node: str) -> list[int]:
        """Numbers of the rails that a node has."""
        return [number for number, rail in enumerate(self.rails) if node in rail.nodes]


def check_id(text: str) -> str:
    """The name of a bed, which is part of the names of its namespaces."""
    if not ID.fullmatch(text):
        raise LullError(f"--id: '{text}' is not 1 to 16 small letters and digits", USAGE)
    return text


def rails(text: str) -> tuple[Rail, ...]:
    """Read --rails: RATE[:KEY=VALUE]..., parted by commas; a rate alone is the usual."""
    words = [word.strip() for word in text.split(",")]
    if len(words) > RAILS_MAX:
        raise LullError(f"--rails: {len(words)} rails, at most {RAILS_MAX}", USAGE)
    return tuple(_rail(word) for word in words)


def changed(rail: Rail, words: list[str]) -> Rail:
    """The rail after words such as rate=50M, loss=1%, silent."""
    for word in words:
        key, equals, value = word.partition("=")
        if key == "mtu" and equals:
            rail = replace(rail, mtu=_mtu(word, value))
        else:
            rail = replace(rail, port=changed_port(rail.port, word))
    return rail


def changed_port(port: Port, word: str) -> Port:
    """The port after one word."""
    key, equals, value = word.partition("=")
    if not equals and key in ("silent", "heard"):
        return replace(port, silent=key == "silent")
    if not equals or key not in READERS:
        raise LullError(f"'{word}': write rate=RATE, loss=PERCENT, silent, heard, mtu=BYTES, "
                        "largest=BYTES, delay=TIME, jitter=TIME, reorder=PERCENT or "
                        "duplicate=PERCENT", USAGE)
    member, read = READERS[key]
    return replace(port, **{member: read(word, value)})


def _rail(text: str) -> Rail:
    first, *words = text.split(":")
    rail = Rail(Port(rate_bps=_rate(text, first.removeprefix("rate="))))
    plain = [word for word in words if not word.startswith("nodes=")]
    for word in set(words) - set(plain):
        nodes = word.partition("=")[2]
        if not nodes or set(nodes) - set(NODE_NAMES):
            raise LullError(f"'{word}': write the letters of the nodes, such as nodes=ab", USAGE)
        rail = replace(rail, nodes="".join(sorted(set(nodes))))
    return changed(rail, plain)


# ---- values ----


def _rate(word: str, value: str) -> float | None:
    if value == "full":
        return None
    try:
        rate = parse_rate(value)
    except (ValueError, KeyError):
        rate = 0
    if not RATE_MIN <= rate <= RATE_MAX:
        raise LullError(f"'{word}': a rate is 10k to 100G bit/s, such as 200M, or full", USAGE)
    return rate


def _share(word: str, value: str) -> float:
    try:
        share = float(value.removesuffix("%")) / 100
    except ValueError:
        share = -1
    if not 0 <= share <= 1:
        raise LullError(f"'{word}': a share is 0 to 100 %, such as 0.1%", USAGE)
    return share


def _time(word: str, value: str) -> float:
    try:
        ns = parse_ns(value)
    except ValueError:
        ns = -1
    if not 0 <= ns <= 10e9:
        raise LullError(f"'{word}': a time is 0 to 10 s, such as 500us or 1ms", USAGE)
    return ns


def _bytes(word: str, value: str) -> int | None:
    return None if value == "any" else _mtu(word, value)


def mtu_of(word: str) -> int:
    """Bytes of a word mtu=BYTES."""
    return _mtu(word, word.partition("=")[2])


def _mtu(word: str, value: str) -> int:
    if not value.isdecimal() or not MTU_MIN <= int(value) <= MTU_MAX:
        raise LullError(f"'{word}': give {MTU_MIN} to {MTU_MAX} bytes", USAGE)
    return int(value)


READERS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "rate": ("rate_bps", _rate),
    "loss": ("loss", _share),
    "largest": ("largest_bytes", _bytes),
    "delay": ("delay_ns", _time),
    "jitter": ("jitter_ns", _time),
    "reorder": ("reorder", _share),
    "duplicate": ("duplicate", _share),
}
