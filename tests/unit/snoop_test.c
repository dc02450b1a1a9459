/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "capture_file.h"

static void
snoop_header(struct file *file, uint32_t version, uint32_t link)
{
	memset(file, 0, sizeof(*file));
	file->big_endian = true;
	put(file, 0x736e6f6f70000000, 8);
	put(file, version, 4);
	put(file, link, 4);
}

static void
snoop_packet(struct file *file, uint32_t second, uint32_t micros, uint32_t captured,
	     uint32_t original)
{
	uint32_t padding = -captured & 3u;

	put(file, original, 4);
	put(file, captured, 4);
	put(file, 24 + captured + padding, 4);
	put(file, 9, 4); /* drops */
	put(file, second, 4);
	put(file, micros, 4);
	put_data(file, captured);
	put(file, 0, padding);
}

TEST(next__snoop)
{
	struct opened opened;
	struct file file;

	snoop_header(&file, 2, 4);
	snoop_packet(&file, 5, 7, 61, 1514);
	snoop_packet(&file, 0xffffffff, 999999, 0, 0);
	snoop_packet(&file, 6, 0, 4, 4);
	open_len(&opened, &file, file.len);
	assert_packet(&opened, 5000007000, 1, 61, 1514);
	assert_packet(&opened, 4294967295999999000, 1, 0, 0);
	assert_packet(&opened, 6000000000, 1, 4, 4);
	assert_result(&opened, LULL_CAPTURE_END, file.len);
}

TEST(next__snoop_links)
{
	static const struct {
		uint32_t number;
		uint16_t link_type;
	} rows[] = { { 0, 1 },     { 2, 6 }, { 4, 1 }, { 8, 10 }, { 5, 65535 }, { 0x80000005, 226 },
		     { 26, 65535 } };
	struct opened opened;
	struct file file;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snoop_header(&file, 2, rows[i].number);
		snoop_packet(&file, 1, 0, 4, 4);
		open_len(&opened, &file, file.len);
		assert_packet(&opened, 1000000000, rows[i].link_type, 4, 4);
		assert_result(&opened, LULL_CAPTURE_END, file.len);
	}
}

TEST(next__snoop_that_contradicts_itself)
{
	struct file good, file;

	snoop_header(&file, 3, 4);
	assert_fails(&file, LULL_CAPTURE_UNSUPPORTED, 0);
	snoop_header(&good, 2, 4);
	snoop_packet(&good, 1, 0, 5, 5);
	file = good;
	file.bytes[16 + 11] = 28; /* a record shorter than its packet */
	assert_fails(&file, LULL_CAPTURE_MALFORMED, 16);
	file = good;
	file.bytes[16 + 4] = 1; /* 16 MB captured */
	assert_fails(&file, LULL_CAPTURE_MALFORMED, 16);
	for (size_t len = 0; len < good.len; len++) {
		file = good;
		file.len = len;
		assert_fails(&file, len == 16 ? LULL_CAPTURE_END : LULL_CAPTURE_TRUNCATED,
			     len < 16 ? 0 : 16);
	}
}
