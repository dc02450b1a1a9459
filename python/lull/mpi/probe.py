# SPDX-License-Identifier: BSD-3-Clause
"""Probe: ask libfabric for the provider, and open what a rank would open.

A process of its own, `python -m lull.mpi.probe`, as libraries of others run in it and say on
standard error what is wrong. The layouts are those of libfabric's headers, which its ABI keeps.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

LIBRARY = "libfabric.so.1"
FILE = "liblull-fi.so"
NAME = b"lull"
API = 1 << 16 | 5  # what Open MPI 4.1 asks for
CAPS = 1 << 1 | 1 << 3  # FI_MSG, FI_TAGGED
FI_EP_RDM = 3
FI_AV_MAP = 1
FI_CQ_TAGGED = 4
FI_WAIT_NONE = 0
FI_RECV, FI_TRANSMIT = 1 << 10, 1 << 11
FI_ENABLE = 6
CQ_ENTRIES = 100

Pointer = ctypes.c_void_p


class FabricAttr(ctypes.Structure):
    """struct fi_fabric_attr."""

    _fields_ = (("fabric", Pointer), ("name", ctypes.c_char_p), ("prov_name", Pointer),
                ("prov_version", ctypes.c_uint32), ("api_version", ctypes.c_uint32))


class EpAttr(ctypes.Structure):
    """The beginning of struct fi_ep_attr."""

    _fields_ = (("type", ctypes.c_int),)


class Info(ctypes.Structure):
    """struct fi_info."""

    _fields_ = (("next", Pointer), ("caps", ctypes.c_uint64), ("mode", ctypes.c_uint64),
                ("addr_format", ctypes.c_uint32), ("src_addrlen", ctypes.c_size_t),
                ("dest_addrlen", ctypes.c_size_t), ("src_addr", Pointer), ("dest_addr", Pointer),
                ("handle", Pointer), ("tx_attr", Pointer), ("rx_attr", Pointer),
                ("ep_attr", ctypes.POINTER(EpAttr)), ("domain_attr", Pointer),
                ("fabric_attr", ctypes.POINTER(FabricAttr)), ("nic", Pointer))


class AvAttr(ctypes.Structure):
    """struct fi_av_attr."""

    _fields_ = (("type", ctypes.c_int), ("rx_ctx_bits", ctypes.c_int), ("count", ctypes.c_size_t),
                ("ep_per_node", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("map_addr", Pointer), ("flags", ctypes.c_uint64))


class CqAttr(ctypes.Structure):
    """struct fi_cq_attr."""

    _fields_ = (("size", ctypes.c_size_t), ("flags", ctypes.c_uint64), ("format", ctypes.c_int),
                ("wait_obj", ctypes.c_int), ("signaling_vector", ctypes.c_int),
                ("wait_cond", ctypes.c_int), ("wait_set", Pointer))


class Fid(ctypes.Structure):
    """struct fid, with the table of operations that follows in fabrics, domains and others."""

    _fields_ = (("fclass", ctypes.c_size_t), ("context", Pointer),
                ("own", ctypes.POINTER(Pointer)), ("ops", ctypes.POINTER(Pointer)))


# Places in the tables: the first is their size.
CLOSE, BIND, CONTROL = 1, 2, 3
DOMAIN = 1
AV_OPEN, CQ_OPEN, ENDPOINT = 1, 2, 3


@dataclass
class Found:
    """What the probe tells."""

    version: str = ""  # of libfabric; "": it is not there
    listed: bool = False
    opened: bool = False
    error: str = ""


class RefusedError(Exception):
    """A call returned an error."""


def _text(library: ctypes.CDLL, code: int) -> str:
    library.fi_strerror.restype = ctypes.c_char_p
    return str(library.fi_strerror(abs(code)).decode())


def _unloadable() -> str:
    """Why the provider's file cannot be loaded: libfabric keeps that to itself."""
    for folder in os.environ.get("FI_PROVIDER_PATH", "").split(":"):
        path = Path(folder.removeprefix("@")) / FILE
        if folder and path.exists():
            try:
                ctypes.CDLL(str(path))
            except OSError as error:
                return str(error)
    return ""


class Opening:
    """The calls that a rank makes, one after the other."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self.opened: list[ctypes._Pointer[Fid]] = []

    def _call(self, function: int | None, *arguments: object) -> None:
        assert function is not None
        code = ctypes.CFUNCTYPE(ctypes.c_int, *[Pointer] * len(arguments))(function)(*arguments)
        if code != 0:
            raise RefusedError(_text(self.library, code))

    def _open(self, table: ctypes._Pointer[ctypes.c_void_p], place: int, parent: object,
              argument: object) -> ctypes._Pointer[Fid]:
        out = ctypes.POINTER(Fid)()
        self._call(table[place], ctypes.cast(parent, Pointer), argument,  # type: ignore[arg-type]
                   ctypes.cast(ctypes.pointer(out), Pointer), None)
        self.opened.append(out)
        return out

    def run(self, info: ctypes._Pointer[Info]) -> None:
        """Fabric, domain, address vector, queue, endpoint; and the rails open with it."""
        fabric = ctypes.POINTER(Fid)()
        code = self.library.fi_fabric(info.contents.fabric_attr, ctypes.byref(fabric), None)
        if code != 0:
            raise RefusedError(_text(self.library, code))
        self.opened.append(fabric)
        domain = self._open(fabric.contents.ops, DOMAIN, fabric, ctypes.cast(info, Pointer))
        av_attr = AvAttr(type=FI_AV_MAP)
        cq_attr = CqAttr(size=CQ_ENTRIES, format=FI_CQ_TAGGED, wait_obj=FI_WAIT_NONE)
        table = domain.contents.ops
        av = self._open(table, AV_OPEN, domain, ctypes.addressof(av_attr))
        cq = self._open(table, CQ_OPEN, domain, ctypes.addressof(cq_attr))
        ep = self._open(table, ENDPOINT, domain, ctypes.cast(info, Pointer))
        for other, flags in ((av, 0), (cq, FI_TRANSMIT | FI_RECV)):
            self._call(ep.contents.own[BIND], ctypes.cast(ep, Pointer),
                       ctypes.cast(other, Pointer), flags)
        self._call(ep.contents.own[CONTROL], ctypes.cast(ep, Pointer), FI_ENABLE, None)

    def close(self) -> None:
        """The last first, as each stands on those before it."""
        for one in reversed(self.opened):
            self._call(one.contents.own[CLOSE], ctypes.cast(one, Pointer))


def probe(opening: bool) -> Found:
    """Look for the provider; with @p opening also open it."""
    found = Found()
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        found.error = str(error)
        return found
    library.fi_version.restype = ctypes.c_uint32
    number = library.fi_version()
    found.version = f"{number >> 16}.{number & 0xffff}"
    library.fi_dupinfo.restype = ctypes.POINTER(Info)
    library.fi_dupinfo.argtypes = [Pointer]
    hints = library.fi_dupinfo(None)
    hints.contents.caps = CAPS
    hints.contents.ep_attr.contents.type = FI_EP_RDM
    name = ctypes.create_string_buffer(NAME)  # ours: the hints are not given back
    hints.contents.fabric_attr.contents.prov_name = ctypes.addressof(name)
    info = ctypes.POINTER(Info)()
    code = library.fi_getinfo(API, None, None, ctypes.c_uint64(0), hints, ctypes.byref(info))
    if code != 0:
        found.error = _unloadable() or _text(library, code)
        return found
    found.listed = True
    if opening:
        calls = Opening(library)
        try:
            calls.run(info)
            found.opened = True
        except RefusedError as error:
            found.error = str(error)
        calls.close()
    return found


if __name__ == "__main__":
    print(json.dumps(asdict(probe("--open" in sys.argv[1:]))), flush=True)
