/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slicing by 8 (Kounavis and Berry, 2005), and three streams side by side that a product without
 * carries puts together (Gopal et al., Intel, 2011): the CRC instruction takes three cycles, and
 * one can begin in each.
 */
#include <string.h>

#include "bytes.h"
#include "crc32c.h"

const uint32_t lull_crc32c_table[8][256] = {
	LULL_CRC_ROW(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf, 0x105ec76f, 0x20bd8ede,
		     0x417b1dbc, 0x82f63b78),
	LULL_CRC_ROW(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8, 0x3fc5f181, 0x7f8be302,
		     0xff17c604, 0xfbc3faf9),
	LULL_CRC_ROW(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5, 0x70a27d8a, 0xe144fb14,
		     0xc76580d9, 0x8b277743),
	LULL_CRC_ROW(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6, 0xe964b13d, 0xd725148b,
		     0xaba65fe7, 0x52a0c93f),
	LULL_CRC_ROW(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91, 0x8f2261d3, 0x1ba8b557,
		     0x37516aae, 0x6ea2d55c),
	LULL_CRC_ROW(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f, 0xc00c303e, 0x85f4168d,
		     0x0e045beb, 0x1c08b7d6),
	LULL_CRC_ROW(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53, 0x9c5bfaa6, 0x3d5b83bd,
		     0x7ab7077a, 0xf56e0ef4),
	LULL_CRC_ROW(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da, 0x847609b4, 0x0d006599,
		     0x1a00cb32, 0x34019664),
};

uint32_t
lull_crc32c_portable(uint32_t crc, const uint8_t *bytes, size_t count)
{
	crc = ~crc;
	for (; count >= 8; count -= 8, bytes += 8)
		crc = lull_crc32c_word(crc, lull_bytes_little64(bytes));
	for (; count > 0; count--)
		crc = crc >> 8 ^ lull_crc32c_table[0][(crc ^ *bytes++) & 0xff];
	return ~crc;
}

#if defined(__x86_64__)

typedef long long crc32c_pair __attribute__((vector_size(16)));

#define CRC32C_NATIVE __attribute__((target("sse4.2,pclmul")))

bool
lull_crc32c_native(void)
{
	return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

static inline uint64_t
crc32c_word(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* The CRC after as many zeros as @p power stands for: x^(8 zeros - 33), as the product is read. */
CRC32C_NATIVE static inline uint64_t
crc32c_shift(uint64_t crc, uint32_t power)
{
	crc32c_pair product = __builtin_ia32_pclmulqdq128((crc32c_pair){ (long long)crc, 0 },
							  (crc32c_pair){ power, 0 }, 0);

	return __builtin_ia32_crc32di(0, (uint64_t)product[0]);
}

/* Three streams of @p each bytes, a multiple of 8. */
CRC32C_NATIVE static inline uint64_t
crc32c_three(uint64_t crc, const uint8_t *bytes, size_t each, uint32_t once, uint32_t twice)
{
	uint64_t second = 0, third = 0;

	for (size_t i = 0; i < each; i += 8) {
		crc = __builtin_ia32_crc32di(crc, crc32c_word(bytes + i));
		second = __builtin_ia32_crc32di(second, crc32c_word(bytes + each + i));
		third = __builtin_ia32_crc32di(third, crc32c_word(bytes + 2 * each + i));
	}
	return crc32c_shift(crc, twice) ^ crc32c_shift(second, once) ^ third;
}

/* 480 bytes three times are nearly a packet of an MTU of 1500 bytes, 128 half of the smallest. */
#define CRC32C_LONG 480
#define CRC32C_LONG_ONCE 0xb3e32c28
#define CRC32C_LONG_TWICE 0x3771e98f
#define CRC32C_SHORT 128
#define CRC32C_SHORT_ONCE 0x0d3b6092
#define CRC32C_SHORT_TWICE 0xb9e02b86

CRC32C_NATIVE static uint32_t
crc32c_fast(uint32_t begin, const uint8_t *bytes, size_t count)
{
	uint64_t crc = (uint32_t)~begin;

	for (; count >= 3 * CRC32C_LONG; count -= 3 * CRC32C_LONG, bytes += 3 * CRC32C_LONG)
		crc = crc32c_three(crc, bytes, CRC32C_LONG, CRC32C_LONG_ONCE, CRC32C_LONG_TWICE);
	for (; count >= 3 * CRC32C_SHORT; count -= 3 * CRC32C_SHORT, bytes += 3 * CRC32C_SHORT)
		crc = crc32c_three(crc, bytes, CRC32C_SHORT, CRC32C_SHORT_ONCE, CRC32C_SHORT_TWICE);
	for (; count >= 8; count -= 8, bytes += 8)
		crc = __builtin_ia32_crc32di(crc, crc32c_word(bytes));
	for (; count > 0; count--)
		crc = __builtin_ia32_crc32qi((uint32_t)crc, *bytes++);
	return ~(uint32_t)crc;
}

uint32_t
lull_crc32c(uint32_t crc, const uint8_t *bytes, size_t count)
{
	return lull_crc32c_native() ? crc32c_fast(crc, bytes, count) :
				      lull_crc32c_portable(crc, bytes, count);
}

#else

bool
lull_crc32c_native(void)
{
	return false;
}

uint32_t
lull_crc32c(uint32_t crc, const uint8_t *bytes, size_t count)
{
	return lull_crc32c_portable(crc, bytes, count);
}

#endif
