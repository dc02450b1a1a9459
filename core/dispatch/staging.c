/* SPDX-License-Identifier: BSD-3-Clause */
#include "staging.h"

#include <string.h>

void
lull_staging_look(struct lull_staging *staging)
{
	for (uint32_t i = 0; i < staging->worker_count; i++) {
		struct lull_dispatch_load *load = &staging->loads[i];

		staging->way->look(staging->owner, i, load);
		load->staged_pkts = staging->workers[i].count;
		load->used_pkts =
			LULL_MIN(load->used_pkts + load->staged_pkts, load->capacity_pkts);
	}
}

/* ---- rings ---- */

/* Returns what the ring has no room for. */
static uint32_t
staging_send(struct lull_staging *staging, uint32_t worker)
{
	struct lull_staged *staged = &staging->workers[worker];
	uint32_t sent = staging->way->send(staging->owner, worker, staged->pkts, staged->count);

	LULL_ASSERT(sent <= staged->count);
	staged->count -= sent;
	if (staged->count > 0) {
		memmove(staged->pkts, staged->pkts + sent, staged->count * sizeof(staged->pkts[0]));
		staging->counters.partial++;
	}
	return staged->count;
}

static void
staging_drop(struct lull_staging *staging, void **pkts, uint32_t count)
{
	if (count > 0)
		staging->way->drop(staging->owner, pkts, count);
}

/* The last ones that a worker was given are lost. */
static void
staging_drop_last(struct lull_staging *staging, uint16_t worker, uint32_t count)
{
	struct lull_staged *staged = &staging->workers[worker];

	if (count == 0)
		return;
	lull_dispatch_dropped(staging->dispatch, worker, count);
	staged->count -= count;
	staging_drop(staging, staged->pkts + staged->count, count);
}

/* ---- second chance ---- */

/* What is decided anew. */
struct staging_refusal {
	void *pkts[LULL_DISPATCH_BURST_MAX], *dropped[LULL_DISPATCH_BURST_MAX];
	struct lull_dispatch_mark marks[LULL_DISPATCH_BURST_MAX];
	uint32_t digests[LULL_DISPATCH_BURST_MAX];
	uint16_t workers[LULL_DISPATCH_BURST_MAX];
};

/* To its second worker. @return false: there is none */
static bool
staging_give(struct lull_staging *staging, uint16_t from, uint16_t to, void *pkt,
	     const struct lull_dispatch_mark *mark, uint64_t now_ns)
{
	if (to == from)
		return false;
	if (staging->workers[to].count == LULL_STAGING_PKTS) {
		lull_dispatch_dropped(staging->dispatch, to, 1);
		return false;
	}
	staging->way->changed(staging->owner, pkt, mark);
	lull_staging_add(staging, to, pkt, now_ns);
	staging->workers[to].given++;
	staging->loads[to].used_pkts++;
	staging->counters.retried++;
	return true;
}

/* What @p from refused goes to others that have room, or is dropped. */
static void
staging_refused(struct lull_staging *staging, uint16_t from, uint64_t now_ns)
{
	struct lull_staged *staged = &staging->workers[from];
	struct staging_refusal refusal;
	uint32_t count, dropped = 0;

	/* More than the dispatcher takes back at once. */
	staging_drop_last(staging, from,
			  staged->count - LULL_MIN(staged->count, LULL_DISPATCH_BURST_MAX));
	count = staged->count;
	memcpy(refusal.pkts, staged->pkts, count * sizeof(refusal.pkts[0]));
	staged->count = 0;
	for (uint32_t i = 0; i < count; i++)
		refusal.digests[i] = staging->way->decided(refusal.pkts[i], &refusal.marks[i]);
	lull_dispatch_refused(staging->dispatch, now_ns, from, staging->loads, refusal.digests,
			      count, refusal.workers, staging->marks ? refusal.marks : NULL);
	for (uint32_t i = 0; i < count; i++) {
		if (!staging_give(staging, from, refusal.workers[i], refusal.pkts[i],
				  staging->marks ? &refusal.marks[i] : NULL, now_ns))
			refusal.dropped[dropped++] = refusal.pkts[i];
	}
	staging_drop(staging, refusal.dropped, dropped);
}

/* Send what others refused; what finds no room here either is dropped. */
static void
staging_send_given(struct lull_staging *staging, uint16_t worker)
{
	struct lull_staged *staged = &staging->workers[worker];
	uint32_t left = staging_send(staging, worker);
	uint32_t dropped = LULL_MIN(left, staged->given);

	staged->given = 0;
	staging_drop_last(staging, worker, dropped);
}

static void
staging_retry(struct lull_staging *staging, uint64_t clock_ns, uint32_t full)
{
	lull_staging_look(staging);
	/* Nobody is given what would then stand behind packets that were refused themselves. */
	for (uint16_t i = 0; i < staging->worker_count; i++) {
		if ((full >> i & 1) != 0)
			staging->loads[i].used_pkts = staging->loads[i].capacity_pkts;
	}
	for (uint16_t i = 0; i < staging->worker_count; i++) {
		if ((full >> i & 1) != 0)
			staging_refused(staging, i, clock_ns);
	}
	for (uint16_t i = 0; i < staging->worker_count; i++) {
		if (staging->workers[i].given > 0)
			staging_send_given(staging, i);
	}
}

/* ---- flush ---- */

void
lull_staging_flush(struct lull_staging *staging, uint64_t now_ns, uint64_t clock_ns, bool all)
{
	uint32_t full = 0;

	for (uint32_t i = 0; i < staging->worker_count; i++) {
		const struct lull_staged *staged = &staging->workers[i];
		bool late =
			all || staging->blocked || now_ns >= staged->since_ns + staging->flush_ns;

		if (staged->count == 0 || (staged->count < staging->flush_pkts && !late))
			continue;
		if (staged->count >= staging->flush_pkts)
			staging->counters.flushes_size++;
		else
			staging->counters.flushes_deadline++;
		if (staging_send(staging, i) > 0)
			full |= 1u << i;
	}
	staging->blocked = full != 0 && staging->wait;
	if (full != 0 && !staging->wait)
		staging_retry(staging, clock_ns, full);
}

uint64_t
lull_staging_deadline_ns(const struct lull_staging *staging)
{
	uint64_t since_ns = UINT64_MAX;

	for (uint32_t i = 0; i < staging->worker_count; i++) {
		if (staging->workers[i].count > 0)
			since_ns = LULL_MIN(since_ns, staging->workers[i].since_ns);
	}
	return since_ns == UINT64_MAX ? 0 : since_ns + staging->flush_ns;
}
