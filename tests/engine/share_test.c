/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops that share the queues of a port: whichever thread takes a packet, it comes back once and in
 * the order of its queue, also where the Tx ring was full; and what cannot be shared is refused.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "base/prng.h"
#include "idle/share.h"
#include "stand.h"

#define BURST 32
#define QUEUES 2
#define REST_NS (40 * LULL_NS_PER_US)

struct company {
	struct lull_port near, far;
	struct lull_share *share;
	struct lull_forward_config forward;
	struct lull_loop *loops[STAND_LOOPS];
	uint64_t next[QUEUES]; /* number that a queue gives next, at least */
	uint32_t sent[QUEUES], received;
};

static struct lull_loop_config
company_loop(struct company *company, uint32_t number, uint64_t rest_ns)
{
	struct lull_loop_config config =
		stand_loop("fwd", number + 1, &company->far, &company->forward);

	snprintf(config.name, sizeof(config.name), "fwd%u", number);
	config.governor = lull_idle_governor_find("metronome");
	config.limits.rest_ns = rest_ns;
	config.limits.backup_ns = 2 * rest_ns;
	config.share = &company->share->members[number];
	config.queue_count = QUEUES;
	company->forward.queue_count = QUEUES;
	for (uint16_t queue = 0; queue < QUEUES; queue++) {
		config.queues[queue] = (struct lull_loop_queue){ company->far.port_id, queue };
		company->forward.tx[queue].port_id = company->far.port_id;
		company->forward.tx[queue].queue_id = queue;
	}
	return config;
}

static void
company_begin(struct company *company, uint16_t ring_pkts, uint64_t rest_ns)
{
	memset(company, 0, sizeof(*company));
	stand_pair("shared", QUEUES, ring_pkts, &company->near, &company->far);
	company->share = aligned_alloc(LULL_CACHE_LINE, lull_share_size(STAND_LOOPS));
	assert_non_null(company->share);
	lull_share_init(company->share, QUEUES, STAND_LOOPS, 1);
	for (uint32_t i = 0; i < STAND_LOOPS; i++) {
		struct lull_loop_config config = company_loop(company, i, rest_ns);

		company->loops[i] = stand_run(&config);
	}
}

static uint64_t
company_counter(const struct company *company, size_t offset)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < STAND_LOOPS; i++) {
		const void *counters;

		lull_loop_stage_counters(company->loops[i], &counters);
		sum += LULL_COUNTER_READ(
			*(const uint64_t *)(const void *)((const uint8_t *)counters + offset));
	}
	return sum;
}
#define COUNTER(company, member)                                                                   \
	company_counter(company, offsetof(struct lull_forward_counters, member))

static void
company_receive(struct company *company)
{
	struct rte_mbuf *pkts[BURST];

	for (uint16_t queue = 0; queue < QUEUES; queue++) {
		uint16_t count = rte_eth_rx_burst(company->near.port_id, queue, pkts, BURST);

		for (uint16_t i = 0; i < count; i++) {
			uint32_t number = stand_take(pkts[i], false);

			assert_true(number >= company->next[queue]);
			company->next[queue] = number + 1;
			company->received++;
		}
	}
}

static void
company_send(struct company *company, uint16_t queue, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct rte_mbuf *pkt = stand_frame(stand_pool(), company->sent[queue]);

		if (pkt == NULL)
			return;
		if (rte_eth_tx_burst(company->near.port_id, queue, &pkt, 1) == 0) {
			rte_pktmbuf_free(pkt);
			return;
		}
		company->sent[queue]++;
	}
}

static void
company_end(struct company *company)
{
	for (uint32_t i = 0; i < STAND_LOOPS; i++)
		lull_loop_stop(company->loops[i]);
	for (uint32_t i = 0; i < QUEUES; i++)
		assert_int_equal(company->share->queues[i].held, 0);
	for (uint32_t i = 0; i < STAND_LOOPS; i++)
		lull_loop_destroy(company->loops[i]);
	lull_port_close(&company->near);
	lull_port_close(&company->far);
	free(company->share);
	assert_int_equal(rte_mempool_in_use_count(stand_pool()), 0);
}

static struct company company;

TEST(share__each_packet_comes_back_once_and_in_order)
{
	uint64_t takes = 0;
	struct lull_prng prng;

	lull_prng_init(&prng, 7, 0);
	company_begin(&company, 512, REST_NS);
	while (company.sent[0] + company.sent[1] < 6000) {
		/* never more under way than a ring on the way back holds */
		STAND_WAIT((company_receive(&company),
			    company.sent[0] + company.sent[1] - company.received < 400));
		company_send(&company, (uint16_t)lull_prng_below(&prng, QUEUES),
			     1 + (uint32_t)lull_prng_below(&prng, 64));
		if (lull_prng_below(&prng, 3) == 0)
			rte_delay_us_sleep((unsigned int)lull_prng_below(&prng, 300));
	}
	STAND_WAIT(
		(company_receive(&company), company.received == company.sent[0] + company.sent[1]));
	assert_int_equal(COUNTER(&company, tx_drops), 0);
	assert_int_equal(COUNTER(&company, rx_pkts), company.received);
	for (uint32_t i = 0; i < STAND_LOOPS; i++) {
		const struct lull_share_member *member = &company.share->members[i];

		/* each has its turn, and its wait is that of the queue */
		STAND_WAIT(LULL_COUNTER_READ(member->vacations.count) > 10);
		takes += LULL_COUNTER_READ(lull_loop_counters(company.loops[i])->pkts);
		assert_int_equal(
			LULL_COUNTER_READ(lull_loop_wait_histogram(company.loops[i])->count),
			LULL_COUNTER_READ(lull_loop_counters(company.loops[i])->pkts));
	}
	assert_int_equal(takes, company.received);
	company_end(&company);
}

/* What a full Tx ring refuses stays with the queue: no other thread may send past it. */
TEST(share__keeps_order_where_the_ring_is_full)
{
	uint32_t sent;
	struct lull_prng prng;

	lull_prng_init(&prng, 8, 0);
	company_begin(&company, 64, LULL_NS_PER_US); /* threads come often */
	while (company.sent[0] + company.sent[1] < 20000) {
		company_send(&company, (uint16_t)lull_prng_below(&prng, QUEUES), 48);
		if (lull_prng_below(&prng, 2) == 0)
			rte_delay_us_sleep(1 + (unsigned int)lull_prng_below(&prng, 30));
		if (lull_prng_below(&prng, 4) == 0)
			company_receive(&company);
	}
	sent = company.sent[0] + company.sent[1];
	STAND_WAIT((company_receive(&company),
		    company.received + COUNTER(&company, tx_drops) == sent));
	print_message("   %u sent, %llu given up\n", sent,
		      (unsigned long long)COUNTER(&company, tx_drops));
	assert_true(COUNTER(&company, tx_retries) > 0);
	company_end(&company);
}

/* While they run only a governor that shares may come; limits may change. */
TEST(share__refuses_what_cannot_be_shared)
{
	const struct lull_idle_governor *objective = lull_idle_governor_find("objective");
	struct lull_idle_limits limits = stand_limits();
	struct lull_loop_config config;
	struct lull_error error = { "" };
	struct lull_loop *loop = NULL;

	company_begin(&company, 64, REST_NS);
	assert_int_equal(lull_loop_post_change(company.loops[0], objective, &limits), -EINVAL);
	assert_int_equal(lull_loop_post_change(company.loops[0], NULL, &limits), 0);
	company_end(&company);

	stand_pair("refused", QUEUES, 64, &company.near, &company.far);
	company.share = aligned_alloc(LULL_CACHE_LINE, lull_share_size(STAND_LOOPS));
	assert_non_null(company.share);
	lull_share_init(company.share, QUEUES, STAND_LOOPS, 1);
	config = company_loop(&company, 0, REST_NS);
	config.governor = objective;
	assert_int_equal(lull_loop_create(&config, &loop, &error), -EINVAL);
	assert_non_null(strstr(error.text, "governor objective does not share"));
	config = company_loop(&company, 0, REST_NS);
	config.queue_count = 1;
	assert_int_equal(lull_loop_create(&config, &loop, &error), -EINVAL);
	assert_non_null(strstr(error.text, "1 queues, but 2 are shared"));
	lull_port_close(&company.near);
	lull_port_close(&company.far);
	free(company.share);
}

TEST_GROUP(stand_setup, stand_stop);
