# SPDX-License-Identifier: BSD-3-Clause
"""The `lull` command: run, watch, change and judge DPDK loops that rest."""

__version__ = "0.1.0"
