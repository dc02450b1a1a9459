/* SPDX-License-Identifier: BSD-3-Clause */
#include "control.h"

#include <errno.h>

#include "error.h"

int
camera_control_start(struct camera_stream *stream, char *error)
{
	return camera_error(error, -ENOTSUP, "control: of %s is not possible",
			    stream->config.control);
}

void
camera_control_stop(struct camera_control *control)
{
	(void)control;
}

void
camera_control_piece(struct camera_control *control, uint64_t now_ns,
		     const struct lull_frame_piece *piece)
{
	(void)control;
	(void)now_ns;
	(void)piece;
}

uint64_t
camera_control_turn(struct camera_control *control, struct camera_stream *stream, uint64_t now_ns)
{
	(void)control;
	(void)stream;
	(void)now_ns;
	return UINT64_MAX;
}

void
camera_control_count(struct camera_control *control, struct lull_camera_counters *counters)
{
	(void)control;
	(void)counters;
}
