/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"
#include "program/result.h"

static char folder[64];
static struct lull_error error;

static int
make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/lull-result-XXXXXX");
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static int
drop_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

static const char *
file_path(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static const char *
file_text(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "r");
	size_t size;

	assert_non_null(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	fclose(file);
	return text;
}

static unsigned
folder_count(const char *path)
{
	DIR *listing = opendir(path);
	unsigned count = 0;

	assert_non_null(listing);
	while (readdir(listing) != NULL)
		count++;
	closedir(listing);
	return count - 2;
}

static json_t *
small_result(void)
{
	json_t *result = json_object();

	json_object_set_new(result, "text", lull_result_text("\"a\"\n\xff"));
	json_object_set_new(result, "pkts", lull_result_count(INT64_MAX));
	json_object_set_new(result, "bound", lull_result_count(UINT64_MAX));
	json_object_set_new(result, "cpu_pct", lull_result_real(12.3));
	json_object_set_new(result, "nan", lull_result_real(NAN));
	json_object_set_new(result, "runs", json_array());
	return result;
}

static json_t *
large_result(void)
{
	json_t *result = json_array();

	for (int i = 0; i < 20000; i++)
		json_array_append_new(result, json_integer(i));
	return result;
}

TEST(result_write__file)
{
	json_t *result = small_result();
	const char *path = file_path("new.json");
	struct stat status;

	assert_int_equal(lull_result_check(path, &error), 0);
	assert_int_equal(folder_count(folder), 0);
	assert_int_equal(lull_result_write(path, result, &error), 0);
	assert_string_equal(file_text(path), "{\n"
					     "  \"text\": \"\\\"a\\\"??\",\n"
					     "  \"pkts\": 9223372036854775807,\n"
					     "  \"bound\": null,\n"
					     "  \"cpu_pct\": 12.3,\n"
					     "  \"nan\": null,\n"
					     "  \"runs\": []\n"
					     "}\n");
	/* Again, over a file with rights of its own and a leftover. */
	assert_int_equal(chmod(path, 0640), 0);
	fclose(fopen(file_path("new.json.tmp"), "w"));
	path = file_path("new.json");
	assert_int_equal(lull_result_write(path, result, &error), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
	assert_int_equal(folder_count(folder), 1);
	unlink(path);
	json_decref(result);
}

TEST(result_write__through_link)
{
	json_t *result = small_result();
	char target[128];
	struct stat status;

	snprintf(target, sizeof(target), "%s", file_path("real.json"));
	fclose(fopen(target, "w"));
	assert_int_equal(symlink("real.json", file_path("link.json")), 0);
	assert_int_equal(lull_result_write(file_path("link.json"), result, &error), 0);
	assert_int_equal(lstat(file_path("link.json"), &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(file_text(target)[0], '{');
	unlink(target);
	unlink(file_path("link.json"));
	json_decref(result);
}

/* The file is yet to be made; the link leads to it by another one. */
TEST(result_write__through_link_to_nothing)
{
	json_t *result = small_result();
	struct stat status;

	assert_int_equal(symlink("new.json", file_path("link.json")), 0);
	assert_int_equal(symlink("link.json", file_path("chain.json")), 0);
	assert_int_equal(lull_result_check(file_path("chain.json"), &error), 0);
	assert_int_equal(lull_result_write(file_path("chain.json"), result, &error), 0);
	assert_int_equal(lstat(file_path("chain.json"), &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(lstat(file_path("link.json"), &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(lstat(file_path("new.json"), &status), 0);
	assert_true(S_ISREG(status.st_mode));
	unlink(file_path("new.json"));
	unlink(file_path("chain.json"));
	assert_int_equal(symlink("loop.json", file_path("loop.json")), 0);
	assert_int_equal(lull_result_write(file_path("loop.json"), result, &error), -ELOOP);
	unlink(file_path("loop.json"));
	unlink(file_path("link.json"));
	json_decref(result);
}

TEST(result_write__stdout)
{
	json_t *result = small_result();
	int saved = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);
	int file = open(file_path("out"), O_RDWR | O_CREAT, 0600), code;

	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	code = lull_result_write("-", result, &error);
	dup2(full, STDOUT_FILENO);
	assert_int_equal(code, 0);
	code = lull_result_write("-", result, &error);
	clearerr(stdout);
	dup2(saved, STDOUT_FILENO);
	assert_int_equal(code, -ENOSPC);
	assert_string_equal(error.text,
			    "cannot write to stdout: No space left on device: free some "
			    "space or name a file elsewhere");
	assert_int_equal(file_text(file_path("out"))[0], '{');
	close(saved);
	close(full);
	close(file);
	unlink(file_path("out"));
	json_decref(result);
}

TEST(result_write__devices)
{
	json_t *result = small_result();
	struct stat status;

	assert_int_equal(lull_result_check("/dev/full", &error), 0);
	assert_int_equal(lull_result_write("/dev/full", result, &error), -ENOSPC);
	assert_string_equal(error.text,
			    "cannot write /dev/full: No space left on device: free some "
			    "space or name a file elsewhere");
	assert_int_equal(lull_result_write("/dev/null", result, &error), 0);
	assert_int_equal(stat("/dev/null", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
	json_decref(result);
}

TEST(result_write__bad_places)
{
	json_t *result = small_result();
	char longer[5000];

	assert_int_equal(lull_result_write("/nonexistent/x.json", result, &error), -ENOENT);
	assert_string_equal(error.text, "cannot write /nonexistent/x.json: No such file or "
					"directory: make the folder first");
	assert_int_equal(lull_result_check("/nonexistent/x.json", &error), -ENOENT);
	assert_int_equal(lull_result_write(folder, result, &error), -EISDIR);
	assert_int_equal(lull_result_write("/dev/null/x", result, &error), -ENOTDIR);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(lull_result_write(longer, result, &error), -ENAMETOOLONG);
	assert_int_equal(folder_count(folder), 0);
	json_decref(result);
}

/* In a child: a limit on the size of files ends the write half-way. */
static int
too_large(void)
{
	const struct rlimit limit = { 1000, 1000 };
	json_t *result = large_result();
	int code;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	code = lull_result_write(file_path("old.json"), result, &error);
	json_decref(result);
	return code == -EFBIG && strchr(error.text, '\n') == NULL ? 0 : 1;
}

/* In a child, with mounts of its own: a file system of one page. 77: not allowed to. */
static int
disk_full(void)
{
	json_t *result = large_result();
	int code;

	if (unshare(CLONE_NEWNS) != 0 ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("lull", folder, "tmpfs", 0, "size=4k") != 0) {
		json_decref(result);
		return 77;
	}
	code = lull_result_write(file_path("new.json"), result, &error);
	json_decref(result);
	if (code != -ENOSPC || folder_count(folder) != 0)
		return 1;
	return strstr(error.text, "No space left on device") != NULL ? 0 : 1;
}

static int
in_child(int (*function)(void))
{
	pid_t child;
	int status = 0;

	fflush(NULL);
	child = fork();
	if (child == 0)
		_exit(function());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(result_write__nothing_left_behind)
{
	FILE *old = fopen(file_path("old.json"), "w");

	fputs("old", old);
	fclose(old);
	assert_int_equal(in_child(too_large), 0);
	assert_int_equal(folder_count(folder), 1);
	assert_string_equal(file_text(file_path("old.json")), "old");
	unlink(file_path("old.json"));
}

TEST(result_write__disk_full)
{
	int code = in_child(disk_full);

	if (code == 77) {
		print_message("skipped: needs the right to mount\n");
		skip();
	}
	assert_int_equal(code, 0);
}

TEST_GROUP(make_folder, drop_folder);
