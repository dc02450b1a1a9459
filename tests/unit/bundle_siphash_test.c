/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "bundle/siphash.h"

/* The vectors of its authors: key 00, 01, ..., bytes 00, 01, ... of these lengths. */
TEST(siphash__matches_published_vectors)
{
	static const struct {
		uint32_t count;
		uint64_t hash;
	} vectors[] = {
		{ 0, 0x726fdb47dd0e0e31 },  { 1, 0x74f839c593dc67fd },  { 8, 0x93f5f5799a932462 },
		{ 15, 0xa129ca6149be45e5 }, { 63, 0x958a324ceb064572 },
	};
	uint8_t key[16], bytes[64];

	for (uint8_t i = 0; i < 64; i++)
		bytes[i] = i;
	for (uint8_t i = 0; i < 16; i++)
		key[i] = i;
	for (size_t i = 0; i < COUNT(vectors); i++)
		assert_true(bundle_siphash(key, bytes, vectors[i].count) == vectors[i].hash);
}
