/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss audit: each lost packet is charged once, and to a rest only if one may have lost it. */
#include "case.h"
#include "idle/loss_audit.h"

/* Loops that share a port, which has been read at one time or another. */
struct stand {
	struct lull_loss_claim claim;
	struct lull_loss_audit rests, spins;
	struct lull_loss_reading reading;
};

static struct lull_loss_charge
enter(struct stand *stand, struct lull_loss_audit *audit, uint64_t missed, bool suspect)
{
	struct lull_loss_charge charge = { 0, 0 };

	stand->reading.begin_ns++;
	stand->reading.loss.missed = missed;
	lull_loss_audit_enter(audit, &stand->claim, &stand->reading, suspect, &charge);
	return charge;
}

#define ENTER(audit, missed, suspect, rests_, others_)                                             \
	do {                                                                                       \
		struct lull_loss_charge entered = enter(&stand, &stand.audit, missed, suspect);    \
		assert_int_equal(entered.rests, rests_);                                           \
		assert_int_equal(entered.others, others_);                                         \
	} while (0)

static struct stand
stand_begin(uint64_t missed)
{
	struct stand stand = { .reading.begin_ns = 1000 };

	ENTER(rests, missed, false, 0, 0);
	ENTER(spins, missed, false, 0, 0);
	return stand;
}

/* A rise is charged once: to a loop whose rests may be why, else to one that sees it twice. */
TEST(enter__charges_each_packet_once)
{
	struct stand stand = stand_begin(100);

	ENTER(spins, 103, false, 0, 0);
	ENTER(rests, 103, true, 3, 0);
	ENTER(spins, 103, false, 0, 0);
	/* neither has rested: the first that sees it twice */
	ENTER(spins, 110, false, 0, 0);
	ENTER(rests, 112, false, 0, 0);
	ENTER(spins, 112, false, 0, 7);
	ENTER(rests, 112, false, 0, 2);
	/* the port counts from the beginning again */
	ENTER(rests, 0, true, 0, 0);
	ENTER(rests, 4, true, 4, 0);
	ENTER(spins, 5, false, 0, 0);
	ENTER(spins, 5, true, 0, 1);
}

/* What it saw and left when its rests were out of the question is not theirs later. */
TEST(enter__what_a_polling_loop_saw_is_no_rest_s)
{
	struct stand stand = stand_begin(0);

	ENTER(rests, 50, false, 0, 0);
	ENTER(rests, 53, true, 3, 50);
}

/* Buffers ran out: neither those packets nor what the ring then missed. */
TEST(enter__a_lack_of_buffers_is_no_ring_loss)
{
	struct stand stand = stand_begin(0);

	stand.reading.loss.nombuf = 40;
	ENTER(rests, 0, true, 0, 0);
	ENTER(rests, 0, true, 0, 0);
	stand.reading.loss.nombuf = 90;
	ENTER(rests, 7, true, 0, 0);
	ENTER(rests, 9, true, 2, 7);
}

/* Of what the port had lost before nothing is charged to anybody. */
TEST(enter__the_first_reading_only_begins)
{
	struct stand stand = { .reading.begin_ns = 0 };

	assert_true(lull_loss_audit_due(&stand.rests, &stand.reading));
	ENTER(rests, 1000, true, 0, 0);
	ENTER(rests, 1001, true, 1, 0);
}

TEST(due__once_for_each_reading)
{
	struct stand stand = stand_begin(0);

	assert_false(lull_loss_audit_due(&stand.spins, &stand.reading));
	assert_true(lull_loss_audit_due(&stand.rests, &stand.reading));
	ENTER(rests, 0, false, 0, 0);
	assert_false(lull_loss_audit_due(&stand.rests, &stand.reading));
	stand.reading.end_ns += 1000; /* the same one, which took long */
	assert_false(lull_loss_audit_due(&stand.rests, &stand.reading));
}

/* What a loop saw and left to those that rest is charged to it when it ends. */
TEST(end__takes_what_nobody_has_taken)
{
	struct lull_loss_charge charge = { 0, 0 };
	struct stand stand = stand_begin(100);

	ENTER(spins, 107, false, 0, 0);
	lull_loss_audit_end(&stand.spins, &stand.claim, &charge);
	assert_int_equal(charge.others, 7);
	lull_loss_audit_end(&stand.spins, &stand.claim, &charge);
	assert_int_equal(charge.others, 7);
	ENTER(rests, 120, false, 0, 0);
	lull_loss_audit_end(&stand.rests, &stand.claim, &charge);
	assert_int_equal(charge.others, 20);
	assert_int_equal(charge.rests, 0);
	stand.rests.begun = false;
	lull_loss_audit_end(&stand.rests, &stand.claim, &charge);
	assert_int_equal(charge.others, 20);
}

TEST(add__tells_missed_from_nombuf)
{
	struct lull_port_loss loss = { 100, 1000 };
	struct stand stand = stand_begin(3);

	stand.reading.loss.nombuf = 41;
	ENTER(rests, 4, true, 0, 0);
	lull_loss_audit_add(&stand.rests, &loss);
	assert_int_equal(loss.missed, 104);
	assert_int_equal(loss.nombuf, 1041);
}
