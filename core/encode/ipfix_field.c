/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipfix_field.h"

#include "base/assert.h"

#define ICMP_V4 LULL_IPFIX_IN_ICMP_V4
#define ICMP_V6 LULL_IPFIX_IN_ICMP_V6
#define V4 (LULL_IPFIX_IN_V4 | ICMP_V4)
#define V6 (LULL_IPFIX_IN_V6 | ICMP_V6)
#define FLOWS (V4 | V6)
#define REVERSE LULL_IPFIX_REVERSE
#define PRIVATE LULL_IPFIX_PRIVATE

/*
 * Element numbers: the IPFIX registry of IANA. Times are in milliseconds because nfcapd reads no
 * others; the JSON lines have microseconds. Lengths below an element's own are the reduced ones of
 * RFC 7011, 6.2. What has no fixed length comes last. nfcapd 1.7.1 keeps one set of TCP flags, the
 * last it reads: those of the initiator. It takes type and code of ICMP for the destination port of
 * every protocol but TCP and UDP, so templates without ICMP lack them.
 */
const struct lull_ipfix_field lull_ipfix_fields[] = {
	{ 152, 8, 0, LULL_IPFIX_FIRST_MS, FLOWS },        /* flowStartMilliseconds */
	{ 153, 8, 0, LULL_IPFIX_LAST_MS, FLOWS },         /* flowEndMilliseconds */
	{ 8, 4, 0, LULL_IPFIX_SOURCE, V4 },               /* sourceIPv4Address */
	{ 12, 4, 0, LULL_IPFIX_DESTINATION, V4 },         /* destinationIPv4Address */
	{ 27, 16, 0, LULL_IPFIX_SOURCE, V6 },             /* sourceIPv6Address */
	{ 28, 16, 0, LULL_IPFIX_DESTINATION, V6 },        /* destinationIPv6Address */
	{ 7, 2, 0, LULL_IPFIX_SOURCE_PORT, FLOWS },       /* sourceTransportPort */
	{ 11, 2, 0, LULL_IPFIX_DESTINATION_PORT, FLOWS }, /* destinationTransportPort */
	{ 4, 1, 0, LULL_IPFIX_PROTO, FLOWS },             /* protocolIdentifier */
	{ 136, 1, 0, LULL_IPFIX_END_REASON, FLOWS },      /* flowEndReason */
	{ 239, 1, 0, LULL_IPFIX_INITIATOR, FLOWS },       /* biflowDirection */
	{ 58, 2, 0, LULL_IPFIX_VLAN, FLOWS },             /* vlanId */
	{ 32, 2, 0, LULL_IPFIX_ICMP, ICMP_V4 },           /* icmpTypeCodeIPv4 */
	{ 139, 2, 0, LULL_IPFIX_ICMP, ICMP_V6 },          /* icmpTypeCodeIPv6 */
	/* layer2SegmentId, ingressInterface, observationPointId */
	{ 351, 8, 0, LULL_IPFIX_SEGMENT, FLOWS | LULL_IPFIX_WITH_SEGMENT },
	{ 10, 4, 0, LULL_IPFIX_INTERFACE, FLOWS | LULL_IPFIX_WITH_INTERFACE },
	{ 138, 4, 0, LULL_IPFIX_POINT, FLOWS | LULL_IPFIX_WITH_POINT },
	{ 1, 8, 0, LULL_IPFIX_BYTES, FLOWS },   /* octetDeltaCount */
	{ 2, 8, 0, LULL_IPFIX_PACKETS, FLOWS }, /* packetDeltaCount */
	{ 6, 1, REVERSE, LULL_IPFIX_TCP_FLAGS_BACK, FLOWS },
	{ 6, 1, 0, LULL_IPFIX_TCP_FLAGS, FLOWS },          /* tcpControlBits */
	{ 1, 8, REVERSE, LULL_IPFIX_BYTES_BACK, FLOWS },   /* reverseOctetDeltaCount */
	{ 2, 8, REVERSE, LULL_IPFIX_PACKETS_BACK, FLOWS }, /* reversePacketDeltaCount */
	{ 1, 8, PRIVATE, LULL_IPFIX_WORKERS, FLOWS | LULL_IPFIX_WITH_FACTS },
	{ 2, 4, PRIVATE, LULL_IPFIX_MOVES, FLOWS | LULL_IPFIX_WITH_FACTS },
	{ 3, 4, PRIVATE, LULL_IPFIX_REORDERED, FLOWS | LULL_IPFIX_WITH_FACTS },
	{ 4, 1, PRIVATE, LULL_IPFIX_EXACT, FLOWS | LULL_IPFIX_WITH_FACTS },
	/* applicationName */
	{ 96, LULL_IPFIX_VARIABLE, 0, LULL_IPFIX_APP, FLOWS | LULL_IPFIX_WITH_APP },
	{ 0, 0, 0, 0, 0 },
};

const uint16_t lull_ipfix_total_elements[LULL_IPFIX_TOTAL_COUNT] = {
	[LULL_IPFIX_TOTAL_RX] = 86,      [LULL_IPFIX_TOTAL_DROPPED] = 135,
	[LULL_IPFIX_TOTAL_FLOWS] = 163,  [LULL_IPFIX_TOTAL_MESSAGES] = 41,
	[LULL_IPFIX_TOTAL_RECORDS] = 42, [LULL_IPFIX_TOTAL_BYTES] = 40,
};

enum lull_ipfix_template
lull_ipfix_template_of(const struct lull_flow_record *record)
{
	switch (record->key.proto) {
	case LULL_FLOW_PROTO_ICMP:
		return record->key.version == 4 ? LULL_IPFIX_ICMP_V4 : LULL_IPFIX_V6;
	case LULL_FLOW_PROTO_ICMP6:
		return record->key.version == 6 ? LULL_IPFIX_ICMP_V6 : LULL_IPFIX_V4;
	default:
		return record->key.version == 4 ? LULL_IPFIX_V4 : LULL_IPFIX_V6;
	}
}

static unsigned int
field_place(enum lull_ipfix_template template_id)
{
	switch (template_id) {
	case LULL_IPFIX_V4:
		return LULL_IPFIX_IN_V4;
	case LULL_IPFIX_V6:
		return LULL_IPFIX_IN_V6;
	case LULL_IPFIX_ICMP_V4:
		return ICMP_V4;
	default:
		LULL_ASSERT(template_id == LULL_IPFIX_ICMP_V6);
		return ICMP_V6;
	}
}

bool
lull_ipfix_field_in(const struct lull_ipfix_field *field, enum lull_ipfix_template template_id,
		    const struct lull_ipfix_config *config)
{
	if ((field->in & field_place(template_id)) == 0)
		return false;
	if ((field->in & LULL_IPFIX_WITH_APP) != 0 && config->app == NULL)
		return false;
	if ((field->in & LULL_IPFIX_WITH_SEGMENT) != 0 && !config->segment)
		return false;
	if ((field->in & LULL_IPFIX_WITH_INTERFACE) != 0 && !config->interface)
		return false;
	if ((field->in & LULL_IPFIX_WITH_POINT) != 0 && config->observation_point == 0)
		return false;
	return (field->in & LULL_IPFIX_WITH_FACTS) == 0 || config->facts;
}
