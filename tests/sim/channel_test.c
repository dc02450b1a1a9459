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
	config->bundle.peers_max = 5000;
	assert_int_equal(lull_sim_channel_create(config, &world), -EINVAL);
	free(config);
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
