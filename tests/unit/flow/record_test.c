/* SPDX-License-Identifier: BSD-3-Clause */
/* Which label a joined record has, and what tells that it is not whole. */
#include "case.h"
#include "flow/record.h"

#include <string.h>

#define APP 7

static struct lull_flow_record
part(uint64_t number, uint16_t app, uint8_t confidence, uint8_t final)
{
	return (struct lull_flow_record){
		.first_number = number,
		.app = app,
		.app_confidence = app != 0 ? confidence : 0,
		.app_final = final,
		.app_number = app != 0 || final != 0 ? number : 0,
		.exact = 1,
	};
}

static uint16_t
app_of(const struct lull_flow_record *a, const struct lull_flow_record *b)
{
	struct lull_flow_record ab = *a, ba = *b;

	lull_flow_record_join(&ab, b, 0);
	lull_flow_record_join(&ba, a, 0);
	assert_memory_equal(&ab, &ba, sizeof(ab));
	return ab.app;
}

TEST(record_join__of_labels_the_more_confident_stays)
{
	const struct lull_flow_record none = part(1, 0, 0, 0), port = part(2, APP, 1, 0);
	const struct lull_flow_record payload = part(3, APP + 1, 3, 0);
	const struct lull_flow_record later = part(4, APP + 2, 3, 0);

	assert_int_equal(app_of(&none, &port), APP);
	assert_int_equal(app_of(&port, &payload), APP + 1);
	assert_int_equal(app_of(&payload, &later), APP + 1);
}

/* Who joins a flow in its middle may take it for another. */
TEST(record_join__a_final_label_stays)
{
	const struct lull_flow_record unknown = part(1, 0, 0, 1), found = part(2, APP, 3, 1);
	const struct lull_flow_record guess = part(0, APP + 1, 3, 0);

	assert_int_equal(app_of(&unknown, &found), 0);
	assert_int_equal(app_of(&found, &guess), APP);
	assert_int_equal(app_of(&unknown, &guess), 0);
}

/* Any order and grouping of three parts of every kind gives the same label. */
TEST(record_join__labels_do_not_depend_on_grouping)
{
	struct lull_flow_record parts[16];

	for (uint32_t i = 0; i < 16; i++)
		parts[i] = part(i, i & 1 ? (uint16_t)(APP + i) : 0, i & 2 ? 3 : 1, i >> 2 & 1);
	for (uint32_t i = 0; i < 16 * 16 * 16; i++) {
		const struct lull_flow_record *a = &parts[i % 16], *b = &parts[i / 16 % 16];
		const struct lull_flow_record *c = &parts[i / 256];
		struct lull_flow_record left = *a, right = *b;

		if (a == b || b == c || a == c)
			continue;
		lull_flow_record_join(&left, b, 0);
		lull_flow_record_join(&left, c, 0);
		lull_flow_record_join(&right, c, 0);
		lull_flow_record_join(&right, a, 0);
		assert_memory_equal(&left, &right, sizeof(left));
	}
}

TEST(record_count__hears_of_packets_lost_before)
{
	struct lull_flow_packet packet = { .number = 1 };
	struct lull_flow_record record, other;

	memset(&record, 0, sizeof(record));
	lull_flow_record_begin(&record, &packet, 0, 0);
	lull_flow_record_count(&record, &packet, NULL, 0);
	assert_int_equal(record.exact, 1);
	other = record;
	packet.mark_flags = LULL_FLOW_MARK_LOST;
	lull_flow_record_count(&record, &packet, NULL, 0);
	assert_int_equal(record.exact, 0);
	packet.mark_flags = 0;
	lull_flow_record_count(&record, &packet, NULL, 0);
	lull_flow_record_join(&other, &record, 0);
	assert_int_equal(other.exact, 0);
}

/* First stamp, then key, then number; nothing else. */
TEST(record_compare__follows_stamp_key_number)
{
	struct lull_flow_record a = { .first_ns = 5, .first_number = 5, .key.port = { 5 } };
	struct lull_flow_record b = a;

	b.last_ns = b.packets[0] = b.bytes[1] = 9;
	assert_int_equal(lull_flow_record_compare(&a, &b), 0);
	b.first_number = 6;
	assert_true(lull_flow_record_compare(&a, &b) < 0);
	b.key.port[0] = 4;
	assert_true(lull_flow_record_compare(&a, &b) > 0);
	assert_true(lull_flow_record_compare(&b, &a) < 0);
	b.first_ns = 6;
	assert_true(lull_flow_record_compare(&a, &b) < 0);
	b.first_ns = UINT64_MAX; /* no difference is too large */
	assert_true(lull_flow_record_compare(&a, &b) < 0);
	assert_true(lull_flow_record_compare(&b, &a) > 0);
}
