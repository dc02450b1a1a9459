/* SPDX-License-Identifier: BSD-3-Clause */
#include "rail_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <lull/rest.h>

#include "attach.h"
#include "host/error.h"
#include "ring.h"

#define MEMORY_LOOK_NS (10 * LULL_NS_PER_MS)
#define MEMORY_RETRY_NS (20 * LULL_NS_PER_MS)

enum memory_polls { MEMORY_POLL_RING, MEMORY_POLL_NODE, MEMORY_POLL_RETRY, MEMORY_POLLS };

_Static_assert(MEMORY_POLLS <= CHANNEL_WATCH_MAX, "all descriptors fit");

struct memory_rail {
	char path[CHANNEL_ATTACH_PATH_SIZE];
	uint32_t number;              /* of the node's rail */
	uint32_t port;                /* ours there; 0: none yet */
	struct lull_bundle_rail rail; /* as it was at first */
	int node_fd, retry_fd;
	int fds[CHANNEL_ATTACH_FDS];
	bool up, asked; /* attached; waits for the answer */
	bool broken;    /* the other side wrote nonsense into a ring */
	bool look;      /* poll() has something of the connection */
	uint64_t look_ns;
	void *memory;
	struct channel_ring out, in;
	uint8_t *borrowed; /* what receive handed out: CHANNEL_BURST */

	/* for other threads */
	atomic_uint facts_mtu, facts_mbps, facts_up, facts_missed;
	atomic_int refused; /* why it is not attached; 0: the program is not there */
};

/* ---- attachment ---- */

static void
memory_detach(struct memory_rail *memory)
{
	for (uint32_t i = 0; i < CHANNEL_ATTACH_FDS; i++) {
		if (memory->fds[i] >= 0)
			close(memory->fds[i]);
		memory->fds[i] = -1;
	}
	if (memory->memory != NULL)
		munmap(memory->memory, channel_attach_bytes(memory->rail.packet_bytes));
	memory->memory = NULL;
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

static int
memory_take(struct memory_rail *memory, const struct channel_attach_answer *answer)
{
	const struct lull_bundle_rail *rail = &answer->rail;
	uint8_t *bytes;

	if (rail->packet_bytes < LULL_BUNDLE_PACKET_BYTES_MIN ||
	    rail->packet_bytes > CHANNEL_PACKET_BYTES || answer->port == 0 ||
	    answer->port > UINT16_MAX || rail->address.len_bytes > LULL_BUNDLE_ADDRESS_SIZE)
		return -EPROTO;
	if (!memory_same(memory, rail))
		return -ESTALE;
	bytes = channel_attach_map(memory->fds[CHANNEL_ATTACH_MEMORY],
				   channel_attach_bytes(rail->packet_bytes));
	if (bytes == NULL)
		return -EPROTO;
	memory->memory = bytes;
	memory->rail = *rail;
	memory->port = answer->port;
	channel_ring_view(&memory->out, bytes + channel_attach_ring_at(0, rail->packet_bytes),
			  rail->packet_bytes);
	channel_ring_view(&memory->in, bytes + channel_attach_ring_at(1, rail->packet_bytes),
			  rail->packet_bytes);
	memory->up = true;
	return 0;
}

/* 0: attached; -EAGAIN: not yet. */
static int
memory_answer(struct memory_rail *memory)
{
	struct channel_attach_answer answer;
	int rc = channel_attach_read(memory->node_fd, &answer, memory->fds);

	if (rc == -EAGAIN)
		return rc;
	memory->asked = false;
	if (rc == 0)
		rc = answer.error != 0 ? answer.error : memory_take(memory, &answer);
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
	struct channel_attach_facts *facts = memory->memory;

	atomic_store(&memory->facts_mtu, atomic_load(&facts->mtu_bytes));
	atomic_store(&memory->facts_mbps, atomic_load(&facts->mbps));
	atomic_store(&memory->facts_missed, atomic_load(&facts->missed_pkts));
	atomic_store(&memory->facts_up, atomic_load(&facts->up));
}

/* Is the node's program still there? Is it there again? */
static void
memory_look(struct memory_rail *memory, uint64_t now_ns)
{
	struct channel_attach_answer more;
	uint64_t times;
	int none[CHANNEL_ATTACH_FDS], rc = 0;

	memory->look = false;
	memory->look_ns = now_ns + (memory->up ? MEMORY_LOOK_NS : MEMORY_RETRY_NS);
	if (memory->up) {
		/* It has nothing more to say. */
		if (channel_attach_read(memory->node_fd, &more, none) != -EAGAIN)
			memory_detach(memory);
		else
			memory_look_facts(memory);
		return;
	}
	(void)!read(memory->retry_fd, &times, sizeof(times));
	if (!memory->asked)
		rc = memory_ask(memory);
	if (rc == 0)
		rc = memory_answer(memory);
	if (rc == 0)
		memory_look_facts(memory);
	else if (rc != -EAGAIN)
		memory_detach(memory);
	atomic_store(&memory->refused,
		     rc == -EAGAIN || rc == -ECONNREFUSED || rc == -ENOENT || rc == -ECONNRESET ?
			     0 :
			     rc);
}

/* ---- packets ---- */

static void
memory_ring(const struct memory_rail *memory, enum channel_attach_fd whom)
{
	const uint64_t one = 1;

	(void)!write(memory->fds[whom], &one, sizeof(one));
}

static uint32_t
memory_receive(void *state, struct channel_packet *packets)
{
	struct memory_rail *memory = state;
	uint64_t now_ns = lull_clock_ns(), rings;
	uint32_t count, used = 0;
	int ready;

	if (memory->broken)
		memory_detach(memory);
	if (memory->look || now_ns >= memory->look_ns)
		memory_look(memory, now_ns);
	if (!memory->up)
		return 0;
	if (channel_ring_wake(&memory->in))
		(void)!read(memory->fds[CHANNEL_ATTACH_TO_PROCESS], &rings, sizeof(rings));
	ready = channel_ring_ready(&memory->in);
	count = LULL_MIN((uint32_t)LULL_MAX(ready, 0), (uint32_t)CHANNEL_BURST);
	for (; used < count; used++) {
		struct channel_packet *packet = &packets[used];
		int length;

		*packet = (struct channel_packet){ .bytes = memory->borrowed +
							    (size_t)used * CHANNEL_PACKET_BYTES };
		length = channel_ring_take(&memory->in, used, &packet->from, packet->bytes);
		if (length < 0) {
			ready = length;
			break;
		}
		packet->len_bytes = (uint32_t)length;
	}
	if (ready < 0)
		memory_detach(memory); /* nonsense: anew */
	else if (used > 0)
		channel_ring_pop(&memory->in, used);
	return used;
}

static void
memory_release(void *state)
{
	(void)state; /* what was borrowed is written again by the next receive */
}

static uint32_t
memory_send(void *state, const struct lull_bundle_packet *packets, uint32_t count)
{
	struct memory_rail *memory = state;
	int room;

	if (!memory->up)
		return count; /* lost, as on a cable that was pulled */
	room = channel_ring_room(&memory->out);
	if (room < 0) { /* who waits in poll() sees to it */
		memory->broken = true;
		memory_ring(memory, CHANNEL_ATTACH_TO_PROCESS);
		return count;
	}
	count = LULL_MIN(count, (uint32_t)room);
	for (uint32_t i = 0; i < count; i++)
		channel_ring_put(&memory->out, i, &packets[i].to, packets[i].bytes,
				 packets[i].len_bytes);
	if (count > 0 && channel_ring_push(&memory->out, count))
		memory_ring(memory, CHANNEL_ATTACH_TO_NODE);
	return count;
}

/* ---- waiting and looking ---- */

static uint32_t
memory_watch(void *state, struct pollfd *polls)
{
	struct memory_rail *memory = state;
	int ring_fd = memory->fds[CHANNEL_ATTACH_TO_PROCESS];

	/* Packets are here already: the rest shall not begin. */
	if (memory->up && channel_ring_rest(&memory->in))
		memory_ring(memory, CHANNEL_ATTACH_TO_PROCESS);
	polls[MEMORY_POLL_RING] = (struct pollfd){ .fd = ring_fd, .events = POLLIN };
	polls[MEMORY_POLL_NODE] = (struct pollfd){ .fd = memory->node_fd, .events = POLLIN };
	polls[MEMORY_POLL_RETRY] =
		(struct pollfd){ .fd = memory->up ? -1 : memory->retry_fd, .events = POLLIN };
	return MEMORY_POLLS;
}

static void
memory_watched(void *state, const struct pollfd *polls)
{
	struct memory_rail *memory = state;
	uint64_t rings;

	if (polls == NULL)
		return;
	if (memory->up && polls[MEMORY_POLL_RING].revents != 0)
		(void)!read(memory->fds[CHANNEL_ATTACH_TO_PROCESS], &rings, sizeof(rings));
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
	};
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
	if (memory->retry_fd >= 0)
		close(memory->retry_fd);
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
	.missed = memory_missed,
	.check = memory_check,
	.close = memory_close,
};

/* ---- open ---- */

static int
memory_open(struct memory_rail *memory, const char *text, struct lull_error *error)
{
	const struct itimerspec retry = { .it_interval = { .tv_nsec = MEMORY_RETRY_NS },
					  .it_value = { .tv_nsec = MEMORY_RETRY_NS } };
	int rc;

	memory->node_fd = -1;
	for (uint32_t i = 0; i < CHANNEL_ATTACH_FDS; i++)
		memory->fds[i] = -1;
	memory->retry_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	memory->borrowed = calloc(CHANNEL_BURST, CHANNEL_PACKET_BYTES);
	if (memory->borrowed == NULL || memory->retry_fd < 0 ||
	    timerfd_settime(memory->retry_fd, 0, &retry, NULL) != 0)
		return lull_error_set(error, -ENOMEM, "no memory, or no file, for a rail");
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
	rc = memory_open(memory, rail->text, error);
	if (rc != 0) {
		memory_close(memory);
		lull_error_prefix(error, "rail %s: ", rail->text);
		return rc;
	}
	rail->way = &memory_way;
	rail->state = memory;
	rail->bundle = memory->rail;
	return 0;
}
