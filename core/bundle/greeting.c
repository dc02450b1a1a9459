/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/reader.h"
#include "packet.h"

#define PROBE_BYTES 16 /* before its rails */
#define CLOSE_BYTES 8
#define GREETING_BYTES 40 /* before its names */
#define RAIL_BYTES 12     /* before its address */
#define RETRY_BYTES (BUNDLE_HEADER_BYTES + BUNDLE_COOKIE_BYTES)
#define PIECE_BYTES_MIN 512
#define PIECE_BYTES_MAX 65528
#define MESSAGES_MIN 16
#define MESSAGES_MAX 4096
#define RING_PKTS_MIN 16
#define VERSIONS_MAX 15 /* as 4 bits hold */

/* ---- rails ---- */

static bool
rail_fits(const struct bundle_rail_info *rail)
{
	return rail->number < LULL_BUNDLE_RAILS_MAX &&
	       rail->address.len_bytes <= LULL_BUNDLE_ADDRESS_SIZE &&
	       rail->packet_bytes >= LULL_BUNDLE_PACKET_BYTES_MIN &&
	       rail->packet_bytes <= LULL_BUNDLE_PACKET_BYTES_MAX &&
	       rail->ring_pkts >= RING_PKTS_MIN;
}

static bool
rails_fit(const struct bundle_rail_table *table)
{
	uint32_t numbers = 0;

	if (table->count > LULL_BUNDLE_RAILS_MAX)
		return false;
	for (uint32_t i = 0; i < table->count; i++) {
		if (!rail_fits(&table->rails[i]) || (numbers >> table->rails[i].number & 1) != 0)
			return false;
		numbers |= 1u << table->rails[i].number;
	}
	return true;
}

static uint32_t
rails_bytes(const struct bundle_rail_table *table)
{
	uint32_t len = 0;

	for (uint32_t i = 0; i < table->count; i++)
		len += RAIL_BYTES + table->rails[i].address.len_bytes;
	return len;
}

static uint8_t *
rails_write(const struct bundle_rail_table *table, uint8_t *at)
{
	for (uint32_t i = 0; i < table->count; i++) {
		const struct bundle_rail_info *rail = &table->rails[i];

		at[0] = rail->number;
		at[1] = rail->kind;
		at[2] = rail->address.len_bytes;
		at[3] = 0;
		at = lull_bytes_put_little(at + 4, rail->packet_bytes, 4);
		at = lull_bytes_put_little(at, rail->ring_pkts, 4);
		at = lull_bytes_copy(at, rail->address.bytes, rail->address.len_bytes);
	}
	return at;
}

static bool
rail_read(struct bundle_rail_info *rail, struct lull_reader *reader)
{
	uint8_t zero;
	const uint8_t *address;

	memset(rail, 0, sizeof(*rail));
	rail->number = lull_reader_u8(reader);
	rail->kind = lull_reader_u8(reader);
	rail->address.len_bytes = lull_reader_u8(reader);
	zero = lull_reader_u8(reader);
	rail->packet_bytes = lull_reader_u32le(reader);
	rail->ring_pkts = lull_reader_u32le(reader);
	if (reader->failed || zero != 0 || rail->address.len_bytes > LULL_BUNDLE_ADDRESS_SIZE)
		return false;
	if (rail->address.len_bytes == 0)
		return true;
	address = lull_reader_bytes(reader, rail->address.len_bytes);
	if (address == NULL)
		return false;
	memcpy(rail->address.bytes, address, rail->address.len_bytes);
	return true;
}

static bool
rails_read(struct bundle_rail_table *table, uint32_t count, struct lull_reader *reader)
{
	if (count > LULL_BUNDLE_RAILS_MAX)
		return false;
	table->count = count;
	for (uint32_t i = 0; i < count; i++)
		if (!rail_read(&table->rails[i], reader))
			return false;
	return rails_fit(table);
}

/* ---- probe and close ---- */

uint32_t
bundle_probe_write(const struct bundle_probe *probe, uint8_t *at, uint32_t room_bytes,
		   uint32_t pad_bytes)
{
	uint32_t needed = PROBE_BYTES + rails_bytes(&probe->rails);
	uint32_t len = LULL_MAX(needed, pad_bytes);
	uint8_t *end;

	LULL_ASSERT(rails_fit(&probe->rails));
	if (len > room_bytes)
		return 0;
	at[0] = probe->kind;
	at[1] = (uint8_t)probe->rails.count;
	end = lull_bytes_put_little(at + 2, probe->table, 2);
	end = lull_bytes_put_little(end, len - needed, 4);
	end = lull_bytes_put_little(end, probe->challenge, 8);
	end = rails_write(&probe->rails, end);
	lull_bytes_fill(end, len - needed);
	return len;
}

bool
bundle_probe_read(struct bundle_probe *probe, const uint8_t *at, uint32_t len_bytes)
{
	struct lull_reader reader = lull_reader_over(at, len_bytes);
	uint32_t rails, more;

	probe->kind = lull_reader_u8(&reader);
	rails = lull_reader_u8(&reader);
	probe->table = lull_reader_u16le(&reader);
	more = lull_reader_u32le(&reader);
	probe->challenge = lull_reader_u64le(&reader);
	if (reader.failed || !rails_read(&probe->rails, rails, &reader))
		return false;
	return (probe->kind == BUNDLE_PROBE_ASK || probe->kind == BUNDLE_PROBE_REPLY) &&
	       more == lull_reader_left(&reader) && lull_bytes_zero(at + reader.offset, more);
}

uint32_t
bundle_close_write(const struct bundle_close *close, uint8_t *at)
{
	LULL_ASSERT(close->reason <= 1);
	at[0] = close->reason;
	at[1] = close->reply;
	lull_bytes_fill(at + 2, CLOSE_BYTES - 2);
	return CLOSE_BYTES;
}

bool
bundle_close_read(struct bundle_close *close, const uint8_t *at, uint32_t len_bytes)
{
	if (len_bytes != CLOSE_BYTES || at[0] > 1 || at[1] > 1 ||
	    !lull_bytes_zero(at + 2, CLOSE_BYTES - 2))
		return false;
	close->reason = at[0];
	close->reply = at[1] != 0;
	return true;
}

/* ---- handshake ---- */

/* Length of a name of printable characters without blanks; LULL_BUNDLE_NAME_SIZE: it is none. */
static uint32_t
name_bytes(const char name[LULL_BUNDLE_NAME_SIZE])
{
	uint32_t len = 0;

	while (len < LULL_BUNDLE_NAME_SIZE && name[len] > ' ' && name[len] <= '~')
		len++;
	return len < LULL_BUNDLE_NAME_SIZE && name[len] == '\0' ? len : LULL_BUNDLE_NAME_SIZE;
}

static bool
piece_fits(uint32_t bytes)
{
	return bytes >= PIECE_BYTES_MIN && bytes <= PIECE_BYTES_MAX && bytes % 8 == 0;
}

static bool
greeting_fits(const struct bundle_greeting *greeting)
{
	uint32_t messages = greeting->messages_max;
	uint32_t name = name_bytes(greeting->name);

	return greeting->version_min >= 1 && greeting->version_min <= greeting->version_max &&
	       greeting->version_max <= VERSIONS_MAX && name > 0 && name < LULL_BUNDLE_NAME_SIZE &&
	       name_bytes(greeting->target) < LULL_BUNDLE_NAME_SIZE && greeting->node_id != 0 &&
	       piece_fits(greeting->piece_bytes) && piece_fits(greeting->piece_room) &&
	       messages >= MESSAGES_MIN && messages <= MESSAGES_MAX &&
	       (messages & (messages - 1)) == 0 && greeting->grant_pieces <= UINT16_MAX &&
	       greeting->credit_pkts >= 1 && greeting->credit_pkts <= UINT16_MAX &&
	       rails_fit(&greeting->rails);
}

uint32_t
bundle_greeting_write(const struct bundle_greeting *greeting, uint8_t *at)
{
	uint32_t name = name_bytes(greeting->name), target = name_bytes(greeting->target);
	uint8_t *end = at + 5;

	LULL_ASSERT(greeting_fits(greeting));
	at[0] = greeting->version_min;
	at[1] = greeting->version_max;
	at[2] = (uint8_t)name;
	at[3] = (uint8_t)target;
	at[4] = (uint8_t)greeting->rails.count;
	end = lull_bytes_put_little(end, 0, 3);
	end = lull_bytes_put_little(end, greeting->node_id, 8);
	end = lull_bytes_put_little(end, greeting->index, 4);
	end = lull_bytes_put_little(end, greeting->piece_bytes, 4);
	end = lull_bytes_put_little(end, greeting->piece_room, 4);
	end = lull_bytes_put_little(end, greeting->messages_max, 4);
	end = lull_bytes_put_little(end, greeting->grant_pieces, 4);
	end = lull_bytes_put_little(end, greeting->credit_pkts, 4);
	end = lull_bytes_copy(end, (const uint8_t *)greeting->name, name);
	end = lull_bytes_copy(end, (const uint8_t *)greeting->target, target);
	return (uint32_t)(rails_write(&greeting->rails, end) - at);
}

static bool
name_read(char name[LULL_BUNDLE_NAME_SIZE], uint32_t len, struct lull_reader *reader)
{
	const uint8_t *bytes = NULL;

	memset(name, 0, LULL_BUNDLE_NAME_SIZE);
	if (len >= LULL_BUNDLE_NAME_SIZE)
		return false;
	if (len > 0) {
		bytes = lull_reader_bytes(reader, len);
		if (bytes == NULL)
			return false;
		memcpy(name, bytes, len);
	}
	return name_bytes(name) == len;
}

bool
bundle_greeting_read(struct bundle_greeting *greeting, const uint8_t *at, uint32_t len_bytes)
{
	struct lull_reader reader = lull_reader_over(at, len_bytes);

	if (len_bytes < GREETING_BYTES || !lull_bytes_zero(at + 5, 3))
		return false;
	*greeting = (struct bundle_greeting){
		.version_min = at[0],
		.version_max = at[1],
		.node_id = lull_bytes_little64(at + 8),
		.index = lull_bytes_little32(at + 16),
		.piece_bytes = lull_bytes_little32(at + 20),
		.piece_room = lull_bytes_little32(at + 24),
		.messages_max = lull_bytes_little32(at + 28),
		.grant_pieces = lull_bytes_little32(at + 32),
		.credit_pkts = lull_bytes_little32(at + 36),
	};
	lull_reader_skip(&reader, GREETING_BYTES);
	return name_read(greeting->name, at[2], &reader) &&
	       name_read(greeting->target, at[3], &reader) &&
	       rails_read(&greeting->rails, at[4], &reader) && lull_reader_left(&reader) == 0 &&
	       greeting_fits(greeting);
}

/* Header of a packet outside of epochs. */
static struct bundle_header
plain_header(enum bundle_type type, uint32_t id, uint64_t node_id)
{
	return (struct bundle_header){
		.version = BUNDLE_VERSION,
		.type = (uint8_t)type,
		.psn = id,
		.msg = (uint32_t)node_id,
		.off = (uint32_t)(node_id >> 32),
	};
}

static uint32_t
hello_cookie_bytes(enum bundle_type type)
{
	return type == BUNDLE_HELLO ? BUNDLE_COOKIE_BYTES : 0;
}

uint32_t
bundle_hello_write(const struct bundle_hello *hello, enum bundle_type type, uint8_t *packet,
		   uint32_t room_bytes)
{
	struct bundle_header header = plain_header(type, hello->key_id, hello->node_id);
	uint64_t needed =
		(uint64_t)BUNDLE_HEADER_BYTES + hello_cookie_bytes(type) + hello->body_bytes;
	uint64_t len = type == BUNDLE_HELLO ? LULL_MAX(needed, BUNDLE_HELLO_BYTES_MIN) : needed;
	uint8_t *at = packet + BUNDLE_HEADER_BYTES;

	LULL_ASSERT(type == BUNDLE_HELLO || type == BUNDLE_ANSWER);
	LULL_ASSERT(hello->rail < LULL_BUNDLE_RAILS_MAX && hello->body_bytes > 0);
	LULL_ASSERT(hello->node_id != 0);
	if (len > room_bytes)
		return 0;
	header.path = (uint8_t)(hello->rail << 4);
	header.to = type == BUNDLE_ANSWER ? hello->to : 0;
	header.grant = hello->body_bytes;
	bundle_header_write(&header, packet);
	at = lull_bytes_copy(at, hello->cookie, hello_cookie_bytes(type));
	at = lull_bytes_copy(at, hello->body, hello->body_bytes);
	lull_bytes_fill(at, len - needed);
	return (uint32_t)len;
}

bool
bundle_hello_read(struct bundle_hello *hello, const struct bundle_header *header,
		  const uint8_t *packet, uint32_t len_bytes)
{
	bool asks = header->type == BUNDLE_HELLO;
	uint32_t begin = BUNDLE_HEADER_BYTES + hello_cookie_bytes(header->type);

	if ((!asks && header->type != BUNDLE_ANSWER) || header->flags != 0 || header->rest != 0 ||
	    header->sent != 0 || (header->path & 15) != 0 || (asks && header->to != 0))
		return false;
	if (len_bytes < (asks ? BUNDLE_HELLO_BYTES_MIN : begin) || header->grant == 0 ||
	    header->grant > len_bytes - begin || (!asks && header->grant != len_bytes - begin))
		return false;
	*hello = (struct bundle_hello){
		.rail = header->path >> 4,
		.to = header->to,
		.key_id = header->psn,
		.node_id = header->msg | (uint64_t)header->off << 32,
		.body = packet + begin,
		.body_bytes = header->grant,
	};
	memcpy(hello->cookie, packet + BUNDLE_HEADER_BYTES, hello_cookie_bytes(header->type));
	return hello->node_id != 0 && lull_bytes_zero(hello->body + hello->body_bytes,
						      len_bytes - begin - hello->body_bytes);
}

uint32_t
bundle_retry_write(const struct bundle_retry *retry, uint8_t *packet)
{
	struct bundle_header header = plain_header(BUNDLE_RETRY, retry->key_id, retry->node_id);

	bundle_header_write(&header, packet);
	memcpy(packet + BUNDLE_HEADER_BYTES, retry->cookie, BUNDLE_COOKIE_BYTES);
	return RETRY_BYTES;
}

bool
bundle_retry_read(struct bundle_retry *retry, const struct bundle_header *header,
		  const uint8_t *packet, uint32_t len_bytes)
{
	if (header->type != BUNDLE_RETRY || len_bytes != RETRY_BYTES)
		return false;
	retry->key_id = header->psn;
	retry->node_id = header->msg | (uint64_t)header->off << 32;
	memcpy(retry->cookie, packet + BUNDLE_HEADER_BYTES, BUNDLE_COOKIE_BYTES);
	return true;
}

uint32_t
bundle_reset_write(uint32_t unknown, uint32_t psn, uint8_t *packet)
{
	struct bundle_header header = plain_header(BUNDLE_RESET, psn, unknown);

	bundle_header_write(&header, packet);
	return BUNDLE_HEADER_BYTES;
}
