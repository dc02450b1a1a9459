/* SPDX-License-Identifier: BSD-3-Clause */
#include "frames.h"

#include <stdlib.h>
#include <string.h>

#include <rte_memcpy.h>
#include <rte_ring.h>

#include "base/assert.h"
#include "engine/dpdk/memory.h"

/* Of frames that are copied; longer ones get memory of their own until they are used again. */
#define COPY_BYTES 2048

struct flow_frames {
	uint32_t total, there, worker_count;
	bool copies;
	size_t stride;
	uint8_t *memory;
	struct rte_mbuf **list; /* those that are there, the last given last */
	struct rte_ring *returned[LULL_DISPATCH_WORKERS_MAX];
};

static struct rte_mbuf *
frames_at(const struct flow_frames *frames, uint32_t index)
{
	return (struct rte_mbuf *)(void *)(frames->memory + index * frames->stride);
}

static uint8_t *
frames_room(struct rte_mbuf *pkt)
{
	return (uint8_t *)(pkt + 1) + LULL_PIPELINE_PRIVATE;
}

static bool
frames_make(struct flow_frames *frames)
{
	size_t ring_bytes = (size_t)rte_ring_get_memsize(rte_align32pow2(frames->total + 1));

	for (uint32_t i = 0; i < frames->worker_count; i++) {
		frames->returned[i] =
			lull_memory_zalloc("lull_frames", ring_bytes, LULL_MEMORY_ANY_NODE);
		if (frames->returned[i] == NULL ||
		    rte_ring_init(frames->returned[i], "frames", frames->total,
				  RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ) != 0)
			return false;
	}
	frames->list = lull_memory_zalloc("lull_frames", frames->total * sizeof(*frames->list),
					  LULL_MEMORY_ANY_NODE);
	frames->memory = lull_memory_zalloc("lull_frames", frames->total * frames->stride,
					    LULL_MEMORY_ANY_NODE);
	return frames->list != NULL && frames->memory != NULL;
}

struct flow_frames *
flow_frames_create(uint32_t count, uint32_t worker_count, bool copies)
{
	struct flow_frames *frames =
		lull_memory_zalloc("lull_frames", sizeof(*frames), LULL_MEMORY_ANY_NODE);

	if (frames == NULL)
		return NULL;
	frames->total = count;
	frames->worker_count = worker_count;
	frames->copies = copies;
	frames->stride =
		sizeof(struct rte_mbuf) + LULL_PIPELINE_PRIVATE + (copies ? COPY_BYTES : 0);
	if (!frames_make(frames)) {
		flow_frames_destroy(frames);
		return NULL;
	}
	/* From the end on: the first are taken first. Nothing is written to those never used. */
	for (; frames->there < count; frames->there++)
		frames->list[frames->there] = frames_at(frames, count - 1 - frames->there);
	return frames;
}

void
flow_frames_destroy(struct flow_frames *frames)
{
	if (frames == NULL)
		return;
	for (uint32_t i = 0; frames->copies && frames->memory != NULL && i < frames->total; i++)
		free(frames_at(frames, i)->shinfo);
	for (uint32_t i = 0; i < frames->worker_count; i++)
		lull_memory_free(frames->returned[i]);
	lull_memory_free(frames->list);
	lull_memory_free(frames->memory);
	lull_memory_free(frames);
}

static void
frames_collect(struct flow_frames *frames)
{
	for (uint32_t i = 0; i < frames->worker_count; i++)
		frames->there += rte_ring_sc_dequeue_burst(frames->returned[i],
							   (void **)(frames->list + frames->there),
							   frames->total - frames->there, NULL);
}

uint32_t
flow_frames_in_use(struct flow_frames *frames)
{
	frames_collect(frames);
	return frames->total - frames->there;
}

bool
flow_frames_take(struct flow_frames *frames, struct rte_mbuf **pkts, uint32_t count)
{
	frames_collect(frames);
	if (frames->there < count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		pkts[i] = frames->list[--frames->there];
	return true;
}

void
flow_frames_give(struct flow_frames *frames, struct rte_mbuf *const *pkts, uint32_t count)
{
	LULL_ASSERT(frames->there + count <= frames->total);
	for (uint32_t i = count; i > 0; i--)
		frames->list[frames->there++] = pkts[i - 1];
}

void
flow_frames_return(struct flow_frames *frames, uint32_t worker, struct rte_mbuf *const *pkts,
		   uint32_t count)
{
	uint32_t returned = rte_ring_sp_enqueue_bulk(frames->returned[worker], (void *const *)pkts,
						     count, NULL);

	LULL_ASSERT(returned == count);
	(void)returned;
}

/* Where bytes are copied to; NULL: no memory. */
static uint8_t *
frames_copy_room(struct rte_mbuf *pkt, uint32_t bytes)
{
	free(pkt->shinfo);
	pkt->shinfo = NULL;
	if (bytes <= COPY_BYTES)
		return frames_room(pkt);
	pkt->shinfo = malloc(bytes);
	return (uint8_t *)pkt->shinfo;
}

bool
flow_frames_fill(struct flow_frames *frames, struct rte_mbuf *pkt, const uint8_t *data,
		 uint32_t bytes)
{
	uint8_t *room;
	bool whole = true;

	if (!frames->copies) {
		pkt->buf_addr = (void *)(uintptr_t)data;
	} else {
		room = frames_copy_room(pkt, bytes);
		if (room == NULL) {
			room = frames_room(pkt);
			bytes = COPY_BYTES;
			whole = false;
		}
		memcpy(room, data, bytes);
		pkt->buf_addr = room;
	}
	pkt->data_off = 0;
	pkt->data_len = (uint16_t)bytes;
	pkt->pkt_len = bytes;
	return whole;
}

/* ---- of a pool ---- */

static void
frames_free_long(void *bytes, void *shared)
{
	(void)bytes;
	free(shared);
}

/*
 * A frame that is longer than a buffer of the pool: memory of its own, in one piece, since parser,
 * table and identifier read one piece. It is freed with the packet. This alone allocates for a
 * packet; a pool of such buffers would take 64 KB for each packet that could be under way.
 */
static bool
frames_attach_long(struct rte_mbuf *pkt, uint16_t bytes)
{
	struct rte_mbuf_ext_shared_info *shared = malloc(sizeof(*shared) + bytes);

	if (shared == NULL)
		return false;
	shared->free_cb = frames_free_long;
	shared->fcb_opaque = shared;
	rte_mbuf_ext_refcnt_set(shared, 1);
	rte_pktmbuf_attach_extbuf(pkt, shared + 1, RTE_BAD_IOVA, bytes, shared);
	return true;
}

bool
flow_frames_copy(struct rte_mbuf *pkt, const uint8_t *data, uint16_t bytes)
{
	bool whole = bytes <= rte_pktmbuf_tailroom(pkt) || frames_attach_long(pkt, bytes);

	if (!whole)
		bytes = rte_pktmbuf_tailroom(pkt);
	rte_memcpy(rte_pktmbuf_mtod(pkt, void *), data, bytes);
	pkt->data_len = bytes;
	pkt->pkt_len = bytes;
	return whole;
}
