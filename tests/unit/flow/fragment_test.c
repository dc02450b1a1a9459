/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "flow/fragment.h"
#include "frame.h"

#define LIFETIME_NS 1000

static struct lull_fragment_datagram places[16];
static struct lull_fragment_table table;

static int
setup(void **state)
{
	(void)state;
	memset(places, 0, sizeof(places));
	table = (struct lull_fragment_table){ .datagrams = places,
					      .set_mask = 3,
					      .lifetime_ns = LIFETIME_NS };
	return 0;
}

static struct lull_fragment_datagram
datagram(uint32_t id, uint64_t time_ns)
{
	return (struct lull_fragment_datagram){
		.name = { .source = { 1 }, .target = { 2 }, .id = id, .version = 4, .proto = 17 },
		.key = { .port = { (uint16_t)id, 53 } },
		.time_ns = time_ns,
	};
}

TEST_WITH(find__by_every_part_of_the_name, setup, NULL)
{
	struct lull_fragment_datagram one = datagram(7, 100), other;

	assert_false(lull_fragment_remember(&table, &one));
	assert_non_null(lull_fragment_find(&table, &one.name, 100));
	assert_int_equal(lull_fragment_find(&table, &one.name, 100)->key.port[0], 7);
	other = one;
	other.name.id++;
	assert_null(lull_fragment_find(&table, &other.name, 100));
	other = one;
	other.name.vlan_id++;
	assert_null(lull_fragment_find(&table, &other.name, 100));
	other = one;
	other.name.proto++;
	assert_null(lull_fragment_find(&table, &other.name, 100));
	other = one;
	other.name.tunnel_id++;
	assert_null(lull_fragment_find(&table, &other.name, 100));
	other = one; /* the way back */
	other.name.source[0] = 2;
	other.name.target[0] = 1;
	assert_null(lull_fragment_find(&table, &other.name, 100));
}

TEST_WITH(find__forgets_after_the_lifetime, setup, NULL)
{
	struct lull_fragment_datagram one = datagram(7, 5000);

	lull_fragment_remember(&table, &one);
	assert_non_null(lull_fragment_find(&table, &one.name, 5000 + LIFETIME_NS));
	assert_null(lull_fragment_find(&table, &one.name, 5000 + LIFETIME_NS + 1));
	assert_non_null(lull_fragment_find(&table, &one.name, 5000 - LIFETIME_NS));
	assert_null(lull_fragment_find(&table, &one.name, 5000 - LIFETIME_NS - 1));
}

TEST_WITH(remember__same_name_anew, setup, NULL)
{
	struct lull_fragment_datagram one = datagram(7, 100), two = datagram(7, 200);

	two.key.port[0] = 99;
	lull_fragment_remember(&table, &one);
	assert_false(lull_fragment_remember(&table, &two));
	assert_int_equal(lull_fragment_find(&table, &one.name, 200)->key.port[0], 99);
}

TEST_WITH(remember__full_table_gives_up_the_oldest, setup, NULL)
{
	unsigned int replaced = 0, found = 0;

	for (uint32_t id = 0; id < 64; id++) {
		struct lull_fragment_datagram one = datagram(id, 100 + id);

		replaced += lull_fragment_remember(&table, &one);
		assert_non_null(lull_fragment_find(&table, &one.name, 100 + id));
	}
	for (uint32_t id = 0; id < 64; id++) {
		struct lull_fragment_datagram one = datagram(id, 0);

		found += lull_fragment_find(&table, &one.name, 163) != NULL;
	}
	assert_int_equal(found + replaced, 64);
	assert_int_equal(found, 16);
}

TEST_WITH(remember__dead_ones_make_room, setup, NULL)
{
	for (uint32_t id = 0; id < 64; id++) {
		struct lull_fragment_datagram one = datagram(id, id * (LIFETIME_NS + 1));

		assert_false(lull_fragment_remember(&table, &one));
	}
}
