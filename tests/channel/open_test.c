/* SPDX-License-Identifier: BSD-3-Clause */
/* A channel is opened, checked and looked at: what is refused, with which sentence. */
#include "stand.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define OTHER_KEY "100102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static char folder[] = "/tmp/lull-channel-XXXXXX";
static char keys[3][64]; /* ours, another, one that others may read */

static int
keys_make(void **state)
{
	static const char *const lines[] = { KEY, OTHER_KEY, KEY };

	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	for (uint32_t i = 0; i < COUNT(keys); i++) {
		FILE *file;

		snprintf(keys[i], sizeof(keys[i]), "%s/%u", folder, i);
		file = fopen(keys[i], "w");
		if (file == NULL)
			return -1;
		fprintf(file, "%s\n", lines[i]);
		fclose(file);
		chmod(keys[i], i == 2 ? 0644 : 0600);
	}
	return 0;
}

static int
keys_remove(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(keys); i++)
		unlink(keys[i]);
	return rmdir(folder);
}
TEST_GROUP(keys_make, keys_remove);

static const struct lull_channel_config sound = {
	.name = "node", .rails = { "pair:a" }, .rail_count = 1, .security = LULL_CHANNEL_OPEN
};

/* ---- refused ---- */

static void
refused(const struct lull_channel_config *config, int rc, const char *words)
{
	struct lull_channel *channel;
	struct lull_error error = { "" };

	assert_int_equal(lull_channel_open(config, &channel, &error), rc);
	assert_null(channel);
	if (strstr(error.text, words) == NULL)
		fail_msg("'%s' does not say '%s'", error.text, words);
	/* Who does not ask for a sentence gets none. */
	assert_int_equal(lull_channel_open(config, &channel, NULL), rc);
}

#define REFUSED(code, words, ...)                                                                  \
	do {                                                                                       \
		struct lull_channel_config refused_config = sound;                                 \
		__VA_ARGS__;                                                                       \
		refused(&refused_config, code, words);                                             \
	} while (0)
#define WITH(member, value) refused_config.member = value

TEST(open__refuses_members_out_of_range)
{
	REFUSED(-EINVAL, "rail_count: 0 is not in 1..16", WITH(rail_count, 0));
	REFUSED(-EINVAL, "rail_count: 17 is not in 1..16", WITH(rail_count, 17));
	REFUSED(-EINVAL, "endpoint: 65535", WITH(endpoint, 65535));
	REFUSED(-EINVAL, "max_latency_ns: 999 ", WITH(max_latency_ns, 999));
	REFUSED(-EINVAL, "max_latency_ns: 100000001", WITH(max_latency_ns, 100000001));
	REFUSED(-EINVAL, "peers_max: 1025", WITH(peers_max, 1025));
	REFUSED(-EINVAL, "unexpected_bytes: 1 ", WITH(unexpected_bytes, 1));
	REFUSED(-EINVAL, "operations_max: 15", WITH(operations_max, 15));
	REFUSED(-EINVAL, "operations_max: 1048577", WITH(operations_max, 1048577));
	REFUSED(-EINVAL, "peer_timeout_ns: 1 ", WITH(peer_timeout_ns, 1));
	REFUSED(-EINVAL, "security: 3", WITH(security, 3));
}

TEST(open__refuses_words_that_say_nothing)
{
	REFUSED(-EINVAL, "name: a node's name has 1..31 characters", WITH(name, ""));
	REFUSED(-EINVAL, "name: a node's name has 1..31 characters",
		WITH(name, "a-name-that-is-longer-than-thirty-one"));
	REFUSED(-EINVAL, "not printable, or a blank", WITH(name, "two words"));
	REFUSED(-EINVAL, "governor: 'none-such' does not exist", WITH(governor, "none-such"));
	REFUSED(-EINVAL, "spread: 'none-such' does not exist", WITH(spread, "none-such"));
	REFUSED(-EINVAL, "control: 'none-such' does not exist", WITH(control, "none-such"));
	REFUSED(-EINVAL, "rail: missing", WITH(rails[0], NULL));
	REFUSED(-EINVAL, "rail: missing", WITH(rails[0], ""));
	REFUSED(-EINVAL, "rail eth0: it is not one of kernel:IF", WITH(rails[0], "eth0"));
	REFUSED(-EINVAL, "rail pcap:x: it is not one of", WITH(rails[0], "pcap:x"));
	REFUSED(-EINVAL, "rail pair:: the name has 1..31", WITH(rails[0], "pair:"));
	REFUSED(-EINVAL, "is one interface, not any", WITH(rails[0], "kernel:any"));
	REFUSED(-EINVAL, "'speed=1' is not port=N", WITH(rails[0], "kernel:lo,speed=1"));
	REFUSED(-EINVAL, "port '65536' is not in 0..65535", WITH(rails[0], "kernel:lo,port=65536"));
	REFUSED(-EINVAL, "port '' is not in", WITH(rails[0], "kernel:lo,port="));
	REFUSED(-EINVAL, "port '1x' is not in", WITH(rails[0], "kernel-busy:lo,port=1x"));
	REFUSED(-ENODEV, "interface nosuch0 does not exist", WITH(rails[0], "kernel:nosuch0"));
	REFUSED(-EINVAL, "is too long",
		WITH(rails[0], "kernel:an-interface-whose-name-has-so-many-characters-that-no-"
			       "kernel-would-ever-think-of-giving-it-to-any-network-interface-"
			       "of-its-own"));
}

TEST(open__refuses_keys_that_are_none)
{
	REFUSED(-EINVAL, "key_file: missing; make one by 'lull channel key > FILE'",
		WITH(security, LULL_CHANNEL_SEALED));
	REFUSED(-EINVAL, "key_file: missing", WITH(security, LULL_CHANNEL_SIGNED));
	REFUSED(-EPERM, keys[2], WITH(security, LULL_CHANNEL_SEALED), WITH(key_file, keys[2]));
	REFUSED(-ENOENT, "/none/such", WITH(security, LULL_CHANNEL_SEALED),
		WITH(key_file, "/none/such"));
}

TEST(open__takes_a_wire_with_two_ends)
{
	struct lull_channel *ends[2], *third;
	struct lull_error error;

	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(lull_channel_open(&sound, &ends[i], &error), 0);
	assert_int_equal(lull_channel_open(&sound, &third, &error), -EBUSY);
	assert_non_null(strstr(error.text, "rail pair:a: both ends are taken"));
	lull_channel_close(ends[0], 0);
	assert_int_equal(lull_channel_open(&sound, &ends[0], &error), 0);
	for (uint32_t i = 0; i < 2; i++)
		lull_channel_close(ends[i], 0);
}

TEST(open__calls_the_node_like_the_machine)
{
	struct lull_channel_config config = sound;
	struct lull_channel *channel;
	struct lull_error error = { "" };

	config.name = NULL;
	if (lull_channel_open(&config, &channel, &error) != 0)
		fail_msg("%s", error.text);
	lull_channel_close(channel, 0);
}

/* ---- security ---- */

static void
carry_with(enum lull_channel_security security, const char *name)
{
	struct stand stand = { .rail_count = 2,
			       .config = { .key_file = keys[0], .security = security } };

	assert_string_equal(lull_channel_security_name(security), name);
	stand_open(&stand);
	stand_carry(&stand, 0, 100000, 1);
	stand_carry(&stand, 1, 10, 2);
	stand_close(&stand);
}

TEST(security__carries_sealed_and_signed)
{
	carry_with(LULL_CHANNEL_SEALED, "sealed");
	carry_with(LULL_CHANNEL_SIGNED, "signed");
}

TEST(security__keeps_out_who_has_another_key)
{
	struct lull_channel_config config = sound;
	struct lull_channel *ends[2];
	struct lull_error error = { "" };
	uint32_t peer;

	config.security = LULL_CHANNEL_SEALED;
	for (uint32_t i = 0; i < 2; i++) {
		config.name = i == 0 ? "one" : "two";
		config.key_file = keys[i];
		assert_int_equal(lull_channel_open(&config, &ends[i], &error), 0);
		assert_int_equal(lull_channel_start(ends[i], &error), 0);
	}
	assert_int_equal(lull_channel_connect(ends[0], "two", 300 * LULL_NS_PER_MS, &peer, &error),
			 -ETIMEDOUT);
	assert_non_null(strstr(error.text, "another key"));
	for (uint32_t i = 0; i < 2; i++)
		lull_channel_close(ends[i], 0);
	assert_string_equal(lull_channel_security_name((enum lull_channel_security)9), "?");
}

/* Somebody asked, was answered and has not come back: both ends can be closed. */
TEST(security__closes_with_half_a_handshake)
{
	struct lull_channel_config config = sound;
	struct lull_channel *ends[2];
	struct lull_bundle_counters counters;
	uint32_t peer;

	config.security = LULL_CHANNEL_SEALED;
	config.key_file = keys[0];
	config.own_loop = true;
	for (uint32_t i = 0; i < 2; i++) {
		config.name = i == 0 ? "one" : "two";
		assert_int_equal(lull_channel_open(&config, &ends[i], NULL), 0);
		assert_int_equal(lull_channel_start(ends[i], NULL), 0);
	}
	assert_int_equal(lull_channel_connect(ends[0], "two", 20 * LULL_NS_PER_MS, &peer, NULL),
			 -ETIMEDOUT);
	lull_channel_poll(ends[1]);
	lull_channel_counters(ends[1], &counters);
	assert_true(counters.rx_pkts > 0 && counters.tx_pkts > 0); /* it has answered */
	for (uint32_t i = 0; i < 2; i++)
		lull_channel_close(ends[i], 0);
}

/* ---- check ---- */

static const struct lull_finding *
found(const struct lull_finding *lines, uint32_t count, const char *subject)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(lines[i].subject, subject) == 0)
			return &lines[i];
	fail_msg("nothing about %s", subject);
	return lines;
}

TEST(check__finds_what_is_weak)
{
	struct lull_channel_config config = sound;
	struct lull_finding lines[32];
	const struct lull_finding *line;
	struct lull_channel *channel;
	struct lull_error error = { "" };
	uint32_t count;

	config.rails[config.rail_count++] = "kernel:lo,port=0";
	config.rails[config.rail_count++] = "kernel-busy:lo,port=0";
	assert_int_equal(lull_channel_open(&config, &channel, &error), 0);
	count = lull_channel_check(channel, lines, COUNT(lines));
	assert_in_range(count, 10, COUNT(lines));
	line = found(lines, count, "security");
	assert_int_equal(line->grade, LULL_GRADE_NOTE);
	assert_non_null(strstr(line->text, "anybody on these links"));
	assert_non_null(strstr(line->remedy, "lull channel key"));
	line = found(lines, count, "unequal MTU");
	assert_int_equal(line->grade, LULL_GRADE_NOTE);
	assert_non_null(strstr(line->text, "pair:a takes packets of 1500 bytes"));
	line = found(lines, count, "link"); /* of the pair: nobody is at its other end */
	assert_int_equal(line->grade, LULL_GRADE_NOTE);
	line = found(lines, count, "MTU");
	assert_int_equal(line->grade, LULL_GRADE_FINE);
	line = found(lines, count, "core");
	assert_int_equal(line->grade, LULL_GRADE_NOTE); /* polled, and not pinned */
	line = found(lines, count, "network");          /* loopback twice */
	assert_int_equal(line->grade, LULL_GRADE_NOTE);
	assert_non_null(strstr(line->text, "kernel:lo,port=0 and kernel-busy:lo,port=0"));
	found(lines, count, "receive buffer");
	found(lines, count, "XDP program");
	/* Fewer lines than there are: as many are written. */
	lines[1].subject = "untouched";
	assert_int_equal(lull_channel_check(channel, lines, 1), count);
	assert_string_equal(lines[1].subject, "untouched");
	lull_channel_close(channel, 0);
}

/* A thread on a CPU that another one wants as well. */
static void *
spin(void *over)
{
	while (!atomic_load((atomic_bool *)over))
		;
	return NULL;
}

static pthread_t
spin_on(int cpu, atomic_bool *over)
{
	pthread_t thread;
	cpu_set_t wanted;

	assert_int_equal(pthread_create(&thread, NULL, spin, over), 0);
	CPU_ZERO(&wanted);
	CPU_SET((unsigned int)cpu, &wanted);
	assert_int_equal(pthread_setaffinity_np(thread, sizeof(wanted), &wanted), 0);
	return thread;
}

/* Pinned nowhere, on a process with one CPU, which another thread uses all the time. */
TEST(check__finds_that_no_core_is_free)
{
	struct lull_channel_config config = sound;
	struct lull_finding lines[32];
	struct lull_channel *channel;
	cpu_set_t before, one;
	atomic_bool over = false;
	pthread_t thread;
	uint32_t count;
	int cpu = sched_getcpu();

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET((unsigned int)cpu, &one);
	assert_int_equal(lull_channel_open(&config, &channel, NULL), 0);
	thread = spin_on(cpu, &over);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	count = lull_channel_check(channel, lines, COUNT(lines));
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	assert_non_null(strstr(found(lines, count, "shared core")->text, "no CPU of this process"));
	lull_channel_close(channel, 0);
}

TEST(check__finds_who_shares_the_core)
{
	struct lull_channel_config config = sound;
	struct lull_finding lines[32];
	struct lull_channel *channel;
	atomic_bool over = false;
	pthread_t thread;
	uint32_t count;
	int cpu = sched_getcpu();

	config.cpu = cpu + 1;
	assert_int_equal(lull_channel_open(&config, &channel, NULL), 0);
	thread = spin_on(cpu, &over);
	count = lull_channel_check(channel, lines, COUNT(lines));
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	assert_non_null(strstr(found(lines, count, "shared core")->text, "uses CPU"));
	lull_channel_close(channel, 0);
	/* A CPU that this process may not use, or that is not there. */
	config.cpu = 1 + CPU_SETSIZE;
	config.unchecked = true;
	assert_int_equal(lull_channel_open(&config, &channel, NULL), 0);
	assert_int_equal(lull_channel_start(channel, NULL), -EINVAL);
	lull_channel_close(channel, 0);
}

/* ---- looking and changing ---- */

TEST(look__tells_of_peers_paths_and_rails)
{
	static struct lull_histogram latency;
	struct stand stand = { .rail_count = 3 };
	struct lull_bundle_counters counters;
	struct lull_bundle_peer_look peer;
	struct lull_bundle_path_look path;
	struct lull_channel_rail_look rail;
	uint64_t sent = 0;

	stand_open(&stand);
	for (uint32_t i = 0; i < 10; i++)
		stand_carry(&stand, 0, 1000, i);
	stand_carry(&stand, 0, 200000, 99);
	assert_int_equal(lull_channel_peer_look(stand.channels[0], stand.peers[0], &peer), 0);
	assert_string_equal(peer.name, stand_name(1));
	assert_true(peer.up);
	assert_int_equal(peer.path_count, 3);
	assert_int_equal(peer.sent_messages, 11);
	assert_int_equal(peer.sent_bytes, 210000);
	assert_int_equal(lull_channel_peer_look(stand.channels[0], 63, &peer), -ENOENT);
	assert_int_equal(lull_channel_path_look(stand.channels[0], stand.peers[0], 0, &path), 0);
	assert_int_equal(path.state, LULL_BUNDLE_PATH_UP);
	assert_int_equal(lull_channel_path_look(stand.channels[0], stand.peers[0], 16, &path),
			 -ENOENT);
	for (uint32_t i = 0; i < 3; i++) {
		char text[16];

		snprintf(text, sizeof(text), "pair:%u", i);
		assert_int_equal(lull_channel_rail_look(stand.channels[0], i, &rail), 0);
		assert_string_equal(rail.text, text);
		assert_true(rail.up);
		assert_int_equal(rail.mtu_bytes, 1500);
		assert_true(rail.rx_pkts > 0 && rail.tx_pkts > 0);
		sent += rail.tx_pkts;
		assert_int_equal(rail.missed_pkts, 0);
	}
	assert_int_equal(lull_channel_rail_look(stand.channels[0], 3, &rail), -ENODEV);
	assert_int_equal(lull_channel_rail_look(stand.channels[0], 16, &rail), -ENODEV);
	lull_channel_counters(stand.channels[0], &counters);
	assert_true(counters.tx_pkts > 150 && counters.rx_pkts > 0);
	assert_true(counters.tx_pkts >= sent); /* every packet left by a rail */
	assert_int_equal(counters.peers_up, 1);
	assert_int_equal(counters.forged + counters.bad_head + counters.bad_ack, 0);
	lull_channel_histogram(stand.channels[0], false, &latency);
	assert_int_equal(latency.count, 10);
	lull_channel_histogram(stand.channels[0], true, &latency);
	assert_int_equal(latency.count, 1);
	stand_close(&stand);
}

TEST(change__while_it_runs)
{
	struct stand stand = { .rail_count = 1 };
	struct lull_error error;

	stand_open(&stand);
	assert_int_equal(lull_channel_change(stand.channels[0], "none-such", 0, &error), -EINVAL);
	assert_int_equal(lull_channel_change(stand.channels[0], NULL, 999, &error), -EINVAL);
	assert_non_null(strstr(error.text, "max_latency_ns"));
	assert_int_equal(lull_channel_change(stand.channels[0], "objective", 0, &error), 0);
	assert_int_equal(lull_channel_change(stand.channels[0], NULL, 100000, &error), 0);
	stand_carry(&stand, 0, 100000, 1);
	stand_close(&stand);
}
