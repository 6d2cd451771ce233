/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The announcement: a model's contract as JSON text. A worker publishes it as a retained message,
 * for cameras without a model file. See docs/remote.md.
 */
#pragma once

#include "models/contract.h"

/** Version of the announcement and of the messages. */
#define SL_REMOTE_VERSION 1
/** Most bytes of an announcement. */
#define SL_REMOTE_MAX_CONTRACT ((gsize) 32 << 20)
/** Bytes of a contract's hash as text, with the NUL. */
#define SL_REMOTE_HASH 17

/** The name of each SlValueKind in an announcement; NULL-terminated. */
extern const char *const sl_remote_value_names[];

/** sl_remote_contract_write: (transfer full): the announcement of @contract: its version, its hash,
 * the model's file name, the supported
 *  @encodings of requests (bits, 1 << SlRemoteEncoding), and all fields of the contract. @hash:
 * (out): 16 hexadecimal digits. Two models with equal inputs and outputs have the same hash,
 * whatever the names of their files. */
GBytes *sl_remote_contract_write (const SlContract *contract, guint encodings,
                                  char hash[SL_REMOTE_HASH]);

/**
 * sl_remote_contract_read: (transfer full): reads the contract from an untrusted announcement.
 * @data, @size: its bytes
 * @origin: its topic, for messages
 * @hash: (out): as above
 * @encodings: (out) (optional): the named encodings that this version supports; "none" is always
 * one of them
 *
 * Returns: NULL with @error set, SL_ERROR_CONTRACT, when it is not an announcement, has another
 * version, is damaged (wrong hash), or holds an
 *   impossible contract. The message names the member, what was expected and what was got
 */
SlContract *sl_remote_contract_read (const void *data, gsize size, const char *origin,
                                     char hash[SL_REMOTE_HASH], guint *encodings, GError **error);

/** sl_remote_contract_hash: only computes the hash. */
void sl_remote_contract_hash (const SlContract *contract, char hash[SL_REMOTE_HASH]);
