/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Match: posted receives and unexpected messages, by source, tag and ignore bits.
 *
 * A message matches a receive when its source is the one asked for (or any) and its tag is equal in
 * all bits that the receive does not ignore. Of several receives the one that was posted first
 * takes it, of several messages the one that came first: the rule of MPI and of libfabric.
 *
 * A receive that names its tag in full, and a message, are found in constant time however many
 * wait. Receives that ignore bits are gone through one by one, as are messages by who does not
 * name all.
 *
 * Threads: one. Memory: lull_match_size() bytes of the caller, aligned as malloc() does, no
 * allocation.
 */
#ifndef LULL_MATCH_H
#define LULL_MATCH_H

#include <lull/base.h>

#define LULL_MATCH_ANY UINT32_MAX

/* A receive that waits for its message. */
struct lull_match_receive {
	uint32_t source;      /* LULL_MATCH_ANY: any */
	uint64_t tag, ignore; /* bits set in ignore do not count */
	void *buffer;
	uint64_t size_bytes;
	void *context;
};
/* A message that waits for its receive. */
struct lull_match_message {
	uint32_t source;
	uint16_t endpoint; /* of the sender */
	uint64_t tag, len_bytes, user;
	uint32_t handle;
	void *context;
};

struct lull_match;

size_t lull_match_size(uint32_t receives_max, uint32_t messages_max);
void lull_match_init(struct lull_match *match, uint32_t receives_max, uint32_t messages_max);
/**
 * A receive is posted: the first message that it matches is taken out into @p message, or it waits.
 * @return 1: @p message; 0: it waits; -ENOBUFS: receives_max wait
 */
int lull_match_post(struct lull_match *match, const struct lull_match_receive *receive,
		    struct lull_match_message *message);
/**
 * A message came: the first receive that it matches is taken out into @p receive, or it waits.
 * @return 1: @p receive; 0: it waits; -ENOBUFS: messages_max wait
 */
int lull_match_arrive(struct lull_match *match, const struct lull_match_message *message,
		      struct lull_match_receive *receive);
/** The first message that waits and matches; it goes on waiting. @return false: none */
bool lull_match_peek(const struct lull_match *match, uint32_t source, uint64_t tag, uint64_t ignore,
		     struct lull_match_message *message);
/** The same, and it is taken out: whoever asked has it alone now. */
bool lull_match_claim(struct lull_match *match, uint32_t source, uint64_t tag, uint64_t ignore,
		      struct lull_match_message *message);
/** Take the receive with this context out, the first of several. @return false: none */
bool lull_match_cancel(struct lull_match *match, const void *context,
		       struct lull_match_receive *receive);
/** Take out, one at a time, what waits for or came from @p source; receives from any stay. */
bool lull_match_drop_receive(struct lull_match *match, uint32_t source,
			     struct lull_match_receive *receive);
bool lull_match_drop_message(struct lull_match *match, uint32_t source,
			     struct lull_match_message *message);
uint32_t lull_match_receives(const struct lull_match *match);
uint32_t lull_match_messages(const struct lull_match *match);

#endif
