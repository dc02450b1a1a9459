/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "dispatch/trace.h"
#include "base/reader.h"
#include "dispatch_stand.h"

struct sheet {
	uint8_t bytes[3 * LULL_TRACE_RECORD_MAX];
	size_t size;
	uint32_t calls;
};

static void
sheet_write(void *arg, const uint8_t *bytes, size_t size)
{
	struct sheet *sheet = arg;

	assert_true(sheet->size + size <= sizeof(sheet->bytes));
	memcpy(sheet->bytes + sheet->size, bytes, size);
	sheet->size += size;
	sheet->calls++;
}

/* The head as it stands in trace.h, by hand. */
TEST(trace__config)
{
	static const uint8_t expected[] = {
		'l', 'u', 'l', 'l', 'd', 's', 'p', 2,   52,   0,    0, 0, 1, /* length, kind */
		3,   'h', 'r', 'w', 3,   'j', 's', 'q', 1,    0,    0,       /* order drain */
		4,   0,   0,   0,   12,  0,   0,   0,   0,    0,    0, 0,    /* threshold */
		0,   0,   0,   0,   0,   0,   0,   0,   5,    0,    0, 0,    /* pin_pkts */
		0,   0,   0,   0,   0,   0,   0,   0,   0xef, 0xbe, 0, 0, 0, 0, 0, 0,
	};
	struct lull_dispatch_config config = stand_config("hrw");
	struct dispatch_stand stand;
	struct sheet sheet = { .size = 0 };

	config.shadow = lull_scheduler_find("jsq");
	config.order = LULL_ORDER_DRAIN;
	config.pin_pkts = 5;
	config.seed = 0xbeef;
	stand_init(&stand, &config);
	lull_dispatch_trace(stand.dispatch, sheet_write, &sheet);
	assert_int_equal(sheet.size, sizeof(expected));
	assert_memory_equal(sheet.bytes, expected, sizeof(expected));
	stand_end(&stand);
}

/* One record per call, each as long as it says; nothing more after the end. */
TEST(trace__records)
{
	static const uint8_t kinds[] = {
		LULL_TRACE_CONFIG,  LULL_TRACE_BURST_CRCS, LULL_TRACE_REFUSED,
		LULL_TRACE_DROPPED, LULL_TRACE_THRESHOLDS, LULL_TRACE_NOTE,
		LULL_TRACE_CHANGE,
	};
	struct lull_dispatch_config config = stand_config("rr-packet");
	static uint32_t digests[LULL_DISPATCH_BURST_MAX];
	struct dispatch_stand stand;
	struct sheet sheet = { .size = 0 };
	struct lull_reader reader;

	config.worker_count = LULL_DISPATCH_WORKERS_MAX;
	stand_init(&stand, &config);
	lull_dispatch_trace(stand.dispatch, sheet_write, &sheet);
	stand_burst(&stand, digests, LULL_DISPATCH_BURST_MAX);
	lull_dispatch_refused(stand.dispatch, stand.now_ns, 2, stand.loads, digests, 3,
			      stand.workers, NULL);
	lull_dispatch_dropped(stand.dispatch, 3, 1);
	lull_dispatch_thresholds(stand.dispatch, 1, 2, 1);
	lull_dispatch_note(stand.dispatch, 5, 6);
	lull_dispatch_change(stand.dispatch, config.scheduler, NULL);
	lull_dispatch_trace(stand.dispatch, NULL, NULL);
	stand_one(&stand, 4);
	assert_int_equal(sheet.calls, COUNT(kinds));
	reader = lull_reader_over(sheet.bytes, sheet.size);
	assert_memory_equal(lull_reader_bytes(&reader, 8), LULL_TRACE_MAGIC, 8);
	for (uint32_t i = 0; i < COUNT(kinds); i++) {
		uint32_t len = lull_reader_u32le(&reader);

		assert_int_equal(lull_reader_u8(&reader), kinds[i]);
		if (kinds[i] == LULL_TRACE_BURST_CRCS)
			assert_int_equal(len, 1 + 8 + 2 + 32 * 20 + 512 * 9);
		if (kinds[i] == LULL_TRACE_NOTE) {
			struct lull_reader note = reader;

			assert_int_equal(lull_reader_u32le(&note), 5);
			assert_int_equal(lull_reader_u16le(&note), 6);
		}
		lull_reader_skip(&reader, len - 1);
	}
	assert_false(reader.failed);
	assert_int_equal(lull_reader_left(&reader), 0);
	stand_end(&stand);
}

/* As traces were before they held the CRCs of keys: hrw can be replayed, crc32 cannot. */
TEST(trace__without_the_crcs_of_keys)
{
	struct lull_dispatch_config config = stand_config("hrw");
	struct lull_dispatch_replay replay;
	const uint32_t digest = 5;
	struct dispatch_stand stand;
	struct sheet sheet = { .size = 0 };

	stand_init(&stand, &config);
	lull_dispatch_trace(stand.dispatch, sheet_write, &sheet);
	lull_dispatch_burst(stand.dispatch, 1, stand.loads, &digest, NULL, 1, stand.workers, NULL);
	stand_end(&stand);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(lull_dispatch_replay_open(sheet.bytes, sheet.size, &replay), 0);
		replay.config.scheduler = lull_scheduler_find(i == 0 ? "hrw" : "crc32");
		stand_init(&stand, &replay.config);
		assert_int_equal(
			lull_dispatch_replay_run(sheet.bytes, sheet.size, stand.dispatch, &replay),
			i == 0 ? 0 : -EINVAL);
		stand_end(&stand);
	}
	assert_string_equal(replay.reason,
			    "burst without the CRC-32 of keys, which the scheduler reads");
}
