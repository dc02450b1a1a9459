/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver whose short bursts leave packets: whom a loop asks how many, and that it never rests
 * while some are left.
 *
 * The driver stands between a port of a pair and its own: it stages what has come, hands it out in
 * groups and counts its stage. rte_eth_dev_info_get() calls it as the test wants.
 */
#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "idle/governor.h"
#include "stand.h"

#define RING_PKTS 512
#define GROUP_PKTS 4
#define SENT_PKTS 7      /* the first burst leaves three of them */
#define BACKLOG_PKTS 480 /* many bursts, none of which is full */
#define ROUNDS 200
#define REST_NS (20 * LULL_NS_PER_US)

/* ---- the driver ---- */

static struct {
	const char *name;
	uint16_t port_id;
	bool representor;
	bool lies;          /* counts none, whatever there is */
	bool fails;         /* says so once it has received: -EIO */
	uint32_t most_pkts; /* of a burst; 0: as asked for */
	eth_rx_burst_t receive;
	struct rte_mbuf *stage[2 * RING_PKTS];
	uint32_t begin, count;
	uint64_t asked, bursts, left; /* bursts that are short and left some */
} driver;

int __real_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info);
int
__wrap_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	static uint32_t flags;
	int rc = __real_rte_eth_dev_info_get(port_id, info);

	if (rc != 0 || driver.name == NULL)
		return rc;
	flags = driver.representor ? RTE_ETH_DEV_REPRESENTOR : 0;
	/* the loop's other port is one that leaves nothing */
	info->driver_name = port_id == driver.port_id ? driver.name : "net_igc";
	info->dev_flags = &flags;
	return 0;
}

static void
driver_fetch(void *queue)
{
	if (driver.begin > 0) {
		memmove(driver.stage, driver.stage + driver.begin,
			driver.count * sizeof(driver.stage[0]));
		driver.begin = 0;
	}
	driver.count += driver.receive(queue, driver.stage + driver.count,
				       (uint16_t)(2 * RING_PKTS - driver.count));
}

static uint16_t
driver_receive(void *queue, struct rte_mbuf **pkts, uint16_t count_max)
{
	uint32_t count;

	driver_fetch(queue);
	count = LULL_MIN(driver.count, (uint32_t)count_max);
	if (driver.most_pkts > 0)
		count = LULL_MIN(count, driver.most_pkts);
	if (count > GROUP_PKTS)
		count -= count % GROUP_PKTS;
	memcpy(pkts, driver.stage, count * sizeof(*pkts));
	driver.begin = count;
	driver.count -= count;
	driver.bursts += count > 0;
	driver.left += driver.count > 0 && count < count_max;
	return (uint16_t)count;
}

static uint32_t
driver_count(void *queue)
{
	LULL_COUNTER_ADD(driver.asked, 1);
	driver_fetch(queue);
	if (driver.fails && driver.bursts > 0)
		return (uint32_t)-EIO;
	return driver.lies ? 0 : driver.count;
}

static void
driver_begin(uint16_t port_id, const char *name, bool counts)
{
	struct rte_eth_fp_ops *operations = &rte_eth_fp_ops[port_id];
	uint32_t (*count)(void *queue) = counts ? driver_count : NULL;

	driver.name = name;
	driver.port_id = port_id;
	driver.receive = operations->rx_pkt_burst;
	operations->rx_pkt_burst = driver_receive;
	/* releases differ in the sign of what it returns */
	memcpy(&operations->rx_queue_count, &count, sizeof(count));
}

static int
driver_anew(void **state)
{
	(void)state;
	memset(&driver, 0, sizeof(driver));
	return 0;
}

/* ---- a governor that rests whenever the queues are empty, as far as it is told ---- */

static struct {
	uint64_t rests, after_pkts; /* of them, in an iteration with packets */
	uint64_t broken;            /* of them, with packets left in the driver */
} seen;

static void
drained_init(void *state, const struct lull_idle_view *view)
{
	(void)state;
	(void)view;
}

static struct lull_rest
drained_plan(void *state, const struct lull_idle_iteration *iteration)
{
	(void)state;
	if (!iteration->drained)
		return lull_rest_none();
	LULL_COUNTER_ADD(seen.rests, 1);
	if (iteration->pkt_count > 0)
		LULL_COUNTER_ADD(seen.after_pkts, 1);
	if (driver.count > 0)
		LULL_COUNTER_ADD(seen.broken, 1);
	return lull_rest_sleep(REST_NS);
}

static const struct lull_idle_governor drained = {
	.name = "drained",
	.summary = "rests whenever the queues are empty",
	.init = drained_init,
	.plan = drained_plan,
	.wake = lull_governor_wake_none,
	.miss = lull_governor_miss_none,
	.verdict = lull_governor_verdict_none,
};

/* ---- a loop on it ---- */

struct scene {
	struct lull_port near, far, beside[2];
	struct lull_forward_config forward;
	struct lull_loop *loop;
};

static void
scene_send(const struct scene *scene, uint64_t sent, uint16_t count)
{
	struct rte_mbuf *pkts[RING_PKTS];

	for (uint32_t i = 0; i < count; i++)
		pkts[i] = stand_frame(stand_pool(), i);
	assert_int_equal(rte_eth_tx_burst(scene->near.port_id, 0, pkts, count), count);
	STAND_WAIT(LULL_COUNTER_READ(lull_loop_counters(scene->loop)->pkts) == sent + count);
}

/* Let a loop on a driver of this name receive. @p leaves: it is told that short bursts may. */
static void
scene_play(const char *name, bool counts, bool leaves)
{
	uint16_t sent_pkts = driver.most_pkts > 0 ? BACKLOG_PKTS : SENT_PKTS;
	struct lull_loop_config config;
	struct scene scene;

	memset(&scene, 0, sizeof(scene));
	memset(&seen, 0, sizeof(seen));
	stand_pair("short", 1, RING_PKTS, &scene.near, &scene.far);
	stand_pair("beside", 1, RING_PKTS, &scene.beside[0], &scene.beside[1]);
	driver_begin(scene.far.port_id, name, counts);
	config = stand_loop("short0", 1, &scene.far, &scene.forward);
	config.queues[config.queue_count++].port_id = scene.beside[1].port_id;
	scene.forward.mode = LULL_FORWARD_SINK;
	scene.forward.queue_count = config.queue_count;
	config.governor = &drained;
	config.limits.short_leaves = leaves;
	scene.loop = stand_run(&config);
	driver.asked = 0; /* when it was created */
	for (uint64_t i = 0; i < ROUNDS; i++)
		scene_send(&scene, i * sent_pkts, sent_pkts);
	STAND_WAIT(LULL_COUNTER_READ(seen.rests) > 0);
	lull_loop_destroy(scene.loop);
	assert_true(driver.left > 0); /* it was such a driver */
	assert_int_equal(driver.count, 0);
	driver.name = NULL;
	for (size_t i = 0; i < 2; i++)
		lull_port_close(&scene.beside[i]);
	lull_port_close(&scene.near);
	lull_port_close(&scene.far);
	assert_int_equal(rte_mempool_in_use_count(stand_pool()), 0);
}

/* ---- whom it asks ---- */

TEST_WITH(short_burst__of_one_that_counts_lets_it_rest, driver_anew, NULL)
{
	static const char *const names[] = { "net_i40e", "net_ice", "net_ixgbe", "net_iavf",
					     "mlx5_pci" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		driver_anew(NULL);
		scene_play(names[i], true, true);
		print_message("%s: asked %llu times, rested %llu times after packets\n", names[i],
			      (unsigned long long)driver.asked,
			      (unsigned long long)seen.after_pkts);
		/* after the three that were left, and mostly not before */
		assert_true(seen.after_pkts >= ROUNDS / 2);
		assert_true(driver.asked >= seen.after_pkts);
		assert_int_equal(seen.broken, 0);
	}
}

/* Nobody else is asked: what would be believed is a lie here. */
TEST_WITH(short_burst__of_others_does_not, driver_anew, NULL)
{
	static const char *const names[] = { "net_bnxt", "net_hns3",   "net_netvsc", "net_virtio",
					     "net_new",  "net_af_xdp", "net_gve" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		driver_anew(NULL);
		driver.lies = true;
		scene_play(names[i], true, true);
		assert_int_equal(driver.asked, 0);
		assert_int_equal(seen.after_pkts, 0);
		assert_int_equal(seen.broken, 0);
	}
}

/* What believing it would do. */
TEST_WITH(short_burst__breaks_who_asks_a_liar, driver_anew, NULL)
{
	driver.lies = true;
	scene_play("net_ice", true, true);
	assert_true(seen.broken > 0);
}

TEST_WITH(short_burst__of_one_that_cannot_count_does_not, driver_anew, NULL)
{
	scene_play("net_ice", false, true);
	assert_int_equal(seen.after_pkts, 0);
	assert_int_equal(seen.broken, 0);
}

TEST_WITH(short_burst__of_one_that_fails_to_count_does_not, driver_anew, NULL)
{
	driver.fails = true;
	scene_play("net_ice", true, true);
	assert_true(driver.asked > 0);
	assert_int_equal(seen.after_pkts, 0);
	assert_int_equal(seen.broken, 0);
}

TEST_WITH(short_burst__of_a_representor_does_not, driver_anew, NULL)
{
	driver.representor = true;
	driver.lies = true;
	scene_play("net_ice", true, true);
	assert_int_equal(driver.asked, 0);
	assert_int_equal(seen.after_pkts, 0);
	assert_int_equal(seen.broken, 0);
}

/* One whose short bursts empty the ring is not asked, whatever the other queues of the loop are. */
TEST_WITH(short_burst__of_one_that_empties_needs_no_question, driver_anew, NULL)
{
	scene_play("net_igc", true, true);
	assert_int_equal(driver.asked, 0);
	assert_true(seen.after_pkts > 0);
	driver_anew(NULL);
	scene_play("net_igc", true, false);
	assert_int_equal(driver.asked, 0);
	assert_true(seen.after_pkts > 0);
}

/* A loop that was told that short bursts leave nothing asks nobody. */
TEST_WITH(short_burst__is_believed_where_the_limits_say_so, driver_anew, NULL)
{
	scene_play("net_ice", true, false);
	assert_int_equal(driver.asked, 0);
	assert_true(seen.after_pkts > 0);
}

/*
 * To count a long queue takes long. So one that is behind is hardly ever asked, whether its bursts
 * are nearly full as by a driver that rounds, or far from it as by one that has staged a few. The
 * first is asked as soon as its bursts get shorter.
 */
TEST_WITH(short_burst__of_a_queue_that_is_behind_asks_seldom, driver_anew, NULL)
{
	static const uint32_t most_pkts[] = { 28, 8 };

	for (size_t i = 0; i < sizeof(most_pkts) / sizeof(most_pkts[0]); i++) {
		driver_anew(NULL);
		driver.most_pkts = most_pkts[i];
		scene_play("net_ice", true, true);
		print_message("%u of 32: asked %llu times in %llu bursts\n", most_pkts[i],
			      (unsigned long long)driver.asked, (unsigned long long)driver.bursts);
		assert_true(driver.bursts >= ROUNDS * BACKLOG_PKTS / 32);
		assert_true(driver.asked * 10 < driver.bursts);
		assert_true(driver.asked > driver.bursts / 512);
		assert_true(most_pkts[i] == 8 || seen.after_pkts >= ROUNDS / 2);
		assert_int_equal(seen.broken, 0);
	}
}

TEST_GROUP(stand_setup, stand_stop);
