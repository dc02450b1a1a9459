/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends made-up records: sender COUNT live|totals|ordered [--records|--ipfix|--kafka TO] ...
 * With --kafka-properties FILE it tells how many of what went wrong with Kafka.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/sink.h"
#include "records.h"

#define ITERATION_RECORDS 64

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * LULL_NS_PER_S + (uint64_t)now.tv_nsec;
}

static int
refuse(const struct lull_error *error)
{
	fprintf(stderr, "sender: %s\n", error->text);
	return EXIT_FAILURE;
}

static void
send_all(const struct lull_pipeline_sink *instance, uint32_t count)
{
	struct lull_encode_totals totals = { 0 };
	struct lull_flow_record record;

	/* Backwards: ordered sinks have something to sort. */
	for (uint32_t i = count; i > 0; i--) {
		record_make(&record, i - 1);
		instance->record(instance->arg, &record);
		totals.records++;
		totals.rx = totals.recorded += record.packets[0] + record.packets[1];
		if (i % ITERATION_RECORDS == 0)
			instance->iterate(instance->arg, now_ns(), &totals);
	}
	instance->iterate(instance->arg, now_ns(), &totals);
}

static void
tell(const struct flow_sink *sink)
{
	struct flow_sink_counters counters;

	flow_sink_read(sink, FLOW_SINK_KAFKA, &counters);
	for (unsigned int i = 0; flow_sink_counter_table[i].name != NULL; i++)
		printf("%s %llu\n", flow_sink_counter_table[i].name,
		       (unsigned long long)*(const uint64_t *)((const char *)&counters +
							       flow_sink_counter_table[i].offset));
}

int
main(int argc, char **argv)
{
	struct flow_sink_settings settings = { .app = record_app };
	struct lull_pipeline_sink instance;
	struct flow_sink *sink;
	struct lull_error error;
	int rc;

	if (argc < 3)
		return EXIT_FAILURE;
	settings.ordered = strcmp(argv[2], "ordered") == 0;
	if (strcmp(argv[2], "totals") == 0)
		settings.totals_ns = 1; /* options records between all the others */
	for (int i = 3; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--kafka-properties") == 0)
			settings.kafka_file = argv[i + 1];
		for (unsigned int kind = 0; kind < FLOW_SINK_KINDS; kind++) {
			if (strcmp(argv[i] + 2, flow_sink_kind_name(kind)) == 0)
				settings.to[kind][0] = argv[i + 1];
		}
	}
	if (flow_sink_open(&settings, &sink, &error) != 0)
		return refuse(&error);
	instance = flow_sink_instance(sink, 0);
	send_all(&instance, (uint32_t)strtoul(argv[1], NULL, 10));
	rc = flow_sink_finish(sink, &error);
	if (settings.kafka_file != NULL)
		tell(sink);
	flow_sink_close(sink);
	return rc == 0 ? EXIT_SUCCESS : refuse(&error);
}
