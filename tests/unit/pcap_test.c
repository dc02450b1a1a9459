/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "capture_file.h"

TEST(next__pcap_both_orders_both_resolutions)
{
	struct opened opened;
	struct file file;

	for (int i = 0; i < 4; i++) {
		bool big_endian = i % 2 != 0, ns = i / 2 != 0;

		pcap_header(&file, big_endian, ns ? MAGIC_NS : MAGIC_US, 1);
		pcap_packet(&file, 0xfffffffe, 999999, 60, 1514);
		pcap_packet(&file, 5, 7, 0, 0);
		pcap_packet(&file, 5, 8, 1, 1);
		open_len(&opened, &file, file.len);
		assert_int_equal(opened.capture.result, LULL_CAPTURE_PACKET);
		assert_packet(&opened, 4294967294000000000 + (ns ? 999999 : 999999000), 1, 60,
			      1514);
		assert_packet(&opened, 5000000000 + (ns ? 7 : 7000), 1, 0, 0);
		assert_packet(&opened, 5000000000 + (ns ? 8 : 8000), 1, 1, 1);
		assert_result(&opened, LULL_CAPTURE_END, file.len);
	}
}

/* The upper bits of the link type tell of a checksum at the end of frames. */
TEST(next__pcap_link_type_is_the_low_half)
{
	struct opened opened;
	struct file file;

	pcap_header(&file, false, MAGIC_US, 0x24000071);
	pcap_packet(&file, 1, 0, 4, 4);
	open_len(&opened, &file, file.len);
	assert_packet(&opened, 1000000000, 113, 4, 4);
	assert_result(&opened, LULL_CAPTURE_END, file.len);
}

TEST(open__pcap_refuses)
{
	struct file file;

	pcap_header(&file, false, 0x12345678, 1);
	assert_fails(&file, LULL_CAPTURE_UNSUPPORTED, 0);
	pcap_header(&file, false, MAGIC_US, 1);
	file.bytes[4] = 3;
	assert_fails(&file, LULL_CAPTURE_UNSUPPORTED, 0);
	file.len = 0;
	assert_fails(&file, LULL_CAPTURE_TRUNCATED, 0);
}

TEST(next__pcap_absurd_length_is_malformed)
{
	struct file file;

	pcap_header(&file, false, MAGIC_US, 1);
	pcap_packet(&file, 1, 0, 10, 10);
	pcap_packet(&file, 1, 0, 0, 10);
	file.bytes[file.len - 6] = 5; /* captured: 327680 */
	assert_fails(&file, LULL_CAPTURE_MALFORMED, 24 + 26);
}

/* It tells a file that is no capture from one that is not read here. */
TEST(open__gives_the_true_reason)
{
	static const struct {
		const char *bytes, *reason;
		bool foreign;
	} rows[] = {
		{ "GIF89a and what follows it in such", "neither pcap nor pcapng nor snoop", true },
		{ "snoopdog is not a file of snoop(1)", "neither pcap nor pcapng nor snoop", true },
		{ "\xd4\xc3\xb2\xa1\3\0\0\0________________", "pcap, but of another version than 2",
		  false },
		{ "snoop\0\0\0\0\0\0\3\0\0\0\4________", "snoop, but of another version than 2",
		  false },
		{ "\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\2\0\0\0\xff\xff\xff\xff"
		  "\xff\xff\xff\xff\x1c\0\0\0",
		  "pcapng, but of another version than 1", false },
	};
	struct lull_capture capture;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		lull_capture_open(&capture, (const uint8_t *)rows[i].bytes, i == 4 ? 28 : 24);
		assert_int_equal(capture.result, LULL_CAPTURE_UNSUPPORTED);
		assert_string_equal(capture.reason, rows[i].reason);
		assert_int_equal(capture.foreign, rows[i].foreign);
	}
}

/* Before 2.4 the lengths stand in either order: the smaller one was captured. */
TEST(next__pcap_of_old_versions)
{
	struct opened opened;
	struct file file;

	for (uint8_t minor = 0; minor <= 5; minor++) {
		pcap_header(&file, false, MAGIC_US, 1);
		file.bytes[6] = minor;
		pcap_packet(&file, 1, 2, 10, 20);
		if (minor < 4) {
			put(&file, 1, 4);
			put(&file, 3, 4);
			put(&file, 20, 4);
			put(&file, 10, 4);
			put_data(&file, 10);
		}
		open_len(&opened, &file, file.len);
		assert_packet(&opened, 1000002000, 1, 10, 20);
		if (minor < 4)
			assert_packet(&opened, 1000003000, 1, 10, 20);
		assert_result(&opened, LULL_CAPTURE_END, file.len);
	}
}

/* AIX numbers links by RFC 1573 and writes nanoseconds, as version 2.2. */
TEST(next__pcap_of_aix)
{
	static const uint16_t rows[][2] = { { 6, 1 }, { 9, 6 }, { 15, 10 }, { 24, 0 } };
	struct opened opened;
	struct file file;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pcap_header(&file, true, MAGIC_US, rows[i][0]);
		file.bytes[7] = 2;
		pcap_packet(&file, 1, 999999999, 4, 4);
		open_len(&opened, &file, file.len);
		assert_packet(&opened, 1999999999, rows[i][1], 4, 4);
		assert_result(&opened, LULL_CAPTURE_END, file.len);
	}
}

TEST(next__pcap_modified)
{
	struct opened opened;
	struct file file;

	for (int big_endian = 0; big_endian < 2; big_endian++) {
		pcap_header(&file, big_endian != 0, 0xa1b2cd34, 1);
		for (uint32_t i = 0; i < 2; i++) {
			pcap_packet(&file, 1, i, 0, 1514);
			file.len -= 8;
			put(&file, 60, 4);
			put(&file, 1514, 4);
			put(&file, 2, 4); /* interface */
			put(&file, 0x0800, 2);
			put(&file, 0, 2);
			put_data(&file, 60);
		}
		open_len(&opened, &file, file.len);
		assert_packet(&opened, 1000000000, 1, 60, 1514);
		assert_packet(&opened, 1000001000, 1, 60, 1514);
		assert_result(&opened, LULL_CAPTURE_END, file.len);
		file.len -= 65;
		assert_fails(&file, LULL_CAPTURE_TRUNCATED, 24 + 84);
	}
}
