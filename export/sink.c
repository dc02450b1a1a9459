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

/* What one aggregator loop writes to. */
struct sink_instance {
	alignas(LULL_CACHE_LINE) struct flow_sink_counters counters[FLOW_SINK_KINDS];
	void *exporters[FLOW_SINK_KINDS]; /* NULL: none */
	bool ordered;
	struct sink_collection collection;
	struct lull_encode_totals totals; /* as of the last iteration */
};

struct flow_sink {
	struct flow_sink_settings settings;
	struct sink_instance instances[LULL_PIPELINE_AGGREGATOR_MAX];
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
	if (settings->instances == 0)
		settings->instances = 1;
	if (settings->queue_bytes == 0)
		settings->queue_bytes = DEFAULT_QUEUE_BYTES;
	settings->queue_bytes = LULL_MAX(settings->queue_bytes, QUEUE_BYTES_MIN);
	if (settings->datagrams_pps == 0)
		settings->datagrams_pps = DEFAULT_DATAGRAMS_PPS;
	if (settings->domain_id == 0)
		settings->domain_id = 1;
}

/* Ordered, one instance writes for all. */
static int
sink_open_instances(struct flow_sink *sink, struct lull_error *error)
{
	const struct flow_sink_settings *settings = &sink->settings;

	for (uint32_t i = 0; i < settings->instances; i++) {
		struct sink_instance *instance = &sink->instances[i];

		instance->ordered = settings->ordered;
		sink_collection_init(&instance->collection, settings->payload_bytes);
		for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
			int rc;

			if (!sink_wanted(settings, kind) || (settings->ordered && i > 0))
				continue;
			rc = sink_exporters[kind]->open(settings, i, &instance->counters[kind],
							&instance->exporters[kind], error);
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
		rc = sink_open_instances(sink, error);
	if (rc != 0) {
		flow_sink_close(sink);
		return rc;
	}
	*created = sink;
	return 0;
}

/* ---- on an aggregator loop ---- */

static void
instance_give(struct sink_instance *instance, const struct lull_flow_record *record)
{
	for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
		if (instance->exporters[kind] != NULL)
			sink_exporters[kind]->record(instance->exporters[kind], record);
	}
}

static void
instance_record(void *arg, const struct lull_flow_record *record)
{
	struct sink_instance *instance = arg;

	if (instance->ordered)
		sink_collection_add(&instance->collection, record);
	else
		instance_give(instance, record);
}

static uint64_t
instance_iterate(void *arg, uint64_t now_ns, const struct lull_encode_totals *totals)
{
	struct sink_instance *instance = arg;
	uint64_t soonest_ns = 0;

	instance->totals = *totals;
	for (unsigned int kind = 0; kind < FLOW_SINK_KINDS && !instance->ordered; kind++) {
		uint64_t next_ns;

		if (instance->exporters[kind] == NULL)
			continue;
		next_ns = sink_exporters[kind]->iterate(instance->exporters[kind], totals);
		if (next_ns > 0 && (soonest_ns == 0 || now_ns + next_ns < soonest_ns))
			soonest_ns = now_ns + next_ns;
	}
	return soonest_ns;
}

struct lull_pipeline_sink
flow_sink_instance(struct flow_sink *sink, uint32_t index)
{
	return (struct lull_pipeline_sink){
		.record = instance_record,
		.iterate = instance_iterate,
		.arg = &sink->instances[index],
	};
}

/* ---- the end ---- */

static int
sink_compare(const void *a, const void *b)
{
	return lull_flow_record_compare(*(const struct lull_flow_record *const *)a,
					*(const struct lull_flow_record *const *)b);
}

/* Records of all instances in canonical order, through the first one. */
static int
sink_write_ordered(struct flow_sink *sink, struct lull_error *error)
{
	const struct lull_flow_record **records;
	uint64_t count = 0, lost = 0;

	for (uint32_t i = 0; i < sink->settings.instances; i++) {
		count += sink->instances[i].collection.count;
		lost += sink->instances[i].collection.lost;
	}
	records = calloc(count + 1, sizeof(*records));
	if (records == NULL || lost > 0) {
		free(records);
		return lull_error_set(error, -ENOMEM, "no memory to sort %llu records",
				      (unsigned long long)(count + lost));
	}
	count = 0;
	for (uint32_t i = 0; i < sink->settings.instances; i++)
		count += sink_collection_list(&sink->instances[i].collection, records + count);
	qsort(records, count, sizeof(*records), sink_compare);
	for (uint64_t i = 0; i < count; i++)
		instance_give(&sink->instances[0], records[i]);
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
	for (uint32_t i = 0; i < sink->settings.instances; i++) {
		struct sink_instance *instance = &sink->instances[i];

		for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
			struct lull_error trouble = { "" }, sentence;
			int rc;

			if (instance->exporters[kind] == NULL)
				continue;
			sink_exporters[kind]->finish(instance->exporters[kind], &instance->totals,
						     &trouble);
			rc = sink_judge(&instance->counters[kind], &trouble,
					sink->settings.to[kind], &sentence);
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
	for (uint32_t i = 0; i < LULL_PIPELINE_AGGREGATOR_MAX; i++) {
		for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
			if (sink->instances[i].exporters[kind] != NULL)
				sink_exporters[kind]->close(sink->instances[i].exporters[kind]);
		}
		sink_collection_clear(&sink->instances[i].collection);
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
	for (uint32_t i = 0; i < sink->settings.instances; i++)
		counters_sum(counters, &sink->instances[i].counters[kind]);
}
