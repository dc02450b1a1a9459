# SPDX-License-Identifier: BSD-3-Clause
"""Model: the literature's measurements of sleep, live on this machine."""
