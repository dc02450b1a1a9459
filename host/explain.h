/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Explain: sentences in a row.
 */
#ifndef LULL_HOST_EXPLAIN_H
#define LULL_HOST_EXPLAIN_H

#include <stddef.h>

/** A further sentence after @p bytes, as far as it fits whole. */
void lull_loop_explain_add(char *bytes, size_t size, const char *sentence);

#endif
