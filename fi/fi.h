/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * fi: the channel as a provider of libfabric, named "lull". It is outside of libfabric and uses its
 * public headers alone.
 *
 *     provider.c  the entry            domain.c     domain, and its progress
 *     param.c     settings             av.c         addresses
 *     info.c      what is offered      cq.c         completions
 *     fabric.c    fabric, event queue  endpoint.c   endpoint, its channel, its peers
 *     calls.c     libfabric's tables   transfer.c   send, receive, peek, claim, cancel
 *     report.c    figures at the end
 *
 * An endpoint is a channel with a name of its own. An address is that of the channel. The channel
 * matches, sends again and rests; here calls are put into its words.
 *
 * Threads: any, as FI_THREAD_SAFE has it; what closes an object has it alone.
 * Memory:  of an endpoint at fi_enable(); queues of completions grow.
 */
#ifndef LULL_FI_H
#define LULL_FI_H

#include <pthread.h>
#include <stdatomic.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include <lull/channel.h>

#define LULL_FI_NAME "lull"
#define LULL_FI_VERSION FI_VERSION(0, 1)
#define LULL_FI_ADDRESS_SIZE LULL_CHANNEL_ADDRESS_SIZE
#define LULL_FI_INJECT_BYTES 1024
#define LULL_FI_TX_REQUESTS 8192
#define LULL_FI_RX_REQUESTS 16384
#define LULL_FI_TAG_MESSAGE (1ULL << 63) /* of messages without a tag: the rest is theirs */
#define LULL_FI_RAIL_SIZE 128
#define LULL_FI_PATH_SIZE 256

#define LULL_FI_WARN(...) FI_WARN(&lull_fi_provider, FI_LOG_CORE, __VA_ARGS__)

extern struct fi_provider lull_fi_provider;

/* ---- settings ---- */

struct lull_fi_settings {
	uint32_t rail_count; /* 0: nothing is configured */
	char rails[LULL_CHANNEL_RAILS_MAX][LULL_FI_RAIL_SIZE];
	char key_file[LULL_FI_PATH_SIZE]; /* "": none */
	enum lull_channel_security security;
	char governor[32];
	char report[LULL_FI_PATH_SIZE]; /* "": none */
	uint64_t max_rest_ns;           /* 0: spin */
	uint64_t peer_timeout_ns, connect_ns;
	uint32_t peers_max;
};
void lull_fi_params_define(void);
/** Reads variables and nothing else. @return 0, -FI_EINVAL with @p error, -FI_ENODATA: no rails */
int lull_fi_params_read(struct lull_fi_settings *settings, struct lull_error *error);

/* ---- objects ---- */

struct lull_fi_av_entry {
	uint8_t address[LULL_FI_ADDRESS_SIZE];
	bool used;
};
struct lull_fi_av {
	struct fid_av fid;
	struct lull_fi_domain *domain;
	pthread_mutex_t lock;
	struct lull_fi_av_entry *entries; /* by fi_addr_t */
	uint64_t count, room;
};

/* Of a completion queue; the same members as libfabric's. */
struct lull_fi_entry {
	struct fi_cq_err_entry is; /* err 0: no error */
	pthread_t told;            /* by -FI_EAVAIL */
	bool was_told;
};
struct lull_fi_cq {
	struct fid_cq fid;
	struct lull_fi_domain *domain;
	enum fi_cq_format format;
	pthread_mutex_t lock;
	struct lull_fi_entry *entries; /* a ring; room is a power of two */
	uint32_t first, count, room;
	struct lull_fi_entry *errors; /* that somebody was told of */
	uint32_t error_count, error_room;
};

enum lull_fi_request_state {
	LULL_FI_FREE,
	LULL_FI_POSTED,
	LULL_FI_CLAIMED,
};
/* A send or a receive. */
struct lull_fi_request {
	struct lull_fi_request *next;
	enum lull_fi_request_state state;
	void *context, *buffer;
	uint64_t flags; /* of its completion */
	uint64_t size_bytes, claim;
	bool send, silent;                   /* silent: no completion where it succeeds */
	uint8_t *inject;                     /* its copy, or NULL */
	struct lull_channel_message message; /* of a send that waits for room */
};
struct lull_fi_requests {
	struct lull_fi_request *all, *free;
	uint32_t count;
};

enum lull_fi_peer_state {
	LULL_FI_PEER_NONE,
	LULL_FI_PEER_BEGUN,
	LULL_FI_PEER_SELF,
	LULL_FI_PEER_GONE,
};
struct lull_fi_peer {
	enum lull_fi_peer_state state;
	uint32_t number;                      /* of the channel */
	struct lull_fi_request *first, *last; /* sends that wait for room or for the connection */
};

struct lull_fi_ep {
	struct fid_ep fid;
	struct lull_fi_domain *domain;
	struct lull_fi_ep *next; /* of its domain */
	struct lull_fi_av *av;
	struct lull_fi_cq *tx_cq, *rx_cq;
	bool tx_selective, rx_selective;
	bool directed; /* receives name their sources */
	uint64_t tx_flags, rx_flags;
	struct lull_channel *channel; /* NULL before fi_enable() */
	uint8_t address[LULL_FI_ADDRESS_SIZE];

	pthread_mutex_t lock; /* requests, peers */
	struct lull_fi_requests tx, rx;
	uint8_t *injects;
	struct lull_fi_peer *peers; /* by fi_addr_t */
	uint64_t peer_count;
	uint32_t waiting; /* sends in lists of peers */
};

struct lull_fi_domain {
	struct fid_domain fid;
	struct lull_fi_settings settings;
	bool automatic; /* the channel has a thread */
	atomic_uint users;
	atomic_uint resting;  /* threads in fi_cq_read() */
	uint32_t forks;       /* when it was made */
	pthread_mutex_t lock; /* the list */
	struct lull_fi_ep *eps;
};

/* ---- what files do for each other ---- */

int lull_fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		    const struct fi_info *hints, struct fi_info **info);
int lull_fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
int lull_fi_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
			void *context);
/** Take what ended. */
void lull_fi_domain_progress(struct lull_fi_domain *domain);
/**
 * The endpoint that runs; NULL: none, or several. Who rests on one of several does not see what
 * comes to the others.
 */
struct lull_fi_ep *lull_fi_domain_alone(struct lull_fi_domain *domain);
/** How often this process is a fork's child. What was made before that is its parent's. */
uint32_t lull_fi_forks(void);
/** This process has only a copy of the object: it must not touch what stands behind it. */
static inline bool
lull_fi_foreign(const struct lull_fi_domain *domain)
{
	return domain->forks != lull_fi_forks();
}
int lull_fi_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
		    void *context);
/** Copies the address; false: there is none. */
bool lull_fi_av_get(struct lull_fi_av *av, fi_addr_t at, uint8_t *address);
int lull_fi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
		    void *context);
/** Without memory the entry is lost, and this is said. */
void lull_fi_cq_push(struct lull_fi_cq *cq, const struct fi_cq_err_entry *entry);
int lull_fi_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		    void *context);
/** Completions of its channel become entries of its queues. */
void lull_fi_ep_progress(struct lull_fi_ep *ep, uint64_t limit_ns);
/** End the rests of other threads: there is something for them to see. */
void lull_fi_ep_wake(struct lull_fi_ep *ep);
/** Under ep->lock. @return NULL: none of that address, or no memory */
struct lull_fi_peer *lull_fi_ep_find(struct lull_fi_ep *ep, fi_addr_t address);
/** The channel's number of an address. @return 0, -FI_EAGAIN, -FI_EHOSTUNREACH, -FI_EINVAL */
ssize_t lull_fi_ep_peer(struct lull_fi_ep *ep, fi_addr_t address, uint32_t *number);
/** It is gone, and nothing else is begun with it; says so. Under ep->lock. */
void lull_fi_ep_gone(struct lull_fi_ep *ep, struct lull_fi_peer *peer);
/** The same of the peer that the channel knows by this number. */
void lull_fi_ep_lost(struct lull_fi_ep *ep, uint32_t number);
/** Sends that wait. */
void lull_fi_transfer_flush(struct lull_fi_ep *ep);
/* What one call says. */
struct lull_fi_transfer {
	uint64_t tag, ignore, data, flags;
	fi_addr_t address;
	void *context;
	bool tagged;
};
/** Never waits. @return 0, a negative FI_E number */
ssize_t lull_fi_transfer_send(struct lull_fi_ep *ep, const void *buffer, size_t len,
			      const struct lull_fi_transfer *transfer);
ssize_t lull_fi_transfer_receive(struct lull_fi_ep *ep, void *buffer, size_t len,
				 const struct lull_fi_transfer *transfer);
void lull_fi_transfer_done(struct lull_fi_ep *ep, const struct lull_channel_completion *done);
ssize_t lull_fi_transfer_cancel(fid_t fid, void *context);
/** Write FI_LULL_REPORT, if it is wanted, before the channel of @p ep closes. */
void lull_fi_report(struct lull_fi_ep *ep);
/** Free what it keeps. */
void lull_fi_report_end(void);
extern struct fi_ops_msg lull_fi_msg_ops;
extern struct fi_ops_tagged lull_fi_tagged_ops;

/* What libfabric's tables want and nobody offers. */
int lull_fi_no_bind(struct fid *fid, struct fid *other, uint64_t flags);
int lull_fi_no_control(struct fid *fid, int command, void *arg);
int lull_fi_no_ops(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context);

#endif
