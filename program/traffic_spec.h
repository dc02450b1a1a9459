/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Traffic spec: the words for struct lull_arrival_config.
 *
 *     off | constant:RATE | poisson:RATE | onoff:RATE,ON,OFF
 *     tidal:LOW-HIGH,PERIOD | ramp:LOW-HIGH,TIME | step:LOW-HIGH,TIME
 *     selfsimilar:RATE[,HURST[,SOURCES]] | incast:SENDERSxPKTS,PERIOD[,JITTER]
 *
 * Rates are packets/s with k, M, G; times carry ns, us, ms, s, m or h. Sizes
 * are a list of SIZE[:WEIGHT], counted on the wire with the CRC.
 * The functions fit custom rows of an option table; each pair touches its own
 * members of the configuration and leaves the others (seed among them) alone.
 * Threads: any. Memory: the caller's struct.
 */
#ifndef LULL_CLI_TRAFFIC_SPEC_H
#define LULL_CLI_TRAFFIC_SPEC_H

#include <lull/traffic.h>

#include "host/error.h"

/** The grammar above in one line, for help texts and sentences. */
#define LULL_TRAFFIC_SPEC_GRAMMAR                                                                  \
	"off, constant:RATE, poisson:RATE, onoff:RATE,ON,OFF, tidal:LOW-HIGH,PERIOD, "             \
	"ramp:LOW-HIGH,TIME, step:LOW-HIGH,TIME, selfsimilar:RATE[,HURST[,SOURCES]] or "           \
	"incast:SENDERSxPKTS,PERIOD[,JITTER]"

/** The CRC that sizes on the wire count and the configuration does not. */
#define LULL_TRAFFIC_CRC_BYTES 4

/** Kind, rates and times. @return 0, or -errno, the sentence and no change. */
int lull_traffic_spec_parse(const char *text, void *arrival_config, struct lull_error *error);
/** The reverse: the shortest words that parse to the same. Returns @p text. */
char *lull_traffic_spec_print(const void *arrival_config, char *text, size_t size);

/** Sizes and weights. @return 0, or -errno, the sentence and no change. */
int lull_traffic_size_parse(const char *text, void *arrival_config, struct lull_error *error);
char *lull_traffic_size_print(const void *arrival_config, char *text, size_t size);

#endif
