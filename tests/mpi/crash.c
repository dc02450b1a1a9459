/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI with a rank that crashes, for `mpirun --enable-recovery`: the others get an error of each
 * operation with it, pending or begun later, and go on with each other.
 */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LARGE (4 << 20)

static int rank, ranks;

static void
say(const char *what, int rc)
{
	printf("%d: %s: %s\n", rank, what, rc == MPI_SUCCESS ? "good" : "an error");
	fflush(stdout);
}

static void
meet(int who, int tag)
{
	int out = rank, in = -1;

	MPI_Sendrecv(&out, 1, MPI_INT, who, tag, &in, 1, MPI_INT, who, tag, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	if (in != who)
		say("wrong", MPI_ERR_OTHER);
}

int
main(int argc, char **argv)
{
	static char out[LARGE], in[LARGE];
	MPI_Request requests[2];
	int value = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < ranks; i++)
		if (i != rank)
			meet(i, 1);
	if (rank == 1) {
		usleep(100000);
		raise(SIGKILL);
	}
	MPI_Irecv(in, LARGE, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(out, LARGE, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[1]);
	say("pending receive", MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
	say("pending send", MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
	say("later send", MPI_Send(out, LARGE, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
	say("later receive", MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	for (int i = 0; i < ranks; i++)
		if (i != rank && i != 1)
			meet(i, 4);
	say("goes on", MPI_SUCCESS);
	_exit(0); /* MPI_Finalize() would wait for all */
}
