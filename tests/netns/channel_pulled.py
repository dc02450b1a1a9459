# SPDX-License-Identifier: BSD-3-Clause
"""The README's copy: a file over four rails, one of which is pulled and put back meanwhile.

channel_pulled.py BUILD: runs bench/channel/pulled.py as a reader would, with a small file; with
LULL_LONG 1 GiB over each kind of rail. Judged by the bytes of the file and the counters of the
wire; a share is asked for with much room, as other programs have CPUs too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rights import take
from verdict import Failure, check

TREE = Path(__file__).resolve().parents[2]
LONG = bool(os.environ.get("LULL_LONG"))
TRIES = 3
TIMEOUT_S = 400
SHARE_PCT = 50 if LONG else 20  # of the sum of what is up, in the best of the tries
SETTLE_S = 0.5


def copied(build: str, out: Path, kind: str) -> dict[str, Any]:
    """One run of the command; its result."""
    words = [sys.executable, str(TREE / "bench/channel/pulled.py"), "--build", build, "--kind",
             kind, "--out", str(out), "--bytes", str((1024 if LONG else 96) << 20)]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    check(done.returncode == 0, "the command ends well", done.stderr)
    found: dict[str, Any] = json.loads((out / "pulled.json").read_text())
    check("SHA-256 equal" in (out / "pulled.md").read_text(), "it says so")
    return found


def whole(result: dict[str, Any]) -> None:
    """The file is the same, its steps add up, and no wire carried more than it can."""
    check(result["equal"] and len(result["sha256"]) == 64, "checksum", result["sha256"])
    moved = sum(result["steps"])
    check(abs(moved - result["bytes"]) <= 1 << 16, "the rate adds up", (moved, result["bytes"]))
    begin, end = result["wire"][0], result["wire"][-1]
    carried = sum(end) - sum(begin)
    check(carried > result["bytes"], "it came over the rails", carried)
    check(result["share_pct"] < result["ceiling_pct"] + 4, "no more than there is", result)


def window(result: dict[str, Any], begin_s: float, end_s: float) -> list[int]:
    """Bytes that each rail brought between two times."""
    inner = [row for at_s, row in zip(result["wire_s"], result["wire"], strict=True)
             if begin_s <= at_s <= end_s]  # fmt: skip
    check(len(inner) >= 2, "the window is long enough", (begin_s, end_s))
    return [last - first for first, last in zip(inner[0], inner[-1], strict=True)]


def went_on(result: dict[str, Any]) -> None:
    """A pulled rail brings nothing, the others go on, and it brings its part when it is back."""
    pulled = result["pulled_rail"]
    silent = window(result, result["pulled_s"] + 0.05, result["back_s"] - 0.05)
    check(silent[pulled] == 0, "nothing comes over a pulled rail", silent)
    check(all(count > 0 for rail, count in enumerate(silent) if rail != pulled),
          "the others go on", silent)  # fmt: skip
    after = window(result, result["back_s"], result["wire_s"][-1])
    check(after[pulled] > 1 << 20, "it is used again", after)


def verdict(build: str, kind: str) -> str:
    """What is wrong each time is ours; a host that stood still is not."""
    failed: list[str] = []
    for _ in range(TRIES):
        with TemporaryDirectory(prefix="lull-netns-") as folder:
            try:
                result = copied(build, Path(folder), kind)
                whole(result)
                went_on(result)
                share = result["share_pct"]
                check(share > SHARE_PCT, f"more than {SHARE_PCT} % of what is up", share)
                return f"ok, {share:.1f} %"
            except Failure as failure:
                failed.append(str(failure)[:600])
    return f"FAILED {TRIES} times: {'; '.join(failed)}"


def main() -> None:
    take("namespaces")
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda number, _frame: sys.exit(128 + number))
    failed = 0
    for kind in ("kernel", "dpdk") if LONG else ("kernel",):
        seen = verdict(str(Path(sys.argv[1]).resolve()), kind)
        print(f"{kind}: {seen}", flush=True)
        failed += not seen.startswith("ok")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
