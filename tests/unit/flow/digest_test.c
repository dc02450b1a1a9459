/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "base/prng.h"
#include "flow/digest.h"
#include "frame.h"

#define FLOWS 131072

/* Clients of one network on successive ports, servers of a few: as structured as traffic gets. */
static struct lull_flow_key
structured(uint32_t i, uint8_t version)
{
	struct lull_flow_key key = { .version = version, .proto = i % 3 == 0 ? 17 : 6 };
	unsigned int last = version == 4 ? 3 : 15;

	key.addr[0][0] = key.addr[1][0] = 10;
	key.addr[0][last] = (uint8_t)(i % 251);
	key.addr[0][last - 1] = (uint8_t)(i / 251 % 8);
	key.addr[1][last] = (uint8_t)(i % 5);
	key.addr[1][last - 1] = 200;
	key.port[0] = (uint16_t)(32768 + i / 64);
	key.port[1] = i % 2 == 0 ? 443 : 80;
	key.vlan_id = (uint16_t)(i % 2);
	return key;
}

TEST(digest__golden)
{
	struct lull_flow_key v4 = structured(12345, 4), v6 = structured(12345, 6);

	/* Computed once: the numbers are part of traces, they may not change unnoticed. */
	assert_int_equal(lull_flow_digest(0, &v4), 0x392e6ee6);
	assert_int_equal(lull_flow_digest(1, &v4), 0x5f93177d);
	assert_int_equal(lull_flow_digest(0, &v6), 0x32248d29);
}

TEST(digest__native_and_portable_agree)
{
	struct lull_prng prng;

	print_message("seed 5, native %d\n", lull_flow_digest_native());
	lull_prng_init(&prng, 5, 0);
	for (unsigned int i = 0; i < 20000; i++) {
		struct lull_flow_key key =
			structured((uint32_t)lull_prng_u64(&prng), i % 2 == 0 ? 4 : 6);
		uint32_t seed = (uint32_t)lull_prng_u64(&prng);

		key.port[0] = (uint16_t)lull_prng_u64(&prng);
		key.addr[1][1] = (uint8_t)lull_prng_u64(&prng);
		assert_int_equal(lull_flow_digest(seed, &key),
				 lull_flow_digest_portable(seed, &key));
		assert_true(lull_flow_digest(seed, &key) <= 0x7fffffff);
	}
}

TEST(digest__every_bit_of_the_key_counts)
{
	static const unsigned int v4_bytes[] = { 0, 1, 2, 3, 16, 17, 18, 19 };

	for (unsigned int version = 4; version <= 6; version += 2) {
		struct lull_flow_key key = structured(77, (uint8_t)version);
		uint32_t digest = lull_flow_digest(9, &key);
		unsigned int count = version == 4 ? 8 : 32;
		uint8_t *bytes = (uint8_t *)&key;

		for (unsigned int bit = 0; bit < 8 * count + 48; bit++) {
			unsigned int byte = bit / 8;

			if (byte >= count) /* ports and VLAN behind the addresses */
				byte = byte - count + 32;
			else if (version == 4)
				byte = v4_bytes[byte];
			bytes[byte] ^= (uint8_t)(1u << bit % 8);
			assert_int_not_equal(lull_flow_digest(9, &key), digest);
			bytes[byte] ^= (uint8_t)(1u << bit % 8);
		}
		key.proto ^= 1;
		assert_int_not_equal(lull_flow_digest(9, &key), digest);
	}
}

/* max/mean of @p worker_count shares of the flows. */
static double
imbalance(uint8_t version, uint32_t worker_count, bool low_bits)
{
	uint32_t counts[16] = { 0 }, most = 0;

	for (uint32_t i = 0; i < FLOWS; i++) {
		struct lull_flow_key key = structured(i, version);
		uint64_t digest = lull_flow_digest(0, &key);

		counts[low_bits ? digest & (worker_count - 1) : digest * worker_count >> 31]++;
	}
	for (uint32_t i = 0; i < worker_count; i++)
		most = LULL_MAX(most, counts[i]);
	return most / ((double)FLOWS / worker_count);
}

TEST(digest__spreads_structured_flows)
{
	for (uint8_t version = 4; version <= 6; version += 2)
		for (uint32_t worker_count = 4; worker_count <= 16; worker_count *= 2) {
			double high = imbalance(version, worker_count, false);
			double low = imbalance(version, worker_count, true);

			print_message("IPv%u, %2u workers: %.4f %.4f\n", version, worker_count,
				      high, low);
			assert_true(high <= 1.03);
			assert_true(low <= 1.03);
		}
}

/* Buckets by low bits are as full as by chance: 65536 of them, two flows each on average. */
TEST(digest__fills_buckets_as_chance_does)
{
	static uint8_t counts[65536];
	uint32_t empty = 0, most = 0;

	memset(counts, 0, sizeof(counts));
	for (uint32_t i = 0; i < FLOWS; i++) {
		struct lull_flow_key key = structured(i, 4);

		counts[lull_flow_digest(0, &key) & 0xffff]++;
	}
	for (uint32_t i = 0; i < 65536; i++) {
		empty += counts[i] == 0;
		most = LULL_MAX(most, counts[i]);
	}
	print_message("%u empty, %u at most\n", empty, most);
	assert_in_range(empty, 8400, 9340); /* 65536 / e^2 = 8869 */
	assert_in_range(most, 7, 14);
}

/* Keys that collide under one seed do not under another, as those of a bare CRC would. */
TEST(digest__seed_parts_what_collides)
{
	static uint32_t places[65536];
	uint32_t collisions = 0, still = 0;

	memset(places, 0xff, sizeof(places));
	for (uint32_t i = 0; i < FLOWS; i++) {
		struct lull_flow_key key = structured(i, 4), other;
		uint32_t slot = lull_flow_digest(1, &key) >> 15;

		if (places[slot] != UINT32_MAX) {
			other = structured(places[slot], 4);
			collisions++;
			still += lull_flow_digest(2, &key) >> 15 ==
				 lull_flow_digest(2, &other) >> 15;
		}
		places[slot] = i;
	}
	print_message("%u of %u collide again\n", still, collisions);
	assert_true(collisions > 10000);
	assert_true(still < 20);
}
