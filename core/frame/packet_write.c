/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame/packet_write.h"

#include <errno.h>

int
lull_packet_plan_begin(struct lull_packet_plan *plan, const struct lull_packet_format *format)
{
	*plan = (struct lull_packet_plan){ .format = *format };
	if (format->packet_bytes < LULL_PACKET_BYTES_MIN ||
	    format->packet_bytes > LULL_PACKET_BYTES_MAX)
		return -EINVAL;
	return lull_frame_rows_of(&format->geometry, &plan->rows) ? 0 : -EINVAL;
}
