# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for lull-channel-sim: says what the real one said when it was recorded.

Record anew, when lull.reproduce.channel_run asks for other runs:
PYTHONPATH=python .venv/bin/python tests/tools/fake_channel_programs.py record PROGRAM
"""

import json
import os
import sys
from pathlib import Path

RECORDED = Path(__file__).resolve().parent / "recorded_channel_sim.json"
MEMBERS = ("goodput_per_s", "messages_failed", "traffic", "nodes")


def record(program: Path) -> None:
    """Ask the real one for every run of --quick."""
    from lull.reproduce import channel, channel_run
    from lull.sim.simulation import Pool

    jobs = channel_run.plan(channel.figures(), channel_run.QUICK)
    worlds = {}
    with Pool(program) as pool:
        for index, text in pool.run([job.words for job in jobs]):
            world = json.loads(text)["world"]
            worlds[" ".join(jobs[index].words)] = {name: world[name] for name in MEMBERS}
    RECORDED.write_text(json.dumps(dict(sorted(worlds.items())), indent=1) + "\n",
                        encoding="utf-8")


def answer(words: list[str]) -> int:
    """Answer as it did; LULL_FAKE is what goes wrong."""
    with open(os.environ["LULL_FAKE_LOG"], "a", encoding="utf-8") as file:  # noqa: PTH123
        file.write(" ".join(words) + "\n")
    fault = os.environ.get("LULL_FAKE", "")
    world = json.loads(RECORDED.read_text(encoding="utf-8")).get(" ".join(words))
    if world is None:
        print(f"not recorded: {' '.join(words)}", file=sys.stderr)
        return 1
    if fault == "fail":
        world["messages_failed"] = 3
    print(json.dumps({"world": world} if fault != "babble" else {}))
    return 0


if sys.argv[1:2] == ["record"]:
    record(Path(sys.argv[2]))
else:
    sys.exit(answer(sys.argv[1:]))
