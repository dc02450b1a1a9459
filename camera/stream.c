/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream from its configuration: what is refused, where its pictures lie. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/range.h"
#include "host/error.h"
#include "receiver.h"
#include "sized.h"

#define SILENCE_NS (20 * LULL_NS_PER_MS)
#define SILENCE_FIELDS_NS (100 * LULL_NS_PER_MS) /* from field to field, at any rate in use */
#define OPEN_MAX 4
#define SPANS_MAX 1024
#define PACKET_BYTES 1400 /* an estimate, where nobody says */
#define RESEND_PPM 100000
/* Of 0.1. Once that is out: the offset behind its last member. */
#define STREAM_BYTES_FIRST sizeof(struct lull_camera_stream)
#define MEMORY_BYTES (1ULL << 30)

static void *
stream_aligned(size_t size)
{
	size_t whole = (size + LULL_CACHE_LINE - 1) & ~(size_t)(LULL_CACHE_LINE - 1);
	void *memory = aligned_alloc(LULL_CACHE_LINE, LULL_MAX(whole, LULL_CACHE_LINE));

	if (memory != NULL)
		memset(memory, 0, whole);
	return memory;
}

/* ---- what the user asked for ---- */

static int
stream_protocol_names(struct lull_error *error, const char *name)
{
	char names[128] = "";
	size_t used = 0;

	for (uint32_t i = 0; lull_frame_protocols[i] != NULL && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, " %s",
					 lull_frame_protocols[i]->name);
	return lull_error_set(error, -EINVAL, "protocol: '%s' is not one of%s", name, names);
}

static int
stream_addresses(struct camera_stream *stream, struct lull_error *error)
{
	const struct lull_camera_stream *config = &stream->config;
	struct lull_net_claim *claim = &stream->claim;

	if (stream->protocol->ethernet) {
		if (lull_net_mac_parse(config->address, claim->mac) != 0)
			return lull_error_set(error, -EINVAL,
					      "address: '%s' is not a MAC address, and %s runs "
					      "directly on Ethernet",
					      config->address, stream->protocol->name);
	} else if (lull_net_ip_parse(config->address, &claim->address) != 0) {
		return lull_error_set(error, -EINVAL,
				      "address: '%s' is not an IPv4 or IPv6 "
				      "address",
				      config->address);
	}
	if (lull_net_source_parse(config->source, &claim->source) != 0)
		return lull_error_set(error, -EINVAL, "source: '%s' is not an IP or MAC address",
				      config->source);
	stream->source_open = config->source != NULL && config->source[0] != '\0';
	/* A MAC address is looked for at the start, when its camera is asked to stream. */
	if (config->control != NULL && !stream->source_open &&
	    lull_net_source_parse(config->control, &claim->source) == 0 &&
	    claim->source.kind == LULL_NET_SOURCE_MAC)
		claim->source.kind = LULL_NET_SOURCE_ANY;
	claim->all_groups = true;
	claim->ethernet = stream->protocol->ethernet;
	claim->ether_type = stream->protocol->ether_type;
	claim->port = config->port;
	if (claim->ethernet && config->port != 0)
		return lull_error_set(error, -EINVAL,
				      "port: %s runs directly on Ethernet; leave the port out",
				      stream->protocol->name);
	if (!claim->ethernet && config->port == 0 && config->control == NULL)
		return lull_error_set(error, -EINVAL,
				      "port: missing; name the UDP port that the camera sends to");
	if (config->control != NULL && strcmp(stream->protocol->name, "gvsp") != 0)
		return lull_error_set(error, -EINVAL, "control: only for gvsp, not for %s",
				      stream->protocol->name);
	return 0;
}

static int
stream_assembly(struct camera_stream *stream, struct lull_error *error)
{
	const struct lull_camera_stream *config = &stream->config;
	struct lull_assembler_config *assembly = &stream->assembly;
	char text[LULL_RANGE_TEXT];
	struct lull_range wrong;

	*assembly = (struct lull_assembler_config){
		.open_max = config->open_max != 0 ? config->open_max : OPEN_MAX,
		.buffer_max = stream->image_count,
		.buffer_bytes = config->buffer_bytes,
		.spans_max = SPANS_MAX,
		.deadline_ns = config->deadline_ns,
		.silence_ns = config->deadline_ns != 0    ? 0 :
			      config->settings.interlaced ? SILENCE_FIELDS_NS :
							    SILENCE_NS,
		.order = config->order,
		.policy = config->policy,
		.geometry = config->settings.geometry,
	};
	if (stream->claim.burst_bytes > assembly->buffer_bytes && assembly->buffer_bytes != 0)
		return lull_error_set(error, -EINVAL,
				      "buffer_bytes: %llu is too small, a picture has %llu bytes",
				      (unsigned long long)assembly->buffer_bytes,
				      (unsigned long long)stream->claim.burst_bytes);
	if (assembly->buffer_bytes == 0)
		assembly->buffer_bytes = stream->claim.burst_bytes;
	if (assembly->buffer_bytes == 0)
		return 0; /* the first leader tells */
	if (lull_assembler_config_check(assembly, &wrong) != 0)
		return lull_error_set(error, -EINVAL, "%s",
				      lull_range_print(&wrong, text, sizeof(text)));
	return 0;
}

static int
stream_lent(const struct camera_stream *stream, struct lull_error *error)
{
	const struct lull_camera_buffers *lent = &stream->config.lent;

	if (lent->data == NULL)
		return 0;
	if (stream->assembly.buffer_bytes == 0)
		return lull_error_set(error, -EINVAL,
				      "lent: set buffer_bytes to the size of the buffers");
	for (uint32_t i = 0; i < lent->count; i++)
		if (lent->data[i] == NULL || (uintptr_t)lent->data[i] % LULL_CACHE_LINE != 0)
			return lull_error_set(error, -EINVAL,
					      "lent: buffer %u at %p is not 64-byte aligned", i,
					      (void *)lent->data[i]);
	return 0;
}

static int
stream_settle(struct camera_stream *stream, struct lull_error *error)
{
	const struct lull_camera_stream *config = &stream->config;
	struct lull_net_claim *claim = &stream->claim;
	int rc = stream_addresses(stream, error);
	struct lull_range wrong;

	if (rc != 0)
		return rc;
	stream->image_count = config->buffers != 0 ? config->buffers : CAMERA_BUFFERS;
	if (config->lent.data != NULL)
		stream->image_count = config->lent.count;
	if (lull_range_check("buffers", stream->image_count, 2, CAMERA_BUFFERS_MAX, &wrong) != 0)
		return lull_error_range(error, &wrong);
	claim->burst_bytes = lull_frame_bytes(&config->settings.geometry);
	claim->packet_bytes = LULL_MAX(config->settings.packet_bytes, config->mtu);
	claim->burst_pkts =
		(uint32_t)(LULL_MAX(claim->burst_bytes, config->buffer_bytes) /
				   (claim->packet_bytes > 100 ? claim->packet_bytes - 36 :
								PACKET_BYTES) +
			   1);
	rc = stream_assembly(stream, error);
	return rc != 0 ? rc : stream_lent(stream, error);
}

/* ---- memory ---- */

static int
stream_images(struct camera_stream *stream, struct lull_error *error)
{
	uint32_t count = stream->image_count;

	stream->images = stream_aligned(count * sizeof(*stream->images));
	stream->spans = calloc((size_t)count * SPANS_MAX, sizeof(*stream->spans));
	if (stream->images == NULL || stream->spans == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for %u images", count);
	for (uint32_t i = 0; i < count; i++) {
		stream->images[i].stream = stream;
		stream->images[i].spans = stream->spans + (size_t)i * SPANS_MAX;
	}
	return 0;
}

int
camera_stream_size(struct camera_stream *stream, uint64_t bytes, struct lull_error *error)
{
	struct lull_assembler *assembler;
	void *memory;
	int rc;

	if (!camera_buffers_allow(stream, bytes))
		return lull_error_set(error, -ENOMEM, "memory: less than %u buffers of %llu bytes",
				      stream->image_count, (unsigned long long)bytes);
	stream->assembly.buffer_bytes = bytes;
	memory = stream_aligned(lull_assembler_size(&stream->assembly));
	if (memory == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for an assembler");
	rc = lull_assembler_init(memory, &stream->assembly, &assembler);
	if (rc == 0)
		rc = camera_buffers_make(stream, error);
	else
		lull_error_set(error, rc, "buffer_bytes: %llu is not possible",
			       (unsigned long long)bytes);
	if (rc != 0) {
		free(memory);
		return rc;
	}
	for (uint32_t i = 0; i < stream->image_count; i++) {
		lull_assembler_supply(assembler, stream->images[i].data, &stream->images[i]);
		stream->away++;
	}
	if (stream->claim.burst_bytes == 0 && stream->config.buffer_bytes == 0)
		stream->claim.burst_bytes = bytes;
	__atomic_store_n(&stream->assembler, assembler, __ATOMIC_RELEASE);
	return 0;
}

static int
stream_reader(struct camera_stream *stream, struct lull_error *error)
{
	const struct lull_frame_protocol *protocol = stream->protocol;

	stream->protocol_state = stream_aligned(protocol->state_size);
	if (stream->protocol_state == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for a stream");
	if (protocol->init(stream->protocol_state, &stream->config.settings) != 0)
		return lull_error_set(error, -EINVAL,
				      "%s: set width, height and pixel to values that this "
				      "protocol can carry",
				      protocol->name);
	return 0;
}

static int
stream_copy(struct camera_stream *stream, const struct lull_camera_stream *given, uint32_t index,
	    struct lull_error *error)
{
	const struct lull_camera_stream *config = &stream->config;
	const char *protocol;
	int rc = camera_sized_copy(&stream->config, sizeof(stream->config), STREAM_BYTES_FIRST,
				   given, "stream", error);

	if (rc != 0)
		return rc;
	protocol = config->protocol != NULL ? config->protocol : "";
	stream->claim.index = index;
	stream->protocol = lull_frame_protocol_find(protocol);
	if (stream->protocol == NULL)
		return stream_protocol_names(error, protocol);
	if (config->name != NULL)
		snprintf(stream->name, sizeof(stream->name), "%s", config->name);
	else
		snprintf(stream->name, sizeof(stream->name), "cam%u", index);
	stream->config.name = stream->name;
	if (config->control != NULL) {
		snprintf(stream->control_text, sizeof(stream->control_text), "%s", config->control);
		stream->config.control = stream->control_text;
	}
	if (stream->config.resend_ppm == 0)
		stream->config.resend_ppm = RESEND_PPM;
	if (stream->config.memory_bytes == 0)
		stream->config.memory_bytes = MEMORY_BYTES;
	return 0;
}

int
camera_stream_create(struct lull_receiver *receiver, const struct lull_camera_stream *config,
		     struct camera_stream **out, struct lull_error *error)
{
	struct camera_stream *stream = stream_aligned(sizeof(*stream));
	int rc;

	*out = NULL;
	if (stream == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for a stream");
	stream->receiver = receiver;
	camera_queue_init(&stream->ready);
	camera_queue_init(&stream->returned);
	rc = stream_copy(stream, config, receiver->stream_count, error);
	if (rc == 0)
		rc = stream_settle(stream, error);
	if (rc == 0)
		rc = stream_reader(stream, error);
	if (rc == 0)
		rc = stream_images(stream, error);
	if (rc == 0 && stream->assembly.buffer_bytes != 0)
		rc = camera_stream_size(stream, stream->assembly.buffer_bytes, error);
	if (rc != 0) {
		camera_stream_destroy(stream);
		return rc;
	}
	/* The caller's strings and lists are not needed any more. */
	stream->config.protocol = stream->protocol->name;
	stream->config.address = NULL;
	stream->config.source = NULL;
	*out = stream;
	return 0;
}

void
camera_stream_destroy(struct camera_stream *stream)
{
	if (stream->images != NULL)
		camera_buffers_free(stream);
	free(stream->assembler);
	free(stream->protocol_state);
	free(stream->spans);
	free(stream->images);
	free(stream);
}
