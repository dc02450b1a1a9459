/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"
#include "base/bytes.h"
#include "packet.h"

#define VERSIONS_MAX 15 /* as 4 bits hold */

/* ---- header ---- */

void
bundle_header_write(const struct bundle_header *header, uint8_t *packet)
{
	LULL_ASSERT_HOT(header->version <= VERSIONS_MAX && header->type <= VERSIONS_MAX);
	packet[0] = (uint8_t)(header->version << 4 | header->type);
	packet[1] = header->flags;
	packet[2] = header->path;
	packet[3] = header->rest;
	lull_bytes_put_little(packet + 4, header->to, 4);
	lull_bytes_put_little(packet + 8, header->psn, 4);
	lull_bytes_put_little(packet + 12, header->sent, 4);
	lull_bytes_put_little(packet + 16, header->msg, 4);
	lull_bytes_put_little(packet + 20, header->off, 4);
	lull_bytes_put_little(packet + 24, header->grant, 4);
}

bool
bundle_header_read(struct bundle_header *header, const uint8_t *packet, uint32_t len_bytes)
{
	if (len_bytes < BUNDLE_HEADER_BYTES)
		return false;
	*header = (struct bundle_header){
		.version = packet[0] >> 4,
		.type = packet[0] & 15,
		.flags = packet[1],
		.path = packet[2],
		.rest = packet[3],
		.to = lull_bytes_little32(packet + 4),
		.psn = lull_bytes_little32(packet + 8),
		.sent = lull_bytes_little32(packet + 12),
		.msg = lull_bytes_little32(packet + 16),
		.off = lull_bytes_little32(packet + 20),
		.grant = lull_bytes_little32(packet + 24),
	};
	return header->version == BUNDLE_VERSION && header->type >= BUNDLE_HELLO &&
	       header->type <= BUNDLE_CLOSE && (header->flags & ~BUNDLE_FLAGS_KNOWN) == 0;
}

bool
bundle_header_foreign(const uint8_t *packet, uint32_t len_bytes)
{
	return len_bytes >= BUNDLE_HEADER_BYTES && packet[0] >> 4 != BUNDLE_VERSION;
}

/* 2^31 times 1000 ns times 2^(i / 8), rounded up; shifted down and rounded up once more, it is the
 * same as if it had been rounded once. */
static const uint64_t rest_steps[8] = {
	2147483648000, 2341847523917, 2553802833554, 2784941737693,
	3037000499977, 3311872529333, 3611622602839, 3938502375864,
};

uint64_t
bundle_rest_decode(uint8_t rest)
{
	unsigned int step = rest - 1u, down = 31 - step / 8;

	if (rest == 0)
		return 0;
	return (rest_steps[step % 8] + ((1ULL << down) - 1)) >> down;
}

uint8_t
bundle_rest_encode(uint64_t rest_ns)
{
	uint8_t low = 0, high = UINT8_MAX; /* the answer is in this range */

	while (low < high) {
		uint8_t middle = (uint8_t)((low + high) / 2);

		if (bundle_rest_decode(middle) >= rest_ns)
			high = middle;
		else
			low = (uint8_t)(middle + 1);
	}
	return low;
}

uint64_t
bundle_psn_expand(uint64_t largest, uint32_t low)
{
	int64_t step = (int32_t)(low - (uint32_t)largest);

	if (step > 0 && largest > UINT64_MAX - (uint64_t)step)
		step -= 1LL << 32;
	else if (step <= 0 && largest <= (uint64_t)-step)
		step += 1LL << 32;
	return largest + (uint64_t)step;
}

/* ---- data ---- */

void
bundle_head_write(const struct bundle_head *head, uint8_t *at)
{
	LULL_ASSERT_HOT(head->len_bytes <= LULL_BUNDLE_MESSAGE_BYTES_MAX);
	LULL_ASSERT_HOT(head->eager_pieces < 1u << 24);
	lull_bytes_put_little(at, head->len_bytes, 5);
	lull_bytes_put_little(at + 5, head->eager_pieces, 3);
	lull_bytes_put_little(at + 8, head->tag, 8);
	lull_bytes_put_little(at + 16, head->user, 8);
	lull_bytes_put_little(at + 24, head->from, 2);
	lull_bytes_put_little(at + 26, head->to, 2);
	lull_bytes_put_little(at + 28, head->matched, 4);
}

bool
bundle_head_read(struct bundle_head *head, const uint8_t *at, uint32_t len_bytes)
{
	if (len_bytes < BUNDLE_HEAD_BYTES)
		return false;
	*head = (struct bundle_head){
		.len_bytes = lull_bytes_little32(at) | (uint64_t)at[4] << 32,
		.eager_pieces = at[5] | (uint32_t)lull_bytes_little16(at + 6) << 8,
		.tag = lull_bytes_little64(at + 8),
		.user = lull_bytes_little64(at + 16),
		.from = lull_bytes_little16(at + 24),
		.to = lull_bytes_little16(at + 26),
		.matched = at[28] == 1,
	};
	return head->len_bytes <= LULL_BUNDLE_MESSAGE_BYTES_MAX &&
	       lull_bytes_little32(at + 28) <= 1;
}

/* ---- acknowledgements ---- */

void
bundle_block_write(const struct bundle_block *block, uint8_t *at)
{
	at[0] = block->path;
	at[1] = block->state;
	lull_bytes_put_little(at + 2, block->wait, 2);
	lull_bytes_put_little(at + 4, block->hold, 2);
	lull_bytes_put_little(at + 6, block->duplicates, 2);
	lull_bytes_put_little(at + 8, block->psn, 4);
	lull_bytes_put_little(at + 12, block->sent, 4);
	lull_bytes_put_little(at + 16, block->received, 4);
	lull_bytes_put_little(at + 20, block->bits[0], 8);
	lull_bytes_put_little(at + 28, block->bits[1], 8);
	lull_bytes_put_little(at + 36, block->credit, 2);
	lull_bytes_put_little(at + 38, block->credit_echo, 2);
}

bool
bundle_block_read(struct bundle_block *block, const uint8_t *at, uint32_t len_bytes)
{
	if (len_bytes < BUNDLE_BLOCK_BYTES)
		return false;
	*block = (struct bundle_block){
		.path = at[0],
		.state = at[1],
		.wait = lull_bytes_little16(at + 2),
		.hold = lull_bytes_little16(at + 4),
		.duplicates = lull_bytes_little16(at + 6),
		.psn = lull_bytes_little32(at + 8),
		.sent = lull_bytes_little32(at + 12),
		.received = lull_bytes_little32(at + 16),
		.bits = { lull_bytes_little64(at + 20), lull_bytes_little64(at + 28) },
		.credit = lull_bytes_little16(at + 36),
		.credit_echo = lull_bytes_little16(at + 38),
	};
	return block->state <= LULL_BUNDLE_PATH_DOWN && (block->bits[0] & 1) != 0;
}

bool
bundle_block_reaches_below(const struct bundle_block *block, uint64_t psn)
{
	if (psn >= 128)
		return false;
	if (psn >= 64)
		return block->bits[1] >> (psn - 64) != 0;
	return block->bits[0] >> psn != 0 || block->bits[1] != 0;
}

static void
record_write(const struct bundle_record *record, uint8_t *at)
{
	at[0] = record->kind;
	at[1] = record->reason;
	lull_bytes_put_little(at + 2, 0, 2);
	lull_bytes_put_little(at + 4, record->msg, 4);
	lull_bytes_put_little(at + 8, record->end, 4);
}

static bool
record_read(struct bundle_record *record, const uint8_t *at)
{
	*record = (struct bundle_record){
		.kind = at[0],
		.reason = at[1],
		.msg = lull_bytes_little32(at + 4),
		.end = lull_bytes_little32(at + 8),
	};
	if (record->kind < BUNDLE_RECORD_GRANT || record->kind > BUNDLE_RECORD_DONE ||
	    lull_bytes_little16(at + 2) != 0)
		return false;
	if (record->reason > (record->kind == BUNDLE_RECORD_DONE ? BUNDLE_REASON_MAX : 0))
		return false;
	return true;
}

uint32_t
bundle_ack_write(const struct bundle_ack *ack, uint8_t *at, uint32_t room_bytes)
{
	uint32_t len = BUNDLE_ACK_BYTES, blocks, records;

	LULL_ASSERT_HOT(room_bytes >= BUNDLE_ACK_BYTES);
	LULL_ASSERT_HOT(ack->block_count <= LULL_BUNDLE_PATHS_MAX);
	LULL_ASSERT_HOT(ack->record_count <= BUNDLE_RECORDS_MAX);
	blocks = LULL_MIN((room_bytes - len) / BUNDLE_BLOCK_BYTES, ack->block_count);
	for (uint32_t i = 0; i < blocks; i++, len += BUNDLE_BLOCK_BYTES)
		bundle_block_write(&ack->blocks[i], at + len);
	records = LULL_MIN((room_bytes - len) / BUNDLE_RECORD_BYTES, ack->record_count);
	for (uint32_t i = 0; i < records; i++, len += BUNDLE_RECORD_BYTES)
		record_write(&ack->records[i], at + len);
	lull_bytes_put_little(at, blocks | records << 8, 8);
	return len;
}

bool
bundle_ack_read(struct bundle_ack *ack, const uint8_t *at, uint32_t len_bytes)
{
	uint32_t len = BUNDLE_ACK_BYTES;

	if (len_bytes < BUNDLE_ACK_BYTES)
		return false;
	ack->block_count = at[0];
	ack->record_count = at[1];
	if (ack->block_count > LULL_BUNDLE_PATHS_MAX || ack->record_count > BUNDLE_RECORDS_MAX ||
	    !lull_bytes_zero(at + 2, 6) ||
	    len_bytes != len + ack->block_count * BUNDLE_BLOCK_BYTES +
				 ack->record_count * BUNDLE_RECORD_BYTES)
		return false;
	for (uint32_t i = 0; i < ack->block_count; i++, len += BUNDLE_BLOCK_BYTES)
		if (!bundle_block_read(&ack->blocks[i], at + len, BUNDLE_BLOCK_BYTES))
			return false;
	for (uint32_t i = 0; i < ack->record_count; i++, len += BUNDLE_RECORD_BYTES)
		if (!record_read(&ack->records[i], at + len))
			return false;
	return true;
}
