/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lull/base.h>

#include "case.h"
#include "base/bytes.h"
#include "gige/gvcp.h"
#include "gige/gvcp_xml.h"

#define MS LULL_NS_PER_MS

static const char description[] =
	"<a><pFeature>AcquisitionStart</pFeature>"
	"<EnumEntry Name=\"AcquisitionStart\"><Value>1</Value></EnumEntry>"
	"<Command Name=\"AcquisitionStart\" NameSpace=\"Standard\"><pValue>Value</pValue>"
	"<CommandValue>3</CommandValue></Command>"
	"<Command Name=\"AcquisitionStop\"><pValue>Value</pValue>"
	"<CommandValue>0x4</CommandValue></Command>"
	"<Integer Name=\"Value\"><pValue>Reg</pValue></Integer>"
	"<IntReg Name=\"Reg\"><Address>0x1f0</Address><Length>4</Length></IntReg>"
	"<Command Name=\"Sum\"><pValue>Far</pValue><CommandValue>1</CommandValue></Command>"
	"<IntReg Name=\"Far\"><Address>0x10</Address><pAddress>B</pAddress></IntReg>"
	"<Command Name=\"Loop\"><pValue>L</pValue><CommandValue>1</CommandValue></Command>"
	"<Integer Name=\"L\"><pValue>L</pValue></Integer></a>";

/* A camera: registers, memory with a description, and what it was told. */
struct camera {
	uint32_t control, port, size, address, heartbeat, acquisition, capability;
	bool mute, deny, runs;
	uint32_t commands;
	char log[4096];
};

static void
note(struct camera *camera, uint32_t address, uint32_t value)
{
	size_t len = strlen(camera->log);

	snprintf(camera->log + len, sizeof(camera->log) - len, "%x=%x ", (unsigned int)address,
		 (unsigned int)value);
}

static uint32_t *
register_at(struct camera *camera, uint32_t address)
{
	switch (address) {
	case LULL_GVCP_REG_CONTROL:
		return &camera->control;
	case LULL_GVCP_REG_STREAM_PORT:
		return &camera->port;
	case LULL_GVCP_REG_PACKET_SIZE:
		return &camera->size;
	case LULL_GVCP_REG_STREAM_ADDRESS:
		return &camera->address;
	case LULL_GVCP_REG_HEARTBEAT:
		return &camera->heartbeat;
	case LULL_GVCP_REG_CAPABILITY:
		return &camera->capability;
	case 0x124:
	case 0x1f0:
		return &camera->acquisition;
	default:
		return NULL;
	}
}

static uint32_t
number_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static size_t
answer_memory(const uint8_t *message, uint16_t id, uint8_t *answer)
{
	uint32_t address = number_at(message + 8), count = number_at(message + 12);
	uint8_t data[4 + LULL_GVCP_MEMORY_MAX] = { 0 };

	lull_bytes_put(data, address, 4);
	if (address == LULL_GVCP_REG_XML_URL)
		snprintf((char *)data + 4, 100, "Local:test.xml;8000;%x",
			 (unsigned int)strlen(description));
	else
		for (uint32_t i = 0; i < count && address - 0x8000 + i < sizeof(description); i++)
			data[4 + i] = (uint8_t)description[address - 0x8000 + i];
	return lull_gvcp_write_answer(answer, 0, LULL_GVCP_READMEM + 1, id, data,
				      (uint16_t)(4 + count));
}

static size_t
answer(struct camera *camera, const uint8_t *message, size_t len, uint8_t *reply)
{
	struct lull_gvcp_header header;
	uint32_t *where;
	uint8_t data[4];
	uint16_t status = 0;

	assert_true(lull_gvcp_header_read(message, len, &header));
	assert_true(header.command);
	assert_int_equal(len, 8 + header.bytes);
	camera->commands++;
	if (camera->mute)
		return 0;
	if (header.code == LULL_GVCP_READMEM)
		return answer_memory(message, header.id, reply);
	where = register_at(camera, number_at(message + 8));
	lull_bytes_put(data, where != NULL ? *where : 0, 4);
	if (header.code == LULL_GVCP_WRITEREG) {
		note(camera, number_at(message + 8), number_at(message + 12));
		/* While it acquires, nothing of the stream can be changed. */
		if (camera->runs && camera->acquisition == 3 && where != &camera->acquisition &&
		    where != &camera->control)
			status = 0x8007;
		else if (camera->deny)
			status = 0x8006;
		else if (where != NULL)
			*where = number_at(message + 12);
		lull_bytes_put(data, 1, 4);
	}
	return lull_gvcp_write_answer(reply, status, header.code + 1, header.id, data, 4);
}

/* Let both talk until the client has nothing to say at @p now. */
static void
talk(struct lull_gvcp_client *client, struct camera *camera, uint64_t now)
{
	uint8_t message[LULL_GVCP_BYTES_MAX], reply[LULL_GVCP_BYTES_MAX];
	size_t len;

	for (uint32_t i = 0; i < 1000 && (len = lull_gvcp_output(client, now, message)) > 0; i++) {
		len = answer(camera, message, len, reply);
		if (len > 0)
			lull_gvcp_input(client, now, reply, len);
	}
}

static struct lull_gvcp_config
config_default(void)
{
	return (struct lull_gvcp_config){ .address = 0x0a000002,
					  .port = 5555,
					  .packet_bytes = 8972 };
}

TEST(start__fake_camera)
{
	struct camera camera = { .capability = LULL_GVCP_CAN_RESEND };
	struct lull_gvcp_config config = config_default();
	struct lull_gvcp_client client;

	assert_int_equal(lull_gvcp_init(&client, &config), 0);
	assert_int_equal(lull_gvcp_deadline_ns(&client), UINT64_MAX);
	lull_gvcp_start(&client, 1000);
	talk(&client, &camera, 1000);
	assert_int_equal(client.state, LULL_GVCP_STREAMING);
	assert_string_equal(camera.log,
			    "a00=2 124=0 938=bb8 d04=4000230c d18=a000002 d00=15b3 124=1 ");
	assert_int_equal(client.packet_bytes, 8972);
	assert_int_equal(client.capability, LULL_GVCP_CAN_RESEND);
	lull_gvcp_stop(&client, 2000);
	talk(&client, &camera, 2000);
	assert_int_equal(client.state, LULL_GVCP_STOPPED);
	assert_int_equal(camera.acquisition, 0);
	assert_int_equal(camera.port, 0);
	assert_int_equal(camera.control, 0);
	assert_int_equal(lull_gvcp_deadline_ns(&client), UINT64_MAX);
}

TEST(start__from_the_description)
{
	struct camera camera = { 0 };
	struct lull_gvcp_config config = config_default();
	struct lull_gvcp_client client;
	uint8_t xml[4096];

	config.xml = xml;
	config.xml_bytes_max = sizeof(xml);
	assert_int_equal(lull_gvcp_init(&client, &config), 0);
	lull_gvcp_start(&client, 0);
	talk(&client, &camera, 0);
	assert_int_equal(client.state, LULL_GVCP_STREAMING);
	assert_true(client.xml_used);
	assert_int_equal(camera.acquisition, 3);
	lull_gvcp_stop(&client, 1);
	talk(&client, &camera, 1);
	assert_int_equal(camera.acquisition, 4);
}

/* Its former controller died without a word: the camera acquires, and starts only when stopped. */
TEST(start__after_a_controller_that_died)
{
	struct camera camera = { .runs = true, .acquisition = 3, .port = 77 };
	struct lull_gvcp_config config = config_default();
	struct lull_gvcp_client client;
	uint8_t xml[4096];

	config.xml = xml;
	config.xml_bytes_max = sizeof(xml);
	assert_int_equal(lull_gvcp_init(&client, &config), 0);
	lull_gvcp_start(&client, 0);
	talk(&client, &camera, 0);
	assert_int_equal(client.state, LULL_GVCP_STREAMING);
	assert_int_equal(camera.port, 5555);
	assert_non_null(strstr(camera.log, "1f0=4 "));
	assert_true(strstr(camera.log, "1f0=4 ") < strstr(camera.log, "d00=15b3 "));
	assert_int_equal(camera.acquisition, 3);
}

TEST(heartbeat__keeps_and_loses_control)
{
	struct camera camera = { 0 };
	struct lull_gvcp_config config = config_default();
	struct lull_gvcp_client client;
	uint32_t before;

	assert_int_equal(lull_gvcp_init(&client, &config), 0);
	lull_gvcp_start(&client, 0);
	talk(&client, &camera, 0);
	before = camera.commands;
	for (uint64_t now = 0; now <= 7000 * MS; now += 10 * MS)
		talk(&client, &camera, now);
	assert_int_equal(camera.commands - before, 10);
	camera.control = 0;
	talk(&client, &camera, 7700 * MS);
	assert_int_equal(client.state, LULL_GVCP_LOST);
}

TEST(output__says_it_again_and_gives_up)
{
	struct camera camera = { .mute = true };
	struct lull_gvcp_config config = config_default();
	struct lull_gvcp_client client;

	assert_int_equal(lull_gvcp_init(&client, &config), 0);
	lull_gvcp_start(&client, 0);
	talk(&client, &camera, 0);
	assert_int_equal(camera.commands, 1);
	assert_int_equal(lull_gvcp_deadline_ns(&client), 200 * MS);
	talk(&client, &camera, 199 * MS);
	assert_int_equal(camera.commands, 1);
	talk(&client, &camera, 200 * MS);
	talk(&client, &camera, 400 * MS);
	assert_int_equal(camera.commands, 3);
	assert_int_equal(client.state, LULL_GVCP_STARTING);
	talk(&client, &camera, 600 * MS);
	assert_int_equal(camera.commands, 3);
	assert_int_equal(client.state, LULL_GVCP_SILENT);
	camera.mute = false;
	lull_gvcp_start(&client, 700 * MS);
	talk(&client, &camera, 700 * MS);
	assert_int_equal(client.state, LULL_GVCP_STREAMING);
}

TEST(input__denied_and_strays)
{
	struct camera camera = { .deny = true };
	struct lull_gvcp_config config = config_default();
	struct lull_gvcp_client client;
	uint8_t message[LULL_GVCP_BYTES_MAX], reply[64];
	size_t len;

	assert_int_equal(lull_gvcp_init(&client, &config), 0);
	lull_gvcp_start(&client, 0);
	talk(&client, &camera, 0);
	assert_int_equal(client.state, LULL_GVCP_DENIED);
	assert_int_equal(client.status, 0x8006);
	assert_int_equal(client.refused, LULL_GVCP_REG_CONTROL);

	lull_gvcp_start(&client, 0);
	assert_true(lull_gvcp_output(&client, 0, message) > 0);
	(void)lull_gvcp_next_id(&client); /* a resend between command and answer */
	len = lull_gvcp_write_answer(reply, 0, LULL_GVCP_WRITEREG + 1, 999, message, 4);
	lull_gvcp_input(&client, 0, reply, len);
	lull_gvcp_input(&client, 0, reply, 3);
	assert_int_equal(client.strays, 2);
	camera.deny = false;
	len = answer(&camera, message, 16, reply);
	lull_gvcp_input(&client, 0, reply, len);
	talk(&client, &camera, 0);
	assert_int_equal(client.state, LULL_GVCP_STREAMING);
}

TEST(input__pending_prolongs)
{
	struct lull_gvcp_config config = config_default();
	static const uint8_t wait[4] = { 0, 0, 0x13, 0x88 }; /* 5 s */
	struct lull_gvcp_client client;
	uint8_t message[LULL_GVCP_BYTES_MAX], reply[64];
	size_t len;

	assert_int_equal(lull_gvcp_init(&client, &config), 0);
	lull_gvcp_start(&client, 0);
	assert_true(lull_gvcp_output(&client, 0, message) > 0);
	len = lull_gvcp_write_answer(reply, 0, LULL_GVCP_PENDING + 1, client.asked, wait, 4);
	lull_gvcp_input(&client, 0, reply, len);
	assert_int_equal(lull_gvcp_deadline_ns(&client), 5200 * MS);
	assert_int_equal(lull_gvcp_output(&client, 5199 * MS, message), 0);
	assert_true(lull_gvcp_output(&client, 5200 * MS, message) > 0);
}

TEST(init__refuses)
{
	struct lull_gvcp_config config = config_default();
	struct lull_gvcp_client client;

	config.port = 0;
	assert_int_equal(lull_gvcp_init(&client, &config), -EINVAL);
	config = config_default();
	config.start_count = LULL_GVCP_REGISTERS_MAX + 1;
	assert_int_equal(lull_gvcp_init(&client, &config), -EINVAL);
}

TEST(resend__both_forms)
{
	static const uint8_t small[] = { 0x42, 0,    0, 0x40, 0, 12, 0, 9, 0, 1,
					 0xff, 0x79, 0, 0,    0, 5,  0, 0, 0, 7 };
	struct lull_gvcp_resend one = { .channel = 1, .block = 0x1ff79, .first = 5, .last = 7 };
	struct lull_gvcp_resend back;
	uint8_t message[LULL_GVCP_BYTES_MAX];
	size_t len;

	assert_int_equal(lull_gvcp_write_resend(message, 9, &one), sizeof(small));
	assert_memory_equal(message, small, sizeof(small));
	assert_true(lull_gvcp_read_resend(message, sizeof(small), &back));
	assert_int_equal(back.block, 0xff79);
	one = (struct lull_gvcp_resend){
		.extended = true, .block = 1ULL << 40, .first = 0x1000000, .last = 0x1000001
	};
	len = lull_gvcp_write_resend(message, 9, &one);
	assert_int_equal(len, 28);
	assert_true(lull_gvcp_read_resend(message, len, &back));
	assert_int_equal(back.block, one.block);
	assert_int_equal(back.last, one.last);
	for (size_t i = 0; i < len; i++)
		assert_false(lull_gvcp_read_resend(message, i, &back));
}

static uint64_t
cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * LULL_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Whatever a camera writes into its description, it is looked at in time for its length. */
TEST(xml__takes_no_time)
{
	static const char *const words[] = {
		"<C Name=\"AcquisitionStart\" ",
		"<C Name=\"AcquisitionStart\"><CommandValue>",
		" Name=\"",
		" Name=\"A",
		"<C Name=\"AcquisitionStart\"></B><pValue>AcquisitionStart<CommandValue>1<",
		"<CommandValue><",
	};
	const uint32_t len = 1 << 20;
	uint8_t *xml = malloc(len);
	struct lull_gvcp_register reg;

	assert_non_null(xml);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t word = strlen(words[i]);
		uint64_t begin_ns = cpu_ns();

		for (uint32_t k = 0; k < len; k++)
			xml[k] = (uint8_t)words[i][k % word];
		assert_false(lull_gvcp_xml_command(xml, len, "AcquisitionStart", &reg));
		assert_true(cpu_ns() - begin_ns < 3 * LULL_NS_PER_S);
	}
	free(xml);
}

TEST(xml__place_and_commands)
{
	const uint8_t *xml = (const uint8_t *)description;
	uint32_t len = sizeof(description) - 1, address, bytes;
	struct lull_gvcp_register reg;
	static const char good[] = "Local:a.xml;10000;3E67?x=1";

	assert_true(lull_gvcp_xml_command(xml, len, "AcquisitionStop", &reg));
	assert_int_equal(reg.address, 0x1f0);
	assert_int_equal(reg.value, 4);
	assert_false(lull_gvcp_xml_command(xml, len, "Sum", &reg));
	assert_false(lull_gvcp_xml_command(xml, len, "Loop", &reg));
	assert_false(lull_gvcp_xml_command(xml, len, "None", &reg));
	for (uint32_t i = 0; i < len; i++) {
		uint8_t *cut = malloc(i + (i == 0));

		assert_non_null(cut);
		memcpy(cut, xml, i);
		(void)lull_gvcp_xml_command(cut, i, "AcquisitionStart", &reg);
		free(cut);
	}
	assert_true(lull_gvcp_xml_place((const uint8_t *)good, sizeof(good), &address, &bytes));
	assert_int_equal(address, 0x10000);
	assert_int_equal(bytes, 0x3e67);
	assert_false(lull_gvcp_xml_place((const uint8_t *)"Local:a.zip;1;2", 15, &address, &bytes));
	assert_false(
		lull_gvcp_xml_place((const uint8_t *)"http://a.xml;1;2", 16, &address, &bytes));
}
