/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers: calls of libfabric in the words of the channel, and their completions. */
#include <errno.h>
#include <string.h>

#include "fi.h"

/* ---- requests ---- */

static struct lull_fi_request *
request_take(struct lull_fi_ep *ep, struct lull_fi_requests *requests)
{
	struct lull_fi_request *request;

	pthread_mutex_lock(&ep->lock);
	request = requests->free;
	if (request != NULL) {
		requests->free = request->next;
		*request = (struct lull_fi_request){ .state = LULL_FI_POSTED };
	}
	pthread_mutex_unlock(&ep->lock);
	return request;
}

static void
request_give(struct lull_fi_ep *ep, struct lull_fi_requests *requests,
	     struct lull_fi_request *request)
{
	pthread_mutex_lock(&ep->lock);
	request->state = LULL_FI_FREE;
	request->next = requests->free;
	requests->free = request;
	pthread_mutex_unlock(&ep->lock);
}

static uint64_t
transfer_tag(const struct lull_fi_transfer *transfer)
{
	return transfer->tagged ? transfer->tag & ~LULL_FI_TAG_MESSAGE : LULL_FI_TAG_MESSAGE;
}

static uint64_t
transfer_ignore(const struct lull_fi_transfer *transfer)
{
	return transfer->tagged ? transfer->ignore & ~LULL_FI_TAG_MESSAGE : 0;
}

static uint64_t
transfer_flags(const struct lull_fi_transfer *transfer, bool send)
{
	return (send ? FI_SEND : FI_RECV) | (transfer->tagged ? FI_TAGGED : FI_MSG);
}

/* An error of the channel. */
static ssize_t
transfer_error(struct lull_fi_ep *ep, uint32_t number, int rc)
{
	if (rc == -ENOTCONN) {
		lull_fi_ep_lost(ep, number);
		return -FI_EHOSTUNREACH;
	}
	return rc == -EAGAIN ? -FI_EAGAIN : rc;
}

/* ---- send ---- */

/* A send that waits ends with an error. */
static void
send_fail(struct lull_fi_ep *ep, struct lull_fi_request *request, int error)
{
	const struct lull_channel_completion done = { .context = request,
						      .error = error,
						      .peer = LULL_CHANNEL_ANY,
						      .len_bytes = request->message.len_bytes,
						      .tag = request->message.tag };

	lull_fi_transfer_done(ep, &done);
}

/*
 * A call that sends must not wait, and some programs begin many sends before they receive: what the
 * channel has no room for waits here, in order. Takes the first that may go, or has to fail.
 */
static struct lull_fi_request *
send_next(struct lull_fi_ep *ep, struct lull_fi_peer *peer, int *error)
{
	struct lull_fi_request *request = peer->first;

	*error = peer->state == LULL_FI_PEER_GONE ?
			 -ENOTCONN :
			 lull_channel_send(ep->channel, peer->number, &request->message, request);
	if (*error == -EAGAIN)
		return NULL;
	if (*error == -ENOTCONN)
		lull_fi_ep_gone(ep, peer);
	peer->first = request->next;
	ep->waiting--;
	return request;
}

void
lull_fi_transfer_flush(struct lull_fi_ep *ep)
{
	struct lull_fi_request *failed = NULL, **last = &failed;

	pthread_mutex_lock(&ep->lock);
	for (uint64_t at = 0; at < ep->peer_count && ep->waiting > 0; at++) {
		struct lull_fi_peer *peer = &ep->peers[at];

		while (peer->first != NULL) {
			int error;
			struct lull_fi_request *request = send_next(ep, peer, &error);

			if (request == NULL)
				break;
			if (error == 0)
				continue;
			request->next = NULL;
			*last = request;
			last = &request->next;
		}
	}
	pthread_mutex_unlock(&ep->lock);
	while (failed != NULL) {
		struct lull_fi_request *request = failed;

		failed = request->next;
		send_fail(ep, request, -EHOSTUNREACH);
		if (failed == NULL)
			lull_fi_ep_wake(ep);
	}
}

static ssize_t
send_begin(struct lull_fi_ep *ep, const struct lull_fi_transfer *transfer, uint32_t number,
	   struct lull_fi_request *request)
{
	struct lull_fi_peer *peer;
	ssize_t rc = -EAGAIN;

	pthread_mutex_lock(&ep->lock);
	peer = lull_fi_ep_find(ep, transfer->address);
	if (peer->first == NULL)
		rc = lull_channel_send(ep->channel, number, &request->message, request);
	if (rc == -EAGAIN) {
		request->next = NULL;
		if (peer->first == NULL)
			peer->first = request;
		else
			peer->last->next = request;
		peer->last = request;
		ep->waiting++;
		rc = 0;
	}
	pthread_mutex_unlock(&ep->lock);
	return rc;
}

ssize_t
lull_fi_transfer_send(struct lull_fi_ep *ep, const void *buffer, size_t len,
		      const struct lull_fi_transfer *transfer)
{
	bool inject = (transfer->flags & FI_INJECT) != 0;
	struct lull_channel_message message = { .data = buffer,
						.len_bytes = len,
						.tag = transfer_tag(transfer),
						.user = transfer->data };
	struct lull_fi_request *request;
	uint32_t peer;
	ssize_t rc;

	if (ep->channel == NULL || lull_fi_foreign(ep->domain))
		return -FI_EOPBADSTATE;
	if (inject && len > LULL_FI_INJECT_BYTES)
		return -FI_EINVAL;
	rc = lull_fi_ep_peer(ep, transfer->address, &peer);
	if (rc != 0)
		return rc;
	request = request_take(ep, &ep->tx);
	if (request == NULL)
		return -FI_EAGAIN;
	request->send = true;
	request->context = transfer->context;
	request->flags = transfer_flags(transfer, true);
	request->silent = (transfer->flags & FI_COMPLETION) == 0;
	if (inject && len > 0) {
		request->inject =
			ep->injects + (size_t)(request - ep->tx.all) * LULL_FI_INJECT_BYTES;
		memcpy(request->inject, buffer, len);
		message.data = request->inject;
	}
	request->message = message;
	rc = send_begin(ep, transfer, peer, request);
	lull_fi_ep_wake(ep);
	if (rc == 0)
		return 0;
	request_give(ep, &ep->tx, request);
	return transfer_error(ep, peer, (int)rc);
}

/* ---- receive ---- */

static void
transfer_fail(struct lull_fi_ep *ep, const struct lull_fi_transfer *transfer, int error)
{
	const struct fi_cq_err_entry entry = { .op_context = transfer->context,
					       .flags = transfer_flags(transfer, false),
					       .tag = transfer->tag,
					       .err = error,
					       .prov_errno = error };

	lull_fi_cq_push(ep->rx_cq, &entry);
	lull_fi_ep_wake(ep);
}

static struct lull_fi_request *
transfer_claimed(struct lull_fi_ep *ep, const void *context)
{
	struct lull_fi_request *found = NULL;

	pthread_mutex_lock(&ep->lock);
	for (uint32_t i = 0; i < ep->rx.count && found == NULL; i++)
		if (ep->rx.all[i].state == LULL_FI_CLAIMED && ep->rx.all[i].context == context)
			found = &ep->rx.all[i];
	if (found != NULL)
		found->state = LULL_FI_POSTED;
	pthread_mutex_unlock(&ep->lock);
	return found;
}

/* A message that was claimed, into its buffer at last. */
static ssize_t
transfer_take_claimed(struct lull_fi_ep *ep, void *buffer, size_t len,
		      const struct lull_fi_transfer *transfer)
{
	struct lull_fi_request *request = transfer_claimed(ep, transfer->context);

	if (request == NULL)
		return -FI_EINVAL;
	request->buffer = buffer;
	request->size_bytes = len;
	if ((transfer->flags & FI_DISCARD) != 0)
		request->silent = true;
	if (lull_channel_claimed(ep->channel, request->claim, buffer,
				 (transfer->flags & FI_DISCARD) != 0 ? 0 : len, request) == 0)
		return 0;
	request_give(ep, &ep->rx, request);
	transfer_fail(ep, transfer, FI_ECONNRESET); /* its peer has gone meanwhile */
	return 0;
}

static ssize_t
transfer_peek(struct lull_fi_ep *ep, const struct lull_channel_receive *wanted,
	      const struct lull_fi_transfer *transfer)
{
	bool claims = (transfer->flags & (FI_CLAIM | FI_DISCARD)) != 0;
	struct lull_fi_request *request = claims ? request_take(ep, &ep->rx) : NULL;
	struct lull_channel_completion found;
	struct fi_cq_err_entry entry;
	int rc;

	if (claims && request == NULL)
		return -FI_EAGAIN;
	rc = claims ? lull_channel_claim(ep->channel, wanted, &found, &request->claim) :
		      lull_channel_peek(ep->channel, wanted, &found);
	if (rc != 0) {
		if (claims)
			request_give(ep, &ep->rx, request);
		if (rc == -EAGAIN)
			return -FI_EAGAIN;
		transfer_fail(ep, transfer, FI_ENOMSG);
		return 0;
	}
	entry = (struct fi_cq_err_entry){ .op_context = transfer->context,
					  .flags = transfer_flags(transfer, false) |
						   FI_REMOTE_CQ_DATA |
						   (transfer->flags & (FI_PEEK | FI_CLAIM)),
					  .len = found.len_bytes,
					  .data = found.user,
					  .tag = transfer->tagged ? found.tag : 0 };
	if (claims) {
		request->context = transfer->context;
		request->flags = transfer_flags(transfer, false);
		request->silent = (transfer->flags & FI_COMPLETION) == 0;
		request->state = LULL_FI_CLAIMED;
	}
	if ((transfer->flags & FI_DISCARD) != 0) {
		struct lull_fi_transfer discard = *transfer;

		discard.flags = FI_CLAIM | FI_DISCARD;
		(void)transfer_take_claimed(ep, NULL, 0, &discard);
	}
	lull_fi_cq_push(ep->rx_cq, &entry);
	lull_fi_ep_wake(ep);
	return 0;
}

ssize_t
lull_fi_transfer_receive(struct lull_fi_ep *ep, void *buffer, size_t len,
			 const struct lull_fi_transfer *transfer)
{
	struct lull_channel_receive wanted = { .source = LULL_CHANNEL_ANY,
					       .tag = transfer_tag(transfer),
					       .ignore = transfer_ignore(transfer),
					       .buffer = buffer,
					       .size_bytes = len };
	struct lull_fi_request *request;
	ssize_t rc;

	if (ep->channel == NULL || lull_fi_foreign(ep->domain))
		return -FI_EOPBADSTATE;
	if ((transfer->flags & FI_CLAIM) != 0 && (transfer->flags & FI_PEEK) == 0)
		return transfer_take_claimed(ep, buffer, len, transfer);
	if (ep->directed && transfer->address != FI_ADDR_UNSPEC) {
		rc = lull_fi_ep_peer(ep, transfer->address, &wanted.source);
		if (rc != 0)
			return rc;
	}
	if ((transfer->flags & FI_PEEK) != 0)
		return transfer_peek(ep, &wanted, transfer);
	request = request_take(ep, &ep->rx);
	if (request == NULL)
		return -FI_EAGAIN;
	request->context = transfer->context;
	request->buffer = buffer;
	request->size_bytes = len;
	request->flags = transfer_flags(transfer, false);
	request->silent = (transfer->flags & FI_COMPLETION) == 0;
	rc = lull_channel_recv(ep->channel, &wanted, request);
	if (rc == 0)
		return 0;
	request_give(ep, &ep->rx, request);
	return transfer_error(ep, wanted.source, (int)rc);
}

/* ---- ends ---- */

static int
transfer_err(int error)
{
	switch (error) {
	case -EMSGSIZE:
		return FI_ETRUNC;
	case -ECANCELED:
		return FI_ECANCELED;
	default:
		return -error;
	}
}

void
lull_fi_transfer_done(struct lull_fi_ep *ep, const struct lull_channel_completion *done)
{
	struct lull_fi_request *request = done->context;
	struct fi_cq_err_entry entry = { .op_context = request->context,
					 .flags = request->flags,
					 .buf = request->send ? NULL : request->buffer,
					 .len = done->len_bytes,
					 .tag = done->tag & ~LULL_FI_TAG_MESSAGE };
	bool silent = request->silent && done->error == 0, send = request->send;

	if (!send && done->error == 0) {
		entry.data = done->user;
		entry.flags |= FI_REMOTE_CQ_DATA;
	}
	if (done->error != 0) {
		entry.err = transfer_err(done->error);
		entry.prov_errno = entry.err;
		entry.data = done->user;
		if (done->error == -EMSGSIZE) {
			entry.len = LULL_MIN(done->len_bytes, request->size_bytes);
			entry.olen = done->len_bytes - entry.len;
		}
	}
	if (done->error == -ECONNRESET)
		lull_fi_ep_lost(ep, done->peer);
	/* An error of one that was injected has nobody to be told. */
	if (request->inject != NULL || (request->silent && request->context == NULL))
		silent = true;
	request_give(ep, send ? &ep->tx : &ep->rx, request);
	if (!silent)
		lull_fi_cq_push(send ? ep->tx_cq : ep->rx_cq, &entry);
}

static struct lull_fi_request *
transfer_find(const struct lull_fi_requests *requests, const void *context)
{
	for (uint32_t i = 0; i < requests->count; i++)
		if (requests->all[i].state == LULL_FI_POSTED && requests->all[i].context == context)
			return &requests->all[i];
	return NULL;
}

ssize_t
lull_fi_transfer_cancel(fid_t fid, void *context)
{
	struct lull_fi_ep *ep = container_of(fid, struct lull_fi_ep, fid.fid);
	struct lull_fi_request *request;

	if (ep->channel == NULL || lull_fi_foreign(ep->domain))
		return -FI_EOPBADSTATE;
	pthread_mutex_lock(&ep->lock);
	request = transfer_find(&ep->rx, context);
	if (request == NULL)
		request = transfer_find(&ep->tx, context);
	pthread_mutex_unlock(&ep->lock);
	if (request == NULL || lull_channel_cancel(ep->channel, request) != 0)
		return -FI_ENOENT;
	return 0;
}
