/* SPDX-License-Identifier: BSD-3-Clause */
#include "inject.h"

#include <errno.h>
#include <stdlib.h>

#include <lull/base.h>

int
inject_open(struct inject *inject, const struct lull_emulator_config *config, uint32_t camera)
{
	*inject = (struct inject){ .config = config };
	lull_prng_init(&inject->prng, config->seed, 2 * camera);
	lull_prng_init(&inject->resend_prng, config->seed, 2 * camera + 1);
	inject->reordered.packets = calloc(INJECT_HELD_MAX, sizeof(struct inject_packet));
	inject->late.packets = calloc(INJECT_HELD_MAX, sizeof(struct inject_packet));
	return inject->reordered.packets != NULL && inject->late.packets != NULL ? 0 : -ENOMEM;
}

void
inject_close(struct inject *inject)
{
	free(inject->reordered.packets);
	free(inject->late.packets);
	inject->reordered.packets = inject->late.packets = NULL;
}

static bool
inject_listed(const struct lull_emulator_loss *loss, uint64_t frame, uint32_t index)
{
	for (uint32_t i = 0; i < loss->count; i++)
		if (loss->list[i].frame == frame && loss->list[i].first <= index &&
		    index <= loss->list[i].last)
			return true;
	return false;
}

/* Is a number of 32 random bits among @p ppm of a million? */
static bool
inject_among(uint64_t random, uint32_t ppm)
{
	return (random & UINT32_MAX) * LULL_PPM >> 32 < ppm;
}

static bool
inject_keep(struct inject_queue *queue, uint64_t frame, uint32_t index, uint64_t release)
{
	if (queue->count == INJECT_HELD_MAX)
		return false;
	queue->packets[(queue->head + queue->count++) % INJECT_HELD_MAX] =
		(struct inject_packet){ .frame = frame, .release = release, .index = index };
	return true;
}

enum inject_fate
inject_packet(struct inject *inject, uint64_t frame, uint32_t index, uint64_t now_ns)
{
	const struct lull_emulator_config *config = inject->config;
	/* drawn for each packet whatever is asked for: one fault does not shift the others */
	uint64_t one = lull_prng_u64(&inject->prng), other = lull_prng_u64(&inject->prng);
	bool lose = inject_among(one, config->lose.ppm);
	bool duplicate = inject_among(one >> 32, config->duplicate_ppm);
	bool reorder = inject_among(other, config->reorder.ppm);
	bool late = inject_among(other >> 32, config->late.ppm);

	if (lose || inject_listed(&config->lose, frame, index))
		return INJECT_LOSE;
	if (late && inject_keep(&inject->late, frame, index, now_ns + config->late.much))
		return INJECT_LATE;
	if (reorder &&
	    inject_keep(&inject->reordered, frame, index, inject->passed + config->reorder.much))
		return INJECT_REORDER;
	inject->passed++;
	return duplicate ? INJECT_DUPLICATE : INJECT_SEND;
}

bool
inject_answer(struct inject *inject, uint64_t frame, uint32_t index)
{
	const struct lull_emulator_config *config = inject->config;

	return config->resend == LULL_EMULATOR_RESEND_LOSSY &&
	       (inject_among(lull_prng_u64(&inject->resend_prng), config->lose.ppm) ||
		inject_listed(&config->lose, frame, index));
}

static bool
inject_take(struct inject_queue *queue, uint64_t reached, struct inject_packet *packet)
{
	if (queue->count == 0 || queue->packets[queue->head].release > reached)
		return false;
	*packet = queue->packets[queue->head];
	queue->head = (queue->head + 1) % INJECT_HELD_MAX;
	queue->count--;
	return true;
}

bool
inject_next(struct inject *inject, uint64_t now_ns, bool all, struct inject_packet *packet)
{
	return inject_take(&inject->reordered, all ? UINT64_MAX : inject->passed, packet) ||
	       inject_take(&inject->late, now_ns, packet);
}

uint64_t
inject_due_ns(const struct inject *inject)
{
	const struct inject_queue *late = &inject->late;

	return late->count > 0 ? late->packets[late->head].release : UINT64_MAX;
}

bool
inject_empty(const struct inject *inject)
{
	return inject->late.count == 0 && inject->reordered.count == 0;
}

void
inject_drop(struct inject *inject)
{
	inject->late.count = inject->reordered.count = 0;
}
