/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails: taken into the bundle and out of it, while it runs or before. */
#include "rails.h"

#include <errno.h>
#include <string.h>

#include "host/error.h"
#include "rail_memory.h"
#include "thread.h"
#include "turn.h"
#include "wait.h"

static int
rails_refused(int rc, const struct channel_rail *rail, struct lull_error *error)
{
	if (rc == -ENOSPC)
		return lull_error_set(error, rc, "rail %s: there are %d rails already", rail->text,
				      LULL_CHANNEL_RAILS_MAX);
	return lull_error_set(error, rc,
			      "rail %s: an MTU that leaves %u bytes for a packet does not do, it "
			      "needs %u; ip link set dev IF mtu 1500",
			      rail->text, rail->bundle.packet_bytes, LULL_BUNDLE_PACKET_BYTES_MIN);
}

int
channel_rails_take(struct lull_channel *channel, struct channel_rail *rail,
		   struct lull_error *error)
{
	int number;

	channel_lock(channel);
	number = lull_bundle_rail_add(channel->bundle, lull_clock_ns(), &rail->bundle);
	if (number >= 0) {
		channel->rails[number] = rail;
		channel_rails_changed(channel);
	}
	if (number >= 0 && channel->started)
		channel_act(channel, lull_clock_ns());
	channel_unlock(channel);
	return number >= 0 ? number : rails_refused(number, rail, error);
}

int
lull_channel_rail_add(struct lull_channel *channel, const char *text, struct lull_error *error)
{
	const struct channel_rail_config config = { .program = CHANNEL_PROGRAM,
						    .eal = channel->config.eal,
						    .unchecked = channel->config.unchecked };
	char words[LULL_CHANNEL_RAILS_MAX][CHANNEL_RAIL_TEXT_SIZE];
	struct channel_rail *rail;
	int number = channel_rail_memory_spell(text, words, LULL_CHANNEL_RAILS_MAX, error);

	if (number < 0)
		return number;
	if (number > 1)
		return lull_error_set(error, -EINVAL,
				      "rail %s: that is %d rails; add them one by one, the first "
				      "as %s",
				      text, number, words[0]);
	pthread_mutex_lock(&channel->rails_lock);
	number = channel_rail_open(&config, number == 1 ? words[0] : text, &rail, error);
	if (number == 0) {
		number = channel_rails_take(channel, rail, error);
		if (number < 0)
			channel_rail_close(rail);
		else
			channel_thread_change(channel);
	}
	channel_kick(channel);
	pthread_mutex_unlock(&channel->rails_lock);
	return number;
}

int
lull_channel_rail_remove(struct lull_channel *channel, uint32_t number, struct lull_error *error)
{
	struct channel_rail *rail = NULL;

	pthread_mutex_lock(&channel->rails_lock);
	channel_lock(channel);
	if (number < LULL_CHANNEL_RAILS_MAX)
		rail = channel->rails[number];
	if (rail != NULL) {
		lull_bundle_rail_remove(channel->bundle, lull_clock_ns(), number);
		channel->rails[number] = NULL;
		channel_rails_changed(channel);
		channel_wait_removed(channel, rail);
	}
	channel_unlock(channel);
	channel_rail_close(rail);
	if (rail != NULL)
		channel_thread_change(channel);
	pthread_mutex_unlock(&channel->rails_lock);
	return rail != NULL ? 0 : lull_error_set(error, -ENODEV, "there is no rail %u", number);
}
