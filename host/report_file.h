/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Report file: where a final report goes, without harm to anything else.
 *
 * The program may run as root and the path may lie where others write. So nothing is followed and
 * nothing overwritten but an earlier report of ours, which its first bytes tell.
 *
 * Threads: any. Calls no stdio: the program may be ending inside of it.
 */
#ifndef LULL_HOST_REPORT_FILE_H
#define LULL_HOST_REPORT_FILE_H

#define LULL_REPORT_FIRST_MAX 64 /* bytes that are compared */

/**
 * Open a file for a report: a new one, an empty one, or an earlier report, which becomes empty.
 * @param first  how each report of this kind begins, at most LULL_REPORT_FIRST_MAX bytes
 * @param why    out: what is wrong, for people; static
 * @return the file; -errno: nothing was changed. -ELOOP: the path is a link; -EEXIST: the file is
 *         no report of this user
 */
int lull_report_file_open(const char *path, const char *first, const char **why);

#endif
