/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * State: what a bundle is made of. protocol.h says what its files do for each other.
 *
 * A peer is a *slot*, small, and a *store*, large, which it has from the agreement on keys on.
 * A slot has a *place*, its number in the index that packets to us carry.
 */
#ifndef LULL_BUNDLE_STATE_H
#define LULL_BUNDLE_STATE_H

#include <string.h>

#include <lull/bundle.h>

#include "base/assert.h"
#include "control.h"
#include "meter.h"
#include "packet.h"
#include "seen.h"
#include "spread.h"

#define NONE UINT32_MAX
#define BUNDLE_HALVES 32 /* answers that wait for the first packet under their keys */
/* Slots besides those of peers: a hello is read before another half gives its place up for it. */
#define BUNDLE_SLOTS_MORE (BUNDLE_HALVES + 1)
#define BUNDLE_PLACE_BITS 12
#define BUNDLE_EAGER_PIECES 64 /* of a message that is not accepted yet: 8 quanta */
#define BUNDLE_BITS_LARGE 4096 /* pieces of a large message that may be open */
#define BUNDLE_BITS_BLOCKS 32  /* large messages in each direction with so many */
#define BUNDLE_REPEATS 256     /* records that may have been lost */
#define BUNDLE_ANSWER_BYTES 1280
#define BUNDLE_ACK_PKTS 16 /* two quanta */
#define BUNDLE_ACK_NS (100 * LULL_NS_PER_US)
#define BUNDLE_ACK_NS_MIN (20 * LULL_NS_PER_US) /* an answer that comes by then carries it along */
#define BUNDLE_QUIET_ACK_PKTS 32 /* packets that ask for no acknowledgement get one all the same */
#define BUNDLE_ANSWERS_NEEDED 3
#define BUNDLE_PROBE_GAP_NS (10 * LULL_NS_PER_MS)

/* ---- lists of numbers ---- */

struct bundle_list {
	uint32_t first, last;
};
struct bundle_link {
	uint32_t next, previous;
};

/* ---- messages ---- */

/* Which pieces of a message are done. Piece n is bit n % size; the first 64 need no block. */
struct bundle_bits {
	uint64_t own;
	uint32_t block; /* NONE: own */
};

enum bundle_sending { SENDING_FREE, SENDING_FRESH, SENDING_OPEN, SENDING_DONE };
/* Lists of messages to send; each is in one of them at most. */
enum bundle_work { WORK_NONE, WORK_FREE, WORK_FRESH, WORK_BULK, WORK_WAIT, WORK_EVENT, WORK_COUNT };
struct bundle_outgoing {
	struct bundle_link work;  /* one of enum bundle_work */
	struct bundle_link heads; /* heads not acknowledged, by number */
	struct bundle_link again; /* messages with lost pieces */
	uint32_t number, chain;   /* next of the same hash */
	const uint8_t *data;
	uint64_t len_bytes, tag, user;
	void *context;
	uint32_t piece_count, next_piece, end_piece; /* pieces before end_piece may be sent */
	uint32_t eager, base, acked_count, lost_count;
	struct bundle_bits acked, lost;
	uint32_t lost_path; /* on which it was lost last */
	uint64_t asked_ns;  /* when its head goes once more, as a record may be lost */
	uint32_t asks;
	int error;
	uint16_t from, to;
	uint8_t state;
	uint8_t work_list; /* enum bundle_work */
	bool matched, accepted, head_acked, head_lost, in_again;
};

enum bundle_receiving {
	RECEIVING_FREE,
	RECEIVING_PIECES,
	RECEIVING_WAITS,
	RECEIVING_ACCEPTED,
	RECEIVING_DONE
};
struct bundle_incoming {
	struct bundle_link work; /* free ones, events */
	uint32_t number, chain;
	struct bundle_head head;
	uint32_t piece_count, needed_count, base, granted;
	struct bundle_bits received;
	uint32_t chunks; /* first one */
	uint8_t *buffer;
	uint64_t size_bytes;
	void *context;
	int error;
	uint8_t state;
	bool head_here, told, in_events;
};
/* A piece that has no buffer yet. */
struct bundle_chunk {
	uint32_t next, piece, len_bytes;
};
/* A record that may have to be said again. */
struct bundle_repeat {
	struct bundle_record record;
	uint64_t next_ns, gap_ns;
	uint8_t left; /* 0: free */
};

/* ---- paths ---- */

enum bundle_fate { FLIGHT_NONE, FLIGHT_OUT, FLIGHT_ACKED, FLIGHT_LOST };
/* A packet that was sent. */
struct bundle_flight {
	uint64_t sent_ns;
	uint32_t number, piece; /* of the message */
	uint16_t pieces, bytes; /* pieces 0 and head: a head alone */
	uint8_t fate;
	bool data, head;
};

struct bundle_path {
	uint8_t state; /* enum lull_bundle_path_state; NONE: no path */
	uint8_t local, remote;
	uint8_t probes_full; /* unanswered full ones in a row */
	bool small_passed;
	struct lull_bundle_address address;
	uint32_t packet_bytes; /* both rails' */
	uint32_t remote_bytes; /* the other side's */
	uint64_t state_ns;

	/* Out. */
	uint64_t psn_next, psn_base; /* all before base have met their fate */
	uint64_t psn_lost;           /* largest that was taken for lost */
	uint64_t psn_data;           /* the last with data */
	uint64_t psn_now;            /* the last that asked to be acknowledged at once */
	struct bundle_flight *flights;
	uint32_t under_way; /* with data */
	uint32_t quota;
	uint64_t largest_acked, gap_psn, gap_ns;
	uint32_t reorder_pkts;
	uint64_t reorder_extra_ns;
	uint64_t heard_ns; /* an acknowledgement told something new, or data began to be out */
	uint64_t tail_ns;  /* when the tail timer is due; NEVER */
	uint32_t tail_tries;
	bool limited;
	struct bundle_meter meter;
	uint64_t control[BUNDLE_CONTROL_STATE / 8];
	uint32_t credit;     /* what the other side allows */
	uint64_t credit_psn; /* of the newest block, which said so */
	uint32_t credit_received;

	/* In. */
	struct bundle_seen seen;
	uint64_t seen_floor; /* numbers up to it are refused, and count as not received */
	uint64_t rx_look_ns, rx_wait_ns; /* of the largest */
	uint32_t rx_sent, rx_count, rx_duplicates;
	uint64_t rx_ns;
	uint32_t ack_pkts, quiet_pkts; /* not acknowledged yet; those that ask for nothing */
	uint64_t ack_since_ns, block_ns;
	bool ack_now;
	uint32_t credit_given, credit_held; /* to the other side; what it may still go by */
	uint32_t credit_most;               /* ever given */
	uint64_t active_ns;

	/* Probes. */
	uint64_t probe_ns, probe_gap_ns, challenge, challenge_ns;
	bool ask_wanted, asked, asked_again, challenge_full, reply_wanted;
	uint64_t reply_challenge;
	uint32_t reply_bytes;
	uint32_t answers;
	uint64_t hold_ns, held_until_ns, up_ns, down_ns;
	bool move_wanted; /* packets come from another address */
	struct lull_bundle_address move_address;
	struct lull_bundle_address reply_address;
	uint64_t move_challenge, move_ns;

	struct lull_bundle_path_counters counters;
};

/* ---- peers ---- */

/** What a peer was sent, and sent. */
struct bundle_carried {
	uint64_t sent_messages, sent_bytes, received_messages, received_bytes;
};

/* Numbers of a pair of rails whose path has left its place. */
struct bundle_pair {
	uint64_t psn_next, seen_largest;
};
struct bundle_store {
	struct bundle_pair pairs[LULL_BUNDLE_RAILS_MAX * LULL_BUNDLE_RAILS_MAX];
	struct bundle_path paths[LULL_BUNDLE_PATHS_MAX];
	uint32_t path_count; /* used places of paths, holes included */
	struct bundle_spread_state spread;
	uint8_t tx_turns[LULL_BUNDLE_RAILS_MAX]; /* path whose turn it is on a rail */

	struct bundle_outgoing *out;
	uint32_t *out_chains;
	struct bundle_list work[WORK_COUNT], again, heads;
	uint32_t out_number, out_count, out_open, bulk_count, bulk_pkts;
	uint32_t out_limit; /* messages the other side keeps from its next one on */
	uint32_t sendable;  /* pieces that may be sent now, about */
	uint32_t grant, charged;
	uint64_t wait_ns; /* when a message that waits for a record asks for it, at the earliest */
	bool bulk_turn;

	struct bundle_incoming *in;
	uint32_t *in_chains;
	struct bundle_list in_free;
	uint32_t in_next, in_count, in_partly; /* number of the next head; those partly here */
	uint32_t released, in_accepted;        /* those accepted that are not whole */
	struct bundle_chunk *chunks;
	uint8_t *chunk_bytes;
	uint32_t chunk_free, chunk_count;
	uint64_t *blocks; /* of both directions */
	uint32_t block_free[2 * BUNDLE_BITS_BLOCKS], block_count;
	struct bundle_repeat repeats[BUNDLE_REPEATS];
	uint32_t repeat_turn, repeat_count;
	uint32_t *refused, refused_count; /* numbers of the last messages_max that were refused */

	struct bundle_list in_events;
	uint32_t under_way; /* of all paths */
	struct bundle_carried carried;
};

enum bundle_peer_state {
	PEER_FREE,
	PEER_HELLO,
	PEER_HALF,
	PEER_JOIN,
	PEER_UP,
	PEER_CLOSING,
	PEER_ENDED
};
struct bundle_slot {
	uint8_t state;
	bool asked, asker, told_up, close_wanted, rest_wanted, lingers;
	bool kept, told_down;  /* kept: the number stays this peer's when it has ended */
	int error;             /* of the event DOWN */
	uint32_t place, index; /* index: what packets to us carry */
	uint32_t remote_index, piece_bytes;
	char name[LULL_BUNDLE_NAME_SIZE];
	uint64_t node_id;
	struct bundle_store *store;
	struct bundle_rail_table rails; /* of the other side */
	uint16_t table;                 /* number of the newest table of them, once it was told */
	bool table_told;
	uint64_t since_ns, heard_ns, limit_ns, end_ns;
	struct bundle_carried carried; /* of one that has ended and is kept */
	uint64_t absent_ns; /* since it was heard, we did not listen for so long at once */
	uint64_t doubt_ns;  /* somebody said that it knows us no more; 0: nobody */
	uint8_t doubt_kind;
	struct lull_bundle_address doubt_from; /* who said so */
	uint64_t rest_ns;                      /* what the other side may rest */
	uint32_t rest_sent;                    /* its clock then */
	bool rest_told;
	uint8_t rest_said;
	uint32_t first_credit, first_grant, messages_max;
	uint64_t tx_pkts;
	uint32_t rx_generation;
	uint64_t rx_generation_ns;
	uint64_t due_ns;
	uint32_t idle_rails; /* a bit each: nothing to send there for now */
	bool dirty;
	/* Rails of the other side that were heard on each of ours, for a plan that leads nowhere */
	uint16_t met[LULL_BUNDLE_RAILS_MAX];
	bool met_used;
	/* HELLO, CLOSING */
	struct lull_bundle_target target;
	uint64_t hello_ns, hello_gap_ns;
	uint32_t hello_turn, hello_rails; /* rails on which it is to be sent now, a bit each */
	uint32_t hello_seen;              /* checksum of the hello that was answered */
	bool retry_wanted;                /* with a cookie, to the one who gave it */
	uint8_t retry_rail;
	struct lull_bundle_address retry_to;
	uint8_t cookie[BUNDLE_COOKIE_BYTES];
	/* HALF */
	uint8_t answer_rail;
	bool answer_wanted;
	bool proven; /* who asked gets packets at his address: he had a cookie */
	uint16_t answer_bytes;
	struct lull_bundle_address answer_to, hello_from;
	uint8_t *answer; /* BUNDLE_ANSWER_BYTES, of halves and askers */
	void *handshake, *keys;
};

struct bundle_rail {
	bool used;
	struct lull_bundle_rail config;
	uint64_t look_ns, absent_ns;
	uint64_t absent_ns_max;                      /* lately */
	uint64_t rate_since_ns, rate_pkts, rate_pps; /* packets that came; rate_pps: lately */
	uint32_t turn;                               /* slot whose turn it is */
};

/* RETRY and RESET on their way. */
struct bundle_note {
	uint8_t rail, len_bytes;
	uint8_t bytes[64]; /* the longest is a CLOSE with its tag */
	struct lull_bundle_address to;
};
#define BUNDLE_NOTES 16

struct lull_bundle {
	struct lull_bundle_config config;
	struct lull_bundle_counters counters;
	struct bundle_rail rails[LULL_BUNDLE_RAILS_MAX];
	uint16_t table; /* number of the rails as they are */
	uint64_t now_ns;
	uint64_t told_ns; /* what was told as the deadline after the last run; NEVER: nothing */
	uint64_t rest_ns;
	uint32_t slot_count, slot_high; /* slots; all from slot_high on are free */
	uint32_t peer_count, half_count;
	struct bundle_slot *slots;
	uint32_t *place_slots; /* by place */
	uint32_t store_free;
	struct bundle_store **stores;
	struct bundle_note notes[BUNDLE_NOTES];
	uint32_t note_first, note_count;
	uint32_t event_turn;
	uint64_t reset_ns; /* resets and hellos are limited by second */
	uint32_t reset_count, hello_count;
	uint8_t secret[32]; /* of cookies */
	uint64_t credit_ns;
	struct bundle_ack ack; /* scratch */
};

/* ---- small things ---- */

static inline uint32_t
bundle_bits_size(const struct bundle_bits *bits)
{
	return bits->block == NONE ? 64 : BUNDLE_BITS_LARGE;
}
static inline uint64_t *
bundle_bits_word(struct bundle_store *store, struct bundle_bits *bits, uint32_t piece)
{
	if (bits->block == NONE)
		return &bits->own;
	return store->blocks + (size_t)bits->block * (BUNDLE_BITS_LARGE / 64) +
	       piece % BUNDLE_BITS_LARGE / 64;
}
static inline bool
bundle_bits_get(struct bundle_store *store, struct bundle_bits *bits, uint32_t piece)
{
	return *bundle_bits_word(store, bits, piece) >> piece % 64 & 1;
}
static inline void
bundle_bits_set(struct bundle_store *store, struct bundle_bits *bits, uint32_t piece)
{
	*bundle_bits_word(store, bits, piece) |= 1ULL << piece % 64;
}
static inline void
bundle_bits_clear(struct bundle_store *store, struct bundle_bits *bits, uint32_t piece)
{
	*bundle_bits_word(store, bits, piece) &= ~(1ULL << piece % 64);
}
/** It is @p now_ns. Two threads that take turns may have read the clock in the other order. */
static inline void
bundle_time(struct lull_bundle *bundle, uint64_t now_ns)
{
	bundle->now_ns = LULL_MAX(bundle->now_ns, now_ns);
}
/** @p a before @p b, for numbers that wrap. */
static inline bool
bundle_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}
/** Where a piece begins in its message. */
static inline uint64_t
bundle_piece_offset(uint32_t piece_bytes, uint32_t piece)
{
	return piece == 0 ? 0 : (uint64_t)piece * piece_bytes - BUNDLE_HEAD_BYTES;
}
static inline uint32_t
bundle_piece_count(uint32_t piece_bytes, uint64_t len_bytes)
{
	return (uint32_t)((len_bytes + BUNDLE_HEAD_BYTES + piece_bytes - 1) / piece_bytes);
}
/** Bytes of pieces @p piece .. @p piece + @p count - 1 of a message. */
static inline uint64_t
bundle_piece_bytes(uint32_t piece_bytes, uint64_t len_bytes, uint32_t piece, uint32_t count)
{
	uint64_t begin = bundle_piece_offset(piece_bytes, piece);

	return LULL_MIN(bundle_piece_offset(piece_bytes, piece + count), len_bytes) - begin;
}

#define BUNDLE_OUT(store, member)                                                                  \
	((struct bundle_chainer){ (store)->out, sizeof(struct bundle_outgoing),                    \
				  offsetof(struct bundle_outgoing, member) })
#define BUNDLE_IN(store)                                                                           \
	((struct bundle_chainer){ (store)->in, sizeof(struct bundle_incoming),                     \
				  offsetof(struct bundle_incoming, work) })

/* list.c: lists of entries in an array of `size` bytes each, linked at `at` */
struct bundle_chainer {
	void *entries;
	size_t size, at;
};
void bundle_list_init(struct bundle_list *list);
void bundle_list_push(struct bundle_list *list, struct bundle_chainer chainer, uint32_t entry);
void bundle_list_push_front(struct bundle_list *list, struct bundle_chainer chainer,
			    uint32_t entry);
void bundle_list_remove(struct bundle_list *list, struct bundle_chainer chainer, uint32_t entry);
uint32_t bundle_list_pop(struct bundle_list *list, struct bundle_chainer chainer);
/** Bitmap blocks. */
void bundle_bits_init(struct bundle_store *store, struct bundle_bits *bits, uint32_t piece_count);
void bundle_bits_fini(struct bundle_store *store, struct bundle_bits *bits);

#endif
