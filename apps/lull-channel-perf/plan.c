/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* The first number of each message: its meaning and its version. */
#define PLAN_MAGIC 0x6c756c6c706c6101ULL
#define REPORT_MAGIC 0x6c756c6c72657001ULL
#define ANSWER_MAGIC 0x6c756c6c616e7301ULL

static uint32_t
plan_numbers_write(uint8_t *bytes, uint64_t magic, const void *numbers, size_t size)
{
	magic = htole64(magic);
	memcpy(bytes, &magic, sizeof(magic));
	for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
		uint64_t number;

		memcpy(&number, (const uint8_t *)numbers + at, sizeof(number));
		number = htole64(number);
		memcpy(bytes + sizeof(magic) + at, &number, sizeof(number));
	}
	return (uint32_t)(sizeof(magic) + size);
}

static int
plan_numbers_read(const uint8_t *bytes, uint64_t len, uint64_t magic, void *numbers, size_t size)
{
	uint64_t number = 0;

	if (len != sizeof(magic) + size)
		return -EPROTO;
	memcpy(&number, bytes, sizeof(number));
	if (le64toh(number) != magic)
		return -EPROTO;
	for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
		memcpy(&number, bytes + sizeof(magic) + at, sizeof(number));
		number = le64toh(number);
		memcpy((uint8_t *)numbers + at, &number, sizeof(number));
	}
	return 0;
}

uint32_t
perf_plan_write(uint8_t *bytes, const struct perf_plan *plan)
{
	return plan_numbers_write(bytes, PLAN_MAGIC, plan, sizeof(*plan));
}

uint32_t
perf_report_write(uint8_t *bytes, const struct perf_report *report)
{
	return plan_numbers_write(bytes, REPORT_MAGIC, report, sizeof(*report));
}

uint32_t
perf_answer_write(uint8_t *bytes, const struct perf_answer *answer)
{
	return plan_numbers_write(bytes, ANSWER_MAGIC, answer, sizeof(*answer));
}

int
perf_plan_read(const uint8_t *bytes, uint64_t len, struct perf_plan *plan)
{
	return plan_numbers_read(bytes, len, PLAN_MAGIC, plan, sizeof(*plan));
}

int
perf_report_read(const uint8_t *bytes, uint64_t len, struct perf_report *report)
{
	return plan_numbers_read(bytes, len, REPORT_MAGIC, report, sizeof(*report));
}

int
perf_answer_read(const uint8_t *bytes, uint64_t len, struct perf_answer *answer)
{
	return plan_numbers_read(bytes, len, ANSWER_MAGIC, answer, sizeof(*answer));
}

enum perf_role_id
perf_role_other(enum perf_role_id role)
{
	static const enum perf_role_id others[] = {
		[PERF_SOURCE] = PERF_SINK,
		[PERF_SINK] = PERF_SOURCE,
		[PERF_ASKER] = PERF_ECHO,
		[PERF_ECHO] = PERF_ASKER,
	};

	return others[role];
}

int
perf_plan_check(const struct perf_plan *plan)
{
	if (plan->role >= PERF_ROLE_COUNT || plan->window == 0 || plan->window > PERF_WINDOW_MAX ||
	    plan->message_bytes == 0 || plan->message_bytes > PERF_MESSAGE_BYTES_MAX ||
	    plan->window * plan->message_bytes > PERF_MEMORY_BYTES_MAX ||
	    plan->burst_ns > plan->period_ns || plan->count >= PERF_LAST)
		return -ERANGE;
	return 0;
}
