/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stand: two channels that know each other, and messages whose bytes tell their number.
 */
#ifndef LULL_TEST_CHANNEL_STAND_H
#define LULL_TEST_CHANNEL_STAND_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/bundle.h>
#include <lull/channel.h>

#include "case.h"

#define STAND_WAIT_NS (20 * LULL_NS_PER_S) /* generous: the machine may be busy */
#define STAND_RAILS_MAX 4

struct stand {
	bool own_loop;
	uint32_t rail_count;
	/* Rails of each; NULL: pair:0, pair:1 ... */
	const char *rails[2][STAND_RAILS_MAX];
	struct lull_channel_config config; /* of both, but for rails and names */
	struct lull_channel *channels[2];  /* "here" and "there" */
	uint32_t peers[2];                 /* what each calls the other */
};

/** Of the node on a side. */
const char *stand_name(int side);
/** Open, start and connect; fails the test with the reason. */
void stand_open(struct stand *stand);
/** The same without connecting. */
void stand_start(struct stand *stand);
void stand_connect(struct stand *stand);
void stand_close(struct stand *stand);
/** With own_loop: an iteration of both. */
void stand_turn(struct stand *stand);

/** Bytes of a message. */
void stand_fill(uint8_t *bytes, uint64_t count, uint64_t seed);
bool stand_holds(const uint8_t *bytes, uint64_t count, uint64_t seed);

/** Send from @p side and fail the test when that is refused. */
void stand_send(struct stand *stand, int side, const void *data, uint64_t len_bytes, uint64_t tag,
		void *context);
void stand_recv(struct stand *stand, int side, uint64_t tag, void *buffer, uint64_t size_bytes,
		void *context);
/** The next completion of @p side, however long it takes. */
struct lull_channel_completion stand_done(struct stand *stand, int side);
/** A message of @p len_bytes from @p side, whole and complete on both sides. */
void stand_carry(struct stand *stand, int side, uint64_t len_bytes, uint64_t tag);

#endif
