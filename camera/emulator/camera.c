/* SPDX-License-Identifier: BSD-3-Clause */
#include "camera.h"

#include <math.h>

#include <lull/rest.h>

#include "attack.h"

#define GVSP_BLOCKS 65535
#define NO_FRAME UINT64_MAX

#define COUNTER(member, what, words)                                                               \
	LULL_COUNTER_ROW(struct lull_emulator_counters, member, what, words)

const struct lull_counter_info lull_emulator_counter_table[] = {
	COUNTER(packets, "packets", "packets sent, including resent ones"),
	COUNTER(bytes, "bytes", "payload bytes sent"),
	COUNTER(frames, "frames", "frames sent"),
	COUNTER(lost, "packets", "packets dropped on purpose"),
	COUNTER(duplicated, "packets", "packets sent twice on purpose"),
	COUNTER(reordered, "packets", "packets sent after later ones on purpose"),
	COUNTER(late, "packets", "packets delayed on purpose"),
	COUNTER(refused, "packets", "packets that the kernel refused"),
	COUNTER(resend_requests, "requests", "resend requests received"),
	COUNTER(resend_refused, "requests",
		"resend requests that were ignored or came from another address"),
	COUNTER(resend_answered, "packets", "packets sent again"),
	COUNTER(resend_gone, "packets", "requested packets that were no longer stored"),
	COUNTER(resend_lost, "packets", "resent packets dropped on purpose"),
	{ .name = NULL },
};

/* ---- timetable ---- */

static uint64_t
camera_key_of(const struct emulator_camera *camera, uint64_t frame, bool extended)
{
	const struct lull_emulator_config *config = camera->stage->config;
	double rate = config->rate > 0 ? config->rate : CAMERA_RATE_USUAL;

	switch (config->protocol) {
	case LULL_EMULATOR_RFC4175:
		return (uint64_t)llround(fmod((double)frame * CAMERA_RTP_HZ / rate, 4294967296.0)) &
		       UINT32_MAX;
	case LULL_EMULATOR_GVSP:
		return extended ? frame + 1 : frame % GVSP_BLOCKS + 1;
	case LULL_EMULATOR_CMP:
		return frame & UINT16_MAX;
	default:
		return frame;
	}
}

uint64_t
emulator_camera_key(const struct emulator_camera *camera, uint64_t frame)
{
	return camera_key_of(camera, frame - camera->key_frame, camera->plan.format.extended);
}

static uint64_t
camera_frame_due(const struct emulator_camera *camera, uint64_t frame)
{
	const struct lull_emulator_config *config = camera->stage->config;

	return camera->begin_ns +
	       (uint64_t)llround((double)(frame - config->first) * 1e9 / config->rate);
}

static void
camera_begin_frame(struct emulator_camera *camera, uint64_t now_ns)
{
	const struct lull_emulator_config *config = camera->stage->config;

	camera->index = 0;
	camera->frame_ns = config->rate > 0 ? camera_frame_due(camera, camera->frame) : now_ns;
	camera->past[camera->frame % CAMERA_PAST] =
		(struct camera_past){ .frame = camera->frame, .device_ns = camera->frame_ns };
	attack_begin(camera);
}

static bool
camera_over(const struct emulator_camera *camera)
{
	const struct lull_emulator_config *config = camera->stage->config;

	return config->frames > 0 && camera->counters.frames >= config->frames;
}

void
emulator_camera_start(struct emulator_camera *camera, uint64_t now_ns)
{
	const struct lull_emulator_config *config = camera->stage->config;

	inject_drop(&camera->inject);
	camera->active = true;
	camera->session++;
	camera->begin_ns = now_ns + config->stagger_ns * camera->number;
	camera->frame = config->first;
	camera->attacked = false;
	camera->key_frame = 0;
	camera->number_frame = config->first;
	camera->first_number = config->first_packet;
	camera_begin_frame(camera, camera->begin_ns);
}

void
emulator_camera_stop(struct emulator_camera *camera)
{
	camera->active = false;
	inject_drop(&camera->inject);
}

bool
emulator_camera_done(const struct emulator_camera *camera)
{
	return camera_over(camera) && inject_empty(&camera->inject);
}

static uint64_t
camera_packet_due(const struct emulator_camera *camera)
{
	if (camera_over(camera))
		return UINT64_MAX;
	return camera->frame_ns + (uint64_t)(camera->index * camera->gap_ns);
}

uint64_t
emulator_camera_due_ns(const struct emulator_camera *camera)
{
	if (!camera->active)
		return UINT64_MAX;
	return LULL_MIN(camera_packet_due(camera), inject_due_ns(&camera->inject));
}

/* ---- packets ---- */

static struct lull_packet_frame
camera_frame(const struct emulator_camera *camera, uint64_t frame)
{
	const struct lull_emulator_config *config = camera->stage->config;
	const struct camera_past *past = &camera->past[frame % CAMERA_PAST];
	uint64_t device_ns = past->frame == frame ? past->device_ns : camera->frame_ns;

	if (config->stamp == LULL_EMULATOR_STAMP_SENT)
		device_ns = lull_clock_ns();
	return (struct lull_packet_frame){
		.key = emulator_camera_key(camera, frame),
		.first_packet = emulator_camera_number(camera, frame),
		.device_time = device_ns,
		.data = pattern_picture(&camera->stage->pattern, frame, camera->number),
	};
}

static void
camera_log(struct emulator_camera *camera, enum emulator_event event, uint64_t frame,
	   uint32_t index)
{
	const struct emulator_log_entry entry = {
		.event = event,
		.camera = camera->number,
		.session = camera->session,
		.frame = frame,
		.key = emulator_camera_key(camera, frame),
		.number = emulator_camera_number(camera, frame) + index,
		.packet = index,
	};

	emulator_log_event(&camera->stage->log, &entry, &camera->plan, camera->stage->writer->name);
}

static void
camera_flush(struct emulator_camera *camera)
{
	struct sender_batch *batch = &camera->stage->batch;
	bool taken[SENDER_BATCH];

	if (batch->count == 0)
		return;
	sender_flush(camera->fd, &camera->target, batch, taken);
	for (uint32_t i = 0; i < batch->count; i++) {
		const struct sender_packet *packet = &batch->packets[i];

		if (taken[i]) {
			camera->counters.packets++;
			camera->counters.bytes += packet->len;
		} else {
			camera->counters.refused++;
			if (packet->frame != NO_FRAME)
				camera_log(camera, EMULATOR_REFUSED, packet->frame, packet->index);
		}
	}
	batch->count = 0;
}

/* Write a packet; what has the picture's last bytes has the stamp of its frame in them. */
static size_t
camera_write(struct emulator_camera *camera, const struct lull_packet_frame *frame, uint64_t number,
	     uint32_t index, uint8_t *bytes)
{
	const struct camera_past *past = &camera->past[number % CAMERA_PAST];
	const struct pattern *pattern = &camera->stage->pattern;
	struct pattern_stamp stamp;
	size_t len;

	if (index < camera->tail || past->frame != number)
		return camera->stage->writer->write(&camera->plan, frame, index, bytes);
	stamp = pattern_stamp_set(pattern, number, camera->number, camera->plan.rows.bytes,
				  past->sent_ns);
	len = camera->stage->writer->write(&camera->plan, frame, index, bytes);
	pattern_stamp_clear(&stamp);
	return len;
}

/* The batch has room for it afterwards, too. */
static void
camera_put(struct emulator_camera *camera, const struct lull_packet_frame *frame, uint64_t number,
	   uint32_t index)
{
	struct sender_batch *batch = &camera->stage->batch;
	uint8_t *bytes = batch->bytes[batch->count];
	size_t len = camera_write(camera, frame, number, index, bytes);

	len = attack_spoil(camera, number, index, bytes, len);
	batch->packets[batch->count++] = (struct sender_packet){ number, index, (uint32_t)len };
	if (batch->count == SENDER_BATCH)
		camera_flush(camera);
}

static void
camera_send(struct emulator_camera *camera, uint64_t number, uint32_t index)
{
	struct lull_packet_frame frame = camera_frame(camera, number);

	camera_put(camera, &frame, number, index);
}

/* Packets that no camera would send beside that whose turn it is. */
static void
camera_attack(struct emulator_camera *camera)
{
	struct lull_packet_frame frame = camera_frame(camera, camera->frame);
	struct sender_batch *batch = &camera->stage->batch;
	size_t len = attack_beside(camera, &frame, batch->bytes[batch->count]);
	uint64_t stale = attack_stale(camera);

	if (len > 0) {
		batch->packets[batch->count++] =
			(struct sender_packet){ NO_FRAME, 0, (uint32_t)len };
		camera_flush(camera);
	}
	if (stale != UINT64_MAX)
		camera_send(camera, stale, camera->plan.count / 2);
}

/* The packet whose turn it is. */
static void
camera_packet(struct emulator_camera *camera, uint64_t now_ns)
{
	uint64_t frame = camera->frame;
	uint32_t index = camera->index;
	struct lull_packet_frame twice;

	camera_attack(camera);
	if (attack_drops(camera, index)) {
		camera->counters.lost++;
		camera_log(camera, EMULATOR_LOSE, frame, index);
		return;
	}
	switch (inject_packet(&camera->inject, frame, index, now_ns)) {
	case INJECT_LOSE:
		camera->counters.lost++;
		camera_log(camera, EMULATOR_LOSE, frame, index);
		break;
	case INJECT_REORDER:
		camera->counters.reordered++;
		camera_log(camera, EMULATOR_REORDER, frame, index);
		break;
	case INJECT_LATE:
		camera->counters.late++;
		camera_log(camera, EMULATOR_LATE, frame, index);
		break;
	case INJECT_DUPLICATE:
		camera->counters.duplicated++;
		camera_log(camera, EMULATOR_DUPLICATE, frame, index);
		twice = camera_frame(camera, frame); /* one packet, with one time */
		camera_put(camera, &twice, frame, index);
		camera_put(camera, &twice, frame, index);
		break;
	default:
		camera_send(camera, frame, index);
		break;
	}
}

/* A packet with the picture's last bytes: alone, with the time at which it is its turn. */
static void
camera_packet_stamped(struct emulator_camera *camera, uint64_t now_ns)
{
	struct camera_past *past = &camera->past[camera->frame % CAMERA_PAST];
	struct lull_packet_frame frame = camera_frame(camera, camera->frame);

	camera_flush(camera);
	/* Written once for the caches: the time of the memory is not the network's. */
	(void)camera_write(camera, &frame, camera->frame, camera->index,
			   camera->stage->batch.bytes[0]);
	if (past->sent_ns == 0)
		past->sent_ns = lull_clock_ns();
	camera_packet(camera, now_ns);
	camera_flush(camera);
}

static void
camera_end_frame(struct emulator_camera *camera, uint64_t now_ns)
{
	const struct emulator_log_frame frame = {
		.camera = camera->number,
		.session = camera->session,
		.frame = camera->frame,
		.key = emulator_camera_key(camera, camera->frame),
		.packets = camera->plan.count,
		.due_ns = camera->frame_ns,
		.first_ns = camera->first_ns,
		.last_ns = now_ns,
	};

	if (camera->stage->config->log_frames)
		emulator_log_frame(&camera->stage->log, &frame);
	camera->counters.frames++;
	camera->frame++;
	camera_begin_frame(camera, now_ns);
}

static void
camera_held(struct emulator_camera *camera, uint64_t now_ns)
{
	struct inject_packet packet;

	while (inject_next(&camera->inject, now_ns, camera_over(camera), &packet))
		camera_send(camera, packet.frame, packet.index);
}

bool
emulator_camera_iterate(struct emulator_camera *camera, uint64_t now_ns)
{
	uint32_t left = SENDER_BATCH;

	if (emulator_camera_due_ns(camera) > now_ns)
		return false;
	while (left > 0 && camera_packet_due(camera) <= now_ns) {
		if (camera->index == 0) {
			camera->first_ns = now_ns;
			camera->behind_ns_max =
				LULL_MAX(camera->behind_ns_max, now_ns - camera->frame_ns);
			if (camera->start_ns == 0)
				camera->start_ns = now_ns;
		}
		if (camera->index >= camera->tail)
			camera_packet_stamped(camera, now_ns);
		else
			camera_packet(camera, now_ns);
		camera_held(camera, now_ns);
		left--;
		if (++camera->index == camera->plan.count) {
			camera_flush(camera);
			camera_end_frame(camera, now_ns);
		}
	}
	camera_held(camera, now_ns);
	camera_flush(camera);
	camera->end_ns = lull_clock_ns();
	return true;
}

/* ---- resend ---- */

/* The frame of the session with this key, among those remembered. */
static bool
camera_remembered(const struct emulator_camera *camera, uint64_t key, uint64_t *frame)
{
	const struct lull_emulator_config *config = camera->stage->config;
	uint64_t back = LULL_MIN(camera->frame - config->first, config->memory_frames);

	for (uint64_t i = 0; i <= back; i++) {
		*frame = camera->frame - i;
		if (emulator_camera_key(camera, *frame) == key)
			return true;
	}
	return false;
}

static void
camera_gone(struct emulator_camera *camera, uint64_t key, uint32_t index)
{
	const struct lull_packet_frame frame = { .key = key, .resent = true };
	struct sender_batch *batch = &camera->stage->batch;
	size_t len = lull_gvsp_write_gone(&camera->plan, &frame, index, batch->bytes[batch->count]);

	batch->packets[batch->count++] = (struct sender_packet){ NO_FRAME, index, (uint32_t)len };
	camera->counters.resend_gone++;
	camera_flush(camera);
}

void
emulator_camera_resend(struct emulator_camera *camera, uint64_t key, uint32_t first, uint32_t last)
{
	struct lull_packet_frame content;
	uint64_t frame;

	last = LULL_MIN(last, camera->plan.count - 1); /* up to the end, some ask */
	if (!camera_remembered(camera, key, &frame)) {
		camera_gone(camera, key, first);
		return;
	}
	content = camera_frame(camera, frame);
	content.resent = true;
	for (uint32_t index = first; index <= last; index++) {
		/* not yet sent in its turn: it will come */
		if (frame == camera->frame && index >= camera->index)
			break;
		if (inject_answer(&camera->inject, frame, index)) {
			camera->counters.resend_lost++;
			camera_log(camera, EMULATOR_RESEND_LOSE, frame, index);
			continue;
		}
		camera->counters.resend_answered++;
		camera_log(camera, EMULATOR_RESENT, frame, index);
		camera_put(camera, &content, frame, index);
	}
	camera_flush(camera);
}
