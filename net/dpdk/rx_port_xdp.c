/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver brings a program that takes all packets of a queue, and wires its socket into the
 * program's map. That map is what ours needs too: it is taken over, the program taken off. What
 * the driver does when it closes then meets an interface without a program, which is fine.
 */
#include "rx_port_xdp.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include <rte_ethdev.h>

#include "host/error.h"
#include "rx_port_filter.h"

#define MAPS_MAX 8
#define LICENSE "Dual BSD/GPL"

struct xdp {
	bool open;
	int table, link;
};
/* Ports belong to the process. */
static struct xdp xdp_ports[RTE_MAX_ETHPORTS];

static libxdp_print_fn_t xdp_print; /* while it is off */

/* Programs in a dispatcher are pinned in the file system, where a process that is killed leaves
 * them. */
void
lull_rx_port_xdp_prepare(void)
{
	setenv("LIBXDP_SKIP_DISPATCHER", "1", 0);
	if (xdp_print != NULL)
		libxdp_set_print(xdp_print);
}

/* The driver's program on the interface. */
static int
xdp_program(unsigned int if_index)
{
	uint32_t id = 0;
	int rc = bpf_xdp_query_id((int)if_index, 0, &id);

	if (rc == 0 && id == 0)
		rc = -ENOENT;
	return rc != 0 ? rc : bpf_prog_get_fd_by_id(id);
}

/* The map of a program that holds AF_XDP sockets. */
static int
xdp_sockets(int program)
{
	uint32_t maps[MAPS_MAX] = { 0 }, size;
	struct bpf_prog_info info = {
		.nr_map_ids = MAPS_MAX,
		.map_ids = (uintptr_t)maps,
	};

	size = sizeof(info);
	if (bpf_obj_get_info_by_fd(program, &info, &size) != 0)
		return -errno;
	for (uint32_t i = 0; i < info.nr_map_ids && i < MAPS_MAX; i++) {
		struct bpf_map_info map = { .type = 0 };
		int fd = bpf_map_get_fd_by_id(maps[i]);

		size = sizeof(map);
		if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &map, &size) == 0 &&
		    map.type == BPF_MAP_TYPE_XSKMAP)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

static int
xdp_filter(int table, int sockets)
{
	struct bpf_prog_load_opts options = { .sz = sizeof(options),
					      .expected_attach_type = BPF_XDP };
	struct bpf_insn insns[LULL_RX_PORT_FILTER_MAX];
	uint32_t count = lull_rx_port_filter(insns, table, sockets);

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "lull_camera", LICENSE, insns, count, &options);
}

/* Ours for theirs; where ours is refused, theirs comes back. */
static int
xdp_replace(unsigned int if_index, int theirs, int ours)
{
	struct bpf_xdp_attach_opts only = { .sz = sizeof(only), .old_prog_fd = theirs };
	int rc = bpf_xdp_detach((int)if_index, 0, &only), link;

	if (rc != 0)
		return rc;
	link = bpf_link_create(ours, (int)if_index, BPF_XDP, NULL);
	if (link < 0)
		bpf_xdp_attach((int)if_index, theirs, 0, NULL);
	return link;
}

static void
xdp_close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* With the driver's program and its sockets: a table, our program, the link. */
static int
xdp_install(struct xdp *xdp, unsigned int if_index, int theirs, int sockets, bool all,
	    const char **step)
{
	int ours;

	*step = "cannot make the table of ports";
	if (!all)
		xdp->table = bpf_map_create(BPF_MAP_TYPE_ARRAY, "lull_ports", sizeof(uint32_t),
					    sizeof(uint32_t), LULL_RX_PORT_FILTER_KEYS, NULL);
	if (!all && xdp->table < 0)
		return xdp->table;
	*step = "program refused";
	ours = xdp_filter(xdp->table, sockets);
	if (ours < 0)
		return ours;
	*step = "cannot attach the program to the interface";
	xdp->link = xdp_replace(if_index, theirs, ours);
	close(ours);
	return LULL_MIN(xdp->link, 0);
}

int
lull_rx_port_xdp_open(uint16_t port_id, unsigned int if_index, bool all, struct lull_error *error)
{
	struct xdp *xdp = &xdp_ports[port_id];
	int theirs = xdp_program(if_index), sockets, rc;
	const char *step = "cannot put the sockets into the driver's program";

	*xdp = (struct xdp){ .table = -1 };
	if (theirs < 0)
		return lull_error_set(error, theirs, "cannot load the driver's program: %s",
				      strerror(-theirs));
	rc = sockets = xdp_sockets(theirs);
	if (sockets >= 0)
		rc = xdp_install(xdp, if_index, theirs, sockets, all, &step);
	xdp_close_fd(theirs);
	xdp_close_fd(sockets);
	xdp->open = rc == 0;
	if (rc == 0)
		return 0;
	xdp_close_fd(xdp->table);
	return lull_error_set(error, rc, "%s: %s", step, strerror(-rc));
}

int
lull_rx_port_xdp_take(uint16_t port_id, uint16_t port, uint16_t ether_type)
{
	uint32_t key = port != 0 ? port : ether_type, value = 0;

	if (!xdp_ports[port_id].open || xdp_ports[port_id].table < 0)
		return -ENOTSUP;
	if (bpf_map_lookup_elem(xdp_ports[port_id].table, &key, &value) != 0)
		return -errno;
	value |= port != 0 ? LULL_RX_PORT_FILTER_PORT : LULL_RX_PORT_FILTER_TYPE;
	return bpf_map_update_elem(xdp_ports[port_id].table, &key, &value, BPF_ANY);
}

void
lull_rx_port_xdp_close(uint16_t port_id)
{
	struct xdp *xdp = &xdp_ports[port_id];
	libxdp_print_fn_t print;

	if (!xdp->open)
		return;
	xdp->open = false;
	print = libxdp_set_print(NULL); /* the driver's program is not there: it would say so */
	xdp_print = print != NULL ? print : xdp_print;
	close(xdp->link);
	xdp_close_fd(xdp->table);
}

void
lull_rx_port_xdp_end(void)
{
	for (uint32_t i = 0; i < RTE_MAX_ETHPORTS; i++)
		lull_rx_port_xdp_close((uint16_t)i);
}
