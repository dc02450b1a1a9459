/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame/packet_write.h"

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
