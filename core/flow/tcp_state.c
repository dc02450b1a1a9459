/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/flow.h>

#define FIN 1u
#define SYN 2u
#define RST 4u

const char *
lull_flow_tcp_state_name(enum lull_flow_tcp_state state)
{
	static const char *const names[] = {
		"", "attempt", "refused", "established", "midstream", "closing", "closed", "reset",
	};

	return names[state];
}

/* Did @p side ask for a connection, and the other one say no and nothing else? */
static bool
tcp_refused(const struct lull_flow_record *record, uint32_t side)
{
	uint32_t asked = record->tcp_flags[side], answered = record->tcp_flags[!side];

	return (asked & SYN) != 0 && (asked & FIN) == 0 && (answered & RST) != 0 &&
	       (answered & (SYN | FIN)) == 0 && record->payload_total[!side] == 0;
}

/* Whatever else @p side sent short of ending it. */
static bool
tcp_attempt(const struct lull_flow_record *record, uint32_t side)
{
	return (record->tcp_flags[side] & (SYN | FIN)) == SYN && record->packets[!side] == 0;
}

enum lull_flow_tcp_state
lull_flow_tcp_state(const struct lull_flow_record *record)
{
	uint32_t both = record->tcp_flags[0] & record->tcp_flags[1];
	uint32_t any = record->tcp_flags[0] | record->tcp_flags[1];

	if (record->key.proto != LULL_FLOW_PROTO_TCP)
		return LULL_FLOW_TCP_NONE;
	if (tcp_attempt(record, 0) || tcp_attempt(record, 1))
		return LULL_FLOW_TCP_ATTEMPT;
	if ((any & RST) != 0) {
		if (tcp_refused(record, 0) || tcp_refused(record, 1))
			return LULL_FLOW_TCP_REFUSED;
		return LULL_FLOW_TCP_RESET;
	}
	if ((both & FIN) != 0)
		return LULL_FLOW_TCP_CLOSED;
	if ((any & FIN) != 0)
		return LULL_FLOW_TCP_CLOSING;
	if ((both & SYN) != 0)
		return LULL_FLOW_TCP_ESTABLISHED;
	return LULL_FLOW_TCP_MIDSTREAM;
}
