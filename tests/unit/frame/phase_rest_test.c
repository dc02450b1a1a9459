/* SPDX-License-Identifier: BSD-3-Clause */
/* In virtual time: what images wait and what the core costs while governor phase rests. */
#include <stdlib.h>
#include <string.h>

#include <lull/histogram.h>
#include <lull/idle.h>

#include "case.h"
#include "base/prng.h"
#include "frame/phase.h"

#define CAMERAS_MAX 8
#define BURST 64
#define PACKETS 1284 /* 1920 x 1280 pixels of 12 bits in 2880-byte packets */
#define BYTES 2872
#define FRAMES 600
#define RING 16384
#define EMPTY_NS 100 /* an iteration without packets */
#define PACKET_NS 400
/* A rest, as measured on a virtual machine: nothing of it is better than what a user has. */
#define REST_CPU_NS (16 * LULL_NS_PER_US)
#define LATE_NS (17 * LULL_NS_PER_US)

struct traffic {
	const char *name;
	uint32_t cameras;
	uint64_t period_ns;
	uint64_t span_ns;   /* first to last packet of a frame */
	uint64_t jitter_ns; /* a frame begins so much later, evenly */
	uint64_t apart_ns;  /* from one camera's frame to the next one's */
	uint32_t stall_in;  /* of so many frames one stops half way for 3 ms; 0: none */
	uint32_t late_in;   /* of so many rests one ends up to 300 us late; 0: none */
};
struct camera {
	struct lull_phase phase;
	uint64_t frame, begin_ns, stall_ns;
	uint32_t packet;
	bool news, ended;
	uint64_t due_ns; /* of the last packet that was fetched */
	uint64_t bytes;
};
struct world {
	const struct traffic *traffic;
	struct lull_prng prng;
	struct lull_idle *idle;
	uint64_t begin_ns, now_ns, cpu_ns;
	uint32_t frames, behind_max;
	struct camera cameras[CAMERAS_MAX];
	struct lull_histogram waits;
};

static void
camera_next(struct world *world, struct camera *camera)
{
	const struct traffic *traffic = world->traffic;
	uint64_t apart_ns = (uint64_t)(camera - world->cameras) * traffic->apart_ns;

	camera->frame++;
	camera->packet = 0;
	camera->begin_ns = world->begin_ns + camera->frame * traffic->period_ns + apart_ns;
	if (traffic->jitter_ns > 0)
		camera->begin_ns += lull_prng_below(&world->prng, traffic->jitter_ns);
	camera->stall_ns = 0;
	if (traffic->stall_in > 0 && camera->frame % traffic->stall_in == 0)
		camera->stall_ns = 3 * LULL_NS_PER_MS;
}

static uint64_t
camera_due_ns(const struct world *world, const struct camera *camera)
{
	return camera->begin_ns + camera->packet * world->traffic->span_ns / (PACKETS - 1) +
	       (camera->packet > PACKETS / 2 ? camera->stall_ns : 0);
}

/* The camera whose packet came first; NULL: none has one. */
static struct camera *
world_first(struct world *world)
{
	struct camera *first = NULL;

	for (uint32_t i = 0; i < world->traffic->cameras; i++) {
		struct camera *camera = &world->cameras[i];

		if (camera->frame > FRAMES || camera_due_ns(world, camera) > world->now_ns)
			continue;
		if (first == NULL || camera_due_ns(world, camera) < camera_due_ns(world, first))
			first = camera;
	}
	return first;
}

/* Packets that wait, had they come evenly: enough to tell whether the ring held them. */
static uint32_t
world_behind(const struct world *world)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < world->traffic->cameras; i++) {
		const struct camera *camera = &world->cameras[i];
		uint64_t due_ns = camera_due_ns(world, camera), came;

		if (due_ns > world->now_ns)
			continue;
		came = (world->now_ns - due_ns) * PACKETS / world->traffic->span_ns + 1;
		sum += LULL_MIN(came, (uint64_t)(PACKETS - camera->packet));
	}
	return (uint32_t)sum;
}

static void
world_fetch(struct world *world, struct camera *camera)
{
	if (camera->packet == 0) {
		lull_phase_begin(&camera->phase, world->now_ns);
		camera->bytes = 0;
	}
	camera->news = true;
	camera->bytes += BYTES;
	camera->packet++;
	if (camera->packet < PACKETS)
		return;
	camera->packet--;
	camera->due_ns = camera_due_ns(world, camera);
	camera->ended = true;
	camera_next(world, camera);
}

static void
world_settle(struct world *world, struct camera *camera)
{
	if (camera->ended) {
		lull_phase_end(&camera->phase, world->now_ns, (uint64_t)PACKETS * BYTES, true);
		/* Before, the period is not known. */
		if (camera->frame > 3)
			lull_histogram_add(&world->waits, world->now_ns - camera->due_ns, 1);
		world->frames++;
	} else if (camera->news) {
		lull_phase_news(&camera->phase, world->now_ns, camera->bytes);
		camera->bytes = 0;
	}
	camera->news = camera->ended = false;
}

static void
world_rest(struct world *world, uint64_t began_ns, uint16_t count)
{
	struct lull_iteration iteration = { .now_ns = began_ns,
					    .quiet_until_ns = UINT64_MAX,
					    .queue_pkts = &count,
					    .queue_count = 1 };
	struct lull_rest rest;
	struct lull_wake wake = { .reason = LULL_WAKE_TIMER, .cpu_ns = REST_CPU_NS };

	for (uint32_t i = 0; i < world->traffic->cameras; i++) {
		uint64_t quiet_until_ns = lull_phase_quiet_until_ns(
			&world->cameras[i].phase, began_ns, (uint64_t)PACKETS * BYTES);

		if (quiet_until_ns != 0)
			iteration.quiet_until_ns =
				LULL_MIN(iteration.quiet_until_ns, quiet_until_ns);
	}
	iteration.quiet_until_ns =
		iteration.quiet_until_ns == UINT64_MAX ? 0 : iteration.quiet_until_ns;
	rest = lull_idle_plan(world->idle, &iteration);
	if (rest.idle_state == LULL_IDLE_NONE)
		return;
	wake.rest = rest;
	wake.begin_ns = world->now_ns;
	world->now_ns += rest.limit_ns + LATE_NS + lull_prng_below(&world->prng, 5000);
	if (world->traffic->late_in > 0 &&
	    lull_prng_below(&world->prng, world->traffic->late_in) == 0)
		world->now_ns += lull_prng_below(&world->prng, 300 * LULL_NS_PER_US);
	wake.end_ns = world->now_ns;
	world->cpu_ns += REST_CPU_NS;
	lull_idle_wake(world->idle, &wake);
}

static void
world_iterate(struct world *world)
{
	uint64_t began_ns = world->now_ns;
	struct camera *camera;
	uint32_t count = 0;

	world->behind_max = LULL_MAX(world->behind_max, world_behind(world));
	while (count < BURST && (camera = world_first(world)) != NULL) {
		count++;
		world->now_ns += PACKET_NS;
		world_fetch(world, camera);
		if (camera->ended)
			world_settle(world, camera);
	}
	world->now_ns += EMPTY_NS;
	for (uint32_t i = 0; i < world->traffic->cameras; i++)
		world_settle(world, &world->cameras[i]);
	world->cpu_ns += world->now_ns - began_ns;
	world_rest(world, began_ns, (uint16_t)count);
}

static void
try_traffic(const struct traffic *traffic, uint64_t wait_ns_max, uint32_t cpu_percent_max)
{
	const struct lull_idle_limits limits = { .ring_pkts = RING, .burst_pkts = BURST };
	struct world *world = calloc(1, sizeof(*world));
	size_t size = (lull_idle_size() + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE;
	void *memory = aligned_alloc(LULL_CACHE_LINE, size);
	uint64_t p99_ns, percent;

	assert_non_null(world);
	assert_non_null(memory);
	world->traffic = traffic;
	lull_prng_init(&world->prng, 7, 0);
	world->begin_ns = world->now_ns = LULL_NS_PER_S;
	assert_int_equal(lull_idle_init(memory, lull_idle_governor_find("phase"), &limits,
					world->now_ns, &world->idle),
			 0);
	for (uint32_t i = 0; i < traffic->cameras; i++)
		camera_next(world, &world->cameras[i]);
	while (world->frames < FRAMES * traffic->cameras)
		world_iterate(world);
	p99_ns = lull_histogram_quantile(&world->waits, 990000);
	percent = 100 * world->cpu_ns / (world->now_ns - world->begin_ns);
	print_message("%s: p50 %.1f p99 %.1f us, CPU %llu %%, at most %u packets wait\n",
		      traffic->name, (double)lull_histogram_quantile(&world->waits, 500000) / 1000,
		      (double)p99_ns / 1000, (unsigned long long)percent, world->behind_max);
	assert_true(p99_ns <= wait_ns_max);
	assert_true(percent <= cpu_percent_max);
	assert_true(world->behind_max < RING);
	free(memory);
	free(world);
}

#define MS LULL_NS_PER_MS
#define RATE_30 (LULL_NS_PER_S / 30)

TEST(phase__one_camera_costs_little_and_waits_little)
{
	static const struct traffic rows[] = {
		{ "burst at 10 Gbit/s", 1, RATE_30, 3 * MS, 0, 0, 0, 0 },
		{ "burst, 100 us jitter", 1, RATE_30, 3 * MS, 100000, 0, 0, 0 },
		{ "burst, 1 ms jitter", 1, RATE_30, 3 * MS, MS, 0, 0, 0 },
		{ "half of the period", 1, RATE_30, 16 * MS, 0, 0, 0, 0 },
		{ "half of the period, 1 ms jitter", 1, RATE_30, 16 * MS, MS, 0, 0, 0 },
		{ "all of the period", 1, RATE_30, 32 * MS, 0, 0, 0, 0 },
		{ "60 frames/s", 1, LULL_NS_PER_S / 60, 3 * MS, 100000, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		try_traffic(&rows[i], 30 * LULL_NS_PER_US, 20);
}

TEST(phase__eight_cameras_share_a_core)
{
	static const struct traffic rows[] = {
		{ "eight at once", 8, RATE_30, 26 * MS, 100000, 0, 0, 0 },
		{ "eight in turn", 8, RATE_30, 3 * MS, 100000, 4 * MS, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		try_traffic(&rows[i], 30 * LULL_NS_PER_US, 50);
}

/* A sender that stops half way is later than ever: the loop polls for it. */
TEST(phase__a_stall_costs_polling_not_latency)
{
	static const struct traffic rows[] = {
		{ "one frame in ten stalls", 1, RATE_30, 3 * MS, 100000, 0, 10, 0 },
		/* The second half comes twice as fast as frames ever did. */
		{ "every frame stalls", 1, RATE_30, 3 * MS, 100000, 0, 1, 0 },
		{ "every other frame stalls", 1, RATE_30, 6 * MS, 100000, 0, 2, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		try_traffic(&rows[i], 30 * LULL_NS_PER_US, 20);
}

/* A host that now and then lets a thread sleep for too long. */
TEST(phase__reckons_with_late_wakes)
{
	static const struct traffic rows[] = {
		{ "one rest in 101 late", 1, RATE_30, 6 * MS, 100000, 0, 0, 101 },
		{ "eight cameras, one rest in 101 late", 8, RATE_30, 26 * MS, 100000, 0, 0, 101 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		try_traffic(&rows[i], 30 * LULL_NS_PER_US, 30);
}
