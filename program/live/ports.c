/* SPDX-License-Identifier: BSD-3-Clause */
#include "ports.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include <lull/rest.h>

#include "engine/dpdk/port.h"
#include "host/node.h"
#include "idle/limits.h"
#include "idle/remedy.h"

#define CALIBRATION_RESTS 128
#define SLACK_NS 1000 /* as loops have it */

/* ---- how many descriptors ---- */

/* How late timers wake a thread here, and what a rest costs: some 10 ms. */
static void
ports_calibrate(struct lull_calibration *calibration)
{
	const struct lull_rest rest = { .idle_state = LULL_IDLE_SLEEP, .limit_ns = 1 };
	int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	struct lull_wake wake;
	uint64_t late_ns;

	lull_calibration_init(calibration);
	prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0);
	for (int i = 0; i < CALIBRATION_RESTS; i++) {
		lull_rest_run(&lull_rest_sleep_timer, NULL, &rest, &wake);
		late_ns = wake.end_ns - wake.begin_ns;
		if (late_ns < LULL_STALL_NS) /* what is usual; no ring holds a stall */
			lull_calibration_add(calibration, late_ns, wake.cpu_ns);
	}
	if (slack > 0)
		prctl(PR_SET_TIMERSLACK, (unsigned long)slack, 0, 0, 0);
}

/* A loop that has seen nothing yet, on this machine. */
static void
ports_basis(struct lull_remedy_basis *basis, const struct lull_live_ring *wish)
{
	memset(basis, 0, sizeof(*basis));
	if (wish->sleeps != NULL)
		basis->sleeps = *wish->sleeps;
	else
		ports_calibrate(&basis->sleeps);
	lull_stalls_init(&basis->stalls, LULL_STALL_MEMORY_NS, 0);
	lull_load_init(&basis->load, 0);
	lull_arrival_curve_init(&basis->curve, 0);
	basis->load.resting_ppm = LULL_PPM;
	basis->pace.queue_count = wish->queue_count;
}

uint16_t
lull_live_ring_pkts(const struct lull_port *offer, const struct lull_port_config *config,
		    const struct lull_live_ring *wish)
{
	struct lull_ring_facts rings = lull_port_rings(offer);
	struct lull_remedy_basis basis;
	struct lull_idle_limits limits;

	limits = lull_resting_limits(wish->resting, &rings);
	if (!wish->size.automatic || offer->ring_pkts_max <= config->ring_pkts ||
	    limits.loss != LULL_LOSS_ZERO || limits.envelope != LULL_ENVELOPE_LINK ||
	    limits.pps_max == 0 ||
	    lull_resting_governor(wish->resting) != lull_idle_governor_find("objective"))
		return config->ring_pkts;
	limits.ring_pkts = config->ring_pkts;
	limits.burst_pkts = config->burst_pkts;
	lull_limits_default(&limits);
	ports_basis(&basis, wish);
	return (uint16_t)lull_remedy_ring_pkts(&limits, &basis);
}

int
lull_live_port_open(const char *program, uint16_t port_id, const struct lull_port_config *config,
		    const struct lull_live_ring *wish, struct lull_port *port,
		    struct lull_error *error)
{
	struct lull_port_config more = *config;
	int rc = lull_port_offer(port_id, config, port, error);

	if (rc != 0)
		return rc;
	more.ring_pkts = lull_live_ring_pkts(port, config, wish);
	if (more.ring_pkts == config->ring_pkts)
		return lull_port_open(port_id, config, port, error);
	more.tx_ring_pkts = config->ring_pkts;
	rc = lull_port_open(port_id, &more, port, error);
	if (rc == 0) {
		fprintf(stderr,
			"%s: port %s: a ring of %u descriptors, as %u would leave no room for "
			"rests at %u Mbit/s without loss (--ring sets another)\n",
			program, port->name, more.ring_pkts, config->ring_pkts, port->link_mbps);
		return 0;
	}
	fprintf(stderr, "%s: port %s: no ring of %u descriptors (%s); going on with %u\n", program,
		port->name, more.ring_pkts, error != NULL ? error->text : "refused",
		config->ring_pkts);
	return lull_port_open(port_id, config, port, error);
}

/* ---- what a user should hear ---- */

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
