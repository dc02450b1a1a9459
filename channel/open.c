/* SPDX-License-Identifier: BSD-3-Clause */
/* Open, start and close. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/range.h"
#include "caller.h"
#include "event.h"
#include "host/error.h"
#include "rail_memory.h"
#include "rails.h"
#include "stand_in.h"
#include "thread.h"
#include "turn.h"
#include "wait.h"

#define OPEN_GOVERNOR "phase"
#define OPEN_PEERS 64
#define OPEN_UNEXPECTED_BYTES (1u << 20)
#define OPEN_OPERATIONS 4096
#define OPEN_PEER_TIMEOUT_NS (10 * LULL_NS_PER_S)
#define OPEN_MESSAGES 256  /* under way to and from a peer */
#define OPEN_HEAD_BYTES 32 /* header and the shortest tag, as much as a piece is shorter */
#define OPEN_PIECES_MIN 64
#define OPEN_PIECES_MAX 65535
#define OPEN_FINDINGS 128
#define CLOSE_NS (20 * LULL_NS_PER_MS) /* for the last packets to leave */

/* ---- configuration ---- */

static void
open_defaults(struct lull_channel_config *config)
{
	if (config->peers_max == 0)
		config->peers_max = OPEN_PEERS;
	if (config->unexpected_bytes == 0)
		config->unexpected_bytes = OPEN_UNEXPECTED_BYTES;
	if (config->operations_max == 0)
		config->operations_max = OPEN_OPERATIONS;
	if (config->peer_timeout_ns == 0)
		config->peer_timeout_ns = OPEN_PEER_TIMEOUT_NS;
	if (config->max_latency_ns == 0)
		config->max_latency_ns = LULL_NS_PER_MS;
}

static int
open_ranges(const struct lull_channel_config *config, struct lull_error *error)
{
	const struct lull_range ranges[] = {
		{ "rail_count", config->rail_count, 1, LULL_CHANNEL_RAILS_MAX },
		{ "security", config->security, LULL_CHANNEL_SEALED, LULL_CHANNEL_OPEN },
		{ "endpoint", config->endpoint, 0, CHANNEL_STREAM_ENDPOINT - 1 },
		{ "max_latency_ns", config->max_latency_ns, LULL_NS_PER_US, 100 * LULL_NS_PER_MS },
		{ "peers_max", config->peers_max, 1, LULL_BUNDLE_PEERS_MAX },
		{ "unexpected_bytes", config->unexpected_bytes, 64 << 10, 64 << 20 },
		{ "operations_max", config->operations_max, 16, 1 << 20 },
		{ "peer_timeout_ns", config->peer_timeout_ns, 100 * LULL_NS_PER_MS,
		  3600 * LULL_NS_PER_S },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (ranges[i].value < ranges[i].low || ranges[i].value > ranges[i].high)
			return lull_error_range(error, &ranges[i]);
	return 0;
}

static int
open_name(struct lull_channel *channel, const char *name, struct lull_error *error)
{
	char host[256] = "";

	if (name == NULL) {
		gethostname(host, sizeof(host) - 1);
		host[sizeof(channel->name) - 1] = '\0';
		name = host;
	}
	if (name[0] == '\0' || strlen(name) >= sizeof(channel->name))
		return lull_error_set(error, -EINVAL, "name: a node's name has 1..%d characters",
				      LULL_CHANNEL_NAME_SIZE - 1);
	for (const char *at = name; *at != '\0'; at++)
		if (*at <= ' ' || *at > '~')
			return lull_error_set(error, -EINVAL,
					      "name: '%s' has a character that is not printable, "
					      "or a blank",
					      name);
	snprintf(channel->name, sizeof(channel->name), "%s", name);
	return 0;
}

static int
open_policies(struct lull_channel *channel, const struct lull_channel_config *config,
	      struct lull_error *error)
{
	const char *governor = config->governor != NULL ? config->governor : OPEN_GOVERNOR;

	if (lull_idle_governor_find(governor) == NULL)
		return lull_error_set(error, -EINVAL, "governor: '%s' does not exist", governor);
	snprintf(channel->governor, sizeof(channel->governor), "%s", governor);
	channel->spread = config->spread != NULL ? lull_bundle_spread_find(config->spread) :
						   lull_bundle_spreads[0];
	if (channel->spread == NULL)
		return lull_error_set(error, -EINVAL, "spread: '%s' does not exist",
				      config->spread);
	channel->control = config->control != NULL ? lull_bundle_control_find(config->control) :
						     lull_bundle_controls[0];
	if (channel->control == NULL)
		return lull_error_set(error, -EINVAL, "control: '%s' does not exist",
				      config->control);
	return 0;
}

static int
open_configure(struct lull_channel *channel, const struct lull_channel_config *config,
	       struct lull_error *error)
{
	int rc;

	channel->config = *config;
	open_defaults(&channel->config);
	channel->max_latency_ns = channel->config.max_latency_ns;
	rc = open_ranges(&channel->config, error);
	if (rc == 0)
		rc = open_name(channel, config->name, error);
	if (rc == 0)
		rc = open_policies(channel, config, error);
	if (rc == 0 && config->eal != NULL && strlen(config->eal) >= sizeof(channel->eal))
		rc = lull_error_set(error, -EINVAL, "eal: more than %zu characters",
				    sizeof(channel->eal) - 1);
	if (rc == 0 && config->eal != NULL)
		channel->config.eal = strcpy(channel->eal, config->eal);
	return rc == 0 ? channel_secret_open(&channel->secret, channel->config.security,
					     config->key_file, error) :
			 rc;
}

/* ---- memory ---- */

static void *
open_memory(struct lull_channel *channel, size_t bytes)
{
	void *memory;

	bytes = (bytes + LULL_CACHE_LINE - 1) & ~(size_t)(LULL_CACHE_LINE - 1);
	memory = aligned_alloc(LULL_CACHE_LINE, bytes);
	if (memory != NULL)
		channel->memory_bytes += bytes;
	return memory;
}

/* Pieces as long as the shortest packet allows, so that all rails carry them. */
static uint32_t
open_piece_bytes(struct channel_rail *const *rails, uint32_t rail_count)
{
	uint32_t bytes = CHANNEL_PACKET_BYTES;

	for (uint32_t i = 0; i < rail_count; i++)
		bytes = LULL_MIN(bytes, rails[i]->bundle.packet_bytes);
	bytes = LULL_MAX(bytes, (uint32_t)LULL_BUNDLE_PACKET_BYTES_MIN) - OPEN_HEAD_BYTES;
	return bytes & ~7u;
}

static int
open_bundle(struct lull_channel *channel, struct channel_rail *const *rails,
	    struct lull_error *error)
{
	const struct lull_channel_config *config = &channel->config;
	uint32_t piece_bytes = open_piece_bytes(rails, config->rail_count);
	struct lull_bundle_config bundle = {
		.security = channel->secret.security,
		.security_arg = channel->secret.arg,
		.control = channel->control,
		.spread = channel->spread,
		.peers_max = config->peers_max,
		.messages_max = OPEN_MESSAGES,
		.unexpected_pieces = (uint32_t)LULL_CLAMP(config->unexpected_bytes / piece_bytes,
							  OPEN_PIECES_MIN, OPEN_PIECES_MAX),
		.piece_bytes_max = piece_bytes,
		.peer_timeout_ns = config->peer_timeout_ns,
	};
	struct lull_range wrong;
	int rc;

	memcpy(bundle.name, channel->name, sizeof(bundle.name));
	while (bundle.node_id == 0)
		channel_secret_random(NULL, (uint8_t *)&bundle.node_id, sizeof(bundle.node_id));
	rc = lull_bundle_config_check(&bundle, &wrong);
	if (rc != 0)
		return lull_error_range(error, &wrong);
	channel->bundle = open_memory(channel, lull_bundle_size(&bundle));
	if (channel->bundle == NULL)
		return lull_error_set(error, -ENOMEM,
				      "no memory for %u peers, %zu MiB; lower peers_max or "
				      "unexpected_bytes",
				      config->peers_max, lull_bundle_size(&bundle) >> 20);
	rc = lull_bundle_init(channel->bundle, &bundle, lull_clock_ns());
	channel->begun = rc == 0;
	return rc;
}

static int
open_rest(struct lull_channel *channel, struct lull_error *error)
{
	const struct lull_channel_config *config = &channel->config;
	uint32_t messages_max = config->peers_max * OPEN_MESSAGES;
	size_t streams = (size_t)config->peers_max * CHANNEL_STREAM_MEMORY;

	channel->match =
		open_memory(channel, lull_match_size(config->operations_max, messages_max));
	channel->peers = calloc(config->peers_max, sizeof(*channel->peers));
	/* Untouched until a stream is used. */
	channel->stream_memory = calloc(1, streams);
	if (channel->match == NULL || channel->peers == NULL || channel->stream_memory == NULL ||
	    channel_operations_init(&channel->operations, config->operations_max) != 0)
		return lull_error_set(error, -ENOMEM, "no memory for %u operations and %u peers",
				      config->operations_max, config->peers_max);
	channel->memory_bytes += streams + config->peers_max * sizeof(*channel->peers) +
				 config->operations_max * sizeof(*channel->operations.all);
	lull_match_init(channel->match, config->operations_max, messages_max);
	return 0;
}

/* ---- open ---- */

static void
open_locks(struct lull_channel *channel)
{
	pthread_mutexattr_t lock;
	pthread_condattr_t changed;

	/* Who has it gives it back within an iteration: spin before sleeping. */
	pthread_mutexattr_init(&lock);
	pthread_mutexattr_settype(&lock, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&channel->lock, &lock);
	pthread_mutexattr_destroy(&lock);
	pthread_mutex_init(&channel->rails_lock, NULL);
	pthread_condattr_init(&changed);
	pthread_condattr_setclock(&changed, CLOCK_MONOTONIC);
	pthread_cond_init(&channel->changed, &changed);
	pthread_condattr_destroy(&changed);
}

static void
open_free(struct lull_channel *channel)
{
	channel_thread_free(channel);
	channel_caller_close(channel);
	if (channel->begun)
		lull_bundle_forget(channel->bundle);
	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++)
		channel_rail_close(channel->rails[i]);
	channel_secret_close(&channel->secret);
	if (channel->event_fd >= 0)
		close(channel->event_fd);
	if (channel->kick_fd >= 0)
		close(channel->kick_fd);
	channel_operations_fini(&channel->operations);
	free(channel->bundle);
	free(channel->match);
	free(channel->peers);
	free(channel->stream_memory);
	pthread_cond_destroy(&channel->changed);
	pthread_mutex_destroy(&channel->lock);
	pthread_mutex_destroy(&channel->rails_lock);
	free(channel);
}

/* The rails that @p text stands for. */
static int
open_rail(struct lull_channel *channel, const char *text, struct channel_rail **rails,
	  uint32_t *count, struct lull_error *error)
{
	const struct channel_rail_config config = { .program = CHANNEL_PROGRAM,
						    .eal = channel->config.eal,
						    .unchecked = channel->config.unchecked };
	char words[LULL_CHANNEL_RAILS_MAX][CHANNEL_RAIL_TEXT_SIZE];
	int more = channel_rail_memory_spell(text, words, LULL_CHANNEL_RAILS_MAX - *count, error);
	int rc = more < 0 ? more : 0;

	if (more == 0 && *count == LULL_CHANNEL_RAILS_MAX)
		return lull_error_set(error, -ENOSPC, "rail %s: there are %d rails already", text,
				      LULL_CHANNEL_RAILS_MAX);
	for (int i = 0; rc == 0 && i < LULL_MAX(more, 1); i++) {
		rc = channel_rail_open(&config, more > 0 ? words[i] : text, &rails[*count], error);
		*count += rc == 0;
	}
	return rc;
}

static int
open_rails(struct lull_channel *channel, const struct lull_channel_config *config,
	   struct channel_rail **rails, struct lull_error *error)
{
	uint32_t count = 0;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < config->rail_count; i++)
		rc = open_rail(channel, config->rails[i], rails, &count, error);
	channel->config.rail_count = count;
	return rc;
}

static int
open_all(struct lull_channel *channel, const struct lull_channel_config *config,
	 struct lull_error *error)
{
	struct channel_rail *rails[LULL_CHANNEL_RAILS_MAX] = { NULL };
	int rc = open_configure(channel, config, error);

	if (rc == 0)
		rc = open_rails(channel, config, rails, error);
	if (rc == 0)
		rc = open_bundle(channel, rails, error);
	if (rc == 0)
		rc = open_rest(channel, error);
	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++) {
		if (rc == 0 && rails[i] != NULL)
			rc = LULL_MIN(channel_rails_take(channel, rails[i], error), 0);
		if (rc != 0)
			channel_rail_close(rails[i]);
	}
	return rc;
}

int
lull_channel_open(const struct lull_channel_config *config, struct lull_channel **out,
		  struct lull_error *error)
{
	size_t size = (sizeof(struct lull_channel) + LULL_CACHE_LINE - 1) &
		      ~(size_t)(LULL_CACHE_LINE - 1);
	struct lull_channel *channel = aligned_alloc(LULL_CACHE_LINE, size);
	int rc;

	*out = NULL;
	if (channel == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for a channel");
	memset(channel, 0, size);
	channel->memory_bytes = size;
	open_locks(channel);
	channel->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	channel->kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	rc = channel->event_fd < 0 || channel->kick_fd < 0 ?
		     lull_error_set(error, -errno, "no eventfd: %s", strerror(errno)) :
		     open_all(channel, config, error);
	if (rc != 0) {
		open_free(channel);
		return rc;
	}
	*out = channel;
	return 0;
}

/* ---- start ---- */

static int
start_checked(struct lull_channel *channel, struct lull_error *error)
{
	struct lull_finding *lines = calloc(OPEN_FINDINGS, sizeof(*lines));
	uint32_t count;
	int rc = 0;

	if (lines == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the self-check");
	count = LULL_MIN(channel_check(channel, lines, OPEN_FINDINGS, false),
			 (uint32_t)OPEN_FINDINGS);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		if (lines[i].grade == LULL_GRADE_WRONG)
			rc = lull_error_set(error, -EPERM, "%s: %.120s; %.100s", lines[i].subject,
					    lines[i].text, lines[i].remedy);
	free(lines);
	return rc;
}

int
lull_channel_start(struct lull_channel *channel, struct lull_error *error)
{
	int rc = 0;

	if (channel->started)
		return lull_error_set(error, -EINVAL, "the channel has been started already");
	if (!channel->config.unchecked)
		rc = start_checked(channel, error);
	channel->started = rc == 0;
	if (rc == 0)
		rc = channel->config.own_loop ? channel_caller_open(channel, error) :
						channel_thread_start(channel, error);
	if (rc == 0)
		rc = channel_stand_in_start(channel, error);
	channel->started = rc == 0;
	return rc;
}

/* ---- close ---- */

static bool
close_peers_left(const struct lull_channel *channel)
{
	for (uint32_t i = 0; i < channel->config.peers_max; i++)
		if (channel->peers[i].up)
			return true;
	return false;
}

static void
close_peers(struct lull_channel *channel, uint64_t linger_ns)
{
	uint64_t now_ns = lull_clock_ns();
	struct channel_wait wait;

	channel_lock(channel);
	for (uint32_t i = 0; i < channel->config.peers_max; i++)
		if (channel->peers[i].up)
			lull_bundle_disconnect(channel->bundle, now_ns, i, linger_ns);
	channel_act(channel, now_ns);
	wait = channel_wait_begin(channel, LULL_MIN(linger_ns, UINT64_MAX / 2) + CLOSE_NS);
	while (close_peers_left(channel))
		if (channel_wait(channel, &wait) == -ETIMEDOUT)
			break;
	channel_unlock(channel);
}

void
lull_channel_close(struct lull_channel *channel, uint64_t linger_ns)
{
	if (channel == NULL)
		return;
	channel_stand_in_stop(channel);
	if (channel->started)
		close_peers(channel, linger_ns);
	channel_thread_stop(channel);
	open_free(channel);
}

/* ---- turning ---- */

uint32_t
lull_channel_poll(struct lull_channel *channel)
{
	uint32_t pkts;

	if (!channel->config.own_loop || !channel->started)
		return 0;
	channel_lock(channel);
	pkts = channel_caller_turn(channel, lull_clock_ns());
	channel_unlock(channel);
	return pkts;
}

int
lull_channel_fd(struct lull_channel *channel)
{
	const uint64_t one = 1;

	if (channel->config.own_loop)
		return -ENOSYS;
	channel_lock(channel);
	if (!channel->event_asked && channel->operations.ended > 0)
		(void)!write(channel->event_fd, &one, sizeof(one));
	channel->event_asked = true;
	channel_unlock(channel);
	return channel->event_fd;
}

void
lull_channel_wake(struct lull_channel *channel)
{
	channel_lock(channel);
	channel->wakes++;
	channel_changed(channel);
	channel_unlock(channel);
}

int
lull_channel_change(struct lull_channel *channel, const char *governor, uint64_t max_latency_ns,
		    struct lull_error *error)
{
	const struct lull_range range = { "max_latency_ns", max_latency_ns, LULL_NS_PER_US,
					  100 * LULL_NS_PER_MS };
	int rc;

	if (governor != NULL && lull_idle_governor_find(governor) == NULL)
		return lull_error_set(error, -EINVAL, "governor: '%s' does not exist", governor);
	if (max_latency_ns != 0 && (max_latency_ns < range.low || max_latency_ns > range.high))
		return lull_error_range(error, &range);
	channel_lock(channel);
	if (governor != NULL)
		snprintf(channel->governor, sizeof(channel->governor), "%s", governor);
	if (max_latency_ns != 0)
		channel->max_latency_ns = max_latency_ns;
	channel->callers_rest.old = true;
	channel_unlock(channel);
	rc = channel_thread_change(channel);
	return rc == 0 ? 0 :
			 lull_error_set(error, rc,
					"the thread has not taken the last changes yet; try again");
}
