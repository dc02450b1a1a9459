/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ingest rule: a request to the port itself to bring packets to its first queue.
 */
#ifndef LULL_INGEST_RULE_H
#define LULL_INGEST_RULE_H

#include "ingest.h"

/** 0, or a negative errno of a port that takes no such rule. */
int lull_ingest_rule_add(uint16_t port_id, const struct lull_ingest_rule *rule);
void lull_ingest_rule_remove_all(uint16_t port_id);

#endif
