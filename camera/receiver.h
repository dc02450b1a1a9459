/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Receiver: what stands behind a struct lull_receiver.
 *
 * Three parties: the application (get, put), the receiving thread (everything by packet), and who
 * reads counters. The lock is taken per image, never per packet.
 */
#ifndef LULL_CAMERA_RECEIVER_H
#define LULL_CAMERA_RECEIVER_H

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>

#include <lull/camera.h>
#include <lull/rest.h>

#include "frame/phase.h"
#include "host/loop.h"
#include "memory.h"
#include "net/backend.h"

#define CAMERA_BURST LULL_NET_BURST
#define CAMERA_BUFFERS_MAX 256
#define CAMERA_NAME_SIZE 32
#define CAMERA_BUFFERS 16
/* Of buffers whose size is learned, so much is made present at once. */
#define CAMERA_LEARNED_FILL_MAX (64ULL << 20)
#define CAMERA_FOLLOWED 32 /* frames whose arrival stamps are kept */

struct camera_control; /* control.h */

enum camera_image_state {
	CAMERA_IMAGE_AWAY,     /* its buffer is with the assembler, or free */
	CAMERA_IMAGE_READY,    /* waits to be fetched */
	CAMERA_IMAGE_OUT,      /* with the application */
	CAMERA_IMAGE_RETURNED, /* put, not yet supplied again */
};
struct camera_image {
	struct lull_camera_image image; /* first: what the application holds */
	struct camera_stream *stream;
	struct camera_image *next; /* in the list it is in */
	enum camera_image_state state;
	uint64_t order; /* among the ready ones of all streams */
	uint8_t *data;
	uint64_t bytes;           /* of room at data */
	struct camera_memory own; /* where it has grown; else it is in that of the stream */
	struct lull_frame_span *spans;
};
/* Oldest first. */
struct camera_queue {
	struct camera_image *first, **end;
	uint32_t count;
};

/* Arrival of a frame that is being received, by the clock of the packets. */
struct camera_arrival {
	uint64_t key;
	uint64_t first_ns, last_ns; /* 0: none */
	uint64_t since_ns;          /* its last packet came then or later, CLOCK_MONOTONIC */
	bool former;                /* of a sender that has begun anew since */
};

struct camera_stream {
	/* by packet: the receiving thread */
	const struct lull_frame_protocol *protocol;
	void *protocol_state;
	struct lull_assembler *assembler; /* NULL: the size of a picture is not known yet */
	uint32_t next;                    /* on the same port: index plus 1; 0: none */
	struct lull_net_claim claim;
	_Atomic uint32_t source_port; /* that the camera under control sends from; 0: any */
	bool source_open;             /* with control: the user takes any source */
	struct lull_camera_counters counters;
	uint64_t unsized, oversize; /* fragments before there was an assembler */
	uint32_t arrival_next;
	struct camera_arrival arrivals[CAMERA_FOLLOWED];
	struct lull_phase phase;
	uint64_t phase_key;
	uint64_t newest_key;
	uint64_t heard_ns;   /* its last packet, by the clock of the packets; 0: none */
	uint64_t seen_bytes; /* of the assembler, when phase was told last */
	bool busy;           /* a fragment came in this iteration */

	/* by frame */
	struct lull_camera_stream config;
	struct lull_assembler_config assembly;
	char name[CAMERA_NAME_SIZE], control_text[64];
	struct lull_receiver *receiver;
	uint32_t image_count;
	uint32_t away; /* images with the assembler */
	struct camera_image *images;
	struct camera_memory memory;      /* of the library's buffers, as they were at first */
	struct lull_frame_geometry sized; /* for which buffers are large enough, or may not be */
	struct lull_frame_span *spans;
	uint64_t replaced;
	uint64_t oversize_bytes;  /* largest picture that buffers may not become as large as */
	uint64_t period_first_ns; /* arrival of the frame before */
	uint64_t rows_key;        /* rows callback: told so far of this frame */
	uint32_t rows_reported;
	bool rows_begun;
	struct lull_histogram figures[LULL_CAMERA_GAP]; /* but FETCHED: under the lock */
	struct camera_control *control;

	/* under the lock */
	alignas(LULL_CACHE_LINE) struct camera_queue ready;
	struct camera_queue returned;
	atomic_uint returned_count;
	atomic_uint_fast64_t fetched, put, refused;
	atomic_bool stopped;      /* by fail-stop */
	atomic_bool resume_asked; /* see lull_receiver_resume() */
};

struct lull_receiver {
	const struct lull_net_backend *backend;
	void *backend_state;
	enum lull_camera_clock clock; /* of the back end's stamps */
	enum lull_camera_origin origin;
	struct lull_receiver_config config;
	char argument[256], program[64], governor[32];
	struct camera_stream *streams[LULL_CAMERA_STREAMS_MAX];
	uint32_t stream_count;
	uint32_t ethernet_first; /* index of the first stream without UDP, plus 1 */
	bool started, closed;

	/* the receiving thread */
	alignas(LULL_CACHE_LINE) uint64_t pkts;
	uint64_t bytes, unclaimed, errors, gaps_late;
	uint64_t iteration_ended_ns; /* 0: none, or a rest lies in between */
	uint64_t iteration_ns;       /* the last one began */
	uint64_t empty_ns;           /* the queue was empty then; 0: not known */
	uint64_t unclaimed_seen;     /* of the back end, by then */
	uint32_t behind_pkts;        /* packets that may have waited since before */
	uint64_t file_ns;            /* time of the capture */
	uint64_t due_ns;             /* of the iteration: something is due at the latest */
	struct lull_histogram gaps;
	pthread_t self; /* once there is a tid */
	bool iterating; /* asked by this thread alone */
	atomic_int tid, cpu;
	atomic_bool ended; /* no image will come any more */
	uint64_t started_ns, steal_begin_ns, cpu_begin_ns;
	uint64_t missed_end;                  /* when the back end was closed */
	uint64_t missed_seen, missed_seen_ns; /* by the last loss audit, and when */
	struct lull_net_exceptions exceptions_end;
	struct lull_net_damaged damaged_end;
	atomic_uint_fast64_t ended_ns, cpu_end_ns, steal_end_ns;

	/* hand-over */
	alignas(LULL_CACHE_LINE) pthread_mutex_t lock;
	uint64_t order;
	uint32_t ready_count;
	int event_fd;
	atomic_bool event_asked;
	_Atomic uint32_t events;  /* futex word */
	_Atomic uint32_t waiters; /* in lull_receiver_get() */
	_Atomic uint32_t readers; /* of statistics, in a call */
	atomic_bool woken;
	atomic_uint_fast64_t foreign; /* puts of what is no image */

	/*
	 * On the back end's state, controls, settings and whether there is a loop, for who reads
	 * statistics while they change. The receiving thread takes it only to count losses.
	 */
	pthread_mutex_t state_lock;

	/* its thread; with a loop of the application there is none of this */
	void *idle_memory;
	bool looped; /* the loop is set up */
	atomic_bool kicked;
	pthread_t thread;
	bool thread_runs;
	struct lull_loop loop;

	/* direct: who started it is the receiving thread */
	bool direct_runs;
	bool moved;        /* to another CPU */
	cpu_set_t cpus;    /* that it had before */
	uint64_t until_ns; /* no rest goes on for longer */
	uint32_t wanted;   /* whose image ends one; LULL_CAMERA_ANY */
	_Atomic uint32_t kickers;
	atomic_bool kickless; /* the back end is about to be closed */
};

/** Streams so far, for any thread. */
static inline uint32_t
camera_stream_count(const struct lull_receiver *receiver)
{
	return __atomic_load_n(&receiver->stream_count, __ATOMIC_ACQUIRE);
}

/* ---- streams: stream.c ---- */

/** Buffers, protocol and assembler; the assembler waits when the size is not known. */
int camera_stream_create(struct lull_receiver *receiver, const struct lull_camera_stream *config,
			 struct camera_stream **stream, struct lull_error *error);
void camera_stream_destroy(struct camera_stream *stream);
/** Pictures have @p bytes: make buffers and assembler. */
int camera_stream_size(struct camera_stream *stream, uint64_t bytes, struct lull_error *error);

/* ---- where pictures lie: buffers.c ---- */

/** Does the user allow buffers of so many bytes? Else the size is noted. */
bool camera_buffers_allow(struct camera_stream *stream, uint64_t bytes);
/** For all images; each has the size of the assembly. */
int camera_buffers_make(struct camera_stream *stream, struct lull_error *error);
void camera_buffers_free(struct camera_stream *stream);
/** Give the assembler the buffer of an image, as large as it has to be. Receiving thread. */
void camera_buffers_supply(struct camera_stream *stream, struct camera_image *image);
/** Larger pictures than before: replace buffers as they become free. False: not allowed. */
bool camera_buffers_grow(struct camera_stream *stream, uint64_t bytes);
/** Replace those that are free and too small. */
void camera_buffers_renew(struct camera_stream *stream);

/* ---- images: images.c ---- */

void camera_queue_init(struct camera_queue *queue);
/** A frame of @p stream is there: to the application. Receiving thread. */
void camera_images_give(struct lull_receiver *receiver, struct camera_stream *stream,
			const struct lull_frame *frame, const struct camera_arrival *arrival);
/** Take the oldest image that nobody fetched back for a newer one; false: there is none. */
bool camera_images_replace(struct lull_receiver *receiver, struct camera_stream *stream);
/** Are there images that nobody fetched? */
bool camera_images_waiting(struct lull_receiver *receiver, struct camera_stream *stream);
/** Supply the assembler with what came back. Receiving thread. */
void camera_images_take_back(struct lull_receiver *receiver, struct camera_stream *stream);
/** The stream took the last fragment before somebody says to go on. */
void camera_images_stop(struct lull_receiver *receiver, struct camera_stream *stream);
/** Has it, or has each stream with LULL_CAMERA_ANY? */
bool camera_images_stopped(const struct lull_receiver *receiver, uint32_t stream);
/** Wake all that wait, and make the descriptor readable: something has ended. */
void camera_images_end(struct lull_receiver *receiver);
/** Something has changed: to all that wait. */
void camera_images_wake(struct lull_receiver *receiver);
/** The oldest one of @p stream, or of any, for the application; NULL: there is none. */
struct lull_camera_image *camera_images_take(struct lull_receiver *receiver, uint32_t stream);
/** Images that the application holds. */
uint32_t camera_images_out(struct lull_receiver *receiver);

/* ---- packets of a stream: fragments.c; receiving thread ---- */

/** Of the receiving thread. */
struct camera_iteration {
	struct lull_receiver *receiver;
	uint64_t now_ns;   /* CLOCK_MONOTONIC */
	uint64_t since_ns; /* its packets came then or later */
	uint64_t time_ns;  /* of the assemblers: now_ns, or the time of a capture */
	uint32_t count;    /* packets fetched */
};
/** Is @p packet for this stream? False: ask the next one on its port. */
bool camera_fragments_offer(struct camera_iteration *iteration, struct camera_stream *stream,
			    const struct lull_net_packet *packet);
/** Count a packet that brings no fragment. */
void camera_fragments_verdict(struct camera_stream *stream, enum lull_frame_verdict verdict);
/** Give the frames that ended to the application. */
void camera_fragments_give(struct camera_iteration *iteration, struct camera_stream *stream);

/* ---- statistics: statistics.c ---- */

/** Around whatever reads, with the lock: a close waits for it. */
void camera_read_begin(struct lull_receiver *receiver);
void camera_read_end(struct lull_receiver *receiver);

/* ---- receiving: receive.c, thread.c ---- */

/** One iteration. Returns the packets; *@p due_ns: when something is due at the latest. */
uint32_t camera_receive(struct lull_receiver *receiver, uint64_t now_ns, uint64_t *due_ns);
/** No more packets will come: give what is there. */
void camera_receive_end(struct lull_receiver *receiver);
/** The quiet time of all streams: see struct lull_iteration. */
uint64_t camera_quiet_until_ns(const struct lull_receiver *receiver, uint64_t now_ns);
/** Rows that became whole. */
void camera_rows_report(struct camera_stream *stream, uint64_t key, const uint8_t *data,
			uint32_t rows, bool end);
int camera_thread_start(struct lull_receiver *receiver, struct lull_error *error);
void camera_thread_stop(struct lull_receiver *receiver);
/** Is this the receiving thread, within an iteration: in a callback? */
bool camera_in_callback(const struct lull_receiver *receiver);
/** With config direct: is this the thread that receives? */
bool camera_direct_is_here(const struct lull_receiver *receiver);
/**
 * One iteration with config direct, and its rest, which ends at @p until_ns or when there is an
 * image of @p stream. Returns the clock.
 */
uint64_t camera_direct_iterate(struct lull_receiver *receiver, uint32_t stream, uint64_t now_ns,
			       uint64_t until_ns);
/** End its rest, one that is under way or about to begin. Any thread; signal handlers too. */
void camera_direct_kick(struct lull_receiver *receiver);
/** Free what the start made. */
void camera_thread_free(struct lull_receiver *receiver);
/** The calling thread receives from here on. */
void camera_thread_begin(struct lull_receiver *receiver);
void camera_thread_end(struct lull_receiver *receiver);
/** See lull_receiver_change(). */
int camera_thread_change(struct lull_receiver *receiver, const struct lull_idle_governor *governor,
			 const struct lull_idle_limits *limits);

#endif
