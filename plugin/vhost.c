/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues of guests that the program polls through the vhost library and not as ports of ethdev, as
 * Open vSwitch does. The library has no callbacks. So the calls of rte_vhost_dequeue_burst() lead
 * through a function of ours (hook.c), and such a queue is a member of a thread's iteration like
 * any other.
 *
 * Nobody asks the library what waits in the queues of a device that is not just being polled: it
 * says so under the queue's lock, not for packed rings, and the device may be freed meanwhile.
 *
 * Where the calls cannot be led through us, no thread rests while the process has guests.
 */
#include "plugin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_vhost.h>

#define VHOST_LIBRARY "librte_vhost.so"
#define DEVICES_MAX 1024 /* of the library, by number */
#define QUEUES_MAX 64    /* pairs of a device; of further ones the plugin sees nothing */
#define ASK_NS LULL_NS_PER_S
#define LOOK_NS (100 * LULL_NS_PER_MS)

#define UNLIKELY(condition) __builtin_expect(condition, 0)

/* One for each function that takes work out of a guest's queue. */
enum vhost_call {
	VHOST_DEQUEUE,
	VHOST_DEQUEUE_DMA, /* the copies go on after it has returned */
	VHOST_CRYPTO,      /* requests, not packets */
	VHOST_CALL_COUNT
};

typedef uint16_t (*vhost_dequeue_t)(int vid, uint16_t queue_id, struct rte_mempool *pool,
				    struct rte_mbuf **pkts, uint16_t count_max);

static uint16_t vhost_dequeue(int vid, uint16_t queue_id, struct rte_mempool *pool,
			      struct rte_mbuf **pkts, uint16_t count_max);

static struct plugin_queue queues[DEVICES_MAX][QUEUES_MAX];

static struct {
	vhost_dequeue_t dequeue; /* the library's; NULL: nobody has it yet */
	int (*ring)(int vid, uint16_t index, struct rte_vhost_vring *ring);
	uint64_t objects;   /* loaded when the tables were last gone through */
	bool again;         /* the last one was perhaps still being loaded */
	const char *doubt;  /* why guests would not be seen; NULL: they are */
	const char *unseen; /* the same, and there are guests */
	uint32_t queues;    /* seen in all */
	uint64_t looked_ns; /* for the thread of guests' sockets */
	struct plugin_hook hooks[VHOST_CALL_COUNT];
} vhost = {
	.hooks = {
		[VHOST_DEQUEUE] = { .function = "rte_vhost_dequeue_burst" },
		[VHOST_DEQUEUE_DMA] = { .function = "rte_vhost_async_try_dequeue_burst" },
		[VHOST_CRYPTO] = { .function = "rte_vhost_crypto_fetch_requests" },
	},
};

/* ---- a queue ---- */

/*
 * Without in-order use or mergeable buffers a guest may take two descriptors for a packet: half of
 * the ring is there for certain. What a guest can send nobody knows. The library takes 32 packets
 * at a time, whatever was asked for, and fewer where a descriptor is bad.
 */
static void
vhost_visit(struct plugin_queue *queue, struct plugin_poller *poller, uint64_t now_ns)
{
	struct rte_vhost_vring ring = { .size = 0 };

	(void)poller;
	if (__atomic_exchange_n(&queue->known, true, __ATOMIC_ACQUIRE) &&
	    now_ns - queue->asked_ns < ASK_NS)
		return;
	queue->asked_ns = now_ns;
	queue->facts = (struct lull_ring_facts){ .count = 1, .short_leaves = true };
	if (vhost.ring != NULL && vhost.ring(queue->vid, queue->queue_id, &ring) == 0)
		queue->facts.ring_pkts = ring.size / 2u;
}

/* The guest behind this number may be another one each time. */
static struct plugin_queue *
vhost_queue(int vid, uint16_t queue_id)
{
	struct plugin_queue *queue;

	if (vid < 0 || vid >= DEVICES_MAX || queue_id / 2 >= QUEUES_MAX)
		return NULL;
	queue = &queues[vid][queue_id / 2];
	if (UNLIKELY(queue->visit == NULL)) {
		queue->vid = vid;
		queue->queue_id = queue_id;
		queue->visit = vhost_visit;
		__atomic_add_fetch(&vhost.queues, 1, __ATOMIC_RELAXED);
	}
	return queue;
}

static uint16_t
vhost_dequeue(int vid, uint16_t queue_id, struct rte_mempool *pool, struct rte_mbuf **pkts,
	      uint16_t count_max)
{
	uint16_t count = vhost.dequeue(vid, queue_id, pool, pkts, count_max);
	struct plugin_queue *queue = vhost_queue(vid, queue_id);

	if (queue == NULL) {
		lull_busy(); /* not known from one poll to the next: each counts as work */
		return count;
	}
	return plugin_seen(0, queue_id, pkts, count, count_max, queue);
}

/* ---- what is not seen ---- */

/*
 * The library runs one such thread for the sockets of guests, from the first on: vhost-events in
 * 22.11, dpdk-vhost-evt since 23.11, vduse-evt for guests of the kernel.
 */
static bool
vhost_serves(void)
{
	return plugin_thread_exists("vhost-e") || plugin_thread_exists("vduse-e");
}

const char *
plugin_vhost_unseen(void)
{
	return __atomic_load_n(&vhost.unseen, __ATOMIC_RELAXED);
}

uint32_t
plugin_vhost_queues(void)
{
	return __atomic_load_n(&vhost.queues, __ATOMIC_RELAXED);
}

/* ---- the calls ---- */

static const char *
vhost_doubt(bool led)
{
	const struct plugin_hook *hooks = vhost.hooks;

	if (!led || hooks[VHOST_DEQUEUE].places_left > 0)
		return PLUGIN_UNSEEN(
			"the program has guests, and lull cannot see calls of the vhost "
			"library here");
	if (hooks[VHOST_DEQUEUE_DMA].places_left > 0)
		return PLUGIN_UNSEEN(
			"the program may serve guests by DMA devices, through the vhost "
			"library, which lull cannot see");
	if (hooks[VHOST_CRYPTO].places_left > 0)
		return PLUGIN_UNSEEN(
			"the program may serve crypto devices of guests, through the vhost "
			"library, which lull cannot see");
	return NULL;
}

/*
 * Returns true when calls of the library can be led elsewhere. A program that shows nothing of it
 * may have it in its file all the same: then only the library's thread tells of guests.
 */
static bool
vhost_find(void)
{
	bool shared;
	void *found = plugin_hook_find(vhost.hooks[VHOST_DEQUEUE].function, VHOST_LIBRARY, &shared);
	void *ring = plugin_hook_find("rte_vhost_get_vhost_vring", VHOST_LIBRARY, &shared);

	memcpy(&vhost.ring, &ring, sizeof(ring));
	if (found == NULL || !shared) {
		vhost.doubt = PLUGIN_UNSEEN("the program has guests, and the vhost library is part "
					    "of its file, where lull cannot see its calls");
		return false;
	}
	memcpy(&vhost.dequeue, &found, sizeof(found));
	vhost.hooks[VHOST_DEQUEUE].ours = (const void *)(uintptr_t)vhost_dequeue;
	return true;
}

/* What is loaded later has tables of its own, and may be the library itself. */
void
plugin_vhost_follow(void)
{
	uint64_t objects = plugin_hook_objects();
	int rc;

	if (objects == vhost.objects && !vhost.again)
		return;
	vhost.again = objects != vhost.objects;
	vhost.objects = objects;
	if (vhost.dequeue == NULL && !vhost_find())
		return;
	rc = plugin_hooks_set(vhost.hooks, VHOST_CALL_COUNT);
	if (rc == -EAGAIN)
		vhost.again = true;
	else
		vhost.doubt = vhost_doubt(rc == 0);
}

/* A thread gets its name after it has begun: one look is not enough, whoever else comes or goes. */
void
plugin_vhost_look(uint64_t now_ns)
{
	if (vhost.doubt == NULL || plugin_vhost_unseen() != NULL ||
	    (vhost.looked_ns != 0 && now_ns - vhost.looked_ns < LOOK_NS))
		return;
	vhost.looked_ns = now_ns;
	if (!vhost_serves())
		return;
	plugin_vhost_follow(); /* its library may have come since */
	__atomic_store_n(&vhost.unseen, vhost.doubt, __ATOMIC_RELEASE);
}
