/* SPDX-License-Identifier: BSD-3-Clause */
/* Built without librdkafka: Kafka is refused, everything else works. */
#include "exporter.h"

#include <errno.h>
#include <stddef.h>

static int
kafka_check(const struct flow_sink_settings *settings, const char *to, struct lull_error *error)
{
	(void)settings;
	return lull_error_set(error, -ENOTSUP,
			      "%.*s: lull was built without Kafka; install librdkafka-dev and "
			      "build again",
			      LULL_ERROR_SHOWN, to);
}

static int
kafka_open(const struct sink_job *job, void **state, struct lull_error *error)
{
	(void)state;
	return kafka_check(job->settings, job->to, error);
}

/* open() never succeeds: nothing below is called. */
const struct sink_exporter sink_exporter_kafka = {
	.name = "kafka",
	.check = kafka_check,
	.open = kafka_open,
};
