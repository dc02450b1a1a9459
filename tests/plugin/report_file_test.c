/* SPDX-License-Identifier: BSD-3-Clause */
/* The report goes into a file of its own and harms no other. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case.h"
#include "host/report_file.h"

#define FIRST "lull: report of "
#define OURS FIRST "testpmd (process 7)\nlull: poll0: a long line of long ago\n"
#define OTHERS "root:x:0:0:root:/root:/bin/bash\n"

static char folder[] = "/tmp/lull-report-XXXXXX";

static void
put(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void
holds(const char *name, const char *text)
{
	char bytes[256] = "";
	FILE *file = fopen(name, "re");

	assert_non_null(file);
	bytes[fread(bytes, 1, sizeof(bytes) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(bytes, text);
}

static void
writes(const char *name)
{
	const char *why = NULL;
	int file = lull_report_file_open(name, FIRST, &why);

	assert_true(file >= 0);
	assert_true((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
	assert_int_equal(write(file, OURS, 20), 20);
	close(file);
	assert_null(why);
}

static void
refuses(const char *name, int rc)
{
	const char *why = NULL;

	assert_int_equal(lull_report_file_open(name, FIRST, &why), rc);
	assert_non_null(why);
}

static int
enter_folder(void **state)
{
	(void)state;
	strcpy(strrchr(folder, '-'), "-XXXXXX");
	return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int
leave_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return chdir("/") != 0 || system(command) != 0;
}

TEST_WITH(open__makes_a_file, enter_folder, leave_folder)
{
	struct stat about;

	writes("new");
	assert_int_equal(stat("new", &about), 0);
	assert_int_equal(about.st_size, 20);
	assert_int_equal(about.st_mode & 0133, 0); /* no x, and nobody else writes */
	/* what `mktemp` has made */
	put("empty", "");
	writes("empty");
}

TEST_WITH(open__replaces_an_earlier_report_whole, enter_folder, leave_folder)
{
	char first[21] = "";

	put("old", OURS);
	memcpy(first, OURS, 20);
	writes("old");
	holds("old", first);
}

TEST_WITH(open__leaves_what_is_not_a_report, enter_folder, leave_folder)
{
	put("passwd", OTHERS);
	refuses("passwd", -EEXIST);
	holds("passwd", OTHERS);
	/* begins alike, but ends too early */
	put("short", "lull: rep");
	refuses("short", -EEXIST);
	holds("short", "lull: rep");
	/* a report, but also somebody's other file */
	put("old", OURS);
	assert_int_equal(link("old", "twin"), 0);
	refuses("old", -EEXIST);
	holds("twin", OURS);
}

TEST_WITH(open__follows_no_link, enter_folder, leave_folder)
{
	put("old", OURS);
	assert_int_equal(symlink("old", "link"), 0);
	refuses("link", -ELOOP);
	holds("old", OURS);
	/* one that points nowhere makes nothing there */
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	refuses("dangling", -ELOOP);
	assert_int_equal(access("nowhere", F_OK), -1);
}

TEST_WITH(open__refuses_what_is_no_file, enter_folder, leave_folder)
{
	assert_int_equal(mkdir("folder", 0755), 0);
	refuses("folder", -EISDIR);
	assert_int_equal(mkfifo("pipe", 0644), 0);
	refuses("pipe", -EEXIST); /* and does not wait for somebody who reads */
	refuses("folder/none/report", -ENOENT);
}

/* As root all may be written: as nobody then. */
static void
as_nobody(void)
{
	if (geteuid() == 0)
		assert_int_equal(seteuid(65534), 0);
}

static void
as_before(void)
{
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
}

TEST_WITH(open__says_when_the_folder_may_not_be_written, enter_folder, leave_folder)
{
	put("report", OURS);
	assert_int_equal(chmod(".", 0555), 0);
	as_nobody();
	refuses("new", -EACCES);
	as_before();
	assert_int_equal(chmod(".", 0755), 0);
}

/* Of another user, though it may be written: whoever reads it there trusts its owner. */
TEST_WITH(open__leaves_a_report_of_another_user, enter_folder, leave_folder)
{
	if (getuid() != 0)
		skip();
	put("report", OURS);
	assert_int_equal(chmod("report", 0666), 0);
	assert_int_equal(chmod(".", 0755), 0);
	as_nobody();
	refuses("report", -EEXIST);
	as_before();
	holds("report", OURS);
}
