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
 *                      governor; ",exception=NAME" makes a TAP for what is no camera's,
 *                      ",mtu=BYTES" takes longer packets (",scatter=yes": in small buffers),
 *                      ",queues=N" and ",isolate=yes" steer by rules, ",ip=ADDRESS" is for IGMP
 *     pcap:FILE        a capture, as fast as it goes; ends at its end
 *
 * A program that receives until the capture ends:
 *
 * @code
 * #include <errno.h>
 * #include <stdio.h>
 * #include <lull/camera.h>
 *
 * int
 * main(void)
 * {
 *         struct lull_receiver_config config = { .backend = "pcap:camera.pcap" };
 *         struct lull_camera_stream stream = { .protocol = "rvf", .port = 5000 };
 *         struct lull_error error;
 *         struct lull_camera_image *image;
 *         struct lull_receiver *receiver;
 *
 *         if (lull_receiver_open(&config, &receiver, &error) != 0)
 *                 return fprintf(stderr, "%s\n", error.text), 1;
 *         if (lull_receiver_stream_add(receiver, &stream, &error) < 0 ||
 *             lull_receiver_start(receiver, &error) != 0) {
 *                 fprintf(stderr, "%s\n", error.text);
 *                 return lull_receiver_close(receiver), 1;
 *         }
 *         while (lull_receiver_get(receiver, LULL_CAMERA_ANY, &image, LULL_NS_PER_S) != -ENODEV) {
 *                 if (image == NULL)
 *                         continue;
 *                 printf("%u x %u pixels\n", image->frame.geometry.width,
 *                        image->frame.geometry.height);
 *                 lull_receiver_put(receiver, image);
 *         }
 *         return -lull_receiver_close(receiver);
 * }
 * @endcode
 *
 * Threads: open, add, start and close from one thread. Receiving runs on a thread of the library,
 *          with config own_loop where lull_receiver_poll() is called, with config direct where
 *          lull_receiver_get() is: there start, get and close are all called by one thread. Else
 *          get, and always put, wake and statistics from any thread, from the open until a close
 *          has returned 0: it waits for calls that are under way. Callbacks run on the receiving
 *          thread; they may put, but not get or close.
 * Memory:  buffers of the library, or of the application per stream. An image belongs to who got
 *          it until put; put twice, or of a foreign image, is an error, not a crash.
 * Versions: structs grow at their end. Set size in struct lull_receiver_config and in struct
 *          lull_camera_stream, and a program works with a newer library, and with an older one as
 *          long as it sets no member that one does not know.
 * Errors:  0 or a negative errno. A parameter @p error takes one sentence that says what is wrong
 *          and what to do. It may be NULL.
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

#define LULL_CAMERA_STREAMS_MAX 64 /**< streams of one receiver */
#define LULL_CAMERA_ANY UINT32_MAX /**< in the place of a stream: any */

struct lull_receiver; /* opaque */

struct lull_camera_packet;
/**
 * Called on the receiving thread with what it just fetched for any stream, before it is looked at;
 * must not block.
 */
typedef void lull_camera_packets(void *arg, const struct lull_camera_packet *packets,
				 uint32_t count);

/** Zero means the default in brackets. */
struct lull_receiver_config {
	/** sizeof(struct lull_receiver_config), for members newer than 0.1 [that of 0.1] */
	size_t size;
	const char *backend; /**< "kernel:veth0" ...; required */
	const char *program; /**< name for DPDK's files [lull-camera] */
	/** Governor of the polling back ends by name, "phase" too [phase]. */
	const char *governor;
	struct lull_idle_limits limits; /**< of the governor */
	uint64_t socket_bytes;          /**< receive buffer per socket [32 MiB] */
	uint32_t ring_pkts;             /**< slots of a port's queue [16384] */
	int cpu;                        /**< of the receiving thread plus 1 [0: any] */
	bool own_loop; /**< no thread: the application calls lull_receiver_poll() */
	/**
	 * No thread: lull_receiver_get() receives, and rests by the governor, on the thread that
	 * calls it. So no wake-up of a thread stands between an image and the application; but
	 * nothing is received while the application does something else.
	 */
	bool direct;
	bool unchecked;  /**< start although the self-check fails */
	const char *eal; /**< further EAL arguments [NULL] */
	/** Real-time class of the receiving thread while it rests [auto]; not with own_loop. */
	enum lull_sched_policy sched_policy;
	/** Limit on the C-states of its CPU, as struct lull_rest_thread_config has it [none]. */
	uint64_t cpu_latency_ns;
	/** Gets packets before the library looks at them [NULL]. */
	lull_camera_packets *packets;
	void *packets_arg; /**< passed to packets */
	/** Longest packet of a DPDK port that is no interface of the kernel, in bytes [1500]. */
	uint32_t mtu;
};

/** Pages of the buffers that the library makes. */
enum lull_camera_pages {
	/** present before the first packet; large ones where the kernel has them */
	LULL_CAMERA_PAGES_AUTO,
	/** the same, reserved huge pages (vm.nr_hugepages); where there are too few: as auto */
	LULL_CAMERA_PAGES_HUGE,
	/** small ones, each of which comes when it is first written to, which takes its time */
	LULL_CAMERA_PAGES_LAZY
};
/** Buffers that the application lends. */
struct lull_camera_buffers {
	uint8_t **data; /**< count addresses, 64-byte aligned, with room for a frame each */
	uint32_t count; /**< buffers */
};
/** Called on the receiving thread as rows become whole; must not block. */
typedef void lull_camera_rows(void *arg, uint32_t stream, uint64_t key, const uint8_t *data,
			      uint32_t first_row, uint32_t row_count);

/** Zero means the default in brackets. */
struct lull_camera_stream {
	/** sizeof(struct lull_camera_stream), for members newer than 0.1 [that of 0.1] */
	size_t size;
	const char *name;     /**< for statistics [cam0, cam1 ...] */
	const char *protocol; /**< of lull_frame_protocols; required */
	/**
	 * Where the packets are sent to: an IPv4 or IPv6 address, or for Ethernet protocols a MAC
	 * address [any address of the interface; for Ethernet protocols also all groups].
	 */
	const char *address;
	uint16_t port; /**< UDP; 0 only for Ethernet protocols and for gvsp with control */
	/**
	 * Only from this IP or MAC address; others count as source_mismatch [any; with control only
	 * from that camera's address and from the port that it names, unless this is "any"].
	 */
	const char *source;
	/** GVSP: take control of this camera (IP address, or MAC) and let it stream [NULL]. */
	const char *control;
	struct lull_frame_protocol_config settings; /**< of the protocol */
	/** Of each [as large as the pictures, and larger when these become larger]. */
	uint64_t buffer_bytes;
	uint32_t buffers; /**< how many [16] */
	/** Of all buffers; larger pictures are counted as oversize [1 GiB]. */
	uint64_t memory_bytes;
	struct lull_camera_buffers lent; /**< memory of the application [of the library] */
	/**
	 * Pages of the library's memory, which is on the node of the port [auto]. What became of it
	 * tells lull_receiver_check(). Of buffers whose size only the camera tells at most 64 MiB
	 * are present beforehand: they are made while its first picture comes.
	 */
	enum lull_camera_pages pages;
	uint32_t open_max;             /**< frames open at once, 1..16 [4] */
	uint64_t deadline_ns;          /**< [half a frame period once known, 20 ms before] */
	enum lull_frame_order order;   /**< [frame] */
	enum lull_frame_policy policy; /**< [drop newest] */
	bool resend;                   /**< GVSP with control: ask again for what is missing */
	uint32_t resend_ppm;           /**< requests per frame, of its packets [100000 = 10 %] */
	lull_camera_rows *rows;        /**< called as rows become whole [NULL] */
	void *rows_arg;                /**< passed to rows */
	uint32_t rows_step;            /**< rows per call [64] */
	/** Longest packet that the camera sends, in bytes from the IP header on; for the self-check
	 *  [as settings.packet_bytes] */
	uint32_t mtu;
};

/** Who made a time stamp. */
enum lull_camera_clock {
	LULL_CAMERA_CLOCK_NONE,   /**< there is no stamp */
	LULL_CAMERA_CLOCK_NIC,    /**< hardware */
	LULL_CAMERA_CLOCK_KERNEL, /**< the kernel on receiving (SO_TIMESTAMPNS), CLOCK_REALTIME */
	LULL_CAMERA_CLOCK_POLL,   /**< the receiving thread when it fetched it, CLOCK_MONOTONIC */
	LULL_CAMERA_CLOCK_FILE,   /**< the capture */
	LULL_CAMERA_CLOCK_DEVICE  /**< the sender, in its own unit */
};
/**
 * Name a clock, for messages and JSON.
 * @return "none", "nic", "kernel", "poll", "file" or "device"; "unknown" for any other value;
 *         static
 * Threads: any.
 */
const char *lull_camera_clock_name(enum lull_camera_clock clock);

/** Where the latency of an image begins: at its last packet, seen by ... */
enum lull_camera_origin {
	LULL_CAMERA_ORIGIN_NIC,    /**< the NIC, by its stamp */
	LULL_CAMERA_ORIGIN_KERNEL, /**< the kernel, by its stamp */
	/**
	 * Nobody: it came after the receiving thread had last looked and not found it. Latencies
	 * are upper bounds, by less than a rest or an iteration.
	 */
	LULL_CAMERA_ORIGIN_BOUND,
	LULL_CAMERA_ORIGIN_READ /**< who read it from a capture: there was no wire */
};
/**
 * Name an origin, for messages and JSON.
 * @return "nic", "kernel", "bound" or "read"; "unknown" for any other value; static
 * Threads: any.
 */
const char *lull_camera_origin_name(enum lull_camera_origin origin);

/** A packet as it came, without its headers; all of it borrowed. */
struct lull_camera_packet {
	const uint8_t *data;          /**< UDP payload, or what follows the ether type */
	uint32_t len_bytes;           /**< at data */
	uint64_t stamp_ns;            /**< when it came */
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
		frame;   /**< stamps: first_ns and last_ns by packet_clock, done_ns by poll */
	uint32_t stream; /**< index of its stream */
	enum lull_camera_clock packet_clock;  /**< of first_ns and last_ns */
	enum lull_camera_origin latency_from; /**< where latency_ns begins */
	uint64_t latency_ns; /**< its last packet to done_ns, when it could be fetched */
	void *user;          /**< the application's own */
};

/** Per stream; any thread. */
struct lull_camera_counters {
	uint64_t pkts, bytes; /**< received for the stream; of their payload */
	uint64_t malformed, foreign, other, nothing; /**< by the protocol */
	uint64_t source_mismatch;                    /**< from a source that is not configured */
	uint64_t given, fetched, put, refused;       /**< images; refused: put twice or foreign */
	uint64_t rows_late;                          /**< row callbacks that took over 100 us */
	uint64_t requests, requested, repaired,
		gone;          /**< resend: messages, packets, frames, packets */
	uint64_t control_lost; /**< times the heartbeat failed */
	uint64_t grown;        /**< times buffers became larger, for larger pictures */
	uint64_t unnamed;      /**< pixels that the protocol does not describe: set settings */
};
/** Name, unit and meaning of each member of struct lull_camera_counters, ended by a NULL name. */
extern const struct lull_counter_info lull_camera_counter_table[];
/** Of the whole receiver; any thread. */
struct lull_receiver_totals {
	uint64_t pkts, bytes, unclaimed; /**< unclaimed: for no stream */
	uint64_t missed;                 /**< lost by port or sockets, where they tell */
	uint64_t errors;                 /**< foreign images put, buffers refused */
	uint64_t
		/** iterations that began over 100 us after the last ended, rests left out */
		gaps_late;
	/** dpdk:PORT,exception=NAME: through the TAP, and what one of both sides did not take. */
	uint64_t to_kernel, from_kernel, kernel_lost;
	/** Packets without their end: cut in the capture, or longer than the port's MTU. */
	uint64_t cut;
	/** Packets with a wrong checksum, where no kernel has looked at it before. */
	uint64_t wrong_sum;
	uint64_t cpu_ns, steal_ns, wall_ns; /**< of the receiving thread since start */
};
/** Name, unit and meaning of each member of struct lull_receiver_totals, ended by a NULL name. */
extern const struct lull_counter_info lull_receiver_totals_table[];

/** Histograms of lull_receiver_histogram(), all in ns. */
enum lull_camera_figure {
	/** last packet to hand-over, when the image could be fetched; see lull_receiver_origin() */
	LULL_CAMERA_LATENCY,
	LULL_CAMERA_FETCHED,  /**< last packet to the application: lull_receiver_get() returns it */
	LULL_CAMERA_ASSEMBLY, /**< first to last packet */
	LULL_CAMERA_PERIOD,   /**< between frames */
	/** between iterations of the receiving thread, rests left out; no stream */
	LULL_CAMERA_GAP,
	LULL_CAMERA_FIGURE_COUNT /**< how many there are */
};

/** A GigE Vision camera that answered. */
struct lull_camera_found {
	char interface[16];        /**< it was asked on */
	char address[16], mac[18]; /**< "192.168.1.10", "02:00:00:00:00:01" */
	char maker[33], model[33], version[33], serial[17]; /**< as it says itself */
	char name[17];                                      /**< given by its user */
	bool reachable; /**< its address is in a network of the interface */
};
/**
 * Ask for GigE Vision cameras by broadcast, and collect answers for @p wait_ns. No receiver is
 * needed.
 * @param interface  its name; NULL: all that are up and have an IPv4 address
 * @param wait_ns    how long to wait; the call takes so long
 * @param found      out, sorted by interface and address
 * @param found_max  room in @p found
 * @param error      gets a sentence when the result is negative; may be NULL
 * @return how many cameras answered, which may be more than @p found_max; -ENODEV: there is no such
 *         interface, or none is up with an IPv4 address; another negative errno of the sockets
 * Threads: any.
 */
int lull_camera_discover(const char *interface, uint64_t wait_ns, struct lull_camera_found *found,
			 uint32_t found_max, struct lull_error *error);

/**
 * Make a receiver and open its back end: sockets or a port. Free it with lull_receiver_close().
 * @param config  copied; texts that it points at are borrowed until lull_receiver_close()
 * @param receiver  out; NULL on failure
 * @param error   gets a sentence on failure; may be NULL
 * @return 0; -EINVAL: unknown back end or governor; -ENOMEM; another negative errno of the back end
 */
int lull_receiver_open(const struct lull_receiver_config *config, struct lull_receiver **receiver,
		       struct lull_error *error);
/**
 * Add a stream. Call it before lull_receiver_start().
 * @param stream  copied; lent buffers are borrowed until lull_receiver_close()
 * @param error   gets a sentence on failure; may be NULL
 * @return the stream's index, 0, 1, 2 ...; -EINVAL: a member is missing or out of range; -EBUSY:
 *         already started; -ENOSPC: there are LULL_CAMERA_STREAMS_MAX streams; -ENOMEM; another
 *         negative errno of the back end
 */
int lull_receiver_stream_add(struct lull_receiver *receiver,
			     const struct lull_camera_stream *stream, struct lull_error *error);
/**
 * Check what may cost packets on this machine: buffers, rings, MTU, CPUs. Call it after the streams
 * were added; lull_receiver_start() does it too. After the start it also looks at the run so far.
 * @param findings   out; may be NULL when @p count_max is 0
 * @param count_max  room in @p findings
 * @return how many findings there are, which may be more than @p count_max
 */
uint32_t lull_receiver_check(struct lull_receiver *receiver, struct lull_finding *findings,
			     uint32_t count_max);
/**
 * Check this machine, take control of the cameras that streams name, and begin to receive.
 * @param error  gets a sentence on failure; may be NULL
 * @return 0; -EPERM: the check found something wrong (config unchecked: not looked at); -EINVAL:
 *         there is no stream; -EALREADY; -EBUSY: another application controls a camera; another
 *         negative errno of the back end
 * Threads: with config direct, which needs it, the one that will call lull_receiver_get(). It is
 *          moved to config cpu, and gets the scheduling class of a receiving thread, until the
 *          close.
 */
int lull_receiver_start(struct lull_receiver *receiver, struct lull_error *error);
/**
 * Get the next image, and wait for it if need be. The image belongs to the caller until
 * lull_receiver_put().
 * @param stream      its index, or LULL_CAMERA_ANY
 * @param image       out; NULL: none came in time, or lull_receiver_wake() was called
 * @param timeout_ns  longest wait; 0: do not wait; UINT64_MAX: wait for ever
 * @return 0, with or without an image; -ENODEV: no image will ever come, as the capture ended or
 *         the receiver was closed; -ENOBUFS: none will come before lull_receiver_resume(), as the
 *         stream (of any: each of them) ran out of buffers under LULL_FRAME_FAIL_STOP; -EINVAL: no
 *         such stream; with config direct also -EPERM: this is not the thread that started the
 *         receiver, or it has not been started; -EDEADLK: called from a callback
 * Threads: any; with config direct the one that started the receiver.
 */
int lull_receiver_get(struct lull_receiver *receiver, uint32_t stream,
		      struct lull_camera_image **image, uint64_t timeout_ns);
/**
 * Give an image back. Its memory is used for later frames.
 * @return 0; -EINVAL: the image is not out, or not of this receiver (counters refused and errors)
 * Threads: any.
 */
int lull_receiver_put(struct lull_receiver *receiver, struct lull_camera_image *image);
/**
 * Go on with a stream that has stopped under LULL_FRAME_FAIL_STOP, from its next packet on. Put
 * images back before, or it stops again.
 * @param stream  its index
 * @return 0; -EINVAL: no such stream
 * Threads: any.
 */
int lull_receiver_resume(struct lull_receiver *receiver, uint32_t stream);
/**
 * Wake a lull_receiver_get() that waits, or the next one that would wait. It returns 0 and no
 * image. Threads: any; signal handlers too.
 */
void lull_receiver_wake(struct lull_receiver *receiver);
/**
 * Give a descriptor for poll(2) and epoll(7). It is readable while images wait, and after the end.
 * Do not read or close it.
 * @return the descriptor; it lives until lull_receiver_close(). -ENOTSUP: config direct, where
 *         nothing comes while nobody calls lull_receiver_get()
 * Threads: any.
 */
int lull_receiver_fd(struct lull_receiver *receiver);
/**
 * Do one iteration of receiving, for config own_loop: receive, assemble, give images.
 * @param now_ns         clock now, of lull_clock_ns()
 * @param rest_until_ns  out: nothing is due before this time unless packets come; UINT64_MAX:
 *                       nothing at all
 * @return packets received; 0 before the start and after the end
 * Threads: one and the same for all calls.
 */
uint32_t lull_receiver_poll(struct lull_receiver *receiver, uint64_t now_ns,
			    uint64_t *rest_until_ns);
/**
 * Copy the counters of a stream.
 * @param stream     its index
 * @param counters   out
 * @param assembler  out: those of its assembler; may be NULL
 * @return 0; -EINVAL: no such stream
 * Threads: any.
 */
int lull_receiver_counters(struct lull_receiver *receiver, uint32_t stream,
			   struct lull_camera_counters *counters,
			   struct lull_assembler_counters *assembler);
/**
 * Copy the counters of the whole receiver.
 * @param totals  out
 * Threads: any.
 */
void lull_receiver_totals(struct lull_receiver *receiver, struct lull_receiver_totals *totals);
/**
 * Copy a histogram, in ns, since the start.
 * @param stream     its index; not looked at for LULL_CAMERA_GAP
 * @param histogram  out
 * @return 0; -EINVAL: no such stream or figure
 * Threads: any.
 */
int lull_receiver_histogram(struct lull_receiver *receiver, uint32_t stream,
			    enum lull_camera_figure figure, struct lull_histogram *histogram);
/**
 * Tell where the latencies of this receiver begin. It depends on the back end alone.
 * @return also in each image, as latency_from
 * Threads: any.
 */
enum lull_camera_origin lull_receiver_origin(const struct lull_receiver *receiver);
/**
 * Name a stream, as configured or "cam0", "cam1" ...
 * @return its name, until lull_receiver_close(); NULL: no such stream
 * Threads: any.
 */
const char *lull_receiver_stream_name(struct lull_receiver *receiver, uint32_t stream);
/**
 * Count the streams added so far.
 * @return 0..LULL_CAMERA_STREAMS_MAX
 * Threads: any.
 */
uint32_t lull_receiver_stream_count(struct lull_receiver *receiver);
/**
 * Change governor or limits of the receiving thread; takes effect within one rest.
 * @param governor  its name; NULL: keep the present one
 * @param limits    copied; NULL: keep the present ones
 * @return 0; -EINVAL: no such governor, or limits that do not fit; -ENOTSUP: the back end blocks in
 *         the kernel, or the application has the loop; -EAGAIN: the thread has not taken the
 *         change before yet; -ENODEV: the receiver was closed
 * Threads: any.
 */
int lull_receiver_change(struct lull_receiver *receiver, const char *governor,
			 const struct lull_idle_limits *limits);
/**
 * Change the scheduling class of the receiving thread while it runs.
 * @return 0; -ENOTSUP: the thread is not the library's, or not yet started
 * Threads: any.
 */
int lull_receiver_change_class(struct lull_receiver *receiver, enum lull_sched_policy policy);
/**
 * Change the limit on the C-states of the CPU that the receiving thread is bound to.
 * @param cpu_latency_ns  as struct lull_rest_thread_config has it
 * @return 0; -ENOTSUP: the thread is not the library's, or not yet started
 * Threads: any.
 */
int lull_receiver_change_cpu_latency(struct lull_receiver *receiver, uint64_t cpu_latency_ns);
/**
 * Tell the scheduling class of the receiving thread, and why it is that one.
 * @param info  out
 * @param text  out: a sentence, "" when there is nothing to say; cut to @p size bytes
 * @param size  bytes of @p text, at least 1
 * @return 0; -ENOTSUP: the thread is not the library's, or not yet started
 * Threads: any.
 */
int lull_receiver_class(struct lull_receiver *receiver, struct lull_rest_thread_info *info,
			char *text, size_t size);
/**
 * Stop receiving, close the back end, and free the receiver. On a port, no program of ours stays on
 * the interface.
 * @param receiver  NULL is ignored
 * @return 0; -EBUSY: images are out. They stay valid; call it again after the last
 *         lull_receiver_put(). -EDEADLK: called from a callback; -EPERM: config direct, and not the
 *         thread that started it; nothing was done then
 */
int lull_receiver_close(struct lull_receiver *receiver);

#ifdef __cplusplus
}
#endif

#endif
