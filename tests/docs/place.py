# SPDX-License-Identifier: BSD-3-Clause
"""A machine of the test's own: what pages tell to do happens there, and nothing of it stays.

Namespaces for mounts, network, processes; the checkout, /etc and /usr/local are overlays whose
upper half is memory, /tmp and /run are empty. No hugepage is to be seen. The network has the
interfaces that pages name, each a veth with nobody behind it. Root enters as root; anybody else as
the root of a user namespace, which may do all of this too where the kernel lets users have one.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

INTERFACES = ("eth0", "eth1", "eth2", "veth0")
POOL = Path("/sys/kernel/mm/hugepages")
STAGE = Path("/mnt")
USER = 65534
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
INSIDE = "LULL_DOCS_INSIDE"


class Lacking(Exception):
    """This machine does not let us have a place."""


def enter() -> None:
    """Start this program again inside, and end as it does; returns when we are there."""
    if os.environ.pop(INSIDE, ""):
        return
    for tool in ("unshare", "ip", "setpriv", "mount"):
        if shutil.which(tool, path=PATH) is None:
            raise Lacking(f"needs {tool}(1)")
    words = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
    if os.geteuid() != 0:
        words += ["--user", "--map-root-user"]
    tried = subprocess.run([*words, "mount", "-t", "tmpfs", "none", str(STAGE)],
                           capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        raise Lacking(f"needs namespaces of its own: {tried.stderr.strip()}")
    done = subprocess.run([*words, sys.executable, *sys.argv], check=False,
                          env={**os.environ, INSIDE: str(os.geteuid() + 1)})
    sys.exit(done.returncode)


def run(*words: str | Path) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Lacking(f"{' '.join(map(str, words))}: {done.stderr.strip()}")


class Place:
    """The place, furnished. `real`: the caller is root on this machine, too."""

    def __init__(self, root: Path, build: Path, real: bool) -> None:
        self.root, self.real = root, real
        self.long = bool(os.environ.get("LULL_LONG"))
        self.home = Path("/tmp/newcomer")
        run("mount", "--make-rprivate", "/")
        run("mount", "-t", "tmpfs", "none", STAGE)
        self._cover(root, build)
        self._overlay(Path("/etc"), Path("/etc"))
        if real:
            self._overlay(Path("/usr/local"), Path("/usr/local"))
        else:  # its folders belong to somebody whom this namespace does not know
            run("mount", "-t", "tmpfs", "-o", "mode=755", "none", "/usr/local")
        if Path("/var/cache/ldconfig").exists():  # `make install` ends with ldconfig
            run("mount", "-t", "tmpfs", "none", "/var/cache/ldconfig")
        run("mount", "-t", "proc", "proc", "/proc")
        self._hide_hugepages()
        self._network()
        self._users()
        os.chdir(root)

    def _overlay(self, lower: Path, target: Path) -> None:
        """What is written to it goes to memory; what is there can be read."""
        upper, work = (STAGE / kind / lower.name for kind in ("upper", "work"))
        for folder in (upper, work):
            folder.mkdir(parents=True)
        shutil.copystat(lower, upper)
        run("mount", "-t", "overlay", "-o", f"lowerdir={lower},upperdir={upper},workdir={work}",
            "overlay", target)

    def _cover(self, root: Path, build: Path) -> None:
        """The checkout at its own path, with this build in build/; then empty /tmp and /run."""
        copy, kept = STAGE / "checkout", STAGE / "build"
        for folder in (copy, kept):
            folder.mkdir()
        run("mount", "--bind", build, kept)
        self._overlay(root, copy)
        for path in ("/tmp", "/run"):
            run("mount", "-t", "tmpfs", "-o", "mode=1777" if path == "/tmp" else "mode=755",
                "none", path)
        # Below a home that is its owner's alone, as root's, nobody else finds the checkout.
        for folder in reversed(root.parents):
            if not folder.stat().st_mode & stat.S_IXOTH:
                run("mount", "-t", "tmpfs", "-o", "mode=755", "none", folder)
                break
        root.mkdir(parents=True, exist_ok=True)
        run("mount", "--move", copy, root)
        if build != root / "build":
            (root / "build").mkdir(exist_ok=True)
            self._overlay(kept, root / "build")

    def _hide_hugepages(self) -> None:
        """A pool without a page, as a kernel shows that nobody has told of hugepages."""
        pool = STAGE / "hugepages"
        folder = pool / "hugepages-2048kB"
        folder.mkdir(parents=True)
        for name in ("nr", "free", "resv", "surplus", "nr_overcommit"):
            (folder / f"{name}_hugepages").write_text("0\n")
        if POOL.exists():
            run("mount", "--bind", pool, POOL)
        if Path("/dev/hugepages").exists():
            run("mount", "-t", "tmpfs", "none", "/dev/hugepages")

    def _network(self) -> None:
        run("ip", "link", "set", "lo", "up")
        for name in INTERFACES:
            run("ip", "link", "add", name, "type", "veth", "peer", "name", f"{name}-peer")
            for end in (name, f"{name}-peer"):
                Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1")
                run("ip", "link", "set", end, "arp", "off", "up")
        hosts = Path("/etc/hosts")
        new = hosts.with_name("hosts.new")  # written anew: it may be somebody else's
        new.write_text(f"{hosts.read_text()}\n127.0.0.1 collector\n")
        new.rename(hosts)

    def _users(self) -> None:
        self.home.mkdir()
        tools = STAGE / "bin"
        tools.mkdir()
        works = self.real and shutil.which("sudo", path=PATH) and subprocess.run(
            ["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
        if not works:  # whoever runs what says sudo is root here
            shim = tools / "sudo"
            shim.write_text('#!/bin/sh\nexec "$@"\n')
            shim.chmod(0o755)
        shutil.rmtree(self.root / "out", ignore_errors=True)
        if self.real:
            # Who has a checkout may write into it.
            build = self.root / "build"
            for path in (self.home, self.root, build, *build.iterdir()):
                if not path.is_symlink():
                    os.chown(path, USER, USER)

    def command(self, words: list[str], root: bool) -> list[str]:
        """The same as root, or as an ordinary user."""
        name = "root" if root else "user"
        env = ["env", "-i", f"PATH={STAGE / 'bin'}:{PATH}", f"HOME={self.home}", f"USER={name}",
               "LANG=C.UTF-8", "TERM=dumb"]
        if root:
            return [*env, *words]
        if self.real:
            who = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
                   "--inh-caps=-all"]
        else:
            who = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
        return [*who, *env, *words]
