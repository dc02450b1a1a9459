/* SPDX-License-Identifier: BSD-3-Clause */
#include "message.h"

#include <errno.h>
#include <string.h>

#include <lull/base.h>

#include "base/bytes.h"
#include "base/reader.h"

/* Room for ".part" behind a name. */
#define NAME_BYTES_MAX (NAME_MAX - 5)

static uint8_t *
message_time_put(uint8_t *at, const struct timespec *time)
{
	at = lull_bytes_put(at, (uint64_t)time->tv_sec, 8);
	return lull_bytes_put(at, (uint64_t)time->tv_nsec, 4);
}

static struct timespec
message_time(struct lull_reader *reader)
{
	uint64_t seconds = lull_reader_u64be(reader);
	uint32_t ns = lull_reader_u32be(reader);

	return (struct timespec){ .tv_sec = (time_t)seconds,
				  .tv_nsec = (long)LULL_MIN(ns, 999999999U) };
}

uint32_t
copy_item_write(uint8_t *bytes, enum copy_kind kind, const struct copy_item *item)
{
	size_t path_bytes = strlen(item->path);
	uint8_t *at = bytes;

	at = lull_bytes_put(at, item->index, 4);
	at = lull_bytes_put(at, item->flags, 1);
	at = lull_bytes_put(at, item->mode, 2);
	at = lull_bytes_put(at, item->size, 8);
	at = lull_bytes_put(at, item->room, 8);
	at = message_time_put(at, &item->accessed);
	at = message_time_put(at, &item->modified);
	at = lull_bytes_copy(at, item->digest, COPY_DIGEST_BYTES);
	at = lull_bytes_put(at, path_bytes, 2);
	at = lull_bytes_copy(at, (const uint8_t *)item->path, path_bytes);
	if (kind == COPY_SMALL && at != item->bytes)
		memmove(at, item->bytes, item->size);
	if (kind == COPY_SMALL)
		at += item->size;
	return (uint32_t)(at - bytes);
}

int
copy_item_read(const uint8_t *bytes, uint64_t len, enum copy_kind kind, struct copy_item *item)
{
	struct lull_reader reader = lull_reader_over(bytes, len);
	const uint8_t *digest, *path;
	uint32_t path_bytes;

	item->index = lull_reader_u32be(&reader);
	item->flags = lull_reader_u8(&reader);
	item->mode = lull_reader_u16be(&reader) & 0777;
	item->size = lull_reader_u64be(&reader);
	item->room = lull_reader_u64be(&reader);
	item->accessed = message_time(&reader);
	item->modified = message_time(&reader);
	digest = lull_reader_bytes(&reader, COPY_DIGEST_BYTES);
	path_bytes = lull_reader_u16be(&reader);
	path = path_bytes > 0 ? lull_reader_bytes(&reader, path_bytes) : NULL;
	if (digest == NULL || path == NULL || path_bytes >= sizeof(item->path) ||
	    memchr(path, '\0', path_bytes) != NULL)
		return -EPROTO;
	memcpy(item->digest, digest, COPY_DIGEST_BYTES);
	memcpy(item->path, path, path_bytes);
	item->path[path_bytes] = '\0';
	item->bytes = bytes + reader.offset;
	return kind == COPY_SMALL && lull_reader_left(&reader) != item->size ? -EPROTO : 0;
}

uint32_t
copy_note_write(uint8_t *bytes, const struct copy_note *note)
{
	uint8_t *at = bytes;

	at = lull_bytes_put(at, note->index, 4);
	at = lull_bytes_put(at, note->status, 4);
	at = lull_bytes_put(at, note->how, 1);
	at = lull_bytes_put(at, note->offset, 8);
	at = lull_bytes_copy(at, note->digest, COPY_DIGEST_BYTES);
	at = lull_bytes_copy(at, (const uint8_t *)note->text, strlen(note->text));
	return (uint32_t)(at - bytes);
}

int
copy_note_read(const uint8_t *bytes, uint64_t len, struct copy_note *note)
{
	struct lull_reader reader = lull_reader_over(bytes, len);
	const uint8_t *digest;
	size_t text_bytes;

	*note = (struct copy_note){ .index = lull_reader_u32be(&reader) };
	note->status = lull_reader_u32be(&reader);
	note->how = lull_reader_u8(&reader);
	note->offset = lull_reader_u64be(&reader);
	digest = lull_reader_bytes(&reader, COPY_DIGEST_BYTES);
	if (digest == NULL)
		return -EPROTO;
	memcpy(note->digest, digest, COPY_DIGEST_BYTES);
	text_bytes = LULL_MIN(lull_reader_left(&reader), sizeof(note->text) - 1);
	memcpy(note->text, bytes + reader.offset, text_bytes);
	note->text[text_bytes] = '\0';
	return 0;
}

int
copy_path_check(const char *path)
{
	while (true) {
		size_t len = strcspn(path, "/");

		if (len == 0 || (path[0] == '.' && (len == 1 || (len == 2 && path[1] == '.'))))
			return -EPERM;
		if (len > NAME_BYTES_MAX)
			return -ENAMETOOLONG;
		if (path[len] == '\0')
			return 0;
		path += len + 1;
	}
}
