/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * IPFIX field: which elements stand in which template, in which order.
 *
 * One table serves the templates and the records, so they cannot differ.
 */
#ifndef LULL_IPFIX_FIELD_H
#define LULL_IPFIX_FIELD_H

#include <lull/encode.h>

/** The template that a field is in; ids of templates on the wire. */
enum lull_ipfix_template {
	LULL_IPFIX_V4 = 256,
	LULL_IPFIX_V6 = 257,
	LULL_IPFIX_TOTALS = 258, /**< an options template */
	LULL_IPFIX_ICMP_V4 = 259,
	LULL_IPFIX_ICMP_V6 = 260,
	LULL_IPFIX_NAMES = 261, /**< an options template, where interfaces have names */
	LULL_IPFIX_TEMPLATES_END
};

/** Whose element numbers are meant. */
enum lull_ipfix_owner {
	LULL_IPFIX_IANA,
	LULL_IPFIX_REVERSE, /**< the same number, of the other direction: RFC 5103 */
	LULL_IPFIX_PRIVATE  /**< config enterprise */
};

/** Length of an element whose records tell it themselves (RFC 7011, 7). */
#define LULL_IPFIX_VARIABLE 65535

/** What a field carries. */
enum lull_ipfix_value {
	LULL_IPFIX_FIRST_MS,
	LULL_IPFIX_LAST_MS,
	LULL_IPFIX_SOURCE,
	LULL_IPFIX_DESTINATION,
	LULL_IPFIX_SOURCE_PORT,
	LULL_IPFIX_DESTINATION_PORT,
	LULL_IPFIX_PROTO,
	LULL_IPFIX_END_REASON,
	LULL_IPFIX_INITIATOR,
	LULL_IPFIX_VLAN,
	LULL_IPFIX_ICMP,
	LULL_IPFIX_SEGMENT,
	LULL_IPFIX_INTERFACE,
	LULL_IPFIX_POINT,
	LULL_IPFIX_BYTES,
	LULL_IPFIX_PACKETS,
	LULL_IPFIX_TCP_FLAGS,
	LULL_IPFIX_BYTES_BACK,
	LULL_IPFIX_PACKETS_BACK,
	LULL_IPFIX_TCP_FLAGS_BACK,
	LULL_IPFIX_WORKERS,
	LULL_IPFIX_MOVES,
	LULL_IPFIX_REORDERED,
	LULL_IPFIX_EXACT,
	LULL_IPFIX_PROBABILITY,
	LULL_IPFIX_APP
};

/** When a field is there. */
#define LULL_IPFIX_IN_V4 1u
#define LULL_IPFIX_IN_V6 2u
#define LULL_IPFIX_WITH_APP 4u
#define LULL_IPFIX_WITH_FACTS 8u
#define LULL_IPFIX_WITH_SEGMENT 16u
#define LULL_IPFIX_WITH_INTERFACE 32u
#define LULL_IPFIX_IN_ICMP_V4 64u
#define LULL_IPFIX_IN_ICMP_V6 128u
#define LULL_IPFIX_WITH_POINT 256u
#define LULL_IPFIX_WITH_SAMPLING 512u

struct lull_ipfix_field {
	uint16_t element;
	uint16_t bytes; /**< or LULL_IPFIX_VARIABLE */
	uint8_t owner;  /**< enum lull_ipfix_owner */
	uint8_t value;  /**< enum lull_ipfix_value */
	uint16_t in;    /**< LULL_IPFIX_IN_..., LULL_IPFIX_WITH_... */
};
/** Fields of flow records in their order; the last has bytes 0. */
extern const struct lull_ipfix_field lull_ipfix_fields[];
/** The template of @p record: type and code of ICMP have templates of their own. */
enum lull_ipfix_template lull_ipfix_template_of(const struct lull_flow_record *record);
/** Is @p field in the records of @p template_id with this config? */
bool lull_ipfix_field_in(const struct lull_ipfix_field *field, enum lull_ipfix_template template_id,
			 const struct lull_ipfix_config *config);

/** Standard elements of the options record behind its scope, each of 8 bytes. */
enum lull_ipfix_total {
	LULL_IPFIX_TOTAL_RX,      /**< packetTotalCount */
	LULL_IPFIX_TOTAL_DROPPED, /**< droppedPacketTotalCount: before a flow was found */
	LULL_IPFIX_TOTAL_FLOWS,   /**< observedFlowTotalCount */
	LULL_IPFIX_TOTAL_MESSAGES,
	LULL_IPFIX_TOTAL_RECORDS,
	LULL_IPFIX_TOTAL_BYTES,
	LULL_IPFIX_TOTAL_COUNT
};
extern const uint16_t lull_ipfix_total_elements[LULL_IPFIX_TOTAL_COUNT];
/** observationDomainId, the scope of the options record. */
#define LULL_IPFIX_ELEMENT_DOMAIN 149
/** ingressInterface, the scope of a name, and what follows it, both of variable length. */
#define LULL_IPFIX_ELEMENT_INTERFACE 10
#define LULL_IPFIX_ELEMENT_NAME 82
#define LULL_IPFIX_ELEMENT_DESCRIPTION 83
/** Behind them every row of lull_encode_totals_table: element of our own, this plus its index. */
#define LULL_IPFIX_ELEMENT_TOTALS 64

#endif
