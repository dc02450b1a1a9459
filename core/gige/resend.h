/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Resend: which missing packets to ask for, and when.
 *
 * What a frame still lacks goes in (as packet numbers), what to ask for comes out: not before the
 * packets had time to come late, again after a time without an answer, a few times at most, and
 * never more packets of a frame than its budget. Requests keep a distance, as some cameras stop
 * answering when they are asked too fast. Holes next to each other make one request.
 *
 * How long to wait for an answer is learned from those that come: their mean time and four mean
 * deviations, from packets that were asked for once, and twice as long after each further request
 * (as TCP does, RFC 6298).
 * Threads: one. Memory: the caller's struct.
 */
#ifndef LULL_RESEND_H
#define LULL_RESEND_H

#include <stdbool.h>
#include <stdint.h>

#define LULL_RESEND_FRAMES 16 /* as many as can be open */
#define LULL_RESEND_RANGES 64 /* waited for at a time, per frame */

/** Zero means the default in brackets. */
struct lull_resend_config {
	uint64_t wait_ns;        /**< before the first request [1 ms] */
	uint64_t timeout_ns;     /**< before the next for the same packets, at first [10 ms] */
	uint64_t timeout_ns_min; /**< the least that is learned, below timeout_ns [4 ms] */
	uint64_t gap_ns;         /**< between requests [20 us] */
	uint32_t tries;          /**< per packet, up to 16 [3] */
	uint32_t budget_ppm;     /**< packets asked for, of those of a frame [250000] */
	uint32_t budget_pkts;    /**< but so many at least [1] */
};
struct lull_resend_range {
	uint32_t first, last;
};
struct lull_resend_entry {
	struct lull_resend_range range;
	uint32_t tries;
	uint64_t asked_ns, due_ns;
};
struct lull_resend_frame {
	bool used;
	uint64_t key;
	uint64_t asked; /* packets, each time */
	uint32_t count;
	struct lull_resend_entry entries[LULL_RESEND_RANGES];
};
struct lull_resend {
	struct lull_resend_config config;
	uint64_t requests, packets;       /**< asked for */
	uint64_t given_up, exhausted;     /**< packets gone at the camera; asks beyond the budget */
	uint64_t next_ns;                 /**< no request before */
	uint64_t timeout_ns;              /**< for an answer, as learned */
	uint64_t answer_ns, deviation_ns; /**< mean time of answers; 0: none came */
	uint64_t due_ns; /**< when what was seen last wants something; UINT64_MAX: never */
	uint32_t next;
	struct lull_resend_frame frames[LULL_RESEND_FRAMES];
};

void lull_resend_init(struct lull_resend *resend, const struct lull_resend_config *config);
/**
 * Frame @p key of @p packets packets lacks @p holes, in order: all of them, or the first
 * LULL_RESEND_RANGES or more. At most one request comes of it: true, and what to ask for. Call
 * again at due_ns, or when holes have changed.
 */
bool lull_resend_next(struct lull_resend *resend, uint64_t now_ns, uint64_t key, uint32_t packets,
		      const struct lull_resend_range *holes, uint32_t count,
		      struct lull_resend_range *ask);
/** An answer came: @p packet of frame @p key. */
void lull_resend_answered(struct lull_resend *resend, uint64_t now_ns, uint64_t key,
			  uint32_t packet);
/** The camera does not have the packet any more. */
void lull_resend_gone(struct lull_resend *resend, uint64_t key, uint32_t packet);

#endif
