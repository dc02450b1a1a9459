/* SPDX-License-Identifier: BSD-3-Clause */
/* A packet that was taken for lost arrives after all: the path reorders, and gets more patience. */
#include "bundle_stand.h"
#include "case.h"

#define MESSAGE_BYTES 600000 /* some 400 packets */
#define BEFORE_PKTS 200      /* more than an acknowledgement names */

static struct stand_packet kept;

/* One packet with data from node 0, after so many others, is kept back. */
static bool
keeps_one(struct stand *stand, struct stand_packet *packet)
{
	if (packet->from != 0 || (packet->bytes[0] & 15) != BUNDLE_DATA)
		return true;
	if (stand->judged++ != BEFORE_PKTS)
		return true;
	kept = *packet;
	stand->kept++;
	return false;
}

static void
hear_kept(struct stand *stand)
{
	lull_bundle_rx(stand->nodes[1].bundle, stand->now_ns, kept.to_rail, kept.bytes,
		       kept.len_bytes, &kept.source);
}

TEST(late__packets_are_told_from_lost_ones)
{
	struct stand *stand = stand_open(2, 1, NULL);
	struct bundle_path *path;
	uint64_t lost;

	stand_join(stand, 0, 1);
	path = stand_path(stand, 0, 0);
	assert_int_equal(path->reorder_pkts, 3);
	stand->judge = keeps_one;
	assert_int_equal(stand_send(stand, 0, MESSAGE_BYTES, false), 0);
	stand_wait(stand, &stand->kept, 1, LULL_NS_PER_S);
	lost = path->counters.lost_pkts;
	while (path->counters.lost_pkts == lost)
		stand_step(stand);
	assert_int_equal(path->counters.lost_pkts, lost + 1);
	assert_int_equal(path->counters.late_pkts, 0);
	hear_kept(stand);
	stand_wait(stand, &stand->nodes[0].sent, 1, LULL_NS_PER_S);
	stand_wait(stand, &stand->nodes[1].received, 1, LULL_NS_PER_S);
	assert_int_equal(path->counters.late_pkts, 1);
	assert_int_equal(path->counters.lost_pkts, lost + 1);
	assert_in_range(path->reorder_pkts, 4, 64);
	assert_int_not_equal(path->reorder_extra_ns, 0);
	stand_close(stand);
}

/* One that stays away is lost, and nothing is learned from it. */
TEST(late__lost_packets_give_no_patience)
{
	struct stand *stand = stand_open(2, 1, NULL);
	struct bundle_path *path;

	stand_join(stand, 0, 1);
	path = stand_path(stand, 0, 0);
	stand->judge = keeps_one;
	stand_bring(stand, 0, 1, MESSAGE_BYTES);
	assert_int_equal(stand->kept, 1);
	assert_int_equal(path->counters.late_pkts, 0);
	assert_int_equal(path->reorder_pkts, 3);
	assert_int_equal(path->reorder_extra_ns, 0);
	stand_close(stand);
}
