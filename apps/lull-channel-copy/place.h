/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Place: files and folders below the target folder, and nowhere else.
 *
 * A file grows as NAME.part, which only its owner may read, and becomes NAME when its digest is
 * that of the sender. No component of a path is followed when it is a link.
 * Threads: one per file. Memory: libcrypto's digest, descriptors.
 */
#ifndef LULL_CHANNEL_COPY_PLACE_H
#define LULL_CHANNEL_COPY_PLACE_H

#include <lull/base.h>

#include "digest.h"
#include "message.h"

/** A file that is being written. Zero before the first one. */
struct copy_place {
	int fd, parent;      /* -1: none */
	bool open, standard; /* standard: it is the standard output */
	struct copy_item item;
	const char *name; /* in item.path: its last component */
	char part[NAME_MAX + 1];
	uint64_t offset;
	struct copy_digest digest;
};

/** Make a folder, with its parents. */
int copy_place_folder(int target, const struct copy_item *item, struct lull_error *error);
/** Give it its mode and times. */
int copy_place_folder_end(int target, const struct copy_item *item, struct lull_error *error);

/**
 * Open NAME.part, or find that NAME is there already with the size and time of the item.
 * @param target  descriptor of the folder; -1: the standard output
 * @param note    out: what is there: offset, digest, how: whole
 */
int copy_place_open(struct copy_place *place, int target, const struct copy_item *item,
		    struct copy_note *note, struct lull_error *error);
/** Go on at this offset of what is there, or from 0. */
int copy_place_begin(struct copy_place *place, uint64_t offset, struct lull_error *error);
int copy_place_write(struct copy_place *place, const uint8_t *bytes, uint64_t len,
		     struct lull_error *error);
int copy_place_hole(struct copy_place *place, uint64_t len, struct lull_error *error);
/**
 * All of it came: compare length and digest, set mode and times, give it its name.
 * @param digest  out: of what is here
 */
int copy_place_end(struct copy_place *place, uint64_t len, const uint8_t wanted[COPY_DIGEST_BYTES],
		   uint8_t digest[COPY_DIGEST_BYTES], struct lull_error *error);
/** It is the same as what was there: nothing changes. */
void copy_place_same(struct copy_place *place);
/** Leave it; the .part stays for another time, or goes. */
void copy_place_leave(struct copy_place *place, bool keep);
/** All of a small file at once. */
int copy_place_small(struct copy_place *place, int target, const struct copy_item *item,
		     struct lull_error *error);

#endif
