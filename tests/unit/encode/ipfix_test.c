/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads messages with a decoder of its own, written from RFC 7011 and not from the encoder. */
#include <stdalign.h>
#include <string.h>

#include <lull/encode.h>

#include "case.h"
#include "base/reader.h"

#define PEN_REVERSE 29305
#define PEN_OWN 32473
#define FIELDS_MAX 40
#define TEMPLATES_MAX 5
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

static struct form *
collector_form(struct collector *collector, uint16_t id)
{
	for (uint32_t i = 0; i < collector->form_count; i++) {
		if (collector->forms[i].id == id)
			return &collector->forms[i];
	}
	return NULL;
}

static void
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

static void
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

static void
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

static void
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

static const struct value *
value_of(const struct collector *collector, uint32_t owner, uint16_t element)
{
	for (uint16_t i = 0; i < collector->form.count; i++) {
		if (collector->form.fields[i].element == element &&
		    collector->form.fields[i].owner == owner)
			return &collector->values[i];
	}
	return NULL;
}

static uint64_t
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

static void
stand_open(struct stand *stand, const struct lull_ipfix_config *config)
{
	memset(stand, 0, sizeof(*stand));
	assert_in_range(lull_ipfix_size(config), 1, sizeof(stand->memory));
	assert_int_equal(
		lull_ipfix_init(stand->memory, config, collect, &stand->collector, &stand->ipfix),
		0);
}

static struct lull_flow_record
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

static const char *
app_name(void *arg, uint16_t app, uint16_t app_master, char *text, size_t size)
{
	(void)arg, (void)app_master;
	assert_in_range(size, 8, 255);
	memcpy(text, "DNS", 4);
	return app == 0 ? "" : text;
}

static void
assert_direction(const struct collector *collector, const struct lull_flow_record *record,
		 unsigned int there)
{
	unsigned int back = 1 - there;
	bool v4 = record->key.version == 4;
	const struct value *source = value_of(collector, 0, v4 ? 8 : 27);
	const struct value *destination = value_of(collector, 0, v4 ? 12 : 28);

	assert_int_equal(source->len, v4 ? 4 : 16);
	assert_memory_equal(source->bytes, record->key.addr[there], source->len);
	assert_int_equal(destination->len, v4 ? 4 : 16);
	assert_memory_equal(destination->bytes, record->key.addr[back], destination->len);
	assert_int_equal(number_of(collector, 0, 7), record->key.port[there]);
	assert_int_equal(number_of(collector, 0, 11), record->key.port[back]);
	assert_int_equal(number_of(collector, 0, 1), record->bytes[there]);
	assert_int_equal(number_of(collector, 0, 2), record->packets[there]);
	assert_int_equal(number_of(collector, 0, 6), record->tcp_flags[there]);
	assert_int_equal(number_of(collector, PEN_REVERSE, 1), record->bytes[back]);
	assert_int_equal(number_of(collector, PEN_REVERSE, 2), record->packets[back]);
	assert_int_equal(number_of(collector, PEN_REVERSE, 6), record->tcp_flags[back]);
}

TEST(add__biflows_of_both_families_and_directions)
{
	static struct stand stand;
	struct lull_ipfix_config config = { 0 };

	stand_open(&stand, &config);
	for (unsigned int i = 0; i < 4; i++) {
		struct lull_flow_record record = record_make(i < 2 ? 4 : 6, i % 2);

		record.key.addr[0][15] = 7;
		lull_ipfix_add(stand.ipfix, TIME_NS, &record);
		lull_ipfix_flush(stand.ipfix, TIME_NS);
		assert_int_equal(stand.collector.records, i + 1);
		assert_int_equal(stand.collector.ids[i], i < 2 ? 256 : 257);
		assert_direction(&stand.collector, &record, i % 2);
		assert_int_equal(number_of(&stand.collector, 0, 152), 1700000000999);
		assert_int_equal(number_of(&stand.collector, 0, 153), 1700000001000);
		assert_int_equal(number_of(&stand.collector, 0, 4), 17);
		assert_int_equal(number_of(&stand.collector, 0, 58), 4094);
		assert_int_equal(number_of(&stand.collector, 0, 239), 1);
		assert_null(value_of(&stand.collector, 0, 96));
		assert_null(value_of(&stand.collector, PEN_OWN, 1));
	}
	assert_int_equal(stand.collector.seq_errors, 0);
	assert_int_equal(stand.collector.domain_id, 1);
	assert_int_equal(stand.collector.time_s, 1700000000);
}

TEST(add__end_reasons)
{
	static const struct {
		enum lull_flow_end end;
		unsigned int reason;
	} cases[] = {
		{ LULL_FLOW_END_IDLE, 1 },    { LULL_FLOW_END_ACTIVE, 2 },
		{ LULL_FLOW_END_CLOSED, 3 },  { LULL_FLOW_END_FLUSH, 4 },
		{ LULL_FLOW_END_EVICTED, 5 },
	};
	static struct stand stand;
	struct lull_ipfix_config config = { 0 };

	stand_open(&stand, &config);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lull_flow_record record = record_make(4, 0);

		record.end = (uint8_t)cases[i].end;
		lull_ipfix_add(stand.ipfix, TIME_NS, &record);
		lull_ipfix_flush(stand.ipfix, TIME_NS);
		assert_int_equal(number_of(&stand.collector, 0, 136), cases[i].reason);
	}
}

/* nfcapd takes element 32 for the destination port, also of SCTP: it stands with ICMP alone. */
TEST(add__type_and_code_of_icmp_only)
{
	static const struct {
		uint8_t version, proto;
		uint16_t id, element;
	} cases[] = {
		{ 4, LULL_FLOW_PROTO_ICMP, 259, 32 },
		{ 6, LULL_FLOW_PROTO_ICMP6, 260, 139 },
		{ 4, 132, 256, 0 },
		{ 6, 132, 257, 0 },
		{ 4, LULL_FLOW_PROTO_ICMP6, 256, 0 },
		{ 6, LULL_FLOW_PROTO_ICMP, 257, 0 },
	};
	static struct stand stand;
	struct lull_ipfix_config config = { 0 };

	stand_open(&stand, &config);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lull_flow_record record = record_make(cases[i].version, 0);
		uint16_t element = cases[i].element;

		record.key.proto = cases[i].proto;
		record.icmp_type = 3;
		record.icmp_code = 4;
		lull_ipfix_add(stand.ipfix, TIME_NS, &record);
		lull_ipfix_flush(stand.ipfix, TIME_NS);
		assert_int_equal(stand.collector.ids[i], cases[i].id);
		assert_direction(&stand.collector, &record, 0);
		if (element != 0)
			assert_int_equal(number_of(&stand.collector, 0, element), 0x304);
		assert_true(element == 32 || value_of(&stand.collector, 0, 32) == NULL);
		assert_true(element == 139 || value_of(&stand.collector, 0, 139) == NULL);
	}
	assert_int_equal(stand.collector.seq_errors, 0);
}

TEST(add__names_and_facts_on_request)
{
	static struct stand stand;
	struct lull_ipfix_config config = {
		.app = app_name, .facts = true, .domain_id = 77, .observation_point = 0x80000001
	};
	struct lull_flow_record record = record_make(6, 0);
	const struct value *name;

	stand_open(&stand, &config);
	lull_ipfix_add(stand.ipfix, TIME_NS, &record);
	lull_ipfix_flush(stand.ipfix, TIME_NS);
	name = value_of(&stand.collector, 0, 96);
	assert_int_equal(name->len, 3);
	assert_memory_equal(name->bytes, "DNS", 3);
	assert_int_equal(number_of(&stand.collector, PEN_OWN, 1), 5);
	assert_int_equal(number_of(&stand.collector, PEN_OWN, 2), 6);
	assert_int_equal(number_of(&stand.collector, PEN_OWN, 3), 7);
	assert_int_equal(number_of(&stand.collector, PEN_OWN, 4), 1);
	assert_int_equal(stand.collector.domain_id, 77);
	assert_int_equal(number_of(&stand.collector, 0, 138), 0x80000001);
	record.app = 0;
	lull_ipfix_add(stand.ipfix, TIME_NS, &record);
	lull_ipfix_flush(stand.ipfix, TIME_NS);
	assert_int_equal(value_of(&stand.collector, 0, 96)->len, 0);
}

/* Many records of both families in turn: messages of bounded length, no gap in the numbers. */
TEST(add__messages_are_bounded)
{
	static const uint32_t bounds[] = { 512, 1420, 65535 };
	static struct stand stand;

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		struct lull_ipfix_config config = { .app = app_name,
						    .facts = true,
						    .segment = true,
						    .interface = true,
						    .observation_point = 9,
						    .message_bytes = bounds[i] };

		stand_open(&stand, &config);
		for (unsigned int n = 0; n < FLOWS_MAX; n++) {
			struct lull_flow_record record = record_make(n % 5 < 3 ? 4 : 6, 0);

			record.app = n % 7 != 0;
			lull_ipfix_add(stand.ipfix, TIME_NS, &record);
		}
		lull_ipfix_flush(stand.ipfix, TIME_NS);
		assert_int_equal(stand.collector.records, FLOWS_MAX);
		for (unsigned int n = 0; n < FLOWS_MAX; n++)
			assert_int_equal(stand.collector.ids[n], n % 5 < 3 ? 256 : 257);
		assert_int_equal(stand.collector.seq_errors, 0);
		assert_in_range(stand.collector.longest, bounds[i] / 2, bounds[i]);
		assert_int_equal(lull_ipfix_counters(stand.ipfix)->records, FLOWS_MAX);
		assert_int_equal(lull_ipfix_counters(stand.ipfix)->messages,
				 stand.collector.messages);
	}
}

TEST(totals__are_an_options_record)
{
	static struct stand stand;
	struct lull_ipfix_config config = { .domain_id = 3 };
	struct lull_encode_totals totals;
	struct lull_flow_record record = record_make(4, 0);
	uint64_t *members = (uint64_t *)&totals;
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(totals) / sizeof(*members); i++)
		members[i] = 1ULL << i;
	stand_open(&stand, &config);
	lull_ipfix_totals(stand.ipfix, TIME_NS, &totals);
	assert_int_equal(stand.collector.records, 1);
	lull_ipfix_add(stand.ipfix, TIME_NS, &record);
	lull_ipfix_flush(stand.ipfix, TIME_NS);
	lull_ipfix_add(stand.ipfix, TIME_NS, &record);
	lull_ipfix_totals(stand.ipfix, TIME_NS, &totals);
	/* Behind the record that was begun; data records of both kinds are numbered. */
	assert_int_equal(stand.collector.ids[2], 256);
	assert_int_equal(stand.collector.ids[3], 258);
	assert_int_equal(stand.collector.seq_errors, 0);
	assert_int_equal(stand.collector.form.scopes, 1);
	assert_int_equal(stand.collector.form.fields[0].element, 149);
	assert_int_equal(number_of(&stand.collector, 0, 149), 3);
	assert_int_equal(number_of(&stand.collector, 0, 86), totals.rx);
	assert_int_equal(number_of(&stand.collector, 0, 135),
			 totals.drop_ring + totals.missed + totals.nombuf + totals.errors);
	assert_int_equal(number_of(&stand.collector, 0, 163), totals.records);
	assert_int_equal(number_of(&stand.collector, 0, 42), 2);
	assert_int_equal(number_of(&stand.collector, 0, 41), stand.collector.messages - 1);
	bytes = lull_ipfix_counters(stand.ipfix)->bytes;
	assert_in_range(number_of(&stand.collector, 0, 40), 1, bytes - 1);
	for (uint16_t i = 0; i < sizeof(totals) / sizeof(*members); i++)
		assert_int_equal(number_of(&stand.collector, PEN_OWN, (uint16_t)(64 + i)),
				 1ULL << i);
	assert_null(value_of(&stand.collector, PEN_OWN,
			     (uint16_t)(64 + sizeof(totals) / sizeof(*members))));
	assert_int_equal(lull_ipfix_counters(stand.ipfix)->options, 2);
}

static uint32_t
templates_after(struct stand *stand, uint64_t time_ns)
{
	struct lull_flow_record record = record_make(4, 0);
	uint32_t before = stand->collector.templates;

	lull_ipfix_add(stand->ipfix, time_ns, &record);
	lull_ipfix_flush(stand->ipfix, time_ns);
	assert_int_equal(stand->collector.seq_errors, 0);
	return stand->collector.templates - before;
}

TEST(templates__again_after_their_time)
{
	static struct stand stand;
	struct lull_ipfix_config config = { .template_ns = 10 * LULL_NS_PER_S };

	stand_open(&stand, &config);
	assert_int_equal(templates_after(&stand, TIME_NS), 5);
	assert_int_equal(templates_after(&stand, TIME_NS + 1), 0);
	assert_int_equal(templates_after(&stand, TIME_NS + 10 * LULL_NS_PER_S - 1), 0);
	assert_int_equal(templates_after(&stand, TIME_NS + 10 * LULL_NS_PER_S), 5);
	assert_int_equal(templates_after(&stand, TIME_NS + 19 * LULL_NS_PER_S), 0);
	assert_int_equal(templates_after(&stand, TIME_NS), 5); /* the clock was set back */
}

TEST(templates__once_on_a_stream_and_after_restart)
{
	static struct stand stand;
	struct lull_ipfix_config config = { .template_ns = LULL_NS_PER_S, .stream = true };
	struct lull_flow_record record = record_make(4, 0);
	uint32_t records;

	stand_open(&stand, &config);
	assert_int_equal(templates_after(&stand, TIME_NS), 5);
	assert_int_equal(templates_after(&stand, TIME_NS + LULL_NS_PER_S * 3600), 0);
	lull_ipfix_add(stand.ipfix, TIME_NS, &record); /* begun, then forgotten */
	records = stand.collector.records;
	lull_ipfix_restart(stand.ipfix);
	lull_ipfix_flush(stand.ipfix, TIME_NS);
	assert_int_equal(stand.collector.records, records);
	stand.collector.seq = 0;
	stand.collector.form_count = 0;
	assert_int_equal(templates_after(&stand, TIME_NS), 5);
	assert_int_equal(stand.collector.records, records + 1);
}

TEST(config_check__message_bytes)
{
	static const uint32_t wrong[] = { 1, 511, 65536 };
	struct lull_ipfix_config config = { 0 };
	struct lull_range error;

	assert_int_equal(lull_ipfix_config_check(&config, &error), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		config.message_bytes = wrong[i];
		assert_int_not_equal(lull_ipfix_config_check(&config, NULL), 0);
		assert_int_not_equal(lull_ipfix_config_check(&config, &error), 0);
		assert_string_equal(error.field, "message_bytes");
		assert_int_equal(error.value, wrong[i]);
	}
}
