/* SPDX-License-Identifier: BSD-3-Clause */
/* What the application of a node does with its bundle. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel_world.h"

#define NEVER LULL_BUNDLE_NEVER
#define RETRY_NS (200 * LULL_NS_PER_US)
#define UNDER_WAY 16
#define GUARD 0x5a

static bool
app_chance(struct channel_node *node, uint32_t share_ppm)
{
	return lull_prng_below(&node->prng, LULL_PPM) < share_ppm;
}

static uint32_t
app_under_way(const struct lull_sim_channel *world)
{
	return world->config.job.under_way > 0 ? world->config.job.under_way : UNDER_WAY;
}

/* ---- begin and end ---- */

void
channel_app_begin(struct channel_node *node, uint64_t now_ns)
{
	const struct lull_sim_channel_job *job = &node->world->config.job;

	memset(node->peers, 0, sizeof(node->peers));
	memset(node->heard_serial, 0, sizeof(node->heard_serial));
	node->receives.next = node->receives.before = &node->receives;
	node->cancel_ns = node->retry_ns = node->send_ns = NEVER;
	node->asks = job->type == LULL_SIM_CHANNEL_PING && node->number == 0;
	for (uint32_t i = 0; i < node->world->config.node_count; i++) {
		node->peer_of[i] = LULL_SIM_CHANNEL_ANY;
		node->connect_ns[i] =
			channel_peers_ask(node, i) ?
				now_ns + lull_prng_below(&node->prng, LULL_NS_PER_MS) :
				NEVER;
	}
	if (job->type == LULL_SIM_CHANNEL_RANDOM)
		node->send_ns = now_ns + lull_prng_below(&node->prng, 2 * job->gap_ns + 1);
}

void
channel_app_end(struct channel_node *node)
{
	struct channel_receive *receive = node->receives.next, *next;

	for (; receive != NULL && receive != &node->receives; receive = next) {
		next = receive->next;
		free(receive);
	}
	node->receives.next = node->receives.before = &node->receives;
	node->head_count = 0;
}

/* ---- receiving ---- */

static void
app_drop_receive(struct channel_receive *receive)
{
	receive->next->before = receive->before;
	receive->before->next = receive->next;
	free(receive);
}

/* A head may be older than the end of its connection: then the event DOWN has to follow. */
static bool
app_gone(struct channel_node *node, const struct channel_late *late, int rc)
{
	if (rc == 0)
		return false;
	if (rc == -ENOENT)
		node->peers[late->peer].reset = true;
	else
		channel_fail(node->world, node->number,
			     "answer to the head of message %" PRIu32 ": %d", late->serial, rc);
	return true;
}

static void
app_accept(struct channel_node *node, uint64_t now_ns, const struct channel_late *late)
{
	struct lull_sim_channel *world = node->world;
	const struct lull_sim_channel_job *job = &world->config.job;
	struct channel_message *message = &world->nodes[late->from].messages[late->serial];
	struct channel_receive *receive;
	uint64_t room = message->len_bytes;
	int rc;

	if (app_chance(node, job->refuse_ppm)) {
		message->refused = true;
		world->result.refused++;
		rc = lull_bundle_refuse(node->bundle, now_ns, late->peer, late->handle);
		app_gone(node, late, rc);
		return;
	}
	if (app_chance(node, job->short_ppm))
		room = lull_prng_below(&node->prng, room + 1);
	receive = malloc(sizeof(*receive) + room + 8);
	if (receive == NULL) {
		channel_fail(world, node->number, "no memory for a buffer");
		return;
	}
	*receive = (struct channel_receive){ .next = node->receives.next,
					     .before = &node->receives,
					     .peer = late->peer,
					     .from = late->from,
					     .serial = late->serial,
					     .bytes = (uint8_t *)(receive + 1),
					     .size_bytes = room,
					     .since_ns = now_ns };
	memset(receive->bytes + room, GUARD, 8);
	receive->next->before = receive;
	node->receives.next = receive;
	message->accepted = true;
	node->peers[late->peer].receiving++;
	rc = lull_bundle_accept(node->bundle, now_ns, late->peer, late->handle, receive->bytes,
				room, receive);
	if (app_gone(node, late, rc)) {
		node->peers[late->peer].receiving--;
		app_drop_receive(receive);
	}
}

static void
app_head(struct channel_node *node, uint64_t now_ns, const struct lull_bundle_event *event)
{
	const struct lull_sim_channel_job *job = &node->world->config.job;
	struct channel_late late = { now_ns, event->peer, event->handle, 0, 0 };

	if (channel_ledger_head(node, event, &late.from, &late.serial) == NULL)
		return;
	if (node->world->calm || !app_chance(node, job->late_ppm)) {
		app_accept(node, now_ns, &late);
		return;
	}
	late.due_ns += lull_prng_below(&node->prng, job->late_ns + 1);
	if (node->head_count == node->head_room) {
		uint32_t room = LULL_MAX(16, 2 * node->head_room);
		void *grown = realloc(node->heads, room * sizeof(*node->heads));

		if (grown == NULL) {
			channel_fail(node->world, node->number, "no memory for heads");
			return;
		}
		node->heads = grown;
		node->head_room = room;
	}
	node->heads[node->head_count++] = late;
}

static void
app_received(struct channel_node *node, const struct lull_bundle_event *event)
{
	struct lull_sim_channel *world = node->world;
	struct channel_receive *receive = node->receives.next;

	while (receive != &node->receives && receive != event->context)
		receive = receive->next;
	if (receive == &node->receives || event->peer != receive->peer) {
		channel_fail(world, node->number, "RECEIVED of nothing that was accepted");
		return;
	}
	node->peers[event->peer].receiving--;
	channel_ledger_received(node, event, receive);
	if (event->error == 0 || event->error == -EMSGSIZE) {
		uint64_t now_ns = lull_sim_net_now(world->net);

		world->result.received++;
		if ((world->config.job.type == LULL_SIM_CHANNEL_RANDOM ||
		     world->config.job.type == LULL_SIM_CHANNEL_PING) &&
		    now_ns >= world->config.warmup_ns && now_ns < world->config.calm_ns) {
			world->result.received_bytes += event->len_bytes;
			world->result.from_bytes[receive->from] += event->len_bytes;
		}
		if (world->config.job.type == LULL_SIM_CHANNEL_PING)
			node->asks = true;
	}
	app_drop_receive(receive);
}

/* ---- sending ---- */

static bool
app_send(struct channel_node *node, uint64_t now_ns, uint32_t peer, uint64_t len_bytes)
{
	struct lull_sim_channel *world = node->world;
	uint32_t serial = node->message_count;
	struct channel_message *message = channel_ledger_add(node, peer, len_bytes);
	struct lull_bundle_message send = {
		.data = len_bytes > 0 ? channel_ledger_bytes(world, node->number, serial) : NULL,
		.len_bytes = len_bytes,
		.tag = channel_ledger_tag(world, node->number, serial),
		.user = (uint64_t)node->number << 32 | serial,
		.from = (uint16_t)serial,
		.to = (uint16_t)(serial * 3),
		.matched = app_chance(node, world->config.job.matched_ppm),
		.context = (void *)(uintptr_t)(serial + 1),
	};
	int rc;

	if (message == NULL)
		return false;
	message->matched = send.matched;
	rc = lull_bundle_send(node->bundle, now_ns, peer, &send);
	if (rc == 0) {
		node->peers[peer].sending++;
		world->result.sent++;
		return true;
	}
	node->message_count--;
	if (rc != -EAGAIN)
		channel_fail(world, node->number, "send of %" PRIu64 " bytes: %d", len_bytes, rc);
	return false;
}

static void
app_cancel(struct channel_node *node, uint64_t now_ns, uint32_t serial)
{
	struct channel_message *message = &node->messages[serial];
	uint32_t peer = node->peer_of[message->to];
	int rc;

	if (message->ended || peer == LULL_SIM_CHANNEL_ANY || message->life != node->life)
		return;
	rc = lull_bundle_cancel(node->bundle, now_ns, peer, (void *)(uintptr_t)(serial + 1));
	message->cancelled = rc == 0;
	if (rc != 0 && rc != -ENOENT)
		channel_fail(node->world, node->number, "cancel: %d", rc);
}

static uint64_t
app_size(struct channel_node *node)
{
	struct lull_prng *prng = &node->prng;
	uint64_t most = node->world->config.job.message_bytes, piece = 1464, size;

	switch (lull_prng_below(prng, 12)) {
	case 0:
		size = 0;
		break;
	case 1:
		size = 1;
		break;
	case 2:
	case 3:
		size = 64;
		break;
	case 4:
		size = piece - 32 + lull_prng_below(prng, 65);
		break;
	case 5:
		size = piece * 8 - 32 + lull_prng_below(prng, 65);
		break;
	case 6:
		size = lull_prng_below(prng, 100000);
		break;
	case 7:
		size = lull_prng_below(prng, 40) == 0 ? most : lull_prng_below(prng, 30000);
		break;
	default:
		size = lull_prng_below(prng, 6000);
		break;
	}
	return LULL_MIN(size, most);
}

/* Applications that send at random. Returns when it wants to again. */
static void
app_random(struct channel_node *node, uint64_t now_ns)
{
	const struct lull_sim_channel_job *job = &node->world->config.job;
	uint32_t other = (uint32_t)lull_prng_below(&node->prng, node->world->config.node_count);
	uint32_t serial = node->message_count;

	if (now_ns < node->send_ns)
		return;
	if (node->sent_count == job->messages || node->world->calm) {
		node->send_ns = NEVER;
		return;
	}
	node->send_ns = now_ns + 1 + lull_prng_below(&node->prng, 2 * job->gap_ns + 1);
	if (node->peer_of[other] == LULL_SIM_CHANNEL_ANY ||
	    node->peers[node->peer_of[other]].closing)
		return;
	if (!app_send(node, now_ns, node->peer_of[other], app_size(node)))
		return;
	node->sent_count++;
	if (app_chance(node, job->cancel_ppm)) {
		if (lull_prng_below(&node->prng, 2) == 0) {
			app_cancel(node, now_ns, serial);
		} else {
			node->cancel_serial = serial;
			node->cancel_ns = now_ns + lull_prng_below(&node->prng, LULL_NS_PER_MS);
		}
	}
}

/* Whom a job that sends all the time sends to. */
static uint32_t
app_target(const struct channel_node *node)
{
	const struct lull_sim_channel *world = node->world;

	switch (world->config.job.type) {
	case LULL_SIM_CHANNEL_STREAM:
		if (world->config.node_count == 2)
			return node->number == 0 ? node->peer_of[1] : LULL_SIM_CHANNEL_ANY;
		return node->number > 0 ? node->peer_of[0] : LULL_SIM_CHANNEL_ANY;
	case LULL_SIM_CHANNEL_PING:
	case LULL_SIM_CHANNEL_PERIODIC:
		return node->number < 2 ? node->peer_of[1 - node->number] : LULL_SIM_CHANNEL_ANY;
	case LULL_SIM_CHANNEL_RANDOM:
		break;
	}
	return LULL_SIM_CHANNEL_ANY;
}

/* Fill up what may be under way. */
static void
app_fill(struct channel_node *node, uint64_t now_ns, uint32_t peer)
{
	uint32_t most = app_under_way(node->world);

	while (node->peers[peer].sending < most)
		if (!app_send(node, now_ns, peer, node->world->config.job.message_bytes)) {
			node->retry_ns = now_ns + RETRY_NS;
			return;
		}
	node->retry_ns = NEVER;
}

static void
app_send_more(struct channel_node *node, uint64_t now_ns)
{
	const struct lull_sim_channel_job *job = &node->world->config.job;
	uint32_t peer = app_target(node);
	uint64_t phase_ns = now_ns % LULL_MAX(job->period_ns, 1);

	if (peer == LULL_SIM_CHANNEL_ANY || node->world->calm)
		return;
	if (job->type == LULL_SIM_CHANNEL_PING) {
		if (node->asks && app_send(node, now_ns, peer, job->message_bytes))
			node->asks = false;
	} else if (job->type == LULL_SIM_CHANNEL_STREAM || phase_ns < job->burst_ns) {
		app_fill(node, now_ns, peer);
	}
	if (job->type == LULL_SIM_CHANNEL_PERIODIC && phase_ns >= job->burst_ns)
		node->retry_ns = now_ns - phase_ns + job->period_ns;
}

/* ---- the whole ---- */

static void
app_sent(struct channel_node *node, uint64_t now_ns, const struct lull_bundle_event *event)
{
	struct lull_sim_channel *world = node->world;
	uint32_t serial = (uint32_t)(uintptr_t)event->context - 1;

	channel_ledger_sent(node, event);
	if (channel_failed(world) || event->error != 0 || now_ns < world->config.warmup_ns)
		return;
	if (world->config.job.type != LULL_SIM_CHANNEL_PING)
		lull_histogram_add(&world->result.latency, now_ns - node->messages[serial].sent_ns,
				   1);
}

/* Half of the time from a question to its answer. */
static void
app_answered(struct channel_node *node, uint64_t now_ns)
{
	struct lull_sim_channel *world = node->world;

	if (world->config.job.type == LULL_SIM_CHANNEL_PING && node->number == 0 &&
	    node->message_count > 0 && now_ns >= world->config.warmup_ns)
		lull_histogram_add(&world->result.latency,
				   (now_ns - node->messages[node->message_count - 1].sent_ns) / 2,
				   1);
}

void
channel_app_events(struct channel_node *node, uint64_t now_ns)
{
	struct lull_sim_channel *world = node->world;
	struct lull_bundle_event event;

	while (!channel_failed(world) && lull_bundle_next(node->bundle, &event)) {
		channel_digest(world, now_ns ^ (uint64_t)event.type << 60,
			       event.user ^ (uint64_t)event.peer << 40 ^
				       (uint64_t)(uint32_t)event.error << 50);
		node->idle_turns = 0;
		switch (event.type) {
		case LULL_BUNDLE_UP:
			channel_peers_up(node, &event);
			break;
		case LULL_BUNDLE_DOWN:
			channel_peers_down(node, now_ns, &event);
			break;
		case LULL_BUNDLE_HEAD:
			app_head(node, now_ns, &event);
			break;
		case LULL_BUNDLE_RECEIVED:
			app_received(node, &event);
			app_answered(node, now_ns);
			break;
		case LULL_BUNDLE_SENT:
			app_sent(node, now_ns, &event);
			break;
		}
	}
	for (uint32_t i = 0; i < CHANNEL_PEERS_MAX; i++)
		if (node->peers[i].reset)
			channel_fail(world, node->number,
				     "operations of node %" PRIu32
				     " ended with -ECONNRESET, and no DOWN follows",
				     node->peers[i].node);
}

uint64_t
channel_app_run(struct channel_node *node, uint64_t now_ns)
{
	uint64_t next_ns = NEVER;

	for (uint32_t i = 0; i < node->head_count;) {
		struct channel_late late = node->heads[i];

		if (late.due_ns > now_ns && !node->world->calm) {
			next_ns = LULL_MIN(next_ns, late.due_ns);
			i++;
			continue;
		}
		node->heads[i] = node->heads[--node->head_count];
		app_accept(node, now_ns, &late);
	}
	for (uint32_t i = 0; !node->world->closing && i < node->world->config.node_count; i++) {
		if (node->connect_ns[i] <= now_ns)
			channel_peers_connect(node, now_ns, i);
		next_ns = LULL_MIN(next_ns, node->connect_ns[i]);
	}
	if (node->cancel_ns <= now_ns) {
		node->cancel_ns = NEVER;
		app_cancel(node, now_ns, node->cancel_serial);
	}
	if (node->world->config.job.type == LULL_SIM_CHANNEL_RANDOM)
		app_random(node, now_ns);
	else
		app_send_more(node, now_ns);
	if (node->world->calm)
		node->retry_ns = node->send_ns = NEVER;
	next_ns = LULL_MIN(next_ns, node->cancel_ns);
	return LULL_MIN(next_ns, LULL_MIN(node->send_ns, node->retry_ns));
}
