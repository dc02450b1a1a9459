/* SPDX-License-Identifier: BSD-3-Clause */
#include "parser.h"

static struct lull_flow_packet *
early_orphan(struct lull_flow_parser *parser, struct lull_flow_packet *packet)
{
	LULL_COUNTER_ADD(parser->counters.orphans, 1);
	return packet;
}

struct lull_flow_packet *
lull_flow_parser_hold(struct lull_flow_parser *parser, struct lull_flow_packet *packet,
		      uint64_t clock_ns)
{
	struct lull_early *early = &parser->early;

	if (early->wait_ns == 0)
		return packet;
	if (early->last.packet != packet)
		return early_orphan(parser, packet);
	packet = lull_early_add(early, lull_fragment_hash(&parser->fragments, &early->last.name),
				clock_ns);
	if (packet == NULL)
		return NULL;
	LULL_COUNTER_ADD(parser->counters.early_full, 1);
	return early_orphan(parser, packet);
}

struct lull_flow_packet *
lull_flow_parser_release(struct lull_flow_parser *parser, uint64_t clock_ns, uint64_t *due_ns)
{
	struct lull_flow_packet *packet = lull_early_ready(&parser->early);

	*due_ns = 0;
	if (packet != NULL) {
		LULL_COUNTER_ADD(parser->counters.early, 1);
		return packet;
	}
	packet = lull_early_due(&parser->early, clock_ns, due_ns);
	return packet != NULL ? early_orphan(parser, packet) : NULL;
}

uint64_t
lull_flow_parser_deadline_ns(const struct lull_flow_parser *parser)
{
	return lull_early_deadline_ns(&parser->early);
}
