/* SPDX-License-Identifier: BSD-3-Clause */
#include "ports.h"

#include <stdio.h>

#include "host/node.h"

void
lull_live_tell_links(const char *program, const struct lull_port *ports, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (ports[i].hardware && !lull_port_link_up(&ports[i]))
			fprintf(stderr,
				"%s: port %s has no link; going on, it is used when it "
				"comes\n",
				program, ports[i].name);
}

static bool
ports_polls(const struct lull_loop_config *config, const struct lull_port *port)
{
	uint32_t i = 0;

	while (i < config->queue_count && config->queues[i].port_id != port->port_id)
		i++;
	return i < config->queue_count;
}

void
lull_live_tell_nodes(const char *program, const struct lull_loop *loop,
		     const struct lull_loop_config *config, const struct lull_port *ports,
		     uint32_t count)
{
	int cpu = lull_loop_cpu(loop), node = lull_cpu_node(cpu);
	char text[LULL_ERROR_SIZE];

	for (uint32_t i = 0; i < count; i++)
		if (ports_polls(config, &ports[i]) &&
		    lull_node_text(lull_loop_name(loop), cpu, node, ports[i].name, ports[i].node,
				   text, sizeof(text)))
			fprintf(stderr, "%s: %s\n", program, text);
}
