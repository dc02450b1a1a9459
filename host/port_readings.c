/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <lull/rest.h>

#include "cell.h"
#include "port_readings.h"

void
lull_port_readings_init(struct lull_port_readings *readings)
{
	memset(readings, 0, sizeof(*readings));
	pthread_mutex_init(&readings->lock, NULL);
}

static void
readings_publish(struct lull_port_readings *readings)
{
	const uint64_t *from = (const uint64_t *)&readings->now;
	uint64_t *to = (uint64_t *)&readings->published;

	lull_cell_begin(&readings->sequence);
	for (size_t i = 0; i < sizeof(readings->now) / sizeof(*from); i++)
		lull_cell_set(&to[i], from[i]);
	lull_cell_end(&readings->sequence);
}

void
lull_port_readings_begin(struct lull_port_readings *readings)
{
	readings->begun = readings->held = false;
	readings->now = (struct lull_port_reading){ .begin_ns = 0 };
	readings->took_ns = 0;
	__atomic_store_n(&readings->due_ns, 0, __ATOMIC_RELAXED);
	readings_publish(readings);
}

bool
lull_port_readings_due(const struct lull_port_readings *readings, uint64_t now_ns)
{
	return now_ns >= __atomic_load_n(&readings->due_ns, __ATOMIC_RELAXED);
}

static bool
readings_fell(const struct lull_port_counts *from, const struct lull_port_counts *to)
{
	return to->missed < from->missed || to->nombuf < from->nombuf || to->errors < from->errors;
}

/* Returns whether they can be taken for what they are. */
static bool
readings_add(struct lull_port_readings *readings, const struct lull_port_counts *counts)
{
	struct lull_port_counts from = readings->raw;

	if (!readings->begun) {
		from = *counts; /* what was lost until now is nobody's */
	} else if (readings_fell(&from, counts)) {
		if (!readings->held) {
			readings->held = true;
			return false;
		}
		from = (struct lull_port_counts){ .missed = 0 };
	}
	readings->begun = true;
	readings->held = false;
	readings->raw = *counts;
	readings->now.missed += counts->missed - from.missed;
	readings->now.nombuf += counts->nombuf - from.nombuf;
	readings->now.errors += counts->errors - from.errors;
	return true;
}

/* The shorter of two: one may have lost its CPU. */
static void
readings_pace(struct lull_port_readings *readings, uint64_t begin_ns, uint64_t end_ns,
	      uint64_t cost_share)
{
	uint64_t took_ns = end_ns - begin_ns, wait_ns;

	readings->now.cost_ns =
		readings->took_ns == 0 ? took_ns : LULL_MIN(took_ns, readings->took_ns);
	readings->took_ns = LULL_MAX(took_ns, 1);
	wait_ns = LULL_CLAMP(readings->now.cost_ns * cost_share, LULL_PORT_READING_NS_MIN,
			     LULL_PORT_READING_NS_MAX);
	__atomic_store_n(&readings->due_ns, begin_ns + wait_ns, __ATOMIC_RELAXED);
}

int
lull_port_readings_ask(struct lull_port_readings *readings, const struct lull_port_asker *asker,
		       uint16_t port_id, uint64_t cost_share)
{
	struct lull_port_counts counts = { .missed = 0 };
	uint64_t begin_ns = lull_clock_ns(), end_ns;
	int rc = asker->count(port_id, &counts);

	end_ns = lull_clock_ns();
	readings_pace(readings, begin_ns, end_ns, cost_share);
	if (rc == 0 && !readings_add(readings, &counts))
		rc = -EAGAIN;
	if (rc == 0) {
		readings->now.begin_ns = begin_ns;
		readings->now.end_ns = end_ns;
	} else {
		readings->now.refused++;
	}
	readings_publish(readings);
	return rc;
}

void
lull_port_readings_read(const struct lull_port_readings *readings,
			struct lull_port_reading *reading)
{
	lull_cell_read(&readings->sequence, &readings->published, reading, sizeof(*reading));
}

bool
lull_port_readings_try(const struct lull_port_readings *readings, struct lull_port_reading *reading)
{
	struct lull_port_reading copy;

	if (!lull_cell_try(&readings->sequence, (const uint64_t *)&readings->published,
			   (uint64_t *)&copy, sizeof(copy) / sizeof(uint64_t)))
		return false;
	*reading = copy;
	return true;
}
