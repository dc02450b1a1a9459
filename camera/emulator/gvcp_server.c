/* SPDX-License-Identifier: BSD-3-Clause */
#include "gvcp_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/reader.h"
#include "base/bytes.h"
#include "gige/gvsp.h"

#define STATUS_OK 0
#define STATUS_NOT_IMPLEMENTED 0x8001
#define STATUS_INVALID_PARAMETER 0x8002
#define STATUS_INVALID_ADDRESS 0x8003
#define STATUS_WRITE_PROTECT 0x8004
#define STATUS_ACCESS_DENIED 0x8006
#define FLAG_ANSWER 0x01
#define HEARTBEAT_LEAST_MS 500
#define MESSAGES_MAX 64 /* of a turn */

/* ---- set up ---- */

static int
server_socket(const struct lull_emulator_config *config, uint32_t ip, uint16_t port)
{
	struct sender_target own = sender_target_ip(ip, port);
	int yes = 1, code;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (ip == INADDR_BROADCAST) /* each camera of this machine may want them */
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if ((config->interface[0] != '\0' &&
	     setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, config->interface,
			(socklen_t)strlen(config->interface)) != 0) ||
	    bind(fd, &own.any, own.len) != 0) {
		code = -errno;
		close(fd);
		return code;
	}
	return fd;
}

int
gvcp_server_open(struct gvcp_server *server, struct emulator_camera *camera,
		 struct lull_error *error)
{
	const struct lull_emulator_config *config = camera->stage->config;
	uint32_t ip = sender_ip(config, camera->number), number = camera->number;
	uint16_t port = (uint16_t)(config->control_port +
				   (config->apart == LULL_EMULATOR_APART_PORTS ? number : 0));

	*server = (struct gvcp_server){ .camera = camera, .fds = { -1, -1 } };
	registers_init(&server->registers, &camera->plan, ip, number, config->rate, LULL_VERSION);
	registers_set(&server->registers, REGISTERS_SOURCE_PORT, sender_port(camera->fd));
	server->fds[0] = server_socket(config, ip, port);
	if (server->fds[0] < 0)
		return lull_error_set(error, server->fds[0],
				      "control-port: camera %u cannot have port %u of its "
				      "address: %s",
				      number, port, strerror(-server->fds[0]));
	server->fds[1] = server_socket(config, INADDR_BROADCAST, port);
	return 0;
}

void
gvcp_server_close(struct gvcp_server *server)
{
	for (uint32_t i = 0; server->camera != NULL && i < GVCP_SERVER_FDS; i++)
		if (server->fds[i] >= 0)
			close(server->fds[i]);
}

/* ---- control ---- */

static bool
server_is_client(const struct gvcp_server *server, const struct sockaddr_in *from)
{
	return server->controlled && server->client.sin_addr.s_addr == from->sin_addr.s_addr &&
	       server->client.sin_port == from->sin_port;
}

static void
server_release(struct gvcp_server *server)
{
	server->controlled = false;
	registers_set(&server->registers, LULL_GVCP_REG_CONTROL, 0);
	registers_set(&server->registers, LULL_GVCP_REG_STREAM_PORT, 0);
	registers_set(&server->registers, REGISTERS_ACQUISITION, 0);
	if (emulator_controlled(server->camera->stage->config))
		emulator_camera_stop(server->camera);
}

static uint64_t
server_timeout_ns(const struct gvcp_server *server)
{
	uint32_t ms = registers_get(&server->registers, LULL_GVCP_REG_HEARTBEAT);

	return LULL_MAX(ms, HEARTBEAT_LEAST_MS) * LULL_NS_PER_MS;
}

uint64_t
gvcp_server_deadline_ns(const struct gvcp_server *server)
{
	return server->controlled ? server->heard_ns + server_timeout_ns(server) : UINT64_MAX;
}

static uint16_t
server_write_control(struct gvcp_server *server, uint64_t now_ns, const struct sockaddr_in *from,
		     uint32_t value)
{
	if (server->controlled && !server_is_client(server, from))
		return STATUS_ACCESS_DENIED;
	if ((value & (LULL_GVCP_CONTROL_ACCESS | LULL_GVCP_CONTROL_EXCLUSIVE)) == 0) {
		server_release(server);
		return STATUS_OK;
	}
	server->controlled = true;
	server->client = *from;
	server->heard_ns = now_ns;
	registers_set(&server->registers, LULL_GVCP_REG_CONTROL, value);
	return STATUS_OK;
}

/* ---- what registers do ---- */

static struct sender_target
server_target(const struct gvcp_server *server)
{
	const struct registers *registers = &server->registers;
	uint32_t port = registers_get(registers, LULL_GVCP_REG_STREAM_PORT) & UINT16_MAX;

	return sender_target_ip(registers_get(registers, LULL_GVCP_REG_STREAM_ADDRESS),
				(uint16_t)port);
}

static void
server_acquire(struct gvcp_server *server, uint64_t now_ns, bool start)
{
	struct emulator_camera *camera = server->camera;

	if (!emulator_controlled(camera->stage->config))
		return;
	if (!start) {
		emulator_camera_stop(camera);
		return;
	}
	camera->target = server_target(server);
	/* A start that is said again, because its answer came late, changes nothing. */
	if (!camera->active && camera->target.ip.sin_port != 0 &&
	    camera->target.ip.sin_addr.s_addr != 0)
		emulator_camera_start(camera, now_ns);
}

/* A packet of the size asked for, to see whether the path takes it. */
static void
server_fire(const struct gvcp_server *server, uint32_t bytes)
{
	struct sender_target target = server_target(server);
	uint8_t packet[LULL_PACKET_BYTES_MAX] = { 0 };

	(void)sendto(server->camera->fd, packet, bytes - GVSP_IP_UDP_BYTES, MSG_DONTWAIT,
		     &target.any, target.len);
}

static uint16_t
server_write_size(struct gvcp_server *server, uint32_t value)
{
	uint32_t bytes = value & UINT16_MAX;
	struct emulator_camera *camera = server->camera;

	if (bytes < LULL_PACKET_BYTES_MIN + GVSP_IP_UDP_BYTES || camera->active ||
	    emulator_camera_plan(camera, bytes - GVSP_IP_UDP_BYTES, camera->plan.format.extended) !=
		    0)
		return STATUS_INVALID_PARAMETER;
	if ((value & REGISTERS_FIRE) != 0)
		server_fire(server, bytes);
	registers_set(&server->registers, LULL_GVCP_REG_PACKET_SIZE, value & ~REGISTERS_FIRE);
	return STATUS_OK;
}

static uint16_t
server_write_ids(struct gvcp_server *server, uint32_t value)
{
	struct emulator_camera *camera = server->camera;
	bool extended = (value & LULL_GVCP_EXTENDED_IDS) != 0;

	if (camera->active ||
	    emulator_camera_plan(camera, camera->plan.format.packet_bytes, extended) != 0)
		return STATUS_INVALID_PARAMETER;
	registers_set(&server->registers, LULL_GVCP_REG_STREAM_CONFIG,
		      value & LULL_GVCP_EXTENDED_IDS);
	return STATUS_OK;
}

static uint16_t
server_write(struct gvcp_server *server, uint64_t now_ns, const struct sockaddr_in *from,
	     uint32_t address, uint32_t value)
{
	if (address == LULL_GVCP_REG_CONTROL)
		return server_write_control(server, now_ns, from, value);
	if (registers_read(&server->registers, address, 4) == NULL || (address & 3) != 0)
		return STATUS_INVALID_ADDRESS;
	if (!registers_writable(address))
		return STATUS_WRITE_PROTECT;
	if (!server_is_client(server, from))
		return STATUS_ACCESS_DENIED;
	if (address == LULL_GVCP_REG_PACKET_SIZE)
		return server_write_size(server, value);
	if (address == LULL_GVCP_REG_STREAM_CONFIG)
		return server_write_ids(server, value);
	registers_set(&server->registers, address, value);
	if (address == REGISTERS_ACQUISITION)
		server_acquire(server, now_ns, value != 0);
	else if (address == LULL_GVCP_REG_STREAM_PORT && value == 0)
		server_acquire(server, now_ns, false);
	return STATUS_OK;
}

/* ---- messages ---- */

/** A command and the answer to it. */
struct exchange {
	const struct sockaddr_in *from;
	struct lull_gvcp_header header;
	struct lull_reader reader;
	uint16_t status, bytes;
	uint8_t data[LULL_GVCP_BYTES_MAX];
};

static void
server_read_registers(struct gvcp_server *server, struct exchange *exchange)
{
	while (lull_reader_left(&exchange->reader) >= 4 && exchange->status == STATUS_OK) {
		uint32_t address = lull_reader_u32be(&exchange->reader);

		if (registers_read(&server->registers, address, 4) == NULL || (address & 3) != 0) {
			exchange->status = STATUS_INVALID_ADDRESS;
			return;
		}
		(void)lull_bytes_put(exchange->data + exchange->bytes,
				     registers_get(&server->registers, address), 4);
		exchange->bytes = (uint16_t)(exchange->bytes + 4);
	}
}

static void
server_write_registers(struct gvcp_server *server, uint64_t now_ns, struct exchange *exchange)
{
	uint32_t done = 0;

	while (lull_reader_left(&exchange->reader) >= 8 && exchange->status == STATUS_OK) {
		uint32_t address = lull_reader_u32be(&exchange->reader);
		uint32_t value = lull_reader_u32be(&exchange->reader);

		exchange->status = server_write(server, now_ns, exchange->from, address, value);
		done += exchange->status == STATUS_OK;
	}
	(void)lull_bytes_put(exchange->data, done, 4);
	exchange->bytes = 4;
}

static void
server_read_memory(struct gvcp_server *server, struct exchange *exchange)
{
	uint32_t address = lull_reader_u32be(&exchange->reader);
	uint32_t bytes = lull_reader_u32be(&exchange->reader) & UINT16_MAX;
	const uint8_t *memory = registers_read(&server->registers, address, bytes);

	if (exchange->reader.failed || bytes > LULL_GVCP_MEMORY_MAX)
		exchange->status = STATUS_INVALID_PARAMETER;
	else if (memory == NULL || (address & 3) != 0)
		exchange->status = STATUS_INVALID_ADDRESS;
	else {
		(void)lull_bytes_copy(lull_bytes_put(exchange->data, address, 4), memory, bytes);
		exchange->bytes = (uint16_t)(4 + bytes);
	}
}

static void
server_write_memory(struct gvcp_server *server, uint64_t now_ns, struct exchange *exchange)
{
	uint32_t address = lull_reader_u32be(&exchange->reader);

	for (; lull_reader_left(&exchange->reader) >= 4 && exchange->status == STATUS_OK;
	     address += 4)
		exchange->status = server_write(server, now_ns, exchange->from, address,
						lull_reader_u32be(&exchange->reader));
	(void)lull_bytes_put(exchange->data, address, 4);
	exchange->bytes = 4;
}

static void
server_resend(struct gvcp_server *server, const uint8_t *message, size_t len,
	      const struct sockaddr_in *from)
{
	struct emulator_camera *camera = server->camera;
	const struct lull_emulator_config *config = camera->stage->config;
	bool welcome =
		server->controlled ? server_is_client(server, from) : !emulator_controlled(config);
	struct lull_gvcp_resend resend;

	camera->counters.resend_requests++;
	if (!lull_gvcp_read_resend(message, len, &resend) || !welcome ||
	    config->resend == LULL_EMULATOR_RESEND_IGNORE || camera->session == 0 ||
	    resend.channel != 0 || resend.extended != camera->plan.format.extended)
		camera->counters.resend_refused++;
	else
		emulator_camera_resend(camera, resend.block, resend.first, resend.last);
}

static void
server_command(struct gvcp_server *server, uint64_t now_ns, struct exchange *exchange)
{
	switch (exchange->header.code) {
	case LULL_GVCP_DISCOVERY:
		server->discoveries++;
		memcpy(exchange->data, server->registers.memory, REGISTERS_DEVICE_BYTES);
		exchange->bytes = REGISTERS_DEVICE_BYTES;
		break;
	case LULL_GVCP_READREG:
		server_read_registers(server, exchange);
		break;
	case LULL_GVCP_WRITEREG:
		server_write_registers(server, now_ns, exchange);
		break;
	case LULL_GVCP_READMEM:
		server_read_memory(server, exchange);
		break;
	case LULL_GVCP_WRITEMEM:
		server_write_memory(server, now_ns, exchange);
		break;
	default:
		exchange->status = STATUS_NOT_IMPLEMENTED;
		break;
	}
}

static void
server_message(struct gvcp_server *server, uint64_t now_ns, const struct sockaddr_in *from,
	       const uint8_t *message, size_t len)
{
	struct exchange exchange = { .from = from };
	uint8_t answer[LULL_GVCP_HEADER_BYTES + LULL_GVCP_BYTES_MAX];
	size_t answer_len;

	if (!lull_gvcp_header_read(message, len, &exchange.header) || !exchange.header.command)
		return;
	server->commands++;
	if (server_is_client(server, from))
		server->heard_ns = now_ns;
	if (exchange.header.code == LULL_GVCP_RESEND) {
		server_resend(server, message, len, from);
		return;
	}
	exchange.reader = lull_reader_over(message + LULL_GVCP_HEADER_BYTES, exchange.header.bytes);
	server_command(server, now_ns, &exchange);
	server->refusals += exchange.status != STATUS_OK;
	if ((exchange.header.flags & FLAG_ANSWER) == 0)
		return;
	if (exchange.status != STATUS_OK && exchange.header.code == LULL_GVCP_READREG)
		exchange.bytes = 0;
	answer_len = lull_gvcp_write_answer(answer, exchange.status,
					    (uint16_t)(exchange.header.code + 1),
					    exchange.header.id, exchange.data, exchange.bytes);
	(void)sendto(server->fds[0], answer, answer_len, MSG_DONTWAIT,
		     (const struct sockaddr *)from, sizeof(*from));
}

static void
server_drain(struct gvcp_server *server, uint64_t now_ns, int fd)
{
	uint8_t message[LULL_GVCP_BYTES_MAX];

	for (uint32_t i = 0; i < MESSAGES_MAX; i++) {
		struct sockaddr_in from = { .sin_family = AF_INET };
		socklen_t from_len = sizeof(from);
		ssize_t len = recvfrom(fd, message, sizeof(message), 0, (struct sockaddr *)&from,
				       &from_len);

		if (len < 0)
			return;
		server_message(server, now_ns, &from, message, (size_t)len);
	}
}

void
gvcp_server_iterate(struct gvcp_server *server, uint64_t now_ns)
{
	for (uint32_t i = 0; i < GVCP_SERVER_FDS; i++)
		if (server->fds[i] >= 0)
			server_drain(server, now_ns, server->fds[i]);
	if (now_ns >= gvcp_server_deadline_ns(server)) {
		server->timeouts++;
		server_release(server);
	}
}
