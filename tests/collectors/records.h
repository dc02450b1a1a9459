/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Records made up for sinks: all families and protocols, the same from the same number.
 */
#ifndef LULL_TESTS_COLLECTORS_RECORDS_H
#define LULL_TESTS_COLLECTORS_RECORDS_H

#include <lull/flow.h>

#define RECORDS_FIRST_NS (1700000000 * LULL_NS_PER_S)

/** Fill in record number @p index; larger numbers begin later. */
void record_make(struct lull_flow_record *record, uint32_t index);
/** Like lull_encode_app. */
const char *record_app(void *arg, uint16_t app, uint16_t app_master, char *text, size_t size);

#endif
