/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * State: what stands behind a struct lull_channel, and which file does what.
 *
 *     open.c       memory, keys, rails at the start     turn.c    one iteration, and what leaves
 *     event.c      what the bundle tells                wait.c    callers that wait
 *     operation.c  sends, receives, completions         thread.c  the thread and its rests
 *     stream.c     pieces of streams                    rail*.c   packets
 *     message.c    send, receive, peek, claim, done     look.c    counters, for others
 *     peer.c       connect, accept, disconnect          check.c   the self-check
 *     bytes.c      write, read, shut                    rails.c   add and remove while it runs
 *     ring.c       packets in shared memory             lane.c    two rings and a bell
 *     attach.c     how a process gets a lane            neighbour.c  lanes to others of the node
 *     address.c    the bytes of an address
 *     stand_in.c   turns while callers are away     caller.c  turns and rests of callers
 *
 * One lock is around the bundle, matching and operations. The loop has it during an iteration and
 * leaves it at rest. A caller takes it, calls the bundle, sends what is to be sent itself, and ends
 * the rest of the loop when something is due earlier than that.
 */
#ifndef LULL_CHANNEL_STATE_H
#define LULL_CHANNEL_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <lull/bundle.h>
#include <lull/channel.h>
#include <lull/rest.h>

#include "host/loop.h"
#include "match/match.h"
#include "operation.h"
#include "rail.h"
#include "secret.h"
#include "stream.h"

#define CHANNEL_POLLS_MAX (LULL_CHANNEL_RAILS_MAX * CHANNEL_WATCH_MAX + 1) /* the last: kick */

struct channel_peer {
	char name[LULL_CHANNEL_NAME_SIZE]; /* of the node */
	bool up;
	bool begun;    /* somebody connects to it and does not wait */
	bool kept;     /* and its number stays its own */
	bool closing;  /* lull_channel_disconnect() ends it */
	bool asked;    /* lull_channel_accept() has not told of it yet */
	uint32_t next; /* of those that wait to be accepted, plus 1; 0: the last */
	uint32_t ends; /* how often a peer of this number ended */
	int error;     /* of the last time */
	struct channel_stream stream;
};

/** Descriptors of one wait, and to whom they belong. */
struct channel_polls {
	uint32_t epoch; /* of the rails */
	uint32_t count;
	uint8_t rail[CHANNEL_POLLS_MAX];
	struct pollfd polls[CHANNEL_POLLS_MAX];
};

/** What was sent and received; the one who has the lock writes. */
struct channel_counters {
	uint64_t sends, send_bytes, receives, receive_bytes, failures;
	uint64_t rests, rest_ns; /* of callers and the one who stands in: own_loop */
};

/** How callers rest; under the lock. */
struct channel_callers {
	struct lull_idle *idle; /* for rails that are polled */
	void *memory;
	bool old; /* it does not know yet that governor, longest rest or rails have changed */
	uint64_t turns, turns_empty, pkts; /* since the last plan */
};

struct lull_channel {
	struct lull_channel_config config; /* without defaults; texts are below */
	char name[LULL_CHANNEL_NAME_SIZE], governor[32], eal[256];
	const struct lull_bundle_spread *spread;
	const struct lull_bundle_control *control;
	struct channel_secret secret;
	uint64_t memory_bytes;
	bool begun; /* the bundle, and with it keys that are to be wiped */
	bool started;

	pthread_mutex_t lock;
	atomic_uint callers; /* that wait for the lock */
	pthread_cond_t changed;
	uint32_t waiting; /* callers that wait for a change */
	uint64_t changes; /* what callers may wait for */
	uint32_t wakes;   /* by lull_channel_wake() */
	bool event_asked;
	int event_fd, kick_fd;

	/* under the lock */
	struct lull_bundle *bundle;
	struct lull_match *match;
	struct channel_operations operations;
	struct channel_peer *peers;
	uint8_t *stream_memory;
	uint32_t accept_first; /* peers to accept, plus 1; 0: none */
	struct channel_rail *rails[LULL_CHANNEL_RAILS_MAX];
	uint32_t rails_epoch; /* raised by each change of them */
	bool polled;          /* one of them has no descriptor */
	struct channel_counters counters;
	struct lull_histogram latency[2]; /* up to a quantum, longer */

	/* rests: under the lock */
	uint64_t rest_until_ns; /* of a rest now; what is due earlier ends it; 0: there is none */
	uint64_t came_ns;       /* the last packet */
	uint64_t idle_ns;       /* nothing is under way since then; 0: something is */
	uint64_t announced_ns;  /* longest rest that peers know of */
	uint64_t max_latency_ns;
	bool rested;                  /* in poll(), right before this iteration */
	uint32_t resting;             /* threads in poll(), or on their way there */
	bool removing;                /* a rail: no rests until it is gone */
	struct channel_rail *leaving; /* the one, until the thread has let go of it */

	pthread_mutex_t rails_lock; /* add, remove, look: before the other lock */

	struct channel_callers callers_rest; /* with own_loop */

	/* a thread that turns it while callers are away */
	uint64_t turned_ns;    /* by a caller, the last time */
	uint64_t changes_told; /* config.changed was called for so many */
	atomic_bool stand_in_ends;
	bool stand_in_runs;
	bool stand_in_rests;  /* or is on its way there; under the lock */
	bool stand_in_sleeps; /* for long, as callers wait; what they wait for ends it */
	pthread_cond_t stand_in_wake;
	pthread_t stand_in;

	/* its thread */
	struct channel_polls polls; /* of its next rest */
	bool polls_said;            /* and poll() has said something of them */
	bool thread_rests;          /* it is among the resting ones; under the lock */
	void *idle_memory;
	bool looped;
	pthread_t thread;
	bool thread_runs;
	uint64_t missed_seen, missed_seen_ns;
	struct lull_loop loop;
};

/**
 * lull_channel_check(). @p company: look also at who else uses the CPUs, which takes up to 50 ms
 * for each and finds nothing that is wrong.
 */
uint32_t channel_check(struct lull_channel *channel, struct lull_finding *lines, uint32_t count_max,
		       bool company);

static inline void
channel_lock(struct lull_channel *channel)
{
	if (pthread_mutex_trylock(&channel->lock) == 0)
		return;
	atomic_fetch_add_explicit(&channel->callers, 1, memory_order_relaxed);
	pthread_mutex_lock(&channel->lock);
	atomic_fetch_sub_explicit(&channel->callers, 1, memory_order_relaxed);
}

static inline void
channel_unlock(struct lull_channel *channel)
{
	pthread_mutex_unlock(&channel->lock);
}

/** End a rest. Any thread, with the lock or without. */
static inline void
channel_kick(struct lull_channel *channel)
{
	const uint64_t one = 1;

	(void)!write(channel->kick_fd, &one, sizeof(one));
}

#endif
