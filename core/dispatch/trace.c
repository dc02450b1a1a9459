/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <string.h>

#include "base/assert.h"

/* A record being written, behind room for the magic. */
struct writer {
	uint8_t bytes[LULL_TRACE_MAGIC_SIZE + LULL_TRACE_RECORD_MAX];
	size_t size;
};

static void
writer_little(struct writer *writer, uint64_t value, uint32_t count)
{
	LULL_ASSERT(writer->size + count <= sizeof(writer->bytes));
	for (uint32_t i = 0; i < count; i++)
		writer->bytes[writer->size++] = (uint8_t)(value >> (8 * i));
}

static void
writer_begin(struct writer *writer, enum lull_trace_kind kind)
{
	writer->size = LULL_TRACE_MAGIC_SIZE + 4;
	writer_little(writer, kind, 1);
}

static void
writer_name(struct writer *writer, const struct lull_scheduler *scheduler)
{
	const char *name = scheduler != NULL ? lull_scheduler_name(scheduler) : "";
	size_t len = strlen(name);

	LULL_ASSERT(len <= LULL_TRACE_NAME_MAX);
	writer_little(writer, len, 1);
	for (size_t i = 0; i < len; i++)
		writer_little(writer, (uint8_t)name[i], 1);
}

/* Write the length in front and hand the record over, with the magic if it is the first. */
static void
writer_end(struct writer *writer, const struct lull_trace *trace, bool first)
{
	size_t end = writer->size;
	size_t begin = first ? 0 : LULL_TRACE_MAGIC_SIZE;

	if (first)
		memcpy(writer->bytes, LULL_TRACE_MAGIC, LULL_TRACE_MAGIC_SIZE);
	writer->size = LULL_TRACE_MAGIC_SIZE;
	writer_little(writer, end - LULL_TRACE_MAGIC_SIZE - 4, 4);
	trace->tracer(trace->arg, writer->bytes + begin, end - begin);
}

void
lull_trace_config(const struct lull_trace *trace, const struct lull_dispatch_config *config)
{
	struct writer writer;

	writer_begin(&writer, LULL_TRACE_CONFIG);
	writer_name(&writer, config->scheduler);
	writer_name(&writer, config->shadow);
	writer_little(&writer, config->order, 1);
	writer_little(&writer, config->tracks, 1);
	writer_little(&writer, config->weights, 1);
	writer_little(&writer, config->worker_count, 4);
	writer_little(&writer, config->bucket_bits, 4);
	writer_little(&writer, config->threshold_ppm, 4);
	writer_little(&writer, config->enter_ppm, 4);
	writer_little(&writer, config->leave_ppm, 4);
	writer_little(&writer, config->pin_pkts, 4);
	writer_little(&writer, config->idle_ns, 8);
	writer_little(&writer, config->seed, 8);
	writer_end(&writer, trace, true);
}

/* What BURST and REFUSED end with. */
static void
writer_packets(struct writer *writer, const struct lull_trace *trace,
	       const struct lull_trace_burst *burst)
{
	writer_little(writer, burst->count, 2);
	for (uint32_t i = 0; i < trace->worker_count; i++) {
		writer_little(writer, burst->loads[i].used_pkts, 4);
		writer_little(writer, burst->loads[i].capacity_pkts, 4);
		writer_little(writer, burst->loads[i].done_pkts, 8);
		writer_little(writer, burst->loads[i].staged_pkts, 4);
	}
	for (uint32_t i = 0; i < burst->count; i++)
		writer_little(writer, burst->digests[i], 4);
	for (uint32_t i = 0; i < burst->count; i++)
		writer_little(writer, burst->workers[i], 1);
}

void
lull_trace_burst(const struct lull_trace *trace, const struct lull_trace_burst *burst)
{
	struct writer writer;

	writer_begin(&writer, burst->crcs != NULL ? LULL_TRACE_BURST_CRCS : LULL_TRACE_BURST);
	writer_little(&writer, burst->now_ns, 8);
	writer_packets(&writer, trace, burst);
	for (uint32_t i = 0; burst->crcs != NULL && i < burst->count; i++)
		writer_little(&writer, burst->crcs[i], 4);
	writer_end(&writer, trace, false);
}

void
lull_trace_refused(const struct lull_trace *trace, uint16_t from,
		   const struct lull_trace_burst *burst)
{
	struct writer writer;

	writer_begin(&writer, LULL_TRACE_REFUSED);
	writer_little(&writer, burst->now_ns, 8);
	writer_little(&writer, from, 2);
	writer_packets(&writer, trace, burst);
	writer_end(&writer, trace, false);
}

void
lull_trace_dropped(const struct lull_trace *trace, uint16_t worker, uint32_t count)
{
	struct writer writer;

	writer_begin(&writer, LULL_TRACE_DROPPED);
	writer_little(&writer, worker, 2);
	writer_little(&writer, count, 4);
	writer_end(&writer, trace, false);
}

void
lull_trace_note(const struct lull_trace *trace, uint32_t digest, uint16_t app)
{
	struct writer writer;

	writer_begin(&writer, LULL_TRACE_NOTE);
	writer_little(&writer, digest, 4);
	writer_little(&writer, app, 2);
	writer_end(&writer, trace, false);
}

void
lull_trace_change(const struct lull_trace *trace, const struct lull_scheduler *scheduler,
		  const struct lull_scheduler *shadow)
{
	struct writer writer;

	writer_begin(&writer, LULL_TRACE_CHANGE);
	writer_name(&writer, scheduler);
	writer_name(&writer, shadow);
	writer_end(&writer, trace, false);
}

void
lull_trace_thresholds(const struct lull_trace *trace, uint32_t threshold_ppm, uint32_t enter_ppm,
		      uint32_t leave_ppm)
{
	struct writer writer;

	writer_begin(&writer, LULL_TRACE_THRESHOLDS);
	writer_little(&writer, threshold_ppm, 4);
	writer_little(&writer, enter_ppm, 4);
	writer_little(&writer, leave_ppm, 4);
	writer_end(&writer, trace, false);
}
