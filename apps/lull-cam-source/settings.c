/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include "gige/gvcp_message.h"
#include "frame/packet_write.h"
#include "camera/emulator/pattern.h"
#include "spec.h"

#define LULL_SETTINGS struct source_settings

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
	LULL_ROW_CHOICE("protocol", emulator.protocol, "Protocol of the packets.",
			.group = "Cameras", .value = "rfc4175", .choice = protocol_name,
			.choice_help = protocol_summary),
	LULL_ROW_TEXT("interface", "NAME", emulator.interface,
		      "Network interface to send on. Required for cmp and rvf; for the others, "
		      "routes decide."),
	LULL_ROW_CUSTOM("bind", "ADDRESS[:PORT]", emulator.bind, spec_address,
			"Source IPv4 address and port of the packets. Required for gvsp, as the "
			"camera's address.",
			.value_help = "chosen by the kernel"),
	LULL_ROW_CUSTOM(
		"to", "ADDRESS", emulator.to, spec_address,
		"Destination of the packets: ADDRESS:PORT (PORT + K for camera K of several), or "
		"an Ethernet address for cmp and rvf. Without it, gvsp waits until a client takes "
		"control.",
		.value_help = "ff:ff:ff:ff:ff:ff for cmp and rvf"),
	LULL_ROW_COUNT("cameras", "N", emulator.cameras, "Number of cameras.", .value = "1",
		       .low = 1, .high = LULL_EMULATOR_CAMERAS_MAX),
	LULL_ROW_CHOICE("apart", emulator.apart,
			"Difference between several cameras at this end: consecutive ports (of "
			"--bind and --control-port), or consecutive addresses from --bind on.",
			.value = "ports", .choices = apart_names),
	LULL_ROW_COUNT("control-port", "PORT", emulator.control_port,
		       "gvsp: UDP port of the control protocol. Clients expect 3956.",
		       .value = "3956", .low = 1, .high = UINT16_MAX),
	LULL_ROW_COUNT("stream-id", "N", emulator.stream_id,
		       "rfc4175: RTP source; cmp: device * 256 + stream; rvf: stream id. Camera K "
		       "has N + K.",
		       .value = "1"),
	LULL_CPUS_OPTION(cpus, "cpus", "CPU of the sending thread.", "any"),
	LULL_ROW_COUNT("width", "PIXELS", emulator.width, "Columns.", .group = "Pictures",
		       .value = "1920", .low = 1, .high = LULL_FRAME_SIDE_MAX),
	LULL_ROW_COUNT("height", "PIXELS", emulator.height, "Rows.", .value = "1280", .low = 1,
		       .high = LULL_FRAME_SIDE_MAX),
	LULL_ROW_CHOICE("pixel", pixel_choice, "Pixel format in the packets.",
			.value_help =
				"bayer-rg12p, uyvy8 for rfc4175, raw12-csi for cmp, mono8 for rvf",
			.choice = pixel_name),
	LULL_ROW_COUNT("row-bytes", "BYTES", emulator.row_bytes,
		       "Bytes from one row to the next; 0: no padding.", .value = "0",
		       .high = LULL_FRAME_SIDE_MAX * 16),
	LULL_ROW_CHOICE("pattern", emulator.pattern, "Content of the pictures.", .value = "counter",
			.choice = pattern_name, .choice_help = pattern_summary),
	LULL_ROW_COUNT("packet", "BYTES", emulator.packet_bytes,
		       "Largest number of bytes after the UDP header (cmp and rvf: after the "
		       "Ethernet header) of a packet. A gvsp client may change it.",
		       .group = "Packets", .value = "1400", .low = LULL_PACKET_BYTES_MIN,
		       .high = LULL_PACKET_BYTES_MAX),
	LULL_ROW_COUNT("first", "N", emulator.first, "Number of the first frame.", .value = "0",
		       .high = UINT64_MAX / 4),
	LULL_ROW_COUNT("first-packet", "N", emulator.first_packet,
		       "rfc4175, cmp, rvf: number of the first packet.", .value = "0",
		       .high = UINT32_MAX),
	LULL_ROW_BOOL("interlaced", emulator.interlaced, "rfc4175: two fields make a frame."),
	LULL_ROW_BOOL("field-rows", emulator.field_rows, "rfc4175: count lines within the field."),
	LULL_ROW_BOOL("extended", emulator.extended,
		      "gvsp: 64-bit ids (a client may also request them). rfc4175: send the "
		      "extended sequence number."),
	LULL_ROW_BOOL("all-in", emulator.all_in, "gvsp: send a frame in one packet if it fits."),
	LULL_ROW_REAL("rate", "FRAMES", emulator.rate,
		      "Frames per second of each camera; 0: as fast as possible.",
		      .group = "Timing", .value = "30", .real_low = 0, .real_high = 100000),
	LULL_ROW_CUSTOM("pace", "SPEC", emulator.pace, spec_pace,
			"Spacing of the packets of a frame: burst (none), spread:TIME (evenly "
			"within TIME) or rate:BITS per second.",
			.value = "burst"),
	LULL_ROW_TIME("stagger", emulator.stagger_ns,
		      "Delay of each camera's frames after those of the previous camera.",
		      .value = "0", .unit = "ms", .high = 60 * LULL_NS_PER_S),
	LULL_ROW_CHOICE(
		"stamp", emulator.stamp,
		"Device time in gvsp, cmp and rvf (CLOCK_MONOTONIC, ns). due: the time at which "
		"the frame was due. sent: the time at which the packet was written. cmp has a "
		"time in each packet, gvsp in the leader, rvf in the first packet of a line or "
		"frame (32 bits); rfc4175 has none.",
		.value = "due", .choices = stamp_names),
	LULL_ROW_BOOL("sent-stamp", emulator.sent_stamp,
		      "Write the time of sending (CLOCK_MONOTONIC, ns, least significant byte "
		      "first) into the last eight bytes of each picture, right before their "
		      "packet is sent in a system call of its own. A delayed or resent packet "
		      "keeps its first time. lull-cam --sent-stamp reads this time."),
	LULL_ROW_BOOL("segment", emulator.segment,
		      "Give the kernel several equal packets at a time, which it or the network "
		      "card separates (UDP segmentation): about twice the rate. UDP only. Over "
		      "veth to a DPDK port, also run `ip link set IF gso_max_segs 1`; otherwise "
		      "the packets are not separated."),
	LULL_ROW_CUSTOM("lose", "PPM|LIST", emulator.lose, spec_loss,
			"Fault: packets per million that are not sent, or a list of frames and "
			"packets, such as 3/10-12,5/0.",
			.group = "Faults", .value = "0"),
	LULL_ROW_COUNT("duplicate", "PPM", emulator.duplicate_ppm,
		       "Fault: packets per million that are sent twice.", .value = "0",
		       .high = LULL_PPM),
	LULL_ROW_CUSTOM("reorder", "PPM,DEPTH", emulator.reorder, spec_reorder,
			"Fault: packets per million that are sent after DEPTH later ones.",
			.value = "0"),
	LULL_ROW_CUSTOM("late", "PPM,TIME", emulator.late, spec_late,
			"Fault: packets per million that are sent late by TIME.", .value = "0"),
	LULL_ROW_CUSTOM("attack", "KIND@FRAME", emulator.attack, spec_attack,
			"Fault: what the camera, or a stranger in its name, does to receivers. "
			"packet-size: packets are a quarter smaller from FRAME on. region: "
			"pictures have half as many rows from FRAME on (not rfc4175). restart: ids "
			"begin again at FRAME. forged-leader: the leader of a picture of 30000 x "
			"30000 pixels at FRAME (gvsp). stale: a packet of FRAME again in each "
			"frame from the 8th after it on. mixed-fields: FRAME lacks its second "
			"field, the next one its first (rfc4175, interlaced). truncated: packets "
			"of FRAME are cut in half. unknown-format: FRAME has pixels that nobody "
			"knows (gvsp).",
			.value = "none"),
	LULL_ROW_CHOICE("resend", emulator.resend,
			"gvsp: answer resend requests, answer with the same losses as other "
			"packets, or ignore requests.",
			.value = "answer", .choices = resend_names),
	LULL_ROW_COUNT("memory", "FRAMES", emulator.memory_frames,
		       "gvsp: number of last frames whose packets can be sent again.", .value = "8",
		       .high = 1000),
	LULL_ROW_COUNT("seed", "N", emulator.seed,
		       "Seed of faults and noise: the same seed makes the same faults.",
		       .value = "1"),
	LULL_ROW_FILE("log", "FILE", log, "Write each fault as a line of JSON to FILE."),
	LULL_ROW_BOOL("log-frames", emulator.log_frames,
		      "Also write each frame to --log, with the times of its first and last "
		      "packet."),
	LULL_ROW_COUNT("frames", "N", emulator.frames,
		       "End after this many frames of each camera; 0: no limit.", .group = "Run",
		       .value = "0"),
	LULL_DURATION_OPTION(NULL, "no limit"),
	LULL_ROW_TIME("linger", emulator.linger_ns,
		      "gvsp: time after the last frame in which requests are still answered.",
		      .value = "200", .unit = "ms", .high = 3600 * LULL_NS_PER_S),
	LULL_STATS_OPTION,
	LULL_JSON_OPTION,
	{ .key = NULL },
};
