/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kafka: one JSON object per message, no key. librdkafka has threads of its own and never blocks
 * here; what its bounded queue does not take is dropped.
 */
#include "exporter.h"

#include <errno.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

#define ANSWER_MS 5000
#define POLL_MS 100
#define KAFKA_POLL_NS (10 * LULL_NS_PER_MS)

struct sink_kafka {
	struct lull_encode_json_config config;
	struct flow_sink_counters *counters;
	struct sink_health *health;
	const char *to;
	rd_kafka_t *producer;
	rd_kafka_topic_t *topic;
	struct lull_error trouble; /* the first one */
	bool blocking, given_up;
};

/* librdkafka's own words for causes that others have too. */
static int
kafka_errno(rd_kafka_resp_err_t code)
{
	switch (code) {
	case RD_KAFKA_RESP_ERR__TRANSPORT:
	case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
		return ECONNREFUSED;
	case RD_KAFKA_RESP_ERR__TIMED_OUT:
	case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
	case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
		return ETIMEDOUT;
	case RD_KAFKA_RESP_ERR__RESOLVE:
		return EADDRNOTAVAIL;
	case RD_KAFKA_RESP_ERR__SSL:
	case RD_KAFKA_RESP_ERR__AUTHENTICATION:
		return EACCES;
	default:
		return EIO;
	}
}

static void
kafka_trouble(struct sink_kafka *kafka, rd_kafka_resp_err_t code, const char *text)
{
	sink_count_error(kafka->counters, kafka_errno(code));
	if (kafka->trouble.text[0] == '\0')
		lull_error_set(&kafka->trouble, -EIO, "%s: %s", kafka->to, text);
}

static void
kafka_delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *arg)
{
	struct sink_kafka *kafka = arg;

	(void)producer;
	if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
		bool end = message->err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
			   message->err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;

		sink_count_drops(kafka->counters,
				 end ? &kafka->counters->drop_end : &kafka->counters->drop_refused,
				 1);
		kafka_trouble(kafka, message->err, rd_kafka_err2str(message->err));
		return;
	}
	sink_health_up(kafka->health);
	LULL_COUNTER_ADD(kafka->counters->records, 1);
	LULL_COUNTER_ADD(kafka->counters->bytes, message->len);
}

static void
kafka_error(rd_kafka_t *producer, int code, const char *reason, void *arg)
{
	struct sink_kafka *kafka = arg;

	(void)producer;
	kafka_trouble(kafka, (rd_kafka_resp_err_t)code, reason);
	if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || code == RD_KAFKA_RESP_ERR__SSL ||
	    code == RD_KAFKA_RESP_ERR__AUTHENTICATION)
		sink_health_down(kafka->health, rd_kafka_err2str((rd_kafka_resp_err_t)code));
}

/* What it would print comes as errors and counters. */
static void
kafka_quiet(const rd_kafka_t *producer, int level, const char *facility, const char *text)
{
	(void)producer, (void)level, (void)facility, (void)text;
}

static int
kafka_set(rd_kafka_conf_t *conf, const char *name, const char *value, struct lull_error *error)
{
	char text[256];

	if (rd_kafka_conf_set(conf, name, value, text, sizeof(text)) == RD_KAFKA_CONF_OK)
		return 0;
	return lull_error_set(error, -EINVAL, "kafka: %s", text);
}

/* "name=value" */
static int
kafka_set_property(rd_kafka_conf_t *conf, const char *property, struct lull_error *error)
{
	char *copy = strdup(property), *value = copy == NULL ? NULL : strchr(copy, '=');
	int rc;

	if (copy == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for Kafka");
	if (value == NULL) {
		rc = lull_error_set(error, -EINVAL, "kafka: '%.*s': wants NAME=VALUE",
				    LULL_ERROR_SHOWN, property);
	} else {
		*value = '\0';
		rc = kafka_set(conf, copy, value + 1, error);
	}
	free(copy);
	return rc;
}

static int
kafka_set_file(rd_kafka_conf_t *conf, const char *path, struct lull_error *error)
{
	FILE *file = fopen(path, "re");
	char line[SINK_PATH_MAX];
	int rc = 0;

	if (file == NULL)
		return lull_error_set(error, -errno, "%s: %s", path, strerror(errno));
	for (int number = 1; rc == 0 && fgets(line, sizeof(line), file) != NULL; number++) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] == '\0' || line[0] == '#')
			continue;
		/* A line may hold a secret: the sentence does not repeat it. */
		if (strchr(line, '=') == NULL)
			rc = lull_error_set(error, -EINVAL, "it is not NAME=VALUE");
		else
			rc = kafka_set_property(conf, line, error);
		if (rc != 0)
			lull_error_prefix(error, "%s: line %d: ", path, number);
	}
	fclose(file);
	return rc;
}

static int
kafka_set_extra(rd_kafka_conf_t *conf, const struct flow_sink_settings *settings,
		struct lull_error *error)
{
	int rc = 0;

	if (settings->kafka_file != NULL && settings->kafka_file[0] != '\0')
		rc = kafka_set_file(conf, settings->kafka_file, error);
	for (const char *const *property = settings->kafka_properties;
	     rc == 0 && property != NULL && *property != NULL; property++)
		rc = kafka_set_property(conf, *property, error);
	return rc;
}

static int
kafka_check(const struct flow_sink_settings *settings, const char *to, struct lull_error *error)
{
	const char *slash = strchr(to, '/');
	rd_kafka_conf_t *conf;
	int rc;

	if (strstr(to, "://") != NULL)
		return lull_error_set(error, -EINVAL,
				      "%.*s: give BROKERS/TOPIC without a scheme, such as "
				      "localhost:9092/flows",
				      LULL_ERROR_SHOWN, to);
	if (slash == NULL || slash == to || slash[1] == '\0' || strchr(slash + 1, '/') != NULL)
		return lull_error_set(error, -EINVAL,
				      "%.*s: give BROKERS/TOPIC, such as localhost:9092/flows",
				      LULL_ERROR_SHOWN, to);
	conf = rd_kafka_conf_new();
	rc = kafka_set_extra(conf, settings, error);
	rd_kafka_conf_destroy(conf);
	return rc;
}

static int
kafka_configure(struct sink_kafka *kafka, const struct flow_sink_settings *settings,
		rd_kafka_conf_t *conf, struct lull_error *error)
{
	char brokers[SINK_PATH_MAX], kbytes[16];
	int len = (int)(strchr(kafka->to, '/') - kafka->to), rc;

	snprintf(brokers, sizeof(brokers), "%.*s", len, kafka->to);
	snprintf(kbytes, sizeof(kbytes), "%u", LULL_MAX(settings->queue_bytes / 1024, 1u));
	rd_kafka_conf_set_opaque(conf, kafka);
	rd_kafka_conf_set_dr_msg_cb(conf, kafka_delivered);
	rd_kafka_conf_set_error_cb(conf, kafka_error);
	rd_kafka_conf_set_log_cb(conf, kafka_quiet);
	rc = kafka_set(conf, "bootstrap.servers", brokers, error);
	if (rc == 0)
		rc = kafka_set(conf, "client.id", "lull-flow", error);
	if (rc == 0)
		rc = kafka_set(conf, "queue.buffering.max.kbytes", kbytes, error);
	/* Repeated sends after a lost answer neither double nor reorder. */
	if (rc == 0)
		rc = kafka_set(conf, "enable.idempotence", "true", error);
	if (rc == 0)
		rc = kafka_set(conf, "socket.keepalive.enable", "true", error);
	return rc == 0 ? kafka_set_extra(conf, settings, error) : rc;
}

/* Ordered: is anybody there? */
static int
kafka_answers(struct sink_kafka *kafka, struct lull_error *error)
{
	const struct rd_kafka_metadata *metadata;
	rd_kafka_resp_err_t rc =
		rd_kafka_metadata(kafka->producer, 0, kafka->topic, &metadata, ANSWER_MS);

	if (rc == RD_KAFKA_RESP_ERR_NO_ERROR) {
		rd_kafka_metadata_destroy(metadata);
		return 0;
	}
	/* Why, as far as it was told: a certificate, a password, nobody there. */
	while (rd_kafka_poll(kafka->producer, 0) > 0)
		;
	if (kafka->trouble.text[0] != '\0')
		return lull_error_set(error, -ECONNREFUSED, "%s", kafka->trouble.text);
	return lull_error_set(error, -ECONNREFUSED, "%s: no broker answers: %s", kafka->to,
			      rd_kafka_err2str(rc));
}

static void
kafka_close(void *state)
{
	struct sink_kafka *kafka = state;

	if (kafka->topic != NULL)
		rd_kafka_topic_destroy(kafka->topic);
	if (kafka->producer != NULL) {
		rd_kafka_purge(kafka->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
		rd_kafka_flush(kafka->producer, POLL_MS);
		rd_kafka_destroy(kafka->producer);
	}
	free(kafka);
}

static int
kafka_start(struct sink_kafka *kafka, const struct flow_sink_settings *settings,
	    struct lull_error *error)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char text[256];
	int rc = kafka_configure(kafka, settings, conf, error);

	if (rc == 0) {
		kafka->producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
		if (kafka->producer == NULL)
			rc = lull_error_set(error, -EINVAL, "%s: %s", kafka->to, text);
	}
	if (rc != 0) {
		rd_kafka_conf_destroy(conf);
		return rc;
	}
	kafka->topic = rd_kafka_topic_new(kafka->producer, strchr(kafka->to, '/') + 1, NULL);
	if (kafka->topic == NULL)
		return lull_error_set(error, -EINVAL, "%s: %s", kafka->to,
				      rd_kafka_err2str(rd_kafka_last_error()));
	return kafka->blocking ? kafka_answers(kafka, error) : 0;
}

static int
kafka_open(const struct sink_job *job, void **state, struct lull_error *error)
{
	const struct flow_sink_settings *settings = job->settings;
	struct sink_kafka *kafka = calloc(1, sizeof(*kafka));
	int rc;

	if (kafka == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for Kafka");
	kafka->config = (struct lull_encode_json_config){
		.facts = settings->facts,
		.payload_bytes = settings->payload_bytes,
		.observation_point = settings->observation_point,
		.app = settings->app,
		.app_arg = settings->app_arg,
	};
	kafka->counters = job->counters;
	kafka->health = job->health;
	kafka->to = job->to;
	kafka->blocking = settings->ordered;
	rc = kafka_start(kafka, settings, error);
	if (rc != 0) {
		kafka_close(kafka);
		return rc;
	}
	*state = kafka;
	return 0;
}

static bool
kafka_produce(struct sink_kafka *kafka, char *line, size_t len)
{
	return rd_kafka_produce(kafka->topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, line, len,
				NULL, 0, NULL) == 0;
}

/* Wait while deliveries go on. */
static bool
kafka_wait_produce(struct sink_kafka *kafka, char *line, size_t len)
{
	uint64_t end_ns = sink_clock_ns() + SINK_STALL_NS_ORDERED;

	while (rd_kafka_last_error() == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
		if (rd_kafka_poll(kafka->producer, POLL_MS) > 0)
			end_ns = sink_clock_ns() + SINK_STALL_NS_ORDERED;
		if (kafka_produce(kafka, line, len))
			return true;
		if (sink_clock_ns() >= end_ns)
			break;
	}
	kafka->given_up = true;
	return false;
}

static void
kafka_record(void *state, const struct lull_flow_record *record)
{
	struct sink_kafka *kafka = state;
	char line[LULL_ENCODE_JSON_MAX];
	size_t len = lull_encode_json(&kafka->config, record, line) - 1; /* no line feed */

	LULL_COUNTER_ADD(kafka->counters->taken, 1);
	if (kafka_produce(kafka, line, len))
		return;
	if (kafka->blocking && !kafka->given_up && kafka_wait_produce(kafka, line, len))
		return;
	sink_count_drops(kafka->counters, &kafka->counters->drop_full, 1);
	kafka_trouble(kafka, rd_kafka_last_error(), rd_kafka_err2str(rd_kafka_last_error()));
}

static uint64_t
kafka_iterate(void *state, const struct lull_encode_totals *totals)
{
	struct sink_kafka *kafka = state;

	(void)totals;
	rd_kafka_poll(kafka->producer, 0);
	return rd_kafka_outq_len(kafka->producer) > 0 ? KAFKA_POLL_NS : LULL_NS_PER_S;
}

static void
kafka_finish(void *state, const struct lull_encode_totals *totals, struct lull_error *error)
{
	struct sink_kafka *kafka = state;
	uint64_t stall_ns = kafka->blocking ? SINK_STALL_NS_ORDERED : SINK_STALL_NS_LIVE;
	uint64_t end_ns = sink_clock_ns() + stall_ns;
	int left = rd_kafka_outq_len(kafka->producer);

	(void)totals;
	while (left > 0 && sink_clock_ns() < end_ns) {
		rd_kafka_flush(kafka->producer, POLL_MS);
		if (rd_kafka_outq_len(kafka->producer) < left)
			end_ns = sink_clock_ns() + stall_ns;
		left = rd_kafka_outq_len(kafka->producer);
	}
	if (left > 0) {
		/* Their delivery reports count them as dropped. */
		rd_kafka_purge(kafka->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
		rd_kafka_flush(kafka->producer, ANSWER_MS);
	}
	*error = kafka->trouble;
}

const struct sink_exporter sink_exporter_kafka = {
	.name = "kafka",
	.check = kafka_check,
	.open = kafka_open,
	.record = kafka_record,
	.iterate = kafka_iterate,
	.finish = kafka_finish,
	.close = kafka_close,
};
