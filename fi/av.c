/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel/address.h"
#include "fi.h"

#define AV_ROOM 64

static bool
av_room(struct lull_fi_av *av, uint64_t count)
{
	struct lull_fi_av_entry *entries;
	uint64_t room = LULL_MAX(av->room, (uint64_t)AV_ROOM);

	while (room < count)
		room *= 2;
	if (room == av->room)
		return true;
	entries = realloc(av->entries, room * sizeof(*entries));
	if (entries == NULL)
		return false;
	av->entries = entries;
	av->room = room;
	return true;
}

static int
av_insert(struct fid_av *fid, const void *addresses, size_t count, fi_addr_t *out, uint64_t flags,
	  void *context)
{
	struct lull_fi_av *av = container_of(fid, struct lull_fi_av, fid);
	const uint8_t *address = addresses;
	struct lull_bundle_target target;
	int inserted = 0;

	(void)context;
	(void)flags;
	pthread_mutex_lock(&av->lock);
	for (size_t i = 0; i < count; i++, address += LULL_FI_ADDRESS_SIZE) {
		bool good = channel_address_read(address, LULL_FI_ADDRESS_SIZE, &target) == 0 &&
			    av_room(av, av->count + 1);

		if (out != NULL)
			out[i] = good ? av->count : FI_ADDR_NOTAVAIL;
		if (!good)
			continue;
		av->entries[av->count].used = true;
		memcpy(av->entries[av->count++].address, address, LULL_FI_ADDRESS_SIZE);
		inserted++;
	}
	pthread_mutex_unlock(&av->lock);
	return inserted;
}

static int
av_insertsvc(struct fid_av *fid, const char *node, const char *service, fi_addr_t *out,
	     uint64_t flags, void *context)
{
	(void)fid;
	(void)node;
	(void)service;
	(void)out;
	(void)flags;
	(void)context;
	return -FI_ENOSYS;
}

static int
av_insertsym(struct fid_av *fid, const char *node, size_t nodes, const char *service,
	     size_t services, fi_addr_t *out, uint64_t flags, void *context)
{
	(void)nodes;
	(void)services;
	return av_insertsvc(fid, node, service, out, flags, context);
}

static int
av_remove(struct fid_av *fid, fi_addr_t *addresses, size_t count, uint64_t flags)
{
	struct lull_fi_av *av = container_of(fid, struct lull_fi_av, fid);
	int rc = 0;

	(void)flags;
	pthread_mutex_lock(&av->lock);
	for (size_t i = 0; i < count; i++) {
		if (addresses[i] < av->count && av->entries[addresses[i]].used)
			av->entries[addresses[i]].used = false;
		else
			rc = -FI_EINVAL;
	}
	pthread_mutex_unlock(&av->lock);
	return rc;
}

bool
lull_fi_av_get(struct lull_fi_av *av, fi_addr_t at, uint8_t *address)
{
	bool there;

	pthread_mutex_lock(&av->lock);
	there = at < av->count && av->entries[at].used;
	if (there)
		memcpy(address, av->entries[at].address, LULL_FI_ADDRESS_SIZE);
	pthread_mutex_unlock(&av->lock);
	return there;
}

static int
av_lookup(struct fid_av *fid, fi_addr_t at, void *address, size_t *bytes)
{
	struct lull_fi_av *av = container_of(fid, struct lull_fi_av, fid);
	uint8_t found[LULL_FI_ADDRESS_SIZE];

	if (!lull_fi_av_get(av, at, found))
		return -FI_EINVAL;
	memcpy(address, found, LULL_MIN(*bytes, sizeof(found)));
	*bytes = sizeof(found);
	return 0;
}

static const char *
av_straddr(struct fid_av *fid, const void *address, char *text, size_t *bytes)
{
	struct lull_bundle_target target;
	int len;

	(void)channel_address_read(address, LULL_FI_ADDRESS_SIZE, &target);
	len = snprintf(text, *bytes, "lull://%s", target.name);
	(void)fid;
	*bytes = (size_t)len + 1;
	return text;
}

static int
av_set(struct fid_av *fid, struct fi_av_set_attr *attr, struct fid_av_set **set, void *context)
{
	(void)fid;
	(void)attr;
	(void)set;
	(void)context;
	return -FI_ENOSYS;
}

static int
av_close(struct fid *fid)
{
	struct lull_fi_av *av = container_of(fid, struct lull_fi_av, fid.fid);

	if (lull_fi_foreign(av->domain))
		return 0;
	atomic_fetch_sub(&av->domain->users, 1);
	pthread_mutex_destroy(&av->lock);
	free(av->entries);
	free(av);
	return 0;
}

/* Inserts are done at once, so nobody needs an event. */
static int
av_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
	(void)fid;
	(void)flags;
	return other->fclass == FI_CLASS_EQ ? 0 : -FI_EINVAL;
}

static struct fi_ops av_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = av_close,
	.bind = av_bind,
	.control = lull_fi_no_control,
	.ops_open = lull_fi_no_ops,
};
static struct fi_ops_av av_ops = {
	.size = sizeof(struct fi_ops_av),
	.insert = av_insert,
	.insertsvc = av_insertsvc,
	.insertsym = av_insertsym,
	.remove = av_remove,
	.lookup = av_lookup,
	.straddr = av_straddr,
	.av_set = av_set,
};

int
lull_fi_av_open(struct fid_domain *fid, struct fi_av_attr *attr, struct fid_av **out, void *context)
{
	struct lull_fi_domain *domain = container_of(fid, struct lull_fi_domain, fid);
	struct lull_fi_av *av;

	if (attr != NULL &&
	    (attr->name != NULL || attr->rx_ctx_bits != 0 || (attr->flags & FI_EVENT) != 0))
		return -FI_ENOSYS;
	av = calloc(1, sizeof(*av));
	if (av == NULL)
		return -FI_ENOMEM;
	av->domain = domain;
	pthread_mutex_init(&av->lock, NULL);
	av->fid = (struct fid_av){
		.fid = { .fclass = FI_CLASS_AV, .context = context, .ops = &av_fi_ops },
		.ops = &av_ops
	};
	if (attr != NULL && attr->type == FI_AV_UNSPEC)
		attr->type = FI_AV_TABLE;
	atomic_fetch_add(&domain->users, 1);
	*out = &av->fid;
	return 0;
}
