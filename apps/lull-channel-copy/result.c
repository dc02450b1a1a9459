/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"

#include <sys/resource.h>

#include "copy.h"

json_t *
copy_item_result(const struct copy *copy, const char *path, uint64_t bytes, uint64_t resumed_bytes,
		 const uint8_t digest[COPY_DIGEST_BYTES])
{
	char hex[COPY_HEX_SIZE];
	json_t *item;

	if (json_array_size(copy->items) >= COPY_ITEMS_MAX)
		return NULL;
	item = json_object();
	lull_result_put_text(item, "path", path);
	lull_result_put_count(item, "bytes", bytes);
	lull_result_put_count(item, "resumed_bytes", resumed_bytes);
	lull_result_put_text(item, "sha256", copy_digest_hex(digest, hex));
	return item;
}

static json_t *
result_rate(const struct copy_rate *rate)
{
	json_t *object = json_object(), *steps = json_array();

	lull_result_put_count(object, "begin_ns", rate->begin_ns);
	lull_result_put_count(object, "step_ns", rate->step_ns);
	for (uint32_t i = 0; i < rate->count; i++)
		json_array_append_new(steps, lull_result_count(rate->bytes[i]));
	json_object_set_new(object, "bytes", steps);
	return object;
}

static void
result_files(const struct copy *copy, json_t *result)
{
	json_t *names = json_array();

	for (uint32_t i = 0; i < LULL_MIN(copy->run.operand_count, COPY_ITEMS_MAX); i++)
		json_array_append_new(names, lull_result_text(copy->run.operands[i]));
	json_object_set_new(result, "named", names);
}

void
copy_result(void *state, json_t *result)
{
	const struct copy *copy = state;
	const struct copy_totals *totals = &copy->totals;
	double seconds = (double)(copy->run.end_ns - copy->run.begin_ns) / LULL_NS_PER_S;
	struct rusage used = { .ru_maxrss = 0 };
	double cpu_s;

	getrusage(RUSAGE_SELF, &used);
	cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		(double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	result_files(copy, result);
	lull_result_put_count(result, "files", totals->files);
	lull_result_put_count(result, "folders", totals->folders);
	lull_result_put_count(result, "failed", totals->failed);
	lull_result_put_count(result, "left_out", totals->left_out);
	lull_result_put_count(result, "bytes", totals->bytes);
	lull_result_put_count(result, "resumed_bytes", totals->resumed_bytes);
	lull_result_put_count(result, "same_bytes", totals->same_bytes);
	lull_result_put_count(result, "moved_bytes", copy_moved_bytes(copy));
	if (copy->settings.listen) {
		lull_result_put_count(result, "senders", copy->ended);
		lull_result_put_count(result, "broken_senders", totals->broken);
	}
	lull_result_put_real(result, "moved_bits_per_s",
			     seconds > 0 ? (double)copy_moved_bytes(copy) * 8 / seconds : 0);
	lull_result_put_real(result, "cpu_pct", seconds > 0 ? 100 * cpu_s / seconds : 0);
	if (copy->failure.text[0] != '\0')
		lull_result_put_text(result, "failure", copy->failure.text);
	json_object_set(result, "items", copy->items);
	json_object_set_new(result, "rate", result_rate(&copy->rate));
	if (copy->sender.last.peer.path_count > 0)
		json_object_set_new(result, "peer",
				    lull_link_peer_result(NULL, &copy->sender.last));
	lull_link_result(&copy->link, result);
}
