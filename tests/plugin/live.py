# SPDX-License-Identifier: BSD-3-Clause
"""Settings, live and at the start; shadow mode; everything that can be wrong."""

from __future__ import annotations

import os
import time
from pathlib import Path

from stand import LONG, SPIN_LEAST, Files, Telemetry, Testpmd, idle_most, main, rested, spins
from sysfs import CpuFiles, available
from verdict import Failure, check, wait_for
from worker import worker
from world import World

QUIET = ["net_null0,no-rx=1", "net_null1,no-rx=1"]
WORKER = worker()
FIXED = {"LULL_GOVERNOR": "fixed", "LULL_REST": "100us"}


def started(here: World, files: Files, **env: str) -> Testpmd:
    testpmd = Testpmd(here, QUIET, plugin=files.plugin, env=env)
    testpmd.command("start")
    return testpmd


def off_and_on(here: World, files: Files) -> None:
    """`mode` takes effect while the program runs; off is as if the plugin were not there."""
    testpmd = started(here, files, **FIXED)
    telemetry = testpmd.telemetry
    name = telemetry.loop(WORKER)["name"]
    for _ in range(2 if LONG else 1):
        wait_for("it rests", lambda: testpmd.share(WORKER) <= idle_most())
        telemetry.set("mode=off")
        spins(testpmd, WORKER)
        explained(telemetry, name, "off")
        rests = telemetry.ask(f"/lull/loop,{name}")["rests_sleep"]
        telemetry.set("mode=passive")
        spins(testpmd, WORKER)
        explained(telemetry, name, "passive")
        check(telemetry.ask(f"/lull/loop,{name}")["rests_sleep"] == rests, "no rest meanwhile")
        telemetry.set("mode=on")
    testpmd.quit()


def explained(telemetry: Telemetry, name: str, mode: str) -> None:
    """A thread that is not to rest is not called calibrating."""
    verdict = telemetry.ask(f"/lull/explain,{name}")
    check(verdict["text"].startswith(f"{mode}: "), "says why it does not rest", verdict)
    check(verdict["state"] == "none", "and promises nothing", verdict)
    seen = telemetry.ask(f"/lull/loop,{name}")["mode"]
    check(seen == mode, "each thread tells its mode", seen)


def real_time_class(here: World, files: Files) -> None:
    """Opt-in, only while the thread rests, and given back."""
    testpmd = started(here, files, **FIXED)
    telemetry = testpmd.telemetry
    name = telemetry.loop(WORKER)["name"]
    tid = testpmd.threads()[WORKER]

    def ordinary() -> bool:
        return os.sched_getscheduler(tid) & ~os.SCHED_RESET_ON_FORK == os.SCHED_OTHER

    wait_for("it rests", lambda: testpmd.share(WORKER) <= idle_most())
    loop = telemetry.ask(f"/lull/loop,{name}")
    check((loop["sched_policy"], loop["sched_class"]) == ("other", "other"), "opt-in", loop)
    check(ordinary() and loop["sched_changes"] == 0, "left as it is", loop)
    telemetry.set("sched-policy=fifo")
    wait_for("it has been told", lambda: policy(telemetry, name) == "fifo")
    if "LimitRTPRIO" in telemetry.ask(f"/lull/explain,{name}").get("sched_text", ""):
        print("# this user may have no real-time class")
        testpmd.quit()
        return
    wait_for("it has the class", lambda: not ordinary())
    check(telemetry.ask(f"/lull/loop,{name}")["sched_class"] == "fifo", "and says so")
    for mode in ("shadow", "passive", "off"):
        telemetry.set(f"mode={mode}")
        wait_for(f"given back in mode {mode}", ordinary)
        telemetry.set("mode=on")
        wait_for("lent again", lambda: not ordinary())
    # Who does not rest has it no longer.
    telemetry.set("governor=spin")
    wait_for("put out", ordinary)
    telemetry.set("governor=fixed")
    wait_for("back", lambda: not ordinary())
    telemetry.set("sched-policy=other")
    wait_for("given back", ordinary)
    testpmd.quit()


def c_states(here: World, files: Files) -> None:
    """Opt-in too, for the CPU of a thread that rests, and given back."""
    if not available():
        print("# this kernel has no cpuidle")
        return
    cpus = CpuFiles(here)
    try:
        testpmd = started(here, files)
        telemetry = testpmd.telemetry
        cpu = telemetry.loop(WORKER)["cpu"]
        check(cpus.held() == {}, "opt-in", cpus.held())
        telemetry.set("cpu-latency=auto")  # 100 us
        wait_for("it holds", lambda: cpus.held() == {cpu: "10"})
        telemetry.set("max-latency=20us")
        wait_for("less", lambda: cpus.held() == {cpu: "2"})
        for mode in ("shadow", "passive", "off"):
            telemetry.set(f"mode={mode}")
            wait_for(f"given back in mode {mode}", lambda: cpus.held() == {})
            telemetry.set("mode=on")
            wait_for("held again", lambda: cpus.held() == {cpu: "2"})
        testpmd.quit()
        check(cpus.held() == {}, "given back at exit", cpus.held())
    finally:
        cpus.close()


def policy(telemetry: Telemetry, name: str) -> str:
    text = telemetry.ask(f"/lull/loop,{name}")["sched_policy"]
    check(isinstance(text, str), "a name", text)
    return str(text)


def settings_and_marks(here: World, files: Files) -> None:
    testpmd = started(here, files)
    telemetry = testpmd.telemetry
    loop = telemetry.loop(WORKER)
    name = loop["name"]
    check((loop["max_latency_us"], loop["max_rest_us"]) == (100, 100), "defaults", loop)
    check(telemetry.ask("/lull/plugin")["mode"] == "on", "a plugin")
    telemetry.set(f"max-latency@{name}=70us")
    wait_for("told", lambda: telemetry.ask(f"/lull/loop,{name}")["max_latency_us"] == 70)
    check(telemetry.ask("/lull/settings")["max_latency"] == "100us", "the others keep theirs")
    telemetry.set("max-rest=300us")
    wait_for("told", lambda: telemetry.ask(f"/lull/loop,{name}")["max_rest_us"] == 300)
    check(telemetry.ask(f"/lull/loop,{name}")["max_latency_us"] == 70, "but for one setting")
    verdict = telemetry.ask(f"/lull/explain,{name}")
    check(verdict["idle_states"] == "none pause sleep" and bool(verdict["text"]), "verdict",
          verdict)
    bad = telemetry.ask("/lull/set,max-latency=0")
    check(bad == {"error": "max-latency: 0 is not in 1..1000000 (us)"}, "refused", bad)
    bad = telemetry.ask("/lull/set,mode@nobody=off")
    check("no loop 'nobody'" in bad["error"], "refused", bad)
    # Many more than a mailbox would hold, to threads of which one polls no more.
    for i in range(40):
        telemetry.set(f"max-latency={100 + i}us")
    wait_for("told", lambda: telemetry.ask(f"/lull/loop,{name}")["max_latency_us"] == 139)
    window = telemetry.ask("/lull/mark")["window"]
    wait_for("window", lambda: telemetry.ask(f"/lull/loop,{name}")["window"] == window)
    testpmd.quit()


def live_loops(here: World, files: Files) -> None:
    """A thread that polls no more is not listed, and comes back with its next poll."""
    testpmd = started(here, files, **FIXED)
    wait_for("the thread that set up is gone", lambda: [*testpmd.telemetry.loops()] == [WORKER])
    testpmd.command("stop")
    wait_for("nobody polls", lambda: not testpmd.telemetry.loops())
    testpmd.command("start")
    testpmd.telemetry.loop(WORKER)
    testpmd.quit()


def shadow(here: World, files: Files) -> str:
    """Predicts, and sleeps not once."""
    testpmd = started(here, files, LULL="shadow", LULL_LOSS="tolerate", **FIXED)
    telemetry = testpmd.telemetry
    spins(testpmd, WORKER)
    wait_for("it would have rested", lambda: telemetry.loop(WORKER)["rests_sleep"] > 1000)
    loop = telemetry.loop(WORKER)
    # A third on a quiet machine; the time in which others had the CPU counts as polling.
    check(loop["usage_ppm"] < 800_000, "and spared its CPU", loop["usage_ppm"])
    status = f"/proc/{testpmd.process.pid}/task/{testpmd.threads()[WORKER]}/status"

    def slept() -> int:
        with open(status, encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("voluntary"))

    before, began = slept(), time.monotonic()
    wait_for("a second", lambda: time.monotonic() - began > 1)
    check(slept() - before < 20, "it does not sleep", slept() - before)
    said = testpmd.quit()
    check("would have rested" in said and "mode shadow" in said, "says so", said[-900:])
    return f"usage would be {loop['usage_ppm'] / 10000:.0f} %"


def broken_settings(here: World, files: Files) -> None:
    """One sentence, and the program runs as without us."""
    config = here.path("plugin.yaml")
    config.write_text("max-latncy: 50us\n")
    for env, sentence in (
        ({"LULL_MAX_LATENCY": "0"}, "max-latency: 0 is not in 1..1000000 (us); doing nothing"),
        ({"LULL_GOVERNOR": "quick"}, "governor: "),
        ({"LULL": "perhaps"}, "mode: "),
        ({"LULL_CONFIG": "/nowhere/plugin.yaml"}, "/nowhere/plugin.yaml: "),
        ({"LULL_CONFIG": str(config)}, "max-latncy"),
        ({"LULL_MAX_LATENY": "50us"}, "LULL_MAX_LATENY: "),
    ):
        testpmd = started(here, files, **env)
        check("lull-watch" not in testpmd.threads(), "no thread of ours", env)
        said = testpmd.quit()
        lines = [line for line in said.splitlines() if line.startswith("lull: ")]
        check(len(lines) == 1, f"one sentence for {env}", lines)
        check(sentence in lines[0] and lines[0].endswith("doing nothing"), sentence, lines)


def file_and_report(here: World, files: Files) -> None:
    config, report = here.path("plugin.yaml"), here.path("report")
    config.write_text("governor: fixed\nrest: 70us\nmode: passive\n")
    env = {"LULL": "", "LULL_CONFIG": str(config), "LULL_REST": "60us", "LULL_REPORT": str(report)}
    testpmd = started(here, files, **env)
    settings = testpmd.telemetry.ask("/lull/settings")
    seen = [settings[key] for key in ("governor", "rest", "mode")]
    check(seen == ["fixed", "60us", "passive"], "file, then environment", settings)
    wait_for("polls", lambda: testpmd.telemetry.loops())
    spins(testpmd, WORKER)
    check("lull: " not in testpmd.quit(), "no report on stderr")
    said = report.read_text()
    check(said.startswith("lull: report of dpdk-testpmd (process "), "says whose it is", said)
    check(f"(thread {WORKER})" in said, "but in the file", said)
    # A link to somebody's file, as in a folder where all may write.
    victim = here.path("victim")
    victim.write_text("keep me")
    report.unlink()
    report.symlink_to(victim)
    said = started(here, files, **env).quit()
    check(f"lull: report {report}: it is a symbolic link" in said, "and why not", said[-900:])
    check(victim.read_text() == "keep me", "not followed")


def loaded_twice(here: World, files: Files) -> None:
    """The same file is loaded once; another copy stands back; a directory is as good as a file."""
    copy = files.plugin.with_name("copy.so")
    copy.write_bytes(files.plugin.read_bytes())
    try:
        # A directory: both files. And one of them by name.
        testpmd = Testpmd(here, [*QUIET], plugin=files.plugin.parent, env=FIXED)
        check(testpmd.log().count("another copy") == 1, "one stands back", testpmd.log())
        watches = [
            task
            for task in os.listdir(f"/proc/{testpmd.process.pid}/task")
            if comm(testpmd.process.pid, task) == "lull-watch"
        ]
        check(len(watches) == 1, "one control thread", watches)
        testpmd.command("start")
        wait_for("it rests", lambda: testpmd.share(WORKER) <= idle_most())
        testpmd.quit()
    finally:
        copy.unlink()


def comm(pid: int, task: str) -> str:
    with open(f"/proc/{pid}/task/{task}/comm", encoding="utf-8") as file:
        return file.read().strip()


def quick_to_attach(here: World, files: Files) -> None:
    """A port that stops and starts with more queues has callbacks on all of them at once."""
    testpmd = started(here, files, **FIXED)
    wait_for("it rests", lambda: testpmd.share(WORKER) <= idle_most())
    for line in (
        "stop",
        "port stop all",
        "port config all rxq 4",
        "port config all txq 4",
        "port start all",
        "start",
    ):
        testpmd.type(line)
    testpmd.says("testpmd> ", testpmd.prompts + 6)
    telemetry = testpmd.telemetry
    name = telemetry.loop(WORKER)["name"]

    def polls_per_turn() -> bool:
        share = testpmd.share(WORKER)
        return share <= idle_most()

    wait_for("it rests with eight queues", polls_per_turn)
    check(telemetry.ask(f"/lull/loop,{name}")["rests_sleep"] > 0, "it rests")
    check(testpmd.share(WORKER) < SPIN_LEAST, "it rests")
    testpmd.prompts += 6
    testpmd.quit()


def watch_wakes(testpmd: Testpmd, seconds: float) -> int:
    """How often the control thread has woken in that time."""
    status = Path(f"/proc/{testpmd.process.pid}/task/{testpmd.threads()['lull-watch']}/status")

    def switches() -> int:
        lines = status.read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if "voluntary_ctxt_switches" in line)

    before = switches()
    time.sleep(seconds)
    return switches() - before


def quiet_watch(here: World, files: Files) -> str:
    """While nothing changes the control thread looks ever more seldom, in mode off not at all."""
    testpmd = started(here, files, **FIXED)
    wait_for("it rests", lambda: testpmd.share(WORKER) <= idle_most())
    time.sleep(3)
    # For a sixteenth of the time that was quiet: 0.2 s by now. It was 500 times a second.
    resting = watch_wakes(testpmd, 2)
    check(resting <= 40, "it looks seldom", resting)
    testpmd.telemetry.set("mode=off")
    spins(testpmd, WORKER)
    off = watch_wakes(testpmd, 2)
    check(off <= 2, "off is off", off)
    # A port that comes then is seen nevertheless, by the threads that poll or with the next mode.
    testpmd.telemetry.set("mode=on")
    wait_for("it rests again", lambda: testpmd.share(WORKER) <= idle_most())
    testpmd.quit()
    return f"{resting / 2:.1f} a second, {off / 2:.1f} in mode off"


def never_rests(here: World, files: Files) -> None:
    """Whoever judges rests by rested() sees that a governor never rests, whatever `fixed` does."""
    testpmd = started(here, files, LULL_GOVERNOR="spin")
    try:
        remark = rested(testpmd, WORKER)
    except Failure as failure:
        check("rests at all" in str(failure), "refused for that", failure)
    else:
        raise Failure(f"taken for one that rests: {remark}")
    testpmd.quit()


if __name__ == "__main__":
    start = [broken_settings, file_and_report, loaded_twice, never_rests]
    live = [off_and_on, real_time_class, c_states, settings_and_marks, live_loops, shadow]
    main([*start, *live, quick_to_attach, quiet_watch])
