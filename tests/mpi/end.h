/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * End: an endpoint of the provider with all that it needs, by the public calls of libfabric alone.
 */
#ifndef LULL_TEST_MPI_END_H
#define LULL_TEST_MPI_END_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#define END_ADDRESS_BYTES 64

struct end {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	uint8_t address[END_ADDRESS_BYTES];
};

/** What Open MPI asks for. NULL: it is not offered. */
struct fi_info *end_info(void);
/** Up to its domain. @return 0, a negative FI_E number; end_close() is needed in either case */
int end_domain(struct end *end);
/** Enabled. @return as end_domain() */
int end_open(struct end *end);
/** @return 0, or what the first close that failed says */
int end_close(struct end *end);
/** What @p end calls the endpoint at an address. */
fi_addr_t end_know(struct end *end, const uint8_t *address);
uint64_t end_clock_ns(void);

#endif
