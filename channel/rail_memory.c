/* SPDX-License-Identifier: BSD-3-Clause */
#include "rail_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <lull/rest.h>

#include "host/error.h"
#include "neighbour.h"

#define MEMORY_LOOK_NS (10 * LULL_NS_PER_MS)
#define MEMORY_LOOK_BUSY_NS LULL_NS_PER_MS /* where no poll() says that there is something */
#define MEMORY_RETRY_NS (20 * LULL_NS_PER_MS)
#define MEMORY_PASSES 16u /* of receive, from one look at the clock to the next */

enum memory_polls {
	MEMORY_POLL_BELL,
	MEMORY_POLL_NODE,
	MEMORY_POLL_RETRY,
	MEMORY_POLL_NEIGHBOURS,
	MEMORY_POLLS
};

_Static_assert(MEMORY_POLLS <= CHANNEL_WATCH_MAX, "all descriptors fit");

struct memory_rail {
	char path[CHANNEL_ATTACH_PATH_SIZE];
	uint32_t number;              /* of the node's rail */
	uint32_t port;                /* ours there; 0: none yet */
	struct lull_bundle_rail rail; /* as it was at first */
	bool busy;                    /* polled: nobody waits for it in poll() */
	int node_fd, retry_fd;
	int ready_fd;   /* is readable at all times */
	bool up, asked; /* attached; waits for the answer */
	bool broken;    /* the node's program wrote nonsense into its ring, or hung up */
	bool look;      /* there may be something on the connection */
	uint32_t passes, turn;
	uint64_t look_ns;
	struct channel_lane lane; /* to the node's program */
	struct channel_neighbours neighbours;
	uint32_t stride;   /* from packet to packet */
	uint8_t *borrowed; /* what receive handed out: CHANNEL_BURST */

	/* for other threads */
	atomic_uint facts_mtu, facts_mbps, facts_up, facts_missed;
	atomic_int refused; /* why it is not attached; 0: the program is not there */
	uint64_t sent_pkts;
};

/* ---- attachment ---- */

static void
memory_detach(struct memory_rail *memory)
{
	channel_lane_close(&memory->lane);
	if (memory->node_fd >= 0)
		close(memory->node_fd);
	memory->node_fd = -1;
	memory->up = memory->asked = memory->broken = false;
	atomic_store(&memory->facts_up, 0);
}

/* It may carry other rails now: those are not what peers know. */
static bool
memory_same(const struct memory_rail *memory, const struct lull_bundle_rail *rail)
{
	return memory->port == 0 || (rail->kind == memory->rail.kind &&
				     rail->packet_bytes == memory->rail.packet_bytes &&
				     rail->address.len_bytes == memory->rail.address.len_bytes &&
				     memcmp(rail->address.bytes, memory->rail.address.bytes,
					    rail->address.len_bytes) == 0);
}

/* The descriptors of the answer are the lane's, or closed. */
static int
memory_take(struct memory_rail *memory, const struct channel_attach_answer *answer,
	    const int fds[CHANNEL_LANE_FDS])
{
	const struct lull_bundle_rail *rail = &answer->rail;
	int rc = 0;

	if (rail->packet_bytes < LULL_BUNDLE_PACKET_BYTES_MIN ||
	    rail->packet_bytes > CHANNEL_PACKET_BYTES || answer->port == 0 ||
	    answer->port > UINT16_MAX || rail->address.len_bytes < sizeof(uint16_t) ||
	    rail->address.len_bytes > LULL_BUNDLE_ADDRESS_SIZE)
		rc = -EPROTO;
	else if (!memory_same(memory, rail))
		rc = -ESTALE;
	for (uint32_t i = 0; rc != 0 && i < CHANNEL_LANE_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (rc == 0)
		rc = channel_lane_open(&memory->lane, fds, CHANNEL_ATTACH_PROCESS,
				       rail->packet_bytes);
	if (rc != 0)
		return rc;
	memory->rail = *rail;
	memory->stride =
		(rail->packet_bytes + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE;
	memory->port = answer->port;
	memory->up = true;
	return 0;
}

/* 0: attached; -EAGAIN: not yet. */
static int
memory_answer(struct memory_rail *memory)
{
	struct channel_attach_answer answer;
	int fds[CHANNEL_LANE_FDS], rc = channel_attach_read(memory->node_fd, &answer, fds);

	if (rc == -EAGAIN)
		return rc;
	memory->asked = false;
	if (rc == 0)
		rc = answer.error != 0 ? answer.error : memory_take(memory, &answer, fds);
	return rc;
}

static int
memory_ask(struct memory_rail *memory)
{
	int rc = channel_attach_connect(memory->path);

	if (rc < 0)
		return rc;
	memory->node_fd = rc;
	memory->asked = true;
	return channel_attach_ask(memory->node_fd, memory->number, memory->port);
}

static void
memory_look_facts(struct memory_rail *memory)
{
	struct channel_lane_shared *facts = memory->lane.shared;

	atomic_store(&memory->facts_mtu, atomic_load(&facts->mtu_bytes));
	atomic_store(&memory->facts_mbps, atomic_load(&facts->mbps));
	atomic_store(&memory->facts_missed, channel_lane_missed(&memory->lane) +
						    channel_neighbours_missed(&memory->neighbours));
	atomic_store(&memory->facts_up, atomic_load(&facts->up));
}

/* Is the node's program still there? It tells whom we meet, and nothing else. */
static void
memory_look_up(struct memory_rail *memory)
{
	struct channel_attach_meeting meeting;
	int fds[CHANNEL_LANE_FDS], rc;

	for (uint32_t i = 0; i < CHANNEL_NEIGHBOURS_MAX; i++) {
		rc = channel_attach_meeting_read(memory->node_fd, &meeting, fds);
		if (rc == 0)
			channel_neighbours_meet(&memory->neighbours, &memory->rail, &meeting, fds);
		else if (rc != -EMFILE)
			break;
	}
	if (rc == 0 || rc == -EMFILE || rc == -EAGAIN)
		memory_look_facts(memory);
	else
		memory_detach(memory);
}

/* Is it there again? */
static void
memory_look_down(struct memory_rail *memory)
{
	uint64_t times;
	int rc = 0;

	(void)!read(memory->retry_fd, &times, sizeof(times));
	if (!memory->asked)
		rc = memory_ask(memory);
	if (rc == 0)
		rc = memory_answer(memory);
	if (rc == 0)
		memory_look_facts(memory);
	else if (rc != -EAGAIN)
		memory_detach(memory);
	if (rc == -EAGAIN || rc == -ECONNREFUSED || rc == -ENOENT || rc == -ECONNRESET)
		rc = 0;
	if (rc != 0) /* others may have our port */
		channel_neighbours_clear(&memory->neighbours);
	atomic_store(&memory->refused, rc);
}

static void
memory_look(struct memory_rail *memory)
{
	uint64_t now_ns;

	if (!memory->look && memory->passes++ % MEMORY_PASSES != 0)
		return;
	now_ns = lull_clock_ns();
	if (!memory->look && now_ns < memory->look_ns)
		return;
	memory->look = false;
	channel_neighbours_hear(&memory->neighbours);
	if (memory->up)
		memory_look_up(memory);
	else
		memory_look_down(memory);
	memory->look_ns = now_ns + (!memory->up  ? MEMORY_RETRY_NS :
				    memory->busy ? MEMORY_LOOK_BUSY_NS :
						   MEMORY_LOOK_NS);
}

/* ---- packets ---- */

static uint32_t
memory_from_node(struct memory_rail *memory, struct channel_packet *packets, uint8_t *bytes,
		 uint32_t count)
{
	int taken = memory->up ? channel_lane_take(&memory->lane, packets, bytes, memory->stride,
						   count) :
				 0;

	if (taken < 0)
		memory_detach(memory); /* nonsense: anew */
	return (uint32_t)LULL_MAX(taken, 0);
}

/* The node's program and the neighbours are asked first in turn. */
static uint32_t
memory_receive(void *state, struct channel_packet *packets)
{
	struct memory_rail *memory = state;
	uint32_t used = 0;

	if (memory->broken)
		memory_detach(memory);
	memory_look(memory);
	if (memory->up && channel_lane_wake(&memory->lane) != 0)
		memory_detach(memory);
	channel_neighbours_wake(&memory->neighbours);
	if (memory->turn++ % 2 != 0)
		used = memory_from_node(memory, packets, memory->borrowed, CHANNEL_BURST);
	used += channel_neighbours_take(&memory->neighbours, &packets[used],
					memory->borrowed + (size_t)used * memory->stride,
					memory->stride, CHANNEL_BURST - used);
	if (memory->turn % 2 != 0)
		used += memory_from_node(memory, &packets[used],
					 memory->borrowed + (size_t)used * memory->stride,
					 CHANNEL_BURST - used);
	return used;
}

static void
memory_release(void *state)
{
	(void)state; /* what was borrowed is written again by the next receive */
}

/* False: there is no room. */
static bool
memory_to_node(struct memory_rail *memory, const struct lull_bundle_packet *packet)
{
	int rc;

	if (!memory->up || memory->broken)
		return true; /* lost, as on a cable that was pulled */
	rc = channel_lane_put(&memory->lane, &packet->to, packet->bytes, packet->len_bytes);
	if (rc == -EPROTO) { /* who waits in poll() hears of it, and sees to it */
		memory->broken = true;
		channel_lane_hang_up(&memory->lane);
	}
	return rc != -ENOSPC;
}

static uint32_t
memory_send(void *state, const struct lull_bundle_packet *packets, uint32_t count)
{
	struct memory_rail *memory = state;
	uint32_t done = 0;

	while (done < count && (channel_neighbours_put(&memory->neighbours, &packets[done]) ||
				memory_to_node(memory, &packets[done])))
		done++;
	channel_neighbours_push(&memory->neighbours);
	if (memory->up)
		channel_lane_push(&memory->lane);
	LULL_COUNTER_ADD(memory->sent_pkts, done);
	return done;
}

/* ---- waiting and looking ---- */

static uint32_t
memory_watch(void *state, struct pollfd *polls)
{
	struct memory_rail *memory = state;
	bool ready = memory->broken;

	if (memory->up)
		ready |= channel_lane_rest(&memory->lane);
	ready |= channel_neighbours_rest(&memory->neighbours);
	polls[MEMORY_POLL_BELL] = (struct pollfd){ .fd = memory->lane.bell_fd, .events = POLLIN };
	polls[MEMORY_POLL_NODE] = (struct pollfd){ .fd = memory->node_fd, .events = POLLIN };
	polls[MEMORY_POLL_RETRY] =
		(struct pollfd){ .fd = memory->up ? -1 : memory->retry_fd, .events = POLLIN };
	/* Packets are here already: the rest ends at once. */
	polls[MEMORY_POLL_NEIGHBOURS] =
		(struct pollfd){ .fd = ready ? memory->ready_fd : memory->neighbours.watch_fd,
				 .events = POLLIN };
	return MEMORY_POLLS;
}

static void
memory_watched(void *state, const struct pollfd *polls)
{
	struct memory_rail *memory = state;

	if (polls == NULL) {
		memory->passes = 0; /* the clock is read the next time */
		return;
	}
	if (memory->up && polls[MEMORY_POLL_BELL].revents != 0) {
		(void)channel_ring_wake(&memory->lane.in); /* it is heard here, and once */
		memory->broken |= channel_lane_hear(&memory->lane) != 0;
	}
	if (polls[MEMORY_POLL_NEIGHBOURS].revents != 0)
		channel_neighbours_hear(&memory->neighbours);
	memory->look |=
		polls[MEMORY_POLL_NODE].revents != 0 || polls[MEMORY_POLL_RETRY].revents != 0;
}

static void
memory_facts(void *state, struct channel_rail_facts *facts)
{
	struct memory_rail *memory = state;

	*facts = (struct channel_rail_facts){
		.mtu_bytes = atomic_load(&memory->facts_mtu),
		.mbps = atomic_load(&memory->facts_mbps),
		.up = atomic_load(&memory->facts_up) != 0,
		.neighbours = (uint32_t)LULL_COUNTER_READ(memory->neighbours.count_now),
		.direct_rx_pkts = LULL_COUNTER_READ(memory->neighbours.rx_pkts),
		.direct_tx_pkts = LULL_COUNTER_READ(memory->neighbours.tx_pkts),
	};
}

static uint64_t
memory_sent(void *state)
{
	const struct memory_rail *memory = state;

	return LULL_COUNTER_READ(memory->sent_pkts);
}

static uint64_t
memory_missed(void *state)
{
	struct memory_rail *memory = state;

	return atomic_load(&memory->facts_missed);
}

static void
memory_check(void *state, struct lull_findings *findings)
{
	struct memory_rail *memory = state;
	int refused = atomic_load(&memory->refused);

	if (refused == 0) {
		lull_finding_add(findings, "node's program", LULL_GRADE_FINE, "%.80s, rail %u",
				 memory->path, memory->number);
		return;
	}
	lull_finding_add(findings, "node's program", LULL_GRADE_NOTE, "%.80s, rail %u: %s",
			 memory->path, memory->number,
			 refused == -ESTALE ? "it has other rails than before" :
					      strerror(-refused));
	lull_finding_remedy(findings, "start lull-channel-node with the rails it had");
}

static void
memory_close(void *state)
{
	struct memory_rail *memory = state;

	memory_detach(memory);
	channel_neighbours_close(&memory->neighbours);
	if (memory->retry_fd >= 0)
		close(memory->retry_fd);
	if (memory->ready_fd >= 0)
		close(memory->ready_fd);
	free(memory->borrowed);
	free(memory);
}

static const struct channel_way memory_way = {
	.receive = memory_receive,
	.release = memory_release,
	.send = memory_send,
	.watch = memory_watch,
	.watched = memory_watched,
	.facts = memory_facts,
	.sent = memory_sent,
	.missed = memory_missed,
	.check = memory_check,
	.close = memory_close,
};
static const struct channel_way memory_busy_way = {
	.receive = memory_receive,
	.release = memory_release,
	.send = memory_send,
	.facts = memory_facts,
	.sent = memory_sent,
	.missed = memory_missed,
	.check = memory_check,
	.close = memory_close,
};

/* ---- open ---- */

static int
memory_open_files(struct memory_rail *memory, struct lull_error *error)
{
	const struct itimerspec retry = { .it_interval = { .tv_nsec = MEMORY_RETRY_NS },
					  .it_value = { .tv_nsec = MEMORY_RETRY_NS } };

	memory->node_fd = memory->lane.bell_fd = -1;
	memory->ready_fd = eventfd(1, EFD_CLOEXEC);
	memory->retry_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	memory->borrowed = calloc(CHANNEL_BURST, CHANNEL_PACKET_BYTES + LULL_CACHE_LINE);
	if (channel_neighbours_open(&memory->neighbours) != 0 || memory->borrowed == NULL ||
	    memory->ready_fd < 0 || memory->retry_fd < 0 ||
	    timerfd_settime(memory->retry_fd, 0, &retry, NULL) != 0)
		return lull_error_set(error, -ENOMEM, "no memory, or no file, for a rail");
	return 0;
}

static int
memory_open(struct memory_rail *memory, const char *text, struct lull_error *error)
{
	int rc = memory_open_files(memory, error);

	if (rc == 0)
		rc = channel_memory_words(text, memory->path, &memory->number, error);
	if (rc != 0)
		return rc;
	rc = memory_ask(memory);
	if (rc == 0)
		rc = channel_memory_wait(memory->node_fd);
	if (rc == 0)
		rc = memory_answer(memory);
	if (rc != 0)
		return channel_memory_refused(rc, memory->path, error);
	memory_look_facts(memory);
	return 0;
}

int
channel_rail_memory_open(struct channel_rail *rail, struct lull_error *error)
{
	struct memory_rail *memory = calloc(1, sizeof(*memory));
	int rc;

	if (memory == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for a rail");
	memory->busy = strncmp(rail->text, CHANNEL_RAIL_MEMORY_BUSY,
			       strlen(CHANNEL_RAIL_MEMORY_BUSY)) == 0;
	rc = memory_open(memory, rail->text, error);
	if (rc != 0) {
		memory_close(memory);
		lull_error_prefix(error, "rail %s: ", rail->text);
		return rc;
	}
	rail->way = memory->busy ? &memory_busy_way : &memory_way;
	rail->state = memory;
	rail->bundle = memory->rail;
	return 0;
}
