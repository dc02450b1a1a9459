/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss audit: each lost packet is charged once, and what a port does not say is not guessed. */
#include "case.h"
#include "idle/loss_audit.h"

/* Loops that share a port. */
struct stand {
	struct lull_loss_claim claim;
	struct lull_loss_audit rests, spins;
	uint64_t rest_ns; /* of the one that rests */
};

static uint64_t
enter(struct stand *stand, struct lull_loss_audit *audit, uint64_t missed, bool rested)
{
	struct lull_loss_answer answer = { .valid = true, .loss.missed = missed };

	stand->rest_ns += rested;
	answer.rest_ns = rested ? stand->rest_ns : audit->rest_ns;
	return lull_loss_audit_enter(audit, &stand->claim, &answer);
}

static struct stand
stand_begin(uint64_t missed)
{
	struct stand stand = { .rest_ns = 0 };

	assert_int_equal(enter(&stand, &stand.rests, missed, false), 0);
	assert_int_equal(enter(&stand, &stand.spins, missed, false), 0);
	return stand;
}

/* A rise is charged once: to a loop that has rested; to another when none of those takes it. */
TEST(enter__charges_each_packet_once)
{
	struct stand stand = stand_begin(100);

	assert_int_equal(enter(&stand, &stand.spins, 103, false), 0);
	assert_int_equal(enter(&stand, &stand.rests, 103, true), 3);
	assert_int_equal(enter(&stand, &stand.spins, 103, false), 0);
	/* neither has rested: the first that sees it twice */
	assert_int_equal(enter(&stand, &stand.spins, 110, false), 0);
	assert_int_equal(enter(&stand, &stand.rests, 112, false), 0);
	assert_int_equal(enter(&stand, &stand.spins, 112, false), 7);
	assert_int_equal(enter(&stand, &stand.rests, 112, false), 2);
	/* the port's counters are cleared */
	assert_int_equal(enter(&stand, &stand.rests, 0, true), 0);
	assert_int_equal(enter(&stand, &stand.rests, 4, true), 4);
	assert_int_equal(enter(&stand, &stand.spins, 5, false), 0);
	assert_int_equal(enter(&stand, &stand.spins, 5, true), 1);
}

/* A driver that refuses once has not begun to count anew. */
TEST(enter__a_refusal_charges_nothing_twice)
{
	const struct lull_loss_answer refused = { .valid = false };
	struct stand stand = stand_begin(0);

	assert_int_equal(enter(&stand, &stand.rests, 50, true), 50);
	assert_int_equal(lull_loss_audit_enter(&stand.rests, &stand.claim, &refused), 0);
	assert_int_equal(enter(&stand, &stand.rests, 51, true), 1);
	assert_int_equal(stand.rests.seen.missed, 51);
}

/* Nor does the counting begin with a refusal: what the port had lost before is nobody's. */
TEST(enter__a_refusal_does_not_begin)
{
	const struct lull_loss_answer refused = { .valid = false };
	struct stand stand = { .rest_ns = 0 };

	assert_int_equal(lull_loss_audit_enter(&stand.rests, &stand.claim, &refused), 0);
	assert_int_equal(enter(&stand, &stand.rests, 1000, true), 0);
	assert_int_equal(enter(&stand, &stand.rests, 1001, true), 1);
}

TEST(enter__asks_a_slow_driver_seldom)
{
	struct lull_loss_answer answer = { .valid = true, .begin_ns = 1000, .end_ns = 1000 };
	struct stand stand = { .rest_ns = 0 };

	lull_loss_audit_enter(&stand.rests, &stand.claim, &answer);
	assert_true(lull_loss_audit_due(&stand.rests, 1000));
	answer.end_ns = answer.begin_ns + 30 * LULL_NS_PER_US;
	lull_loss_audit_enter(&stand.rests, &stand.claim, &answer);
	assert_false(lull_loss_audit_due(&stand.rests, 1000 + 30 * LULL_NS_PER_MS - 1));
	assert_true(lull_loss_audit_due(&stand.rests, 1000 + 30 * LULL_NS_PER_MS));
	answer.valid = false;
	answer.end_ns = answer.begin_ns + LULL_NS_PER_S;
	lull_loss_audit_enter(&stand.rests, &stand.claim, &answer);
	assert_false(lull_loss_audit_due(&stand.rests, LULL_NS_PER_S));
	assert_true(lull_loss_audit_due(&stand.rests, 1000 + LULL_NS_PER_S));
}

/* What a loop saw and left to those that rest is charged to it when it ends. */
TEST(end__takes_what_nobody_has_taken)
{
	struct lull_loss_answer last = { .valid = true, .loss.missed = 120, .last = true };
	struct stand stand = stand_begin(100);

	assert_int_equal(enter(&stand, &stand.spins, 107, false), 0);
	assert_int_equal(lull_loss_audit_end(&stand.spins, &stand.claim), 7);
	assert_int_equal(lull_loss_audit_end(&stand.spins, &stand.claim), 0);
	assert_int_equal(lull_loss_audit_enter(&stand.rests, &stand.claim, &last), 13);
	stand.rests.begun = false;
	assert_int_equal(lull_loss_audit_end(&stand.rests, &stand.claim), 0);
}

TEST(add__tells_missed_from_nombuf)
{
	struct lull_loss_answer answer = { .valid = true, .loss = { 3, 40 } };
	struct stand stand = { .rest_ns = 0 };
	struct lull_port_loss loss = { 100, 1000 };

	lull_loss_audit_enter(&stand.rests, &stand.claim, &answer);
	answer.loss = (struct lull_port_loss){ 4, 41 };
	answer.rest_ns = 1;
	assert_int_equal(lull_loss_audit_enter(&stand.rests, &stand.claim, &answer), 2);
	lull_loss_audit_add(&stand.rests, &loss);
	assert_int_equal(loss.missed, 104);
	assert_int_equal(loss.nombuf, 1041);
}
