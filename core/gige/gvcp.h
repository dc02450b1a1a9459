/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Gvcp: make a GigE Vision camera stream, and keep it streaming.
 *
 * A state machine without a socket: answers and the time go in, messages and the next deadline
 * come out. It takes control, sets packet size, address and port of the stream, writes what starts
 * the acquisition and then reads the control register from time to time, which keeps the camera
 * from stopping. One command is under way at a time; without an answer it is said again.
 *
 * Which registers start and stop the acquisition is the camera's own affair. They come from the
 * configuration, else from a scan of the camera's description, when there is memory for it, else
 * those of aravis' fake camera are tried. The scan (gvcp_xml.h) follows a command to a register
 * with a constant address; formulas, selectors and packed descriptions (zip) are beyond it.
 *
 * Threads: a client belongs to one thread. Memory: the caller's struct, no pointers kept but xml.
 */
#ifndef LULL_GVCP_H
#define LULL_GVCP_H

#include "gvcp_message.h"

#define LULL_GVCP_REGISTERS_MAX 16

/** Zero means the default in brackets. */
struct lull_gvcp_config {
	uint32_t address;      /**< of the host, for the stream. Required */
	uint16_t port;         /**< of the host. Required */
	uint16_t channel;      /**< 0..511 */
	uint32_t packet_bytes; /**< IP length of stream packets; 0: leave the camera's */
	bool extended_ids;     /**< ask for 64 bit ids */
	uint64_t timeout_ns;   /**< for an answer [200 ms] */
	uint32_t tries;        /**< of a command [3] */
	uint64_t heartbeat_ns; /**< between reads of the control register [700 ms] */
	uint32_t camera_ms;    /**< silence after which the camera gives up on us [3000] */
	uint32_t setup_count, start_count, stop_count;
	struct lull_gvcp_register setup[LULL_GVCP_REGISTERS_MAX]; /**< before the start */
	struct lull_gvcp_register start[LULL_GVCP_REGISTERS_MAX];
	struct lull_gvcp_register stop[LULL_GVCP_REGISTERS_MAX];
	uint8_t *xml; /**< where the description may be read to; NULL: it is not read */
	uint32_t xml_bytes_max;
};

enum lull_gvcp_state {
	LULL_GVCP_IDLE,
	LULL_GVCP_STARTING,
	LULL_GVCP_STREAMING,
	LULL_GVCP_STOPPING,
	LULL_GVCP_STOPPED,
	LULL_GVCP_DENIED, /**< somebody else has control */
	LULL_GVCP_SILENT, /**< it does not answer (any more) */
	LULL_GVCP_LOST,   /**< it answers, but we have lost control */
	LULL_GVCP_REFUSED /**< it refused a command; see status and address */
};

struct lull_gvcp_client {
	struct lull_gvcp_config config;
	enum lull_gvcp_state state;
	/* What is known of the camera. */
	uint32_t capability;
	uint16_t source_port;  /* that it sends the stream from; 0: it does not say */
	uint64_t ticks_per_s;  /**< of device times, 0: unknown */
	uint32_t packet_bytes; /**< that it really sends */
	bool xml_used;         /**< start and stop come from the description */
	uint16_t status;       /**< of the answer that ended it all */
	uint32_t refused;      /**< address that it was about */
	uint64_t answers, repeats, strays;
	/* The rest is private. */
	uint32_t step, index;
	uint32_t xml_address, xml_bytes, xml_there;
	uint16_t id, asked; /* given last; of the command under way */
	bool waiting, optional;
	uint16_t code;
	uint32_t address, value;
	uint32_t tries_left;
	uint64_t deadline_ns;
	size_t len;
	uint8_t message[LULL_GVCP_BYTES_MAX];
	bool unsent;
};

/** 0 or -EINVAL. */
int lull_gvcp_init(struct lull_gvcp_client *client, const struct lull_gvcp_config *config);
/** Take control and make it stream; from idle, or again after an end. */
void lull_gvcp_start(struct lull_gvcp_client *client, uint64_t now_ns);
/** Stop the stream and give control back. */
void lull_gvcp_stop(struct lull_gvcp_client *client, uint64_t now_ns);
/** An answer from the camera. */
void lull_gvcp_input(struct lull_gvcp_client *client, uint64_t now_ns, const uint8_t *message,
		     size_t len);
/** What to send now: its length, 0: nothing. Call again until then, and after each event. */
size_t lull_gvcp_output(struct lull_gvcp_client *client, uint64_t now_ns,
			uint8_t message[LULL_GVCP_BYTES_MAX]);
/** When output has something to do; UINT64_MAX: not before an event. */
uint64_t lull_gvcp_deadline_ns(const struct lull_gvcp_client *client);
/** Id for a message of another kind (resend), from the same sequence. */
uint16_t lull_gvcp_next_id(struct lull_gvcp_client *client);

#endif
