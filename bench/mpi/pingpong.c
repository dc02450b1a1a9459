/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What both ranks do for bench/channel/compare.py and bench/mpi/compare.py: one program for every
 * MPI library and every way it takes.
 *
 *	pingpong bandwidth SECONDS BYTES    rank 0 sends, 8 messages under way
 *	pingpong latency SECONDS BYTES      there and back, one at a time
 *	pingpong wait SECONDS BYTES         rank 1 waits in MPI_Recv for a message that comes late
 *
 * Rank 1 prints one line of JSON, as it knows what arrived; rank 0 does for latency. Where
 * PINGPONG_CURVE names a file, rank 1 makes it when it begins, and writes to it every 10 ms how
 * many bytes it has.
 */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNDER_WAY 8
#define SAMPLES_MAX (1u << 22)
#define TAG_DATA 1
#define TAG_END 2
#define TAG_TAKEN 3

static uint8_t *buffers[UNDER_WAY];
static double *samples;
static FILE *curve;

static void
curve_add(double now, uint64_t bytes)
{
	static double next;

	if (curve == NULL || now < next) {
		next = next == 0 ? now : next;
		return;
	}
	next = now + 0.01;
	fprintf(curve, "%llu\n", (unsigned long long)bytes);
	fflush(curve);
}

static double
now_s(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sends until the time is over; the last message has its own tag. */
static void
bandwidth_send(double seconds, int bytes)
{
	MPI_Request requests[UNDER_WAY];
	double end = now_s(CLOCK_MONOTONIC) + seconds;
	int i, taken;

	for (i = 0; i < UNDER_WAY; i++)
		requests[i] = MPI_REQUEST_NULL;
	for (i = 0; now_s(CLOCK_MONOTONIC) < end; i = (i + 1) % UNDER_WAY) {
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
		MPI_Isend(buffers[i], bytes, MPI_BYTE, 1, TAG_DATA, MPI_COMM_WORLD, &requests[i]);
	}
	MPI_Waitall(UNDER_WAY, requests, MPI_STATUSES_IGNORE);
	MPI_Send(buffers[0], 0, MPI_BYTE, 1, TAG_END, MPI_COMM_WORLD);
	MPI_Recv(&taken, 1, MPI_INT, 1, TAG_TAKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Time runs from the end of the first message on, as connecting is not measured. */
static void
bandwidth_receive(int bytes)
{
	double begin = 0, end = 0;
	MPI_Request requests[UNDER_WAY];
	uint64_t count = 0;
	MPI_Status status;
	int i, taken = 0;

	for (i = 0; i < UNDER_WAY; i++)
		MPI_Irecv(buffers[i], bytes, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
			  &requests[i]);
	for (i = 0;; i = (i + 1) % UNDER_WAY) {
		MPI_Wait(&requests[i], &status);
		if (status.MPI_TAG == TAG_END)
			break;
		end = now_s(CLOCK_MONOTONIC);
		if (count++ == 0)
			begin = end;
		curve_add(end, count * (uint64_t)bytes);
		MPI_Irecv(buffers[i], bytes, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
			  &requests[i]);
	}
	for (taken = (i + 1) % UNDER_WAY; taken != i; taken = (taken + 1) % UNDER_WAY) {
		MPI_Cancel(&requests[taken]);
		MPI_Wait(&requests[taken], MPI_STATUS_IGNORE);
	}
	MPI_Send(&taken, 1, MPI_INT, 0, TAG_TAKEN, MPI_COMM_WORLD);
	if (count < 2 || end <= begin) {
		printf("{\"messages\": %lu}\n", (unsigned long)count);
		return;
	}
	printf("{\"messages\": %lu, \"goodput_bps\": %.0f}\n", (unsigned long)count,
	       8.0 * bytes * (double)(count - 1) / (end - begin));
}

static void
latency_ask(double seconds, int bytes)
{
	double begin, end, until;
	uint32_t count = 0;

	MPI_Sendrecv(buffers[0], bytes, MPI_BYTE, 1, TAG_DATA, buffers[1], bytes, MPI_BYTE, 1,
		     TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	until = now_s(CLOCK_MONOTONIC) + seconds;
	for (begin = now_s(CLOCK_MONOTONIC); begin < until && count < SAMPLES_MAX; begin = end) {
		MPI_Send(buffers[0], bytes, MPI_BYTE, 1, TAG_DATA, MPI_COMM_WORLD);
		MPI_Recv(buffers[1], bytes, MPI_BYTE, 1, TAG_DATA, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		end = now_s(CLOCK_MONOTONIC);
		samples[count++] = 1e6 * (end - begin) / 2;
	}
	MPI_Send(buffers[0], 0, MPI_BYTE, 1, TAG_END, MPI_COMM_WORLD);
	qsort(samples, count, sizeof(*samples), by_size);
	printf("{\"messages\": %u, \"p50_us\": %.3f, \"p99_us\": %.3f, \"max_us\": %.3f}\n", count,
	       samples[count / 2], samples[(uint64_t)count * 99 / 100], samples[count - 1]);
}

static void
latency_answer(int bytes)
{
	MPI_Status status;

	for (;;) {
		MPI_Recv(buffers[0], bytes, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		if (status.MPI_TAG == TAG_END)
			return;
		MPI_Send(buffers[0], bytes, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD);
	}
}

/* Connecting is not measured. */
static void
wait_begin(int other)
{
	MPI_Sendrecv(buffers[0], 1, MPI_BYTE, other, TAG_DATA, buffers[1], 1, MPI_BYTE, other,
		     TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void
wait_sleep(double seconds)
{
	struct timespec rest = { (time_t)seconds,
				 (long)(1e9 * (seconds - (double)(time_t)seconds)) };

	wait_begin(1);
	MPI_Send(buffers[0], 1, MPI_BYTE, 1, TAG_DATA, MPI_COMM_WORLD);
	nanosleep(&rest, NULL);
	MPI_Send(buffers[0], 1, MPI_BYTE, 1, TAG_END, MPI_COMM_WORLD);
}

static void
wait_receive(void)
{
	double wall, cpu;

	wait_begin(0);
	MPI_Recv(buffers[0], 1, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	wall = now_s(CLOCK_MONOTONIC);
	cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
	MPI_Recv(buffers[0], 1, MPI_BYTE, 0, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	wall = now_s(CLOCK_MONOTONIC) - wall;
	cpu = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("{\"wait_cpu_pct\": %.2f}\n", 100 * cpu / wall);
}

static int
run(int rank, const char *what, double seconds, int bytes)
{
	if (strcmp(what, "bandwidth") == 0)
		rank == 0 ? bandwidth_send(seconds, bytes) : bandwidth_receive(bytes);
	else if (strcmp(what, "latency") == 0)
		rank == 0 ? latency_ask(seconds, bytes) : latency_answer(bytes);
	else if (strcmp(what, "wait") == 0)
		rank == 0 ? wait_sleep(seconds) : wait_receive();
	else
		return 2;
	return 0;
}

int
main(int argc, char **argv)
{
	int rank, size, bytes, i, status;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	bytes = argc == 4 ? atoi(argv[3]) : 0;
	if (argc != 4 || size != 2 || bytes < 1) {
		fprintf(stderr, "with 2 ranks: pingpong bandwidth|latency|wait SECONDS BYTES\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	samples = malloc(SAMPLES_MAX * sizeof(*samples));
	for (i = 0; i < UNDER_WAY; i++)
		buffers[i] = calloc(1, (size_t)bytes);
	if (rank == 1 && getenv("PINGPONG_CURVE") != NULL)
		curve = fopen(getenv("PINGPONG_CURVE"), "w");
	status = run(rank, argv[1], atof(argv[2]), bytes);
	fflush(stdout);
	MPI_Finalize();
	return status;
}
