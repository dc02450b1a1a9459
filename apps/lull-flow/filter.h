/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Filter: which packets are looked at, in the language of tcpdump (libpcap's compiler).
 *
 * An expression is compiled for Ethernet when it is opened, and for each other link type when the
 * first frame of it comes. For a link type to which it has no answer no packet passes.
 *
 * Threads: opened and closed on the main thread. Several I/O threads may ask at the same time as
 *          long as all frames are Ethernet, as those of ports are; files have one thread.
 * Memory:  of the heap; programs of up to FLOW_FILTER_LINKS link types.
 */
#ifndef LULL_FLOW_FILTER_H
#define LULL_FLOW_FILTER_H

#include <stdbool.h>

#include <lull/pipeline.h>

#include "host/error.h"

#define FLOW_FILTER_LINKS 32 /* packets of further link types do not pass */

struct flow_filter; /* opaque */

/** 0, or -EINVAL and the compiler's sentence, -ENOTSUP: built without libpcap, -ENOMEM. */
int flow_filter_open(struct flow_filter **filter, const char *expression, struct lull_error *error);
/** The accept of struct lull_pipeline_config; @p arg: the filter. */
bool flow_filter_accept(void *arg, uint32_t io_index, uint16_t link_type, const uint8_t *data,
			uint32_t captured_bytes, uint32_t original_bytes);
/** Packets that did not pass. Any thread; 0 for NULL. */
uint64_t flow_filter_count(const struct flow_filter *filter);
/** NULL is ignored. */
void flow_filter_close(struct flow_filter *filter);

#endif
