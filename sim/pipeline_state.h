/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pipeline state: what the files of the pipeline share; nobody else includes it.
 */
#ifndef LULL_SIM_PIPELINE_STATE_H
#define LULL_SIM_PIPELINE_STATE_H

#include "pipeline.h"

#include "base/assert.h"
#include "dispatch/staging.h"

#define NEVER UINT64_MAX

/** A packet from the I/O core on. */
struct lull_sim_pipeline_pkt {
	uint64_t arrive_ns;
	uint64_t done_ns; /* at the output */
	uint32_t slot;    /* of its flow */
	uint32_t seq;     /* of its flow */
	uint32_t digest;
	uint16_t worker; /* the first one it was decided for */
	struct lull_dispatch_mark mark;
	bool measured;
};

struct lull_sim_pipeline_arrival {
	uint64_t at_ns;
	uint32_t slot;
	bool measured;
};

struct lull_sim_pipeline_worker {
	struct lull_sim_pipeline_pkt *pkts;
	uint64_t mask;
	uint64_t head, tail; /* in the ring */
	uint64_t at;         /* being worked on; up to head: taken */
	bool waking;         /* its ring was empty, it is on its way */
	uint32_t begun_pkts; /* it has taken at once */
	uint64_t done_pkts;  /* as it says */
	uint64_t stall_at_ns;
	uint64_t cost_ns; /* of the packet it works on */
	/* of the last watch_pkts packets it was sent: to be counted if one of them is lost */
	uint8_t *watch;
	uint64_t watch_count; /* packets sent */
	uint64_t watch_open;  /* first that may still be to be counted */
};

struct lull_sim_pipeline_note {
	uint32_t digest;
	uint16_t app;
};

struct lull_sim_pipeline {
	/* events */
	uint64_t worker_ns[LULL_DISPATCH_WORKERS_MAX]; /* a packet is finished, or a worker wakes */
	uint64_t io_ns;
	uint64_t output_ns; /* the next packet will have waited too long */
	uint32_t worker_count;

	struct lull_sim_pipeline_config config;
	struct lull_sim_flows flows;
	struct lull_dispatch *dispatch;
	struct lull_resequence *resequence; /* NULL: packets leave as they come */
	bool tracks;

	/* source */
	struct lull_prng gap_prng;
	uint64_t gap;        /* mean, in ns * 2^LULL_SIM_GAP_BITS */
	uint64_t gap_part;   /* of the next arrival, below one ns */
	uint64_t next_ns;    /* of the next arrival, NEVER: no more */
	uint64_t next_count; /* arrivals before it */

	/* Rx ring */
	struct lull_sim_pipeline_arrival *rx;
	uint64_t rx_mask, rx_head, rx_tail;

	/* staging: the engine's, of packets that are not spare */
	struct lull_staging *staging;
	struct lull_sim_pipeline_pkt *staged_pkts, **spare;
	uint32_t spare_count;

	/* workers */
	struct lull_sim_pipeline_worker workers[LULL_DISPATCH_WORKERS_MAX];
	struct lull_prng service_prng;
	uint64_t jitter_span; /* ns between the shortest and the longest service */
	uint64_t service_low_ns;

	/* verdicts on their way to the I/O core */
	struct lull_sim_pipeline_note *notes;
	uint32_t note_count, note_room;

	/* output: packets known to the resequencer by their place */
	struct lull_sim_pipeline_pkt *held;
	struct lull_sim_pipeline_pkt **unused;
	uint32_t unused_count, held_room;
	void **out;

	/* conservation: all packets, lead-in included */
	uint64_t arrived, rx_lost, received, ring_lost, left;

	bool measuring, lost;
	uint64_t begin_ns, now_ns;
	uint64_t iterations;
	struct lull_dispatch_counters lead; /* as they were when the measurement began */
	struct lull_sim_pipeline_result result;
};

/* source and I/O core: pipeline_io.c */

/** Gaps between arrivals are in ns * 2^LULL_SIM_GAP_BITS. */
#define LULL_SIM_GAP_BITS 20
/** @p identified: packets, of those measured, that are among the first of their flows */
void lull_sim_pipeline_source_init(struct lull_sim_pipeline *pipeline, uint64_t identified);
/** Rings and packets, for the staging. @return 0; -ENOMEM */
int lull_sim_pipeline_staging_init(struct lull_sim_pipeline *pipeline);
/** What was staged goes, and the next iteration begins: all at pipeline->io_ns, which moves on. */
void lull_sim_pipeline_io_iterate(struct lull_sim_pipeline *pipeline);

/* workers: pipeline_worker.c */

/** Put a packet into a ring. @return false: it has no room */
bool lull_sim_pipeline_worker_put(struct lull_sim_pipeline *pipeline, uint32_t index,
				  const struct lull_sim_pipeline_pkt *pkt, uint64_t now_ns);
/** Its event, at pipeline->worker_ns[index], which moves on. */
void lull_sim_pipeline_worker_iterate(struct lull_sim_pipeline *pipeline, uint32_t index);
static inline uint32_t
lull_sim_pipeline_worker_used(const struct lull_sim_pipeline_worker *worker)
{
	return (uint32_t)(worker->tail - worker->head);
}

/* output: pipeline_output.c */

/** A worker has finished @p pkt (copied). */
void lull_sim_pipeline_output_add(struct lull_sim_pipeline *pipeline,
				  const struct lull_sim_pipeline_pkt *pkt, uint64_t now_ns);
/** Its event, at pipeline->output_ns, which moves on. */
void lull_sim_pipeline_output_iterate(struct lull_sim_pipeline *pipeline);

/* loss: pipeline_watch.c */

void lull_sim_pipeline_watch_sent(struct lull_sim_pipeline *pipeline, uint32_t index, bool filled);
void lull_sim_pipeline_watch_lost(struct lull_sim_pipeline *pipeline, uint32_t index);

#endif
