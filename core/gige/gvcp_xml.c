/* SPDX-License-Identifier: BSD-3-Clause */
#include "gvcp_xml.h"

#include <string.h>

#include <lull/base.h>

#define HOPS_MAX 4
/* A camera may write what it likes, and each byte is looked at so often at most. */
#define NODES_MAX 8
#define NAME_MAX 256u

/* A part of the description. */
struct text {
	const uint8_t *at;
	uint32_t len;
};

/* Where @p word begins; len when it is not there. */
static uint32_t
find(struct text text, const char *word)
{
	uint32_t len = (uint32_t)strlen(word);

	for (uint32_t i = 0; i + len <= text.len; i++)
		if (text.at[i] == (uint8_t)word[0] && memcmp(text.at + i, word, len) == 0)
			return i;
	return text.len;
}

static struct text
behind(struct text text, uint32_t count)
{
	count = LULL_MIN(count, text.len);
	return (struct text){ text.at + count, text.len - count };
}

/* What stands between <tag> and </; empty when there is none. */
static struct text
content(struct text node, const char *tag)
{
	struct text rest = behind(node, find(node, tag));

	rest = behind(rest, (uint32_t)strlen(tag));
	rest.len = find(rest, "<");
	return rest;
}

static bool
equals(struct text text, struct text other)
{
	return text.len == other.len && memcmp(text.at, other.at, text.len) == 0;
}

/* Nodes end where their element does: at </Kind>. */
static uint32_t
node_len(struct text kind, struct text rest)
{
	for (uint32_t i = 0; i + kind.len + 3 <= rest.len; i++)
		if (rest.at[i] == '<' && rest.at[i + 1] == '/' &&
		    memcmp(rest.at + i + 2, kind.at, kind.len) == 0 &&
		    rest.at[i + 2 + kind.len] == '>')
			return i;
	return rest.len;
}

/* Content of the element <Kind Name="name" ...> that says @p has; empty: there is none. */
static struct text
find_node(struct text xml, struct text name, const char *has)
{
	uint32_t at, nodes = 0;
	struct text rest = xml;

	while (nodes < NODES_MAX && (at = find(rest, " Name=\"")) < rest.len) {
		struct text found = behind(rest, at + 7);
		struct text kind = { rest.at + at, 0 };
		struct text node;

		while (kind.at > xml.at && kind.at[-1] != '<' && kind.len < 64) {
			kind.at--;
			kind.len++;
		}
		rest = found;
		found.len = LULL_MIN(found.len, NAME_MAX);
		found.len = find(found, "\"");
		if (!equals(found, name))
			continue;
		nodes++;
		node = (struct text){ rest.at, node_len(kind, rest) };
		if (find(node, has) < node.len)
			return node;
	}
	return (struct text){ xml.at, 0 };
}

/* A number, decimal or 0x; false: empty, or something else. */
static bool
number(struct text text, uint32_t *value)
{
	bool hex = text.len > 2 && text.at[0] == '0' && (text.at[1] | 32) == 'x';
	uint64_t sum = 0;

	if (text.len == 0 || text.len > 10)
		return false;
	for (uint32_t i = hex ? 2 : 0; i < text.len; i++) {
		uint8_t letter = text.at[i] | 32;
		uint32_t digit;

		if (text.at[i] >= '0' && text.at[i] <= '9')
			digit = text.at[i] - '0';
		else if (hex && letter >= 'a' && letter <= 'f')
			digit = letter - 'a' + 10u;
		else
			return false;
		sum = sum * (hex ? 16 : 10) + digit;
	}
	*value = (uint32_t)sum;
	return sum <= UINT32_MAX;
}

static bool
hex_number(struct text text, uint32_t *value)
{
	uint64_t sum = 0;

	if (text.len == 0 || text.len > 8)
		return false;
	for (uint32_t i = 0; i < text.len; i++) {
		uint8_t letter = text.at[i] | 32;

		if (text.at[i] >= '0' && text.at[i] <= '9')
			sum = sum << 4 | (uint64_t)(text.at[i] - '0');
		else if (letter >= 'a' && letter <= 'f')
			sum = sum << 4 | (uint64_t)(letter - 'a' + 10);
		else
			return false;
	}
	*value = (uint32_t)sum;
	return true;
}

bool
lull_gvcp_xml_place(const uint8_t *url, uint32_t len, uint32_t *address, uint32_t *bytes)
{
	static const uint8_t nul[] = "";
	const uint8_t *end = memchr(url, nul[0], len);
	struct text text = { url, end != NULL ? (uint32_t)(end - url) : len };
	struct text name, first;

	if (text.len < 6 || (memcmp(url, "Local:", 6) != 0 && memcmp(url, "local:", 6) != 0))
		return false;
	name = (struct text){ text.at, find(text, ";") };
	if (name.len < 4 || memcmp(name.at + name.len - 4, ".xml", 4) != 0)
		return false;
	first = behind(text, name.len + 1);
	text = behind(first, find(first, ";") + 1);
	first.len = find(first, ";");
	text.len = find(text, "?");
	return hex_number(first, address) && hex_number(text, bytes);
}

bool
lull_gvcp_xml_command(const uint8_t *xml, uint32_t len, const char *name,
		      struct lull_gvcp_register *reg)
{
	struct text all = { xml, len };
	struct text wanted = { (const uint8_t *)name, (uint32_t)strlen(name) };
	struct text node = find_node(all, wanted, "<CommandValue>");

	if (!number(content(node, "<CommandValue>"), &reg->value))
		return false;
	for (uint32_t i = 0; i < HOPS_MAX; i++) {
		wanted = content(node, "<pValue>");
		if (wanted.len == 0)
			return false;
		node = find_node(all, wanted, "<");
		/* Two addresses, or one with a formula, are a sum. */
		if (find(node, "<pAddress>") < node.len)
			return false;
		if (number(content(node, "<Address>"), &reg->address))
			return true;
	}
	return false;
}
