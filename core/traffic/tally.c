/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/assert.h"
#include "tally.h"

#define ROW(member, member_unit, text)                                                             \
	LULL_COUNTER_ROW(struct lull_tally_counters, member, member_unit, text)

const struct lull_counter_info lull_tally_counter_table[] = {
	ROW(received, "packets", "probes received, without further copies"),
	ROW(bytes, "bytes", "bytes of the probes received, without CRC"),
	ROW(duplicates, "packets", "further copies of probes"),
	ROW(reordered, "packets", "probes received after a later one"),
	ROW(gaps, "packets", "missing numbers below the highest one received"),
	ROW(foreign, "packets", "frames without a probe"),
	ROW(stale, "packets", "probes of an earlier window or run, or too late to judge"),
	{ NULL, NULL, NULL, 0 },
};

size_t
lull_tally_size(void)
{
	return sizeof(struct lull_tally);
}

void
lull_tally_init(struct lull_tally *tally)
{
	memset(tally, 0, sizeof(*tally));
	tally->latency_ns_min = UINT64_MAX;
}

/* ---- which of the last numbers came ---- */

static bool
stream_came(const struct lull_tally_stream *stream, uint32_t seq)
{
	uint32_t bit = seq % LULL_TALLY_WINDOW;

	return (stream->came[bit / 64] >> (bit % 64) & 1) != 0;
}

static void
stream_set(struct lull_tally_stream *stream, uint32_t seq)
{
	uint32_t bit = seq % LULL_TALLY_WINDOW;

	stream->came[bit / 64] |= 1ULL << (bit % 64);
}

/* Clear @p count bits from @p seq on; at most the bitmap once. */
static void
stream_clear(struct lull_tally_stream *stream, uint32_t seq, uint32_t count)
{
	if (count >= LULL_TALLY_WINDOW) {
		memset(stream->came, 0, sizeof(stream->came));
		return;
	}
	while (count > 0) {
		uint32_t bit = seq % LULL_TALLY_WINDOW;
		uint32_t here = LULL_MIN(count, 64 - bit % 64);
		uint64_t mask = here == 64 ? UINT64_MAX : (1ULL << here) - 1;

		stream->came[bit / 64] &= ~(mask << (bit % 64));
		seq += here;
		count -= here;
	}
}

/* ---- runs ---- */

static bool
stream_retired(const struct lull_tally_stream *stream, uint16_t run)
{
	uint32_t count = LULL_MIN(stream->retired_count, LULL_TALLY_RETIRED);

	for (uint32_t i = 0; i < count; i++)
		if (stream->retired[i] == run)
			return true;
	return false;
}

/* From now on @p run; all numbers below @p seq are past. */
static void
stream_begin(struct lull_tally_stream *stream, uint16_t run, uint32_t seq)
{
	if (stream->known && stream->run != run)
		stream->retired[stream->retired_count++ % LULL_TALLY_RETIRED] = stream->run;
	stream->depth = 0;
	__atomic_store_n(&stream->highest, seq - 1, __ATOMIC_RELAXED);
	__atomic_store_n(&stream->run, run, __ATOMIC_RELAXED);
	__atomic_store_n(&stream->known, true, __ATOMIC_RELAXED);
}

/*
 * Settle which run @p probe belongs to; false when that one is over. A stream
 * seen for the first time is joined where it is. Its next run is counted from
 * 0, for the sink has been listening since before.
 */
static bool
stream_run(struct lull_tally_stream *stream, const struct lull_probe *probe)
{
	if (stream->known && probe->run == stream->run)
		return true;
	if (stream_retired(stream, probe->run))
		return false;
	stream_begin(stream, probe->run, stream->known && probe->seq <= INT32_MAX ? 0 : probe->seq);
	return true;
}

/* ---- counting ---- */

static void
tally_receive(struct lull_tally *tally, struct lull_tally_stream *stream,
	      const struct lull_probe *probe, uint32_t len_bytes, uint64_t now_ns)
{
	uint64_t latency_ns = now_ns > probe->stamp_ns ? now_ns - probe->stamp_ns : 0;

	stream_set(stream, probe->seq);
	LULL_COUNTER_ADD(tally->counters.received, 1);
	LULL_COUNTER_ADD(tally->counters.bytes, len_bytes);
	lull_histogram_add(&tally->latency, latency_ns, 1);
	if (latency_ns < tally->latency_ns_min)
		__atomic_store_n(&tally->latency_ns_min, latency_ns, __ATOMIC_RELAXED);
}

void
lull_tally_add(struct lull_tally *tally, const struct lull_probe *probe, uint32_t len_bytes,
	       uint64_t now_ns)
{
	struct lull_tally_counters *counters = &tally->counters;
	struct lull_tally_stream *stream;
	uint32_t ahead, behind;

	if (probe == NULL || probe->stream >= LULL_TALLY_STREAMS) {
		LULL_COUNTER_ADD(counters->foreign, 1);
		return;
	}
	stream = &tally->streams[probe->stream];
	if (!stream_run(stream, probe)) {
		LULL_COUNTER_ADD(counters->stale, 1);
		return;
	}
	ahead = probe->seq - stream->highest;
	behind = stream->highest - probe->seq;
	if (ahead != 0 && ahead <= INT32_MAX) {
		stream_clear(stream, stream->highest + 1, ahead);
		__atomic_store_n(&stream->highest, probe->seq, __ATOMIC_RELAXED);
		stream->depth = LULL_MIN(stream->depth + ahead, LULL_TALLY_WINDOW);
		LULL_COUNTER_ADD(counters->gaps, ahead - 1);
	} else if (behind >= stream->depth) {
		LULL_COUNTER_ADD(counters->stale, 1);
		return;
	} else if (stream_came(stream, probe->seq)) {
		LULL_COUNTER_ADD(counters->duplicates, 1);
		return;
	} else {
		LULL_COUNTER_ADD(counters->reordered, 1);
		LULL_COUNTER_ADD(counters->gaps, UINT64_MAX); /* one less */
	}
	tally_receive(tally, stream, probe, len_bytes, now_ns);
}

void
lull_tally_clear(struct lull_tally *tally)
{
	for (const struct lull_counter_info *row = lull_tally_counter_table; row->name; row++) {
		char *counter = (char *)&tally->counters + row->offset;

		__atomic_store_n((uint64_t *)(void *)counter, 0, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&tally->latency_ns_min, UINT64_MAX, __ATOMIC_RELAXED);
	lull_histogram_clear(&tally->latency);
	for (uint32_t i = 0; i < LULL_TALLY_STREAMS; i++)
		tally->streams[i].depth = 0;
}

void
lull_tally_begin(struct lull_tally *tally, uint16_t stream, uint16_t run, uint32_t seq)
{
	LULL_ASSERT(stream < LULL_TALLY_STREAMS);
	stream_begin(&tally->streams[stream], run, seq);
}

bool
lull_tally_highest(const struct lull_tally *tally, uint16_t stream, uint16_t *run, uint32_t *seq)
{
	const struct lull_tally_stream *found = &tally->streams[stream % LULL_TALLY_STREAMS];

	if (stream >= LULL_TALLY_STREAMS || !__atomic_load_n(&found->known, __ATOMIC_RELAXED))
		return false;
	*run = __atomic_load_n(&found->run, __ATOMIC_RELAXED);
	*seq = __atomic_load_n(&found->highest, __ATOMIC_RELAXED);
	return true;
}

const struct lull_tally_counters *
lull_tally_counters(const struct lull_tally *tally)
{
	return &tally->counters;
}

const struct lull_histogram *
lull_tally_latency(const struct lull_tally *tally)
{
	return &tally->latency;
}

uint64_t
lull_tally_latency_min_ns(const struct lull_tally *tally)
{
	uint64_t min_ns = __atomic_load_n(&tally->latency_ns_min, __ATOMIC_RELAXED);

	return min_ns == UINT64_MAX ? 0 : min_ns;
}
