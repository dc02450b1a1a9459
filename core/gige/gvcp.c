/* SPDX-License-Identifier: BSD-3-Clause */
#include "gvcp.h"

#include <errno.h>
#include <string.h>

#include <lull/base.h>

#include "base/reader.h"
#include "gvcp_xml.h"

#define STATUS_ACCESS_DENIED 0x8006
#define FAKE_START 0x124 /* acquisition register of aravis' fake camera */

enum step {
	TAKE_CONTROL,
	READ_CAPABILITY,
	READ_TICKS_HIGH,
	READ_TICKS_LOW,
	READ_URL,
	READ_XML,
	STOP_FORMER, /* acquisition that a controller left running when it died */
	WRITE_HEARTBEAT,
	WRITE_EXTENDED,
	WRITE_SIZE,
	READ_SIZE,
	WRITE_SETUP,
	WRITE_ADDRESS,
	WRITE_PORT,
	READ_SOURCE,
	WRITE_START,
	STREAM, /* heartbeats */
	WRITE_STOP,
	CLOSE_PORT,
	GIVE_CONTROL,
	DONE,
};

int
lull_gvcp_init(struct lull_gvcp_client *client, const struct lull_gvcp_config *config)
{
	struct lull_gvcp_config *own = &client->config;

	if (config->address == 0 || config->port == 0 || config->channel > 511 ||
	    config->packet_bytes > 65535 || config->setup_count > LULL_GVCP_REGISTERS_MAX ||
	    config->start_count > LULL_GVCP_REGISTERS_MAX ||
	    config->stop_count > LULL_GVCP_REGISTERS_MAX)
		return -EINVAL;
	memset(client, 0, sizeof(*client));
	*own = *config;
	own->timeout_ns = own->timeout_ns != 0 ? own->timeout_ns : 200 * LULL_NS_PER_MS;
	own->tries = own->tries != 0 ? own->tries : 3;
	own->heartbeat_ns = own->heartbeat_ns != 0 ? own->heartbeat_ns : 700 * LULL_NS_PER_MS;
	own->camera_ms = own->camera_ms != 0 ? own->camera_ms : 3000;
	client->deadline_ns = UINT64_MAX;
	return 0;
}

uint16_t
lull_gvcp_next_id(struct lull_gvcp_client *client)
{
	client->id++;
	if (client->id == 0) /* 0 is no id */
		client->id = 1;
	return client->id;
}

static void
end(struct lull_gvcp_client *client, enum lull_gvcp_state state)
{
	client->state = state;
	client->step = DONE;
	client->waiting = client->unsent = false;
	client->deadline_ns = UINT64_MAX;
}

static void
say(struct lull_gvcp_client *client, uint64_t now_ns, uint16_t code, size_t len)
{
	client->code = code;
	client->len = len;
	client->waiting = client->unsent = true;
	client->tries_left = client->config.tries;
	client->deadline_ns = now_ns;
}

static void
say_read(struct lull_gvcp_client *client, uint64_t now_ns, uint32_t address, bool optional)
{
	uint16_t id = client->asked = lull_gvcp_next_id(client);

	client->address = address;
	client->optional = optional;
	say(client, now_ns, LULL_GVCP_READREG,
	    lull_gvcp_write_readreg(client->message, id, address));
}

static void
say_write(struct lull_gvcp_client *client, uint64_t now_ns, uint32_t address, uint32_t value,
	  bool optional)
{
	struct lull_gvcp_register reg = { .address = address, .value = value };
	uint16_t id = client->asked = lull_gvcp_next_id(client);

	client->address = address;
	client->optional = optional;
	say(client, now_ns, LULL_GVCP_WRITEREG, lull_gvcp_write_writereg(client->message, id, reg));
}

static void
say_memory(struct lull_gvcp_client *client, uint64_t now_ns, uint32_t address, uint32_t bytes)
{
	uint16_t id = client->asked = lull_gvcp_next_id(client);

	client->address = address;
	client->optional = true;
	client->value = bytes;
	say(client, now_ns, LULL_GVCP_READMEM,
	    lull_gvcp_write_readmem(client->message, id, address, (uint16_t)bytes));
}

static uint32_t
channel_register(const struct lull_gvcp_client *client, uint32_t address)
{
	return address + LULL_GVCP_CHANNEL_STEP * client->config.channel;
}

/* The next register of a list; false: it has no more. */
static bool
say_list(struct lull_gvcp_client *client, uint64_t now_ns, const struct lull_gvcp_register *list,
	 uint32_t count, bool optional)
{
	if (client->index >= count)
		return false;
	say_write(client, now_ns, list[client->index].address, list[client->index].value, optional);
	return true;
}

/* Nobody said what starts this camera: what the description says, or the fake camera's. */
static void
choose_acquisition(struct lull_gvcp_client *client)
{
	struct lull_gvcp_config *config = &client->config;

	if (config->start_count != 0)
		return;
	client->xml_used = client->xml_there != 0 && client->xml_there == client->xml_bytes &&
			   lull_gvcp_xml_command(config->xml, client->xml_there, "AcquisitionStart",
						 &config->start[0]) &&
			   lull_gvcp_xml_command(config->xml, client->xml_there, "AcquisitionStop",
						 &config->stop[0]);
	if (!client->xml_used) {
		config->start[0] = (struct lull_gvcp_register){ FAKE_START, 1 };
		config->stop[0] = (struct lull_gvcp_register){ FAKE_START, 0 };
	}
	config->start_count = config->stop_count = 1;
}

/* Say what the step is about; false: it has nothing (more) to say. */
static bool
say_setup(struct lull_gvcp_client *client, uint64_t now_ns)
{
	struct lull_gvcp_config *config = &client->config;
	uint32_t left = client->xml_bytes - client->xml_there;

	switch (client->step) {
	case TAKE_CONTROL:
		say_write(client, now_ns, LULL_GVCP_REG_CONTROL, LULL_GVCP_CONTROL_ACCESS, false);
		return true;
	case READ_CAPABILITY:
		say_read(client, now_ns, LULL_GVCP_REG_CAPABILITY, true);
		return true;
	case READ_TICKS_HIGH:
		say_read(client, now_ns, LULL_GVCP_REG_TICKS_HIGH, true);
		return true;
	case READ_TICKS_LOW:
		say_read(client, now_ns, LULL_GVCP_REG_TICKS_LOW, true);
		return true;
	case READ_URL:
		if (config->xml == NULL || config->start_count != 0)
			return false;
		say_memory(client, now_ns, LULL_GVCP_REG_XML_URL, LULL_GVCP_MEMORY_MAX);
		return true;
	case READ_XML:
		if (left == 0)
			return false;
		say_memory(client, now_ns, client->xml_address + client->xml_there,
			   (LULL_MIN(left, LULL_GVCP_MEMORY_MAX) + 3) & ~3u);
		return true;
	case STOP_FORMER:
		choose_acquisition(client);
		return say_list(client, now_ns, config->stop, config->stop_count, true);
	case WRITE_HEARTBEAT:
		say_write(client, now_ns, LULL_GVCP_REG_HEARTBEAT, config->camera_ms, true);
		return true;
	default:
		return false;
	}
}

static bool
say_stream(struct lull_gvcp_client *client, uint64_t now_ns)
{
	struct lull_gvcp_config *config = &client->config;

	switch (client->step) {
	case WRITE_EXTENDED:
		if (!config->extended_ids)
			return false;
		say_write(client, now_ns, LULL_GVCP_REG_STREAM_CONFIG, LULL_GVCP_EXTENDED_IDS,
			  true);
		return true;
	case WRITE_SIZE:
		if (config->packet_bytes == 0)
			return false;
		say_write(client, now_ns, channel_register(client, LULL_GVCP_REG_PACKET_SIZE),
			  LULL_GVCP_DO_NOT_FRAGMENT | config->packet_bytes, false);
		return true;
	case READ_SIZE:
		say_read(client, now_ns, channel_register(client, LULL_GVCP_REG_PACKET_SIZE), true);
		return true;
	case WRITE_SETUP:
		return say_list(client, now_ns, config->setup, config->setup_count, false);
	case WRITE_ADDRESS:
		say_write(client, now_ns, channel_register(client, LULL_GVCP_REG_STREAM_ADDRESS),
			  config->address, false);
		return true;
	case WRITE_PORT:
		say_write(client, now_ns, channel_register(client, LULL_GVCP_REG_STREAM_PORT),
			  config->port, false);
		return true;
	case READ_SOURCE:
		say_read(client, now_ns, channel_register(client, LULL_GVCP_REG_STREAM_SOURCE),
			 true);
		return true;
	case WRITE_START:
		return say_list(client, now_ns, config->start, config->start_count, false);
	case WRITE_STOP:
		return say_list(client, now_ns, config->stop, config->stop_count, false);
	case CLOSE_PORT:
		say_write(client, now_ns, channel_register(client, LULL_GVCP_REG_STREAM_PORT), 0,
			  true);
		return true;
	case GIVE_CONTROL:
		say_write(client, now_ns, LULL_GVCP_REG_CONTROL, 0, true);
		return true;
	default:
		return false;
	}
}

/* From step to step until one has something to say. */
static void
go_on(struct lull_gvcp_client *client, uint64_t now_ns)
{
	while (client->step != STREAM && client->step != DONE) {
		if (say_setup(client, now_ns) || say_stream(client, now_ns))
			return;
		client->step++;
		client->index = 0;
	}
	if (client->step == STREAM) {
		client->state = LULL_GVCP_STREAMING;
		client->deadline_ns = now_ns + client->config.heartbeat_ns;
	} else
		end(client, LULL_GVCP_STOPPED);
}

static void
next_step(struct lull_gvcp_client *client, uint64_t now_ns)
{
	bool list = client->step == STOP_FORMER || client->step == WRITE_SETUP ||
		    client->step == WRITE_START || client->step == WRITE_STOP;

	if (list)
		client->index++;
	else if (client->step != READ_XML && client->step != STREAM)
		client->step++;
	go_on(client, now_ns);
}

void
lull_gvcp_start(struct lull_gvcp_client *client, uint64_t now_ns)
{
	client->state = LULL_GVCP_STARTING;
	client->step = TAKE_CONTROL;
	client->index = 0;
	client->waiting = false;
	client->xml_bytes = client->xml_there = 0;
	go_on(client, now_ns);
}

void
lull_gvcp_stop(struct lull_gvcp_client *client, uint64_t now_ns)
{
	if (client->state != LULL_GVCP_STARTING && client->state != LULL_GVCP_STREAMING)
		return;
	client->state = LULL_GVCP_STOPPING;
	client->step = client->step > WRITE_PORT ? WRITE_STOP : CLOSE_PORT;
	client->index = 0;
	client->waiting = false;
	go_on(client, now_ns);
}

static void
take_register(struct lull_gvcp_client *client, uint32_t value)
{
	switch (client->step) {
	case READ_CAPABILITY:
		client->capability = value;
		break;
	case READ_TICKS_HIGH:
		client->ticks_per_s = (uint64_t)value << 32;
		break;
	case READ_TICKS_LOW:
		client->ticks_per_s |= value;
		break;
	case READ_SIZE:
		client->packet_bytes = value & 0xffff;
		break;
	case READ_SOURCE:
		client->source_port = (uint16_t)value;
		break;
	case STREAM:
		if ((value & (LULL_GVCP_CONTROL_ACCESS | LULL_GVCP_CONTROL_EXCLUSIVE)) == 0)
			end(client, LULL_GVCP_LOST);
		break;
	default:
		break;
	}
}

static void
take_memory(struct lull_gvcp_client *client, const uint8_t *data, uint32_t bytes)
{
	uint32_t left = client->xml_bytes - client->xml_there;

	if (client->step == READ_URL) {
		if (lull_gvcp_xml_place(data, bytes, &client->xml_address, &client->xml_bytes) &&
		    client->xml_bytes > client->config.xml_bytes_max)
			client->xml_bytes = 0; /* no room: it is not read */
		return;
	}
	bytes = LULL_MIN(bytes, left);
	if (bytes == 0)
		client->xml_bytes = client->xml_there; /* it has less than it said */
	else
		memcpy(client->config.xml + client->xml_there, data, bytes);
	client->xml_there += bytes;
}

/* It said no. */
static void
take_refusal(struct lull_gvcp_client *client, uint64_t now_ns, uint16_t status)
{
	client->status = status;
	client->refused = client->address;
	if (client->step == TAKE_CONTROL || client->step == STREAM ||
	    (status == STATUS_ACCESS_DENIED && !client->optional))
		end(client, client->step == TAKE_CONTROL && status == STATUS_ACCESS_DENIED ?
				    LULL_GVCP_DENIED :
			    status == STATUS_ACCESS_DENIED ? LULL_GVCP_LOST :
							     LULL_GVCP_REFUSED);
	else if (!client->optional && client->state != LULL_GVCP_STOPPING)
		end(client, LULL_GVCP_REFUSED);
	else {
		if (client->step == READ_XML)
			client->xml_bytes = client->xml_there = 0;
		next_step(client, now_ns);
	}
}

void
lull_gvcp_input(struct lull_gvcp_client *client, uint64_t now_ns, const uint8_t *message,
		size_t len)
{
	struct lull_gvcp_header header;
	struct lull_reader reader;

	if (!lull_gvcp_header_read(message, len, &header) || header.command || !client->waiting ||
	    client->unsent || header.id != client->asked) {
		client->strays++;
		return;
	}
	reader = lull_reader_over(message + LULL_GVCP_HEADER_BYTES, header.bytes);
	if (header.code == LULL_GVCP_PENDING + 1) { /* it needs longer, in ms */
		lull_reader_skip(&reader, 2);
		client->deadline_ns = now_ns + client->config.timeout_ns +
				      lull_reader_u16be(&reader) * LULL_NS_PER_MS;
		return;
	}
	if (header.code != client->code + 1) {
		client->strays++;
		return;
	}
	client->answers++;
	client->waiting = false;
	if (header.status != 0) {
		take_refusal(client, now_ns, header.status);
		return;
	}
	if (header.code == LULL_GVCP_READREG + 1)
		take_register(client, lull_reader_u32be(&reader));
	else if (header.code == LULL_GVCP_READMEM + 1 && header.bytes >= 4)
		take_memory(client, message + LULL_GVCP_HEADER_BYTES + 4, header.bytes - 4u);
	if (client->step != DONE)
		next_step(client, now_ns);
}

/* No answer in time: say it again, or give up. */
static void
time_out(struct lull_gvcp_client *client, uint64_t now_ns)
{
	if (--client->tries_left > 0) {
		client->unsent = true;
		client->repeats++;
		return;
	}
	client->waiting = false;
	if (client->state == LULL_GVCP_STOPPING)
		next_step(client, now_ns);
	else
		end(client, LULL_GVCP_SILENT);
}

size_t
lull_gvcp_output(struct lull_gvcp_client *client, uint64_t now_ns,
		 uint8_t message[LULL_GVCP_BYTES_MAX])
{
	if (now_ns < client->deadline_ns || client->step == DONE || client->state == LULL_GVCP_IDLE)
		return 0;
	if (client->waiting && !client->unsent)
		time_out(client, now_ns);
	else if (!client->waiting && client->step == STREAM)
		say_read(client, now_ns, LULL_GVCP_REG_CONTROL, false);
	if (!client->unsent)
		return 0;
	client->unsent = false;
	client->deadline_ns = now_ns + client->config.timeout_ns;
	memcpy(message, client->message, client->len);
	return client->len;
}

uint64_t
lull_gvcp_deadline_ns(const struct lull_gvcp_client *client)
{
	return client->deadline_ns;
}
