/* SPDX-License-Identifier: BSD-3-Clause */
#include "receiver.h"

#define ROWS_LATE_NS (100 * LULL_NS_PER_US)
#define ROWS_STEP 64

void
camera_rows_report(struct camera_stream *stream, uint64_t key, const uint8_t *data, uint32_t rows,
		   bool end)
{
	uint32_t step = stream->config.rows_step != 0 ? stream->config.rows_step : ROWS_STEP;
	uint64_t begin_ns;

	if (!stream->rows_begun || stream->rows_key != key) {
		/* An older frame that ends while a newer one is on its way tells nothing more. */
		if (stream->rows_begun && end && key < stream->rows_key)
			return;
		stream->rows_begun = true;
		stream->rows_key = key;
		stream->rows_reported = 0;
	}
	while (rows > stream->rows_reported && (end || rows - stream->rows_reported >= step)) {
		uint32_t count = LULL_MIN(rows - stream->rows_reported, step);

		begin_ns = lull_clock_ns();
		stream->config.rows(stream->config.rows_arg, stream->claim.index, key, data,
				    stream->rows_reported, count);
		if (lull_clock_ns() - begin_ns > ROWS_LATE_NS)
			LULL_COUNTER_ADD(stream->counters.rows_late, 1);
		stream->rows_reported += count;
	}
}
