/* SPDX-License-Identifier: BSD-3-Clause */
#include "end.h"

#include <string.h>
#include <time.h>

#define END_NS_PER_S 1000000000ULL

uint64_t
end_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * END_NS_PER_S + (uint64_t)now.tv_nsec;
}

struct fi_info *
end_info(void)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	if (hints == NULL)
		return NULL;
	hints->fabric_attr->prov_name = strdup("lull");
	hints->caps = FI_TAGGED | FI_MSG | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
	hints->domain_attr->threading = FI_THREAD_SAFE;
	if (fi_getinfo(FI_VERSION(1, 5), NULL, NULL, 0, hints, &info) != 0)
		info = NULL;
	fi_freeinfo(hints);
	return info;
}

int
end_domain(struct end *end)
{
	int rc;

	memset(end, 0, sizeof(*end));
	end->info = end_info();
	if (end->info == NULL)
		return -FI_ENODATA;
	rc = fi_fabric(end->info->fabric_attr, &end->fabric, NULL);
	return rc != 0 ? rc : fi_domain(end->fabric, end->info, &end->domain, NULL);
}

int
end_open(struct end *end)
{
	struct fi_av_attr av = { .type = FI_AV_MAP };
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED, .size = 100 };
	size_t bytes = sizeof(end->address);
	int rc = end_domain(end);

	if (rc == 0)
		rc = fi_av_open(end->domain, &av, &end->av, NULL);
	if (rc == 0)
		rc = fi_cq_open(end->domain, &cq, &end->cq, NULL);
	if (rc == 0)
		rc = fi_endpoint(end->domain, end->info, &end->ep, NULL);
	if (rc == 0)
		rc = fi_ep_bind(end->ep, &end->av->fid, 0);
	if (rc == 0)
		rc = fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV);
	if (rc == 0)
		rc = fi_enable(end->ep);
	return rc == 0 ? fi_getname(&end->ep->fid, end->address, &bytes) : rc;
}

int
end_close(struct end *end)
{
	struct fid *all[] = { end->ep != NULL ? &end->ep->fid : NULL,
			      end->cq != NULL ? &end->cq->fid : NULL,
			      end->av != NULL ? &end->av->fid : NULL,
			      end->domain != NULL ? &end->domain->fid : NULL,
			      end->fabric != NULL ? &end->fabric->fid : NULL };
	int rc = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] != NULL && rc == 0)
			rc = fi_close(all[i]);
	if (end->info != NULL)
		fi_freeinfo(end->info);
	return rc;
}

fi_addr_t
end_know(struct end *end, const uint8_t *address)
{
	fi_addr_t known = FI_ADDR_NOTAVAIL;

	return fi_av_insert(end->av, address, 1, &known, 0, NULL) == 1 ? known : FI_ADDR_NOTAVAIL;
}
