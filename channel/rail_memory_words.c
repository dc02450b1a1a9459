/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of memory rails: which socket, which rail, and how many there are. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"
#include "rail_memory.h"

#define MEMORY_ANSWER_MS 2000 /* for the first answer */

int
channel_memory_refused(int rc, const char *path, struct lull_error *error)
{
	switch (rc) {
	case -ENOENT:
	case -ECONNREFUSED:
	case -ECONNRESET:
		return lull_error_set(error, rc, "nobody serves %s: start lull-channel-node", path);
	case -EPERM:
	case -EACCES:
		return lull_error_set(error, rc,
				      "%s is another user's: run lull-channel-node as this user, "
				      "or as root",
				      path);
	case -ENODEV:
		return lull_error_set(error, rc, "the node's program has no such rail");
	case -ETIMEDOUT:
		return lull_error_set(error, rc, "%s does not answer", path);
	default:
		return lull_error_set(error, rc, "%s: %s", path, strerror(-rc));
	}
}

int
channel_memory_wait(int fd)
{
	struct pollfd polls = { .fd = fd, .events = POLLIN };

	return poll(&polls, 1, MEMORY_ANSWER_MS) == 1 ? 0 : -ETIMEDOUT;
}

const char *
channel_rail_memory_words(const char *text)
{
	static const char *const kinds[] = { CHANNEL_RAIL_MEMORY, CHANNEL_RAIL_MEMORY_BUSY };

	for (uint32_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(text, kinds[i], strlen(kinds[i])) == 0)
			return text + strlen(kinds[i]);
	return NULL;
}

int
channel_memory_words(const char *text, char path[CHANNEL_ATTACH_PATH_SIZE], uint32_t *number,
		     struct lull_error *error)
{
	static const char word[] = ",rail=";
	char words[CHANNEL_RAIL_TEXT_SIZE];
	char *comma, *end;

	snprintf(words, sizeof(words), "%s", channel_rail_memory_words(text));
	comma = strstr(words, word);
	if (comma != NULL) {
		unsigned long value = strtoul(comma + strlen(word), &end, 10);

		if (comma[strlen(word)] < '0' || comma[strlen(word)] > '9' || *end != '\0' ||
		    value >= LULL_CHANNEL_RAILS_MAX)
			return lull_error_set(error, -EINVAL, "'%s' is not rail=N, N in 0..%d",
					      comma + 1, LULL_CHANNEL_RAILS_MAX - 1);
		*number = (uint32_t)value;
		*comma = '\0';
	}
	return channel_attach_path(words, false, path, error);
}

static int
memory_count(const char *path)
{
	struct channel_attach_answer answer;
	int fds[CHANNEL_LANE_FDS], fd = channel_attach_connect(path), rc;

	if (fd < 0)
		return fd;
	rc = channel_attach_ask(fd, CHANNEL_ATTACH_COUNT, 0);
	if (rc == 0)
		rc = channel_memory_wait(fd);
	if (rc == 0)
		rc = channel_attach_read(fd, &answer, fds);
	close(fd);
	if (rc == 0)
		rc = answer.error;
	if (rc != 0)
		return rc;
	return answer.rail_count > 0 && answer.rail_count <= LULL_CHANNEL_RAILS_MAX ?
		       (int)answer.rail_count :
		       -EPROTO;
}

int
channel_rail_memory_spell(const char *text, char words[][CHANNEL_RAIL_TEXT_SIZE], uint32_t room,
			  struct lull_error *error)
{
	uint32_t number = LULL_CHANNEL_RAILS_MAX;
	char path[CHANNEL_ATTACH_PATH_SIZE];
	int rc;

	if (text == NULL || channel_rail_memory_words(text) == NULL ||
	    strlen(text) >= CHANNEL_RAIL_TEXT_SIZE)
		return 0; /* whoever opens it says what is wrong */
	rc = channel_memory_words(text, path, &number, error);
	if (rc == 0 && number == LULL_CHANNEL_RAILS_MAX) {
		rc = memory_count(path);
		rc = rc < 0 ? channel_memory_refused(rc, path, error) : rc;
	}
	if (rc < 0) {
		lull_error_prefix(error, "rail %s: ", text);
		return rc;
	}
	if (rc > (int)room)
		return lull_error_set(error, -ENOSPC, "rail %s: that is %d rails, there may be %d",
				      text, rc, LULL_CHANNEL_RAILS_MAX);
	for (int i = 0; i < rc; i++)
		if (snprintf(words[i], CHANNEL_RAIL_TEXT_SIZE, "%s,rail=%d", text, i) >=
		    CHANNEL_RAIL_TEXT_SIZE)
			return lull_error_set(error, -EINVAL, "rail %s: is too long", text);
	return rc;
}
