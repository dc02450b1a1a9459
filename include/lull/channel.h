/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Channel: several network ports of a node as one reliable link to other nodes.
 *
 * Open a channel with its rails, start it, connect to a node by name, and send and receive messages
 * by endpoint, tag and ignore bits; or write and read a stream of bytes. Messages of one endpoint
 * to another match in the order in which they were sent. Each is given exactly once, whole, or ends
 * with one error. The channel rests while nothing is to do.
 *
 * Threads: every function may be called from any thread, unless its comment says less. Without
 *          own_loop the channel has one thread of its own, which moves the packets of all rails.
 *          With own_loop it has none: packets move inside lull_channel_poll() and the functions
 *          that wait. Who calls none of them for longer is silent to its peers, also right after
 *          it connected, but for stand_in.
 * Memory:  lull_channel_start() sets all memory aside for peers_max peers, nothing afterwards.
 *          Buffers are the channel's from the call until their completion.
 * Errors:  0 or a negative errno; @p error, which may be NULL, has one sentence with the way out.
 *          -EAGAIN: no room now, poll or wait, then try again. -EMSGSIZE: longer than 32 GiB, or
 *          the buffer was too short: what fits was placed. -ENOTCONN: no such peer.
 *          -EHOSTUNREACH: no rail reaches it. -ETIMEDOUT: nobody answered, as it does not run or
 *          has another key. -ECONNRESET: the peer began anew or is gone. -ECANCELED: cancelled.
 *          -ECONNREFUSED: no such endpoint there. -ENODEV: no such rail. -ENOMEM, -ENOBUFS: no
 *          memory, a bound of the configuration. -EPERM: others may read the key file. -EINVAL: a
 *          member out of its range. -EINTR: lull_channel_wake() ended a wait. -EPIPE: the stream
 *          was shut here.
 */
#ifndef LULL_CHANNEL_H
#define LULL_CHANNEL_H

#include "base.h"
#include "finding.h"
#include "histogram.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_CHANNEL_RAILS_MAX 16
#define LULL_CHANNEL_NAME_SIZE 32          /**< of a node, its zero included */
#define LULL_CHANNEL_ADDRESS_SIZE 64       /**< of lull_channel_address() */
#define LULL_CHANNEL_ANY UINT32_MAX        /**< any source */
#define LULL_CHANNEL_SELF (UINT32_MAX - 1) /**< this channel, as a peer and as a source */
#define LULL_CHANNEL_FOREVER UINT64_MAX    /**< no time limit */

/** How packets are protected. */
enum lull_channel_security {
	LULL_CHANNEL_SEALED, /**< encrypted and authenticated; the default with a key */
	LULL_CHANNEL_SIGNED, /**< authenticated, may be read by others */
	LULL_CHANNEL_OPEN,   /**< neither: keeps out accidents, not attackers */
};
/**
 * Name a security.
 * @return "sealed", "signed" or "open"; static
 */
const char *lull_channel_security_name(enum lull_channel_security security);

/** Zero means the default in brackets. All is copied by lull_channel_open(). */
struct lull_channel_config {
	const char
		*name; /**< of this node: 1..31 printable characters without blanks [host name] */
	/**
	 * Rails: "kernel:IF[,port=N]", "kernel-busy:IF[,port=N]", "dpdk:DEVICE", "pair:NAME";
	 * "node:[SOCKET]": all rails of lull-channel-node, or one of them with ",rail=N";
	 * "node-busy:[SOCKET]": the same, polled. Others of this node are reached directly.
	 */
	const char *rails[LULL_CHANNEL_RAILS_MAX];
	uint32_t rail_count;  /**< 1..16 */
	const char *key_file; /**< required but for `open` */
	enum lull_channel_security security;
	uint16_t endpoint;         /**< of this process at its node, below 65535 [0] */
	const char *governor;      /**< rests of polled rails, also of callers [phase] */
	uint64_t max_latency_ns;   /**< longest rest, 1 us..100 ms [1 ms] */
	const char *spread;        /**< pull, turn, weigh [pull] */
	const char *control;       /**< delay, fixed [delay] */
	uint32_t peers_max;        /**< 1..1024 [64] */
	uint64_t unexpected_bytes; /**< per peer, of messages nobody receives yet [1 MiB] */
	uint32_t operations_max;   /**< sends and receives under way, 16..1048576 [4096] */
	uint64_t peer_timeout_ns;  /**< 100 ms..1 h [10 s] */
	bool own_loop;             /**< no thread: the caller polls */
	/**
	 * With own_loop: a thread moves packets while no caller does for some 2 ms, so that peers
	 * are answered meanwhile. It rests as long as somebody polls or waits.
	 */
	bool stand_in;
	/**
	 * Called by the channel's own thread, or by the one that stands in, after it changed what
	 * callers may wait for: a connection, a completion, room. It may call every function of
	 * the channel but lull_channel_close(), and must not wait. NULL: nothing is called.
	 */
	void (*changed)(void *context);
	void *changed_context; /**< handed to it; the caller's, until lull_channel_close() */
	int cpu;               /**< of the channel's thread, plus 1; 0: any */
	bool unchecked;        /**< start although lull_channel_check() finds what is wrong */
	const char *eal;       /**< further EAL arguments of dpdk: rails */
};

/** A channel. */
struct lull_channel;

/**
 * Open a channel: rails, keys and memory, no packets yet.
 * @return 0, -EINVAL, -EPERM, -ENODEV, -ENOMEM, -EBUSY: both ends of a pair are taken,
 *         -EADDRINUSE: another program has the port that was named ...
 */
int lull_channel_open(const struct lull_channel_config *config, struct lull_channel **channel,
		      struct lull_error *error);
/**
 * Begin to move packets and to answer peers. Once.
 * @return 0, -ENOMEM, -EINVAL: it was started, -EPERM: the check finds something wrong
 */
int lull_channel_start(struct lull_channel *channel, struct lull_error *error);
/**
 * End: what was accepted for sending is sent for at most @p linger_ns, then every pending
 * operation ends without a completion, and all memory is given back. NULL does nothing.
 * Threads: one; nobody else may use the channel any more.
 */
void lull_channel_close(struct lull_channel *channel, uint64_t linger_ns);

/**
 * Look for what would lose packets, make them slow, or let others in: MTU, link, speed and receive
 * buffer of each rail, the CPU, `open` security.
 * @param lines      out: one finding each, with its remedy; at most count_max are written
 * @param count_max  room in @p lines
 * @return how many findings there are
 */
uint32_t lull_channel_check(struct lull_channel *channel, struct lull_finding *lines,
			    uint32_t count_max);

/**
 * Where others reach this channel: its name and rails, opaque bytes for
 * lull_channel_connect_address() elsewhere.
 * @return bytes written, at most LULL_CHANNEL_ADDRESS_SIZE
 */
uint32_t lull_channel_address(struct lull_channel *channel,
			      uint8_t address[LULL_CHANNEL_ADDRESS_SIZE]);
/**
 * Connect to a node by its name, asked for on every rail. Waits until it answers; one that is
 * connected, also from its side, is found at once.
 * @param peer  out: its number
 * @return 0, -ETIMEDOUT, -EHOSTUNREACH, -ECONNRESET: it answered, and no path to it came up,
 *         -ENOBUFS, -EINTR, -EINVAL: no such name, or the channel does not run
 */
int lull_channel_connect(struct lull_channel *channel, const char *name, uint64_t limit_ns,
			 uint32_t *peer, struct lull_error *error);
/**
 * Connect to the node at an address of lull_channel_address().
 * @return as lull_channel_connect()
 */
int lull_channel_connect_address(struct lull_channel *channel, const uint8_t *address,
				 uint32_t address_bytes, uint64_t limit_ns, uint32_t *peer,
				 struct lull_error *error);
/**
 * Begin to connect to the node at an address, and do not wait. The number is the peer's from now
 * on: it can be named as a source at once, and sends to it are -EAGAIN until it is there. When it
 * does not answer in time, receives from it end with -ECONNRESET. Also when it is gone the number
 * is nobody else's before lull_channel_disconnect().
 * @return 0: also when it is connected; -EAGAIN: the last connection with it still ends;
 *         -EHOSTUNREACH, -ENOBUFS, -EINVAL
 */
int lull_channel_connect_begin(struct lull_channel *channel, const uint8_t *address,
			       uint32_t address_bytes, uint64_t limit_ns, uint32_t *peer,
			       struct lull_error *error);
/**
 * Wait until somebody connects to us; each is told of once.
 * @return 0 and the peer's number; -ETIMEDOUT, -EINTR, -EINVAL: the channel does not run
 */
int lull_channel_accept(struct lull_channel *channel, uint64_t limit_ns, uint32_t *peer);
/**
 * End a connection; what was accepted for sending is sent for at most @p linger_ns. Of a peer of
 * lull_channel_connect_begin() that is gone: give its number back.
 * @return 0, -ENOTCONN
 */
int lull_channel_disconnect(struct lull_channel *channel, uint32_t peer, uint64_t linger_ns);

/* ---- messages ---- */

/** A message to send. */
struct lull_channel_message {
	const void *data;
	uint64_t len_bytes;
	uint64_t tag, user; /**< user: 64 bits that only the receiver reads */
	uint16_t endpoint;  /**< there */
	bool matched;       /**< complete only when a receive has taken it; else when it is there,
			     * and lost if its peer ends before somebody receives it */
};
/** What is to be received. */
struct lull_channel_receive {
	uint32_t source;      /**< a peer, LULL_CHANNEL_SELF, or LULL_CHANNEL_ANY */
	uint64_t tag, ignore; /**< bits of the tag that do not count */
	void *buffer;
	uint64_t size_bytes;
};
/** An operation has ended. */
struct lull_channel_completion {
	void *context;
	bool sent; /**< a send; else a receive */
	int error; /**< 0 or a negative errno */
	uint32_t peer;
	uint64_t len_bytes; /**< of the message; at most size_bytes of it were placed */
	uint64_t tag, user;
	uint16_t endpoint; /**< of the sender */
};
/**
 * Send; never waits.
 * @param peer     LULL_CHANNEL_SELF: complete when a receive here has taken it
 * @param context  of its completion; one per operation under way
 * @return 0: a completion follows; -EAGAIN, also while a connection begins; -ENOTCONN, -EMSGSIZE,
 *         -EINVAL: the endpoint of streams
 */
int lull_channel_send(struct lull_channel *channel, uint32_t peer,
		      const struct lull_channel_message *message, void *context);
/**
 * Receive; never waits.
 * @return 0: a completion follows; -EAGAIN, -ENOTCONN: the source is no peer
 */
int lull_channel_recv(struct lull_channel *channel, const struct lull_channel_receive *receive,
		      void *context);
/**
 * Look for a message that waits for its receive.
 * @param found  out; a message that was claimed (context) can only be received by
 *               lull_channel_claimed()
 * @return 0, -ENOMSG: none now
 */
int lull_channel_peek(struct lull_channel *channel, const struct lull_channel_receive *wanted,
		      struct lull_channel_completion *found);
/**
 * Look for a message that waits, and keep it: nobody else gets it.
 * @param claim  out, for lull_channel_claimed()
 * @return 0, -ENOMSG: none now, -EAGAIN: no room for another operation
 */
int lull_channel_claim(struct lull_channel *channel, const struct lull_channel_receive *wanted,
		       struct lull_channel_completion *found, uint64_t *claim);
/**
 * Receive a message that was claimed.
 * @return 0: a completion follows; -ENOENT: it was received, or its peer is gone
 */
int lull_channel_claimed(struct lull_channel *channel, uint64_t claim, void *buffer,
			 uint64_t size_bytes, void *context);
/**
 * Cancel an operation: a receive that no message has matched yet, a send none of which has gone.
 * Its completion has -ECANCELED.
 * @return 0, -ENOENT: no such operation, or too late
 */
int lull_channel_cancel(struct lull_channel *channel, const void *context);
/**
 * Take completions.
 * @param limit_ns  how long to wait for the first; 0: not at all
 * @return how many, 0..count
 */
uint32_t lull_channel_done(struct lull_channel *channel,
			   struct lull_channel_completion *completions, uint32_t count,
			   uint64_t limit_ns);

/**
 * Count what callers may wait for: ends of operations, messages that came, peers that came or went,
 * calls of lull_channel_wake().
 * @return the count, for lull_channel_rest()
 */
uint64_t lull_channel_changes(struct lull_channel *channel);
/**
 * Rest until something changes, and take nothing: for loops that look at more than the channel.
 * Other threads may call anything meanwhile. With own_loop it goes by the governor, and does not
 * rest while a message is partly here.
 * @param changes   what lull_channel_changes() said before the caller looked: what has changed
 *                  since then ends it at once
 * @param limit_ns  longest rest
 * @return 0: something has changed; -ETIMEDOUT
 */
int lull_channel_rest(struct lull_channel *channel, uint64_t changes, uint64_t limit_ns);

/* ---- a stream of bytes ---- */

/**
 * Write to a peer's stream: all of it, waiting for room. The bytes are copied; 512 KiB may be on
 * their way, and as many wait to be read.
 * @return bytes taken: @p len_bytes, or fewer when @p limit_ns is over; a negative errno
 */
int64_t lull_channel_write(struct lull_channel *channel, uint32_t peer, const void *data,
			   uint64_t len_bytes, uint64_t limit_ns);
/**
 * Read from a peer's stream: what is there, at least one byte. What has come stays readable when
 * the peer is gone, until another one has its number.
 * @return bytes; 0: the peer has shut it, and all was read; -ETIMEDOUT; -ECONNRESET: the peer is
 *         gone and did not shut it; another negative errno
 */
int64_t lull_channel_read(struct lull_channel *channel, uint32_t peer, void *buffer,
			  uint64_t size_bytes, uint64_t limit_ns);
/**
 * Write no more: the peer reads the rest, then 0. Reading goes on. Waits until all that was written
 * is there.
 * @return 0, -ETIMEDOUT: not yet, call it again; -ENOTCONN, -ECONNRESET
 */
int lull_channel_shut(struct lull_channel *channel, uint32_t peer, uint64_t limit_ns);

/* ---- turning ---- */

/** With own_loop: one poll iteration, without a rest. @return packets received; else 0 */
uint32_t lull_channel_poll(struct lull_channel *channel);
/**
 * A descriptor for poll(): readable while completions wait.
 * @return the descriptor, which stays the channel's; -ENOSYS with own_loop
 */
int lull_channel_fd(struct lull_channel *channel);
/** End a lull_channel_done(), rest, read or connect that waits, with what it has. */
void lull_channel_wake(struct lull_channel *channel);

/* ---- change and look ---- */

/**
 * Change the governor (NULL: keep) and the longest rest (0: keep) while it runs. A thread whose
 * rails are all of kernel: blocks until packets come; it goes by them when it gets a rail that is
 * polled.
 * @return 0, -EINVAL, -EAGAIN: it has not taken the last change yet
 */
int lull_channel_change(struct lull_channel *channel, const char *governor, uint64_t max_latency_ns,
			struct lull_error *error);
/** Add a rail while it runs. @return its number, -ENOSPC: there are 16; another negative errno */
int lull_channel_rail_add(struct lull_channel *channel, const char *rail, struct lull_error *error);
/**
 * Take a rail away; what is under way there goes over the others.
 * @return 0, -ENODEV
 */
int lull_channel_rail_remove(struct lull_channel *channel, uint32_t rail, struct lull_error *error);

struct lull_bundle_counters; /* lull/bundle.h: counters of the bundle */
struct lull_bundle_peer_look;
struct lull_bundle_path_look;
/** Counters of all packets; rows in lull_bundle_counter_table. */
void lull_channel_counters(struct lull_channel *channel, struct lull_bundle_counters *counters);
/** Look at a peer. @return 0, -ENOENT */
int lull_channel_peer_look(struct lull_channel *channel, uint32_t peer,
			   struct lull_bundle_peer_look *look);
/** Look at a path of a peer. @return 0, -ENOENT */
int lull_channel_path_look(struct lull_channel *channel, uint32_t peer, uint32_t index,
			   struct lull_bundle_path_look *look);
/** A rail. */
struct lull_channel_rail_look {
	char text[128];           /**< as it was configured */
	uint32_t mtu_bytes, mbps; /**< mbps 0: not known */
	bool up;
	uint64_t rx_pkts, tx_pkts, missed_pkts; /**< missed: lost for want of room here */
	/** Of a rail "node:": other processes of this node that it reaches directly. */
	uint32_t neighbours;
	uint64_t direct_rx_pkts, direct_tx_pkts; /**< from and to them: part of rx and tx */
};
/** Look at a rail. @return 0, -ENODEV */
int lull_channel_rail_look(struct lull_channel *channel, uint32_t rail,
			   struct lull_channel_rail_look *look);
/** Copy a histogram, ns: from a send to its completion, of messages up to a quantum and longer. */
void lull_channel_histogram(struct lull_channel *channel, bool longer,
			    struct lull_histogram *histogram);

#ifdef __cplusplus
}
#endif

#endif
