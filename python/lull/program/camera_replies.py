# SPDX-License-Identifier: BSD-3-Clause
"""Camera replies: what lull-cam says of its cameras by telemetry, as typed plain data."""

from lull.program.channel_replies import Columns
from lull.program.replies import Reply

# Where a latency begins, in the words of the program; what a reader must know of it.
ORIGINS = {
    "nic": "from the NIC's stamp of the last packet",
    "kernel": "from the kernel's stamp of the last packet",
    "bound": "upper bound: from the last look that did not find the last packet",
    "read": "from reading the last packet of the capture",
}


class Camera(Reply):
    """One camera; counts and latencies since the start."""

    name: str
    frames: int
    partial: int
    latency_p50_ns: int
    latency_p99_ns: int
    latency_max_ns: int
    fetched_p50_ns: int
    fetched_p99_ns: int


class Cameras(Columns):
    """/lull/cameras."""

    latency_from: str

    def rows(self) -> list[Camera]:
        """Camera by camera."""
        return self._rows(Camera)
