/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoint: its channel, its requests, and who its peers are. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "fi.h"

#define EP_DONE 64                       /* completions taken at once */
#define EP_LINGER_NS (5 * LULL_NS_PER_S) /* for what was accepted, when it closes */
#define EP_OPERATIONS (2 * (LULL_FI_TX_REQUESTS + LULL_FI_RX_REQUESTS))

/* ---- requests ---- */

static int
requests_init(struct lull_fi_requests *requests, uint32_t count)
{
	requests->all = calloc(count, sizeof(*requests->all));
	if (requests->all == NULL)
		return -FI_ENOMEM;
	requests->count = count;
	for (uint32_t i = count; i > 0; i--) {
		requests->all[i - 1].next = requests->free;
		requests->free = &requests->all[i - 1];
	}
	return 0;
}

/* ---- peers ---- */

static bool
ep_peers_room(struct lull_fi_ep *ep, fi_addr_t address)
{
	uint64_t room = LULL_MAX(ep->peer_count, UINT64_C(64));
	struct lull_fi_peer *peers;

	while (room <= address)
		room *= 2;
	if (room == ep->peer_count)
		return true;
	peers = realloc(ep->peers, room * sizeof(*peers));
	if (peers == NULL)
		return false;
	memset(peers + ep->peer_count, 0, (room - ep->peer_count) * sizeof(*peers));
	ep->peers = peers;
	ep->peer_count = room;
	return true;
}

/* Under the lock. */
static ssize_t
ep_connect(struct lull_fi_ep *ep, const uint8_t *address, struct lull_fi_peer *peer)
{
	struct lull_error error = { "" };
	int rc;

	if (memcmp(address, ep->address, sizeof(ep->address)) == 0) {
		peer->state = LULL_FI_PEER_SELF;
		peer->number = LULL_CHANNEL_SELF;
		return 0;
	}
	rc = lull_channel_connect_begin(ep->channel, address, LULL_FI_ADDRESS_SIZE,
					ep->domain->settings.connect_ns, &peer->number, &error);
	if (rc == 0) {
		peer->state = LULL_FI_PEER_BEGUN;
		return 0;
	}
	if (rc == -EAGAIN)
		return -FI_EAGAIN;
	if (rc == -ENOBUFS)
		LULL_FI_WARN("there are %u peers already; raise FI_LULL_PEERS\n",
			     ep->domain->settings.peers_max);
	else
		LULL_FI_WARN("%s\n", error.text);
	peer->state = LULL_FI_PEER_GONE;
	return -FI_EHOSTUNREACH;
}

struct lull_fi_peer *
lull_fi_ep_find(struct lull_fi_ep *ep, fi_addr_t at)
{
	return ep_peers_room(ep, at) ? &ep->peers[at] : NULL;
}

ssize_t
lull_fi_ep_peer(struct lull_fi_ep *ep, fi_addr_t at, uint32_t *number)
{
	uint8_t address[LULL_FI_ADDRESS_SIZE];
	struct lull_fi_peer *peer;
	ssize_t rc = 0;

	if (ep->av == NULL || !lull_fi_av_get(ep->av, at, address))
		return -FI_EINVAL;
	pthread_mutex_lock(&ep->lock);
	peer = lull_fi_ep_find(ep, at);
	if (peer == NULL) {
		pthread_mutex_unlock(&ep->lock);
		return -FI_ENOMEM;
	}
	if (peer->state == LULL_FI_PEER_NONE)
		rc = ep_connect(ep, address, peer);
	else if (peer->state == LULL_FI_PEER_GONE)
		rc = -FI_EHOSTUNREACH;
	*number = peer->number;
	pthread_mutex_unlock(&ep->lock);
	return rc;
}

void
lull_fi_ep_gone(struct lull_fi_ep *ep, struct lull_fi_peer *peer)
{
	uint8_t address[LULL_FI_ADDRESS_SIZE];

	if (peer->state != LULL_FI_PEER_BEGUN)
		return;
	peer->state = LULL_FI_PEER_GONE;
	if (lull_fi_av_get(ep->av, (fi_addr_t)(peer - ep->peers), address))
		LULL_FI_WARN("peer %.*s is gone, or did not answer: it does not run, its rails are "
			     "not on the same links as ours, or it has another key\n",
			     address[2], (const char *)address + 3);
}

void
lull_fi_ep_lost(struct lull_fi_ep *ep, uint32_t number)
{
	pthread_mutex_lock(&ep->lock);
	for (uint64_t at = 0; at < ep->peer_count; at++)
		if (ep->peers[at].number == number)
			lull_fi_ep_gone(ep, &ep->peers[at]);
	pthread_mutex_unlock(&ep->lock);
}

/* ---- progress ---- */

void
lull_fi_ep_progress(struct lull_fi_ep *ep, uint64_t limit_ns)
{
	struct lull_channel_completion done[EP_DONE];
	uint32_t count;

	if (ep->channel == NULL)
		return;
	lull_fi_transfer_flush(ep);
	count = lull_channel_done(ep->channel, done, EP_DONE, limit_ns);
	for (uint32_t i = 0; i < count; i++)
		lull_fi_transfer_done(ep, &done[i]);
	if (count > 0)
		lull_fi_ep_wake(ep);
}

void
lull_fi_ep_wake(struct lull_fi_ep *ep)
{
	if (atomic_load(&ep->domain->resting) > 0)
		lull_channel_wake(ep->channel);
}

/* Nobody reads completions at present, but a connection stands, or there is room again. */
static void
ep_changed(void *context)
{
	lull_fi_transfer_flush(context);
}

/* ---- enable ---- */

/* A name that no other endpoint anywhere has. */
static int
ep_name(char name[LULL_CHANNEL_NAME_SIZE])
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -FI_EOTHER;
	snprintf(name, LULL_CHANNEL_NAME_SIZE, "fi-%016" PRIx64, number);
	return 0;
}

static int
ep_open_channel(struct lull_fi_ep *ep)
{
	const struct lull_fi_settings *settings = &ep->domain->settings;
	struct lull_channel_config config = {
		.rail_count = settings->rail_count,
		.key_file = settings->key_file[0] != '\0' ? settings->key_file : NULL,
		.security = settings->security,
		.governor = settings->governor,
		.max_latency_ns = settings->max_rest_ns,
		.peers_max = settings->peers_max,
		.operations_max = EP_OPERATIONS,
		.peer_timeout_ns = settings->peer_timeout_ns,
		.own_loop = !ep->domain->automatic,
		.stand_in = true,      /* a rank that computes acknowledges what comes, */
		.changed = ep_changed, /* and sends what waits */
		.changed_context = ep,
	};
	char name[LULL_CHANNEL_NAME_SIZE];
	struct lull_error error = { "" };
	int rc = ep_name(name);

	if (rc != 0)
		return rc;
	config.name = name;
	if (ep->domain->automatic && settings->max_rest_ns == 0)
		config.governor = "spin";
	for (uint32_t i = 0; i < settings->rail_count; i++)
		config.rails[i] = settings->rails[i];
	rc = lull_channel_open(&config, &ep->channel, &error);
	if (rc == 0)
		rc = lull_channel_start(ep->channel, &error);
	if (rc != 0) {
		lull_channel_close(ep->channel, 0);
		ep->channel = NULL;
		LULL_FI_WARN("%s\n", error.text);
		return rc;
	}
	memset(ep->address, 0, sizeof(ep->address));
	lull_channel_address(ep->channel, ep->address);
	return 0;
}

static int
ep_enable(struct lull_fi_ep *ep)
{
	cpu_set_t cpus;
	bool kept;
	int rc;

	if (lull_fi_foreign(ep->domain))
		return -FI_EOPBADSTATE;
	if (ep->channel != NULL)
		return 0;
	if (ep->av == NULL || ep->tx_cq == NULL || ep->rx_cq == NULL)
		return ep->av == NULL ? -FI_ENOAV : -FI_ENOCQ;
	/* DPDK, where a rail needs it, moves the thread that starts it. */
	kept = sched_getaffinity(0, sizeof(cpus), &cpus) == 0;
	rc = ep_open_channel(ep);
	if (kept)
		(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	return rc;
}

static int
ep_control(struct fid *fid, int command, void *arg)
{
	(void)arg;
	return command == FI_ENABLE ? ep_enable(container_of(fid, struct lull_fi_ep, fid.fid)) :
				      -FI_ENOSYS;
}

static int
ep_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
	struct lull_fi_ep *ep = container_of(fid, struct lull_fi_ep, fid.fid);

	switch (other->fclass) {
	case FI_CLASS_AV:
		ep->av = container_of(other, struct lull_fi_av, fid.fid);
		return 0;
	case FI_CLASS_CQ:
		if ((flags & (FI_TRANSMIT | FI_RECV)) == 0)
			return -FI_EINVAL;
		if ((flags & FI_TRANSMIT) != 0) {
			ep->tx_cq = container_of(other, struct lull_fi_cq, fid.fid);
			ep->tx_selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
		}
		if ((flags & FI_RECV) != 0) {
			ep->rx_cq = container_of(other, struct lull_fi_cq, fid.fid);
			ep->rx_selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
		}
		return 0;
	case FI_CLASS_EQ:
		return 0;
	default:
		return -FI_EINVAL;
	}
}

/* What its callers were told is sent leaves before it closes. */
static void
ep_drain(struct lull_fi_ep *ep)
{
	struct timespec now;
	time_t end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + (time_t)(EP_LINGER_NS / LULL_NS_PER_S);
	while (ep->channel != NULL && ep->waiting > 0 && now.tv_sec < end) {
		lull_fi_ep_progress(ep, LULL_NS_PER_MS);
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
}

static int
ep_close(struct fid *fid)
{
	struct lull_fi_ep *ep = container_of(fid, struct lull_fi_ep, fid.fid), **at;

	if (lull_fi_foreign(ep->domain))
		return 0;
	ep_drain(ep);
	pthread_mutex_lock(&ep->domain->lock);
	for (at = &ep->domain->eps; *at != ep; at = &(*at)->next)
		;
	*at = ep->next;
	pthread_mutex_unlock(&ep->domain->lock);
	lull_fi_report(ep);
	lull_channel_close(ep->channel, EP_LINGER_NS);
	atomic_fetch_sub(&ep->domain->users, 1);
	pthread_mutex_destroy(&ep->lock);
	free(ep->tx.all);
	free(ep->rx.all);
	free(ep->injects);
	free(ep->peers);
	free(ep);
	return 0;
}

/* ---- names and options ---- */

static int
ep_getname(fid_t fid, void *address, size_t *bytes)
{
	struct lull_fi_ep *ep = container_of(fid, struct lull_fi_ep, fid.fid);
	size_t room = *bytes;

	if (ep->channel == NULL)
		return -FI_EOPBADSTATE;
	*bytes = LULL_FI_ADDRESS_SIZE;
	if (room < LULL_FI_ADDRESS_SIZE)
		return -FI_ETOOSMALL;
	memcpy(address, ep->address, LULL_FI_ADDRESS_SIZE);
	return 0;
}

static int
ep_no_name(fid_t fid, void *address, size_t bytes)
{
	(void)fid;
	(void)address;
	(void)bytes;
	return -FI_ENOSYS;
}

static int
ep_no_peer(struct fid_ep *ep, void *address, size_t *bytes)
{
	(void)ep;
	(void)address;
	(void)bytes;
	return -FI_ENOSYS;
}

static int
ep_no_getopt(fid_t fid, int level, int name, void *value, size_t *bytes)
{
	(void)fid;
	(void)level;
	(void)name;
	(void)value;
	(void)bytes;
	return -FI_ENOPROTOOPT;
}

static int
ep_no_setopt(fid_t fid, int level, int name, const void *value, size_t bytes)
{
	(void)fid;
	(void)level;
	(void)name;
	(void)value;
	(void)bytes;
	return -FI_ENOPROTOOPT;
}

static struct fi_ops ep_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = ep_close,
	.bind = ep_bind,
	.control = ep_control,
	.ops_open = lull_fi_no_ops,
};
static struct fi_ops_ep ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = lull_fi_transfer_cancel,
	.getopt = ep_no_getopt,
	.setopt = ep_no_setopt,
};
static struct fi_ops_cm ep_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = ep_no_name,
	.getname = ep_getname,
	.getpeer = ep_no_peer,
};

int
lull_fi_ep_open(struct fid_domain *fid, struct fi_info *info, struct fid_ep **out, void *context)
{
	struct lull_fi_domain *domain = container_of(fid, struct lull_fi_domain, fid);
	struct lull_fi_ep *ep = calloc(1, sizeof(*ep));

	if (ep == NULL)
		return -FI_ENOMEM;
	ep->domain = domain;
	ep->injects = malloc((size_t)LULL_FI_TX_REQUESTS * LULL_FI_INJECT_BYTES);
	if (ep->injects == NULL || requests_init(&ep->tx, LULL_FI_TX_REQUESTS) != 0 ||
	    requests_init(&ep->rx, LULL_FI_RX_REQUESTS) != 0) {
		free(ep->injects);
		free(ep->tx.all);
		free(ep);
		return -FI_ENOMEM;
	}
	ep->tx_flags = info->tx_attr != NULL ? info->tx_attr->op_flags : 0;
	ep->rx_flags = info->rx_attr != NULL ? info->rx_attr->op_flags : 0;
	ep->directed = (info->caps & FI_DIRECTED_RECV) != 0;
	pthread_mutex_init(&ep->lock, NULL);
	ep->fid = (struct fid_ep){
		.fid = { .fclass = FI_CLASS_EP, .context = context, .ops = &ep_fi_ops },
		.ops = &ep_ops,
		.cm = &ep_cm_ops,
		.msg = &lull_fi_msg_ops,
		.tagged = &lull_fi_tagged_ops
	};
	pthread_mutex_lock(&domain->lock);
	ep->next = domain->eps;
	domain->eps = ep;
	pthread_mutex_unlock(&domain->lock);
	atomic_fetch_add(&domain->users, 1);
	*out = &ep->fid;
	return 0;
}
