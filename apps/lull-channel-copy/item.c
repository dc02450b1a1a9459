/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender's items: folders, small files in one message, large ones and streams in pieces. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy.h"
#include "program/result.h"

#define STEP_NS (20 * LULL_NS_PER_MS)
#define STEP_MS 20
#define BLOCK_BYTES 512U

uint8_t *
copy_send_room(struct copy *copy)
{
	struct copy_pipe *pipe = &copy->sender.pipe;
	uint8_t *room;

	while ((room = copy_pipe_room(pipe)) == NULL && pipe->error == 0)
		if (!copy_turn(copy, STEP_NS))
			return NULL;
	return pipe->error == 0 ? room : NULL;
}

/* A new item: its number, and room for its verdict. */
static int
item_begin(struct copy *copy, struct copy_item *item, const char *path)
{
	struct copy_sender *sender = &copy->sender;

	while (sender->unanswered >= COPY_UNANSWERED_MAX && sender->pipe.error == 0)
		if (!copy_turn(copy, STEP_NS))
			return -EINTR;
	if (sender->pipe.error != 0)
		return sender->pipe.error;
	snprintf(item->path, sizeof(item->path), "%s", path);
	item->index = sender->index++;
	item->flags = copy->settings.restart ? COPY_FLAG_RESTART : 0;
	return 0;
}

static int
item_send(struct copy *copy, enum copy_kind kind, const struct copy_item *item)
{
	uint8_t *room = copy_send_room(copy);

	if (room == NULL)
		return -EINTR;
	copy_pipe_send(&copy->sender.pipe, kind, copy_item_write(room, kind, item));
	return 0;
}

static int
item_note(struct copy *copy, enum copy_kind kind, const struct copy_note *note)
{
	uint8_t *room = copy_send_room(copy);

	if (room == NULL)
		return -EINTR;
	copy_pipe_send(&copy->sender.pipe, kind, copy_note_write(room, note));
	return 0;
}

/* Its verdict is waited for; @p shown: what a result tells of it. */
static void
item_expect(struct copy *copy, const struct copy_item *item, enum copy_kind kind, json_t *shown)
{
	copy->sender.kinds[item->index % COPY_UNANSWERED_MAX] = (uint8_t)kind;
	copy->sender.waiting[item->index % COPY_UNANSWERED_MAX] = shown;
	copy->sender.unanswered++;
}

int
copy_send_folder(struct copy *copy, enum copy_kind kind, const char *path, uint16_t mode,
		 const struct timespec times[2])
{
	static struct copy_item item; /* a path is long; the main thread alone */
	int rc;

	item = (struct copy_item){ .mode = mode, .accessed = times[0], .modified = times[1] };
	rc = item_begin(copy, &item, path);
	if (rc == 0)
		rc = item_send(copy, kind, &item);
	if (rc == 0)
		item_expect(copy, &item, kind, NULL);
	return rc;
}

/* ---- small files ---- */

/* As many bytes as there are, up to @p len; -errno. */
static int64_t
item_read(int fd, uint8_t *bytes, uint64_t len, uint64_t offset)
{
	uint64_t got = 0;

	while (got < len) {
		ssize_t now = pread(fd, bytes + got, len - got, (off_t)(offset + got));

		if (now < 0 && errno == EINTR)
			continue;
		if (now < 0)
			return -errno;
		if (now == 0)
			break;
		got += (uint64_t)now;
	}
	return (int64_t)got;
}

/* The bytes are read to where the message has them, behind a head of the same length. */
static int
item_send_small(struct copy *copy, int fd, struct copy_item *item)
{
	uint8_t *room = copy_send_room(copy);
	uint64_t head, size = item->size;
	int64_t got;

	if (room == NULL)
		return -EINTR;
	head = copy_item_write(room, COPY_FILE, item);
	got = item_read(fd, room + head, size, 0);
	if (got < 0 || (uint64_t)got != size) {
		copy->sender.index--;
		copy_fail(copy, "%s: cannot read it: %s", item->path,
			  got < 0 ? strerror((int)-got) : "it became shorter");
		return 0;
	}
	copy_digest_begin(&copy->sender.digest);
	copy_digest_add(&copy->sender.digest, room + head, size);
	copy_digest_now(&copy->sender.digest, item->digest);
	item->bytes = room + head;
	item_expect(copy, item, COPY_SMALL,
		    copy_item_result(copy, item->path, size, 0, item->digest));
	copy->sender.passed_bytes += size;
	copy_pipe_send(&copy->sender.pipe, COPY_SMALL, copy_item_write(room, COPY_SMALL, item));
	return 0;
}

/* ---- where it begins ---- */

/* What is there: is it the beginning of the file? */
static int
item_compare(struct copy *copy, int fd, uint64_t size)
{
	const struct copy_note *place = &copy->sender.place;
	uint8_t digest[COPY_DIGEST_BYTES];
	int rc;

	copy_digest_begin(&copy->sender.digest);
	if (place->offset > size)
		return -EEXIST;
	rc = copy_digest_add_file(&copy->sender.digest, fd, place->offset);
	copy_digest_now(&copy->sender.digest, digest);
	return rc == 0 && memcmp(digest, place->digest, sizeof(digest)) != 0 ? -EEXIST : rc;
}

/* Choose how to begin; what was added to the digest so far is what is there. */
static struct copy_note
item_choose(struct copy *copy, int fd, const struct copy_item *item)
{
	const struct copy_note *place = &copy->sender.place;
	struct copy_note begin = { .index = item->index, .how = COPY_HOW_BYTES };
	int rc = place->offset > 0 ? item_compare(copy, fd, item->size) : 0;

	if (place->offset == 0 || (rc != 0 && (place->how != 0 || copy->settings.restart))) {
		copy_digest_begin(&copy->sender.digest);
	} else if (rc != 0) {
		begin.how = COPY_HOW_NOT;
		copy_fail(copy,
			  "%s.part is there and is not the beginning of this file: remove it, or "
			  "add --restart",
			  item->path);
	} else {
		begin.how = place->how != 0 ? COPY_HOW_SAME : COPY_HOW_BYTES;
		begin.offset = place->offset;
	}
	return begin;
}

/* Ask where it goes. 0 and *placed: it may go there. */
static int
item_ask(struct copy *copy, const struct copy_item *item, bool *placed)
{
	struct copy_sender *sender = &copy->sender;
	int rc;

	sender->placed = false;
	rc = item_send(copy, COPY_FILE, item);
	while (rc == 0 && !sender->placed && sender->pipe.error == 0)
		if (!copy_turn(copy, STEP_NS))
			rc = -EINTR;
	if (rc != 0 || sender->pipe.error != 0)
		return rc != 0 ? rc : sender->pipe.error;
	*placed = sender->place.status == 0;
	if (*placed)
		return 0;
	copy_fail(copy, "%s", sender->place.text);
	sender->fatal |= sender->place.status == ENOSPC || sender->place.status == EDQUOT;
	return 0;
}

/* ---- bytes ---- */

/* Zeros that take no room on the disk: how many begin at this offset. */
static uint64_t
item_hole(int fd, uint64_t offset, uint64_t size)
{
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO && offset < size ? size - offset : 0;
	return (uint64_t)data > offset ? LULL_MIN((uint64_t)data, size) - offset : 0;
}

/* Wait for a stream, but not for a signal. */
static int64_t
item_read_stream(struct copy *copy, int fd, uint8_t *bytes, uint64_t len)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	ssize_t got;

	while (poll(&poller, 1, STEP_MS) == 0)
		if (!copy_turn(copy, 0) || copy->sender.pipe.error != 0)
			return -EINTR;
	do {
		got = read(fd, bytes, len);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Send bytes until the end, the receiver's STOP, or an error of the disk (*why). */
static int
item_stream(struct copy *copy, int fd, const struct copy_item *item, uint64_t *offset, int *why)
{
	struct copy_sender *sender = &copy->sender;
	bool stream = item->size == COPY_SIZE_UNKNOWN;

	while (sender->stopped != item->index) {
		uint64_t hole = stream ? 0 : item_hole(fd, *offset, item->size);
		const struct copy_note zeros = { .index = item->index, .offset = hole };
		uint8_t *room = copy_send_room(copy);
		int64_t got;

		if (room == NULL)
			return -EINTR;
		if (hole >= COPY_CHUNK_BYTES) {
			copy_digest_add_zeros(&sender->digest, hole);
			copy_pipe_send(&sender->pipe, COPY_HOLE, copy_note_write(room, &zeros));
			*offset += hole;
			sender->passed_bytes += hole;
			continue;
		}
		got = stream ? item_read_stream(copy, fd, room, COPY_CHUNK_BYTES) :
			       item_read(fd, room, COPY_CHUNK_BYTES, *offset);
		if (got == -EINTR)
			return -EINTR;
		if (got <= 0) {
			*why = (int)got;
			return 0;
		}
		copy_digest_add(&sender->digest, room, (uint64_t)got);
		copy_pipe_send(&sender->pipe, COPY_DATA, (uint64_t)got);
		*offset += (uint64_t)got;
		sender->passed_bytes += (uint64_t)got;
	}
	return 0;
}

static int
item_send_bytes(struct copy *copy, int fd, const struct copy_item *item,
		const struct copy_note *begin)
{
	struct copy_note end = { .index = item->index, .offset = begin->offset };
	int rc, why = 0;

	copy->sender.passed_bytes += begin->offset;
	rc = item_stream(copy, fd, item, &end.offset, &why);
	if (rc != 0)
		return rc;
	end.how = why != 0;
	if (why != 0)
		copy_fail(copy, "%s: cannot read it: %s", item->path, strerror(-why));
	copy_digest_now(&copy->sender.digest, end.digest);
	item_expect(copy, item, COPY_FILE,
		    copy_item_result(copy, item->path, end.offset, begin->offset, end.digest));
	copy->totals.resumed_bytes += begin->offset;
	return item_note(copy, COPY_END, &end);
}

static int
item_send_large(struct copy *copy, int fd, const struct copy_item *item)
{
	struct copy_note begin;
	bool placed = false;
	int rc = item_ask(copy, item, &placed);

	if (rc != 0 || !placed)
		return rc;
	begin = item_choose(copy, fd, item);
	rc = item_note(copy, COPY_BEGIN, &begin);
	if (rc != 0 || begin.how == COPY_HOW_NOT)
		return rc;
	if (begin.how == COPY_HOW_BYTES)
		return item_send_bytes(copy, fd, item, &begin);
	copy->sender.passed_bytes += item->size;
	copy->totals.same_bytes += item->size;
	item_expect(copy, item, COPY_FILE,
		    copy_item_result(copy, item->path, item->size, item->size,
				     copy->sender.place.digest));
	return 0;
}

int
copy_send_file(struct copy *copy, int fd, const char *path, bool stream)
{
	static struct copy_item item;
	struct stat found;
	int rc;

	if (fstat(fd, &found) != 0) {
		copy_fail(copy, "%s: cannot read it: %s", path, strerror(errno));
		return 0;
	}
	if (!stream && !S_ISREG(found.st_mode)) {
		copy->totals.left_out++;
		return 0;
	}
	item = (struct copy_item){
		.mode = stream ? 0644 : (uint16_t)(found.st_mode & 0777),
		.size = stream ? COPY_SIZE_UNKNOWN : (uint64_t)found.st_size,
		.room = stream ? 0 : (uint64_t)found.st_blocks * BLOCK_BYTES,
		.accessed = found.st_atim,
		.modified = found.st_mtim,
	};
	if (stream)
		clock_gettime(CLOCK_REALTIME, &item.modified);
	rc = item_begin(copy, &item, path);
	if (rc != 0)
		return rc;
	return !stream && item.size <= COPY_CHUNK_BYTES ? item_send_small(copy, fd, &item) :
							  item_send_large(copy, fd, &item);
}
