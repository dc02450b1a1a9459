/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <lull/encode.h>

#include "case.h"

#define PAYLOAD 4

struct kept {
	struct lull_flow_record record;
	uint8_t payload[2 * LULL_FLOW_PAYLOAD_MAX];
};

static const char *
app_name(void *arg, uint16_t app, uint16_t app_master, char *text, size_t size)
{
	snprintf(text, size, "%s%u.%u", (const char *)arg, app_master, app);
	return text;
}

/* A client at endpoint 1 of the key asked the server at endpoint 0. */
static struct kept
kept_make(void)
{
	struct kept kept = {
		.record = {
			.key = { .addr = { { 192, 0, 2, 1 }, { 198, 51, 100, 7 } },
				 .port = { 443, 50000 },
				 .vlan_id = 12,
				 .version = 4,
				 .proto = 6 },
			.packets = { 3, 4 },
			.bytes = { 300, 400 },
			.payload_total = { 30, 40 },
			.first_ns = 1700000000123456789,
			.last_ns = 1700000001000000999,
			.workers = 1ULL << 0 | 1ULL << 3 | 1ULL << 31,
			.moves = 2,
			.reordered = 1,
			.fragments = 5,
			.app = 91,
			.app_master = 7,
			.payload_len = { 2, 4 },
			.tcp_flags = { 0x12, 0x1a },
			.first_direction = 1,
			.end = LULL_FLOW_END_ACTIVE,
			.exact = 1,
		},
	};

	memcpy(kept.payload, (uint8_t[]){ 0xab, 0xcd }, 2);
	memcpy(kept.payload + PAYLOAD, (uint8_t[]){ 1, 2, 3, 255 }, 4);
	return kept;
}

#define PLAIN                                                                                      \
	"{\"src_ip\":\"198.51.100.7\",\"src_port\":50000,\"dst_ip\":\"192.0.2.1\","                \
	"\"dst_port\":443,\"proto\":6,\"vlan_id\":12,\"packets\":4,\"bytes\":400,"                 \
	"\"packets_rev\":3,\"bytes_rev\":300,\"first_us\":1700000000123456,"                       \
	"\"last_us\":1700000001000000,\"app\":\"%s\",\"payload_bytes\":40,"                        \
	"\"payload_bytes_rev\":30,\"tcp_flags\":26,\"tcp_flags_rev\":18,"                          \
	"\"tcp_state\":\"established\""

static void
assert_line(const struct lull_encode_json_config *config, const struct kept *kept,
	    const char *expected)
{
	char line[LULL_ENCODE_JSON_MAX + 1];
	size_t len = lull_encode_json(config, &kept->record, line);

	line[len] = '\0';
	assert_string_equal(line, expected);
}

TEST(json__members_in_their_order)
{
	struct lull_encode_json_config config = { 0 };
	struct kept kept = kept_make();
	char expected[LULL_ENCODE_JSON_MAX];

	snprintf(expected, sizeof(expected), PLAIN "}\n", "");
	assert_line(&config, &kept, expected);
	config.app = app_name;
	config.app_arg = (char[]){ "\"" };
	snprintf(expected, sizeof(expected), PLAIN "}\n", "\\\"7.91");
	assert_line(&config, &kept, expected);
}

TEST(json__payload_and_facts)
{
	struct lull_encode_json_config config = { .facts = true, .payload_bytes = PAYLOAD };
	struct kept kept = kept_make();
	char expected[LULL_ENCODE_JSON_MAX];

	snprintf(expected, sizeof(expected),
		 PLAIN ",\"payload\":\"010203ff\",\"payload_rev\":\"abcd\",\"workers\":[0,3,31],"
		       "\"moves\":2,\"reordered\":1,\"fragments\":5,\"end\":\"active\","
		       "\"exact\":true}\n",
		 "");
	assert_line(&config, &kept, expected);
	kept.record.exact = 0;
	kept.record.workers = 0;
	kept.record.end = LULL_FLOW_END_FLUSH;
	kept.record.payload_len[0] = 0;
	snprintf(expected, sizeof(expected),
		 PLAIN ",\"payload\":\"010203ff\",\"payload_rev\":\"\",\"workers\":[],"
		       "\"moves\":2,\"reordered\":1,\"fragments\":5,\"end\":\"end\","
		       "\"exact\":false}\n",
		 "");
	assert_line(&config, &kept, expected);
}

TEST(json__tells_the_observation_point)
{
	struct lull_encode_json_config config = { .observation_point = UINT32_MAX };
	struct kept kept = kept_make();
	char expected[LULL_ENCODE_JSON_MAX];

	snprintf(expected, sizeof(expected), PLAIN ",\"observation_point\":4294967295}\n", "");
	assert_line(&config, &kept, expected);
}

static const char *
app_longest(void *arg, uint16_t app, uint16_t app_master, char *text, size_t size)
{
	(void)arg, (void)app, (void)app_master;
	memset(text, '"', size - 1);
	text[size - 1] = '\0';
	return text;
}

TEST(json__the_longest_record_fits)
{
	struct lull_encode_json_config config = { .facts = true,
						  .payload_bytes = LULL_FLOW_PAYLOAD_MAX,
						  .observation_point = UINT32_MAX,
						  .app = app_longest };
	char line[LULL_ENCODE_JSON_MAX];
	struct kept kept;

	memset(&kept, 0xff, sizeof(kept));
	kept.record.key.version = 6;
	kept.record.key.proto = LULL_FLOW_PROTO_TCP;
	kept.record.key.tunnel = LULL_FLOW_TUNNEL_GENEVE;
	kept.record.first_direction = 0;
	kept.record.end = LULL_FLOW_END_EVICTED;
	kept.record.payload_len[0] = LULL_FLOW_PAYLOAD_MAX;
	kept.record.payload_len[1] = LULL_FLOW_PAYLOAD_MAX;
	assert_in_range(lull_encode_json(&config, &kept.record, line), 1400, sizeof(line));
}
