/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A model's contract as the text that a worker leaves at the broker, for cameras that have no model file. docs/remote.md describes it.
 */
#ifndef SL_REMOTE_CONTRACT_JSON_H
#define SL_REMOTE_CONTRACT_JSON_H

#include "models/contract.h"

G_BEGIN_DECLS

/** Version of the announcement and of the messages. */
#define SL_REMOTE_VERSION 1
/** Bytes of an announcement at most. */
#define SL_REMOTE_MAX_CONTRACT ((gsize) 32 << 20)
/** Bytes of a contract's hash as text, with the zero. */
#define SL_REMOTE_HASH 17

/** What an announcement calls each SlValueKind; NULL-terminated. */
extern const char *const sl_remote_value_names[];

/** sl_remote_contract_write: (transfer full): the announcement of @contract: its version, hash, the model's file name, @encodings (bits, 1 <<
 *  SlRemoteEncoding) that may be asked in, and all that the contract says. @hash: (out): 16 hexadecimal digits; the same for two models that want and give the same, whatever their files are called */
GBytes *sl_remote_contract_write (const SlContract *contract, guint encodings, char hash[SL_REMOTE_HASH]);

/**
 * sl_remote_contract_read: (transfer full): the contract of an announcement that anyone may have made.
 * @data, @size: its bytes
 * @origin: where it was found, a topic, for messages
 * @hash: (out): as above
 * @encodings: (out) (optional): those that it names and this version knows, "none" always among them
 *
 * Returns: NULL with @error set, SL_ERROR_CONTRACT, when it is none, is of another version, is damaged (the hash is another), or says what no
 *   contract can say: the message names the member, what was expected and what was got
 */
SlContract *sl_remote_contract_read (const void *data, gsize size, const char *origin, char hash[SL_REMOTE_HASH], guint *encodings,
                                     GError **error);

/** sl_remote_contract_hash: the hash alone. */
void sl_remote_contract_hash (const SlContract *contract, char hash[SL_REMOTE_HASH]);

G_END_DECLS

#endif
