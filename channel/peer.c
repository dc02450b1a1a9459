/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers: connect, accept, disconnect, and the address that others connect to. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "address.h"
#include "bundle/peer.h"
#include "host/error.h"
#include "turn.h"
#include "wait.h"

/* ---- addresses ---- */

uint32_t
lull_channel_address(struct lull_channel *channel, uint8_t address[LULL_CHANNEL_ADDRESS_SIZE])
{
	struct lull_bundle_target own = { .address_count = 0 };

	memcpy(own.name, channel->name, sizeof(own.name));
	channel_lock(channel);
	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++) {
		const struct channel_rail *rail = channel->rails[i];

		if (rail == NULL || own.address_count == LULL_BUNDLE_TARGETS_MAX)
			continue;
		own.addresses[own.address_count].kind = rail->bundle.kind;
		own.addresses[own.address_count++].address = rail->bundle.address;
	}
	channel_unlock(channel);
	return channel_address_write(&own, address);
}

/* ---- connect ---- */

static int
peer_error(int rc, const char *who, uint64_t limit_ns, struct lull_error *error)
{
	switch (rc) {
	case -ETIMEDOUT:
		return lull_error_set(
			error, rc,
			"%s did not answer within %llu ms: it does not run, its rails are not on "
			"the same links as ours, or it has another key",
			who, (unsigned long long)(limit_ns / LULL_NS_PER_MS));
	case -EHOSTUNREACH:
		return lull_error_set(error, rc,
				      "no rail here reaches %s: its rails are of other kinds", who);
	case -ECONNRESET:
		return lull_error_set(error, rc,
				      "%s answered, and then no path to it came up: it has ended "
				      "meanwhile, or full packets do not pass between its rails "
				      "and ours",
				      who);
	case -ENOBUFS:
		return lull_error_set(error, rc,
				      "there are peers_max peers already; raise peers_max, or "
				      "disconnect one");
	case -EINTR:
		return lull_error_set(error, rc, "lull_channel_wake() ended the wait for %s", who);
	default:
		return lull_error_set(error, rc, "cannot connect to %s: %s", who, strerror(-rc));
	}
}

static int
peer_not_started(struct lull_error *error)
{
	return lull_error_set(error, -EINVAL,
			      "the channel does not run; call lull_channel_start() first");
}

/* Until the peer is there or gives up. */
static int
peer_await(struct lull_channel *channel, uint32_t number, const struct channel_wait *wait)
{
	const struct channel_peer *peer = &channel->peers[number];
	uint32_t ends = peer->ends;
	int rc = 0;

	while (rc == 0 && !peer->up) {
		rc = channel_wait(channel, wait);
		if (peer->ends != ends)
			return peer->error != 0 ? peer->error : -ECONNRESET;
	}
	return peer->up ? 0 : rc;
}

static bool
peer_closing(const struct lull_channel *channel, const char *name)
{
	for (uint32_t i = 0; i < channel->config.peers_max && name[0] != '\0'; i++)
		if (channel->peers[i].up && channel->peers[i].closing &&
		    strcmp(channel->peers[i].name, name) == 0)
			return true;
	return false;
}

static int
peer_begin(struct lull_channel *channel, const struct lull_bundle_target *target, uint64_t limit_ns,
	   uint32_t *peer)
{
	uint64_t now_ns = lull_clock_ns();
	int number = lull_bundle_connect(channel->bundle, now_ns, target,
					 limit_ns == LULL_CHANNEL_FOREVER ? LULL_BUNDLE_NEVER :
									    limit_ns);

	if (number < 0)
		return number == -ENODEV ? -EHOSTUNREACH : number;
	*peer = (uint32_t)number;
	if (!channel->peers[number].up)
		channel_act(channel, now_ns);
	return 0;
}

static int
peer_connect(struct lull_channel *channel, const struct lull_bundle_target *target,
	     uint64_t limit_ns, uint32_t *peer)
{
	struct channel_wait wait = channel_wait_begin(channel, limit_ns);
	int rc = 0;

	/* A new connection would cut off what the old one still has to send. */
	while (rc == 0 && peer_closing(channel, target->name))
		rc = channel_wait(channel, &wait);
	if (rc == 0)
		rc = peer_begin(channel, target, limit_ns, peer);
	return rc == 0 ? peer_await(channel, *peer, &wait) : rc;
}

static int
peer_connect_to(struct lull_channel *channel, const struct lull_bundle_target *target,
		uint64_t limit_ns, uint32_t *peer, struct lull_error *error)
{
	int rc;

	if (!channel->started)
		return peer_not_started(error);
	channel_lock(channel);
	rc = peer_connect(channel, target, limit_ns, peer);
	channel_unlock(channel);
	return rc == 0 ? 0 : peer_error(rc, target->name, limit_ns, error);
}

static int
peer_target(const struct lull_channel *channel, const char *name, const uint8_t *address,
	    uint32_t address_bytes, struct lull_bundle_target *target, struct lull_error *error)
{
	*target = (struct lull_bundle_target){ .address_count = 0 };
	if (address != NULL && channel_address_read(address, address_bytes, target) != 0)
		return lull_error_set(error, -EINVAL,
				      "these %u bytes are no address of lull_channel_address()",
				      address_bytes);
	if (address == NULL &&
	    (name == NULL || name[0] == '\0' || strlen(name) >= sizeof(target->name)))
		return lull_error_set(error, -EINVAL, "a node's name has 1..%d characters",
				      LULL_CHANNEL_NAME_SIZE - 1);
	if (address == NULL)
		strcpy(target->name, name);
	if (strcmp(target->name, channel->name) == 0)
		return lull_error_set(error, -EINVAL,
				      "%s is this node itself; give each node a name of its own",
				      target->name);
	return 0;
}

int
lull_channel_connect(struct lull_channel *channel, const char *name, uint64_t limit_ns,
		     uint32_t *peer, struct lull_error *error)
{
	struct lull_bundle_target target;
	int rc = peer_target(channel, name, NULL, 0, &target, error);

	return rc == 0 ? peer_connect_to(channel, &target, limit_ns, peer, error) : rc;
}

int
lull_channel_connect_address(struct lull_channel *channel, const uint8_t *address,
			     uint32_t address_bytes, uint64_t limit_ns, uint32_t *peer,
			     struct lull_error *error)
{
	struct lull_bundle_target target;
	int rc = peer_target(channel, NULL, address, address_bytes, &target, error);

	return rc == 0 ? peer_connect_to(channel, &target, limit_ns, peer, error) : rc;
}

int
lull_channel_connect_begin(struct lull_channel *channel, const uint8_t *address,
			   uint32_t address_bytes, uint64_t limit_ns, uint32_t *peer,
			   struct lull_error *error)
{
	struct lull_bundle_target target;
	int rc = peer_target(channel, NULL, address, address_bytes, &target, error);

	if (rc != 0)
		return rc;
	if (!channel->started)
		return peer_not_started(error);
	channel_lock(channel);
	rc = peer_closing(channel, target.name) ? -EAGAIN :
						  peer_begin(channel, &target, limit_ns, peer);
	if (rc == 0) {
		lull_bundle_keep(channel->bundle, *peer);
		channel->peers[*peer].begun = channel->peers[*peer].kept = true;
	}
	channel_unlock(channel);
	return rc == 0 ? 0 : peer_error(rc, target.name, limit_ns, error);
}

/* ---- accept, disconnect ---- */

int
lull_channel_accept(struct lull_channel *channel, uint64_t limit_ns, uint32_t *peer)
{
	struct channel_wait wait;
	int rc = channel->started ? 0 : -EINVAL;

	channel_lock(channel);
	wait = channel_wait_begin(channel, limit_ns);
	while (rc == 0 && channel->accept_first == 0)
		rc = channel_wait(channel, &wait);
	if (channel->accept_first != 0) {
		*peer = channel->accept_first - 1;
		channel->accept_first = channel->peers[*peer].next;
		channel->peers[*peer].asked = false;
		rc = 0;
	}
	channel_unlock(channel);
	return rc;
}

/* It has ended, and its number is still its own. */
static bool
peer_is_over(const struct channel_peer *peer)
{
	return peer->kept && !peer->up && !peer->begun;
}

int
lull_channel_disconnect(struct lull_channel *channel, uint32_t peer, uint64_t linger_ns)
{
	uint64_t now_ns = lull_clock_ns();
	int rc = -ENOTCONN;

	channel_lock(channel);
	if (channel->started && peer < channel->config.peers_max && channel->peers[peer].up)
		rc = lull_bundle_disconnect(channel->bundle, now_ns, peer, linger_ns);
	if (rc == 0) {
		channel->peers[peer].closing = true;
		channel->peers[peer].kept = false;
		channel_act(channel, now_ns);
	} else if (peer < channel->config.peers_max && peer_is_over(&channel->peers[peer])) {
		channel->peers[peer].kept = false;
		rc = lull_bundle_disconnect(channel->bundle, now_ns, peer, 0);
	}
	channel_unlock(channel);
	return rc;
}
