# SPDX-License-Identifier: BSD-3-Clause
"""Every block of the pages that show commands, and what the test does with it.

A block is called by its page and its first line. What is not run has its reason here; a block that
is not listed fails the test, and so does an entry without a block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cases
from blocks import Block
from place import Place

Case = Callable[[Place, Block], None]


@dataclass(frozen=True)
class NotRun:
    reason: str


DRAWING = NotRun("a drawing or a formula, nothing to run")
CAMERA = NotRun("needs a camera at that address; tests/camera/interop_aravis.py brings one")
# What the programs of bench/ and devtools/ print about themselves, other lines in each run.
PRINTED = {"docs/measurements.md": NotRun("measurements of minutes, on a quiet machine")}

# In this order: what is installed early is used later.
BLOCKS: dict[str, Case | NotRun] = {
    "README.md: make run": cases.runs_the_demo,
    "README.md: ./lull top": cases.looks_at_a_loop,
    "README.md: sudo make install": cases.installs_and_wraps,
    "README.md: lull-fwd --vdev net_af_packet0,iface=eth1": cases.forwards,
    "README.md: lull sim --pcap my.pcap": cases.simulates,
    "README.md: #include <lull/rest.h>": cases.compiles_and_rests,
    "README.md: cc loop.c yours.c": NotRun("run by the block before it"),
    "README.md: build/apps/lull-fwd/lull-fwd --traffic tidal": NotRun("run by the block after it"),
    "README.md: $ build/apps/lull-flow/lull-flow --pcap": cases.prints_flows,
    "README.md: $ mkdir /tmp/flows; nfcapd": cases.exports_to_nfcapd,
    "README.md: lull-flow --vdev net_af_packet0,iface=eth1": cases.exports_to_a_collector,
    "README.md: ./lull view --demo": cases.shows_pictures,
    "README.md: lull view --backend kernel:eth0": CAMERA,
    "README.md: $ build/apps/lull-cam/lull-cam --backend pcap:": cases.types,
    "README.md: gst-launch-1.0 lullcamerasrc": NotRun("stream=... is to be filled in; "
                                                      "docs/camera.md has a whole one"),
    "README.md: $ mkdir /tmp/channel; mkdir": cases.copies_over_a_channel,
    "README.md: sudo .venv/bin/python bench/channel/pulled.py": NotRun(
        "a minute; tests/netns/channel_pulled.py"),
    "docs/bounds.md: r = (ring": DRAWING,
    "docs/c-states.md: target residency": DRAWING,
    "docs/c-states.md: chgrp GROUP": NotRun("files of the machine's kernel; "
                                            "tests/netns/c_states.py has some of its own"),
    "docs/camera.md: socket, port or capture": DRAWING,
    "docs/camera.md: $ build/apps/lull-cam/lull-cam --backend pcap:": cases.types,
    "docs/camera.md: cc camera.c": cases.compiles_the_camera_example,
    "docs/camera.md: $ ./lull view --demo": cases.shows_lossy_pictures,
    "docs/camera.md: ./lull view --demo --cameras 3": NotRun("the same with three cameras; "
                                                             "tests/camera/browser.py"),
    "docs/camera.md: $ sudo ./lull camera latency": NotRun("a measurement of minutes; "
                                                           "tests/netns/camera_latency.py"),
    "docs/camera.md: $ sudo python3 tests/camera/interop": NotRun("a test of its own"),
    "docs/camera.md: $ lull-cam --backend dpdk:af_packet=v1": CAMERA,
    "docs/camera.md: $ export GST_PLUGIN_PATH": cases.runs_a_pipeline,
    "docs/channel.md: taskset -c 0 chrt -f 1 lull-channel-perf": NotRun("figures; two idle CPUs"),
    "docs/channel.md: sudo .venv/bin/python bench/channel/pulled.py": NotRun(
        "a minute; tests/netns/channel_pulled.py"),
    "docs/channel.md: sudo ./lull channel bed up": NotRun("the bed; tests/netns/channel.py"),
    "docs/export.md: {": cases.has_this_record,
    "docs/mpi.md: lull mpi run -n 4 --nodes a,b": NotRun("two nodes; tests/mpi/run.py has them"),
    "docs/mpi.md: export FI_PROVIDER_PATH": NotRun("two nodes; tests/mpi/components.py has one"),
    "docs/mpi.md: lull: node b: r1 is down": NotRun("what is said; tests/mpi/run.py"),
    "docs/mpi.md: $ ./lull mpi run -n 2": cases.runs_a_training_step,
    "docs/shared-cpu.md: sudo setcap": cases.grants_a_class,
    "docs/shared-cpu.md: lull_rest_thread_create(": cases.compiles_inside_a_function,
    "docs/simulator.md: traffic or capture": DRAWING,
    "docs/simulator.md: tcpdump -i eth0": cases.captures_and_simulates,
    "docs/stalls.md: s = sum": DRAWING,
    "docs/stalls.md: f E[": DRAWING,
}
