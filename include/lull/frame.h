/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frame: camera images put together from packets, whatever the protocol.
 *
 * Two halves. A *protocol* (core/frame, one file each, listed in protocols.c) reads one packet
 * into a struct lull_frame_fragment: which frame, which byte ranges of the picture, is it the last.
 * The *assembler* puts fragments of one stream into buffers and gives frames back: complete, or
 * partial with the exact list of what is missing, never later than the deadline.
 *
 * A frame is complete when all its bytes are there; sequence numbers decide nothing. One whose
 * geometry is presumed, since the packet that tells it is lost, has to come to its end as well.
 * Several frames may be open at once; fragments of a frame that was given lately are counted late,
 * they do not open it again. A sender that starts anew is followed from its first packet where its
 * time stamp or silence before it tells, else within two frames.
 *
 * Frames of packets that the application receives itself:
 *
 * @code
 * #include <lull/frame.h>
 *
 * void show(const struct lull_frame *frame);
 *
 * void
 * take_packet(struct lull_assembler *assembler, const struct lull_frame_protocol *protocol,
 *             void *state, const uint8_t *packet, size_t len_bytes, uint64_t now_ns)
 * {
 *         struct lull_frame_fragment fragment;
 *         struct lull_frame frame;
 *
 *         do {
 *                 if (protocol->parse(state, packet, len_bytes, &fragment) != LULL_FRAME_FRAGMENT)
 *                         break;
 *                 lull_assembler_add(assembler, now_ns, &fragment);
 *         } while (fragment.flags & LULL_FRAME_MORE);
 *         while (lull_assembler_next(assembler, now_ns, &frame)) {
 *                 show(&frame);
 *                 lull_assembler_supply(assembler, frame.data, frame.buffer_user);
 *         }
 * }
 * @endcode
 *
 * Threads: an assembler belongs to one loop, whose thread alone calls its functions; any thread may
 *          read its counters.
 * Memory:  the caller's: lull_assembler_size() bytes, and the buffers it supplies.
 */
#ifndef LULL_FRAME_H
#define LULL_FRAME_H

#include "base.h"
#include "pixel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- protocols ---- */

#define LULL_FRAME_RANGES_MAX 32 /* of a fragment */

/** What a packet is to its frame. */
struct lull_frame_range {
	uint64_t offset;     /**< in the picture */
	const uint8_t *data; /**< borrowed from the packet */
	uint32_t bytes;      /**< at data */
};
#define LULL_FRAME_START 1u    /**< the first packet of a frame (leader, frame start) */
#define LULL_FRAME_END 2u      /**< no packet with a higher number follows (marker, trailer) */
#define LULL_FRAME_GEOMETRY 4u /**< geometry is filled in */
#define LULL_FRAME_RESENT 8u   /**< an answer to a request for it */
#define LULL_FRAME_GONE 16u    /**< the sender does not have the packet any more */
#define LULL_FRAME_DAMAGED 32u /**< the sender says that the content is wrong */
#define LULL_FRAME_TIMED 64u   /**< device_time is filled in */
#define LULL_FRAME_MORE 128u   /**< the packet has more fragments: parse it once more, at once */
#define LULL_FRAME_WIDE 256u   /**< GVSP: the key is an id of 64 bits, as the sender counts */
/** The frame has not told its geometry so far: it is presumed to be that of the one before. */
#define LULL_FRAME_PRESUMED 512u
#define LULL_FRAME_UNSIZED 1024u /**< what was presumed is wrong: nobody can place the frame */
#define LULL_FRAME_MOVED 2048u   /**< bytes that came before lie elsewhere: all is missing again */
/** One packet as its protocol reads it. */
struct lull_frame_fragment {
	uint64_t key;         /**< which frame: RTP time, block id, frame counter, unwrapped */
	uint64_t device_time; /**< of the sender's clock, in its unit */
	uint64_t packet;      /**< number within the stream or frame, for resend and reordering */
	uint32_t flags;       /**< LULL_FRAME_START ... */
	uint32_t range_count; /**< ranges in use */
	struct lull_frame_range
		ranges[LULL_FRAME_RANGES_MAX]; /**< parts of the picture that it carries */
	struct lull_frame_geometry geometry;   /**< with LULL_FRAME_GEOMETRY */
};

/** What became of a packet. */
enum lull_frame_verdict {
	LULL_FRAME_FRAGMENT,  /**< fragment is filled in */
	LULL_FRAME_NOTHING,   /**< well formed, carries nothing for a frame (line start, segment) */
	LULL_FRAME_FOREIGN,   /**< not this protocol, or another stream's */
	LULL_FRAME_MALFORMED, /**< contradicts itself: nothing of it is used */
	LULL_FRAME_OTHER,     /**< of this protocol, in a form that is not read here */
	LULL_FRAME_UNNAMED,   /**< its pixels are not described: set geometry.pixel of the config */
	LULL_FRAME_VERDICT_COUNT /**< how many there are */
};
/**
 * Name a verdict, for messages.
 * @return "fragment", "nothing", "foreign", "malformed", "other" or "unnamed"; "?" for any other
 *         value; static
 * Threads: any.
 */
const char *lull_frame_verdict_name(enum lull_frame_verdict verdict);

/** What must be known beforehand; zero where the protocol tells it itself. */
struct lull_frame_protocol_config {
	struct lull_frame_geometry geometry; /**< RFC 4175: required */
	bool interlaced;                     /**< RFC 4175: two fields make a frame */
	bool field_rows;       /**< lines are counted within the field (ST 2110), not the frame */
	uint32_t packet_bytes; /**< GVSP: IP length of packets (SCPS); 0: learned */
	uint64_t
		stream_id; /**< RVF: stream id; CMP: device << 8 | stream; 0: any, the first seen */
	uint8_t virtual_channel,
		data_type; /**< CMP: of the CSI-2 packets; data_type 0: any image */
};
/** How packets of one kind are read. */
struct lull_frame_protocol {
	const char *name;    /**< "rfc4175", "gvsp", "cmp", "rvf" */
	const char *summary; /**< one line */
	bool ethernet; /**< packets begin with the Ethernet payload, else with the UDP payload */
	uint16_t ether_type; /**< with ethernet */
	size_t state_size;   /**< zeroed, 8-aligned */
	/** 0 or -EINVAL: a member of the config is missing or out of range. */
	int (*init)(void *state, const struct lull_frame_protocol_config *config);
	/**
	 * Read one packet in constant time for its length; @p fragment only for
	 * LULL_FRAME_FRAGMENT.
	 */
	enum lull_frame_verdict (*parse)(void *state, const uint8_t *packet, size_t len_bytes,
					 struct lull_frame_fragment *fragment);
	/**
	 * The sender was silent before the next packet, see lull_assembler_quiet(): what says that
	 * it began anew needs no further proof. @p gone: for longer than from frame to frame, too,
	 * so that another sender may take its place. NULL: it makes no difference.
	 */
	void (*quiet)(void *state, bool gone);
};
/** Every protocol, ended by NULL. */
extern const struct lull_frame_protocol *const lull_frame_protocols[];
/**
 * Find a protocol by its name.
 * @param name  "rfc4175", "gvsp", "cmp" or "rvf"
 * @return the protocol, static; NULL: none has this name
 * Threads: any.
 */
const struct lull_frame_protocol *lull_frame_protocol_find(const char *name);

/* ---- assembler ---- */

/** Why a frame was given. */
enum lull_frame_reason {
	LULL_FRAME_COMPLETE,    /**< all bytes are there */
	LULL_FRAME_DEADLINE,    /**< it had its time */
	LULL_FRAME_SUPERSEDED,  /**< newer frames took its place */
	LULL_FRAME_RESTART,     /**< the sender began anew */
	LULL_FRAME_FLUSH,       /**< the end was asked for */
	LULL_FRAME_REASON_COUNT /**< how many there are */
};
/**
 * Name a reason, for messages and JSON.
 * @return "complete", "deadline", "superseded", "restart" or "flush"; "unknown" for any other
 *         value; static
 * Threads: any.
 */
const char *lull_frame_reason_name(enum lull_frame_reason reason);

/** In which order frames are given. */
enum lull_frame_order {
	LULL_FRAME_ORDER_FRAME, /**< as the sender made them: a complete one waits for older ones */
	LULL_FRAME_ORDER_ARRIVAL /**< as they become complete */
};
/** What to do when all buffers are with the application. */
enum lull_frame_policy {
	LULL_FRAME_DROP_NEWEST, /**< a frame without a buffer is counted and not kept */
	LULL_FRAME_NEWEST_WINS, /**< take back the oldest one given but not fetched */
	LULL_FRAME_FAIL_STOP    /**< stop taking fragments until somebody says to go on */
};

/** A part of a picture. */
struct lull_frame_span {
	uint64_t offset, bytes; /**< in the picture */
};
/** Times of one clock each; 0: not known. */
struct lull_frame_stamps {
	uint64_t device_time;       /**< the sender's, in its unit */
	uint64_t first_ns, last_ns; /**< arrival of its first and of its last packet */
	uint64_t done_ns;           /**< when it was given */
};
/** What a frame was made of. */
struct lull_frame_counts {
	uint32_t pkts;       /**< fragments used, all or in part */
	uint32_t duplicates; /**< fragments that brought nothing new */
	uint32_t reordered;  /**< fragments with a number below one seen before */
	uint32_t resent;     /**< fragments sent again on request */
};
/** A frame as it is given. */
struct lull_frame {
	uint64_t key, number;          /**< number: 0, 1, 2 ... of the frames given */
	enum lull_frame_reason reason; /**< why it was given */
	bool damaged;                  /**< the sender says so */
	bool presumed; /**< geometry is that of the frame before: the packet with its own is lost */
	uint8_t *data; /**< bytes of the picture; what is missing has its old content */
	uint64_t bytes;                      /**< of the picture */
	uint64_t bytes_there;                /**< of these, bytes that came */
	struct lull_frame_geometry geometry; /**< of the picture */
	struct lull_frame_stamps stamps;     /**< when it came */
	struct lull_frame_counts counts;     /**< of fragments */
	uint32_t missing_count;              /**< spans below, in order, none touching another */
	bool missing_more; /**< more than fit: spans also name bytes that are there, or padding */
	const struct lull_frame_span *missing; /**< what did not come */
	void *buffer_user;                     /**< of lull_assembler_supply() */
};

/** Zero means the default in brackets. */
struct lull_assembler_config {
	uint32_t open_max;     /**< frames open at once, 1..16 [4] */
	uint32_t buffer_max;   /**< buffers that may be supplied at once, 2..256 [16] */
	uint64_t buffer_bytes; /**< of each; larger pictures are counted and not kept. Required */
	uint32_t spans_max;    /**< holes kept apart per frame, 16..65536 [1024] */
	uint64_t deadline_ns;  /**< from a frame's first packet to its end at the latest; 0: none */
	uint64_t silence_ns;   /**< a frame without new packets for so long is over; 0: off */
	enum lull_frame_order order;         /**< [frame] */
	enum lull_frame_policy policy;       /**< [drop newest] */
	struct lull_frame_geometry geometry; /**< until fragments tell; bytes 0: wait for them */
};
/**
 * Check a configuration. A member that is zero stands for its default.
 * @param error  gets the first member that is out of range; may be NULL
 * @return 0; -EINVAL: a member is out of range
 * Threads: any.
 */
int lull_assembler_config_check(const struct lull_assembler_config *config,
				struct lull_range *error);

/** fragments = used + duplicates + late + no_buffer + oversize + outside + unsized + stopped. */
struct lull_assembler_counters {
	uint64_t fragments, used, duplicates, late, reordered, resent, gone;
	uint64_t no_buffer;                       /**< of frames without a buffer */
	uint64_t oversize;                        /**< of pictures larger than a buffer */
	uint64_t outside;                         /**< ranges beyond the picture: malformed */
	uint64_t unsized;                         /**< of frames whose geometry is not known */
	uint64_t stopped;                         /**< after fail-stop */
	uint64_t bytes;                           /**< new ones */
	uint64_t frames[LULL_FRAME_REASON_COUNT]; /**< given, by reason */
	uint64_t frames_dropped;                  /**< for want of a buffer */
	uint64_t frames_replaced;                 /**< newest wins */
	uint64_t restarts;                        /**< times the sender began anew */
	uint64_t spans_full;                      /**< frames whose holes did not fit */
	uint64_t frames_oversize;                 /**< dropped: larger than a buffer */
	uint64_t frames_unsized; /**< dropped: they had another size than was presumed */
};
/**
 * Name, unit and meaning of each member of struct lull_assembler_counters, ended by a NULL name.
 */
extern const struct lull_counter_info lull_assembler_counter_table[];

struct lull_assembler; /* opaque */
/**
 * Tell how much memory an assembler of this configuration needs.
 * @param config  must pass its check
 * @return bytes, without the buffers for pictures; align them to LULL_CACHE_LINE
 * Threads: any.
 */
size_t lull_assembler_size(const struct lull_assembler_config *config);
/**
 * Set up an assembler in memory of the caller. It lives until the caller frees that memory. It has
 * no buffers yet: see lull_assembler_supply().
 * @param memory     lull_assembler_size() bytes, aligned to LULL_CACHE_LINE
 * @param config     copied
 * @param assembler  out: the object; it is at @p memory
 * @return 0; -EINVAL: a member of @p config is out of range
 */
int lull_assembler_init(void *memory, const struct lull_assembler_config *config,
			struct lull_assembler **assembler);
/**
 * Lend a buffer until it comes back in a frame, or by lull_assembler_reclaim().
 * @param data  config buffer_bytes bytes, or as many as lull_assembler_resize() said last; not NULL
 * @param user  anything; comes back as frame->buffer_user
 * @return 0; -ENOSPC: the assembler has config buffer_max buffers
 */
int lull_assembler_supply(struct lull_assembler *assembler, uint8_t *data, void *user);
/**
 * Have buffers of another size from now on. Frames that are open stay where they are; buffers that
 * have become too small come back by lull_assembler_reclaim() as soon as no frame is in them.
 * @param buffer_bytes  of each that is supplied from now on
 * @return 0; -EINVAL: 0, or more than LULL_FRAME_BYTES_MAX
 */
int lull_assembler_resize(struct lull_assembler *assembler, uint64_t buffer_bytes);
/**
 * Take a buffer back that is too small, to supply a larger one in its place.
 * @param data  out: as it was supplied
 * @param user  out: as it was supplied
 * @return false: there is none
 */
bool lull_assembler_reclaim(struct lull_assembler *assembler, uint8_t **data, void **user);
/**
 * Count the buffers that no frame is in.
 * @return 0..256
 */
uint32_t lull_assembler_buffers(const struct lull_assembler *assembler);
/**
 * Take a fragment and copy its bytes. Fetch frames that end by it with lull_assembler_next().
 * @param now_ns  arrival of the packet; never goes back
 * @param fragment   what lull_frame_protocol.parse() filled in; not kept
 */
void lull_assembler_add(struct lull_assembler *assembler, uint64_t now_ns,
			const struct lull_frame_fragment *fragment);
/**
 * Say that the sender was silent for so long that nothing sent before can still come: longer than
 * packets are under way. Keys that begin again are then those of new frames, from their first
 * packet on; the rest of a frame still finds it. It holds until the next fragment that was not
 * asked for.
 */
void lull_assembler_quiet(struct lull_assembler *assembler);
/**
 * End the frames whose time is over. lull_assembler_add() and lull_assembler_next() do this too;
 * call it when no packet comes.
 * @param now_ns  clock now
 */
void lull_assembler_expire(struct lull_assembler *assembler, uint64_t now_ns);
/**
 * Change config deadline_ns and silence_ns of a running assembler.
 * @param deadline_ns  from a frame's first packet to its end at the latest; 0: none
 * @param silence_ns   a frame without new packets for so long is over; 0: off
 */
void lull_assembler_timeouts(struct lull_assembler *assembler, uint64_t deadline_ns,
			     uint64_t silence_ns);
/**
 * Tell when lull_assembler_expire() has something to do.
 * @return the time, on the clock of now_ns; UINT64_MAX: never
 */
uint64_t lull_assembler_deadline_ns(const struct lull_assembler *assembler);
/**
 * End every open frame, with reason LULL_FRAME_FLUSH.
 * @param now_ns  clock now
 */
void lull_assembler_flush(struct lull_assembler *assembler, uint64_t now_ns);
/**
 * Fetch the next frame that ended. Its buffer is the caller's again.
 * @param now_ns  clock now
 * @param frame   out; what frame->missing points at is valid until the next call of this function
 * @return false: there is none
 */
bool lull_assembler_next(struct lull_assembler *assembler, uint64_t now_ns,
			 struct lull_frame *frame);
/**
 * Ask whether the assembler has stopped for want of buffers (LULL_FRAME_FAIL_STOP).
 * lull_assembler_resume() ends that, and nothing else.
 * @return true: it takes no fragments
 */
bool lull_assembler_stopped(const struct lull_assembler *assembler);
/** Take fragments again after LULL_FRAME_FAIL_STOP. Supply buffers before. */
void lull_assembler_resume(struct lull_assembler *assembler);
/**
 * Count the rows that are whole from the top of the newest open frame, for who reads pictures
 * before they are complete.
 * @param key  out: which frame; untouched when none is open
 * @return rows, 0..height; 0: none is open, or its first row is not whole
 */
uint32_t lull_assembler_rows(const struct lull_assembler *assembler, uint64_t *key);
/**
 * Find the buffer in which an open frame is put together.
 * @param key  which frame
 * @return its first byte, until the frame is given; NULL: it is not open
 */
const uint8_t *lull_assembler_picture(const struct lull_assembler *assembler, uint64_t key);
/**
 * List the holes of an open frame, for requests to send again. Only holes below its highest byte so
 * far count, or all when its END came.
 * @param key        which frame
 * @param spans      out, in order
 * @param count_max  room in @p spans
 * @return how many are in @p spans; 0: none, or the frame is not open
 */
uint32_t lull_assembler_holes(const struct lull_assembler *assembler, uint64_t key,
			      struct lull_frame_span *spans, uint32_t count_max);
/**
 * Give access to the counters. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the assembler
 * Threads: any.
 */
const struct lull_assembler_counters *lull_assembler_counters(
	const struct lull_assembler *assembler);
/**
 * Sum up the frames that were given.
 * @param counters  a copy of the counters
 * @param partial   out: those of them that are not whole
 * @return how many frames, whole and partial
 * Threads: any.
 */
uint64_t lull_assembler_frames(const struct lull_assembler_counters *counters, uint64_t *partial);

#ifdef __cplusplus
}
#endif

#endif
