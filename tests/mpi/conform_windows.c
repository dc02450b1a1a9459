/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows: memory that other ranks read and write. */
#include "conform.h"

#include <stdlib.h>

#define CELLS 40000 /* of a window: more than goes with a message's head */
#define TURNS 50

static int *
window_open(MPI_Win *window, int count)
{
	int *cells = NULL;

	MPI_Alloc_mem((MPI_Aint)sizeof(int) * count, MPI_INFO_NULL, &cells);
	CHECK(cells != NULL);
	for (int i = 0; i < count; i++)
		cells[i] = rank * 1000000 + i;
	MPI_Win_create(cells, (MPI_Aint)sizeof(int) * count, sizeof(int), MPI_INFO_NULL,
		       MPI_COMM_WORLD, window);
	return cells;
}

static void
window_close(MPI_Win *window, int *cells)
{
	MPI_Win_free(window);
	MPI_Free_mem(cells);
}

/* Between fences: to the next, from the last. */
static void
fences(void)
{
	static const int counts[] = { 1, 100, CELLS / 2 };
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
	int *out = malloc(sizeof(int) * CELLS), *in = malloc(sizeof(int) * CELLS);
	MPI_Win window;
	int *cells = window_open(&window, CELLS);

	CHECK(out != NULL && in != NULL);
	for (size_t turn = 0; turn < sizeof(counts) / sizeof(counts[0]); turn++) {
		int count = counts[turn];

		for (int i = 0; i < count; i++)
			out[i] = rank * 7 + i;
		MPI_Win_fence(0, window);
		MPI_Put(out, count, MPI_INT, next, 0, count, MPI_INT, window);
		MPI_Get(in, count, MPI_INT, last, CELLS / 2, count, MPI_INT, window);
		MPI_Win_fence(0, window);
		for (int i = 0; i < count; i++)
			CHECK(cells[i] == last * 7 + i && in[i] == last * 1000000 + CELLS / 2 + i);
	}
	window_close(&window, cells);
	free(out);
	free(in);
}

/* All add to all at once. */
static void
accumulates(void)
{
	int *ones = malloc(sizeof(int) * CELLS), most = rank;
	MPI_Win window;
	int *cells = window_open(&window, CELLS + 1);

	CHECK(ones != NULL);
	for (int i = 0; i < CELLS; i++)
		ones[i] = i + rank;
	MPI_Win_fence(0, window);
	cells[CELLS] = -1;
	MPI_Win_fence(0, window);
	for (int r = 0; r < ranks; r++) {
		MPI_Accumulate(ones, CELLS, MPI_INT, r, 0, CELLS, MPI_INT, MPI_SUM, window);
		MPI_Accumulate(&most, 1, MPI_INT, r, CELLS, 1, MPI_INT, MPI_MAX, window);
	}
	MPI_Win_fence(0, window);
	for (int i = 0; i < CELLS; i++)
		CHECK(cells[i] == rank * 1000000 + i + ranks * i + ranks * (ranks - 1) / 2);
	CHECK(cells[CELLS] == ranks - 1);
	window_close(&window, cells);
	free(ones);
}

/* One at a time, while their owners wait in a barrier or work on others. */
static void
locks(void)
{
	MPI_Win window;
	int *cells = window_open(&window, 2 + ranks);

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
	cells[0] = 0;
	MPI_Win_unlock(rank, window);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int turn = 0; turn < TURNS; turn++) {
		int to = (rank + turn) % ranks, value = -1;

		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, window);
		MPI_Get(&value, 1, MPI_INT, to, 0, 1, MPI_INT, window);
		MPI_Win_flush(to, window);
		value++;
		MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, window);
		MPI_Win_unlock(to, window);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int r = 0, sum = 0; r < ranks; r++) {
		int value = -1;

		MPI_Win_lock(MPI_LOCK_SHARED, r, 0, window);
		MPI_Get(&value, 1, MPI_INT, r, 0, 1, MPI_INT, window);
		MPI_Win_unlock(r, window);
		sum += value;
		CHECK(r < ranks - 1 || sum == TURNS * ranks);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	window_close(&window, cells);
}

/* A counter at rank 0 that gives each number once, and a lock made of one cell. */
static void
fetches(void)
{
	int one = 1, got, old, sum = 0, all, free_cell = -1;
	MPI_Win window;
	int *cells = window_open(&window, 2);

	MPI_Win_lock_all(0, window);
	if (rank == 0) {
		MPI_Put(&(int){ 0 }, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
		MPI_Put(&free_cell, 1, MPI_INT, 0, 1, 1, MPI_INT, window);
		MPI_Win_flush(0, window);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int turn = 0; turn < TURNS; turn++) {
		MPI_Fetch_and_op(&one, &got, MPI_INT, 0, 0, MPI_SUM, window);
		MPI_Win_flush(0, window);
		sum += got;
	}
	MPI_Compare_and_swap(&rank, &free_cell, &old, MPI_INT, 0, 1, window);
	MPI_Win_flush(0, window);
	MPI_Get_accumulate(NULL, 0, MPI_INT, &got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, window);
	MPI_Win_unlock_all(window);
	CHECK(got >= TURNS && got <= TURNS * ranks);
	MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK(all == TURNS * ranks * (TURNS * ranks - 1) / 2);
	got = old == -1;
	MPI_Allreduce(&got, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK(all == 1); /* one of them got it */
	window_close(&window, cells);
}

/* A rank opens its window to its neighbours alone. */
static void
posts(void)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
	MPI_Group world, before, behind;
	MPI_Win window;
	int *cells = window_open(&window, CELLS), *out = malloc(sizeof(int) * CELLS);

	CHECK(out != NULL);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &last, &before);
	MPI_Group_incl(world, 1, &next, &behind);
	for (int turn = 0; turn < 3; turn++) {
		for (int i = 0; i < CELLS; i++)
			out[i] = rank + turn + i;
		MPI_Win_post(before, 0, window);
		MPI_Win_start(behind, 0, window);
		MPI_Put(out, CELLS, MPI_INT, next, 0, CELLS, MPI_INT, window);
		MPI_Win_complete(window);
		MPI_Win_wait(window);
		for (int i = 0; i < CELLS; i++)
			CHECK(cells[i] == last + turn + i);
	}
	MPI_Group_free(&world);
	MPI_Group_free(&before);
	MPI_Group_free(&behind);
	window_close(&window, cells);
	free(out);
}

const struct conform_part conform_windows[] = {
	{ "fences", fences }, { "accumulates", accumulates },
	{ "locks", locks },   { "fetches", fetches },
	{ "posts", posts },   { NULL, NULL },
};
