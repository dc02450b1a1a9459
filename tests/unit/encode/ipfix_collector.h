/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * IPFIX collector: reads messages, written from RFC 7011 and not from the encoder.
 */
#ifndef LULL_TEST_IPFIX_COLLECTOR_H
#define LULL_TEST_IPFIX_COLLECTOR_H

#include <stdalign.h>
#include <string.h>

#include <lull/encode.h>

#include "case.h"
#include "base/reader.h"

#define PEN_REVERSE 29305
#define PEN_OWN 32473
#define FIELDS_MAX 40
#define TEMPLATES_MAX 6
#define FLOWS_MAX 4096
#define TIME_NS (1700000000 * LULL_NS_PER_S)

struct field {
	uint32_t owner;
	uint16_t element, bytes;
};

struct form {
	uint16_t id, scopes, count;
	struct field fields[FIELDS_MAX];
};

struct value {
	const uint8_t *bytes;
	size_t len;
};

/* The last data record, and what came so far. */
struct collector {
	struct form forms[TEMPLATES_MAX];
	uint32_t form_count, messages, records, seq, seq_errors, templates;
	uint32_t ids[FLOWS_MAX]; /* template of each record */
	uint32_t longest, time_s, domain_id;
	struct form form; /* of the last record */
	struct value values[FIELDS_MAX];
	uint8_t copy[65536]; /* of the last message */
};

static inline struct form *
collector_form(struct collector *collector, uint16_t id)
{
	for (uint32_t i = 0; i < collector->form_count; i++) {
		if (collector->forms[i].id == id)
			return &collector->forms[i];
	}
	return NULL;
}

static inline void
collect_templates(struct collector *collector, struct lull_reader *set, bool options)
{
	while (lull_reader_left(set) >= 4) {
		struct form form = { .id = lull_reader_u16be(set) };
		struct form *known = collector_form(collector, form.id);

		form.count = lull_reader_u16be(set);
		form.scopes = options ? lull_reader_u16be(set) : 0;
		assert_in_range(form.count, 1, FIELDS_MAX);
		for (uint16_t i = 0; i < form.count; i++) {
			struct field *field = &form.fields[i];

			field->element = lull_reader_u16be(set);
			field->bytes = lull_reader_u16be(set);
			field->owner = (field->element & 0x8000) != 0 ? lull_reader_u32be(set) : 0;
			field->element &= 0x7fff;
		}
		assert_false(set->failed);
		if (known != NULL) {
			assert_memory_equal(known, &form, sizeof(form));
		} else {
			assert_in_range(collector->form_count, 0, TEMPLATES_MAX - 1);
			collector->forms[collector->form_count++] = form;
		}
		collector->templates++;
	}
}

static inline void
collect_record(struct collector *collector, struct lull_reader *set, const struct form *form)
{
	for (uint16_t i = 0; i < form->count; i++) {
		size_t len = form->fields[i].bytes;

		if (len == 65535)
			len = lull_reader_u8(set);
		assert_in_range(len, 0, 254);
		collector->values[i].len = len;
		collector->values[i].bytes = len == 0 ? NULL : lull_reader_bytes(set, len);
	}
	assert_false(set->failed);
	collector->form = *form;
	assert_in_range(collector->records, 0, FLOWS_MAX - 1);
	collector->ids[collector->records++] = form->id;
}

static inline void
collect_set(struct collector *collector, struct lull_reader *message)
{
	uint16_t id = lull_reader_u16be(message), len = lull_reader_u16be(message);
	struct lull_reader set;
	const struct form *form;

	assert_in_range(len, 5, lull_reader_left(message) + 4);
	assert_int_equal(len % 4, 0);
	set = lull_reader_over(lull_reader_bytes(message, len - 4u), len - 4u);
	if (id == 2 || id == 3) {
		collect_templates(collector, &set, id == 3);
		return;
	}
	form = collector_form(collector, id);
	assert_non_null(form); /* templates come first */
	while (lull_reader_left(&set) > 3)
		collect_record(collector, &set, form);
	while (lull_reader_left(&set) > 0)
		assert_int_equal(lull_reader_u8(&set), 0);
}

static inline void
collect(void *arg, const uint8_t *bytes, size_t len)
{
	struct collector *collector = arg;
	struct lull_reader message = lull_reader_over(collector->copy, len);
	uint32_t before = collector->records, seq;

	memcpy(collector->copy, bytes, len);
	assert_int_equal(lull_reader_u16be(&message), 10);
	assert_int_equal(lull_reader_u16be(&message), len);
	collector->time_s = lull_reader_u32be(&message);
	seq = lull_reader_u32be(&message);
	collector->seq_errors += seq != collector->seq;
	collector->domain_id = lull_reader_u32be(&message);
	while (lull_reader_left(&message) > 0)
		collect_set(collector, &message);
	collector->seq = seq + collector->records - before;
	collector->messages++;
	if (len > collector->longest)
		collector->longest = (uint32_t)len;
}

static inline const struct value *
value_of(const struct collector *collector, uint32_t owner, uint16_t element)
{
	for (uint16_t i = 0; i < collector->form.count; i++) {
		if (collector->form.fields[i].element == element &&
		    collector->form.fields[i].owner == owner)
			return &collector->values[i];
	}
	return NULL;
}

static inline uint64_t
number_of(const struct collector *collector, uint32_t owner, uint16_t element)
{
	const struct value *value = value_of(collector, owner, element);
	uint64_t number = 0;

	assert_non_null(value);
	assert_in_range(value->len, 1, 8);
	for (size_t i = 0; i < value->len; i++)
		number = number << 8 | value->bytes[i];
	return number;
}

/* ---- an exporter that speaks to a collector ---- */

struct stand {
	alignas(LULL_CACHE_LINE) uint8_t memory[70000];
	struct lull_ipfix *ipfix;
	struct collector collector;
};

static inline void
stand_open(struct stand *stand, const struct lull_ipfix_config *config)
{
	memset(stand, 0, sizeof(*stand));
	assert_in_range(lull_ipfix_size(config), 1, sizeof(stand->memory));
	assert_int_equal(
		lull_ipfix_init(stand->memory, config, collect, &stand->collector, &stand->ipfix),
		0);
}

static inline struct lull_flow_record
record_make(uint8_t version, uint8_t first_direction)
{
	return (struct lull_flow_record){
		.key = { .addr = { { 10, 0, 0, 1 }, { 10, 0, 0, 2 } },
			 .port = { 53, 40000 },
			 .vlan_id = 4094,
			 .version = version,
			 .proto = 17 },
		.packets = { 1, 2 },
		.bytes = { 0x100000001, 200 },
		.first_ns = 1700000000999999999,
		.last_ns = 1700000001000000000,
		.workers = 5,
		.moves = 6,
		.reordered = 7,
		.app = 5,
		.tcp_flags = { 0x11, 0xc2 },
		.first_direction = first_direction,
		.end = LULL_FLOW_END_IDLE,
		.exact = 1,
	};
}

static inline const char *
app_name(void *arg, uint16_t app, uint16_t app_master, char *text, size_t size)
{
	(void)arg, (void)app_master;
	assert_in_range(size, 8, 255);
	memcpy(text, "DNS", 4);
	return app == 0 ? "" : text;
}

#endif
