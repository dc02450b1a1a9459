/* SPDX-License-Identifier: BSD-3-Clause */
#include "health.h"

#include <errno.h>

void
sink_health_down(struct sink_health *health, const char *reason)
{
	__atomic_store_n(&health->reason, reason, __ATOMIC_RELAXED);
	if (health->down)
		return;
	__atomic_store_n(&health->down, true, __ATOMIC_RELAXED);
	LULL_COUNTER_ADD(health->downs, 1);
}

void
sink_health_up(struct sink_health *health)
{
	if (health->down)
		__atomic_store_n(&health->down, false, __ATOMIC_RELAXED);
}

void
sink_count_error(struct flow_sink_counters *counters, int code)
{
	uint64_t *cause = &counters->error_write;

	switch (code) {
	case ECONNREFUSED:
	case ENOENT: /* of a Unix socket */
		cause = &counters->error_refused;
		break;
	case ECONNRESET:
	case EPIPE:
		cause = &counters->error_reset;
		break;
	case ETIMEDOUT:
		cause = &counters->error_timeout;
		break;
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ENETDOWN:
		cause = &counters->error_unreachable;
		break;
	case EADDRNOTAVAIL:
		cause = &counters->error_name;
		break;
	case EACCES:
		cause = &counters->error_denied;
		break;
	default:
		break;
	}
	LULL_COUNTER_ADD(counters->errors, 1);
	LULL_COUNTER_ADD(*cause, 1);
}

void
sink_count_drops(struct flow_sink_counters *counters, uint64_t *cause, uint64_t records)
{
	LULL_COUNTER_ADD(counters->drops, records);
	LULL_COUNTER_ADD(*cause, records);
}
