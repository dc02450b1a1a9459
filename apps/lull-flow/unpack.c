/* SPDX-License-Identifier: BSD-3-Clause */
#include "unpack.h"

#include <stdlib.h>
#include <string.h>

#ifdef LULL_FLOW_ZLIB
#include <zlib.h>
#endif
#ifdef LULL_FLOW_ZSTD
#include <zstd.h>
#endif

#define GZIP_BITS (15 + 16) /* the largest window, with gzip's header */

struct flow_unpacker {
	enum flow_unpack_method method;
	bool whole;
#ifdef LULL_FLOW_ZLIB
	z_stream gzip;
#endif
#ifdef LULL_FLOW_ZSTD
	ZSTD_DStream *zstd;
#endif
};

enum flow_unpack_method
flow_unpack_method(const uint8_t *first, size_t count)
{
	static const uint8_t zstd[4] = { 0x28, 0xb5, 0x2f, 0xfd };

	if (count >= 2 && first[0] == 0x1f && first[1] == 0x8b)
		return FLOW_UNPACK_GZIP;
	if (count >= sizeof(zstd) && memcmp(first, zstd, sizeof(zstd)) == 0)
		return FLOW_UNPACK_ZSTD;
	return FLOW_UNPACK_NONE;
}

bool
flow_unpack_whole(const struct flow_unpacker *unpacker)
{
	return unpacker->whole;
}

/* ---- gzip ---- */

#ifdef LULL_FLOW_ZLIB
static const char *
gzip_open(struct flow_unpacker *unpacker)
{
	return inflateInit2(&unpacker->gzip, GZIP_BITS) == Z_OK ? NULL : "no memory to unpack it";
}

/* Members stand behind each other; what else stands there is passed over, as gzip(1) does. */
static const char *
gzip_unpack(struct flow_unpacker *unpacker, const uint8_t *from, size_t from_len, size_t *from_at,
	    uint8_t *to, size_t to_room, size_t *to_len)
{
	z_stream *gzip = &unpacker->gzip;
	int rc;

	if (unpacker->whole) {
		if (*from_at == from_len)
			return NULL;
		if (from[*from_at] != 0x1f) {
			*from_at = from_len;
			return NULL;
		}
		inflateReset(gzip);
		unpacker->whole = false;
	}
	gzip->next_in = (z_const Bytef *)(uintptr_t)(from + *from_at);
	gzip->avail_in = (uInt)(from_len - *from_at);
	gzip->next_out = to + *to_len;
	gzip->avail_out = (uInt)(to_room - *to_len);
	rc = inflate(gzip, Z_NO_FLUSH);
	*from_at = from_len - gzip->avail_in;
	*to_len = to_room - gzip->avail_out;
	unpacker->whole = rc == Z_STREAM_END;
	return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR ? NULL :
								       "compressed data are broken";
}

static void
gzip_close(struct flow_unpacker *unpacker)
{
	inflateEnd(&unpacker->gzip);
}
#else
static const char *
gzip_open(struct flow_unpacker *unpacker)
{
	(void)unpacker;
	return "compressed by gzip, and lull was built without zlib";
}
#define gzip_unpack(...) "built without zlib"
#define gzip_close(unpacker) (void)(unpacker)
#endif

/* ---- zstd ---- */

#ifdef LULL_FLOW_ZSTD
static const char *
zstd_open(struct flow_unpacker *unpacker)
{
	unpacker->zstd = ZSTD_createDStream();
	return unpacker->zstd != NULL ? NULL : "no memory to unpack it";
}

static const char *
zstd_unpack(struct flow_unpacker *unpacker, const uint8_t *from, size_t from_len, size_t *from_at,
	    uint8_t *to, size_t to_room, size_t *to_len)
{
	ZSTD_inBuffer in = { from, from_len, *from_at };
	ZSTD_outBuffer out = { to, to_room, *to_len };
	size_t rc = ZSTD_decompressStream(unpacker->zstd, &out, &in);

	/* Nothing taken and nothing given says nothing about the end. */
	if (in.pos != *from_at || out.pos != *to_len)
		unpacker->whole = rc == 0;
	*from_at = in.pos;
	*to_len = out.pos;
	return ZSTD_isError(rc) ? "compressed data are broken" : NULL;
}

static void
zstd_close(struct flow_unpacker *unpacker)
{
	ZSTD_freeDStream(unpacker->zstd);
}
#else
static const char *
zstd_open(struct flow_unpacker *unpacker)
{
	(void)unpacker;
	return "compressed by zstd, and lull was built without libzstd";
}
#define zstd_unpack(...) "built without libzstd"
#define zstd_close(unpacker) (void)(unpacker)
#endif

/* ---- either ---- */

struct flow_unpacker *
flow_unpack_open(enum flow_unpack_method method, const char **reason)
{
	struct flow_unpacker *unpacker = calloc(1, sizeof(*unpacker));

	if (unpacker == NULL) {
		*reason = "no memory to unpack it";
		return NULL;
	}
	unpacker->method = method;
	*reason = method == FLOW_UNPACK_GZIP ? gzip_open(unpacker) : zstd_open(unpacker);
	if (*reason == NULL)
		return unpacker;
	free(unpacker);
	return NULL;
}

const char *
flow_unpack(struct flow_unpacker *unpacker, const uint8_t *from, size_t from_len, size_t *from_at,
	    uint8_t *to, size_t to_room, size_t *to_len)
{
	if (unpacker->method == FLOW_UNPACK_GZIP)
		return gzip_unpack(unpacker, from, from_len, from_at, to, to_room, to_len);
	return zstd_unpack(unpacker, from, from_len, from_at, to, to_room, to_len);
}

void
flow_unpack_close(struct flow_unpacker *unpacker)
{
	if (unpacker == NULL)
		return;
	if (unpacker->method == FLOW_UNPACK_GZIP)
		gzip_close(unpacker);
	else
		zstd_close(unpacker);
	free(unpacker);
}
