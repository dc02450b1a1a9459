/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include "gige/gvcp_message.h"
#include "frame/packet_write.h"
#include "pattern.h"

#define MEMBER(member) LULL_OPTION_MEMBER(struct source_settings, member)

static const char *
protocol_name(uint32_t index)
{
	return lull_packet_writers[index] != NULL ? lull_packet_writers[index]->name : NULL;
}

static const char *
protocol_summary(uint32_t index)
{
	const struct lull_frame_protocol *protocol = lull_frame_protocol_find(protocol_name(index));

	return protocol != NULL ? protocol->summary : NULL;
}

/* The first pixel is "unknown" and no choice. */
static const char *
pixel_name(uint32_t index)
{
	return index + 1 < LULL_PIXEL_COUNT ? lull_pixel_name((enum lull_pixel)(index + 1)) : NULL;
}

static const char *const apart_names[] = { "ports", "addresses", NULL };
static const char *const stamp_names[] = { "due", "sent", NULL };
static const char *const resend_names[] = { "answer", "lossy", "ignore", NULL };

const struct lull_option source_options[] = {
	{
		.key = "protocol",
		.group = "Cameras",
		.help = "Protocol of the packets.",
		.type = LULL_OPTION_CHOICE,
		.value = "rfc4175",
		.choice = protocol_name,
		.choice_help = protocol_summary,
		MEMBER(protocol),
	},
	{
		.key = "interface",
		.argument = "NAME",
		.help = "Network interface to send on. Required for cmp and rvf; for the others, "
			"routes decide.",
		.type = LULL_OPTION_TEXT,
		MEMBER(interface),
	},
	{
		.key = "bind",
		.argument = "ADDRESS[:PORT]",
		.help = "Source IPv4 address and port of the packets. Required for gvsp, as the "
			"camera's address.",
		.type = LULL_OPTION_CUSTOM,
		.value_help = "chosen by the kernel",
		.parse = spec_address_parse,
		.print = spec_address_print,
		MEMBER(bind),
	},
	{
		.key = "to",
		.argument = "ADDRESS",
		.help = "Destination of the packets: ADDRESS:PORT (PORT + K for camera K of "
			"several), or an Ethernet address for cmp and rvf. Without it, gvsp waits "
			"until a client takes control.",
		.type = LULL_OPTION_CUSTOM,
		.value_help = "ff:ff:ff:ff:ff:ff for cmp and rvf",
		.parse = spec_address_parse,
		.print = spec_address_print,
		MEMBER(to),
	},
	{
		.key = "cameras",
		.argument = "N",
		.help = "Number of cameras.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = SOURCE_CAMERAS_MAX,
		MEMBER(cameras),
	},
	{
		.key = "apart",
		.help = "Difference between several cameras at this end: consecutive ports (of "
			"--bind and --control-port), or consecutive addresses from --bind on.",
		.type = LULL_OPTION_CHOICE,
		.value = "ports",
		.choices = apart_names,
		MEMBER(apart),
	},
	{
		.key = "control-port",
		.argument = "PORT",
		.help = "gvsp: UDP port of the control protocol. Clients expect 3956.",
		.type = LULL_OPTION_COUNT,
		.value = "3956",
		.low = 1,
		.high = UINT16_MAX,
		MEMBER(control_port),
	},
	{
		.key = "stream-id",
		.argument = "N",
		.help = "rfc4175: RTP source; cmp: device * 256 + stream; rvf: stream id. Camera "
			"K has N + K.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		MEMBER(stream_id),
	},
	LULL_CPUS_OPTION(struct source_settings, cpus, "cpus", "CPU of the sending thread.", "any"),
	{
		.key = "width",
		.group = "Pictures",
		.argument = "PIXELS",
		.help = "Columns.",
		.type = LULL_OPTION_COUNT,
		.value = "1920",
		.low = 1,
		.high = LULL_FRAME_SIDE_MAX,
		MEMBER(width),
	},
	{
		.key = "height",
		.argument = "PIXELS",
		.help = "Rows.",
		.type = LULL_OPTION_COUNT,
		.value = "1280",
		.low = 1,
		.high = LULL_FRAME_SIDE_MAX,
		MEMBER(height),
	},
	{
		.key = "pixel",
		.help = "Pixel format in the packets.",
		.type = LULL_OPTION_CHOICE,
		.value_help = "bayer-rg12p, uyvy8 for rfc4175, raw12-csi for cmp, mono8 for rvf",
		.choice = pixel_name,
		MEMBER(pixel_choice),
	},
	{
		.key = "row-bytes",
		.argument = "BYTES",
		.help = "Bytes from one row to the next; 0: no padding.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.high = LULL_FRAME_SIDE_MAX * 16,
		MEMBER(row_bytes),
	},
	{
		.key = "pattern",
		.help = "Content of the pictures.",
		.type = LULL_OPTION_CHOICE,
		.value = "counter",
		.choice = pattern_name,
		.choice_help = pattern_summary,
		MEMBER(pattern),
	},
	{
		.key = "packet",
		.group = "Packets",
		.argument = "BYTES",
		.help = "Largest number of bytes after the UDP header (cmp and rvf: after the "
			"Ethernet header) of a packet. A gvsp client may change it.",
		.type = LULL_OPTION_COUNT,
		.value = "1400",
		.low = LULL_PACKET_BYTES_MIN,
		.high = LULL_PACKET_BYTES_MAX,
		MEMBER(packet_bytes),
	},
	{
		.key = "first",
		.argument = "N",
		.help = "Number of the first frame.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.high = UINT64_MAX / 4,
		MEMBER(first),
	},
	{
		.key = "first-packet",
		.argument = "N",
		.help = "rfc4175, cmp, rvf: number of the first packet.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.high = UINT32_MAX,
		MEMBER(first_packet),
	},
	{
		.key = "interlaced",
		.help = "rfc4175: two fields make a frame.",
		.type = LULL_OPTION_BOOL,
		MEMBER(interlaced),
	},
	{
		.key = "field-rows",
		.help = "rfc4175: count lines within the field.",
		.type = LULL_OPTION_BOOL,
		MEMBER(field_rows),
	},
	{
		.key = "extended",
		.help = "gvsp: 64-bit ids (a client may also request them). rfc4175: send the "
			"extended sequence number.",
		.type = LULL_OPTION_BOOL,
		MEMBER(extended),
	},
	{
		.key = "all-in",
		.help = "gvsp: send a frame in one packet if it fits.",
		.type = LULL_OPTION_BOOL,
		MEMBER(all_in),
	},
	{
		.key = "rate",
		.group = "Timing",
		.argument = "FRAMES",
		.help = "Frames per second of each camera; 0: as fast as possible.",
		.type = LULL_OPTION_REAL,
		.value = "30",
		.real_low = 0,
		.real_high = 100000,
		MEMBER(rate),
	},
	{
		.key = "pace",
		.argument = "SPEC",
		.help = "Spacing of the packets of a frame: burst (none), spread:TIME (evenly "
			"within TIME) or rate:BITS per second.",
		.type = LULL_OPTION_CUSTOM,
		.value = "burst",
		.parse = spec_pace_parse,
		.print = spec_pace_print,
		MEMBER(pace),
	},
	{
		.key = "stagger",
		.argument = "TIME",
		.help = "Delay of each camera's frames after those of the previous camera.",
		.type = LULL_OPTION_DURATION,
		.value = "0",
		.unit = "ms",
		.high = 60 * LULL_NS_PER_S,
		MEMBER(stagger_ns),
	},
	{
		.key = "stamp",
		.help = "Device time in gvsp, cmp and rvf (CLOCK_MONOTONIC, ns). due: the time at "
			"which the frame was due. sent: the time at which the packet was written. "
			"cmp has a time in each packet, gvsp in the leader, rvf in the first "
			"packet of a line or frame (32 bits); rfc4175 has none.",
		.type = LULL_OPTION_CHOICE,
		.value = "due",
		.choices = stamp_names,
		MEMBER(stamp),
	},
	{
		.key = "sent-stamp",
		.help = "Write the time of sending (CLOCK_MONOTONIC, ns, least significant byte "
			"first) into the last eight bytes of each picture, right before their "
			"packet is sent in a system call of its own. A delayed or resent packet "
			"keeps its first time. lull-cam --sent-stamp reads this time.",
		.type = LULL_OPTION_BOOL,
		MEMBER(sent_stamp),
	},
	{
		.key = "segment",
		.help = "Give the kernel several equal packets at a time, which it or the network "
			"card separates (UDP segmentation): about twice the rate. UDP only. Over "
			"veth to a DPDK port, also run `ip link set IF gso_max_segs 1`; otherwise "
			"the packets are not separated.",
		.type = LULL_OPTION_BOOL,
		MEMBER(segment),
	},
	{
		.key = "lose",
		.group = "Faults",
		.argument = "PPM|LIST",
		.help = "Fault: packets per million that are not sent, or a list of frames and "
			"packets, such as 3/10-12,5/0.",
		.type = LULL_OPTION_CUSTOM,
		.value = "0",
		.parse = spec_loss_parse,
		.print = spec_loss_print,
		MEMBER(lose),
	},
	{
		.key = "duplicate",
		.argument = "PPM",
		.help = "Fault: packets per million that are sent twice.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.high = LULL_PPM,
		MEMBER(duplicate_ppm),
	},
	{
		.key = "reorder",
		.argument = "PPM,DEPTH",
		.help = "Fault: packets per million that are sent after DEPTH later ones.",
		.type = LULL_OPTION_CUSTOM,
		.value = "0",
		.parse = spec_reorder_parse,
		.print = spec_reorder_print,
		MEMBER(reorder),
	},
	{
		.key = "late",
		.argument = "PPM,TIME",
		.help = "Fault: packets per million that are sent late by TIME.",
		.type = LULL_OPTION_CUSTOM,
		.value = "0",
		.parse = spec_late_parse,
		.print = spec_late_print,
		MEMBER(late),
	},
	{
		.key = "resend",
		.help = "gvsp: answer resend requests, answer with the same losses as other "
			"packets, or ignore requests.",
		.type = LULL_OPTION_CHOICE,
		.value = "answer",
		.choices = resend_names,
		MEMBER(resend),
	},
	{
		.key = "memory",
		.argument = "FRAMES",
		.help = "gvsp: number of last frames whose packets can be sent again.",
		.type = LULL_OPTION_COUNT,
		.value = "8",
		.high = 1000,
		MEMBER(memory_frames),
	},
	{
		.key = "seed",
		.argument = "N",
		.help = "Seed of faults and noise: the same seed makes the same faults.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		MEMBER(seed),
	},
	{
		.key = "log",
		.argument = "FILE",
		.help = "Write each fault as a line of JSON to FILE.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(log),
	},
	{
		.key = "log-frames",
		.help = "Also write each frame to --log, with the times of its first and last "
			"packet.",
		.type = LULL_OPTION_BOOL,
		MEMBER(log_frames),
	},
	{
		.key = "frames",
		.group = "Run",
		.argument = "N",
		.help = "End after this many frames of each camera; 0: no limit.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		MEMBER(frames),
	},
	{
		.key = "duration",
		.argument = "TIME",
		.help = "End after this time; 0: no limit.",
		.type = LULL_OPTION_DURATION,
		.value = "0",
		.unit = "s",
		MEMBER(duration_ns),
	},
	{
		.key = "linger",
		.argument = "TIME",
		.help = "gvsp: time after the last frame in which requests are still answered.",
		.type = LULL_OPTION_DURATION,
		.value = "200",
		.unit = "ms",
		.high = 3600 * LULL_NS_PER_S,
		MEMBER(linger_ns),
	},
	LULL_STATS_OPTION(struct source_settings),
	LULL_JSON_OPTION(struct source_settings),
	{ .key = NULL },
};
