/* SPDX-License-Identifier: BSD-3-Clause */
#include "stand.h"

#include <unistd.h>

#include <rte_ether.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mempool.h>

int
stand_start_many(const char *const *vdevs, int loop_count)
{
	int cpus[LULL_LOOPS_MAX], main_cpu = -1;
	struct lull_error error = { "" };
	uint32_t vdev_count = 0;
	cpu_set_t allowed;
	int found = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	/* Loops from the last CPU down, round and round; the test itself on the first. */
	for (int cpu = 0; cpu < CPU_SETSIZE && main_cpu < 0; cpu++) {
		if (CPU_ISSET((unsigned int)cpu, &allowed))
			main_cpu = cpu;
	}
	while (found < loop_count) {
		for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && found < loop_count; cpu--) {
			if (CPU_ISSET((unsigned int)cpu, &allowed))
				cpus[found++] = cpu;
		}
	}
	while (vdevs != NULL && vdevs[vdev_count] != NULL)
		vdev_count++;
	struct lull_engine_config config = {
		.program = "lull-test",
		.vdevs = vdevs,
		.vdev_count = vdev_count,
		.cpus = cpus,
		.cpu_count = (uint32_t)loop_count,
		.memory_mb = loop_count > STAND_LOOPS ? 768 : 0,
		.main_cpu = main_cpu,
	};
	if (lull_engine_init(&config, &error) == 0)
		return 0;
	fprintf(stderr, "%s\n", error.text);
	return -1;
}

int
stand_start(const char *const *vdevs)
{
	return stand_start_many(vdevs, STAND_LOOPS);
}

int
stand_setup(void **state)
{
	(void)state;
	return stand_start(NULL);
}

int
stand_stop(void **state)
{
	unsigned int lcore_id;

	(void)state;
	/* A failed test leaves its loop behind, and a loop must not outlive its ports. */
	RTE_LCORE_FOREACH_WORKER(lcore_id)
	{
		if (rte_eal_get_lcore_state(lcore_id) == RUNNING)
			_exit(1);
	}
	lull_engine_fini();
	return 0;
}

void
stand_pair(const char *name, uint16_t queues, uint16_t ring_pkts, struct lull_port *near,
	   struct lull_port *far)
{
	struct lull_port_config config = {
		.queues = queues, .ring_pkts = ring_pkts, .burst_pkts = 32, .rx_stamps = true
	};
	struct lull_error error = { "" };

	if (lull_port_pair(name, &config, near, far, &error) != 0)
		fail_msg("%s", error.text);
}

struct lull_idle_limits
stand_limits(void)
{
	return (struct lull_idle_limits){
		.loss = LULL_LOSS_TOLERATE,
		.envelope = LULL_ENVELOPE_LEARNED,
		.ring_pkts = 1024,
	};
}

struct lull_loop_config
stand_loop(const char *name, unsigned int lcore_id, const struct lull_port *port,
	   struct lull_forward_config *forward)
{
	struct lull_loop_config config = {
		.kind = "forward",
		.lcore_id = lcore_id,
		.queue_count = 1,
		.burst_pkts = 32,
		.governor = lull_idle_governor_find("spin"),
		.limits = stand_limits(),
		.stage = &lull_stage_forward,
		.stage_config = forward,
	};

	snprintf(config.name, sizeof(config.name), "%s", name);
	config.queues[0].port_id = port->port_id;
	*forward = (struct lull_forward_config){ .queue_count = 1 };
	forward->tx[0].port_id = port->port_id;
	return config;
}

struct lull_loop *
stand_run(const struct lull_loop_config *config)
{
	struct lull_error error = { "" };
	struct lull_loop *loop = NULL;

	if (lull_loop_create(config, &loop, &error) != 0)
		fail_msg("%s", error.text);
	assert_int_equal(lull_loop_start(loop), 0);
	return loop;
}

struct rte_mempool *
stand_pool(void)
{
	struct rte_mempool *pool = rte_mempool_lookup("stand");
	struct lull_error error = { "" };

	if (pool == NULL)
		pool = lull_pool_create("stand", 8191, 0, &error);
	if (pool == NULL)
		fail_msg("%s", error.text);
	return pool;
}

static const struct rte_ether_addr source = { { 2, 0, 0, 0, 0, 1 } };
static const struct rte_ether_addr destination = { { 2, 0, 0, 0, 0, 2 } };

struct rte_mbuf *
stand_frame(struct rte_mempool *pool, uint32_t number)
{
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(pool);
	struct rte_ether_hdr *header = pkt == NULL ? NULL : (void *)rte_pktmbuf_append(pkt, 60);

	if (header == NULL)
		return NULL;
	memset(header, 0, 60);
	header->src_addr = source;
	header->dst_addr = destination;
	memcpy(header + 1, &number, sizeof(number));
	return pkt;
}

uint32_t
stand_take(struct rte_mbuf *pkt, bool swapped)
{
	const struct rte_ether_hdr *header = rte_pktmbuf_mtod(pkt, const struct rte_ether_hdr *);
	uint32_t number;

	assert_int_equal(rte_pktmbuf_pkt_len(pkt), 60);
	assert_true(rte_is_same_ether_addr(&header->src_addr, swapped ? &destination : &source));
	assert_true(rte_is_same_ether_addr(&header->dst_addr, swapped ? &source : &destination));
	memcpy(&number, header + 1, sizeof(number));
	rte_pktmbuf_free(pkt);
	return number;
}
