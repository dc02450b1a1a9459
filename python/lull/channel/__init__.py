# SPDX-License-Identifier: BSD-3-Clause
"""Channel: several network cards as one reliable link; what `lull channel` does with it."""
