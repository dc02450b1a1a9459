/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Port watch: the one thread of the process that asks ports what they count and how their link is.
 *
 * A port is asked every 10 ms, and less often when its driver takes long: all calls together use at
 * most 1 % of a CPU, but each port is asked once a second. Loops and telemetry read what has been
 * published. Who needs a figure of this very moment asks for it by lull_port_read(): one call at a
 * time per port, whoever makes it.
 *
 * Drivers tell of link changes and of removed devices on DPDK's interrupt thread, where a port must
 * not be asked. There only a flag is set. A change of any port's link, and a removal, raise the
 * epoch, which loops compare once per poll iteration.
 *
 * Threads: start, stop, add and remove on the main thread; the rest as each function says.
 */
#ifndef LULL_PORT_WATCH_H
#define LULL_PORT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "host/port_readings.h"

/** How a link is. */
struct lull_port_link {
	uint32_t mbps; /**< 0: not known */
	bool up;
};

extern uint32_t lull_port_watch_epoch_now; /* atomic */
extern bool lull_port_watch_gone[];        /* by port, atomic */

/** Start the thread, on the CPU of the caller. 0 or -errno. */
int lull_port_watch_start(void);
/** End it. Nobody asks any port any more. */
void lull_port_watch_stop(void);
/** A port has been started: ask it from now on, the first time before this returns. */
void lull_port_watch_add(uint16_t port_id);
/** A port is to be stopped: when this returns nobody asks it, and its events are heard no more. */
void lull_port_watch_remove(uint16_t port_id);

/** What the port has counted since it was added, as published last. Any thread. */
void lull_port_reading(uint16_t port_id, struct lull_port_reading *reading);
/**
 * The same for a thread that must not wait: of a real-time class it would keep the CPU from the
 * thread that is writing. False: it is just being written.
 */
bool lull_port_reading_try(uint16_t port_id, struct lull_port_reading *reading);
/**
 * Ask the port now and publish. Waits for a call that is under way; not for a polling thread. Of a
 * port that is not watched: what was published last.
 * @return 0, or -errno: the driver refuses, and @p reading is the last one that succeeded
 */
int lull_port_read(uint16_t port_id, struct lull_port_reading *reading);
/** Its link as seen last. Any thread. */
struct lull_port_link lull_port_link(uint16_t port_id);
/** Ask for its link now; like lull_port_read(). */
struct lull_port_link lull_port_read_link(uint16_t port_id);

/** Changes when a link has changed or a device has gone. Any thread, each poll iteration. */
static inline uint32_t
lull_port_watch_epoch(void)
{
	return __atomic_load_n(&lull_port_watch_epoch_now, __ATOMIC_ACQUIRE);
}

/** Has the device been removed? Nobody may poll it any more. Any thread. */
static inline bool
lull_port_is_gone(uint16_t port_id)
{
	return __atomic_load_n(&lull_port_watch_gone[port_id], __ATOMIC_RELAXED);
}

#endif
