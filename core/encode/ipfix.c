/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Templates travel in messages of their own, sent in front of a data message whenever they are due.
 * The sequence number of a message is the count of data records, options records included, in
 * all messages before it (RFC 7011, 3.1).
 */
#include <lull/encode.h>

#include <assert.h>
#include <errno.h>
#include <stdalign.h>
#include <string.h>

#include "base/assert.h"
#include "base/range.h"
#include "ipfix_field.h"
#include "ipfix_message.h"
#include "ipfix_template.h"

#define DEFAULT_DOMAIN 1
#define DEFAULT_MESSAGE_BYTES 1420
#define MESSAGE_BYTES_MIN 512
/* All templates with all elements; half of them fit a message of the least length. */
#define TEMPLATES_BYTES 1024
#define DEFAULT_TEMPLATE_NS (60 * LULL_NS_PER_S)
#define DEFAULT_ENTERPRISE 32473
/* Longest name of a protocol that is asked for, with its zero: one byte tells its length. */
#define APP_BYTES 64
/* Longer than any record: IPv6, facts and the longest name; totals with all their counters. */
#define RECORD_BYTES_MAX 208
#define INITIATOR 1

struct lull_ipfix {
	struct lull_ipfix_config config;
	struct lull_ipfix_counters counters;
	lull_ipfix_send *send;
	void *send_arg;
	uint64_t templates_ns; /* when they were sent */
	uint32_t seq;          /* of the message that is begun */
	uint32_t records;      /* in the message that is begun */
	uint32_t options;      /* of these */
	uint32_t named;        /* interfaces, since the templates */
	bool templates_sent;
	struct lull_ipfix_message message;
	uint8_t templates[TEMPLATES_BYTES];
	uint8_t bytes[]; /* config.message_bytes */
};

#define ROW(member, member_unit, text)                                                             \
	LULL_COUNTER_ROW(struct lull_ipfix_counters, member, member_unit, text)

const struct lull_counter_info lull_ipfix_counter_table[] = {
	ROW(messages, "messages", "messages made"),
	ROW(records, "records", "data records made, including options records"),
	ROW(options, "records", "options records made"),
	ROW(templates, "records", "template records made"),
	ROW(bytes, "bytes", "bytes of the messages"),
	{ NULL, NULL, NULL, 0 },
};

static struct lull_ipfix_config
ipfix_default(const struct lull_ipfix_config *config)
{
	struct lull_ipfix_config full = *config;

	if (full.domain_id == 0)
		full.domain_id = DEFAULT_DOMAIN;
	if (full.message_bytes == 0)
		full.message_bytes = DEFAULT_MESSAGE_BYTES;
	if (full.template_ns == 0)
		full.template_ns = DEFAULT_TEMPLATE_NS;
	if (full.enterprise == 0)
		full.enterprise = DEFAULT_ENTERPRISE;
	return full;
}

int
lull_ipfix_config_check(const struct lull_ipfix_config *config, struct lull_range *error)
{
	struct lull_ipfix_config full = ipfix_default(config);

	return lull_range_check("message_bytes", full.message_bytes, MESSAGE_BYTES_MIN, UINT16_MAX,
				error);
}

size_t
lull_ipfix_size(const struct lull_ipfix_config *config)
{
	return sizeof(struct lull_ipfix) + ipfix_default(config).message_bytes;
}

int
lull_ipfix_init(void *memory, const struct lull_ipfix_config *config, lull_ipfix_send *send,
		void *send_arg, struct lull_ipfix **created)
{
	struct lull_ipfix *ipfix = memory;

	LULL_ASSERT((uintptr_t)memory % alignof(struct lull_ipfix) == 0);
	if (lull_ipfix_config_check(config, NULL) != 0)
		return -EINVAL;
	memset(ipfix, 0, sizeof(*ipfix));
	ipfix->config = ipfix_default(config);
	ipfix->send = send;
	ipfix->send_arg = send_arg;
	ipfix->message.bytes = ipfix->bytes;
	ipfix->message.room = ipfix->config.message_bytes;
	*created = ipfix;
	return 0;
}

const struct lull_ipfix_counters *
lull_ipfix_counters(const struct lull_ipfix *ipfix)
{
	return &ipfix->counters;
}

void
lull_ipfix_restart(struct lull_ipfix *ipfix)
{
	ipfix->seq = 0;
	ipfix->records = 0;
	ipfix->options = 0;
	ipfix->templates_sent = false;
	ipfix->message.len = 0;
	ipfix->message.set_at = 0;
}

/* ---- messages ---- */

static void
ipfix_emit(struct lull_ipfix *ipfix, uint64_t time_ns, struct lull_ipfix_message *message)
{
	lull_ipfix_message_close(message, (uint32_t)(time_ns / LULL_NS_PER_S), ipfix->seq,
				 ipfix->config.domain_id);
	LULL_COUNTER_ADD(ipfix->counters.messages, 1);
	LULL_COUNTER_ADD(ipfix->counters.bytes, message->len);
	ipfix->send(ipfix->send_arg, message->bytes, message->len);
	message->len = 0;
}

static bool
ipfix_templates_due(const struct lull_ipfix *ipfix, uint64_t time_ns)
{
	if (!ipfix->templates_sent)
		return true;
	/* The clock of the day may be set back: due as well. */
	return !ipfix->config.stream && time_ns - ipfix->templates_ns >= ipfix->config.template_ns;
}

static void
ipfix_send_templates(struct lull_ipfix *ipfix, uint64_t time_ns)
{
	struct lull_ipfix_message message = { .bytes = ipfix->templates,
					      .room = sizeof(ipfix->templates) };

	lull_ipfix_put_template(&ipfix->config, &message, LULL_IPFIX_V4);
	lull_ipfix_put_template(&ipfix->config, &message, LULL_IPFIX_V6);
	lull_ipfix_put_totals_template(&ipfix->config, &message);
	if (ipfix->config.message_bytes < TEMPLATES_BYTES)
		ipfix_emit(ipfix, time_ns, &message);
	lull_ipfix_put_template(&ipfix->config, &message, LULL_IPFIX_ICMP_V4);
	lull_ipfix_put_template(&ipfix->config, &message, LULL_IPFIX_ICMP_V6);
	if (ipfix->config.interfaces != NULL)
		lull_ipfix_put_names_template(&ipfix->config, &message);
	ipfix_emit(ipfix, time_ns, &message);
	ipfix->templates_sent = true;
	ipfix->templates_ns = time_ns;
	ipfix->named = 0;
	LULL_COUNTER_ADD(ipfix->counters.templates, LULL_IPFIX_TEMPLATES_END - LULL_IPFIX_V4 -
							    (ipfix->config.interfaces == NULL));
}

/* ---- names of interfaces ---- */

/* Cut where a character ends. */
static void
ipfix_put_text(struct lull_ipfix_message *message, const char *text)
{
	size_t len = LULL_MIN(strlen(text), (size_t)LULL_IPFIX_TEXT_MAX);

	while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	lull_ipfix_message_number(message, len, 1);
	lull_ipfix_message_bytes(message, text, (uint32_t)len);
}

static void
ipfix_emit_names(struct lull_ipfix *ipfix, uint64_t time_ns, struct lull_ipfix_message *message,
		 uint32_t count)
{
	LULL_COUNTER_ADD(ipfix->counters.records, count);
	LULL_COUNTER_ADD(ipfix->counters.options, count);
	ipfix_emit(ipfix, time_ns, message);
	ipfix->seq += count;
}

/* All of them behind templates, else those that have become known since. */
static void
ipfix_send_names(struct lull_ipfix *ipfix, uint64_t time_ns)
{
	const struct lull_ipfix_config *config = &ipfix->config;
	struct lull_ipfix_message message = {
		.bytes = ipfix->templates,
		.room = LULL_MIN(config->message_bytes, (uint32_t)sizeof(ipfix->templates)),
	};
	struct lull_ipfix_interface interface;
	uint32_t count = 0;

	while (config->interfaces != NULL &&
	       config->interfaces(config->interfaces_arg, ipfix->named, &interface)) {
		if (!lull_ipfix_message_fits(&message, LULL_IPFIX_NAMES, RECORD_BYTES_MAX)) {
			ipfix_emit_names(ipfix, time_ns, &message, count);
			count = 0;
		}
		lull_ipfix_message_set(&message, LULL_IPFIX_NAMES);
		lull_ipfix_message_number(&message, interface.number, 4);
		ipfix_put_text(&message, interface.name);
		ipfix_put_text(&message, interface.description);
		ipfix->named++;
		count++;
	}
	if (count > 0)
		ipfix_emit_names(ipfix, time_ns, &message, count);
}

void
lull_ipfix_flush(struct lull_ipfix *ipfix, uint64_t time_ns)
{
	uint32_t records = ipfix->records, options = ipfix->options;

	if (records == 0)
		return;
	if (ipfix_templates_due(ipfix, time_ns))
		ipfix_send_templates(ipfix, time_ns);
	ipfix_send_names(ipfix, time_ns);
	LULL_COUNTER_ADD(ipfix->counters.records, records);
	LULL_COUNTER_ADD(ipfix->counters.options, options);
	ipfix->records = 0;
	ipfix->options = 0;
	ipfix_emit(ipfix, time_ns, &ipfix->message);
	ipfix->seq += records;
}

/* ---- records ---- */

static unsigned int
ipfix_end_reason(const struct lull_flow_record *record)
{
	switch (record->end) {
	case LULL_FLOW_END_IDLE:
		return 1;
	case LULL_FLOW_END_ACTIVE:
		return 2;
	case LULL_FLOW_END_CLOSED:
		return 3; /* end of flow detected */
	case LULL_FLOW_END_EVICTED:
		return 5; /* lack of resources */
	default:
		return 4; /* forced end */
	}
}

static void
ipfix_put_app(const struct lull_ipfix *ipfix, struct lull_ipfix_message *message,
	      const struct lull_flow_record *record)
{
	char name[APP_BYTES] = "";
	const char *app = ipfix->config.app(ipfix->config.app_arg, record->app, record->app_master,
					    name, sizeof(name));
	size_t len = strlen(app);

	LULL_ASSERT(len < APP_BYTES);
	lull_ipfix_message_number(message, len, 1);
	lull_ipfix_message_bytes(message, app, (uint32_t)len);
}

/* layer2SegmentId: 1 in the first byte says VXLAN, 0 none of those it knows; then the number. */
static uint64_t
ipfix_segment(const struct lull_flow_key *key)
{
	return (uint64_t)(key->tunnel == LULL_FLOW_TUNNEL_VXLAN) << 56 | key->tunnel_id;
}

/* 1 / 2^sampling as a double of IEEE 754: the exponent alone tells it. */
static uint64_t
ipfix_probability(const struct lull_flow_record *record)
{
	return (1023ull - record->sampling) << 52;
}

static uint64_t
ipfix_number(const struct lull_flow_record *record, enum lull_ipfix_value value)
{
	unsigned int there = record->first_direction, back = 1 - there;

	switch (value) {
	case LULL_IPFIX_FIRST_MS:
		return record->first_ns / LULL_NS_PER_MS;
	case LULL_IPFIX_LAST_MS:
		return record->last_ns / LULL_NS_PER_MS;
	case LULL_IPFIX_SOURCE_PORT:
		return record->key.port[there];
	case LULL_IPFIX_DESTINATION_PORT:
		return record->key.port[back];
	case LULL_IPFIX_PROTO:
		return record->key.proto;
	case LULL_IPFIX_END_REASON:
		return ipfix_end_reason(record);
	case LULL_IPFIX_INITIATOR:
		return INITIATOR;
	case LULL_IPFIX_VLAN:
		return record->key.vlan_id;
	case LULL_IPFIX_ICMP:
		return (uint64_t)record->icmp_type << 8 | record->icmp_code;
	case LULL_IPFIX_SEGMENT:
		return ipfix_segment(&record->key);
	case LULL_IPFIX_INTERFACE:
		return record->key.interface;
	case LULL_IPFIX_BYTES:
		return record->bytes[there];
	case LULL_IPFIX_PACKETS:
		return record->packets[there];
	case LULL_IPFIX_TCP_FLAGS:
		return record->tcp_flags[there];
	case LULL_IPFIX_BYTES_BACK:
		return record->bytes[back];
	case LULL_IPFIX_PACKETS_BACK:
		return record->packets[back];
	case LULL_IPFIX_TCP_FLAGS_BACK:
		return record->tcp_flags[back];
	case LULL_IPFIX_WORKERS:
		return record->workers;
	case LULL_IPFIX_MOVES:
		return record->moves;
	case LULL_IPFIX_REORDERED:
		return record->reordered;
	case LULL_IPFIX_PROBABILITY:
		return ipfix_probability(record);
	default:
		LULL_ASSERT(value == LULL_IPFIX_EXACT);
		return record->exact;
	}
}

static void
ipfix_put_field(const struct lull_ipfix *ipfix, struct lull_ipfix_message *message,
		const struct lull_ipfix_field *field, const struct lull_flow_record *record)
{
	unsigned int there = record->first_direction;

	if (field->value == LULL_IPFIX_APP)
		ipfix_put_app(ipfix, message, record);
	else if (field->value == LULL_IPFIX_POINT)
		lull_ipfix_message_number(message, ipfix->config.observation_point, field->bytes);
	else if (field->value == LULL_IPFIX_SOURCE)
		lull_ipfix_message_bytes(message, record->key.addr[there], field->bytes);
	else if (field->value == LULL_IPFIX_DESTINATION)
		lull_ipfix_message_bytes(message, record->key.addr[1 - there], field->bytes);
	else
		lull_ipfix_message_number(message, ipfix_number(record, field->value),
					  field->bytes);
}

/* A place for a record of this template, after sending what is full. */
static struct lull_ipfix_message *
ipfix_begin(struct lull_ipfix *ipfix, uint64_t time_ns, enum lull_ipfix_template id)
{
	if (!lull_ipfix_message_fits(&ipfix->message, (uint16_t)id, RECORD_BYTES_MAX))
		lull_ipfix_flush(ipfix, time_ns);
	lull_ipfix_message_set(&ipfix->message, (uint16_t)id);
	ipfix->records++;
	return &ipfix->message;
}

void
lull_ipfix_add(struct lull_ipfix *ipfix, uint64_t time_ns, const struct lull_flow_record *record)
{
	enum lull_ipfix_template id = lull_ipfix_template_of(record);
	struct lull_ipfix_message *message = ipfix_begin(ipfix, time_ns, id);
	const struct lull_ipfix_field *field;
	uint32_t before = message->len;

	for (field = lull_ipfix_fields; field->bytes != 0; field++) {
		if (lull_ipfix_field_in(field, id, &ipfix->config))
			ipfix_put_field(ipfix, message, field, record);
	}
	LULL_ASSERT(message->len - before <= RECORD_BYTES_MAX);
}

static uint64_t
totals_member(const struct lull_encode_totals *totals, const struct lull_counter_info *info)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)totals + info->offset, sizeof(value));
	return value;
}

void
lull_ipfix_totals(struct lull_ipfix *ipfix, uint64_t time_ns,
		  const struct lull_encode_totals *totals)
{
	const struct lull_ipfix_counters *counters = &ipfix->counters;
	struct lull_ipfix_message *message;
	uint64_t values[LULL_IPFIX_TOTAL_COUNT];
	uint32_t before;

	lull_ipfix_flush(ipfix, time_ns); /* so that the counters of the exporter are complete */
	values[LULL_IPFIX_TOTAL_RX] = totals->rx;
	values[LULL_IPFIX_TOTAL_DROPPED] =
		totals->drop_ring + totals->missed + totals->nombuf + totals->errors;
	values[LULL_IPFIX_TOTAL_FLOWS] = totals->records;
	values[LULL_IPFIX_TOTAL_MESSAGES] = counters->messages;
	values[LULL_IPFIX_TOTAL_RECORDS] = counters->records - counters->options;
	values[LULL_IPFIX_TOTAL_BYTES] = counters->bytes;
	message = ipfix_begin(ipfix, time_ns, LULL_IPFIX_TOTALS);
	before = message->len;
	lull_ipfix_message_number(message, ipfix->config.domain_id, 4);
	for (unsigned int i = 0; i < LULL_IPFIX_TOTAL_COUNT; i++)
		lull_ipfix_message_number(message, values[i], 8);
	for (unsigned int i = 0; lull_encode_totals_table[i].name != NULL; i++)
		lull_ipfix_message_number(message,
					  totals_member(totals, &lull_encode_totals_table[i]), 8);
	LULL_ASSERT(message->len - before <= RECORD_BYTES_MAX);
	ipfix->options++;
	lull_ipfix_flush(ipfix, time_ns);
}
