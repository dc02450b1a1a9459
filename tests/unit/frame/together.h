/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Together: a sender, a reader and an assembler, with a judge of what comes out.
 *
 * Frames have content that follows from their number, so the judge can tell whose bytes are in a
 * picture. It demands of each frame that is given: all bytes that are called present are those of
 * one frame that was sent; complete is what lacks nothing; a complete one is of the geometry sent.
 */
#ifndef LULL_TEST_TOGETHER_H
#define LULL_TEST_TOGETHER_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lull/frame.h>

#include "frame/packet_write.h"

#define TOGETHER_BYTES_MAX 16384
#define TOGETHER_SENT 16 /* frames that can be sent again */
#define TOGETHER_BUFFERS 6
#define TOGETHER_CHECK(expression) ((expression) ? (void)0 : __builtin_trap())

struct together_sent {
	uint64_t number; /* of its content; 0: none */
	struct lull_packet_plan plan;
	struct lull_packet_frame frame;
};

struct together {
	const struct lull_packet_writer *writer;
	const struct lull_frame_protocol *protocol;
	void *state, *memory;
	struct lull_assembler *assembler;
	struct lull_packet_format format; /* of the next frame */
	uint64_t now_ns, number, key, key_step, packet, fed;
	uint32_t next; /* packet of the frame sent last */
	struct together_sent sent[TOGETHER_SENT];
	uint8_t *buffers, *data;
	uint64_t given[LULL_FRAME_REASON_COUNT], presumed, verdicts[LULL_FRAME_VERDICT_COUNT];
	bool tainted; /* packets were changed on their way: nobody knows whose bytes are whose */
};

static inline uint8_t
together_byte(uint64_t number, uint64_t offset)
{
	return (uint8_t)((number * 0x9e3779b97f4a7c15u + offset) * 0xd1342543de82ef95u >> 56);
}

/* False: the protocol has no such pictures. */
static inline bool
together_open(struct together *together, const char *name, const struct lull_packet_format *format,
	      const struct lull_frame_protocol_config *config,
	      const struct lull_assembler_config *assembly)
{
	size_t size = (lull_assembler_size(assembly) + 63) / 64 * 64;
	struct lull_packet_plan plan;

	memset(together, 0, sizeof(*together));
	together->writer = lull_packet_writer_find(name);
	together->protocol = lull_frame_protocol_find(name);
	together->format = *format;
	together->now_ns = LULL_NS_PER_S;
	together->key_step = strcmp(name, "rfc4175") == 0 ? 3000 : 1;
	together->key = together->key_step;
	together->state = calloc(1, together->protocol->state_size);
	together->memory = aligned_alloc(64, size);
	together->buffers = malloc((size_t)TOGETHER_BUFFERS * TOGETHER_BYTES_MAX);
	together->data = malloc((size_t)TOGETHER_SENT * TOGETHER_BYTES_MAX);
	TOGETHER_CHECK(together->state && together->memory && together->buffers && together->data);
	if (together->writer->plan(&plan, format) != 0 || plan.rows.bytes > TOGETHER_BYTES_MAX ||
	    together->protocol->init(together->state, config) != 0 ||
	    lull_assembler_init(together->memory, assembly, &together->assembler) != 0)
		return false;
	for (size_t i = 0; i < TOGETHER_BUFFERS; i++)
		(void)lull_assembler_supply(together->assembler,
					    together->buffers + i * TOGETHER_BYTES_MAX, NULL);
	return true;
}

static inline void
together_close(struct together *together)
{
	free(together->state);
	free(together->memory);
	free(together->buffers);
	free(together->data);
}

/* Are all bytes of @p frame that are not missing those of @p sent? */
static inline bool
together_is(const struct lull_frame *frame, const struct together_sent *sent)
{
	uint32_t span = 0;

	for (uint64_t i = 0; i < frame->bytes; i++) {
		if (span < frame->missing_count && frame->missing[span].offset == i) {
			i += frame->missing[span++].bytes - 1;
			continue;
		}
		if (i >= sent->plan.rows.bytes || frame->data[i] != together_byte(sent->number, i))
			return false;
	}
	return true;
}

static inline bool
together_same(const struct lull_frame_geometry *a, const struct lull_frame_geometry *b)
{
	return a->width == b->width && a->height == b->height;
}

static inline void
together_judge(struct together *together, const struct lull_frame *frame)
{
	uint64_t missing = 0;

	together->given[frame->reason]++;
	together->presumed += frame->presumed;
	for (uint32_t i = 0; i < frame->missing_count; i++) {
		TOGETHER_CHECK(frame->missing[i].bytes > 0);
		missing += frame->missing[i].bytes;
	}
	TOGETHER_CHECK(frame->missing_more || frame->bytes_there + missing == frame->bytes);
	TOGETHER_CHECK((frame->missing_count == 0) == (frame->reason == LULL_FRAME_COMPLETE));
	TOGETHER_CHECK(frame->bytes == lull_frame_bytes(&frame->geometry));
	for (uint32_t i = 0; i < TOGETHER_SENT; i++) {
		const struct together_sent *sent = &together->sent[i];

		if (sent->number != 0 && together_is(frame, sent) &&
		    (frame->reason != LULL_FRAME_COMPLETE || frame->presumed ||
		     together_same(&frame->geometry, &sent->plan.format.geometry)))
			return;
	}
	TOGETHER_CHECK(together->tainted || frame->bytes_there == 0);
}

static inline void
together_take(struct together *together)
{
	const struct lull_assembler_counters *c = lull_assembler_counters(together->assembler);
	struct lull_frame frame;

	while (lull_assembler_next(together->assembler, together->now_ns, &frame)) {
		together_judge(together, &frame);
		memset(frame.data, 0xee, frame.bytes);
		TOGETHER_CHECK(lull_assembler_supply(together->assembler, frame.data, NULL) == 0);
	}
	TOGETHER_CHECK(c->fragments == c->used + c->duplicates + c->late + c->no_buffer +
					       c->oversize + c->outside + c->unsized + c->stopped);
}

/* A packet comes in, in memory of just its size. */
static inline void
together_feed(struct together *together, const uint8_t *bytes, size_t len)
{
	uint8_t *packet = malloc(len + (len == 0));
	struct lull_frame_fragment fragment;
	enum lull_frame_verdict verdict;
	uint32_t fragments = 0;

	TOGETHER_CHECK(packet != NULL);
	memcpy(packet, bytes, len);
	together->now_ns += 10 * LULL_NS_PER_US;
	together->fed++;
	do {
		verdict = together->protocol->parse(together->state, packet, len, &fragment);
		together->verdicts[verdict]++;
		if (verdict == LULL_FRAME_FRAGMENT)
			lull_assembler_add(together->assembler, together->now_ns, &fragment);
		together_take(together);
	} while (verdict == LULL_FRAME_FRAGMENT && (fragment.flags & LULL_FRAME_MORE) &&
		 ++fragments < 256);
	free(packet);
}

/* Begin the next frame; its packets are sent one by one. False: no such pictures. */
static inline bool
together_frame(struct together *together)
{
	struct together_sent *sent = &together->sent[++together->number % TOGETHER_SENT];
	uint8_t *data = together->data + together->number % TOGETHER_SENT * TOGETHER_BYTES_MAX;

	*sent = (struct together_sent){ .number = 0 };
	if (together->writer->plan(&sent->plan, &together->format) != 0 ||
	    sent->plan.rows.bytes > TOGETHER_BYTES_MAX)
		return false;
	sent->number = together->number;
	sent->frame = (struct lull_packet_frame){
		.key = together->key,
		.first_packet = together->packet,
		.device_time = together->now_ns,
		.data = data,
	};
	for (uint64_t i = 0; i < sent->plan.rows.bytes; i++)
		data[i] = together_byte(sent->number, i);
	together->key += together->key_step;
	together->packet += sent->plan.count;
	together->next = 0;
	return true;
}

/*
 * Packet @p index of the frame @p back before the last. @p cut bytes of it are lost; @p flip, not
 * 0, changes the byte at place flip / 8.
 */
static inline void
together_send(struct together *together, uint32_t back, uint32_t index, uint32_t cut, uint32_t flip)
{
	struct together_sent *sent = &together->sent[(together->number - back) % TOGETHER_SENT];
	uint8_t packet[LULL_PACKET_BYTES_MAX];
	size_t len;

	if (sent->number == 0 || index >= sent->plan.count)
		return;
	len = together->writer->write(&sent->plan, &sent->frame, index, packet);
	together->tainted |= cut != 0 || flip != 0;
	len -= LULL_MIN(cut, len);
	if (flip != 0 && flip / 8 < len)
		packet[flip / 8] ^= (uint8_t)(1u << flip % 8);
	together_feed(together, packet, len);
}

/* Its next @p count packets. */
static inline void
together_go(struct together *together, uint32_t count)
{
	for (; count > 0; count--)
		together_send(together, 0, together->next++, 0, 0);
}

/* A whole frame but for packet @p lost. */
static inline void
together_whole(struct together *together, uint32_t lost)
{
	TOGETHER_CHECK(together_frame(together));
	while (together->next < together->sent[together->number % TOGETHER_SENT].plan.count)
		if (together->next == lost)
			together->next++;
		else
			together_go(together, 1);
}

static inline void
together_wait(struct together *together, uint64_t wait_ns)
{
	together->now_ns += wait_ns;
	lull_assembler_expire(together->assembler, together->now_ns);
	together_take(together);
}

/* Ids begin again, as those of a sender that was started anew. */
static inline void
together_restart(struct together *together)
{
	together->key = together->key_step;
	together->packet = 0;
}

static inline void
together_end(struct together *together)
{
	lull_assembler_flush(together->assembler, together->now_ns);
	together_take(together);
}

#endif
