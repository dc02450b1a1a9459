# SPDX-License-Identifier: BSD-3-Clause
"""Env: the variables by which Open MPI takes the channel, and the forms they are written in."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lull.errors import LullError
from lull.program.child import CHECKOUT

PROVIDER = "lull"
PROVIDER_FILE = "liblull-fi.so"
PROVIDER_PATH = "FI_PROVIDER_PATH"
RAILS, KEY, SECURITY, PEERS = "FI_LULL_RAILS", "FI_LULL_KEY", "FI_LULL_SECURITY", "FI_LULL_PEERS"
OPEN = "open"
OPEN_MPI = {"pml": "cm", "mtl": "ofi", "mtl_ofi_provider_include": PROVIDER}
# As in fi/param.c: other commas are within a rail.
BETWEEN_RAILS = re.compile(r",(?=(?:kernel|kernel-busy|dpdk|node|node-busy|pair):)")
OWN = re.compile(r"FI_LULL_\w+")


@dataclass(frozen=True)
class Variable:
    """A parameter of the provider, and the option of ours that sets it."""

    name: str
    option: str
    metavar: str
    help: str
    choices: tuple[str, ...] = ()


# As fi/param.c defines them.
VARIABLES = (
    Variable(RAILS, "--rail", "RAIL", "A network port of each node, such as kernel:eth0; repeat it "
             "for each. The words are those of lull-channel-perf."),
    Variable(KEY, "--key", "FILE", "Key that all nodes share, of 'lull channel key'."),
    Variable(SECURITY, "--security", "", "Protection of packets; open needs no key.",
             ("sealed", "signed", OPEN)),
    Variable("FI_LULL_GOVERNOR", "--governor", "NAME",
             "How the library's own thread rests, with automatic progress."),
    Variable("FI_LULL_MAX_REST", "--max-rest", "US",
             "Longest rest while nothing comes, in us; 0: spin."),
    Variable("FI_LULL_PEER_TIMEOUT", "--peer-timeout", "MS",
             "Silence after which a peer is given up, in ms; 0: an hour."),
    Variable("FI_LULL_CONNECT_TIMEOUT", "--connect-timeout", "MS",
             "Time in which a peer has to answer for the first time, in ms."),
    Variable(PEERS, "--peers", "N", "Most peers of a rank."),
    Variable("FI_LULL_REPORT", "--report", "FILE", "Figures of each rank as JSON, at its end."),
)
NAMES = tuple(one.name for one in VARIABLES)


@dataclass(frozen=True)
class Setting:
    """Everything that the provider is told."""

    folders: str  # FI_PROVIDER_PATH
    lull: Mapping[str, str]  # FI_LULL_*, by name

    def variables(self) -> dict[str, str]:
        """For the environment of a rank, without what is Open MPI's."""
        return {PROVIDER_PATH: self.folders, **self.lull}

    def environment(self) -> dict[str, str]:
        """All of them, as the environment of mpirun has them."""
        return {**self.variables(),
                **{f"OMPI_MCA_{name}": value for name, value in OPEN_MPI.items()}}

    def words(self) -> list[str]:
        """The same as options of ours."""
        words = [f"--provider={self.folders}"]
        for one in VARIABLES:
            if one.name == RAILS:
                words += [f"--rail={rail}" for rail in self.rails()]
            elif one.name in self.lull:
                words.append(f"{one.option}={self.lull[one.name]}")
        return words

    def rails(self) -> list[str]:
        """Network ports."""
        return self.lull.get(RAILS, "").split()

    def sealed(self) -> bool:
        """Does it need a key?"""
        return self.lull.get(SECURITY) != OPEN

    def having(self, name: str, value: str) -> Setting:
        """The same with one variable more, or another value of it."""
        return replace(self, lull={**self.lull, name: value})


def choose(folder: str | None, rails: tuple[str, ...], given: Mapping[str, str | None]) -> Setting:
    """What the options say; @p given: texts of the other variables by name, None where not said."""
    for rail in rails:
        if not rail or rail.split() != [rail]:
            raise LullError(f"--rail '{rail}': one port without blanks; repeat --rail for each", 2)
    single = [one for rail in rails for one in BETWEEN_RAILS.split(rail) if one]
    lull = {RAILS: " ".join(single)} if single else {}
    lull.update({name: text for name, text in given.items() if text is not None})
    if KEY in lull:
        lull[KEY] = str(Path(lull[KEY]).absolute())
    if lull.get(SECURITY) == OPEN and KEY in lull:
        raise LullError("--security open needs no key: leave out --key, or say sealed or signed", 2)
    return Setting(provider_path(folder, os.environ), lull)


def require(setting: Setting) -> None:
    """Complain where the provider would offer nothing."""
    if not setting.rails():
        raise LullError("which network ports? --rail kernel:eth0, once for each "
                        f"(or set {RAILS})", 2)
    if setting.sealed() and KEY not in setting.lull:
        raise LullError("the nodes need a key: --key FILE ('lull channel key > FILE' makes one), "
                        "or --security open", 2)


# ---- the provider's folder ----

def provider_path(chosen: str | None, environment: Mapping[str, str]) -> str:
    """FI_PROVIDER_PATH: what is there already, with the folder of our provider."""
    if chosen is not None:
        return ":".join(str(Path(folder).absolute()) for folder in chosen.split(":"))
    there = environment.get(PROVIDER_PATH, "")
    if any(_holds(folder) for folder in there.split(":")):
        return there
    for folder in folders(environment):
        if _holds(folder):
            return f"{folder}:{there}" if there else str(folder)
    raise LullError(f"{PROVIDER_FILE} is not there (looked in "
                    f"{', '.join(str(folder) for folder in folders(environment))}): build lull "
                    "where libfabric-dev is installed, or name its folder with --provider")


def folders(environment: Mapping[str, str]) -> list[Path]:
    """Where it may lie: in the build tree, or where `make install` put it."""
    chosen = environment.get("LULL_BUILD")
    if chosen:
        return [Path(chosen).expanduser().absolute() / "fi"]
    if (CHECKOUT / "meson.build").exists():
        return [CHECKOUT / "build" / "fi"]
    prefix = CHECKOUT.parents[1]  # of PREFIX/share/lull
    return [prefix / "lib" / "lull" / "fi", *sorted(prefix.glob("lib/*-linux-gnu*/lull/fi")),
            prefix / "lib64" / "lull" / "fi"]


def _holds(folder: str | Path) -> bool:
    text = str(folder).removeprefix("@")  # libfabric's mark of order
    return bool(text) and (Path(text) / PROVIDER_FILE).is_file()


# ---- forms ----

def shell_lines(setting: Setting) -> str:
    """For `eval`, .profile, a job's script."""
    return "".join(f"export {name}={shlex.quote(value)}\n"
                   for name, value in setting.environment().items())


def conf_lines(setting: Setting) -> str:
    """For openmpi-mca-params.conf: mpirun gives each rank the variables in the list."""
    for name, value in setting.variables().items():
        if ";" in value or "\n" in value:
            raise LullError(f"{name}: openmpi-mca-params.conf cannot hold a value with ';' "
                            f"({value!r}): use the shell form", 2)
    pairs = ";".join(f"{name}={value}" for name, value in setting.variables().items())
    return "".join(f"{name} = {value}\n" for name, value in
                   {**OPEN_MPI, "mca_base_env_list": pairs}.items())


FORMATS: dict[str, Callable[[Setting], str]] = {
    "shell": shell_lines,
    "openmpi-mca-params.conf": conf_lines,
}
