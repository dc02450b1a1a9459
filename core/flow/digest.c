/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Digest: CRC-32C of the key, started at the seed, and of a keyed sum of products over the same
 * words.
 *
 * A CRC is linear: whoever finds two keys with one CRC has two with one CRC under every seed, and
 * finding them takes no effort. The sum of products (NH, of UMAC, RFC 4418) depends on the seed
 * with carries, so what collides cannot be told without it. The last step spreads all 32 bits over
 * all others (constants of Chris Wellons' lowbias32): callers take high bits or low ones.
 */
#include "digest.h"

#include "base/crc32c.h"

/* Bits of the golden ratio, made odd by hand: no special meaning. */
#define SEED_STEP 0x9e3779b97f4a7c15ULL

static inline uint64_t
digest_little(const uint8_t *bytes)
{
	uint64_t low = (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
		       (uint64_t)bytes[3] << 24;
	uint64_t high = (uint64_t)bytes[4] | (uint64_t)bytes[5] << 8 | (uint64_t)bytes[6] << 16 |
			(uint64_t)bytes[7] << 24;

	return low | high << 32;
}

static inline uint64_t
digest_little_half(const uint8_t *bytes)
{
	return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
	       (uint64_t)bytes[3] << 24;
}

/* Tunnel, label and interface, where one of them belongs to the key. */
static inline unsigned int
digest_words_more(const struct lull_flow_key *key, uint64_t *words)
{
	words[0] = (uint64_t)key->tunnel_id | (uint64_t)key->interface << 32 |
		   (uint64_t)key->tunnel << 48 | (uint64_t)key->labelled << 56;
	words[1] = (uint64_t)key->mpls_label | (uint64_t)key->outer << 32;
	return (words[0] | words[1]) != 0 ? 2 : 0;
}

/* Number of words: 2 for IPv4, 5 for IPv6, and two for keys with more parts. */
static inline unsigned int
digest_words_of(const struct lull_flow_key *key, uint64_t *words)
{
	words[0] = (uint64_t)key->port[0] | (uint64_t)key->port[1] << 16 |
		   (uint64_t)key->vlan_id << 32 | (uint64_t)key->version << 48 |
		   (uint64_t)key->proto << 56;
	if (key->version == 4) {
		words[1] = digest_little_half(key->addr[0]) | digest_little_half(key->addr[1])
								      << 32;
		return 2 + digest_words_more(key, words + 2);
	}
	words[1] = digest_little(key->addr[0]);
	words[2] = digest_little(key->addr[0] + 8);
	words[3] = digest_little(key->addr[1]);
	words[4] = digest_little(key->addr[1] + 8);
	return 5 + digest_words_more(key, words + 5);
}

/* NH: sum of (low half + a secret) * (high half + another). */
static inline uint64_t
digest_products(uint32_t seed, const uint64_t *words, unsigned int count)
{
	uint64_t secret = ((uint64_t)seed + 1) * SEED_STEP;
	uint64_t sum = secret;

	for (unsigned int i = 0; i < count; i++) {
		uint32_t low = (uint32_t)words[i] + (uint32_t)(secret >> 32);
		uint32_t high = (uint32_t)(words[i] >> 32) + (uint32_t)secret;

		sum += (uint64_t)low * high;
		secret = (secret << 23 | secret >> 41) * 5 + SEED_STEP;
	}
	return sum;
}

static inline uint32_t
digest_finish(uint32_t crc)
{
	crc ^= crc >> 16;
	crc *= 0x21f0aaadu;
	crc ^= crc >> 15;
	crc *= 0xd35a2d97u;
	crc ^= crc >> 15;
	return crc >> 1;
}

static uint32_t
digest_portable(uint32_t seed, const uint64_t *words, unsigned int count)
{
	uint32_t crc = seed;

	for (unsigned int i = 0; i < count; i++)
		crc = lull_crc32c_word(crc, words[i]);
	return digest_finish(lull_crc32c_word(crc, digest_products(seed, words, count)));
}

uint32_t
lull_flow_digest_portable(uint32_t seed, const struct lull_flow_key *key)
{
	uint64_t words[LULL_DIGEST_WORDS_MAX];
	unsigned int count = digest_words_of(key, words);

	return digest_portable(seed, words, count);
}

#if defined(__x86_64__)

bool
lull_flow_digest_native(void)
{
	return __builtin_cpu_supports("sse4.2") != 0;
}

__attribute__((target("sse4.2"))) static uint32_t
digest_sse42_v4(uint32_t seed, uint64_t ends, uint64_t addresses)
{
	const uint64_t words[2] = { ends, addresses };
	uint64_t crc = __builtin_ia32_crc32di(seed, ends);

	crc = __builtin_ia32_crc32di(crc, addresses);
	return digest_finish(
		(uint32_t)__builtin_ia32_crc32di(crc, digest_products(seed, words, 2)));
}

__attribute__((target("sse4.2"))) static uint32_t
digest_sse42_v6(uint32_t seed, const uint64_t *words)
{
	uint64_t crc = seed;

	for (unsigned int i = 0; i < 5; i++)
		crc = __builtin_ia32_crc32di(crc, words[i]);
	return digest_finish(
		(uint32_t)__builtin_ia32_crc32di(crc, digest_products(seed, words, 5)));
}

uint32_t
lull_flow_digest_v4(uint32_t seed, uint64_t ends, uint64_t addresses)
{
	const uint64_t words[2] = { ends, addresses };

	return lull_flow_digest_native() ? digest_sse42_v4(seed, ends, addresses) :
					   digest_portable(seed, words, 2);
}

uint32_t
lull_flow_digest_v6(uint32_t seed, const uint64_t words[5])
{
	return lull_flow_digest_native() ? digest_sse42_v6(seed, words) :
					   digest_portable(seed, words, 5);
}

#else

bool
lull_flow_digest_native(void)
{
	return false;
}

uint32_t
lull_flow_digest_v4(uint32_t seed, uint64_t ends, uint64_t addresses)
{
	const uint64_t words[2] = { ends, addresses };

	return digest_portable(seed, words, 2);
}

uint32_t
lull_flow_digest_v6(uint32_t seed, const uint64_t words[5])
{
	return digest_portable(seed, words, 5);
}

#endif

uint32_t
lull_flow_digest(uint32_t seed, const struct lull_flow_key *key)
{
	uint64_t words[LULL_DIGEST_WORDS_MAX];

	unsigned int count = digest_words_of(key, words);

	if (count == 2)
		return lull_flow_digest_v4(seed, words[0], words[1]);
	return count == 5 ? lull_flow_digest_v6(seed, words) : digest_portable(seed, words, count);
}
