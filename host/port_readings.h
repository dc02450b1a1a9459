/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Port readings: what a port's driver counts, asked by one thread at a time and read by all.
 *
 * The functions of a port are not thread safe, counters included (rte_ethdev.h), and some drivers
 * take milliseconds to answer. So whoever owns the port's readings asks, as seldom as its budget
 * says, and publishes; loops, telemetry and totals read what is published.
 *
 * What is published only rises. A call that fails changes nothing. Counters that have fallen are
 * looked at once more: when they are back, the driver had failed without saying so, else they began
 * anew and count on from there.
 *
 * No function of DPDK is called here: who asks is a table, so the plugin, which links no DPDK, has
 * the same code.
 *
 * Threads: as each function says. Memory: the caller's struct, for the life of the process.
 */
#ifndef LULL_PORT_READINGS_H
#define LULL_PORT_READINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "idle/loss_audit.h"

#define LULL_PORT_READING_NS_MIN (10 * LULL_NS_PER_MS)
#define LULL_PORT_READING_NS_MAX LULL_NS_PER_S

/** What a driver counts, since whenever it began to. */
struct lull_port_counts {
	uint64_t missed; /**< for want of descriptors */
	uint64_t nombuf; /**< for want of buffers */
	uint64_t errors; /**< received damaged */
};

/** How a port is asked. */
struct lull_port_asker {
	/** 0, or -errno: the driver refused, and @p counts is not looked at. */
	int (*count)(uint16_t port_id, struct lull_port_counts *counts);
};

/** The last call that succeeded; nothing but words. */
struct lull_port_reading {
	uint64_t begin_ns, end_ns;       /**< clock before and after it; 0: none has succeeded */
	uint64_t missed, nombuf, errors; /**< since lull_port_readings_begin() */
	uint64_t refused;                /**< calls that failed since then */
	uint64_t cost_ns;                /**< of a call, of late */
};

struct lull_port_readings {
	pthread_mutex_t lock; /* who has it asks */
	bool begun;           /* raw is what the driver said last */
	bool held;            /* it said less since, once */
	struct lull_port_counts raw;
	struct lull_port_reading now; /* what is published */
	uint64_t took_ns;             /* by the last call */
	uint64_t due_ns;              /* atomic */
	uint32_t sequence;
	struct lull_port_reading published;
};

/** Before any thread knows of it, or in the child of a fork. */
void lull_port_readings_init(struct lull_port_readings *readings);
/** Another port, or the same one started again: all counts are 0, nothing has been read. */
void lull_port_readings_begin(struct lull_port_readings *readings);
/** Is it time to ask? Any thread. */
bool lull_port_readings_due(const struct lull_port_readings *readings, uint64_t now_ns);
/**
 * Ask the port and publish; the lock is held. The next time is due when the share of a CPU that
 * calls use is one in @p cost_share, but within LULL_PORT_READING_NS_MIN and
 * LULL_PORT_READING_NS_MAX.
 * @return 0; -EAGAIN: counters have fallen, ask again; else what the driver said
 */
int lull_port_readings_ask(struct lull_port_readings *readings, const struct lull_port_asker *asker,
			   uint16_t port_id, uint64_t cost_share);
/** What has been published. Any thread. */
void lull_port_readings_read(const struct lull_port_readings *readings,
			     struct lull_port_reading *reading);
/** The same without waiting for a change that is under way. False: there is one. Any thread. */
bool lull_port_readings_try(const struct lull_port_readings *readings,
			    struct lull_port_reading *reading);
/** The same, for the loss audit. */
static inline struct lull_loss_reading
lull_port_reading_loss(const struct lull_port_reading *reading)
{
	return (struct lull_loss_reading){ reading->begin_ns,
					   reading->end_ns,
					   { reading->missed, reading->nombuf } };
}

#endif
