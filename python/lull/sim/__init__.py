# SPDX-License-Identifier: BSD-3-Clause
"""Simulation: many runs of lull-sim, their tables, plots and the scoreboard."""
