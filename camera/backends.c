/* SPDX-License-Identifier: BSD-3-Clause */
#include "backend.h"

/* A new back end is one new file and one line here. */
const struct camera_backend *const camera_backends[] = {
	&camera_kernel, &camera_kernel_busy, &camera_dpdk, &camera_pcap, NULL,
};
