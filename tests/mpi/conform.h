/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conform: what MPI promises of messages, for any number of ranks and any transport below. Each
 * file has one subject; a part is one function, which all ranks call.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CHECK(holds)                                                                               \
	do {                                                                                       \
		if (!(holds)) {                                                                    \
			fprintf(stderr, "conform: rank %d: %s:%d: %s\n", rank, __FILE__, __LINE__, \
				#holds);                                                           \
			MPI_Abort(MPI_COMM_WORLD, 1);                                              \
		}                                                                                  \
	} while (0)

struct conform_part {
	const char *name;
	void (*run)(void);
};

extern int rank, ranks; /* of MPI_COMM_WORLD */

/* End with a part without a name. */
extern const struct conform_part conform_messages[], conform_collectives[], conform_windows[],
	conform_threads[];

/* Bytes by which a message tells its sender. */
static inline void
fill(uint8_t *bytes, int count, int seed)
{
	for (int i = 0; i < count; i++)
		bytes[i] = (uint8_t)(i * 131 + (i >> 8) * 7 + seed * 29);
}

static inline bool
holds(const uint8_t *bytes, int count, int seed)
{
	int wrong = 0;

	for (int i = 0; i < count; i++)
		wrong |= bytes[i] ^ (uint8_t)(i * 131 + (i >> 8) * 7 + seed * 29);
	return wrong == 0;
}

#endif
