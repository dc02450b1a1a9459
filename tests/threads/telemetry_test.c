/* SPDX-License-Identifier: BSD-3-Clause */
/* The telemetry socket of a program without DPDK under ThreadSanitizer: clients of all kinds. */
#include "loop_world.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <jansson.h>

#include "telemetry.h"
#include "telemetry_json.h"

/* ---- clients ---- */

static char runtime[64];

static void
socket_path(char *path, size_t size, const char *more)
{
	snprintf(path, size, "%s/dpdk/lull-test-%d/dpdk_telemetry.v2%s", runtime, (int)getpid(),
		 more);
}

static int
client_try(const char *more)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = 20 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char greeting[256];

	socket_path(address.sun_path, sizeof(address.sun_path), more);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (const void *)&address, sizeof(address)) == 0 &&
	    recv(fd, greeting, sizeof(greeting), 0) > 0)
		return fd;
	close(fd);
	return -1;
}

/* What stands behind the command; the caller gives it back. */
static json_t *
client_ask(int fd, const char *request)
{
	static _Thread_local char reply[LULL_TELEMETRY_REPLY_BYTES + 1];
	char name[64];
	json_error_t why;
	json_t *whole, *inner;
	ssize_t size;

	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	size = recv(fd, reply, LULL_TELEMETRY_REPLY_BYTES, MSG_TRUNC);
	assert_in_range(size, 1, LULL_TELEMETRY_REPLY_BYTES);
	reply[size] = '\0';
	/* UINT64_MAX, "any", is beyond jansson's integers. */
	whole = json_loads(reply, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &why);
	if (whole == NULL)
		fail_msg("%s: %s: %s", request, why.text, reply);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(request, ","), request);
	inner = json_incref(json_object_get(whole, name));
	json_decref(whole);
	return inner;
}

static double
ask_number(int fd, const char *request, const char *key)
{
	json_t *reply = client_ask(fd, request);
	double value = json_number_value(json_object_get(reply, key));

	json_decref(reply);
	return value;
}

/* ---- telemetry ---- */

static char assigned[64];
static const char *const long_texts[] = {
	"\"quoted\" back\\slash",
	"tab\tline\n",
	"\xc3\xa4 \xff broken \xc3",
	"an ordinary text of some length, to fill the reply, word after word after word after word",
};

static int
config_set(void *arg, const char *assignment, struct lull_error *error)
{
	(void)arg;
	if (strcmp(assignment, "wrong=1") == 0) {
		snprintf(error->text, sizeof(error->text), "%0130d to the end", 7);
		return -EINVAL;
	}
	snprintf(assigned, sizeof(assigned), "%s", assignment);
	return 0;
}

/* More than a reply holds: lists that do not fit are left out whole. */
static void
reply_much(void *arg, const char *params, struct lull_telemetry_reply *reply)
{
	char name[16];

	(void)arg;
	(void)params;
	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "list%d", i);
		lull_telemetry_put_texts(reply, name, long_texts, 4);
	}
}

static const struct lull_telemetry_command commands[] = {
	{ "/lull/much", "Much. No parameters", reply_much },
	{ NULL, NULL, NULL },
};
static struct lull_telemetry_config config = {
	.program = "lull-test",
	.version = "0.1.0",
	.loops = loops,
	.loop_count = 1,
	.set = config_set,
	.commands = commands,
};

static int
serve(void **state)
{
	snprintf(runtime, sizeof(runtime), "/tmp/lull-threads-XXXXXX");
	if (mkdtemp(runtime) == NULL || world_open(state) != 0)
		return -1;
	setenv("RUNTIME_DIRECTORY", runtime, 1);
	return lull_telemetry_start(&config);
}

static int
serve_end(void **state)
{
	char path[128];

	lull_telemetry_stop();
	/* Nothing is left but what may be somebody else's. */
	snprintf(path, sizeof(path), "%s/dpdk", runtime);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(runtime), 0);
	return world_close(state);
}

TEST(telemetry__answers_as_dpdk_does)
{
	int fd = client_try("");
	json_t *reply = client_ask(fd, "/lull/info");
	const struct lull_counter_info *row;

	assert_string_equal(json_string_value(json_object_get(reply, "program")), "lull-test");
	assert_string_equal(json_string_value(json_object_get(reply, "dpdk")), "");
	assert_string_equal(json_string_value(json_array_get(json_object_get(reply, "loops"), 0)),
			    "one0");
	json_decref(reply);
	reply = client_ask(fd, "/lull/loop,one0");
	for (row = lull_idle_counter_table; row->name != NULL; row++)
		assert_true(json_is_number(json_object_get(reply, row->name)));
	assert_true(json_is_number(json_object_get(reply, "commands")));
	json_decref(reply);
	reply = client_ask(fd, "/lull/loop,other");
	assert_string_equal(json_string_value(json_object_get(reply, "error")),
			    "no loop other; the loops are: one0");
	json_decref(reply);
	reply = client_ask(fd, "/lull/explain,one0");
	assert_true(json_string_length(json_object_get(reply, "text")) > 10);
	json_decref(reply);
	assert_int_equal((int)ask_number(fd, "/lull/set,rest=5", "ok"), 1);
	assert_string_equal(assigned, "rest=5");
	reply = client_ask(fd, "/lull/set,wrong=1");
	assert_true(json_string_length(json_object_get(reply, "error")) <= 127);
	assert_non_null(strstr(json_string_value(json_object_get(reply, "error_more")), "the end"));
	json_decref(reply);
	assert_int_equal((int)ask_number(fd, "/lull/mark", "window"), 1);
	assert_int_equal((int)ask_number(fd, "/info", "pid"), getpid());
	reply = client_ask(fd, "/");
	assert_int_equal(json_array_size(reply), 12);
	json_decref(reply);
	reply = client_ask(fd, "/help,/lull/much");
	assert_string_equal(json_string_value(json_object_get(reply, "/lull/much")),
			    "Much. No parameters");
	json_decref(reply);
	reply = client_ask(fd, "/nonsense,with,commas");
	assert_true(json_is_null(reply));
	json_decref(reply);
	close(fd);
}

TEST(telemetry__replies_are_bounded_and_whole)
{
	int fd = client_try("");
	json_t *reply = client_ask(fd, "/lull/much"), *list = json_object_get(reply, "list0");

	assert_true(json_object_size(reply) > 50);
	assert_true(json_object_size(reply) < 400);
	assert_int_equal(json_array_size(list), 4);
	assert_string_equal(json_string_value(json_array_get(list, 0)), long_texts[0]);
	assert_string_equal(json_string_value(json_array_get(list, 1)), long_texts[1]);
	assert_string_equal(json_string_value(json_array_get(list, 2)), "\xc3\xa4 ? broken ?");
	json_decref(reply);
	close(fd);
}

static bool
hung_up(int fd)
{
	char bytes[64];
	ssize_t size = recv(fd, bytes, sizeof(bytes), 0);

	close(fd);
	return size == 0 || (size < 0 && errno == ECONNRESET);
}

TEST(telemetry__hangs_up_on_what_is_no_request)
{
	static char bytes[60000];
	int fd;

	memset(bytes, 'x', sizeof(bytes));
	fd = client_try("");
	assert_true(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0);
	assert_true(hung_up(fd));
	fd = client_try("");
	assert_true(send(fd, bytes, 1025, MSG_NOSIGNAL) > 0);
	assert_true(hung_up(fd));
	fd = client_try("");
	assert_true(send(fd, "/lull/info\0/lull/info", 21, MSG_NOSIGNAL) > 0);
	assert_true(hung_up(fd));
	/* A name of any bytes is none that is known, and the reply is JSON all the same. */
	fd = client_try("");
	for (int i = 0; i < 1024; i++)
		bytes[i] = (char)(1 + i % 255);
	for (int first = 0; first < 255; first++) {
		char reply[1024];
		json_t *whole;
		ssize_t size;

		assert_true(send(fd, bytes + first, 60, MSG_NOSIGNAL) > 0);
		size = recv(fd, reply, sizeof(reply), 0);
		assert_true(size > 0);
		whole = json_loadb(reply, (size_t)size, 0, NULL);
		assert_non_null(whole);
		json_decref(whole);
	}
	close(fd);
}

TEST(telemetry__serves_ten_and_the_next_when_one_leaves)
{
	int fds[10];

	for (int i = 0; i < 10; i++)
		WAIT_FOR((fds[i] = client_try("")) >= 0); /* those of before may still leave */
	for (int i = 0; i < 50; i++)
		assert_int_equal(client_try(""), -1);
	assert_int_equal((int)ask_number(fds[9], "/lull/info", "pid"), getpid());
	close(fds[3]);
	WAIT_FOR((fds[3] = client_try("")) >= 0);
	for (int i = 0; i < 10; i++)
		close(fds[i]);
}

/* Who asks and never listens is hung up on; nobody waits for that one. */
TEST(telemetry__waits_for_nobody)
{
	int deaf, other;
	int sent = 0;

	WAIT_FOR((deaf = client_try("")) >= 0);
	WAIT_FOR((other = client_try("")) >= 0);
	while (send(deaf, "/lull/much", 10, MSG_NOSIGNAL) > 0 && sent < 100000)
		sent++;
	assert_true(sent < 100000);
	assert_int_equal((int)ask_number(other, "/lull/info", "pid"), getpid());
	close(deaf);
	close(other);
}

static void *
ask_all(void *arg)
{
	static const char *const requests[] = { "/lull/info",         "/lull/loop,one0",
						"/lull/explain,one0", "/lull/histogram,one0,rest",
						"/lull/set,rest=5",   "/lull/mark" };

	(void)arg;
	for (int round = 0; round < 20; round++) {
		int fd = client_try("");

		if (fd < 0)
			return (void *)1;
		for (int i = 0; i < 6; i++)
			json_decref(client_ask(fd, requests[i]));
		close(fd);
	}
	return NULL;
}

static int
count_entries(const char *path)
{
	DIR *folder = opendir(path);
	int count = 0;

	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

TEST(telemetry__may_be_asked_by_many_at_a_time)
{
	int files = count_entries("/proc/self/fd"), tasks = count_entries("/proc/self/task");
	pthread_t threads[4];
	void *failed;

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_all, NULL), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	WAIT_FOR(count_entries("/proc/self/fd") <= files);
	WAIT_FOR(count_entries("/proc/self/task") <= tasks);
}

/* ---- its place ---- */

TEST(telemetry__takes_the_place_of_a_dead_one_and_not_of_a_live_one)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char path[128];
	struct stat seen;
	int fd;

	assert_int_equal(lull_telemetry_start(&config), -EALREADY);
	lull_telemetry_stop();
	/* A dead one. */
	snprintf(path, sizeof(path), "%s/dpdk/lull-test-%d", runtime, (int)getpid());
	assert_int_equal(mkdir(path, 0700), 0);
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	socket_path(address.sun_path, sizeof(address.sun_path), "");
	assert_int_equal(bind(fd, (const void *)&address, sizeof(address)), 0);
	close(fd);
	assert_int_equal(lull_telemetry_start(&config), 0);
	assert_int_equal(stat(path, &seen), 0);
	assert_int_equal(seen.st_mode & 0777, 0700);
	fd = client_try("");
	assert_true(fd >= 0);
	close(fd);
	lull_telemetry_stop();
	assert_int_equal(access(path, F_OK), -1);
	/* A live one. */
	assert_int_equal(mkdir(path, 0700), 0);
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_int_equal(bind(fd, (const void *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(lull_telemetry_start(&config), 0);
	close(client_try(":1"));
	lull_telemetry_stop();
	assert_int_equal(access(address.sun_path, F_OK), 0);
	close(fd);
	unlink(address.sun_path);
	rmdir(path);
	/* None at all. */
	setenv("RUNTIME_DIRECTORY", "/proc/none", 1);
	assert_int_equal(lull_telemetry_start(&config), -ENOENT);
	setenv("RUNTIME_DIRECTORY", runtime, 1);
	assert_int_equal(lull_telemetry_start(&config), 0);
}

TEST_GROUP(serve, serve_end);
