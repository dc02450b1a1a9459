/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "host/error.h"
#include "channel/keys.h"

#define KEY_DIGITS (2 * CHANNEL_KEY_BYTES)
#define SHA256_BYTES 32

/* The first 32 bits of the SHA-256 of a label and the key. */
static uint32_t
key_id(const uint8_t bytes[CHANNEL_KEY_BYTES])
{
	static const char label[] = "lull channel key id";
	uint8_t text[sizeof(label) + CHANNEL_KEY_BYTES], digest[SHA256_BYTES];

	memcpy(text, label, sizeof(label));
	memcpy(text + sizeof(label), bytes, CHANNEL_KEY_BYTES);
	LULL_ASSERT(EVP_Digest(text, sizeof(text), digest, NULL, EVP_sha256(), NULL) == 1);
	OPENSSL_cleanse(text, sizeof(text));
	return lull_bytes_little32(digest);
}

static void
keys_add(struct channel_keys *keys, const uint8_t bytes[CHANNEL_KEY_BYTES])
{
	struct channel_key *key = &keys->keys[keys->count++];

	key->id = key_id(bytes);
	memcpy(key->bytes, bytes, CHANNEL_KEY_BYTES);
}

void
channel_keys_set(struct channel_keys *keys, const uint8_t bytes[CHANNEL_KEY_BYTES])
{
	memset(keys, 0, sizeof(*keys));
	keys_add(keys, bytes);
}

void
channel_keys_wipe(struct channel_keys *keys)
{
	OPENSSL_cleanse(keys, sizeof(*keys));
}

/* 0..15; -1: no digit. */
static int
digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Take the blanks and the comment of a line away; how many bytes remain. */
static size_t
line_trim(const char **line, size_t len)
{
	const char *comment = memchr(*line, '#', len);

	if (comment != NULL)
		len = (size_t)(comment - *line);
	for (; len > 0 && is_blank(**line); len--)
		(*line)++;
	while (len > 0 && is_blank((*line)[len - 1]))
		len--;
	return len;
}

/* False: not so many hexadecimal digits. */
static bool
digits_read(const char *digits, size_t len, uint8_t bytes[CHANNEL_KEY_BYTES])
{
	if (len != KEY_DIGITS)
		return false;
	memset(bytes, 0, CHANNEL_KEY_BYTES);
	for (size_t i = 0; i < len; i++) {
		int value = digit_value(digits[i]);

		if (value < 0)
			return false;
		bytes[i / 2] |= (uint8_t)(i % 2 == 0 ? value << 4 : value);
	}
	return true;
}

static int
line_take(struct channel_keys *keys, const char *line, size_t len, unsigned int number,
	  struct lull_error *error)
{
	uint8_t bytes[CHANNEL_KEY_BYTES];
	int rc = 0;

	len = line_trim(&line, len);
	if (len == 0)
		return 0;
	if (keys->count == CHANNEL_KEYS_MAX)
		rc = lull_error_set(error, -E2BIG, "line %u: %d keys are the most", number,
				    CHANNEL_KEYS_MAX);
	else if (digits_read(line, len, bytes))
		keys_add(keys, bytes);
	else if (len == KEY_DIGITS)
		rc = lull_error_set(error, -EINVAL, "line %u: a key has hexadecimal digits alone",
				    number);
	else
		rc = lull_error_set(error, -EINVAL,
				    "line %u: a key has %d hexadecimal digits, not %zu", number,
				    KEY_DIGITS, len);
	OPENSSL_cleanse(bytes, sizeof(bytes));
	return rc;
}

int
channel_keys_parse(struct channel_keys *keys, const char *text, size_t len,
		   struct lull_error *error)
{
	unsigned int number = 1;
	int rc = 0;

	memset(keys, 0, sizeof(*keys));
	while (len > 0 && rc == 0) {
		const char *end = memchr(text, '\n', len);
		size_t count = end == NULL ? len : (size_t)(end - text);

		rc = line_take(keys, text, count, number++, error);
		count += end != NULL;
		text += count;
		len -= count;
	}
	if (rc == 0 && keys->count == 0)
		rc = lull_error_set(error, -EINVAL,
				    "there is no key in it: 'lull channel key' writes one");
	if (rc != 0)
		channel_keys_wipe(keys);
	return rc;
}

/* Without stdio, whose buffers nobody wipes. The length, or a negative errno. */
static ssize_t
file_read(int file, char *text, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t got = read(file, text + len, size - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		len += (size_t)got;
	}
	return (ssize_t)len;
}

static int
file_check(int file, struct lull_error *error)
{
	struct stat facts;

	if (fstat(file, &facts) != 0)
		return lull_error_set(error, -errno, "%s", strerror(errno));
	if (!S_ISREG(facts.st_mode))
		return lull_error_set(error, -EINVAL, "it is no file");
	if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return lull_error_set(error, -EPERM,
				      "others have rights on it (mode %03o): take them away with "
				      "'chmod 600', and draw a new key if they may have read it",
				      facts.st_mode & 0777u);
	return 0;
}

static int
keys_read_from(int file, struct channel_keys *keys, struct lull_error *error)
{
	const size_t size = CHANNEL_KEY_FILE_BYTES_MAX + 1;
	int rc = file_check(file, error);
	char *text;
	ssize_t len;

	if (rc != 0)
		return rc;
	text = malloc(size);
	if (text == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for it");
	len = file_read(file, text, size);
	if (len < 0)
		rc = lull_error_set(error, (int)len, "%s", strerror((int)-len));
	else if (len > CHANNEL_KEY_FILE_BYTES_MAX)
		rc = lull_error_set(error, -E2BIG, "a key file has at most %d bytes",
				    CHANNEL_KEY_FILE_BYTES_MAX);
	else
		rc = channel_keys_parse(keys, text, (size_t)len, error);
	OPENSSL_cleanse(text, size);
	free(text);
	return rc;
}

int
channel_keys_read(const char *path, struct channel_keys *keys, struct lull_error *error)
{
	/* A fifo must not make it wait. */
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int rc;

	memset(keys, 0, sizeof(*keys));
	if (file < 0)
		rc = lull_error_set(error, -errno, "%s", strerror(errno));
	else
		rc = keys_read_from(file, keys, error);
	if (file >= 0)
		close(file);
	if (rc != 0) {
		channel_keys_wipe(keys);
		lull_error_prefix(error, "key file %.*s: ", LULL_ERROR_SHOWN, path);
	}
	return rc;
}

int
channel_key_generate(char line[CHANNEL_KEY_LINE])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t bytes[CHANNEL_KEY_BYTES];

	if (RAND_priv_bytes(bytes, sizeof(bytes)) != 1)
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		line[2 * i] = digits[bytes[i] >> 4];
		line[2 * i + 1] = digits[bytes[i] & 15];
	}
	line[KEY_DIGITS] = '\0';
	OPENSSL_cleanse(bytes, sizeof(bytes));
	return 0;
}
