/* SPDX-License-Identifier: BSD-3-Clause */
/* The side that names files: connect, walk, wait for every verdict. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lull/rest.h>

#include "copy.h"
#include "program/result.h"

#define STEP_NS (20 * LULL_NS_PER_MS)

/* ---- replies ---- */

static void
send_verdict(struct copy *copy, const struct copy_note *note)
{
	struct copy_sender *sender = &copy->sender;
	uint32_t place = note->index % COPY_UNANSWERED_MAX;
	json_t *item = sender->waiting[place];

	if (sender->unanswered == 0) {
		copy_pipe_fail(&sender->pipe, -EPROTO);
		return;
	}
	sender->unanswered--;
	sender->waiting[place] = NULL;
	if (note->status != 0) {
		if (note->status != ECANCELED) /* we have said why */
			copy_fail(copy, "%s", note->text);
		sender->fatal |= note->status == ENOSPC || note->status == EDQUOT;
		json_decref(item);
		return;
	}
	copy->totals.folders += sender->kinds[place] == COPY_FOLDER_END;
	if (sender->kinds[place] == COPY_SMALL || sender->kinds[place] == COPY_FILE) {
		copy->totals.files++;
		copy->totals.bytes += note->offset;
	}
	if (item != NULL)
		json_array_append_new(copy->items, item);
}

static int
send_reply(struct copy *copy, const struct copy_slot *slot)
{
	struct copy_sender *sender = &copy->sender;
	struct copy_note note;

	if (copy_note_read(slot->bytes, slot->len, &note) != 0)
		return -EPROTO;
	switch (slot->kind) {
	case COPY_WELCOME:
		sender->welcomed = true;
		sender->refused = note.offset == COPY_VERSION ? note.status : EPROTO;
		return 0;
	case COPY_PLACE:
		sender->place = note;
		sender->placed = true;
		return 0;
	case COPY_STOP:
		sender->stopped = note.index;
		return 0;
	case COPY_VERDICT:
		send_verdict(copy, &note);
		return 0;
	case COPY_BYE:
		sender->parted = true;
		return 0;
	default:
		return -EPROTO;
	}
}

void
copy_send_take(struct copy *copy)
{
	struct copy_pipe *pipe = &copy->sender.pipe;
	const struct copy_slot *slot;

	/* What came before the end counts: it may be known only together with the end. */
	while (pipe->error != -EPROTO && (slot = copy_pipe_next(pipe)) != NULL) {
		int rc = send_reply(copy, slot);

		copy_pipe_took(pipe);
		if (rc != 0)
			copy_pipe_fail(pipe, rc);
		if (rc != 0)
			break;
	}
}

/* ---- greeting ---- */

/* Waits until *what holds. False: the pipe broke, a signal came, or the time is over. */
static bool
send_wait(struct copy *copy, const bool *what, uint64_t limit_ns)
{
	uint64_t begin_ns = lull_clock_ns();

	while (!*what && copy->sender.pipe.error == 0)
		if (!copy_turn(copy, STEP_NS) || lull_clock_ns() - begin_ns > limit_ns)
			return false;
	return *what;
}

static int
send_explain(const struct copy *copy, struct lull_error *error)
{
	const struct copy_sender *sender = &copy->sender;
	const char *to = copy->settings.to;
	int rc = sender->pipe.error;

	if (copy->interrupted)
		return lull_error_set(error, -EINTR,
				      "interrupted after %" PRIu64 " of %" PRIu64
				      " files: copy again, which goes on where it stopped",
				      copy->totals.files, sender->total_files);
	if (sender->welcomed && sender->refused != 0)
		return lull_error_set(error, -ECONNREFUSED, "%s refuses: %s", to,
				      sender->refused == EBUSY ?
					      "as many copies as it takes run already; try later" :
				      sender->refused == EPROTO ?
					      "it has another version of lull-channel-copy" :
					      strerror((int)LULL_MIN(sender->refused, 4095U)));
	if (rc == -ECONNREFUSED || rc == 0)
		return lull_error_set(error, rc == 0 ? -ETIMEDOUT : rc,
				      "%s is there, but no lull-channel-copy answers at endpoint "
				      "%u: start it with --listen",
				      to, copy->settings.link.endpoint);
	if (rc == -EPROTO)
		return lull_error_set(error, rc, "%s answers what no lull-channel-copy would", to);
	return lull_error_set(error, rc,
			      "%s has ended, or began anew: copy again, which goes on where it "
			      "stopped",
			      to);
}

static int
send_greet(struct copy *copy, uint32_t peer, struct lull_error *error)
{
	struct copy_sender *sender = &copy->sender;
	const struct copy_note hello = { .offset = COPY_VERSION };
	struct lull_channel_message message = {
		.data = sender->hello_bytes,
		.len_bytes = copy_note_write(sender->hello_bytes, &hello),
		.tag = COPY_TAG_HELLO,
		.endpoint = copy->settings.link.endpoint,
	};
	int rc = copy_pipe_open(&sender->pipe, copy->link.channel, peer,
				copy->settings.link.endpoint, copy->settings.window,
				COPY_HEAD_BYTES + COPY_CHUNK_BYTES, COPY_REPLIES, COPY_REPLY_BYTES);

	sender->stopped = UINT32_MAX;
	if (rc != 0)
		return lull_error_set(error, rc,
				      "no memory for %u messages; choose a smaller "
				      "--window",
				      copy->settings.window);
	rc = lull_channel_send(copy->link.channel, peer, &message, &sender->hello);
	if (rc != 0)
		return lull_error_set(error, rc, "cannot send to %s: %s", copy->settings.to,
				      strerror(-rc));
	if (!send_wait(copy, &sender->welcomed, copy->settings.link.wait_ns) ||
	    sender->refused != 0)
		return send_explain(copy, error);
	return 0;
}

/* ---- walk ---- */

/* Names there: those below what was named, with its last component in front. */
static void
send_name(const char *root, const char *path, char name[PATH_MAX])
{
	char whole[PATH_MAX], *base;
	size_t len = strlen(root), used;

	while (len > 1 && root[len - 1] == '/')
		len--;
	snprintf(whole, sizeof(whole), "%.*s", (int)len, root);
	base = strrchr(whole, '/') != NULL ? strrchr(whole, '/') + 1 : whole;
	if (strcmp(base, ".") == 0 || strcmp(base, "..") == 0 || base[0] == '\0') {
		if (realpath(root, whole) == NULL)
			whole[0] = '\0';
		base = strrchr(whole, '/') != NULL ? strrchr(whole, '/') + 1 : whole;
	}
	path += LULL_MIN(strlen(root), strlen(path));
	path += strspn(path, "/");
	used = (size_t)snprintf(name, PATH_MAX, "%s%s", base, path[0] != '\0' ? "/" : "");
	if (used < PATH_MAX) /* one that is too long is refused there */
		snprintf(name + used, PATH_MAX - used, "%s", path);
}

static int
send_open_file(struct copy *copy, const FTSENT *entry, const char *name)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
	int fd = open(entry->fts_accpath, entry->fts_level > 0 ? flags | O_NOFOLLOW : flags);
	int rc;

	if (fd < 0) {
		copy_fail(copy, "%s: cannot read it: %s", entry->fts_path, strerror(errno));
		return 0;
	}
	rc = copy_send_file(copy, fd, name, false);
	close(fd);
	return rc;
}

static int
send_entry(struct copy *copy, const char *root, const FTSENT *entry)
{
	static char name[PATH_MAX]; /* the progress shows it */
	const struct stat *found = entry->fts_statp;
	struct timespec times[2];

	send_name(root, entry->fts_path, name);
	copy->sender.name = name;
	switch (entry->fts_info) {
	case FTS_D:
	case FTS_DP:
		times[0] = found->st_atim;
		times[1] = found->st_mtim;
		return copy_send_folder(copy,
					entry->fts_info == FTS_D ? COPY_FOLDER : COPY_FOLDER_END,
					name, (uint16_t)(found->st_mode & 0777), times);
	case FTS_F:
		return send_open_file(copy, entry, name);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		copy_fail(copy, "%s: cannot read it: %s", entry->fts_path,
			  strerror(entry->fts_errno));
		return 0;
	default: /* links, sockets, devices */
		copy->totals.left_out++;
		return 0;
	}
}

/* All of one word of the command line: count it first, send it then. */
static int
send_walk(struct copy *copy, const char *root, bool count)
{
	char *const roots[] = { strdup(root), NULL };
	FTS *walk = roots[0] != NULL ?
			    fts_open(roots, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR, NULL) :
			    NULL;
	const FTSENT *entry;
	int rc = 0;

	while (walk != NULL && rc == 0 && !copy->sender.fatal && (entry = fts_read(walk)) != NULL) {
		if (!count) {
			rc = send_entry(copy, root, entry);
		} else if (entry->fts_info == FTS_F) {
			copy->sender.total_files++;
			copy->sender.total_bytes += (uint64_t)entry->fts_statp->st_size;
		}
	}
	if (walk == NULL)
		copy_fail(copy, "%s: cannot read it: %s", root, strerror(errno));
	else
		fts_close(walk);
	free(roots[0]);
	return rc;
}

static int
send_all(struct copy *copy)
{
	int rc = 0;

	for (uint32_t i = 0; i < copy->run.operand_count; i++) {
		if (strcmp(copy->run.operands[i], "-") != 0)
			send_walk(copy, copy->run.operands[i], true);
		else
			copy->sender.total_files++;
	}
	for (uint32_t i = 0; rc == 0 && !copy->sender.fatal && i < copy->run.operand_count; i++) {
		const char *root = copy->run.operands[i];

		copy->sender.name = copy->settings.as;
		rc = strcmp(root, "-") != 0 ?
			     send_walk(copy, root, false) :
			     copy_send_file(copy, STDIN_FILENO, copy->settings.as, true);
	}
	return rc;
}

/* ---- the end ---- */

/* Behind the last verdict nothing is open: a side that ends before it says BYE has all. */
static bool
send_part(struct copy *copy)
{
	struct copy_sender *sender = &copy->sender;
	const struct copy_note bye = { .index = sender->index };
	uint8_t *room;

	while (sender->unanswered > 0 && sender->pipe.error == 0)
		if (!copy_turn(copy, STEP_NS))
			return false;
	if (sender->unanswered > 0)
		return false;
	room = copy_send_room(copy);
	if (room != NULL) {
		lull_link_look(copy->link.channel, sender->pipe.peer, &sender->last);
		copy_pipe_send(&sender->pipe, COPY_BYE, copy_note_write(room, &bye));
		(void)send_wait(copy, &sender->parted, LULL_CHANNEL_FOREVER);
	}
	return sender->pipe.error != -EPROTO && !copy->interrupted;
}

int
copy_send_run(struct copy *copy, struct lull_error *error)
{
	uint32_t peer = 0;
	int rc = lull_link_connect(&copy->link, &copy->run, copy->settings.to, &peer, error);

	if (rc == 0)
		rc = send_greet(copy, peer, error);
	if (rc != 0)
		return rc;
	if (send_all(copy) != 0 || !send_part(copy))
		return send_explain(copy, error);
	if (copy->totals.failed == 0)
		return 0;
	*error = copy->failure;
	if (copy->totals.failed > 1)
		lull_error_suffix(error, " (and %" PRIu64 " more)", copy->totals.failed - 1);
	return -EIO;
}
