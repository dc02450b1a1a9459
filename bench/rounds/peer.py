# SPDX-License-Identifier: BSD-3-Clause
"""Peer: something that bundles rails, or uses one, and takes its turn in each round."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from scene import Kind, Scene
from station import Figures, Station


class Peer:
    """What is told of it here, a class of its own overrides."""

    name: str
    packages: Sequence[str] = ()
    programs: Sequence[str] = ()
    does: Sequence[Kind] = ()
    remark: str = ""

    def takes(self, where: Scene) -> bool:
        """Whether it takes part in a scene."""
        return where.what in self.does

    def missing(self, where: Scene) -> str:
        """Why it cannot take part on this machine; nothing: it can."""
        absent = [name for name in self.programs if shutil.which(name) is None]
        if not absent:
            return ""
        return f"{absent[0]} is not installed: apt-get install {' '.join(self.packages)}"

    def measure(self, station: Station, where: Scene) -> Figures:
        """Figures of one run; PeerError: why there are none."""
        raise NotImplementedError
