/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything here follows the smallest packet number, never the order in which packets came. */
#include "record.h"

#include <assert.h>
#include <string.h>

#include "base/assert.h"
#include "probation.h"

static_assert(sizeof(struct lull_flow_record) == 224, "4 M entries in 1.2 GiB, see table.h");

const char *
lull_flow_end_name(enum lull_flow_end end)
{
	static const char *const names[] = { "idle", "active", "end", "closed", "evicted" };

	return names[end];
}

void
lull_flow_record_begin(struct lull_flow_record *record, const struct lull_flow_packet *packet,
		       uint32_t cut, uint32_t worker_index)
{
	record->key = packet->key;
	record->digest = packet->digest;
	record->cut = cut;
	record->first_ns = packet->time_ns;
	record->last_ns = packet->time_ns;
	record->first_clock_ns = packet->clock_ns;
	record->last_clock_ns = packet->clock_ns;
	record->first_number = packet->number;
	record->first_direction = packet->direction;
	record->connection = packet->connection;
	record->icmp_type = packet->icmp_type;
	record->icmp_code = packet->icmp_code;
	record->workers = 1ULL << worker_index;
	record->exact = 1;
}

static uint8_t *
record_payload(struct lull_flow_record *record, uint32_t payload_bytes, uint32_t direction)
{
	return (uint8_t *)(record + 1) + (size_t)direction * payload_bytes;
}

/*
 * Are @p bytes of packet @p number to be kept rather than what @p record has? Packets of one number
 * exist only where several dispatchers count by the clock: the longer ones win, then the smaller.
 */
static bool
record_payload_better(struct lull_flow_record *record, uint32_t payload_bytes, uint32_t direction,
		      uint64_t number, const uint8_t *bytes, uint32_t len)
{
	if (record->payload_total[direction] == 0 || number < record->payload_number[direction])
		return true;
	if (number > record->payload_number[direction] || len < record->payload_len[direction])
		return false;
	return len > record->payload_len[direction] ||
	       (len > 0 &&
		memcmp(bytes, record_payload(record, payload_bytes, direction), len) < 0);
}

static void
record_keep_payload(struct lull_flow_record *record, uint32_t payload_bytes, uint32_t direction,
		    uint64_t number, const uint8_t *bytes, uint32_t len)
{
	if (!record_payload_better(record, payload_bytes, direction, number, bytes, len))
		return;
	record->payload_number[direction] = number;
	record->payload_len[direction] = (uint16_t)len;
	if (len > 0)
		memcpy(record_payload(record, payload_bytes, direction), bytes, len);
}

/* Of equal numbers the smaller direction, type and code, whichever came first. */
static void
record_first(struct lull_flow_record *record, uint64_t number, uint8_t direction,
	     const uint8_t icmp[2])
{
	if (number < record->first_number) {
		record->first_direction = direction;
		record->icmp_type = icmp[0];
		record->icmp_code = icmp[1];
	} else if (number == record->first_number) {
		record->first_direction = LULL_MIN(record->first_direction, direction);
		record->icmp_type = LULL_MIN(record->icmp_type, icmp[0]);
		record->icmp_code = LULL_MIN(record->icmp_code, icmp[1]);
	}
	record->first_number = LULL_MIN(record->first_number, number);
}

void
lull_flow_record_count(struct lull_flow_record *record, const struct lull_flow_packet *packet,
		       const uint8_t *payload, uint32_t payload_bytes)
{
	const uint8_t icmp[2] = { packet->icmp_type, packet->icmp_code };
	uint32_t direction = packet->direction;

	LULL_ASSERT_HOT(direction < 2);
	if (packet->payload_bytes > 0)
		record_keep_payload(record, payload_bytes, direction, packet->number, payload,
				    LULL_MIN(packet->payload_captured, payload_bytes));
	record->payload_total[direction] += packet->payload_bytes;
	record->packets[direction]++;
	record->bytes[direction] += packet->ip_bytes;
	record->tcp_flags[direction] |= packet->tcp_flags;
	record->first_ns = LULL_MIN(record->first_ns, packet->time_ns);
	record->last_ns = LULL_MAX(record->last_ns, packet->time_ns);
	record->first_clock_ns = LULL_MIN(record->first_clock_ns, packet->clock_ns);
	record->last_clock_ns = LULL_MAX(record->last_clock_ns, packet->clock_ns);
	record_first(record, packet->number, packet->direction, icmp);
	record->moves += (packet->mark_flags & LULL_FLOW_MARK_MOVED) != 0;
	record->fragments += (packet->flags & LULL_FLOW_FRAGMENT) != 0;
	record->exact &= (packet->mark_flags & LULL_FLOW_MARK_LOST) == 0;
	record->ending |= (packet->flags & LULL_FLOW_ENDING) != 0;
	record->closed |= (packet->flags & LULL_FLOW_CLOSED) != 0;
}

static int
record_order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int
lull_flow_record_compare(const struct lull_flow_record *a, const struct lull_flow_record *b)
{
	int order = record_order(a->first_ns, b->first_ns);

	if (order == 0)
		order = lull_flow_key_compare(&a->key, &b->key);
	if (order == 0)
		order = record_order(a->first_number, b->first_number);
	return order;
}

/* Does the label of @p part replace that of @p whole? The last lines only settle ties. */
static bool
record_label_better(const struct lull_flow_record *part, const struct lull_flow_record *whole)
{
	if (part->app_final != whole->app_final)
		return part->app_final > whole->app_final;
	if (part->app_final == 0 && (part->app == 0 || whole->app == 0))
		return whole->app == 0;
	if (part->app_final == 0 && part->app_confidence != whole->app_confidence)
		return part->app_confidence > whole->app_confidence;
	if (part->app_number != whole->app_number)
		return part->app_number < whole->app_number;
	if (part->app != whole->app)
		return part->app < whole->app;
	return part->app_master < whole->app_master;
}

static void
record_join_direction(struct lull_flow_record *whole, const struct lull_flow_record *part,
		      uint32_t payload_bytes, uint32_t direction)
{
	if (part->payload_total[direction] > 0)
		record_keep_payload(whole, payload_bytes, direction,
				    part->payload_number[direction],
				    lull_flow_record_payload(part, payload_bytes, direction),
				    part->payload_len[direction]);
	whole->packets[direction] += part->packets[direction];
	whole->bytes[direction] += part->bytes[direction];
	whole->payload_total[direction] += part->payload_total[direction];
	whole->tcp_flags[direction] |= part->tcp_flags[direction];
}

static void
record_join_first(struct lull_flow_record *whole, const struct lull_flow_record *part)
{
	const uint8_t icmp[2] = { part->icmp_type, part->icmp_code };

	record_first(whole, part->first_number, part->first_direction, icmp);
	whole->first_ns = LULL_MIN(whole->first_ns, part->first_ns);
	whole->last_ns = LULL_MAX(whole->last_ns, part->last_ns);
	whole->first_clock_ns = LULL_MIN(whole->first_clock_ns, part->first_clock_ns);
	whole->last_clock_ns = LULL_MAX(whole->last_clock_ns, part->last_clock_ns);
}

void
lull_flow_record_join(struct lull_flow_record *whole, const struct lull_flow_record *part,
		      uint32_t payload_bytes)
{
	record_join_direction(whole, part, payload_bytes, 0);
	record_join_direction(whole, part, payload_bytes, 1);
	record_join_first(whole, part);
	if (record_label_better(part, whole)) {
		whole->app = part->app;
		whole->app_master = part->app_master;
		whole->app_confidence = part->app_confidence;
		whole->app_number = part->app_number;
		whole->app_final = part->app_final;
	}
	whole->workers |= part->workers;
	whole->moves += part->moves;
	whole->reordered += part->reordered;
	whole->fragments += part->fragments;
	whole->end = LULL_MAX(whole->end, part->end);
	whole->announced |= part->announced;
	whole->split |= part->split;
	whole->half_open = lull_flow_probation_join(whole->half_open, part->half_open);
	whole->sampling = LULL_MIN(whole->sampling, part->sampling);
	whole->exact &= part->exact;
	whole->ending |= part->ending;
	whole->closed |= part->closed;
}
