/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rests by TPAUSE and by monitor, on a fake CPU and a fake driver. A wake-up that gets lost costs a
 * rest of PATIENT_NS.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <rte_lcore.h>
#include <rte_mempool.h>

#include "fake_cpu.h"
#include "fake_port.h"
#include "stand.h"

#define PATIENT_NS (10 * LULL_NS_PER_S)
#define PROMPT_NS (5 * LULL_NS_PER_S) /* well before, on a machine that is busy */
#define PINGS 3000

static const uint32_t queue_counts[] = { 1, 4, 16 };
#define QUEUE_COUNTS (sizeof(queue_counts) / sizeof(queue_counts[0]))

static struct lull_rest_device device;

static int
cpu_anew(void **state)
{
	(void)state;
	fake_cpu_anew();
	return 0;
}

static void
device_open(uint32_t queue_count, bool counts)
{
	fake_device_open(&device, queue_count, counts, false);
}

static enum lull_wake_reason
timed_run(const struct lull_rest_way *way, uint64_t limit_ns, uint64_t *took_ns)
{
	uint64_t begin_ns = lull_clock_ns();
	enum lull_wake_reason reason = way->run(&device, limit_ns);

	*took_ns = lull_clock_ns() - begin_ns;
	return reason;
}

/* ---- TPAUSE ---- */

TEST_WITH(tpause__waits_beyond_the_kernels_limit, cpu_anew, NULL)
{
	uint64_t took_ns;

	assert_int_equal(lull_rest_tpause.probe(NULL), 0);
	fake_cpu.pauses = 0;
	assert_int_equal(timed_run(&lull_rest_tpause, 2 * LULL_NS_PER_MS, &took_ns),
			 LULL_WAKE_TIMER);
	assert_true(took_ns >= 2 * LULL_NS_PER_MS * 99 / 100);
	/* 40 of 50 us each; fewer if others had the CPU */
	assert_in_range(fake_cpu.pauses, 2, 42);
	fake_cpu.pauses = 0;
	fake_cpu.limit_ns = 0;
	assert_int_equal(timed_run(&lull_rest_tpause, LULL_NS_PER_MS, &took_ns), LULL_WAKE_TIMER);
	assert_true(took_ns >= LULL_NS_PER_MS * 99 / 100);
	assert_in_range(fake_cpu.pauses, 1, 2);
}

TEST_WITH(tpause__is_not_on_offer, cpu_anew, NULL)
{
	uint64_t took_ns;

	fake_cpu.pause = false;
	assert_int_equal(lull_rest_tpause.probe(NULL), -ENOTSUP);
	assert_int_equal(fake_cpu.pauses, 0);
	fake_cpu.pause = true;
	fake_cpu.refuses = -EINVAL;
	assert_int_equal(lull_rest_tpause.probe(NULL), -EINVAL);
	/* one that fails later is no shorter */
	assert_int_equal(timed_run(&lull_rest_tpause, LULL_NS_PER_MS, &took_ns), LULL_WAKE_TIMER);
	assert_true(took_ns >= LULL_NS_PER_MS);
}

/* ---- monitor, step by step ---- */

TEST_WITH(monitor__is_refused, cpu_anew, NULL)
{
	device_open(4, true);
	assert_int_equal(lull_rest_monitor.probe(&device), 0);
	assert_int_equal(fake_cpu.addresses, 4);
	fake_cpu.multi = false; /* a CPU without RTM */
	assert_int_equal(lull_rest_monitor.probe(&device), -ENOTSUP);
	device.queue_count = 1;
	assert_int_equal(lull_rest_monitor.probe(&device), 0);
	fake_cpu.monitor = false;
	assert_int_equal(lull_rest_monitor.probe(&device), -ENOTSUP);
	fake_cpu_anew();
	device.queue_count = 4;
	fake_port.queues[3].address_rc = -ENOTSUP; /* a driver without it */
	assert_int_equal(lull_rest_monitor.probe(&device), -ENOTSUP);
	fake_port.queues[3].address_rc = 0;
	fake_cpu.refuses = -ENOTSUP; /* says one thing, does another */
	assert_int_equal(lull_rest_monitor.probe(&device), -ENOTSUP);
	fake_cpu.refuses = 0;
	device.queue_count = 0;
	assert_int_equal(lull_rest_monitor.probe(&device), -ENOTSUP);
	fake_device_close(&device);
}

struct sending {
	uint32_t queue;
	pthread_t thread;
};

static void *
send_later(void *arg)
{
	usleep(500);
	fake_port_send(((const struct sending *)arg)->queue, 1);
	return NULL;
}

static void
wakes_on_each_queue(uint32_t queue_count)
{
	uint64_t took_ns;

	device_open(queue_count, true);
	for (uint32_t i = 0; i < queue_count; i++) {
		struct sending sending = { .queue = i };

		assert_int_equal(pthread_create(&sending.thread, NULL, send_later, &sending), 0);
		assert_int_equal(timed_run(&lull_rest_monitor, PATIENT_NS, &took_ns),
				 LULL_WAKE_PACKET);
		assert_true(took_ns < PROMPT_NS);
		assert_int_equal(pthread_join(sending.thread, NULL), 0);
		assert_int_equal(fake_cpu.addresses, queue_count);
		assert_int_equal(fake_device_drain(&device), 1);
	}
	fake_device_close(&device);
}

TEST_WITH(monitor__wakes_on_each_queue, cpu_anew, NULL)
{
	for (uint32_t i = 0; i < QUEUE_COUNTS; i++)
		wakes_on_each_queue(queue_counts[i]);
}

/*
 * A packet that comes after the last poll and before the address is known is in the value already
 * that the driver waits to change.
 */
static void
meets_a_packet_before_arming(uint32_t queue_count, bool counts)
{
	uint64_t took_ns;

	device_open(queue_count, counts);
	for (uint32_t i = 0; i < queue_count; i++) {
		fake_port.at_address = fake_port.at_queue = (int)i;
		assert_int_equal(timed_run(&lull_rest_monitor, PATIENT_NS, &took_ns),
				 LULL_WAKE_PACKET);
		assert_int_equal(fake_port.at_address, -1);
		assert_true(took_ns < PROMPT_NS);
		/* Without rx_queue_count looking meant receiving. */
		assert_int_equal(device.stash_count, counts ? 0 : 1);
		assert_int_equal(fake_device_drain(&device), 1);
	}
	fake_device_close(&device);
}

static void
inject_before_wait(void)
{
	fake_cpu.before = NULL;
	fake_port_send(fake_port.queue_count - 1, 2);
}

static void
meets_a_packet_after_the_recheck(uint32_t queue_count)
{
	uint64_t took_ns;

	device_open(queue_count, true);
	fake_cpu.before = inject_before_wait;
	assert_int_equal(timed_run(&lull_rest_monitor, PATIENT_NS, &took_ns), LULL_WAKE_PACKET);
	assert_true(took_ns < PROMPT_NS);
	assert_int_equal(fake_device_drain(&device), 1);
	fake_device_close(&device);
}

TEST_WITH(monitor__no_packet_slips_through, cpu_anew, NULL)
{
	for (uint32_t i = 0; i < QUEUE_COUNTS; i++) {
		meets_a_packet_before_arming(queue_counts[i], true);
		meets_a_packet_before_arming(queue_counts[i], false);
		meets_a_packet_after_the_recheck(queue_counts[i]);
	}
}

/* The kernel's limit, and writes that were none, end a wait, not the rest. */
TEST_WITH(monitor__rests_beyond_the_kernels_limit, cpu_anew, NULL)
{
	uint64_t took_ns;

	device_open(4, true);
	assert_int_equal(timed_run(&lull_rest_monitor, 3 * LULL_NS_PER_MS, &took_ns),
			 LULL_WAKE_TIMER);
	assert_true(took_ns >= 3 * LULL_NS_PER_MS * 99 / 100);
	assert_true(fake_cpu.waits >= 2);
	fake_cpu.waits = 0;
	fake_cpu.limit_ns = 0;
	fake_cpu.spurious = 7;
	assert_int_equal(timed_run(&lull_rest_monitor, 3 * LULL_NS_PER_MS, &took_ns),
			 LULL_WAKE_TIMER);
	assert_true(took_ns >= 3 * LULL_NS_PER_MS * 99 / 100);
	assert_true(fake_cpu.waits >= 8);
	/* one that fails while the loop runs shortens it neither, and packets still end it */
	fake_cpu.refuses = -EINVAL;
	assert_int_equal(timed_run(&lull_rest_monitor, LULL_NS_PER_MS, &took_ns), LULL_WAKE_TIMER);
	assert_true(took_ns >= LULL_NS_PER_MS * 99 / 100);
	fake_port_send(3, 1);
	assert_int_equal(timed_run(&lull_rest_monitor, PATIENT_NS, &took_ns), LULL_WAKE_PACKET);
	assert_int_equal(fake_device_drain(&device), 1);
	fake_device_close(&device);
}

static void *
kick_later(void *arg)
{
	(void)arg;
	usleep(1000);
	lull_rest_device_kick(&device);
	return NULL;
}

TEST_WITH(monitor__ends_by_a_kick, cpu_anew, NULL)
{
	pthread_t kicker;
	uint64_t took_ns;

	device_open(4, true);
	fake_cpu.limit_ns = 0;          /* the wake-up alone ends the wait */
	lull_rest_device_kick(&device); /* before it begins */
	assert_int_equal(timed_run(&lull_rest_monitor, PATIENT_NS, &took_ns), LULL_WAKE_KICK);
	assert_int_equal(fake_cpu.wakeups, 0);
	assert_int_equal(pthread_create(&kicker, NULL, kick_later, NULL), 0);
	assert_int_equal(timed_run(&lull_rest_monitor, PATIENT_NS, &took_ns), LULL_WAKE_KICK);
	assert_int_equal(pthread_join(kicker, NULL), 0);
	assert_true(took_ns < PROMPT_NS);
	assert_int_equal(fake_cpu.wakeups, 1);
	assert_int_equal(fake_cpu.lcore_id, rte_lcore_id());
	/* and the next is whole */
	assert_int_equal(timed_run(&lull_rest_monitor, LULL_NS_PER_MS, &took_ns), LULL_WAKE_TIMER);
	fake_device_close(&device);
}

/* ---- a loop whose ring is too short to sleep ---- */

struct watch {
	uint64_t rests[LULL_IDLE_STATE_COUNT], packets, late;
	uint64_t limit_ns_max; /* of monitor rests */
	bool timed_out;
};

static void
watch(void *arg, const struct lull_iteration *iteration, const struct lull_rest *rest,
      const struct lull_wake *wake)
{
	struct watch *watch = arg;
	uint64_t pkts = 0;

	for (uint32_t i = 0; i < iteration->queue_count; i++)
		pkts += iteration->queue_pkts[i];
	if (wake == NULL) {
		/* It was there when the rest ended by its timer. */
		if (watch->timed_out && pkts > 0)
			LULL_COUNTER_ADD(watch->late, 1);
		watch->timed_out = false;
		return;
	}
	LULL_COUNTER_ADD(watch->rests[rest->idle_state], 1);
	if (rest->idle_state != LULL_IDLE_MONITOR)
		return;
	watch->limit_ns_max = LULL_MAX(watch->limit_ns_max, rest->limit_ns);
	watch->timed_out = wake->reason == LULL_WAKE_TIMER;
	if (wake->reason == LULL_WAKE_PACKET)
		LULL_COUNTER_ADD(watch->packets, 1);
}

/* 256 packets at 30 Mpps last 8 us: no sleep is so short. */
static struct lull_loop *
loop_run(uint32_t queue_count, const char *governor, struct lull_forward_config *forward,
	 struct watch *seen)
{
	struct lull_loop_config config = stand_loop("mon0", 1, &fake_port.far, forward);

	memset(seen, 0, sizeof(*seen));
	forward->mode = LULL_FORWARD_SINK;
	forward->queue_count = queue_count;
	config.queue_count = queue_count;
	for (uint32_t i = 0; i < queue_count; i++)
		config.queues[i] = (struct lull_loop_queue){ fake_port.far.port_id, (uint16_t)i };
	config.governor = lull_idle_governor_find(governor);
	config.limits = (struct lull_idle_limits){
		.latency_ns = 200 * LULL_NS_PER_US,
		.loss = LULL_LOSS_ZERO,
		.envelope = LULL_ENVELOPE_STATED,
		.pps_max = 30000000,
		.ring_pkts = 256,
	};
	config.trace = watch;
	config.trace_arg = seen;
	return stand_run(&config);
}

/* One packet at a time, into one queue after the other: each is met, none waits for a timer. */
static void
loop_meets_each_packet(uint32_t queue_count, const char *governor)
{
	const struct lull_idle_counters *counters;
	struct lull_forward_config forward;
	struct lull_loop_snapshot snapshot;
	struct lull_loop *loop;
	struct watch seen;

	fake_port_open(queue_count, true, false);
	loop = loop_run(queue_count, governor, &forward, &seen);
	counters = lull_loop_counters(loop);
	assert_int_equal(lull_loop_idle_state_probe(loop, LULL_IDLE_MONITOR), 0);
	STAND_WAIT(LULL_COUNTER_READ(seen.rests[LULL_IDLE_MONITOR]) > 0);
	for (uint32_t i = 0; i < PINGS; i++) {
		assert_true(fake_port_send(i % queue_count, i));
		STAND_WAIT(LULL_COUNTER_READ(counters->pkts) == i + 1);
		for (volatile uint32_t spin = 0; spin < i % 997 * 10; spin++)
			;
	}
	/* The governor chose it: a fast machine meets all packets while it still calibrates. */
	STAND_WAIT((lull_loop_snapshot(loop, &snapshot),
		    snapshot.verdict.idle_state == LULL_IDLE_MONITOR &&
			    snapshot.verdict.state == LULL_VERDICT_INFEASIBLE));
	lull_loop_stop(loop);
	assert_int_equal(fake_port_waiting(), 0);
	/* counted by idle state */
	assert_int_equal(counters->rests[LULL_IDLE_MONITOR], seen.rests[LULL_IDLE_MONITOR]);
	assert_int_equal(counters->rests[LULL_IDLE_PAUSE], 0);
	assert_true(seen.packets > PINGS / 10);
	/* no longer than the ring lasts if nothing wakes it, and than half of the objective */
	assert_true(seen.limit_ns_max <= 8 * LULL_NS_PER_US);
	print_message("   %u queues, %s: %llu rests, %llu ended by packets, longest %llu ns\n",
		      queue_count, governor, (unsigned long long)seen.rests[LULL_IDLE_MONITOR],
		      (unsigned long long)seen.packets, (unsigned long long)seen.limit_ns_max);
	lull_loop_destroy(loop);
	fake_port_close();
	assert_int_equal(rte_mempool_in_use_count(stand_pool()), 0);
}

TEST_WITH(loop__falls_back_to_monitor, cpu_anew, NULL)
{
	for (uint32_t i = 0; i < QUEUE_COUNTS; i++)
		loop_meets_each_packet(queue_counts[i], "objective");
	loop_meets_each_packet(4, "kalman-guarded");
}

/* Many queues and no RTM: the next lighter way. */
TEST_WITH(loop__falls_back_to_tpause_and_pause, cpu_anew, NULL)
{
	for (int tpause = 0; tpause < 2; tpause++) {
		const struct lull_idle_counters *counters;
		struct lull_forward_config forward;
		struct lull_loop *loop;
		struct watch seen;

		fake_cpu_anew();
		fake_cpu.multi = false;
		fake_cpu.pause = tpause == 1;
		fake_port_open(4, true, false);
		loop = loop_run(4, "objective", &forward, &seen);
		counters = lull_loop_counters(loop);
		assert_int_equal(lull_loop_idle_state_probe(loop, LULL_IDLE_MONITOR), -ENOTSUP);
		assert_int_equal(lull_loop_idle_state_probe(loop, LULL_IDLE_PAUSE), 0);
		STAND_WAIT(LULL_COUNTER_READ(seen.rests[LULL_IDLE_PAUSE]) > 100);
		assert_true(fake_port_send(3, 1));
		STAND_WAIT(LULL_COUNTER_READ(counters->pkts) == 1);
		lull_loop_stop(loop);
		assert_int_equal(counters->rests[LULL_IDLE_MONITOR], 0);
		assert_int_equal(FAKE_GET(fake_cpu, pauses) > 100, tpause == 1);
		lull_loop_destroy(loop);
		fake_port_close();
	}
}

TEST_GROUP(stand_setup, stand_stop);
