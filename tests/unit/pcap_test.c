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
	pcap_header(&file, false, 0xa1b2cd34, 1); /* a variant with longer packet headers */
	assert_fails(&file, LULL_CAPTURE_UNSUPPORTED, 0);
	pcap_header(&file, false, MAGIC_US, 1);
	file.bytes[4] = 3;
	assert_fails(&file, LULL_CAPTURE_UNSUPPORTED, 0);
	file.bytes[4] = 2;
	file.bytes[6] = 2;
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
