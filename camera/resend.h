/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Resend: which packets of a GVSP stream to ask for again, and when.
 *
 * Follows frames by their pieces and turns what the assembler lacks into packet numbers; when to
 * ask, how often and how fast is decided in core/gige/resend.c. No socket here.
 */
#ifndef LULL_CAMERA_RESEND_H
#define LULL_CAMERA_RESEND_H

#include <lull/frame.h>

#include "gige/gvcp_message.h"
#include "gige/resend.h"

#define CAMERA_RESEND_FRAMES LULL_RESEND_FRAMES

struct camera_resend_frame {
	uint64_t key;
	uint64_t high;    /* behind the highest byte so far */
	uint64_t news_ns; /* last packet that came by itself */
	bool used, ended; /* END came */
};
struct camera_resend {
	struct lull_resend decide;
	uint32_t packet_bytes; /* IP length of a full packet; 0: not known */
	uint64_t frame_bytes;
	uint64_t tail_ns; /* of silence, before the open end of the newest frame is missing */
	bool wide;        /* 64 bit ids */
	struct camera_resend_frame frames[CAMERA_RESEND_FRAMES];
};

/** @p budget_ppm: packets asked for, of those of a frame. */
void camera_resend_init(struct camera_resend *resend, uint32_t budget_ppm);
void camera_resend_piece(struct camera_resend *resend, uint64_t now_ns,
			 const struct lull_frame_piece *piece);
/**
 * Requests that are due now, by @p ask, which returns false when no more can go out.
 * @return when to call again at the latest; UINT64_MAX: after the next piece
 */
uint64_t camera_resend_turn(struct camera_resend *resend, uint64_t now_ns,
			    const struct lull_assembler *assembler,
			    bool (*ask)(void *arg, const struct lull_gvcp_resend *request),
			    void *arg);

#endif
