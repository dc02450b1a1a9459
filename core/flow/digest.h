/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Digest: the two ways to compute one number, for whoever compares them.
 */
#ifndef LULL_FLOW_DIGEST_H
#define LULL_FLOW_DIGEST_H

#include <lull/flow.h>

/** Does this CPU have the CRC-32C instruction that lull_flow_digest() takes where it can? */
bool lull_flow_digest_native(void);
/** What lull_flow_digest() gives, without that instruction. */
uint32_t lull_flow_digest_portable(uint32_t seed, const struct lull_flow_key *key);

/*
 * The same of a key that lies in registers, as 64-bit words, least significant byte first:
 * {port 0, port 1, VLAN, version, proto} and then the addresses, 4 or 16 bytes each.
 */
#define LULL_DIGEST_WORDS_MAX 7 /* with two more for keys with more parts */
uint32_t lull_flow_digest_v4(uint32_t seed, uint64_t ends, uint64_t addresses);
uint32_t lull_flow_digest_v6(uint32_t seed, const uint64_t words[5]);

#endif
