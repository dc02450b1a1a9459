# SPDX-License-Identifier: BSD-3-Clause
"""Entry point of `python -m lull`."""

import sys

from lull.cli import main


def start() -> None:
    """Run the command line and leave with its exit status."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    start()
