/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of the program that the plugin cannot see, and that a thread may have to do between two
 * polls of its ports: devices of events and of crypto that have started, and guests whose polls do
 * not lead through us (vhost.c). Which thread does it nobody can tell, so none rests.
 *
 * Like a port's, the fast path of such a device is a placeholder unless it runs.
 */
#include "plugin.h"

#include <string.h>

#include <rte_cryptodev.h>
#include <rte_eventdev.h>

#define CRYPTO_LIBRARY "librte_cryptodev.so"
#define EVENT_LIBRARY "librte_eventdev.so"

static struct {
	const struct rte_crypto_fp_ops *crypto; /* of each device; NULL: no such library so far */
	const struct rte_event_fp_ops *event;
	int (*event_ask)(uint8_t device_id, uint32_t what, uint32_t *value);
	const void *event_placeholder, *event_running;
	const char *reason;
} unseen;

/* The last place of the table is that of a device that nobody has: a placeholder. */
static bool
unseen_crypto(void)
{
	const struct rte_crypto_fp_ops *all = __atomic_load_n(&unseen.crypto, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; all != NULL && i < RTE_CRYPTO_MAX_DEVS - 1; i++)
		if (__atomic_load_n(&all[i].dequeue_burst, __ATOMIC_RELAXED) !=
		    all[RTE_CRYPTO_MAX_DEVS - 1].dequeue_burst)
			return true;
	return false;
}

/*
 * The placeholder of event devices is there from the first device on. Whether a function is one,
 * the library knows; it is asked once for each function, for its device may go at any time. It
 * refuses to answer for a device that has just gone.
 */
static bool
event_runs(uint8_t device_id, const void *take)
{
	uint32_t runs = 1;

	if (take == __atomic_load_n(&unseen.event_placeholder, __ATOMIC_RELAXED))
		return false;
	if (take == __atomic_load_n(&unseen.event_running, __ATOMIC_RELAXED))
		return true;
	if (unseen.event_ask != NULL &&
	    unseen.event_ask(device_id, RTE_EVENT_DEV_ATTR_STARTED, &runs) != 0)
		return false;
	__atomic_store_n(runs != 0 ? &unseen.event_running : &unseen.event_placeholder, take,
			 __ATOMIC_RELAXED);
	return runs != 0;
}

static bool
unseen_event(void)
{
	const struct rte_event_fp_ops *all = __atomic_load_n(&unseen.event, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; all != NULL && i < RTE_EVENT_MAX_DEVS; i++) {
		const void *take = (const void *)(uintptr_t)__atomic_load_n(&all[i].dequeue_burst,
									    __ATOMIC_ACQUIRE);

		if (take != NULL && event_runs((uint8_t)i, take))
			return true;
	}
	return false;
}

/* EAL loads its own drivers, and the libraries that these need, after the plugin. */
void
plugin_unseen_follow(void)
{
	bool shared;
	void *ask;

	if (unseen.crypto == NULL)
		__atomic_store_n(&unseen.crypto,
				 plugin_hook_find_data("rte_crypto_fp_ops", CRYPTO_LIBRARY),
				 __ATOMIC_RELEASE);
	if (unseen.event != NULL)
		return;
	ask = plugin_hook_find("rte_event_dev_attr_get", EVENT_LIBRARY, &shared);
	memcpy(&unseen.event_ask, &ask, sizeof(ask));
	__atomic_store_n(&unseen.event, plugin_hook_find_data("rte_event_fp_ops", EVENT_LIBRARY),
			 __ATOMIC_RELEASE);
}

void
plugin_unseen_start(void)
{
	plugin_unseen_follow();
	plugin_vhost_follow();
}

void
plugin_unseen_look(void)
{
	const char *reason;

	reason = plugin_vhost_unseen();
	if (reason == NULL && unseen_event())
		reason = PLUGIN_UNSEEN("the program runs an event device, which lull cannot see");
	if (reason == NULL && unseen_crypto())
		reason = PLUGIN_UNSEEN("the program runs a crypto device, which lull cannot see");
	__atomic_store_n(&unseen.reason, reason, __ATOMIC_RELEASE);
}

const char *
plugin_unseen(void)
{
	return __atomic_load_n(&unseen.reason, __ATOMIC_ACQUIRE);
}
