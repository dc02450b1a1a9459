/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "frame.h"

static const struct lull_flow_key first = {
	.addr = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } },
	.port = { 10, 20 },
	.vlan_id = 30,
	.version = 4,
	.proto = 17,
};

/* The members in canonical order, each one up. */
static void
keys_above(struct lull_flow_key keys[7])
{
	for (unsigned int i = 0; i < 7; i++)
		keys[i] = first;
	keys[0].addr[0][15]++;
	keys[1].addr[1][0]++;
	keys[2].port[0]++;
	keys[3].port[1]++;
	keys[4].proto++;
	keys[5].vlan_id++;
	keys[6].version++;
}

TEST(same__every_member_counts)
{
	struct lull_flow_key keys[7], copy = first;

	assert_true(lull_flow_key_same(&first, &copy));
	keys_above(keys);
	for (unsigned int i = 0; i < 7; i++) {
		assert_false(lull_flow_key_same(&first, &keys[i]));
		assert_false(lull_flow_key_same(&keys[i], &first));
	}
}

TEST(compare__first_difference_decides)
{
	struct lull_flow_key keys[7], copy = first;

	assert_int_equal(lull_flow_key_compare(&first, &copy), 0);
	keys_above(keys);
	for (unsigned int i = 0; i < 7; i++) {
		assert_true(lull_flow_key_compare(&first, &keys[i]) < 0);
		assert_true(lull_flow_key_compare(&keys[i], &first) > 0);
		for (unsigned int j = i + 1; j < 7; j++)
			assert_true(lull_flow_key_compare(&keys[i], &keys[j]) > 0);
	}
}
