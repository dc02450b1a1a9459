/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer send FROM TO PORT FRAMES PACKET GAP_US: pictures whose every byte is known;
 * peer receive BACKEND PORT FRAMES PACKET GOVERNOR: checks them, prints counts as JSON;
 * peer flood INTERFACE MAC FROM TO PORT PPS SECONDS SEED: random and mutated packets.
 */
#include "stand.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <lull/rest.h>

#include "base/prng.h"

#define WIDTH 640
#define HEIGHT 480
#define HEADER_BYTES 42 /* Ethernet, IPv4, UDP */
#define FLOOD_FRAME_BYTES 1514
#define FLOOD_ITERATION_US 1000

static void
peer_sender(struct sender *sender, const char *packet_bytes)
{
	struct lull_packet_format format;

	sender_init(sender, "gvsp", LULL_PIXEL_BAYER_RG12P, WIDTH, HEIGHT);
	format = sender->plan.format;
	format.packet_bytes = (uint32_t)atoi(packet_bytes);
	assert_int_equal(sender->writer->plan(&sender->plan, &format), 0);
}

static int
peer_send(char **argv)
{
	uint64_t frames = strtoull(argv[3], NULL, 10);
	useconds_t gap_us = (useconds_t)atoi(argv[5]);
	int fd = stand_socket(argv[0], argv[1], (uint16_t)atoi(argv[2]));
	struct sender sender;

	peer_sender(&sender, argv[4]);
	for (uint64_t number = 1; number <= frames; number++) {
		stand_send(fd, &sender, number, NULL);
		usleep(gap_us);
	}
	sender_free(&sender);
	return close(fd);
}

static void
peer_report(struct lull_receiver *receiver, uint64_t complete, uint64_t incomplete)
{
	struct lull_receiver_totals totals;
	struct lull_histogram latency;

	lull_receiver_totals(receiver, &totals);
	lull_receiver_histogram(receiver, 0, LULL_CAMERA_LATENCY, &latency);
	printf("{\"complete\": %llu, \"incomplete\": %llu, \"pkts\": %llu, \"missed\": %llu, "
	       "\"unclaimed\": %llu, \"latency_p50_ns\": %llu, \"cpu_ns\": %llu, "
	       "\"wall_ns\": %llu}\n",
	       (unsigned long long)complete, (unsigned long long)incomplete,
	       (unsigned long long)totals.pkts, (unsigned long long)totals.missed,
	       (unsigned long long)totals.unclaimed,
	       (unsigned long long)lull_histogram_quantile(&latency, 500000),
	       (unsigned long long)totals.cpu_ns, (unsigned long long)totals.wall_ns);
}

static int
peer_receive(char **argv)
{
	uint64_t frames = strtoull(argv[2], NULL, 10), complete = 0, incomplete = 0;
	struct lull_receiver_config config = { .backend = argv[0], .governor = argv[4] };
	struct lull_camera_stream stream;
	struct lull_receiver *receiver;
	struct sender sender;

	peer_sender(&sender, argv[3]);
	stream = stand_stream(&sender, (uint16_t)atoi(argv[1]));
	stream.deadline_ns = LULL_NS_PER_S;
	receiver = stand_open(&config);
	stand_add(receiver, &stream);
	stand_start(receiver);
	printf("ready\n");
	fflush(stdout);
	while (complete + incomplete < frames) {
		struct lull_camera_image *image = stand_get(receiver, 0);

		stand_check_pixels(image, image->frame.number + 1);
		if (image->frame.reason == LULL_FRAME_COMPLETE)
			complete++;
		else
			incomplete++;
		lull_receiver_put(receiver, image);
	}
	peer_report(receiver, complete, incomplete);
	assert_int_equal(lull_receiver_close(receiver), 0);
	sender_free(&sender);
	return 0;
}

/* ---- flood ---- */

struct flood {
	int fd;
	struct sender sender;
	struct lull_packet_frame picture;
	struct lull_prng prng;
	uint32_t next; /* packet of the picture */
	uint64_t number;
	uint8_t header[HEADER_BYTES];
	uint8_t frame[FLOOD_FRAME_BYTES];
};

static uint32_t
flood_below(struct flood *flood, uint32_t bound)
{
	return (uint32_t)(lull_prng_u64(&flood->prng) % bound);
}

static void
flood_open(struct flood *flood, char **argv)
{
	struct sockaddr_ll where = { .sll_family = AF_PACKET,
				     .sll_ifindex = (int)if_nametoindex(argv[0]) };
	unsigned int mac[6];

	memset(flood, 0, sizeof(*flood));
	flood->fd = socket(AF_PACKET, SOCK_RAW, 0);
	assert_true(flood->fd >= 0);
	assert_int_equal(bind(flood->fd, (struct sockaddr *)&where, sizeof(where)), 0);
	assert_int_equal(sscanf(argv[1], "%2x:%2x:%2x:%2x:%2x:%2x", &mac[0], &mac[1], &mac[2],
				&mac[3], &mac[4], &mac[5]),
			 6);
	for (uint32_t i = 0; i < 6; i++)
		flood->header[i] = (uint8_t)mac[i];
	flood->header[6] = 2; /* a made-up sender */
	flood->header[12] = 8;
	flood->header[14] = 0x45;
	flood->header[22] = 64;
	flood->header[23] = 17;
	assert_int_equal(inet_pton(AF_INET, argv[2], flood->header + 26), 1);
	assert_int_equal(inet_pton(AF_INET, argv[3], flood->header + 30), 1);
	flood->header[36] = (uint8_t)(atoi(argv[4]) >> 8);
	flood->header[37] = (uint8_t)atoi(argv[4]);
	lull_prng_init(&flood->prng, strtoull(argv[7], NULL, 10), 0);
	peer_sender(&flood->sender, "1400");
}

static void
flood_lengths(struct flood *flood, size_t payload)
{
	uint8_t *ip = flood->frame + 14;
	uint32_t sum = 0;

	memcpy(flood->frame, flood->header, HEADER_BYTES);
	ip[2] = (uint8_t)((payload + 28) >> 8);
	ip[3] = (uint8_t)(payload + 28);
	ip[24] = (uint8_t)((payload + 8) >> 8);
	ip[25] = (uint8_t)(payload + 8);
	for (uint32_t i = 0; i < 20; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static size_t
flood_valid(struct flood *flood)
{
	size_t size;

	if (flood->next == 0)
		flood->picture = sender_frame(&flood->sender, ++flood->number);
	size = sender_packet(&flood->sender, &flood->picture, flood->next);
	flood->next = flood->next + 1 < flood->sender.plan.count ? flood->next + 1 : 0;
	memcpy(flood->frame + HEADER_BYTES, flood->sender.packet, size);
	return size;
}

/* Noise, or a packet as it should be with bytes changed, cut off, or broken below its protocol. */
static void
flood_send(struct flood *flood)
{
	uint32_t kind = flood_below(flood, 4), first = 0, span = HEADER_BYTES;
	size_t payload = flood_valid(flood);

	if (kind == 0)
		payload = flood_below(flood, FLOOD_FRAME_BYTES - HEADER_BYTES);
	for (size_t i = 0; kind == 0 && i < payload; i++)
		flood->frame[HEADER_BYTES + i] = (uint8_t)flood_below(flood, 256);
	if (kind == 1)
		payload = flood_below(flood, (uint32_t)payload);
	flood_lengths(flood, payload);
	if (kind >= 2) {
		first = kind == 2 ? HEADER_BYTES : 12;
		span = kind == 2 ? 40 : HEADER_BYTES - 12;
		for (uint32_t i = flood_below(flood, 4); i != UINT32_MAX; i--)
			flood->frame[first + flood_below(flood, span)] ^=
				(uint8_t)(1 + flood_below(flood, 255));
	}
	(void)!send(flood->fd, flood->frame, HEADER_BYTES + payload, MSG_DONTWAIT);
}

static int
peer_flood(char **argv)
{
	uint64_t pps = strtoull(argv[5], NULL, 10);
	uint64_t end_ns = strtoull(argv[6], NULL, 10) * LULL_NS_PER_S;
	uint64_t begin_ns = lull_clock_ns(), sent = 0, ns = 0;
	struct flood flood;

	flood_open(&flood, argv);
	while (ns < end_ns) {
		for (uint64_t due = ns * pps / LULL_NS_PER_S; sent < due; sent++)
			flood_send(&flood);
		usleep(FLOOD_ITERATION_US);
		ns = lull_clock_ns() - begin_ns;
	}
	printf("{\"sent\": %llu, \"ns\": %llu}\n", (unsigned long long)sent,
	       (unsigned long long)ns);
	sender_free(&flood.sender);
	return close(flood.fd);
}

int
main(int argc, char **argv)
{
	if (argc == 8 && strcmp(argv[1], "send") == 0)
		return peer_send(argv + 2);
	if (argc == 7 && strcmp(argv[1], "receive") == 0)
		return peer_receive(argv + 2);
	if (argc == 10 && strcmp(argv[1], "flood") == 0)
		return peer_flood(argv + 2);
	fprintf(stderr, "see the top of tests/camera/peer.c\n");
	return 2;
}
