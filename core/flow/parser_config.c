/* SPDX-License-Identifier: BSD-3-Clause */
#include "parser.h"

#include <stddef.h>

#include "base/range.h"

#define DEFAULT_FRAGMENT_BITS 12
#define DEFAULT_FRAGMENT_NS (30 * LULL_NS_PER_S)
#define FRAGMENT_WAIT_NS_MAX (10 * LULL_NS_PER_S)
#define FRAGMENT_NS_MAX (86400 * LULL_NS_PER_S)

#define ROW(member, help_text)                                                                     \
	LULL_COUNTER_ROW(struct lull_flow_parser_counters, member, "packets", help_text)
#define ROW_CAUSE(cause, cause_text, help_text)                                                    \
	{                                                                                          \
		.name = cause_text, .unit = "packets", .help = help_text,                          \
		.offset = offsetof(struct lull_flow_parser_counters, causes) +                     \
			  (cause) * sizeof(uint64_t)                                               \
	}
const struct lull_counter_info lull_flow_parser_counter_table[] = {
	ROW_CAUSE(LULL_FLOW_OK, "ok", "packets that belong to a flow"),
	ROW_CAUSE(LULL_FLOW_NOT_IP, "not_ip", "packets without IP: ARP, LLDP, encrypted"),
	ROW_CAUSE(LULL_FLOW_LINK, "link", "packets of an unknown link type"),
	ROW_CAUSE(LULL_FLOW_TRUNCATED, "truncated", "packets whose key the capture cut off"),
	ROW_CAUSE(LULL_FLOW_MALFORMED, "malformed", "packets whose headers contradict each other"),
	ROW(fragments, "fragments that belong to a flow"),
	ROW(orphans, "fragments whose first fragment was not seen, or not in time"),
	ROW(early, "fragments that came before their first one and joined it"),
	ROW(early_full, "fragments that could not wait for their first one for want of room"),
	ROW(tunnels, "packets whose flow is that of an inner packet"),
	ROW(cut, "packets of a flow that the capture has cut"),
	ROW(icmp_errors, "ICMP errors dispatched with the flow that caused them"),
	{
		.name = "fragments_replaced",
		.unit = "1",
		.help = "datagrams forgotten for want of room",
		.offset = offsetof(struct lull_flow_parser_counters, fragments_replaced),
	},
	{ .name = NULL },
};

const char *
lull_flow_cause_name(enum lull_flow_cause cause)
{
	switch (cause) {
	case LULL_FLOW_OK:
		return "ok";
	case LULL_FLOW_NOT_IP:
		return "not_ip";
	case LULL_FLOW_LINK:
		return "link";
	case LULL_FLOW_TRUNCATED:
		return "truncated";
	case LULL_FLOW_MALFORMED:
		return "malformed";
	case LULL_FLOW_CAUSE_COUNT:
		break;
	}
	return "?";
}

struct lull_flow_parser_config
lull_flow_parser_config_full(const struct lull_flow_parser_config *config)
{
	struct lull_flow_parser_config full = *config;

	if (full.fragment_bits == 0)
		full.fragment_bits = DEFAULT_FRAGMENT_BITS;
	if (full.fragment_ns == 0)
		full.fragment_ns = DEFAULT_FRAGMENT_NS;
	if (full.key_parts == 0)
		full.key_parts = LULL_FLOW_KEY_DEFAULT;
	return full;
}

int
lull_flow_parser_config_check(const struct lull_flow_parser_config *config,
			      struct lull_range *error)
{
	struct lull_flow_parser_config full = lull_flow_parser_config_full(config);

	const struct lull_range ranges[] = {
		{ "fragment_bits", full.fragment_bits, 4, 20 },
		{ "fragment_ns", full.fragment_ns, 1, FRAGMENT_NS_MAX },
		{ "fragment_wait_ns", full.fragment_wait_ns, 0, FRAGMENT_WAIT_NS_MAX },
		{ "key_parts", full.key_parts, 1, LULL_FLOW_KEY_NONE },
	};

	return LULL_RANGES_CHECK(ranges, error);
}

void
lull_flow_parser_join(struct lull_flow_parser *parser, struct lull_flow_parser *part)
{
	uint64_t *to = (uint64_t *)&parser->counters, *from = (uint64_t *)&part->counters;

	for (size_t i = 0; i < sizeof(parser->counters) / sizeof(*to); i++)
		LULL_COUNTER_ADD(to[i], from[i]);
	part->counters = (struct lull_flow_parser_counters){ 0 };
}
