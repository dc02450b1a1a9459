/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lull/base.h>

/* A stamp farther than this off the one before is looked at. */
#define JUMP_NS (10 * LULL_NS_PER_S)
#define YEAR_NS (365 * 86400 * LULL_NS_PER_S)
#define TIME_NS_MAX (LULL_NS_PER_S << 32) /* clocks of flows stay below */
#define VOTES_MAX 8
#define PREFETCH_BYTES 2048
#define RELEASE_BYTES ((size_t)2 << 20) /* whole pages */

/* ---- stamps ---- */

static uint64_t
file_apart(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
}

/*
 * Votes of the packets behind the next one: is their time nearer to @p known_ns than to its own?
 * A silence, or a clock that was set, is kept by those that follow. *first_ns: of the first of
 * them, 0 without one. false: they have not all come.
 */
static bool
file_vote(const struct flow_file *file, uint64_t known_ns, int *votes, uint64_t *first_ns)
{
	struct lull_capture ahead = file->capture;
	struct lull_capture_packet packet;
	uint64_t own_ns = file->packet.timestamp_ns;

	*votes = 0;
	*first_ns = 0;
	for (unsigned int i = 0; i < VOTES_MAX; i++) {
		if (lull_capture_next(&ahead, &packet) != LULL_CAPTURE_PACKET)
			return ahead.result != LULL_CAPTURE_TRUNCATED || file->stream == NULL;
		if (!packet.timed || packet.timestamp_ns >= TIME_NS_MAX)
			continue;
		if (*first_ns == 0)
			*first_ns = packet.timestamp_ns;
		if (known_ns == 0)
			known_ns = *first_ns;
		*votes += file_apart(packet.timestamp_ns, known_ns) <
					  file_apart(packet.timestamp_ns, own_ns) ?
				  1 :
				  -1;
	}
	return true;
}

/* Without a packet before it, a stamp is wild that is later than the next, or a year earlier. */
static bool
file_wild_first(const struct flow_file *file, int votes, uint64_t first_ns)
{
	uint64_t own_ns = file->packet.timestamp_ns;

	if (first_ns == 0 || votes <= 0)
		return own_ns >= TIME_NS_MAX;
	return own_ns > first_ns + JUMP_NS || first_ns - own_ns > YEAR_NS;
}

/* The time of the next packet: its stamp, unless that is wild. false: it cannot be told yet. */
static bool
file_time(struct flow_file_counters *counters, struct flow_file *file)
{
	uint64_t own_ns = file->packet.timestamp_ns, first_ns = 0;
	bool wild = false, sure = true;
	int votes = 0;

	if (!file->packet.timed) {
		LULL_COUNTER_ADD(counters->untimed, 1);
		return true;
	}
	if (!file->begun) {
		sure = file_vote(file, 0, &votes, &first_ns);
		wild = file_wild_first(file, votes, first_ns);
	} else if (own_ns >= TIME_NS_MAX) {
		wild = true;
	} else if (file_apart(own_ns, file->time_ns) > JUMP_NS) {
		sure = file_vote(file, file->time_ns, &votes, &first_ns);
		wild = votes > 0;
	}
	/* Of a pipe nobody knows when they will come. */
	if (!sure && file->stream->regular && !file->finished)
		return false;
	if (wild) {
		LULL_COUNTER_ADD(counters->wild, 1);
		file->time_ns = file->begun ? file->time_ns : first_ns;
	} else {
		LULL_COUNTER_ADD(counters->back, own_ns < file->time_ns);
		file->time_ns = own_ns;
	}
	file->begun = true;
	return true;
}

/* ---- packets ---- */

/* What the header began tells names of interfaces, where they are wanted. */
void
flow_file_describe(struct flow_file *file)
{
	if (file->interfaces != NULL)
		lull_capture_describe(&file->capture, flow_interfaces_described, file->interfaces);
}

/* The window has moved, or is longer: go on where the packet at the offset begins. */
void
flow_file_resume(struct flow_file *file)
{
	const struct flow_stream *stream = file->stream;

	if (!file->opened) {
		lull_capture_open(&file->capture, stream->data, stream->len);
		flow_file_describe(file);
		file->opened = file->capture.result != LULL_CAPTURE_TRUNCATED;
		return;
	}
	file->capture.data = stream->data;
	file->capture.len = stream->len;
	file->capture.reason = NULL;
	file->capture.result = LULL_CAPTURE_PACKET;
}

/* Nothing more comes: the capture ended where the window ends, or before. */
static void
file_end(struct flow_file *file, enum flow_stream_result result)
{
	const struct flow_stream *stream = file->stream;

	if (result != FLOW_STREAM_BROKEN)
		return;
	file->capture.reason = stream->reason;
	file->capture.result = stream->cut ? LULL_CAPTURE_TRUNCATED : LULL_CAPTURE_MALFORMED;
}

/* Pages of packets that are over do not stay in memory; who still looks at one gets it again. */
static void
file_release(struct flow_file *file)
{
	if (file->capture.offset < file->released + 2 * RELEASE_BYTES)
		return;
	madvise((void *)(uintptr_t)(file->data + file->released), RELEASE_BYTES, MADV_DONTNEED);
	file->released += RELEASE_BYTES;
}

/* Where the next packet begins is known when this one has come: memory is asked long before. */
static void
file_prefetch(struct flow_file *file)
{
	size_t end = LULL_MIN(file->capture.offset + PREFETCH_BYTES, file->size);

	file->prefetched = LULL_MAX(file->prefetched, file->capture.offset);
	for (; file->prefetched < end; file->prefetched += LULL_CACHE_LINE)
		__builtin_prefetch(file->data + file->prefetched);
}

/* Look at the next packet of a file, in what is in memory. */
enum flow_file_next
flow_file_next(struct flow_file_counters *counters, struct flow_file *file)
{
	if (file->stream == NULL) {
		file_release(file);
		file_prefetch(file);
	}
	if (file->undecided ||
	    lull_capture_next(&file->capture, &file->packet) == LULL_CAPTURE_PACKET) {
		file->undecided = !file_time(counters, file);
		return file->undecided ? FLOW_FILE_LATER : FLOW_FILE_PACKET;
	}
	/* A window may also end where a packet does. */
	if (file->stream == NULL || (file->capture.result != LULL_CAPTURE_TRUNCATED &&
				     file->capture.result != LULL_CAPTURE_END))
		return FLOW_FILE_NONE;
	return FLOW_FILE_LATER;
}

/* The same of a stream, after filling its window; what was read from it before is not valid. */
enum flow_file_next
flow_file_fill(struct flow_file_counters *counters, struct flow_file *file)
{
	enum flow_file_next next = FLOW_FILE_LATER;

	while (next == FLOW_FILE_LATER) {
		size_t used = file->undecided ? 0 : file->capture.offset;
		size_t packet_at = (size_t)(file->packet.data - file->stream->data);
		enum flow_stream_result result;

		used = file->opened ? used : 0;
		result = flow_stream_fill(file->stream, used);
		file->base += used;
		file->capture.offset -= used;
		flow_file_resume(file);
		if (file->undecided)
			file->packet.data = file->stream->data + packet_at;
		if (result == FLOW_STREAM_WAIT)
			return FLOW_FILE_LATER;
		file->finished = result != FLOW_STREAM_MORE;
		next = flow_file_next(counters, file);
		if (next != FLOW_FILE_LATER || !file->finished)
			continue;
		file_end(file, result);
		return FLOW_FILE_NONE;
	}
	return next;
}

void
flow_file_close(struct flow_file *file)
{
	if (file->data != NULL)
		munmap((void *)(uintptr_t)file->data, file->size);
	if (file->stream != NULL)
		flow_stream_close(file->stream);
	if (file->fd >= 0)
		close(file->fd);
	free(file->stream);
	free(file->path);
}
