# SPDX-License-Identifier: BSD-3-Clause
"""Small programs and libraries that are linked with a DPDK, as far as one can see from outside."""

import subprocess
from pathlib import Path

ENTRY = "int rte_eal_init(void); int rte_eal_init(void) { return 0; }\n"
# Runs the script beside it, PROGRAM.sh, in its place.
SCRIPT = """
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 4);
	(void)argc;
	if (length < 0)
		return 125;
	snprintf(path + length, 4, ".sh");
	execv(path, argv);
	return 126;
}
"""


def text(words: str) -> str:
    """Source of a file with these words in it."""
    return f'extern const char lull_words[];\nconst char lull_words[] = "{words}";\n'


def build(path: Path, source: str, *options: str) -> Path:
    """Compile and link one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = ["cc", "-x", "c", "-", "-Wl,--no-as-needed", "-o", str(path), *options]
    subprocess.run(command, input=source, text=True, check=True)
    return path


def library(path: Path, source: str = ENTRY, *options: str) -> Path:
    """A shared object, by the soname that its file name says."""
    return build(path, source, "-shared", "-fPIC", f"-Wl,-soname,{path.name}", *options)


def program(path: Path, source: str = SCRIPT, *, needs: tuple[Path, ...] = (),
            options: tuple[str, ...] = (), found: bool = True) -> Path:
    """A program that needs these libraries and, unless it is to miss them, finds them."""
    where = [f"-Wl,-rpath,{one.parent}" for one in needs] if found else []
    return build(path, source, "-Wl,--allow-shlib-undefined", "-x", "none", *map(str, needs),
                 *where, *options)


def dpdk(folder: Path, abi: str) -> Path:
    """The library of an EAL."""
    return library(folder / f"librte_eal.so.{abi}")
