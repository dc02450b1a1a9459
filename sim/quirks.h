/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Quirks: what cores and NICs do besides their usual costs.
 *
 * A core is slower right after a rest, and for good when its clock or its program changes. A NIC
 * keeps interrupts apart, an idle core takes longer to leave a deep state, and some drivers tell
 * only now and then what was lost. Zeros: nothing of that.
 * Threads: plain data.
 */
#ifndef LULL_SIM_QUIRKS_H
#define LULL_SIM_QUIRKS_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"

struct lull_sim_quirks {
	uint32_t cold_pct;          /**< cost of bursts right after a rest, of the usual; 0: 100 */
	uint64_t change_ns;         /**< from then on bursts cost ... */
	uint32_t change_pct;        /**< ... so much of the usual; 0: nothing changes */
	uint64_t gap_ns;            /**< an interrupt comes no sooner after the one before */
	struct lull_sim_curve exit; /**< what waking takes besides, by length of the rest in ns */
	uint64_t lag_ns; /**< lost packets are counted at multiples of this only; 0: at once */
};

/** What a burst takes that usually takes @p ns. */
static inline uint64_t
lull_sim_quirks_burst_ns(const struct lull_sim_quirks *quirks, uint64_t now_ns, bool cold,
			 uint64_t ns)
{
	if (cold && quirks->cold_pct > 0)
		ns = ns * quirks->cold_pct / 100;
	if (quirks->change_pct > 0 && now_ns >= quirks->change_ns)
		ns = ns * quirks->change_pct / 100;
	return ns;
}

#endif
