/* SPDX-License-Identifier: BSD-3-Clause */
/* Built without libpcap. */
#include <errno.h>

#include "filter.h"

int
flow_filter_open(struct flow_filter **filter, const char *expression, struct lull_error *error)
{
	(void)expression;
	*filter = NULL;
	return lull_error_set(error, -ENOTSUP, "filter: lull was built without libpcap");
}

bool
flow_filter_accept(void *arg, uint32_t io_index, uint16_t link_type, const uint8_t *data,
		   uint32_t captured_bytes, uint32_t original_bytes)
{
	(void)arg;
	(void)io_index;
	(void)link_type;
	(void)data;
	(void)captured_bytes;
	(void)original_bytes;
	return true;
}

uint64_t
flow_filter_count(const struct flow_filter *filter)
{
	(void)filter;
	return 0;
}

void
flow_filter_close(struct flow_filter *filter)
{
	(void)filter;
}
