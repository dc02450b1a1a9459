/* SPDX-License-Identifier: BSD-3-Clause */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "below.h"
#include "host/error.h"

#define BLOCK_BYTES 512U /* of st_blocks */

/* ---- sentences ---- */

static int
place_error(struct lull_error *error, const struct copy_item *item, int rc)
{
	const char *path = item->path;

	switch (rc) {
	case -ENOSPC:
	case -EDQUOT:
		return lull_error_set(
			error, rc,
			"%s: no room there: free some, then copy again, which goes on "
			"where it stopped",
			path);
	case -EPERM:
		return lull_error_set(error, rc,
				      "%s: this name is not one below the target folder, or the "
				      "system forbids it",
				      path);
	case -ELOOP:
	case -ENOTDIR:
	case -EISDIR:
		return lull_error_set(error, rc,
				      "%s: something stands in its way there, a link, or a file "
				      "instead of a folder: remove it",
				      path);
	case -EWOULDBLOCK:
		return lull_error_set(error, rc,
				      "%s.part: another copy writes this file: wait for it", path);
	case -EEXIST:
		return lull_error_set(error, rc,
				      "%s.part is there and is not the beginning of this file: "
				      "remove it, or add --restart",
				      path);
	case -EBADMSG:
		return lull_error_set(error, rc,
				      "%s: what came is not what was sent (SHA-256): copy it again",
				      path);
	default:
		return lull_error_set(error, rc, "%s: %s", path, strerror(-rc));
	}
}

/* ---- folders ---- */

int
copy_place_folder(int target, const struct copy_item *item, struct lull_error *error)
{
	const char *name = NULL;
	int rc, parent = copy_below_parent(target, item->path, &name), fd;

	if (parent < 0)
		return place_error(error, item, parent);
	rc = mkdirat(parent, name, 0700) == 0 || errno == EEXIST ? 0 : -errno;
	fd = rc == 0 ? copy_below_open(parent, name, O_RDONLY | O_DIRECTORY, 0) : rc;
	close(parent);
	if (fd < 0)
		return place_error(error, item, fd);
	close(fd);
	return 0;
}

static int
place_set(int fd, const struct copy_item *item)
{
	const struct timespec times[] = { item->accessed, item->modified };

	return fchmod(fd, item->mode) == 0 && futimens(fd, times) == 0 ? 0 : -errno;
}

int
copy_place_folder_end(int target, const struct copy_item *item, struct lull_error *error)
{
	const char *name = NULL;
	int rc, parent = copy_below_parent(target, item->path, &name), fd;

	if (parent < 0)
		return place_error(error, item, parent);
	fd = copy_below_open(parent, name, O_RDONLY | O_DIRECTORY, 0);
	close(parent);
	if (fd < 0)
		return place_error(error, item, fd);
	rc = place_set(fd, item);
	close(fd);
	return rc == 0 ? 0 : place_error(error, item, rc);
}

/* ---- opening ---- */

static void
place_close(struct copy_place *place)
{
	if (place->fd >= 0 && !place->standard)
		close(place->fd);
	if (place->parent >= 0)
		close(place->parent);
	copy_digest_close(&place->digest);
	place->fd = place->parent = -1;
	place->open = false;
}

/* Is NAME there with this size and time? Its digest decides; the sender compares. */
static int
place_find_whole(struct copy_place *place, struct copy_note *note)
{
	const struct copy_item *item = &place->item;
	struct stat found;
	int fd, rc = 0;

	if (item->size == 0 || item->size == COPY_SIZE_UNKNOWN)
		return 0;
	fd = copy_below_open(place->parent, place->name, O_RDONLY | O_NONBLOCK, 0);
	if (fd < 0)
		return 0;
	if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
	    (uint64_t)found.st_size == item->size &&
	    found.st_mtim.tv_sec == item->modified.tv_sec &&
	    found.st_mtim.tv_nsec == item->modified.tv_nsec) {
		rc = copy_digest_add_file(&place->digest, fd, item->size);
		note->how = rc == 0;
		note->offset = item->size;
		copy_digest_now(&place->digest, note->digest);
		copy_digest_begin(&place->digest);
	}
	close(fd);
	return rc;
}

/* The .part, for us alone. @p there: its length. */
static int
place_open_part(struct copy_place *place, uint64_t *there)
{
	struct stat found, named;

	snprintf(place->part, sizeof(place->part), "%s.part", place->name);
	place->fd =
		copy_below_open(place->parent, place->part, O_RDWR | O_CREAT | O_NONBLOCK, 0600);
	if (place->fd < 0)
		return place->fd;
	if (flock(place->fd, LOCK_EX | LOCK_NB) != 0 || fstat(place->fd, &found) != 0)
		return -errno;
	if (!S_ISREG(found.st_mode))
		return -EISDIR;
	/* Another copy may have given this very file its name before it let go of it. */
	if (fstatat(place->parent, place->part, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
	    named.st_ino != found.st_ino || named.st_dev != found.st_dev)
		return -EWOULDBLOCK;
	*there = (uint64_t)found.st_size;
	return 0;
}

/* Only what surely cannot fit is refused. */
static int
place_check_room(const struct copy_place *place)
{
	struct statvfs disk;
	struct stat found;
	uint64_t room;

	if (fstatvfs(place->fd, &disk) != 0 || fstat(place->fd, &found) != 0)
		return 0;
	room = (uint64_t)disk.f_bavail * disk.f_frsize + (uint64_t)found.st_blocks * BLOCK_BYTES;
	return place->item.room > room ? -ENOSPC : 0;
}

static int
place_find(struct copy_place *place, struct copy_note *note)
{
	uint64_t there = 0;
	int rc = place_find_whole(place, note);

	if (rc == 0 && note->how == 0)
		rc = place_open_part(place, &there);
	if (rc != 0 || note->how != 0)
		return rc;
	if (place->item.size == COPY_SIZE_UNKNOWN)
		return there > 0 && (place->item.flags & COPY_FLAG_RESTART) == 0 ? -EEXIST : 0;
	if (there > 0)
		rc = copy_digest_add_file(&place->digest, place->fd, there);
	place->offset = note->offset = there;
	copy_digest_now(&place->digest, note->digest);
	return rc == 0 ? place_check_room(place) : rc;
}

static int
place_prepare(struct copy_place *place, int target, const struct copy_item *item)
{
	*place = (struct copy_place){ .fd = -1, .parent = -1, .open = true, .item = *item };
	place->standard = target < 0;
	if (copy_digest_open(&place->digest) != 0)
		return -ENOMEM;
	if (place->standard) {
		place->fd = STDOUT_FILENO;
		return 0;
	}
	place->parent = copy_below_parent(target, place->item.path, &place->name);
	return place->parent < 0 ? place->parent : 0;
}

/* What was opened and not begun: an empty .part goes. */
static void
place_give_up(struct copy_place *place)
{
	struct stat found;

	if (!place->standard && place->fd >= 0 && place->part[0] != '\0' &&
	    fstat(place->fd, &found) == 0 && found.st_size == 0)
		unlinkat(place->parent, place->part, 0);
	place_close(place);
}

int
copy_place_open(struct copy_place *place, int target, const struct copy_item *item,
		struct copy_note *note, struct lull_error *error)
{
	int rc = place_prepare(place, target, item);

	if (rc == 0 && !place->standard)
		rc = place_find(place, note);
	if (rc == 0)
		return 0;
	/* Another copy's file stays as it is. */
	if (rc == -EWOULDBLOCK)
		place_close(place);
	else
		place_give_up(place);
	return place_error(error, item, rc);
}

int
copy_place_begin(struct copy_place *place, uint64_t offset, struct lull_error *error)
{
	bool restart = (place->item.flags & COPY_FLAG_RESTART) != 0;
	uint64_t there = place->offset;
	int rc = 0;

	if (place->standard)
		return offset == 0 ? 0 : place_error(error, &place->item, -EPROTO);
	if (place->fd < 0) {
		rc = place_open_part(place, &there);
		if (rc == 0 && there > 0 && !restart)
			rc = -EEXIST;
	}
	if (rc == 0 && offset != 0 && offset != there)
		rc = -EPROTO;
	if (rc == 0 && offset == 0) {
		copy_digest_begin(&place->digest);
		rc = ftruncate(place->fd, 0) == 0 ? 0 : -errno;
	}
	place->offset = offset;
	return rc == 0 ? 0 : place_error(error, &place->item, rc);
}

/* ---- bytes ---- */

static int
place_put(struct copy_place *place, const uint8_t *bytes, uint64_t len)
{
	while (len > 0) {
		ssize_t put = place->standard ? write(place->fd, bytes, len) :
						pwrite(place->fd, bytes, len, (off_t)place->offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -ENOSPC;
		bytes += put;
		len -= (uint64_t)put;
		place->offset += (uint64_t)put;
	}
	return 0;
}

int
copy_place_write(struct copy_place *place, const uint8_t *bytes, uint64_t len,
		 struct lull_error *error)
{
	int rc = place_put(place, bytes, len);

	if (rc != 0)
		return place_error(error, &place->item, rc);
	copy_digest_add(&place->digest, bytes, len);
	return 0;
}

int
copy_place_hole(struct copy_place *place, uint64_t len, struct lull_error *error)
{
	static const uint8_t zeros[64U << 10];
	int rc = 0;

	if (!place->standard) {
		if (len > INT64_MAX - place->offset ||
		    ftruncate(place->fd, (off_t)(place->offset + len)) != 0)
			return place_error(error, &place->item, -EFBIG);
		place->offset += len;
		copy_digest_add_zeros(&place->digest, len);
		return 0;
	}
	while (rc == 0 && len > 0) {
		uint64_t part = LULL_MIN(len, sizeof(zeros));

		rc = copy_place_write(place, zeros, part, error);
		len -= part;
	}
	return rc;
}

/* ---- the end ---- */

void
copy_place_leave(struct copy_place *place, bool keep)
{
	if (!place->open)
		return;
	if (!keep && !place->standard && place->fd >= 0)
		unlinkat(place->parent, place->part, 0);
	place_give_up(place);
}

void
copy_place_same(struct copy_place *place)
{
	place_close(place);
}

int
copy_place_end(struct copy_place *place, uint64_t len, const uint8_t wanted[COPY_DIGEST_BYTES],
	       uint8_t digest[COPY_DIGEST_BYTES], struct lull_error *error)
{
	int rc = 0;

	copy_digest_now(&place->digest, digest);
	if (len != place->offset || memcmp(digest, wanted, COPY_DIGEST_BYTES) != 0)
		rc = -EBADMSG;
	else if (!place->standard)
		rc = place_set(place->fd, &place->item);
	if (rc == 0 && !place->standard &&
	    renameat(place->parent, place->part, place->parent, place->name) != 0)
		rc = -errno;
	if (rc == 0) {
		place_close(place);
		return 0;
	}
	place_error(error, &place->item, rc);
	copy_place_leave(place, false);
	return rc;
}

/* Is what is there the beginning of the small file, whose bytes we have? */
static int
place_compare(struct copy_place *place, uint64_t there)
{
	uint8_t block[4096];

	for (uint64_t at = 0; at < there;) {
		ssize_t got = pread(place->fd, block, sizeof(block), (off_t)at);

		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		if (at + (uint64_t)got > place->item.size ||
		    memcmp(block, place->item.bytes + at, (size_t)got) != 0)
			return -EEXIST;
		at += (uint64_t)got;
	}
	return 0;
}

int
copy_place_small(struct copy_place *place, int target, const struct copy_item *item,
		 struct lull_error *error)
{
	uint8_t digest[COPY_DIGEST_BYTES];
	uint64_t there = 0;
	int rc = place_prepare(place, target, item);

	if (rc == -ENOMEM)
		return place_error(error, item, rc);
	copy_digest_add(&place->digest, item->bytes, item->size);
	copy_digest_now(&place->digest, digest);
	if (rc == 0 && memcmp(digest, item->digest, sizeof(digest)) != 0)
		rc = -EBADMSG;
	if (rc == 0 && !place->standard)
		rc = place_open_part(place, &there);
	if (rc == 0 && (item->flags & COPY_FLAG_RESTART) == 0)
		rc = place_compare(place, there);
	if (rc == 0 && !place->standard && ftruncate(place->fd, 0) != 0)
		rc = -errno;
	if (rc != 0) {
		if (rc == -EWOULDBLOCK)
			place_close(place);
		else
			place_give_up(place);
		return place_error(error, item, rc);
	}
	rc = place_put(place, item->bytes, item->size);
	if (rc == 0)
		return copy_place_end(place, item->size, item->digest, digest, error);
	copy_place_leave(place, false);
	return place_error(error, item, rc);
}
