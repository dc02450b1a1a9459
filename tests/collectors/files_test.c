/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of a program that runs for months: restart, rotation, SIGHUP; pipes and devices. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "case.h"
#include "stand.h"

#define FILES_MAX 256
#define PATH_SIZE 512

/* ---- stand ---- */

static char folder[64];

static int
folder_make(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/lull-life-XXXXXX");
	return mkdtemp(folder) == NULL;
}

static int
folder_remove(void **state)
{
	char path[PATH_SIZE];
	struct dirent *entry;
	DIR *dir = opendir(folder);

	(void)state;
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	if (dir != NULL)
		closedir(dir);
	return rmdir(folder);
}

static const char *
path_of(const char *name)
{
	static char path[8][PATH_SIZE];
	static int next;
	char *text = path[next++ % 8];

	snprintf(text, PATH_SIZE, "%s/%s", folder, name);
	return text;
}

static size_t
file_read(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t len = file == NULL ? 0 : fread(text, 1, size - 1, file);

	if (file != NULL)
		fclose(file);
	text[len] = '\0';
	return len;
}

static uint32_t
file_lines(const char *path)
{
	static char text[8 << 20];
	uint32_t lines = 0;

	for (size_t i = file_read(path, text, sizeof(text)); i > 0; i--)
		lines += text[i - 1] == '\n';
	return lines;
}

static void
file_write(const char *path, const void *bytes, size_t len)
{
	FILE *file = fopen(path, "we");

	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* ---- restart ---- */

TEST_WITH(restart__goes_on_in_the_same_file, folder_make, folder_remove)
{
	const char *path = path_of("flows.json");
	struct flow_sink_settings settings = { .to = { [FLOW_SINK_JSON] = { path } } };
	struct flow_sink *sink;

	for (uint32_t run = 0; run < 3; run++) {
		sink = sink_make(&settings);
		sink_give(sink, 0, 100 * run, 100);
		sink_end(sink);
		assert_int_equal(file_lines(path), 100 * (run + 1));
	}
	/* What comes from captures is the result of one run. */
	settings.ordered = true;
	sink = sink_make(&settings);
	sink_give(sink, 0, 0, 10);
	sink_end(sink);
	assert_int_equal(file_lines(path), 10);
}

TEST_WITH(restart__a_torn_line_does_not_swallow_the_next, folder_make, folder_remove)
{
	const char *path = path_of("flows.json");
	struct flow_sink_settings settings = { .to = { [FLOW_SINK_JSON] = { path } } };
	struct flow_sink *sink;
	char text[4096];

	file_write(path, "{\"src_ip\":\"1.", 13);
	sink = sink_make(&settings);
	sink_give(sink, 0, 0, 1);
	sink_end(sink);
	file_read(path, text, sizeof(text));
	assert_memory_equal(text, "{\"src_ip\":\"1.\n{\"src_ip\"", 23);
}

/* Whole messages in a file, and how often their numbers begin anew with templates. */
static uint32_t
ipfix_messages(const char *path, uint32_t *sessions)
{
	static char text[8 << 20];
	const uint8_t *bytes = (const uint8_t *)text;
	size_t len = file_read(path, text, sizeof(text)), at = 0;
	uint32_t count = 0;

	*sessions = 0;
	for (; at + 16 <= len; count++) {
		assert_memory_equal(bytes + at, ((uint8_t[]){ 0, 10 }), 2);
		*sessions += bytes[at + 17] == 2 && memcmp(bytes + at + 8, "\0\0\0\0", 4) == 0;
		at += (size_t)bytes[at + 2] << 8 | bytes[at + 3];
	}
	assert_int_equal(at, len);
	return count;
}

TEST_WITH(restart__a_torn_message_is_cut_off, folder_make, folder_remove)
{
	const char *path = path_of("flows.ipfix");
	struct flow_sink_settings settings = { .to = { [FLOW_SINK_IPFIX] = { path } } };
	struct flow_sink *sink = sink_make(&settings);
	uint32_t sessions, before, after;
	struct stat status;

	sink_give(sink, 0, 0, 200);
	sink_end(sink);
	before = ipfix_messages(path, &sessions);
	assert_int_equal(sessions, 1);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(truncate(path, status.st_size - 5), 0);
	sink = sink_make(&settings);
	sink_give(sink, 0, 0, 200);
	sink_end(sink);
	after = ipfix_messages(path, &sessions);
	assert_int_equal(sessions, 2);
	assert_int_equal(after, 2 * before - 1);
}

TEST_WITH(restart__what_is_no_ipfix_is_not_touched, folder_make, folder_remove)
{
	const char *path = path_of("thesis.txt");
	struct flow_sink_settings settings = { .to = { [FLOW_SINK_IPFIX] = { path } } };
	struct flow_sink *sink = NULL;
	struct lull_error error;
	char text[64];

	file_write(path, "Call me Ishmael.\n", 17);
	assert_int_not_equal(flow_sink_open(&settings, &sink, &error), 0);
	assert_non_null(strstr(error.text, "no file of IPFIX"));
	assert_non_null(strstr(error.text, path));
	assert_int_equal(file_read(path, text, sizeof(text)), 17);
}

/* ---- rotation ---- */

/* Names in the folder that begin and end so; sorted. */
static int
list_files(const char *begin, const char *end, char names[FILES_MAX][PATH_SIZE])
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort), found = 0;

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		size_t len = strlen(name), tail = strlen(end);

		if (strncmp(name, begin, strlen(begin)) == 0 && len >= tail &&
		    strcmp(name + len - tail, end) == 0 && found < FILES_MAX)
			snprintf(names[found++], PATH_SIZE, "%s/%s", folder, name);
		free(entries[i]);
	}
	free(entries);
	return found;
}

/* Three instances and a small size: each record once, no file left half. */
TEST_WITH(rotation__by_size_loses_nothing, folder_make, folder_remove)
{
	static char names[FILES_MAX][PATH_SIZE];
	const char *path = path_of("flows.json");
	struct flow_sink_settings settings = { .to = { [FLOW_SINK_JSON] = { path } },
					       .instances = 3,
					       .rotate_bytes = 20000 };
	struct flow_sink *sink = sink_make(&settings);
	struct flow_sink_counters counters;
	uint32_t given = 0, lines = 0;
	struct told told = { 0 };
	int count;

	for (int round = 0; round < 12; round++) {
		for (uint32_t i = 0; i < 3; i++, given += 40)
			sink_give(sink, i, given, 40);
		sink_watch(sink, &told);
		usleep(110000); /* units leave */
		for (uint32_t i = 0; i < 3; i++)
			sink_iterate(sink, i);
	}
	flow_sink_read(sink, FLOW_SINK_JSON, &counters);
	sink_end(sink);
	assert_int_equal(told.count, 0);
	count = list_files("flows-20", ".json", names);
	assert_true(count >= 5);
	assert_int_equal(counters.volumes, count);
	for (int i = 0; i < count; i++) {
		assert_true(file_lines(names[i]) > 0);
		lines += file_lines(names[i]);
	}
	assert_int_equal(lines + file_lines(path), given);
	assert_int_equal(list_files(".", "", names), 2); /* "." and "..": nothing hidden is left */
}

TEST_WITH(rotation__by_time_and_ordered, folder_make, folder_remove)
{
	static char names[FILES_MAX][PATH_SIZE];
	const char *path = path_of("flows");
	struct flow_sink_settings settings = { .to = { [FLOW_SINK_JSON] = { path } },
					       .rotate_ns = LULL_NS_PER_S };
	struct flow_sink *sink = sink_make(&settings);
	struct told told = { 0 };
	uint32_t lines = 0;
	int count;

	for (int i = 0; i < 50; i++) {
		sink_give(sink, 0, (uint32_t)i, 1);
		sink_iterate(sink, 0);
		usleep(25000);
		sink_watch(sink, &told);
	}
	sink_end(sink);
	count = list_files("flows-20", "Z", names);
	assert_in_range(count, 2, 3);
	for (int i = 0; i < count; i++)
		lines += file_lines(names[i]);
	assert_int_equal(lines + file_lines(path), 50);

	settings = (struct flow_sink_settings){ .to = { [FLOW_SINK_JSON] = { path_of("o.json") } },
						.ordered = true,
						.rotate_bytes = 50000 };
	sink = sink_make(&settings);
	sink_give(sink, 0, 0, 1000);
	sink_end(sink);
	count = list_files("o-20", ".json", names);
	assert_true(count >= 4);
	lines = file_lines(path_of("o.json"));
	for (int i = 0; i < count; i++) {
		assert_true(file_lines(names[i]) < 250);
		lines += file_lines(names[i]);
	}
	assert_int_equal(lines, 1000);
}

/* Each file of IPFIX stands alone. A link is kept, and what it leads to moves. */
TEST_WITH(rotation__ipfix_behind_a_link, folder_make, folder_remove)
{
	static char names[FILES_MAX][PATH_SIZE];
	const char *path = path_of("link.ipfix");
	struct flow_sink_settings settings = { .to = { [FLOW_SINK_IPFIX] = { path } },
					       .rotate_bytes = 4000 };
	struct told told = { 0 };
	struct flow_sink *sink;
	struct stat status;
	uint32_t sessions;
	int count;

	assert_int_equal(symlink("there.ipfix", path), 0);
	sink = sink_make(&settings);
	for (int i = 0; i < 5; i++) {
		sink_give(sink, 0, 0, 100);
		usleep(110000);
		sink_iterate(sink, 0);
		sink_watch(sink, &told);
		sink_iterate(sink, 0);
	}
	sink_give(sink, 0, 0, 100);
	sink_end(sink);
	assert_int_equal(told.count, 0);
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	count = list_files("there-20", ".ipfix", names);
	assert_int_equal(count, 5);
	for (int i = 0; i < count; i++) {
		assert_true(ipfix_messages(names[i], &sessions) > 2);
		assert_int_equal(sessions, 1);
	}
	assert_true(ipfix_messages(path_of("there.ipfix"), &sessions) > 2);
	assert_int_equal(sessions, 1);
}

TEST_WITH(reopen__a_file_that_was_moved, folder_make, folder_remove)
{
	const char *path = path_of("flows.json"), *moved = path_of("flows.json.1");
	const char *ipfix = path_of("flows.ipfix"), *other = path_of("flows.ipfix.1");
	struct flow_sink_settings settings = {
		.to = { [FLOW_SINK_JSON] = { path }, [FLOW_SINK_IPFIX] = { ipfix } }
	};
	struct flow_sink *sink = sink_make(&settings);
	struct told told = { 0 };
	uint32_t sessions;

	sink_give(sink, 0, 0, 100);
	flow_sink_reopen(sink, sink_tell, &told); /* nobody moved it: one file */
	sink_iterate(sink, 0);
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(rename(ipfix, other), 0);
	flow_sink_reopen(sink, sink_tell, &told);
	sink_iterate(sink, 0);
	sink_give(sink, 0, 100, 50);
	sink_end(sink);
	assert_int_equal(told.count, 0);
	assert_int_equal(file_lines(moved), 100);
	assert_int_equal(file_lines(path), 50);
	assert_true(ipfix_messages(other, &sessions) > 2);
	assert_int_equal(sessions, 1);
	assert_true(ipfix_messages(ipfix, &sessions) > 1);
	assert_int_equal(sessions, 1);
}

/* ---- in place ---- */

static void *
pipe_read(void *arg)
{
	static char text[1 << 20];

	file_read(arg, text, sizeof(text));
	return text;
}

TEST_WITH(file__pipes_and_devices_stay_what_they_are, folder_make, folder_remove)
{
	char *pipe = strdup(path_of("pipe"));
	const char *device = path_of("full");
	struct flow_sink_settings settings = { .to = { [FLOW_SINK_JSON] = { pipe } },
					       .rotate_bytes = 1 };
	struct told told = { 0 };
	struct flow_sink *sink;
	struct lull_error error;
	struct stat status;
	pthread_t reader;
	void *text;

	assert_int_equal(mkfifo(pipe, 0600), 0);
	pthread_create(&reader, NULL, pipe_read, pipe);
	sink = sink_make(&settings);
	sink_give(sink, 0, 0, 20);
	sink_watch(sink, &told);
	flow_sink_reopen(sink, sink_tell, &told);
	sink_end(sink);
	pthread_join(reader, &text);
	assert_non_null(strstr(text, "{\"src_ip\""));
	assert_int_equal(stat(pipe, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
	free(pipe);
	if (mknod(device, S_IFCHR | 0600, makedev(1, 7)) != 0)
		return; /* not root */
	settings.to[FLOW_SINK_JSON][0] = device;
	if (flow_sink_open(&settings, &sink, &error) != 0)
		return; /* mounted without devices */
	sink_give(sink, 0, 0, 20);
	assert_int_not_equal(flow_sink_finish(sink, &error), 0);
	assert_non_null(strstr(error.text, "No space left"));
	flow_sink_close(sink);
	assert_int_equal(lstat(device, &status), 0);
	assert_true(S_ISCHR(status.st_mode));
}

TEST_WITH(sink__several_of_one_kind, folder_make, folder_remove)
{
	const char *a = path_of("a"), *b = path_of("b");
	struct flow_sink_settings settings = { .to = { [FLOW_SINK_JSON] = { a, b } } };
	struct flow_sink *sink = sink_make(&settings);
	struct flow_sink_state second;
	struct lull_error error;

	sink_give(sink, 0, 0, 70);
	sink_iterate(sink, 0);
	assert_true(flow_sink_state(sink, 1, &second));
	assert_string_equal(second.to, b);
	assert_true(second.up);
	assert_int_equal(second.counters.taken, 70);
	assert_false(flow_sink_state(sink, 2, &second));
	sink_end(sink);
	assert_int_equal(file_lines(a), 70);
	assert_int_equal(file_lines(b), 70);
	settings.to[FLOW_SINK_JSON][1] = a;
	assert_int_not_equal(flow_sink_check(&settings, &error), 0);
	assert_non_null(strstr(error.text, "twice"));
}
