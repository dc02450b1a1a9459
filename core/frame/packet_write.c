/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame/packet_write.h"

#include <errno.h>
#include <string.h>

const struct lull_packet_writer *const lull_packet_writers[] = {
	&lull_rfc4175_writer, &lull_gvsp_writer, &lull_cmp_writer, &lull_rvf_writer, NULL,
};

const struct lull_packet_writer *
lull_packet_writer_find(const char *name)
{
	for (uint32_t i = 0; lull_packet_writers[i] != NULL; i++)
		if (strcmp(lull_packet_writers[i]->name, name) == 0)
			return lull_packet_writers[i];
	return NULL;
}

int
lull_packet_plan_begin(struct lull_packet_plan *plan, const struct lull_packet_format *format)
{
	*plan = (struct lull_packet_plan){ .format = *format };
	if (format->packet_bytes < LULL_PACKET_BYTES_MIN ||
	    format->packet_bytes > LULL_PACKET_BYTES_MAX)
		return -EINVAL;
	return lull_frame_rows_of(&format->geometry, &plan->rows) ? 0 : -EINVAL;
}
