/* SPDX-License-Identifier: BSD-3-Clause */
#include "igmp.h"

#include <string.h>

#include "base/assert.h"

#define ETHER_SIZE 14
#define TYPE_IPV4 0x0800
#define IPV4_SIZE 20
#define IPV4_OPTIONS 4 /* router alert: to be looked at by each router */
#define PROTOCOL_IGMP 2
#define HEAD_SIZE 8
#define RECORD_SIZE 8
#define QUERY_3_SIZE 12

#define QUERY 0x11
#define REPORT_1 0x12
#define REPORT_2 0x16
#define LEAVE_2 0x17
#define REPORT_3 0x22
/* Records of version 3, all of them without sources: all senders, or none. */
#define RECORD_IS_ALL 2
#define RECORD_TO_NONE 3
#define RECORD_TO_ALL 4

#define VERSIONS 3
#define NEWS 2 /* RFC 3376, 8.1: one may be lost */
#define NEWS_NS LULL_NS_PER_S
#define ANSWER_NS_MIN (10 * LULL_NS_PER_MS) /* also a bound of what many queries can cost */
#define ANSWER_1_NS (10 * LULL_NS_PER_S)
#define OLDER_NS (260 * LULL_NS_PER_S) /* RFC 3376, 8.12 */
#define TENTH_NS (LULL_NS_PER_S / 10)

static const uint8_t igmp_hosts[4] = { 224, 0, 0, 1 }, igmp_routers[4] = { 224, 0, 0, 2 },
		     igmp_reports[4] = { 224, 0, 0, 22 };

static void
igmp_put_16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint32_t
igmp_get_16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

/* RFC 1071. */
static uint32_t
igmp_sum(const uint8_t *at, size_t size)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += i % 2 == 0 ? (uint32_t)at[i] << 8 : at[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

static uint64_t
igmp_random(struct lull_net_igmp *igmp, uint64_t below)
{
	igmp->random = igmp->random * 6364136223846793005u + 1442695040888963407u;
	return (igmp->random >> 33) % below;
}

void
lull_net_igmp_init(struct lull_net_igmp *igmp, const uint8_t source[4],
		   const uint8_t mac[LULL_NET_MAC_SIZE])
{
	memset(igmp, 0, sizeof(*igmp));
	memcpy(igmp->source, source, sizeof(igmp->source));
	memcpy(igmp->mac, mac, sizeof(igmp->mac));
	for (uint32_t i = 0; i < LULL_NET_MAC_SIZE; i++)
		igmp->random = igmp->random << 8 | mac[i];
}

/* ---- when ---- */

static void
igmp_settle(struct lull_net_igmp *igmp)
{
	igmp->due_ns = 0;
	for (uint32_t i = 0; i < igmp->count; i++) {
		uint64_t due_ns = igmp->groups[i].due_ns;

		if (due_ns != 0 && (igmp->due_ns == 0 || due_ns < igmp->due_ns))
			igmp->due_ns = due_ns;
	}
}

static bool
igmp_reported(const uint8_t group[4])
{
	return memcmp(group, igmp_hosts, sizeof(igmp_hosts)) != 0;
}

void
lull_net_igmp_join(struct lull_net_igmp *igmp, uint64_t now_ns, const uint8_t group[4])
{
	struct lull_net_igmp_group *joined = &igmp->groups[igmp->count];

	for (uint32_t i = 0; i < igmp->count; i++)
		if (memcmp(igmp->groups[i].group, group, sizeof(joined->group)) == 0)
			return;
	LULL_ASSERT(igmp->count < LULL_NET_CLAIMS_MAX);
	*joined = (struct lull_net_igmp_group){ .news = NEWS, .due_ns = LULL_MAX(now_ns, 1u) };
	memcpy(joined->group, group, sizeof(joined->group));
	igmp->count += igmp_reported(group);
	igmp_settle(igmp);
}

void
lull_net_igmp_leave(struct lull_net_igmp *igmp, uint64_t now_ns)
{
	igmp->leaving = true;
	for (uint32_t i = 0; i < igmp->count; i++) {
		igmp->groups[i].news = 1;
		igmp->groups[i].due_ns = LULL_MAX(now_ns, 1u);
	}
	igmp_settle(igmp);
}

/* ---- queries ---- */

/* RFC 3376, 4.1.1: above 127 the code is a number of three bits of exponent and four of mantissa.
 */
static uint64_t
igmp_answer_ns(uint32_t version, uint32_t code)
{
	if (version == 1)
		return ANSWER_1_NS;
	if (version == 3 && code >= 128)
		code = ((code & 15u) | 16u) << (((code >> 4) & 7u) + 3u);
	return LULL_MAX(code * TENTH_NS, ANSWER_NS_MIN + 1);
}

/* The message of a query in a frame; NULL: it is none, or not sound. */
static const uint8_t *
igmp_query(const uint8_t *frame, size_t len_bytes, size_t *size)
{
	const uint8_t *ip = frame + ETHER_SIZE;
	size_t header, total;

	if (len_bytes < ETHER_SIZE + IPV4_SIZE + HEAD_SIZE ||
	    igmp_get_16(frame + 12) != TYPE_IPV4 || ip[0] >> 4 != 4 || ip[9] != PROTOCOL_IGMP)
		return NULL;
	header = (size_t)(ip[0] & 15) * 4;
	total = igmp_get_16(ip + 2);
	if (header < IPV4_SIZE || total > len_bytes - ETHER_SIZE || total < header + HEAD_SIZE ||
	    (igmp_get_16(ip + 6) & 0x3fff) != 0 || igmp_sum(ip, header) != 0)
		return NULL;
	*size = total - header;
	return ip[header] == QUERY && igmp_sum(ip + header, *size) == 0 ? ip + header : NULL;
}

bool
lull_net_igmp_hear(struct lull_net_igmp *igmp, uint64_t now_ns, const uint8_t *frame,
		   size_t len_bytes)
{
	static const uint8_t all[4];
	const uint8_t *query;
	uint32_t version;
	uint64_t due_ns;
	size_t size;

	query = igmp_query(frame, len_bytes, &size);
	if (query == NULL || igmp->leaving)
		return false;
	version = size >= QUERY_3_SIZE ? 3 : query[1] == 0 ? 1 : 2;
	if (version < VERSIONS)
		igmp->older_until_ns[version] = now_ns + OLDER_NS;
	due_ns = now_ns + ANSWER_NS_MIN +
		 igmp_random(igmp, igmp_answer_ns(version, query[1]) - ANSWER_NS_MIN);
	for (uint32_t i = 0; i < igmp->count; i++) {
		struct lull_net_igmp_group *group = &igmp->groups[i];

		if (memcmp(query + 4, all, sizeof(all)) != 0 &&
		    memcmp(query + 4, group->group, sizeof(group->group)) != 0)
			continue;
		if (group->due_ns == 0 || group->due_ns > due_ns)
			group->due_ns = due_ns;
	}
	igmp_settle(igmp);
	return true;
}

/* ---- reports ---- */

static uint32_t
igmp_finish(const struct lull_net_igmp *igmp, uint8_t *frame, const uint8_t to[4], uint32_t size)
{
	static const uint8_t alert[IPV4_OPTIONS] = { 0x94, 4, 0, 0 };
	uint8_t *ip = frame + ETHER_SIZE, *message = ip + IPV4_SIZE + IPV4_OPTIONS;
	uint32_t total = IPV4_SIZE + IPV4_OPTIONS + size;
	struct lull_net_ip group = lull_net_ip_from4(to);

	lull_net_ip_group_mac(&group, frame);
	memcpy(frame + LULL_NET_MAC_SIZE, igmp->mac, LULL_NET_MAC_SIZE);
	igmp_put_16(frame + 12, TYPE_IPV4);
	memset(ip, 0, IPV4_SIZE);
	ip[0] = 0x46;
	ip[1] = 0xc0; /* internetwork control */
	igmp_put_16(ip + 2, total);
	ip[8] = 1; /* to this link */
	ip[9] = PROTOCOL_IGMP;
	memcpy(ip + 12, igmp->source, sizeof(igmp->source));
	memcpy(ip + 16, to, 4);
	memcpy(ip + IPV4_SIZE, alert, sizeof(alert));
	igmp_put_16(ip + 10, igmp_sum(ip, IPV4_SIZE + IPV4_OPTIONS));
	igmp_put_16(message + 2, 0);
	igmp_put_16(message + 2, igmp_sum(message, size));
	return ETHER_SIZE + total;
}

/* A report of this group is on its way. */
static void
igmp_sent(struct lull_net_igmp *igmp, struct lull_net_igmp_group *group, uint64_t now_ns)
{
	group->news -= group->news > 0;
	group->due_ns = group->news > 0 ? now_ns + 1 + igmp_random(igmp, NEWS_NS) : 0;
}

/* All groups that are due, in one. */
static uint32_t
igmp_write_3(struct lull_net_igmp *igmp, uint64_t now_ns, uint8_t *frame)
{
	uint8_t *message = frame + ETHER_SIZE + IPV4_SIZE + IPV4_OPTIONS;
	uint32_t count = 0;

	memset(message, 0, HEAD_SIZE);
	message[0] = REPORT_3;
	for (uint32_t i = 0; i < igmp->count; i++) {
		struct lull_net_igmp_group *group = &igmp->groups[i];
		uint8_t *record = message + HEAD_SIZE + (size_t)RECORD_SIZE * count;

		if (group->due_ns == 0 || group->due_ns > now_ns)
			continue;
		memset(record, 0, RECORD_SIZE);
		record[0] = group->news == 0 ? RECORD_IS_ALL : RECORD_TO_ALL;
		if (igmp->leaving)
			record[0] = RECORD_TO_NONE;
		memcpy(record + 4, group->group, sizeof(group->group));
		igmp_sent(igmp, group, now_ns);
		count++;
	}
	if (count == 0)
		return 0;
	igmp_put_16(message + 6, count);
	return igmp_finish(igmp, frame, igmp_reports, HEAD_SIZE + RECORD_SIZE * count);
}

/* One group in each. */
static uint32_t
igmp_write_older(struct lull_net_igmp *igmp, uint64_t now_ns, uint8_t type, uint8_t *frame)
{
	uint8_t *message = frame + ETHER_SIZE + IPV4_SIZE + IPV4_OPTIONS;

	for (uint32_t i = 0; i < igmp->count; i++) {
		struct lull_net_igmp_group *group = &igmp->groups[i];

		if (group->due_ns == 0 || group->due_ns > now_ns)
			continue;
		igmp_sent(igmp, group, now_ns);
		if (igmp->leaving && type == REPORT_1)
			continue; /* who goes says nothing */
		memset(message, 0, HEAD_SIZE);
		message[0] = igmp->leaving ? LEAVE_2 : type;
		memcpy(message + 4, group->group, sizeof(group->group));
		return igmp_finish(igmp, frame, igmp->leaving ? igmp_routers : group->group,
				   HEAD_SIZE);
	}
	return 0;
}

uint32_t
lull_net_igmp_write(struct lull_net_igmp *igmp, uint64_t now_ns, uint8_t *frame)
{
	uint32_t size;

	if (!lull_net_igmp_due(igmp, now_ns))
		return 0;
	if (now_ns < igmp->older_until_ns[1])
		size = igmp_write_older(igmp, now_ns, REPORT_1, frame);
	else if (now_ns < igmp->older_until_ns[2])
		size = igmp_write_older(igmp, now_ns, REPORT_2, frame);
	else
		size = igmp_write_3(igmp, now_ns, frame);
	igmp_settle(igmp);
	return size;
}
