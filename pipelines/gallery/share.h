/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A gallery shared with other machines through an MQTT broker. A thread has a connection of its own
 * to the file: what other machines say goes into the file, and what is new in the file goes to
 * them. Without a broker all waits in the file.
 */
#pragma once

#include "pipelines/gallery/shared.h"
#include "pipelines/gallery/use.h"

typedef struct _SlIdentityShare SlIdentityShare;

/** sl_identity_share_new: @use->share is set; @hello: what the file says to other machines. NULL
 * with @error set. */
SlIdentityShare *sl_identity_share_new (const SlIdentityUse *use, const SlIdentityHello *hello,
                                        GError **error);
/** sl_identity_share_free: NULL is legal. */
void sl_identity_share_free (SlIdentityShare *share);
/** sl_identity_share_stats: adds sent, received and refused to @stats. NULL is legal. */
void sl_identity_share_stats (SlIdentityShare *share, SlIdentityStats *stats);
/** sl_identity_share_trouble: (transfer full) (nullable): once: why it is not shared. NULL is
 * legal. */
char *sl_identity_share_trouble (SlIdentityShare *share);
