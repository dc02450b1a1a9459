/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "fi.h"

#define DOMAIN_EPS_MAX 64

static int
domain_close(struct fid *fid)
{
	struct lull_fi_domain *domain = container_of(fid, struct lull_fi_domain, fid.fid);

	if (lull_fi_foreign(domain))
		return 0;
	if (atomic_load(&domain->users) > 0)
		return -FI_EBUSY;
	pthread_mutex_destroy(&domain->lock);
	free(domain);
	return 0;
}

/* Not with the lock: it keeps nobody from anything. */
void
lull_fi_domain_progress(struct lull_fi_domain *domain)
{
	struct lull_fi_ep *eps[DOMAIN_EPS_MAX];
	uint32_t count = 0;

	pthread_mutex_lock(&domain->lock);
	for (struct lull_fi_ep *ep = domain->eps; ep != NULL && count < DOMAIN_EPS_MAX;
	     ep = ep->next)
		eps[count++] = ep;
	pthread_mutex_unlock(&domain->lock);
	for (uint32_t i = 0; i < count; i++)
		lull_fi_ep_progress(eps[i], 0);
}

struct lull_fi_ep *
lull_fi_domain_alone(struct lull_fi_domain *domain)
{
	struct lull_fi_ep *found = NULL;
	uint32_t count = 0;

	pthread_mutex_lock(&domain->lock);
	for (struct lull_fi_ep *ep = domain->eps; ep != NULL; ep = ep->next) {
		if (ep->channel == NULL)
			continue;
		found = ep;
		count++;
	}
	pthread_mutex_unlock(&domain->lock);
	return count == 1 ? found : NULL;
}

/* ---- what nobody offers ---- */

static int
domain_no_ep(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
	(void)domain;
	(void)info;
	(void)ep;
	(void)context;
	return -FI_ENOSYS;
}

static int
domain_no_cntr(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **cntr,
	       void *context)
{
	(void)domain;
	(void)attr;
	(void)cntr;
	(void)context;
	return -FI_ENOSYS;
}

static int
domain_no_poll(struct fid_domain *domain, struct fi_poll_attr *attr, struct fid_poll **poll)
{
	(void)domain;
	(void)attr;
	(void)poll;
	return -FI_ENOSYS;
}

static int
domain_no_stx(struct fid_domain *domain, struct fi_tx_attr *attr, struct fid_stx **stx,
	      void *context)
{
	(void)domain;
	(void)attr;
	(void)stx;
	(void)context;
	return -FI_ENOSYS;
}

static int
domain_no_srx(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **ep, void *context)
{
	(void)domain;
	(void)attr;
	(void)ep;
	(void)context;
	return -FI_ENOSYS;
}

static int
domain_ep2(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, uint64_t flags,
	   void *context)
{
	return flags == 0 ? lull_fi_ep_open(domain, info, ep, context) : -FI_EINVAL;
}

/* mr_mode is 0: nobody has to register memory, and remote keys do not exist. */
static int
mr_reg(struct fid *fid, const void *buffer, size_t len, uint64_t access, uint64_t offset,
       uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
	(void)fid;
	(void)buffer;
	(void)len;
	(void)access;
	(void)offset;
	(void)key;
	(void)flags;
	(void)mr;
	(void)context;
	return -FI_ENOSYS;
}

static int
mr_regv(struct fid *fid, const struct iovec *iov, size_t count, uint64_t access, uint64_t offset,
	uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
	(void)iov;
	(void)count;
	return mr_reg(fid, NULL, 0, access, offset, key, flags, mr, context);
}

static int
mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags, struct fid_mr **mr)
{
	(void)attr;
	return mr_reg(fid, NULL, 0, 0, 0, 0, flags, mr, NULL);
}

static struct fi_ops domain_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = domain_close,
	.bind = lull_fi_no_bind,
	.control = lull_fi_no_control,
	.ops_open = lull_fi_no_ops,
};
static struct fi_ops_domain domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = lull_fi_av_open,
	.cq_open = lull_fi_cq_open,
	.endpoint = lull_fi_ep_open,
	.scalable_ep = domain_no_ep,
	.cntr_open = domain_no_cntr,
	.poll_open = domain_no_poll,
	.stx_ctx = domain_no_stx,
	.srx_ctx = domain_no_srx,
	.endpoint2 = domain_ep2,
};
static struct fi_ops_mr domain_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = mr_reg,
	.regv = mr_regv,
	.regattr = mr_regattr,
};

int
lull_fi_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **out,
		    void *context)
{
	struct lull_fi_domain *domain = calloc(1, sizeof(*domain));
	struct lull_error error;
	int rc;

	(void)fabric;
	if (domain == NULL)
		return -FI_ENOMEM;
	rc = lull_fi_params_read(&domain->settings, &error);
	if (rc != 0) {
		if (rc != -FI_ENODATA)
			LULL_FI_WARN("%s\n", error.text);
		free(domain);
		return rc;
	}
	domain->forks = lull_fi_forks();
	domain->automatic = info->domain_attr->data_progress == FI_PROGRESS_AUTO;
	pthread_mutex_init(&domain->lock, NULL);
	domain->fid = (struct fid_domain){
		.fid = { .fclass = FI_CLASS_DOMAIN, .context = context, .ops = &domain_fi_ops },
		.ops = &domain_ops,
		.mr = &domain_mr_ops
	};
	*out = &domain->fid;
	return 0;
}
