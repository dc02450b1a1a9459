/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lull-channel-copy/message.h"
#include "case.h"

static struct copy_item item, again;
static uint8_t bytes[COPY_HEAD_BYTES + 4096];

static void
fill(const char *path)
{
	memset(&item, 0, sizeof(item));
	item.index = 7;
	item.flags = COPY_FLAG_RESTART;
	item.mode = 0640;
	item.size = 5;
	item.room = 4096;
	item.accessed = (struct timespec){ .tv_sec = -3, .tv_nsec = 999999999 };
	item.modified = (struct timespec){ .tv_sec = 1LL << 40, .tv_nsec = 1 };
	memset(item.digest, 0xa5, sizeof(item.digest));
	snprintf(item.path, sizeof(item.path), "%s", path);
	item.bytes = (const uint8_t *)"bytes";
}

TEST(copy_item_read__reads_what_was_written)
{
	uint32_t len;

	fill("sub/name");
	len = copy_item_write(bytes, COPY_SMALL, &item);
	memset(&again, 0xee, sizeof(again));
	assert_int_equal(copy_item_read(bytes, len, COPY_SMALL, &again), 0);
	assert_int_equal(again.index, 7);
	assert_int_equal(again.flags, COPY_FLAG_RESTART);
	assert_int_equal(again.mode, 0640);
	assert_int_equal(again.size, 5);
	assert_int_equal(again.room, 4096);
	assert_true(again.accessed.tv_sec == -3 && again.accessed.tv_nsec == 999999999);
	assert_true(again.modified.tv_sec == 1LL << 40 && again.modified.tv_nsec == 1);
	assert_memory_equal(again.digest, item.digest, sizeof(item.digest));
	assert_string_equal(again.path, "sub/name");
	assert_memory_equal(again.bytes, "bytes", 5);
}

/* Cut anywhere, longer than it says, with a zero in its path: refused. */
TEST(copy_item_read__refuses)
{
	uint32_t small, file;

	fill("name");
	small = copy_item_write(bytes, COPY_SMALL, &item);
	for (uint32_t len = 0; len < small; len++)
		assert_int_equal(copy_item_read(bytes, len, COPY_SMALL, &again), -EPROTO);
	assert_int_equal(copy_item_read(bytes, small + 1, COPY_SMALL, &again), -EPROTO);
	file = copy_item_write(bytes, COPY_FILE, &item);
	for (uint32_t len = 0; len < file; len++)
		assert_int_equal(copy_item_read(bytes, len, COPY_FILE, &again), -EPROTO);
	bytes[file - 2] = '\0';
	assert_int_equal(copy_item_read(bytes, file, COPY_FILE, &again), -EPROTO);
	fill("");
	file = copy_item_write(bytes, COPY_FILE, &item);
	assert_int_equal(copy_item_read(bytes, file, COPY_FILE, &again), -EPROTO);
}

/* Rights to run as someone else do not travel. */
TEST(copy_item_read__cuts_mode_and_time)
{
	uint32_t len;

	fill("name");
	item.mode = 07755;
	item.modified.tv_nsec = 4000000000;
	len = copy_item_write(bytes, COPY_FILE, &item);
	assert_int_equal(copy_item_read(bytes, len, COPY_FILE, &again), 0);
	assert_int_equal(again.mode, 0755);
	assert_int_equal(again.modified.tv_nsec, 999999999);
}

TEST(copy_note_read__reads_what_was_written)
{
	static struct copy_note note, read;
	uint32_t len;

	note = (struct copy_note){ .index = 3, .status = ENOSPC, .how = 1, .offset = 1ULL << 40 };
	memset(note.digest, 0x5a, sizeof(note.digest));
	memset(note.text, 'x', sizeof(note.text) - 1);
	len = copy_note_write(bytes, &note);
	assert_true(len <= COPY_REPLY_BYTES);
	assert_int_equal(copy_note_read(bytes, len, &read), 0);
	assert_memory_equal(&read, &note, sizeof(note));
	/* A text that is too long is cut, a note that is too short refused. */
	bytes[len] = 'y';
	assert_int_equal(copy_note_read(bytes, len + 1, &read), 0);
	assert_string_equal(read.text, note.text);
	for (len = 0; len < 4 + 4 + 1 + 8 + COPY_DIGEST_BYTES; len++)
		assert_int_equal(copy_note_read(bytes, len, &read), -EPROTO);
}

TEST(copy_path_check__names)
{
	static const char *const good[] = { "a", "a/b", ".a", "..a", "a..", "...", "a b", "-" };
	static const char *const bad[] = { "",       "/",    "/a",    ".",    "..",
					   "a/",     "a//b", "a/./b", "a/..", "../a",
					   "a/../b", "./a",  "a/b/.." };
	char name[260];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(copy_path_check(good[i]), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(copy_path_check(bad[i]), -EPERM);
	memset(name, 'n', sizeof(name));
	name[250] = '\0';
	assert_int_equal(copy_path_check(name), 0);
	name[250] = 'n';
	name[251] = '\0';
	assert_int_equal(copy_path_check(name), -ENAMETOOLONG);
}
