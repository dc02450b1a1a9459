/* SPDX-License-Identifier: BSD-3-Clause */
/* Why there was no image at all: what most packets were counted as, with what helps. */
#include <errno.h>
#include <inttypes.h>

#include "cam.h"
#include "host/error.h"

struct reason {
	uint64_t pkts;
	const char *text, *help;
};

/* In order of what is asked first where several have the same number. */
static struct reason
nothing_reason(struct cam *cam, uint64_t *stream_pkts)
{
	struct lull_assembler_counters images = { 0 };
	struct lull_camera_counters packets = { 0 };
	struct reason most = { 0 };

	*stream_pkts = 0;
	for (uint32_t i = 0; i < cam->spec_count; i++) {
		lull_receiver_counters(cam->receiver, i, &packets, &images);
		const struct reason reasons[] = {
			{ packets.source_mismatch, "came from another source", "see source=" },
			{ packets.foreign, "were of another protocol or stream",
			  "see protocol= and the stream's own keys" },
			{ packets.malformed, "had headers that contradict each other",
			  "see protocol=, width=, height= and pixel=" },
			{ packets.other, "had a form of the protocol that lull does not read",
			  "see docs/camera.md" },
			{ packets.unnamed, "were of pixels that their protocol does not describe",
			  "name them by pixel=" },
			{ images.oversize, "were of images larger than the buffers may become",
			  "see memory=, buffers= and buffer-bytes=" },
			{ images.outside, "lay outside the image",
			  "see width=, height= and pixel=" },
			{ images.unsized, "came before the size of the image was known",
			  "see width=, height= and pixel=" },
			{ images.no_buffer, "found no buffer", "see buffers=" },
			{ packets.nothing, "had no data of an image", "does the camera acquire?" },
		};

		*stream_pkts += packets.pkts;
		for (uint32_t j = 0; j < sizeof(reasons) / sizeof(reasons[0]); j++) {
			if (reasons[j].pkts > most.pkts)
				most = reasons[j];
		}
	}
	return most;
}

int
cam_nothing(struct cam *cam, struct lull_error *error)
{
	struct lull_receiver_totals totals;
	struct reason most;
	uint64_t pkts;

	lull_receiver_totals(cam->receiver, &totals);
	most = nothing_reason(cam, &pkts);
	if (most.pkts > 0 && most.pkts >= totals.cut)
		return lull_error_set(error, -ENODATA,
				      "no image: %" PRIu64 " of %" PRIu64 " packets %s: %s",
				      most.pkts, totals.pkts, most.text, most.help);
	if (totals.cut > 0)
		return lull_error_set(error, -ENODATA,
				      "no image: %" PRIu64
				      " packets came without their end: record "
				      "whole ones (tcpdump -s 0), or see the MTU of the port",
				      totals.cut);
	if (pkts > 0)
		return lull_error_set(error, -ENODATA,
				      "no image: the %" PRIu64 " packets did not end one", pkts);
	if (totals.unclaimed > 0)
		return lull_error_set(error, -ENODATA,
				      "no image: %" PRIu64
				      " packets came, none for a stream: see port=, group= "
				      "and source=",
				      totals.unclaimed);
	return lull_error_set(error, -ENODATA,
			      "no image: no packet came; is the camera on, and does it send to "
			      "this address and port?");
}
