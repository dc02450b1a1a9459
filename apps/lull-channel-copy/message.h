/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Message: what the two sides of a copy tell each other.
 *
 * Messages of a node arrive in the order in which they were sent; the tag says which it is.
 * Numbers have their most significant byte first. Texts are the rest of a message, without a zero.
 *
 * | kind        | from     | what                                                    |
 * |-------------|----------|---------------------------------------------------------|
 * | HELLO       | sender   | note: offset is the version; it has a tag of its own    |
 * | WELCOME     | receiver | note: offset is the version, status                     |
 * | FOLDER      | sender   | item: make this folder                                  |
 * | FOLDER_END  | sender   | item: nothing follows in it, set its mode and times     |
 * | SMALL       | sender   | item and all bytes of the file                          |
 * | FILE        | sender   | item: a file, or a stream (size: 2^64 - 1)              |
 * | PLACE       | receiver | note: offset and digest of what is there, how: whole    |
 * | BEGIN       | sender   | note: how, offset: the bytes that follow begin there    |
 * | DATA        | sender   | bytes                                                   |
 * | HOLE        | sender   | note: so many zeros (offset)                            |
 * | END         | sender   | note: length (offset) and digest of all, how: aborted   |
 * | STOP        | receiver | note: send no more of this item                         |
 * | VERDICT     | receiver | note: status, length (offset) and digest of all         |
 * | BYE         | both     | note: nothing follows                                   |
 *
 * An item: index:32, flags:8, mode:16, size:64, room:64, accessed and modified (each seconds:64,
 * nanoseconds:32), digest:256 (of SMALL), path bytes:16, path; bytes of SMALL.
 * A note: index:32, status:32, how:8, offset:64, digest:256, text. A status is 0 or an errno, and
 * the text says it in a sentence.
 *
 * Threads: plain data. Memory: the caller's.
 */
#ifndef LULL_CHANNEL_COPY_MESSAGE_H
#define LULL_CHANNEL_COPY_MESSAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define COPY_VERSION 1U
#define COPY_DIGEST_BYTES 32U
#define COPY_CHUNK_BYTES (1U << 20)
#define COPY_HEAD_BYTES 8192U /* most that stands before the bytes of a file */
#define COPY_TEXT_SIZE 512U
#define COPY_REPLY_BYTES 1024U /* most of a message of the receiver */
#define COPY_SIZE_UNKNOWN UINT64_MAX

#define COPY_TAG 0x636f707900000000ULL /* "copy"; the low byte: kind */
#define COPY_TAG_KIND 0xffULL
#define COPY_TAG_HELLO 0x636f707900010000ULL

enum copy_kind {
	COPY_WELCOME = 1,
	COPY_FOLDER,
	COPY_FOLDER_END,
	COPY_SMALL,
	COPY_FILE,
	COPY_PLACE,
	COPY_BEGIN,
	COPY_DATA,
	COPY_HOLE,
	COPY_END,
	COPY_STOP,
	COPY_VERDICT,
	COPY_BYE
};

/** A .part that does not fit is thrown away. */
#define COPY_FLAG_RESTART 1U

/** Something to be put into the target folder. */
struct copy_item {
	uint32_t index;
	uint8_t flags;
	uint16_t mode;
	uint64_t size, room; /* room: bytes that it needs on a disk */
	struct timespec accessed, modified;
	uint8_t digest[COPY_DIGEST_BYTES]; /* SMALL */
	char path[PATH_MAX];
	const uint8_t *bytes; /* SMALL: `size` of them, in the message */
};
/** Where a file begins. */
enum copy_how { COPY_HOW_BYTES, COPY_HOW_SAME, COPY_HOW_NOT };
/** Every other message; members that a kind does not have are zero. */
struct copy_note {
	uint32_t index;
	uint32_t status; /* errno */
	uint8_t how;     /* BEGIN: enum copy_how; PLACE: whole; END: aborted */
	uint64_t offset; /* or length, or version */
	uint8_t digest[COPY_DIGEST_BYTES];
	char text[COPY_TEXT_SIZE];
};

/** Each writes at most COPY_HEAD_BYTES (an item) or COPY_REPLY_BYTES and returns how many. */
uint32_t copy_item_write(uint8_t *bytes, enum copy_kind kind, const struct copy_item *item);
uint32_t copy_note_write(uint8_t *bytes, const struct copy_note *note);
/** 0, -EPROTO: no such message. */
int copy_item_read(const uint8_t *bytes, uint64_t len, enum copy_kind kind, struct copy_item *item);
int copy_note_read(const uint8_t *bytes, uint64_t len, struct copy_note *note);

/**
 * May this be put below the target folder? A relative path of components that are neither empty
 * nor "." nor ".." nor too long. 0, -EPERM, -ENAMETOOLONG.
 */
int copy_path_check(const char *path);

#endif
