/* SPDX-License-Identifier: BSD-3-Clause */
#include "stamp.h"

#include "base/assert.h"

/* 2^32 / count: a burst costs no division. */
#define SHARE(count) (UINT32_MAX / (count))
#define SHARES4(count) SHARE(count), SHARE((count) + 1), SHARE((count) + 2), SHARE((count) + 3)
#define SHARES16(count)                                                                            \
	SHARES4(count), SHARES4((count) + 4), SHARES4((count) + 8), SHARES4((count) + 12)
#define SHARES64(count)                                                                            \
	SHARES16(count), SHARES16((count) + 16), SHARES16((count) + 32), SHARES16((count) + 48)
static const uint32_t shares[LULL_STAMP_BURST_MAX + 1] = {
	0, SHARES64(1), SHARES64(65), SHARES64(129), SHARES64(193),
};

void
lull_stamp_look(struct lull_stamp *stamp, uint64_t clock_ns, uint64_t day_ns, uint64_t looked_ns)
{
	uint64_t passed_ns = clock_ns - stamp->clock_ns, before_ns;
	int64_t apart_ns = (int64_t)(day_ns - clock_ns);
	int64_t moved_ns = apart_ns - stamp->apart_ns;

	if (!stamp->begun)
		stamp->day_ns = day_ns - LULL_MIN(day_ns, LULL_STAMP_SPAN_NS);
	else if (moved_ns > (int64_t)LULL_STAMP_STEP_NS || -moved_ns > (int64_t)LULL_STAMP_STEP_NS)
		stamp->steps++;
	before_ns = stamp->day_ns;
	stamp->day_ns = LULL_MAX(day_ns, before_ns + (stamp->begun ? passed_ns / 2 : 0));
	/* Not before what has been told already. */
	stamp->span_ns = LULL_MIN(clock_ns - looked_ns, stamp->day_ns - before_ns);
	stamp->span_ns = LULL_MIN(stamp->span_ns, LULL_STAMP_SPAN_NS);
	stamp->clock_ns = clock_ns;
	stamp->apart_ns = apart_ns;
	stamp->begun = true;
}

void
lull_stamp_burst(struct lull_stamp *stamp, uint32_t count)
{
	LULL_ASSERT_HOT(count >= 1 && count <= LULL_STAMP_BURST_MAX);
	stamp->each_ns = stamp->span_ns * shares[count] >> 32;
	stamp->first_ns = stamp->day_ns - (count - 1) * stamp->each_ns;
}
