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

#include <lull/engine.h>
#include <lull/rest.h>

#include "check_port.h"
#include "net/claims.h"
#include "host/error.h"
#include "net/kernel_check.h"
#include "net/kernel_socket.h"
#include "net/module.h"
#include "rx_port.h"

#define RING_PKTS 16384
#define PORT_FIRST 20200 /* for gvsp with control, where no kernel hands ports out */

_Static_assert(LULL_NET_BURST >= LULL_RX_PORT_BURST, "a burst of the port fits");

struct dpdk {
	struct lull_rx_port *rx_port;
	struct lull_rx_port_info info;
	struct kernel_interface interface; /* behind the port; index 0: none */
	uint64_t unclaimed, cut, wrong;
	uint32_t held_count, rule_count, asked_count;
	int held[LULL_NET_CLAIMS_MAX];
	uint32_t claim_count;
	const struct lull_net_claim *claimed[LULL_NET_CLAIMS_MAX];
	struct lull_rx_port_packet packets[LULL_RX_PORT_BURST];
	struct lull_net_claims claims;
};

static void
dpdk_close(void *state)
{
	struct dpdk *dpdk = state;

	for (uint32_t i = 0; i < dpdk->held_count; i++)
		close(dpdk->held[i]);
	lull_rx_port_close(dpdk->rx_port);
	free(dpdk);
}

/* A program that a run left behind keeps the port from being opened, or takes what it should get.
 */
static int
dpdk_open_stray(const char *argument, struct lull_error *error)
{
	struct lull_findings findings = { .count_max = 1 };
	struct lull_finding finding = { .grade = 0 };
	struct kernel_interface interface;
	char name[IF_NAMESIZE] = "";

	findings.lines = &finding;
	if (sscanf(argument, "af_xdp=%15[^,]", name) != 1 ||
	    kernel_interface_find(name, &interface, NULL) != 0)
		return 0;
	kernel_check_interface(&interface, &findings);
	if (finding.grade != LULL_GRADE_WRONG)
		return 0;
	return lull_error_set(error, -EBUSY, "%s; %s", finding.text, finding.remedy);
}

static int
dpdk_open(const struct lull_net_config *config, const char *argument, void **state,
	  struct lull_error *error)
{
	struct dpdk *dpdk = calloc(1, sizeof(*dpdk));
	struct lull_rx_port_config rx_port = {
		.program = config->program,
		.device = argument,
		.eal = config->eal,
		.ring_pkts = config->ring_pkts != 0 ? config->ring_pkts : RING_PKTS,
		.mtu = config->mtu,
		.sums = config->sums,
		.send_pkts = config->send_pkts,
	};
	char name[IF_NAMESIZE];
	int rc;

	if (dpdk == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for a port");
	rc = config->unchecked ? 0 : dpdk_open_stray(argument, error);
	if (rc == 0)
		rc = lull_rx_port_open(&rx_port, &dpdk->rx_port, error);
	if (rc != 0) {
		free(dpdk);
		return rc;
	}
	dpdk->claims.sums = config->sums;
	lull_rx_port_info(dpdk->rx_port, &dpdk->info);
	if (dpdk->info.if_index != 0 && if_indextoname(dpdk->info.if_index, name) != NULL)
		kernel_interface_find(name, &dpdk->interface, NULL);
	*state = dpdk;
	return 0;
}

/* ---- claims ---- */

static int
dpdk_hold(struct dpdk *dpdk, struct lull_net_claim *claim, struct lull_error *error)
{
	struct kernel_socket held;
	int rc;

	rc = kernel_socket_open(&held, &dpdk->interface, claim, 0, claim->first != claim->index,
				error);
	if (rc != 0)
		return rc;
	rc = kernel_socket_deafen(&held);
	if (rc != 0) {
		close(held.fd);
		return lull_error_set(error, rc, "cannot set the filter of port %u: %s",
				      claim->port, strerror(-rc));
	}
	dpdk->held[dpdk->held_count++] = held.fd;
	return 0;
}

/* Is there a rule for it already? Streams may share a port; any address is one of IPv4. */
static bool
dpdk_is_asked(const struct dpdk *dpdk, const struct lull_net_claim *claim)
{
	for (uint32_t i = 0; i < dpdk->claim_count; i++) {
		const struct lull_net_claim *other = dpdk->claimed[i];

		if (other->ethernet == claim->ethernet && other->ether_type == claim->ether_type &&
		    other->port == claim->port &&
		    (lull_net_ip_same(&other->address, &claim->address) ||
		     (lull_net_ip_is_any(&other->address) && lull_net_ip_is4(&claim->address))))
			return true;
	}
	return false;
}

static int
dpdk_steer(struct dpdk *dpdk, const struct lull_net_claim *claim, struct lull_error *error)
{
	bool any = lull_net_ip_is_any(&claim->address), v4 = lull_net_ip_is4(&claim->address);
	struct lull_rx_port_rule rule = { .ether_type = claim->ether_type };
	int rc;

	if (dpdk_is_asked(dpdk, claim))
		return 0;
	if (!claim->ethernet)
		rule = (struct lull_rx_port_rule){
			.port = claim->port,
			.address = any ? NULL : claim->address.bytes + (v4 ? 12 : 0),
			.address_bytes = v4 ? 4 : 16,
		};
	dpdk->asked_count++;
	rc = lull_rx_port_steer(dpdk->rx_port, &rule, error);
	dpdk->rule_count += rc == 0;
	return dpdk->info.isolated ? rc : 0;
}

static int
dpdk_claim(void *state, struct lull_net_claim *claim, struct lull_error *error)
{
	struct dpdk *dpdk = state;
	int rc = 0;

	if (!claim->ethernet && dpdk->info.kernel_beside && dpdk->interface.index != 0)
		rc = dpdk_hold(dpdk, claim, error);
	else if (!claim->ethernet && claim->port == 0)
		claim->port = (uint16_t)(PORT_FIRST + claim->index);
	if (rc == 0)
		rc = lull_rx_port_join(dpdk->rx_port, claim, error);
	if (rc == 0)
		rc = dpdk_steer(dpdk, claim, error);
	if (rc != 0)
		return rc;
	lull_rx_port_info(dpdk->rx_port, &dpdk->info);
	dpdk->claimed[dpdk->claim_count++] = claim;
	lull_net_claims_add(&dpdk->claims, claim);
	return 0;
}

static int
dpdk_start(void *state, struct lull_error *error)
{
	(void)state;
	(void)error;
	return 0;
}

/* ---- packets ---- */

/* Not for a claim, or of no use to it. */
static void
dpdk_refuse(struct dpdk *dpdk, uint32_t index, enum lull_net_found found)
{
	if (dpdk->packets[index].len_bytes == 0)
		return; /* the port has counted it */
	if (found == LULL_NET_FOUND_CUT) {
		LULL_COUNTER_ADD(dpdk->cut, 1);
		return;
	}
	if (found == LULL_NET_FOUND_WRONG) {
		LULL_COUNTER_ADD(dpdk->wrong, 1);
		return;
	}
	LULL_COUNTER_ADD(dpdk->unclaimed, 1);
	lull_rx_port_except(dpdk->rx_port, index);
}

static uint32_t
dpdk_receive(void *state, struct lull_net_packet *packets)
{
	struct dpdk *dpdk = state;
	uint32_t count = lull_rx_port_receive(dpdk->rx_port, dpdk->packets), used = 0;
	uint64_t now_ns;

	if (count == 0)
		return 0;
	now_ns = lull_clock_ns();
	for (uint32_t i = 0; i < count; i++) {
		enum lull_net_found found = lull_net_claims_find(
			&dpdk->claims, dpdk->packets[i].data, dpdk->packets[i].len_bytes,
			dpdk->packets[i].sums, &packets[used]);

		if (found == LULL_NET_FOUND_CLAIM)
			packets[used++].stamp_ns = now_ns;
		else
			dpdk_refuse(dpdk, i, found);
	}
	if (used == 0)
		lull_rx_port_release(dpdk->rx_port);
	return used;
}

static void
dpdk_release(void *state)
{
	struct dpdk *dpdk = state;

	lull_rx_port_release(dpdk->rx_port);
}

static uint32_t
dpdk_send(void *state, const struct lull_net_outgoing *packets, uint32_t count)
{
	struct dpdk *dpdk = state;

	return lull_rx_port_transmit(dpdk->rx_port, packets, count);
}

static void
dpdk_sent(void *state, struct lull_net_sent *sent)
{
	const struct dpdk *dpdk = state;

	lull_rx_port_transmitted(dpdk->rx_port, sent);
}

static void
dpdk_link(void *state, struct lull_net_link *link)
{
	const struct dpdk *dpdk = state;

	lull_rx_port_link(dpdk->rx_port, link);
}

static uint64_t
dpdk_unclaimed(void *state)
{
	const struct dpdk *dpdk = state;

	return LULL_COUNTER_READ(dpdk->unclaimed);
}

static void
dpdk_damaged(void *state, struct lull_net_damaged *damaged)
{
	const struct dpdk *dpdk = state;

	*damaged = (struct lull_net_damaged){
		.wrong = LULL_COUNTER_READ(dpdk->wrong),
		.cut = LULL_COUNTER_READ(dpdk->cut) + lull_rx_port_too_long(dpdk->rx_port),
	};
}

static uint64_t
dpdk_missed(void *state)
{
	const struct dpdk *dpdk = state;

	return lull_rx_port_missed(dpdk->rx_port);
}

static void
dpdk_exceptions(void *state, struct lull_net_exceptions *exceptions)
{
	const struct dpdk *dpdk = state;

	lull_rx_port_exceptions(dpdk->rx_port, exceptions);
}

static uint32_t
dpdk_ring_pkts(void *state)
{
	const struct dpdk *dpdk = state;

	return dpdk->info.ring_pkts;
}

static void
dpdk_thread(void *state, bool begins)
{
	struct dpdk *dpdk = state;

	lull_rx_port_thread(dpdk->rx_port, begins);
}

/* ---- looking ---- */

static void
dpdk_check(void *state, struct lull_findings *findings)
{
	const struct dpdk *dpdk = state;

	check_port(&(struct check_port){ .info = &dpdk->info,
					 .interface = &dpdk->interface,
					 .rule_count = dpdk->rule_count,
					 .asked_count = dpdk->asked_count,
					 .held_count = dpdk->held_count },
		   findings);
}

static void
dpdk_check_claim(void *state, const struct lull_net_claim *claim, struct lull_findings *findings)
{
	const struct dpdk *dpdk = state;
	struct kernel_interface interface = dpdk->interface;

	check_port_group(&dpdk->info, claim, findings);
	interface.mtu = dpdk->info.mtu;
	if (dpdk->info.own_mtu)
		check_port_mtu(&dpdk->info, claim, findings);
	else
		kernel_check_mtu(&interface, claim, findings);
}

static const struct lull_net_backend dpdk_backend = {
	.name = "dpdk",
	.polled = true,
	.clock = LULL_NET_CLOCK_POLL,
	.open = dpdk_open,
	.claim = dpdk_claim,
	.start = dpdk_start,
	.receive = dpdk_receive,
	.release = dpdk_release,
	.unclaimed = dpdk_unclaimed,
	.damaged = dpdk_damaged,
	.missed = dpdk_missed,
	.exceptions = dpdk_exceptions,
	.ring_pkts = dpdk_ring_pkts,
	.check = dpdk_check,
	.check_claim = dpdk_check_claim,
	.thread = dpdk_thread,
	.send = dpdk_send,
	.sent = dpdk_sent,
	.link = dpdk_link,
	.close = dpdk_close,
};

/* All that the module exports. */
extern const struct lull_net_module lull_net_module;
const struct lull_net_module lull_net_module = {
	.bytes = LULL_NET_MODULE_BYTES,
	.version = LULL_VERSION,
	.backend = &dpdk_backend,
	.dpdk_version = lull_engine_dpdk_version,
	.telemetry_start = lull_telemetry_start,
	.telemetry_stop = lull_telemetry_stop,
};
