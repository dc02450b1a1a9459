/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replay: make the calls of a decision trace again and compare what comes out.
 *
 * The bytes come from outside: whatever a dispatcher demands of its caller is checked here first.
 * Once a decision differs, because another scheduler or config was put in, the calls behind it can
 * only be repeated as far as they still make sense: refused packets that the worker was not given
 * this time are left out (and counted as different), and no worker has finished more than it got.
 */
#include <errno.h>
#include <string.h>

#include "base/reader.h"
#include "trace.h"

/* What a worker was given last: only that can be refused. */
struct history {
	uint64_t sent_pkts;
	uint32_t known; /* of the digests, the youngest */
	uint32_t digests[LULL_DISPATCH_BURST_MAX];
};

struct replayer {
	struct lull_reader reader; /* of the record at hand */
	struct lull_dispatch *dispatch;
	struct lull_dispatch_replay *replay;
	uint32_t worker_count;
	bool unstaged; /* of a trace that does not tell what is staged */
	bool follows;  /* changes of scheduler: it began with that of the trace */
	uint64_t now_ns;
	uint32_t count;
	struct lull_dispatch_load loads[LULL_DISPATCH_WORKERS_MAX];
	uint32_t digests[LULL_DISPATCH_BURST_MAX], crcs[LULL_DISPATCH_BURST_MAX];
	uint16_t traced[LULL_DISPATCH_BURST_MAX], workers[LULL_DISPATCH_BURST_MAX];
	struct history history[LULL_DISPATCH_WORKERS_MAX];
};
_Static_assert((LULL_DISPATCH_BURST_MAX & (LULL_DISPATCH_BURST_MAX - 1)) == 0,
	       "history is indexed by a mask");

/* ---- records ---- */

/*
 * Take the next record: its kind, and a reader over its members. NULL, or why there is none; then
 * the reader has not moved.
 */
static const char *
take_record(struct lull_reader *reader, struct lull_reader *members, uint8_t *kind)
{
	struct lull_reader ahead = *reader;
	uint32_t len = lull_reader_u32le(&ahead);
	const uint8_t *bytes;

	if (ahead.failed)
		return "trace ends inside the length of a record";
	if (len == 0)
		return "record without a kind";
	bytes = lull_reader_bytes(&ahead, len);
	if (bytes == NULL)
		return "trace ends inside a record";
	*kind = bytes[0];
	*members = lull_reader_over(bytes + 1, len - 1);
	*reader = ahead;
	return NULL;
}

/* All members read, and nothing behind them? */
static const char *
take_end(const struct lull_reader *members)
{
	if (members->failed)
		return "record is too short";
	return lull_reader_left(members) > 0 ? "record is too long" : NULL;
}

/* A name: of a scheduler, or empty. false: it is neither. */
static bool
take_scheduler(struct lull_reader *members, const struct lull_scheduler **scheduler)
{
	uint8_t len = lull_reader_u8(members);
	const uint8_t *bytes = len > 0 ? lull_reader_bytes(members, len) : NULL;
	char name[LULL_TRACE_NAME_MAX + 1] = "";

	*scheduler = NULL;
	if (len > LULL_TRACE_NAME_MAX || bytes == NULL)
		return len == 0;
	memcpy(name, bytes, len);
	*scheduler = lull_scheduler_find(name);
	return *scheduler != NULL;
}

static const char *
take_config(struct lull_reader *members, struct lull_dispatch_config *config)
{
	uint8_t order, tracks, weights;
	const char *reason;

	if (!take_scheduler(members, &config->scheduler) || config->scheduler == NULL ||
	    !take_scheduler(members, &config->shadow))
		return "scheduler is not known here";
	order = lull_reader_u8(members);
	tracks = lull_reader_u8(members);
	weights = lull_reader_u8(members);
	config->worker_count = lull_reader_u32le(members);
	config->bucket_bits = lull_reader_u32le(members);
	config->threshold_ppm = lull_reader_u32le(members);
	config->enter_ppm = lull_reader_u32le(members);
	config->leave_ppm = lull_reader_u32le(members);
	config->pin_pkts = lull_reader_u32le(members);
	config->idle_ns = lull_reader_u64le(members);
	config->seed = lull_reader_u64le(members);
	reason = take_end(members);
	if (reason != NULL)
		return reason;
	if (order > LULL_ORDER_RESEQUENCE || tracks > 1 || weights > LULL_WEIGHTS_AVX512)
		return "config is out of range";
	config->order = (enum lull_order)order;
	config->tracks = tracks != 0;
	/* Weights are the same numbers however they are computed. */
	config->weights = (enum lull_weights)weights;
	if (!lull_weights_available(config->weights))
		config->weights = LULL_WEIGHTS_BEST;
	return lull_dispatch_config_check(config, NULL) != 0 ? "config is out of range" : NULL;
}

/* Magic and config; the reader then stands before the first call. */
static const char *
take_head(struct lull_reader *reader, struct lull_dispatch_config *config)
{
	const uint8_t *magic = lull_reader_bytes(reader, LULL_TRACE_MAGIC_SIZE);
	size_t same = LULL_TRACE_MAGIC_SIZE - 1;
	struct lull_reader ahead, members;
	const char *reason;
	uint8_t kind;

	memset(config, 0, sizeof(*config));
	if (magic == NULL || memcmp(magic, LULL_TRACE_MAGIC, same) != 0 ||
	    (magic[same] != LULL_TRACE_MAGIC[same] && magic[same] != LULL_TRACE_VERSION_UNSTAGED)) {
		reader->offset = 0;
		return "not a decision trace of this version";
	}
	ahead = *reader;
	reason = take_record(&ahead, &members, &kind);
	if (reason == NULL && kind != LULL_TRACE_CONFIG)
		reason = "trace does not begin with its config";
	if (reason == NULL)
		reason = take_config(&members, config);
	if (reason == NULL)
		*reader = ahead;
	return reason;
}

/* ---- history ---- */

static void
history_push(struct history *history, uint32_t digest)
{
	history->digests[history->sent_pkts++ & (LULL_DISPATCH_BURST_MAX - 1)] = digest;
	if (history->known < LULL_DISPATCH_BURST_MAX)
		history->known++;
}

static void
history_pop(struct history *history, uint32_t count)
{
	history->sent_pkts -= count;
	history->known -= count;
}

/* Are these the last that it was given? */
static bool
history_ends_with(const struct history *history, const uint32_t *digests, uint32_t count)
{
	uint64_t begin = history->sent_pkts - count;

	if (count > history->known)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (history->digests[(begin + i) & (LULL_DISPATCH_BURST_MAX - 1)] != digests[i])
			return false;
	return true;
}

/* ---- calls ---- */

static const char *
take_loads(struct replayer *replayer)
{
	for (uint32_t i = 0; i < replayer->worker_count; i++) {
		struct lull_dispatch_load *load = &replayer->loads[i];
		uint64_t sent_pkts = replayer->history[i].sent_pkts, done_pkts;

		load->used_pkts = lull_reader_u32le(&replayer->reader);
		load->capacity_pkts = lull_reader_u32le(&replayer->reader);
		done_pkts = lull_reader_u64le(&replayer->reader);
		if (!replayer->unstaged)
			load->staged_pkts = lull_reader_u32le(&replayer->reader);
		if (replayer->reader.failed)
			return "record is too short";
		if (load->capacity_pkts == 0)
			return "ring without room";
		if (replayer->replay->differences > 0)
			done_pkts = LULL_MIN(done_pkts, sent_pkts);
		else if (done_pkts < load->done_pkts || done_pkts > sent_pkts)
			return "worker finished what it was not given";
		load->done_pkts = done_pkts;
	}
	return NULL;
}

/* count, loads, digests, workers: what BURST and REFUSED end with, and CRCs of BURST_CRCS. */
static const char *
take_packets(struct replayer *replayer, bool crcs)
{
	struct lull_reader *reader = &replayer->reader;
	const char *reason;

	replayer->count = lull_reader_u16le(reader);
	if (replayer->count > LULL_DISPATCH_BURST_MAX)
		return "more packets than a burst has";
	reason = take_loads(replayer);
	if (reason != NULL)
		return reason;
	for (uint32_t i = 0; i < replayer->count; i++) {
		replayer->digests[i] = lull_reader_u32le(reader);
		if (replayer->digests[i] > LULL_DIGEST_MAX)
			return "digest is out of range";
	}
	for (uint32_t i = 0; i < replayer->count; i++) {
		replayer->traced[i] = lull_reader_u8(reader);
		if (replayer->traced[i] >= replayer->worker_count)
			return "worker is out of range";
	}
	for (uint32_t i = 0; crcs && i < replayer->count; i++)
		replayer->crcs[i] = lull_reader_u32le(reader);
	return take_end(reader);
}

static const char *
take_now(struct replayer *replayer)
{
	uint64_t now_ns = lull_reader_u64le(&replayer->reader);

	if (!replayer->reader.failed && now_ns < replayer->now_ns)
		return "time goes back";
	replayer->now_ns = now_ns;
	return NULL;
}

static void
replayer_differ(struct replayer *replayer, uint64_t pkts)
{
	if (pkts > 0 && replayer->replay->differences == 0)
		replayer->replay->first_call = replayer->replay->calls;
	replayer->replay->differences += pkts;
}

static void
replayer_compare(struct replayer *replayer)
{
	uint64_t differences = 0;

	for (uint32_t i = 0; i < replayer->count; i++)
		differences += replayer->workers[i] != replayer->traced[i];
	replayer_differ(replayer, differences);
}

static const char *
replay_burst(struct replayer *replayer, bool crcs)
{
	const char *reason = take_now(replayer);

	if (reason == NULL)
		reason = take_packets(replayer, crcs);
	if (reason == NULL && !crcs && lull_dispatch_needs_crcs(replayer->dispatch))
		reason = "burst without the CRC-32 of keys, which the scheduler reads";
	if (reason != NULL)
		return reason;
	lull_dispatch_burst(replayer->dispatch, replayer->now_ns, replayer->loads,
			    replayer->digests, crcs ? replayer->crcs : NULL, replayer->count,
			    replayer->workers, NULL);
	for (uint32_t i = 0; i < replayer->count; i++)
		history_push(&replayer->history[replayer->workers[i]], replayer->digests[i]);
	replayer->replay->pkts += replayer->count;
	replayer_compare(replayer);
	return NULL;
}

static const char *
replay_refused(struct replayer *replayer)
{
	const char *reason = take_now(replayer);
	uint16_t from = lull_reader_u16le(&replayer->reader);

	if (reason == NULL)
		reason = take_packets(replayer, false);
	if (reason == NULL && from >= replayer->worker_count)
		reason = "worker is out of range";
	if (reason != NULL)
		return reason;
	if (!history_ends_with(&replayer->history[from], replayer->digests, replayer->count)) {
		if (replayer->replay->differences == 0)
			return "worker refused what it was not given last";
		replayer_differ(replayer, replayer->count);
		return NULL;
	}
	lull_dispatch_refused(replayer->dispatch, replayer->now_ns, from, replayer->loads,
			      replayer->digests, replayer->count, replayer->workers, NULL);
	history_pop(&replayer->history[from], replayer->count);
	for (uint32_t i = 0; i < replayer->count; i++)
		if (replayer->workers[i] != from)
			history_push(&replayer->history[replayer->workers[i]],
				     replayer->digests[i]);
	replayer_compare(replayer);
	return NULL;
}

static const char *
replay_dropped(struct replayer *replayer)
{
	uint16_t worker = lull_reader_u16le(&replayer->reader);
	uint32_t count = lull_reader_u32le(&replayer->reader);
	const char *reason = take_end(&replayer->reader);

	if (reason != NULL)
		return reason;
	if (worker >= replayer->worker_count)
		return "worker is out of range";
	if (count > replayer->history[worker].known)
		return replayer->replay->differences > 0 ? NULL :
							   "worker dropped what it was not given";
	lull_dispatch_dropped(replayer->dispatch, worker, count);
	history_pop(&replayer->history[worker], count);
	return NULL;
}

static const char *
replay_note(struct replayer *replayer)
{
	uint32_t digest = lull_reader_u32le(&replayer->reader);
	uint16_t app = lull_reader_u16le(&replayer->reader);
	const char *reason = take_end(&replayer->reader);

	if (reason != NULL)
		return reason;
	if (digest > LULL_DIGEST_MAX || app == 0)
		return "note is out of range";
	lull_dispatch_note(replayer->dispatch, digest, app);
	return NULL;
}

static const char *
replay_change(struct replayer *replayer)
{
	const struct lull_scheduler *scheduler, *shadow;
	const char *reason;

	if (!take_scheduler(&replayer->reader, &scheduler) || scheduler == NULL ||
	    !take_scheduler(&replayer->reader, &shadow))
		return "scheduler is not known here";
	reason = take_end(&replayer->reader);
	if (reason == NULL && replayer->follows)
		lull_dispatch_change(replayer->dispatch, scheduler, shadow);
	return reason;
}

static const char *
replay_thresholds(struct replayer *replayer)
{
	struct lull_dispatch_config config = replayer->replay->config;
	const char *reason;

	config.threshold_ppm = lull_reader_u32le(&replayer->reader);
	config.enter_ppm = lull_reader_u32le(&replayer->reader);
	config.leave_ppm = lull_reader_u32le(&replayer->reader);
	reason = take_end(&replayer->reader);
	if (reason == NULL && lull_dispatch_config_check(&config, NULL) != 0)
		reason = "thresholds are out of range";
	if (reason == NULL)
		lull_dispatch_thresholds(replayer->dispatch, config.threshold_ppm, config.enter_ppm,
					 config.leave_ppm);
	return reason;
}

static const char *
replay_call(struct replayer *replayer, uint8_t kind)
{
	switch (kind) {
	case LULL_TRACE_BURST:
	case LULL_TRACE_BURST_CRCS:
		return replay_burst(replayer, kind == LULL_TRACE_BURST_CRCS);
	case LULL_TRACE_REFUSED:
		return replay_refused(replayer);
	case LULL_TRACE_DROPPED:
		return replay_dropped(replayer);
	case LULL_TRACE_NOTE:
		return replay_note(replayer);
	case LULL_TRACE_CHANGE:
		return replay_change(replayer);
	case LULL_TRACE_THRESHOLDS:
		return replay_thresholds(replayer);
	case LULL_TRACE_CONFIG:
		return "second config";
	default:
		return "kind of record is not known here";
	}
}

/* ---- whole traces ---- */

int
lull_dispatch_replay_open(const uint8_t *bytes, size_t size, struct lull_dispatch_replay *replay)
{
	struct lull_reader reader = lull_reader_over(bytes, size);

	memset(replay, 0, sizeof(*replay));
	replay->reason = take_head(&reader, &replay->config);
	replay->offset = reader.offset;
	return replay->reason != NULL ? -EINVAL : 0;
}

int
lull_dispatch_replay_run(const uint8_t *bytes, size_t size, struct lull_dispatch *dispatch,
			 struct lull_dispatch_replay *replay)
{
	struct lull_reader reader = lull_reader_over(bytes, size);
	struct replayer replayer = { .dispatch = dispatch, .replay = replay };
	struct lull_dispatch_config traced;
	uint8_t kind;

	replay->calls = replay->pkts = replay->differences = replay->first_call = 0;
	replay->reason = take_head(&reader, &traced);
	replayer.worker_count = traced.worker_count;
	replayer.unstaged = replay->reason == NULL &&
			    bytes[LULL_TRACE_MAGIC_SIZE - 1] == LULL_TRACE_VERSION_UNSTAGED;
	replayer.follows = traced.scheduler == lull_dispatch_scheduler(dispatch);
	while (replay->reason == NULL && lull_reader_left(&reader) > 0) {
		struct lull_reader ahead = reader;

		replay->reason = take_record(&ahead, &replayer.reader, &kind);
		if (replay->reason != NULL)
			break;
		replay->calls++;
		replay->reason = replay_call(&replayer, kind);
		if (replay->reason == NULL)
			reader = ahead;
	}
	replay->offset = reader.offset;
	return replay->reason != NULL ? -EINVAL : 0;
}
