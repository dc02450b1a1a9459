/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Copy: the whole program, from its settings to its result.
 *
 * The sender walks its files and writes into a pipe; the receiver has a session per sender, which
 * takes messages in order. Both turn the channel's completions by copy_turn().
 * Threads: main thread. Memory: the caller's struct, buffers of the pipes.
 */
#ifndef LULL_CHANNEL_COPY_COPY_H
#define LULL_CHANNEL_COPY_COPY_H

#include "pipe.h"
#include "place.h"
#include "program/program.h"
#include "rate.h"
#include "settings.h"

#define COPY_SESSIONS_MAX 16U
#define COPY_HELLOS 4U
#define COPY_UNANSWERED_MAX 64U /* items whose verdict may be waited for */
#define COPY_REPLIES 128U       /* more than those, a PLACE and a STOP */
#define COPY_ITEMS_MAX 10000U   /* that a result tells of */

/** What happened, on either side. */
struct copy_totals {
	uint64_t files, folders, failed, left_out; /* left out: neither file nor folder */
	uint64_t bytes;                            /* of files that are there now */
	uint64_t resumed_bytes, same_bytes; /* of them: were there before, in a .part or whole */
	uint64_t broken;                    /* receiver: senders that went away in the middle */
};

/** A sender, as the receiver knows it. */
struct copy_session {
	struct copy *copy;
	struct copy_pipe pipe;
	struct copy_place place;
	char name[LULL_BUNDLE_NAME_SIZE];
	uint32_t refused; /* errno of its WELCOME */
	bool welcomed, over, ended, broke;
	bool dropping; /* the rest of an item that went wrong comes */
	struct copy_note dropped;
	uint64_t resumed_bytes; /* of the file that is written */
	struct copy_item item;  /* scratch: a message that is read */
};

/** The sender's state. */
struct copy_sender {
	struct copy_pipe pipe;
	struct copy_slot hello;
	bool hello_failed;
	uint8_t hello_bytes[COPY_REPLY_BYTES];
	bool welcomed, placed, parted; /* parted: the other side said BYE */
	uint32_t refused;
	struct copy_note place;               /* last PLACE */
	uint32_t stopped;                     /* index of the last STOP, UINT32_MAX: none */
	uint32_t index;                       /* of the next item */
	uint32_t unanswered;                  /* verdicts that are waited for */
	json_t *waiting[COPY_UNANSWERED_MAX]; /* by index: items without a verdict */
	uint8_t kinds[COPY_UNANSWERED_MAX];   /* enum copy_kind, of the same */
	bool fatal;                           /* nothing more is sent: no room there */
	uint64_t total_bytes, total_files;    /* of all that is named; bytes: streams not known */
	uint64_t passed_bytes;                /* given to the pipe, or there before */
	struct copy_digest digest;
	const char *name;           /* of the item under way, for the progress */
	struct lull_link_look last; /* of the receiver, which goes when it has said BYE */
};

struct copy {
	struct lull_run run;
	struct copy_settings settings;
	struct lull_link link;
	struct copy_totals totals;
	struct copy_rate rate;
	struct lull_error failure; /* the first one */
	json_t *items;
	uint64_t looked_ns;
	bool interrupted, bar;

	struct copy_sender sender;

	int target; /* folder, -1: standard output */
	struct copy_session *sessions[COPY_SESSIONS_MAX];
	uint32_t session_count;
	uint64_t ended;       /* sessions that said BYE */
	uint64_t ended_bytes; /* moved by sessions that are gone */
	struct copy_slot hellos[COPY_HELLOS];
	uint8_t hello_bytes[COPY_HELLOS][COPY_REPLY_BYTES];
};

int copy_check(void *state, struct lull_error *error);
int copy_instead(void *state, bool *done, struct lull_error *error);
int copy_open(void *state, struct lull_error *error);
int copy_run(void *state, struct lull_error *error);
void copy_close(void *state);
void copy_result(void *state, json_t *result);

/**
 * Wait for completions, for so long at most, and hand them on; signals and progress too.
 * @return false: a signal came
 */
bool copy_turn(struct copy *copy, uint64_t wait_ns);
/** All files of the command line. */
int copy_send_run(struct copy *copy, struct lull_error *error);
/** What came from the receiver; after completions. */
void copy_send_take(struct copy *copy);
/** Everybody who comes, until the end. */
int copy_receive_run(struct copy *copy, struct lull_error *error);
/** A HELLO came. */
void copy_receive_hello(struct copy *copy, struct copy_slot *slot,
			const struct lull_channel_completion *completion);

/* ---- the sender's items: item.c ---- */

/** Send one item; failures are counted. 0, or a negative errno that ends everything. */
int copy_send_folder(struct copy *copy, enum copy_kind kind, const char *path, uint16_t mode,
		     const struct timespec times[2]);
/** @p fd: an open file, which stays the caller's; @p stream: of unknown length. */
int copy_send_file(struct copy *copy, int fd, const char *path, bool stream);
/** Wait for room for a message; NULL: the pipe is broken, or a signal came. */
uint8_t *copy_send_room(struct copy *copy);
/** Something went wrong with an item on this side. */
__attribute__((format(printf, 2, 3))) void copy_fail(struct copy *copy, const char *format, ...);

/* ---- progress and result ---- */

void copy_progress_print(struct copy *copy, uint64_t now_ns);
/** A line, whether there is a bar or not. */
__attribute__((format(printf, 2, 3))) void copy_say(struct copy *copy, const char *format, ...);
void copy_summary_print(struct copy *copy);
uint64_t copy_moved_bytes(const struct copy *copy);
/** An item of the result; NULL: there are too many. */
json_t *copy_item_result(const struct copy *copy, const char *path, uint64_t bytes,
			 uint64_t resumed_bytes, const uint8_t digest[COPY_DIGEST_BYTES]);

#endif
