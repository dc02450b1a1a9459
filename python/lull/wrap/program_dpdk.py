# SPDX-License-Identifier: BSD-3-Clause
"""Program DPDK: which DPDK a program is linked with.

What a program loads is its loader's to say, so that is asked, in the environment that the
program will have: LD_LIBRARY_PATH, RUNPATH, libraries of libraries. A DPDK that is linked
statically, into the program or one of its libraries, is known by the name of its folder of
drivers, which EAL always holds.
"""

import mmap
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.hash import GNUHashSection
from elftools.elf.sections import SymbolTableSection
from elftools.elf.segments import InterpSegment

LOADER_S = 30.0  # it only maps files; a slow disk may take a while
ABI_OF_FIRST = 23  # of 22.11, the first release that the plugin is made for
SONAME = re.compile(r"librte_(?:eal|ethdev)\.so\.(\d+)(?:\.\d+)*")
LISTED = re.compile(r"^\s*(\S+) => (/.*) \(0x[0-9a-f]+\)$|^\s*(\S+) => not found$", re.MULTILINE)
# RTE_EAL_PMD_PATH ends with the ABI version, and older text with the release itself.
DRIVERS = re.compile(rb"/pmds-(\d+)\.\d+\0")
RELEASE = re.compile(rb"DPDK (\d\d)\.(\d\d)\.\d")
ENTRY = "rte_eal_init"  # who exports this exports all of DPDK


class Unwrapped(Exception):  # noqa: N818 - told, not failed
    """One sentence, with the way out, about a program that runs without the plugin."""


@dataclass(frozen=True)
class Linked:
    """What a file takes from others, and what it offers them."""

    loader: str  # "": it loads nothing
    needed: tuple[str, ...]
    entry: bool  # others may call DPDK in it


def release(abi: int) -> str:
    """The long term release whose libraries have this number: 23 is 22.11."""
    return f"{abi - 1}.11"


def abi_of(year: int, month: int) -> int:
    """The number in the names of a release's libraries: 22.11, 23.03 and 23.07 are 23."""
    return year + 1 if month >= 11 else year


def find(program: Path, environment: Mapping[str, str]) -> int:
    """ABI of the DPDK that the program will run on, or Unwrapped."""
    name = program.name
    try:
        with program.open("rb") as file:
            start = file.read(128)
            if start.startswith(b"#!"):
                line = start[2:].splitlines()[0].decode(errors="replace").strip()
                raise Unwrapped(f"{name} is a script for {line.split()[0] if line else '/bin/sh'}: "
                                "wrap the program that it starts, or choose a plugin with --plugin")
            linked = look(file)
    except OSError as error:
        raise Unwrapped(f"{program} cannot be looked at ({error.strerror}): "
                        "choose a plugin with --plugin") from None
    except ELFError:
        raise Unwrapped(f"{name} is no program that can be linked with DPDK: "
                        "choose a plugin with --plugin if it loads one") from None
    files = dict(libraries(program, linked, environment))
    for soname in files:
        found = SONAME.fullmatch(soname)
        if found:
            return int(found[1])
    return inside(program, linked, [path for path in files.values() if path is not None])


def look(file: BinaryIO) -> Linked:
    """What stands in the file itself."""
    elf = ELFFile(file)
    loader = ""
    for segment in elf.iter_segments():
        if isinstance(segment, InterpSegment):
            loader = segment.get_interp_name()
    dynamic = elf.get_section_by_name(".dynamic")
    needed: tuple[str, ...] = ()
    if isinstance(dynamic, DynamicSection):
        needed = tuple(tag.needed  # type: ignore[attr-defined] # those of DT_NEEDED have it
                       for tag in dynamic.iter_tags("DT_NEEDED"))
    return Linked(loader, needed, exports(elf))


def exports(elf: ELFFile) -> bool:
    """Does it offer DPDK to what it loads?"""
    table = elf.get_section_by_name(".gnu.hash")
    if isinstance(table, GNUHashSection):
        return table.get_symbol(ENTRY) is not None
    symbols = elf.get_section_by_name(".dynsym")
    found = symbols.get_symbol_by_name(ENTRY) if isinstance(symbols, SymbolTableSection) else None
    return any(symbol["st_shndx"] != "SHN_UNDEF" for symbol in found or ())


def libraries(program: Path, linked: Linked,
              environment: Mapping[str, str]) -> Iterator[tuple[str, Path | None]]:
    """Names of all libraries that it will load, in the loader's order, and where they are."""
    if linked.loader:
        try:
            done = subprocess.run([linked.loader, "--list", program], env=dict(environment),
                                  capture_output=True, text=True, errors="replace",
                                  timeout=LOADER_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            done = None
        for name, path, missing in LISTED.findall(done.stdout) if done else ():
            yield (name, Path(path)) if path else (missing, None)
    # A loader that does not tell; its program will hardly run.
    for name in linked.needed:
        if SONAME.fullmatch(name):
            yield name, None


def inside(program: Path, linked: Linked, others: list[Path]) -> int:
    """The ABI of a DPDK that is linked statically, or Unwrapped."""
    abi = carried(program)
    if abi is not None and not linked.entry:
        raise Unwrapped(f"{program.name} has DPDK {release(abi)} linked statically and exports "
                        "none of its functions: link it with --export-dynamic")
    if abi is not None:
        return abi
    for path in others:
        try:
            with path.open("rb") as file:
                if look(file).entry:
                    abi = carried(path)
        except (OSError, ELFError):
            continue
        if abi is not None:
            return abi
    raise Unwrapped(f"{program.name} is not linked with DPDK: "
                    "choose a plugin with --plugin if it loads DPDK later")


def carried(path: Path) -> int | None:
    """The ABI of a DPDK whose EAL is part of this file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        found = DRIVERS.search(text)
        if found:
            return int(found[1])
        found = RELEASE.search(text)
        return abi_of(int(found[1]), int(found[2])) if found else None
