# SPDX-License-Identifier: BSD-3-Clause
"""View: images of cameras in a browser."""
