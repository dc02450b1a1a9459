# SPDX-License-Identifier: BSD-3-Clause
"""Wrap: DPDK programs that nobody changed, with the plugin."""
