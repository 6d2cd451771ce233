/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A model on this machine, for frames that no worker computes: loaded when it is first needed, in
 * slremote's thread for results.
 */
#pragma once

#include "pipelines/remote/window.h"

typedef struct _SlRemoteLocal SlRemoteLocal;

/** sl_remote_local_new: loads the model @path. NULL with @error set: it cannot be loaded, or its
 * contract is another than @contract (nullable: any will do), whose hash is @hash: the message has
 * expected and got. */
SlRemoteLocal *sl_remote_local_new (const char *path, const SlContract *contract, const char *hash,
                                    GError **error);
/** sl_remote_local_contract: (transfer none). @hash: (out) */
SlContract *sl_remote_local_contract (const SlRemoteLocal *local, char hash[SL_REMOTE_HASH]);
void sl_remote_local_free (SlRemoteLocal *local);
/** sl_remote_local_suits: whether it is for the contract @hash. */
gboolean sl_remote_local_suits (const SlRemoteLocal *local, const char *hash);
/** sl_remote_local_run: computes @entry's request into @outputs. FALSE with @error set. */
gboolean sl_remote_local_run (SlRemoteLocal *local, const SlRemoteEntry *entry,
                              void *const *outputs, GError **error);
