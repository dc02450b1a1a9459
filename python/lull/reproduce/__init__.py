# SPDX-License-Identifier: BSD-3-Clause
"""Reproduce: published figures beside simulated and live ones."""
