/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Protocol: what the files of a bundle do for each other.
 *
 *     bundle.c   memory, rails, time             rx.c   a packet came
 *     ask.c, greet.c, note.c  handshake          tx.c   what leaves next
 *     peer.c     life of a peer                  look.c counters, for others
 *     plan.c     which pairs of rails are paths
 *     path.c     state of a path, probes out     credit.c rings of rails
 *     probe.c    what probes and addresses say of paths
 *     flight.c   what is under way on a path     acks.c  acknowledgements and records
 *     outgoing*.c messages we send               incoming.c, chunk.c messages we receive
 */
#ifndef LULL_BUNDLE_PROTOCOL_H
#define LULL_BUNDLE_PROTOCOL_H

#include "state.h"

/* bundle.c */
void bundle_slot_free(struct lull_bundle *bundle, struct bundle_slot *slot);
struct bundle_slot *bundle_slot_take(struct lull_bundle *bundle);
void bundle_store_init(struct lull_bundle *bundle, struct bundle_store *store);
uint64_t bundle_random(struct lull_bundle *bundle);

/* note.c: packets without an epoch, and cookies */
struct bundle_note *bundle_note_new(struct lull_bundle *bundle, uint32_t rail,
				    const struct lull_bundle_address *to);
uint32_t bundle_note_tx(struct lull_bundle *bundle, uint32_t rail,
			struct lull_bundle_packet *packet);
/** Its rail is gone. */
void bundle_notes_drop(struct lull_bundle *bundle, uint32_t rail);
/** Whoever asks gets packets at his address: the cookie in his hello is ours. */
bool bundle_cookie_holds(const struct lull_bundle *bundle, uint32_t rail,
			 const struct lull_bundle_address *from, const struct bundle_hello *hello);
/** Too many ask without a cookie. */
bool bundle_cookie_wanted(struct lull_bundle *bundle);
/** Come again with this one. */
void bundle_cookie_send(struct lull_bundle *bundle, uint32_t rail,
			const struct lull_bundle_address *from, const struct bundle_hello *hello);

/* ask.c: the side that asks */
void bundle_ask_answer(struct lull_bundle *bundle, uint32_t rail,
		       const struct bundle_hello *answer);
/** The other side does not know us any more. */
void bundle_ask_reset(struct lull_bundle *bundle, uint32_t rail, const struct bundle_header *header,
		      const struct lull_bundle_address *from);
void bundle_ask_anew(struct lull_bundle *bundle, struct bundle_slot *slot);
void bundle_ask_retry(struct lull_bundle *bundle, uint32_t rail, const struct bundle_retry *retry,
		      const struct lull_bundle_address *from);
/** A hello is to leave on this rail. */
bool bundle_ask_wants(const struct bundle_slot *slot, uint32_t rail);
void bundle_ask_run(struct lull_bundle *bundle, struct bundle_slot *slot);
uint32_t bundle_ask_tx(struct lull_bundle *bundle, struct bundle_slot *slot, uint32_t rail,
		       struct lull_bundle_packet *packet);

/* greet.c: the side that answers, and what both say */
#define BUNDLE_PROLOGUE_BYTES 16
void bundle_greet_say(const struct lull_bundle *bundle, const struct bundle_slot *slot,
		      const char *target, struct bundle_greeting *greeting);
void bundle_greet_prologue(uint32_t key_id, uint64_t node_id, uint8_t *prologue);
bool bundle_greet_fits(const struct bundle_greeting *greeting);
/** What the greeting of the other side says goes into the slot. */
void bundle_greet_take(struct lull_bundle *bundle, struct bundle_slot *slot,
		       const struct bundle_greeting *greeting);
void bundle_greet_rx(struct lull_bundle *bundle, uint32_t rail, const struct bundle_header *header,
		     const uint8_t *packet, uint32_t len_bytes,
		     const struct lull_bundle_address *from);
void bundle_greet_unknown(struct lull_bundle *bundle, uint32_t rail,
			  const struct bundle_header *header,
			  const struct lull_bundle_address *from);
void bundle_greet_run(struct lull_bundle *bundle, struct bundle_slot *slot);
/** @return bytes, 0: nothing to say on this rail */
uint32_t bundle_greet_tx(struct lull_bundle *bundle, uint32_t rail,
			 struct lull_bundle_packet *packet);
bool bundle_greet_wants(const struct lull_bundle *bundle);
struct bundle_note *bundle_note_new(struct lull_bundle *bundle, uint32_t rail,
				    const struct lull_bundle_address *to);

void bundle_greet_rails(const struct lull_bundle *bundle, struct bundle_rail_table *table);

/* peer.c */
/** Keys are agreed: the slot gets a store and its paths. False: there is no store. */
bool bundle_peer_join(struct lull_bundle *bundle, struct bundle_slot *slot,
		      const struct bundle_greeting *greeting);
/** The first packet under the keys of a half came: it takes the place of what was before. */
struct bundle_slot *bundle_peer_promote(struct lull_bundle *bundle, struct bundle_slot *half);
/** Ends it: all operations end with @p error, then event DOWN. */
void bundle_peer_end(struct lull_bundle *bundle, struct bundle_slot *slot, int error);
void bundle_peer_heard(struct lull_bundle *bundle, struct bundle_slot *slot);
void bundle_peer_path_up(struct lull_bundle *bundle, struct bundle_slot *slot);
void bundle_peer_closed(struct lull_bundle *bundle, struct bundle_slot *slot,
			const struct bundle_close *close);
void bundle_peer_run(struct lull_bundle *bundle, struct bundle_slot *slot);
uint64_t bundle_peer_due(struct lull_bundle *bundle, struct bundle_slot *slot);
bool bundle_peer_busy(const struct bundle_slot *slot);
struct bundle_slot *bundle_peer_find(struct lull_bundle *bundle, uint32_t number);
/** Something changed: its timers and what it has to send are to be looked at anew. */
static inline void
bundle_slot_touch(struct bundle_slot *slot)
{
	slot->dirty = true;
	slot->idle_rails = 0;
}
static inline bool
bundle_peer_has_keys(const struct bundle_slot *slot)
{
	return slot->state == PEER_JOIN || slot->state == PEER_UP || slot->state == PEER_CLOSING;
}

/* plan.c */
/** The rails of one side have changed: paths end, and others begin. */
void bundle_peer_plan(struct lull_bundle *bundle, struct bundle_slot *slot);
/** The path of a pair of rails, begun when there is none; NULL: no room. */
struct bundle_path *bundle_path_take(struct lull_bundle *bundle, struct bundle_slot *slot,
				     uint32_t local, uint32_t remote);
/** The largest number that came on a pair of rails, also when there is no such path now. */
uint64_t bundle_path_seen(struct bundle_slot *slot, uint32_t local, uint32_t remote);

/* probe.c */
void bundle_probe_rx(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		     const struct bundle_probe *probe, uint32_t len_bytes,
		     const struct lull_bundle_address *from);
/** One that came by another rail than the one it names: what it says of rails counts. */
void bundle_probe_elsewhere(struct lull_bundle *bundle, struct bundle_slot *slot,
			    const struct bundle_probe *probe);
/** Something came from this address, opened and new. */
void bundle_probe_heard(struct lull_bundle *bundle, struct bundle_slot *slot,
			struct bundle_path *path, const struct lull_bundle_address *from);

/* path.c */
/** All begins anew but its numbers: no nonce comes twice in an epoch. */
void bundle_path_begin(struct lull_bundle *bundle, struct bundle_slot *slot,
		       struct bundle_path *path, const struct bundle_rail_info *remote,
		       uint32_t local);
void bundle_path_fini(struct lull_bundle *bundle, struct bundle_slot *slot,
		      struct bundle_path *path);
struct bundle_path *bundle_path_find(struct bundle_slot *slot, uint32_t local, uint32_t remote);
/** Ask on all paths that carry whether somebody is there. */
void bundle_path_doubt(struct lull_bundle *bundle, struct bundle_slot *slot);
/** Probes leave on all paths that carry: they say which rails we have. */
void bundle_path_tell(struct lull_bundle *bundle, struct bundle_slot *slot);
/** Send a probe; @p full: as long as the longest packet. */
void bundle_path_ask(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		     bool full);
void bundle_path_run(struct lull_bundle *bundle, struct bundle_slot *slot,
		     struct bundle_path *path);
uint64_t bundle_path_due(const struct lull_bundle *bundle, const struct bundle_slot *slot,
			 const struct bundle_path *path);
uint32_t bundle_path_index(const struct bundle_slot *slot, const struct bundle_path *path);
/** Silence of a path with data out that makes it suspect. */
uint64_t bundle_path_patience_ns(const struct bundle_slot *slot, const struct bundle_path *path);
/** Body of a probe, 0: none is wanted; @p to: where it goes. */
uint32_t bundle_path_probe_tx(struct lull_bundle *bundle, struct bundle_slot *slot,
			      struct bundle_path *path, uint8_t *body, uint32_t room_bytes,
			      struct lull_bundle_address *to);
void bundle_path_state(struct lull_bundle *bundle, struct bundle_slot *slot,
		       struct bundle_path *path, enum lull_bundle_path_state state);
/** May carry data, with no regard to its window. */
static inline bool
bundle_path_carries(const struct bundle_path *path)
{
	return path->state == LULL_BUNDLE_PATH_UP;
}
uint32_t bundle_path_window(const struct lull_bundle *bundle, const struct bundle_path *path);

/* flight.c */
/** A packet leaves: its entry, to be filled in. NULL: the ring is full, of data alone. */
struct bundle_flight *bundle_flight_new(struct lull_bundle *bundle, struct bundle_slot *slot,
					struct bundle_path *path, bool data);
void bundle_flight_sent(struct lull_bundle *bundle, struct bundle_slot *slot,
			struct bundle_path *path, struct bundle_flight *flight);
void bundle_flight_block(struct lull_bundle *bundle, struct bundle_slot *slot,
			 struct bundle_path *path, const struct bundle_block *block,
			 uint64_t absent_ns);
/** All that is out is taken for lost, may it have arrived or not. */
void bundle_flight_drop(struct lull_bundle *bundle, struct bundle_slot *slot,
			struct bundle_path *path);
void bundle_flight_run(struct lull_bundle *bundle, struct bundle_slot *slot,
		       struct bundle_path *path);
uint64_t bundle_flight_due(const struct bundle_slot *slot, const struct bundle_path *path);

/* tx.c */
/** Bytes of a whole packet of an epoch, sealed; its body is in place. */
uint32_t bundle_tx_seal(struct lull_bundle *bundle, struct bundle_slot *slot,
			struct bundle_path *path, struct bundle_header *header, uint8_t *packet,
			uint32_t body_bytes);

/* acks.c */
void bundle_ack_note(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		     const struct bundle_header *header, uint64_t psn, bool asks);
uint64_t bundle_ack_due(const struct bundle_path *path);
/** Body of an acknowledgement that is due on this path; 0: none. */
uint32_t bundle_ack_tx(struct lull_bundle *bundle, struct bundle_slot *slot,
		       struct bundle_path *path, uint8_t *body, uint32_t room_bytes);
/** A block for a packet with room for one. False: there is no news. */
bool bundle_ack_block(struct lull_bundle *bundle, struct bundle_slot *slot, uint8_t *at);
void bundle_ack_rx(struct lull_bundle *bundle, struct bundle_slot *slot,
		   const struct bundle_ack *ack, uint32_t rail);
bool bundle_ack_block_rx(struct lull_bundle *bundle, struct bundle_slot *slot,
			 const struct bundle_block *block, uint32_t rail);
void bundle_record_say(struct lull_bundle *bundle, struct bundle_slot *slot,
		       struct bundle_record record);
uint64_t bundle_record_due(const struct bundle_slot *slot);
/** Path that acknowledgements go by: the live one with the least delay. NULL: none. */
struct bundle_path *bundle_ack_path(struct bundle_slot *slot);

/* credit.c */
void bundle_credit_run(struct lull_bundle *bundle);
uint32_t bundle_credit_first(const struct lull_bundle *bundle, uint32_t ring_pkts);

/* outgoing.c */
void bundle_out_init(struct lull_bundle *bundle, struct bundle_store *store);
bool bundle_out_wants(const struct bundle_store *store);
/** What this path would send next. False: nothing. */
bool bundle_out_view(struct bundle_slot *slot, const struct bundle_path *path,
		     struct bundle_spread_view *view);
/**
 * Write the next packet's body for this path and note it in @p flight: 0, nothing.
 * @p header: msg, off, flags are set.
 */
uint32_t bundle_out_tx(struct lull_bundle *bundle, struct bundle_slot *slot,
		       struct bundle_path *path, struct bundle_header *header, uint8_t *body,
		       uint32_t room_bytes, struct bundle_flight *flight);
void bundle_out_acked(struct lull_bundle *bundle, struct bundle_slot *slot,
		      struct bundle_path *path, const struct bundle_flight *flight);
/** It is to be sent again; it may have arrived all the same. */
void bundle_out_lost(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		     const struct bundle_flight *flight);
void bundle_out_record(struct lull_bundle *bundle, struct bundle_slot *slot,
		       const struct bundle_record *record);
void bundle_out_grant(struct lull_bundle *bundle, struct bundle_slot *slot, uint32_t grant);
void bundle_out_end(struct lull_bundle *bundle, struct bundle_slot *slot, int error);
void bundle_out_run(struct lull_bundle *bundle, struct bundle_slot *slot);
uint64_t bundle_out_due(const struct bundle_store *store);
bool bundle_out_event(struct bundle_slot *slot, struct lull_bundle_event *event);

/* chunk.c */
uint8_t *bundle_chunk_bytes(const struct lull_bundle *bundle, const struct bundle_store *store,
			    uint32_t chunk);
/** Keep a piece; false: no room, or not one that may be sent before it is accepted. */
bool bundle_chunk_keep(const struct lull_bundle *bundle, struct bundle_store *store,
		       struct bundle_incoming *message, uint32_t piece, const uint8_t *bytes,
		       uint32_t count);
void bundle_chunks_free(struct bundle_store *store, struct bundle_incoming *message);

/* refused.c: the last messages_max numbers of messages that were refused */
void bundle_refused_add(const struct lull_bundle *bundle, struct bundle_store *store,
			uint32_t number);
bool bundle_refused_is(const struct lull_bundle *bundle, const struct bundle_store *store,
		       uint32_t number);

/* incoming.c */
void bundle_in_init(struct lull_bundle *bundle, struct bundle_store *store);
/** False: not taken, so it is not to be acknowledged. */
bool bundle_in_rx(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		  const struct bundle_header *header, const uint8_t *body, uint32_t len_bytes);
void bundle_in_end(struct lull_bundle *bundle, struct bundle_slot *slot, int error);
uint32_t bundle_in_grant(const struct lull_bundle *bundle, const struct bundle_store *store);
bool bundle_in_event(const struct lull_bundle *bundle, struct bundle_slot *slot,
		     struct lull_bundle_event *event);

#endif
