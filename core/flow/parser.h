/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Parser: what its two files share.
 */
#ifndef LULL_FLOW_PARSER_H
#define LULL_FLOW_PARSER_H

#include <lull/flow.h>

/** The config with its defaults. */
struct lull_flow_parser_config lull_flow_parser_config_full(
	const struct lull_flow_parser_config *config);

#endif
