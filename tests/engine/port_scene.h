/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Port scene: a loop on a pair of ports whose driver says what the test wants.
 *
 * Takes the place of rte_eth_stats_get(), rte_eth_link_get_nowait() and rte_bus_name() by --wrap.
 */
#ifndef LULL_TEST_PORT_SCENE_H
#define LULL_TEST_PORT_SCENE_H

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "engine/dpdk/port_watch.h"
#include "engine/dpdk/port.h"
#include "stand.h"

#define RING_PKTS 512
#define LONG_REST_NS (50 * LULL_NS_PER_MS)

/* ---- a driver that says what the test wants ---- */

static struct {
	bool refuses; /* -EIO */
	bool forgets; /* says 0 and fails without a word */
	uint64_t missed, nombuf;
	uint32_t took_us; /* by a call */
	uint32_t asked[RTE_MAX_ETHPORTS];
	uint32_t inside[RTE_MAX_ETHPORTS], inside_max; /* callers of one port at a time */
	int loop_tid;                                  /* 0: no loop; else that must not ask */
	uint32_t asked_by_loop;
	uint32_t link_mbps; /* 0: down */
	uint32_t down;      /* 1 + number of a port that is down whatever the others are; 0: none */
	bool hardware;
} driver;

#define SET(member, value) __atomic_store_n(&driver.member, value, __ATOMIC_SEQ_CST)
#define GET(member) __atomic_load_n(&driver.member, __ATOMIC_SEQ_CST)

int __wrap_rte_eth_stats_get(uint16_t port_id, struct rte_eth_stats *stats);
int
__wrap_rte_eth_stats_get(uint16_t port_id, struct rte_eth_stats *stats)
{
	uint32_t inside = __atomic_add_fetch(&driver.inside[port_id], 1, __ATOMIC_SEQ_CST);

	if (inside > GET(inside_max))
		SET(inside_max, inside);
	if (GET(loop_tid) != 0 && GET(loop_tid) == gettid())
		__atomic_fetch_add(&driver.asked_by_loop, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&driver.asked[port_id], 1, __ATOMIC_SEQ_CST);
	memset(stats, 0, sizeof(*stats));
	if (GET(took_us) > 0)
		usleep(GET(took_us));
	if (!GET(forgets)) {
		stats->imissed = GET(missed);
		stats->rx_nombuf = GET(nombuf);
	}
	__atomic_fetch_sub(&driver.inside[port_id], 1, __ATOMIC_SEQ_CST);
	return GET(refuses) ? -EIO : 0;
}

int __wrap_rte_eth_link_get_nowait(uint16_t port_id, struct rte_eth_link *link);
int
__wrap_rte_eth_link_get_nowait(uint16_t port_id, struct rte_eth_link *link)
{
	uint32_t mbps = GET(down) == 1u + port_id ? 0 : GET(link_mbps);

	memset(link, 0, sizeof(*link));
	link->link_speed = mbps;
	link->link_status = mbps > 0 ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN;
	return 0;
}

const char *__real_rte_bus_name(const struct rte_bus *bus);
const char *__wrap_rte_bus_name(const struct rte_bus *bus);
const char *
__wrap_rte_bus_name(const struct rte_bus *bus)
{
	return GET(hardware) ? "pci" : __real_rte_bus_name(bus);
}

/* The node of a device: -2 as it is. Pools: on which node they were asked for. */
static int device_node = -2, pool_nodes[4];
static uint32_t pool_node_count;
static bool pool_far; /* there is no memory but on any node */

int __real_rte_eth_dev_socket_id(uint16_t port_id);
int __wrap_rte_eth_dev_socket_id(uint16_t port_id);
int
__wrap_rte_eth_dev_socket_id(uint16_t port_id)
{
	return device_node == -2 ? __real_rte_eth_dev_socket_id(port_id) : device_node;
}

struct rte_mempool *__real_rte_pktmbuf_pool_create(const char *name, unsigned int count,
						   unsigned int cache, uint16_t private_bytes,
						   uint16_t room, int node);
struct rte_mempool *__wrap_rte_pktmbuf_pool_create(const char *name, unsigned int count,
						   unsigned int cache, uint16_t private_bytes,
						   uint16_t room, int node);
struct rte_mempool *
__wrap_rte_pktmbuf_pool_create(const char *name, unsigned int count, unsigned int cache,
			       uint16_t private_bytes, uint16_t room, int node)
{
	pool_nodes[pool_node_count++ % 4] = node;
	if (pool_far && node >= 0)
		return NULL;
	return __real_rte_pktmbuf_pool_create(name, count, cache, private_bytes, room, node);
}

/* What drivers call; not in the headers of applications. */
struct rte_eth_dev *rte_eth_dev_allocated(const char *name);
int rte_eth_dev_callback_process(struct rte_eth_dev *device, enum rte_eth_event_type event,
				 void *more);

static inline void
driver_tells(const struct lull_port *port, enum rte_eth_event_type event)
{
	char name[RTE_ETH_NAME_MAX_LEN];

	assert_int_equal(rte_eth_dev_get_name_by_port(port->port_id, name), 0);
	rte_eth_dev_callback_process(rte_eth_dev_allocated(name), event, NULL);
}

static inline void
driver_is_asked(uint16_t port_id, uint32_t more)
{
	uint32_t before = GET(asked[port_id]);

	STAND_WAIT(GET(asked[port_id]) - before >= more);
}

static inline int
driver_anew(void **state)
{
	(void)state;
	memset(&driver, 0, sizeof(driver));
	driver.link_mbps = 10000;
	return 0;
}

/* ---- a loop on a pair, which drops what it gets ---- */

struct scene {
	struct lull_port near, far;
	struct lull_forward_config forward;
	struct lull_idle_limits limits;
	struct lull_loop *loop;
	const struct lull_idle_counters *counters;
};

static inline void
scene_run(struct scene *scene, const char *governor, enum lull_envelope envelope)
{
	struct lull_loop_config config = stand_loop("sink0", 1, &scene->far, &scene->forward);

	scene->forward.mode = LULL_FORWARD_SINK;
	config.governor = lull_idle_governor_find(governor);
	config.limits.ring_pkts = RING_PKTS;
	config.limits.rest_ns = LONG_REST_NS;
	config.limits.rest_ns_max = LULL_NS_PER_S;
	config.limits.envelope = envelope;
	config.limits.pps_max = envelope == LULL_ENVELOPE_LINK ? lull_link_pps(10000) : 0;
	scene->limits = config.limits;
	scene->loop = stand_run(&config);
	scene->counters = lull_loop_counters(scene->loop);
	STAND_WAIT(LULL_COUNTER_READ(scene->counters->iterations) > 1);
}

static inline void
scene_begin(struct scene *scene, const char *governor)
{
	memset(scene, 0, sizeof(*scene));
	stand_pair("watch", 1, RING_PKTS, &scene->near, &scene->far);
	scene_run(scene, governor, LULL_ENVELOPE_LEARNED);
}

static inline void
scene_end(struct scene *scene)
{
	lull_loop_destroy(scene->loop);
	lull_port_close(&scene->near);
	lull_port_close(&scene->far);
	assert_int_equal(rte_mempool_in_use_count(stand_pool()), 0);
}

/* Send so many; returns how many found no room. */
static inline uint32_t
scene_send(const struct scene *scene, uint32_t count)
{
	uint32_t sent = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct rte_mbuf *pkt = stand_frame(stand_pool(), i);

		assert_non_null(pkt);
		if (rte_eth_tx_burst(scene->near.port_id, 0, &pkt, 1) == 1)
			sent++;
		else
			rte_pktmbuf_free(pkt);
	}
	if (sent < count)
		lull_port_pair_refused(scene->near.port_id, count - sent);
	return count - sent;
}

static inline uint64_t
scene_charged(const struct scene *scene)
{
	return LULL_COUNTER_READ(scene->counters->misses) +
	       LULL_COUNTER_READ(scene->counters->misses_other);
}

static inline uint64_t
scene_missed(const struct scene *scene)
{
	uint64_t missed, nombuf;

	lull_loop_missed(scene->loop, &missed, &nombuf);
	return missed;
}

#endif
