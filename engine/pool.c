/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "error.h"
#include "port.h"

/* Per-core cache: a burst of any size comes from it without touching the shared ring. */
#define POOL_CACHE 256

struct rte_mempool *
lull_pool_create(const char *name, uint32_t mbuf_count, uint16_t len_bytes, char *error)
{
	return lull_pool_create_private(name, mbuf_count, len_bytes, 0, error);
}

struct rte_mempool *
lull_pool_create_private(const char *name, uint32_t mbuf_count, uint16_t len_bytes,
			 uint16_t private_bytes, char *error)
{
	uint32_t room = LULL_MAX((uint32_t)len_bytes + RTE_PKTMBUF_HEADROOM,
				 (uint32_t)RTE_MBUF_DEFAULT_BUF_SIZE);
	uint32_t cache = LULL_MIN(POOL_CACHE, mbuf_count / 2);
	struct rte_mempool *pool;

	if (room > UINT16_MAX) {
		lull_engine_error(error, -EINVAL, "packets of %u bytes do not fit a buffer",
				  len_bytes);
		return NULL;
	}
	pool = rte_pktmbuf_pool_create(name, mbuf_count, cache, private_bytes, (uint16_t)room,
				       (int)rte_socket_id());
	if (pool == NULL)
		lull_engine_error(
			error, -rte_errno,
			"no memory for %u packet buffers (%u MB, %s); lower ring, or free "
			"more hugepages",
			mbuf_count, (uint32_t)((uint64_t)mbuf_count * (room + 256) >> 20),
			strerror(rte_errno));
	return pool;
}
