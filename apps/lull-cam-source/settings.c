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
	LULL_ROW_CHOICE("protocol", emulator.protocol, "How pictures are cut into packets.",
			.group = "Cameras", .value = "rfc4175", .choice = protocol_name,
			.choice_help = protocol_summary),
	LULL_ROW_TEXT("interface", "NAME", emulator.interface,
		      "Network interface to send on. cmp and rvf need it, for the others the "
		      "routes decide."),
	LULL_ROW_CUSTOM("bind", "ADDRESS[:PORT]", emulator.bind, spec_address,
			"IPv4 address and port packets come from. gvsp needs the address: it is "
			"the camera's.",
			.value_help = "what the kernel chooses"),
	LULL_ROW_CUSTOM(
		"to", "ADDRESS", emulator.to, spec_address,
		"Where packets go: ADDRESS:PORT (camera K of several to PORT + K), or an Ethernet "
		"address for cmp and rvf. gvsp without it waits for a client to take control.",
		.value_help = "ff:ff:ff:ff:ff:ff for cmp and rvf"),
	LULL_ROW_COUNT("cameras", "N", emulator.cameras, "How many cameras to be.", .value = "1",
		       .low = 1, .high = LULL_EMULATOR_CAMERAS_MAX),
	LULL_ROW_CHOICE("apart", emulator.apart,
			"What tells several cameras apart on this side: the ports counting up "
			"(bound and of control), or the addresses counting up from the one bound.",
			.value = "ports", .choices = apart_names),
	LULL_ROW_COUNT("control-port", "PORT", emulator.control_port,
		       "gvsp: UDP port of the control protocol. Clients expect 3956.",
		       .value = "3956", .low = 1, .high = UINT16_MAX),
	LULL_ROW_COUNT("stream-id", "N", emulator.stream_id,
		       "rfc4175: source of RTP; cmp: device * 256 + stream; rvf: id of the stream. "
		       "Camera K has N + K.",
		       .value = "1"),
	LULL_CPUS_OPTION(cpus, "cpus", "CPU of the thread that sends.", "any"),
	LULL_ROW_COUNT("width", "PIXELS", emulator.width, "Columns.", .group = "Pictures",
		       .value = "1920", .low = 1, .high = LULL_FRAME_SIDE_MAX),
	LULL_ROW_COUNT("height", "PIXELS", emulator.height, "Rows.", .value = "1280", .low = 1,
		       .high = LULL_FRAME_SIDE_MAX),
	LULL_ROW_CHOICE("pixel", pixel_choice, "How pixels lie in packets.",
			.value_help =
				"bayer-rg12p, uyvy8 for rfc4175, raw12-csi for cmp, mono8 for rvf",
			.choice = pixel_name),
	LULL_ROW_COUNT("row-bytes", "BYTES", emulator.row_bytes,
		       "From one row to the next, 0: no padding.", .value = "0",
		       .high = LULL_FRAME_SIDE_MAX * 16),
	LULL_ROW_CHOICE("pattern", emulator.pattern, "What the pictures show.", .value = "counter",
			.choice = pattern_name, .choice_help = pattern_summary),
	LULL_ROW_COUNT("packet", "BYTES", emulator.packet_bytes,
		       "Most bytes behind the UDP header (cmp and rvf: the Ethernet header) of a "
		       "packet. A gvsp client may change it.",
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
		      "gvsp: 64 bit ids (a client may ask for them too); rfc4175: fill in the "
		      "extended sequence number."),
	LULL_ROW_BOOL("all-in", emulator.all_in, "gvsp: a frame in one packet, where it fits."),
	LULL_ROW_REAL("rate", "FRAMES", emulator.rate,
		      "Frames per second of each camera, 0: as fast as possible.",
		      .group = "Timing", .value = "30", .real_low = 0, .real_high = 100000),
	LULL_ROW_CUSTOM("pace", "SPEC", emulator.pace, spec_pace,
			"How fast the packets of a frame follow each other: burst, spread:TIME "
			"(all within TIME) or rate:BITS per second.",
			.value = "burst"),
	LULL_ROW_TIME("stagger", emulator.stagger_ns,
		      "Each camera's frames begin this much later than those of the one before.",
		      .value = "0", .unit = "ms", .high = 60 * LULL_NS_PER_S),
	LULL_ROW_CHOICE(
		"stamp", emulator.stamp,
		"Device time in gvsp, cmp and rvf (CLOCK_MONOTONIC, ns): when the frame was due, "
		"or when the very packet was written. With cmp each packet has one, so the last "
		"packet of a frame tells when it was sent; with gvsp only the leader, with rvf the "
		"first of a line or frame (32 bit); rfc4175 has none.",
		.value = "due", .choices = stamp_names),
	LULL_ROW_BOOL("sent-stamp", emulator.sent_stamp,
		      "Let the last eight bytes of each picture be the time (CLOCK_MONOTONIC, ns, "
		      "least significant byte first) right before the packet with them is sent, "
		      "which is sent alone. A packet lost, kept back or sent again carries the "
		      "time at which it was its turn. lull-cam --sent-stamp reads it."),
	LULL_ROW_BOOL("segment", emulator.segment,
		      "Hand the kernel rows of equal packets, which it (or the network card) cuts "
		      "apart: about twice the rate. UDP only. Over veth to a DPDK port also `ip "
		      "link set IF gso_max_segs 1`, or they arrive in one piece."),
	LULL_ROW_CUSTOM("lose", "PPM|LIST", emulator.lose, spec_loss,
			"Do not send this many of a million packets, or those of a list like "
			"3/10-12,5/0: frame and packets.",
			.group = "Faults", .value = "0"),
	LULL_ROW_COUNT("duplicate", "PPM", emulator.duplicate_ppm,
		       "Send this many of a million packets twice.", .value = "0",
		       .high = LULL_PPM),
	LULL_ROW_CUSTOM("reorder", "PPM,DEPTH", emulator.reorder, spec_reorder,
			"Send this many of a million packets only after DEPTH others.",
			.value = "0"),
	LULL_ROW_CUSTOM("late", "PPM,TIME", emulator.late, spec_late,
			"Send this many of a million packets only TIME later.", .value = "0"),
	LULL_ROW_CHOICE("resend", emulator.resend,
			"gvsp: answer requests for packets, lose answers like other packets, or "
			"ignore requests.",
			.value = "answer", .choices = resend_names),
	LULL_ROW_COUNT("memory", "FRAMES", emulator.memory_frames,
		       "gvsp: of how many last frames packets are sent again.", .value = "8",
		       .high = 1000),
	LULL_ROW_COUNT("seed", "N", emulator.seed,
		       "Seed of faults and noise: the same seed, the same faults.", .value = "1"),
	LULL_ROW_FILE("log", "FILE", log, "Write each fault as a line of JSON."),
	LULL_ROW_BOOL("log-frames", emulator.log_frames,
		      "Log each frame too, with the times of its first and last packet."),
	LULL_ROW_COUNT("frames", "N", emulator.frames,
		       "End after so many frames of each camera, 0: no limit.", .group = "Run",
		       .value = "0"),
	LULL_DURATION_OPTION(NULL, "no limit"),
	LULL_ROW_TIME("linger", emulator.linger_ns,
		      "gvsp: after the last frame, answer requests for so long.", .value = "200",
		      .unit = "ms", .high = 3600 * LULL_NS_PER_S),
	LULL_STATS_OPTION,
	LULL_JSON_OPTION,
	{ .key = NULL },
};
