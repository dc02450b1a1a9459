/* SPDX-License-Identifier: BSD-3-Clause */
#include "finding.h"

#include <stdarg.h>
#include <stdio.h>

static struct lull_finding *
finding_last(struct lull_findings *findings)
{
	if (findings->count == 0 || findings->count > findings->count_max)
		return NULL;
	return &findings->lines[findings->count - 1];
}

void
lull_finding_add(struct lull_findings *findings, const char *subject, enum lull_grade grade,
		 const char *format, ...)
{
	struct lull_finding *line;
	va_list args;

	findings->count++;
	line = finding_last(findings);
	if (line == NULL)
		return;
	*line = (struct lull_finding){ .subject = subject, .grade = (int)grade };
	va_start(args, format);
	vsnprintf(line->text, sizeof(line->text), format, args);
	va_end(args);
}

void
lull_finding_remedy(struct lull_findings *findings, const char *format, ...)
{
	struct lull_finding *line = finding_last(findings);
	va_list args;

	if (line == NULL)
		return;
	va_start(args, format);
	vsnprintf(line->remedy, sizeof(line->remedy), format, args);
	va_end(args);
}
