# SPDX-License-Identifier: BSD-3-Clause
"""What bench/mpi reckons and asks for: rows, goals beside other rows, what mpirun is told.

Its modules have names that other benches use too, so they are loaded in a process of their own.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TREE = Path(__file__).resolve().parents[2]
BENCH = TREE / "bench" / "mpi"
FABRIC = "Open MPI mtl/ofi tcp;ofi_rxm"


def ask(code: str, *words: object) -> Any:
    """Run a piece of Python beside the bench; what it prints as JSON."""
    folders = ("python", "bench/idle", "bench/rounds")
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], check=False, cwd=BENCH,
                          capture_output=True, text=True,
                          env={"PATH": "/usr/bin",
                               "PYTHONPATH": ":".join(str(TREE / one) for one in folders)})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def one(scene: str, peer: str, flaw: str = "", error: str = "", number: int = 1,
        **figures: float) -> dict[str, Any]:
    return {"scene": scene, "peer": peer, "number": number, "figures": figures, "flaw": flaw,
            "error": error, "commands": ["a$ x"]}


VERDICTS = """
import json, sys
import goal, mpi_goals, mpi_scenes
from result import Result, Round
made = Result({}, {}, {}, [Round(**one) for one in json.loads(sys.argv[1])], mpi_scenes.SCENES)
print(json.dumps([[v.goal.number, v.goal.figure, v.limit, v.found, v.said]
                  for v in goal.verdicts(made, mpi_goals.goals())]))
"""


def verdicts(*rounds: dict[str, Any]) -> list[list[Any]]:
    found: list[list[Any]] = ask(VERDICTS, json.dumps(rounds))
    return found


@pytest.mark.parametrize(("scene", "peer", "factor"), [
    ("64B", "lull dpdk", 0.6), ("64B", "lull kernel", 0.8), ("64B", "lull memif", 0.35),
    ("64B-same", "lull node", 0.2)])
def test_half_a_round_trip_beside_ofi_rxm_over_veth(scene: str, peer: str, factor: float) -> None:
    other = one("64B", FABRIC, p50_us=10)
    same = one("64B-same", FABRIC, p50_us=1000)  # not over veth: of no importance
    for p50_us, said in ((10 * factor, "met"), (10 * factor + 0.01, "not met")):
        found = verdicts(one(scene, peer, p50_us=p50_us), other, same)
        assert found[0] == [2, "p50_us", pytest.approx(10 * factor), p50_us, said]


def test_a_rank_that_waits_and_one_that_rests() -> None:
    found = verdicts(one("wait", "lull kernel", wait_cpu_pct=3.1),
                     one("wait-same", "lull node", wait_cpu_pct=2.9))
    assert [(row[2], row[4]) for row in found] == [(3, "not met"), (3, "met")]
    spun = verdicts(one("64B", "lull dpdk", p50_us=2.11), one("64B", "lull dpdk spin", p50_us=2))
    assert spun[-1][2:] == [pytest.approx(2.1), 2.11, "not met"]


def test_four_ranks_take_no_longer_than_spinning_ones() -> None:
    spinning = one("conform-4", "lull kernel spin", wall_s=4)
    assert verdicts(one("conform-4", "lull kernel", wall_s=4), spinning)[0][4] == "met"
    assert verdicts(one("conform-4", "lull kernel", wall_s=4.01), spinning)[0][4] == "not met"


def test_a_job_that_a_silent_rail_stops() -> None:
    found = {row[1]: row[4] for row in verdicts(one("silence", "lull dpdk", went_on=0, zero_ms=2))}
    assert found["went_on"] == "not met"
    assert found["zero_ms"] == "met"


def test_every_goal_names_a_row_that_there_is() -> None:
    unknown = ask("""
import json, pathlib
import compare, mpi_goals
peers = {peer.name: peer for peer in compare.all_peers(pathlib.Path("build"))}
scenes = {where.name: where for where in compare.SCENES}
def there(scene, peer):
    return scene in scenes and peer in peers and peers[peer].takes(scenes[scene])
print(json.dumps([[goal.scene, goal.peer] for goal in mpi_goals.goals()
                  if not there(goal.scene, goal.peer) or goal.beside
                  and not there(goal.there or goal.scene, goal.beside[0])]))
""")
    assert unknown == []


WAY = """
import json, pathlib, sys, tempfile
import compare, provider_rows
provider_rows.node_program = lambda station, build, folder, node, below: f"/{node}({below[0]})"
class Bed:
    def control_address(self, node): return f"10.0.0.{node}"
class Station: bed = Bed()
where = next(one for one in compare.SCENES if one.name == sys.argv[1])
peer = next(one for one in compare.all_peers(pathlib.Path("/b")) if one.name == sys.argv[2])
with tempfile.TemporaryDirectory() as folder:
    way = peer.way(Station(), where, pathlib.Path(folder))
    from mpi_rows import JOBS, defined
    ranks = peer._ranks(Station(), where, way, JOBS[where.what])
    print(json.dumps([[word.replace(folder, "/f") for word in way.words], way.environment,
                      {node: one.get("FI_LULL_RAILS", "").replace(folder, "/f")
                       for node, one in way.own.items()}, ranks]))
"""


@pytest.mark.parametrize(("scene", "peer", "rails", "rest"), [
    ("200+100+50", "lull kernel", "kernel:r0 kernel:r1 kernel:r2", None),
    ("64B-same", "lull kernel", "kernel:lo", None),
    ("64B-same", "lull kernel spin", "kernel:lo", "0")])
def test_rails_that_are_the_same_for_all(scene: str, peer: str, rails: str,
                                         rest: str | None) -> None:
    _, environment, own, ranks = ask(WAY, scene, peer)
    assert environment["FI_LULL_RAILS"] == rails
    assert environment.get("FI_LULL_MAX_REST") == rest
    assert not own
    assert len(ranks) == 1


@pytest.mark.parametrize(("scene", "peer", "a", "b"), [
    ("64B", "lull memif", "dpdk:net_memif0,role=client,socket-abstract=no,socket=/f/memif",
     "dpdk:net_memif0,role=server,socket-abstract=no,socket=/f/memif"),
    ("4x200", "lull node", "node:/a(dpdk:af_packet=r0)", "node:/b(dpdk:af_packet=r0)"),
    ("64B-same", "lull node spin", "node-busy:/a(kernel:r0)", None)])
def test_rails_of_each_node(scene: str, peer: str, a: str, b: str | None) -> None:
    _, environment, own, ranks = ask(WAY, scene, peer)
    if b is None:
        assert environment["FI_LULL_RAILS"] == a
    else:
        assert own == {"a": a, "b": b}
        assert [words for _, words in ranks] == [["-np", "1", "--host", "10.0.0.a:1"],
                                                 ["-np", "1", "--host", "10.0.0.b:1"]]


def test_others_get_all_rails_or_one() -> None:
    assert ask(WAY, "200+100+50", "Open MPI btl/tcp")[0][-1] == "r0,r1,r2"
    assert ask(WAY, "64B-same", "Open MPI btl/tcp")[0][-1] == "lo"
    assert ask(WAY, "4x200", "Open MPI pml/ucx tcp")[1]["UCX_NET_DEVICES"] == "r0,r1,r2,r3"
    words, environment, _, ranks = ask(WAY, "4x200", FABRIC)
    assert words[-1] == "tcp;ofi_rxm"
    assert environment == {"FI_TCP_IFACE": "r0"}
    assert ranks == [["a", ["-np", "2", "--host", "10.0.0.a:1,10.0.0.b:1"]]]
    assert ask(WAY, "conform-4", FABRIC)[3] == [["a", ["--oversubscribe", "-np", "4"]]]


def test_the_curve_is_read_by_whole_lines() -> None:
    code = """
import json, mpi_jobs
def read(text):
    try:
        return mpi_jobs.last_number(text)
    except ValueError:
        return None
print(json.dumps([read(text) for text in ("", "12", "12\\n", "1\\n22\\n3")]))
"""
    assert ask(code) == [None, None, 12, 22]


def test_what_is_not_here_is_a_row_with_the_reason(tmp_path: Path) -> None:
    code = """
import json, pathlib, sys
import compare, mpi_rows
mpi_rows.components = lambda: frozenset()
known = {where.name: where for where in compare.SCENES}
peers = {peer.name: peer for peer in compare.all_peers(pathlib.Path(sys.argv[1]))}
mpi_rows.Mpi.programs = provider = ()
print(json.dumps([peers["Open MPI pml/ucx tcp"].missing(known["64B"]),
                  peers["lull kernel"].missing(known["64B"])]))
mpi_rows.Mpi.programs = ("no-such-program",)
print(json.dumps([peers["Open MPI pml/ucx tcp"].missing(known["64B"]),
                  peers["lull kernel"].missing(known["64B"]),
                  peers["Open MPI btl/tcp"].missing(known["64B"])]))
"""
    found = ask(code, tmp_path)
    needed = "no-such-program is not installed: apt-get install openmpi-bin libopenmpi-dev"
    assert found == [needed] * 3
    components, built = ask(code.replace('("no-such-program",)', "()"), tmp_path)[:2]
    assert components == "this Open MPI has no pml ucx: install one that has"
    assert built.startswith("liblull-fi.so is not built: apt-get install libfabric-dev")


def test_the_reason_among_what_mpirun_says() -> None:
    said = """--------------------------------------------------------------------------
libfabric:7:1:lull:core:lull_fi_getinfo():40<warn> FI_LULL_KEY: name the file of a key
--------------------------------------------------------------------------
[a:7] *** An error occurred in MPI_Waitall
[a:7] *** on communicator MPI_COMM_WORLD
[a:7] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,
[a:7] ***    and potentially your MPI job)
[a:6] 1 more process has sent help message help-mpi-errors.txt / mpi_errors_are_fatal
--------------------------------------------------------------------------
mpirun detected that one or more processes exited with non-zero status
  Process name: [[1,1],0]
  Exit code:    1
"""
    found = ask("""
import json, sys
import mpi_rows
print(json.dumps([mpi_rows.plain("mpirun: x", sys.argv[1]), mpi_rows.plain("mpirun: x", "")]))
""", said)
    assert found == ["mpirun: libfabric:7:1:lull:core:lull_fi_getinfo():40<warn> FI_LULL_KEY: name "
                     "the file of a key An error occurred in MPI_Waitall", "mpirun: x"]


DOCUMENT = """
import json, pathlib, sys
import mpi_document, compare
from result import Result, Round
docs = pathlib.Path(sys.argv[1])
made = Result({}, {"rounds": 1}, {}, [Round(**one) for one in json.loads(sys.argv[2])],
              compare.SCENES)
(docs / "mpi-training.svg").write_text("svg")
for _ in range(2):
    mpi_document.prepare(made, docs, docs / "mpi.md.new")
print(json.dumps([(docs / name).read_text() for name in ("measurements.md", "mpi.md")]))
"""


def test_places_in_the_documents_come_with_figures(tmp_path: Path) -> None:
    for name in ("measurements.md", "mpi.md"):
        (tmp_path / name).write_text(f"# {name}\n")
    plain = json.dumps([one("64B", "lull dpdk", p50_us=2)])
    measurements, page = ask(DOCUMENT, tmp_path, plain)
    assert page == "# mpi.md\n"  # no training step, so no place for it
    assert measurements.count("<!-- mpi: begin -->") == 1
    step = json.dumps([one("training", "lull dpdk", goodput_bps=7e8, rest_cpu_pct=2)])
    _, page = ask(DOCUMENT, tmp_path, step)
    assert page.count("mpi-training: begin") == 1
    assert "| lull dpdk | 700 | 2.00 | 1/1 |" in page


DRAWN = """
import json, pathlib, sys
import compare
from result import Result, Round, text, markdown
rounds = [Round(**one) for one in json.loads(sys.argv[2])]
machine = dict.fromkeys(("cpu", "cpus", "hypervisor", "kernel", "dpdk", "commit", "date", "load"))
made = Result(machine, {"rounds": 1, "seconds": 1, "command": "x", "versions": "UCX 1"}, {},
              rounds, compare.SCENES)
stem = pathlib.Path(sys.argv[1]) / "mpi"
drawn = compare.draw(made, stem)
print(json.dumps([drawn, sorted(one.name for one in stem.parent.iterdir()),
                  text(made), markdown(made, "mpi.svg", shows="MPI")]))
"""


def test_tables_and_pictures(tmp_path: Path) -> None:
    # For a while who records was late, and looked more often then.
    curve = {"at_s": [max(0.01 * i, 0.5 * (2.0 < 0.01 * i < 2.5) + 2.0 * (i > 200))
                      for i in range(800)], "bytes": [375000 * i for i in range(800)],
             "silent_s": 3.0, "heard_s": 5.0}
    rounds = [one("64B", "lull dpdk", p50_us=2.5, p99_us=4), one("64B", FABRIC, error="it broke"),
              one("4x200", "lull dpdk", share_pct=95.5, goodput_bps=764e6),
              {**one("silence", "lull dpdk", zero_ms=1, went_on=1), "curve": curve},
              one("training", "lull dpdk", goodput_bps=7e8, rest_cpu_pct=2)]
    drawn, files, text, markdown = ask(DRAWN, tmp_path, json.dumps(rounds))
    assert drawn
    assert files == ["mpi-training.png", "mpi-training.svg", "mpi.png", "mpi.svg"]
    assert "UCX 1" in text
    assert "| lull dpdk | 2.50 | 4.00 | 1/1 |" in markdown
    assert "it broke" in markdown
    assert "went on" in markdown
    assert "### conform-4" not in markdown
