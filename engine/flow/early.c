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
	flow_send_add(io, packet, now_ns);
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
		flow_send_add(io, packet, now_ns);
	}
}

uint64_t
flow_early_deadline(const struct flow_io *io, uint64_t now_ns, bool ending)
{
	uint64_t deadline_ns = lull_staging_deadline_ns(&io->staging), early_ns;

	if (io->early_count == 0)
		return deadline_ns;
	if (ending)
		return deadline_ns != 0 ? deadline_ns : now_ns + io->staging.flush_ns;
	/* Clocks of files do not go on by themselves. */
	if (io->from_source)
		return deadline_ns;
	early_ns = LULL_MIN(lull_flow_parser_deadline_ns(io->parser) + 1, now_ns + FLOW_SILENCE_NS);
	return deadline_ns != 0 ? LULL_MIN(deadline_ns, early_ns) : early_ns;
}
