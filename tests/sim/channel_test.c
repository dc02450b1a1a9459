/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/channel*.c: worlds run, repeat, and say what is wrong when a promise is broken. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "sim/channel.h"

#define MS LULL_NS_PER_MS

/* The result of a world; its failure in @p failure. */
static struct lull_sim_channel_result *
run(const struct lull_sim_channel_config *config, int expected, char *failure)
{
	struct lull_sim_channel_result *result = calloc(1, sizeof(*result));
	struct lull_sim_channel *world;
	int rc;

	assert_non_null(result);
	assert_int_equal(lull_sim_channel_create(config, &world), 0);
	rc = lull_sim_channel_run(world, NULL, NULL);
	if (rc != expected)
		fail_msg("%d: %s", rc, lull_sim_channel_failure(world));
	if (failure != NULL)
		strcpy(failure, lull_sim_channel_failure(world));
	lull_sim_channel_read(world, result);
	lull_sim_channel_free(world);
	return result;
}

static struct lull_sim_channel_config *
preset(void)
{
	struct lull_sim_channel_config *config = malloc(sizeof(*config));

	assert_non_null(config);
	lull_sim_channel_preset(config, 2, 2, 100000000);
	config->job.message_bytes = 20000;
	config->warmup_ns = 10 * MS;
	config->calm_ns = 40 * MS;
	return config;
}

TEST(world__carries_messages_and_repeats)
{
	struct lull_sim_channel_config *config = preset();
	struct lull_sim_channel_result *first = run(config, 0, NULL), *again, *other;

	assert_true(first->received > 10);
	assert_int_equal(first->sent, first->received);
	assert_int_equal(first->falls, 0);
	assert_int_equal(first->path_count, 4);
	again = run(config, 0, NULL);
	assert_int_equal(first->digest, again->digest);
	assert_memory_equal(&first->counters, &again->counters, sizeof(first->counters));
	assert_memory_equal(&first->latency, &again->latency, sizeof(first->latency));
	assert_int_equal(first->wire_pkts, again->wire_pkts);
	config->seed = 2;
	other = run(config, 0, NULL);
	assert_int_not_equal(first->digest, other->digest);
	free(config);
	free(first);
	free(again);
	free(other);
}

TEST(world__refuses_what_it_cannot_be)
{
	struct lull_sim_channel_config *config = preset();
	struct lull_sim_channel *world;

	config->node_count = 1;
	assert_int_equal(lull_sim_channel_create(config, &world), -EINVAL);
	config->node_count = 2;
	config->nodes[1].rail_count = 0;
	assert_int_equal(lull_sim_channel_create(config, &world), -EINVAL);
	config->nodes[1].rail_count = 2;
	config->fault_count = 2;
	config->faults[0] = (struct lull_sim_channel_fault){ .at_ns = 2 };
	config->faults[1] = (struct lull_sim_channel_fault){ .at_ns = 1 };
	assert_int_equal(lull_sim_channel_create(config, &world), -EINVAL);
	config->faults[1].at_ns = 3;
	config->faults[1].rail = 2;
	assert_int_equal(lull_sim_channel_create(config, &world), -EINVAL);
	config->fault_count = 0;
	config->governor = lull_idle_governor_find("phase");
	config->event_rests = true; /* then the kernel decides */
	assert_int_equal(lull_sim_channel_create(config, &world), -EINVAL);
	config->event_rests = false;
	config->job.under_way = LULL_SIM_CHANNEL_UNDER_WAY_MAX + 1;
	assert_int_equal(lull_sim_channel_create(config, &world), -EINVAL);
	config->job.under_way = 0;
	config->bundle.peers_max = 5000;
	assert_int_equal(lull_sim_channel_create(config, &world), -EINVAL);
	free(config);
}

/* ---- rests ---- */

/* A world in which node 0 sends small messages to node 1 on 2 rails all the time. */
static struct lull_sim_channel_config *
small(const char *governor, uint64_t rest_ns)
{
	struct lull_sim_channel_config *config = preset();

	config->job.message_bytes = 500;
	config->job.under_way = 256;
	config->bundle.messages_max = 512;
	config->rest_ns = rest_ns;
	config->governor = lull_idle_governor_find(governor);
	assert_non_null(config->governor);
	return config;
}

TEST(rest__who_polls_has_the_core_for_itself)
{
	struct lull_sim_channel_config *config = small("spin", MS);
	struct lull_sim_channel_result *result = run(config, 0, NULL), *whole;

	for (uint32_t n = 0; n < 2; n++) {
		const struct lull_sim_channel_work *work = &result->work[n];

		assert_int_equal(work->span_ns, 30 * MS);
		assert_true(work->busy_ns > 0 && work->busy_ns < work->span_ns);
		assert_int_equal(work->rests, 0);
		assert_true(lull_sim_channel_cpu(work) == 1);
		assert_true(lull_sim_channel_empty(work) ==
			    1 - (double)work->busy_ns / (double)work->span_ns);
	}
	assert_true(result->traffic.tx_pkts > 500);
	assert_true(result->traffic.tx_pkts < result->wire_pkts / 2);
	config->warmup_ns = 0; /* what went before counts now */
	whole = run(config, 0, NULL);
	assert_true(whole->work[0].busy_ns > result->work[0].busy_ns);
	assert_true(whole->traffic.tx_pkts > result->traffic.tx_pkts);
	free(whole);
	free(config);
	free(result);
}

/* A governor that may not rest while packets are expected: under full load it hardly does. */
TEST(rest__not_while_packets_are_expected)
{
	struct lull_sim_channel_config *config = small("fixed", MS);
	struct lull_sim_channel_result *polite, *heedless;

	config->job.under_way = 32;
	polite = run(config, 0, NULL);
	config->heedless_rests = true;
	heedless = run(config, 0, NULL);
	for (uint32_t n = 0; n < 2; n++) {
		const struct lull_sim_channel_work *work = &heedless->work[n];

		/* one after the other, each at least as long as it was to be */
		assert_true(work->rests >= 20 && work->rests <= 30);
		assert_true(work->requested_ns == work->rests * MS);
		assert_true(work->rest_ns > work->requested_ns - MS);
		assert_int_equal(work->rest_cpu_ns, work->rests * config->machine->rest_ns);
		assert_true(lull_sim_channel_cpu(work) < 0.1);
	}
	assert_true(lull_sim_channel_cpu(&polite->work[0]) > 0.9);
	assert_true(polite->received > 2 * heedless->received);
	free(config);
	free(polite);
	free(heedless);
}

/* Four nodes send more towards a node's rail than its ring holds, while that node rests. */
static struct lull_sim_channel_config *
crowd(void)
{
	struct lull_sim_channel_config *config = small("fixed", 4 * MS);

	lull_sim_channel_preset(config, 5, 1, 1000000000);
	config->job.message_bytes = 100;
	config->job.under_way = 512;
	config->bundle.messages_max = 1024;
	config->bundle.control = lull_bundle_control_find("fixed");
	config->bundle.fixed_window_pkts = 1024;
	config->governor = lull_idle_governor_find("fixed");
	config->rest_ns = 4 * MS;
	config->heedless_rests = true;
	config->warmup_ns = 20 * MS;
	config->calm_ns = 80 * MS;
	for (uint32_t n = 0; n < 5; n++)
		config->nodes[n].rails[0].wire.queue_bytes = 4000000;
	return config;
}

TEST(rest__of_any_length_overflows_no_ring)
{
	struct lull_sim_channel_config *config = crowd();
	struct lull_sim_channel_result *result = run(config, 0, NULL);

	assert_true(result->received > 1000);
	assert_int_equal(result->traffic.dropped_pkts, 0);
	assert_int_equal(result->ring_drops, 0);
	free(config);
	free(result);
}

TEST(rest__without_rail_credit_overflows_rings)
{
	struct lull_sim_channel_config *config = crowd();
	struct lull_sim_channel_result *result;

	config->told_ring_pkts = 1 << 20;
	config->silent_rests = true;
	config->may_overflow = true;
	result = run(config, 0, NULL);
	assert_true(result->traffic.ring_pkts > 100);
	assert_true(result->traffic.dropped_pkts >= result->traffic.ring_pkts);
	assert_true(result->traffic.resent_pkts > 100);
	assert_int_equal(result->sent, result->received); /* all the same */
	free(config);
	free(result);
}

/* Two nodes that send to each other in bursts, and rest between them. */
static struct lull_sim_channel_config *
bursts(void)
{
	struct lull_sim_channel_config *config = small("phase", MS);

	lull_sim_channel_preset(config, 2, 2, 1000000000);
	config->job = (struct lull_sim_channel_job){ .type = LULL_SIM_CHANNEL_PERIODIC,
						     .message_bytes = 100,
						     .under_way = 128,
						     .period_ns = 50 * MS,
						     .burst_ns = 5 * MS };
	config->governor = lull_idle_governor_find("phase");
	config->rest_ns = MS;
	config->calm_ns = 500 * MS;
	return config;
}

/* Phase rests nearly all the time between them, also where packets come fast. */
TEST(rest__phase_rests_between_bursts)
{
	struct lull_sim_channel_config *config = bursts();
	struct lull_sim_channel_result *result = run(config, 0, NULL);

	for (uint32_t n = 0; n < 2; n++)
		assert_true(lull_sim_channel_cpu(&result->work[n]) < 0.15);
	assert_true(result->received > 10000);
	assert_int_equal(result->traffic.dropped_pkts, 0);
	assert_int_equal(result->traffic.resent_pkts, 0);
	free(config);
	free(result);
}

/* Who is not told of a rest sends again what it only holds up. */
TEST(rest__that_is_not_announced_is_taken_for_loss)
{
	struct lull_sim_channel_config *config = small("phase", 20 * MS);
	struct lull_sim_channel_result *told, *untold;

	config->job = (struct lull_sim_channel_job){ .type = LULL_SIM_CHANNEL_RANDOM,
						     .message_bytes = 100,
						     .messages = 20,
						     .gap_ns = 50 * MS };
	config->calm_ns = LULL_NS_PER_S;
	told = run(config, 0, NULL);
	config->silent_rests = true;
	untold = run(config, 0, NULL);
	assert_true(told->received > 10);
	assert_int_equal(told->traffic.resent_pkts, 0);
	assert_int_equal(untold->traffic.dropped_pkts, 0);
	assert_int_not_equal(untold->traffic.resent_pkts, 0);
	free(config);
	free(told);
	free(untold);
}

/* Nothing shortens a rest of one that is heedless: neither what is due nor the application. */
TEST(rest__heedless_ones_have_their_length)
{
	struct lull_sim_channel_config *config = small("fixed", 7 * MS);
	struct lull_sim_channel_result *result;

	config->job.type = LULL_SIM_CHANNEL_PERIODIC;
	config->job.period_ns = 10 * MS;
	config->job.burst_ns = MS;
	config->heedless_rests = true;
	config->calm_ns = 200 * MS;
	result = run(config, 0, NULL);
	for (uint32_t n = 0; n < 2; n++) {
		assert_true(result->work[n].rests >= 26 && result->work[n].rests <= 28);
		assert_int_equal(result->work[n].requested_ns, result->work[n].rests * 7 * MS);
	}
	free(config);
	free(result);
}

/* The application need not wait for the end of a rest: it begins to send on time. */
TEST(rest__the_application_ends_it)
{
	struct lull_sim_channel_config *config = bursts();
	struct lull_sim_channel_result *result;
	uint64_t bytes = 0;

	config->rest_ns = 20 * MS;
	result = run(config, 0, NULL);
	for (uint32_t ms = 0; ms < 6; ms++)
		bytes += result->curve_bytes[250 + ms];
	assert_true(bytes > 0);
	for (uint32_t ms = 10; ms < 50; ms++)
		assert_int_equal(result->curve_bytes[250 + ms], 0);
	free(config);
	free(result);
}

/* Each check has to be able to fail: what a scenario excuses is told when it is not excused. */
static void
fails(struct lull_sim_channel_config *config, const char *words)
{
	char failure[LULL_SIM_CHANNEL_FAILURE_SIZE];
	struct lull_sim_channel_result *result = run(config, -EPROTO, failure);

	if (strstr(failure, words) == NULL)
		fail_msg("'%s' without '%s'", failure, words);
	free(result);
	free(config);
}

static void
fault(struct lull_sim_channel_config *config, uint64_t at_ns, enum lull_sim_channel_fault_type type,
      uint32_t node)
{
	config->faults[config->fault_count++] = (struct lull_sim_channel_fault){
		.at_ns = at_ns, .type = type, .node = node, .rail = LULL_SIM_CHANNEL_ANY
	};
}

TEST(check__a_connection_that_ends)
{
	struct lull_sim_channel_config *config = preset();

	fault(config, 20 * MS, LULL_SIM_CHANNEL_KILL, 0);
	fault(config, 21 * MS, LULL_SIM_CHANNEL_START, 0);
	fails(config, "ended with");
}

TEST(check__an_operation_that_takes_long)
{
	struct lull_sim_channel_config *config = preset();

	config->age_ns = 5 * MS;
	fault(config, 20 * MS, LULL_SIM_CHANNEL_SILENT, 1);
	fails(config, "under way for");
}

TEST(check__operations_that_never_end)
{
	struct lull_sim_channel_config *config = preset();

	config->bundle.peer_timeout_ns = 100 * LULL_NS_PER_S;
	config->bound_ns = LULL_NS_PER_S;
	fault(config, 20 * MS, LULL_SIM_CHANNEL_SILENT, 1);
	fails(config, "never ended");
}

TEST(check__a_ring_that_overflows)
{
	struct lull_sim_channel_config *config = preset();

	/* a stranger whom no credit binds fills the ring of a node that rests */
	config->nodes[1].rails[0].ring_pkts = 16;
	config->rest_ns = 5 * MS;
	config->job.type = LULL_SIM_CHANNEL_PERIODIC;
	config->job.period_ns = 20 * MS;
	config->job.burst_ns = 100 * LULL_NS_PER_US;
	config->job.message_bytes = 1000;
	config->calm_ns = 200 * MS;
	config->attack = (struct lull_sim_channel_attack){ .gap_ns = 5 * LULL_NS_PER_US,
							   .replays = true,
							   .invents = true };
	fails(config, "ring of rail");
}

TEST(check__a_node_that_nobody_reaches)
{
	struct lull_sim_channel_config *config = preset();

	config->nodes[1].rails[0].network = config->nodes[1].rails[1].network = 1;
	config->bound_ns = 100 * MS;
	fails(config, "not connected");
}

/* What is excused passes: the same world, in which nodes may die. */
TEST(world__outlives_a_node_that_dies)
{
	struct lull_sim_channel_config *config = preset();
	struct lull_sim_channel_result *result;

	config->may_fall = true;
	fault(config, 20 * MS, LULL_SIM_CHANNEL_KILL, 0);
	fault(config, 21 * MS, LULL_SIM_CHANNEL_START, 0);
	result = run(config, 0, NULL);
	assert_true(result->falls > 0);
	assert_true(result->received > 0);
	free(result);
	free(config);
}

TEST(jain__equal_and_unequal)
{
	struct lull_sim_channel_result *result = calloc(1, sizeof(*result));

	assert_non_null(result);
	for (uint32_t i = 1; i < 5; i++)
		result->from_bytes[i] = 7;
	assert_true(lull_sim_channel_jain(result, 1, 4) == 1);
	result->from_bytes[2] = result->from_bytes[3] = result->from_bytes[4] = 0;
	assert_true(lull_sim_channel_jain(result, 1, 4) == 0.25);
	free(result);
}
