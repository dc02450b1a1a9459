# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of each block: its words as they stand, and what the page promises of them."""

from __future__ import annotations

import hashlib
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path

from blocks import Block, Step
from place import PATH, Lacking, Place
from terminal import Shell, running

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from verdict import check, wait_for
from worker import worker

YOURS = """#include <stdint.h>
#include <stdlib.h>

/* Two thousand looks, with a packet now and then. */
uint16_t
poll_something(void)
{
	static int looks;

	if (++looks == 2000)
		exit(0);
	return looks % 100 == 0;
}
"""
FRAGMENT = """#include <lull/rest.h>

int
main(void)
{
	struct lull_idle_limits limits = { .latency_ns = 100000 };
	struct lull_rest_thread *thread;
	struct lull_idle *idle;

	if (lull_idle_create("objective", &limits, &idle) != 0)
		return 1;
BLOCK
	lull_rest_thread_destroy(thread);
	lull_idle_destroy(idle);
	return 0;
}
"""


def steps(block: Block, count: int) -> list[Step]:
    found = block.steps()
    check(len(found) == count, f"{block.name}: {count} commands", [one.command for one in found])
    return found


def need(command: str) -> None:
    """Programs of others that a page may be read without."""
    if shutil.which(command, path=PATH) is None:
        raise Lacking(f"needs {command}")


def types(place: Place, block: Block) -> None:
    """Each command ends with 0 and says what the page shows."""
    with Shell(place) as shell:
        for step in block.steps():
            shell.does(step)


def runs_a_pipeline(place: Place, block: Block) -> None:
    """GStreamer with our element, where it was built; the pipeline makes a picture."""
    need("gst-launch-1.0")
    if not list((place.root / "build/gst").glob("*.so")):
        raise Lacking("needs the element, which this build is without")
    types(place, block)
    check((place.root / "camera.png").read_bytes().startswith(b"\x89PNG"), "a picture")


# ---- README: Use it ----


def looks_at_a_loop(place: Place, block: Block) -> None:
    """The loop of the sentence before the block runs in another terminal."""
    page = (place.root / block.page).read_text(encoding="utf-8")
    begin = re.search(r"In one terminal run `([^`]+)`", page)
    check(begin is not None, "the page says what runs in one terminal")
    assert begin is not None
    top, explain, change, doctor = steps(block, 4)
    with running(place, begin[1]) as loop, Shell(place) as shell:
        loop.until("answers", lambda: "fwd0" in shell.type("./lull show; true"))
        with running(place, top.command) as view:
            view.until_said(r"fwd0 .*cpu ")
            view.interrupt()
        said = shell.does(explain)
        check("fwd0" in said and re.search("feasible|infeasible|calibrating|suspended", said)
              is not None, "explains", said)
        said = shell.does(change)
        check(re.search(r"max-latency = 50\S* \(was 200us\)", said) is not None, "changed", said)
        said = " ".join(shell.type(doctor.command).split())
        check("lull wrap adds '--no-huge -m 1024'" in said, "doctor and wrap agree", said)
        loop.interrupt()


def installs_and_wraps(place: Place, block: Block) -> None:
    """`sudo make install`, testpmd without hugepages, its threads seen and set."""
    install, wrap, top = steps(block, 3)
    need("dpdk-testpmd")
    install_by(place, install.command)
    with Shell(place, root=True) as shell:
        check(shell.type("command -v lull").strip() == "/usr/local/bin/lull", "on the PATH")
        with running(place, wrap.command, root=True) as program:
            program.until("has loops", lambda: worker() in shell.type("sudo lull show; true"))
            said = program.said()
            check("adding '--no-huge -m 1024'; --memory as-is" in said, "says what it adds", said)
            with running(place, top.command, root=True) as view:
                view.until_said(rf"poll\d +{worker()} .*cpu ")
                view.interrupt()
            aside = re.search(r"`(lull set [^`]+)`", block.text)
            check(aside is not None, "the comment says how to switch it off", block.text)
            assert aside is not None
            said = shell.type(aside[1])
            check("mode = off (was on)" in said, "switched off", said)
            said = program.interrupt()
            check("EAL: FATAL" not in said, "starts without hugepages", said)
            check(f"(thread {worker()})" in said, "its final report", said)


def install_by(place: Place, command: str) -> None:
    borrow_python_libraries(place)
    with Shell(place, root=True) as shell:
        said = shell.type(command)
    check("install: done" in said, "installed", said)


def installed(place: Place) -> None:
    """What a page has told to install by now; needed where one case is run alone."""
    if not Path("/usr/local/bin/lull").exists():
        install_by(place, "sudo make install")


def borrow_python_libraries(place: Place) -> None:
    """Stand-in for pip, as there is no internet: those of the checkout, which are the same."""
    venv = Path("/usr/local/lib/lull/venv")
    shutil.rmtree(venv, ignore_errors=True)
    venv.mkdir(parents=True)
    for path in (place.root / ".venv").iterdir():
        (venv / path.name).symlink_to(path)
    wanted = (place.root / "python/requirements.txt").read_bytes()
    (venv / f"installed-{hashlib.sha256(wanted).hexdigest()[:16]}").touch()


def simulates(place: Place, block: Block) -> None:
    """my.pcap is one of the captures of the tests."""
    capture, sweep, scoreboard, reproduce = steps(block, 4)
    shutil.copy(place.root / "tests/data/flows/dns.pcap", place.home / "my.pcap")
    installed(place)
    with Shell(place) as shell:
        shell.type("cd")
        check("objective" in shell.does(capture), "a table")
        said = shell.does(sweep)
        rows = re.findall(r"^ +objective +[0-9.]+ %.*$", said, re.MULTILINE)
        check(len(rows) == 8, "eight objectives", said)
        check(all("feasible" in row and "infeasible" not in row for row in rows), "kept", said)
        shares = [float(row.split("%")[0].split()[-1]) for row in rows]
        check(shares[-1] < shares[0] / 2, "a later objective takes less CPU", shares)
        picture = place.home / "sim.png"
        check(picture.read_bytes().startswith(b"\x89PNG"), "a picture")
        # As the sentence below it says.
        said = shell.type(sweep.command.replace("--ring 4096", "--ring 1024 --governor objective"))
        check(len(re.findall(r"infeasible \[\d\] ", said)) == 8, "all infeasible", said)
        check("[1] infeasible: the ring of 1024 packets fills in 66.7 us" in said, "why", said)
        check("a ring of 2048 allows rests" in said, "and what would help", said)
        if place.long:
            shell.type(scoreboard.command, timeout_s=3600)
            shell.type(reproduce.command, timeout_s=3600)
        else:
            for command in (scoreboard.command, reproduce.command):
                name = command.partition("#")[0]
                check("Usage: lull" in shell.type(f"{name} --help"), f"{name} is there")


def forwards(place: Place, block: Block) -> None:
    """eth1 and eth2 are veths of the test; root, as sockets for raw packets need it."""
    installed(place)
    with Shell(place, root=True) as shell, running(place, block.text, root=True) as loop:
        loop.until("answers", lambda: "fwd0" in shell.type("lull show; true"))
        loop.interrupt()


# ---- README: In your own loop ----


def compiles_and_rests(place: Place, block: Block) -> None:
    """The block is loop.c; yours.c comes from the test."""
    installed(place)
    page = (place.root / block.page).read_text(encoding="utf-8")
    command = re.search(r"`(cc loop\.c yours\.c [^`]+)`", page)
    check(command is not None, "the page says how to compile it")
    assert command is not None
    (place.home / "loop.c").write_text(block.text)
    (place.home / "yours.c").write_text(YOURS)
    with Shell(place) as shell:
        shell.type("cd")
        said = shell.type(command[1].replace("cc ", "cc -Wall -Wextra -Werror ", 1))
        check(not said.strip(), "compiles without a word", said)
        shell.type("time ./a.out")


def compiles_inside_a_function(place: Place, block: Block) -> None:
    installed(place)
    (place.home / "part.c").write_text(FRAGMENT.replace("BLOCK", block.text))
    with Shell(place) as shell:
        shell.type("cd")
        shell.type("cc -Wall -Wextra -Werror part.c $(pkg-config --cflags --libs lull) -o part")
        shell.type("./part")


def compiles_the_camera_example(place: Place, block: Block) -> None:
    """As it stands, in examples/, after `make install`."""
    installed(place)
    with Shell(place) as shell:
        shell.type("cd examples")
        shell.type(f"{block.text.strip()} -o {place.home}/camera")
        said = shell.type(f"{place.home}/camera", status=2)
        check("usage" in said, "says how to use it", said)


# ---- README: See the flows ----


def exports_to_nfcapd(place: Place, block: Block) -> None:
    """A shell with a job in the background, as in a terminal."""
    need("nfcapd")
    collect, send, stop, read = steps(block, 4)
    with Shell(place) as shell:
        shell.type(collect.command)
        wait_for("nfcapd listens", lambda: ":1283 " in Path("/proc/net/udp").read_text())
        shell.type(send.command)
        shell.type(stop.command)
        shell.says(stop.shown, "what nfcapd says at its end")
        shell.type("wait")
        shell.does(read)


def exports_to_a_collector(place: Place, block: Block) -> None:
    """eth1 is a veth of the test, collector a socket that looks at what comes first."""
    installed(place)
    with socket.create_server(("127.0.0.1", 4739)) as collector:
        collector.settimeout(60)
        with running(place, block.text, root=True) as probe:
            connection, _ = collector.accept()
            with connection:
                connection.settimeout(60)
                probe.interrupt()  # it sends what it has before it ends
                check(connection.recv(2) == b"\x00\x0a", "IPFIX, version 10")


def prints_flows(place: Place, block: Block) -> None:
    """The first record and the last line, as the block shows them."""
    step, = steps(block, 1)
    with Shell(place) as shell:
        shell.does(step)


def has_this_record(place: Place, block: Block) -> None:
    """docs/export.md: the record stands among those of the captures."""
    words = "build/apps/lull-flow/lull-flow --pcap tests/data/flows --records -"
    with Shell(place) as shell:
        said = shell.type(words)
    wanted = "".join(block.text.split())
    check(any("".join(line.split()) == wanted for line in said.splitlines()), "the record", wanted)


# ---- cameras ----


def shows_pictures(place: Place, block: Block) -> None:
    step, = steps(block, 1)
    views(place, step.command)


def views(place: Place, command: str) -> None:
    with running(place, command) as view:
        address = view.until_said(r"http://127\.0\.0\.1:8080/")[0]

        def page() -> bool:
            with urllib.request.urlopen(address, timeout=10) as reply:
                return b"<html" in reply.read().lower()

        view.until("its page", page)
        view.interrupt((0, 130))


def shows_lossy_pictures(place: Place, block: Block) -> None:
    """The first command; the others need a camera and a lull-cam that runs already."""
    demo, camera, attach = steps(block, 3)
    check("--backend kernel:eth0" in camera.command and "--socket" in attach.command, "as known")
    views(place, demo.command)


def copies_over_a_channel(place: Place, block: Block) -> None:
    """Key, listener in the background, copy; then what arrived is what was sent."""
    key, listen, copy = steps(block, 3)
    with Shell(place) as shell:
        shell.type(key.command)
        shell.type(listen.command)
        shell.does(copy)
        shell.type("wait")
        shell.type("diff -r tests/data/flows /tmp/channel/in/flows && echo all of it")
        shell.says("all of it\n", "the copy is the folder")


def runs_a_training_step(place: Place, block: Block) -> None:
    """Over kernel:lo; Open MPI has to be told that root may."""
    need("mpirun")
    if not (place.root / "build/fi/liblull-fi.so").exists():
        raise Lacking("needs the provider, which this build is without")
    with Shell(place) as shell:
        shell.type("/usr/bin/python3 -c 'import mpi4py, numpy' && echo both")
        shell.says("both\n", "mpi4py and numpy")
        shell.type("export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
        (step,) = steps(block, 1)
        # mpirun gives its input to rank 0, and the shell's is what we type.
        shell.does(replace(step, command=f"{step.command} </dev/null"))


def captures_and_simulates(place: Place, block: Block) -> None:
    """eth0 is a veth of the test, on which somebody sends."""
    installed(place)
    capture, simulate = steps(block, 2)
    if shutil.which("tcpdump") is None:
        shutil.copy(place.root / "tests/data/flows/dns.pcap", place.home / "my.pcap")
    else:
        with running(place, f"cd; {capture.command}", root=True) as dump:
            dump.until_said("listening on eth0")
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
                sender.bind(("eth0-peer", 0))
                for _ in range(1000):
                    sender.send(b"\xff" * 12 + b"\x08\x00" + bytes(46))
            dump.interrupt()
    with Shell(place) as shell:
        shell.type("cd")
        shell.does(simulate)
        check((place.home / "my.png").read_bytes().startswith(b"\x89PNG"), "a picture")


def grants_a_class(place: Place, block: Block) -> None:
    """The first line is a command, the others stand in files of the system."""
    need("setcap")
    grant, unit, limit = steps(block, 3)
    check("LimitRTPRIO" in unit.command and "rtprio" in limit.command, "as known", block.text)
    with Shell(place, root=True) as shell:
        shell.does(grant)
        said = shell.type("getcap build/apps/lull-fwd/lull-fwd")
        check("cap_sys_nice" in said, "granted", said)
        shell.type("setcap -r build/apps/lull-fwd/lull-fwd")


def runs_the_demo(place: Place, block: Block) -> None:
    """`make run` with LULL_LONG; else that there are such targets."""
    run, test = (step.command.partition("#")[0].strip() for step in steps(block, 2))
    with Shell(place) as shell:
        if place.long:
            shell.type(run, timeout_s=600)
            for name in ("result.json", "report.html"):
                check((place.root / "out/demo" / name).stat().st_size > 1000, name)
        else:
            check("lull demo" in shell.type(f"{run} --dry-run"), "runs the demo")
        check("devtools/test" in shell.type(f"{test} --dry-run"), "runs the tests")


def manual_pages(place: Place) -> None:
    """README names each page that is installed, and no other; of section 3, the libraries'."""
    installed(place)
    text = (place.root / "README.md").read_text(encoding="utf-8")
    named = {f"{name}.{section or 1}"
             for section, name in re.findall(r"`man (?:(\d) )?([a-z-]+)`", text)}
    folder = Path("/usr/local/share/man")
    libraries = ("lull.3", "lull-camera.3")
    there = {path.name for path in folder.glob("man*/lull*")
             if path.suffix != ".3" or path.name in libraries}
    check(named == there, "pages of the manual", sorted(named ^ there))


def names_and_numbers(place: Place) -> None:
    """Governors and schedulers, counted and by name, as programs list them."""
    tables = place.root / "build/docs/man/tables"
    governors, schedulers = (
        subprocess.run([tables, kind], capture_output=True, text=True, check=True).stdout.split()
        for kind in ("governors", "schedulers"))
    text = " ".join((place.root / "README.md").read_text(encoding="utf-8").split())
    start = "lull contains the timer-based governors of these projects too"
    listed = re.search(start + r"(.*?)\. ", text)
    check(listed is not None, "the list of governors")
    assert listed is not None
    named = set(re.findall(r"`([a-z-]+)`", listed[1]))
    check(named == set(governors) - {"phase"}, "governors of a timer", named ^ set(governors))
    numbers = {10: "ten", 11: "eleven", 12: "twelve", 13: "thirteen"}
    check(f"another of its {numbers[len(schedulers)]} schedulers" in text, "schedulers", schedulers)
    changes = (place.root / "CHANGELOG.md").read_text(encoding="utf-8")
    check(f"one of {numbers[len(governors)]} governors" in " ".join(changes.split()), "governors",
          governors)
