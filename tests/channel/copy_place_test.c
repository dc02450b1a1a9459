/* SPDX-License-Identifier: BSD-3-Clause */
/* Files below a target folder, from a sender who means harm. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lull-channel-copy/place.h"
#include "case.h"

static char root[] = "/tmp/lull-place-XXXXXX";
static char path[256];
static int target;
static struct copy_place place;
static struct copy_item item;
static struct lull_error error;

static const char *
below(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static int
set_up(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/lull-place-XXXXXX");
	assert_non_null(mkdtemp(root));
	assert_int_equal(mkdir(below("in"), 0700), 0);
	assert_int_equal(mkdir(below("out"), 0700), 0);
	target = open(below("in"), O_RDONLY | O_DIRECTORY);
	assert_true(target >= 0);
	memset(&place, 0, sizeof(place));
	return 0;
}

static int
tear_down(void **state)
{
	char command[300];

	(void)state;
	close(target);
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void
small(const char *name, const char *text)
{
	struct copy_digest digest;

	memset(&item, 0, sizeof(item));
	item.mode = 0600;
	item.size = strlen(text);
	item.bytes = (const uint8_t *)text;
	snprintf(item.path, sizeof(item.path), "%s", name);
	assert_int_equal(copy_digest_open(&digest), 0);
	copy_digest_add(&digest, text, item.size);
	copy_digest_now(&digest, item.digest);
	copy_digest_close(&digest);
}

/* What stands in a file; "": there is none. */
static const char *
content(const char *name)
{
	static char text[64];
	int fd = open(below(name), O_RDONLY | O_NOFOLLOW);
	ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	return text;
}

static int
count_files(void)
{
	char command[300];
	FILE *out;
	int count = -1;

	snprintf(command, sizeof(command), "find %s -type f | wc -l", root);
	out = popen(command, "r");
	assert_non_null(out);
	assert_int_equal(fscanf(out, "%d", &count), 1);
	pclose(out);
	return count;
}

TEST_WITH(copy_place_small__stays_below, set_up, tear_down)
{
	static const char *const bad[] = {
		"../out/x", "/tmp/x", "a/../../out/x", "..", "", "a//b"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		small(bad[i], "harm");
		assert_int_equal(copy_place_small(&place, target, &item, &error), -EPERM);
		assert_non_null(strstr(error.text, "not one below the target folder"));
		assert_int_equal(copy_place_folder(target, &item, &error), -EPERM);
		assert_int_equal(copy_place_folder_end(target, &item, &error), -EPERM);
	}
	assert_int_equal(count_files(), 0);
	small("a/b/c", "good");
	assert_int_equal(copy_place_small(&place, target, &item, &error), 0);
	assert_string_equal(content("in/a/b/c"), "good");
}

/* A link in the place of a folder, of the .part, of the file. */
TEST_WITH(copy_place_small__follows_no_link, set_up, tear_down)
{
	char out[256];

	snprintf(out, sizeof(out), "%s/out", root);
	assert_int_equal(symlinkat(out, target, "link"), 0);
	small("link/x", "harm");
	assert_int_not_equal(copy_place_small(&place, target, &item, &error), 0);
	assert_int_not_equal(copy_place_folder(target, &item, &error), 0);
	small("link", "harm");
	assert_int_not_equal(copy_place_folder(target, &item, &error), 0);
	assert_int_not_equal(copy_place_folder_end(target, &item, &error), 0);
	assert_int_equal(symlinkat("../out/part", target, "x.part"), 0);
	small("x", "harm");
	assert_int_not_equal(copy_place_small(&place, target, &item, &error), 0);
	assert_int_equal(count_files(), 0);
	/* A name that is a link becomes the file. */
	assert_int_equal(symlinkat("../out/file", target, "file"), 0);
	small("file", "good");
	assert_int_equal(copy_place_small(&place, target, &item, &error), 0);
	assert_string_equal(content("in/file"), "good");
	assert_int_equal(count_files(), 1);
}

TEST_WITH(copy_place_small__judges_the_digest, set_up, tear_down)
{
	small("x", "good");
	item.digest[0] ^= 1;
	assert_int_equal(copy_place_small(&place, target, &item, &error), -EBADMSG);
	assert_int_equal(count_files(), 0);
}

static uint64_t
put(const char *text, struct copy_note *note)
{
	memset(note, 0, sizeof(*note));
	assert_int_equal(copy_place_open(&place, target, &item, note, &error), 0);
	assert_int_equal(copy_place_begin(&place, note->offset, &error), 0);
	assert_int_equal(copy_place_write(&place, (const uint8_t *)text, strlen(text), &error), 0);
	return note->offset;
}

/* It grows as .part, goes on where it ended, and gets its name when the digest holds. */
TEST_WITH(copy_place_open__goes_on, set_up, tear_down)
{
	uint8_t digest[COPY_DIGEST_BYTES];
	struct copy_note note;

	small("x", "onetwo");
	assert_int_equal(put("one", &note), 0);
	copy_place_leave(&place, true);
	assert_string_equal(content("in/x.part"), "one");
	assert_int_equal(put("two", &note), 3);
	assert_string_equal(content("in/x"), "");
	assert_int_equal(copy_place_end(&place, 6, item.digest, digest, &error), 0);
	assert_memory_equal(digest, item.digest, sizeof(digest));
	assert_string_equal(content("in/x"), "onetwo");
	assert_int_equal(count_files(), 1);
	/* Other bytes of the same length never get the name. */
	assert_int_equal(unlinkat(target, "x", 0), 0);
	assert_int_equal(put("oneTWO", &note), 0);
	assert_int_equal(copy_place_end(&place, 6, item.digest, digest, &error), -EBADMSG);
	assert_int_equal(count_files(), 0);
	/* Nor too few. */
	assert_int_equal(put("one", &note), 0);
	assert_int_equal(copy_place_end(&place, 6, item.digest, digest, &error), -EBADMSG);
	assert_int_equal(count_files(), 0);
}

/* Nobody writes into a .part that someone else writes. */
TEST_WITH(copy_place_open__one_at_a_time, set_up, tear_down)
{
	static struct copy_place second;
	struct copy_note note;

	small("x", "onetwo");
	put("one", &note);
	assert_int_equal(copy_place_open(&second, target, &item, &note, &error), -EWOULDBLOCK);
	assert_int_equal(copy_place_small(&second, target, &item, &error), -EWOULDBLOCK);
	assert_string_equal(content("in/x.part"), "one");
	copy_place_leave(&place, false);
	assert_int_equal(count_files(), 0);
}

/* Offsets that nobody offered, and files without end. */
TEST_WITH(copy_place_begin__refuses, set_up, tear_down)
{
	struct copy_note note;

	small("x", "onetwo");
	memset(&note, 0, sizeof(note));
	assert_int_equal(copy_place_open(&place, target, &item, &note, &error), 0);
	assert_int_equal(copy_place_begin(&place, 1ULL << 40, &error), -EPROTO);
	assert_int_equal(copy_place_begin(&place, 0, &error), 0);
	assert_int_not_equal(copy_place_hole(&place, UINT64_MAX, &error), 0);
	copy_place_leave(&place, false);
	assert_int_equal(count_files(), 0);
}
