/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragments that came before the first one of their datagram. They wait in front of the dispatcher,
 * with no clock yet: they get that of the moment they go, so clocks of packets never go back, and
 * records do not depend on bursts. Until then they count as staged.
 */
#include "stage.h"

void
flow_early_hold(struct flow_io *io, struct lull_flow_packet *packet, uint64_t now_ns)
{
	io->early_count++;
	packet = lull_flow_parser_hold(io->parser, packet, io->clock_ns);
	if (packet == NULL)
		return;
	io->early_count--;
	flow_io_dispatch(io, packet, now_ns);
}

void
flow_early_release(struct flow_io *io, uint64_t clock_ns, uint64_t now_ns)
{
	struct lull_flow_packet *packet;
	uint64_t due_ns;

	while ((packet = lull_flow_parser_release(io->parser, clock_ns, &due_ns)) != NULL) {
		io->early_count--;
		/* At the end nothing is waited for. */
		if (clock_ns != UINT64_MAX)
			io->clock_ns = LULL_MAX(io->clock_ns, due_ns);
		flow_io_dispatch(io, packet, now_ns);
	}
}
