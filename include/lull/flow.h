/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow: from packets to exact flow records, however the packets were spread.
 *
 * Five parts, each a plain state machine:
 *   parser  bytes of a frame -> struct lull_flow_packet: key, digest, lengths
 *   connections  which TCP connection of its flow a packet belongs to
 *   table   a worker's flows: packets in, partial records out
 *   merge   an aggregator stage: partial records of all workers in, flow records out
 *   top     the heaviest flows of a table, found while it works
 *
 * Two times: *stamps* (time_ns) are those of the capture or the NIC and appear in records. The
 * *clock* (clock_ns) is the dispatcher's, of packets too, but never goes back; it alone decides
 * where a record ends, so that every worker decides alike.
 *
 * A record ends where, on the clock, its flow was silent for longer than idle_ns, where another TCP
 * connection begins on its addresses and ports (lull_flow_connections_mark()), and at the *cuts*
 * of its flow: multiples of active_ns, shifted by its key so that not all flows are cut at once.
 * A packet belongs to cut (clock_ns + phase) / active_ns, with phase
 * = digest under seed 0 * (active_ns / 2^16) / 2^15, in whole numbers; clocks stay below 2^32 s.
 * Both
 * follow from the packets of the flow alone; the number of the connection comes with each packet,
 * from the dispatcher, which sees all of them. A
 * worker that sees some of them cuts at the same cuts and at least at the same silences; what it
 * cut at a silence that other workers' packets fill the merge joins again. So records do not depend
 * on scheduler, worker count or timing.
 *
 * Completeness: a worker *announces* an entry whose bucket other workers share, and states its
 * *watermark* W: no packet with a clock below W will come to it (some at W may), every entry that
 * ended by W is handed over, every entry that saw a shared packet before W is announced. An entry
 * ended by W when W > last clock + idle_ns or W is at or behind its cut. A merged record is
 * complete when it ended by the smallest W and no announced entry is open that began
 * within idle_ns of its
 * last packet or before. Nothing is guessed from a delay. Packets need not come to a worker in the
 * order of their clocks: only W counts.
 *
 * Whoever dispatches knows more: of which flows all packets went to one worker. An entry of such a
 * flow is a whole record when it is handed over, and waits for nobody; the others are *split*. An
 * entry that ended by W may be called whole when no packet of its bucket was marked as shared from
 * its first clock on, by those who dispatched up to W.
 *
 * An entry whose TCP connection has closed ends sooner, by closed_ns: behind that no packet has its
 * connection's number. This is for tables alone. Split records wait as long as others: an earlier
 * part may lie at another worker, in an entry that knows nothing of the end.
 *
 * A worker that stands still holds all split records back. The merge can be told to go on without
 * it (lull_flow_merge_late()); what it may lack then says that it is not exact, and so do parts
 * that come when their record has gone.
 *
 * Why that suffices: a part still missing then belongs to an entry open at W, so with a packet q
 * later than the record's last packet r, and of its cut. r was another worker's (else q would lie
 * within idle_ns of it in that worker's own entry), so the bucket changed its worker between them
 * and q is marked as shared: the entry is announced. This needs of the dispatcher that it forgets
 * a bucket only over a silence longer than idle_ns on the packets' clocks, and of the workers that
 * W is read before the messages are fetched.
 *
 * Threads: each object belongs to one loop; counters may be read by any thread.
 * Memory:  the caller's, fixed at init.
 */
#ifndef LULL_FLOW_H
#define LULL_FLOW_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- key, digest ---- */

#define LULL_FLOW_PROTO_ICMP 1
#define LULL_FLOW_PROTO_TCP 6
#define LULL_FLOW_PROTO_UDP 17
#define LULL_FLOW_PROTO_ICMP6 58

/** Whose number tunnel_id is. */
enum lull_flow_tunnel {
	LULL_FLOW_TUNNEL_NONE,
	LULL_FLOW_TUNNEL_VXLAN,  /**< VNI, of VXLAN-GPE too */
	LULL_FLOW_TUNNEL_GENEVE, /**< VNI */
	LULL_FLOW_TUNNEL_GRE,    /**< GRE key; of NVGRE virtual subnet and flow id */
	LULL_FLOW_TUNNEL_GTP     /**< TEID */
};
/**
 * Name a kind of tunnel, for JSON.
 * @return "", "vxlan", "geneve", "gre" or "gtp"; static
 * Threads: any.
 */
const char *lull_flow_tunnel_name(enum lull_flow_tunnel tunnel);

/**
 * Both directions of a flow have one key: the smaller (address, port) comes first. IPv4 addresses
 * stand in the first 4 bytes, zeros follow. ICMP and fragments without a known first one have
 * ports 0. Everything below proto is 0 unless the parser was asked for it.
 */
struct lull_flow_key {
	uint8_t addr[2][16];
	uint16_t port[2];
	uint16_t vlan_id; /**< of the outermost tag, 0: none */
	uint8_t version;  /**< 4 or 6 */
	uint8_t proto;
	uint8_t tunnel;     /**< enum lull_flow_tunnel: the innermost one with a number */
	uint8_t labelled;   /**< 1: mpls_label is one */
	uint16_t interface; /**< where the packet came in, from 1; lull_flow_parser_interface() */
	uint32_t tunnel_id;
	uint32_t mpls_label; /**< of the bottom of the stack that was read last */
	uint32_t outer;      /**< a hash of the tunnels around that one, 0: none has a number */
};
/**
 * Compute the digest of a key: seeded CRC-32C of it, mixed. Both directions of a flow have the
 * same.
 * @return 31 bits, 0..LULL_DIGEST_MAX
 * Threads: any.
 */
uint32_t lull_flow_digest(uint32_t seed, const struct lull_flow_key *key);
/**
 * Compute the CRC-32 (IEEE 802.3) of a key's 5-tuple, for the scheduler crc32: addr[0], addr[1] (4
 * bytes each, or 16), port[0], port[1] and proto, all in network byte order, 13 or 37 bytes. What
 * else belongs to the key does not count.
 * @return 32 bits
 * Threads: any.
 */
uint32_t lull_flow_key_crc32(const struct lull_flow_key *key);
/**
 * Compare two keys.
 * @return true: they are equal
 * Threads: any.
 */
bool lull_flow_key_same(const struct lull_flow_key *a, const struct lull_flow_key *b);
/**
 * Order two keys for canonical output: by addresses, ports, proto, VLAN, the rest.
 * @return below, equal to or above 0
 * Threads: any.
 */
int lull_flow_key_compare(const struct lull_flow_key *a, const struct lull_flow_key *b);

/* ---- parser ---- */

/** What the parser made of a packet. */
enum lull_flow_cause {
	LULL_FLOW_OK,
	LULL_FLOW_NOT_IP,    /**< ARP, LLDP ...: no flow, no fault */
	LULL_FLOW_LINK,      /**< link type that is not read here */
	LULL_FLOW_TRUNCATED, /**< the capture cut a header that the key needs */
	LULL_FLOW_MALFORMED, /**< headers contradict each other or the frame */
	LULL_FLOW_CAUSE_COUNT
};
/**
 * Name a cause, for messages and JSON.
 * @return "ok", "not_ip", "link", "truncated" or "malformed"; static
 * Threads: any.
 */
const char *lull_flow_cause_name(enum lull_flow_cause cause);

/** What is known of one packet; private bytes of an mbuf in the engine. */
struct lull_flow_packet {
	struct lull_flow_key key;
	uint64_t time_ns;        /**< stamp, since 1970 when the source knows that */
	uint64_t clock_ns;       /**< set by the dispatcher */
	uint64_t number;         /**< of the dispatcher: which packet came first anywhere */
	uint32_t digest;         /**< of the key */
	uint32_t dispatch_hash;  /**< for dispatch: the digest, of an ICMP error that of its flow */
	uint32_t ip_bytes;       /**< IP header and payload, as the IP header says */
	uint32_t seq, bucket;    /**< struct lull_dispatch_mark */
	uint16_t mark_flags;     /**< the same */
	uint16_t hint;           /**< label found by an earlier worker, in its own code; 0: none */
	uint16_t ip_offset;      /**< of the IP header that the key is of, in the frame */
	uint16_t payload_offset; /**< behind TCP or UDP header, or behind IP for others */
	uint16_t payload_captured; /**< bytes there in the frame, may be cut by the capture */
	uint16_t payload_bytes;    /**< as the headers say */
	uint16_t connection;       /**< of the flow's TCP connections, see below; else 0 */
	uint8_t direction;         /**< 0: sent by endpoint 0 of the key */
	uint8_t tcp_flags;         /**< 0 unless TCP with a whole header */
	uint8_t flags;             /**< LULL_FLOW_FRAGMENT ... */
	uint8_t dispatcher;        /**< index of the I/O loop */
	uint8_t icmp_type;         /**< of ICMP and ICMPv6, else 0 */
	uint8_t icmp_code;
};
#define LULL_FLOW_FRAGMENT 1u /**< part of a fragmented datagram */
#define LULL_FLOW_ORPHAN 2u   /**< a fragment whose first one has not been seen: ports are 0 */
#define LULL_FLOW_CUT 4u      /**< the capture holds less than the wire */
#define LULL_FLOW_TUNNEL 8u   /**< the key is of an inner packet */
#define LULL_FLOW_LATER 16u   /**< not the first fragment: no transport header */
#define LULL_FLOW_ENDING 32u  /**< a FIN or RST of its TCP connection was seen, here or before */
#define LULL_FLOW_CLOSED 64u  /**< that has ended, with this packet or before */

/**
 * Parts of a key besides addresses, ports and protocol, for config key_parts. TEIDs, MPLS labels
 * and interfaces often differ between the two directions of a flow: with them it becomes two.
 */
#define LULL_FLOW_KEY_VLAN 1u  /**< outermost VLAN id */
#define LULL_FLOW_KEY_VNI 2u   /**< number of VXLAN and Geneve */
#define LULL_FLOW_KEY_GRE 4u   /**< GRE key */
#define LULL_FLOW_KEY_TEID 8u  /**< GTP-U tunnel endpoint */
#define LULL_FLOW_KEY_MPLS 16u /**< bottom label */
#define LULL_FLOW_KEY_INTERFACE 32u
#define LULL_FLOW_KEY_NONE 0x8000u /**< none of them, where 0 would mean the default */
#define LULL_FLOW_KEY_DEFAULT (LULL_FLOW_KEY_VLAN | LULL_FLOW_KEY_VNI | LULL_FLOW_KEY_GRE)

/** Zero means the default in brackets. */
struct lull_flow_parser_config {
	uint32_t seed; /**< of the digest [0] */
	/**
	 * Look into GRE, IP in IP, 6in4, GTP-U, VXLAN, Geneve, Teredo and, in IPv4, behind AH: the
	 * key is of the innermost packet [false]
	 */
	bool inner;
	uint32_t key_parts;     /**< LULL_FLOW_KEY_... [LULL_FLOW_KEY_DEFAULT] */
	uint32_t fragment_bits; /**< 1 << this datagrams remembered, 4..20 [12] */
	uint64_t fragment_ns;   /**< for so long [30 s] */
	/**
	 * What lull_flow_parser_hold() gets waits so long for the first fragment of its datagram,
	 * up to 10 s; 0: nothing waits [0]
	 */
	uint64_t fragment_wait_ns;
};
/** Packets that wait for the first fragment of their datagram, in one parser, at most. */
#define LULL_FLOW_EARLY_MAX 256
/**
 * Check a configuration. A member that is zero stands for its default.
 * @param error  gets the first member that is out of range; may be NULL
 * @return 0; -EINVAL: a member is out of range
 * Threads: any.
 */
int lull_flow_parser_config_check(const struct lull_flow_parser_config *config,
				  struct lull_range *error);
/** Counters of one parser. */
struct lull_flow_parser_counters {
	uint64_t causes[LULL_FLOW_CAUSE_COUNT]; /**< packets by outcome; their sum is all */
	uint64_t fragments, orphans, tunnels, cut, icmp_errors;
	uint64_t early;      /**< fragments that came before their first one and joined it */
	uint64_t early_full; /**< that could not wait so long for want of room */
	uint64_t fragments_replaced; /**< datagrams forgotten for want of room */
};
/**
 * Name, unit and meaning of each member of struct lull_flow_parser_counters, ended by a NULL name.
 */
extern const struct lull_counter_info lull_flow_parser_counter_table[];
struct lull_flow_parser; /* opaque: the fragment table and counters */
/**
 * Tell how much memory a parser of this configuration needs.
 * @return bytes; align them to LULL_CACHE_LINE
 * Threads: any.
 */
size_t lull_flow_parser_size(const struct lull_flow_parser_config *config);
/**
 * Set up a parser in memory of the caller. It lives until the caller frees that memory.
 * @param memory  lull_flow_parser_size() bytes, aligned to LULL_CACHE_LINE
 * @param parser  out: the object; it is at @p memory
 * @return 0; -EINVAL: memory not aligned, or a member of @p config out of range
 */
int lull_flow_parser_init(void *memory, const struct lull_flow_parser_config *config,
			  struct lull_flow_parser **parser);
/**
 * Say where the packets to come are from. It belongs to keys with LULL_FLOW_KEY_INTERFACE.
 * @param interface  from 1; 0, as at first: not told
 */
void lull_flow_parser_interface(struct lull_flow_parser *parser, uint16_t interface);
/**
 * Read the headers of a frame. It fills in every member of @p packet that follows from the bytes,
 * time_ns included. clock_ns and the members of the dispatcher are zeroed.
 * @param link_type       LINKTYPE_ value: Ethernet, raw IP, Linux cooked 1 and 2, BSD loopback
 *                        (both), PPP, C-HDLC, IEEE 802.11 with and without radiotap; others: LINK
 * @param captured_bytes  at @p data
 * @param original_bytes  on the wire, >= captured_bytes
 * @param time_ns         stamp of the packet
 * @return LULL_FLOW_OK, or why the packet belongs to no flow; counted either way
 */
enum lull_flow_cause lull_flow_parse(struct lull_flow_parser *parser, uint16_t link_type,
				     const uint8_t *data, uint32_t captured_bytes,
				     uint32_t original_bytes, uint64_t time_ns,
				     struct lull_flow_packet *packet);
/**
 * Let the packet parsed last, which has LULL_FLOW_ORPHAN, wait for the first fragment of its
 * datagram. It stays the caller's, who changes nothing in it until it comes back: at once, here or
 * by lull_flow_parser_release().
 * @param clock_ns  of the packet; clocks never go back
 * @return NULL: it waits; else the one that does not, or no longer, for want of room: an orphan
 */
struct lull_flow_packet *lull_flow_parser_hold(struct lull_flow_parser *parser,
					       struct lull_flow_packet *packet, uint64_t clock_ns);
/**
 * Get back a packet that need not wait any more: its first fragment came, and it has the key of
 * that, or it has waited for fragment_wait_ns and is an orphan. Ask until there is none, before a
 * packet is parsed, and behind one with LULL_FLOW_FRAGMENT. Order is that of arrival.
 * @param clock_ns  now; UINT64_MAX: nothing more comes
 * @param due_ns    out: the clock at which its wait ended, 0: its first fragment came
 * @return NULL: none
 */
struct lull_flow_packet *lull_flow_parser_release(struct lull_flow_parser *parser,
						  uint64_t clock_ns, uint64_t *due_ns);
/**
 * Tell up to which clock all packets that wait may go on doing so.
 * @return UINT64_MAX: none waits
 */
uint64_t lull_flow_parser_deadline_ns(const struct lull_flow_parser *parser);
/**
 * Give access to the counters. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the parser
 * Threads: any.
 */
const struct lull_flow_parser_counters *lull_flow_parser_counters(
	const struct lull_flow_parser *parser);

/* ---- connections ---- */

/** Zero means the default in brackets. */
struct lull_flow_connections_config {
	uint32_t bits;      /**< 1 << this connections are remembered, 4..24 [17]; 32 bytes each */
	uint64_t idle_ns;   /**< as the tables' [30 s] */
	uint64_t closed_ns; /**< as the tables' [5 s] */
};
/**
 * Check a configuration. A member that is zero stands for its default.
 * @param error  gets the first member that is out of range; may be NULL
 * @return 0; -EINVAL: a member is out of range
 * Threads: any.
 */
int lull_flow_connections_config_check(const struct lull_flow_connections_config *config,
				       struct lull_range *error);
/** Counters of the TCP connections of one dispatcher. */
struct lull_flow_connections_counters {
	uint64_t connections;           /**< with a FIN or RST, or behind such a one */
	uint64_t closed;                /**< ended: FIN both ways, or RST */
	uint64_t followed;              /**< begun on the addresses and ports of an earlier one */
	uint64_t connections_forgotten; /**< for want of room: what follows may join its record */
};
/**
 * Name, unit and meaning of each member of struct lull_flow_connections_counters, ended by a NULL
 * name.
 */
extern const struct lull_counter_info lull_flow_connections_counter_table[];
struct lull_flow_connections; /* opaque */
/**
 * Tell how much memory this configuration needs.
 * @return bytes; align them to LULL_CACHE_LINE
 * Threads: any.
 */
size_t lull_flow_connections_size(const struct lull_flow_connections_config *config);
/**
 * Set up an object in memory of the caller. It lives until the caller frees that memory.
 * @param memory       lull_flow_connections_size() bytes, aligned to LULL_CACHE_LINE
 * @param connections  out: the object; it is at @p memory
 * @return 0; -EINVAL: memory not aligned, or a member of @p config out of range
 */
int lull_flow_connections_init(void *memory, const struct lull_flow_connections_config *config,
			       struct lull_flow_connections **connections);
/**
 * Tell which connection of its flow a TCP packet belongs to: packet->connection, and
 * LULL_FLOW_ENDING and _CLOSED in packet->flags. Others stay as they are. A connection is *closed*
 * by a FIN from each side, or by an RST (RFC 9293, 3.6 and 3.5.3). The next one begins with a SYN
 * after a FIN or RST from either side; with SYN and ACK, after one from its own side, for an answer
 * may cross the RST of who asked; or with any packet more than closed_ns after the one that closed
 * the connection before. All others belong to the connection there is: the last ACK, FINs and data
 * sent again, RSTs for them.
 * @param packet  of the parser, with clock_ns set; clocks never go back
 */
void lull_flow_connections_mark(struct lull_flow_connections *connections,
				struct lull_flow_packet *packet);
/** Set a new idle_ns; see lull_flow_table_timeouts(). */
void lull_flow_connections_timeouts(struct lull_flow_connections *connections, uint64_t idle_ns);
/**
 * Give access to the counters. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the object
 * Threads: any.
 */
const struct lull_flow_connections_counters *lull_flow_connections_counters(
	const struct lull_flow_connections *connections);

/* ---- records ---- */

/** First bytes of payload kept per direction at most. */
#define LULL_FLOW_PAYLOAD_MAX 128

/** Why a record ended. */
enum lull_flow_end {
	LULL_FLOW_END_IDLE,   /**< silent for idle_ns */
	LULL_FLOW_END_ACTIVE, /**< cut */
	LULL_FLOW_END_FLUSH,  /**< the input ended */
	LULL_FLOW_END_CLOSED, /**< it has a FIN or RST of its TCP connection, or comes after it */
	LULL_FLOW_END_EVICTED /**< no room: the record may go on in another one */
};
/**
 * Name an end, for JSON. Of several parts of a record the last in the list of ends counts.
 * @return "idle", "active", "end", "closed" or "evicted"; static
 * Threads: any.
 */
const char *lull_flow_end_name(enum lull_flow_end end);

/** Kinds of message a worker sends to the merge; a whole record has kind PARTIAL. */
enum lull_flow_message {
	LULL_FLOW_PARTIAL,
	/** Only key, digest, cut, workers, first_clock_ns are filled in: no packet is earlier */
	LULL_FLOW_ANNOUNCE,
	/** Not for the merge: an entry goes without a record, its extra bytes are to be cleaned. */
	LULL_FLOW_LEFT_OUT
};

/**
 * A flow, or one worker's part of it. Direction 0 is that of endpoint 0 of the key; src is
 * endpoint first_direction. lull_flow_record_bytes() tells its size with payload: payload_len[0]
 * and then payload_len[1] bytes of room follow the struct (each config payload_bytes apart).
 */
struct lull_flow_record {
	struct lull_flow_key key;
	uint64_t packets[2], bytes[2]; /**< bytes: IP bytes */
	uint64_t payload_total[2];     /**< bytes of payload as headers say */
	uint64_t first_ns, last_ns;    /**< smallest and largest stamp */
	uint64_t first_clock_ns, last_clock_ns;
	uint64_t first_number; /**< of its first packet */
	uint64_t workers;      /**< bit per worker that had packets of it */
	/** Of the first packet with payload, if payload_total > 0: its bytes are kept. */
	uint64_t payload_number[2];
	uint64_t app_number; /**< first_number of the part that app comes from, 0 without one */
	uint32_t digest;
	uint32_t cut;             /**< number of the interval between cuts; 0 without active_ns */
	uint32_t moves;           /**< packets marked LULL_DISPATCH_MOVED */
	uint32_t reordered;       /**< packets finished after a later one of their bucket */
	uint32_t fragments;       /**< packets */
	uint16_t app, app_master; /**< protocol by the identifier's numbers, 0: unknown */
	uint16_t payload_len[2];
	uint16_t connection; /**< of the flow's TCP connections, 0: the first, or not TCP */
	uint8_t icmp_type, icmp_code; /**< of its first packet, for ICMP and ICMPv6 */
	uint8_t app_confidence;       /**< 0 none, 1 guessed by port, 2 by address, 3 by payload */
	uint8_t app_final; /**< 1: looked at to the end, app may be 0: later parts know less */
	uint8_t tcp_flags[2];
	uint8_t first_direction;
	uint8_t end;       /**< enum lull_flow_end */
	uint8_t message;   /**< enum lull_flow_message */
	uint8_t announced; /**< an announcement of this entry was sent before */
	uint8_t ending;    /**< has a packet with LULL_FLOW_ENDING */
	uint8_t closed;    /**< has a packet with LULL_FLOW_CLOSED */
	uint8_t exact;     /**< 0: part of the flow was lost, as far as is known, evicted or late */
	uint8_t split;     /**< other workers may have parts; told by who hands it over */
	uint8_t half_open; /**< not 0: evicted, and no answer in any of its parts */
	uint8_t sampling;  /**< it stands for 2^this records of half-open flows that were evicted */
};
/**
 * Compute the bytes of a record with @p payload_bytes kept per direction.
 * @return a multiple of 8
 * Threads: any.
 */
static inline size_t
lull_flow_record_bytes(uint32_t payload_bytes)
{
	return (sizeof(struct lull_flow_record) + 2 * (size_t)payload_bytes + 7) / 8 * 8;
}
/**
 * Find the first payload bytes of a direction; record->payload_len[] tells how many there are.
 * @param payload_bytes  room per direction, of the configuration
 * @param direction      0 or 1
 * @return borrowed from @p record
 * Threads: any.
 */
static inline const uint8_t *
lull_flow_record_payload(const struct lull_flow_record *record, uint32_t payload_bytes,
			 unsigned int direction)
{
	return (const uint8_t *)(record + 1) + direction * payload_bytes;
}

/** TCP as the flags of both directions tell it; the same whoever saw which packet. */
enum lull_flow_tcp_state {
	LULL_FLOW_TCP_NONE,        /**< not TCP */
	LULL_FLOW_TCP_ATTEMPT,     /**< SYN, never answered */
	LULL_FLOW_TCP_REFUSED,     /**< SYN answered by RST alone */
	LULL_FLOW_TCP_ESTABLISHED, /**< SYN both ways, no end seen */
	LULL_FLOW_TCP_MIDSTREAM,   /**< no beginning seen, no end seen */
	LULL_FLOW_TCP_CLOSING,     /**< FIN from one side */
	LULL_FLOW_TCP_CLOSED,      /**< FIN from both sides */
	LULL_FLOW_TCP_RESET        /**< RST after data or an answer */
};
/**
 * Tell the state of a TCP connection by the flags of both directions.
 * @return the state; LULL_FLOW_TCP_NONE: not TCP
 * Threads: any.
 */
enum lull_flow_tcp_state lull_flow_tcp_state(const struct lull_flow_record *record);
/**
 * Name a state, for JSON.
 * @return "attempt", "refused", "established", "midstream", "closing", "closed" or "reset"; "" for
 *         LULL_FLOW_TCP_NONE; static
 * Threads: any.
 */
const char *lull_flow_tcp_state_name(enum lull_flow_tcp_state state);

/**
 * Order two records for canonical output: by first stamp, key, first number.
 * @return below, equal to or above 0
 * Threads: any.
 */
int lull_flow_record_compare(const struct lull_flow_record *a, const struct lull_flow_record *b);
/**
 * Add @p part to @p whole, two disjoint parts of one flow. Any order and grouping of joins gives
 * the same bytes. A final label stays; of two, that of the part that began first: who joins a flow
 * in its middle may take it for another. Without one the more confident label stays; of equal ones
 * again that of the part that began first.
 * @param payload_bytes  room per direction of both
 * Threads: any.
 */
void lull_flow_record_join(struct lull_flow_record *whole, const struct lull_flow_record *part,
			   uint32_t payload_bytes);

/* ---- table ---- */

/** What a table reads of mark_flags: LULL_DISPATCH_SHARED and LULL_DISPATCH_MOVED ... */
#define LULL_FLOW_MARK_SHARED 1u
#define LULL_FLOW_MARK_MOVED 2u
/** ... and of who carries the packets: an earlier one of the flow was dropped on the way. */
#define LULL_FLOW_MARK_LOST 4u

/** Zero means the default in brackets. */
struct lull_flow_table_config {
	uint32_t entries_max;   /**< 16..2^26 [65536] */
	uint64_t idle_ns;       /**< 1 ms..1 day [30 s] */
	uint64_t active_ns;     /**< 0: no cuts, else 1 s..1 day [0] */
	uint64_t closed_ns;     /**< so long after its end a closed one goes, 1 ms..1 day [5 s] */
	uint32_t payload_bytes; /**< per direction, 0..LULL_FLOW_PAYLOAD_MAX [0] */
	uint32_t extra_bytes;   /**< of the caller's per entry, zeroed when new, <= 64 K [0] */
	uint32_t worker_index;  /**< below 64 */
	bool announce_all;      /**< every entry may have parts elsewhere [false] */
	/**
	 * So many records of evicted half-open flows per second are handed over; of more, one in a
	 * power of two is, and the others are left out. 0: all are [0]
	 */
	uint32_t half_open_rate;
	/** No two sources share half-open entries that differ in these bits: 1..32 [24] ... */
	uint32_t prefix4_bits;
	uint32_t prefix6_bits; /**< ... of IPv6: 1..128 [48] */
	uint64_t seed;         /**< of prefixes, a secret against floods made to collide [0] */
};
/**
 * Check a configuration. A member that is zero stands for its default.
 * @param error  gets the first member that is out of range; may be NULL
 * @return 0; -EINVAL: a member is out of range
 * Threads: any.
 */
int lull_flow_table_config_check(const struct lull_flow_table_config *config,
				 struct lull_range *error);
/** Counters of one table. */
struct lull_flow_table_counters {
	uint64_t pkts;       /**< recorded in an entry */
	uint64_t unrecorded; /**< no entry to be had: full, and nothing may be handed over */
	/** Came with a clock below the watermark: a mistake of who told it, and no longer exact. */
	uint64_t behind;
	uint64_t entries; /**< now: created = entries + ended_* + evicted + left_out */
	/** Of the entries now: pkts = entry_pkts + handed_pkts + left_out_pkts */
	uint64_t entry_pkts;
	uint64_t handed_pkts;
	uint64_t created, ended_idle, ended_active, ended_flush, ended_closed, evicted;
	uint64_t half_open_evicted;       /**< of the evicted: of flows that had not answered */
	uint64_t left_out, left_out_pkts; /**< of these: by sampling, without a record */
	uint64_t announced;
	uint64_t deferred; /**< times handing over had to wait for room */
};
/**
 * Name, unit and meaning of each member of struct lull_flow_table_counters, ended by a NULL name.
 */
extern const struct lull_counter_info lull_flow_table_counter_table[];
/**
 * Take a partial record or an announcement: borrow it during the call. false: no room, ask again
 * later; then an entry stays and its worker's watermark with it. All that is handed over must reach
 * the merge in this order.
 * LULL_FLOW_LEFT_OUT, with config half_open_rate alone, is not for the merge and is never refused.
 * @p extra  the entry's extra bytes; NULL for announcements
 */
typedef bool lull_flow_hand(void *arg, struct lull_flow_record *record, void *extra);
struct lull_flow_table; /* opaque */
/**
 * Tell how much memory a table of this configuration needs.
 * @return bytes; align them to LULL_CACHE_LINE
 * Threads: any.
 */
size_t lull_flow_table_size(const struct lull_flow_table_config *config);
/**
 * Set up a table in memory of the caller. It lives until the caller frees that memory.
 * @param memory    lull_flow_table_size() bytes, aligned to LULL_CACHE_LINE
 * @param hand      takes what ends
 * @param hand_arg  passed to @p hand
 * @param table     out: the object; it is at @p memory
 * @return 0; -EINVAL: memory not aligned, no @p hand, or a member of @p config out of range
 */
int lull_flow_table_init(void *memory, const struct lull_flow_table_config *config,
			 lull_flow_hand *hand, void *hand_arg, struct lull_flow_table **table);
/**
 * Record a packet. Its clock is not below what lull_flow_table_advance() was told; it may be below
 * those of earlier packets.
 * @param payload  payload_captured bytes
 * @return its entry with the packet in it, for the caller to use until the next call; NULL: not
 *         recorded, as the table is full. lull_flow_table_extra() gives its extra bytes.
 */
struct lull_flow_record *lull_flow_table_add(struct lull_flow_table *table,
					     const struct lull_flow_packet *packet,
					     const uint8_t *payload);
/**
 * Find the caller's bytes of an entry.
 * @param record  an entry that lull_flow_table_add() returned
 * @return config extra_bytes bytes, borrowed as long as the entry
 */
void *lull_flow_table_extra(struct lull_flow_table *table, struct lull_flow_record *record);
/**
 * Ask whether a flow has answered yet: packets of both directions, one of them with more than a
 * SYN and none of the two only an RST; or three such packets.
 * @param record  an entry that lull_flow_table_add() returned
 * @return true: it has not
 */
bool lull_flow_table_half_open(struct lull_flow_table *table,
			       const struct lull_flow_record *record);
/**
 * Tell that no packet with a clock below @p clock_ns will come, and hand over what has ended by
 * then.
 * @param clock_ns     never goes back
 * @param entries_max  most entries to hand over; 0: any number
 * @return the watermark: never above @p clock_ns, less while something that ended is still here;
 *         never goes back
 */
uint64_t lull_flow_table_advance(struct lull_flow_table *table, uint64_t clock_ns,
				 uint32_t entries_max);
/**
 * Hand over everything, as the input has ended. First call lull_flow_table_advance() with the last
 * clock of the input, the same at all workers: it tells what ended before the input. With several
 * dispatchers the end of a flow's last record may read idle instead.
 * @return true: nothing is left; false: call it again
 */
bool lull_flow_table_flush(struct lull_flow_table *table);
/**
 * Tell when lull_flow_table_advance() has something to do. It may be early by a few iterations.
 * @return the time, on the packets' clock; UINT64_MAX: never
 */
uint64_t lull_flow_table_deadline_ns(const struct lull_flow_table *table);
/**
 * Set a new idle_ns for what is here and what comes. The caller changes it at all workers and the
 * merge. It walks all entries. What ends while not all have changed may come out in several
 * records.
 */
void lull_flow_table_timeouts(struct lull_flow_table *table, uint64_t idle_ns);
/**
 * Give access to the counters. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the table
 * Threads: any.
 */
const struct lull_flow_table_counters *lull_flow_table_counters(
	const struct lull_flow_table *table);
/**
 * Visit some entries.
 * @param cursor  0 to begin; moves on, and is 0 again after the last entry
 * @param count   most entries to visit
 * @param visit   called with each; borrows the record during the call
 * @param arg     passed to @p visit
 */
void lull_flow_table_visit(struct lull_flow_table *table, uint32_t *cursor, uint32_t count,
			   void (*visit)(void *arg, const struct lull_flow_record *record),
			   void *arg);

/* ---- merge ---- */

/** Zero means the default in brackets. */
struct lull_flow_merge_config {
	uint32_t records_max;        /**< open ones, 16..2^26 [65536] */
	uint64_t idle_ns, active_ns; /**< as the tables' */
	uint32_t payload_bytes;      /**< the same */
	uint64_t seed; /**< of the index, a secret against floods made to collide [0] */
	/** Parts may come from several workers; else all that are not announced pass. */
	bool hold;
};
/**
 * Check a configuration. A member that is zero stands for its default.
 * @param error  gets the first member that is out of range; may be NULL
 * @return 0; -EINVAL: a member is out of range
 * Threads: any.
 */
int lull_flow_merge_config_check(const struct lull_flow_merge_config *config,
				 struct lull_range *error);
/** Counters of one merge. */
struct lull_flow_merge_counters {
	uint64_t partials, announcements;
	uint64_t records;         /**< complete ones given */
	uint64_t pkts;            /**< in them */
	uint64_t open, open_pkts; /**< now: pkts + open_pkts is what came in */
	uint64_t awaited;         /**< announced and not yet here */
	uint64_t joined;          /**< added to another one: partials = records + open + joined */
	uint64_t passed;          /**< partials given at once: of flows that were not split */
	uint64_t evicted;         /**< records given early: no room, or 4096 of a flow wait */
	uint64_t late;       /**< records given that may lack a part of a worker that is late */
	uint64_t late_parts; /**< parts that came when their record may have been given */
};
/**
 * Name, unit and meaning of each member of struct lull_flow_merge_counters, ended by a NULL name.
 */
extern const struct lull_counter_info lull_flow_merge_counter_table[];
/** Take a complete record: borrow it during the call. */
typedef void lull_flow_give(void *arg, const struct lull_flow_record *record);
struct lull_flow_merge; /* opaque */
/**
 * Tell how much memory a merge of this configuration needs.
 * @return bytes; align them to LULL_CACHE_LINE
 * Threads: any.
 */
size_t lull_flow_merge_size(const struct lull_flow_merge_config *config);
/**
 * Set up a merge in memory of the caller. It lives until the caller frees that memory.
 * @param memory    lull_flow_merge_size() bytes, aligned to LULL_CACHE_LINE
 * @param give      takes complete records
 * @param give_arg  passed to @p give
 * @param merge     out: the object; it is at @p memory
 * @return 0; -EINVAL: memory not aligned, no @p give, or a member of @p config out of range
 */
int lull_flow_merge_init(void *memory, const struct lull_flow_merge_config *config,
			 lull_flow_give *give, void *give_arg, struct lull_flow_merge **merge);
/**
 * Take a message of a worker. A worker's messages come in the order in which it sent them.
 * @param message  not kept
 */
void lull_flow_merge_add(struct lull_flow_merge *merge, const struct lull_flow_record *message);
/**
 * Give the records that are complete.
 * @param watermark_ns  the smallest watermark of all workers that are not late, read before the
 *                      messages added so far were fetched; never goes back; UINT64_MAX: all have
 *                      flushed, late ones too, give everything
 */
void lull_flow_merge_advance(struct lull_flow_merge *merge, uint64_t watermark_ns);
/**
 * Say which workers records do not wait for. What they may lack of these is not exact any more.
 * Call lull_flow_merge_advance() after each change.
 * @param workers       bit per worker that is late; 0: none
 * @param watermark_ns  the smallest watermark of these; not looked at when there are none
 */
void lull_flow_merge_late(struct lull_flow_merge *merge, uint64_t workers, uint64_t watermark_ns);
/** Set a new idle_ns; see lull_flow_table_timeouts(). */
void lull_flow_merge_timeouts(struct lull_flow_merge *merge, uint64_t idle_ns);
/**
 * Change config hold of a running merge: from now on parts may, or may not, come from several
 * workers.
 */
void lull_flow_merge_hold(struct lull_flow_merge *merge, bool hold);
/**
 * Give access to the counters. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the merge
 * Threads: any.
 */
const struct lull_flow_merge_counters *lull_flow_merge_counters(
	const struct lull_flow_merge *merge);

/* ---- top ---- */

#define LULL_FLOW_TOP_MAX 32
/** The heaviest of what was offered in a round, by bytes, heaviest first. */
struct lull_flow_top {
	uint32_t count;
	struct lull_flow_record records[LULL_FLOW_TOP_MAX]; /* without payload */
};
/** Begin a new round: forget the flows offered so far. */
void lull_flow_top_clear(struct lull_flow_top *top);
/**
 * Offer a flow. It is kept, without its payload, while it is among the LULL_FLOW_TOP_MAX heaviest
 * of the round.
 * @param record  not kept
 */
void lull_flow_top_offer(struct lull_flow_top *top, const struct lull_flow_record *record);

#ifdef __cplusplus
}
#endif

#endif
