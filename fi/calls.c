/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls: the tables of libfabric for messages with and without tags. */
#include "fi.h"

/* Completions are wanted unless the queue gives them to who asks alone. */
static uint64_t
tx_flags(const struct lull_fi_ep *ep)
{
	return ep->tx_flags | (ep->tx_selective ? 0 : FI_COMPLETION);
}

static uint64_t
rx_flags(const struct lull_fi_ep *ep)
{
	return ep->rx_flags | (ep->rx_selective ? 0 : FI_COMPLETION);
}

static struct lull_fi_ep *
ep_of(struct fid_ep *fid)
{
	return container_of(fid, struct lull_fi_ep, fid);
}

static ssize_t
tagged_recv(struct fid_ep *fid, void *buffer, size_t len, void *desc, fi_addr_t source,
	    uint64_t tag, uint64_t ignore, void *context)
{
	const struct lull_fi_transfer transfer = { .tag = tag,
						   .ignore = ignore,
						   .flags = rx_flags(ep_of(fid)),
						   .address = source,
						   .context = context,
						   .tagged = true };

	(void)desc;
	return lull_fi_transfer_receive(ep_of(fid), buffer, len, &transfer);
}

static ssize_t
tagged_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
	     fi_addr_t source, uint64_t tag, uint64_t ignore, void *context)
{
	(void)desc;
	if (count > 1)
		return -FI_EINVAL;
	return tagged_recv(fid, count > 0 ? iov->iov_base : NULL, count > 0 ? iov->iov_len : 0,
			   NULL, source, tag, ignore, context);
}

static ssize_t
tagged_recvmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags)
{
	struct lull_fi_ep *ep = ep_of(fid);
	const struct lull_fi_transfer transfer = { .tag = msg->tag,
						   .ignore = msg->ignore,
						   .flags = flags |
							    (ep->rx_selective ? 0 : FI_COMPLETION),
						   .address = msg->addr,
						   .context = msg->context,
						   .tagged = true };

	if (msg->iov_count > 1)
		return -FI_EINVAL;
	return lull_fi_transfer_receive(ep, msg->iov_count > 0 ? msg->msg_iov->iov_base : NULL,
					msg->iov_count > 0 ? msg->msg_iov->iov_len : 0, &transfer);
}

static ssize_t
tagged_senddata(struct fid_ep *fid, const void *buffer, size_t len, void *desc, uint64_t data,
		fi_addr_t address, uint64_t tag, void *context)
{
	const struct lull_fi_transfer transfer = { .tag = tag,
						   .data = data,
						   .flags = tx_flags(ep_of(fid)),
						   .address = address,
						   .context = context,
						   .tagged = true };

	(void)desc;
	return lull_fi_transfer_send(ep_of(fid), buffer, len, &transfer);
}

static ssize_t
tagged_send(struct fid_ep *fid, const void *buffer, size_t len, void *desc, fi_addr_t address,
	    uint64_t tag, void *context)
{
	return tagged_senddata(fid, buffer, len, desc, 0, address, tag, context);
}

static ssize_t
tagged_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
	     fi_addr_t address, uint64_t tag, void *context)
{
	(void)desc;
	if (count > 1)
		return -FI_EINVAL;
	return tagged_senddata(fid, count > 0 ? iov->iov_base : NULL, count > 0 ? iov->iov_len : 0,
			       NULL, 0, address, tag, context);
}

static ssize_t
tagged_sendmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags)
{
	struct lull_fi_ep *ep = ep_of(fid);
	const struct lull_fi_transfer transfer = {
		.tag = msg->tag,
		.data = (flags & FI_REMOTE_CQ_DATA) != 0 ? msg->data : 0,
		.flags = flags | (ep->tx_selective ? 0 : FI_COMPLETION),
		.address = msg->addr,
		.context = msg->context,
		.tagged = true
	};

	if (msg->iov_count > 1)
		return -FI_EINVAL;
	return lull_fi_transfer_send(ep, msg->iov_count > 0 ? msg->msg_iov->iov_base : NULL,
				     msg->iov_count > 0 ? msg->msg_iov->iov_len : 0, &transfer);
}

static ssize_t
tagged_injectdata(struct fid_ep *fid, const void *buffer, size_t len, uint64_t data,
		  fi_addr_t address, uint64_t tag)
{
	const struct lull_fi_transfer transfer = {
		.tag = tag, .data = data, .flags = FI_INJECT, .address = address, .tagged = true
	};

	return lull_fi_transfer_send(ep_of(fid), buffer, len, &transfer);
}

static ssize_t
tagged_inject(struct fid_ep *fid, const void *buffer, size_t len, fi_addr_t address, uint64_t tag)
{
	return tagged_injectdata(fid, buffer, len, 0, address, tag);
}

struct fi_ops_tagged lull_fi_tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = tagged_recv,
	.recvv = tagged_recvv,
	.recvmsg = tagged_recvmsg,
	.send = tagged_send,
	.sendv = tagged_sendv,
	.sendmsg = tagged_sendmsg,
	.inject = tagged_inject,
	.senddata = tagged_senddata,
	.injectdata = tagged_injectdata,
};

static ssize_t
msg_recv(struct fid_ep *fid, void *buffer, size_t len, void *desc, fi_addr_t source, void *context)
{
	const struct lull_fi_transfer transfer = { .flags = rx_flags(ep_of(fid)),
						   .address = source,
						   .context = context };

	(void)desc;
	return lull_fi_transfer_receive(ep_of(fid), buffer, len, &transfer);
}

static ssize_t
msg_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count, fi_addr_t source,
	  void *context)
{
	(void)desc;
	if (count > 1)
		return -FI_EINVAL;
	return msg_recv(fid, count > 0 ? iov->iov_base : NULL, count > 0 ? iov->iov_len : 0, NULL,
			source, context);
}

static ssize_t
msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct lull_fi_ep *ep = ep_of(fid);
	const struct lull_fi_transfer transfer = { .flags = flags |
							    (ep->rx_selective ? 0 : FI_COMPLETION),
						   .address = msg->addr,
						   .context = msg->context };

	if (msg->iov_count > 1 || (flags & (FI_PEEK | FI_CLAIM)) != 0)
		return -FI_EINVAL;
	return lull_fi_transfer_receive(ep, msg->iov_count > 0 ? msg->msg_iov->iov_base : NULL,
					msg->iov_count > 0 ? msg->msg_iov->iov_len : 0, &transfer);
}

static ssize_t
msg_senddata(struct fid_ep *fid, const void *buffer, size_t len, void *desc, uint64_t data,
	     fi_addr_t address, void *context)
{
	const struct lull_fi_transfer transfer = {
		.data = data, .flags = tx_flags(ep_of(fid)), .address = address, .context = context
	};

	(void)desc;
	return lull_fi_transfer_send(ep_of(fid), buffer, len, &transfer);
}

static ssize_t
msg_send(struct fid_ep *fid, const void *buffer, size_t len, void *desc, fi_addr_t address,
	 void *context)
{
	return msg_senddata(fid, buffer, len, desc, 0, address, context);
}

static ssize_t
msg_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count, fi_addr_t address,
	  void *context)
{
	(void)desc;
	if (count > 1)
		return -FI_EINVAL;
	return msg_senddata(fid, count > 0 ? iov->iov_base : NULL, count > 0 ? iov->iov_len : 0,
			    NULL, 0, address, context);
}

static ssize_t
msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct lull_fi_ep *ep = ep_of(fid);
	const struct lull_fi_transfer transfer = {
		.data = (flags & FI_REMOTE_CQ_DATA) != 0 ? msg->data : 0,
		.flags = flags | (ep->tx_selective ? 0 : FI_COMPLETION),
		.address = msg->addr,
		.context = msg->context
	};

	if (msg->iov_count > 1)
		return -FI_EINVAL;
	return lull_fi_transfer_send(ep, msg->iov_count > 0 ? msg->msg_iov->iov_base : NULL,
				     msg->iov_count > 0 ? msg->msg_iov->iov_len : 0, &transfer);
}

static ssize_t
msg_injectdata(struct fid_ep *fid, const void *buffer, size_t len, uint64_t data, fi_addr_t address)
{
	const struct lull_fi_transfer transfer = { .data = data,
						   .flags = FI_INJECT,
						   .address = address };

	return lull_fi_transfer_send(ep_of(fid), buffer, len, &transfer);
}

static ssize_t
msg_inject(struct fid_ep *fid, const void *buffer, size_t len, fi_addr_t address)
{
	return msg_injectdata(fid, buffer, len, 0, address);
}

struct fi_ops_msg lull_fi_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = msg_recv,
	.recvv = msg_recvv,
	.recvmsg = msg_recvmsg,
	.send = msg_send,
	.sendv = msg_sendv,
	.sendmsg = msg_sendmsg,
	.inject = msg_inject,
	.senddata = msg_senddata,
	.injectdata = msg_injectdata,
};
