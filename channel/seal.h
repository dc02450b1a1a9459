/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Seal: the securities of a bundle that have secrets. Their argument is a struct channel_keys,
 * which outlives the bundle and does not change meanwhile.
 *
 * Handshake: channel/noise.h with the first key, answered with each; the name of the security is
 * bound to it. Packets: AES-256-GCM with a key per direction and generation. A nonce is the number
 * of the packet, the path byte and the generation; the bundle never gives one twice. Generations
 * follow from each other by HKDF in one direction only. When a packet of the next generation opens,
 * that one becomes the present and the next one is made ready: what cannot be opened costs nothing
 * more.
 *
 * Threads: those of the bundle.
 * Memory:  the state of an epoch points to contexts of libcrypto, made with the answer and freed by
 *          forget or the next answer.
 */
#ifndef LULL_CHANNEL_SEAL_H
#define LULL_CHANNEL_SEAL_H

#include <lull/bundle.h>

#include "channel/keys.h"

#define CHANNEL_PROLOGUE_BYTES_MAX 256

/** Encrypted and authenticated; the header is authenticated alone. */
extern const struct lull_bundle_security lull_channel_sealed_security;
/** Authenticated: anyone may read the packets of an epoch. The handshake is encrypted. */
extern const struct lull_bundle_security lull_channel_signed_security;

#endif
