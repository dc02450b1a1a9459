/* SPDX-License-Identifier: BSD-3-Clause */
#include "pattern.h"

#include <endian.h>
#include <string.h>

/* Odd, so that different words of a message differ, and words of different messages too. */
#define PATTERN_STEP 0x9e3779b97f4a7c15ULL
#define PATTERN_MESSAGE 0xd1342543de82ef95ULL

/* Word @p index (of 8 bytes) of a message. */
static uint64_t
pattern_word(uint64_t message, uint64_t index)
{
	uint64_t word = (message + 1) * PATTERN_MESSAGE + index * PATTERN_STEP;

	return htole64(word ^ word >> 29);
}

void
perf_pattern_fill(uint8_t *bytes, uint64_t len, uint64_t message)
{
	uint64_t whole = len / sizeof(uint64_t), word;

	for (uint64_t i = 0; i < whole; i++) {
		word = pattern_word(message, i);
		memcpy(bytes + i * sizeof(word), &word, sizeof(word));
	}
	word = pattern_word(message, whole);
	memcpy(bytes + whole * sizeof(word), &word, len % sizeof(word));
}

bool
perf_pattern_holds(const uint8_t *bytes, uint64_t len, uint64_t message)
{
	uint64_t whole = len / sizeof(uint64_t), wrong = 0, word, found;

	for (uint64_t i = 0; i < whole; i++) {
		word = pattern_word(message, i);
		memcpy(&found, bytes + i * sizeof(word), sizeof(word));
		wrong |= word ^ found;
	}
	word = pattern_word(message, whole);
	return wrong == 0 && memcmp(bytes + whole * sizeof(word), &word, len % sizeof(word)) == 0;
}
