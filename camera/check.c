/* SPDX-License-Identifier: BSD-3-Clause */
/* The self-check: what would lose packets or make them late, with a remedy each. */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "host/node.h"
#include "net/check_cpu.h"

#include "receiver.h"

#define RT_RUNTIME "/proc/sys/kernel/sched_rt_runtime_us"

static void
check_ring(struct lull_receiver *receiver, struct lull_findings *findings)
{
	uint32_t ring_pkts = receiver->backend->ring_pkts(receiver->backend_state);
	uint64_t burst_pkts = 0;

	if (receiver->backend->file || ring_pkts == 0)
		return;
	for (uint32_t i = 0; i < receiver->stream_count; i++)
		burst_pkts += receiver->streams[i]->claim.burst_pkts;
	lull_finding_add(findings, "ring",
			 ring_pkts >= burst_pkts ? LULL_GRADE_FINE : LULL_GRADE_NOTE,
			 "room for %u packets, but one picture of every stream has %" PRIu64,
			 ring_pkts, burst_pkts);
	if (ring_pkts < burst_pkts)
		lull_finding_remedy(findings,
				    "raise ring_pkts (or socket_bytes), send larger packets, "
				    "or stagger the cameras");
}

static void
check_core(struct lull_receiver *receiver, struct lull_findings *findings)
{
	int cpu = receiver->config.cpu - 1;
	int count = 1;
	cpu_set_t allowed;

	if (receiver->backend->file)
		return;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
		count = CPU_COUNT(&allowed);
	if (receiver->backend->polled && count == 1) {
		lull_finding_add(findings, "core", LULL_GRADE_NOTE,
				 "this process has one CPU, for the polling thread and all "
				 "others");
		lull_finding_remedy(findings, "use kernel:IF, or give the process another CPU");
	} else if (receiver->backend->polled && cpu < 0 && !receiver->config.own_loop) {
		lull_finding_add(findings, "core", LULL_GRADE_NOTE,
				 "the receiving thread is not pinned, so it shares CPUs with other "
				 "threads");
		lull_finding_remedy(findings, "set cpu, and keep other programs off this CPU "
					      "(isolcpus, cpuset)");
	} else {
		lull_finding_add(findings, "core", LULL_GRADE_FINE, "%d CPUs for this process",
				 count);
	}
}

/* Pinned to a CPU of another node than the device: each packet crosses between the nodes. */
static void
check_node(struct lull_receiver *receiver, struct lull_findings *findings)
{
	int cpu = receiver->config.cpu - 1;
	struct lull_net_link link = { .node = 0 };

	if (receiver->backend->file || receiver->backend->link == NULL || cpu < 0)
		return;
	receiver->backend->link(receiver->backend_state, &link);
	check_cpu_near(cpu, lull_cpu_node(cpu), link.node - 1, findings);
}

/* Pinned, and another thread there: polling suffers most of all. */
static void
check_shared(struct lull_receiver *receiver, struct lull_findings *findings)
{
	int cpu = receiver->config.cpu - 1;
	char name[32];

	if (receiver->backend->file || cpu < 0 ||
	    !check_cpu_shared(cpu, atomic_load(&receiver->tid), name, sizeof(name)))
		return;
	lull_finding_add(findings, "shared core", LULL_GRADE_NOTE,
			 "%s uses CPU %d too, all the time", name, cpu);
	lull_finding_remedy(findings,
			    "move it to another CPU (taskset, cpuset, isolcpus=%d), or set "
			    "another cpu",
			    cpu);
}

/* What became of it, once there is a run to look at. */
static void
check_gaps(struct lull_receiver *receiver, struct lull_findings *findings)
{
	struct lull_receiver_totals totals;

	if (!receiver->started || receiver->backend->file)
		return;
	lull_receiver_totals(receiver, &totals);
	lull_finding_add(findings, "gaps",
			 totals.gaps_late == 0 ? LULL_GRADE_FINE : LULL_GRADE_NOTE,
			 "%" PRIu64 " poll iterations of the receiving thread began over 100 us "
			 "late",
			 totals.gaps_late);
	if (totals.gaps_late > 0)
		lull_finding_remedy(findings,
				    "give the thread its own CPU: set cpu, and keep other "
				    "programs off it (isolcpus, cpuset)");
}

/* Where the protocol does not say how pixels are packed, nobody can place them. */
static void
check_pixels(struct lull_receiver *receiver, struct lull_findings *findings)
{
	for (uint32_t i = 0; i < receiver->stream_count; i++) {
		const struct camera_stream *stream = receiver->streams[i];
		uint64_t unnamed = LULL_COUNTER_READ(stream->counters.unnamed);

		if (unnamed == 0)
			continue;
		lull_finding_add(findings, "pixels", LULL_GRADE_NOTE,
				 "stream %s: %" PRIu64 " packets of pixels that %s does not "
				 "describe are left out",
				 stream->name, unnamed, stream->protocol->name);
		lull_finding_remedy(findings, "name them by pixel");
	}
}

/* Nothing that a camera says makes buffers larger than the user allows. */
static void
check_sizes(struct lull_receiver *receiver, struct lull_findings *findings)
{
	for (uint32_t i = 0; i < receiver->stream_count; i++) {
		const struct camera_stream *stream = receiver->streams[i];
		uint64_t bytes = LULL_COUNTER_READ(stream->oversize_bytes);

		if (bytes == 0)
			continue;
		lull_finding_add(findings, "buffers", LULL_GRADE_NOTE,
				 "stream %s: images of up to %" PRIu64 " bytes are larger than its "
				 "%u buffers may become, and are left out",
				 stream->name, bytes, stream->image_count);
		lull_finding_remedy(findings,
				    "allow more memory, or take fewer buffers; or see who sends "
				    "this");
	}
}

/* A thread of SCHED_FIFO that polls is stopped for 50 ms in every second. */
static void
check_throttling(struct lull_receiver *receiver, struct lull_findings *findings)
{
	FILE *file = NULL;
	int runtime_us = -1;

	if (!receiver->backend->polled || receiver->backend->file ||
	    (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_OTHER)
		return;
	file = fopen(RT_RUNTIME, "re");
	if (file != NULL) {
		if (fscanf(file, "%d", &runtime_us) != 1)
			runtime_us = -1;
		fclose(file);
	}
	if (runtime_us < 0) {
		lull_finding_add(findings, "RT throttling", LULL_GRADE_FINE, "off");
		return;
	}
	lull_finding_add(findings, "RT throttling", LULL_GRADE_NOTE,
			 "the kernel stops real-time threads after %d us of every second",
			 runtime_us);
	lull_finding_remedy(findings, "sysctl -w kernel.sched_rt_runtime_us=-1");
}

/* Streams whose size the camera tells have none yet. */
static void
check_memory(struct lull_receiver *receiver, struct lull_findings *findings)
{
	char text[160];

	for (uint32_t i = 0; i < receiver->stream_count; i++) {
		const struct camera_stream *stream = receiver->streams[i];
		const struct camera_memory *memory = &stream->memory;
		bool granted;

		if (__atomic_load_n(&stream->assembler, __ATOMIC_ACQUIRE) == NULL ||
		    memory->data == NULL)
			continue;
		granted = camera_memory_explain(memory, text, sizeof(text));
		lull_finding_add(findings, "memory", granted ? LULL_GRADE_FINE : LULL_GRADE_NOTE,
				 "%s: %s", stream->name, text);
		if (!granted && memory->pages == LULL_CAMERA_PAGES_HUGE)
			lull_finding_remedy(findings,
					    "reserve %llu more huge pages (vm.nr_hugepages), or "
					    "leave pages=huge out",
					    (unsigned long long)((memory->bytes >> 21) + 1));
	}
}

uint32_t
lull_receiver_check(struct lull_receiver *receiver, struct lull_finding *lines, uint32_t count_max)
{
	struct lull_findings found = { .lines = lines, .count_max = count_max };
	const struct lull_net_backend *backend = receiver->backend;
	struct lull_findings *findings = &found;

	backend->check(receiver->backend_state, findings);
	for (uint32_t i = 0; backend->check_claim != NULL && i < receiver->stream_count; i++)
		backend->check_claim(receiver->backend_state, &receiver->streams[i]->claim,
				     findings);
	check_ring(receiver, findings);
	check_core(receiver, findings);
	check_node(receiver, findings);
	check_memory(receiver, findings);
	check_shared(receiver, findings);
	check_gaps(receiver, findings);
	check_pixels(receiver, findings);
	check_sizes(receiver, findings);
	check_throttling(receiver, findings);
	return found.count;
}
