/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Bundle: several network ports as one reliable link to each of several nodes.
 *
 * The whole protocol of the channel as one state machine (docs/channel.md). It has no clock, no
 * input or output, no memory and no random numbers of its own. Its caller says what time it is,
 * hands in the packets that came, and takes those that are to be sent:
 *
 * @code
 * #include <lull/bundle.h>
 *
 * void
 * iterate(struct lull_bundle *bundle, uint64_t now_ns, uint32_t rail, uint8_t *packet,
 *         uint32_t len_bytes, const struct lull_bundle_address *from)
 * {
 *         static uint8_t bytes[1500];
 *         struct lull_bundle_packet out = { .bytes = bytes, .room_bytes = sizeof(bytes) };
 *         struct lull_bundle_event event;
 *
 *         lull_bundle_look(bundle, now_ns, rail);
 *         if (len_bytes > 0)
 *                 lull_bundle_rx(bundle, now_ns, rail, packet, len_bytes, from);
 *         lull_bundle_run(bundle, now_ns);
 *         while (lull_bundle_next(bundle, &event))
 *                 ;
 *         while (lull_bundle_tx(bundle, now_ns, rail, &out, 1) == 1)
 *                 ;
 * }
 * @endcode
 *
 * Words: a *rail* is a local port. A *path* is a pair of rails, one at each end. A *peer* is
 * another node with which keys and an epoch are agreed. A *packet* is what is on the wire. A
 * *message* is cut into *pieces* of one size. A *quantum* is 8 packets.
 *
 * Threads: none; a bundle belongs to the thread that calls it. The look functions read counters
 *          relaxed and may be called from any thread.
 * Memory:  lives in lull_bundle_size() bytes that the caller provides, aligned to
 *          LULL_CACHE_LINE. Buffers of messages are the caller's again with the event that ends
 *          them.
 * Errors:  0 or a negative errno.
 */
#ifndef LULL_BUNDLE_H
#define LULL_BUNDLE_H

#include "base.h"
#include "histogram.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_BUNDLE_RAILS_MAX 16           /**< rails of a node */
#define LULL_BUNDLE_PATHS_MAX 16           /**< paths to a peer */
#define LULL_BUNDLE_PEERS_MAX 1024         /**< peers of a node */
#define LULL_BUNDLE_ADDRESS_SIZE 20        /**< bytes of the longest address of a rail */
#define LULL_BUNDLE_NAME_SIZE 32           /**< of a node's name, its zero included */
#define LULL_BUNDLE_TARGETS_MAX 8          /**< addresses that a connect tries */
#define LULL_BUNDLE_QUANTUM_PKTS 8         /**< what a path takes at once */
#define LULL_BUNDLE_PACKET_BYTES_MIN 600   /**< least MTU of a rail, as the bundle counts it */
#define LULL_BUNDLE_PACKET_BYTES_MAX 65535 /**< the most */
#define LULL_BUNDLE_MESSAGE_BYTES_MAX (32ULL << 30) /**< longest message */
#define LULL_BUNDLE_ANY UINT32_MAX                  /**< no rail, no peer */
#define LULL_BUNDLE_NEVER UINT64_MAX                /**< no deadline */

/**
 * Where a packet goes to or comes from on a rail, as the one who carries packets writes it; the
 * bundle copies and compares it only. A length of 0 means: whoever hears it on this rail.
 */
struct lull_bundle_address {
	uint8_t len_bytes;
	uint8_t bytes[LULL_BUNDLE_ADDRESS_SIZE];
};

/** A local port. */
struct lull_bundle_rail {
	uint8_t kind; /**< rails of one kind can reach each other: a number of who carries them */
	struct lull_bundle_address address; /**< where others reach it */
	uint32_t packet_bytes; /**< longest packet, from the first byte of the header to the tag */
	uint32_t ring_pkts;    /**< packets that wait for the thread while it rests, at least 16 */
	uint64_t rate_bps;     /**< declared speed, for the spread `weigh` alone; 0: unknown */
};

struct lull_bundle_control; /* core/bundle/control.h */
struct lull_bundle_spread;  /* core/bundle/spread.h */
/** Every congestion control, ended by NULL: delay, fixed. The first is the default. */
extern const struct lull_bundle_control *const lull_bundle_controls[];
/** Every rule that spreads packets over paths, ended by NULL: pull, turn, weigh. */
extern const struct lull_bundle_spread *const lull_bundle_spreads[];
/**
 * Find a control by its name.
 * @return static; NULL: none has this name
 * Threads: any.
 */
const struct lull_bundle_control *lull_bundle_control_find(const char *name);
/**
 * Find a spread by its name.
 * @return static; NULL: none has this name
 * Threads: any.
 */
const struct lull_bundle_spread *lull_bundle_spread_find(const char *name);
/**
 * Name a control, as lull_bundle_control_find() takes it.
 * @return its name; static
 * Threads: any.
 */
const char *lull_bundle_control_name(const struct lull_bundle_control *control);
/**
 * Describe a control in one line, for --help.
 * @return the line, without a line feed; static
 * Threads: any.
 */
const char *lull_bundle_control_summary(const struct lull_bundle_control *control);
/**
 * Name a spread, as lull_bundle_spread_find() takes it.
 * @return its name; static
 * Threads: any.
 */
const char *lull_bundle_spread_name(const struct lull_bundle_spread *spread);
/**
 * Describe a spread in one line, for --help.
 * @return the line, without a line feed; static
 * Threads: any.
 */
const char *lull_bundle_spread_summary(const struct lull_bundle_spread *spread);

/** What makes a nonce: no two packets of an epoch and direction have the same. */
struct lull_bundle_nonce {
	uint64_t psn;        /**< number of the packet on its path, from 1 */
	uint32_t generation; /**< of the key: 0, then one more each 2^24 packets */
	uint8_t path;        /**< the path byte of the packet's header */
};

/**
 * How packets are protected and nodes agree on keys: a table of functions with state in the
 * bundle's memory. lull_bundle_open_security has no secrets; channel/ has those that do.
 *
 * A handshake is two messages: hello and answer. Its payloads are what the two sides tell each
 * other; they are as secret as the table makes them.
 */
struct lull_bundle_security {
	const char *name;         /**< "open", "signed", "sealed" */
	uint32_t tag_bytes;       /**< behind each packet of an epoch, 4..16 */
	uint32_t handshake_bytes; /**< state of a handshake under way, aligned to 8 bytes */
	/**
	 * State of an epoch, aligned to 8 bytes; zeros at first, as after forget(). It may own
	 * more, which answer_write() and answer_read() free where it stands.
	 */
	uint32_t keys_bytes;
	uint32_t hello_bytes; /**< hello_write() adds at most so many to its payload */
	/** Names the secret, so that a node with several finds the right one; never the secret. */
	uint32_t (*key_id)(void *arg);
	/** Fill @p bytes with random bytes that nobody can guess. */
	void (*random)(void *arg, uint8_t *bytes, uint32_t count);
	/**
	 * Begin a handshake. @p out: room_bytes of room. Returns bytes written, or a negative
	 * errno. @p prologue is what both sides bind the handshake to.
	 */
	int (*hello_write)(void *arg, void *handshake, const uint8_t *prologue,
			   uint32_t prologue_bytes, const uint8_t *payload, uint32_t payload_bytes,
			   uint8_t *out, uint32_t room_bytes);
	/** Read a hello. Returns bytes of the payload, or -EACCES: not made with our secret. */
	int (*hello_read)(void *arg, void *handshake, uint32_t key_id, const uint8_t *prologue,
			  uint32_t prologue_bytes, const uint8_t *in, uint32_t in_bytes,
			  uint8_t *payload, uint32_t room_bytes);
	/** Answer the hello that was read into @p handshake; @p keys are ready then. */
	int (*answer_write)(void *arg, void *handshake, void *keys, const uint8_t *payload,
			    uint32_t payload_bytes, uint8_t *out, uint32_t room_bytes);
	/** Read the answer to the hello that was written with @p handshake; @p keys are ready. */
	int (*answer_read)(void *arg, void *handshake, void *keys, const uint8_t *in,
			   uint32_t in_bytes, uint8_t *payload, uint32_t room_bytes);
	/**
	 * Protect a packet of our direction: the first header_bytes may be read by anyone, what is
	 * behind them up to len_bytes is encrypted in place, the tag goes behind it.
	 */
	void (*seal)(void *keys, const struct lull_bundle_nonce *nonce, uint8_t *packet,
		     uint32_t header_bytes, uint32_t len_bytes);
	/** The other direction; @p len_bytes without the tag. False: not what was sent. */
	bool (*open)(void *keys, const struct lull_bundle_nonce *nonce, uint8_t *packet,
		     uint32_t header_bytes, uint32_t len_bytes);
	/** Wipe the state of an epoch or a handshake; either may be NULL. */
	void (*forget)(void *arg, void *handshake, void *keys);
};
/**
 * No secrets: a CRC-32C that begins with the epoch's token. It keeps out accidents, not attackers.
 * Its argument is a struct lull_bundle_open.
 */
extern const struct lull_bundle_security lull_bundle_open_security;
/** What lull_bundle_open_security needs from its caller. */
struct lull_bundle_open {
	/** Random bytes, for tokens, indices and challenges. */
	void (*random)(void *arg, uint8_t *bytes, uint32_t count);
	void *arg;
};

/** Zero means the default in brackets. */
struct lull_bundle_config {
	char name[LULL_BUNDLE_NAME_SIZE]; /**< of this node, 1..31 bytes */
	uint64_t node_id;                 /**< of this start of the node, not 0 */
	const struct lull_bundle_security *security;
	void *security_arg;
	const struct lull_bundle_control *control; /**< [delay] */
	const struct lull_bundle_spread *spread;   /**< [pull] */
	uint32_t fixed_window_pkts; /**< of the control `fixed`, 8..1024 packets [64] */
	uint32_t peers_max;         /**< 1..1024 [64] */
	uint32_t messages_max; /**< under way to a peer at once, a power of two, 16..4096 [256] */
	uint32_t window_pkts_max;   /**< under way on a path, a power of two, 64..1024 [1024] */
	uint32_t unexpected_pieces; /**< kept per peer until accepted, 64..65535 [716] */
	uint32_t piece_bytes_max;   /**< size of such a piece, 512..65528, a multiple of 8 [1464] */
	uint64_t peer_timeout_ns;   /**< silence of a peer that ends it, 100 ms..1 h [10 s] */
	/** between probes of a path at rest, 10 ms..1 h [1 s]; at most a quarter of the former */
	uint64_t idle_probe_ns;
};

/** A bundle; its size is lull_bundle_size(). */
struct lull_bundle;

/**
 * Check a configuration.
 * @param wrong  out, may be NULL: the first member out of its range
 * @return 0 or -EINVAL
 * Threads: any.
 */
int lull_bundle_config_check(const struct lull_bundle_config *config, struct lull_range *wrong);
/**
 * Tell what a bundle needs.
 * @return bytes, for a configuration that lull_bundle_config_check() accepts
 * Threads: any.
 */
size_t lull_bundle_size(const struct lull_bundle_config *config);
/**
 * Tell what one peer adds to lull_bundle_size().
 * @return bytes
 * Threads: any.
 */
size_t lull_bundle_peer_size(const struct lull_bundle_config *config);
/**
 * Begin.
 * @param bundle  lull_bundle_size() bytes, which need not be zero
 * @param now_ns  the caller's clock; it never goes back
 * @return 0, -EINVAL
 */
int lull_bundle_init(struct lull_bundle *bundle, const struct lull_bundle_config *config,
		     uint64_t now_ns);

/**
 * Wipe the keys of all peers and give back what they own, without a word to anyone: the last call,
 * before the memory of a bundle goes.
 */
void lull_bundle_forget(struct lull_bundle *bundle);

/**
 * Add a rail; its paths are tried from now on. Peers are told.
 * @return its number, 0..15; -ENOSPC: there are 16, -EINVAL
 */
int lull_bundle_rail_add(struct lull_bundle *bundle, uint64_t now_ns,
			 const struct lull_bundle_rail *rail);
/**
 * Take a rail away. What is under way on it is sent again on others.
 * @return 0, -ENODEV: no such rail
 */
int lull_bundle_rail_remove(struct lull_bundle *bundle, uint64_t now_ns, uint32_t rail);

/** Whom to connect to. */
struct lull_bundle_target {
	char name[LULL_BUNDLE_NAME_SIZE]; /**< "": whoever is at the addresses */
	uint32_t address_count;           /**< 0: ask for the name on every rail */
	struct {
		uint8_t kind;
		struct lull_bundle_address address;
	} addresses[LULL_BUNDLE_TARGETS_MAX];
};
/**
 * Connect to a node. An event UP or DOWN with the peer's number follows. A name with which a
 * connection exists or begins gives that one, and no second event. Addresses of a node that is
 * connected already: DOWN with -EISCONN, and the connection stays.
 * DOWN with -ETIMEDOUT: no answer; -ECONNRESET: no path came up; -EHOSTUNREACH: there is none.
 * @param limit_ns  time in which it has to answer; LULL_BUNDLE_NEVER: no limit
 * @return the peer's number; -ENOBUFS: peers_max, -ENODEV: no rail of a kind that fits, -EINVAL
 */
int lull_bundle_connect(struct lull_bundle *bundle, uint64_t now_ns,
			const struct lull_bundle_target *target, uint64_t limit_ns);
/**
 * End a connection: what was accepted for sending is sent first, for at most linger_ns. Pending
 * operations that remain end with -ECONNRESET, then event DOWN.
 * @return 0, -ENOTCONN
 */
int lull_bundle_disconnect(struct lull_bundle *bundle, uint64_t now_ns, uint32_t peer,
			   uint64_t linger_ns);

/* ---- packets ---- */

/** A packet to send. */
struct lull_bundle_packet {
	uint8_t *bytes;                /**< written by the bundle */
	uint32_t room_bytes;           /**< at least the rail's packet_bytes */
	uint32_t len_bytes;            /**< out */
	struct lull_bundle_address to; /**< out */
};

/** The thread looks at a rail now; before the packets that it finds there. */
void lull_bundle_look(struct lull_bundle *bundle, uint64_t now_ns, uint32_t rail);
/**
 * A packet came. It is opened in place, so its bytes change.
 * @param len_bytes  any; what is not a packet of ours raises a counter and does nothing else
 */
void lull_bundle_rx(struct lull_bundle *bundle, uint64_t now_ns, uint32_t rail, uint8_t *packet,
		    uint32_t len_bytes, const struct lull_bundle_address *from);
/**
 * Take packets that are to leave by a rail. They count as sent: what cannot leave is lost, and is
 * sent again as any other loss.
 * @return how many were written, 0..count; fewer than count: that was all for now
 */
uint32_t lull_bundle_tx(struct lull_bundle *bundle, uint64_t now_ns, uint32_t rail,
			struct lull_bundle_packet *packets, uint32_t count);
/** Let timers run; after the rails were drained. 10 ms late: nobody was silent since, we were. */
void lull_bundle_run(struct lull_bundle *bundle, uint64_t now_ns);
/**
 * When lull_bundle_run() or lull_bundle_tx() has something to do next.
 * @return a time; one that has passed: now; LULL_BUNDLE_NEVER: after a packet or a call only
 */
uint64_t lull_bundle_deadline_ns(const struct lull_bundle *bundle);
/**
 * Ask whether packets are expected: a message is partly here, or data is not acknowledged. A loop
 * does not rest then.
 * @return true: they are
 */
bool lull_bundle_busy(const struct lull_bundle *bundle);
/** The thread may rest for so long between two looks from now on; 0: it polls. Peers are told. */
void lull_bundle_rest(struct lull_bundle *bundle, uint64_t now_ns, uint64_t rest_ns_max);

/* ---- messages ---- */

/** A message to send; the buffer stays with the bundle until its event SENT. */
struct lull_bundle_message {
	const void *data;   /**< may be NULL where len_bytes is 0 */
	uint64_t len_bytes; /**< up to LULL_BUNDLE_MESSAGE_BYTES_MAX */
	uint64_t tag, user; /**< both are told to the receiver with the head */
	uint16_t from, to;  /**< endpoints: who of the node sends it, and to whom there */
	bool matched;       /**< SENT says too that the receiver has accepted it */
	void *context;      /**< comes back with the event */
};
/**
 * Send a message. Messages of a peer are announced to the receiver in the order of these calls.
 * @return 0: event SENT will follow, once; -EAGAIN: messages_max are under way, -ENOTCONN,
 *         -EMSGSIZE
 */
int lull_bundle_send(struct lull_bundle *bundle, uint64_t now_ns, uint32_t peer,
		     const struct lull_bundle_message *message);
/**
 * Give up a message none of which was sent yet: event SENT with -ECANCELED follows.
 * @return 0, -ENOENT: no such message, or it is under way
 */
int lull_bundle_cancel(struct lull_bundle *bundle, uint64_t now_ns, uint32_t peer,
		       const void *context);
/**
 * Accept a message that an event HEAD announced. Event RECEIVED follows, once, also when all of it
 * is here already; the buffer is the bundle's until then.
 * @param handle      of the event
 * @param size_bytes  room; of a longer message the first bytes are placed, and the event has
 *                    -EMSGSIZE
 * @param context     comes back with the event
 * @return 0, -ENOENT: no such message waits to be accepted
 */
int lull_bundle_accept(struct lull_bundle *bundle, uint64_t now_ns, uint32_t peer, uint32_t handle,
		       void *buffer, uint64_t size_bytes, void *context);
/**
 * Refuse a message that an event HEAD announced: its sender gets -ECONNREFUSED. No event follows.
 * @return 0, -ENOENT
 */
int lull_bundle_refuse(struct lull_bundle *bundle, uint64_t now_ns, uint32_t peer, uint32_t handle);

/** What happened. */
enum lull_bundle_event_type {
	LULL_BUNDLE_UP,   /**< a peer is there */
	LULL_BUNDLE_DOWN, /**< it is not any more, or did not answer; the number is free again */
	LULL_BUNDLE_HEAD, /**< a message begins: accept or refuse it */
	LULL_BUNDLE_RECEIVED, /**< a message that was accepted is whole, or ends with an error */
	LULL_BUNDLE_SENT,     /**< a message is in the receiver's hands, or ends with an error */
};
struct lull_bundle_event {
	enum lull_bundle_event_type type;
	uint32_t peer, handle;
	int error;          /**< 0 or a negative errno */
	void *context;      /**< of SENT and RECEIVED */
	uint64_t len_bytes; /**< of the message; of RECEIVED also where the buffer was shorter */
	uint64_t tag, user;
	uint16_t from, to;
	bool asked; /**< of UP and DOWN: by lull_bundle_connect() here */
};
/**
 * Take the next event. Heads of a peer come in the order in which its node sent them.
 * @return false: there is none
 */
bool lull_bundle_next(struct lull_bundle *bundle, struct lull_bundle_event *event);

/* ---- looking ---- */

/** What a bundle did as a whole. Members are counters of packets, unless their row says more. */
struct lull_bundle_counters {
	uint64_t rx_pkts, rx_bytes, tx_pkts, tx_bytes;
	uint64_t short_pkts, bad_version, bad_type, bad_path, bad_range, bad_head, bad_ack,
		bad_grant;
	uint64_t forged, replayed, strangers, old_epoch;
	uint64_t hellos, hellos_refused, retries, resets_tx, resets_rx, halves_full;
	uint64_t peers_up, peers_down, peers_reset;
};
/** One row per member, ended by a row without name. */
extern const struct lull_counter_info lull_bundle_counter_table[];
/**
 * The counters; read members with LULL_COUNTER_READ().
 * @return inside of the bundle
 * Threads: any.
 */
const struct lull_bundle_counters *lull_bundle_counters(const struct lull_bundle *bundle);

/** What a path is up to. */
enum lull_bundle_path_state {
	LULL_BUNDLE_PATH_NONE,  /**< there is no such path */
	LULL_BUNDLE_PATH_JOIN,  /**< nobody has answered on it yet */
	LULL_BUNDLE_PATH_SMALL, /**< full packets do not pass: acknowledgements only */
	LULL_BUNDLE_PATH_UP,
	LULL_BUNDLE_PATH_SUSPECT, /**< data is out and nothing is acknowledged */
	LULL_BUNDLE_PATH_DOWN,    /**< nothing comes back; probed */
};
/**
 * Name a state, for messages and JSON.
 * @return its name; static
 * Threads: any.
 */
const char *lull_bundle_path_state_name(enum lull_bundle_path_state state);

struct lull_bundle_path_counters {
	uint64_t tx_pkts, tx_bytes; /**< all packets of the path, with their headers */
	uint64_t rx_pkts, rx_bytes;
	uint64_t offered_bytes;         /**< payload sent, resent and copied ones too */
	uint64_t delivered_bytes;       /**< payload acknowledged, each byte once per path */
	uint64_t acked_pkts, lost_pkts; /**< of tx_pkts, what became of them; others: under way */
	uint64_t late_pkts;             /**< taken for lost, acknowledged later */
	uint64_t resent_pkts;           /**< carried a piece that another packet had carried */
	uint64_t duplicate_pkts;        /**< came, and all of it was here already */
	uint64_t timeouts;              /**< tails that were sent again */
	uint64_t suspects, downs, ups;  /**< changes of state */
};
/** One row per member, ended by a row without name. */
extern const struct lull_counter_info lull_bundle_path_counter_table[];

/** A path now. */
struct lull_bundle_path_look {
	uint32_t rail, remote_rail;
	enum lull_bundle_path_state state;
	uint64_t state_since_ns;
	uint64_t base_rtt_ns, srtt_ns, rttvar_ns;
	uint64_t rate_bps;    /**< measured, of payload and headers; 0: not known yet */
	uint32_t window_pkts; /**< the least of control and rail credit */
	uint32_t under_way_pkts;
	uint32_t credit_pkts; /**< what the receiver's ring allows */
	struct lull_bundle_path_counters counters;
};
/** What a peer waits for. */
enum lull_bundle_wait {
	LULL_BUNDLE_WAIT_NOTHING,
	LULL_BUNDLE_WAIT_WINDOW, /**< the paths are full */
	LULL_BUNDLE_WAIT_CREDIT, /**< the receiver has not accepted, or has no room */
	LULL_BUNDLE_WAIT_PATH,   /**< no path is up */
};
/** A peer now. */
struct lull_bundle_peer_look {
	char name[LULL_BUNDLE_NAME_SIZE];
	uint64_t node_id;
	bool up, busy; /**< busy: no path answers, and it is not given up yet */
	uint64_t since_ns, heard_ns;
	uint32_t piece_bytes, path_count;
	uint64_t rest_ns_max; /**< what the peer announced */
	uint64_t sent_messages, sent_bytes, received_messages, received_bytes;
	uint32_t sending, receiving, unexpected_pieces;
	enum lull_bundle_wait waits;
};
/**
 * Look at a peer.
 * @return 0, -ENOENT: there is none of this number
 * Threads: any; what it sees may be some packets old.
 */
int lull_bundle_peer_look(const struct lull_bundle *bundle, uint32_t peer,
			  struct lull_bundle_peer_look *look);
/**
 * Look at a path of a peer.
 * @param index  0..path_count - 1
 * @return 0, -ENOENT
 * Threads: any.
 */
int lull_bundle_path_look(const struct lull_bundle *bundle, uint32_t peer, uint32_t index,
			  struct lull_bundle_path_look *look);

#ifdef __cplusplus
}
#endif

#endif
