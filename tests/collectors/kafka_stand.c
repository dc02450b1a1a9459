/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Kafka cluster for a test, the mock one of librdkafka: kafka_stand TOPIC COUNT. First line: its
 * brokers; then the messages that arrive, each a line, until there are COUNT.
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>

#define BROKERS 3
#define PARTITIONS 4
#define POLL_MS 200
#define PATIENCE_POLLS 300

static rd_kafka_t *
stand_client(rd_kafka_type_t type, const char *brokers)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char error[256];
	rd_kafka_t *client;

	rd_kafka_conf_set(conf, "log_level", "2", error, sizeof(error));
	if (brokers != NULL) {
		rd_kafka_conf_set(conf, "bootstrap.servers", brokers, error, sizeof(error));
		rd_kafka_conf_set(conf, "group.id", "stand", error, sizeof(error));
		rd_kafka_conf_set(conf, "auto.offset.reset", "earliest", error, sizeof(error));
	}
	client = rd_kafka_new(type, conf, error, sizeof(error));
	if (client == NULL) {
		fprintf(stderr, "kafka_stand: %s\n", error);
		exit(EXIT_FAILURE);
	}
	return client;
}

static long
stand_read(rd_kafka_t *consumer, long count)
{
	long seen = 0;

	for (int polls = 0; seen < count && polls < PATIENCE_POLLS;) {
		rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, POLL_MS);

		if (message == NULL) {
			polls++;
			continue;
		}
		if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
			printf("%.*s\n", (int)message->len, (const char *)message->payload);
			seen++;
		}
		rd_kafka_message_destroy(message);
	}
	return seen;
}

int
main(int argc, char **argv)
{
	rd_kafka_t *host = stand_client(RD_KAFKA_PRODUCER, NULL), *consumer;
	rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(host, BROKERS);
	rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
	long count, seen;

	if (argc != 3 || cluster == NULL)
		return EXIT_FAILURE;
	count = strtol(argv[2], NULL, 10);
	rd_kafka_mock_topic_create(cluster, argv[1], PARTITIONS, BROKERS);
	printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
	fflush(stdout);
	consumer = stand_client(RD_KAFKA_CONSUMER, rd_kafka_mock_cluster_bootstraps(cluster));
	rd_kafka_poll_set_consumer(consumer);
	rd_kafka_topic_partition_list_add(topics, argv[1], RD_KAFKA_PARTITION_UA);
	rd_kafka_subscribe(consumer, topics);
	seen = stand_read(consumer, count);
	rd_kafka_topic_partition_list_destroy(topics);
	rd_kafka_consumer_close(consumer);
	rd_kafka_destroy(consumer);
	rd_kafka_mock_cluster_destroy(cluster);
	rd_kafka_destroy(host);
	return seen == count ? EXIT_SUCCESS : EXIT_FAILURE;
}
