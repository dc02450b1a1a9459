/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol.h"

#define PROBE_GAP_NS_EARLY (100 * LULL_NS_PER_MS) /* at most, while it is down not long */
#define PROBE_GAP_NS_MAX LULL_NS_PER_S
#define EARLY_NS (60 * LULL_NS_PER_S)
#define SMALL_GAP_NS (30 * LULL_NS_PER_S)
#define SUSPECT_NS (5 * LULL_NS_PER_MS)
#define HOLD_NS (100 * LULL_NS_PER_MS)
#define HOLD_NS_MAX (10 * LULL_NS_PER_S)
#define STEADY_NS (10 * LULL_NS_PER_S) /* up for so long: it does not flap */
#define FULL_TRIES 5

const char *
lull_bundle_path_state_name(enum lull_bundle_path_state state)
{
	static const char *const names[] = {
		[LULL_BUNDLE_PATH_NONE] = "none",       [LULL_BUNDLE_PATH_JOIN] = "join",
		[LULL_BUNDLE_PATH_SMALL] = "small",     [LULL_BUNDLE_PATH_UP] = "up",
		[LULL_BUNDLE_PATH_SUSPECT] = "suspect", [LULL_BUNDLE_PATH_DOWN] = "down",
	};

	return state <= LULL_BUNDLE_PATH_DOWN ? names[state] : "none";
}

/* ---- life ---- */

static void
path_control_begin(const struct lull_bundle *bundle, struct bundle_path *path, uint32_t share)
{
	const struct bundle_control_limits limits = {
		.window_pkts_max = bundle->config.window_pkts_max / 4 * 3,
		.fixed_pkts = LULL_MIN(bundle->config.fixed_window_pkts,
				       bundle->config.window_pkts_max / 4 * 3),
	};

	bundle->config.control->init(path->control, &limits, share);
}

/* Numbers and what was seen go on where they were: no nonce comes twice in an epoch. */
void
bundle_path_begin(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		  const struct bundle_rail_info *remote, uint32_t local)
{
	const struct bundle_rail *rail = &bundle->rails[local];
	struct bundle_path old = *path;

	*path = (struct bundle_path){
		.state = LULL_BUNDLE_PATH_JOIN,
		.local = (uint8_t)local,
		.remote = remote->number,
		.address = remote->address,
		.packet_bytes = LULL_MIN(rail->config.packet_bytes, remote->packet_bytes),
		.remote_bytes = remote->packet_bytes,
		.state_ns = bundle->now_ns,
		.psn_next = LULL_MAX(old.psn_next, 1),
		.flights = old.flights,
		.reorder_pkts = 3,
		.heard_ns = bundle->now_ns,
		.tail_ns = LULL_BUNDLE_NEVER,
		.gap_ns = LULL_BUNDLE_NEVER,
		.credit = slot->first_credit,
		.seen = old.seen,
		.seen_floor = old.seen_floor,
		.credit_given = bundle_credit_first(bundle, rail->config.ring_pkts),
		.probe_ns = bundle->now_ns,
		.probe_gap_ns = BUNDLE_PROBE_GAP_NS,
		.hold_ns = HOLD_NS,
		.counters = old.counters,
	};
	path->psn_base = path->psn_next;
	path->largest_acked = path->psn_next - 1;
	path->credit_held = path->credit_most = path->credit_given;
	memset(path->flights, 0, sizeof(*path->flights) * bundle->config.window_pkts_max);
	bundle_meter_init(&path->meter, bundle->now_ns);
	path_control_begin(bundle, path, 1);
}

void
bundle_path_fini(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path)
{
	bundle_flight_drop(bundle, slot, path);
	path->state = LULL_BUNDLE_PATH_NONE;
}

struct bundle_path *
bundle_path_find(struct bundle_slot *slot, uint32_t local, uint32_t remote)
{
	struct bundle_store *store = slot->store;

	for (uint32_t i = 0; i < store->path_count; i++) {
		struct bundle_path *path = &store->paths[i];

		if (path->local == local && path->remote == remote)
			return path->state == LULL_BUNDLE_PATH_NONE ? NULL : path;
	}
	return NULL;
}

uint32_t
bundle_path_index(const struct bundle_slot *slot, const struct bundle_path *path)
{
	return (uint32_t)(path - slot->store->paths);
}

uint32_t
bundle_path_window(const struct lull_bundle *bundle, const struct bundle_path *path)
{
	return LULL_MIN(bundle->config.control->window(path->control), path->credit);
}

uint64_t
bundle_path_patience_ns(const struct bundle_slot *slot, const struct bundle_path *path)
{
	return LULL_MAX(4 * path->meter.srtt_ns, SUSPECT_NS) + slot->rest_ns;
}

/* ---- states ---- */

static void
path_down(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path)
{
	bool steady = path->up_ns > 0 && bundle->now_ns - path->up_ns >= STEADY_NS;

	LULL_COUNTER_ADD(path->counters.downs, 1);
	path->hold_ns =
		steady || path->down_ns == 0 ? HOLD_NS : LULL_MIN(2 * path->hold_ns, HOLD_NS_MAX);
	path->held_until_ns = bundle->now_ns + path->hold_ns;
	path->down_ns = bundle->now_ns;
	path->answers = 0;
	path->probe_gap_ns = BUNDLE_PROBE_GAP_NS;
	path->probe_ns = bundle->now_ns;
	bundle_flight_drop(bundle, slot, path);
}

/* Rails that are full lose full packets too: without any other path it is tried again soon. */
static uint64_t
path_small_gap_ns(const struct bundle_slot *slot)
{
	for (uint32_t i = 0; i < slot->store->path_count; i++) {
		if (bundle_path_carries(&slot->store->paths[i]))
			return SMALL_GAP_NS;
	}
	return PROBE_GAP_NS_EARLY + slot->rest_ns;
}

void
bundle_path_state(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		  enum lull_bundle_path_state state)
{
	enum lull_bundle_path_state old = path->state;

	path->state = (uint8_t)state;
	path->state_ns = bundle->now_ns;
	bundle_slot_touch(slot);
	switch (state) {
	case LULL_BUNDLE_PATH_UP:
		LULL_COUNTER_ADD(path->counters.ups, 1);
		path->heard_ns = bundle->now_ns;
		path->probe_gap_ns = BUNDLE_PROBE_GAP_NS;
		if (old != LULL_BUNDLE_PATH_SUSPECT) {
			path->up_ns = bundle->now_ns;
			path_control_begin(bundle, path, old == LULL_BUNDLE_PATH_DOWN ? 8 : 1);
		}
		bundle_peer_path_up(bundle, slot);
		break;
	case LULL_BUNDLE_PATH_SUSPECT:
		LULL_COUNTER_ADD(path->counters.suspects, 1);
		path->asked = false;
		path->probe_gap_ns = BUNDLE_PROBE_GAP_NS / 2;
		path->probe_ns = bundle->now_ns;
		break;
	case LULL_BUNDLE_PATH_DOWN:
		path_down(bundle, slot, path);
		break;
	default:
		path->probe_ns = bundle->now_ns + path_small_gap_ns(slot);
		path->probes_full = 0;
	}
}

/* ---- probes out ---- */

void
bundle_path_ask(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		bool full)
{
	/* An answer to the question before, which is late, is as good. */
	path->asked_again = path->asked && path->challenge_full == full && path->challenge_ns > 0;
	if (!path->asked_again) {
		path->challenge = bundle_random(bundle);
		path->challenge_full = full;
		path->challenge_ns = 0; /* it has not left yet */
	}
	path->ask_wanted = path->asked = true;
	bundle_slot_touch(slot);
}

/* No sooner than an answer can be here: the question before counts no more then. */
static uint64_t
path_gap_ns(const struct bundle_slot *slot, const struct bundle_path *path)
{
	return LULL_MAX(path->probe_gap_ns, 2 * path->meter.srtt_ns) + slot->rest_ns;
}

void
bundle_path_doubt(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	for (uint32_t i = 0; i < slot->store->path_count; i++) {
		struct bundle_path *path = &slot->store->paths[i];

		if (path->state == LULL_BUNDLE_PATH_UP && !path->asked)
			bundle_path_ask(bundle, slot, path, false);
	}
}

void
bundle_path_tell(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	for (uint32_t i = 0; i < slot->store->path_count; i++) {
		struct bundle_path *path = &slot->store->paths[i];

		if (path->state == LULL_BUNDLE_PATH_UP)
			bundle_path_ask(bundle, slot, path, path->asked && path->challenge_full);
	}
}

static void
path_run_join(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path)
{
	if (path->small_passed && path->asked && path->challenge_full)
		path->probes_full++;
	if (path->probes_full >= FULL_TRIES) {
		bundle_path_state(bundle, slot, path, LULL_BUNDLE_PATH_SMALL);
		return;
	}
	bundle_path_ask(bundle, slot, path, path->small_passed);
	path->probe_ns = bundle->now_ns + path_gap_ns(slot, path);
	path->probe_gap_ns = LULL_MIN(2 * path->probe_gap_ns, PROBE_GAP_NS_MAX);
}

static void
path_run_down(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path)
{
	bool early = bundle->now_ns - path->down_ns < EARLY_NS;

	if (path->asked && path->asked_again)
		path->answers = 0; /* the last one was not answered */
	bundle_path_ask(bundle, slot, path, true);
	path->probe_ns = bundle->now_ns + path_gap_ns(slot, path);
	path->probe_gap_ns =
		LULL_MIN(2 * path->probe_gap_ns, early ? PROBE_GAP_NS_EARLY : PROBE_GAP_NS_MAX);
}

static void
path_run_suspect(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path)
{
	uint64_t patience_ns = bundle_path_patience_ns(slot, path);

	/* Somebody is there, and does not hear us on this path. */
	if (bundle->now_ns - path->state_ns >= patience_ns &&
	    slot->heard_ns > path->state_ns + patience_ns / 2) {
		bundle_path_state(bundle, slot, path, LULL_BUNDLE_PATH_DOWN);
		return;
	}
	if (bundle->now_ns < path->probe_ns)
		return;
	bundle_path_ask(bundle, slot, path, true);
	/* When all that is missing is under way here, nobody has anything to say elsewhere. */
	bundle_path_doubt(bundle, slot);
	path->probe_ns = bundle->now_ns + path_gap_ns(slot, path);
	path->probe_gap_ns = LULL_MIN(2 * path->probe_gap_ns, PROBE_GAP_NS_EARLY);
}

static uint64_t
path_idle_ns(const struct lull_bundle *bundle, const struct bundle_path *path)
{
	return LULL_MAX(path->rx_ns, path->probe_ns) + bundle->config.idle_probe_ns;
}

static void
path_run_up(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path)
{
	if (path->asked && path->challenge_ns > 0 &&
	    bundle->now_ns - path->challenge_ns >= bundle_path_patience_ns(slot, path)) {
		bundle_path_state(bundle, slot, path, LULL_BUNDLE_PATH_SUSPECT);
		return;
	}
	if (!path->asked && bundle->now_ns >= path_idle_ns(bundle, path)) {
		bundle_path_ask(bundle, slot, path, false);
		path->probe_ns = bundle->now_ns;
	}
}

void
bundle_path_run(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path)
{
	switch (path->state) {
	case LULL_BUNDLE_PATH_UP:
		path_run_up(bundle, slot, path);
		break;
	case LULL_BUNDLE_PATH_SUSPECT:
		path_run_suspect(bundle, slot, path);
		break;
	case LULL_BUNDLE_PATH_DOWN:
		if (bundle->now_ns >= path->probe_ns)
			path_run_down(bundle, slot, path);
		break;
	case LULL_BUNDLE_PATH_SMALL:
		if (bundle->now_ns >= path->probe_ns) {
			bundle_path_ask(bundle, slot, path, true);
			path->probe_ns = bundle->now_ns + path_small_gap_ns(slot);
		}
		break;
	default:
		if (bundle->now_ns >= path->probe_ns)
			path_run_join(bundle, slot, path);
	}
}

uint64_t
bundle_path_due(const struct lull_bundle *bundle, const struct bundle_slot *slot,
		const struct bundle_path *path)
{
	uint64_t patience_ns = bundle_path_patience_ns(slot, path);

	if (path->state == LULL_BUNDLE_PATH_UP) {
		if (path->asked)
			return path->challenge_ns > 0 ? path->challenge_ns + patience_ns :
							LULL_BUNDLE_NEVER;
		return path_idle_ns(bundle, path);
	}
	if (path->state == LULL_BUNDLE_PATH_SUSPECT &&
	    slot->heard_ns > path->state_ns + patience_ns / 2)
		return LULL_MIN(path->probe_ns, path->state_ns + patience_ns);
	return path->probe_ns;
}

uint32_t
bundle_path_probe_tx(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		     uint8_t *body, uint32_t room_bytes, struct lull_bundle_address *to)
{
	struct bundle_probe probe = { .kind = BUNDLE_PROBE_ASK, .table = bundle->table };

	bundle_greet_rails(bundle, &probe.rails);
	*to = path->address;
	if (path->reply_wanted) {
		path->reply_wanted = false;
		probe.kind = BUNDLE_PROBE_REPLY;
		probe.challenge = path->reply_challenge;
		*to = path->reply_address;
		return bundle_probe_write(&probe, body, room_bytes, path->reply_bytes);
	}
	if (path->move_wanted) {
		path->move_wanted = false;
		path->move_ns = bundle->now_ns;
		probe.challenge = path->move_challenge;
		*to = path->move_address;
		return bundle_probe_write(&probe, body, room_bytes, 0);
	}
	if (!path->ask_wanted)
		return 0;
	path->ask_wanted = false;
	path->challenge_ns = bundle->now_ns;
	probe.challenge = path->challenge;
	slot->dirty = true;
	return bundle_probe_write(&probe, body, room_bytes, path->challenge_full ? room_bytes : 0);
}
