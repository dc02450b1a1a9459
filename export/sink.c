/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "destination.h"
#include "state.h"

#define DEFAULT_QUEUE_BYTES (32u << 20)
#define DEFAULT_TIMEOUT_NS (30 * LULL_NS_PER_S)
/* A unit of any exporter fits in the queue. */
#define QUEUE_BYTES_MIN (128u << 10)
/* Ordered, files may be rotated behind so many. */
#define TURN_RECORDS 16

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
	ROW(drops, "records", "records lost; the sum of the next four"),
	ROW(drop_full, "records", "records lost: no room in the queue"),
	ROW(drop_cut, "records", "records lost: a connection broke on which they depended"),
	ROW(drop_refused, "records", "records lost: refused by the kernel or a broker"),
	ROW(drop_end, "records", "records lost: they still waited when the program ended"),
	ROW(bytes, "bytes", "bytes accepted by the kernel"),
	ROW(errors, "1", "failed calls, lost and refused connections; the sum of the next seven"),
	ROW(error_refused, "1", "errors: nobody listens there"),
	ROW(error_reset, "1", "errors: the other side ended the connection"),
	ROW(error_timeout, "1", "errors: no answer in time"),
	ROW(error_unreachable, "1", "errors: no way to the host"),
	ROW(error_name, "1", "errors: the name of the host has no address"),
	ROW(error_denied, "1", "errors: a certificate or a password was not accepted"),
	ROW(error_write, "1", "errors: disk full, and all others"),
	ROW(connects, "1", "connections made"),
	ROW(volumes, "1", "files begun by rotation, or because SIGHUP found the file moved"),
	{ NULL, NULL, NULL, 0 },
};

const char *
flow_sink_kind_name(enum flow_sink_kind kind)
{
	return sink_exporters[kind]->name;
}

/* ---- checking ---- */

/* A file is the exporter's own. */
static bool
sink_twice(const struct flow_sink_settings *settings, unsigned int kind, unsigned int each)
{
	for (unsigned int k = 0; k <= kind; k++) {
		for (unsigned int i = 0; i < FLOW_SINK_EACH_MAX; i++) {
			const char *to = settings->to[k][i];

			if (k == kind && i == each)
				return false;
			if (to != NULL && strcmp(to, settings->to[kind][each]) == 0)
				return true;
		}
	}
	return false;
}

static int
sink_check_one(const struct flow_sink_settings *settings, unsigned int kind, unsigned int each,
	       struct lull_error *error)
{
	const char *to = settings->to[kind][each];
	int rc;

	if (to == NULL || to[0] == '\0')
		return 0;
	rc = sink_exporters[kind]->check(settings, to, error);
	if (rc == 0 && sink_twice(settings, kind, each))
		rc = lull_error_set(error, -EINVAL, "%.*s is named twice", LULL_ERROR_SHOWN, to);
	if (rc != 0)
		lull_error_prefix(error, "--%s: ", sink_exporters[kind]->name);
	return rc;
}

int
flow_sink_check(const struct flow_sink_settings *settings, struct lull_error *error)
{
	int rc = 0;

	for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
		for (unsigned int i = 0; rc == 0 && i < FLOW_SINK_EACH_MAX; i++)
			rc = sink_check_one(settings, kind, i, error);
	}
	return rc;
}

/* ---- opening ---- */

static void
sink_default(struct flow_sink *sink)
{
	struct flow_sink_settings *settings = &sink->settings;

	/* What nobody wants need not be kept. */
	settings->ordered = settings->ordered && sink->target_count > 0;
	if (settings->instances == 0)
		settings->instances = 1;
	if (settings->queue_bytes == 0)
		settings->queue_bytes = DEFAULT_QUEUE_BYTES;
	settings->queue_bytes = LULL_MAX(settings->queue_bytes, QUEUE_BYTES_MIN);
	if (settings->timeout_ns == 0)
		settings->timeout_ns = DEFAULT_TIMEOUT_NS;
	if (settings->domain_id == 0)
		settings->domain_id = 1;
}

static void
sink_list_targets(struct flow_sink *sink)
{
	for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
		for (unsigned int i = 0; i < FLOW_SINK_EACH_MAX; i++) {
			const char *to = sink->settings.to[kind][i];

			if (to != NULL && to[0] != '\0')
				sink->targets[sink->target_count++] = (struct sink_target){
					.kind = (enum flow_sink_kind)kind,
					.to = to,
					.exporter = sink_exporters[kind],
				};
		}
	}
}

/* The file of a target that goes to one. */
static int
sink_open_file(struct flow_sink *sink, struct sink_target *target, struct lull_error *error)
{
	struct sink_file_config config = {
		.path = target->to,
		.append = !sink->settings.ordered,
		.rotate_ns = sink->settings.rotate_ns,
		.rotate_bytes = sink->settings.rotate_bytes,
		.mend = target->exporter->mend,
	};
	struct sink_destination destination;
	int rc = 0;

	if (config.mend == NULL)
		return 0;
	rc = sink_destination_parse(target->to, &destination, error);
	if (rc != 0 || destination.way != SINK_FILE || !sink_file_suits(target->to))
		return rc;
	return sink_file_open(&config, &target->file, error);
}

static int
sink_open_target(struct flow_sink *sink, uint32_t index, struct lull_error *error)
{
	struct sink_target *target = &sink->targets[index];
	/* Ordered, one instance writes for all. */
	uint32_t instances = sink->settings.ordered ? 1 : sink->settings.instances;
	/* What Kafka reads it reads once; it may be root's alone. */
	bool as_user = sink->settings.as_user != NULL && target->exporter->mend != NULL;
	int rc;

	if (as_user)
		sink->settings.as_user(sink->settings.as_user_arg, true);
	rc = sink_open_file(sink, target, error);
	for (uint32_t i = 0; rc == 0 && i < instances; i++) {
		struct sink_instance *instance = &sink->instances[i];
		struct sink_job job = {
			.settings = &sink->settings,
			.to = target->to,
			.instance = i,
			.file = target->file,
			.counters = &instance->counters[index],
			.health = &instance->health[index],
		};

		rc = target->exporter->open(&job, &instance->exporters[index], error);
	}
	if (as_user)
		sink->settings.as_user(sink->settings.as_user_arg, false);
	return rc;
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
	if (rc == 0)
		sink_list_targets(sink);
	sink_default(sink);
	signal(SIGPIPE, SIG_IGN);
	for (uint32_t i = 0; i < sink->settings.instances; i++) {
		sink->instances[i].sink = sink;
		sink_collection_init(&sink->instances[i].collection, settings->payload_bytes);
	}
	for (uint32_t i = 0; rc == 0 && i < sink->target_count; i++)
		rc = sink_open_target(sink, i, error);
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
	const struct flow_sink *sink = instance->sink;

	for (uint32_t i = 0; i < sink->target_count; i++)
		sink->targets[i].exporter->record(instance->exporters[i], record);
}

static void
instance_record(void *arg, const struct lull_flow_record *record)
{
	struct sink_instance *instance = arg;

	if (instance->sink->settings.ordered)
		sink_collection_add(&instance->collection, record);
	else
		instance_give(instance, record);
}

static uint64_t
instance_iterate(void *arg, uint64_t now_ns, const struct lull_encode_totals *totals)
{
	struct sink_instance *instance = arg;
	const struct flow_sink *sink = instance->sink;
	uint64_t soonest_ns = 0;

	instance->totals = *totals;
	for (uint32_t i = 0; i < sink->target_count && !sink->settings.ordered; i++) {
		uint64_t next_ns =
			sink->targets[i].exporter->iterate(instance->exporters[i], totals);

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

/* Files are rotated between records. */
static void
sink_turn_ordered(struct flow_sink *sink)
{
	struct lull_error unheard;

	for (uint32_t i = 0; i < sink->target_count; i++) {
		struct sink_target *target = &sink->targets[i];

		if (target->file == NULL ||
		    (sink->settings.rotate_ns == 0 && sink->settings.rotate_bytes == 0))
			continue;
		(void)target->exporter->iterate(sink->instances[0].exporters[i],
						&sink->instances[0].totals);
		if (sink_file_turn(target->file, sink_time_ns(), &unheard) > 0)
			LULL_COUNTER_ADD(target->volumes, 1);
	}
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
	for (uint64_t i = 0; i < count; i++) {
		instance_give(&sink->instances[0], records[i]);
		if (i % TURN_RECORDS == 0)
			sink_turn_ordered(sink);
	}
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

static int
sink_finish_exporter(struct flow_sink *sink, struct sink_instance *instance, uint32_t index,
		     struct lull_error *error)
{
	const struct sink_target *target = &sink->targets[index];
	struct lull_error trouble = { "" };

	if (instance->exporters[index] == NULL)
		return 0;
	target->exporter->finish(instance->exporters[index], &instance->totals, &trouble);
	return sink_judge(&instance->counters[index], &trouble, target->to, error);
}

int
flow_sink_finish(struct flow_sink *sink, struct lull_error *error)
{
	int result = 0;

	if (sink->settings.ordered)
		result = sink_write_ordered(sink, error);
	for (uint32_t i = 0; i < sink->settings.instances; i++) {
		for (uint32_t target = 0; target < sink->target_count; target++) {
			struct lull_error sentence;
			int rc = sink_finish_exporter(sink, &sink->instances[i], target, &sentence);

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
		for (uint32_t target = 0; target < sink->target_count; target++) {
			if (sink->instances[i].exporters[target] != NULL)
				sink->targets[target].exporter->close(
					sink->instances[i].exporters[target]);
		}
		sink_collection_clear(&sink->instances[i].collection);
	}
	for (uint32_t target = 0; target < sink->target_count; target++)
		sink_file_close(sink->targets[target].file);
	free(sink);
}
