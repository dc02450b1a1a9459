/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * World: what the files of sim/channel share. Nobody else includes it.
 *
 * Layers, each knows those above it: ledger (what was sent, what must come of it), vault (keys),
 * wire (rails, the switch, the attacker), peers, app, rest (when a loop turns), result, node (the
 * loop), channel (the whole).
 */
#ifndef LULL_SIM_CHANNEL_WORLD_H
#define LULL_SIM_CHANNEL_WORLD_H

#include <stdarg.h>

#include "base/prng.h"
#include "channel.h"

#define CHANNEL_FRAME_BYTES 14 /* before each packet on a wire: to, from, type, as Ethernet */
#define CHANNEL_GUARD_BYTES 64
#define CHANNEL_BURST_PKTS 8
#define CHANNEL_RX_BURST_PKTS 64 /* of a rail and turn */
#define CHANNEL_PEERS_MAX 64     /* numbers of peers that a bundle gives out here */
#define CHANNEL_RECORDS 32       /* packets that the attacker keeps */

/* A message from the call of send to its end. Its serial is its place in the sender's list. */
struct channel_message {
	uint64_t len_bytes, sent_ns;
	uint32_t to, life, to_life, session;
	uint32_t falls; /* of the two nodes with each other, when it was sent */
	bool matched, cancelled, ended, headed, accepted, refused, received;
	int error;
};

/* A message that was accepted; its buffer and guard bytes follow. */
struct channel_receive {
	struct channel_receive *next, *before;
	uint32_t peer, from, serial;
	uint64_t size_bytes, since_ns;
	uint8_t *bytes; /* behind it */
};

/* A head that is answered later. */
struct channel_late {
	uint64_t due_ns;
	uint32_t peer, handle, from, serial;
};

/* The other end of a connection, by the number that the bundle gave it. */
struct channel_peer {
	bool up, closing; /* closing: disconnected here, DOWN will follow */
	bool reset;       /* operations ended with it, and DOWN has to follow */
	uint32_t node, life, session;
	uint32_t sending, receiving;
};

struct channel_node {
	struct lull_sim_channel *world;
	uint32_t number, life;
	bool alive;
	struct lull_bundle *bundle;
	uint8_t *memory;
	size_t size;
	uint64_t node_id;
	struct lull_bundle_open open; /* argument of lull_bundle_open_security */
	struct lull_prng prng, secrets;

	/* loop */
	uint32_t rail_of[LULL_BUNDLE_RAILS_MAX];   /* ours, by the bundle's number */
	uint32_t number_of[LULL_BUNDLE_RAILS_MAX]; /* the bundle's, by ours; ANY: taken out */
	uint64_t rest_max_ns, ready_ns, steal_ns;
	uint64_t rest_from_ns, rest_period_ns;
	bool resting;
	uint32_t idle_turns; /* one after the other in which nothing happened though it was due */
	uint64_t turns, rests, rested_ns;
	struct lull_idle *idle; /* its governor; NULL: rests of rest_max_ns, or none */
	void *idle_memory;
	struct lull_rest rest;                     /* the one under way, by the governor */
	uint64_t rest_end_ns, idle_ns;             /* idle_ns: the governor was told up to then */
	struct lull_sim_channel_work work, marked; /* since its start; at the begin of measuring */
	uint64_t delivered_bytes;                  /* at the last sample */
	uint64_t wire_tx_pkts, wire_tx_bytes, wire_rx_pkts; /* of this life */
	uint64_t drops_excused[LULL_BUNDLE_RAILS_MAX];

	/* application */
	struct channel_peer peers[CHANNEL_PEERS_MAX];
	uint32_t peer_of[LULL_SIM_CHANNEL_NODES_MAX];      /* by node; ANY: not connected */
	uint64_t connect_ns[LULL_SIM_CHANNEL_NODES_MAX];   /* ask then; NEVER: not */
	uint32_t heard_serial[LULL_SIM_CHANNEL_NODES_MAX]; /* + 1 of the last head, of this life */
	uint32_t falls[LULL_SIM_CHANNEL_NODES_MAX];
	uint32_t sessions;
	struct channel_message *messages;
	uint32_t message_count, message_room, sent_count; /* sent_count: of RANDOM */
	uint32_t first_pending;
	struct channel_receive receives; /* head of a ring */
	struct channel_late *heads;
	uint32_t head_count, head_room;
	uint64_t send_ns, retry_ns;
	uint64_t cancel_ns;
	uint32_t cancel_serial;
	bool asks; /* PING: the answer is here, ask again */
};

/* What a turn of a loop moved, in both directions. */
struct channel_moved {
	uint32_t pkts;
	uint64_t bytes, bytes_squared;
	bool more; /* there is more to move */
};

/* A port of the switch. */
struct channel_port {
	uint32_t node, rail;
	struct lull_sim_path_config up, down;
};

/* A key of an epoch and direction. */
struct channel_key {
	uint64_t key;
	uint64_t *last; /* psn by path byte, of what was sealed; NULL: nothing */
};

struct channel_record {
	uint32_t port, len_bytes;
	uint8_t *bytes;
};

struct lull_sim_channel {
	struct lull_sim_channel_config config;
	struct lull_sim_net *net;
	struct channel_node nodes[LULL_SIM_CHANNEL_NODES_MAX];
	uint64_t id_mask, secret;
	bool calm, closing;
	uint64_t marked_ns; /* measuring began; NEVER: not yet */
	struct lull_sim_channel_traffic marked;
	uint64_t digest;
	char failure[LULL_SIM_CHANNEL_FAILURE_SIZE];
	uint32_t fault_next;

	uint32_t port_count, port_first[LULL_SIM_CHANNEL_NODES_MAX];
	struct channel_port *ports;
	uint32_t frame_bytes_max;
	uint8_t *tx_bytes;

	struct channel_key *keys;
	uint32_t key_count, key_room;

	struct lull_prng attack_prng;
	struct channel_record records[CHANNEL_RECORDS];
	uint64_t seen_frames;

	struct lull_sim_channel_result result; /* what is counted while it runs */
};

/* ---- ledger ---- */

/** Note what is wrong; the first stays. @p node: LULL_SIM_CHANNEL_ANY: none in particular */
void channel_fail(struct lull_sim_channel *world, uint32_t node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static inline bool
channel_failed(const struct lull_sim_channel *world)
{
	return world->failure[0] != '\0';
}
uint64_t channel_mix(uint64_t a, uint64_t b);
void channel_digest(struct lull_sim_channel *world, uint64_t a, uint64_t b);
/** The bytes of a message. */
const uint8_t *channel_ledger_bytes(const struct lull_sim_channel *world, uint32_t node,
				    uint32_t serial);
uint64_t channel_ledger_tag(const struct lull_sim_channel *world, uint32_t node, uint32_t serial);
/** A message more; NULL: no memory, which is noted. */
struct channel_message *channel_ledger_add(struct channel_node *node, uint32_t peer,
					   uint64_t len_bytes);
void channel_ledger_sent(struct channel_node *node, const struct lull_bundle_event *event);
/** @return the message that the head announces; NULL: it is wrong */
struct channel_message *channel_ledger_head(struct channel_node *node,
					    const struct lull_bundle_event *event, uint32_t *from,
					    uint32_t *serial);
void channel_ledger_received(struct channel_node *node, const struct lull_bundle_event *event,
			     const struct channel_receive *receive);
/** Everything has ended: did it as it had to? */
void channel_ledger_end(struct lull_sim_channel *world);
/** No operation of a living node is older than config.age_ns. */
void channel_ledger_age(struct lull_sim_channel *world, uint64_t now_ns);

/* ---- vault ---- */

extern const struct lull_bundle_security channel_vault_security; /* its argument: the node */
/** Keys are those of this world from now on. */
void channel_vault_use(struct lull_sim_channel *world);
void channel_vault_free(struct lull_sim_channel *world);

/* ---- wire ---- */

int channel_wire_create(struct lull_sim_channel *world, const struct lull_sim_node *nodes);
void channel_wire_free(struct lull_sim_channel *world);
struct lull_sim_node channel_wire_switch(struct lull_sim_channel *world);
struct lull_sim_node channel_wire_attacker(struct lull_sim_channel *world);
void channel_wire_send(struct lull_sim_channel *world, uint32_t port, uint8_t *frame,
		       uint32_t packet_bytes, const struct lull_bundle_address *to);
/** The next packet of a rail; 0: none. */
uint32_t channel_wire_fetch(struct lull_sim_channel *world, uint32_t port, uint8_t **packet,
			    struct lull_bundle_address *from);
struct lull_bundle_address channel_wire_address(uint32_t node, uint32_t rail);
/** What the link's rate is for a shaper's @p rate_bps. */
uint64_t channel_wire_rate(uint64_t rate_bps, uint32_t packet_bytes);
/** Carry out what ports[port].up and .down say now. */
void channel_wire_change(struct lull_sim_channel *world, uint32_t port);
static inline uint32_t
channel_wire_up(uint32_t port)
{
	return 2 * port;
}
static inline uint32_t
channel_wire_down(uint32_t port)
{
	return 2 * port + 1;
}

/* ---- peers ---- */

/** They are to be connected; it is this node that asks. */
bool channel_peers_meet(const struct channel_node *node, uint32_t other);
bool channel_peers_ask(const struct channel_node *node, uint32_t other);
void channel_peers_connect(struct channel_node *node, uint64_t now_ns, uint32_t other);
void channel_peers_disconnect(struct channel_node *node, uint64_t now_ns, uint32_t other,
			      uint64_t linger_ns);
void channel_peers_up(struct channel_node *node, const struct lull_bundle_event *event);
void channel_peers_down(struct channel_node *node, uint64_t now_ns,
			const struct lull_bundle_event *event);
/** Nothing is under way, and everybody is connected. */
bool channel_peers_idle(const struct channel_node *node);
/** Nobody is connected. */
bool channel_peers_alone(const struct channel_node *node);

/* ---- app ---- */

void channel_app_begin(struct channel_node *node, uint64_t now_ns);
void channel_app_end(struct channel_node *node);
void channel_app_events(struct channel_node *node, uint64_t now_ns);
/** Do what is due; @return when something is due again */
uint64_t channel_app_run(struct channel_node *node, uint64_t now_ns);

/* ---- rest ---- */

/** The loop of a node begins; 0, -ENOMEM, -EINVAL. */
int channel_rest_begin(struct channel_node *node, uint64_t now_ns);
/** The bundle is told that the loop looks at all rails. */
void channel_rest_look(struct channel_node *node, uint64_t at_ns);
/** A turn begins: the rest under way, if one is, ends. */
void channel_rest_end(struct channel_node *node, uint64_t now_ns);
/** A turn moved @p pkts packets of @p bytes: when is the next one? @p more: some are left. */
uint64_t channel_rest_plan(struct channel_node *node, uint64_t now_ns,
			   const struct channel_moved *moved, uint64_t app_ns);
/** A packet waits in a ring: when is it found? */
uint64_t channel_rest_arrive(const struct channel_node *node, uint64_t now_ns);
/** The loop does not run before. */
uint64_t channel_rest_until(const struct channel_node *node);
void channel_rest_set(struct channel_node *node, uint64_t now_ns, uint64_t rest_ns);
/** Begin measuring what the loops do, and end it. */
void channel_rest_mark(struct channel_node *node, uint64_t now_ns);
void channel_rest_sum(const struct channel_node *node, uint64_t now_ns,
		      struct lull_sim_channel_work *work);

/* ---- result ---- */

void channel_result_mark(struct lull_sim_channel *world, uint64_t now_ns);
void channel_result_note(struct lull_sim_channel *world);
/** All is over: count what became of packets, and check that they add up. */
void channel_result_wires(struct lull_sim_channel *world);

/* ---- node ---- */

struct lull_sim_node channel_node_table(struct channel_node *node);
int channel_node_start(struct channel_node *node, uint64_t now_ns);
void channel_node_kill(struct channel_node *node);
void channel_node_check(struct channel_node *node, uint64_t now_ns);
int channel_node_rail_add(struct channel_node *node, uint64_t now_ns, uint32_t rail);
void channel_node_rail_remove(struct channel_node *node, uint64_t now_ns, uint32_t rail);

#endif
