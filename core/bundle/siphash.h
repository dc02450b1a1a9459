/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * SipHash-2-4 of Aumasson and Bernstein: cookies that nobody can make who lacks the secret.
 */
#ifndef LULL_BUNDLE_SIPHASH_H
#define LULL_BUNDLE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/** @param key  16 bytes */
uint64_t bundle_siphash(const uint8_t *key, const uint8_t *bytes, size_t count);

#endif
