/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fuzz: what a target provides, for libFuzzer and for replay.c alike.
 */
#ifndef LULL_FUZZ_H
#define LULL_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Feed one input to the reader under test; 0. Breaks off where something is wrong. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(expression) ((expression) ? (void)0 : __builtin_trap())

#endif
