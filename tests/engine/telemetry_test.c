/* SPDX-License-Identifier: BSD-3-Clause */
/* The /lull commands as a client sees them: over the socket, as JSON. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <jansson.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "stand.h"
#include "engine/loop/telemetry.h"

#define REPLY_SIZE 16384

static struct lull_port near, far;
static struct lull_forward_config forward;
static struct lull_loop *loops[2];
static struct lull_telemetry_config telemetry;
static int client;
static size_t ask_flags = JSON_REJECT_DUPLICATES;

/* ---- client ---- */

/* DPDK serves ten clients at a time and hangs up on others; -1 then. */
static int
client_try_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char greeting[1024];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/dpdk_telemetry.v2",
		 rte_eal_get_runtime_dir());
	if (connect(fd, (const void *)&address, sizeof(address)) == 0 &&
	    recv(fd, greeting, sizeof(greeting), 0) > 0)
		return fd;
	close(fd);
	return -1;
}

static int
client_open(void)
{
	int fd;

	STAND_WAIT((fd = client_try_open()) >= 0);
	return fd;
}

/* The object behind the command's name; the caller gives it back. */
static json_t *
ask(const char *command)
{
	static char reply[REPLY_SIZE + 1];
	char name[64];
	json_t *whole, *inner;
	ssize_t size;

	assert_true(send(client, command, strlen(command), 0) > 0);
	size = recv(client, reply, REPLY_SIZE, 0);
	assert_true(size > 0);
	reply[size] = '\0';
	whole = json_loads(reply, ask_flags, NULL);
	if (whole == NULL)
		fail_msg("%s: not JSON: %s", command, reply);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(command, ","), command);
	inner = json_incref(json_object_get(whole, name));
	json_decref(whole);
	if (!json_is_object(inner))
		fail_msg("%s: %s", command, reply);
	return inner;
}

static json_int_t
number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		fail_msg("no number %s", key);
	return json_integer_value(value);
}

static const char *
text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	if (value == NULL)
		fail_msg("no text %s", key);
	return value;
}

static json_int_t
ask_number(const char *command, const char *key)
{
	json_t *reply = ask(command);
	json_int_t value = number(reply, key);

	json_decref(reply);
	return value;
}

/* ---- tests ---- */

TEST(info__names_the_loops)
{
	json_t *reply = ask("/lull/info"), *names = json_object_get(reply, "loops");

	assert_string_equal(text(reply, "program"), "lull-test");
	assert_string_equal(text(reply, "version"), "0.1.0");
	assert_int_equal(number(reply, "pid"), getpid());
	assert_int_equal(text(reply, "dpdk")[0], '2');
	assert_true(number(reply, "now_ns") >= number(reply, "started_ns"));
	assert_int_equal(json_array_size(names), 2);
	assert_string_equal(json_string_value(json_array_get(names, 0)), "fwd0");
	assert_string_equal(json_string_value(json_array_get(names, 1)), "fwd1");
	json_decref(reply);
}

static void
send_packets(uint32_t count)
{
	struct rte_mbuf *pkts[32];
	uint32_t received = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct rte_mbuf *pkt = stand_frame(stand_pool(), i);

		STAND_WAIT(rte_eth_tx_burst(near.port_id, 0, &pkt, 1) == 1);
	}
	while (received < count) {
		uint16_t got = rte_eth_rx_burst(near.port_id, 0, pkts, 32);

		rte_pktmbuf_free_bulk(pkts, got);
		received += got;
	}
}

TEST(loop__tells_every_counter)
{
	const struct lull_counter_info *row;
	json_t *reply;

	send_packets(50);
	STAND_WAIT(ask_number("/lull/loop,fwd0", "wait_count") >= 50);
	reply = ask("/lull/loop,fwd0");
	for (row = lull_idle_counter_table; row->name != NULL; row++)
		number(reply, row->name);
	for (row = lull_stage_forward.counters; row->name != NULL; row++)
		number(reply, row->name);
	assert_string_equal(text(reply, "name"), "fwd0");
	assert_string_equal(text(reply, "kind"), "forward");
	assert_string_equal(text(reply, "mode"), "on");
	assert_string_equal(text(reply, "governor"), "fixed");
	assert_string_equal(text(reply, "percentile"), "99.95");
	assert_string_equal(text(reply, "loss"), "tolerate");
	assert_string_equal(text(reply, "pps_max"), "learned");
	assert_int_equal(number(reply, "max_latency_us"), 200);
	assert_int_equal(number(reply, "rest_us"), 50);
	assert_int_equal(number(reply, "tx_pkts"), 50);
	assert_int_equal(number(reply, "rx_missed"), 0);
	assert_true(number(reply, "tid") > 0);
	assert_true(number(reply, "thread_cpu_ns") > 0);
	assert_true(number(reply, "wait_max_ns") >= number(reply, "wait_p99_ns"));
	assert_in_range(number(reply, "usage_ppm"), 1, 1000000);
	json_decref(reply);
}

TEST(loop__unknown_names_are_refused_by_name)
{
	json_t *reply = ask("/lull/loop,nonsense");

	assert_string_equal(text(reply, "error"), "no loop nonsense; the loops are: fwd0 fwd1");
	json_decref(reply);
	reply = ask("/lull/loop");
	assert_non_null(strstr(text(reply, "error"), "the loops are: fwd0 fwd1"));
	json_decref(reply);
}

TEST(explain__has_numbers_and_a_sentence)
{
	json_t *reply;

	/* UINT64_MAX, "any", is beyond jansson's integers. */
	ask_flags |= JSON_DECODE_INT_AS_REAL;
	reply = ask("/lull/explain,fwd1");
	ask_flags &= ~(size_t)JSON_DECODE_INT_AS_REAL;
	assert_non_null(json_object_get(reply, "state"));
	assert_non_null(strstr(text(reply, "idle_states"), "pause"));
	assert_non_null(strstr(text(reply, "idle_states"), "sleep"));
	/* how, and why not */
	assert_string_equal(text(reply, "way_sleep"), "the thread sleeps on a timer");
	assert_non_null(strstr(text(reply, "way_interrupt"),
			       "not available: a port without Rx interrupts"));
	/* fwd1 tolerates losses: any rest fits its ring. */
	assert_true(json_real_value(json_object_get(reply, "ring_bound_ns")) >= 1e19);
	assert_true(json_is_real(json_object_get(reply, "calibration_count")));
	assert_true(strlen(text(reply, "text")) > 10);
	json_decref(reply);
}

TEST(histogram__bins_add_up)
{
	json_t *reply = ask("/lull/histogram,fwd0,rest"), *bins = json_object_get(reply, "bins");
	json_int_t sum = 0, last = -1;

	assert_true(json_array_size(bins) >= 2);
	assert_int_equal(json_array_size(bins) % 2, 0);
	for (size_t i = 0; i < json_array_size(bins); i += 2) {
		json_int_t low = json_integer_value(json_array_get(bins, i));

		assert_true(low > last);
		last = low;
		sum += json_integer_value(json_array_get(bins, i + 1));
	}
	assert_true(sum > 0);
	json_decref(reply);
	reply = ask("/lull/histogram,fwd0,nonsense");
	text(reply, "error");
	json_decref(reply);
}

TEST(histogram__is_merged_to_fit)
{
	static struct lull_histogram histogram;
	static struct lull_telemetry_bins bins;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < LULL_HISTOGRAM_BINS; i++)
		lull_histogram_add(&histogram, lull_histogram_low(i), i + 1);
	lull_telemetry_bins(&histogram, 250, &bins);
	assert_in_range(bins.count, 125, 250);
	for (uint32_t i = 0; i < bins.count; i++)
		sum += bins.bins[i].count;
	assert_int_equal(sum, histogram.count);
	assert_int_equal(bins.bins[0].low, 0);
}

TEST(mark__reaches_every_loop)
{
	json_int_t window = ask_number("/lull/mark", "window");

	STAND_WAIT(ask_number("/lull/loop,fwd0", "window") == window &&
		   ask_number("/lull/loop,fwd1", "window") == window);
	assert_int_equal(ask_number("/lull/mark", "window"), window + 1);
}

TEST(set__hands_on_the_whole_assignment)
{
	json_t *reply = ask("/lull/set,traffic@fwd0=onoff:1M,5ms,20ms");

	assert_int_equal(number(reply, "ok"), 1);
	json_decref(reply);
	reply = ask("/lull/settings");
	assert_string_equal(text(reply, "last_assignment"), "traffic@fwd0=onoff:1M,5ms,20ms");
	json_decref(reply);
	/* A long sentence goes on in a second member. */
	reply = ask("/lull/set,wrong=1");
	assert_true(strlen(text(reply, "error")) < 128);
	assert_non_null(strstr(text(reply, "error_more"), "the end"));
	json_decref(reply);
	reply = ask("/lull/set");
	text(reply, "error");
	json_decref(reply);
}

TEST(traffic__is_refused_by_a_loop_without)
{
	json_t *reply = ask("/lull/traffic,fwd0");

	text(reply, "error");
	json_decref(reply);
}

/* What the program adds; lists come as they were put. */
static void
counted_reply(void *arg, const char *params, struct lull_telemetry_reply *reply)
{
	static const uint64_t counts[] = { 7, 1ULL << 40 };
	static const char *const names[] = { "one", "two", "three" };

	assert_ptr_equal(arg, &telemetry);
	lull_telemetry_put_text(reply, "said", params != NULL ? params : "nothing");
	lull_telemetry_put_counts(reply, "counts", counts, 2);
	lull_telemetry_put_texts(reply, "names", names, 3);
	lull_telemetry_put_texts(reply, "none", names, 0);
}

static const struct lull_telemetry_command commands[] = {
	{ "/lull/counted", "Lists, for this test. Parameters: any", counted_reply },
	{ NULL, NULL, NULL },
};

TEST(command__of_the_program_answers_with_lists)
{
	json_t *reply = ask("/lull/counted,word");

	assert_string_equal(json_string_value(json_object_get(reply, "said")), "word");
	assert_int_equal(json_array_size(json_object_get(reply, "counts")), 2);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(reply, "counts"), 0)),
			 7);
	assert_int_equal(json_array_size(json_object_get(reply, "names")), 3);
	assert_string_equal(json_string_value(json_array_get(json_object_get(reply, "names"), 2)),
			    "three");
	assert_int_equal(json_array_size(json_object_get(reply, "none")), 0);
	json_decref(reply);
}

/* A client that goes away in the middle must not take the program with it. */
TEST(client__may_leave_without_reading)
{
	for (int i = 0; i < 50; i++) {
		int fd = client_open();

		assert_true(send(fd, "/lull/loop,fwd0", 15, 0) > 0);
		close(fd);
	}
	STAND_WAIT(ask_number("/lull/info", "pid") == getpid());
}

/* ---- one program with two loops ---- */

static char last_assignment[128];

static int
apply(void *arg, const char *assignment, struct lull_error *error)
{
	(void)arg;
	if (strncmp(assignment, "wrong", 5) == 0) {
		snprintf(error->text, sizeof(error->text),
			 "%0130d a sentence that is longer than what fits one string, to the end",
			 7);
		return -EINVAL;
	}
	snprintf(last_assignment, sizeof(last_assignment), "%s", assignment);
	return 0;
}

static void
settings(void *arg, void (*put)(void *put_arg, const char *key, const char *value), void *put_arg)
{
	(void)arg;
	put(put_arg, "last-assignment", last_assignment);
}

static int
setup(void **state)
{
	struct lull_loop_config config;
	struct lull_error error;

	if (stand_setup(state) != 0)
		return -1;
	stand_pair("telemetry", 2, 512, &near, &far);
	for (unsigned int i = 0; i < 2; i++) {
		config = stand_loop(i == 0 ? "fwd0" : "fwd1", 1 + i, &far, &forward);
		config.queues[0].queue_id = (uint16_t)i;
		forward.tx[0].queue_id = (uint16_t)i;
		config.governor = lull_idle_governor_find(i == 0 ? "fixed" : "objective");
		config.limits.percentile_ppm = 999500;
		if (lull_loop_create(&config, &loops[i], &error) != 0)
			return -1;
	}
	telemetry = (struct lull_telemetry_config){
		.program = "lull-test",
		.version = "0.1.0",
		.loops = loops,
		.loop_count = 2,
		.set = apply,
		.settings = settings,
		.commands = commands,
		.arg = &telemetry,
	};
	if (lull_telemetry_start(&telemetry) != 0 || lull_loop_start(loops[0]) != 0 ||
	    lull_loop_start(loops[1]) != 0)
		return -1;
	client = client_open();
	return 0;
}

static int
teardown(void **state)
{
	json_t *reply;

	lull_telemetry_stop();
	reply = ask("/lull/info");
	assert_string_equal(text(reply, "error"), "the program is ending");
	json_decref(reply);
	close(client);
	lull_loop_destroy(loops[0]);
	lull_loop_destroy(loops[1]);
	return stand_stop(state);
}

TEST_GROUP(setup, teardown);
