/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Camera: image streams over Ethernet as frames, whichever way the packets come in.
 *
 * One interface over several *back ends*, chosen by a string; the application does not change:
 *
 *     kernel:IF        UDP sockets (or packet sockets for Ethernet protocols); the thread sleeps
 *                      in the kernel until packets come
 *     kernel-busy:IF   the same sockets, polled
 *     dpdk:PORT        a DPDK port: PCI address, vdev ("net_af_packet0,iface=veth0"), or
 *                      af_packet=IF, af_xdp=IF[,queue=N], tap=IF in short; polled, rests by a
 *                      governor; ",exception=NAME" makes a TAP for what is no camera's
 *     pcap:FILE        a capture, as fast as it goes; ends at its end
 *
 *     lull_camera_open(&config, &camera, error);
 *     lull_camera_stream_add(camera, &stream, error);
 *     lull_camera_start(camera, error);
 *     while (lull_camera_get(camera, LULL_CAMERA_ANY, &image, 100 * LULL_NS_PER_MS) != -ENODEV) {
 *             if (image != NULL) { look at it; lull_camera_put(camera, image); }
 *     }
 *     lull_camera_close(camera);
 *
 * Threads: open, add, start and close from one thread. Receiving runs on a thread of the library,
 *          or where lull_camera_poll() is called. get, put, statistics and fd from any thread.
 * Memory:  buffers of the library, or of the application per stream. An image belongs to who got
 *          it until put; put twice, or of a foreign image, is an error, not a crash.
 * Errors:  0 or a negative errno; @p error: LULL_CAMERA_ERROR_SIZE bytes, one sentence with the
 *          way out.
 */
#ifndef LULL_CAMERA_H
#define LULL_CAMERA_H

#include "finding.h"
#include "frame.h"
#include "histogram.h"
#include "idle.h"
#include "rest.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_CAMERA_ERROR_SIZE 256
#define LULL_CAMERA_STREAMS_MAX 64
#define LULL_CAMERA_ANY UINT32_MAX

struct lull_camera; /* opaque */

struct lull_camera_packet;
/**
 * Called on the receiving thread with what it just fetched for any stream, before it is looked at;
 * must not block.
 */
typedef void lull_camera_packets(void *arg, const struct lull_camera_packet *packets,
				 uint32_t count);

/** Zero means the default in brackets. */
struct lull_camera_config {
	const char *backend; /**< "kernel:veth0" ...; required */
	const char *program; /**< name for DPDK's files [lull-camera] */
	/** Governor of the polling back ends by name, "phase" too [phase]. */
	const char *governor;
	struct lull_idle_limits limits;
	uint64_t socket_bytes; /**< receive buffer per socket [32 MiB] */
	uint32_t ring_pkts;    /**< slots of a port's queue [16384] */
	int cpu;               /**< of the receiving thread plus 1 [0: any] */
	bool own_loop;         /**< no thread: the application calls lull_camera_poll() */
	bool unchecked;        /**< start although the self-check fails */
	const char *eal;       /**< further EAL arguments [NULL] */
	/** Real-time class of the receiving thread while it rests [auto]; not with own_loop. */
	enum lull_sched_policy sched_policy;
	/** Gets packets before the library looks at them [NULL]. */
	lull_camera_packets *packets;
	void *packets_arg;
};

/** Buffers that the application lends. */
struct lull_camera_buffers {
	uint8_t **data; /**< count addresses, 64-byte aligned, of the frame's bytes each */
	uint32_t count;
};
/** Called on the receiving thread as rows become whole; must not block. */
typedef void lull_camera_rows(void *arg, uint32_t stream, uint64_t key, const uint8_t *data,
			      uint32_t first_row, uint32_t row_count);

/** Zero means the default in brackets. */
struct lull_camera_stream {
	const char *name;     /**< for statistics [cam0, cam1 ...] */
	const char *protocol; /**< of lull_frame_protocols; required */
	/** IPv4 or IPv6 address and port the packets are sent to [any address of the interface]. */
	const char *address;
	uint16_t port; /**< UDP; 0 only for Ethernet protocols and for gvsp with control */
	/** Only from this IP or MAC address; others count as source_mismatch [any]. */
	const char *source;
	/** GVSP: take control of this camera (IP address, or MAC) and let it stream [NULL]. */
	const char *control;
	struct lull_frame_protocol_config settings;
	uint64_t buffer_bytes;           /**< [from the geometry, or from the camera] */
	uint32_t buffers;                /**< [16] */
	struct lull_camera_buffers lent; /**< [of the library] */
	uint32_t open_max;
	uint64_t deadline_ns; /**< [half a frame period once known, 20 ms before] */
	enum lull_frame_order order;
	enum lull_frame_policy policy;
	bool resend;            /**< GVSP with control: ask again for what is missing */
	uint32_t resend_ppm;    /**< requests per frame, of its packets [100000 = 10 %] */
	lull_camera_rows *rows; /**< [NULL] */
	void *rows_arg;
	uint32_t rows_step; /**< rows per call [64] */
};

/** Who made a time stamp. */
enum lull_camera_clock {
	LULL_CAMERA_CLOCK_NONE,
	LULL_CAMERA_CLOCK_NIC,    /**< hardware */
	LULL_CAMERA_CLOCK_KERNEL, /**< the kernel on receiving (SO_TIMESTAMPNS), CLOCK_REALTIME */
	LULL_CAMERA_CLOCK_POLL,   /**< the receiving thread when it fetched it, CLOCK_MONOTONIC */
	LULL_CAMERA_CLOCK_FILE,   /**< the capture */
	LULL_CAMERA_CLOCK_DEVICE  /**< the sender, in its own unit */
};
const char *lull_camera_clock_name(enum lull_camera_clock clock);

/** A packet as it came, without its headers; all of it borrowed. */
struct lull_camera_packet {
	const uint8_t *data; /**< UDP payload, or what follows the ether type */
	uint32_t len_bytes;
	uint64_t stamp_ns;
	enum lull_camera_clock clock; /**< of the stamp */
	uint8_t ip_version;           /**< 4 or 6; 0: Ethernet alone */
	uint16_t ether_type;          /**< with ip_version 0 */
	uint16_t port;                /**< UDP port it was sent to */
	/** IP addresses of 4 or 16 bytes; all zero where the back end does not tell. */
	const uint8_t *source, *destination;
	const uint8_t *mac; /**< of the sender; NULL: the back end does not tell */
};

/** A frame with its stream; read only but for user. */
struct lull_camera_image {
	struct lull_frame
		frame; /**< stamps: first_ns and last_ns by packet_clock, done_ns by poll */
	uint32_t stream;
	enum lull_camera_clock packet_clock;
	uint64_t wait_ns; /**< fetching its last packet to hand-over, CLOCK_MONOTONIC */
	void *user;
};

/** Per stream; any thread. */
struct lull_camera_counters {
	uint64_t pkts, bytes;
	uint64_t malformed, foreign, other, nothing; /**< by the protocol */
	uint64_t source_mismatch;                    /**< from a source that is not configured */
	uint64_t given, fetched, put, refused;       /**< images; refused: put twice or foreign */
	uint64_t rows_late;                          /**< row callbacks that took over 100 us */
	uint64_t requests, requested, repaired,
		gone;          /**< resend: messages, packets, frames, packets */
	uint64_t control_lost; /**< times the heartbeat failed */
};
extern const struct lull_counter_info lull_camera_counter_table[];
/** Of the whole receiver; any thread. */
struct lull_camera_totals {
	uint64_t pkts, bytes, unclaimed; /**< unclaimed: for no stream */
	uint64_t missed;                 /**< lost by port or sockets, where they tell */
	uint64_t errors;
	uint64_t
		gaps_late; /**< turns that began over 100 us after the last ended, rests left out */
	/** dpdk:PORT,exception=NAME: through the TAP, and what one of both sides did not take. */
	uint64_t to_kernel, from_kernel, kernel_lost;
	uint64_t cpu_ns, steal_ns, wall_ns; /**< of the receiving thread since start */
};
extern const struct lull_counter_info lull_camera_totals_table[];

enum lull_camera_figure {
	LULL_CAMERA_LATENCY,  /**< last packet to hand-over, ns */
	LULL_CAMERA_ASSEMBLY, /**< first to last packet */
	LULL_CAMERA_PERIOD,   /**< between frames */
	LULL_CAMERA_GAP, /**< between turns of the receiving thread, rests left out; no stream */
	LULL_CAMERA_FIGURE_COUNT
};

/** A GigE Vision camera that answered. */
struct lull_camera_found {
	char interface[16];        /**< it was asked on */
	char address[16], mac[18]; /**< "192.168.1.10", "02:00:00:00:00:01" */
	char maker[33], model[33], version[33], serial[17];
	char name[17];  /**< given by its user */
	bool reachable; /**< its address is in a network of the interface */
};
/**
 * Ask for GigE Vision cameras by broadcast, and wait so long for answers. No back end is needed.
 *
 * @param interface  NULL: all that are up and have an IPv4 address
 * @return how many answered, at most @p found_max of them in @p found, by interface and address;
 *         or a negative errno
 */
int lull_camera_discover(const char *interface, uint64_t wait_ns, struct lull_camera_found *found,
			 uint32_t found_max, char *error);

/** Start the back end: sockets or port. Leaves *camera NULL on failure. */
int lull_camera_open(const struct lull_camera_config *config, struct lull_camera **camera,
		     char *error);
/** Returns the stream's index (>= 0). Before start. */
int lull_camera_stream_add(struct lull_camera *camera, const struct lull_camera_stream *stream,
			   char *error);
/** After the streams were added; fills in at most @p count_max, returns how many there are. */
uint32_t lull_camera_check(struct lull_camera *camera, struct lull_finding *findings,
			   uint32_t count_max);
/** Check, then receive. -EPERM and the first wrong finding unless unchecked. */
int lull_camera_start(struct lull_camera *camera, char *error);
/**
 * The next image of @p stream (or of any); *image NULL and 0 when none came within @p timeout_ns
 * (UINT64_MAX: wait for ever), -ENODEV: none will ever come (end of file, closed).
 */
int lull_camera_get(struct lull_camera *camera, uint32_t stream, struct lull_camera_image **image,
		    uint64_t timeout_ns);
/** Give it back. 0, or -EINVAL: it is not out. */
int lull_camera_put(struct lull_camera *camera, struct lull_camera_image *image);
/** Wake a lull_camera_get() that waits; it returns 0 and NULL. Any thread, signal handlers too. */
void lull_camera_wake(struct lull_camera *camera);
/** Readable while images wait; for poll() and epoll. */
int lull_camera_fd(struct lull_camera *camera);
/**
 * One turn, for own_loop: receive, assemble, give. Returns the packets; *rest_until_ns: nothing is
 * due before, as far as packets do not come.
 */
uint32_t lull_camera_poll(struct lull_camera *camera, uint64_t now_ns, uint64_t *rest_until_ns);
int lull_camera_counters(struct lull_camera *camera, uint32_t stream,
			 struct lull_camera_counters *counters,
			 struct lull_assembler_counters *assembler);
void lull_camera_totals(struct lull_camera *camera, struct lull_camera_totals *totals);
/** A copy; @p stream is not looked at for GAP. */
int lull_camera_histogram(struct lull_camera *camera, uint32_t stream,
			  enum lull_camera_figure figure, struct lull_histogram *histogram);
const char *lull_camera_stream_name(struct lull_camera *camera, uint32_t stream);
uint32_t lull_camera_stream_count(struct lull_camera *camera);
/** Live: another governor or limits for the polling back ends. */
int lull_camera_change(struct lull_camera *camera, const char *governor,
		       const struct lull_idle_limits *limits);
/** Live: another scheduling class. -ENOTSUP where the thread is not the library's. */
int lull_camera_change_class(struct lull_camera *camera, enum lull_sched_policy policy);
/** Class of the receiving thread, after lull_camera_start(), and why, in words. -ENOTSUP. */
int lull_camera_class(const struct lull_camera *camera, struct lull_rest_thread_info *info,
		      char *text, size_t size);
/**
 * Stop receiving; -EBUSY while images are out: they stay valid, close again after the last put. Any
 * port is closed so that no program of ours stays on an interface.
 */
int lull_camera_close(struct lull_camera *camera);

#ifdef __cplusplus
}
#endif

#endif
