/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine.h"

#include <string.h>

#define PPB(percent) ((uint64_t)((percent)*10000000.0 + 0.5))
#define US(us) ((uint64_t)((us)*1000.0 + 0.5))

/*
 * Measured for sleeps of 100 us beside a busy loop on the same CPU (kernel 6.18, EEVDF): usually an
 * ordinary thread takes over at once, now and then it waits for the other's slice; one of a
 * real-time class only for kernel code that cannot be stopped. Of the kernel, not of the machine.
 */
#define LATE_FIFO                                                                                  \
	{                                                                                          \
		5,                                                                                 \
		{                                                                                  \
			{ PPB(98), 0 }, { PPB(99), US(3) }, { PPB(99.5), US(16) },                 \
				{ PPB(99.9), US(90) },                                             \
			{                                                                          \
				PPB(100), US(370)                                                  \
			}                                                                          \
		}                                                                                  \
	}
#define LATE_FAIR                                                                                  \
	{                                                                                          \
		6,                                                                                 \
		{                                                                                  \
			{ PPB(98), 0 }, { PPB(99), US(44) }, { PPB(99.6), US(300) },               \
				{ PPB(99.75), US(2800) }, { PPB(99.9), US(5190) },                 \
			{                                                                          \
				PPB(100), US(11980)                                                \
			}                                                                          \
		}                                                                                  \
	}

/*
 * Places to begin; bench/sim/live.py measures a machine and prints it as options. guest: a virtual
 * machine whose sleeps are dear; the one in docs/measurements.md needs a quarter of that. metal: a
 * server with C1 and 1 us timer slack, an assumption. paper: what the text of the sleep model
 * states (55 us of error, below 10 % CPU with usleep(0)); burst costs chosen so that 64 packets of
 * 1 GbE leave the core idle, as its figures need. noisy: the guest of docs/measurements.md, whose
 * sleeps are cheap and whose host takes the core for milliseconds now and then. shared: such a
 * guest with a busy loop on the core of each thread, which is why sleeps cost more there.
 */
const struct lull_sim_machine lull_sim_machines[] = {
	{
		.name = "guest",
		.summary = "virtual machine: a sleep costs 16 us and ends 17 us late",
		.iteration_ns = 60,
		.burst = { 4, { { 0, 40 }, { 1, 150 }, { 8, 360 }, { 32, 960 } } },
		.rest_ns = 16000,
		.overshoot = { 5,
			       { { 0, 3000 },
				 { PPB(50), US(17) },
				 { PPB(99), US(25) },
				 { PPB(99.99), US(60) },
				 { PPB(100), US(90) } } },
		.event_ns = 12000,
		.switch_ns = 2000,
		.fifo_late = LATE_FIFO,
		.fair_late = LATE_FAIR,
		.watts = 10,
		.cstate_count = 1,
		.cstates = { { "halt", 0, 4 } },
	},
	{
		.name = "metal",
		.summary = "server without virtualization: a sleep costs 2.5 us and ends 3 us late",
		.iteration_ns = 30,
		.burst = { 4, { { 0, 20 }, { 1, 80 }, { 8, 220 }, { 32, 640 } } },
		.rest_ns = 2500,
		.overshoot = { 5,
			       { { 0, 1500 },
				 { PPB(50), US(3) },
				 { PPB(99), US(6) },
				 { PPB(99.99), US(20) },
				 { PPB(100), US(30) } } },
		.event_ns = 3000,
		.switch_ns = 1000,
		.fifo_late = LATE_FIFO,
		.fair_late = LATE_FAIR,
		.watts = 10,
		.cstate_count = 3,
		.cstates = { { "C1", 0, 5 }, { "C1E", 20000, 3 }, { "C6", 600000, 1 } },
	},
	{
		.name = "paper",
		.summary = "E3-1230 V2 and I350 of the sleep model: a sleep ends 55 us late",
		.iteration_ns = 50,
		.burst = { 4, { { 0, 60 }, { 1, 200 }, { 32, 1500 }, { 64, 2800 } } },
		.rest_ns = 4000,
		.overshoot = { 5,
			       { { 0, 50000 },
				 { PPB(50), US(55) },
				 { PPB(99), US(60) },
				 { PPB(99.99), US(80) },
				 { PPB(100), US(200) } } },
		.event_ns = 10000,
		.switch_ns = 2000,
		.fifo_late = LATE_FIFO,
		.fair_late = LATE_FAIR,
		.watts = 10,
		.cstate_count = 2,
		.cstates = { { "C1", 0, 5 }, { "C1E", 20000, 3 } },
	},
	{
		.name = "noisy",
		.summary =
			"virtual machine with cheap sleeps; its host takes the core for 0.5 to 3 "
			"ms, three times a second",
		.iteration_ns = 60,
		.burst = { 4, { { 0, 40 }, { 1, 150 }, { 8, 360 }, { 32, 960 } } },
		.rest_ns = 8000,
		.overshoot = { 5,
			       { { 0, 3000 },
				 { PPB(50), US(9) },
				 { PPB(99), US(20) },
				 { PPB(99.99), US(60) },
				 { PPB(100), US(90) } } },
		.event_ns = 8000,
		.switch_ns = 2000,
		.fifo_late = LATE_FIFO,
		.fair_late = LATE_FAIR,
		.stall_every_ns = 300 * LULL_NS_PER_MS,
		.stall_ns = 500 * LULL_NS_PER_US,
		.stall_ns_max = 3 * LULL_NS_PER_MS,
		.watts = 10,
		.cstate_count = 1,
		.cstates = { { "halt", 0, 4 } },
	},
	{
		.name = "shared",
		.summary = "virtual machine with a busy loop on the same core, which resting "
			   "threads (FIFO) stop at once",
		.iteration_ns = 60,
		.burst = { 4, { { 0, 40 }, { 1, 150 }, { 8, 360 }, { 32, 960 } } },
		.rest_ns = 15000,
		.overshoot = { 5,
			       { { 0, 3000 },
				 { PPB(50), US(13.5) },
				 { PPB(99), US(18) },
				 { PPB(99.99), US(30) },
				 { PPB(100), US(50) } } },
		.event_ns = 12000,
		.switch_ns = 2000,
		.fifo_late = LATE_FIFO,
		.fair_late = LATE_FAIR,
		.competitor_ppm = LULL_PPM,
		.competitor_run_ns = 3 * LULL_NS_PER_MS,
		.fifo = true,
		.watts = 10,
		.cstate_count = 1,
		.cstates = { { "halt", 0, 4 } },
	},
	{ .name = NULL },
};

const struct lull_sim_machine *
lull_sim_machine_find(const char *name)
{
	const struct lull_sim_machine *machine;

	for (machine = lull_sim_machines; machine->name != NULL; machine++)
		if (strcmp(machine->name, name) == 0)
			return machine;
	return NULL;
}

uint64_t
lull_sim_curve_at(const struct lull_sim_curve *curve, uint64_t at)
{
	const struct lull_sim_knot *knots = curve->knots;
	uint32_t i = 0;
	uint64_t part, span;

	if (curve->count == 0)
		return 0;
	while (i < curve->count && knots[i].at < at)
		i++;
	if (i == curve->count)
		return knots[i - 1].ns;
	if (i == 0 || knots[i].at == at)
		return knots[i].ns;
	part = at - knots[i - 1].at;
	span = knots[i].at - knots[i - 1].at;
	if (knots[i].ns >= knots[i - 1].ns)
		return knots[i - 1].ns + (uint64_t)((double)(knots[i].ns - knots[i - 1].ns) *
						    (double)part / (double)span);
	return knots[i - 1].ns -
	       (uint64_t)((double)(knots[i - 1].ns - knots[i].ns) * (double)part / (double)span);
}

double
lull_sim_machine_pps(const struct lull_sim_machine *machine, uint32_t burst_pkts)
{
	uint64_t ns = machine->iteration_ns + lull_sim_curve_at(&machine->burst, burst_pkts);

	return 1e9 * burst_pkts / (double)LULL_MAX(ns, 1);
}

void
lull_sim_sampler_init(struct lull_sim_sampler *sampler, const struct lull_sim_curve *curve,
		      uint64_t seed)
{
	const double width = (double)LULL_SIM_PPB / LULL_SIM_SAMPLES;
	const double start = (double)LULL_SIM_PPB - width;
	uint32_t i;

	lull_prng_init(&sampler->prng, seed, 0x736c);
	for (i = 0; i < LULL_SIM_SAMPLES; i++) {
		sampler->usual_ns[i] = lull_sim_curve_at(curve, (uint64_t)((i + 0.5) * width));
		sampler->rare_ns[i] = lull_sim_curve_at(
			curve, (uint64_t)(start + (i + 0.5) * width / LULL_SIM_SAMPLES));
	}
}
