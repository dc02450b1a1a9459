/* SPDX-License-Identifier: BSD-3-Clause */
#include "destination.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static const struct {
	const char *prefix;
	enum sink_way way;
} sink_schemes[] = {
	{ "udp://", SINK_UDP },
	{ "tcp://", SINK_TCP },
	{ "unix:", SINK_UNIX },
};

/* Where the port begins: behind the last colon, when only digits follow. */
static const char *
destination_port(const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t digits;

	if (colon == NULL || colon == text)
		return NULL;
	digits = strspn(colon + 1, "0123456789");
	return digits > 0 && colon[1 + digits] == '\0' ? colon + 1 : NULL;
}

static int
destination_endpoint(struct sink_destination *destination, const char *endpoint,
		     struct lull_error *error)
{
	const char *port = destination_port(endpoint), *host = endpoint;
	size_t len = port == NULL ? 0 : (size_t)(port - 1 - endpoint);
	bool brackets = len > 2 && endpoint[0] == '[' && endpoint[len - 1] == ']';

	if (port == NULL || strlen(port) > 5 || atoi(port) < 1 || atoi(port) > 65535)
		return lull_error_set(error, -EINVAL,
				      "%s: give HOST:PORT with a port from 1 to "
				      "65535",
				      destination->text);
	if (brackets) {
		host++;
		len -= 2;
	}
	if (!brackets && memchr(host, ':', len) != NULL)
		return lull_error_set(error, -EINVAL,
				      "%s: write the IPv6 address in brackets: [%.*s]:%s",
				      destination->text, (int)len, host, port);
	if (len >= sizeof(destination->host) || memchr(host, '/', len) != NULL)
		return lull_error_set(error, -EINVAL, "%s: no such host name", destination->text);
	memcpy(destination->host, host, len);
	destination->host[len] = '\0';
	memcpy(destination->port, port, strlen(port) + 1);
	return 0;
}

static int
destination_path(struct sink_destination *destination, const char *path, struct lull_error *error)
{
	size_t room = destination->way == SINK_UNIX ?
			      sizeof(((struct sockaddr_un *)NULL)->sun_path) :
			      sizeof(destination->path);

	if (path[0] == '\0')
		return lull_error_set(error, -EINVAL, "'%s': a path is missing", destination->text);
	if (strlen(path) >= room)
		return lull_error_set(error, -EINVAL, "%.*s...: path longer than %zu bytes",
				      LULL_ERROR_SHOWN, path, room - 1);
	memcpy(destination->path, path, strlen(path) + 1);
	return 0;
}

int
sink_destination_parse(const char *text, struct sink_destination *destination,
		       struct lull_error *error)
{
	memset(destination, 0, sizeof(*destination));
	destination->text = text;
	for (size_t i = 0; i < sizeof(sink_schemes) / sizeof(sink_schemes[0]); i++) {
		size_t len = strlen(sink_schemes[i].prefix);

		if (strncmp(text, sink_schemes[i].prefix, len) != 0)
			continue;
		destination->way = sink_schemes[i].way;
		return destination->way == SINK_UNIX ?
			       destination_path(destination, text + len, error) :
			       destination_endpoint(destination, text + len, error);
	}
	if (strcmp(text, "-") == 0) {
		destination->way = SINK_STDOUT;
		return 0;
	}
	destination->way = SINK_FILE;
	if (strstr(text, "://") != NULL)
		return lull_error_set(error, -EINVAL,
				      "%.*s: unknown scheme; use udp://, tcp:// or unix:",
				      LULL_ERROR_SHOWN, text);
	if (strchr(text, '/') == NULL && destination_port(text) != NULL)
		return lull_error_set(error, -EINVAL,
				      "%.*s: give udp://%.*s or tcp://%.*s (or ./%.*s for a file "
				      "of this name)",
				      LULL_ERROR_SHOWN, text, LULL_ERROR_SHOWN, text,
				      LULL_ERROR_SHOWN, text, LULL_ERROR_SHOWN, text);
	return destination_path(destination, text, error);
}
