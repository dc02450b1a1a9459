/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sink connect: a descriptor for an output, and again when its stream broke.
 */
#ifndef LULL_FLOW_SINK_CONNECT_H
#define LULL_FLOW_SINK_CONNECT_H

#include "output.h"

/** Stdout, device, pipe or datagram socket: open now. Streams: only find the address. */
int sink_connect_open(struct sink_output *output, struct lull_error *error);
/** Streams, blocking: wait until somebody answers, a few seconds. */
int sink_connect_wait(struct sink_output *output, struct lull_error *error);
/** Is there a descriptor to write to? Begins or ends connecting when it is time. */
bool sink_connect_ready(struct sink_output *output);
/** The stream broke: close it, try again later. */
void sink_connect_lost(struct sink_output *output, int code);

/** Datagrams: look up the name when it is time; true: they go to another address from now on. */
bool sink_connect_moved(struct sink_output *output);
/** Datagrams do not arrive: pause before the next one, longer each time. */
void sink_connect_pause(struct sink_output *output, int code);
/** A datagram left; after a pause the second one without complaint ends the trouble. */
void sink_connect_sent(struct sink_output *output);

/** Keep the first trouble, count each. */
void sink_output_trouble(struct sink_output *output, int code);

#endif
