/* SPDX-License-Identifier: BSD-3-Clause */
#include "resend.h"

#include <lull/base.h>

/* A camera that is slower than this, of timeouts at first, is as good as silent. */
#define TIMEOUTS_MAX 16
#define TRIES_MAX 16

void
lull_resend_init(struct lull_resend *resend, const struct lull_resend_config *config)
{
	struct lull_resend_config *own = &resend->config;

	*resend = (struct lull_resend){ .config = *config, .due_ns = UINT64_MAX };
	own->wait_ns = own->wait_ns != 0 ? own->wait_ns : LULL_NS_PER_MS;
	own->timeout_ns = own->timeout_ns != 0 ? own->timeout_ns : 10 * LULL_NS_PER_MS;
	own->timeout_ns_min = own->timeout_ns_min != 0 ? own->timeout_ns_min : 4 * LULL_NS_PER_MS;
	own->timeout_ns_min = LULL_MIN(own->timeout_ns_min, own->timeout_ns);
	resend->timeout_ns = own->timeout_ns;
	own->gap_ns = own->gap_ns != 0 ? own->gap_ns : 20 * LULL_NS_PER_US;
	own->tries = own->tries != 0 ? LULL_MIN(own->tries, TRIES_MAX) : 3;
	own->budget_ppm = own->budget_ppm != 0 ? own->budget_ppm : 250000;
	own->budget_pkts = LULL_MAX(own->budget_pkts, 1);
}

static struct lull_resend_frame *
frame_find(struct lull_resend *resend, uint64_t key)
{
	for (uint32_t i = 0; i < LULL_RESEND_FRAMES; i++)
		if (resend->frames[i].used && resend->frames[i].key == key)
			return &resend->frames[i];
	return NULL;
}

static struct lull_resend_frame *
frame_of(struct lull_resend *resend, uint64_t key)
{
	struct lull_resend_frame *frame = frame_find(resend, key);

	if (frame != NULL)
		return frame;
	frame = &resend->frames[resend->next];
	resend->next = (resend->next + 1) % LULL_RESEND_FRAMES;
	frame->used = true;
	frame->key = key;
	frame->asked = 0;
	frame->count = 0;
	return frame;
}

/*
 * What is known of @p first, and in @p last how far that goes: an entry, or NULL and the packets up
 * to the next entry.
 */
static struct lull_resend_entry *
entry_of(struct lull_resend_frame *frame, uint32_t first, uint32_t *last)
{
	for (uint32_t i = 0; i < frame->count; i++) {
		struct lull_resend_entry *entry = &frame->entries[i];

		if (entry->range.first <= first && first <= entry->range.last) {
			*last = LULL_MIN(*last, entry->range.last);
			return entry;
		}
		if (entry->range.first > first && entry->range.first <= *last)
			*last = entry->range.first - 1;
	}
	return NULL;
}

static struct lull_resend_entry *
add_entry(struct lull_resend_frame *frame, uint32_t first, uint32_t last, uint64_t due_ns)
{
	struct lull_resend_entry *entry;

	if (frame->count == LULL_RESEND_RANGES)
		return NULL;
	entry = &frame->entries[frame->count++];
	*entry = (struct lull_resend_entry){
		.range = { .first = first, .last = last },
		.due_ns = due_ns,
	};
	return entry;
}

static bool
entry_is_missing(const struct lull_resend_entry *entry, const struct lull_resend_range *holes,
		 uint32_t count)
{
	/* so many need not be all: there may be holes above them */
	if (count >= LULL_RESEND_RANGES && entry->range.last > holes[count - 1].last)
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (entry->range.first <= holes[i].last && holes[i].first <= entry->range.last)
			return true;
	return false;
}

/* Room for new entries: what has come is not waited for any more. */
static void
forget_answered(struct lull_resend_frame *frame, const struct lull_resend_range *holes,
		uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < frame->count; i++)
		if (entry_is_missing(&frame->entries[i], holes, count))
			frame->entries[kept++] = frame->entries[i];
	frame->count = kept;
}

/* How many more packets of the frame may be asked for. */
static uint64_t
budget_left(const struct lull_resend *resend, const struct lull_resend_frame *frame,
	    uint32_t packets)
{
	uint64_t budget = (uint64_t)packets * resend->config.budget_ppm / LULL_PPM;

	budget = LULL_MAX(budget, resend->config.budget_pkts);
	return budget > frame->asked ? budget - frame->asked : 0;
}

struct request {
	struct lull_resend_range range;
	bool any;
	uint64_t left; /* packets that may be asked for */
};

/* A part of a hole that is due: it begins the request, or makes it longer. */
static void
extend(struct request *request, struct lull_resend_entry *entry, uint32_t first, uint32_t last,
       uint64_t now_ns, uint64_t again_ns)
{
	uint64_t count = (uint64_t)last - first + 1;

	if (request->any && request->range.last + 1ULL != first)
		return; /* it is for the next request */
	if (count > request->left)
		last = first + (uint32_t)request->left - 1;
	if (!request->any)
		request->range.first = first;
	request->range.last = last;
	request->any = true;
	request->left -= LULL_MIN(count, request->left);
	entry->tries++;
	entry->asked_ns = now_ns;
	entry->due_ns = again_ns;
}

/* Only @p first to @p last of an entry are missing still; what is behind them has its own entry. */
static void
cut_entry(struct lull_resend_frame *frame, struct lull_resend_entry *entry, uint32_t first,
	  uint32_t last)
{
	struct lull_resend_entry *rest;

	entry->range.first = first;
	if (entry->range.last == last)
		return;
	rest = add_entry(frame, last + 1, entry->range.last, entry->due_ns);
	if (rest != NULL) {
		rest->tries = entry->tries;
		rest->asked_ns = entry->asked_ns;
		entry->range.last = last;
	}
}

static void
walk_hole(struct lull_resend *resend, struct lull_resend_frame *frame, uint64_t now_ns,
	  struct lull_resend_range hole, struct request *request)
{
	uint64_t first = hole.first;

	while (first <= hole.last) {
		uint32_t last = hole.last;
		struct lull_resend_entry *entry = entry_of(frame, (uint32_t)first, &last);

		if (entry == NULL)
			entry = add_entry(frame, (uint32_t)first, last,
					  now_ns + resend->config.wait_ns);
		else
			cut_entry(frame, entry, (uint32_t)first, last);
		if (entry != NULL && entry->tries < resend->config.tries) {
			if (entry->due_ns <= now_ns && now_ns >= resend->next_ns) {
				if (request->left == 0)
					resend->exhausted++;
				else
					extend(request, entry, (uint32_t)first, last, now_ns,
					       now_ns + (resend->timeout_ns << entry->tries));
			}
			if (request->left != 0)
				resend->due_ns = LULL_MIN(resend->due_ns, entry->due_ns);
		}
		first = (uint64_t)last + 1;
	}
}

bool
lull_resend_next(struct lull_resend *resend, uint64_t now_ns, uint64_t key, uint32_t packets,
		 const struct lull_resend_range *holes, uint32_t count,
		 struct lull_resend_range *ask)
{
	struct lull_resend_frame *frame = frame_of(resend, key);
	struct request request = { .left = budget_left(resend, frame, packets) };
	uint64_t asked;

	resend->due_ns = UINT64_MAX;
	if (frame->count == LULL_RESEND_RANGES)
		forget_answered(frame, holes, count);
	for (uint32_t i = 0; i < count; i++)
		if (holes[i].first <= holes[i].last)
			walk_hole(resend, frame, now_ns, holes[i], &request);
	if (request.any) {
		asked = (uint64_t)request.range.last - request.range.first + 1;
		frame->asked += asked;
		resend->packets += asked;
		resend->requests++;
		resend->next_ns = now_ns + resend->config.gap_ns;
		*ask = request.range;
	}
	if (resend->due_ns != UINT64_MAX)
		resend->due_ns = LULL_MAX(resend->due_ns, resend->next_ns);
	return request.any;
}

void
lull_resend_answered(struct lull_resend *resend, uint64_t now_ns, uint64_t key, uint32_t packet)
{
	const struct lull_resend_frame *frame = frame_find(resend, key);
	const struct lull_resend_entry *entry = NULL;
	uint64_t took_ns, off_ns;

	for (uint32_t i = 0; frame != NULL && entry == NULL && i < frame->count; i++)
		if (frame->entries[i].range.first <= packet &&
		    packet <= frame->entries[i].range.last)
			entry = &frame->entries[i];
	if (entry == NULL || entry->tries != 1) /* or it is not known which request it is for */
		return;
	took_ns = now_ns - entry->asked_ns;
	if (resend->answer_ns == 0) {
		resend->answer_ns = LULL_MAX(took_ns, 1);
		resend->deviation_ns = took_ns / 2;
	}
	off_ns = took_ns > resend->answer_ns ? took_ns - resend->answer_ns :
					       resend->answer_ns - took_ns;
	resend->deviation_ns = (3 * resend->deviation_ns + off_ns) / 4;
	resend->answer_ns = LULL_MAX((7 * resend->answer_ns + took_ns) / 8, 1);
	resend->timeout_ns =
		LULL_CLAMP(resend->answer_ns + 4 * resend->deviation_ns,
			   resend->config.timeout_ns_min, TIMEOUTS_MAX * resend->config.timeout_ns);
}

void
lull_resend_gone(struct lull_resend *resend, uint64_t key, uint32_t packet)
{
	struct lull_resend_frame *frame = frame_find(resend, key);
	struct lull_resend_entry *entry;
	uint32_t last = packet;

	if (frame == NULL) /* nothing was asked for */
		return;
	entry = entry_of(frame, packet, &last);
	if (entry != NULL && entry->range.first < packet) { /* it stays for what comes before */
		last = entry->range.last;
		entry->range.last = packet - 1;
		if (last > packet) {
			struct lull_resend_entry *rest =
				add_entry(frame, packet + 1, last, entry->due_ns);

			if (rest != NULL)
				rest->tries = entry->tries;
		}
		entry = NULL;
	} else if (entry != NULL && entry->range.last > packet) {
		entry->range.first = packet + 1;
		entry = NULL;
	}
	if (entry == NULL)
		entry = add_entry(frame, packet, packet, UINT64_MAX);
	if (entry != NULL && entry->tries < UINT32_MAX) {
		entry->tries = UINT32_MAX;
		resend->given_up++;
	}
}
