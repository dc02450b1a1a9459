# SPDX-License-Identifier: BSD-3-Clause
"""Demo: governors side by side on this machine, and a judgement of them."""
