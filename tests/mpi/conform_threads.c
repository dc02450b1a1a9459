/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads of each rank send and receive at once: MPI_THREAD_MULTIPLE. */
#include "conform.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS 4
#define TURNS 40
#define BYTES 100000

struct worker {
	MPI_Comm comm; /* its own, or all have one and differ by tags */
	int number;
};

static void
workers_run(void *(*work)(void *), bool own)
{
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .comm = MPI_COMM_WORLD, .number = i };
		if (own)
			MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
	}
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		if (own)
			MPI_Comm_free(&workers[i].comm);
	}
}

static int
turn_bytes(int turn, int number)
{
	return (turn * 7919 + number * 104729) % BYTES;
}

/* A ring of each thread, by receives that were begun before, or by any source. */
static void *
ring(void *arg)
{
	const struct worker *worker = arg;
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks,
	    tag = 100 + worker->number;
	uint8_t *out = malloc(BYTES), *in = malloc(BYTES);

	CHECK(out != NULL && in != NULL);
	for (int turn = 0; turn < TURNS; turn++) {
		int bytes = turn_bytes(turn, worker->number), count;
		MPI_Request requests[2];
		MPI_Status states[2];

		fill(out, bytes, rank + turn);
		MPI_Irecv(in, BYTES, MPI_BYTE, turn % 2 == 0 ? last : MPI_ANY_SOURCE, tag,
			  worker->comm, &requests[0]);
		MPI_Isend(out, bytes, MPI_BYTE, next, tag, worker->comm, &requests[1]);
		MPI_Waitall(2, requests, states);
		MPI_Get_count(&states[0], MPI_BYTE, &count);
		CHECK(count == bytes && states[0].MPI_SOURCE == last);
		CHECK(holds(in, count, last + turn));
	}
	free(out);
	free(in);
	return NULL;
}

/* Messages that threads look for, and take so that no other thread gets them. */
static void *
look(void *arg)
{
	const struct worker *worker = arg;
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks,
	    tag = 200 + worker->number;
	uint8_t *out = malloc(BYTES), *in = malloc(BYTES);

	CHECK(out != NULL && in != NULL);
	for (int turn = 0; turn < TURNS; turn++) {
		int bytes = turn_bytes(turn, worker->number), count, flag = 0;
		MPI_Request request;
		MPI_Message message;
		MPI_Status state;

		fill(out, bytes, rank + turn);
		MPI_Isend(out, bytes, MPI_BYTE, next, tag, worker->comm, &request);
		if (turn % 3 == 0)
			MPI_Mprobe(MPI_ANY_SOURCE, tag, worker->comm, &message, &state);
		while (turn % 3 == 1 && !flag)
			MPI_Improbe(last, tag, worker->comm, &flag, &message, &state);
		if (turn % 3 == 2)
			MPI_Probe(last, tag, worker->comm, &state);
		MPI_Get_count(&state, MPI_BYTE, &count);
		CHECK(count == bytes);
		if (turn % 3 == 2)
			MPI_Recv(in, count, MPI_BYTE, last, tag, worker->comm, &state);
		else
			MPI_Mrecv(in, count, MPI_BYTE, &message, &state);
		CHECK(holds(in, count, last + turn));
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	free(out);
	free(in);
	return NULL;
}

static void *
together(void *arg)
{
	const struct worker *worker = arg;
	double numbers[1000];

	for (int turn = 0; turn < TURNS; turn++) {
		int sum;

		for (int i = 0; i < 1000; i++)
			numbers[i] = rank == turn % ranks ? turn + i : -1;
		MPI_Bcast(numbers, 1000, MPI_DOUBLE, turn % ranks, worker->comm);
		CHECK(numbers[0] == turn && numbers[999] == turn + 999);
		MPI_Allreduce(&worker->number, &sum, 1, MPI_INT, MPI_SUM, worker->comm);
		CHECK(sum == ranks * worker->number);
	}
	MPI_Barrier(worker->comm);
	return NULL;
}

/* One waits for what another thread of its rank sends: each ends the other's rest. */
static void *
relay(void *arg)
{
	const struct worker *worker = arg;
	int to = (worker->number + 1) % THREADS, value = 0;

	for (int turn = 0; turn < TURNS; turn++) {
		if (worker->number == 0) {
			value = rank + turn;
			MPI_Send(&value, 1, MPI_INT, rank, 300 + to, worker->comm);
		}
		MPI_Recv(&value, 1, MPI_INT, rank, 300 + worker->number, worker->comm,
			 MPI_STATUS_IGNORE);
		if (worker->number != 0)
			MPI_Send(&value, 1, MPI_INT, rank, 300 + to, worker->comm);
		CHECK(value == rank + turn);
	}
	return NULL;
}

static void
rings(void)
{
	workers_run(ring, true);
	workers_run(ring, false);
}

static void
looks(void)
{
	workers_run(look, true);
	workers_run(look, false);
}

static void
all_together(void)
{
	workers_run(together, true);
}

static void
relays(void)
{
	workers_run(relay, false);
}

const struct conform_part conform_threads[] = {
	{ "rings", rings },   { "looks", looks }, { "all_together", all_together },
	{ "relays", relays }, { NULL, NULL },
};
