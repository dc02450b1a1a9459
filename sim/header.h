/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Header: the frame of a flow, and what the parser of lull-flow reads in it.
 */
#ifndef LULL_SIM_HEADER_H
#define LULL_SIM_HEADER_H

#include <lull/flow.h>

#include "base/prng.h"

/* Ethernet, IPv6 and TCP. */
#define LULL_SIM_HEADER_BYTES_MAX 74

/**
 * Write the headers of a flow drawn at random, of UDP or TCP over IPv4 or, one in 8, over IPv6: a
 * client of a /8 (or /32) and one of 256 servers, on a port of its own and a known one.
 * @return bytes of the frame
 */
uint32_t lull_sim_header_draw(struct lull_prng *prng, uint8_t *frame);

/** The parser of lull-flow, made for itself alone; NULL: no memory. */
struct lull_flow_parser *lull_sim_parser_create(uint64_t seed);
/** Free it; may be NULL. */
void lull_sim_parser_free(struct lull_flow_parser *parser);

#endif
