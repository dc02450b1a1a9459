/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conform [messages|collectives|windows|threads ...]: run these subjects, or all but threads, which
 * ask for MPI_THREAD_MULTIPLE: with it Open MPI 4.1 has no windows over messages. Prints one line
 * at rank 0, and ends the job at the first thing that is wrong.
 */
#include "conform.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	const struct conform_part *parts;
	bool usual;
} subjects[] = {
	{ "messages", conform_messages, true },
	{ "collectives", conform_collectives, true },
	{ "windows", conform_windows, true },
	{ "threads", conform_threads, false },
};
#define SUBJECTS (sizeof(subjects) / sizeof(subjects[0]))

int rank, ranks;

static bool
wanted(size_t subject, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], subjects[subject].name) == 0)
			return true;
	return argc < 2 && subjects[subject].usual;
}

int
main(int argc, char **argv)
{
	bool threads = wanted(SUBJECTS - 1, argc, argv);
	int level;

	MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	CHECK(!threads || level == MPI_THREAD_MULTIPLE);
	for (size_t i = 0; i < SUBJECTS; i++) {
		if (!wanted(i, argc, argv))
			continue;
		for (const struct conform_part *part = subjects[i].parts; part->name != NULL;
		     part++) {
			if (rank == 0 && getenv("CONFORM_TELL") != NULL)
				fprintf(stderr, "%.3f %s\n", MPI_Wtime(), part->name);
			part->run();
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("conform: %d ranks: all holds\n", ranks);
	MPI_Finalize();
	return 0;
}
