/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_rails.h"

#include <stddef.h>

#define CHECK_MTU_MIN 1280u   /* of IPv6: less is hardly meant */
#define CHECK_RING_PKTS 1024u /* a window of a path */
#define CHECK_MBPS_MIN 100u
#define CHECK_TIMES_SLOWER 10u
#define CHECK_SLACK_BYTES 64u /* heads of rails of different kinds differ by less */

static void
rail_mtu(const struct check_rail *rail, struct lull_findings *findings)
{
	bool small = rail->mtu_bytes < CHECK_MTU_MIN;

	lull_finding_add(findings, "MTU", small ? LULL_GRADE_WRONG : LULL_GRADE_FINE,
			 "%.80s: %u bytes, packets of %u", rail->text, rail->mtu_bytes,
			 rail->packet_bytes);
	if (small)
		lull_finding_remedy(findings, "ip link set dev IF mtu 1500, or leave it out");
}

static void
rail_link(const struct check_rail *rail, struct lull_findings *findings)
{
	bool slow = rail->mbps != 0 && rail->mbps < CHECK_MBPS_MIN;

	if (!rail->up) {
		lull_finding_add(findings, "link", LULL_GRADE_NOTE, "%.80s: the link is down",
				 rail->text);
		lull_finding_remedy(findings, "plug it in, or ip link set dev IF up; the channel "
					      "uses it as soon as it answers");
		return;
	}
	lull_finding_add(findings, "link", slow ? LULL_GRADE_NOTE : LULL_GRADE_FINE,
			 "%.80s: up, %u Mb/s (0: not told)", rail->text, rail->mbps);
	if (slow)
		lull_finding_remedy(findings, "look at cable and switch: ethtool IF");
}

static void
rail_room(const struct check_rail *rail, struct lull_findings *findings)
{
	bool small = !rail->own && rail->ring_pkts < CHECK_RING_PKTS;

	lull_finding_add(findings, "receive buffer", small ? LULL_GRADE_NOTE : LULL_GRADE_FINE,
			 "%.80s: room for %u packets", rail->text, rail->ring_pkts);
	if (small)
		lull_finding_remedy(findings,
				    "sysctl -w net.core.rmem_max=8388608 (dpdk: the driver's "
				    "queue), or peers send slower than they could");
}

void
check_rail(const struct check_rail *rail, struct lull_findings *findings)
{
	rail_mtu(rail, findings);
	rail_link(rail, findings);
	rail_room(rail, findings);
}

/* Pieces are as long as the shortest rail takes. */
static void
rails_packets(const struct check_rail *rails, uint32_t count, struct lull_findings *findings)
{
	const struct check_rail *least = &rails[0], *most = &rails[0];

	for (uint32_t i = 1; i < count; i++) {
		if (rails[i].packet_bytes < least->packet_bytes)
			least = &rails[i];
		if (rails[i].packet_bytes > most->packet_bytes)
			most = &rails[i];
	}
	if (least->packet_bytes + CHECK_SLACK_BYTES >= most->packet_bytes)
		return;
	lull_finding_add(findings, "unequal MTU", LULL_GRADE_NOTE,
			 "%.80s takes packets of %u bytes, %.80s of %u: all get the shorter ones",
			 least->text, least->packet_bytes, most->text, most->packet_bytes);
	lull_finding_remedy(findings, "give all rails one MTU, or leave the shorter one out");
}

/* One that brings a tenth of another: hardly meant, and seldom worth its interrupts. */
static void
rails_speeds(const struct check_rail *rails, uint32_t count, struct lull_findings *findings)
{
	const struct check_rail *slowest = NULL, *fastest = NULL;

	for (uint32_t i = 0; i < count; i++) {
		if (rails[i].mbps == 0 || !rails[i].up)
			continue;
		if (slowest == NULL || rails[i].mbps < slowest->mbps)
			slowest = &rails[i];
		if (fastest == NULL || rails[i].mbps > fastest->mbps)
			fastest = &rails[i];
	}
	if (slowest == NULL || (uint64_t)slowest->mbps * CHECK_TIMES_SLOWER > fastest->mbps)
		return;
	lull_finding_add(findings, "unequal speed", LULL_GRADE_NOTE,
			 "%.80s has %u Mb/s, %.80s %u: it brings little", slowest->text,
			 slowest->mbps, fastest->text, fastest->mbps);
	lull_finding_remedy(findings, "look at its cable and switch (ethtool IF), or leave it out");
}

void
check_rails(const struct check_rail *rails, uint32_t count, struct lull_findings *findings)
{
	if (count < 2)
		return;
	rails_packets(rails, count, findings);
	rails_speeds(rails, count, findings);
}
