/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives, those that do not wait, and communicators. */
#include "conform.h"

#include <stdlib.h>
#include <string.h>

#define EACH 5000   /* numbers for each rank */
#define LONG 300000 /* numbers of one long collective: 2.4 MB */
#define CHAINS 8

/* What all ranks know of a communicator, and room for two numbers per rank and EACH. */
struct group {
	MPI_Comm comm;
	int me, size;
	double *out, *in;
	int *counts, *places; /* rank r: r + 1 numbers, one after the other */
};

static void
group_open(struct group *group, MPI_Comm comm)
{
	group->comm = comm;
	MPI_Comm_size(comm, &group->size);
	MPI_Comm_rank(comm, &group->me);
	group->out = malloc(sizeof(double) * (size_t)group->size * EACH);
	group->in = malloc(sizeof(double) * (size_t)group->size * EACH);
	group->counts = malloc(sizeof(int) * (size_t)group->size);
	group->places = malloc(sizeof(int) * (size_t)group->size);
	CHECK(group->out != NULL && group->in != NULL);
	CHECK(group->counts != NULL && group->places != NULL);
	for (int r = 0; r < group->size; r++) {
		group->counts[r] = r + 1;
		group->places[r] = r * (r + 1) / 2;
	}
}

static void
group_close(struct group *group)
{
	free(group->out);
	free(group->in);
	free(group->counts);
	free(group->places);
}

static void
reductions(const struct group *group)
{
	int me = group->me, size = group->size, sum = -1, most[2], pair[2] = { me % 3, me };
	int *each = calloc((size_t)size, sizeof(int));

	CHECK(each != NULL);
	MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, group->comm);
	CHECK(sum == size * (size - 1) / 2);
	MPI_Allreduce(pair, most, 1, MPI_2INT, MPI_MAXLOC, group->comm);
	CHECK(most[0] == (size > 2 ? 2 : size - 1) && most[1] == most[0]);
	MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_MAX, size - 1, group->comm);
	CHECK(me != size - 1 || sum == size - 1);
	MPI_Scan(&me, &sum, 1, MPI_INT, MPI_SUM, group->comm);
	CHECK(sum == me * (me + 1) / 2);
	MPI_Exscan(&me, &sum, 1, MPI_INT, MPI_SUM, group->comm);
	CHECK(me == 0 || sum == me * (me - 1) / 2);
	for (int r = 0; r < size; r++)
		each[r] = r * me;
	MPI_Reduce_scatter_block(each, &sum, 1, MPI_INT, MPI_SUM, group->comm);
	CHECK(sum == me * size * (size - 1) / 2);
	for (int r = 0; r < size; r++) {
		each[r] = r + me;
		group->counts[r] = 1;
	}
	MPI_Reduce_scatter(each, &sum, group->counts, MPI_INT, MPI_SUM, group->comm);
	CHECK(sum == me * size + size * (size - 1) / 2);
	for (int r = 0; r < size; r++)
		group->counts[r] = r + 1;
	free(each);
}

static void
to_all(const struct group *group)
{
	int me = group->me, size = group->size, root = size / 2;
	double *out = group->out, *in = group->in;

	for (int i = 0; i < size * EACH; i++)
		out[i] = me * 10 + i / EACH;
	MPI_Alltoall(out, EACH, MPI_DOUBLE, in, EACH, MPI_DOUBLE, group->comm);
	for (int i = 0; i < size * EACH; i++)
		CHECK(in[i] == i / EACH * 10 + me);
	MPI_Allgather(&out[0], EACH, MPI_DOUBLE, in, EACH, MPI_DOUBLE, group->comm);
	for (int i = 0; i < size * EACH; i++)
		CHECK(in[i] == i / EACH * 10);
	memset(in, 0, sizeof(*in) * (size_t)size * EACH);
	MPI_Gather(out, EACH, MPI_DOUBLE, in, EACH, MPI_DOUBLE, root, group->comm);
	for (int i = 0; me == root && i < size * EACH; i++)
		CHECK(in[i] == i / EACH * 10);
	MPI_Scatter(out, EACH, MPI_DOUBLE, in, EACH, MPI_DOUBLE, root, group->comm);
	for (int i = 0; i < EACH; i++)
		CHECK(in[i] == root * 10 + me);
	MPI_Bcast(out, EACH, MPI_DOUBLE, root, group->comm);
	for (int i = 0; i < EACH; i++)
		CHECK(out[i] == root * 10);
}

/* Ranks give and get different counts: rank r has r + 1. */
static void
uneven(const struct group *group)
{
	int me = group->me, size = group->size, root = size - 1, all = size * (size + 1) / 2;
	int *outs = malloc(sizeof(int) * (size_t)size), *at = malloc(sizeof(int) * (size_t)size);
	double *out = group->out, *in = group->in;

	CHECK(outs != NULL && at != NULL);
	for (int i = 0; i <= me; i++)
		out[i] = me;
	MPI_Allgatherv(out, me + 1, MPI_DOUBLE, in, group->counts, group->places, MPI_DOUBLE,
		       group->comm);
	for (int r = 0, i = 0; i < all; r++)
		for (int end = i + r + 1; i < end; i++)
			CHECK(in[i] == r);
	MPI_Gatherv(out, me + 1, MPI_DOUBLE, in, group->counts, group->places, MPI_DOUBLE, root,
		    group->comm);
	MPI_Scatterv(in, group->counts, group->places, MPI_DOUBLE, out, me + 1, MPI_DOUBLE, root,
		     group->comm);
	for (int i = 0; i <= me; i++)
		CHECK(out[i] == me);
	for (int r = 0; r < size; r++) {
		outs[r] = me + 1; /* to each as many as we are */
		at[r] = r * (me + 1);
	}
	for (int i = 0; i < size * (me + 1); i++)
		out[i] = me * 100 + i / (me + 1);
	MPI_Alltoallv(out, outs, at, MPI_DOUBLE, in, group->counts, group->places, MPI_DOUBLE,
		      group->comm);
	for (int r = 0, i = 0; i < all; r++)
		for (int end = i + r + 1; i < end; i++)
			CHECK(in[i] == r * 100 + me);
	free(outs);
	free(at);
}

static void
collectives_of(MPI_Comm comm)
{
	struct group group;

	group_open(&group, comm);
	reductions(&group);
	to_all(&group);
	uneven(&group);
	MPI_Barrier(comm);
	group_close(&group);
}

static void
collectives(void)
{
	collectives_of(MPI_COMM_WORLD);
}

/* With their sums known: long ones, in place. */
static void
long_ones(void)
{
	double *numbers = malloc(sizeof(double) * LONG);
	int good = 0;

	CHECK(numbers != NULL);
	for (int i = 0; i < LONG; i++)
		numbers[i] = rank + i % 1000;
	MPI_Allreduce(MPI_IN_PLACE, numbers, LONG, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < LONG; i++)
		good += numbers[i] == ranks * (ranks - 1) / 2 + ranks * (i % 1000);
	CHECK(good == LONG);
	for (int i = 0; i < LONG; i++)
		numbers[i] = rank == ranks - 1 ? i : -1;
	MPI_Bcast(numbers, LONG, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
	for (int i = 0; i < LONG; i++)
		CHECK(numbers[i] == i);
	free(numbers);
}

static void
later(const struct group *group, MPI_Request *requests, int *sums)
{
	int size = group->size;
	double *out = group->out, *in = group->in;

	MPI_Iallreduce(&group->me, &sums[0], 1, MPI_INT, MPI_SUM, group->comm, &requests[0]);
	MPI_Iscan(&group->me, &sums[1], 1, MPI_INT, MPI_SUM, group->comm, &requests[1]);
	MPI_Ireduce(&group->me, &sums[2], 1, MPI_INT, MPI_MAX, 0, group->comm, &requests[2]);
	MPI_Ialltoall(out, EACH / 2, MPI_DOUBLE, in, EACH / 2, MPI_DOUBLE, group->comm,
		      &requests[3]);
	MPI_Iallgather(&out[size * EACH - 1], 1, MPI_DOUBLE, &in[size * EACH / 2], 1, MPI_DOUBLE,
		       group->comm, &requests[4]);
	MPI_Ibcast(&sums[3], 1, MPI_INT, size - 1, group->comm, &requests[5]);
	MPI_Igather(&group->me, 1, MPI_INT, &sums[4], 1, MPI_INT, 0, group->comm, &requests[6]);
	MPI_Ibarrier(group->comm, &requests[7]);
}

/* Eight at once, which end in any order, and messages between them. */
static void
not_waiting(void)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, got = -1;
	int *sums = calloc(4 + (size_t)ranks, sizeof(int));
	MPI_Request requests[CHAINS + 2];
	struct group group;

	CHECK(sums != NULL);
	group_open(&group, MPI_COMM_WORLD);
	for (int i = 0; i < ranks * EACH; i++)
		group.out[i] = rank * 10 + i / (EACH / 2);
	sums[3] = rank == ranks - 1 ? 4711 : -1;
	group.out[ranks * EACH - 1] = rank;
	later(&group, requests, sums);
	MPI_Irecv(&got, 1, MPI_INT, last, 20, MPI_COMM_WORLD, &requests[CHAINS]);
	MPI_Isend(&rank, 1, MPI_INT, next, 20, MPI_COMM_WORLD, &requests[CHAINS + 1]);
	MPI_Waitall(CHAINS + 2, requests, MPI_STATUSES_IGNORE);
	CHECK(sums[0] == ranks * (ranks - 1) / 2 && sums[1] == rank * (rank + 1) / 2);
	CHECK((rank != 0 || sums[2] == ranks - 1) && sums[3] == 4711 && got == last);
	for (int r = 0; r < ranks; r++) {
		CHECK(rank != 0 || sums[4 + r] == r);
		CHECK(group.in[ranks * EACH / 2 + r] == r);
		for (int i = 0; i < EACH / 2; i++)
			CHECK(group.in[r * EACH / 2 + i] == r * 10 + rank);
	}
	group_close(&group);
	free(sums);
}

/* While one is under way a rank computes, and asks only now and then. */
static void
overlapped(void)
{
	double *numbers = malloc(sizeof(double) * LONG);
	MPI_Request request;
	int flag = 0;

	CHECK(numbers != NULL);
	for (int i = 0; i < LONG; i++)
		numbers[i] = i;
	MPI_Iallreduce(MPI_IN_PLACE, numbers, LONG, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
	while (!flag) {
		volatile double sink = 1;

		for (int i = 0; i < 20000; i++)
			sink *= 1.000001;
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < LONG; i++)
		CHECK(numbers[i] == (double)ranks * i);
	free(numbers);
}

static void
communicators(void)
{
	MPI_Comm half, copy, turned, grid;
	MPI_Group world, picked;
	int sizes[1] = { ranks }, wraps[1] = { 1 }, from, to, me;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	collectives_of(half);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned); /* the last is the first */
	MPI_Comm_rank(turned, &me);
	CHECK(me == ranks - 1 - rank);
	collectives_of(turned);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	collectives_of(copy);
	MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, wraps, 0, &grid);
	MPI_Cart_shift(grid, 0, 1, &from, &to);
	MPI_Sendrecv(&rank, 1, MPI_INT, to, 21, &me, 1, MPI_INT, from, 21, grid, MPI_STATUS_IGNORE);
	CHECK(me == (rank + ranks - 1) % ranks);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &rank, &picked);
	MPI_Group_free(&picked);
	MPI_Group_free(&world);
	collectives_of(MPI_COMM_SELF);
	MPI_Comm_free(&half);
	MPI_Comm_free(&turned);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&grid);
}

/* The same tag in two communicators is not the same message. */
static void
apart(void)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks, out[2], in[2];
	MPI_Request requests[2];
	MPI_Comm copy;

	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	out[0] = rank;
	out[1] = rank + 1000;
	MPI_Isend(&out[0], 1, MPI_INT, next, 22, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(&out[1], 1, MPI_INT, next, 22, copy, &requests[1]);
	MPI_Recv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, MPI_STATUS_IGNORE);
	MPI_Recv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(in[0] == last && in[1] == last + 1000);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Comm_free(&copy);
}

/* Two groups, one to the other, then both as one. */
static void
between(void)
{
	MPI_Comm half, across, whole;
	int first = rank % 2, sum = -1, expected = 0;

	if (ranks < 2)
		return;
	MPI_Comm_split(MPI_COMM_WORLD, first, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - first, 23, &across);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, across); /* of the others */
	for (int r = 1 - first; r < ranks; r += 2)
		expected += r;
	CHECK(sum == expected);
	MPI_Intercomm_merge(across, first, &whole);
	collectives_of(whole);
	MPI_Comm_free(&whole);
	MPI_Comm_free(&across);
	MPI_Comm_free(&half);
}

const struct conform_part conform_collectives[] = {
	{ "collectives", collectives },
	{ "long_ones", long_ones },
	{ "not_waiting", not_waiting },
	{ "overlapped", overlapped },
	{ "communicators", communicators },
	{ "apart", apart },
	{ "between", between },
	{ NULL, NULL },
};
