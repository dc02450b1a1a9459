/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Parser: what its files share.
 */
#ifndef LULL_FLOW_PARSER_H
#define LULL_FLOW_PARSER_H

#include <lull/flow.h>

#include "early.h"
#include "fragment.h"

struct lull_flow_parser {
	uint32_t seed;
	uint32_t key_parts;
	uint16_t interface;
	bool inner;
	bool plain; /* keys are those of the short way */
	struct lull_fragment_table fragments;
	struct lull_flow_parser_counters counters;
	struct lull_early early;
	struct lull_fragment_datagram datagrams[];
};

/** The config with its defaults. */
struct lull_flow_parser_config lull_flow_parser_config_full(
	const struct lull_flow_parser_config *config);

/** Add the counters of @p part to those of @p parser, and zero them. */
void lull_flow_parser_join(struct lull_flow_parser *parser, struct lull_flow_parser *part);

#endif
