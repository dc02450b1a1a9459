# SPDX-License-Identifier: BSD-3-Clause
"""Plugin file: where liblull_plugin.so is, and whether EAL will load it from there."""

import os
import stat
import sysconfig
from pathlib import Path

from lull.child import CHECKOUT
from lull.errors import LullError

NAME = "liblull_plugin.so"
INSTALLED = (Path("/usr/local"), Path("/usr"))


def find(chosen: Path | None = None) -> tuple[Path, str]:
    """A plugin that EAL accepts, and a remark when it is not the first one there is.

    Chosen by hand or by $LULL_BUILD there is one candidate; else the build
    directory of the checkout goes before installed ones.
    """
    build = os.environ.get("LULL_BUILD")
    if chosen is not None:
        return _accepted(chosen, "choose a file with --plugin"), ""
    if build:
        path = Path(build).expanduser().absolute() / "plugin" / NAME
        return _accepted(path, "build it, or unset LULL_BUILD"), ""
    found = [path for path in candidates() if path.is_file()]
    if not found:
        build_it = f"'make build' or {_install_it()}"
        raise LullError(f"{NAME} is neither built nor installed: {build_it}, "
                        "or name the file with --plugin")
    for path in found:
        if not refusal(path):
            remark = f"{refusal(found[0])}: taking {path} instead" if path != found[0] else ""
            return path.resolve(), remark
    return _accepted(found[0], ""), ""


def candidates() -> list[Path]:
    """Where a plugin may be, the best place first."""
    multiarch = sysconfig.get_config_var("MULTIARCH")
    folders = [f"lib/{multiarch}"] if multiarch else []
    # Installed, this file is below PREFIX/share/lull/python/lull.
    prefixes = dict.fromkeys((CHECKOUT.parent.parent, *INSTALLED))
    return [CHECKOUT / "build" / "plugin" / NAME,
            *(prefix / folder / "lull" / NAME
              for prefix in prefixes for folder in (*folders, "lib64", "lib"))]


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
