/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program with a channel says on its telemetry socket, as JSON. */
#include "stand.h"

#include <jansson.h>

#include "channel/telemetry.h"
#include "host/telemetry.h"
#include "host/telemetry_request.h"

static json_t *
ask(const char *request)
{
	static struct lull_telemetry_json json;
	char name[64];
	json_error_t why;
	json_t *whole, *inner;

	assert_true(lull_telemetry_request(request, strlen(request), "1", &json));
	/* UINT64_MAX, "any", is beyond jansson's integers. */
	whole = json_loadb(json.bytes, json.used, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL,
			   &why);
	if (whole == NULL)
		fail_msg("%s: %s: %.*s", request, why.text, (int)json.used, json.bytes);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(request, ","), request);
	inner = json_incref(json_object_get(whole, name));
	json_decref(whole);
	assert_non_null(inner);
	return inner;
}

static int64_t
number(const json_t *reply, const char *key)
{
	const json_t *value = json_object_get(reply, key);

	if (!json_is_number(value))
		fail_msg("no number %s", key);
	return (int64_t)json_number_value(value);
}

static const char *
text_at(const json_t *reply, const char *key, uint32_t row)
{
	const char *text = json_string_value(json_array_get(json_object_get(reply, key), row));

	if (text == NULL)
		fail_msg("no text %s in row %u", key, row);
	return text;
}

static int64_t
number_at(const json_t *reply, const char *key, uint32_t row)
{
	const json_t *value = json_array_get(json_object_get(reply, key), row);

	if (!json_is_number(value))
		fail_msg("no number %s in row %u", key, row);
	return (int64_t)json_number_value(value);
}

/* Every column is as long as the others. */
static void
columns(const json_t *reply, size_t rows)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)reply, key, value) if (json_is_array(value))
		assert_int_equal(json_array_size(value), rows);
}

struct told {
	struct stand stand;
	struct lull_loop *loops[1];
	struct lull_telemetry_config config;
};

static void
told_open(struct told *told, bool own_loop)
{
	*told = (struct told){ .stand = { .rail_count = 2, .own_loop = own_loop } };
	stand_open(&told->stand);
	told->loops[0] = channel_loop(told->stand.channels[0]);
	told->config = (struct lull_telemetry_config){ .program = "test",
						       .version = "1",
						       .loops = told->loops,
						       .loop_count = told->loops[0] != NULL,
						       .commands = channel_commands };
	channel_telemetry(told->stand.channels[0]);
	lull_telemetry_begin(&told->config, &lull_telemetry_own_loops, "");
}

static void
told_close(struct told *told)
{
	lull_telemetry_end();
	channel_telemetry(NULL);
	stand_close(&told->stand);
}

TEST(telemetry__tells_of_the_channel)
{
	struct told told;
	json_t *reply;

	told_open(&told, false);
	stand_carry(&told.stand, 0, 1000, 1);
	stand_carry(&told.stand, 1, 100000, 2);
	reply = ask("/lull/channel");
	assert_string_equal(json_string_value(json_object_get(reply, "name")), stand_name(0));
	assert_string_equal(json_string_value(json_object_get(reply, "security")), "open");
	assert_string_equal(json_string_value(json_object_get(reply, "spread")), "pull");
	assert_string_equal(json_string_value(json_object_get(reply, "control")), "delay");
	assert_int_equal(number(reply, "peer_count"), 1);
	assert_int_equal(number(reply, "rail_count"), 2);
	assert_int_equal(number(reply, "own_loop"), 0);
	assert_int_equal(number(reply, "operations"), 0);
	assert_int_equal(number(reply, "sends"), 1);
	assert_int_equal(number(reply, "send_bytes"), 1000);
	assert_int_equal(number(reply, "receives"), 1);
	assert_int_equal(number(reply, "receive_bytes"), 100000);
	assert_int_equal(number(reply, "failures"), 0);
	assert_int_equal(number(reply, "short_count"), 1);
	assert_true(number(reply, "short_p99_ns") > 0);
	assert_true(number(reply, "memory_bytes") > 1 << 20);
	assert_true(number(reply, "rx_pkts") > 70);
	assert_int_equal(number(reply, "peers_up"), 1);
	json_decref(reply);
	told_close(&told);
}

TEST(telemetry__tells_of_rails_peers_and_paths)
{
	char request[64];
	struct told told;
	json_t *reply;

	told_open(&told, false);
	stand_carry(&told.stand, 0, 100000, 1);
	reply = ask("/lull/channel_rails");
	columns(reply, 2);
	assert_int_equal(number_at(reply, "rail", 1), 1);
	assert_string_equal(text_at(reply, "text", 1), "pair:1");
	assert_int_equal(number_at(reply, "mtu_bytes", 0), 1500);
	assert_int_equal(number_at(reply, "up", 0), 1);
	assert_true(number_at(reply, "tx_pkts", 0) > 0);
	json_decref(reply);
	reply = ask("/lull/channel_peers");
	columns(reply, 1);
	assert_int_equal(number_at(reply, "peer", 0), told.stand.peers[0]);
	assert_string_equal(text_at(reply, "name", 0), stand_name(1));
	assert_string_equal(text_at(reply, "waits", 0), "nothing");
	assert_int_equal(number_at(reply, "sent_bytes", 0), 100000);
	assert_int_equal(number_at(reply, "path_count", 0), 2);
	assert_int_equal(number(reply, "next"), 0);
	json_decref(reply);
	snprintf(request, sizeof(request), "/lull/channel_peers,%u", told.stand.peers[0] + 1);
	reply = ask(request);
	columns(reply, 0);
	json_decref(reply);
	snprintf(request, sizeof(request), "/lull/channel_paths,%u", told.stand.peers[0]);
	reply = ask(request);
	columns(reply, 2);
	assert_string_equal(json_string_value(json_object_get(reply, "name")), stand_name(1));
	assert_string_equal(text_at(reply, "state", 0), "up");
	assert_int_equal(number_at(reply, "rail", 1), 1);
	assert_int_equal(number_at(reply, "lost_pkts", 0), 0);
	assert_true(number_at(reply, "delivered_bytes", 0) +
			    number_at(reply, "delivered_bytes", 1) >=
		    100000);
	json_decref(reply);
	told_close(&told);
}

/* A peer that is not there, no number, no channel. */
TEST(telemetry__has_nothing_to_tell)
{
	static const char *const requests[] = { "/lull/channel_paths", "/lull/channel_paths,63",
						"/lull/channel_paths,x99" };
	struct told told;
	json_t *reply;

	told_open(&told, true);
	assert_null(told.loops[0]);
	for (uint32_t i = 0; i < COUNT(requests); i++) {
		reply = ask(requests[i]);
		assert_int_equal(json_object_size(reply), i < 2 ? 1 : json_object_size(reply));
		json_decref(reply);
	}
	reply = ask("/lull/channel");
	assert_int_equal(number(reply, "own_loop"), 1);
	json_decref(reply);
	channel_telemetry(NULL);
	reply = ask("/lull/channel");
	assert_int_equal(json_object_size(reply), 0);
	json_decref(reply);
	told_close(&told);
}

/* The loop of the channel, as that of every program. */
TEST(telemetry__tells_of_the_loop)
{
	struct told told;
	json_t *reply;
	char request[64];

	told_open(&told, false);
	stand_carry(&told.stand, 0, 1000, 1);
	snprintf(request, sizeof(request), "/lull/loop,%s", lull_loop_name(told.loops[0]));
	reply = ask(request);
	assert_string_equal(json_string_value(json_object_get(reply, "kind")), "channel");
	json_decref(reply);
	snprintf(request, sizeof(request), "/lull/explain,%s", lull_loop_name(told.loops[0]));
	reply = ask(request);
	assert_true(json_object_size(reply) > 0);
	json_decref(reply);
	told_close(&told);
}
