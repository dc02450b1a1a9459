/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Files: captures, and folders of them, as one stream of packets by time.
 *
 * Files are mapped, not copied; what is compressed or comes from a pipe is a
 * stream, of which a window is in memory. One that becomes shorter meanwhile ends as
 * truncated: it is looked at once per read(), and what is read of it nevertheless are
 * zeros (torn.h). Several are merged by time stamps, as captures that were rotated
 * or taken at several places want it; at equal times the file named first comes
 * first, and within a file its own order stands.
 *
 * Threads: open and close on the main thread, read on an I/O loop's; counters
 *          by any thread, faults when reading has ended.
 * Memory:  allocated by open, freed by close; frames point into the files.
 */
#ifndef LULL_FLOW_FILES_H
#define LULL_FLOW_FILES_H

#include <lull/pipeline.h>

#include "file.h"
#include "host/error.h"
#include "program/options.h"

struct flow_files {
	struct flow_file *files; /* in the order named, folders by name */
	uint32_t file_count, file_room;
	struct flow_interfaces *interfaces; /* get names; NULL: nobody wants them */
	uint32_t *heap;                     /* files with packets left, the earliest first */
	uint32_t heap_count;
	uint32_t *waiting; /* streams whose next packet has not come yet; before all others */
	uint32_t waiting_count;
	uint32_t skipped; /* in folders: no captures, or empty */
	uint32_t faults;  /* files that ended in the middle or contradict themselves */
	uint64_t calls;   /* of read() */
	uint64_t pkts, bytes;
	struct flow_file_counters stamps;
	bool stop; /* read() says that there are no more; set by any thread */
};

/**
 * Open files and folders; "-" is standard input. 0, or -errno and the sentence: a path that cannot
 * be read, a file named that is no capture, a folder without one. Close in any case.
 * @param interfaces  get the names that captures give them, until read() says that there are no
 *                    more packets; NULL: nobody wants them
 */
int flow_files_open(struct flow_files *files, const struct lull_option_list *paths,
		    struct flow_interfaces *interfaces, struct lull_error *error);
void flow_files_close(struct flow_files *files);
/** The read of struct lull_pipeline_source; @p arg: the files. */
uint32_t flow_files_read(void *arg, struct lull_pipeline_frame *frames, uint32_t count, bool *end);
/** Do frames last until the files are closed? Those of streams do not. */
bool flow_files_stay(const struct flow_files *files);
/** "FILE: truncated at byte 24: ..." of file @p index; NULL when it ended well. */
const char *flow_files_fault(const struct flow_files *files, uint32_t index,
			     struct lull_error *text);

#endif
