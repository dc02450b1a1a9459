/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Capture file: times and sizes of the Ethernet frames in a pcap or pcapng file.
 *
 * Threads: any. Memory: allocated by open, freed by close.
 */
#ifndef LULL_SIM_CAPTURE_FILE_H
#define LULL_SIM_CAPTURE_FILE_H

#include "host/error.h"
#include "sim/feed.h"

struct sim_capture {
	struct lull_sim_trace trace; /* from time 0 on, never going back */
	uint64_t other_pkts;         /* of another link type, or without a time */
	uint64_t back_pkts;          /* stamped earlier than the one before: taken as equal */
	uint64_t length_ns;          /* from the first to the last */
	uint64_t *times_ns;
	uint16_t *bytes;
};

/** Read @p path; @p speed 2: twice as fast. 0 or -errno and the sentence. */
int sim_capture_open(struct sim_capture *capture, const char *path, double speed,
		     struct lull_error *error);
void sim_capture_close(struct sim_capture *capture);

#endif
