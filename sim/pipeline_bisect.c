/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipeline, the largest load without loss. */
#include <errno.h>

#include "pipeline.h"

static int
bisect_try(const struct lull_sim_pipeline_config *config, uint32_t seed_count,
	   lull_sim_pipeline_progress *progress, void *arg, bool *lost)
{
	struct lull_sim_pipeline_config tried = *config;

	*lost = false;
	tried.stop_at_loss = true;
	for (uint32_t i = 0; i < seed_count && !*lost; i++) {
		const struct lull_sim_pipeline_result *result;
		struct lull_sim_pipeline *pipeline;
		int rc;

		tried.seed = config->seed + i;
		rc = lull_sim_pipeline_create(&tried, &pipeline);
		if (rc != 0)
			return rc;
		rc = lull_sim_pipeline_run(pipeline, progress, arg);
		result = lull_sim_pipeline_read(pipeline);
		*lost = result->lost_rx + result->lost_ring > 0;
		lull_sim_pipeline_free(pipeline);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int
lull_sim_pipeline_bisect(const struct lull_sim_pipeline_config *config,
			 const struct lull_sim_pipeline_search *search,
			 lull_sim_pipeline_progress *progress, void *arg, uint32_t *load_ppm)
{
	struct lull_sim_pipeline_config tried = *config;
	uint32_t good = 0, bad;

	if (search->seed_count == 0 || search->step_ppm == 0 || search->high_ppm < search->step_ppm)
		return -EINVAL;
	bad = search->high_ppm / search->step_ppm + 1;
	while (bad - good > 1) {
		uint32_t middle = good + (bad - good) / 2;
		bool lost;
		int rc;

		tried.load_ppm = middle * search->step_ppm;
		rc = bisect_try(&tried, search->seed_count, progress, arg, &lost);
		if (rc != 0)
			return rc;
		if (lost)
			bad = middle;
		else
			good = middle;
	}
	*load_ppm = good * search->step_ppm;
	return 0;
}
