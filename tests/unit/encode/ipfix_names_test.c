/* SPDX-License-Identifier: BSD-3-Clause */
/* Options records that name interfaces. */
#include "ipfix_collector.h"

#define NAMES 261

struct names {
	uint32_t count;
	const char *name, *description;
};

static bool
names_tell(void *arg, uint32_t index, struct lull_ipfix_interface *interface)
{
	const struct names *names = arg;

	*interface = (struct lull_ipfix_interface){ index + 1, names->name, names->description };
	return index < names->count;
}

/* Returns how many records of names came in front of a flow's. */
static uint32_t
names_before(struct stand *stand, uint64_t time_ns)
{
	struct lull_flow_record record = record_make(4, 0);
	uint32_t before = stand->collector.records, names = 0;

	lull_ipfix_add(stand->ipfix, time_ns, &record);
	lull_ipfix_flush(stand->ipfix, time_ns);
	assert_int_equal(stand->collector.ids[stand->collector.records - 1], 256);
	for (uint32_t i = before; i < stand->collector.records - 1; i++, names++)
		assert_int_equal(stand->collector.ids[i], NAMES);
	assert_int_equal(stand->collector.seq_errors, 0);
	return names;
}

static void
assert_text(const struct collector *collector, uint16_t element, const char *text)
{
	const struct value *value = value_of(collector, 0, element);

	assert_non_null(value);
	assert_int_equal(value->len, strlen(text));
	if (value->len > 0)
		assert_memory_equal(value->bytes, text, value->len);
}

TEST(names__number_name_and_description)
{
	static struct stand stand;
	struct names names = { 2, "eth0", "" };
	struct lull_ipfix_config config = { .interfaces = names_tell, .interfaces_arg = &names };
	struct lull_encode_totals totals = { 0 };

	stand_open(&stand, &config);
	assert_int_equal(names_before(&stand, TIME_NS), 2);
	assert_int_equal(stand.collector.templates, 6);
	/* One that becomes known later; totals alone bring it too, and come behind it. */
	names = (struct names){ 3, "uplink", "to the router" };
	lull_ipfix_totals(stand.ipfix, TIME_NS, &totals);
	assert_int_equal(stand.collector.ids[3], NAMES);
	assert_int_equal(stand.collector.ids[4], 258);
	assert_int_equal(stand.collector.seq_errors, 0);
	names.count = 4;
	lull_ipfix_totals(stand.ipfix, TIME_NS, &totals);
	assert_int_equal(lull_ipfix_counters(stand.ipfix)->options, 6);
	assert_int_equal(lull_ipfix_counters(stand.ipfix)->records, 7);
	assert_int_equal(lull_ipfix_counters(stand.ipfix)->templates, 6);
}

static void
collect_name(void *arg, const uint8_t *bytes, size_t len)
{
	struct collector *collector = arg;

	if (collector->records == 0)
		collect(collector, bytes, len);
}

TEST(names__scope_and_texts)
{
	static const struct {
		const char *name, *description;
		uint32_t kept;
	} cases[] = {
		{ "eth0", "to the router", 4 },
		{ "\303\244", "", 2 },
		/* Too long: cut, between characters. */
		{ "0123456789012345678901234567890123456789012345678901234567890123456789"
		  "01234567890123456789012345\303\244",
		  "", 96 },
		{ "0123456789012345678901234567890123456789012345678901234567890123456789"
		  "0123456789012345678901234\303\244",
		  "", 95 },
	};
	static struct stand stand;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct names names = { 1, cases[i].name, cases[i].description };
		struct lull_ipfix_config config = { .interfaces = names_tell,
						    .interfaces_arg = &names };
		struct lull_flow_record record = record_make(4, 0);
		char kept[128] = "";

		memset(&stand, 0, sizeof(stand));
		assert_int_equal(lull_ipfix_init(stand.memory, &config, collect_name,
						 &stand.collector, &stand.ipfix),
				 0);
		lull_ipfix_add(stand.ipfix, TIME_NS, &record);
		lull_ipfix_flush(stand.ipfix, TIME_NS);
		assert_int_equal(stand.collector.form.id, NAMES);
		assert_int_equal(stand.collector.form.scopes, 1);
		assert_int_equal(stand.collector.form.fields[0].element, 10);
		assert_int_equal(number_of(&stand.collector, 0, 10), 1);
		memcpy(kept, cases[i].name, cases[i].kept);
		assert_text(&stand.collector, 82, kept);
		assert_text(&stand.collector, 83, cases[i].description);
	}
}

TEST(names__again_with_templates)
{
	static struct stand stand;
	struct names names = { 3, "eth", "x" };
	struct lull_ipfix_config config = { .interfaces = names_tell,
					    .interfaces_arg = &names,
					    .template_ns = 10 * LULL_NS_PER_S };

	stand_open(&stand, &config);
	assert_int_equal(names_before(&stand, TIME_NS), 3);
	assert_int_equal(names_before(&stand, TIME_NS + 10 * LULL_NS_PER_S - 1), 0);
	assert_int_equal(names_before(&stand, TIME_NS + 10 * LULL_NS_PER_S), 3);
	lull_ipfix_restart(stand.ipfix);
	stand.collector.seq = 0;
	assert_int_equal(names_before(&stand, TIME_NS + 10 * LULL_NS_PER_S), 3);
}

/* As many as a capture may have, in messages of bounded length. */
TEST(names__any_number)
{
	static const uint32_t bounds[] = { 512, 1420, 65535 };
	static struct stand stand;
	struct names names = { FLOWS_MAX - 1, "0123456789012345678901234567890123456789", "it" };

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		struct lull_ipfix_config config = { .interfaces = names_tell,
						    .interfaces_arg = &names,
						    .app = app_name,
						    .facts = true,
						    .segment = true,
						    .interface = true,
						    .observation_point = 9,
						    .sampling = true,
						    .message_bytes = bounds[i] };

		stand_open(&stand, &config);
		assert_int_equal(names_before(&stand, TIME_NS), names.count);
		assert_in_range(stand.collector.longest, 1, bounds[i]);
		assert_int_equal(lull_ipfix_counters(stand.ipfix)->messages,
				 stand.collector.messages);
	}
}

TEST(names__none_without_interfaces)
{
	static struct stand stand;
	struct lull_ipfix_config config = { .interface = true };

	stand_open(&stand, &config);
	assert_int_equal(names_before(&stand, TIME_NS), 0);
	assert_int_equal(stand.collector.templates, 5);
}
