/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpdk:PORT. Where the kernel serves the interface as well, a socket holds each UDP port: bound, so
 * that the kernel does not answer "unreachable" and nobody else takes it, joined to its group, and
 * with a filter that drops all, so that nothing queues. Everything else stays with the kernel: it
 * sees all packets anyway (af_packet), a filter passes them on (af_xdp), or a TAP does.
 */
#include <errno.h>
#include <linux/filter.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <lull/rest.h>

#include "check_port.h"
#include "claims.h"
#include "error.h"
#include "net/ingest.h"
#include "kernel_check.h"
#include "kernel_socket.h"

#define RING_PKTS 16384
#define PORT_FIRST 20200 /* for gvsp with control, where no kernel hands ports out */

_Static_assert(CAMERA_BURST >= LULL_INGEST_BURST, "a burst of the port fits");

struct dpdk {
	struct lull_ingest *ingest;
	struct lull_ingest_look look;
	struct kernel_interface interface; /* behind the port; index 0: none */
	uint64_t unclaimed;
	uint32_t held_count, rule_count, asked_count;
	int held[LULL_CAMERA_STREAMS_MAX];
	struct lull_ingest_packet packets[LULL_INGEST_BURST];
	struct camera_claims claims;
};

static void
dpdk_close(void *state)
{
	struct dpdk *dpdk = state;

	for (uint32_t i = 0; i < dpdk->held_count; i++)
		close(dpdk->held[i]);
	lull_ingest_close(dpdk->ingest);
	free(dpdk);
}

/* A program that a run left behind keeps the port from being opened, or takes what it should get.
 */
static int
dpdk_open_stray(const char *argument, char *error)
{
	struct camera_findings findings = { .count_max = 1 };
	struct lull_camera_finding finding = { .grade = 0 };
	struct kernel_interface interface;
	char name[IF_NAMESIZE] = "";

	findings.lines = &finding;
	if (sscanf(argument, "af_xdp=%15[^,]", name) != 1 ||
	    kernel_interface_find(name, &interface, NULL) != 0)
		return 0;
	kernel_check_interface(&interface, &findings);
	if (finding.grade != CAMERA_WRONG)
		return 0;
	return camera_error(error, -EBUSY, "%.120s; %.100s", finding.text, finding.remedy);
}

static int
dpdk_open(const struct lull_camera_config *config, const char *argument, void **state, char *error)
{
	struct dpdk *dpdk = calloc(1, sizeof(*dpdk));
	struct lull_ingest_config ingest = {
		.program = config->program,
		.device = argument,
		.eal = config->eal,
		.ring_pkts = config->ring_pkts != 0 ? config->ring_pkts : RING_PKTS,
	};
	char name[IF_NAMESIZE];
	int rc;

	if (dpdk == NULL)
		return camera_error(error, -ENOMEM, "no memory for a port");
	rc = config->unchecked ? 0 : dpdk_open_stray(argument, error);
	if (rc == 0)
		rc = lull_ingest_open(&ingest, &dpdk->ingest, error);
	if (rc != 0) {
		free(dpdk);
		return rc;
	}
	lull_ingest_look(dpdk->ingest, &dpdk->look);
	if (dpdk->look.if_index != 0 && if_indextoname(dpdk->look.if_index, name) != NULL)
		kernel_interface_find(name, &dpdk->interface, NULL);
	*state = dpdk;
	return 0;
}

/* ---- streams ---- */

static int
dpdk_hold(struct dpdk *dpdk, struct camera_claim *claim, char *error)
{
	struct sock_filter drop = { .code = BPF_RET | BPF_K, .k = 0 };
	struct sock_fprog program = { .len = 1, .filter = &drop };
	struct kernel_socket held;
	int rc;

	rc = kernel_socket_open(&held, &dpdk->interface, claim, 0, claim->first != claim->index,
				error);
	if (rc != 0)
		return rc;
	if (setsockopt(held.fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) != 0) {
		close(held.fd);
		return camera_error(error, -errno, "no filter for port %u: %s", claim->port,
				    strerror(errno));
	}
	dpdk->held[dpdk->held_count++] = held.fd;
	return 0;
}

static void
dpdk_steer(struct dpdk *dpdk, const struct camera_claim *claim)
{
	bool any = camera_ip_is_any(&claim->address), v4 = camera_ip_is4(&claim->address);
	struct lull_ingest_rule rule = { .ether_type = claim->ether_type };

	if (!claim->ethernet)
		rule = (struct lull_ingest_rule){
			.port = claim->port,
			.address = any ? NULL : claim->address.bytes + (v4 ? 12 : 0),
			.address_bytes = v4 ? 4 : 16,
		};
	dpdk->asked_count++;
	if (lull_ingest_steer(dpdk->ingest, &rule) == 0)
		dpdk->rule_count++;
}

static int
dpdk_claim(void *state, struct camera_claim *claim, char *error)
{
	struct dpdk *dpdk = state;
	int rc = 0;

	if (!claim->ethernet && dpdk->look.kernel_beside && dpdk->interface.index != 0)
		rc = dpdk_hold(dpdk, claim, error);
	else if (!claim->ethernet && claim->port == 0)
		claim->port = (uint16_t)(PORT_FIRST + claim->index);
	if (rc != 0)
		return rc;
	camera_claims_add(&dpdk->claims, claim);
	dpdk_steer(dpdk, claim);
	return 0;
}

static int
dpdk_start(void *state, char *error)
{
	(void)state;
	(void)error;
	return 0;
}

/* ---- packets ---- */

static void
dpdk_unclaim(struct dpdk *dpdk, uint32_t index)
{
	LULL_COUNTER_ADD(dpdk->unclaimed, 1);
	lull_ingest_except(dpdk->ingest, index);
}

static uint32_t
dpdk_receive(void *state, struct camera_packet *packets)
{
	struct dpdk *dpdk = state;
	uint32_t count = lull_ingest_receive(dpdk->ingest, dpdk->packets), used = 0;
	uint64_t now_ns;

	if (count == 0)
		return 0;
	now_ns = lull_clock_ns();
	for (uint32_t i = 0; i < count; i++) {
		if (camera_claims_find(&dpdk->claims, dpdk->packets[i].data,
				       dpdk->packets[i].len_bytes, &packets[used]))
			packets[used++].stamp_ns = now_ns;
		else
			dpdk_unclaim(dpdk, i);
	}
	if (used == 0)
		lull_ingest_release(dpdk->ingest);
	return used;
}

static void
dpdk_release(void *state)
{
	struct dpdk *dpdk = state;

	lull_ingest_release(dpdk->ingest);
}

static uint64_t
dpdk_unclaimed(void *state)
{
	const struct dpdk *dpdk = state;

	return LULL_COUNTER_READ(dpdk->unclaimed);
}

static uint64_t
dpdk_missed(void *state)
{
	const struct dpdk *dpdk = state;

	return lull_ingest_missed(dpdk->ingest);
}

static void
dpdk_exceptions(void *state, struct lull_camera_totals *totals)
{
	const struct dpdk *dpdk = state;
	struct lull_ingest_exceptions exceptions;

	lull_ingest_exceptions(dpdk->ingest, &exceptions);
	totals->to_kernel = exceptions.to_kernel;
	totals->from_kernel = exceptions.from_kernel;
	totals->kernel_lost = exceptions.refused;
}

static uint32_t
dpdk_ring_pkts(void *state)
{
	const struct dpdk *dpdk = state;

	return dpdk->look.ring_pkts;
}

static void
dpdk_thread(void *state, bool begins)
{
	struct dpdk *dpdk = state;

	lull_ingest_thread(dpdk->ingest, begins);
}

/* ---- looking ---- */

static void
dpdk_check(void *state, struct camera_findings *findings)
{
	const struct dpdk *dpdk = state;

	check_port(&(struct check_port){ .look = &dpdk->look,
					 .interface = &dpdk->interface,
					 .rule_count = dpdk->rule_count,
					 .asked_count = dpdk->asked_count,
					 .held_count = dpdk->held_count },
		   findings);
}

static void
dpdk_check_stream(void *state, const struct camera_claim *claim, struct camera_findings *findings)
{
	const struct dpdk *dpdk = state;
	struct kernel_interface interface = dpdk->interface;

	interface.mtu = dpdk->look.mtu;
	kernel_check_mtu(&interface, claim, findings);
}

const struct camera_backend camera_dpdk = {
	.name = "dpdk",
	.summary = "a DPDK port: PCI address, vdev, af_packet=IF, af_xdp=IF[,queue=N] or tap=IF",
	.polled = true,
	.clock = LULL_CAMERA_CLOCK_POLL,
	.open = dpdk_open,
	.claim = dpdk_claim,
	.start = dpdk_start,
	.receive = dpdk_receive,
	.release = dpdk_release,
	.unclaimed = dpdk_unclaimed,
	.missed = dpdk_missed,
	.exceptions = dpdk_exceptions,
	.ring_pkts = dpdk_ring_pkts,
	.check = dpdk_check,
	.check_stream = dpdk_check_stream,
	.thread = dpdk_thread,
	.close = dpdk_close,
};
