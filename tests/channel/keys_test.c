/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case.h"
#include "channel/keys.h"

#define KEY_A "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define KEY_B "FFEEDDCCBBAA99887766554433221100ffeeddccbbaa99887766554433221100"

static char folder[] = "/tmp/lull-keys-XXXXXX";
static char path[sizeof(folder) + 8];

static int
folder_make(void **state)
{
	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/keys", folder);
	return 0;
}

static int
folder_remove(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

TEST_GROUP(folder_make, folder_remove);

static int
read_bytes(const char *bytes, size_t count, mode_t mode, struct channel_keys *keys,
	   struct lull_error *error)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, count), count);
	assert_int_equal(fchmod(file, mode), 0);
	assert_int_equal(close(file), 0);
	memset(keys, 0xee, sizeof(*keys));
	memset(error, 0, sizeof(*error));
	return channel_keys_read(path, keys, error);
}

static int
read_text(const char *text, struct channel_keys *keys, struct lull_error *error)
{
	return read_bytes(text, strlen(text), 0600, keys, error);
}

static void
assert_refused(const char *text, int code, const char *sentence)
{
	static const struct channel_keys zeros;
	struct channel_keys keys;
	struct lull_error error;

	assert_int_equal(read_text(text, &keys, &error), code);
	assert_non_null(strstr(error.text, sentence));
	assert_non_null(strstr(error.text, path));
	assert_memory_equal(&keys, &zeros, sizeof(keys));
	assert_int_equal(channel_keys_read(path, &keys, NULL), code);
}

TEST(keys_read__takes_lines_comments_and_blanks)
{
	static const char *const texts[] = {
		KEY_A "\n" KEY_B "\n",
		KEY_A "\n" KEY_B,
		"# comment " KEY_B "\n\n   \n\t" KEY_A " # mine\r\n" KEY_B "\t \r\n#",
	};
	uint8_t first[32];

	for (uint8_t i = 0; i < 32; i++)
		first[i] = i;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct channel_keys keys, one;
		struct lull_error error;

		assert_int_equal(read_text(texts[i], &keys, &error), 0);
		assert_int_equal(keys.count, 2);
		assert_memory_equal(keys.keys[0].bytes, first, 32);
		assert_int_equal(keys.keys[1].bytes[0], 0xff);
		assert_int_equal(keys.keys[1].bytes[15], 0x00);
		assert_int_equal(keys.keys[1].bytes[16], 0xff);
		channel_keys_set(&one, first);
		assert_int_equal(one.count, 1);
		assert_int_equal(one.keys[0].id, keys.keys[0].id);
		assert_int_not_equal(keys.keys[0].id, keys.keys[1].id);
	}
}

/* Part of what is on the wire: the first bytes of SHA-256("lull channel key id\0" and the key). */
TEST(key_id__stays_what_it_is)
{
	struct channel_keys keys;
	struct lull_error error;

	assert_int_equal(read_text(KEY_A, &keys, &error), 0);
	assert_int_equal(keys.keys[0].id, 0x51fdf211);
}

TEST(keys_read__refuses_what_others_have_rights_on)
{
	for (mode_t mode = 0; mode < 0100; mode++) {
		struct channel_keys keys;
		struct lull_error error;
		char said[20];
		int rc = read_bytes(KEY_A, 64, 0600 | mode, &keys, &error);

		assert_int_equal(rc, mode == 0 ? 0 : -EPERM);
		if (mode == 0)
			continue;
		snprintf(said, sizeof(said), "(mode %03o)", 0600u | mode);
		assert_non_null(strstr(error.text, said));
		assert_non_null(strstr(error.text, "chmod 600"));
		assert_int_equal(keys.count, 0);
	}
}

TEST(keys_read__refuses_files_without_a_key)
{
	assert_refused("", -EINVAL, "no key in it");
	assert_refused("\n\n", -EINVAL, "no key in it");
	assert_refused("# " KEY_A "\n", -EINVAL, "no key in it");
}

TEST(keys_read__refuses_lines_that_are_none_and_does_not_repeat_them)
{
	static const char wrong[] =
		"0001020304050607g8090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
	struct channel_keys keys;
	struct lull_error error;

	assert_refused(KEY_A "\nabcdef\n", -EINVAL,
		       "line 2: a key has 64 hexadecimal digits, not 6");
	assert_refused(KEY_A "0\n", -EINVAL, "line 1: a key has 64 hexadecimal digits, not 65");
	assert_refused(KEY_A KEY_B "\n", -EINVAL, "not 128");
	assert_refused("\n#\n0x" KEY_A "\n", -EINVAL, "line 3");
	assert_refused(KEY_A " " KEY_B "\n", -EINVAL, "not 129");
	assert_refused(wrong, -EINVAL, "line 1: a key has hexadecimal digits alone");
	assert_int_equal(read_text(wrong, &keys, &error), -EINVAL);
	assert_null(strstr(error.text, "01020304"));
	/* Each place, also beside what looks like a digit in other letters. */
	for (size_t i = 0; i < 64; i++) {
		static const char strange[] = "g`@/:G ~";
		char line[65] = KEY_A;

		for (size_t j = 0; j < COUNT(strange) - 1; j++) {
			line[i] = strange[j];
			assert_int_equal(read_text(line, &keys, &error), -EINVAL);
		}
	}
	assert_int_equal(read_bytes(KEY_A "\0", 65, 0600, &keys, &error), -EINVAL);
}

TEST(keys_read__has_bounds)
{
	static char many[70000];
	struct channel_keys keys;
	struct lull_error error;
	size_t len = 0;

	for (int i = 0; i < CHANNEL_KEYS_MAX; i++)
		len += (size_t)sprintf(many + len, "%02x%s\n", i, &KEY_A[2]);
	assert_int_equal(read_text(many, &keys, &error), 0);
	assert_int_equal(keys.count, CHANNEL_KEYS_MAX);
	assert_int_equal(keys.keys[CHANNEL_KEYS_MAX - 1].bytes[0], CHANNEL_KEYS_MAX - 1);
	strcpy(many + len, KEY_B);
	assert_refused(many, -E2BIG, "line 17: 16 keys are the most");
	memset(many, '#', sizeof(many));
	memcpy(many, KEY_A "\n", 65);
	assert_int_equal(read_bytes(many, 65536, 0600, &keys, &error), 0);
	assert_int_equal(read_bytes(many, 65537, 0600, &keys, &error), -E2BIG);
	assert_non_null(strstr(error.text, "65536 bytes"));
}

TEST(keys_read__refuses_what_is_no_file)
{
	struct channel_keys keys;
	struct lull_error error;

	unlink(path);
	assert_int_equal(channel_keys_read(path, &keys, &error), -ENOENT);
	assert_non_null(strstr(error.text, "No such file"));
	assert_int_equal(channel_keys_read(folder, &keys, &error), -EINVAL);
	assert_non_null(strstr(error.text, "it is no file"));
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(channel_keys_read(path, &keys, &error), -EINVAL); /* and does not wait */
	assert_int_equal(unlink(path), 0);
}

TEST(key_generate__draws_lines_that_are_read)
{
	char line[CHANNEL_KEY_LINE], other[CHANNEL_KEY_LINE];
	struct channel_keys keys;
	struct lull_error error;

	assert_int_equal(channel_key_generate(line), 0);
	assert_int_equal(channel_key_generate(other), 0);
	assert_int_equal(strlen(line), 64);
	assert_string_not_equal(line, other);
	assert_int_equal(read_text(line, &keys, &error), 0);
	for (size_t i = 0; i < 32; i++) {
		char digits[3];

		snprintf(digits, sizeof(digits), "%02x", keys.keys[0].bytes[i]);
		assert_memory_equal(digits, line + 2 * i, 2);
	}
	channel_keys_wipe(&keys);
	for (size_t i = 0; i < sizeof(keys); i++)
		assert_int_equal(((const uint8_t *)&keys)[i], 0);
}

/* A key that is drawn from fewer numbers looks as good as any other. */
TEST(key_generate__each_digit_comes_at_each_place)
{
	bool seen[64][16] = { { false } };

	for (int i = 0; i < 400; i++) {
		char line[CHANNEL_KEY_LINE];

		assert_int_equal(channel_key_generate(line), 0);
		for (size_t j = 0; j < 64; j++)
			seen[j][line[j] <= '9' ? line[j] - '0' : line[j] - 'a' + 10] = true;
	}
	for (size_t i = 0; i < 64 * 16; i++)
		assert_true(seen[i / 16][i % 16]);
}

TEST(keys_read__closes_the_file)
{
	int before = dup(0), after;

	assert_true(before >= 0);
	close(before);
	for (int i = 0; i < 10; i++) {
		struct channel_keys keys;
		struct lull_error error;

		assert_int_equal(read_text(i % 2 == 0 ? KEY_A : "", &keys, &error),
				 i % 2 == 0 ? 0 : -EINVAL);
	}
	after = dup(0);
	close(after);
	assert_int_equal(after, before);
}
