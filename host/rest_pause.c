/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/rest.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

/* Between two looks at the clock: 4 x 40..140 cycles on x86. */
#define PAUSES_PER_LOOK 4

static inline void
pause_once(void)
{
#if defined(__x86_64__) || defined(__i386__)
	_mm_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory"); /* "yield" is a no-op on most of these cores */
#elif defined(__riscv)
	__asm__ volatile(".4byte 0x100000f" ::: "memory"); /* pause */
#elif defined(__powerpc64__)
	__asm__ volatile("or 27,27,27" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

static int
pause_probe(void *context)
{
	(void)context;
	return 0;
}

static enum lull_wake_reason
pause_run(void *context, uint64_t limit_ns)
{
	uint64_t end_ns = lull_clock_ns() + limit_ns;

	(void)context;
	do {
		for (int i = 0; i < PAUSES_PER_LOOK; i++)
			pause_once();
	} while (lull_clock_ns() < end_ns);
	return LULL_WAKE_TIMER;
}

const struct lull_rest_way lull_rest_pause = {
	.idle_state = LULL_IDLE_PAUSE,
	.summary = "the core pauses its pipeline; the thread keeps the core",
	.probe = pause_probe,
	.run = pause_run,
};
