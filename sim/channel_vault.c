/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A security that watches: as strict as one with a cipher, and quick. Its tags are 64-bit mixing
 * under a secret that attackers do not have. It knows every key of the world, so it sees a nonce
 * that is used twice, also when two epochs are given the same key.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "channel_world.h"

#define TAG_BYTES 8
#define HELLO_BYTES 16 /* a number used once, and a tag */
#define BLIND_BYTES 16 /* of a body that nobody can read; enough to see who reads it closed */

struct vault_handshake {
	uint64_t asker, answerer; /* their numbers used once */
};

struct vault_keys {
	uint64_t tx, rx;
	uint32_t tx_place, rx_place; /* in the world's list */
};

static uint64_t
vault_load(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Four lanes, so that a core works on them side by side. */
static uint64_t
vault_hash(uint64_t key, const uint8_t *bytes, uint32_t count)
{
	uint64_t lanes[4] = { key, key + 1, key + 2, key + 3 }, last[4] = { 0 };
	uint32_t i = 0;

	for (; i + 32 <= count; i += 32)
		for (uint32_t lane = 0; lane < 4; lane++) {
			lanes[lane] = (lanes[lane] ^ vault_load(bytes + i + 8 * lane)) *
				      0x9fb21c651e98df25ULL;
			lanes[lane] ^= lanes[lane] >> 32;
		}
	memcpy(last, bytes + i, count - i);
	for (uint32_t lane = 0; lane < 4; lane++)
		lanes[0] = channel_mix(lanes[0] ^ last[lane], lanes[lane] + lane);
	return channel_mix(lanes[0], count);
}

static uint64_t
vault_nonce(uint64_t key, const struct lull_bundle_nonce *nonce)
{
	return channel_mix(channel_mix(key, nonce->psn),
			   (uint64_t)nonce->generation << 8 | nonce->path);
}

static uint32_t
vault_key_id(void *arg)
{
	const struct channel_node *node = arg;

	return (uint32_t)node->world->secret;
}

static void
vault_random(void *arg, uint8_t *bytes, uint32_t count)
{
	struct channel_node *node = arg;

	for (uint32_t i = 0; i < count; i += 8) {
		uint64_t random = lull_prng_u64(&node->secrets);

		memcpy(bytes + i, &random, LULL_MIN(8, count - i));
	}
}

/* ---- handshake ---- */

static uint64_t
vault_seal_hello(uint64_t secret, const uint8_t *prologue, uint32_t prologue_bytes,
		 const uint8_t *bytes, uint32_t count)
{
	return vault_hash(vault_hash(secret, prologue, prologue_bytes), bytes, count);
}

static int
vault_hello_write(void *arg, void *handshake, const uint8_t *prologue, uint32_t prologue_bytes,
		  const uint8_t *payload, uint32_t payload_bytes, uint8_t *out, uint32_t room_bytes)
{
	struct channel_node *node = arg;
	struct vault_handshake *state = handshake;
	uint64_t tag;

	if (room_bytes < payload_bytes + HELLO_BYTES)
		return -ENOBUFS;
	*state = (struct vault_handshake){ .asker = lull_prng_u64(&node->secrets) };
	memcpy(out, &state->asker, 8);
	memcpy(out + 8, payload, payload_bytes);
	tag = vault_seal_hello(node->world->secret, prologue, prologue_bytes, out,
			       8 + payload_bytes);
	memcpy(out + 8 + payload_bytes, &tag, 8);
	return (int)(payload_bytes + HELLO_BYTES);
}

static int
vault_hello_read(void *arg, void *handshake, uint32_t key_id, const uint8_t *prologue,
		 uint32_t prologue_bytes, const uint8_t *in, uint32_t in_bytes, uint8_t *payload,
		 uint32_t room_bytes)
{
	const struct channel_node *node = arg;
	struct vault_handshake *state = handshake;

	if (key_id != vault_key_id(arg) || in_bytes < HELLO_BYTES ||
	    in_bytes - HELLO_BYTES > room_bytes ||
	    vault_load(in + in_bytes - 8) != vault_seal_hello(node->world->secret, prologue,
							      prologue_bytes, in, in_bytes - 8))
		return -EACCES;
	*state = (struct vault_handshake){ .asker = vault_load(in) };
	memcpy(payload, in + 8, in_bytes - HELLO_BYTES);
	return (int)(in_bytes - HELLO_BYTES);
}

static uint32_t
vault_place(struct lull_sim_channel *world, uint64_t key)
{
	for (uint32_t i = world->key_count; i > 0; i--)
		if (world->keys[i - 1].key == key)
			return i - 1;
	if (world->key_count == world->key_room) {
		uint32_t room = LULL_MAX(16, 2 * world->key_room);
		void *grown = realloc(world->keys, room * sizeof(*world->keys));

		if (grown == NULL) {
			channel_fail(world, LULL_SIM_CHANNEL_ANY, "no memory for keys");
			return 0;
		}
		world->keys = grown;
		world->key_room = room;
	}
	world->keys[world->key_count] = (struct channel_key){ .key = key };
	return world->key_count++;
}

static void
vault_split(struct lull_sim_channel *world, const struct vault_handshake *state, bool asker,
	    struct vault_keys *keys)
{
	uint64_t both = channel_mix(channel_mix(world->secret, state->asker), state->answerer);
	uint64_t there = channel_mix(both, 1), back = channel_mix(both, 2);

	keys->tx = asker ? there : back;
	keys->rx = asker ? back : there;
	keys->tx_place = vault_place(world, keys->tx);
	keys->rx_place = vault_place(world, keys->rx);
}

static int
vault_answer_write(void *arg, void *handshake, void *keys, const uint8_t *payload,
		   uint32_t payload_bytes, uint8_t *out, uint32_t room_bytes)
{
	struct channel_node *node = arg;
	struct vault_handshake *state = handshake;
	uint64_t tag;

	if (room_bytes < payload_bytes + HELLO_BYTES)
		return -ENOBUFS;
	state->answerer = lull_prng_u64(&node->secrets);
	memcpy(out, &state->answerer, 8);
	memcpy(out + 8, payload, payload_bytes);
	tag = vault_hash(channel_mix(node->world->secret, state->asker), out, 8 + payload_bytes);
	memcpy(out + 8 + payload_bytes, &tag, 8);
	vault_split(node->world, state, false, keys);
	return (int)(payload_bytes + HELLO_BYTES);
}

static int
vault_answer_read(void *arg, void *handshake, void *keys, const uint8_t *in, uint32_t in_bytes,
		  uint8_t *payload, uint32_t room_bytes)
{
	const struct channel_node *node = arg;
	struct vault_handshake *state = handshake;

	if (in_bytes < HELLO_BYTES || in_bytes - HELLO_BYTES > room_bytes ||
	    vault_load(in + in_bytes - 8) !=
		    vault_hash(channel_mix(node->world->secret, state->asker), in, in_bytes - 8))
		return -EACCES;
	state->answerer = vault_load(in);
	memcpy(payload, in + 8, in_bytes - HELLO_BYTES);
	vault_split(node->world, state, true, keys);
	return (int)(in_bytes - HELLO_BYTES);
}

/* ---- packets ---- */

/* The state of an epoch has no way to its world; a world runs in one thread and call. */
static __thread struct lull_sim_channel *vault_world;

void
channel_vault_use(struct lull_sim_channel *world)
{
	vault_world = world;
}

static void
vault_blind(uint64_t stream, uint8_t *body, uint32_t count)
{
	for (uint32_t i = 0; i < LULL_MIN(count, BLIND_BYTES); i++)
		body[i] ^= (uint8_t)(stream >> i % 8 * 8);
}

static struct channel_key *
vault_key(uint32_t place, uint64_t key)
{
	return place < vault_world->key_count && vault_world->keys[place].key == key ?
		       &vault_world->keys[place] :
		       NULL;
}

static void
vault_seal(void *keys, const struct lull_bundle_nonce *nonce, uint8_t *packet,
	   uint32_t header_bytes, uint32_t len_bytes)
{
	const struct vault_keys *state = keys;
	struct channel_key *key = vault_key(state->tx_place, state->tx);
	uint64_t once = vault_nonce(state->tx, nonce), tag;

	if (key != NULL && key->last == NULL)
		key->last = calloc(256, sizeof(*key->last));
	if (key == NULL || key->last == NULL) {
		channel_fail(vault_world, LULL_SIM_CHANNEL_ANY,
			     "a packet is sealed with a key that no handshake made");
		return;
	}
	if (nonce->psn <= key->last[nonce->path])
		channel_fail(vault_world, LULL_SIM_CHANNEL_ANY,
			     "packet %" PRIu64 " of path %02x is sealed behind %" PRIu64
			     ": a nonce is used twice",
			     nonce->psn, nonce->path, key->last[nonce->path]);
	key->last[nonce->path] = nonce->psn;
	vault_blind(once, packet + header_bytes, len_bytes - header_bytes);
	tag = vault_hash(once, packet, len_bytes);
	memcpy(packet + len_bytes, &tag, TAG_BYTES);
}

static bool
vault_open(void *keys, const struct lull_bundle_nonce *nonce, uint8_t *packet,
	   uint32_t header_bytes, uint32_t len_bytes)
{
	const struct vault_keys *state = keys;
	const struct channel_key *key = vault_key(state->rx_place, state->rx);
	uint64_t once = vault_nonce(state->rx, nonce);

	if (vault_load(packet + len_bytes) != vault_hash(once, packet, len_bytes))
		return false;
	if (key == NULL || key->last == NULL || nonce->psn > key->last[nonce->path])
		channel_fail(vault_world, LULL_SIM_CHANNEL_ANY,
			     "packet %" PRIu64 " of path %02x opens, and nobody sealed it",
			     nonce->psn, nonce->path);
	vault_blind(once, packet + header_bytes, len_bytes - header_bytes);
	return true;
}

static void
vault_forget(void *arg, void *handshake, void *keys)
{
	(void)arg;
	if (handshake != NULL)
		memset(handshake, 0xfe, sizeof(struct vault_handshake));
	if (keys != NULL)
		memset(keys, 0xfe, sizeof(struct vault_keys));
}

const struct lull_bundle_security channel_vault_security = {
	.name = "vault",
	.tag_bytes = TAG_BYTES,
	.handshake_bytes = sizeof(struct vault_handshake),
	.keys_bytes = sizeof(struct vault_keys),
	.hello_bytes = HELLO_BYTES,
	.key_id = vault_key_id,
	.random = vault_random,
	.hello_write = vault_hello_write,
	.hello_read = vault_hello_read,
	.answer_write = vault_answer_write,
	.answer_read = vault_answer_read,
	.seal = vault_seal,
	.open = vault_open,
	.forget = vault_forget,
};

void
channel_vault_free(struct lull_sim_channel *world)
{
	for (uint32_t i = 0; i < world->key_count; i++)
		free(world->keys[i].last);
	free(world->keys);
}
