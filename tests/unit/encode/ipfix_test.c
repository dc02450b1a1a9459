/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipfix_collector.h"

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
	struct lull_ipfix_config config = { .app = app_name,
					    .facts = true,
					    .sampling = true,
					    .domain_id = 77,
					    .observation_point = 0x80000001 };
	struct lull_flow_record record = record_make(6, 0);
	const struct value *name;
	double probability = 1.0 / 1024;

	stand_open(&stand, &config);
	record.sampling = 10;
	lull_ipfix_add(stand.ipfix, TIME_NS, &record);
	lull_ipfix_flush(stand.ipfix, TIME_NS);
	name = value_of(&stand.collector, 0, 96);
	assert_int_equal(name->len, 3);
	assert_memory_equal(name->bytes, "DNS", 3);
	assert_memory_equal(&(uint64_t){ number_of(&stand.collector, 0, 311) }, &probability, 8);
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
						    .sampling = true,
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
