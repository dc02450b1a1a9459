/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lull/engine.h>

#include "host/error.h"
#include "replay.h"

#define ETHERNET_HEADER_BYTES 14
/* A capture that lasts no time at all repeats this often. */
#define PERIOD_NS_LEAST LULL_NS_PER_MS
/* 31 years: keeps sums of odd times below 2^64. */
#define OFFSET_NS_MOST 1e18
#define SPEED_LEAST 0.001
#define SPEED_MOST 1000000.0

struct lull_replay {
	struct lull_replay_info info;
	const uint8_t *bytes;
	size_t len;
	double scale; /* capture time to real time; 0: as fast as possible */
	uint64_t loop_count;
	uint64_t first_ns;  /* time of the first frame sent */
	uint64_t period_ns; /* from one time through to the next, in real time */
};

enum fate { FATE_SEND, FATE_SHORT, FATE_LONG };

static enum fate
replay_fate(const struct lull_capture_packet *packet)
{
	if (packet->captured_bytes < ETHERNET_HEADER_BYTES)
		return FATE_SHORT;
	return packet->captured_bytes > LULL_REPLAY_FRAME_MAX ? FATE_LONG : FATE_SEND;
}

static void
replay_count(struct lull_replay *replay, const struct lull_capture_packet *packet)
{
	struct lull_replay_info *info = &replay->info;

	switch (replay_fate(packet)) {
	case FATE_SHORT:
		info->skipped_short++;
		return;
	case FATE_LONG:
		info->skipped_long++;
		return;
	case FATE_SEND:
		break;
	}
	if (info->frames == 0)
		replay->first_ns = packet->timestamp_ns;
	if (packet->timed && packet->timestamp_ns > replay->first_ns)
		info->duration_ns =
			LULL_MAX(info->duration_ns, packet->timestamp_ns - replay->first_ns);
	info->frames++;
	info->bytes += packet->captured_bytes;
	info->truncated += packet->captured_bytes < packet->original_bytes;
	info->frame_max_bytes = LULL_MAX(info->frame_max_bytes, (uint16_t)packet->captured_bytes);
}

/* Read the whole file once: nothing can go wrong in it while it is being sent. */
static int
replay_survey(struct lull_replay *replay, const char *path, struct lull_error *error)
{
	struct lull_capture_packet packet;
	struct lull_capture capture;

	lull_capture_open(&capture, replay->bytes, replay->len);
	while (lull_capture_next(&capture, &packet) == LULL_CAPTURE_PACKET) {
		if (packet.link_type != LULL_CAPTURE_LINK_ETHERNET)
			return lull_error_set(error, -ENOTSUP,
					      "%.120s: link type %u before byte %zu, only "
					      "Ethernet (1) can be sent",
					      path, packet.link_type, capture.offset);
		replay_count(replay, &packet);
	}
	if (capture.result != LULL_CAPTURE_END)
		return lull_error_set(error, -EBADMSG, "%.120s: %s at byte %zu: %s", path,
				      lull_capture_result_name(capture.result), capture.offset,
				      capture.reason != NULL ? capture.reason : "unknown reason");
	if (replay->info.frames == 0)
		return lull_error_set(error, -ENODATA,
				      "%.120s: the file has no frame that can be "
				      "sent",
				      path);
	return 0;
}

static int
replay_errno(struct lull_error *error, const char *path)
{
	int rc = -errno;

	return lull_error_set(error, rc, "%.120s: %s", path, strerror(-rc));
}

static int
replay_map(struct lull_replay *replay, const char *path, struct lull_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes;
	int rc;

	if (fd < 0)
		return replay_errno(error, path);
	if (fstat(fd, &status) < 0) {
		rc = replay_errno(error, path);
	} else if (!S_ISREG(status.st_mode) || status.st_size == 0) {
		rc = lull_error_set(error, -EINVAL, "%.120s: %s", path,
				    S_ISREG(status.st_mode) ? "empty file" : "not a regular file");
	} else {
		/* populated: the loop shall not wait for the disk */
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE,
			     fd, 0);
		rc = bytes == MAP_FAILED ? replay_errno(error, path) : 0;
		replay->bytes = rc == 0 ? bytes : NULL;
		replay->len = (size_t)status.st_size;
	}
	close(fd);
	return rc;
}

static uint64_t
replay_scaled(const struct lull_replay *replay, uint64_t capture_ns)
{
	double real_ns = (double)capture_ns * replay->scale;

	return (uint64_t)LULL_MIN(real_ns, OFFSET_NS_MOST);
}

int
lull_replay_open(const struct lull_replay_config *config, struct lull_replay **replay,
		 struct lull_error *error)
{
	struct lull_replay *self;
	uint64_t period_ns;
	int rc;

	if (config->speed != 0 && !(config->speed >= SPEED_LEAST && config->speed <= SPEED_MOST))
		return lull_error_set(error, -EINVAL, "speed: neither 0 nor in 0.001..1000000");
	self = calloc(1, sizeof(*self));
	if (self == NULL)
		return lull_error_set(error, -ENOMEM, "%.120s: no memory", config->path);
	rc = replay_map(self, config->path, error);
	if (rc == 0)
		rc = replay_survey(self, config->path, error);
	if (rc != 0) {
		lull_replay_close(self);
		return rc;
	}
	/* one mean gap between the last frame and the first of the next time through */
	period_ns = self->info.duration_ns;
	if (self->info.frames > 1)
		period_ns += period_ns / (self->info.frames - 1);
	self->scale = config->speed > 0 ? 1 / config->speed : 0;
	self->period_ns = replay_scaled(self, LULL_MAX(period_ns, PERIOD_NS_LEAST));
	self->loop_count = config->loop_count;
	*replay = self;
	return 0;
}

const struct lull_replay_info *
lull_replay_info(const struct lull_replay *replay)
{
	return &replay->info;
}

void
lull_replay_close(struct lull_replay *replay)
{
	if (replay == NULL)
		return;
	if (replay->bytes != NULL)
		munmap((void *)(uintptr_t)replay->bytes, replay->len);
	free(replay);
}

bool
lull_replay_timed(const struct lull_replay *replay)
{
	return replay->scale > 0;
}

/* Times that go back, or are missing, mean: together with the frame before. */
static void
cursor_stand(struct lull_replay_cursor *cursor, const struct lull_capture_packet *packet)
{
	const struct lull_replay *replay = cursor->replay;
	uint64_t offset_ns = 0;

	if (packet->timed && packet->timestamp_ns > replay->first_ns)
		offset_ns = replay_scaled(replay, packet->timestamp_ns - replay->first_ns);
	cursor->due_ns = LULL_MAX(cursor->due_ns, cursor->start_ns + offset_ns);
	cursor->data = packet->data;
	cursor->len_bytes = (uint16_t)packet->captured_bytes;
	cursor->truncated = packet->captured_bytes < packet->original_bytes;
}

void
lull_replay_step(struct lull_replay_cursor *cursor)
{
	const struct lull_replay *replay = cursor->replay;
	struct lull_capture_packet packet;

	/* ends: the survey found at least one frame that can be sent */
	for (;;) {
		if (lull_capture_next(&cursor->capture, &packet) != LULL_CAPTURE_PACKET) {
			if (++cursor->loops == replay->loop_count) {
				cursor->due_ns = UINT64_MAX;
				return;
			}
			cursor->start_ns += replay->period_ns;
			lull_capture_open(&cursor->capture, replay->bytes, replay->len);
		} else if (replay_fate(&packet) == FATE_SEND) {
			cursor_stand(cursor, &packet);
			return;
		} else {
			cursor->skipped++;
		}
	}
}

void
lull_replay_begin(struct lull_replay_cursor *cursor, const struct lull_replay *replay,
		  uint64_t now_ns)
{
	cursor->replay = replay;
	cursor->start_ns = now_ns;
	cursor->due_ns = now_ns;
	cursor->loops = 0;
	cursor->skipped = 0;
	lull_capture_open(&cursor->capture, replay->bytes, replay->len);
	lull_replay_step(cursor);
}
