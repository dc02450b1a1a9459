/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of ports that stamp packets, read beside our own. */
#include "stage.h"

#include "engine/dpdk/port.h"

#define LOOK_NS (100 * LULL_NS_PER_MS)
/* A reading that took longer was interrupted: the next one tells more. */
#define READ_NS_MAX (20 * LULL_NS_PER_US)

static_assert(RTE_MAX_ETHPORTS <= 64, "a bit per port");

static bool
ticks_look(struct lull_ticks *ticks, uint16_t port_id)
{
	uint64_t begin_ns = lull_clock_ns(), end_ns, device;

	if (lull_port_clock(port_id, &device) != 0)
		return true;
	end_ns = lull_clock_ns();
	if (end_ns - begin_ns > READ_NS_MAX)
		return false;
	lull_ticks_look(ticks, device, begin_ns + (end_ns - begin_ns) / 2);
	return ticks->known;
}

void
flow_ticks_look(struct flow_io *io, uint64_t now_ns)
{
	bool known = true;

	if (now_ns < io->ticks_next_ns)
		return;
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++) {
		if ((io->pipeline->port_clocks >> id & 1) != 0)
			known = ticks_look(&io->ticks[id], id) && known;
	}
	io->ticks_next_ns = now_ns + (known ? LOOK_NS : LULL_TICKS_APART_NS);
}
