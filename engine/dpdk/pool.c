/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>

#include "host/error.h"
#include "port.h"

/* Per-core cache: a burst of any size comes from it without touching the shared ring. */
#define POOL_CACHE 256

/*
 * The AF_XDP driver tells the kernel of as much memory as the buffers would take side by side, and
 * buffers behind that end are lost one by one. Without huge pages a pool leaves gaps at page ends,
 * unless it is told that no device needs each buffer in one piece of physical memory.
 */
static struct rte_mempool *
pool_packed(const char *name, uint32_t mbuf_count, uint32_t cache, uint16_t private_bytes,
	    uint16_t room)
{
	uint32_t size = (uint32_t)sizeof(struct rte_mbuf) + private_bytes + room;
	struct rte_pktmbuf_pool_private private = { .mbuf_data_room_size = room,
						    .mbuf_priv_size = private_bytes };
	struct rte_mempool *pool;
	int rc;

	pool = rte_mempool_create_empty(name, mbuf_count, size, cache, sizeof(private),
					(int)rte_socket_id(), RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (pool == NULL)
		return NULL;
	rc = rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL);
	rte_pktmbuf_pool_init(pool, &private);
	if (rc == 0)
		rc = rte_mempool_populate_default(pool);
	if (rc < 0) {
		rte_mempool_free(pool);
		rte_errno = -rc;
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

static struct rte_mempool *
pool_create(const char *name, uint32_t mbuf_count, uint16_t len_bytes, uint16_t private_bytes,
	    bool packed, struct lull_error *error)
{
	uint32_t room = LULL_MAX((uint32_t)len_bytes + RTE_PKTMBUF_HEADROOM,
				 (uint32_t)RTE_MBUF_DEFAULT_BUF_SIZE);
	uint32_t cache = LULL_MIN(POOL_CACHE, mbuf_count / 2);
	struct rte_mempool *pool;

	if (room > UINT16_MAX) {
		lull_error_set(error, -EINVAL, "packets of %u bytes do not fit a buffer",
			       len_bytes);
		return NULL;
	}
	if (packed)
		pool = pool_packed(name, mbuf_count, cache, private_bytes, (uint16_t)room);
	else
		pool = rte_pktmbuf_pool_create(name, mbuf_count, cache, private_bytes,
					       (uint16_t)room, (int)rte_socket_id());
	if (pool == NULL)
		lull_error_set(error, -rte_errno,
			       "no memory for %u packet buffers (%u MB, %s); lower ring, or free "
			       "more hugepages",
			       mbuf_count, (uint32_t)((uint64_t)mbuf_count * (room + 256) >> 20),
			       strerror(rte_errno));
	return pool;
}

struct rte_mempool *
lull_pool_create(const char *name, uint32_t mbuf_count, uint16_t len_bytes,
		 struct lull_error *error)
{
	return pool_create(name, mbuf_count, len_bytes, 0, false, error);
}

struct rte_mempool *
lull_pool_create_private(const char *name, uint32_t mbuf_count, uint16_t len_bytes,
			 uint16_t private_bytes, struct lull_error *error)
{
	return pool_create(name, mbuf_count, len_bytes, private_bytes, false, error);
}

struct rte_mempool *
lull_pool_create_packed(const char *name, uint32_t mbuf_count, uint16_t len_bytes,
			uint16_t private_bytes, struct lull_error *error)
{
	return pool_create(name, mbuf_count, len_bytes, private_bytes, true, error);
}
