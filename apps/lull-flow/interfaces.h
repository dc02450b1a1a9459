/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Interfaces: their numbers in records, and their names.
 *
 * Numbers of several captures are the same ones: the first that names a number stands.
 *
 * Threads: one at a time.
 * Memory:  grows by the interfaces that have names, 8192 at most; freed by flow_interfaces_free().
 */
#ifndef LULL_FLOW_INTERFACES_H
#define LULL_FLOW_INTERFACES_H

#include <lull/capture.h>
#include <lull/encode.h>

#define FLOW_INTERFACES_MAX LULL_CAPTURE_INTERFACES_MAX

struct flow_interface {
	uint32_t number;
	char name[LULL_IPFIX_TEXT_MAX + 1], description[LULL_IPFIX_TEXT_MAX + 1];
};

/** All zero: none. */
struct flow_interfaces {
	struct flow_interface *list; /* as they came */
	uint32_t count, room;
	bool known[FLOW_INTERFACES_MAX + 1]; /* by number */
};

/** Keep an interface; one without texts, or beyond the greatest number, has no name. */
void flow_interfaces_add(struct flow_interfaces *interfaces, uint32_t number, const char *name,
			 size_t name_bytes, const char *description, size_t description_bytes);
/** lull_capture_described; @p arg: the interfaces. */
void flow_interfaces_described(void *arg, const struct lull_capture_description *description);
/** lull_ipfix_interfaces; @p arg: the interfaces. */
bool flow_interfaces_tell(void *arg, uint32_t index, struct lull_ipfix_interface *interface);
void flow_interfaces_free(struct flow_interfaces *interfaces);

#endif
