/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Trace: the calls of a dispatcher as bytes; dispatch.c writes them, replay reads them.
 *
 * All numbers are little endian. A trace is TRACE_MAGIC and then records, each
 *
 *   u32 length of what follows, u8 kind, members of the kind as below
 *
 *   CONFIG      string scheduler, string shadow ("": none), u8 order, u8 tracks, u8 weights,
 *               u32 worker_count, u32 bucket_bits, u32 threshold_ppm, u32 enter_ppm,
 *               u32 leave_ppm, u32 pin_pkts, u64 idle_ns, u64 seed     as configured, zeros too
 *   BURST       u64 now_ns, u16 count, loads, count x u32 digest, count x u8 worker
 *   BURST_CRCS  as BURST, and count x u32 CRC-32 of the key behind it
 *   REFUSED     u64 now_ns, u16 from, u16 count, loads, count x u32 digest, count x u8 worker
 *   DROPPED     u16 worker, u32 count
 *   NOTE        u32 digest, u16 app
 *   CHANGE      string scheduler, string shadow
 *   THRESHOLDS  u32 threshold_ppm, u32 enter_ppm, u32 leave_ppm
 *
 * string: u8 length and so many characters. loads: worker_count (of CONFIG) x { u32 used_pkts,
 * u32 capacity_pkts, u64 done_pkts, u32 staged_pkts }. CONFIG comes first and once. A tracer is
 * called once with magic and CONFIG together, then once per record. Marks are not traced: no worker
 * depends on them, who replays may give NULL.
 */
#ifndef LULL_DISPATCH_TRACE_H
#define LULL_DISPATCH_TRACE_H

#include <lull/dispatch.h>

/* The last byte is the version. */
#define LULL_TRACE_MAGIC "lulldsp\2"
#define LULL_TRACE_VERSION_UNSTAGED 1 /* its loads have no staged_pkts */
#define LULL_TRACE_MAGIC_SIZE 8
/* Length and kind. */
#define LULL_TRACE_HEAD_SIZE 5
#define LULL_TRACE_NAME_MAX 64
/* Of a record, the largest is a full BURST_CRCS for all workers. */
#define LULL_TRACE_RECORD_MAX                                                                      \
	(LULL_TRACE_HEAD_SIZE + 12 + 20 * LULL_DISPATCH_WORKERS_MAX + 9 * LULL_DISPATCH_BURST_MAX)

enum lull_trace_kind {
	LULL_TRACE_CONFIG = 1,
	LULL_TRACE_BURST,
	LULL_TRACE_REFUSED,
	LULL_TRACE_DROPPED,
	LULL_TRACE_NOTE,
	LULL_TRACE_CHANGE,
	LULL_TRACE_THRESHOLDS,
	LULL_TRACE_BURST_CRCS
};

/** Where the trace of a dispatcher goes; NULL: nowhere. */
struct lull_trace {
	lull_dispatch_tracer *tracer;
	void *arg;
	uint32_t worker_count;
};

/** A burst or what was refused of one. */
struct lull_trace_burst {
	uint64_t now_ns;
	const struct lull_dispatch_load *loads;
	const uint32_t *digests;
	const uint32_t *crcs; /* NULL: nobody knows them */
	const uint16_t *workers;
	uint32_t count;
};

void lull_trace_config(const struct lull_trace *trace, const struct lull_dispatch_config *config);
void lull_trace_burst(const struct lull_trace *trace, const struct lull_trace_burst *burst);
void lull_trace_refused(const struct lull_trace *trace, uint16_t from,
			const struct lull_trace_burst *burst);
void lull_trace_dropped(const struct lull_trace *trace, uint16_t worker, uint32_t count);
void lull_trace_note(const struct lull_trace *trace, uint32_t digest, uint16_t app);
void lull_trace_change(const struct lull_trace *trace, const struct lull_scheduler *scheduler,
		       const struct lull_scheduler *shadow);
void lull_trace_thresholds(const struct lull_trace *trace, uint32_t threshold_ppm,
			   uint32_t enter_ppm, uint32_t leave_ppm);

#endif
