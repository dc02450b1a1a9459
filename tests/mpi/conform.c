/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conform: what MPI promises of messages, for any number of ranks and any transport below. Prints
 * one line at rank 0, and ends the job at the first thing that is wrong.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (16 << 20)
#define ORDERED 500
#define LIMIT_S 20.0

static int rank, ranks;

#define CHECK(holds)                                                                               \
	do {                                                                                       \
		if (!(holds)) {                                                                    \
			fprintf(stderr, "conform: rank %d: line %d: %s\n", rank, __LINE__,         \
				#holds);                                                           \
			MPI_Abort(MPI_COMM_WORLD, 1);                                              \
		}                                                                                  \
	} while (0)

static void
fill(uint8_t *bytes, int count, int seed)
{
	for (int i = 0; i < count; i++)
		bytes[i] = (uint8_t)(i * 131 + (i >> 8) * 7 + seed * 29);
}

static bool
holds(const uint8_t *bytes, int count, int seed)
{
	for (int i = 0; i < count; i++)
		if (bytes[i] != (uint8_t)(i * 131 + (i >> 8) * 7 + seed * 29))
			return false;
	return true;
}

/* Each rank to the next, with one rank to itself. */
static void
sizes(void)
{
	static const int counts[] = { 0, 1, 8, 1023, 1024, 1025, 1464, 65536, 1 << 20, BYTES_MAX };
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
	uint8_t *out = malloc(BYTES_MAX), *in = malloc(BYTES_MAX);

	CHECK(out != NULL && in != NULL);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		MPI_Request requests[2];
		MPI_Status states[2];
		int count;

		fill(out, counts[i], rank);
		MPI_Irecv(in, BYTES_MAX, MPI_BYTE, last, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(out, counts[i], MPI_BYTE, next, 1, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, states);
		MPI_Get_count(&states[0], MPI_BYTE, &count);
		CHECK(count == counts[i] && states[0].MPI_SOURCE == last && states[0].MPI_TAG == 1);
		CHECK(holds(in, count, last));
	}
	free(out);
	free(in);
}

/* Messages of one rank match in their order, whatever their length and who waited first. */
static void
order(void)
{
	static int values[ORDERED][400];
	static MPI_Request requests[ORDERED];
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, got[400];
	MPI_Status state;

	for (int i = 0; i < ORDERED; i++) {
		values[i][0] = i;
		MPI_Isend(values[i], 1 + i % 400, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[i]);
	}
	for (int i = 0; i < ORDERED; i++) {
		int count;

		MPI_Recv(got, 400, MPI_INT, i % 2 == 0 ? last : MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
			 &state);
		MPI_Get_count(&state, MPI_INT, &count);
		CHECK(got[0] == i && count == 1 + i % 400);
	}
	MPI_Waitall(ORDERED, requests, MPI_STATUSES_IGNORE);
}

static void
probes(void)
{
	int other = rank ^ 1, count, flag = 0, value = rank;
	MPI_Message message;
	MPI_Request request;
	MPI_Status state;
	double begin;

	if (other >= ranks)
		return;
	MPI_Iprobe(other, 99, MPI_COMM_WORLD, &flag, &state);
	CHECK(!flag);
	MPI_Isend(&value, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &request);
	MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &state);
	MPI_Get_count(&state, MPI_INT, &count);
	CHECK(count == 1 && state.MPI_SOURCE == other);
	MPI_Recv(&count, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &state);
	CHECK(count == other);
	MPI_Wait(&request, &state);
	MPI_Isend(&value, 1, MPI_INT, other, 4, MPI_COMM_WORLD, &request);
	begin = MPI_Wtime();
	for (flag = 0; !flag && MPI_Wtime() - begin < LIMIT_S;)
		MPI_Improbe(other, 4, MPI_COMM_WORLD, &flag, &message, &state);
	CHECK(flag);
	MPI_Iprobe(other, 4, MPI_COMM_WORLD, &flag, &state);
	CHECK(!flag); /* nobody else gets it */
	MPI_Mrecv(&count, 1, MPI_INT, &message, &state);
	CHECK(count == other);
	MPI_Wait(&request, &state);
}

static void
synchronous(void)
{
	int other = rank ^ 1, value = rank, got = -1;
	MPI_Request request;

	if (other >= ranks)
		return;
	MPI_Irecv(&got, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &request);
	MPI_Ssend(&value, 1, MPI_INT, other, 5, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	CHECK(got == other);
}

static void
cancels(void)
{
	MPI_Request request;
	MPI_Status state;
	int value, flag;

	MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, &state);
	MPI_Test_cancelled(&state, &flag);
	CHECK(flag);
}

static void
truncates(void)
{
	int other = rank ^ 1, out[50] = { 0 }, in[4], rc;
	MPI_Request request;

	if (other >= ranks)
		return;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Isend(out, 50, MPI_INT, other, 7, MPI_COMM_WORLD, &request);
	rc = MPI_Recv(in, 4, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(rc != MPI_SUCCESS);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void
persistent(void)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, out, in;
	MPI_Request requests[2];

	MPI_Recv_init(&in, 1, MPI_INT, last, 8, MPI_COMM_WORLD, &requests[0]);
	MPI_Send_init(&out, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[1]);
	for (int i = 0; i < 20; i++) {
		out = 100 * rank + i;
		MPI_Startall(2, requests);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		CHECK(in == 100 * last + i);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static void
collectives(MPI_Comm comm)
{
	int size, me, sum, root = 0;
	double *out, *in;

	MPI_Comm_size(comm, &size);
	MPI_Comm_rank(comm, &me);
	out = malloc(sizeof(*out) * (size_t)size * 5000);
	in = malloc(sizeof(*in) * (size_t)size * 5000);
	CHECK(out != NULL && in != NULL);
	MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
	CHECK(sum == size * (size - 1) / 2);
	for (int i = 0; i < size * 5000; i++)
		out[i] = me * 10 + i / 5000;
	MPI_Alltoall(out, 5000, MPI_DOUBLE, in, 5000, MPI_DOUBLE, comm);
	for (int i = 0; i < size * 5000; i++)
		CHECK(in[i] == i / 5000 * 10 + me);
	MPI_Gather(&me, 1, MPI_INT, in, 1, MPI_INT, root, comm);
	MPI_Bcast(in, 1, MPI_INT, root, comm);
	MPI_Scan(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
	CHECK(sum == me * (me + 1) / 2);
	MPI_Barrier(comm);
	free(out);
	free(in);
}

static void
communicators(void)
{
	MPI_Comm half, copy;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	collectives(half);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	collectives(copy);
	MPI_Comm_free(&half);
	MPI_Comm_free(&copy);
}

/* Every second column of a matrix. */
static void
derived(void)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
	int out[20][20], in[20][20];
	MPI_Datatype column;

	for (int i = 0; i < 400; i++) {
		out[i / 20][i % 20] = rank * 1000 + i;
		in[i / 20][i % 20] = -1;
	}
	MPI_Type_vector(20, 1, 20, MPI_INT, &column);
	MPI_Type_commit(&column);
	MPI_Sendrecv(&out[0][3], 1, column, next, 9, &in[0][4], 1, column, last, 9, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	for (int i = 0; i < 20; i++)
		CHECK(in[i][4] == last * 1000 + i * 20 + 3 && in[i][5] == -1);
	MPI_Type_free(&column);
}

int
main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	sizes();
	order();
	probes();
	synchronous();
	cancels();
	truncates();
	persistent();
	derived();
	collectives(MPI_COMM_WORLD);
	communicators();
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("conform: %d ranks: all holds\n", ranks);
	MPI_Finalize();
	return 0;
}
