# SPDX-License-Identifier: BSD-3-Clause
"""Job key: a new key for one job, on its nodes for as long as it runs.

It goes to a node on the standard input of a command that the agent carries there, so it is in no
command line and no environment, and with ssh nobody on the way reads it. On the node it is a file
of this user alone, in memory, that no other user can guess or replace: /dev/shm is sticky.
"""

from __future__ import annotations

import secrets
import signal
import sys
from types import TracebackType
from typing import Self

from lull.channel.key import key_line
from lull.errors import LullError
from lull.mpi.nodes import Cluster

FOLDER = "/dev/shm"  # noqa: S108 - the name is random, the file closed to others
# Nodes may share the folder, so the file appears whole, with the same content from each.
WRITE = ('umask 077 && t=$(mktemp "$0.XXXXXX") && { cat >"$t" && mv -f "$t" "$0" || '
         '{ rm -f "$t"; exit 1; }; }')
SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class JobKey:
    """A key on all nodes; leaving a `with` block removes it there."""

    def __init__(self, cluster: Cluster) -> None:
        self.path = f"{FOLDER}/lull-mpi-{secrets.token_hex(8)}.key"
        self._cluster = cluster
        self._there = set(cluster.places())  # nodes that may have it

    def __enter__(self) -> Self:
        try:
            self._write()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._remove()

    def _write(self) -> None:
        places = self._cluster.places()
        ends = self._cluster.run_all([["sh", "-c", WRITE, self.path]] * len(places),
                                     key_line() + "\n")
        self._there = {node for node, end in zip(places, ends, strict=True)
                       if not isinstance(end, LullError) and end.status == 0}
        for node, end in zip(places, ends, strict=True):
            if isinstance(end, LullError):
                raise end
            if end.status != 0:
                raise LullError(f"node {node.name}: the key of the job cannot be written to "
                                f"{FOLDER}: {end.last_words() or f'status {end.status}'}; "
                                "name a key file with --key")

    def _remove(self) -> None:
        """A second Ctrl-C must not leave it there."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            places = self._cluster.places()
            ends = self._cluster.run_all([["rm", "-f", self.path]] * len(places))
            for node, end in zip(places, ends, strict=True):
                if node in self._there and (isinstance(end, LullError) or end.status != 0):
                    print(f"lull: node {node.name}: the key of the job is still there: "
                          f"rm {self.path}", file=sys.stderr)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
