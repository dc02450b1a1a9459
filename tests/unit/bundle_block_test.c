/* SPDX-License-Identifier: BSD-3-Clause */
/* Acknowledgement blocks that are old, or are lies of one who has the key. */
#include "bundle_stand.h"
#include "case.h"

/* As node 1 would say it of the first path. */
static struct bundle_block
block_of(struct stand *stand, uint64_t psn)
{
	const struct bundle_path *path = stand_path(stand, 1, 0);

	return (struct bundle_block){ .state = LULL_BUNDLE_PATH_UP,
				      .psn = (uint32_t)psn,
				      .bits = { 1, 0 },
				      .received = path->rx_count,
				      .credit = (uint16_t)path->credit_given,
				      .credit_echo = (uint16_t)path->credit };
}

static bool
hear(struct stand *stand, const struct bundle_block *block)
{
	return bundle_ack_block_rx(stand->nodes[0].bundle, stand_slot(stand, 0), block, 0);
}

TEST(block__that_is_older_changes_no_credit)
{
	struct stand *stand = stand_open(2, 1, NULL);
	struct bundle_block old, new;
	struct bundle_path *path;

	stand_join(stand, 0, 1);
	path = stand_path(stand, 0, 0);
	old = block_of(stand, path->psn_next - 1);
	stand_bring(stand, 0, 1, 100000);
	stand_run(stand, 10 * LULL_NS_PER_MS);
	new = block_of(stand, path->psn_next - 1);
	new.received = stand_path(stand, 1, 0)->rx_count + 1;
	new.credit = 20;
	new.credit_echo = (uint16_t)path->credit_given;
	assert_true(hear(stand, &new));
	assert_int_equal(path->credit, 20);
	assert_int_equal(path->credit_held, path->credit_given);
	/* By its number, or by what was received where that is the same. */
	old.credit = 500;
	old.credit_echo = (uint16_t)path->credit_most;
	assert_true(hear(stand, &old));
	assert_int_equal(path->credit, 20);
	new.received--;
	new.credit = 400;
	assert_true(hear(stand, &new));
	assert_int_equal(path->credit, 20);
	new.received += 2;
	assert_true(hear(stand, &new));
	assert_int_equal(path->credit, 400);
	/* Nothing at all still leaves a packet. */
	new.received++;
	new.credit = 0;
	assert_true(hear(stand, &new));
	assert_int_equal(path->credit, 1);
	stand_close(stand);
}

TEST(block__cannot_hold_more_credit_than_it_was_given)
{
	struct stand *stand = stand_open(2, 1, NULL);
	struct bundle_block lie;
	struct bundle_path *path;

	stand_join(stand, 0, 1);
	stand_bring(stand, 1, 0, 1000000);
	path = stand_path(stand, 0, 0);
	lie = block_of(stand, path->psn_next - 1);
	lie.received += 5;
	lie.credit_echo = UINT16_MAX;
	path->credit_given = path->credit_most / 2;
	assert_true(hear(stand, &lie));
	assert_in_range(path->credit_held, path->credit_given, path->credit_most);
	assert_in_range(path->credit_held, 0, 1024);
	stand_close(stand);
}

TEST(block__of_what_was_never_sent_does_nothing)
{
	struct stand *stand = stand_open(2, 1, NULL);
	struct bundle_block lie;
	struct bundle_path *path;
	uint64_t acked;
	uint32_t credit;

	stand_join(stand, 0, 1);
	path = stand_path(stand, 0, 0);
	acked = path->counters.acked_pkts;
	credit = path->credit;
	lie = block_of(stand, path->psn_next);
	lie.received += 5;
	lie.credit = 7;
	assert_false(hear(stand, &lie));
	lie = block_of(stand, 3);
	lie.received += 5;
	lie.credit = 7;
	lie.bits[0] = 0xff;
	assert_false(hear(stand, &lie));
	lie.bits[0] = 1;
	lie.bits[1] = 1;
	assert_false(hear(stand, &lie));
	lie.path = 0x55;
	assert_false(hear(stand, &lie));
	assert_int_equal(stand_counters(stand, 0)->bad_ack, 3);
	assert_int_equal(path->credit, credit);
	assert_int_equal(path->counters.acked_pkts, acked);
	stand_bring(stand, 0, 1, 100000);
	stand_close(stand);
}
