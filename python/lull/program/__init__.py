# SPDX-License-Identifier: BSD-3-Clause
"""Program: lull programs that run, and what they and the machine say."""
