/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures as lull-flow reads them: merged by time, faults told with file and place. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case.h"
#include "lull-flow/files.h"

#define HEADER_BYTES 24
#define RECORD_BYTES 16
#define FRAME_BYTES 4

static char folder[64];
static struct lull_option_list paths;
static struct flow_files files;

/* ---- captures ---- */

static const char *
in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void
put32(FILE *file, uint32_t value)
{
	assert_int_equal(fwrite(&value, sizeof(value), 1, file), 1);
}

static FILE *
capture_begin(const char *name)
{
	FILE *file = fopen(in_folder(name), "we");

	assert_non_null(file);
	put32(file, 0xa1b2c3d4);
	put32(file, 4u << 16 | 2);
	put32(file, 0);
	put32(file, 0);
	put32(file, 65535);
	put32(file, LULL_CAPTURE_LINK_ETHERNET);
	return file;
}

/* A frame of four bytes that all say who it is. */
static void
capture_add(FILE *file, uint32_t second, uint8_t who)
{
	const uint8_t frame[FRAME_BYTES] = { who, who, who, who };

	put32(file, second);
	put32(file, 0);
	put32(file, FRAME_BYTES);
	put32(file, FRAME_BYTES);
	assert_int_equal(fwrite(frame, sizeof(frame), 1, file), 1);
}

static void
capture_write(const char *name, const char *who, uint32_t second, uint32_t step)
{
	FILE *file = capture_begin(name);

	for (; *who != '\0'; who++, second += step)
		capture_add(file, second, (uint8_t)*who);
	fclose(file);
}

static void
name_path(const char *name)
{
	snprintf(paths.items[paths.count++], LULL_OPTION_LIST_TEXT, "%s", in_folder(name));
}

/* ---- reading ---- */

/* First byte of each frame, in order, read @p at_once at a time. */
static const char *
read_all(uint32_t at_once)
{
	static char text[256];
	struct lull_pipeline_frame frames[8];
	uint32_t length = 0, count;
	uint64_t last_ns = 0;
	bool end = false;

	do {
		count = flow_files_read(&files, frames, at_once, &end);
		for (uint32_t i = 0; i < count; i++) {
			assert_true(frames[i].time_ns >= last_ns);
			last_ns = frames[i].time_ns;
			assert_int_equal(frames[i].captured_bytes, FRAME_BYTES);
			assert_int_equal(frames[i].link_type, LULL_CAPTURE_LINK_ETHERNET);
			assert_true(length + 1 < sizeof(text));
			text[length++] = (char)frames[i].data[0];
		}
		assert_true(end == (count == 0));
	} while (!end);
	text[length] = '\0';
	return text;
}

static void
assert_refused(int code, const char *what)
{
	struct lull_error error = { .text = "" };

	assert_int_equal(flow_files_open(&files, &paths, NULL, &error), code);
	if (strstr(error.text, what) == NULL)
		fail_msg("'%s' does not say '%s'", error.text, what);
}

static void
open_well(void)
{
	struct lull_error error = { .text = "" };

	if (flow_files_open(&files, &paths, NULL, &error) != 0)
		fail_msg("%s", error.text);
}

static int
setup(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/lull-files-XXXXXX");
	memset(&paths, 0, sizeof(paths));
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int
teardown(void **state)
{
	static const char *const names[] = { "a",     "b",     "c",      "note", "a.gz",
					     "a.zst", "empty", "folder", "pipe" };

	(void)state;
	flow_files_close(&files);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		remove(in_folder(names[i]));
	return rmdir(folder);
}

/* ---- cases ---- */

TEST_WITH(read__merges_files_by_time, setup, teardown)
{
	capture_write("a", "1357", 1, 2);
	capture_write("b", "2468", 2, 2);
	capture_write("c", "9", 100, 1);
	name_path("c");
	name_path("b");
	name_path("a");
	open_well();
	assert_string_equal(read_all(3), "123456789");
	assert_int_equal(files.pkts, 9);
	assert_int_equal(files.bytes, 9 * FRAME_BYTES);
	assert_int_equal(files.faults, 0);
}

TEST_WITH(read__at_equal_times_keeps_the_order_of_names, setup, teardown)
{
	capture_write("a", "aa", 5, 0);
	capture_write("b", "bb", 5, 0);
	name_path("b");
	name_path("a");
	open_well();
	assert_string_equal(read_all(1), "bbaa");
}

TEST_WITH(read__ends_when_it_is_told_to, setup, teardown)
{
	struct lull_pipeline_frame frame;
	bool end = false;

	capture_write("a", "abc", 1, 1);
	name_path("a");
	open_well();
	assert_int_equal(flow_files_read(&files, &frame, 1, &end), 1);
	assert_false(end);
	files.stop = true;
	assert_int_equal(flow_files_read(&files, &frame, 1, &end), 0);
	assert_true(end);
}

TEST_WITH(open__takes_the_captures_of_a_folder_by_name, setup, teardown)
{
	FILE *file;

	capture_write("b", "b", 1, 1);
	capture_write("a", "a", 1, 1);
	assert_int_equal(mkdir(in_folder("folder"), 0700), 0);
	file = fopen(in_folder("note"), "we");
	fputs("this is no capture, only words next to some", file);
	fclose(file);
	fclose(fopen(in_folder("empty"), "we"));
	snprintf(paths.items[paths.count++], LULL_OPTION_LIST_TEXT, "%s", folder);
	open_well();
	assert_int_equal(files.file_count, 2);
	assert_int_equal(files.skipped, 2);
	assert_string_equal(read_all(8), "ab");
}

TEST_WITH(open__refuses_by_name, setup, teardown)
{
	FILE *file;

	name_path("missing");
	assert_refused(-ENOENT, "missing");
	paths.count = 0;
	fclose(fopen(in_folder("empty"), "we"));
	name_path("empty");
	assert_refused(-EINVAL, "empty");
	paths.count = 0;
	file = fopen(in_folder("note"), "we");
	fputs("this is no capture, only words next to some", file);
	fclose(file);
	name_path("note");
	assert_refused(-EINVAL, "neither pcap nor pcapng");
	paths.count = 0;
	snprintf(paths.items[paths.count++], LULL_OPTION_LIST_TEXT, "%s", folder);
	assert_refused(-ENOENT, "no capture");
}

TEST_WITH(fault__names_the_file_and_the_byte, setup, teardown)
{
	struct lull_error text;
	char where[64];

	capture_write("a", "abc", 1, 1);
	capture_write("b", "xyz", 1, 1);
	assert_int_equal(truncate(in_folder("a"), HEADER_BYTES + 2 * (RECORD_BYTES + FRAME_BYTES) +
							  RECORD_BYTES + 1),
			 0);
	name_path("a");
	name_path("b");
	open_well();
	/* What is whole counts, of the other file too. */
	assert_string_equal(read_all(2), "axbyz");
	assert_int_equal(files.faults, 1);
	assert_null(flow_files_fault(&files, 1, &text));
	assert_non_null(flow_files_fault(&files, 0, &text));
	assert_non_null(strstr(text.text, in_folder("a")));
	snprintf(where, sizeof(where), "truncated at byte %d",
		 HEADER_BYTES + 2 * (RECORD_BYTES + FRAME_BYTES));
	assert_non_null(strstr(text.text, where));
}

TEST_WITH(read__gives_zeros_where_bytes_have_gone, setup, teardown)
{
	struct lull_pipeline_frame frame;
	bool end = false;

	capture_write("b", "ab", 1, 1);
	name_path("b");
	open_well();
	assert_int_equal(flow_files_read(&files, &frame, 1, &end), 1);
	assert_int_equal(truncate(in_folder("b"), 0), 0);
	assert_int_equal(frame.data[0], 0);
	assert_true(files.files[0].torn);
}

/* Its bytes are gone: to touch them would be a SIGBUS. */
TEST_WITH(read__survives_a_file_that_becomes_shorter, setup, teardown)
{
	struct lull_pipeline_frame frames[8];
	struct lull_error error;
	FILE *file = capture_begin("b");
	bool end = false;

	for (uint32_t i = 0; i < 10000; i++)
		capture_add(file, i, 'w');
	fclose(file);
	capture_write("c", "xyz", 20000, 1);
	name_path("b");
	name_path("c");
	assert_int_equal(flow_files_open(&files, &paths, NULL, &error), 0);
	assert_int_equal(flow_files_read(&files, frames, 8, &end), 8);
	assert_int_equal(truncate(in_folder("b"), HEADER_BYTES), 0);
	assert_int_equal(flow_files_read(&files, frames, 8, &end), 3);
	assert_int_equal(frames[0].data[0], 'x');
	assert_int_equal(flow_files_read(&files, frames, 8, &end), 0);
	assert_true(end);
	assert_int_equal(files.faults, 1);
	assert_int_equal(files.pkts, 11);
	assert_non_null(strstr(flow_files_fault(&files, 0, &error), "b: truncated at byte 24"));
	assert_null(flow_files_fault(&files, 1, &error));
}

/* ---- stamps ---- */

static void
assert_times(const uint32_t *seconds, const uint32_t *times, uint32_t count, uint64_t wild)
{
	struct lull_pipeline_frame frame;
	FILE *file = capture_begin("a");
	bool end = false;

	for (uint32_t i = 0; i < count; i++)
		capture_add(file, seconds[i], 'a');
	fclose(file);
	paths.count = 0;
	name_path("a");
	open_well();
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(flow_files_read(&files, &frame, 1, &end), 1);
		assert_int_equal(frame.time_ns, times[i] * LULL_NS_PER_S);
	}
	assert_int_equal(files.stamps.wild, wild);
	flow_files_close(&files);
}

TEST_WITH(time__of_a_wild_stamp_is_that_of_the_packet_before, setup, teardown)
{
	static const struct {
		uint32_t seconds[6], times[6];
		uint64_t wild;
	} rows[] = {
		{ { 100, 101, 4000000000, 102, 103, 104 }, { 100, 101, 101, 102, 103, 104 }, 1 },
		{ { 1000, 1001, 0, 1002, 1003, 1004 }, { 1000, 1001, 1001, 1002, 1003, 1004 }, 1 },
		{ { 100, 4000000000, 3000000000, 102, 160, 220 },
		  { 100, 100, 100, 102, 160, 220 },
		  2 },
		/* The first one: no packet is before it. */
		{ { 4000000000, 101, 102, 103, 104, 105 }, { 101, 101, 102, 103, 104, 105 }, 1 },
		{ { 0, 900000000, 900000001, 900000002, 900000003, 900000004 },
		  { 900000000, 900000000, 900000001, 900000002, 900000003, 900000004 },
		  1 },
		/* Nothing is wild: silence, a clock that was set, little traffic, disorder. */
		{ { 100, 101, 9000, 9001, 9002, 9003 }, { 100, 101, 9000, 9001, 9002, 9003 }, 0 },
		{ { 9000, 9001, 100, 101, 102, 103 }, { 9000, 9001, 100, 101, 102, 103 }, 0 },
		{ { 100, 7200, 14400, 21600, 28800, 36000 },
		  { 100, 7200, 14400, 21600, 28800, 36000 },
		  0 },
		{ { 100, 105, 101, 106, 102, 107 }, { 100, 105, 101, 106, 102, 107 }, 0 },
		{ { 0, 1, 2, 3, 4, 5 }, { 0, 1, 2, 3, 4, 5 }, 0 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("%u\n", i);
		assert_times(rows[i].seconds, rows[i].times, 6, rows[i].wild);
	}
}

/* ---- streams ---- */

static void
run_shell(const char *format, const char *a, const char *b)
{
	char command[512];

	snprintf(command, sizeof(command), format, a, b);
	assert_int_equal(system(command), 0);
}

/* More than one window, so that frames of many fillings come. */
static void
assert_large(const char *name, const char *command)
{
	struct lull_pipeline_frame frames[8];
	uint32_t total = 0, count;
	FILE *file = capture_begin("a");
	char from[128];
	bool end = false;

	for (uint32_t i = 0; i < 50000; i++)
		capture_add(file, i / 100, (uint8_t)i);
	fclose(file);
	snprintf(from, sizeof(from), "%s", in_folder("a"));
	run_shell(command, from, in_folder(name));
	name_path(name);
	open_well();
	do {
		count = flow_files_read(&files, frames, 7, &end);
		for (uint32_t i = 0; i < count; i++, total++) {
			assert_int_equal(frames[i].data[0], (uint8_t)total);
			assert_int_equal(frames[i].data[3], (uint8_t)total);
			assert_int_equal(frames[i].time_ns, total / 100 * LULL_NS_PER_S);
		}
	} while (!end);
	assert_int_equal(total, 50000);
	assert_int_equal(files.pkts, 50000);
	assert_int_equal(files.faults, 0);
}

TEST_WITH(read__takes_what_gzip_compressed, setup, teardown)
{
	assert_large("a.gz", "gzip <%s >%s");
}

/* Two members, as "cat a.gz b.gz" makes them. */
TEST_WITH(read__takes_several_members, setup, teardown)
{
	assert_large("a.gz", "(head -c 100000 %1$s | gzip; tail -c +100001 %1$s | gzip) >%2$s");
}

TEST_WITH(read__takes_what_zstd_compressed, setup, teardown)
{
	if (system("command -v zstd >/dev/null") != 0) {
		puts("skipped: no zstd");
		skip();
	}
	assert_large("a.zst", "zstd -q <%s >%s");
}

TEST_WITH(fault__of_what_is_compressed_counts_unpacked_bytes, setup, teardown)
{
	struct lull_error text;
	char from[128];

	capture_write("a", "abc", 1, 1);
	snprintf(from, sizeof(from), "%s", in_folder("a"));
	run_shell("gzip <%s | head -c -12 >%s", from, in_folder("a.gz"));
	name_path("a.gz");
	open_well();
	read_all(8);
	assert_int_equal(files.faults, 1);
	assert_non_null(strstr(flow_files_fault(&files, 0, &text), "end too early"));
	flow_files_close(&files);
	/* Its last packet is cut before it was compressed. */
	run_shell("head -c -2 <%s | gzip >%s", from, in_folder("a.gz"));
	open_well();
	assert_string_equal(read_all(8), "ab");
	assert_non_null(strstr(flow_files_fault(&files, 0, &text), "truncated at byte 64"));
	flow_files_close(&files);
	/* Something else in it. */
	run_shell("echo %s and more that is no capture | gzip >%s", "words", in_folder("a.gz"));
	assert_refused(-EINVAL, "neither pcap nor pcapng nor snoop");
}

/* A pipe gives its packets when they come, and holds up those of other files until then. */
TEST_WITH(read__waits_for_a_pipe, setup, teardown)
{
	struct lull_pipeline_frame frames[8];
	uint8_t bytes[HEADER_BYTES + 2 * (RECORD_BYTES + FRAME_BYTES)];
	bool end = false;
	FILE *file;
	int fd;

	capture_write("a", "ac", 1, 2);
	file = fopen(in_folder("a"), "re");
	assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
	fclose(file);
	capture_write("b", "bd", 2, 2);
	assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
	name_path("b");
	name_path("pipe");
	open_well();
	assert_int_equal(flow_files_read(&files, frames, 8, &end), 0);
	assert_false(end);
	fd = open(in_folder("pipe"), O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof(bytes) - 1; i++) {
		assert_int_equal(write(fd, bytes + i, 1), 1);
		if (i < HEADER_BYTES + RECORD_BYTES + FRAME_BYTES - 1)
			assert_int_equal(flow_files_read(&files, frames, 8, &end), 0);
		if (i == HEADER_BYTES + RECORD_BYTES + FRAME_BYTES - 1) {
			assert_int_equal(flow_files_read(&files, frames, 8, &end), 1);
			assert_int_equal(frames[0].data[0], 'a');
		}
		assert_false(end);
	}
	assert_int_equal(flow_files_read(&files, frames, 8, &end), 0);
	assert_int_equal(write(fd, bytes + sizeof(bytes) - 1, 1), 1);
	close(fd);
	assert_string_equal(read_all(8), "bcd");
	assert_int_equal(files.faults, 0);
}

/* ---- versions ---- */

/* What is a capture, but of another version, is told also in a folder. */
TEST_WITH(open__tells_a_version_that_it_cannot_read, setup, teardown)
{
	struct lull_error text;
	FILE *file = fopen(in_folder("a"), "we");

	put32(file, 0xa1b2c3d4);
	put32(file, 3);
	for (int i = 0; i < 4; i++)
		put32(file, 0);
	fclose(file);
	name_path("a");
	assert_refused(-EINVAL, "pcap, but of another version than 2");
	paths.count = 0;
	snprintf(paths.items[paths.count++], LULL_OPTION_LIST_TEXT, "%s", folder);
	open_well();
	assert_string_equal(read_all(8), "");
	assert_int_equal(files.faults, 1);
	assert_int_equal(files.skipped, 0);
	assert_non_null(strstr(flow_files_fault(&files, 0, &text), "another version"));
}
