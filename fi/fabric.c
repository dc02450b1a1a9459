/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabric, and an event queue that stays empty: nothing here is asynchronous. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fi.h"

#define EQ_WAIT_US 1000

struct fi_fabric_object {
	struct fid_fabric fid;
};
struct fi_eq_object {
	struct fid_eq fid;
};

/* ---- what nobody offers ---- */

int
lull_fi_no_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
	(void)fid;
	(void)other;
	(void)flags;
	return -FI_ENOSYS;
}

int
lull_fi_no_control(struct fid *fid, int command, void *arg)
{
	(void)fid;
	(void)command;
	(void)arg;
	return -FI_ENOSYS;
}

int
lull_fi_no_ops(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context)
{
	(void)fid;
	(void)name;
	(void)flags;
	(void)ops;
	(void)context;
	return -FI_ENOSYS;
}

/* ---- event queue ---- */

static ssize_t
eq_read(struct fid_eq *eq, uint32_t *event, void *buffer, size_t len, uint64_t flags)
{
	(void)eq;
	(void)event;
	(void)buffer;
	(void)len;
	(void)flags;
	return -FI_EAGAIN;
}

static ssize_t
eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *buffer, uint64_t flags)
{
	(void)eq;
	(void)buffer;
	(void)flags;
	return -FI_EAGAIN;
}

static ssize_t
eq_write(struct fid_eq *eq, uint32_t event, const void *buffer, size_t len, uint64_t flags)
{
	(void)eq;
	(void)event;
	(void)buffer;
	(void)len;
	(void)flags;
	return -FI_ENOSYS;
}

static ssize_t
eq_sread(struct fid_eq *eq, uint32_t *event, void *buffer, size_t len, int timeout_ms,
	 uint64_t flags)
{
	(void)eq;
	(void)event;
	(void)buffer;
	(void)len;
	(void)flags;
	for (int ms = 0; timeout_ms < 0 || ms < timeout_ms; ms++)
		usleep(EQ_WAIT_US);
	return -FI_EAGAIN;
}

static const char *
eq_strerror(struct fid_eq *eq, int prov_errno, const void *data, char *buffer, size_t len)
{
	(void)eq;
	(void)data;
	if (buffer != NULL && len > 0)
		strncpy(buffer, fi_strerror(prov_errno), len - 1);
	return fi_strerror(prov_errno);
}

static int
object_close(struct fid *fid)
{
	free(fid);
	return 0;
}

static struct fi_ops object_ops = {
	.size = sizeof(struct fi_ops),
	.close = object_close,
	.bind = lull_fi_no_bind,
	.control = lull_fi_no_control,
	.ops_open = lull_fi_no_ops,
};
static struct fi_ops_eq eq_ops = {
	.size = sizeof(struct fi_ops_eq),
	.read = eq_read,
	.readerr = eq_readerr,
	.write = eq_write,
	.sread = eq_sread,
	.strerror = eq_strerror,
};

static int
fabric_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **out,
	       void *context)
{
	struct fi_eq_object *eq;

	(void)fabric;
	if (attr != NULL && attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC)
		return -FI_ENOSYS;
	eq = calloc(1, sizeof(*eq));
	if (eq == NULL)
		return -FI_ENOMEM;
	eq->fid = (struct fid_eq){
		.fid = { .fclass = FI_CLASS_EQ, .context = context, .ops = &object_ops },
		.ops = &eq_ops
	};
	*out = &eq->fid;
	return 0;
}

/* ---- fabric ---- */

static int
fabric_passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		  void *context)
{
	(void)fabric;
	(void)info;
	(void)pep;
	(void)context;
	return -FI_ENOSYS;
}

static int
fabric_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr, struct fid_wait **wait)
{
	(void)fabric;
	(void)attr;
	(void)wait;
	return -FI_ENOSYS;
}

static int
fabric_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	(void)fabric;
	(void)fids;
	(void)count;
	return -FI_ENOSYS;
}

static int
fabric_domain2(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
	       uint64_t flags, void *context)
{
	return flags == 0 ? lull_fi_domain_open(fabric, info, domain, context) : -FI_EINVAL;
}

static struct fi_ops_fabric fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = lull_fi_domain_open,
	.passive_ep = fabric_passive_ep,
	.eq_open = fabric_eq_open,
	.wait_open = fabric_wait_open,
	.trywait = fabric_trywait,
	.domain2 = fabric_domain2,
};

int
lull_fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **out, void *context)
{
	struct fi_fabric_object *fabric;

	if (attr->name != NULL && strcmp(attr->name, LULL_FI_NAME) != 0)
		return -FI_ENODATA;
	fabric = calloc(1, sizeof(*fabric));
	if (fabric == NULL)
		return -FI_ENOMEM;
	fabric->fid = (struct fid_fabric){
		.fid = { .fclass = FI_CLASS_FABRIC, .context = context, .ops = &object_ops },
		.ops = &fabric_ops,
		.api_version = attr->api_version
	};
	*out = &fabric->fid;
	return 0;
}
