/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pipeline stand: frames of many flows in memory, a pipeline on as many loops as it needs, and a
 * sink that keeps the records.
 */
#ifndef LULL_PIPELINE_STAND_H
#define LULL_PIPELINE_STAND_H

#include <lull/pipeline.h>

#include "stand.h"

/* Two I/O loops, eight workers, two aggregators, an output. */
#define PIPELINE_LOOPS 13
#define FRAME_SIZE 160
#define RECORDS_MAX 65536

/** Frames made once and read any number of times. */
struct frames {
	uint32_t count, flow_count;
	struct frame {
		uint64_t time_ns;
		uint32_t bytes;
		uint8_t data[FRAME_SIZE];
	} * list;
};
/** @p flow_count UDP and TCP flows in both directions, at random, from @p begin_ns on. */
void frames_make(struct frames *frames, uint64_t seed, uint32_t flow_count, uint32_t count,
		 uint64_t begin_ns, uint64_t step_ns);
void frames_free(struct frames *frames);
/** Write frame @p number of flow @p flow; returns its bytes. */
uint32_t frame_write(uint8_t *data, uint32_t flow, uint32_t number, bool back, uint32_t payload);

/** A reading of frames: lull_pipeline_source. */
struct reading {
	const struct frames *frames;
	uint32_t next;
	uint32_t rounds; /**< read all so often; 0: for ever */
	uint32_t round;
	bool hold; /**< no end: go silent instead */
};
uint32_t reading_read(void *arg, struct lull_pipeline_frame *frames, uint32_t count, bool *end);

/** What came out. */
struct kept {
	uint32_t count;
	uint32_t iterations;
	bool slow; /**< takes its time over each record */
	struct lull_encode_totals totals;
	struct lull_flow_record *records;
};

struct bench {
	struct lull_pipeline_config config;
	struct lull_pipeline *pipeline;
	bool whole; /* one loop for I/O, the first worker and the aggregator */
	struct reading readings[LULL_PIPELINE_IO_MAX];
	struct kept kept[LULL_PIPELINE_AGGREGATOR_MAX];
	uint32_t loop_count;
	struct lull_loop *loops[PIPELINE_LOOPS];
	struct lull_loop *ios[LULL_PIPELINE_IO_MAX], *workers[8], *output;
};
/** One I/O loop reading @p frames once, one worker, one aggregator, waits for room. */
void bench_init(struct bench *bench, const struct frames *frames);
/** Create pipeline and loops, and start them; @p port: each queue of it feeds an I/O loop. */
void bench_start(struct bench *bench, const struct lull_port *port);
/** All input has been dispatched. */
bool bench_ended(const struct bench *bench);
/** The loops run on. */
void bench_finish(struct bench *bench);
/** Stop and free the loops; the pipeline stays. */
void bench_stop(struct bench *bench);
/** bench_stop() and the rest. */
void bench_close(struct bench *bench);
/** Wait for the end of the input, finish, check that nothing is left anywhere, stop the loops. */
void bench_complete(struct bench *bench);
void bench_post(struct lull_loop *loop, const struct lull_pipeline_command *command);

/**
 * All records of all aggregators in canonical order, scheduling facts blanked; returns their count.
 */
uint32_t bench_records(const struct bench *bench, struct lull_flow_record *records);
/** Fail unless they are the same. */
void bench_same(const struct lull_flow_record *a, uint32_t a_count,
		const struct lull_flow_record *b, uint32_t b_count, const char *what);
/** Fail unless the identities hold now. */
void bench_check(const struct bench *bench);
struct lull_pipeline_totals totals_of(const struct bench *bench);

/** Two workers by rr-packet, and a pair of ports; @p far is to feed them. */
void port_init(struct bench *bench, const struct frames *frames, const char *name,
	       struct lull_port *near, struct lull_port *far);
/** The same with a queue and an I/O loop for each of @p queues. */
void port_init_queues(struct bench *bench, const struct frames *frames, const char *name,
		      uint16_t queues, struct lull_port *near, struct lull_port *far);
/** The same over ports that are open already, with @p queues each. */
void port_init_over(struct bench *bench, const struct frames *frames, uint16_t queues);
/** Send frame @p number of @p flow, back when that is odd, to that queue. */
void port_send_one(const struct lull_port *near, uint16_t queue, uint32_t flow, uint32_t number);
/** Send frames of @p flow_count flows in turn. */
void port_send(const struct lull_port *near, uint32_t flow_count, uint32_t count);
/** Send a frame of each of @p count flows from @p flow on. */
void port_send_from(const struct lull_port *near, uint32_t flow, uint32_t count);

#endif
