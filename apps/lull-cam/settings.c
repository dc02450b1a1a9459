/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <string.h>

#include <lull/camera.h>

#include "packets.h"

#define LULL_SETTINGS struct cam_settings

static const char *const packets_whens[] = { "all", "partial", "signal", NULL };
static const char *const formats[] = { "raw", "png", NULL };

const struct lull_option cam_options[] = {
	LULL_ROW_TEXT("backend", "KIND:WHAT", backend,
		      "Source of the packets: kernel:IF (sockets, the thread sleeps in the "
		      "kernel), kernel-busy:IF (sockets, polled), dpdk:PORT (a PCI address, a "
		      "vdev, or af_packet=IF, af_xdp=IF[,queue=N], tap=IF; with ,exception=NAME "
		      "packets of no camera pass through a TAP interface NAME; ,mtu=BYTES sets "
		      "the longest packet, ,scatter=yes takes it in several buffers of 2 KiB; "
		      ",ip=ADDRESS is the port's address for IGMP; ,queues=N are for streams, by "
		      "rules of the NIC, and with ,isolate=yes nothing else comes), "
		      "pcap:FILE (a capture, as fast as possible).",
		      .group = "Back end"),
	LULL_ROW_TEXT("eal", "ARGUMENTS", eal,
		      "dpdk: further EAL arguments, split into words as in a shell."),
	LULL_ROW_COUNT("ring", "PACKETS", ring_pkts, "dpdk: slots of the port's queue.",
		       .value_help = "16384", .low = 32, .high = 65536),
	LULL_ROW_COUNT("socket-buffer", "BYTES", socket_bytes,
		       "kernel, kernel-busy: receive buffer of each socket.",
		       .value_help = "32 MiB", .low = 4096, .high = 1U << 30),
	LULL_CPUS_OPTION(cpu, "cpu", "CPU of the receiving thread.", "any"),
	LULL_ROW_BOOL("direct", direct,
		      "Receive on the thread that uses the images: no wake-up stands between. "
		      "While it writes files, nothing is received."),
	LULL_ROW_BOOL("check", check,
		      "Print the self-check, with a remedy for each problem, and "
		      "end.",
		      .action = true),
	LULL_ROW_BOOL("unchecked", unchecked, "Start even if the self-check finds an error."),
	LULL_ROW_BOOL("discover", discover,
		      "List the GigE Vision cameras that answer on the interface of --backend "
		      "(default: on all interfaces), and end. --json writes the list as JSON. "
		      "--duration is the time to wait for answers (default: 1 s).",
		      .action = true),
	LULL_ROW_LIST("stream", "SPEC", streams,
		      "One camera: KEY=VALUE,KEY=VALUE ..., such as "
		      "protocol=rfc4175,port=5004,width=1920,height=1280,pixel=bayer-rg12p. "
		      "--help-stream lists the keys.",
		      .group = "Streams"),
	LULL_ROW_LIST("control", "ADDRESS", controls,
		      "One GigE Vision camera, by IP or MAC address: take control of it and let it "
		      "stream. Short for --stream protocol=gvsp,control=ADDRESS."),
	LULL_ROW_COUNT("cameras", "N", cameras,
		       "Number of cameras like the one --stream, on consecutive UDP ports.",
		       .value = "1", .low = 1, .high = LULL_CAMERA_STREAMS_MAX),
	LULL_ROW_BOOL("resend", resend,
		      "Request missing packets again from cameras under control."),
	LULL_ROW_BOOL("help-stream", help_stream, "Print the keys of --stream and end.",
		      .action = true),
	LULL_ROW_BOOL("man-stream", man_stream,
		      "Print the keys of --stream for the man page and "
		      "end.",
		      .hidden = true, .action = true),
	LULL_RESTING_OPTIONS(resting, .value = "phase"),
	LULL_ROW_COUNT("frames", "N", frames,
		       "End after this many frames of all streams together; 0: no limit.",
		       .group = "Run", .value = "0"),
	LULL_DURATION_OPTION(NULL, "run until a signal or the end of the capture"),
	LULL_STATS_OPTION,
	LULL_ROW_FILE("record", "FOLDER", record,
		      "Write each frame to a file NAME-NUMBER.FORMAT in this folder, and a line "
		      "about it to frames.jsonl."),
	LULL_ROW_CHOICE("format", format,
			"Format of --record. raw: the bytes as received. png: a picture for "
			"viewers.",
			.choices = formats, .value = "raw"),
	LULL_ROW_FILE("missing", "FILE", missing,
		      "Write a JSON line per partial frame: the reason of its end, and the "
		      "missing bytes. - is stdout."),
	LULL_ROW_FILE("packets", "FILE", packets, "Write received packets to a pcapng file."),
	LULL_ROW_CHOICE("packets-when", packets_when,
			"Packets that --packets writes. all: all packets. partial: the last ones, "
			"as many as fit into --packets-room, at each partial frame and at "
			"SIGUSR1. signal: the same, only at SIGUSR1.",
			.choices = packets_whens, .value = "all"),
	LULL_ROW_COUNT("packets-room", "BYTES", packets_room,
		       "Memory for packets that --packets has not written yet.", .value = "64M",
		       .low = CAM_PACKETS_ROOM_MIN, .high = 8ULL << 30),
	LULL_ROW_FILE("view", "PATH", view,
		      "Serve small JPEG pictures and statistics on a Unix socket of this name, "
		      "for lull view."),
	LULL_ROW_BOOL("sent-stamp", sent_stamp,
		      "Measure the latency of frames from the time in the last eight bytes of "
		      "each complete picture, which lull-cam-source --sent-stamp on this machine "
		      "writes."),
	LULL_JSON_OPTION,
	{ .key = NULL },
};

int
cam_settings_check(const struct cam_settings *settings, struct lull_error *error)
{
	uint32_t streams = settings->streams.count + settings->controls.count;

	if (settings->backend[0] == '\0')
		return lull_error_set(error, -EINVAL,
				      "no back end: say where packets come from, like "
				      "--backend kernel:eth0");
	if (streams == 0)
		return lull_error_set(error, -EINVAL,
				      "no camera: name one with --stream or --control, like "
				      "--stream protocol=gvsp,port=20202");
	if (settings->cameras > 1 && streams != 1)
		return lull_error_set(error, -EINVAL,
				      "cameras: multiplies one stream, and there are %u", streams);
	if (settings->packets[0] == '\0' && settings->packets_when != CAM_PACKETS_ALL)
		return lull_error_set(error, -EINVAL, "packets-when: name the file with --packets");
	if (settings->cpu.count > 1)
		return lull_error_set(error, -EINVAL, "cpu: one thread receives, so one CPU");
	if (settings->format != CAM_FORMAT_RAW && settings->record[0] == '\0')
		return lull_error_set(error, -EINVAL, "format: nothing is recorded; add --record");
	if (strcmp(settings->missing, "-") == 0 && strcmp(settings->json, "-") == 0)
		return lull_error_set(error, -EINVAL,
				      "missing and json: only one of them fits on stdout");
	return 0;
}
