# SPDX-License-Identifier: BSD-3-Clause
"""Flow: what lull-flow recorded, as tables, plots and reports."""
