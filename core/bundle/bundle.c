/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "base/range.h"
#include "protocol.h"

#define PEERS 64
#define MESSAGES 256
#define WINDOW 1024
#define UNEXPECTED 716
#define PIECE 1464
#define PEER_TIMEOUT_NS (10 * LULL_NS_PER_S)
#define IDLE_PROBE_NS LULL_NS_PER_S
#define IDLE_PROBES 4                 /* at least so many before a peer counts as gone */
#define LATE_NS (10 * LULL_NS_PER_MS) /* behind a deadline: the loop stood still */
#define HOUR_NS (3600 * LULL_NS_PER_S)

/* ---- configuration ---- */

static struct lull_bundle_config
config_full(const struct lull_bundle_config *given)
{
	struct lull_bundle_config config = *given;

#define DEFAULT(member, value) config.member = config.member == 0 ? (value) : config.member
	DEFAULT(fixed_window_pkts, 64);
	DEFAULT(peers_max, PEERS);
	DEFAULT(messages_max, MESSAGES);
	DEFAULT(window_pkts_max, WINDOW);
	DEFAULT(unexpected_pieces, UNEXPECTED);
	DEFAULT(piece_bytes_max, PIECE);
	DEFAULT(peer_timeout_ns, PEER_TIMEOUT_NS);
	DEFAULT(idle_probe_ns, IDLE_PROBE_NS);
#undef DEFAULT
	if (config.control == NULL)
		config.control = lull_bundle_controls[0];
	if (config.spread == NULL)
		config.spread = lull_bundle_spreads[0];
	return config;
}

static bool
config_power(uint32_t value)
{
	return (value & (value - 1)) == 0;
}

/* Names are printable, so that they can be shown. */
static bool
config_name_good(const char *name)
{
	uint32_t len = 0;

	for (; len < LULL_BUNDLE_NAME_SIZE && name[len] != '\0'; len++) {
		if (name[len] <= ' ' || name[len] > '~')
			return false;
	}
	return len > 0 && len < LULL_BUNDLE_NAME_SIZE;
}

int
lull_bundle_config_check(const struct lull_bundle_config *given, struct lull_range *wrong)
{
	const struct lull_bundle_config config = config_full(given);
	const struct lull_range ranges[] = {
		{ "name", config_name_good(config.name), 1, 1 },
		{ "node_id", config.node_id != 0, 1, 1 },
		{ "security", config.security != NULL, 1, 1 },
		{ "fixed_window_pkts", config.fixed_window_pkts, BUNDLE_WINDOW_PKTS_MIN, 1024 },
		{ "peers_max", config.peers_max, 1, LULL_BUNDLE_PEERS_MAX },
		{ "messages_max", config.messages_max, 16, 4096 },
		{ "window_pkts_max", config.window_pkts_max, 64, 1024 },
		{ "unexpected_pieces", config.unexpected_pieces, BUNDLE_EAGER_PIECES, 65535 },
		{ "piece_bytes_max", config.piece_bytes_max, 512, 65528 },
		{ "peer_timeout_ns", config.peer_timeout_ns, 100 * LULL_NS_PER_MS, HOUR_NS },
		{ "idle_probe_ns", config.idle_probe_ns, 10 * LULL_NS_PER_MS, HOUR_NS },
	};
	int rc = LULL_RANGES_CHECK(ranges, wrong);

	if (rc != 0)
		return rc;
	if (!config_power(config.messages_max))
		return lull_range_refuse("messages_max", config.messages_max, 16, 4096, wrong);
	if (!config_power(config.window_pkts_max))
		return lull_range_refuse("window_pkts_max", config.window_pkts_max, 64, 1024,
					 wrong);
	if (config.piece_bytes_max % 8 != 0)
		return lull_range_refuse("piece_bytes_max", config.piece_bytes_max, 512, 65528,
					 wrong);
	return 0;
}

/* ---- memory ---- */

static size_t
memory_round(size_t bytes)
{
	return (bytes + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE;
}

static uint32_t
memory_incoming(const struct lull_bundle_config *config)
{
	return config->messages_max + config->unexpected_pieces;
}

/* Takes memory from `at`, which is NULL when it is only counted. */
static void *
memory_take(char **at, size_t *sum, size_t bytes)
{
	void *taken = *at;

	*sum += memory_round(bytes);
	if (*at != NULL)
		*at += memory_round(bytes);
	return taken;
}

/* The parts of a store behind it. `store` is NULL when they are only counted. */
static size_t
store_lay(const struct lull_bundle_config *config, struct bundle_store *store, char *at)
{
	uint32_t in_count = memory_incoming(config);
	size_t sum = 0, flights = sizeof(struct bundle_flight) * config->window_pkts_max;
	struct bundle_store none, *into = store != NULL ? store : &none;

	for (uint32_t i = 0; i < LULL_BUNDLE_PATHS_MAX; i++)
		into->paths[i].flights = memory_take(&at, &sum, flights);
	into->out = memory_take(&at, &sum, sizeof(*into->out) * config->messages_max);
	into->out_chains = memory_take(&at, &sum, sizeof(uint32_t) * config->messages_max);
	into->in = memory_take(&at, &sum, sizeof(*into->in) * in_count);
	into->in_chains = memory_take(&at, &sum, sizeof(uint32_t) * config->messages_max);
	into->refused = memory_take(&at, &sum, sizeof(uint32_t) * config->messages_max);
	into->chunks = memory_take(&at, &sum, sizeof(*into->chunks) * config->unexpected_pieces);
	into->chunk_bytes =
		memory_take(&at, &sum, (size_t)config->piece_bytes_max * config->unexpected_pieces);
	into->blocks =
		memory_take(&at, &sum, (size_t)2 * BUNDLE_BITS_BLOCKS * BUNDLE_BITS_LARGE / 8);
	return sum;
}

static size_t
store_size(const struct lull_bundle_config *config)
{
	return memory_round(sizeof(struct bundle_store)) + store_lay(config, NULL, NULL);
}

static size_t
slot_size(const struct lull_bundle_config *config)
{
	return memory_round(config->security->handshake_bytes) +
	       memory_round(config->security->keys_bytes) + memory_round(BUNDLE_ANSWER_BYTES);
}

size_t
lull_bundle_peer_size(const struct lull_bundle_config *given)
{
	const struct lull_bundle_config config = config_full(given);

	return store_size(&config) + slot_size(&config) + sizeof(struct bundle_slot);
}

size_t
lull_bundle_size(const struct lull_bundle_config *given)
{
	const struct lull_bundle_config config = config_full(given);
	size_t slots = config.peers_max + BUNDLE_SLOTS_MORE;

	return memory_round(sizeof(struct lull_bundle)) +
	       memory_round(slots * sizeof(struct bundle_slot)) +
	       memory_round(slots * sizeof(uint32_t)) +
	       memory_round(config.peers_max * sizeof(struct bundle_store *)) +
	       slots * slot_size(&config) + config.peers_max * store_size(&config);
}

void
bundle_store_init(struct lull_bundle *bundle, struct bundle_store *store)
{
	char *at = (char *)store + memory_round(sizeof(*store));

	memset(store, 0, sizeof(*store));
	store_lay(&bundle->config, store, at);
	bundle_out_init(bundle, store);
	bundle_in_init(bundle, store);
	for (uint32_t i = 0; i < 2 * BUNDLE_BITS_BLOCKS; i++)
		store->block_free[i] = i;
	store->block_count = 2 * BUNDLE_BITS_BLOCKS;
}

static void
bundle_lay(struct lull_bundle *bundle)
{
	const struct lull_bundle_config *config = &bundle->config;
	char *at = (char *)bundle + memory_round(sizeof(*bundle));
	size_t sum = 0;

	bundle->slot_count = config->peers_max + BUNDLE_SLOTS_MORE;
	bundle->slots = memory_take(&at, &sum, bundle->slot_count * sizeof(struct bundle_slot));
	bundle->place_slots = memory_take(&at, &sum, bundle->slot_count * sizeof(uint32_t));
	bundle->stores = memory_take(&at, &sum, config->peers_max * sizeof(struct bundle_store *));
	for (uint32_t i = 0; i < bundle->slot_count; i++) {
		struct bundle_slot *slot = &bundle->slots[i];

		memset(slot, 0, sizeof(*slot));
		slot->place = i;
		bundle->place_slots[i] = i;
		slot->handshake = memory_take(&at, &sum, config->security->handshake_bytes);
		slot->keys = memory_take(&at, &sum, config->security->keys_bytes);
		slot->answer = memory_take(&at, &sum, BUNDLE_ANSWER_BYTES);
		memset(slot->handshake, 0, config->security->handshake_bytes);
		memset(slot->keys, 0, config->security->keys_bytes);
	}
	bundle->store_free = config->peers_max;
	for (uint32_t i = 0; i < config->peers_max; i++)
		bundle->stores[i] = memory_take(&at, &sum, store_size(config));
}

int
lull_bundle_init(struct lull_bundle *bundle, const struct lull_bundle_config *config,
		 uint64_t now_ns)
{
	int rc = lull_bundle_config_check(config, NULL);

	if (rc != 0)
		return rc;
	memset(bundle, 0, sizeof(*bundle));
	bundle->config = config_full(config);
	bundle->config.idle_probe_ns = LULL_MIN(bundle->config.idle_probe_ns,
						bundle->config.peer_timeout_ns / IDLE_PROBES);
	bundle->now_ns = now_ns;
	bundle->told_ns = LULL_BUNDLE_NEVER;
	bundle_lay(bundle);
	bundle->config.security->random(bundle->config.security_arg, bundle->secret,
					sizeof(bundle->secret));
	return 0;
}

void
lull_bundle_forget(struct lull_bundle *bundle)
{
	const struct lull_bundle_config *config = &bundle->config;

	for (uint32_t i = 0; i < bundle->slot_count; i++)
		config->security->forget(config->security_arg, bundle->slots[i].handshake,
					 bundle->slots[i].keys);
}

uint64_t
bundle_random(struct lull_bundle *bundle)
{
	uint8_t bytes[8];
	uint64_t value;

	bundle->config.security->random(bundle->config.security_arg, bytes, sizeof(bytes));
	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* ---- slots ---- */

struct bundle_slot *
bundle_slot_take(struct lull_bundle *bundle)
{
	for (uint32_t i = 0; i < bundle->slot_count; i++) {
		struct bundle_slot *slot = &bundle->slots[i];
		struct bundle_slot fresh = { .place = slot->place,
					     .handshake = slot->handshake,
					     .keys = slot->keys,
					     .answer = slot->answer };

		if (slot->state != PEER_FREE)
			continue;
		*slot = fresh;
		bundle->slot_high = LULL_MAX(bundle->slot_high, i + 1);
		slot->index = slot->place | (uint32_t)bundle_random(bundle) << BUNDLE_PLACE_BITS;
		slot->since_ns = slot->heard_ns = bundle->now_ns;
		slot->limit_ns = slot->due_ns = LULL_BUNDLE_NEVER;
		slot->dirty = true;
		return slot;
	}
	return NULL;
}

void
bundle_slot_free(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	const struct lull_bundle_config *config = &bundle->config;

	if (slot->store != NULL)
		bundle->stores[bundle->store_free++] = slot->store;
	slot->store = NULL;
	config->security->forget(config->security_arg, slot->handshake, slot->keys);
	if (slot->state == PEER_HALF)
		bundle->half_count--;
	else
		bundle->peer_count--;
	slot->state = PEER_FREE;
	slot->told_down = false;
	while (bundle->slot_high > 0 && bundle->slots[bundle->slot_high - 1].state == PEER_FREE)
		bundle->slot_high--;
}

/* ---- rails ---- */

static void
rails_changed(struct lull_bundle *bundle)
{
	bundle->table++;
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		if (bundle_peer_has_keys(&bundle->slots[i]))
			bundle_peer_plan(bundle, &bundle->slots[i]);
	}
}

int
lull_bundle_rail_add(struct lull_bundle *bundle, uint64_t now_ns,
		     const struct lull_bundle_rail *rail)
{
	uint32_t number = 0;

	if (rail->address.len_bytes > LULL_BUNDLE_ADDRESS_SIZE || rail->ring_pkts < 16 ||
	    rail->packet_bytes < LULL_BUNDLE_PACKET_BYTES_MIN ||
	    rail->packet_bytes > LULL_BUNDLE_PACKET_BYTES_MAX)
		return -EINVAL;
	while (number < LULL_BUNDLE_RAILS_MAX && bundle->rails[number].used)
		number++;
	if (number == LULL_BUNDLE_RAILS_MAX)
		return -ENOSPC;
	bundle_time(bundle, now_ns);
	bundle->rails[number] =
		(struct bundle_rail){ .used = true, .config = *rail, .look_ns = now_ns };
	rails_changed(bundle);
	return (int)number;
}

int
lull_bundle_rail_remove(struct lull_bundle *bundle, uint64_t now_ns, uint32_t rail)
{
	if (rail >= LULL_BUNDLE_RAILS_MAX || !bundle->rails[rail].used)
		return -ENODEV;
	bundle_time(bundle, now_ns);
	bundle->rails[rail].used = false;
	for (uint32_t i = 0; i < bundle->slot_high; i++)
		bundle->slots[i].met[rail] = 0; /* its number may come again on another wire */
	bundle_notes_drop(bundle, rail);
	rails_changed(bundle);
	return 0;
}

/* ---- time ---- */

void
lull_bundle_look(struct lull_bundle *bundle, uint64_t now_ns, uint32_t number)
{
	struct bundle_rail *rail = &bundle->rails[number];

	LULL_ASSERT_HOT(number < LULL_BUNDLE_RAILS_MAX);
	bundle_time(bundle, now_ns);
	rail->absent_ns = bundle->now_ns - rail->look_ns;
	rail->absent_ns_max = LULL_MAX(rail->absent_ns_max, rail->absent_ns);
	rail->look_ns = bundle->now_ns;
}

void
lull_bundle_rest(struct lull_bundle *bundle, uint64_t now_ns, uint64_t rest_ns_max)
{
	bool longer = rest_ns_max > bundle->rest_ns;

	bundle_time(bundle, now_ns);
	bundle->rest_ns = rest_ns_max;
	for (uint32_t i = 0; longer && i < bundle->slot_high; i++) {
		struct bundle_slot *slot = &bundle->slots[i];

		if (slot->state != PEER_UP || bundle_rest_encode(rest_ns_max) <= slot->rest_said)
			continue;
		slot->rest_wanted = true;
		bundle_slot_touch(slot);
	}
}

/* Nobody was silent while we did not listen: the process or the machine stood still. */
static void
run_late(struct lull_bundle *bundle)
{
	uint64_t told_ns = bundle->told_ns;

	bundle->told_ns = LULL_BUNDLE_NEVER;
	if (bundle->now_ns <= told_ns || bundle->now_ns - told_ns <= LATE_NS)
		return;
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		if (bundle_peer_has_keys(&bundle->slots[i]))
			bundle_peer_late(bundle, &bundle->slots[i], told_ns);
	}
}

/* Its number and figures stay, and nothing else of it: packets for it are a stranger's. */
static void
slot_retire(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	const struct lull_bundle_config *config = &bundle->config;

	if (slot->store != NULL) {
		slot->carried = slot->store->carried;
		bundle->stores[bundle->store_free++] = slot->store;
	}
	slot->store = NULL;
	config->security->forget(config->security_arg, slot->handshake, slot->keys);
	slot->index = slot->place | (uint32_t)bundle_random(bundle) << BUNDLE_PLACE_BITS;
	slot->told_down = true;
}

void
lull_bundle_run(struct lull_bundle *bundle, uint64_t now_ns)
{
	bundle_time(bundle, now_ns);
	run_late(bundle);
	bundle_credit_run(bundle);
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		struct bundle_slot *slot = &bundle->slots[i];

		if (slot->state == PEER_FREE || slot->state == PEER_ENDED)
			continue;
		if (bundle_peer_due(bundle, slot) > bundle->now_ns)
			continue;
		slot->dirty = true;
		if (bundle_peer_has_keys(slot))
			bundle_peer_run(bundle, slot);
		else
			bundle_greet_run(bundle, slot);
	}
}

uint64_t
lull_bundle_deadline_ns(const struct lull_bundle *bundle)
{
	/* What is computed is kept in the slots; nobody else can see a difference. */
	struct lull_bundle *own = (struct lull_bundle *)(uintptr_t)bundle;
	uint64_t due_ns = bundle_greet_wants(bundle) ? 0 : LULL_BUNDLE_NEVER;

	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		if (bundle->slots[i].state != PEER_FREE && bundle->slots[i].state != PEER_ENDED)
			due_ns = LULL_MIN(due_ns, bundle_peer_due(own, &own->slots[i]));
	}
	if (own->told_ns == LULL_BUNDLE_NEVER)
		own->told_ns = LULL_MAX(due_ns, bundle->now_ns);
	return due_ns;
}

/* ---- events ---- */

static bool
event_of_slot(struct lull_bundle *bundle, struct bundle_slot *slot, struct lull_bundle_event *event)
{
	bool shown = bundle_peer_has_keys(slot) || slot->state == PEER_ENDED ||
		     slot->state == PEER_HELLO;

	if (!shown)
		return false;
	*event = (struct lull_bundle_event){ .peer = (uint32_t)(slot - bundle->slots),
					     .asked = slot->asked };
	if (slot->state == PEER_UP && !slot->told_up) {
		slot->told_up = true;
		event->type = LULL_BUNDLE_UP;
		return true;
	}
	if (slot->store != NULL && slot->told_up &&
	    (bundle_out_event(slot, event) || bundle_in_event(bundle, slot, event)))
		return true;
	if (slot->state != PEER_ENDED || slot->told_down)
		return false;
	/* The last one of this peer. */
	event->type = LULL_BUNDLE_DOWN;
	event->error = slot->error;
	bool told = slot->told_up || slot->asked;

	if (slot->kept)
		slot_retire(bundle, slot);
	else
		bundle_slot_free(bundle, slot);
	return told;
}

bool
lull_bundle_next(struct lull_bundle *bundle, struct lull_bundle_event *event)
{
	for (uint32_t i = 0; i < bundle->slot_high; i++) {
		uint32_t at = (bundle->event_turn + i) % bundle->slot_high;
		struct bundle_slot *slot = &bundle->slots[at];

		if (slot->state != PEER_FREE && event_of_slot(bundle, slot, event)) {
			bundle->event_turn = at + (event->type == LULL_BUNDLE_DOWN);
			return true;
		}
	}
	bundle->event_turn++;
	return false;
}
