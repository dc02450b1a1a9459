/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC-32 of the 5-tuple modulo the number of workers, as published: no seed, no last step. For a
 * power of two that is what DPDK's example load_balancer does with its byte, CRC & (n - 1).
 *
 * The remainder without a division (Lemire, Kaser and Kurz, "Faster remainder by direct
 * computation", 2019): with m = 2^64 / n, rounded up, m * crc mod 2^64 is the fraction of crc / n,
 * exact for 32 bits.
 */
#include "scheduler.h"

__extension__ typedef unsigned __int128 crc32_wide;

struct crc32 {
	uint64_t inverse;
};

static size_t
crc32_state_size(const struct lull_dispatch_config *config)
{
	(void)config;
	return sizeof(struct crc32);
}

static void
crc32_init(void *state, const struct lull_schedule_view *view)
{
	struct crc32 *crc32 = state;

	crc32->inverse = UINT64_MAX / view->worker_count + 1; /* of one worker: 0, so remainder 0 */
}

static void
crc32_burst(void *state, const struct lull_schedule_view *view, const uint32_t *digests,
	    uint32_t count, uint16_t *workers)
{
	const struct crc32 *crc32 = state;

	(void)digests;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t fraction = crc32->inverse * view->crcs[i];

		workers[i] = (uint16_t)((crc32_wide)fraction * view->worker_count >> 64);
	}
}

const struct lull_scheduler lull_scheduler_crc32 = {
	.name = "crc32",
	.summary = "by the CRC-32 of addresses, ports and protocol, modulo the workers",
	.splits = false,
	.needs_crcs = true,
	.state_size = crc32_state_size,
	.init = crc32_init,
	.burst = crc32_burst,
};
