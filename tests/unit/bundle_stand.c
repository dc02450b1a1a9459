/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle_stand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

#define MESSAGE_BYTES_MAX (8u << 20)
#define SHIFTS 4096
#define TURNS_MAX 100

/* ---- nodes ---- */

static void
draw(void *arg, uint8_t *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)lull_prng_u64(arg);
}

static struct lull_bundle_address
address_of(uint32_t node, uint32_t rail)
{
	return (struct lull_bundle_address){ .len_bytes = 2,
					     .bytes = { (uint8_t)(node + 1), (uint8_t)rail } };
}

struct lull_bundle_rail
stand_rail(uint32_t node, uint32_t rail)
{
	return (struct lull_bundle_rail){ .kind = 1,
					  .address = address_of(node, rail),
					  .packet_bytes = STAND_PACKET_BYTES,
					  .ring_pkts = 1024 };
}

int
stand_rail_add(struct stand *stand, uint32_t node, uint32_t rail)
{
	struct lull_bundle_rail added = stand_rail(node, rail);

	return lull_bundle_rail_add(stand->nodes[node].bundle, stand->now_ns, &added);
}

void
stand_node_begin(struct stand *stand, uint32_t number, uint32_t rails)
{
	struct stand_node *node = &stand->nodes[number];
	size_t size;

	node->config.node_id = lull_prng_u64(&node->prng) | 1;
	size = (lull_bundle_size(&node->config) + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE *
	       LULL_CACHE_LINE;
	node->bundle = aligned_alloc(LULL_CACHE_LINE, size);
	assert_non_null(node->bundle);
	memset(node->bundle, 0xee, size); /* it need not be zero */
	assert_int_equal(lull_bundle_init(node->bundle, &node->config, stand->now_ns), 0);
	for (uint32_t i = 0; i < rails; i++)
		assert_int_equal(stand_rail_add(stand, number, i), (int)i);
}

void
stand_node_end(struct stand *stand, uint32_t number)
{
	lull_bundle_forget(stand->nodes[number].bundle);
	free(stand->nodes[number].bundle);
	stand->nodes[number].bundle = NULL;
}

struct stand *
stand_open(uint32_t nodes, uint32_t rails, const struct lull_bundle_config *config)
{
	struct stand *stand = calloc(1, sizeof(*stand));

	assert_non_null(stand);
	stand->packets = malloc(sizeof(*stand->packets) * STAND_PACKETS);
	stand->bytes = malloc(MESSAGE_BYTES_MAX + SHIFTS);
	assert_non_null(stand->packets);
	assert_non_null(stand->bytes);
	stand->message_bytes_max = MESSAGE_BYTES_MAX;
	stand->now_ns = LULL_NS_PER_S;
	stand->latency_ns = STAND_STEP_NS;
	stand->burst = 8;
	stand->node_count = nodes;
	for (uint32_t i = 0; i < nodes; i++) {
		struct stand_node *node = &stand->nodes[i];

		lull_prng_init(&node->prng, i, 0);
		node->open = (struct lull_bundle_open){ .random = draw, .arg = &node->prng };
		if (config != NULL)
			node->config = *config;
		node->config.name[0] = (char)('a' + i);
		node->config.security = &lull_bundle_open_security;
		node->config.security_arg = &node->open;
		if (node->config.peers_max == 0)
			node->config.peers_max = 4;
		stand_node_begin(stand, i, rails);
	}
	draw(&stand->nodes[0].prng, stand->bytes, MESSAGE_BYTES_MAX + SHIFTS);
	return stand;
}

void
stand_close(struct stand *stand)
{
	for (uint32_t i = 0; i < stand->node_count; i++) {
		if (stand->nodes[i].bundle != NULL)
			stand_node_end(stand, i);
	}
	for (uint32_t i = 0; i < STAND_BUFFERS; i++)
		free(stand->buffers[i]);
	free(stand->packets);
	free(stand->bytes);
	free(stand);
}

/* ---- events ---- */

static void **
stand_buffer(struct stand *stand, const void *buffer)
{
	uint32_t i = 0;

	while (i < STAND_BUFFERS && stand->buffers[i] != buffer)
		i++;
	assert_true(i < STAND_BUFFERS);
	return &stand->buffers[i];
}

void
stand_take(struct stand *stand, uint32_t number, const struct lull_bundle_event *head)
{
	struct stand_node *node = &stand->nodes[number];
	uint64_t size = node->accept_bytes > 0 ? node->accept_bytes : head->len_bytes;
	uint8_t *buffer = malloc(size + 1);

	assert_non_null(buffer);
	buffer[size] = 0xa5; /* nothing is written behind it */
	*stand_buffer(stand, NULL) = buffer;
	assert_int_equal(lull_bundle_accept(node->bundle, stand->now_ns, head->peer, head->handle,
					    buffer, size, buffer),
			 0);
}

void
stand_take_all(struct stand *stand, uint32_t number)
{
	struct stand_node *node = &stand->nodes[number];

	for (uint32_t i = 0; i < node->head_count; i++)
		stand_take(stand, number, &node->heads[i]);
	node->head_count = 0;
}

static void
node_head(struct stand *stand, uint32_t number, const struct lull_bundle_event *head)
{
	struct stand_node *node = &stand->nodes[number];

	if (node->policy == STAND_ACCEPT) {
		stand_take(stand, number, head);
	} else if (node->policy == STAND_REFUSE) {
		assert_int_equal(
			lull_bundle_refuse(node->bundle, stand->now_ns, head->peer, head->handle),
			0);
	} else {
		assert_true(node->head_count < STAND_HEADS);
		node->heads[node->head_count++] = *head;
	}
}

static void
node_received(struct stand *stand, struct stand_node *node, const struct lull_bundle_event *event)
{
	uint64_t size = node->accept_bytes > 0 ? node->accept_bytes : event->len_bytes;
	uint8_t *buffer = event->context;

	node->received++;
	node->errors[-event->error]++;
	if (event->error == 0 || event->error == -EMSGSIZE)
		assert_memory_equal(buffer, stand->bytes + event->tag % SHIFTS,
				    LULL_MIN(size, event->len_bytes));
	assert_int_equal(buffer[size], 0xa5);
	*stand_buffer(stand, buffer) = NULL;
	free(buffer);
}

static void
node_events(struct stand *stand, uint32_t number)
{
	struct stand_node *node = &stand->nodes[number];
	struct lull_bundle_event event;

	while (lull_bundle_next(node->bundle, &event)) {
		switch (event.type) {
		case LULL_BUNDLE_UP:
			node->peer = event.peer;
			node->ups++;
			break;
		case LULL_BUNDLE_DOWN:
			node->downs++;
			node->down_error = event.error;
			break;
		case LULL_BUNDLE_HEAD:
			node_head(stand, number, &event);
			break;
		case LULL_BUNDLE_RECEIVED:
			node_received(stand, node, &event);
			break;
		default:
			node->sent++;
			node->errors[-event.error]++;
		}
	}
}

/* ---- the switch ---- */

static void
stand_carry(struct stand *stand, const struct stand_packet *sent,
	    const struct lull_bundle_address *to)
{
	for (uint32_t node = 0; node < stand->node_count; node++) {
		uint32_t rail = to->len_bytes == 0 ? sent->from_rail : to->bytes[1];
		struct stand_packet *packet;

		if (node == sent->from || (to->len_bytes > 0 && to->bytes[0] != node + 1))
			continue;
		assert_true(stand->packet_count < STAND_PACKETS);
		packet = &stand->packets[(stand->packet_first + stand->packet_count) %
					 STAND_PACKETS];
		*packet = *sent;
		packet->to = node;
		packet->to_rail = rail;
		packet->at_ns = stand->now_ns + stand->latency_ns;
		stand->packet_count += stand->judge == NULL || stand->judge(stand, packet);
	}
}

static void
node_sends(struct stand *stand, uint32_t number)
{
	struct stand_packet sent = { .from = number };
	struct lull_bundle_packet packet = { .bytes = sent.bytes,
					     .room_bytes = STAND_PACKET_BYTES };

	for (uint32_t rail = 0; rail < LULL_BUNDLE_RAILS_MAX; rail++) {
		sent.from_rail = rail;
		sent.source = address_of(number, rail);
		for (uint32_t i = 0; i < stand->burst; i++) {
			if (lull_bundle_tx(stand->nodes[number].bundle, stand->now_ns, rail,
					   &packet, 1) == 0)
				break;
			sent.len_bytes = packet.len_bytes;
			stand_carry(stand, &sent, &packet.to);
		}
	}
}

static void
stand_deliver(struct stand *stand)
{
	while (stand->packet_count > 0) {
		struct stand_packet *packet = &stand->packets[stand->packet_first];
		const struct stand_node *node = &stand->nodes[packet->to];

		if (packet->at_ns > stand->now_ns)
			break;
		stand->packet_first = (stand->packet_first + 1) % STAND_PACKETS;
		stand->packet_count--;
		if (node->bundle != NULL && !node->away)
			lull_bundle_rx(node->bundle, stand->now_ns, packet->to_rail, packet->bytes,
				       packet->len_bytes, &packet->source);
	}
}

void
stand_step(struct stand *stand)
{
	stand->now_ns += STAND_STEP_NS;
	for (uint32_t i = 0; i < stand->node_count; i++) {
		const struct stand_node *node = &stand->nodes[i];

		for (uint32_t rail = 0; node->bundle != NULL && rail < LULL_BUNDLE_RAILS_MAX;
		     rail++)
			lull_bundle_look(node->bundle, stand->now_ns, rail);
	}
	stand_deliver(stand);
	for (uint32_t i = 0; i < stand->node_count; i++) {
		struct stand_node *node = &stand->nodes[i];

		if (node->bundle == NULL || node->away)
			continue;
		/* Only what is due is done, as a loop that rests does it. */
		if (lull_bundle_deadline_ns(node->bundle) <= stand->now_ns)
			lull_bundle_run(node->bundle, stand->now_ns);
		node_events(stand, i);
		if (lull_bundle_deadline_ns(node->bundle) <= stand->now_ns)
			node_sends(stand, i);
	}
}

void
stand_run(struct stand *stand, uint64_t for_ns)
{
	uint64_t end_ns = stand->now_ns + for_ns;

	while (stand->now_ns < end_ns)
		stand_step(stand);
}

void
stand_wait(struct stand *stand, const uint32_t *count, uint32_t wanted, uint64_t limit_ns)
{
	uint64_t end_ns = stand->now_ns + limit_ns;

	while (*count < wanted) {
		stand_step(stand);
		if (stand->now_ns > end_ns)
			fail_msg("%u of %u", *count, wanted);
	}
}

void
stand_rests(struct stand *stand, uint32_t number)
{
	struct stand_node *node = &stand->nodes[number];

	for (uint32_t i = 0; i < TURNS_MAX; i++) {
		lull_bundle_run(node->bundle, stand->now_ns);
		node_events(stand, number);
		node_sends(stand, number);
		if (lull_bundle_deadline_ns(node->bundle) > stand->now_ns)
			return;
	}
	fail_msg("node %u turns and turns", number);
}

/* ---- connections and messages ---- */

uint32_t
stand_ask(struct stand *stand, uint32_t from, uint32_t to)
{
	struct lull_bundle_target target = { .name = { (char)('a' + to) } };
	int peer = lull_bundle_connect(stand->nodes[from].bundle, stand->now_ns, &target,
				       LULL_NS_PER_S);

	assert_true(peer >= 0);
	return (uint32_t)peer;
}

static uint32_t
node_paths_up(struct stand *stand, uint32_t node, uint32_t *count)
{
	struct lull_bundle_path_look look;
	uint32_t up = 0;

	for (*count = 0; lull_bundle_path_look(stand->nodes[node].bundle, stand->nodes[node].peer,
					       *count, &look) == 0;
	     (*count)++)
		up += look.state == LULL_BUNDLE_PATH_UP;
	return up;
}

void
stand_join(struct stand *stand, uint32_t from, uint32_t to)
{
	uint32_t paths, up = 0;

	(void)stand_ask(stand, from, to);
	stand_wait(stand, &stand->nodes[from].ups, stand->nodes[from].ups + 1, LULL_NS_PER_S);
	stand_wait(stand, &stand->nodes[to].ups, 1, LULL_NS_PER_S);
	for (uint32_t i = 0; i < 2000; i++) {
		up = node_paths_up(stand, from, &paths);
		if (up == paths && node_paths_up(stand, to, &paths) == paths)
			return;
		stand_step(stand);
	}
	fail_msg("%u of %u paths are up", up, paths);
}

int
stand_send(struct stand *stand, uint32_t from, uint64_t len_bytes, bool matched)
{
	struct stand_node *node = &stand->nodes[from];
	struct lull_bundle_message message = { .len_bytes = len_bytes,
					       .tag = stand->sends,
					       .matched = matched };
	int rc;

	message.data = stand->bytes + message.tag % SHIFTS;
	message.context = &stand->bytes[message.tag % SHIFTS];
	rc = lull_bundle_send(node->bundle, stand->now_ns, node->peer, &message);
	stand->sends += rc == 0;
	return rc;
}

void
stand_bring(struct stand *stand, uint32_t from, uint32_t to, uint64_t len_bytes)
{
	uint32_t sent = stand->nodes[from].sent, received = stand->nodes[to].received;

	assert_int_equal(stand_send(stand, from, len_bytes, false), 0);
	stand_wait(stand, &stand->nodes[to].received, received + 1, 10 * LULL_NS_PER_S);
	stand_wait(stand, &stand->nodes[from].sent, sent + 1, 10 * LULL_NS_PER_S);
	assert_int_equal(stand->nodes[from].errors[0] > 0, true);
}

struct bundle_slot *
stand_slot(struct stand *stand, uint32_t node)
{
	return &stand->nodes[node].bundle->slots[stand->nodes[node].peer];
}

struct bundle_path *
stand_path(struct stand *stand, uint32_t node, uint32_t path)
{
	assert_true(path < stand_slot(stand, node)->store->path_count);
	return &stand_slot(stand, node)->store->paths[path];
}

const struct lull_bundle_counters *
stand_counters(struct stand *stand, uint32_t node)
{
	return lull_bundle_counters(stand->nodes[node].bundle);
}
