/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Emulator: cameras that exist only in software, with known pictures and known faults.
 *
 * What they send follows from the configuration alone, so a receiver can verify every byte and
 * every fault. The caller has the loop:
 *
 *   for (;;) {
 *           busy = lull_emulator_iterate(emulator, lull_clock_ns());
 *           until_ns = busy ? 0 : lull_emulator_due_ns(emulator);
 *           if (lull_emulator_wait(emulator, until_ns, -1) || lull_emulator_done(...))
 *                   break;
 *   }
 *
 * Threads: one at a time; the emulator starts none. Times are those of CLOCK_MONOTONIC.
 * Memory:  one allocation of some megabytes and the pictures, freed by close. No allocation
 *          between open and close.
 */
#ifndef LULL_EMULATOR_H
#define LULL_EMULATOR_H

#include <lull/base.h>

#include "config.h"

struct lull_emulator; /* opaque */

/** Counters of one camera; each is a row of lull_emulator_counter_table. */
struct lull_emulator_counters {
	uint64_t packets, bytes; /**< that the kernel took, answers included */
	uint64_t frames;         /**< all of whose packets have had their turn */
	uint64_t lost, duplicated, reordered, late, refused;
	uint64_t resend_requests, resend_refused, resend_answered, resend_gone, resend_lost;
};
/** Names and units of the counters, the last row has no name. */
extern const struct lull_counter_info lull_emulator_counter_table[];

/** What became of one camera. */
struct lull_emulator_info {
	struct lull_emulator_counters counters;
	uint32_t sessions; /**< how often it was started */
	uint32_t packets_per_frame;
	uint64_t behind_ns_max;    /**< how late a frame began at most */
	uint64_t start_ns, end_ns; /**< of the first packet, of the last; 0: none */
	bool control;              /**< has it a control protocol? Then also: */
	uint64_t discoveries, commands, refusals, timeouts;
};

/**
 * Make pictures, open sockets and the log.
 * @param config  checked by lull_emulator_config_check(); borrowed until close
 * @return 0; or -errno and the sentence, and @p emulator is NULL
 */
int lull_emulator_open(struct lull_emulator **emulator, const struct lull_emulator_config *config,
		       struct lull_error *error);
/** NULL is ignored. */
void lull_emulator_close(struct lull_emulator *emulator);

/** Begin to send, with the first frames at @p now_ns. Cameras with a client wait for the client. */
void lull_emulator_start(struct lull_emulator *emulator, uint64_t now_ns);
/** Send what is due, 64 packets of each camera at most. false: nothing was due. */
bool lull_emulator_iterate(struct lull_emulator *emulator, uint64_t now_ns);
/** When there is something to do; UINT64_MAX: when a message comes. */
uint64_t lull_emulator_due_ns(const struct lull_emulator *emulator);
/**
 * Wait for messages until @p until_ns (in the past: do not wait), and answer those that came.
 * @param fd  a descriptor of the caller that ends the wait too; -1: none
 * @return can @p fd be read?
 */
bool lull_emulator_wait(struct lull_emulator *emulator, uint64_t until_ns, int fd);
/** Are all frames sent, and is the time over in which they can be asked for again? */
bool lull_emulator_done(struct lull_emulator *emulator, uint64_t now_ns);
/** Write out the log. 0; or -errno and the sentence: not everything reached the disk. */
int lull_emulator_flush(struct lull_emulator *emulator, struct lull_error *error);

/** What became of camera @p number below config->cameras. */
struct lull_emulator_info lull_emulator_info(const struct lull_emulator *emulator, uint32_t number);

#endif
