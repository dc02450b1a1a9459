/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of the program that the plugin cannot see, and that a thread may have to do between two
 * polls of its ports: devices of events and of crypto that have started, and guests whose polls do
 * not lead through us (vhost.c). Which thread does it nobody can tell, so none rests.
 *
 * Like a port's, the fast path of such a device is a placeholder unless it runs.
 */
#include "plugin.h"

#include <rte_cryptodev.h>
#include <rte_eventdev.h>

static struct {
	const void *crypto_placeholder;
	const void *event_placeholder, *event_running;
	const char *reason;
} unseen;

static bool
unseen_crypto(void)
{
	for (uint32_t i = 0; rte_crypto_fp_ops != NULL && i < RTE_CRYPTO_MAX_DEVS; i++) {
		const void *take = (const void *)(uintptr_t)__atomic_load_n(
			&rte_crypto_fp_ops[i].dequeue_burst, __ATOMIC_RELAXED);

		if (take != NULL && take != unseen.crypto_placeholder)
			return true;
	}
	return false;
}

/*
 * The placeholder of event devices is there from the first device on. Whether a function is one,
 * the library knows; it is asked once for each function, for its device may go at any time.
 */
static bool
event_runs(uint8_t device_id, const void *take)
{
	uint32_t runs = 1;

	if (take == __atomic_load_n(&unseen.event_placeholder, __ATOMIC_RELAXED))
		return false;
	if (take == __atomic_load_n(&unseen.event_running, __ATOMIC_RELAXED))
		return true;
	if (rte_event_dev_attr_get != NULL &&
	    rte_event_dev_attr_get(device_id, RTE_EVENT_DEV_ATTR_STARTED, &runs) != 0)
		return true;
	__atomic_store_n(runs != 0 ? &unseen.event_running : &unseen.event_placeholder, take,
			 __ATOMIC_RELAXED);
	return runs != 0;
}

static bool
unseen_event(void)
{
	for (uint32_t i = 0; rte_event_fp_ops != NULL && i < RTE_EVENT_MAX_DEVS; i++) {
		const void *take = (const void *)(uintptr_t)__atomic_load_n(
			&rte_event_fp_ops[i].dequeue_burst, __ATOMIC_ACQUIRE);

		if (take != NULL && event_runs((uint8_t)i, take))
			return true;
	}
	return false;
}

void
plugin_unseen_start(void)
{
	if (rte_crypto_fp_ops != NULL)
		unseen.crypto_placeholder =
			(const void *)(uintptr_t)rte_crypto_fp_ops[0].dequeue_burst;
	plugin_vhost_follow();
}

void
plugin_unseen_look(void)
{
	const char *reason;

	plugin_vhost_look();
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
