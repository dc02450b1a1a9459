/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A side that takes one small file of lull-channel-copy, and never says BYE: it ends behind its
 * verdict, or in front of it.
 *
 * copy-taker verdict|nothing NAME RAIL...
 */
#include <lull/channel.h>
#include <lull/rest.h>

#include <stdio.h>
#include <string.h>

#include "lull-channel-copy/message.h"

#define WAIT_NS (30 * LULL_NS_PER_S)
#define LINGER_NS LULL_NS_PER_S

static uint8_t taken[COPY_HEAD_BYTES + COPY_CHUNK_BYTES], reply[COPY_REPLY_BYTES];
static struct copy_item item;

/* The next operation that ends; 0 or its error. */
static int
taker_wait(struct lull_channel *channel, struct lull_channel_completion *done)
{
	return lull_channel_done(channel, done, 1, WAIT_NS) == 1 ? done->error : -1;
}

static int
taker_receive(struct lull_channel *channel, uint64_t tag, struct lull_channel_completion *done)
{
	const struct lull_channel_receive receive = {
		.source = LULL_CHANNEL_ANY,
		.tag = tag,
		.buffer = taken,
		.size_bytes = sizeof(taken),
	};
	int rc = lull_channel_recv(channel, &receive, taken);

	return rc == 0 ? taker_wait(channel, done) : rc;
}

static int
taker_send(struct lull_channel *channel, uint32_t peer, enum copy_kind kind,
	   const struct copy_note *note)
{
	struct lull_channel_message message = { .data = reply, .tag = COPY_TAG | kind };
	struct lull_channel_completion done;
	int rc;

	message.len_bytes = copy_note_write(reply, note);
	rc = lull_channel_send(channel, peer, &message, reply);
	return rc == 0 ? taker_wait(channel, &done) : rc;
}

static int
taker_run(struct lull_channel *channel, bool verdict)
{
	const struct copy_note welcome = { .offset = COPY_VERSION };
	struct lull_channel_completion done;
	struct copy_note judged;
	int rc = taker_receive(channel, COPY_TAG_HELLO, &done);

	if (rc == 0)
		rc = taker_send(channel, done.peer, COPY_WELCOME, &welcome);
	if (rc == 0)
		rc = taker_receive(channel, COPY_TAG | COPY_SMALL, &done);
	if (rc == 0)
		rc = copy_item_read(taken, done.len_bytes, COPY_SMALL, &item);
	if (rc != 0 || !verdict)
		return rc;
	judged = (struct copy_note){ .index = item.index, .offset = item.size };
	memcpy(judged.digest, item.digest, sizeof(judged.digest));
	return taker_send(channel, done.peer, COPY_VERDICT, &judged);
}

int
main(int argc, char **argv)
{
	struct lull_channel_config config = { .security = LULL_CHANNEL_OPEN };
	struct lull_channel *channel;
	struct lull_error error;
	int rc;

	if (argc < 4)
		return 2;
	config.name = argv[2];
	/* Behind the rails stand options that the tests give to each program. */
	for (int i = 3; i < argc && argv[i][0] != '-'; i++)
		config.rails[config.rail_count++] = argv[i];
	rc = lull_channel_open(&config, &channel, &error);
	if (rc == 0)
		rc = lull_channel_start(channel, &error);
	if (rc != 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	fprintf(stderr, "copy-taker: listening at %u rails\n", config.rail_count);
	rc = taker_run(channel, strcmp(argv[1], "verdict") == 0);
	lull_channel_close(channel, LINGER_NS);
	return rc == 0 ? 0 : 1;
}
