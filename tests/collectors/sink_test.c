/* SPDX-License-Identifier: BSD-3-Clause */
/* Sinks and what they stand on, against files and sockets of this process. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "case.h"
#include "base/prng.h"
#include "export/sink.h"
#include "export/destination.h"
#include "export/queue.h"
#include "records.h"

#define SEED 5103
#define ITERATIONS_MAX 20000
#define ITERATION_US 500

TEST(destination__takes_what_is_typed_apart)
{
	static const struct {
		const char *text, *path, *host, *port;
		enum sink_way way;
	} cases[] = {
		{ "-", "", "", "", SINK_STDOUT },
		{ "flows.json", "flows.json", "", "", SINK_FILE },
		{ "./a:1", "./a:1", "", "", SINK_FILE },
		{ "a:b", "a:b", "", "", SINK_FILE },
		{ "udp://10.0.0.1:4739", "", "10.0.0.1", "4739", SINK_UDP },
		{ "tcp://[::1]:65535", "", "::1", "65535", SINK_TCP },
		{ "unix:/run/flows", "/run/flows", "", "", SINK_UNIX },
	};
	struct sink_destination destination;
	struct lull_error error;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(sink_destination_parse(cases[i].text, &destination, &error), 0);
		assert_int_equal(destination.way, cases[i].way);
		assert_string_equal(destination.path, cases[i].path);
		assert_string_equal(destination.host, cases[i].host);
		assert_string_equal(destination.port, cases[i].port);
	}
}

TEST(destination__refuses_with_a_remedy)
{
	static const char *const cases[][2] = {
		{ "localhost:80", "udp://localhost:80 or tcp://localhost:80" },
		{ "udp://localhost", "HOST:PORT" },
		{ "udp://localhost:", "HOST:PORT" },
		{ "udp://:80", "HOST:PORT" },
		{ "tcp://a:0", "65535" },
		{ "tcp://a:65536", "65535" },
		{ "tcp://a:99999999999", "65535" },
		{ "tcp://a/b:80", "host name" },
		{ "udp://::1:80", "[::1]:80" },
		{ "http://a:80", "unknown scheme" },
		{ "unix:", "path" },
		{ "", "path" },
	};
	struct sink_destination destination;
	struct lull_error error;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_not_equal(sink_destination_parse(cases[i][0], &destination, &error), 0);
		assert_non_null(strstr(error.text, cases[i][1]));
	}
}

/* Units of any length come out as they went in, whatever the order of puts and pops. */
TEST(queue__keeps_units_in_order)
{
	struct sink_queue queue;
	struct lull_prng prng;
	uint8_t bytes[600];
	uint32_t put = 0, popped = 0, refused = 0;

	print_message("seed %d\n", SEED);
	lull_prng_init(&prng, SEED, 0);
	assert_int_equal(sink_queue_open(&queue, 4096), 0);
	while (put < 100000) {
		uint32_t len = 4 + (uint32_t)lull_prng_below(&prng, sizeof(bytes) - 3);

		memset(bytes, (int)(put & 255), sizeof(bytes));
		memcpy(bytes, &put, sizeof(put));
		if (lull_prng_below(&prng, 2) == 0) {
			if (sink_queue_put(&queue, bytes, len, 1))
				put++;
			else
				refused++;
		} else if (queue.count > 0) {
			const struct sink_unit *unit = sink_queue_front(&queue);
			const uint8_t *at = (const uint8_t *)(unit + 1);

			assert_memory_equal(at, &popped, sizeof(popped));
			assert_true(unit->len == 4 || at[unit->len - 1] == (popped & 255));
			sink_queue_pop(&queue);
			popped++;
		}
		assert_int_equal(queue.count, put - popped);
		assert_int_equal(queue.records, put - popped);
	}
	assert_in_range(refused, 1, put);
	sink_queue_close(&queue);
}

/* ---- whole sinks ---- */

struct listener {
	int fd;
	uint16_t port;
	char tcp[64];
};

/* On listener->port; 0: any that is free. */
static void
listener_open(struct listener *listener)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				       .sin_port = htons(listener->port) };
	socklen_t size = sizeof(address);
	int yes = 1;

	listener->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)), 0);
	assert_int_equal(bind(listener->fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(listener->fd, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(listen(listener->fd, 4), 0);
	listener->port = ntohs(address.sin_port);
	snprintf(listener->tcp, sizeof(listener->tcp), "tcp://127.0.0.1:%u", listener->port);
}

static struct flow_sink *
sink_make(enum flow_sink_kind kind, const char *to, bool ordered)
{
	struct flow_sink_settings settings = { .ordered = ordered };
	struct lull_error error = { "" };
	struct flow_sink *sink = NULL;

	settings.to[kind][0] = to;
	if (flow_sink_open(&settings, &sink, &error) != 0)
		fail_msg("%s", error.text);
	return sink;
}

static void
sink_iterate(struct flow_sink *sink)
{
	struct lull_pipeline_sink instance = flow_sink_instance(sink, 0);
	struct lull_encode_totals totals = { 0 };

	instance.iterate(instance.arg, 1, &totals);
}

static void
sink_give(struct flow_sink *sink, uint32_t first, uint32_t count)
{
	struct lull_pipeline_sink instance = flow_sink_instance(sink, 0);
	struct lull_flow_record record;

	for (uint32_t i = 0; i < count; i++) {
		record_make(&record, first + i);
		instance.record(instance.arg, &record);
	}
}

static struct flow_sink_counters
sink_counters(const struct flow_sink *sink, enum flow_sink_kind kind)
{
	struct flow_sink_counters counters;

	flow_sink_read(sink, kind, &counters);
	return counters;
}

static void
assert_accounted(const struct flow_sink *sink, enum flow_sink_kind kind, uint64_t taken)
{
	struct flow_sink_counters counters = sink_counters(sink, kind);

	assert_int_equal(counters.taken, taken);
	assert_int_equal(counters.records + counters.drops, taken);
}

/* Nobody reads: the queue fills, the rest is dropped and counted, no call waits. */
TEST(sink__a_reader_that_sleeps_costs_records_only)
{
	struct flow_sink_counters counters;
	struct listener listener = { .port = 0 };
	struct flow_sink *sink;
	struct lull_error error;

	listener_open(&listener);
	sink = sink_make(FLOW_SINK_JSON, listener.tcp, false);
	for (uint32_t i = 0; i < 200; i++) {
		sink_give(sink, 1000 * i, 1000); /* about 80 MB */
		sink_iterate(sink);
	}
	counters = sink_counters(sink, FLOW_SINK_JSON);
	assert_int_equal(counters.taken, 200000);
	assert_true(counters.drops > 0);
	assert_true(counters.records > 0);
	assert_int_not_equal(flow_sink_finish(sink, &error), 0);
	assert_non_null(strstr(error.text, "records lost"));
	assert_accounted(sink, FLOW_SINK_JSON, 200000);
	flow_sink_close(sink);
	close(listener.fd);
}

/* Iterations until @p count connections were made. */
static void
sink_await_connects(struct flow_sink *sink, enum flow_sink_kind kind, uint64_t count)
{
	for (int i = 0; i < ITERATIONS_MAX && sink_counters(sink, kind).connects < count; i++) {
		sink_iterate(sink);
		usleep(ITERATION_US);
	}
	assert_int_equal(sink_counters(sink, kind).connects, count);
}

static size_t
read_all(int fd, uint8_t *bytes, size_t size)
{
	size_t len = 0;
	ssize_t got;

	while (len < size && (got = read(fd, bytes + len, size - len)) > 0)
		len += (size_t)got;
	return len;
}

/* A collector that goes and comes back gets templates first and numbers from 0. */
TEST(sink__ipfix_begins_anew_on_a_new_connection)
{
	static uint8_t bytes[1 << 20];
	struct listener listener = { .port = 0 };
	struct flow_sink *sink;
	struct lull_error error;
	size_t len;
	int first, second;

	listener_open(&listener);
	sink = sink_make(FLOW_SINK_IPFIX, listener.tcp, false);
	sink_await_connects(sink, FLOW_SINK_IPFIX, 1);
	first = accept(listener.fd, NULL, NULL);
	sink_give(sink, 0, 500);
	sink_iterate(sink);
	assert_in_range(read(first, bytes, sizeof(bytes)), 1, sizeof(bytes));
	close(first);
	for (int i = 0; i < ITERATIONS_MAX && sink_counters(sink, FLOW_SINK_IPFIX).connects < 2;
	     i++) {
		sink_give(sink, 500, 1);
		sink_iterate(sink);
		usleep(ITERATION_US);
	}
	second = accept(listener.fd, NULL, NULL);
	(void)flow_sink_finish(sink, &error);
	len = read_all(second, bytes, sizeof(bytes));
	assert_in_range(len, 32, sizeof(bytes));
	assert_memory_equal(bytes, ((uint8_t[]){ 0, 10 }), 2);
	assert_memory_equal(bytes + 8, ((uint8_t[]){ 0, 0, 0, 0 }), 4); /* sequence number */
	assert_memory_equal(bytes + 16, ((uint8_t[]){ 0, 2 }), 2);      /* templates */
	assert_accounted(sink, FLOW_SINK_IPFIX, sink_counters(sink, FLOW_SINK_IPFIX).taken);
	flow_sink_close(sink);
	close(second);
	close(listener.fd);
}

/* Live, a collector may come later than the probe; what waits is not lost. */
TEST(sink__json_waits_for_a_late_collector)
{
	static char text[1 << 20];
	struct listener listener = { .port = 0 };
	struct flow_sink *sink;
	struct lull_error error;
	size_t len, lines = 0;
	int fd;

	listener_open(&listener);
	close(listener.fd); /* nobody listens there now */
	sink = sink_make(FLOW_SINK_JSON, listener.tcp, false);
	sink_give(sink, 0, 100);
	sink_iterate(sink);
	for (int i = 0; i < ITERATIONS_MAX && sink_counters(sink, FLOW_SINK_JSON).errors == 0;
	     i++) {
		sink_iterate(sink);
		usleep(ITERATION_US);
	}
	assert_true(sink_counters(sink, FLOW_SINK_JSON).errors > 0);
	listener_open(&listener);
	sink_await_connects(sink, FLOW_SINK_JSON, 1);
	fd = accept(listener.fd, NULL, NULL);
	assert_int_equal(flow_sink_finish(sink, &error), 0);
	len = read_all(fd, (uint8_t *)text, sizeof(text));
	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	assert_int_equal(lines, 100);
	assert_accounted(sink, FLOW_SINK_JSON, 100);
	flow_sink_close(sink);
	close(fd);
	close(listener.fd);
}

TEST(sink__a_full_disk_is_told)
{
	struct flow_sink *sink = sink_make(FLOW_SINK_JSON, "/dev/full", true);
	struct lull_error error = { "" };

	sink_give(sink, 0, 1000);
	assert_int_not_equal(flow_sink_finish(sink, &error), 0);
	assert_non_null(strstr(error.text, "/dev/full: No space left on device: 1000 of 1000"));
	assert_accounted(sink, FLOW_SINK_JSON, 1000);
	flow_sink_close(sink);
}

/* Records of several log loops leave in one order. */
TEST(sink__ordered_instances_make_one_file)
{
	char path[] = "/tmp/lull-sink-XXXXXX", line[LULL_ENCODE_JSON_MAX + 1];
	struct flow_sink_settings settings = { .instances = 3, .ordered = true };
	struct flow_sink *sink;
	struct lull_error error;
	unsigned long long first_us, last_us = 0, lines = 0;
	FILE *file;
	int fd = mkstemp(path);

	settings.to[FLOW_SINK_JSON][0] = path;
	assert_int_equal(flow_sink_open(&settings, &sink, &error), 0);
	for (uint32_t i = 3000; i > 0; i--) {
		struct lull_pipeline_sink instance = flow_sink_instance(sink, i % 3);
		struct lull_flow_record record;

		record_make(&record, i);
		instance.record(instance.arg, &record);
	}
	assert_int_equal(flow_sink_finish(sink, &error), 0);
	flow_sink_close(sink);
	file = fdopen(fd, "r");
	while (fgets(line, sizeof(line), file) != NULL) {
		first_us = strtoull(strstr(line, "\"first_us\":") + 11, NULL, 10);
		assert_true(first_us > last_us);
		last_us = first_us;
		lines++;
	}
	assert_int_equal(lines, 3000);
	fclose(file);
	unlink(path);
}
