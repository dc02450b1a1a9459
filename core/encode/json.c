/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/encode.h>

#include <assert.h>
#include <string.h>

#include "address.h"
#include "base/assert.h"

/* Longest name of a protocol that is asked for, with its zero. */
#define APP_BYTES 64
/* All member names and punctuation stay below this; the rest is counted below. */
#define MEMBERS_BYTES 600
#define WORKERS_BYTES (64 * 3)
static_assert(MEMBERS_BYTES + 2 * LULL_ENCODE_ADDRESS_MAX + 23 * LULL_ENCODE_NUMBER_MAX +
			      2 * APP_BYTES + 4 * LULL_FLOW_PAYLOAD_MAX + WORKERS_BYTES <=
		      LULL_ENCODE_JSON_MAX,
	      "any record must fit");

static void
json_number(struct lull_encode_text *text, const char *name, uint64_t value)
{
	lull_encode_text_word(text, name);
	lull_encode_text_number(text, value);
}

static void
json_endpoint(struct lull_encode_text *text, const char *address_name, const char *port_name,
	      const struct lull_flow_key *key, unsigned int endpoint)
{
	lull_encode_text_word(text, address_name);
	lull_encode_text_address(text, key->version, key->addr[endpoint]);
	json_number(text, port_name, key->port[endpoint]);
}

static void
json_app(struct lull_encode_text *text, const struct lull_encode_json_config *config,
	 const struct lull_flow_record *record)
{
	char name[APP_BYTES] = "";
	const char *app = "";

	if (config->app != NULL)
		app = config->app(config->app_arg, record->app, record->app_master, name,
				  sizeof(name));
	LULL_ASSERT(strlen(app) < APP_BYTES);
	lull_encode_text_word(text, ",\"app\":");
	lull_encode_text_quoted(text, app);
}

static void
json_payload(struct lull_encode_text *text, const char *name, uint32_t payload_bytes,
	     const struct lull_flow_record *record, unsigned int direction)
{
	LULL_ASSERT(record->payload_len[direction] <= payload_bytes);
	lull_encode_text_word(text, name);
	lull_encode_text_hex(text, lull_flow_record_payload(record, payload_bytes, direction),
			     record->payload_len[direction]);
	lull_encode_text_word(text, "\"");
}

/* What only some records have. */
static void
json_more(struct lull_encode_text *text, const struct lull_encode_json_config *config,
	  const struct lull_flow_record *record)
{
	const struct lull_flow_key *key = &record->key;

	if (key->proto == LULL_FLOW_PROTO_ICMP || key->proto == LULL_FLOW_PROTO_ICMP6) {
		json_number(text, ",\"icmp_type\":", record->icmp_type);
		json_number(text, ",\"icmp_code\":", record->icmp_code);
	}
	if (key->tunnel != LULL_FLOW_TUNNEL_NONE) {
		lull_encode_text_word(text, ",\"tunnel\":");
		lull_encode_text_quoted(text, lull_flow_tunnel_name(key->tunnel));
		json_number(text, ",\"tunnel_id\":", key->tunnel_id);
	}
	if (key->labelled != 0)
		json_number(text, ",\"mpls_label\":", key->mpls_label);
	if (key->interface != 0)
		json_number(text, ",\"interface\":", key->interface);
	if (config->observation_point != 0)
		json_number(text, ",\"observation_point\":", config->observation_point);
}

static void
json_facts(struct lull_encode_text *text, const struct lull_flow_record *record)
{
	const char *before = ",\"workers\":[";

	if (record->workers == 0)
		lull_encode_text_word(text, before);
	for (unsigned int i = 0; i < 64; i++) {
		if ((record->workers >> i & 1) == 0)
			continue;
		json_number(text, before, i);
		before = ",";
	}
	json_number(text, "],\"moves\":", record->moves);
	json_number(text, ",\"reordered\":", record->reordered);
	json_number(text, ",\"fragments\":", record->fragments);
	lull_encode_text_word(text, ",\"end\":");
	lull_encode_text_quoted(text, lull_flow_end_name(record->end));
	lull_encode_text_word(text, record->exact != 0 ? ",\"exact\":true" : ",\"exact\":false");
}

size_t
lull_encode_json(const struct lull_encode_json_config *config,
		 const struct lull_flow_record *record, char *line)
{
	struct lull_encode_text text = { line };
	unsigned int there = record->first_direction, back = 1 - there;

	json_endpoint(&text, "{\"src_ip\":\"", "\",\"src_port\":", &record->key, there);
	json_endpoint(&text, ",\"dst_ip\":\"", "\",\"dst_port\":", &record->key, back);
	json_number(&text, ",\"proto\":", record->key.proto);
	json_number(&text, ",\"vlan_id\":", record->key.vlan_id);
	json_number(&text, ",\"packets\":", record->packets[there]);
	json_number(&text, ",\"bytes\":", record->bytes[there]);
	json_number(&text, ",\"packets_rev\":", record->packets[back]);
	json_number(&text, ",\"bytes_rev\":", record->bytes[back]);
	json_number(&text, ",\"first_us\":", record->first_ns / LULL_NS_PER_US);
	json_number(&text, ",\"last_us\":", record->last_ns / LULL_NS_PER_US);
	json_app(&text, config, record);
	json_number(&text, ",\"payload_bytes\":", record->payload_total[there]);
	json_number(&text, ",\"payload_bytes_rev\":", record->payload_total[back]);
	json_number(&text, ",\"tcp_flags\":", record->tcp_flags[there]);
	json_number(&text, ",\"tcp_flags_rev\":", record->tcp_flags[back]);
	lull_encode_text_word(&text, ",\"tcp_state\":");
	lull_encode_text_quoted(&text, lull_flow_tcp_state_name(lull_flow_tcp_state(record)));
	json_more(&text, config, record);
	if (config->payload_bytes > 0) {
		json_payload(&text, ",\"payload\":\"", config->payload_bytes, record, there);
		json_payload(&text, ",\"payload_rev\":\"", config->payload_bytes, record, back);
	}
	if (config->facts)
		json_facts(&text, record);
	lull_encode_text_word(&text, "}\n");
	LULL_ASSERT_HOT((size_t)(text.at - line) <= LULL_ENCODE_JSON_MAX);
	return (size_t)(text.at - line);
}
