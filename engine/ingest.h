/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ingest: the packets of one port for a library that does not name DPDK.
 *
 * EAL is started by the first of a process, unless the program has done so, and ends with the
 * process: it cannot be started twice. The calling thread keeps its CPUs.
 * Threads: open, steer and close from one thread; receive and release from the one that receives.
 */
#ifndef LULL_INGEST_H
#define LULL_INGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LULL_INGEST_BURST 64

struct lull_ingest_config {
	const char *program;
	/** "af_packet=IF", "af_xdp=IF", "tap=IF", "net_DRIVER,...", or a PCI address. */
	const char *device;
	const char *eal;    /**< further EAL arguments; may be NULL */
	uint32_t ring_pkts; /**< asked for */
};
struct lull_ingest_packet {
	const uint8_t *data; /**< from the Ethernet header on */
	uint32_t len_bytes;
};
struct lull_ingest_look {
	const char *name, *driver;
	uint32_t ring_pkts;
	unsigned int if_index; /**< of the kernel's interface behind it; 0: none */
	bool kernel_copies;    /**< the kernel sees the packets as well */
	uint32_t mtu;          /**< longest packet, without Ethernet header */
};
struct lull_ingest; /* opaque */

/** @p error: LULL_ERROR_SIZE bytes. */
int lull_ingest_open(const struct lull_ingest_config *config, struct lull_ingest **ingest,
		     char *error);
void lull_ingest_close(struct lull_ingest *ingest);
void lull_ingest_look(const struct lull_ingest *ingest, struct lull_ingest_look *look);
/** At most LULL_INGEST_BURST packets, borrowed until release. */
uint32_t lull_ingest_receive(struct lull_ingest *ingest, struct lull_ingest_packet *packets);
void lull_ingest_release(struct lull_ingest *ingest);
/** The calling thread begins to receive, or ends: gives it a cache of buffers. */
void lull_ingest_thread(bool begins);
/** Lost by the port. Any thread. */
uint64_t lull_ingest_missed(const struct lull_ingest *ingest);
/** In several buffers: not read. Any thread. */
uint64_t lull_ingest_scattered(const struct lull_ingest *ingest);

/**
 * Ask the port for a rule that brings UDP packets to @p port here, @p address4 (4 bytes, network
 * order) NULL: to any address. 0, or a negative errno of a port that takes no such rules.
 */
int lull_ingest_steer(struct lull_ingest *ingest, const uint8_t *address4, uint16_t port);

#endif
