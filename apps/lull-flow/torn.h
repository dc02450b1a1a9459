/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Torn: mapped files that become shorter while packets are read where they lie.
 *
 * Bytes behind the new end cannot be read: the kernel sends SIGBUS, which would end the program.
 * From flow_torn_watch() on they are zeros instead, and the file says that it is torn.
 *
 * Threads: main thread; the files may be read by any.
 * Memory:  the files are borrowed until flow_torn_forget().
 */
#ifndef LULL_FLOW_TORN_H
#define LULL_FLOW_TORN_H

struct flow_files;

/** Their list does not change any more. */
void flow_torn_watch(struct flow_files *files);
void flow_torn_forget(void);

#endif
