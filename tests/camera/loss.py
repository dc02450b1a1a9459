# SPDX-License-Identifier: BSD-3-Clause
"""Loss over a real wire: every damaged frame is flagged, and names just the bytes that are lost.

loss.py LULL-CAM LULL-CAM-SOURCE [CASE ...]
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from loss_stand import BACKENDS, PIXELS, Wire, claim_cpu, lines
from verdict import check, wait_for
from world import main, world

FRAMES = 30
OTHER_PORT = 5001


def names_every_hole(binaries: list[str]) -> None:
    """21 % of the packets lost: as many as a receiver of the usual kind lost and said nothing."""
    with world() as here:
        wire = Wire(here, binaries)
        for seed, backend in enumerate(BACKENDS):
            for protocol in PIXELS:
                trial = wire.trial(backend, protocol, FRAMES, f"--lose 210000 --seed {seed + 1}")
                trial.check_nothing_else_lost()
                check(len(trial.lost()) == FRAMES, "every frame is damaged", len(trial.lost()))
                trial.check_maps()


def counts_other_faults(binaries: list[str]) -> None:
    """Duplicates count once, packets out of order and late ones find their place."""
    with world() as here:
        wire = Wire(here, binaries)
        for protocol in PIXELS:
            late = "3ms" if protocol == "rvf" else "30ms"  # it counts packets in 8 bits
            faults = f"--lose 2000 --duplicate 50000 --reorder 50000,20 --late 20000,{late}"
            trial = wire.trial(BACKENDS[0], protocol, FRAMES, faults)
            trial.check_nothing_else_lost()
            check(0 < len(trial.lost()) < FRAMES, "some frames are damaged", len(trial.lost()))
            trial.check_maps()
            counts = trial.stream["assembler"]
            again = counts["duplicates"] + counts["late"]
            check(again <= trial.source["duplicated"], "packets that brought nothing", counts)
            check(counts["fragments"] == counts["used"] + again, "each packet counts once", counts)
            check(counts["reordered"] > 0, "packets out of order", counts)


def misses_whole_frames(binaries: list[str]) -> None:
    """A frame of which nothing came cannot be given; its number shows that it was."""
    with world() as here:
        wire = Wire(here, binaries)
        for protocol in ("rfc4175", "gvsp", "cmp"):
            faults = "--lose 5/0-99999,11/0-99999,12/0-99999,20/30-31"
            trial = wire.trial(BACKENDS[0], protocol, FRAMES, faults, arrive=FRAMES - 3,
                               record=True)  # fmt: skip
            trial.check_nothing_else_lost()
            came = [trial.frame_of(line) for line in trial.recorded]
            gone = [frame for frame in range(FRAMES) if frame not in came]
            check(came == sorted(came) and gone == [5, 11, 12], "frames that are gone", gone)
            damaged = {trial.frame_of(line): line["missing"] for line in trial.missing}
            check(damaged == {20: trial.lost()[20]}, "the one that is damaged", damaged)
            check(trial.stream["reasons"]["complete"] == FRAMES - 4, "the others", trial.stream)


def has_pictures(folder: Path, stream: str, count: int) -> bool:
    return len(list(folder.glob(f"{stream}-*.raw"))) == count


def holds_up_nobody_else(binaries: list[str]) -> None:
    """A camera whose first frame is open until 16 newer ones came; the other's do not wait."""
    with world() as here:
        wire = Wire(here, binaries)
        for backend in BACKENDS:
            folder = here.path(f"order{wire.programs}")
            receiver = wire.receive(
                f"--backend {backend} --unchecked --record {folder} --frames {FRAMES + 17}"
                f" {wire.stream('gvsp', ',deadline=60s,name=lossy')}"
                f" {wire.stream('gvsp', ',deadline=60s,name=clean', OTHER_PORT)}"
            )
            wire.send(f"{wire.camera_options('gvsp', 10)} --lose 0/3").finish()
            wire.send(wire.camera_options("gvsp", FRAMES, OTHER_PORT)).finish()
            wait_for("the other camera's frames", partial(has_pictures, folder, "clean", FRAMES))
            wire.send(f"{wire.camera_options('gvsp', 7)} --first 10").finish()
            result = receiver.finish()
            order = [line["stream"] for line in lines(folder / "frames.jsonl")]
            check(order == ["clean"] * FRAMES + ["lossy"] * 17, "order", order)
            lossy, clean = result["streams"]
            check(clean["partial"] == 0 and clean["frames"] == FRAMES, "the other", clean)
            check(lossy["partial"] == 1 and lossy["reasons"]["superseded"] == 1, "the one", lossy)


if __name__ == "__main__":
    claim_cpu()
    cases = [names_every_hole, counts_other_faults, misses_whole_frames, holds_up_nobody_else]
    main(cases, need="rings")
