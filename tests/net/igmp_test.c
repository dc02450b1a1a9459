/* SPDX-License-Identifier: BSD-3-Clause */
/* Membership of groups, in virtual time: the tests are routers of three versions. */
#include <stdlib.h>

#include "net/igmp.h"
#include "net_stand.h"

#define BEGIN_NS (5 * LULL_NS_PER_S)
#define MESSAGE (14 + 24)

static const uint8_t mac[] = { 2, 0, 0, 0, 0, 7 }, own[] = { 192, 0, 2, 7 }, nobody[4];
static const uint8_t one[] = { 239, 1, 2, 3 }, two[] = { 239, 129, 9, 9 };
static uint8_t frame[LULL_NET_IGMP_FRAME_MAX];

static struct lull_net_igmp
in_two_groups(void)
{
	struct lull_net_igmp igmp;

	lull_net_igmp_init(&igmp, own, mac);
	lull_net_igmp_join(&igmp, BEGIN_NS, one);
	lull_net_igmp_join(&igmp, BEGIN_NS, two);
	lull_net_igmp_join(&igmp, BEGIN_NS, one);
	return igmp;
}

/* Let the time go on until it sends; returns when. */
static uint64_t
sends(struct lull_net_igmp *igmp, uint32_t *size)
{
	uint64_t at_ns = igmp->due_ns;

	assert_true(at_ns != 0);
	assert_int_equal(lull_net_igmp_write(igmp, at_ns - 1, frame), 0);
	*size = lull_net_igmp_write(igmp, at_ns, frame);
	return at_ns;
}

/* All words, those of the checksum too, are all ones. */
static bool
sound(const uint8_t *at, uint32_t size)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < size; i++) {
		sum += i % 2 == 0 ? (uint32_t)at[i] << 8 : at[i];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum == 0xffff;
}

static void
expect_to(const uint8_t group[4], uint32_t size)
{
	const uint8_t to[] = { 1, 0, 0x5e, group[1] & 0x7f, group[2], group[3] };

	assert_memory_equal(frame, to, sizeof(to));
	assert_memory_equal(frame + 6, mac, sizeof(mac));
	assert_int_equal(frame[14], 0x46);
	assert_int_equal((uint32_t)frame[16] << 8 | frame[17], size - 14);
	assert_int_equal(frame[14 + 8], 1); /* for this link */
	assert_memory_equal(frame + 14 + 12, own, 4);
	assert_memory_equal(frame + 14 + 16, group, 4);
	assert_true(sound(frame + 14, 24));
	assert_true(sound(frame + MESSAGE, size - MESSAGE));
}

static void
expect_record(uint32_t index, uint8_t type, const uint8_t group[4])
{
	const uint8_t *record = frame + MESSAGE + 8 + (size_t)8 * index;

	assert_int_equal(record[0], type);
	assert_int_equal(record[1] + record[2] + record[3], 0);
	assert_memory_equal(record + 4, group, 4);
}

/* A query of 60 bytes; one of version 3 has 12 of its own. */
static void
ask(uint8_t *query, uint32_t version, uint8_t code, const uint8_t group[4])
{
	static const uint8_t head[] = { 1, 0,    0x5e, 0, 0,   1, 2, 0, 0,    0, 0, 1, 8,
					0, 0x46, 0,    0, 0,   0, 0, 0, 0,    1, 2, 0, 0,
					0, 0,    0,    0, 224, 0, 0, 1, 0x94, 4, 0, 0 };
	uint32_t size = version == 3 ? 12 : 8;

	memset(query, 0, 60);
	memcpy(query, head, sizeof(head));
	query[17] = (uint8_t)(24 + size);
	query[MESSAGE] = 0x11;
	query[MESSAGE + 1] = version == 1 ? 0 : code;
	memcpy(query + MESSAGE + 4, group, 4);
	for (uint32_t part = 0; part < 2; part++) {
		uint8_t *at = query + (part == 0 ? 14 : MESSAGE);
		uint32_t sum = 0;

		for (uint32_t i = 0; i < (part == 0 ? 24 : size); i++)
			sum += i % 2 == 0 ? (uint32_t)at[i] << 8 : at[i];
		sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
		at[part == 0 ? 10 : 2] = (uint8_t)(sum >> 8);
		at[part == 0 ? 11 : 3] = (uint8_t)sum;
	}
}

static bool
hears(struct lull_net_igmp *igmp, uint64_t now_ns, uint32_t version, uint8_t code,
      const uint8_t group[4])
{
	uint8_t query[60];

	ask(query, version, code, group);
	return lull_net_igmp_hear(igmp, now_ns, query, sizeof(query));
}

/* RFC 3376, 5.1: a change is told twice, the second time within a second. */
TEST(join__is_reported_twice)
{
	struct lull_net_igmp igmp = in_two_groups();
	uint64_t at_ns;
	uint32_t size;

	at_ns = sends(&igmp, &size);
	assert_int_equal(at_ns, BEGIN_NS);
	assert_int_equal(size, MESSAGE + 8 + 2 * 8);
	expect_to((const uint8_t[]){ 224, 0, 0, 22 }, size);
	assert_int_equal(frame[MESSAGE], 0x22);
	assert_int_equal(frame[MESSAGE + 7], 2);
	expect_record(0, 4, one);
	expect_record(1, 4, two);
	for (uint32_t i = 0; i < 2; i++) {
		at_ns = sends(&igmp, &size);
		assert_in_range(at_ns - BEGIN_NS, 1, LULL_NS_PER_S);
		assert_int_equal(frame[MESSAGE + 8], 4);
	}
	assert_int_equal(igmp.due_ns, 0);
	assert_int_equal(lull_net_igmp_write(&igmp, 1000 * LULL_NS_PER_S, frame), 0);
}

static struct lull_net_igmp
settled(void)
{
	struct lull_net_igmp igmp = in_two_groups();
	uint32_t size;

	while (igmp.due_ns != 0)
		sends(&igmp, &size);
	return igmp;
}

TEST(query__is_answered_within_its_time)
{
	struct lull_net_igmp igmp = settled();
	uint64_t now_ns = 100 * LULL_NS_PER_S, at_ns;
	uint32_t size;

	assert_true(hears(&igmp, now_ns, 3, 100, nobody));
	at_ns = sends(&igmp, &size);
	assert_in_range(at_ns - now_ns, 1, 10 * LULL_NS_PER_S);
	assert_int_equal(size, MESSAGE + 8 + 2 * 8);
	expect_record(0, 2, one);
	expect_record(1, 2, two);
	assert_int_equal(igmp.due_ns, 0);
	assert_true(hears(&igmp, now_ns, 3, 0, two)); /* of one group, at once */
	at_ns = sends(&igmp, &size);
	assert_in_range(at_ns - now_ns, 1, 20 * LULL_NS_PER_MS);
	assert_int_equal(frame[MESSAGE + 7], 1);
	expect_record(0, 2, two);
	assert_true(hears(&igmp, now_ns, 3, 100, own)); /* of a group that it is not in */
	assert_int_equal(igmp.due_ns, 0);
	/* A code of 0x9f is 31 << 4 tenths of a second. */
	for (uint32_t i = 0; i < 100; i++) {
		assert_true(hears(&igmp, now_ns, 3, 0x9f, nobody));
		at_ns = sends(&igmp, &size);
		assert_in_range(at_ns - now_ns, 1, 496 * LULL_NS_PER_S / 10);
	}
}

/* Many queries cost no more than a report each 10 ms. */
TEST(query__again_moves_no_answer_further)
{
	struct lull_net_igmp igmp = settled();
	uint64_t now_ns = 100 * LULL_NS_PER_S, first_ns;
	uint32_t size;

	assert_true(hears(&igmp, now_ns, 3, 10, nobody));
	first_ns = igmp.due_ns;
	for (uint32_t i = 0; i < 1000; i++)
		assert_true(hears(&igmp, now_ns, 3, 255, nobody));
	assert_true(igmp.due_ns <= first_ns && igmp.due_ns >= now_ns + 10 * LULL_NS_PER_MS);
	sends(&igmp, &size);
	assert_int_equal(igmp.due_ns, 0);
}

/* RFC 2236: one report for each group, to that group. */
TEST(query__of_version_2_and_1_is_answered_in_it)
{
	const uint64_t now_ns = 100 * LULL_NS_PER_S;
	const uint8_t types[] = { 0, 0x12, 0x16 };
	uint32_t size;

	for (uint32_t version = 1; version <= 2; version++) {
		struct lull_net_igmp igmp = settled();

		assert_true(hears(&igmp, now_ns, version, 100, nobody));
		assert_in_range(sends(&igmp, &size) - now_ns, 1, 10 * LULL_NS_PER_S);
		assert_int_equal(size, MESSAGE + 8);
		assert_int_equal(frame[MESSAGE], types[version]);
		expect_to(one, size);
		sends(&igmp, &size);
		expect_to(two, size);
		assert_memory_equal(frame + MESSAGE + 4, two, 4);
		/* One of version 3 does not change it before the older has gone. */
		assert_true(hears(&igmp, now_ns + 250 * LULL_NS_PER_S, 3, 10, nobody));
		sends(&igmp, &size);
		assert_int_equal(frame[MESSAGE], types[version]);
		sends(&igmp, &size);
		assert_true(hears(&igmp, now_ns + 270 * LULL_NS_PER_S, 3, 10, nobody));
		sends(&igmp, &size);
		assert_int_equal(frame[MESSAGE], 0x22);
	}
}

TEST(leave__is_told_once)
{
	const uint64_t now_ns = 100 * LULL_NS_PER_S;
	struct lull_net_igmp igmp = settled();
	uint32_t size;

	lull_net_igmp_leave(&igmp, now_ns);
	sends(&igmp, &size);
	expect_record(0, 3, one);
	expect_record(1, 3, two);
	assert_int_equal(igmp.due_ns, 0);
	assert_false(hears(&igmp, now_ns, 3, 10, nobody));
	igmp = settled();
	assert_true(hears(&igmp, now_ns, 2, 10, nobody));
	lull_net_igmp_leave(&igmp, now_ns);
	sends(&igmp, &size);
	assert_int_equal(frame[MESSAGE], 0x17);
	expect_to((const uint8_t[]){ 224, 0, 0, 2 }, size);
	assert_memory_equal(frame + MESSAGE + 4, one, 4);
	sends(&igmp, &size);
	assert_int_equal(igmp.due_ns, 0);
}

/* Whatever is wrong with it, and wherever it ends: no query, and never read past. */
TEST(hear__refuses_what_is_not_sound)
{
	const uint32_t bytes[] = { 12, 14, 14 + 9, 14 + 10, 14 + 17, MESSAGE, MESSAGE + 2 };
	struct lull_net_igmp igmp = in_two_groups();
	uint8_t query[60];
	uint32_t size;

	sends(&igmp, &size);
	assert_false(lull_net_igmp_hear(&igmp, BEGIN_NS, frame, size)); /* a report */
	ask(query, 3, 10, nobody);
	for (size = 0; size < 14 + 24 + 12; size++) {
		uint8_t *cut = malloc(size + 1);

		memcpy(cut, query, size);
		assert_false(lull_net_igmp_hear(&igmp, BEGIN_NS, cut, size));
		free(cut);
	}
	for (uint32_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		query[bytes[i]] ^= 0x21;
		assert_false(lull_net_igmp_hear(&igmp, BEGIN_NS, query, sizeof(query)));
		query[bytes[i]] ^= 0x21;
	}
	assert_true(lull_net_igmp_hear(&igmp, BEGIN_NS, query, sizeof(query)));
}

TEST_GROUP(NULL, NULL);
