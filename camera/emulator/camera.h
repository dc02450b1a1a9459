/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Camera: one camera that exists only in software, from its timetable to its packets.
 *
 * Threads: one for all cameras.
 * Memory:  the caller's struct, emulator_camera_close() frees what is in it.
 */
#ifndef LULL_EMULATOR_CAMERA_H
#define LULL_EMULATOR_CAMERA_H

#include <lull/base.h>

#include "emulator.h"
#include "inject.h"
#include "log.h"
#include "pattern.h"
#include "sender.h"

#define CAMERA_RTP_HZ 90000.0
#define CAMERA_RATE_USUAL 30.0 /* of time stamps when frames follow as fast as they can */
#define CAMERA_PAST 1024       /* frames whose device time is remembered; --memory is below */

/** What all cameras share. */
struct emulator_stage {
	const struct lull_emulator_config *config;
	const struct lull_packet_writer *writer;
	struct pattern pattern;
	struct emulator_log log;
	struct sender_batch batch;
};

struct emulator_camera {
	struct emulator_stage *stage;
	uint32_t number;
	struct lull_packet_plan plan;
	struct inject inject;
	int fd;
	struct sender_target target;

	bool active;
	uint32_t session;  /* how often it was started */
	uint64_t begin_ns; /* when the first frame of the session is due */
	uint64_t frame;    /* whose turn it is */
	uint64_t frame_ns; /* its due time */
	uint32_t index;    /* packet whose turn it is */
	uint64_t first_ns; /* when its first packet was */
	double gap_ns;     /* from packet to packet */
	struct camera_past {
		uint64_t frame, device_ns;
		uint64_t sent_ns; /* its stamp, when its last bytes had their turn; 0: not yet */
	} past[CAMERA_PAST];
	bool attacked;         /* see attack.h */
	uint64_t key_frame;    /* keys count from this frame on */
	uint64_t number_frame; /* this frame began with this number of a packet */
	uint64_t first_number;
	uint32_t tail; /* with --sent-stamp: packets from here on may carry the stamp */

	struct lull_emulator_counters counters;
	uint64_t behind_ns_max;    /* how late a frame began */
	uint64_t start_ns, end_ns; /* of the first packet, of the last */
};

/** 0 or -errno and the sentence; close in any case. */
int emulator_camera_open(struct emulator_camera *camera, struct emulator_stage *stage,
			 uint32_t number, struct lull_error *error);
void emulator_camera_close(struct emulator_camera *camera);

/** Other packets from the next start on; 0 or -EINVAL, -ENOTSUP and no change. */
int emulator_camera_plan(struct emulator_camera *camera, uint32_t packet_bytes, bool extended);
/** Begin with the first frame, due at @p now_ns. */
void emulator_camera_start(struct emulator_camera *camera, uint64_t now_ns);
void emulator_camera_stop(struct emulator_camera *camera);
/** Has it sent all that it shall, and keeps nothing back? */
bool emulator_camera_done(const struct emulator_camera *camera);
/** Send what is due, a batch at most. false: nothing was. */
bool emulator_camera_iterate(struct emulator_camera *camera, uint64_t now_ns);
/** When it has something to send; UINT64_MAX: never. */
uint64_t emulator_camera_due_ns(const struct emulator_camera *camera);
/** Send packets @p first to @p last of the frame with this key again. */
void emulator_camera_resend(struct emulator_camera *camera, uint64_t key, uint32_t first,
			    uint32_t last);
/** Of the first packet of @p frame, in the stream. */
static inline uint64_t
emulator_camera_number(const struct emulator_camera *camera, uint64_t frame)
{
	return camera->first_number + (frame - camera->number_frame) * camera->plan.count;
}
/** As the protocol counts. */
uint64_t emulator_camera_key(const struct emulator_camera *camera, uint64_t frame);

#endif
