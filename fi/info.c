/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fi.h"

#define INFO_CAPS                                                                                  \
	(FI_MSG | FI_TAGGED | FI_SEND | FI_RECV | FI_DIRECTED_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM)
#define INFO_TX_CAPS (FI_MSG | FI_TAGGED | FI_SEND)
#define INFO_RX_CAPS (FI_MSG | FI_TAGGED | FI_RECV | FI_DIRECTED_RECV)
#define INFO_TX_FLAGS (FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE)
#define INFO_RX_FLAGS FI_COMPLETION
#define INFO_MESSAGE_BYTES (32ULL << 30)
#define INFO_TAG_FORMAT 0x5555555555555555ULL /* 63 bits */
#define INFO_DOMAIN "channel"

static bool
info_within(uint64_t wanted, uint64_t offered)
{
	return (wanted & ~offered) == 0;
}

static bool
info_domain_fits(const struct fi_domain_attr *wanted)
{
	if (wanted == NULL)
		return true;
	return (wanted->name == NULL || strcmp(wanted->name, INFO_DOMAIN) == 0) &&
	       wanted->cq_data_size <= sizeof(uint64_t) && wanted->mr_key_size == 0 &&
	       info_within(wanted->caps, FI_LOCAL_COMM | FI_REMOTE_COMM);
}

static bool
info_ep_fits(const struct fi_ep_attr *wanted)
{
	if (wanted == NULL)
		return true;
	return (wanted->type == FI_EP_UNSPEC || wanted->type == FI_EP_RDM) &&
	       (wanted->protocol == FI_PROTO_UNSPEC || wanted->protocol == FI_PROV_SPECIFIC) &&
	       wanted->max_msg_size <= INFO_MESSAGE_BYTES && wanted->msg_prefix_size == 0 &&
	       wanted->auth_key_size == 0 && wanted->tx_ctx_cnt <= 1 && wanted->rx_ctx_cnt <= 1;
}

static bool
info_attrs_fit(const struct fi_tx_attr *tx, const struct fi_rx_attr *rx)
{
	return (tx == NULL ||
		(info_within(tx->caps, INFO_CAPS) && info_within(tx->op_flags, INFO_TX_FLAGS) &&
		 info_within(tx->msg_order, FI_ORDER_SAS) && tx->comp_order == FI_ORDER_NONE &&
		 tx->inject_size <= LULL_FI_INJECT_BYTES && tx->size <= LULL_FI_TX_REQUESTS &&
		 tx->iov_limit <= 1 && tx->rma_iov_limit == 0)) &&
	       (rx == NULL ||
		(info_within(rx->caps, INFO_CAPS) && info_within(rx->op_flags, INFO_RX_FLAGS) &&
		 info_within(rx->msg_order, FI_ORDER_SAS) && rx->comp_order == FI_ORDER_NONE &&
		 rx->size <= LULL_FI_RX_REQUESTS && rx->iov_limit <= 1));
}

static bool
info_fits(const struct fi_info *hints)
{
	const struct fi_fabric_attr *fabric = hints->fabric_attr;

	return info_within(hints->caps, INFO_CAPS) && hints->addr_format == FI_FORMAT_UNSPEC &&
	       (fabric == NULL || fabric->name == NULL ||
		strcmp(fabric->name, LULL_FI_NAME) == 0) &&
	       info_domain_fits(hints->domain_attr) && info_ep_fits(hints->ep_attr) &&
	       info_attrs_fit(hints->tx_attr, hints->rx_attr);
}

static void
info_domain(const struct fi_domain_attr *wanted, struct fi_domain_attr *domain)
{
	domain->threading = FI_THREAD_SAFE;
	domain->control_progress = domain->data_progress = FI_PROGRESS_MANUAL;
	if (wanted != NULL && wanted->data_progress == FI_PROGRESS_AUTO)
		domain->data_progress = FI_PROGRESS_AUTO;
	if (wanted != NULL && wanted->control_progress == FI_PROGRESS_AUTO)
		domain->control_progress = FI_PROGRESS_AUTO;
	if (wanted != NULL && wanted->threading != FI_THREAD_UNSPEC)
		domain->threading = wanted->threading;
	domain->av_type = wanted != NULL ? wanted->av_type : FI_AV_UNSPEC;
	domain->resource_mgmt = FI_RM_ENABLED;
	domain->mr_mode = 0;
	domain->cq_data_size = sizeof(uint64_t);
	domain->cq_cnt = domain->ep_cnt = 64;
	domain->tx_ctx_cnt = domain->rx_ctx_cnt = 64;
	domain->max_ep_tx_ctx = domain->max_ep_rx_ctx = 1;
	domain->caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
	domain->tclass = FI_TC_UNSPEC;
}

static void
info_ep(struct fi_info *info)
{
	info->ep_attr->type = FI_EP_RDM;
	info->ep_attr->protocol = FI_PROV_SPECIFIC;
	info->ep_attr->protocol_version = 1;
	info->ep_attr->max_msg_size = INFO_MESSAGE_BYTES;
	info->ep_attr->mem_tag_format = INFO_TAG_FORMAT;
	info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 1;
	info->tx_attr->caps = INFO_TX_CAPS;
	info->tx_attr->msg_order = info->rx_attr->msg_order = FI_ORDER_SAS;
	info->tx_attr->inject_size = LULL_FI_INJECT_BYTES;
	info->tx_attr->size = LULL_FI_TX_REQUESTS;
	info->tx_attr->iov_limit = info->rx_attr->iov_limit = 1;
	info->rx_attr->caps = INFO_RX_CAPS;
	info->rx_attr->size = LULL_FI_RX_REQUESTS;
}

static int
info_make(const struct fi_info *hints, struct fi_info **out)
{
	struct fi_info *info = fi_allocinfo();

	if (info == NULL)
		return -FI_ENOMEM;
	info->caps = hints != NULL && hints->caps != 0 ?
			     hints->caps | FI_SEND | FI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM :
			     INFO_CAPS;
	info->addr_format = FI_FORMAT_UNSPEC;
	info->src_addrlen = info->dest_addrlen = LULL_FI_ADDRESS_SIZE;
	info_ep(info);
	info_domain(hints == NULL ? NULL : hints->domain_attr, info->domain_attr);
	if (hints != NULL && hints->tx_attr != NULL)
		info->tx_attr->op_flags = hints->tx_attr->op_flags;
	if (hints != NULL && hints->rx_attr != NULL)
		info->rx_attr->op_flags = hints->rx_attr->op_flags;
	info->domain_attr->name = strdup(INFO_DOMAIN);
	info->fabric_attr->name = strdup(LULL_FI_NAME);
	info->fabric_attr->prov_version = LULL_FI_VERSION;
	info->src_addrlen = info->dest_addrlen = 0; /* known once an endpoint is enabled */
	if (info->domain_attr->name == NULL || info->fabric_attr->name == NULL) {
		fi_freeinfo(info);
		return -FI_ENOMEM;
	}
	*out = info;
	return 0;
}

/* Once: other providers ask each on their own. */
static void
info_refuse(const char *text)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct lull_error said;

	pthread_mutex_lock(&lock);
	if (strcmp(said.text, text) != 0)
		LULL_FI_WARN("%s\n", text);
	snprintf(said.text, sizeof(said.text), "%s", text);
	pthread_mutex_unlock(&lock);
}

/* One info for all rails together: an application would give each of several to another rank. */
int
lull_fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info)
{
	struct lull_fi_settings settings;
	struct lull_error error;
	int rc = lull_fi_params_read(&settings, &error);

	(void)version;
	(void)flags;
	if (rc == -FI_ENODATA)
		return rc;
	if (rc != 0) {
		info_refuse(error.text);
		return -FI_ENODATA;
	}
	/* Names of nodes say nothing: addresses come from endpoints. */
	if (node != NULL || service != NULL || (hints != NULL && !info_fits(hints)))
		return -FI_ENODATA;
	return info_make(hints, info);
}
