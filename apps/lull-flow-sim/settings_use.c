/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/resting.h"
#include "settings.h"

struct lull_sim_pipeline_config
flow_sim_settings_config(const struct flow_sim_settings *settings,
			 const struct lull_scheduler *scheduler, uint32_t load_ppm, bool warm,
			 uint64_t seed)
{
	return (struct lull_sim_pipeline_config){
		.dispatch = {
			.scheduler = scheduler,
			.order = (enum lull_order)settings->order,
			.worker_count = settings->workers,
			.bucket_bits = settings->bucket_bits,
			.threshold_ppm = lull_resting_ppm(settings->threshold),
			.enter_ppm = lull_resting_ppm(settings->enter),
			.leave_ppm = lull_resting_ppm(settings->leave),
			.idle_ns = settings->idle_ns,
			.pin_pkts = settings->pin_pkts,
		},
		.flows = {
			.flow_count = settings->flow_count,
			.zipf_milli = (uint32_t)(settings->zipf * 1000 + 0.5),
			.elephant_ppm = lull_resting_ppm(settings->elephant),
			.target_count = settings->target_count,
			.churn_ppm = settings->churn_ppm,
		},
		.resequence = {
			.window_pkts = settings->window_pkts,
			.delay_ns = settings->delay_ns,
		},
		.gaps = (enum lull_sim_gaps)settings->gaps,
		.load_ppm = load_ppm,
		.pkts = settings->pkts,
		.lead_pkts = warm ? settings->lead_pkts : 0,
		.rx_ring_pkts = settings->rx_ring_pkts,
		.burst_pkts = settings->burst_pkts,
		.flush_pkts = settings->flush_pkts,
		.flush_ns = settings->flush_ns,
		.io_iteration_ns = settings->io_iteration_ns,
		.io_pkt_ns = settings->io_pkt_ns,
		.ring_pkts = settings->ring_pkts,
		.worker_burst_pkts = settings->worker_burst_pkts,
		.service_ns = settings->service_ns,
		.jitter_ppm = lull_resting_ppm(settings->jitter),
		.identify_ns = settings->identify_ns,
		.identify_pkts = settings->identify_pkts,
		.hand_over = settings->hand_over,
		.wake_ns = settings->wake_ns,
		.stall_every_ns = settings->stall.every_ns,
		.stall_ns = settings->stall.ns,
		.stall_worker = settings->stall_worker,
		.watch_pkts = settings->watch_pkts,
		.seed = seed,
	};
}
