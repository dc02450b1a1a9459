/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resequence: put the packets of each bucket back in order, within a window and a delay.
 *
 * What waits stands in one pool for all buckets. Each bucket has a heap of its own by number
 * (pairing heap of Fredman, Sedgewick, Sleator and Tarjan: adding is O(1), taking the smallest
 * O(log n) amortized), since several workers finish in any order, and all share one list by age,
 * since all may wait equally long. A packet that comes in order touches its bucket alone.
 *
 * Numbers are given up only before a packet that may wait no longer: the oldest, when its delay is
 * over or the window is full. What may leave with it then leaves in order of its numbers.
 */
#include <assert.h>
#include <errno.h>
#include <stdalign.h>
#include <string.h>

#include <lull/dispatch.h>

#include "base/assert.h"
#include "base/range.h"

#define DEFAULT_BUCKET_BITS 16
#define DEFAULT_WINDOW_PKTS 4096
#define DEFAULT_DELAY_NS (2 * LULL_NS_PER_MS)
#define NOBODY UINT32_MAX

struct bucket {
	uint32_t next; /* number expected */
	uint32_t root; /* slot with the smallest number, or NOBODY */
};

struct slot {
	void *handle;
	uint64_t since_ns;
	uint32_t seq, bucket;
	uint32_t child, sibling; /* heap; sibling also links free slots */
	uint32_t older, younger; /* list by age */
};
static_assert(sizeof(struct slot) == 40, "a held packet takes 40 bytes");

struct lull_resequence {
	alignas(LULL_CACHE_LINE) struct lull_resequence_counters counters;
	uint64_t delay_ns;
	struct bucket *buckets;
	struct slot *slots; /* one more than the window: the packet that overflows it */
	uint32_t bucket_count, window_pkts;
	uint32_t held_pkts;
	uint32_t free;
	uint32_t oldest, youngest;
};

const struct lull_counter_info lull_resequence_counter_table[] = {
#define ROW(member, help_text)                                                                     \
	LULL_COUNTER_ROW(struct lull_resequence_counters, member, "packets", help_text)
	ROW(pkts, "packets to be put in order"),
	ROW(held, "packets that had to wait for an earlier packet"),
	ROW(missing, "missing numbers: packets lost before, or later than delay or window allow"),
	ROW(late, "packets that came after their number was given up: reordered at the output"),
	ROW(overflows, "packets that found the window full"),
#undef ROW
	{ .name = NULL },
};

static struct lull_resequence_config
config_full(const struct lull_resequence_config *config)
{
	struct lull_resequence_config full = *config;

	if (full.bucket_bits == 0)
		full.bucket_bits = DEFAULT_BUCKET_BITS;
	if (full.window_pkts == 0)
		full.window_pkts = DEFAULT_WINDOW_PKTS;
	if (full.delay_ns == 0)
		full.delay_ns = DEFAULT_DELAY_NS;
	return full;
}

int
lull_resequence_config_check(const struct lull_resequence_config *config, struct lull_range *error)
{
	const struct lull_resequence_config full = config_full(config);
	const struct lull_range ranges[] = {
		{ "bucket_bits", full.bucket_bits, 8, 22 },
		{ "window_pkts", full.window_pkts, 1, 65536 },
		{ "delay_ns", full.delay_ns, LULL_NS_PER_US, LULL_NS_PER_S },
	};

	return LULL_RANGES_CHECK(ranges, error);
}

static size_t
slots_offset(const struct lull_resequence_config *full)
{
	/* At least 256 buckets: a whole number of cache lines. */
	return sizeof(struct lull_resequence) +
	       ((size_t)1 << full->bucket_bits) * sizeof(struct bucket);
}

size_t
lull_resequence_size(const struct lull_resequence_config *config)
{
	struct lull_resequence_config full = config_full(config);
	size_t size = slots_offset(&full) + ((size_t)full.window_pkts + 1) * sizeof(struct slot);

	return (size + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE;
}

int
lull_resequence_init(void *memory, const struct lull_resequence_config *config,
		     struct lull_resequence **out)
{
	struct lull_resequence *resequence = memory;
	struct lull_resequence_config full;

	if (memory == NULL || (uintptr_t)memory % LULL_CACHE_LINE != 0 ||
	    lull_resequence_config_check(config, NULL) != 0)
		return -EINVAL;
	full = config_full(config);
	memset(resequence, 0, sizeof(*resequence));
	resequence->delay_ns = full.delay_ns;
	resequence->buckets = (struct bucket *)(resequence + 1);
	resequence->slots = (struct slot *)(void *)((uint8_t *)memory + slots_offset(&full));
	resequence->bucket_count = 1u << full.bucket_bits;
	resequence->window_pkts = full.window_pkts;
	resequence->oldest = resequence->youngest = NOBODY;
	for (uint32_t i = 0; i < resequence->bucket_count; i++)
		resequence->buckets[i] = (struct bucket){ .next = 0, .root = NOBODY };
	for (uint32_t i = 0; i <= full.window_pkts; i++)
		resequence->slots[i].sibling = i < full.window_pkts ? i + 1 : NOBODY;
	*out = resequence;
	return 0;
}

/* ---- heap of a bucket ---- */

/* All that waits in a bucket is ahead of its next by less than half the numbers. */
static inline bool
seq_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* Two heaps, neither NOBODY, become one; of equal numbers @p a stays above. */
static uint32_t
heap_join(struct slot *slots, uint32_t a, uint32_t b)
{
	if (seq_before(slots[b].seq, slots[a].seq)) {
		uint32_t swap = a;

		a = b;
		b = swap;
	}
	slots[b].sibling = slots[a].child;
	slots[a].child = b;
	return a;
}

/* Join siblings in pairs from the front, then the pairs from the back. */
static uint32_t
heap_join_siblings(struct slot *slots, uint32_t first)
{
	uint32_t pairs = NOBODY, root;

	while (first != NOBODY) {
		uint32_t pair = first, second = slots[first].sibling;

		first = NOBODY;
		if (second != NOBODY) {
			first = slots[second].sibling;
			pair = heap_join(slots, pair, second);
		}
		slots[pair].sibling = pairs;
		pairs = pair;
	}
	root = pairs;
	if (root == NOBODY)
		return NOBODY;
	pairs = slots[root].sibling;
	while (pairs != NOBODY) {
		uint32_t next = slots[pairs].sibling;

		root = heap_join(slots, root, pairs);
		pairs = next;
	}
	slots[root].sibling = NOBODY;
	return root;
}

/* ---- what waits ---- */

static void
hold(struct lull_resequence *resequence, uint64_t now_ns, uint32_t bucket_index, uint32_t seq,
     void *handle)
{
	struct bucket *bucket = &resequence->buckets[bucket_index];
	struct slot *slots = resequence->slots;
	uint32_t index = resequence->free;

	LULL_ASSERT_HOT(index != NOBODY);
	resequence->free = slots[index].sibling;
	slots[index] = (struct slot){
		.handle = handle,
		.since_ns = now_ns,
		.seq = seq,
		.bucket = bucket_index,
		.child = NOBODY,
		.sibling = NOBODY,
		.older = resequence->youngest,
		.younger = NOBODY,
	};
	if (resequence->youngest == NOBODY)
		resequence->oldest = index;
	else
		slots[resequence->youngest].younger = index;
	resequence->youngest = index;
	bucket->root = bucket->root == NOBODY ? index : heap_join(slots, bucket->root, index);
	resequence->held_pkts++;
}

/* Take the smallest of the bucket out of heap and list. */
static void *
release_root(struct lull_resequence *resequence, struct bucket *bucket)
{
	struct slot *slots = resequence->slots;
	uint32_t index = bucket->root;
	struct slot *slot = &slots[index];

	bucket->root = heap_join_siblings(slots, slot->child);
	if (slot->older == NOBODY)
		resequence->oldest = slot->younger;
	else
		slots[slot->older].younger = slot->younger;
	if (slot->younger == NOBODY)
		resequence->youngest = slot->older;
	else
		slots[slot->younger].older = slot->older;
	slot->sibling = resequence->free;
	resequence->free = index;
	resequence->held_pkts--;
	return slot->handle;
}

/* Give what follows without a gap; a number that comes twice leaves beside its like. */
static uint32_t
release_next(struct lull_resequence *resequence, struct bucket *bucket, void **out)
{
	uint32_t count = 0;

	while (bucket->root != NOBODY) {
		uint32_t seq = resequence->slots[bucket->root].seq;

		if (seq_before(bucket->next, seq))
			break;
		out[count++] = release_root(resequence, bucket);
		if (seq == bucket->next)
			bucket->next++;
		else
			LULL_COUNTER_ADD(resequence->counters.late, 1);
	}
	return count;
}

/* Give up every number that the oldest packet waits for. */
static uint32_t
release_oldest(struct lull_resequence *resequence, void **out)
{
	const struct slot *oldest = &resequence->slots[resequence->oldest];
	struct bucket *bucket = &resequence->buckets[oldest->bucket];
	uint32_t last = oldest->seq, count = 0;

	while (!seq_before(last, bucket->next)) {
		uint32_t seq = resequence->slots[bucket->root].seq;

		LULL_COUNTER_ADD(resequence->counters.missing, seq - bucket->next);
		bucket->next = seq;
		count += release_next(resequence, bucket, out + count);
	}
	return count;
}

/* ---- calls ---- */

uint32_t
lull_resequence_add(struct lull_resequence *resequence, uint64_t now_ns, uint32_t bucket_index,
		    uint32_t seq, void *handle, void **out)
{
	struct bucket *bucket = &resequence->buckets[bucket_index];

	LULL_ASSERT_HOT(bucket_index < resequence->bucket_count && handle != NULL);
	LULL_COUNTER_ADD(resequence->counters.pkts, 1);
	if (seq == bucket->next) {
		bucket->next++;
		out[0] = handle;
		return 1 + (bucket->root == NOBODY ? 0 : release_next(resequence, bucket, out + 1));
	}
	if (seq_before(seq, bucket->next)) {
		LULL_COUNTER_ADD(resequence->counters.late, 1);
		out[0] = handle;
		return 1;
	}
	LULL_COUNTER_ADD(resequence->counters.held, 1);
	hold(resequence, now_ns, bucket_index, seq, handle);
	if (resequence->held_pkts <= resequence->window_pkts)
		return 0;
	LULL_COUNTER_ADD(resequence->counters.overflows, 1);
	return release_oldest(resequence, out);
}

uint32_t
lull_resequence_expire(struct lull_resequence *resequence, uint64_t now_ns, void **out)
{
	uint32_t count = 0;

	while (now_ns >= lull_resequence_deadline_ns(resequence) && resequence->held_pkts > 0)
		count += release_oldest(resequence, out + count);
	return count;
}

uint64_t
lull_resequence_deadline_ns(const struct lull_resequence *resequence)
{
	if (resequence->oldest == NOBODY)
		return UINT64_MAX;
	return resequence->slots[resequence->oldest].since_ns + resequence->delay_ns;
}

const struct lull_resequence_counters *
lull_resequence_counters(const struct lull_resequence *resequence)
{
	return &resequence->counters;
}
