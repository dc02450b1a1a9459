# SPDX-License-Identifier: BSD-3-Clause
"""Doctor: what this machine offers and what it lacks."""
