/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that stand outside of epochs, and who has to come again with a cookie. */
#include "siphash.h"
#include "protocol.h"

#define HELLOS_FREE 64 /* a second without a cookie */
#define RESETS 10      /* a second */
#define COOKIE_NS (16 * LULL_NS_PER_S)

/* ---- notes: packets without an epoch ---- */

static struct bundle_note *
note_at(struct lull_bundle *bundle, uint32_t at)
{
	return &bundle->notes[(bundle->note_first + at) % BUNDLE_NOTES];
}

struct bundle_note *
bundle_note_new(struct lull_bundle *bundle, uint32_t rail, const struct lull_bundle_address *to)
{
	struct bundle_note *note;

	if (bundle->note_count == BUNDLE_NOTES)
		return NULL;
	note = note_at(bundle, bundle->note_count++);
	note->rail = (uint8_t)rail;
	note->to = *to;
	return note;
}

static void
greet_second(struct lull_bundle *bundle)
{
	if (bundle->now_ns - bundle->reset_ns < LULL_NS_PER_S)
		return;
	bundle->reset_ns = bundle->now_ns;
	bundle->reset_count = bundle->hello_count = 0;
}

void
bundle_greet_unknown(struct lull_bundle *bundle, uint32_t rail, const struct bundle_header *header,
		     const struct lull_bundle_address *from)
{
	struct bundle_note *note;

	LULL_COUNTER_ADD(bundle->counters.strangers, 1);
	greet_second(bundle);
	if (bundle->reset_count >= RESETS)
		return;
	note = bundle_note_new(bundle, rail, from);
	if (note == NULL)
		return;
	bundle->reset_count++;
	LULL_COUNTER_ADD(bundle->counters.resets_tx, 1);
	note->len_bytes = (uint8_t)bundle_reset_write(header->to, header->psn, note->bytes);
}

/* ---- cookies ---- */

static void
cookie_make(const struct lull_bundle *bundle, uint32_t rail, const struct lull_bundle_address *from,
	    uint64_t node_id, uint64_t time, uint8_t *cookie)
{
	uint8_t bytes[32 + sizeof(*from)] = { 0 };

	memcpy(bytes, &node_id, 8);
	memcpy(bytes + 8, &time, 8);
	bytes[16] = (uint8_t)rail;
	bytes[17] = from->len_bytes;
	memcpy(bytes + 18, from->bytes, from->len_bytes);
	for (uint32_t half = 0; half < 2; half++) {
		uint64_t value = bundle_siphash(bundle->secret + 16 * half, bytes, sizeof(bytes));

		memcpy(cookie + 8 * half, &value, 8);
	}
}

bool
bundle_cookie_holds(const struct lull_bundle *bundle, uint32_t rail,
		    const struct lull_bundle_address *from, const struct bundle_hello *hello)
{
	uint64_t time = bundle->now_ns / COOKIE_NS;
	uint8_t cookie[BUNDLE_COOKIE_BYTES];

	for (uint64_t back = 0; back <= LULL_MIN(time, 1); back++) {
		cookie_make(bundle, rail, from, hello->node_id, time - back, cookie);
		if (memcmp(cookie, hello->cookie, sizeof(cookie)) == 0)
			return true;
	}
	return false;
}

bool
bundle_cookie_wanted(struct lull_bundle *bundle)
{
	greet_second(bundle);
	return bundle->hello_count++ >= HELLOS_FREE;
}

void
bundle_cookie_send(struct lull_bundle *bundle, uint32_t rail,
		   const struct lull_bundle_address *from, const struct bundle_hello *hello)
{
	struct bundle_retry retry = { .key_id = hello->key_id, .node_id = hello->node_id };
	struct bundle_note *note = bundle_note_new(bundle, rail, from);

	if (note == NULL)
		return;
	cookie_make(bundle, rail, from, hello->node_id, bundle->now_ns / COOKIE_NS, retry.cookie);
	note->len_bytes = (uint8_t)bundle_retry_write(&retry, note->bytes);
	LULL_COUNTER_ADD(bundle->counters.retries, 1);
}

void
bundle_notes_drop(struct lull_bundle *bundle, uint32_t rail)
{
	uint32_t count = bundle->note_count;

	bundle->note_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct bundle_note note = *note_at(bundle, i);

		if (note.rail != rail)
			*note_at(bundle, bundle->note_count++) = note;
	}
}

uint32_t
bundle_note_tx(struct lull_bundle *bundle, uint32_t rail, struct lull_bundle_packet *packet)
{
	uint32_t at = 0;
	struct bundle_note note;

	while (at < bundle->note_count && note_at(bundle, at)->rail != rail)
		at++;
	if (at == bundle->note_count)
		return 0;
	note = *note_at(bundle, at);
	for (; at > 0; at--) /* those before it, of other rails, stay in order */
		*note_at(bundle, at) = *note_at(bundle, at - 1);
	bundle->note_first = (bundle->note_first + 1) % BUNDLE_NOTES;
	bundle->note_count--;
	memcpy(packet->bytes, note.bytes, note.len_bytes);
	packet->to = note.to;
	return note.len_bytes;
}
