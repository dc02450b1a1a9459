/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "capture_file.h"
#include "base/prng.h"

/* Cut anywhere: the packets before the cut, then the end only where a record ends. */
static void
check_every_cut(const struct file *file, size_t header_bytes)
{
	struct lull_capture_packet packet;
	size_t record_end = header_bytes;
	uint32_t whole = 0;
	struct opened opened;

	for (size_t len = 0; len <= file->len; len++) {
		uint32_t count = 0;

		open_len(&opened, file, len);
		while (lull_capture_next(&opened.capture, &packet) == LULL_CAPTURE_PACKET)
			count++;
		assert_true(count == whole || count == whole + 1);
		whole = count;
		if (opened.capture.result == LULL_CAPTURE_END)
			record_end = len;
		assert_int_equal(opened.capture.result,
				 record_end == len ? LULL_CAPTURE_END : LULL_CAPTURE_TRUNCATED);
		assert_int_equal(opened.capture.offset, len < header_bytes ? 0 : record_end);
		free(opened.bytes);
	}
	assert_int_equal(record_end, file->len);
	assert_int_equal(whole, 3);
}

static void
make_pcap(struct file *file)
{
	pcap_header(file, true, MAGIC_NS, 1);
	pcap_packet(file, 1, 2, 33, 60);
	pcap_packet(file, 1, 3, 0, 60);
	pcap_packet(file, 1, 4, 60, 60);
}

static void
make_pcapng(struct file *file)
{
	pcapng_header(file, true);
	interface(file, 1, 0, 9, 0);
	enhanced(file, 0, 1, 33, 60);
	enhanced(file, 0, 2, 0, 60);
	section(file, false);
	interface(file, 1, 0, 9, 0);
	enhanced(file, 0, 3, 60, 60);
}

TEST(next__cut_anywhere)
{
	struct file file;

	make_pcap(&file);
	check_every_cut(&file, 24);
	make_pcapng(&file);
	check_every_cut(&file, 28);
}

/* Whatever the bytes say: no read outside, every view inside, always an end. */
TEST(next__random_damage_never_hurts)
{
	struct lull_prng prng;
	struct file good, file;

	lull_prng_init(&prng, 1, 0);
	for (uint32_t round = 0; round < 20000; round++) {
		struct lull_capture_packet packet;
		struct opened opened;
		uint32_t count = 0;

		if (round % 2 != 0)
			make_pcap(&good);
		else
			make_pcapng(&good);
		file = good;
		for (uint32_t i = 0; i < 1 + round % 5; i++)
			file.bytes[lull_prng_below(&prng, file.len)] =
				(uint8_t)(lull_prng_u64(&prng) >> lull_prng_below(&prng, 64));
		open_len(&opened, &file, file.len);
		while (lull_capture_next(&opened.capture, &packet) == LULL_CAPTURE_PACKET) {
			assert_true(packet.data >= opened.bytes);
			assert_true(packet.data + packet.captured_bytes <= opened.bytes + file.len);
			count++;
		}
		assert_true(count <= file.len / 12);
		assert_true(opened.capture.offset <= file.len);
		free(opened.bytes);
	}
}

TEST(result_name__all)
{
	assert_string_equal(lull_capture_result_name(LULL_CAPTURE_PACKET), "packet");
	assert_string_equal(lull_capture_result_name(LULL_CAPTURE_END), "end");
	assert_string_equal(lull_capture_result_name(LULL_CAPTURE_TRUNCATED), "truncated");
	assert_string_equal(lull_capture_result_name(LULL_CAPTURE_MALFORMED), "malformed");
	assert_string_equal(lull_capture_result_name(LULL_CAPTURE_UNSUPPORTED), "unsupported");
}
