/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packet: what is on the wire, version 1, little endian. packet.c (what is in packets of an epoch)
 * and greeting.c (what nodes tell each other of themselves) alone read and write it.
 *
 * Every packet begins with a header of 28 bytes. A packet of an epoch (DATA, ACK, PROBE, REST,
 * CLOSE) ends with the tag of its security; what stands between is its body. HELLO, ANSWER, RETRY
 * and RESET stand outside of epochs.
 *
 * Reading never leaves the bytes it is given: a function returns false for what is too short, too
 * long, or out of its range, and then its result means nothing.
 */
#ifndef LULL_BUNDLE_PACKET_H
#define LULL_BUNDLE_PACKET_H

#include <lull/bundle.h>

#define BUNDLE_VERSION 1
#define BUNDLE_HEADER_BYTES 28
#define BUNDLE_HEAD_BYTES 32
#define BUNDLE_BLOCK_BYTES 40
#define BUNDLE_RECORD_BYTES 12
#define BUNDLE_ACK_BYTES 8         /* of an ACK before its blocks */
#define BUNDLE_HELLO_BYTES_MIN 512 /* of a whole HELLO packet; an ANSWER is never longer */
#define BUNDLE_COOKIE_BYTES 16
#define BUNDLE_RECORDS_MAX 32         /* of an ACK */
#define BUNDLE_PAYLOAD_BYTES_MAX 1024 /* of a hello or an answer, before it is protected */
#define BUNDLE_GREETING_BYTES_MAX 614 /* what a greeting needs of that */

enum bundle_type {
	BUNDLE_HELLO = 1,
	BUNDLE_ANSWER,
	BUNDLE_RETRY,
	BUNDLE_RESET,
	BUNDLE_DATA,
	BUNDLE_ACK,
	BUNDLE_PROBE,
	BUNDLE_REST,
	BUNDLE_CLOSE,
};

/* Flags of the header. */
#define BUNDLE_FLAG_PHASE 0x01u /* lowest bit of the key's generation */
#define BUNDLE_FLAG_HEAD 0x02u  /* DATA: the first piece, a head stands before it */
#define BUNDLE_FLAG_NOW 0x04u   /* acknowledge at once */
#define BUNDLE_FLAG_RESENT 0x08u
#define BUNDLE_FLAG_BLOCK 0x10u /* DATA: one acknowledgement block ends the body */
#define BUNDLE_FLAGS_KNOWN 0x1fu

/**
 * The header: byte 0 version:4 (high) and type:4, 1 flags, 2 path: sender's rail:4 (high) and
 * receiver's rail:4, 3 rest, 4 to:32, 8 psn:32, 12 sent:32, 16 msg:32, 20 off:32, 24 grant:32.
 */
struct bundle_header {
	uint8_t version, type, flags, path;
	uint8_t rest;   /* longest rest the sender may take, see bundle_rest_encode() */
	uint32_t to;    /* the receiver's index of this peer: 12 bits place (low), 20 bits random */
	uint32_t psn;   /* low half */
	uint32_t sent;  /* sender's clock in units of 64 ns */
	uint32_t msg;   /* number of the message */
	uint32_t off;   /* of the first byte of payload in the message, in 8 bytes */
	uint32_t grant; /* absolute count of pieces of messages not accepted yet that may be sent */
};
void bundle_header_write(const struct bundle_header *header, uint8_t *packet);
/** False: shorter than a header, another version, no such type, unknown flags. */
bool bundle_header_read(struct bundle_header *header, const uint8_t *packet, uint32_t len_bytes);
/** It may be a packet of ours, of another version: for the counter. */
bool bundle_header_foreign(const uint8_t *packet, uint32_t len_bytes);

/** 0: polls on; else the least n of 1..255 that bundle_rest_decode() makes at least as long. */
uint8_t bundle_rest_encode(uint64_t rest_ns);
/** 0, or 2^((n - 1) / 8) us rounded up to a ns: up to 3611.6 s, which longer rests become. */
uint64_t bundle_rest_decode(uint8_t rest);

/** The number near @p largest whose low half is @p low; never below 1. */
uint64_t bundle_psn_expand(uint64_t largest, uint32_t low);

/** Head of a message: len:40, eager:24, tag:64, user:64, from:16, to:16, matched:8 (0, 1), 0:24. */
struct bundle_head {
	uint64_t len_bytes, tag, user;
	uint32_t eager_pieces; /* of the grant that the sender set aside for this message */
	uint16_t from, to;
	bool matched; /* its sender waits until it is accepted */
};
void bundle_head_write(const struct bundle_head *head, uint8_t *at);
/** False: too short, longer than a message may be, or what is reserved is not zero. */
bool bundle_head_read(struct bundle_head *head, const uint8_t *at, uint32_t len_bytes);

/**
 * What the sender of an ACK has received on one path. Bytes: 0 path, 1 state, 2 wait:16, 4 hold:16,
 * 6 duplicates:16, 8 largest psn:32, 12 its sent:32, 16 received:32, 20 bitmap:128, 36 credit:16,
 * 38 credit echo:16.
 */
struct bundle_block {
	uint8_t path;  /* as in the header of the packets that are acknowledged */
	uint8_t state; /* enum lull_bundle_path_state here */
	uint16_t wait; /* before this look the receiver last looked so long ago, 1.024 us each */
	uint16_t hold; /* from that look to this packet, 1.024 us each; 65535: or longer */
	uint16_t duplicates; /* came twice so far, modulo 2^16 */
	uint32_t psn;        /* largest received, low half */
	uint32_t sent;       /* of that packet */
	uint32_t received;   /* packets received on this path, modulo 2^32 */
	uint64_t bits[2];    /* bit i of bits[i / 64]: psn - i was received; bit 0 is always set */
	uint16_t credit; /* most packets that may be under way towards the sender of this block */
	uint16_t credit_echo; /* the credit that the sender of this block goes by */
};
void bundle_block_write(const struct bundle_block *block, uint8_t *at);
/** False: too short, no such state, or bit 0 not set. */
bool bundle_block_read(struct bundle_block *block, const uint8_t *at, uint32_t len_bytes);
/**
 * Does a bit name a number below 1? @p psn is block->psn in 64 bits: what stands in the packet is
 * small again after 2^32 packets, and bits of numbers before it are right then.
 */
bool bundle_block_reaches_below(const struct bundle_block *block, uint64_t psn);

enum bundle_record_kind {
	BUNDLE_RECORD_GRANT = 1, /* msg was accepted; pieces before `end` may be sent */
	BUNDLE_RECORD_DONE, /* no more of msg is needed; reason 0: it was taken, whole or cut */
};
enum bundle_reason {
	BUNDLE_REASON_NONE,
	BUNDLE_REASON_REFUSED,
	BUNDLE_REASON_MAX = BUNDLE_REASON_REFUSED,
};
/** kind:8, reason:8, 0:16, msg:32, end:32. */
struct bundle_record {
	uint8_t kind, reason;
	uint32_t msg, end;
};

/**
 * Body of an ACK: blocks:8, records:8, 0:48, then blocks, then records; nothing behind them.
 * Records of other kinds than DONE have no reason.
 */
struct bundle_ack {
	uint32_t block_count, record_count;
	struct bundle_block blocks[LULL_BUNDLE_PATHS_MAX];
	struct bundle_record records[BUNDLE_RECORDS_MAX];
};
/**
 * Bytes written. What does not fit into @p room_bytes, which is at least 8, is left out, the last
 * records first.
 */
uint32_t bundle_ack_write(const struct bundle_ack *ack, uint8_t *at, uint32_t room_bytes);
bool bundle_ack_read(struct bundle_ack *ack, const uint8_t *at, uint32_t len_bytes);

/**
 * A rail as the other side is told of it: number:8, kind:8, len:8, 0:8, mtu:32, ring:32, address.
 * Numbers are 0..15, the MTU is LULL_BUNDLE_PACKET_BYTES_MIN..LULL_BUNDLE_PACKET_BYTES_MAX.
 */
struct bundle_rail_info {
	uint8_t number, kind;
	struct lull_bundle_address address;
	uint32_t packet_bytes, ring_pkts;
};
struct bundle_rail_table {
	uint32_t count;
	struct bundle_rail_info rails[LULL_BUNDLE_RAILS_MAX];
};

/**
 * PROBE: kind:8, rails:8, table:16, more:32 (bytes of padding), challenge:64, rails, zeros.
 */
enum bundle_probe_kind { BUNDLE_PROBE_ASK = 1, BUNDLE_PROBE_REPLY };
struct bundle_probe {
	uint8_t kind;
	uint16_t table; /* number of the rails as they are: each change counts; it wraps */
	uint64_t challenge;
	struct bundle_rail_table rails; /* of its sender, all of them */
};
/**
 * Bytes written: at least what is needed, padded with zeros to @p pad_bytes where that is more; 0:
 * @p room_bytes is too little.
 */
uint32_t bundle_probe_write(const struct bundle_probe *probe, uint8_t *at, uint32_t room_bytes,
			    uint32_t pad_bytes);
/** False: also for two rails of one number, an address that is too long, and rings below 16. */
bool bundle_probe_read(struct bundle_probe *probe, const uint8_t *at, uint32_t len_bytes);

/** CLOSE: reason:8, reply:8, 0:48. */
struct bundle_close {
	uint8_t reason; /* 0: as asked for, 1: it ends without waiting */
	bool reply;
};
uint32_t bundle_close_write(const struct bundle_close *close, uint8_t *at);
bool bundle_close_read(struct bundle_close *close, const uint8_t *at, uint32_t len_bytes);

/**
 * What hello and answer say, protected by the security: version min:8, version max:8, name len:8,
 * target len:8, rails:8, 0:24, node id:64, index:32, piece:32, piece room:32, messages:32,
 * grant:32, credit:32, name, target, rails.
 */
struct bundle_greeting {
	uint8_t version_min, version_max;   /* 1..15 */
	char name[LULL_BUNDLE_NAME_SIZE];   /* of who says it */
	char target[LULL_BUNDLE_NAME_SIZE]; /* whom a hello is for; "": whoever gets it */
	uint64_t node_id;
	uint32_t index;       /* what packets to us carry in `to` */
	uint32_t piece_bytes; /* largest piece that all rails of the sender carry; answer: agreed */
	uint32_t piece_room;  /* a piece may be so long, for the memory set aside here */
	uint32_t
		messages_max; /* that may be under way towards the sender; 16..4096, a power of 2 */
	uint32_t grant_pieces; /* of messages not accepted yet, to begin with; up to 65535 */
	uint32_t credit_pkts;  /* under way towards each rail, to begin with; 1..65535 */
	struct bundle_rail_table rails;
};
/** Bytes written, at most BUNDLE_GREETING_BYTES_MAX. Each member has to be in its range. */
uint32_t bundle_greeting_write(const struct bundle_greeting *greeting, uint8_t *at);
/**
 * Checks every member: names are of printable characters without blanks, that of who says it is not
 * empty, both piece sizes are 512..65528 and a multiple of 8.
 */
bool bundle_greeting_read(struct bundle_greeting *greeting, const uint8_t *at, uint32_t len_bytes);

/**
 * HELLO and ANSWER: header (psn: key id; msg, off: node id, low half first; grant: bytes of body,
 * at least 1; flags, rest, sent, the receiver's rail: 0), HELLO: cookie:128, then the body (the
 * handshake's message), then zeros: in a HELLO up to BUNDLE_HELLO_BYTES_MIN or more.
 */
struct bundle_hello {
	uint8_t rail; /* of the sender, 0..15 */
	uint32_t to;  /* ANSWER: index of who asked; HELLO: 0 */
	uint32_t key_id;
	uint64_t node_id;                    /* of the sender */
	uint8_t cookie[BUNDLE_COOKIE_BYTES]; /* HELLO: of a RETRY, else zero */
	const uint8_t *body;                 /* read: in the packet */
	uint32_t body_bytes;
};
/** Length of the whole packet; 0: @p room_bytes is too little. @p type: HELLO or ANSWER. The body
 * must not be in @p packet. */
uint32_t bundle_hello_write(const struct bundle_hello *hello, enum bundle_type type,
			    uint8_t *packet, uint32_t room_bytes);
/** After bundle_header_read(); type HELLO or ANSWER, of a node id that is not 0. A HELLO shorter
 * than BUNDLE_HELLO_BYTES_MIN is refused. */
bool bundle_hello_read(struct bundle_hello *hello, const struct bundle_header *header,
		       const uint8_t *packet, uint32_t len_bytes);

/** RETRY: header (psn: key id; msg, off: node id of who asked), cookie:128. */
struct bundle_retry {
	uint32_t key_id;
	uint64_t node_id;
	uint8_t cookie[BUNDLE_COOKIE_BYTES];
};
uint32_t bundle_retry_write(const struct bundle_retry *retry, uint8_t *packet);
bool bundle_retry_read(struct bundle_retry *retry, const struct bundle_header *header,
		       const uint8_t *packet, uint32_t len_bytes);

/** RESET: a header alone; msg is the index that is unknown, psn that of the packet it answers. */
uint32_t bundle_reset_write(uint32_t unknown, uint32_t psn, uint8_t *packet);

#endif
