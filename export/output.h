/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sink output: units of bytes (lines, messages) on their way to a file or socket.
 *
 * Never blocks, except in sink_output_drain() and, when blocking, where a unit finds no room.
 * Each unit arrives whole or is counted as dropped. To pipes a unit of at most PIPE_BUF bytes goes
 * in one piece, so several outputs may share one.
 */
#ifndef LULL_FLOW_SINK_OUTPUT_H
#define LULL_FLOW_SINK_OUTPUT_H

#include "exporter.h"
#include "destination.h"
#include "names.h"
#include "queue.h"

struct sink_output_config {
	uint32_t queue_bytes;
	uint32_t datagrams_pps; /**< 0: by what waits */
	uint64_t timeout_ns;
	bool blocking; /**< wait for room; a stream must be there at open */
	/**
	 * Units depend on those before them on the same connection: when it breaks, what waits is
	 * dropped and nothing is taken until sink_output_renew().
	 */
	bool linked;
};

struct sink_output {
	struct sink_destination destination;
	struct sink_output_config config;
	struct flow_sink_counters *counters;
	struct sink_health *health;
	struct sink_queue queue;
	struct sink_file *file;     /* shared; NULL: something else */
	struct sink_volume *volume; /* of that, which it writes to */
	size_t part;                /* of the oldest unit, sent already */
	int fd;                     /* -1: not connected, or a file */
	bool connecting;
	bool stale;               /* linked, and its connection broke */
	bool given_up;            /* a drain ended early: no more waiting */
	bool probing;             /* after a pause one datagram has left */
	struct sink_names *names; /* of TCP and UDP */
	const struct addrinfo *address;
	uint64_t begun_ns;         /* connecting */
	uint64_t named_ns;         /* the name was looked up */
	uint64_t retry_ns;         /* not before; 0: at once */
	uint64_t backoff_ns;       /* next time */
	uint64_t pace_ns;          /* datagrams: when the next one may leave, with some at once */
	struct lull_error trouble; /* the first one; "" */
};

/** 0 or -errno and the sentence; then nothing is open. @p output zeroed; units @p linked. */
int sink_output_open(struct sink_output *output, const struct sink_destination *destination,
		     const struct sink_job *job, bool linked, struct lull_error *error);
void sink_output_close(struct sink_output *output);
/** Take a unit with this many records; false: dropped and counted. */
bool sink_output_put(struct sink_output *output, const void *bytes, size_t len, uint32_t records);
/** Send what goes; true when something still waits. */
bool sink_output_iterate(struct sink_output *output);
/** Send all, while something has moved within the last @p stall_ns (0: as long as it takes). */
void sink_output_drain(struct sink_output *output, uint64_t stall_ns);

/** Stale: units begin anew. */
void sink_output_renew(struct sink_output *output);

/** A newer volume of the file is there: what was put so far belongs to the old one. */
bool sink_output_is_old(const struct sink_output *output);
/**
 * Go on with the newest volume; false: not all that waits could be written to the old one yet, try
 * again.
 */
bool sink_output_move(struct sink_output *output);

/** CLOCK_MONOTONIC. */
uint64_t sink_clock_ns(void);

#endif
