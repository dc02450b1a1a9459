/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Device: a camera made of a thread. It answers the control protocol and sends again what it is
 * asked for; the test sends its pictures.
 */
#ifndef LULL_TEST_CAMERA_DEVICE_H
#define LULL_TEST_CAMERA_DEVICE_H

#include <pthread.h>

#include "stand.h"

#define DEVICE_REGISTERS 0x20000

struct device {
	struct sender sender;
	struct lull_packet_frame frame;
	uint8_t registers[DEVICE_REGISTERS];
	int control, stream;
	bool stop, deaf, released;
	uint64_t resent, sent;
	pthread_t thread;
	pthread_mutex_t lock; /* sender and frame: the test sends, the thread sends again */
};

/** On the control port of an address of loopback; @p deaf: it answers nothing. */
struct device *device_open(const char *at, bool deaf);
void device_close(struct device *device);
/** Send a packet of the frame prepared last. */
void device_packet(struct device *device, uint64_t number, uint32_t index, bool resent);

#endif
