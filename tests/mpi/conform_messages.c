/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from one rank to another: lengths, order, modes, requests, what ends early. */
#include "conform.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (64 << 20)
#define ORDERED 5000
#define MANY 64 /* of each rank, to one */
#define LIMIT_S 60.0

/* Each rank to the next, with one rank to itself. */
static void
sizes(void)
{
	static const int counts[] = { 0,    1,     8,       1023,    1024,     1025,
				      1464, 65536, 1 << 20, 1 << 24, BYTES_MAX };
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

/* All to rank 0, itself among them, which takes them from anybody and with any tag. */
static void
anybody(void)
{
	static uint8_t bytes[MANY][20000];
	MPI_Request requests[MANY];
	int *next = calloc((size_t)ranks, sizeof(*next));

	CHECK(next != NULL);
	for (int i = 0; i < MANY; i++) {
		fill(bytes[i], i * 311, rank + i);
		MPI_Isend(bytes[i], i * 311, MPI_BYTE, 0, 1000 + i, MPI_COMM_WORLD, &requests[i]);
	}
	for (int i = 0; rank == 0 && i < MANY * ranks; i++) {
		static uint8_t in[20000];
		MPI_Status state;
		int count;

		MPI_Recv(in, sizeof(in), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
			 &state);
		MPI_Get_count(&state, MPI_BYTE, &count);
		CHECK(state.MPI_TAG == 1000 + next[state.MPI_SOURCE]++);
		CHECK(count == (state.MPI_TAG - 1000) * 311);
		CHECK(holds(in, count, state.MPI_SOURCE + state.MPI_TAG - 1000));
	}
	MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	free(next);
}

/* Tags choose among messages that wait, in another order than they came. */
static void
tags(void)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, out[MANY], in[MANY], sum;
	MPI_Request requests[2 * MANY];
	MPI_Status state;

	for (int i = 0; i < MANY; i++) {
		out[i] = rank * 1000 + i;
		MPI_Isend(&out[i], 1, MPI_INT, next, 2000 + i, MPI_COMM_WORLD, &requests[i]);
	}
	for (int i = 0; i < MANY; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, i % 3 == 0 ? MPI_ANY_SOURCE : last,
			  2000 + MANY - 1 - i, MPI_COMM_WORLD, &requests[MANY + i]);
	MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < MANY; i++)
		CHECK(in[i] == last * 1000 + MANY - 1 - i);
	MPI_Sendrecv(out, 1, MPI_INT, next, 11, &sum, 1, MPI_INT, last, MPI_ANY_TAG, MPI_COMM_WORLD,
		     &state);
	CHECK(state.MPI_TAG == 11 && sum == last * 1000);
	MPI_Sendrecv_replace(out, 1, MPI_INT, next, 12, last, 12, MPI_COMM_WORLD, &state);
	CHECK(out[0] == last * 1000);
	MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 13, &sum, 1, MPI_INT, MPI_PROC_NULL, 13,
		     MPI_COMM_WORLD, &state);
	CHECK(state.MPI_SOURCE == MPI_PROC_NULL);
}

static void
self(void)
{
	static const int counts[] = { 0, 8, 70000, 1 << 20 };
	uint8_t *out = malloc(1 << 20), *in = malloc(1 << 20);
	MPI_Request requests[2];
	MPI_Status state;
	int count, flag;

	CHECK(out != NULL && in != NULL);
	for (int i = 0; i < 8; i++) { /* the receive is first, or the send */
		fill(out, counts[i / 2], rank + i);
		if (i % 2 == 0)
			MPI_Irecv(in, 1 << 20, MPI_BYTE, rank, 14, MPI_COMM_WORLD, &requests[0]);
		MPI_Issend(out, counts[i / 2], MPI_BYTE, rank, 14, MPI_COMM_WORLD, &requests[1]);
		if (i % 2 == 1) {
			MPI_Probe(MPI_ANY_SOURCE, 14, MPI_COMM_WORLD, &state);
			CHECK(state.MPI_SOURCE == rank);
			MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
			CHECK(!flag); /* nobody has received it */
			MPI_Irecv(in, 1 << 20, MPI_BYTE, rank, 14, MPI_COMM_WORLD, &requests[0]);
		}
		MPI_Wait(&requests[0], &state);
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
		MPI_Get_count(&state, MPI_BYTE, &count);
		CHECK(count == counts[i / 2] && holds(in, count, rank + i));
	}
	free(out);
	free(in);
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

/* Long messages that were only looked at, taken in the other order. */
static void
matched(void)
{
	enum { COUNT = 300000, KEPT = 3 };
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, count;
	uint8_t *out = malloc(KEPT * COUNT), *in = malloc(COUNT);
	MPI_Request requests[KEPT], request;
	MPI_Message messages[KEPT];
	MPI_Status state;

	CHECK(out != NULL && in != NULL);
	for (int i = 0; i < KEPT; i++) {
		fill(out + i * COUNT, COUNT - i, rank + i);
		MPI_Isend(out + i * COUNT, COUNT - i, MPI_BYTE, next, 15, MPI_COMM_WORLD,
			  &requests[i]);
	}
	for (int i = 0; i < KEPT; i++)
		MPI_Mprobe(last, MPI_ANY_TAG, MPI_COMM_WORLD, &messages[i], &state);
	for (int i = KEPT - 1; i >= 0; i--) {
		MPI_Imrecv(in, COUNT, MPI_BYTE, &messages[i], &request);
		MPI_Wait(&request, &state);
		MPI_Get_count(&state, MPI_BYTE, &count);
		CHECK(count == COUNT - i && holds(in, count, last + i));
	}
	MPI_Waitall(KEPT, requests, MPI_STATUSES_IGNORE);
	free(out);
	free(in);
}

/* Synchronous, buffered, ready. */
static void
modes(void)
{
	int other = rank ^ 1, value = rank, got = -1, bytes;
	uint8_t room[4096];
	void *given = room;
	MPI_Request request;

	if (other >= ranks)
		return;
	MPI_Irecv(&got, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &request);
	MPI_Ssend(&value, 1, MPI_INT, other, 5, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	CHECK(got == other);
	MPI_Buffer_attach(room, sizeof(room));
	MPI_Bsend(&value, 1, MPI_INT, other, 16, MPI_COMM_WORLD);
	MPI_Recv(&got, 1, MPI_INT, other, 16, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Buffer_detach(&given, &bytes);
	CHECK(got == other && given == room);
	MPI_Irecv(&got, 1, MPI_INT, other, 17, MPI_COMM_WORLD, &request);
	MPI_Sendrecv(&value, 1, MPI_INT, other, 18, &bytes, 1, MPI_INT, other, 18, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	value += 100;
	MPI_Rsend(&value, 1, MPI_INT, other, 17, MPI_COMM_WORLD); /* its receive is there */
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	CHECK(got == other + 100);
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
	int other = rank ^ 1, out[50] = { 0 }, in[5] = { 0, 0, 0, 0, 77 }, rc;
	MPI_Request request;

	if (other >= ranks)
		return;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Isend(out, 50, MPI_INT, other, 7, MPI_COMM_WORLD, &request);
	rc = MPI_Recv(in, 4, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(rc != MPI_SUCCESS && in[4] == 77);
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

/* Requests are ended one by one, some at a time, and asked for without waiting. */
static void
requests(void)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, out[MANY], in[MANY];
	MPI_Request sends[MANY], receives[MANY];
	int done[MANY], count, taken = 0, flag = 0, which;

	for (int i = 0; i < MANY; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, last, 3000 + i, MPI_COMM_WORLD, &receives[i]);
	for (int i = 0; i < MANY; i++) {
		out[i] = rank + i;
		MPI_Isend(&out[i], 1, MPI_INT, next, 3000 + i, MPI_COMM_WORLD, &sends[i]);
	}
	MPI_Waitany(MANY, receives, &which, MPI_STATUS_IGNORE);
	CHECK(which >= 0 && which < MANY && in[which] == last + which);
	for (taken = 1; taken < MANY; taken += count) {
		MPI_Waitsome(MANY, receives, &count, done, MPI_STATUSES_IGNORE);
		for (int i = 0; i < count; i++)
			CHECK(in[done[i]] == last + done[i]);
	}
	while (!flag)
		MPI_Testall(MANY, sends, &flag, MPI_STATUSES_IGNORE);
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

/* A megabyte of pairs with holes between them, into bytes without. */
static void
derived_long(void)
{
	enum { PAIRS = 65536 };
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
	int *out = malloc(sizeof(*out) * 4 * PAIRS), *in = malloc(sizeof(*in) * 2 * PAIRS);
	int lengths[2] = { 1, 1 }, good = 0;
	MPI_Aint places[2] = { 0, 2 * sizeof(int) };
	MPI_Datatype types[2] = { MPI_INT, MPI_INT }, pair, spread;

	CHECK(out != NULL && in != NULL);
	for (int i = 0; i < 4 * PAIRS; i++)
		out[i] = rank + i;
	MPI_Type_create_struct(2, lengths, places, types, &pair);
	MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &spread);
	MPI_Type_commit(&spread);
	MPI_Sendrecv(out, PAIRS, spread, next, 10, in, 2 * PAIRS, MPI_INT, last, 10, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	for (int i = 0; i < 2 * PAIRS; i++)
		good += in[i] == last + 2 * i;
	CHECK(good == 2 * PAIRS);
	MPI_Type_free(&pair);
	MPI_Type_free(&spread);
	free(out);
	free(in);
}

const struct conform_part conform_messages[] = {
	{ "sizes", sizes },
	{ "order", order },
	{ "anybody", anybody },
	{ "tags", tags },
	{ "self", self },
	{ "probes", probes },
	{ "matched", matched },
	{ "modes", modes },
	{ "cancels", cancels },
	{ "truncates", truncates },
	{ "persistent", persistent },
	{ "requests", requests },
	{ "derived", derived },
	{ "derived_long", derived_long },
	{ NULL, NULL },
};
