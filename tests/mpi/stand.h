/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stand: endpoints of this process in cases, and messages between them.
 */
#ifndef LULL_TEST_MPI_STAND_H
#define LULL_TEST_MPI_STAND_H

#include "case.h"
#include "end.h"

#define MS 1000000ULL
#define WAIT_NS (20000 * MS) /* generous: the machine may be busy */

/** Settings as a case finds them. */
int set_up(void **state);
/** Fail the case with the reason. */
void open_end(struct end *end);
void close_end(struct end *end);
/** A message, whole: each end is read in turn. */
void exchange(struct end *here, struct end *there, fi_addr_t address, uint64_t tag);

#endif
