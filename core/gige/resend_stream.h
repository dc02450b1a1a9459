/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Resend stream: which packets of a GVSP stream to ask for again, and when.
 *
 * Follows frames by their fragments and turns what the assembler lacks into packet numbers; when to
 * ask, how often and how fast is decided in resend.c. The caller sends the requests.
 * Threads: one. Memory: the caller's struct.
 */
#ifndef LULL_RESEND_STREAM_H
#define LULL_RESEND_STREAM_H

#include <lull/frame.h>

#include "gvcp_message.h"
#include "resend.h"

struct lull_resend_stream_frame {
	uint64_t key;
	uint64_t high;    /* behind the highest byte so far */
	uint64_t news_ns; /* last packet that came by itself */
	bool used, ended; /* END came */
};
struct lull_resend_stream {
	struct lull_resend decide;
	uint32_t packet_bytes; /* IP length of a full packet; 0: not known */
	uint64_t frame_bytes;
	uint64_t tail_ns; /* of silence, before the open end of the newest frame is missing */
	bool wide;        /* 64 bit ids */
	struct lull_resend_stream_frame frames[LULL_RESEND_FRAMES];
};

/** Begin. @p budget_ppm: packets asked for, of those of a frame; 0: the default of resend.h. */
void lull_resend_stream_init(struct lull_resend_stream *resend, uint32_t budget_ppm);
/** The sender began anew: keys that come again are those of other frames. */
void lull_resend_stream_anew(struct lull_resend_stream *resend);
/** A packet of the stream, which came at @p now_ns. */
void lull_resend_stream_fragment(struct lull_resend_stream *resend, uint64_t now_ns,
				 const struct lull_frame_fragment *fragment);
/**
 * Make the requests that are due now by @p ask, which returns false when no more can go out.
 * @return when to call again at the latest; UINT64_MAX: after the next fragment
 */
uint64_t lull_resend_stream_iterate(struct lull_resend_stream *resend, uint64_t now_ns,
				    const struct lull_assembler *assembler,
				    bool (*ask)(void *arg, const struct lull_gvcp_resend *request),
				    void *arg);

#endif
