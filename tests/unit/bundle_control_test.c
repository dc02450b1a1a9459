/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "../case.h"
#include "bundle_world.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define S LULL_NS_PER_S

static struct bundle_world world;

/* A link with room, 1024 packets, and a sender of 1500-byte packets. */
static void
world_of(uint64_t rate_bps, uint64_t rtt_ns)
{
	memset(&world, 0, sizeof(world));
	world.control = lull_bundle_controls[0];
	world.rate_bps = rate_bps;
	world.rtt_ns = rtt_ns;
	world.queue_pkts = 2000;
	world.window_pkts_max = 1024;
	world.fixed_pkts = 64;
	world.share = 1;
	world.seed = 7;
	world.fill = 0xa5;
}

static void
settle_and_measure(uint64_t settle_ns, uint64_t measure_ns)
{
	bundle_world_run(&world, settle_ns);
	bundle_world_measure(&world);
	bundle_world_run(&world, measure_ns);
}

/* Rates and round trips whose product a window of 1024 packets holds. */
static const struct {
	uint64_t rate_bps, rtt_ns;
} links[] = {
	{ 50000000, 10 * US },    { 50000000, 100 * US },    { 50000000, MS },
	{ 50000000, 10 * MS },    { 200000000, 10 * US },    { 200000000, 100 * US },
	{ 200000000, MS },        { 200000000, 10 * MS },    { 1000000000, 10 * US },
	{ 1000000000, 100 * US }, { 1000000000, MS },        { 1000000000, 10 * MS },
	{ 10000000000, 10 * US }, { 10000000000, 100 * US }, { 10000000000, MS },
};

TEST(controls__are_found_by_name)
{
	assert_string_equal(lull_bundle_control_name(lull_bundle_controls[0]), "delay");
	assert_ptr_equal(lull_bundle_control_find("delay"), lull_bundle_controls[0]);
	assert_ptr_equal(lull_bundle_control_find("fixed"), lull_bundle_controls[1]);
	assert_null(lull_bundle_controls[2]);
	assert_null(lull_bundle_control_find("cubic"));
	assert_true(strlen(lull_bundle_control_summary(lull_bundle_controls[0])) > 10);
}

/*
 * The target: 8 packets, and as long as an acknowledgement is held back. A packet more that is
 * just being sent; a burst of 2 quanta adds half of it to the mean.
 */
static uint64_t
target_queue_ns(void)
{
	uint64_t packet_ns = bundle_world_packet_ns(&world);
	uint64_t held_ns = LULL_MIN(16 * packet_ns, (world.rtt_ns + packet_ns) / 4);

	return 8 * packet_ns + LULL_MIN(held_ns, 100 * US);
}

TEST(delay__fills_the_link_with_a_short_queue)
{
	for (size_t i = 0; i < COUNT(links); i++) {
		world_of(links[i].rate_bps, links[i].rtt_ns);
		bundle_world_init(&world);
		settle_and_measure(500 * MS, S);
		assert_true(bundle_world_share_ppm(&world) >= 990000);
		assert_int_equal(world.lost_pkts, 0);
		assert_in_range(bundle_world_queue_ns(&world), target_queue_ns() / 2,
				target_queue_ns() + 2 * bundle_world_packet_ns(&world));
		assert_in_range(world.meter.rate_bps, world.rate_bps / 100 * 98,
				world.rate_bps / 100 * 102);
	}
}

TEST(delay__takes_1_percent_of_loss_for_noise)
{
	for (size_t i = 0; i < COUNT(links); i++) {
		world_of(links[i].rate_bps, links[i].rtt_ns);
		world.loss_ppm = 10000;
		bundle_world_init(&world);
		settle_and_measure(500 * MS, S);
		assert_true(bundle_world_share_ppm(&world) >= 980000);
	}
}

TEST(delay__keeps_the_link_busy_while_a_host_is_absent)
{
	static const struct {
		struct bundle_host sender, receiver;
	} hosts[] = {
		{ { 0, 0 }, { 5 * MS, 5 * MS } },
		{ { 5 * MS, 5 * MS }, { 0, 0 } },
		{ { 5 * MS, 20 * MS }, { 0, 0 } },
		{ { 0, 0 }, { 5 * MS, 20 * MS } },
		{ { 5 * MS, 20 * MS }, { 5 * MS, 20 * MS + 1 } },
		{ { 5 * MS, 5 * MS }, { 5 * MS, 5 * MS } },
	};

	for (size_t i = 0; i < COUNT(hosts); i++)
		for (size_t k = 0; k < 8; k++) { /* up to 200 Mb/s: a window of 1024 holds it */
			world_of(links[k].rate_bps, links[k].rtt_ns);
			world.sender = hosts[i].sender;
			world.receiver = hosts[i].receiver;
			bundle_world_init(&world);
			settle_and_measure(500 * MS, 2 * S);
			assert_true(bundle_world_share_ppm(&world) >= 980000);
			/*
			 * As long as one absence, and what nobody can tell from absences: as long
			 * as both may have added.
			 */
			assert_true(bundle_world_queue_ns(&world) <= 25 * MS);
		}
}

TEST(delay__absence_of_a_packet_that_wakes_is_none)
{
	world_of(200000000, 100 * US);
	bundle_world_init(&world);
	bundle_world_run(&world, 500 * MS);
	world.sender = (struct bundle_host){ 8 * MS, S };
	settle_and_measure(500 * MS, 990 * MS);
	/* One absence a second stays for 8 rounds alone. */
	assert_true(bundle_world_share_ppm(&world) >= 990000);
	assert_true(bundle_world_queue_ns(&world) < 3 * MS);
}

TEST(delay__follows_a_changed_speed_within_50_ms)
{
	static const uint64_t rtts_ns[] = { 50 * US, MS, 3 * MS };

	for (size_t i = 0; i < COUNT(rtts_ns); i++)
		for (uint32_t loss = 0; loss < 2; loss++) {
			world_of(200000000, rtts_ns[i]);
			world.loss_ppm = loss * 10000;
			bundle_world_init(&world);
			bundle_world_run(&world, 500 * MS);
			world.rate_bps = 50000000;
			settle_and_measure(50 * MS, 50 * MS);
			assert_in_range(world.meter.rate_bps, 48000000, 51000000);
			assert_true(bundle_world_share_ppm(&world) >= 940000);
			assert_true(bundle_world_queue_ns(&world) <= 6 * MS);
			bundle_world_run(&world, 400 * MS);
			world.rate_bps = 200000000;
			settle_and_measure(50 * MS, 50 * MS);
			assert_in_range(world.meter.rate_bps, 190000000, 204000000);
			assert_true(bundle_world_share_ppm(&world) >= 940000);
		}
}

TEST(delay__knows_the_empty_path_after_minutes)
{
	static const uint64_t rtts_ns[] = { 50 * US, MS, 10 * MS };

	for (size_t i = 0; i < COUNT(rtts_ns); i++) {
		world_of(200000000, rtts_ns[i]);
		bundle_world_init(&world);
		settle_and_measure(100 * S, 20 * S);
		assert_true(bundle_world_share_ppm(&world) >= 995000);
		assert_true(bundle_world_queue_ns(&world) <= 17 * bundle_world_packet_ns(&world));
		/* No window is below 8 packets: on a short path these always queue. */
		assert_true(world.meter.base_rtt_ns <= rtts_ns[i] + 8 * 60 * US);
	}
}

TEST(delay__loses_little_where_the_queue_has_little_room)
{
	static const uint64_t rtts_ns[] = { 50 * US, MS };

	for (size_t i = 0; i < COUNT(rtts_ns); i++) {
		world_of(200000000, rtts_ns[i]);
		world.queue_pkts = 16;
		bundle_world_init(&world);
		settle_and_measure(S, 5 * S);
		assert_true(bundle_world_share_ppm(&world) >= 980000);
		assert_true(world.lost_pkts * 1000 < world.sent_pkts);
	}
}

TEST(delay__overflow_halves_the_window)
{
	world_of(200000000, MS);
	world.queue_pkts = 4; /* less than the target asks for */
	bundle_world_init(&world);
	settle_and_measure(S, S);
	assert_true(world.window_pkts_most <= 60);
	assert_true(bundle_world_share_ppm(&world) >= 700000);
}

TEST(fixed__never_changes)
{
	const struct lull_bundle_control *fixed = lull_bundle_control_find("fixed");
	struct bundle_round round = { .rtt_ns = 500 * MS, .packet_ns = 60 * US, .acked_pkts = 20 };
	static _Alignas(16) uint8_t state[BUNDLE_CONTROL_STATE];
	struct bundle_control_limits limits = { .window_pkts_max = 512, .fixed_pkts = 64 };

	round.lost_pkts = 1000;
	fixed->init(state, &limits, 1);
	fixed->round(state, &round);
	fixed->timeout(state);
	assert_int_equal(fixed->window(state), 64);
	fixed->init(state, &limits, 8);
	assert_int_equal(fixed->window(state), 64);
	limits.fixed_pkts = 5000;
	fixed->init(state, &limits, 1);
	assert_int_equal(fixed->window(state), 512);
	limits.fixed_pkts = 0;
	fixed->init(state, &limits, 1);
	assert_int_equal(fixed->window(state), 8);
}
