# SPDX-License-Identifier: BSD-3-Clause
"""Quantities: numbers as people like to read them."""

SPARK_LEVELS = "▁▂▃▄▅▆▇█"


def si(value: float) -> str:
    """A count or rate with three digits: 0, 100, 49.9k, 1.23M."""
    for limit, factor, suffix in ((1e3, 1.0, ""), (1e6, 1e3, "k"), (1e9, 1e6, "M")):
        if abs(value) < limit * 0.9995:
            return digits(value / factor) + suffix
    return digits(value / 1e9) + "G"


def digits(value: float) -> str:
    """Three digits that count, no exponent: 0.12, 4.56, 12.3, 456."""
    size = abs(value)
    if size == 0:
        return "0"
    places = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def micros(us: float) -> str:
    """A time given in us, in the unit that suits it."""
    if us >= 999_500:
        return f"{digits(us / 1e6)} s"
    if us >= 1_999.5:
        return f"{digits(us / 1e3)} ms"
    return f"{digits(us)} µs"


def percent(value: float) -> str:
    """A share of one CPU."""
    return f"{value:.1f} %" if value < 99.95 else "100 %"


def clock(seconds: float) -> str:
    """Minutes and seconds."""
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"


def spark(values: list[float], top: float, width: int) -> str:
    """The last values as a bar of characters; top is the height of a full block."""
    last = values[-width:]
    steps = len(SPARK_LEVELS) - 1
    return "".join(SPARK_LEVELS[max(0, min(steps, round(value / top * steps)))] for value in last)


TIMES_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10, "min": 6e10, "h": 3.6e12}
FACTORS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}


def parse_ns(text: str) -> float:
    """A time as options take it, 100us or 1.5ms; a bare number is in us. ValueError if not."""
    number = text.strip().rstrip("numsih")
    unit = text.strip()[len(number):]
    if unit and unit not in TIMES_NS:
        raise ValueError(text)
    return float(number) * TIMES_NS[unit or "us"]


def parse_rate(text: str) -> float:
    """A rate as options take it: 300k, 1.5M, 10G. ValueError if not."""
    number = text.strip().rstrip("kMG")
    return float(number) * FACTORS[text.strip()[len(number):]]


def time_word(ns: float) -> str:
    """A time as options take it, exact to the ns."""
    whole = round(ns)
    for unit in ("s", "ms", "us"):
        if whole and whole % TIMES_NS[unit] == 0:
            return f"{whole // int(TIMES_NS[unit])}{unit}"
    return f"{whole}ns"


def rate_word(rate: float) -> str:
    """A rate as options take it, exact to one."""
    whole = round(rate)
    for unit in ("G", "M", "k"):
        if whole and whole % FACTORS[unit] == 0:
            return f"{whole // int(FACTORS[unit])}{unit}"
    return str(whole)
