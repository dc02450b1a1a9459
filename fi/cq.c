/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions: entries in the order in which operations ended. One with an error stops a read with
 * -FI_EAVAIL; it is kept for the thread that was told, whoever else reads meanwhile, as callers end
 * the process when their next fi_cq_readerr() has nothing for them.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lull/rest.h>

#include "fi.h"

#define CQ_ROOM 256u
#define CQ_VAIN 200u /* reads in vain before a thread rests */
/*
 * A caller that waits and one that only asks between two pieces of its work look alike. So rests
 * begin short, with some reads between two of them, and double only after many: who asks a thousand
 * times between two messages loses milliseconds, and who waits for long rests for long.
 */
#define CQ_LOOKS 8u /* reads from one rest to the next, until rests are as long as they may be */
#define CQ_DOUBLES (48 * CQ_LOOKS)
#define CQ_VAIN_MAX (CQ_VAIN + 16 * CQ_DOUBLES)
#define CQ_REST_NS (32 * LULL_NS_PER_US)
/*
 * Between two reads of a thread that waits. Who does more in between has work to go on with, unless
 * it was just held up: each time takes a part of its reads back.
 */
#define CQ_GAP_NS (20 * LULL_NS_PER_US)

/* Reads in vain by this thread, in a row. */
static _Thread_local struct {
	uint32_t vain;
	uint64_t read_ns; /* the end of the last */
} cq_reader;

/* ---- entries ---- */

static bool
cq_grow(struct lull_fi_cq *cq)
{
	uint32_t room = LULL_MAX(cq->room * 2, CQ_ROOM);
	struct lull_fi_entry *entries = calloc(room, sizeof(*entries));

	if (entries == NULL)
		return false;
	for (uint32_t i = 0; i < cq->count; i++)
		entries[i] = cq->entries[(cq->first + i) & (cq->room - 1)];
	free(cq->entries);
	cq->entries = entries;
	cq->room = room;
	cq->first = 0;
	return true;
}

void
lull_fi_cq_push(struct lull_fi_cq *cq, const struct fi_cq_err_entry *entry)
{
	pthread_mutex_lock(&cq->lock);
	if (cq->count < cq->room || cq_grow(cq))
		cq->entries[(cq->first + cq->count++) & (cq->room - 1)] =
			(struct lull_fi_entry){ .is = *entry };
	else
		LULL_FI_WARN("no memory for a completion\n");
	pthread_mutex_unlock(&cq->lock);
}

static size_t
cq_entry_bytes(const struct lull_fi_cq *cq)
{
	switch (cq->format) {
	case FI_CQ_FORMAT_CONTEXT:
		return sizeof(struct fi_cq_entry);
	case FI_CQ_FORMAT_MSG:
		return sizeof(struct fi_cq_msg_entry);
	case FI_CQ_FORMAT_DATA:
		return sizeof(struct fi_cq_data_entry);
	default:
		return sizeof(struct fi_cq_tagged_entry);
	}
}

/* The formats begin alike: each is the one before with more behind it. */
static void
cq_write(const struct lull_fi_cq *cq, const struct fi_cq_err_entry *entry, uint8_t *buffer)
{
	const struct fi_cq_tagged_entry tagged = { .op_context = entry->op_context,
						   .flags = entry->flags,
						   .len = entry->len,
						   .buf = entry->buf,
						   .data = entry->data,
						   .tag = entry->tag };

	memcpy(buffer, &tagged, cq_entry_bytes(cq));
}

/* Keep the first for this thread. False: there is no memory, it stays the first. */
static bool
cq_tell(struct lull_fi_cq *cq)
{
	if (cq->error_count == cq->error_room) {
		uint32_t room = cq->error_room * 2 + 8;
		struct lull_fi_entry *errors = realloc(cq->errors, room * sizeof(*errors));

		if (errors == NULL)
			return false;
		cq->errors = errors;
		cq->error_room = room;
	}
	cq->errors[cq->error_count] = cq->entries[cq->first];
	cq->errors[cq->error_count].told = pthread_self();
	cq->error_count++;
	cq->first = (cq->first + 1) & (cq->room - 1);
	cq->count--;
	return true;
}

static ssize_t
cq_take(struct lull_fi_cq *cq, uint8_t *buffer, size_t count)
{
	ssize_t taken = 0;

	pthread_mutex_lock(&cq->lock);
	while (cq->count > 0 && (size_t)taken < count) {
		const struct fi_cq_err_entry *entry = &cq->entries[cq->first].is;

		if (entry->err != 0)
			break;
		cq_write(cq, entry, buffer + (size_t)taken * cq_entry_bytes(cq));
		cq->first = (cq->first + 1) & (cq->room - 1);
		cq->count--;
		taken++;
	}
	if (taken == 0 && cq->count > 0 && cq->entries[cq->first].is.err != 0)
		taken = cq_tell(cq) ? -FI_EAVAIL : -FI_EAGAIN;
	pthread_mutex_unlock(&cq->lock);
	return taken == 0 ? -FI_EAGAIN : taken;
}

/* ---- reads ---- */

/* How long to rest after so many reads in vain. */
static uint64_t
cq_rest_ns(uint32_t vain, uint64_t max_ns)
{
	uint64_t rest_ns;

	if (vain < CQ_VAIN)
		return 0;
	rest_ns = CQ_REST_NS << (vain - CQ_VAIN) / CQ_DOUBLES;
	if (rest_ns >= max_ns)
		return max_ns;
	return vain % CQ_LOOKS == 0 ? rest_ns : 0;
}

/*
 * No lock is held: other threads send, receive and read meanwhile, and what they do ends the rest.
 * What they did before is seen, as they look for who rests after that.
 */
static ssize_t
cq_rest(struct lull_fi_cq *cq, uint8_t *buffer, size_t count, uint64_t limit_ns)
{
	struct lull_fi_ep *ep = lull_fi_domain_alone(cq->domain);
	uint64_t changes;
	ssize_t taken;

	if (ep == NULL)
		return -FI_EAGAIN;
	atomic_fetch_add(&cq->domain->resting, 1);
	changes = lull_channel_changes(ep->channel);
	taken = cq_take(cq, buffer, count);
	if (taken == -FI_EAGAIN)
		(void)lull_channel_rest(ep->channel, changes, limit_ns);
	atomic_fetch_sub(&cq->domain->resting, 1);
	if (taken != -FI_EAGAIN)
		return taken;
	lull_fi_ep_progress(ep, 0);
	return cq_take(cq, buffer, count);
}

static ssize_t
cq_read_slowly(struct lull_fi_cq *cq, uint8_t *buffer, size_t count)
{
	uint64_t limit_ns;
	ssize_t taken;

	if (lull_clock_ns() - cq_reader.read_ns > CQ_GAP_NS)
		cq_reader.vain -= LULL_MIN(cq_reader.vain, LULL_MAX(cq_reader.vain, CQ_VAIN) / 4u);
	lull_fi_domain_progress(cq->domain);
	taken = cq_take(cq, buffer, count);
	limit_ns = cq_rest_ns(cq_reader.vain, cq->domain->settings.max_rest_ns);
	if (taken == -FI_EAGAIN && limit_ns > 0)
		taken = cq_rest(cq, buffer, count, limit_ns);
	cq_reader.vain = LULL_MIN(cq_reader.vain + 1, CQ_VAIN_MAX);
	cq_reader.read_ns = lull_clock_ns();
	return taken;
}

static ssize_t
cq_read(struct fid_cq *fid, void *buffer, size_t count)
{
	struct lull_fi_cq *cq = container_of(fid, struct lull_fi_cq, fid);
	ssize_t taken;

	if (lull_fi_foreign(cq->domain))
		return -FI_EOPBADSTATE;
	taken = cq_take(cq, buffer, count);
	if (taken == -FI_EAGAIN)
		taken = cq_read_slowly(cq, buffer, count);
	if (taken != -FI_EAGAIN)
		cq_reader.vain = 0;
	return taken;
}

/* No FI_SOURCE: who sent it is not told. */
static ssize_t
cq_readfrom(struct fid_cq *fid, void *buffer, size_t count, fi_addr_t *sources)
{
	ssize_t taken = cq_read(fid, buffer, count);

	for (ssize_t i = 0; sources != NULL && i < taken; i++)
		sources[i] = FI_ADDR_NOTAVAIL;
	return taken;
}

/* The caller's own one; otherwise the first that nobody was told of. */
static ssize_t
cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buffer, uint64_t flags)
{
	struct lull_fi_cq *cq = container_of(fid, struct lull_fi_cq, fid);
	ssize_t taken = -FI_EAGAIN;
	uint32_t at = 0;

	(void)flags;
	if (lull_fi_foreign(cq->domain))
		return -FI_EOPBADSTATE;
	pthread_mutex_lock(&cq->lock);
	while (at < cq->error_count && !pthread_equal(cq->errors[at].told, pthread_self()))
		at++;
	if (at == cq->error_count && cq->count > 0 && cq->entries[cq->first].is.err != 0)
		(void)cq_tell(cq);
	if (at < cq->error_count) {
		*buffer = cq->errors[at].is;
		cq->error_count--;
		memmove(&cq->errors[at], &cq->errors[at + 1],
			(cq->error_count - at) * sizeof(*cq->errors));
		taken = 1;
	}
	pthread_mutex_unlock(&cq->lock);
	return taken;
}

static ssize_t
cq_no_sread(struct fid_cq *fid, void *buffer, size_t count, const void *condition, int timeout_ms)
{
	(void)fid;
	(void)buffer;
	(void)count;
	(void)condition;
	(void)timeout_ms;
	return -FI_ENOSYS;
}

static ssize_t
cq_no_sreadfrom(struct fid_cq *fid, void *buffer, size_t count, fi_addr_t *sources,
		const void *condition, int timeout_ms)
{
	(void)sources;
	return cq_no_sread(fid, buffer, count, condition, timeout_ms);
}

static int
cq_no_signal(struct fid_cq *fid)
{
	(void)fid;
	return -FI_ENOSYS;
}

static const char *
cq_strerror(struct fid_cq *fid, int prov_errno, const void *data, char *buffer, size_t len)
{
	const char *text = fi_strerror(prov_errno);

	(void)fid;
	(void)data;
	if (buffer != NULL && len > 0) {
		strncpy(buffer, text, len - 1);
		buffer[len - 1] = '\0';
	}
	return text;
}

static int
cq_close(struct fid *fid)
{
	struct lull_fi_cq *cq = container_of(fid, struct lull_fi_cq, fid.fid);

	if (lull_fi_foreign(cq->domain))
		return 0;
	atomic_fetch_sub(&cq->domain->users, 1);
	pthread_mutex_destroy(&cq->lock);
	free(cq->entries);
	free(cq->errors);
	free(cq);
	return 0;
}

static struct fi_ops cq_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = cq_close,
	.bind = lull_fi_no_bind,
	.control = lull_fi_no_control,
	.ops_open = lull_fi_no_ops,
};
static struct fi_ops_cq cq_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = cq_read,
	.readfrom = cq_readfrom,
	.readerr = cq_readerr,
	.sread = cq_no_sread,
	.sreadfrom = cq_no_sreadfrom,
	.signal = cq_no_signal,
	.strerror = cq_strerror,
};

int
lull_fi_cq_open(struct fid_domain *fid, struct fi_cq_attr *attr, struct fid_cq **out, void *context)
{
	struct lull_fi_domain *domain = container_of(fid, struct lull_fi_domain, fid);
	enum fi_wait_obj wait = attr != NULL ? attr->wait_obj : FI_WAIT_NONE;
	struct lull_fi_cq *cq;

	if (wait != FI_WAIT_NONE || (attr != NULL && attr->format > FI_CQ_FORMAT_TAGGED))
		return -FI_ENOSYS;
	cq = calloc(1, sizeof(*cq));
	if (cq == NULL)
		return -FI_ENOMEM;
	cq->domain = domain;
	cq->format = attr != NULL ? attr->format : FI_CQ_FORMAT_UNSPEC;
	if (cq->format == FI_CQ_FORMAT_UNSPEC)
		cq->format = FI_CQ_FORMAT_TAGGED;
	pthread_mutex_init(&cq->lock, NULL);
	cq->fid = (struct fid_cq){
		.fid = { .fclass = FI_CLASS_CQ, .context = context, .ops = &cq_fi_ops },
		.ops = &cq_ops
	};
	atomic_fetch_add(&domain->users, 1);
	*out = &cq->fid;
	return 0;
}
