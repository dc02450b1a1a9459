/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <string.h>

#include <lull/camera.h>

#include "packets.h"

#define MEMBER(member) LULL_OPTION_MEMBER(struct cam_settings, member)

static const char *const packets_whens[] = { "all", "partial", "signal", NULL };
static const char *const formats[] = { "raw", "png", NULL };

const struct lull_option cam_options[] = {
	{
		.key = "backend",
		.group = "Back end",
		.argument = "KIND:WHAT",
		.help = "Source of the packets: kernel:IF (sockets, the thread sleeps in the "
			"kernel), kernel-busy:IF (sockets, polled), dpdk:PORT (a PCI address, a "
			"vdev, or af_packet=IF, af_xdp=IF[,queue=N], tap=IF; with ,exception=NAME "
			"packets of no camera pass through a TAP interface NAME), pcap:FILE (a "
			"capture, as fast as possible).",
		.type = LULL_OPTION_TEXT,
		MEMBER(backend),
	},
	{
		.key = "eal",
		.argument = "ARGUMENTS",
		.help = "dpdk: further EAL arguments, split into words as in a shell.",
		.type = LULL_OPTION_TEXT,
		MEMBER(eal),
	},
	{
		.key = "ring",
		.argument = "PACKETS",
		.help = "dpdk: slots of the port's queue.",
		.type = LULL_OPTION_COUNT,
		.value_help = "16384",
		.low = 32,
		.high = 65536,
		MEMBER(ring_pkts),
	},
	{
		.key = "socket-buffer",
		.argument = "BYTES",
		.help = "kernel, kernel-busy: receive buffer of each socket.",
		.type = LULL_OPTION_COUNT,
		.value_help = "32 MiB",
		.low = 4096,
		.high = 1U << 30,
		MEMBER(socket_bytes),
	},
	LULL_CPUS_OPTION(struct cam_settings, cpu, "cpu", "CPU of the receiving thread.", "any"),
	{
		.key = "check",
		.help = "Print the self-check, with a remedy for each problem, and end.",
		.type = LULL_OPTION_BOOL,
		.action = true,
		MEMBER(check),
	},
	{
		.key = "unchecked",
		.help = "Start even if the self-check finds an error.",
		.type = LULL_OPTION_BOOL,
		MEMBER(unchecked),
	},
	{
		.key = "discover",
		.help = "List the GigE Vision cameras that answer on the interface of --backend "
			"(default: on all interfaces), and end. --json writes the list as JSON. "
			"--duration is the time to wait for answers (default: 1 s).",
		.type = LULL_OPTION_BOOL,
		.action = true,
		MEMBER(discover),
	},
	{
		.key = "stream",
		.group = "Streams",
		.argument = "SPEC",
		.help = "One camera: KEY=VALUE,KEY=VALUE ..., such as "
			"protocol=rfc4175,port=5004,width=1920,height=1280,pixel=bayer-rg12p. "
			"--help-stream lists the keys.",
		.type = LULL_OPTION_LIST,
		MEMBER(streams),
	},
	{
		.key = "control",
		.argument = "ADDRESS",
		.help = "One GigE Vision camera, by IP or MAC address: take control of it and let "
			"it stream. Short for --stream protocol=gvsp,control=ADDRESS.",
		.type = LULL_OPTION_LIST,
		MEMBER(controls),
	},
	{
		.key = "cameras",
		.argument = "N",
		.help = "Number of cameras like the one --stream, on consecutive UDP ports.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = LULL_CAMERA_STREAMS_MAX,
		MEMBER(cameras),
	},
	{
		.key = "resend",
		.help = "Request missing packets again from cameras under control.",
		.type = LULL_OPTION_BOOL,
		MEMBER(resend),
	},
	{
		.key = "help-stream",
		.help = "Print the keys of --stream and end.",
		.type = LULL_OPTION_BOOL,
		.action = true,
		MEMBER(help_stream),
	},
	{
		.key = "man-stream",
		.help = "Print the keys of --stream for the man page and end.",
		.type = LULL_OPTION_BOOL,
		.hidden = true,
		.action = true,
		MEMBER(man_stream),
	},
	LULL_RESTING_OPTIONS(struct cam_settings, resting, .value = "phase"),
	{
		.key = "frames",
		.group = "Run",
		.argument = "N",
		.help = "End after this many frames of all streams together; 0: no limit.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		MEMBER(frames),
	},
	{
		.key = "duration",
		.argument = "TIME",
		.help = "End after this time; 0: run until a signal or the end of the capture.",
		.type = LULL_OPTION_DURATION,
		.value = "0",
		.unit = "s",
		MEMBER(duration_ns),
	},
	LULL_STATS_OPTION(struct cam_settings),
	{
		.key = "record",
		.argument = "FOLDER",
		.help = "Write each frame to a file NAME-NUMBER.FORMAT in this folder, and a line "
			"about it to frames.jsonl.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(record),
	},
	{
		.key = "format",
		.help = "Format of --record. raw: the bytes as received. png: a picture for "
			"viewers.",
		.type = LULL_OPTION_CHOICE,
		.choices = formats,
		.value = "raw",
		MEMBER(format),
	},
	{
		.key = "missing",
		.argument = "FILE",
		.help = "Write a JSON line per partial frame: the reason of its end, and the "
			"missing bytes. - is stdout.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(missing),
	},
	{
		.key = "packets",
		.argument = "FILE",
		.help = "Write received packets to a pcapng file.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(packets),
	},
	{
		.key = "packets-when",
		.help = "Packets that --packets writes. all: all packets. partial: the last ones, "
			"as many as fit into --packets-room, at each partial frame and at "
			"SIGUSR1. signal: the same, only at SIGUSR1.",
		.type = LULL_OPTION_CHOICE,
		.choices = packets_whens,
		.value = "all",
		MEMBER(packets_when),
	},
	{
		.key = "packets-room",
		.argument = "BYTES",
		.help = "Memory for packets that --packets has not written yet.",
		.type = LULL_OPTION_COUNT,
		.value = "64M",
		.low = CAM_PACKETS_ROOM_MIN,
		.high = 8ULL << 30,
		MEMBER(packets_room),
	},
	{
		.key = "view",
		.argument = "PATH",
		.help = "Serve small JPEG pictures and statistics on a Unix socket of this name, "
			"for lull view.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(view),
	},
	{
		.key = "sent-stamp",
		.help = "Measure the latency of frames from the time in the last eight bytes of "
			"each complete picture, which lull-cam-source --sent-stamp on this "
			"machine writes.",
		.type = LULL_OPTION_BOOL,
		MEMBER(sent_stamp),
	},
	LULL_JSON_OPTION(struct cam_settings),
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
