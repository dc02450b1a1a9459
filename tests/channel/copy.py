# SPDX-License-Identifier: BSD-3-Clause
"""Copies between two nodes over two rails: what arrives, what is refused, what goes on.

copy.py LULL-CHANNEL-COPY
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

from two_nodes import Nodes, nodes
from verdict import check, wait_for
from world import Program, main, run

SEED = 20261123
MIB = 1 << 20
OLD = 981_173_106_789_000_000  # 2001-02-03, in ns


def noise(size: int, seed: int = SEED) -> bytes:
    return random.Random(seed).randbytes(size)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tree(root: Path) -> dict[str, tuple[int, str]]:
    """Names below it, with mode and content."""
    return {
        str(path.relative_to(root)): (
            path.stat().st_mode,
            digest(path) if path.is_file() else "folder",
        )
        for path in sorted(root.rglob("*"))
    }


def folders(here: Nodes) -> tuple[Path, Path]:
    source, target = here.world.path("source"), here.world.path("target")
    source.mkdir()
    target.mkdir()
    return source, target


def fill(source: Path) -> None:
    """Files of all sizes at which something changes, and what is not to be copied."""
    for name, size in (("empty", 0), ("one", 1), ("chunk", MIB), ("beyond", MIB + 1),
                       ("three", 3 * MIB), ("sub/deep/part", 70_000)):  # fmt: skip
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(noise(size, size))
    with (source / "sparse").open("wb") as file:
        file.seek(16 * MIB)
        file.write(b"end")
        file.truncate(24 * MIB)
    (source / "link").symlink_to("/etc/passwd")
    os.mkfifo(source / "fifo")
    (source / "sub/nothing").mkdir(mode=0o750)
    (source / "one").chmod(0o640)
    for name in ("one", "three", "sub/deep"):
        os.utime(source / name, ns=(OLD, OLD))


def files_and_folders(binaries: list[str]) -> None:
    """Everything arrives with mode and time, twice the same."""
    copy = binaries[0]
    with nodes() as here:
        source, target = folders(here)
        fill(source)
        listener = here.listen(copy, "b", f"--into {target}")
        wanted = {k: v for k, v in tree(source).items() if k not in ("link", "fifo")}
        size = sum((source / name).stat().st_size for name in wanted
                   if (source / name).is_file())  # fmt: skip
        for turn in range(2):
            result = here.result(copy, "a", "--to", "b", f"{source}/", here.key)
            check(tree(target / "source") == wanted, "the same tree", tree(target / "source"))
            check((target / "key").read_bytes() == here.key.read_bytes(), "the file beside it")
            check(result["files"] == 8 and result["folders"] == 4, "counted", result)
            check(result["left_out"] == 2 and result["failed"] == 0, "left out", result)
            check(result["bytes"] == size + here.key.stat().st_size, "bytes", result)
            total = sum(item["bytes"] for item in result["items"])
            check(total == result["bytes"], "items", result)
            for item in result["items"]:
                check(item["sha256"] == digest(target / item["path"]), "digest", item)
            # The second time, what is larger than a message is there already.
            same = 3 * MIB + MIB + 1 + 24 * MIB if turn else 0
            check(result["same_bytes"] == same, f"there before: {same}", result)
        for name in ("one", "three", "sub/deep"):
            check((target / "source" / name).stat().st_mtime_ns == OLD, f"time of {name}")
        blocks = (target / "source/sparse").stat().st_blocks
        check(blocks * 512 < 4 * MIB, "a hole stays a hole", blocks)
        check(not list(target.rglob("*.part")), "no .part is left", list(target.rglob("*.part")))
        said = listener.finish(signal.SIGTERM)
        check(said["files"] == 16 and said["senders"] == 2, "the listener counts the same", said)
        check(said["failed"] == said["broken_senders"] == 0, "and nothing else", said)


def streams(binaries: list[str]) -> None:
    """`-` is stdin and stdout."""
    copy = binaries[0]
    data = noise(5 * MIB + 17)
    with nodes() as here:
        target = here.world.path("target")
        target.mkdir()
        with subprocess.Popen(
            here.command(copy, "b", "--listen", "--into", "-"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=here.world.env,
        ) as listener:  # fmt: skip
            assert listener.stdout is not None and listener.stderr is not None
            check(b"listening" in listener.stderr.readline(), "it listens")
            (source := here.world.path("source")).write_bytes(data)
            with source.open("rb") as given, subprocess.Popen(
                here.command(copy, "a", "--to", "b", "-"),
                stdin=given, stderr=subprocess.DEVNULL, env=here.world.env,
            ) as sender:  # fmt: skip
                got = listener.stdout.read()
                check(sender.wait() == 0, "the sender ends well")
            check(listener.wait() == 0, "the listener ends after one sender")
        check(got == data, "cat across nodes", f"{len(got)} bytes")
        listening = here.listen(copy, "b", f"--into {target} --once")
        done = here.call(copy, "a", "--to", "b", "--as", "named", "-", data=data)
        check(done.returncode == 0, "into a file", done.stderr)
        check((target / "named").read_bytes() == data, "all of it")
        check(listening.wait() == 0, "--once ends", listening.stderr())


def outside(binaries: list[str]) -> None:
    """Links in the target lead nowhere, and nothing else is touched."""
    copy = binaries[0]
    with nodes() as here:
        source, target = folders(here)
        other = here.world.path("other")
        other.mkdir()
        (other / "precious").write_text("keep")
        (source / "precious").write_text("take")
        (source / "big").write_bytes(noise(2 * MIB))
        (target / "source").symlink_to(other)
        listener = here.listen(copy, "b", f"--into {target}")
        before = tree(other)
        done = here.call(copy, "a", "--to", "b", source)
        lines = done.stderr.decode().splitlines()
        check(done.returncode == 1, "a link in the way is an error", lines)
        check("stands in its way there, a link" in lines[-1], "which is named", lines)
        check(tree(other) == before, "nothing is written through it", tree(other))
        # A file that is a link is replaced by the file, and what it pointed to stays.
        (target / "big").symlink_to(other / "precious")
        (target / "precious").symlink_to(other / "precious")
        here.result(copy, "a", "--to", "b", source / "big", source / "precious")
        check(not (target / "big").is_symlink(), "the link has gone")
        check((target / "precious").read_text() == "take", "the file is there")
        check(tree(other) == before, "what it pointed to stays", tree(other))
        # And a .part that is a link is not followed.
        (target / "late.part").symlink_to(other / "precious")
        (source / "late").write_text("late")
        done = here.call(copy, "a", "--to", "b", source / "late")
        check(done.returncode == 1 and tree(other) == before, "nor is a .part", done.stderr)
        listener.finish(signal.SIGINT)


def await_part(path: Path, least: int) -> None:
    wait_for("a part of it came", lambda: path.exists() and path.stat().st_size >= least)


def await_said(program: Program, text: str) -> None:
    wait_for(f"it says '{text}'", lambda: text in program.stderr())


def breaks(binaries: list[str]) -> None:
    """SIGKILL of either side in the middle: a second copy goes on."""
    copy, size = binaries[0], 12 * MIB
    with nodes() as here:
        source, target = folders(here)
        (source / "big").write_bytes(noise(size))
        here.shape("a", 40)
        part = target / "big.part"
        before = 0
        for turn, victim in enumerate(("receiver", "sender")):
            listener = here.listen(copy, "b", f"--into {target}", f"listen-{turn}")
            sender = here.world.start(f"send-{turn}", copy,
                                      f"--to b {' '.join(here.options('a'))} {source}/big",
                                      here.spaces["a"])  # fmt: skip
            await_part(part, before + 2 * MIB)
            killed, other = (listener, sender)[:: 1 if victim == "receiver" else -1]
            killed.process.kill()
            killed.process.wait()
            if victim == "receiver":
                check(other.wait() == 1, "the sender ends", other.stderr())
                check("goes on where it stopped" in other.stderr(), "says so", other.stderr())
            else:
                await_said(listener, "broke off")
                listener.finish(signal.SIGTERM)
            check(not (target / "big").exists(), "nothing has its name yet")
            before = part.stat().st_size
            check(before < size, "a part of it", before)
            check(noise(size)[:before] == part.read_bytes(), "its beginning")
        run("tc", "-n", here.spaces["a"], "qdisc", "del", "dev", "v0", "root")
        listener = here.listen(copy, "b", f"--into {target}", "listen-2")
        result = here.result(copy, "a", "--to", "b", source / "big")
        check(result["resumed_bytes"] == before, "it goes on there", result)
        check(result["moved_bytes"] < size - before + MIB, "only the rest is sent", result)
        check(digest(target / "big") == digest(source / "big"), "all of it is right")
        check(not part.exists(), "no .part is left")
        listener.finish(signal.SIGTERM)


def parts(binaries: list[str]) -> None:
    """A .part of something else is not touched without --restart."""
    copy = binaries[0]
    with nodes() as here:
        source, target = folders(here)
        for name, size in (("big", 2 * MIB), ("small", 1000)):
            (source / name).write_bytes(noise(size))
            (target / f"{name}.part").write_bytes(b"something else")
        listener = here.listen(copy, "b", f"--into {target}")
        done = here.call(copy, "a", "--to", "b", source / "big", source / "small")
        text = done.stderr.decode()
        check(done.returncode == 1 and "add --restart" in text, "refused", text)
        check("(and 1 more)" in text.splitlines()[-1], "both", text)
        for name in ("big", "small"):
            left = (target / f"{name}.part").read_bytes()
            check(left == b"something else", f"{name}.part stays", left)
        result = here.result(copy, "a", "--to", "b", "--restart", source / "big", source / "small")
        check(result["files"] == 2 and result["resumed_bytes"] == 0, "anew", result)
        check(sorted(os.listdir(target)) == ["big", "small"], "nothing else", os.listdir(target))
        listener.finish(signal.SIGTERM)


def full_disk(binaries: list[str]) -> None:
    """One line with the way out, and nothing that is not wanted stays."""
    copy = binaries[0]
    with nodes() as here:
        source, target = folders(here)
        run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(target))
        (source / "big").write_bytes(noise(5 * MIB))
        (source / "fits").write_bytes(noise(3 * MIB))
        here.shape("a", 40)
        listener = here.listen(copy, "b", f"--into {target}")
        done = here.call(copy, "a", "--to", "b", source / "big")
        lines = done.stderr.decode().splitlines()
        check(done.returncode == 1 and "no room there: free some" in lines[-1], "said so", lines)
        check(os.listdir(target) == [], "what cannot fit is not begun", os.listdir(target))
        # A stream tells no length: it ends where the disk does, and cannot go on.
        done = here.call(copy, "a", "--to", "b", "-", data=noise(6 * MIB))
        check(done.returncode == 1 and b"no room there" in done.stderr, "a stream", done.stderr)
        check(os.listdir(target) == [], "nothing of it stays", os.listdir(target))
        # The disk fills in the middle: the .part stays, and a second copy goes on.
        sender = here.world.start("send", copy,
                                  f"--to b {' '.join(here.options('a'))} {source}/fits",
                                  here.spaces["a"])  # fmt: skip
        await_part(target / "fits.part", MIB)
        with (target / "other").open("wb", buffering=0) as other:
            try:
                while other.write(bytes(4096)):
                    pass
            except OSError:
                pass
            other_size = other.tell()
            check(other_size > 0, "the disk fills")
            check(sender.wait() == 1, "it ends", sender.stderr())
        check("no room there" in sender.stderr(), "and says why", sender.stderr())
        (target / "other").unlink()
        before = (target / "fits.part").stat().st_size
        result = here.result(copy, "a", "--to", "b", source / "fits")
        check(result["resumed_bytes"] == before, "it goes on", (before, result["resumed_bytes"]))
        check(digest(target / "fits") == digest(source / "fits"), "all of it is right")
        listener.finish(signal.SIGTERM)


def discards(binaries: list[str]) -> None:
    """--discard-parts leaves nothing of what broke off; two senders at once do not mix."""
    copy = binaries[0]
    with nodes() as here:
        source, target = folders(here)
        (source / "big").write_bytes(noise(8 * MIB))
        here.shape("a", 40)
        listener = here.listen(copy, "b", f"--into {target} --discard-parts")
        sender = here.world.start("send", copy,
                                  f"--to b {' '.join(here.options('a'))} {source}/big",
                                  here.spaces["a"])  # fmt: skip
        await_part(target / "big.part", MIB)
        sender.process.send_signal(signal.SIGINT)
        check(sender.wait() == 1, "interrupted", sender.stderr())
        check("interrupted after 0 of 1 files" in sender.stderr(), "says so", sender.stderr())
        wait_for("its part is removed", lambda: os.listdir(target) == [])
        said = listener.finish(signal.SIGTERM)
        check(said["broken_senders"] == 1 and said["files"] == 0, "counted", said)


def nobody(binaries: list[str]) -> None:
    """Nobody, nobody with this key, nobody who copies: a line each."""
    copy = binaries[0]
    with nodes() as here:
        (source := here.world.path("file")).write_text("x")
        done = here.call(copy, "a", "--to", "b", "--wait", "300ms", source)
        lines = done.stderr.decode().splitlines()
        check(done.returncode == 1 and len(lines) == 1, "nobody answers", lines)
        listener = here.listen(copy, "b", f"--into {here.world.directory} --endpoint 7")
        done = here.call(copy, "a", "--to", "b", "--wait", "300ms", source)
        lines = done.stderr.decode().splitlines()
        check(done.returncode == 1 and "endpoint 0" in lines[-1], "another endpoint", lines)
        other = here.world.path("other-key")
        other.write_text("11" * 32 + "\n")
        other.chmod(0o600)
        done = here.call(copy, "a", "--key-file", other, "--to", "b", "--wait", "300ms", source)
        check(done.returncode == 1, "another key", done.stderr)
        listener.finish(signal.SIGTERM)


def open_security(binaries: list[str]) -> None:
    """Without a key each start says what that means; a key that others may read is refused."""
    copy = binaries[0]
    with nodes() as here:
        (source := here.world.path("file")).write_text("x")
        here.key.chmod(0o644)
        done = here.call(copy, "a", "--to", "b", source)
        lines = done.stderr.decode().splitlines()
        check(done.returncode == 1 and len(lines) == 1 and "key" in lines[0], "refused", lines)
        target = here.world.path("target")
        target.mkdir()
        plain = [word for word in here.options("b") if word not in ("--key-file", str(here.key))]
        listener = here.world.start("plain", copy, f"--listen --into {target} --security open "
                                    f"{' '.join(plain)}", here.spaces["b"])  # fmt: skip
        await_said(listener, "listening")
        check("security open: whoever reaches" in listener.stderr(), "says so", listener.stderr())
        command = [word for word in here.command(copy, "a", "--security", "open", "--to", "b",
                                                 source)
                   if word not in ("--key-file", str(here.key))]  # fmt: skip
        done = subprocess.run(command, capture_output=True, env=here.world.env, timeout=60,
                              check=False)  # fmt: skip
        check(done.returncode == 0 and b"security open" in done.stderr, "copies", done.stderr)
        check((target / "file").read_text() == "x", "the file is there")
        listener.finish(signal.SIGTERM)


def rate(binaries: list[str]) -> None:
    """The rate over time adds up to what was moved."""
    copy = binaries[0]
    with nodes() as here:
        source, target = folders(here)
        (source / "big").write_bytes(noise(6 * MIB))
        here.shape("a", 80)
        listener = here.listen(copy, "b", f"--into {target}")
        before_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        result = here.result(copy, "a", "--to", "b", source / "big")
        after_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        steps = result["rate"]["bytes"]
        begin_ns, step_ns = result["rate"]["begin_ns"], result["rate"]["step_ns"]
        check(before_ns < begin_ns < begin_ns + (len(steps) - 1) * step_ns < after_ns,
              "steps lie within its time", (before_ns, result["rate"], after_ns))  # fmt: skip
        check(abs(sum(steps) - result["moved_bytes"]) < 64 << 10, "adds up", result["rate"])
        check(len(result["peer"]["paths"]) == 2, "two paths", result["peer"])
        moved = [path["delivered_bytes"] for path in result["peer"]["paths"]]
        check(sum(moved) >= 6 * MIB and min(moved) > 0, "both carried it", moved)
        said = listener.finish(signal.SIGTERM)
        check(json.dumps(said["items"]) == json.dumps(result["items"]), "both tell the same", said)


main([files_and_folders, streams, outside, breaks, parts, full_disk, discards, nobody,
      open_security, rate])  # fmt: skip
