/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RFC 5952: lower case, no leading zeros, "::" for the longest run of at least two zero groups,
 * the first of equal ones. IPv4-mapped addresses (::ffff:0:0/96) end in dotted form (its section
 * 5), as inet_ntop() and the oracles write them.
 */
#include "address.h"

#include <stdbool.h>
#include <string.h>

#define GROUPS 8

struct address_run {
	unsigned int first, count;
};

static void
address_v4(struct lull_encode_text *text, const uint8_t *address)
{
	for (unsigned int i = 0; i < 4; i++) {
		if (i > 0)
			*text->at++ = '.';
		lull_encode_text_number(text, address[i]);
	}
}

static unsigned int
address_group(const uint8_t *address, unsigned int index)
{
	return (unsigned int)address[2 * index] << 8 | address[2 * index + 1];
}

static void
address_put_group(struct lull_encode_text *text, unsigned int group)
{
	const uint8_t nibbles[] = { (uint8_t)(group >> 8), (uint8_t)group };
	char digits[4];
	struct lull_encode_text all = { digits };
	unsigned int zeros = 0;

	lull_encode_text_hex(&all, nibbles, sizeof(nibbles));
	while (zeros < 3 && digits[zeros] == '0')
		zeros++;
	memcpy(text->at, digits + zeros, 4 - zeros);
	text->at += 4 - zeros;
}

/* What "::" stands for; count 0: nothing. */
static struct address_run
address_zeros(const uint8_t *address, unsigned int groups)
{
	struct address_run best = { groups, 0 }, run = { 0, 0 };

	for (unsigned int i = 0; i < groups; i++) {
		if (address_group(address, i) != 0) {
			run = (struct address_run){ i + 1, 0 };
			continue;
		}
		run.count++;
		if (run.count >= 2 && run.count > best.count)
			best = run;
	}
	return best;
}

static void
address_v6(struct lull_encode_text *text, const uint8_t *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool dotted = memcmp(address, mapped, sizeof(mapped)) == 0;
	unsigned int groups = dotted ? GROUPS - 2 : GROUPS;
	struct address_run zeros = address_zeros(address, groups);

	for (unsigned int i = 0; i < groups; i++) {
		if (i == zeros.first) {
			lull_encode_text_word(text, "::");
			i += zeros.count - 1;
			continue;
		}
		if (i > 0 && i != zeros.first + zeros.count)
			*text->at++ = ':';
		address_put_group(text, address_group(address, i));
	}
	if (!dotted)
		return;
	*text->at++ = ':';
	address_v4(text, address + sizeof(mapped));
}

void
lull_encode_text_address(struct lull_encode_text *text, unsigned int version,
			 const uint8_t *address)
{
	if (version == 4)
		address_v4(text, address);
	else
		address_v6(text, address);
}
