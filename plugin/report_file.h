/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Report file: where the final report goes, without harm to anything else.
 *
 * The host program may run as root and the path may lie where others write. So nothing is followed
 * and nothing overwritten but an earlier report of ours, which its first line tells.
 *
 * Threads: any. Calls no stdio: the program may be ending inside of it.
 */
#ifndef LULL_PLUGIN_REPORT_FILE_H
#define LULL_PLUGIN_REPORT_FILE_H

/** How the first line of each report begins. */
#define PLUGIN_REPORT_FIRST "lull: report of "

/**
 * Open a file for a report: a new one, an empty one, or an earlier report, which becomes empty.
 * @param why  out: what is wrong, for people; static
 * @return the file; -errno: nothing was changed. -ELOOP: the path is a link; -EEXIST: the file is
 *         no report of this user
 */
int plugin_report_file_open(const char *path, const char **why);

#endif
