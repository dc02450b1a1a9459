/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures as lull-flow reads them: merged by time, faults told with file and place. */
#include <errno.h>
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

	assert_int_equal(flow_files_open(&files, &paths, &error), code);
	if (strstr(error.text, what) == NULL)
		fail_msg("'%s' does not say '%s'", error.text, what);
}

static void
open_well(void)
{
	struct lull_error error = { .text = "" };

	if (flow_files_open(&files, &paths, &error) != 0)
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
	static const char *const names[] = { "a", "b", "c", "note", "empty", "folder" };

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
	assert_int_equal(flow_files_open(&files, &paths, &error), 0);
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
