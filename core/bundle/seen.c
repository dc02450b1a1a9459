/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/base.h>

#include "base/assert.h"
#include "seen.h"

#define SEEN_WORDS (BUNDLE_SEEN_WINDOW / 64)

static inline uint64_t *
seen_word(struct bundle_seen *seen, uint64_t number)
{
	return &seen->bits[number / 64 % SEEN_WORDS];
}

static inline uint64_t
seen_bit(uint64_t number)
{
	return 1ULL << number % 64;
}

/* 64 numbers from @p first on, the first one lowest. Numbers below 1 have not come. */
static uint64_t
seen_from(const struct bundle_seen *seen, uint64_t first)
{
	uint64_t low = seen->bits[first / 64 % SEEN_WORDS];
	uint64_t high = seen->bits[(first / 64 + 1) % SEEN_WORDS];
	unsigned int shift = first % 64;

	return shift == 0 ? low : low >> shift | high << (64 - shift);
}

bool
bundle_seen_is_new(const struct bundle_seen *seen, uint64_t psn)
{
	if (psn > seen->largest)
		return true;
	if (psn == 0 || seen->largest - psn >= BUNDLE_SEEN_WINDOW)
		return false;
	return (seen->bits[psn / 64 % SEEN_WORDS] & seen_bit(psn)) == 0;
}

/* The numbers up to @p psn take the places of those that leave the window. */
static void
seen_advance(struct bundle_seen *seen, uint64_t psn)
{
	uint64_t left = LULL_MIN(psn - seen->largest, (uint64_t)BUNDLE_SEEN_WINDOW);

	while (left > 0) {
		uint64_t number = psn - left + 1;
		uint64_t count = LULL_MIN(64 - number % 64, left);
		uint64_t mask = count == 64 ? UINT64_MAX : ((1ULL << count) - 1) << number % 64;

		*seen_word(seen, number) &= ~mask;
		left -= count;
	}
	seen->largest = psn;
}

void
bundle_seen_add(struct bundle_seen *seen, uint64_t psn)
{
	LULL_ASSERT_HOT(bundle_seen_is_new(seen, psn));
	if (psn > seen->largest)
		seen_advance(seen, psn);
	*seen_word(seen, psn) |= seen_bit(psn);
}

/* Bit i becomes bit 63 - i. */
static uint64_t
seen_reversed(uint64_t bits)
{
	bits = (bits >> 1 & 0x5555555555555555) | (bits & 0x5555555555555555) << 1;
	bits = (bits >> 2 & 0x3333333333333333) | (bits & 0x3333333333333333) << 2;
	bits = (bits >> 4 & 0x0f0f0f0f0f0f0f0f) | (bits & 0x0f0f0f0f0f0f0f0f) << 4;
	return __builtin_bswap64(bits);
}

void
bundle_seen_last(const struct bundle_seen *seen, uint64_t bits[2])
{
	bits[0] = seen_reversed(seen_from(seen, seen->largest - 63));
	bits[1] = seen_reversed(seen_from(seen, seen->largest - 127));
}
