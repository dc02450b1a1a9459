/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weights of a whole burst at once. The wide forms are written with vector types instead of
 * intrinsics: one body for both, and no header beyond those the core has. Lanes hold flows, the
 * loop runs over workers, so 4 workers cost little less per flow than 16.
 */
#include "weights.h"

#include <string.h>

#include "base/assert.h"

static void
weights_best_scalar(const uint32_t *digests, uint32_t count, uint32_t worker_count,
		    uint16_t *workers)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t best = lull_weight(digests[i], 0);

		workers[i] = 0;
		for (uint32_t worker = 1; worker < worker_count; worker++) {
			uint32_t weight = lull_weight(digests[i], worker);

			if (weight > best) {
				best = weight;
				workers[i] = (uint16_t)worker;
			}
		}
	}
}

#ifdef __x86_64__
/*
 * Signed lanes compare fastest, and 31 bits fit. The products need not be signed ones: the low
 * half is the same. The rest of a burst, less than all lanes, is computed on a padded copy.
 */
#define WEIGHTS_BEST(name, features, lanes)                                                        \
	typedef uint32_t name##_unsigned __attribute__((vector_size(4 * (lanes))));                \
	typedef int32_t name##_signed __attribute__((vector_size(4 * (lanes))));                   \
	typedef uint16_t name##_half __attribute__((vector_size(2 * (lanes))));                    \
	__attribute__((target(features))) static void name(                                        \
		const uint32_t *digests, uint32_t count, uint32_t worker_count, uint16_t *workers) \
	{                                                                                          \
		for (uint32_t i = 0; i < count; i += (lanes)) {                                    \
			uint32_t left = LULL_MIN(count - i, (uint32_t)(lanes));                    \
			uint32_t key = LULL_WEIGHT_SUMMAND;                                        \
			name##_unsigned digest = { 0 };                                            \
			name##_signed best, index = { 0 };                                         \
			name##_half out;                                                           \
			if (left == (lanes))                                                       \
				memcpy(&digest, digests + i, sizeof(digest));                      \
			else                                                                       \
				memcpy(&digest, digests + i, left * sizeof(*digests));             \
			best = (name##_signed)(                                                    \
				((key ^ digest) * LULL_WEIGHT_FACTOR + LULL_WEIGHT_SUMMAND) &      \
				LULL_DIGEST_MAX);                                                  \
			for (uint32_t worker = 1; worker < worker_count; worker++) {               \
				name##_signed weight, larger;                                      \
				key += LULL_WEIGHT_FACTOR;                                         \
				weight = (name##_signed)(((key ^ digest) * LULL_WEIGHT_FACTOR +    \
							  LULL_WEIGHT_SUMMAND) &                   \
							 LULL_DIGEST_MAX);                         \
				larger = weight > best;                                            \
				best = (weight & larger) | (best & ~larger);                       \
				index = ((int32_t)worker & larger) | (index & ~larger);            \
			}                                                                          \
			out = __builtin_convertvector(index, name##_half);                         \
			if (left == (lanes))                                                       \
				memcpy(workers + i, &out, sizeof(out));                            \
			else                                                                       \
				memcpy(workers + i, &out, left * sizeof(*workers));                \
		}                                                                                  \
	}

WEIGHTS_BEST(weights_best_avx2, "avx2", 8)
WEIGHTS_BEST(weights_best_avx512, "avx512f,avx512vl,avx512bw,avx512dq", 16)
#endif

bool
lull_weights_available(enum lull_weights weights)
{
	switch (weights) {
#ifdef __x86_64__
	case LULL_WEIGHTS_AVX2:
		return __builtin_cpu_supports("avx2");
	case LULL_WEIGHTS_AVX512:
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
#else
	case LULL_WEIGHTS_AVX2:
	case LULL_WEIGHTS_AVX512:
		return false;
#endif
	default:
		return true;
	}
}

lull_weights_best *
lull_weights_function(enum lull_weights weights)
{
	if (!lull_weights_available(weights))
		return NULL;
	if (weights == LULL_WEIGHTS_BEST) {
		if (lull_weights_available(LULL_WEIGHTS_AVX512))
			weights = LULL_WEIGHTS_AVX512;
		else if (lull_weights_available(LULL_WEIGHTS_AVX2))
			weights = LULL_WEIGHTS_AVX2;
	}
#ifdef __x86_64__
	if (weights == LULL_WEIGHTS_AVX512)
		return weights_best_avx512;
	if (weights == LULL_WEIGHTS_AVX2)
		return weights_best_avx2;
#endif
	return weights_best_scalar;
}

const char *
lull_weights_name(enum lull_weights weights)
{
	static const char *const names[] = {
		[LULL_WEIGHTS_BEST] = "best",
		[LULL_WEIGHTS_SCALAR] = "scalar",
		[LULL_WEIGHTS_AVX2] = "avx2",
		[LULL_WEIGHTS_AVX512] = "avx512",
	};

	LULL_ASSERT(weights <= LULL_WEIGHTS_AVX512);
	return names[weights];
}
