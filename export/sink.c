/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink.h"

#include <errno.h>
#include <signal.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"
#include "exporter.h"

#define DEFAULT_QUEUE_BYTES (4u << 20)
#define DEFAULT_DATAGRAMS_PPS 10000
/* A unit of any exporter fits in the queue. */
#define QUEUE_BYTES_MIN (128u << 10)

static const struct sink_exporter *const sink_exporters[FLOW_SINK_KINDS] = {
	[FLOW_SINK_JSON] = &sink_exporter_json,
	[FLOW_SINK_IPFIX] = &sink_exporter_ipfix,
	[FLOW_SINK_KAFKA] = &sink_exporter_kafka,
};

#define ROW(member, member_unit, text)                                                             \
	LULL_COUNTER_ROW(struct flow_sink_counters, member, member_unit, text)

const struct lull_counter_info flow_sink_counter_table[] = {
	ROW(taken, "records", "records taken from the aggregators"),
	ROW(records, "records", "records accepted by the kernel or acknowledged by a broker"),
	ROW(drops, "records", "records lost: queue full, destination gone, write failed"),
	ROW(bytes, "bytes", "bytes accepted by the kernel"),
	ROW(errors, "1", "failed calls, lost and refused connections"),
	ROW(connects, "1", "connections made"),
	{ NULL, NULL, NULL, 0 },
};

/* What one log loop writes to. */
struct sink_seat {
	alignas(LULL_CACHE_LINE) struct flow_sink_counters counters[FLOW_SINK_KINDS];
	void *exporters[FLOW_SINK_KINDS]; /* NULL: none */
	bool ordered;
	struct sink_collection collection;
	struct lull_encode_totals totals; /* as of the last turn */
};

struct flow_sink {
	struct flow_sink_settings settings;
	struct sink_seat seats[LULL_PIPELINE_LOG_MAX];
};

const char *
flow_sink_kind_name(enum flow_sink_kind kind)
{
	return sink_exporters[kind]->name;
}

static bool
sink_wanted(const struct flow_sink_settings *settings, unsigned int kind)
{
	return settings->to[kind] != NULL && settings->to[kind][0] != '\0';
}

int
flow_sink_check(const struct flow_sink_settings *settings, struct lull_error *error)
{
	for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
		int rc = sink_wanted(settings, kind) ?
				 sink_exporters[kind]->check(settings->to[kind], error) :
				 0;

		if (rc != 0) {
			lull_error_prefix(error, "--%s: ", sink_exporters[kind]->name);
			return rc;
		}
	}
	return 0;
}

/* What nobody wants need not be kept. */
static bool
sink_any_wanted(const struct flow_sink_settings *settings)
{
	bool any = false;

	for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++)
		any |= sink_wanted(settings, kind);
	return any;
}

static void
sink_default(struct flow_sink_settings *settings)
{
	settings->ordered = settings->ordered && sink_any_wanted(settings);
	if (settings->seats == 0)
		settings->seats = 1;
	if (settings->queue_bytes == 0)
		settings->queue_bytes = DEFAULT_QUEUE_BYTES;
	settings->queue_bytes = LULL_MAX(settings->queue_bytes, QUEUE_BYTES_MIN);
	if (settings->datagrams_pps == 0)
		settings->datagrams_pps = DEFAULT_DATAGRAMS_PPS;
	if (settings->domain_id == 0)
		settings->domain_id = 1;
}

/* Ordered, one seat writes for all. */
static int
sink_open_seats(struct flow_sink *sink, struct lull_error *error)
{
	const struct flow_sink_settings *settings = &sink->settings;

	for (uint32_t i = 0; i < settings->seats; i++) {
		struct sink_seat *seat = &sink->seats[i];

		seat->ordered = settings->ordered;
		sink_collection_init(&seat->collection, settings->payload_bytes);
		for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
			int rc;

			if (!sink_wanted(settings, kind) || (settings->ordered && i > 0))
				continue;
			rc = sink_exporters[kind]->open(settings, i, &seat->counters[kind],
							&seat->exporters[kind], error);
			if (rc != 0)
				return rc;
		}
	}
	return 0;
}

int
flow_sink_open(const struct flow_sink_settings *settings, struct flow_sink **created,
	       struct lull_error *error)
{
	struct flow_sink *sink = aligned_alloc(LULL_CACHE_LINE, sizeof(*sink));
	int rc = flow_sink_check(settings, error);

	if (sink == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for sinks");
	memset(sink, 0, sizeof(*sink));
	sink->settings = *settings;
	sink_default(&sink->settings);
	signal(SIGPIPE, SIG_IGN);
	if (rc == 0)
		rc = sink_open_seats(sink, error);
	if (rc != 0) {
		flow_sink_close(sink);
		return rc;
	}
	*created = sink;
	return 0;
}

/* ---- on a log loop ---- */

static void
seat_give(struct sink_seat *seat, const struct lull_flow_record *record)
{
	for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
		if (seat->exporters[kind] != NULL)
			sink_exporters[kind]->record(seat->exporters[kind], record);
	}
}

static void
seat_record(void *arg, const struct lull_flow_record *record)
{
	struct sink_seat *seat = arg;

	if (seat->ordered)
		sink_collection_add(&seat->collection, record);
	else
		seat_give(seat, record);
}

static uint64_t
seat_turn(void *arg, uint64_t now_ns, const struct lull_encode_totals *totals)
{
	struct sink_seat *seat = arg;
	uint64_t soonest_ns = 0;

	seat->totals = *totals;
	for (unsigned int kind = 0; kind < FLOW_SINK_KINDS && !seat->ordered; kind++) {
		uint64_t wish_ns;

		if (seat->exporters[kind] == NULL)
			continue;
		wish_ns = sink_exporters[kind]->turn(seat->exporters[kind], totals);
		if (wish_ns > 0 && (soonest_ns == 0 || now_ns + wish_ns < soonest_ns))
			soonest_ns = now_ns + wish_ns;
	}
	return soonest_ns;
}

struct lull_pipeline_sink
flow_sink_seat(struct flow_sink *sink, uint32_t index)
{
	return (struct lull_pipeline_sink){
		.record = seat_record,
		.turn = seat_turn,
		.arg = &sink->seats[index],
	};
}

/* ---- the end ---- */

static int
sink_compare(const void *a, const void *b)
{
	return lull_flow_record_compare(*(const struct lull_flow_record *const *)a,
					*(const struct lull_flow_record *const *)b);
}

/* Records of all seats in canonical order, through the first one. */
static int
sink_write_ordered(struct flow_sink *sink, struct lull_error *error)
{
	const struct lull_flow_record **records;
	uint64_t count = 0, lost = 0;

	for (uint32_t i = 0; i < sink->settings.seats; i++) {
		count += sink->seats[i].collection.count;
		lost += sink->seats[i].collection.lost;
	}
	records = calloc(count + 1, sizeof(*records));
	if (records == NULL || lost > 0) {
		free(records);
		return lull_error_set(error, -ENOMEM, "no memory to sort %llu records",
				      (unsigned long long)(count + lost));
	}
	count = 0;
	for (uint32_t i = 0; i < sink->settings.seats; i++)
		count += sink_collection_list(&sink->seats[i].collection, records + count);
	qsort(records, count, sizeof(*records), sink_compare);
	for (uint64_t i = 0; i < count; i++)
		seat_give(&sink->seats[0], records[i]);
	free(records);
	return 0;
}

/* The first sentence stays. */
static int
sink_judge(const struct flow_sink_counters *counters, const struct lull_error *trouble,
	   const char *to, struct lull_error *error)
{
	uint64_t drops = LULL_COUNTER_READ(counters->drops);

	if (drops > 0)
		return lull_error_set(error, -EIO, "%s: %llu of %llu records lost",
				      trouble->text[0] != '\0' ? trouble->text : to,
				      (unsigned long long)drops,
				      (unsigned long long)LULL_COUNTER_READ(counters->taken));
	/* Datagrams that nobody wanted are gone although they were sent. */
	if (trouble->text[0] != '\0' && strncmp(to, "udp://", strlen("udp://")) == 0) {
		*error = *trouble;
		return -ECONNREFUSED;
	}
	return 0;
}

int
flow_sink_finish(struct flow_sink *sink, struct lull_error *error)
{
	int result = 0;

	if (sink->settings.ordered)
		result = sink_write_ordered(sink, error);
	for (uint32_t i = 0; i < sink->settings.seats; i++) {
		struct sink_seat *seat = &sink->seats[i];

		for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
			struct lull_error trouble = { "" }, sentence;
			int rc;

			if (seat->exporters[kind] == NULL)
				continue;
			sink_exporters[kind]->finish(seat->exporters[kind], &seat->totals,
						     &trouble);
			rc = sink_judge(&seat->counters[kind], &trouble, sink->settings.to[kind],
					&sentence);
			if (rc != 0 && result == 0) {
				*error = sentence;
				result = rc;
			}
		}
	}
	return result;
}

void
flow_sink_close(struct flow_sink *sink)
{
	if (sink == NULL)
		return;
	for (uint32_t i = 0; i < LULL_PIPELINE_LOG_MAX; i++) {
		for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
			if (sink->seats[i].exporters[kind] != NULL)
				sink_exporters[kind]->close(sink->seats[i].exporters[kind]);
		}
		sink_collection_clear(&sink->seats[i].collection);
	}
	free(sink);
}

static void
counters_sum(struct flow_sink_counters *sum, const struct flow_sink_counters *part)
{
	for (const struct lull_counter_info *info = flow_sink_counter_table; info->name != NULL;
	     info++) {
		uint64_t *to = (uint64_t *)(void *)((uint8_t *)sum + info->offset);
		const uint64_t *from =
			(const uint64_t *)(const void *)((const uint8_t *)part + info->offset);

		*to += LULL_COUNTER_READ(*from);
	}
}

void
flow_sink_read(const struct flow_sink *sink, enum flow_sink_kind kind,
	       struct flow_sink_counters *counters)
{
	memset(counters, 0, sizeof(*counters));
	for (uint32_t i = 0; i < sink->settings.seats; i++)
		counters_sum(counters, &sink->seats[i].counters[kind]);
}
