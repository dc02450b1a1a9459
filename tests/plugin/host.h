/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_TEST_HOST_H
#define LULL_TEST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#define BURST 32
#define SECOND_NS 1000000000ULL

uint64_t now_ns(void);
void port_open(uint16_t port_id, uint16_t queue_count);
/** Receive and free. */
uint16_t take(uint16_t port_id, uint16_t queue_id, uint16_t count_max);
/** Send new packets to queue 0. */
uint16_t put(uint16_t port_id, uint16_t count);
/** Queue 0 of port 0. Returns how many came. */
uint64_t poll_for(uint64_t span_ns);

/* Ways, by name. */
void churn(void);
void successor(void);
void sharing(void);
void cancel(void);

/** Start crypto device 0 by the library that came with a driver. False: it is not there. */
bool late_crypto_start(void);

#endif
