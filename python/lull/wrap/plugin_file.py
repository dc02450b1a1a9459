# SPDX-License-Identifier: BSD-3-Clause
"""Plugin file: where liblull_plugin.so is, one for each ABI of DPDK, and whether EAL takes it."""

import os
import re
import stat
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from lull.errors import LullError
from lull.program.child import CHECKOUT
from lull.wrap import program_dpdk
from lull.wrap.program_dpdk import Unwrapped

NAME = "liblull_plugin.so"
FOLDER = "dpdk-{}"  # of the plugin for one ABI
INSTALLED = (Path("/usr/local"), Path("/usr"))


def choose(chosen: Path | None, program: Path,
           environment: Mapping[str, str]) -> tuple[Path, str]:
    """What the user chose, or else the plugin for the program's DPDK; with a remark, as find().

    Unwrapped says why there is none for this program.
    """
    if chosen is not None:
        return _accepted(chosen, "choose a file with --plugin"), ""
    abi = program_dpdk.find(program, environment)
    runs_on = f"{program.name} runs on DPDK {program_dpdk.release(abi)}"
    if abi < program_dpdk.ABI_OF_FIRST:
        first = program_dpdk.release(program_dpdk.ABI_OF_FIRST)
        raise Unwrapped(f"{runs_on}, and the plugin needs {first} or later")
    there = abis()
    if there and abi not in there:
        known = ", ".join(program_dpdk.release(one) for one in there)
        raise Unwrapped(
            f"{runs_on}, and there are plugins for {known} only: build one by 'meson setup "
            "--reconfigure build -Ddpdk_prefixes=PREFIX' and 'make build', where PREFIX/include "
            f"holds the headers of {program_dpdk.release(abi)}")
    return find(abi)


def find(abi: int) -> tuple[Path, str]:
    """A plugin for this ABI that EAL accepts, and a remark when it is not the first one there is.

    By $LULL_BUILD there is one candidate; else the build directory of the checkout goes before
    installed ones.
    """
    places = folders()
    paths = [place / FOLDER.format(abi) / NAME for place in places]
    if len(places) == 1:
        return _accepted(paths[0], "build it, or unset LULL_BUILD"), ""
    found = [path for path in paths if path.is_file()]
    if not found:
        build_it = f"'make build' or {_install_it()}"
        raise LullError(f"{NAME} is neither built nor installed: {build_it}, "
                        "or name the file with --plugin")
    for path in found:
        if not refusal(path):
            remark = f"{refusal(found[0])}: taking {path} instead" if path != found[0] else ""
            return path.resolve(), remark
    return _accepted(found[0], ""), ""


def abis() -> list[int]:
    """ABIs of DPDK for which there is a plugin."""
    pattern = re.compile(FOLDER.format(r"(\d+)"))
    found = (pattern.fullmatch(path.parent.name)
             for place in folders() for path in place.glob(f"{FOLDER.format('*')}/{NAME}"))
    return sorted({int(match[1]) for match in found if match})


def folders() -> list[Path]:
    """Where folders with plugins may be, the best place first."""
    build = os.environ.get("LULL_BUILD")
    if build:
        return [Path(build).expanduser().absolute() / "plugin"]
    multiarch = sysconfig.get_config_var("MULTIARCH")
    libraries = [f"lib/{multiarch}"] if multiarch else []
    # Installed, this file is below PREFIX/share/lull/python/lull.
    prefixes = dict.fromkeys((CHECKOUT.parent.parent, *INSTALLED))
    return [CHECKOUT / "build" / "plugin",
            *(prefix / library / "lull"
              for prefix in prefixes for library in (*libraries, "lib64", "lib"))]


def refusal(path: Path) -> str:
    """Why EAL would not load this file, without the remedy; "" when it would.

    EAL looks at the file and at every directory above it, behind all symbolic
    links, and refuses to load what anybody could have written.
    """
    real = path.resolve()
    for place in (real, *real.parents):
        if place.stat().st_mode & stat.S_IWOTH:
            where = "" if place == real else f" lies below {place}, which"
            return f"{real}{where} is world-writable, and DPDK loads no such plugin"
    return ""


def _accepted(path: Path, remedy: str) -> Path:
    try:
        if not path.is_file():
            what = "is no file" if path.exists() else "is missing"
            raise LullError(f"{path} {what}: {remedy}")
        why = refusal(path)
    except OSError as error:
        raise LullError(f"{error.filename}: {error.strerror}") from None
    if why:
        raise LullError(f"{why}: {_make_safe(path.resolve())}")
    if not os.access(path, os.R_OK):
        raise LullError(f"{path} cannot be read: permission denied")
    return path.resolve()


def _make_safe(path: Path) -> str:
    """What to do about a place that anybody can write to."""
    writable = [place for place in (path, *path.parents) if place.stat().st_mode & stat.S_IWOTH]
    # A directory such as /tmp is so on purpose.
    if any(place.stat().st_mode & stat.S_ISVTX for place in writable):
        return (f"install it ({_install_it()}), or copy it to a safe place "
                "and name that with --plugin")
    return f"'chmod o-w {' '.join(map(str, writable))}', or install it ({_install_it()})"


def _install_it() -> str:
    if (CHECKOUT / "meson.build").exists():
        return f"'sudo make install' in {CHECKOUT}"
    return "'sudo make install' in the sources of lull"
