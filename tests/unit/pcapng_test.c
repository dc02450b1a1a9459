/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "case.h"
#include "capture_file.h"

TEST(next__pcapng_both_orders)
{
	struct opened opened;
	struct file file;

	for (int big_endian = 0; big_endian < 2; big_endian++) {
		pcapng_header(&file, big_endian != 0);
		interface(&file, 1, 0, 0, 0);
		enhanced(&file, 0, 1700000000123456, 61, 1514);
		enhanced(&file, 0, 1700000000123457, 0, 0);
		open_len(&opened, &file, file.len);
		assert_packet(&opened, 1700000000123456000, 1, 61, 1514);
		assert_packet(&opened, 1700000000123457000, 1, 0, 0);
		assert_result(&opened, LULL_CAPTURE_END, file.len);
	}
}

TEST(next__pcapng_resolutions_and_offsets)
{
	static const struct {
		uint8_t resolution;
		int64_t offset_s;
		uint64_t ticks, timestamp_ns;
	} rows[] = {
		{ 9, 0, 1700000000123456789, 1700000000123456789 },
		{ 3, 0, 1700000000123, 1700000000123000000 },
		{ 12, 0, 1234567890, 1234567 },
		{ 19, 0, UINT64_MAX, 1844674407 },
		{ 127, 0, UINT64_MAX, 0 },
		{ 6, 0, UINT64_MAX, UINT64_MAX },
		{ 0x80, 0, 17, 17000000000 },
		{ 0x80 | 32, 0, 5ULL << 32 | 1ULL << 31, 5500000000 },
		{ 0x80 | 63, 0, UINT64_MAX, 1999999999 },
		{ 0x80 | 127, 0, UINT64_MAX, 0 },
		{ 0x80, 0, UINT64_MAX, UINT64_MAX },
		{ 6, 100, 5, 100000005000 },
		{ 6, -1, 2000000, 1000000000 },
		{ 6, -3, 2000000, 0 },
		{ 6, INT64_MAX, 0, UINT64_MAX },
		{ 6, INT64_MIN, UINT64_MAX, 0 },
	};
	struct opened opened;
	struct file file;

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pcapng_header(&file, i % 2 != 0);
		interface(&file, 1, 0, rows[i].resolution, rows[i].offset_s);
		enhanced(&file, 0, rows[i].ticks, 4, 4);
		open_len(&opened, &file, file.len);
		assert_packet(&opened, rows[i].timestamp_ns, 1, 4, 4);
		assert_result(&opened, LULL_CAPTURE_END, file.len);
	}
}

static void
described(void *arg, const struct lull_capture_description *description)
{
	char *text = arg;

	sprintf(text + strlen(text), "%u[%.*s|%.*s]", description->index,
		(int)description->name_bytes, description->name, (int)description->text_bytes,
		description->text);
}

/* What interfaces are called; of each section they count from 0. */
TEST(describe__pcapng_names)
{
	struct opened opened;
	struct file file;

	for (int big_endian = 0; big_endian < 2; big_endian++) {
		char text[128] = "";

		pcapng_header(&file, big_endian != 0);
		for (int i = 0; i < 3; i++) {
			if (i == 2)
				section(&file, big_endian != 0);
			block_begin(&file, 1);
			put(&file, 1, 2);
			put(&file, 0, 6);
			option(&file, 1, 'c', 1);
			if (i != 1) {
				option(&file, 2, 'n', 1);
				option(&file, 3, big_endian != 0 ? 0x6f6b : 0x6b6f, 2);
			}
			block_end(&file);
		}
		enhanced(&file, 0, 1700000000123456, 61, 1514);
		open_len(&opened, &file, file.len);
		lull_capture_describe(&opened.capture, described, text);
		assert_packet(&opened, 1700000000123456000, 1, 61, 1514);
		assert_string_equal(text, "0[n|ok]1[|]0[n|ok]");
		assert_result(&opened, LULL_CAPTURE_END, file.len);
	}
}

TEST(next__pcapng_interfaces_blocks_and_sections)
{
	struct lull_capture_packet packet;
	struct opened opened;
	struct file file;

	pcapng_header(&file, false);
	interface(&file, 1, 64, 9, 0);
	block_begin(&file, 0x0bad); /* unknown: skipped */
	put_data(&file, 10);
	block_end(&file);
	interface(&file, 113, 0, 6, 0);
	enhanced(&file, 1, 7, 5, 6);
	enhanced(&file, 0, 7, 5, 6);
	block_begin(&file, 3); /* simple, cut to the snap length */
	put(&file, 100, 4);
	put_data(&file, 64);
	block_end(&file);
	block_begin(&file, 2); /* obsolete */
	put(&file, 1, 2);
	put(&file, 0xffff, 2);
	put(&file, 0, 4);
	put(&file, 9, 4);
	put(&file, 3, 4);
	put(&file, 30, 4);
	put_data(&file, 3);
	block_end(&file);
	section(&file, true);
	interface(&file, 228, 0, 0, 0);
	enhanced(&file, 0, 11, 2, 2);
	open_len(&opened, &file, file.len);
	assert_packet(&opened, 7000, 113, 5, 6);
	assert_packet(&opened, 7, 1, 5, 6);
	assert_int_equal(lull_capture_next(&opened.capture, &packet), LULL_CAPTURE_PACKET);
	assert_false(packet.timed);
	assert_int_equal(packet.captured_bytes, 64);
	assert_int_equal(packet.original_bytes, 100);
	assert_int_equal(packet.link_type, 1);
	assert_packet(&opened, 9000, 113, 3, 30);
	assert_packet(&opened, 11000, 228, 2, 2);
	assert_result(&opened, LULL_CAPTURE_END, file.len);
}

TEST(open__pcapng_refuses)
{
	struct file file;

	pcapng_header(&file, false);
	file.bytes[12] = 2;
	assert_fails(&file, LULL_CAPTURE_UNSUPPORTED, 0);
	pcapng_header(&file, false);
	file.bytes[8] = 0;
	assert_fails(&file, LULL_CAPTURE_MALFORMED, 0);
	pcapng_header(&file, true);
	file.bytes[7] = 27; /* length not a multiple of 4 */
	assert_fails(&file, LULL_CAPTURE_MALFORMED, 0);
}

TEST(next__pcapng_contradictions_are_malformed)
{
	struct file good, file;
	size_t packet_at;

	pcapng_header(&good, false);
	interface(&good, 1, 0, 6, 0);
	packet_at = good.len;
	enhanced(&good, 0, 1, 20, 20);

	file = good;
	file.bytes[file.len - 4] ^= 4; /* the second length */
	assert_fails(&file, LULL_CAPTURE_MALFORMED, packet_at);
	file = good;
	file.bytes[packet_at + 8] = 1; /* an interface never described */
	assert_fails(&file, LULL_CAPTURE_MALFORMED, packet_at);
	file = good;
	file.bytes[packet_at + 20] = 100; /* longer than its block */
	assert_fails(&file, LULL_CAPTURE_MALFORMED, packet_at);
	file = good;
	file.bytes[packet_at + 23] = 0xff; /* beyond all reason */
	assert_fails(&file, LULL_CAPTURE_MALFORMED, packet_at);
	file = good;
	file.bytes[packet_at + 7] = 0xff; /* likewise, the block */
	assert_fails(&file, LULL_CAPTURE_MALFORMED, packet_at);
	file = good;
	file.bytes[packet_at + 4] = 8; /* shorter than its own lengths */
	assert_fails(&file, LULL_CAPTURE_MALFORMED, packet_at);
	file = good;
	file.bytes[28 + 18] = 200; /* an option runs out of its block */
	assert_fails(&file, LULL_CAPTURE_MALFORMED, 28);
}

/* Description blocks of 36 bytes by the thousand: more than a struct file holds. */
static size_t
put_interfaces(uint8_t *bytes, uint32_t count, bool differ)
{
	struct file file;
	size_t len;

	pcapng_header(&file, false);
	memcpy(bytes, file.bytes, file.len);
	len = file.len;
	for (uint32_t i = 0; i < count; i++) {
		memset(&file, 0, sizeof(file));
		interface(&file, (uint16_t)(differ ? i : i % 2), 0, 0, 0);
		memcpy(bytes + len, file.bytes, file.len);
		len += file.len;
	}
	return len;
}

static void
assert_interfaces(uint32_t count, bool differ, const char *reason)
{
	uint8_t *bytes = malloc((count + 2) * 48u);
	struct lull_capture_packet packet;
	struct lull_capture capture;
	struct file file = { .len = 0 };
	size_t len;

	assert_non_null(bytes);
	len = put_interfaces(bytes, count, differ);
	enhanced(&file, count - 1, 7, 4, 4);
	memcpy(bytes + len, file.bytes, file.len);
	lull_capture_open(&capture, bytes, len + file.len);
	if (reason != NULL) {
		assert_int_equal(lull_capture_next(&capture, &packet), LULL_CAPTURE_UNSUPPORTED);
		assert_string_equal(capture.reason, reason);
	} else {
		assert_int_equal(lull_capture_next(&capture, &packet), LULL_CAPTURE_PACKET);
		assert_int_equal(packet.interface_index, count - 1);
		assert_int_equal(packet.link_type, differ ? count - 1 : (count - 1) % 2);
		assert_int_equal(lull_capture_next(&capture, &packet), LULL_CAPTURE_END);
	}
	free(bytes);
}

TEST(next__pcapng_interfaces_by_the_thousand)
{
	assert_interfaces(65, false, NULL);
	assert_interfaces(LULL_CAPTURE_INTERFACES_MAX, false, NULL);
	assert_interfaces(LULL_CAPTURE_INTERFACES_MAX + 1, false,
			  "more than 8192 interfaces in a section");
	assert_interfaces(LULL_CAPTURE_KINDS_MAX, true, NULL);
	assert_interfaces(LULL_CAPTURE_KINDS_MAX + 1, true,
			  "more than 64 kinds of interfaces in a section");
}

/* Interfaces of a section before, its snap length too, are forgotten. */
TEST(next__pcapng_simple_packets_have_the_snap_length_of_their_section)
{
	struct opened opened;
	struct file file;

	pcapng_header(&file, false);
	interface(&file, 1, 2, 0, 0);
	section(&file, false);
	interface(&file, 113, 0, 0, 0);
	interface(&file, 113, 3, 0, 0);
	block_begin(&file, 3);
	put(&file, 4, 4);
	put_data(&file, 4);
	block_end(&file);
	open_len(&opened, &file, file.len);
	assert_packet(&opened, 0, 113, 4, 4);
	assert_result(&opened, LULL_CAPTURE_END, file.len);
}
