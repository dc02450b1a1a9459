# SPDX-License-Identifier: BSD-3-Clause
"""lull-gen and lull-fwd over shared memory: memif, vhost-user and virtio-user, either way round."""

from __future__ import annotations

import signal

from figures import check_all_back, measure
from verdict import check
from world import World, main, world

# fewer packets than a ring holds: nothing is lost however long the host lets a loop wait
MEMIF_COUNT = 2000
VHOST_COUNT = 400


def finish(count: int) -> str:
    return f"--traffic constant:10k --count {count} --drain 5s --ring 4096"


def memif(here: World, role: str) -> str:
    path = here.path("memif.sock")
    return f"--vdev net_memif0,role={role},socket={path},socket-abstract=no,rsize=12 "


def vhost(here: World) -> str:
    return f"--vdev net_vhost0,iface={here.path('vhost.sock')} "


def virtio(here: World) -> str:
    return f"--vdev net_virtio_user0,path={here.path('vhost.sock')},queue_size=1024 "


def round_trip(binaries: list[str], here: World, fwd_port: str, gen_port: str, count: int) -> None:
    """Twice: the forwarder gets over the end of its peer."""
    gen_binary, fwd_binary = binaries
    fwd = here.start("fwd", fwd_binary, fwd_port + "--ring 4096").ready()
    for attempt in ("first", "second"):
        gen = here.start(attempt, gen_binary, gen_port + finish(count))
        check_all_back(gen.finish(), count, f"{attempt} peer")
    fwd.finish(signal.SIGTERM)
    foreign = [line for line in fwd.stderr().splitlines() if not line.startswith("lull-fwd: ")]
    check(not foreign, "drivers do not chatter when a peer goes", foreign)
    here.check_clean()
    left = list(here.directory.glob("*.sock"))
    check(not left, "sockets are removed", left)


def memif_server_forwards(binaries: list[str]) -> None:
    with world() as here:
        round_trip(binaries, here, memif(here, "server"), memif(here, "client"), MEMIF_COUNT)


def memif_client_forwards(binaries: list[str]) -> None:
    """The generator waits for its link; a memif client wants its server to be there first."""
    gen_binary, fwd_binary = binaries
    with world() as here:
        gen = here.start("gen", gen_binary, memif(here, "server") + "--traffic off").ready()
        fwd = here.start("fwd", fwd_binary, memif(here, "client") + "--ring 4096").ready()
        measure(gen, "constant:5k", 500)
        gen.finish(signal.SIGTERM)
        fwd.finish(signal.SIGTERM)
        here.check_clean()


def vhost_forwards(binaries: list[str]) -> None:
    with world() as here:
        round_trip(binaries, here, vhost(here), virtio(here), VHOST_COUNT)


def memif_windows(binaries: list[str]) -> None:
    gen_binary, fwd_binary = binaries
    with world() as here:
        fwd = here.start("fwd", fwd_binary, memif(here, "server") + "--ring 4096").ready()
        options = memif(here, "client") + "--traffic off --ring 4096"
        gen = here.start("gen", gen_binary, options).ready()
        for spec in ("constant:5k", "poisson:5k", "step:1k-5k,50ms"):
            measure(gen, spec, 500)
        gen.finish(signal.SIGTERM)
        fwd.finish(signal.SIGTERM)
        here.check_clean()


def waiting_can_be_ended(binaries: list[str]) -> None:
    """No peer ever comes, and that is no error when the user gives up first."""
    with world() as here:
        gen = here.start("gen", binaries[0], memif(here, "server") + "--link-wait 60s").ready()
        result = gen.finish(signal.SIGTERM)
        check(result["end"] == "signal" and result["offered"] == 0, "nothing sent", result["end"])
        here.check_clean()


main(
    [
        memif_server_forwards,
        memif_client_forwards,
        vhost_forwards,
        memif_windows,
        waiting_can_be_ended,
    ]
)
