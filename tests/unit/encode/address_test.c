/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <string.h>

#include "case.h"
#include "base/prng.h"
#include "encode/address.h"

#define SEED 5952
#define ROUNDS 100000

static void
assert_written(unsigned int version, const uint8_t *address, const char *expected)
{
	char line[LULL_ENCODE_ADDRESS_MAX + 1];
	struct lull_encode_text text = { line };

	lull_encode_text_address(&text, version, address);
	*text.at = '\0';
	assert_string_equal(line, expected);
}

TEST(address__v4)
{
	static const uint8_t zero[16], all[16] = { 255, 255, 255, 255 };
	static const uint8_t some[16] = { 192, 0, 2, 10 };

	assert_written(4, zero, "0.0.0.0");
	assert_written(4, all, "255.255.255.255");
	assert_written(4, some, "192.0.2.10");
}

TEST(address__v6_as_rfc_5952_asks)
{
	/* Its sections 4 and 5, and the ends of the range. */
	static const char *const texts[] = {
		"::",
		"::1",
		"1::",
		"2001:db8::1",
		"2001:db8:0:1:1:1:1:1", /* one group is not shortened */
		"2001:0:0:1::1",        /* the longest run */
		"2001:db8::1:0:0:1",    /* the first of two equal ones */
		"2001:db8:aaaa:bbbb:cccc:dddd:eeee:aa01",
		"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"::ffff:192.0.2.128",
		"::ffff:0.0.0.0",
		"0:1::",
		"1:0:0:1::",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		uint8_t address[16];

		assert_int_equal(inet_pton(AF_INET6, texts[i], address), 1);
		assert_written(6, address, texts[i]);
	}
}

/* The C library writes them alike, but for the deprecated IPv4-compatible ones (::a.b.c.d). */
TEST(address__v6_as_the_library_writes_it)
{
	struct lull_prng prng;

	print_message("seed %d\n", SEED);
	lull_prng_init(&prng, SEED, 0);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t zeros = lull_prng_u64(&prng);
		char expected[INET6_ADDRSTRLEN];
		uint8_t address[16];

		for (int i = 0; i < 16; i++)
			address[i] = (uint8_t)((zeros >> (i / 2) & 1) != 0 ?
						       0 :
						       lull_prng_u64(&prng) >> (zeros >> 60 & 7));
		address[0] |= 1;
		assert_non_null(inet_ntop(AF_INET6, address, expected, sizeof(expected)));
		assert_written(6, address, expected);
	}
}
