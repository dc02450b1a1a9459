/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Live frames: UDP frames of many flows, in the order in which a trial offers them, at a rate.
 *
 * What has come by now and was not taken waits, as in the ring of a NIC: LIVE_RX_PKTS at most, the
 * rest is lost there and counted.
 * Threads: set up by the main thread, then the I/O loop's.
 */
#ifndef LULL_BENCH_LIVE_FRAMES_H
#define LULL_BENCH_LIVE_FRAMES_H

#include <lull/pipeline.h>

#define LIVE_FLOWS 10000u
#define LIVE_ORDER (1u << 18) /* packets until the order repeats */
#define LIVE_RX_PKTS 1024u
#define LIVE_FRAME_BYTES 60u

struct live_traffic {
	const char *name;
	double zipf;           /**< share of the n-th flow falls as n^-zipf */
	uint32_t elephant_ppm; /**< share of the first flow; 0: as zipf has it */
	uint32_t target_count; /**< hrw and crc32 send all to the first so many workers; 0: any */
};

struct live_frames {
	uint8_t frames[LIVE_FLOWS][LIVE_FRAME_BYTES];
	uint16_t order[LIVE_ORDER];
	double pps;
	uint64_t begin_ns; /* 0: with the first call */
	uint64_t pkts;     /* of the trial */
	uint64_t passed;   /* taken or lost */
	uint64_t lost;     /* found no room before the I/O loop */
};

/** 0 or -1: no memory, or no dispatcher to ask where flows go. */
int live_frames_make(struct live_frames *frames, const struct live_traffic *traffic,
		     uint32_t worker_count, uint64_t seed);
/** Begin a trial. */
void live_frames_rewind(struct live_frames *frames, double pps, uint64_t pkts);
/** read() of struct lull_pipeline_source, @p arg the struct live_frames. */
uint32_t live_frames_read(void *arg, struct lull_pipeline_frame *out, uint32_t count, bool *end);

#endif
