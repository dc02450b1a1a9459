/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sink names: the addresses of a host, looked up again by a thread of their own, because a name
 * server may take its time and an aggregator loop must not wait.
 *
 * Threads: open and close from the main thread, the rest from one loop.
 * Memory:  allocated. A look-up that hangs outlives close() and frees what it has by itself.
 */
#ifndef LULL_FLOW_SINK_NAMES_H
#define LULL_FLOW_SINK_NAMES_H

#include <netdb.h>
#include <stdbool.h>

#include "host/error.h"

struct sink_names; /* opaque */

/**
 * Look up @p host now. 0 or -EADDRNOTAVAIL and the sentence, which goes without the host.
 * @param kind     SOCK_STREAM or SOCK_DGRAM
 * @param patient  a name server that does not answer now is no error: there are no addresses yet
 */
int sink_names_open(const char *host, const char *port, int kind, bool patient,
		    struct sink_names **names, struct lull_error *error);
/** NULL is ignored. */
void sink_names_close(struct sink_names *names);
/** Look up again; nothing when that is under way, or when the host is an address. */
void sink_names_ask(struct sink_names *names);
/**
 * Take over what a look-up has found.
 * @return false: nothing new, or it failed; @p reason then says why, NULL where it did not
 */
bool sink_names_take(struct sink_names *names, const char **reason);
/** The first address, NULL: none. Borrowed until the next sink_names_take(). */
const struct addrinfo *sink_names_first(const struct sink_names *names);

#endif
