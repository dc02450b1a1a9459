/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Finding: lines of the self-check as they are found.
 */
#ifndef LULL_CAMERA_FINDING_H
#define LULL_CAMERA_FINDING_H

#include <lull/camera.h>

enum camera_grade { CAMERA_FINE, CAMERA_NOTE, CAMERA_WRONG };

struct camera_findings {
	struct lull_camera_finding *lines;
	uint32_t count_max;
	uint32_t count; /**< found, may exceed count_max */
};
/** Add a line. @p subject: a literal. */
__attribute__((format(printf, 4, 5))) void camera_find(struct camera_findings *findings,
						       const char *subject, enum camera_grade grade,
						       const char *format, ...);
/** The remedy of the line that was added last. */
__attribute__((format(printf, 2, 3))) void camera_remedy(struct camera_findings *findings,
							 const char *format, ...);

#endif
