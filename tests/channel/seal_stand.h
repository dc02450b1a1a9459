/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Two sides that agree on keys, for the tests of channel/seal.h.
 */
#ifndef LULL_TEST_SEAL_STAND_H
#define LULL_TEST_SEAL_STAND_H

#include "channel/seal.h"

#define HEADER 28
#define TAG 16
#define LONGEST 1500

extern const struct lull_bundle_security *const both[2]; /* sealed and signed */
extern const uint8_t prologue[23], question[21], reply[19];

struct side {
	const struct lull_bundle_security *security;
	struct channel_keys keys;
	uint8_t *handshake, *epoch; /* of just the size that the table says */
	uint8_t message[256], payload[256];
	int len;
};

/** With a key whose bytes are all @p secret. */
void side_init(struct side *side, const struct lull_bundle_security *security, uint8_t secret);
void side_done(struct side *side);
void say_hello(struct side *side);
/** As hello_read() and answer_read() return. */
int hear_hello(struct side *side, const struct side *from);
void say_answer(struct side *side);
int hear_answer(struct side *side, const struct side *from);
void agree(const struct lull_bundle_security *security, struct side *asks, struct side *answers);
void done(struct side *asks, struct side *answers);
void pattern(uint8_t *packet, uint32_t len);
/** Write the pattern and seal it. */
void seal(struct side *side, const struct lull_bundle_nonce *nonce, uint8_t *packet, uint32_t len);
/** In a copy of just its size; what comes out has to be the pattern. */
bool opens(struct side *side, const struct lull_bundle_nonce *nonce, const uint8_t *packet,
	   uint32_t len);

#endif
