/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of a source become packets: copied into buffers of the pipeline's pool, so that a worker
 * can hold them for as long as it likes.
 */
#include <string.h>

#include <rte_memcpy.h>

#include "stage.h"

static void
source_fill(struct flow_io *io, struct rte_mbuf *pkt, const struct lull_pipeline_frame *frame)
{
	uint32_t bytes = LULL_MIN(frame->captured_bytes, (uint32_t)rte_pktmbuf_tailroom(pkt));

	if (bytes < frame->captured_bytes)
		io->counters.frames_cut++;
	rte_memcpy(rte_pktmbuf_mtod(pkt, void *), frame->data, bytes);
	pkt->data_len = (uint16_t)bytes;
	pkt->pkt_len = bytes;
}

uint16_t
flow_source_pull(struct flow_io *io, uint64_t now_ns)
{
	const struct lull_pipeline_source *source = &io->pipeline->config.sources[io->index];
	struct lull_pipeline_frame frames[LULL_BURST_MAX];
	struct rte_mbuf *pkts[LULL_BURST_MAX];
	uint32_t count;

	/* First the buffers: what has been read cannot be put back. */
	if (rte_pktmbuf_alloc_bulk(io->pipeline->pool, pkts, io->burst_pkts) != 0) {
		io->counters.nombuf++;
		return 0;
	}
	count = source->read(source->arg, frames, io->burst_pkts, &io->exhausted);
	flow_io_burst_begin(io);
	for (uint32_t i = 0; i < count; i++) {
		const struct lull_pipeline_frame *frame = &frames[i];

		source_fill(io, pkts[i], frame);
		flow_io_burst_add(io, pkts[i], frame->link_type, frame->original_bytes,
				  frame->time_ns, frame->time_ns, now_ns);
	}
	if (count < io->burst_pkts)
		rte_pktmbuf_free_bulk(pkts + count, io->burst_pkts - count);
	if (count > 0)
		flow_io_burst_end(io, now_ns);
	return (uint16_t)count;
}
