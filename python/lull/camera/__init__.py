# SPDX-License-Identifier: BSD-3-Clause
"""Camera latency: a sender and a receiver of images, measured side by side."""
