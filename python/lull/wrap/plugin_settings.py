# SPDX-License-Identifier: BSD-3-Clause
"""Plugin settings: what the user asks of the plugin, checked and put into its environment.

EAL hands a plugin no arguments, and one that finds its settings wrong can only
stay idle; so they are looked at here, before the program starts. The plugin
checks them again: it is the authority, this is the early word.
"""

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path

from lull.demo.settings import GOVERNOR_SUMMARY
from lull.errors import LullError

MODES = ("on", "shadow", "passive")
GOVERNORS = tuple(GOVERNOR_SUMMARY)
LOSSES = ("zero", "tolerate")
ENVELOPES = ("auto", "link", "learned")
TIME_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
COUNT = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
PPS_MAX = 10**12
PERCENTILES = (Decimal(50), Decimal("99.9999"))
POLICIES = ("auto", "other", "fifo", "deadline")
UNSEEN = ("stay", "rest")
LAYOUTS = ("linked", "array", "segments")
TOLERANCES = (Decimal("0.0001"), Decimal(50))
ROW_BYTES_MAX = 1437
REPORT_BYTES_MAX = 255
NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([A-Za-z]*)", re.ASCII)


def check_time(key: str, text: str, low_ns: int, high_ns: int = 10**9, unit: str = "us") -> str:
    """A time, usually up to a second; a bare number is in microseconds."""
    found = NUMBER.fullmatch(text)
    factor = TIME_NS.get(found[2] or unit) if found else None
    if found is None or factor is None:
        raise _wrong(key, text, f"is not a time such as 100 ({unit}), 250us or 1.5ms")
    ns = Decimal(found[1]) * factor
    if not low_ns <= ns <= high_ns:
        low, high = (Decimal(bound) / TIME_NS[unit] for bound in (low_ns, high_ns))
        raise _wrong(key, text, f"is not in {low:f}..{high:f} ({unit})")
    if ns != int(ns):
        raise _wrong(key, text, "is no whole number of nanoseconds")
    return text


def check_number(key: str, text: str, bounds: tuple[Decimal, Decimal], like: str) -> str:
    """A number without unit."""
    found = NUMBER.fullmatch(text)
    if found is None or found[2]:
        raise _wrong(key, text, f"is not a number such as {like}")
    if not bounds[0] <= Decimal(found[1]) <= bounds[1]:
        raise _wrong(key, text, f"is not in {bounds[0]}..{bounds[1]}")
    return text


def check_bytes(key: str, text: str) -> str:
    """How many packet sizes share a row of the kalman governors' table."""
    if not text.isascii() or not text.isdecimal():
        raise _wrong(key, text, "is not a number of bytes such as 10")
    if not 1 <= int(text) <= ROW_BYTES_MAX:
        raise _wrong(key, text, f"is not in 1..{ROW_BYTES_MAX} (bytes)")
    return text


def check_rate(key: str, text: str) -> str:
    """A largest arrival rate, or where to take it from."""
    if text in ENVELOPES:
        return text
    found = NUMBER.fullmatch(text)
    factor = COUNT.get(found[2]) if found else None
    if found is not None and factor is not None:
        rate = Decimal(found[1]) * factor
        if 1 <= rate <= PPS_MAX and rate == int(rate):
            return text
    raise _wrong(key, text, f"is neither {', '.join(ENVELOPES)} nor packets/s in 1..1000G")


def check_report(key: str, text: str) -> str:
    """A file that can be written, "-" or "none"; absolute, as programs change their directory."""
    if text in ("-", "none"):
        return text
    path = Path(text).resolve()
    if len(os.fsencode(path)) > REPORT_BYTES_MAX:
        raise _wrong(key, text, f"is too long: {REPORT_BYTES_MAX} bytes at most")
    if not text or path.is_dir():
        raise _wrong(key, text, "is not a file: say FILE, - for standard error, or none")
    if not path.parent.is_dir():
        raise _wrong(key, text, f"cannot be written: there is no directory {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise _wrong(key, text, "cannot be written: permission denied")
    return str(path)


def check_config(key: str, text: str) -> str:
    """A file that can be read; the plugin says what it thinks of its lines."""
    path = Path(text).resolve()
    if not path.is_file():
        raise _wrong(key, text, "is no file" if path.exists() else "does not exist")
    if not os.access(path, os.R_OK):
        raise _wrong(key, text, "cannot be read: permission denied")
    return str(path)


CHECKS: Mapping[str, Callable[[str, str], str]] = {
    "max-latency": partial(check_time, low_ns=1000),
    "max-rest": partial(check_time, low_ns=1),
    "rest": partial(check_time, low_ns=1),
    "percentile": partial(check_number, bounds=PERCENTILES, like="99 or 99.9"),
    "pps-max": check_rate,
    "kalman-step": partial(check_time, low_ns=1, high_ns=10**7),
    "kalman-tolerance": partial(check_number, bounds=TOLERANCES, like="1 or 0.5"),
    "kalman-row": check_bytes,
    "kalman-window": partial(check_time, low_ns=1000, unit="ms"),
    "report": check_report,
    "config": check_config,
}


def check(key: str, text: str) -> str:
    """The value as the plugin shall get it; a sentence when it makes no sense."""
    checker = CHECKS.get(key)
    return checker(key, text) if checker else text  # else one of a few names: the options know


def environment(asked: Mapping[str, str | None], before: Mapping[str, str]) -> dict[str, str]:
    """The environment of the program: `before`, with what the user asks of the plugin."""
    after = dict(before)
    for key, text in asked.items():
        if text is not None and key != "mode":
            after["LULL_" + key.upper().replace("-", "_")] = check(key, text)
    mode = asked.get("mode")
    if mode is not None:
        after["LULL"] = mode
    elif "LULL_CONFIG" in after:
        after.pop("LULL", None)  # the file decides, and an "off" of the shell's would not let it
    else:
        after["LULL"] = "on"
    return after


def shell_line(arguments: Sequence[str], before: Mapping[str, str],
               after: Mapping[str, str]) -> str:
    """The command with what differs in its environment, as one would type it."""
    unset = [word for key in sorted(before.keys() - after.keys()) for word in ("-u", key)]
    new = [f"{key}={value}" for key, value in sorted(after.items()) if before.get(key) != value]
    return shlex.join(["env", *unset, *new, *arguments] if unset or new else arguments)


def _wrong(key: str, text: str, why: str) -> LullError:
    return LullError(f"{key}: {text or 'nothing'} {why}", 2)
