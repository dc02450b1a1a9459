/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include "gige/gvcp_message.h"
#include "frame/packet_write.h"
#include "camera/emulator/pattern.h"
#include "spec.h"

#define MEMBER(member) LULL_OPTION_MEMBER(struct source_settings, member)
#define CAMERA(member) MEMBER(emulator.member)

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
		.help = "How pictures are cut into packets.",
		.type = LULL_OPTION_CHOICE,
		.value = "rfc4175",
		.choice = protocol_name,
		.choice_help = protocol_summary,
		CAMERA(protocol),
	},
	{
		.key = "interface",
		.argument = "NAME",
		.help = "Network interface to send on. cmp and rvf need it, for the others the "
			"routes decide.",
		.type = LULL_OPTION_TEXT,
		CAMERA(interface),
	},
	{
		.key = "bind",
		.argument = "ADDRESS[:PORT]",
		.help = "IPv4 address and port packets come from. gvsp needs the address: it is "
			"the camera's.",
		.type = LULL_OPTION_CUSTOM,
		.value_help = "what the kernel chooses",
		.parse = spec_address_parse,
		.print = spec_address_print,
		CAMERA(bind),
	},
	{
		.key = "to",
		.argument = "ADDRESS",
		.help = "Where packets go: ADDRESS:PORT (camera K of several to PORT + K), or an "
			"Ethernet address for cmp and rvf. gvsp without it waits for a client to "
			"take control.",
		.type = LULL_OPTION_CUSTOM,
		.value_help = "ff:ff:ff:ff:ff:ff for cmp and rvf",
		.parse = spec_address_parse,
		.print = spec_address_print,
		CAMERA(to),
	},
	{
		.key = "cameras",
		.argument = "N",
		.help = "How many cameras to be.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = LULL_EMULATOR_CAMERAS_MAX,
		CAMERA(cameras),
	},
	{
		.key = "apart",
		.help = "What tells several cameras apart on this side: the ports counting up "
			"(bound and of control), or the addresses counting up from the one bound.",
		.type = LULL_OPTION_CHOICE,
		.value = "ports",
		.choices = apart_names,
		CAMERA(apart),
	},
	{
		.key = "control-port",
		.argument = "PORT",
		.help = "gvsp: UDP port of the control protocol. Clients expect 3956.",
		.type = LULL_OPTION_COUNT,
		.value = "3956",
		.low = 1,
		.high = UINT16_MAX,
		CAMERA(control_port),
	},
	{
		.key = "stream-id",
		.argument = "N",
		.help = "rfc4175: source of RTP; cmp: device * 256 + stream; rvf: id of the "
			"stream. "
			"Camera K has N + K.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		CAMERA(stream_id),
	},
	LULL_CPUS_OPTION(struct source_settings, cpus, "cpus", "CPU of the thread that sends.",
			 "any"),
	{
		.key = "width",
		.group = "Pictures",
		.argument = "PIXELS",
		.help = "Columns.",
		.type = LULL_OPTION_COUNT,
		.value = "1920",
		.low = 1,
		.high = LULL_FRAME_SIDE_MAX,
		CAMERA(width),
	},
	{
		.key = "height",
		.argument = "PIXELS",
		.help = "Rows.",
		.type = LULL_OPTION_COUNT,
		.value = "1280",
		.low = 1,
		.high = LULL_FRAME_SIDE_MAX,
		CAMERA(height),
	},
	{
		.key = "pixel",
		.help = "How pixels lie in packets.",
		.type = LULL_OPTION_CHOICE,
		.value_help = "bayer-rg12p, uyvy8 for rfc4175, raw12-csi for cmp, mono8 for rvf",
		.choice = pixel_name,
		MEMBER(pixel_choice),
	},
	{
		.key = "row-bytes",
		.argument = "BYTES",
		.help = "From one row to the next, 0: no padding.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.high = LULL_FRAME_SIDE_MAX * 16,
		CAMERA(row_bytes),
	},
	{
		.key = "pattern",
		.help = "What the pictures show.",
		.type = LULL_OPTION_CHOICE,
		.value = "counter",
		.choice = pattern_name,
		.choice_help = pattern_summary,
		CAMERA(pattern),
	},
	{
		.key = "packet",
		.group = "Packets",
		.argument = "BYTES",
		.help = "Most bytes behind the UDP header (cmp and rvf: the Ethernet header) of a "
			"packet. A gvsp client may change it.",
		.type = LULL_OPTION_COUNT,
		.value = "1400",
		.low = LULL_PACKET_BYTES_MIN,
		.high = LULL_PACKET_BYTES_MAX,
		CAMERA(packet_bytes),
	},
	{
		.key = "first",
		.argument = "N",
		.help = "Number of the first frame.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.high = UINT64_MAX / 4,
		CAMERA(first),
	},
	{
		.key = "first-packet",
		.argument = "N",
		.help = "rfc4175, cmp, rvf: number of the first packet.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.high = UINT32_MAX,
		CAMERA(first_packet),
	},
	{
		.key = "interlaced",
		.help = "rfc4175: two fields make a frame.",
		.type = LULL_OPTION_BOOL,
		CAMERA(interlaced),
	},
	{
		.key = "field-rows",
		.help = "rfc4175: count lines within the field.",
		.type = LULL_OPTION_BOOL,
		CAMERA(field_rows),
	},
	{
		.key = "extended",
		.help = "gvsp: 64 bit ids (a client may ask for them too); rfc4175: fill in the "
			"extended sequence number.",
		.type = LULL_OPTION_BOOL,
		CAMERA(extended),
	},
	{
		.key = "all-in",
		.help = "gvsp: a frame in one packet, where it fits.",
		.type = LULL_OPTION_BOOL,
		CAMERA(all_in),
	},
	{
		.key = "rate",
		.group = "Timing",
		.argument = "FRAMES",
		.help = "Frames per second of each camera, 0: as fast as possible.",
		.type = LULL_OPTION_REAL,
		.value = "30",
		.real_low = 0,
		.real_high = 100000,
		CAMERA(rate),
	},
	{
		.key = "pace",
		.argument = "SPEC",
		.help = "How fast the packets of a frame follow each other: burst, spread:TIME "
			"(all "
			"within TIME) or rate:BITS per second.",
		.type = LULL_OPTION_CUSTOM,
		.value = "burst",
		.parse = spec_pace_parse,
		.print = spec_pace_print,
		CAMERA(pace),
	},
	{
		.key = "stagger",
		.argument = "TIME",
		.help = "Each camera's frames begin this much later than those of the one before.",
		.type = LULL_OPTION_DURATION,
		.value = "0",
		.unit = "ms",
		.high = 60 * LULL_NS_PER_S,
		CAMERA(stagger_ns),
	},
	{
		.key = "stamp",
		.help = "Device time in gvsp, cmp and rvf (CLOCK_MONOTONIC, ns): when the frame "
			"was "
			"due, or when the very packet was written. With cmp each packet has one, "
			"so the last packet of a frame tells when it was sent; with gvsp only the "
			"leader, with rvf the first of a line or frame (32 bit); rfc4175 has none.",
		.type = LULL_OPTION_CHOICE,
		.value = "due",
		.choices = stamp_names,
		CAMERA(stamp),
	},
	{
		.key = "sent-stamp",
		.help = "Let the last eight bytes of each picture be the time (CLOCK_MONOTONIC, "
			"ns, least significant byte first) right before the packet with them is "
			"sent, which is sent alone. A packet lost, kept back or sent again "
			"carries the time at which it was its turn. lull-cam --sent-stamp reads "
			"it.",
		.type = LULL_OPTION_BOOL,
		CAMERA(sent_stamp),
	},
	{
		.key = "segment",
		.help = "Hand the kernel rows of equal packets, which it (or the network card) "
			"cuts "
			"apart: about twice the rate. UDP only. Over veth to a DPDK port also "
			"`ip link set IF gso_max_segs 1`, or they arrive in one piece.",
		.type = LULL_OPTION_BOOL,
		CAMERA(segment),
	},
	{
		.key = "lose",
		.group = "Faults",
		.argument = "PPM|LIST",
		.help = "Do not send this many of a million packets, or those of a list like "
			"3/10-12,5/0: frame and packets.",
		.type = LULL_OPTION_CUSTOM,
		.value = "0",
		.parse = spec_loss_parse,
		.print = spec_loss_print,
		CAMERA(lose),
	},
	{
		.key = "duplicate",
		.argument = "PPM",
		.help = "Send this many of a million packets twice.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.high = LULL_PPM,
		CAMERA(duplicate_ppm),
	},
	{
		.key = "reorder",
		.argument = "PPM,DEPTH",
		.help = "Send this many of a million packets only after DEPTH others.",
		.type = LULL_OPTION_CUSTOM,
		.value = "0",
		.parse = spec_reorder_parse,
		.print = spec_reorder_print,
		CAMERA(reorder),
	},
	{
		.key = "late",
		.argument = "PPM,TIME",
		.help = "Send this many of a million packets only TIME later.",
		.type = LULL_OPTION_CUSTOM,
		.value = "0",
		.parse = spec_late_parse,
		.print = spec_late_print,
		CAMERA(late),
	},
	{
		.key = "resend",
		.help = "gvsp: answer requests for packets, lose answers like other packets, or "
			"ignore requests.",
		.type = LULL_OPTION_CHOICE,
		.value = "answer",
		.choices = resend_names,
		CAMERA(resend),
	},
	{
		.key = "memory",
		.argument = "FRAMES",
		.help = "gvsp: of how many last frames packets are sent again.",
		.type = LULL_OPTION_COUNT,
		.value = "8",
		.high = 1000,
		CAMERA(memory_frames),
	},
	{
		.key = "seed",
		.argument = "N",
		.help = "Seed of faults and noise: the same seed, the same faults.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		CAMERA(seed),
	},
	{
		.key = "log",
		.argument = "FILE",
		.help = "Write each fault as a line of JSON.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(log),
	},
	{
		.key = "log-frames",
		.help = "Log each frame too, with the times of its first and last packet.",
		.type = LULL_OPTION_BOOL,
		CAMERA(log_frames),
	},
	{
		.key = "frames",
		.group = "Run",
		.argument = "N",
		.help = "End after so many frames of each camera, 0: no limit.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		CAMERA(frames),
	},
	{
		.key = "duration",
		.argument = "TIME",
		.help = "End after this time, 0: no limit.",
		.type = LULL_OPTION_DURATION,
		.value = "0",
		.unit = "s",
		MEMBER(duration_ns),
	},
	{
		.key = "linger",
		.argument = "TIME",
		.help = "gvsp: after the last frame, answer requests for so long.",
		.type = LULL_OPTION_DURATION,
		.value = "200",
		.unit = "ms",
		.high = 3600 * LULL_NS_PER_S,
		CAMERA(linger_ns),
	},
	LULL_STATS_OPTION(struct source_settings),
	LULL_JSON_OPTION(struct source_settings),
	{ .key = NULL },
};
