# SPDX-License-Identifier: BSD-3-Clause
"""The figures of README.md and docs/measurements.md beside the results that commands left.

Three kinds of sources, none of them typed:
  docs/results/NAME.json           what a command wrote (bench/keep), with commit and machine
  sections of pages                what commands wrote between <!-- NAME: begin --> and end;
                                   docs/results/sections.json has their sums (bench/section)
  tables of docs/measurements.md   for sentences that tell of them elsewhere
A sentence of README.md is built from its source and has to stand there, word by word. Other
figures of README.md that have a unit have to be in NOT_CHECKED.
"""

from __future__ import annotations

import hashlib
import json
import re
import statistics
import subprocess
import sys
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[2]
RESULTS = TREE / "docs" / "results"
SECTION = re.compile(r"<!-- ([\w-]+): begin -->\n(.*?)<!-- \1: end -->", re.DOTALL)
# Figures with a unit; p99 and names of options are none.
FIGURE = re.compile(r"(?<![\w.:-])\d[\d., ]*\s?(?:%|[uµnm]s\b|s\b|MB|GB|kpps|times|of \d[\d ,]*\b)")

# No file has these: what they are, and the words they stand in.
NOT_CHECKED = {
    "a program that polls": ["DPDK without the 100 % CPU"],
    "an example of a rest that is too long": [
        "a rest below 200 us may keep the *virtual* CPU busy",
    ],
    "arithmetic: 1024 frames of 84 bytes": [
        "that ring fills in 67 us",
        "At 100 Gb/s a ring of 1024 fills in 6.9 us.",
    ],
    "an objective that somebody chose": [
        "objective 100 us ([how]",
        '"p99 at most 200 us"',
    ],
    "a period of the traffic in an example": ["--traffic tidal:0-1M,30s"],
    "from runs that left no file": [
        "The best fixed sleep of each cell, which is known only afterwards, uses 27.7 %.",
    ],
}

Tables = dict[str, dict[str, dict[str, str]]]
failures: list[str] = []


def fail(text: str) -> None:
    failures.append(text)


def flat(text: str) -> str:
    """On one line, without marks of emphasis."""
    return re.sub(r"\s+", " ", text.replace("**", ""))


def kept(name: str) -> Any:
    """The result that a command left, None: it left none."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return None
    file = json.loads(path.read_text(encoding="utf-8"))
    for member in ("command", "machine", "date"):
        if not file.get(member):
            fail(f"{path.name}: no {member}: write it with bench/keep")
    if not re.fullmatch(r"[0-9a-f]{7,40}\+?", file.get("commit", "")):
        fail(f"{path.name}: {file.get('commit')!r} is no commit")
    return file["result"]


# ---- generated sections ----


def sections(page: str) -> dict[str, str]:
    text = (TREE / page).read_text(encoding="utf-8")
    return {name: body.strip() for name, body in SECTION.findall(text)}


def check_sums() -> None:
    sums = json.loads((RESULTS / "sections.json").read_text(encoding="utf-8"))
    seen = set()
    for page in ("README.md", "docs/measurements.md", "docs/dispatch.md"):
        for name, body in sections(page).items():
            seen.add(f"{page} {name}")
            if sums.get(f"{page} {name}") != hashlib.sha256(body.encode()).hexdigest():
                fail(f"{page}, {name}: not what a command wrote there: let it write the section "
                     "(bench/section), or take the change back")  # fmt: skip
    for name in sorted(set(sums) - seen):
        fail(f"sections.json tells of {name}, which is nowhere")


def check_demo() -> None:
    """The demo's parts as its result has them."""
    demo = kept("demo")
    if demo is None:
        return
    for part in ("shared", "traffic"):
        done = subprocess.run(
            [sys.executable, "-m", "lull", "report", "-", "--markdown", part],
            input=json.dumps(demo), capture_output=True, text=True, check=False,
            cwd=TREE / "python")  # fmt: skip
        if done.returncode != 0:
            fail(f"lull report: {done.stderr.strip()}")
        elif sections("README.md")[f"demo-{part}"] != done.stdout.strip():
            fail(f"README.md, demo-{part}: not what docs/results/demo.json tells: "
                 "devtools/demo-docs")  # fmt: skip


def check_carried() -> None:
    """The table of docs/dispatch.md: medians of what each seed carried."""
    result = kept("dispatch")
    rows = tables(sections("docs/dispatch.md")["carried"])[""] if result else {}
    for key, found in (result or {"carried": {}})["carried"].items():
        traffic, scheduler = key.rsplit(", ", 1)
        told = rows.get(scheduler, {}).get(traffic, "nothing").strip("*")
        if told != f"{statistics.median(found['no loss']):.2f}":
            fail(f"docs/dispatch.md, {key}: tells {told}, dispatch.json {found['no loss']}")


# ---- tables of docs/measurements.md ----


def tables(text: str) -> Tables:
    """By heading, first cell of the row and head of the column; the first of equal heads."""
    found: Tables = {}
    heading, head = "", list[str]()
    for line in text.splitlines():
        if line.startswith(("#", "| **")):
            heading, head = re.sub(r"[#|*]", "", line).strip(), head if "|" in line else []
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not head:
                head = cells
            elif set(line) - set("|-: "):
                row = found.setdefault(heading, {}).setdefault(cells[0], {})
                for name, cell in zip(head, cells, strict=False):
                    row.setdefault(name, cell)
        else:
            head = []
    return found


def short(text: str) -> str:
    """As the tables of README.md have it: whole from 10 on, else one digit behind the point."""
    value = float(text.split()[0])
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def percent(text: str) -> str:
    return f"{float(text):.1f} %"


def plugin_rows(measurements: dict[str, str]) -> list[str]:
    seen = tables(measurements["plugin"])
    names = {
        "`dpdk-testpmd`": "testpmd-io",
        "`dpdk-testpmd` with the plugin": "testpmd-io+plugin",
        "OVS-DPDK 3.1": "ovs-0",
        "OVS-DPDK, its own `pmd-maxsleep` of 100 us": "ovs-100",
        "OVS-DPDK with the plugin": "ovs-0+plugin",
    }
    idle, busy = seen["veth, 0 packets/s"], seen["veth, 10k packets/s"]
    return [
        f"| {words} | {percent(idle[peer]['CPU %'])} | {percent(busy[peer]['CPU %'])} | "
        f"{short(busy[peer]['p99 us'])} us |"
        for words, peer in names.items()
    ]


def idle_rows(measurements: dict[str, str]) -> list[str]:
    seen = tables(measurements["idle"])
    found = []
    for port, word in (("veth", "veth"), ("vhost", "vhost-user")):
        cpu = {n: short(row["CPU %"]) for n, row in seen[f"{port}, 0 packets/s"].items()}
        p99 = {
            n: short(row["p99 us"]) for n, row in seen[f"{port}, 1k packets/s"].items()
        }
        ours = "lull-objective"
        found.append(f"| {word}: CPU at 0 packets/s | {cpu['testpmd-io']} % | {cpu['ovs-100']} % / "
                     f"{cpu['ovs-500']} % | {cpu[ours]} %")  # fmt: skip
        found.append(f"| {word}: p99 at 1,000 packets/s | {p99['testpmd-io']} us | "
                     f"{p99['ovs-100']} / {p99['ovs-500']} us | {p99[ours]} us |")  # fmt: skip
    return found


def micros(value: float) -> str:
    return f"{short(str(value))} µs"


def camera_sentences(page: str, camera: Any) -> list[str]:
    """To the application, of the command's result; the minute is one of the page's sentences."""
    text = page.partition("\n## Cameras\n")[2].partition("\n## ")[0]
    minute = re.search(
        r"(\d+) MB/s,\s+(\d+) of (\d+) frames complete.*?\(`dpdk`.*?and (\S+) %", text, re.DOTALL
    )
    if minute is None:
        fail("docs/measurements.md, Cameras: the minute is not found")
        return []
    mbps, complete, frames, cpu = minute.groups()
    rows = {(row["receiver"], row["cameras"]): row for row in camera["rows"]}
    names = {
        "kernel": "a socket, the thread sleeps",
        "kernel-direct": "the same, direct",
        "kernel-busy-direct": "a socket, polled, direct",
        "dpdk": "DPDK",
        "dpdk-direct": "DPDK, direct",
    }
    table = [
        f"| {words} | "
        + " | ".join(micros(rows[name, cameras]["fetched"][figure])
                     for cameras in (1, 8) for figure in ("avg", "p50", "p99"))
        + " |"
        for name, words in names.items()
    ]  # fmt: skip
    arrived = [micros(rows["dpdk-direct", cameras]["arrived"]["p50"]) for cameras in (1, 8)]
    return [
        f"12 bit, 30 frames/s: {mbps} MB/s) were received on one core over veth for a minute: "
        f"{complete} of {frames} frames were complete, at {short(cpu)} % of the core",
        *table,
        f"from its arrival at the port, as an upper bound, a median of {arrived[0]} with one "
        f"camera and {arrived[1]} with eight",
    ]


def scoreboard_sentence(page: str) -> str:
    text = page.partition("\n## Scoreboard\n")[2].partition("\n## ")[0]
    guest = text.partition("--machine guest")[2]
    mean = tables(guest)[""]["objective"]["mean CPU %"]
    found = re.search(r"in (\d+) of (\d+) cells one of ramp", guest)
    kept_in = tables(guest)[""]["objective"]["objective kept in"]
    if found is None:
        fail("docs/measurements.md, Scoreboard: rivals not found")
        return ""
    return (f"In all {kept_in} cells (`--machine guest`) `objective` keeps p99 and loses nothing, "
            "even when a burst as large as the ring is added. It uses "
            f"{mean} % CPU on average.")  # fmt: skip


# ---- results of commands ----


def flow_sentences(page: str, flow: Any) -> list[str]:
    """Of the table; its figures are those of the file, if the command left one."""
    rows = tables(page)["Flow records of a capture"]
    if flow is not None:
        for row in flow["rows"]:
            told, median = rows.get(row["name"], {}), row["median"]
            seen = [told.get(name, "") for name in ("CPU s", "elapsed s", "MB")]
            left = [f"{median[name]:.{digits}f}"
                    for name, digits in zip(median, (3, 3, 1), strict=True)]  # fmt: skip
            if seen != left:
                fail(f"docs/measurements.md, {row['name']}: tells {seen}, flow.json {left}")

    def cost(name: str) -> str:
        cpu_s = Decimal(rows[name]["CPU s"])
        return f"{cpu_s.quantize(Decimal('0.01'), ROUND_HALF_UP)} s"

    def memory(name: str) -> str:
        return f"{float(rows[name]['MB']):.0f} MB"

    plain, named = "lull-flow", "lull-flow, names"
    if plain not in rows:
        plain, named = "lull-flow, without names", "lull-flow, with names"
    size = re.search(r"packets\s+of\s+40 k flows in (\d+) MB", page)
    return [
        f"A capture of a million packets ({size[1] if size else '?'} MB) takes `lull-flow` "
        f"{cost(plain)} of CPU and {memory(plain)}, with protocol names {cost(named)} and "
        f"{memory(named)}; softflowd {cost('softflowd')}, nfpcapd {cost('nfpcapd')}, ndpiReader "
        f"{cost('ndpiReader')} in the same run"
    ]


def verdict_sentences(verdict: Any) -> list[str]:
    """The remedies, as verdicts have them."""
    ring, rate, loss = verdict["runs"][0]["verdict"]["remedies"][:3]
    return [
        f'for 200 us it says "a ring of {ring["ring"]} allows rests of '
        f"{ring['rest_ns'] / 1e3:.1f} us: "
        f"{ring['cpu_pct']:.0f} % CPU; or {rate['text']}: {rate['cpu_pct']:.0f} %; or "
        f'{loss["text"]}: {loss["cpu_pct"]:.0f} %".'
    ]


# ---- README.md ----


def expected() -> list[str]:
    page = (TREE / "docs/measurements.md").read_text(encoding="utf-8")
    measured = sections("docs/measurements.md")
    found = [*plugin_rows(measured), *idle_rows(measured), scoreboard_sentence(page)]
    camera = kept("camera")
    found += camera_sentences(page, camera) if camera else []
    verdict = kept("verdict")
    found += flow_sentences(page, kept("flow"))
    found += verdict_sentences(verdict) if verdict else []
    return found


def check_readme() -> None:
    readme = (TREE / "README.md").read_text(encoding="utf-8")
    text = flat(SECTION.sub("", re.sub(r"```.*?```", "", readme, flags=re.DOTALL)))
    for sentence in expected():
        if flat(sentence) not in text:
            fail(f"README.md: does not tell: {flat(sentence)}")
        text = text.replace(flat(sentence), "")
    for why, words in NOT_CHECKED.items():
        for word in words:
            if flat(word) not in text:
                fail(f"NOT_CHECKED: README.md does not say {word!r} any more")
            text = text.replace(flat(word), "")
            print(f"not checked: {word} ({why})")
    for figure in FIGURE.finditer(text):
        around = text[max(0, figure.start() - 50) : figure.end() + 30]
        fail(f"README.md: {figure[0]} is in no file, nor in NOT_CHECKED: ...{around}...")


def main() -> int:
    check_sums()
    check_demo()
    check_carried()
    check_readme()
    for path in sorted(RESULTS.glob("*.json")):
        if path.name != "sections.json":
            kept(path.stem)
    for failure in dict.fromkeys(failures):
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
