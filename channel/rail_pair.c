/* SPDX-License-Identifier: BSD-3-Clause */
#include "rail_pair.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "host/error.h"

#define PAIR_NAMES_MAX 64
#define PAIR_NAME_SIZE 32
#define PAIR_PKTS 512u /* a power of two */
#define PAIR_BYTES 1500u

struct pair_slot {
	uint32_t len_bytes;
	uint8_t bytes[PAIR_BYTES];
};

/* An end: what was sent to it, and who reads it. */
struct pair_end {
	struct pair *pair;
	pthread_mutex_t lock;
	int event_fd; /* readable while packets wait */
	bool open;
	uint32_t head, tail; /* written, read */
	uint64_t missed_pkts;
	uint64_t sent_pkts; /* from here: under the lock of the other end */
	struct pair_slot *slots;
	struct pair_slot *borrowed; /* what receive handed out: CHANNEL_BURST */
};

struct pair {
	char name[PAIR_NAME_SIZE];
	uint32_t users;
	struct pair_end ends[2];
};

static pthread_mutex_t pair_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pair *pairs[PAIR_NAMES_MAX];

_Static_assert(CHANNEL_KIND_PAIR + PAIR_NAMES_MAX <= UINT8_MAX, "a kind for each name");

/* ---- packets ---- */

static struct pair_end *
pair_other(const struct pair_end *end)
{
	struct pair_end *ends = end->pair->ends;

	return end == &ends[0] ? &ends[1] : &ends[0];
}

static uint32_t
pair_receive(void *state, struct channel_packet *packets)
{
	struct pair_end *end = state;
	uint32_t count;
	uint64_t events;

	pthread_mutex_lock(&end->lock);
	count = LULL_MIN(end->head - end->tail, (uint32_t)CHANNEL_BURST);
	for (uint32_t i = 0; i < count; i++) {
		const struct pair_slot *slot = &end->slots[(end->tail + i) % PAIR_PKTS];

		end->borrowed[i].len_bytes = slot->len_bytes;
		memcpy(end->borrowed[i].bytes, slot->bytes, slot->len_bytes);
		packets[i] = (struct channel_packet){ .bytes = end->borrowed[i].bytes,
						      .len_bytes = slot->len_bytes,
						      .from = { .len_bytes = 1 } };
		packets[i].from.bytes[0] = (uint8_t)(end == &end->pair->ends[0]);
	}
	end->tail += count;
	if (count > 0 && end->tail == end->head)
		(void)!read(end->event_fd, &events, sizeof(events));
	pthread_mutex_unlock(&end->lock);
	return count;
}

static void
pair_release(void *state)
{
	(void)state; /* what was borrowed is written again by the next receive */
}

static uint32_t
pair_send(void *state, const struct lull_bundle_packet *packets, uint32_t count)
{
	struct pair_end *end = state, *to = pair_other(end);
	uint64_t one = 1;

	pthread_mutex_lock(&to->lock);
	for (uint32_t i = 0; i < count; i++) {
		struct pair_slot *slot = &to->slots[to->head % PAIR_PKTS];

		if (!to->open || packets[i].len_bytes > PAIR_BYTES)
			continue;
		if (to->head - to->tail == PAIR_PKTS) {
			LULL_COUNTER_ADD(to->missed_pkts, 1);
			continue;
		}
		LULL_COUNTER_ADD(end->sent_pkts, 1);
		slot->len_bytes = packets[i].len_bytes;
		memcpy(slot->bytes, packets[i].bytes, slot->len_bytes);
		if (to->head++ == to->tail)
			(void)!write(to->event_fd, &one, sizeof(one));
	}
	pthread_mutex_unlock(&to->lock);
	return count;
}

static uint32_t
pair_watch(void *state, struct pollfd *polls)
{
	const struct pair_end *end = state;

	polls[0] = (struct pollfd){ .fd = end->event_fd, .events = POLLIN };
	return 1;
}

static void
pair_watched(void *state, const struct pollfd *polls)
{
	(void)state; /* to ask costs nothing */
	(void)polls;
}

static void
pair_facts(void *state, struct channel_rail_facts *facts)
{
	struct pair_end *other = pair_other(state);

	pthread_mutex_lock(&other->lock);
	*facts = (struct channel_rail_facts){ .mtu_bytes = PAIR_BYTES, .up = other->open };
	pthread_mutex_unlock(&other->lock);
}

static uint64_t
pair_sent(void *state)
{
	const struct pair_end *end = state;

	return LULL_COUNTER_READ(end->sent_pkts);
}

static uint64_t
pair_missed(void *state)
{
	const struct pair_end *end = state;

	return LULL_COUNTER_READ(end->missed_pkts);
}

/* ---- open and close ---- */

static void
pair_free(struct pair *pair)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct pair_end *end = &pair->ends[i];

		pthread_mutex_destroy(&end->lock);
		if (end->event_fd >= 0)
			close(end->event_fd);
		free(end->slots);
		free(end->borrowed);
	}
	free(pair);
}

static struct pair *
pair_create(const char *name)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	bool whole = pair != NULL;

	for (uint32_t i = 0; pair != NULL && i < 2; i++) {
		struct pair_end *end = &pair->ends[i];

		end->pair = pair;
		pthread_mutex_init(&end->lock, NULL);
		end->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		end->slots = calloc(PAIR_PKTS, sizeof(*end->slots));
		end->borrowed = calloc(CHANNEL_BURST, sizeof(*end->borrowed));
		whole = whole && end->event_fd >= 0 && end->slots != NULL && end->borrowed != NULL;
	}
	if (!whole && pair != NULL) {
		pair_free(pair);
		return NULL;
	}
	if (pair != NULL)
		snprintf(pair->name, sizeof(pair->name), "%s", name);
	return pair;
}

/* Under the lock of all pairs. */
static int
pair_find(const char *name, uint32_t *index)
{
	uint32_t free_at = PAIR_NAMES_MAX;

	for (*index = 0; *index < PAIR_NAMES_MAX; ++*index) {
		if (pairs[*index] == NULL)
			free_at = LULL_MIN(free_at, *index);
		else if (strcmp(pairs[*index]->name, name) == 0)
			return 0;
	}
	*index = free_at;
	if (free_at == PAIR_NAMES_MAX)
		return -ENOSPC;
	pairs[free_at] = pair_create(name);
	return pairs[free_at] != NULL ? 0 : -ENOMEM;
}

static struct pair_end *
pair_take(struct pair *pair)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct pair_end *end = &pair->ends[i];
		bool taken = false;
		uint64_t events;

		pthread_mutex_lock(&end->lock);
		if (!end->open) {
			/* What was sent to who was here before is for nobody. */
			end->tail = end->head;
			(void)!read(end->event_fd, &events, sizeof(events));
			end->missed_pkts = end->sent_pkts = 0;
			taken = end->open = true;
		}
		pthread_mutex_unlock(&end->lock);
		if (taken) {
			pair->users++;
			return end;
		}
	}
	return NULL;
}

static void
pair_close(void *state)
{
	struct pair_end *end = state;
	struct pair *pair = end->pair;

	pthread_mutex_lock(&pair_lock);
	pthread_mutex_lock(&end->lock);
	end->open = false;
	pthread_mutex_unlock(&end->lock);
	if (--pair->users == 0) {
		for (uint32_t i = 0; i < PAIR_NAMES_MAX; i++)
			if (pairs[i] == pair)
				pairs[i] = NULL;
		pair_free(pair);
	}
	pthread_mutex_unlock(&pair_lock);
}

static const struct channel_way pair_way = {
	.receive = pair_receive,
	.release = pair_release,
	.send = pair_send,
	.watch = pair_watch,
	.watched = pair_watched,
	.facts = pair_facts,
	.sent = pair_sent,
	.missed = pair_missed,
	.close = pair_close,
};

int
channel_rail_pair_open(const char *name, struct channel_rail *rail, struct lull_error *error)
{
	struct pair_end *end = NULL;
	uint32_t index;
	int rc;

	if (name[0] == '\0' || strlen(name) >= PAIR_NAME_SIZE)
		return lull_error_set(error, -EINVAL, "rail %s: the name has 1..%d characters",
				      rail->text, PAIR_NAME_SIZE - 1);
	pthread_mutex_lock(&pair_lock);
	rc = pair_find(name, &index);
	if (rc == 0)
		end = pair_take(pairs[index]);
	pthread_mutex_unlock(&pair_lock);
	if (rc != 0)
		return lull_error_set(error, rc, "rail %s: %s", rail->text,
				      rc == -ENOSPC ? "too many names; use fewer" : "no memory");
	if (end == NULL)
		return lull_error_set(error, -EBUSY,
				      "rail %s: both ends are taken; use another name", rail->text);
	rail->way = &pair_way;
	rail->state = end;
	rail->bundle = (struct lull_bundle_rail){
		.kind = (uint8_t)(CHANNEL_KIND_PAIR + index),
		.address = { .len_bytes = 1, .bytes = { (uint8_t)(end == &end->pair->ends[1]) } },
		.packet_bytes = PAIR_BYTES,
		.ring_pkts = PAIR_PKTS,
	};
	return 0;
}
