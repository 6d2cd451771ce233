/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Other runtimes for `sightline bench model --compare`: each runs in a process of its own, if the
 * user has it, and is asked for runs between those of ours.
 */
#pragma once

#include <glib.h>

typedef struct _SlPeer SlPeer;

typedef enum
{
  SL_PEER_TFLITE,
  SL_PEER_ONNX,
  SL_PEER_TORCH,
  SL_PEER_EXPORTED
} SlPeerKind;

/**
 * sl_peer_new: loads @model in the other runtime. NULL with @error set: what is missing and how to
 * get it, or what it said.
 * @shapes: of the inputs, such as "1x3x8x8,1x4", for sizes that @model leaves open
 */
SlPeer *sl_peer_new (SlPeerKind kind, const char *model, const char *shapes, guint threads,
                     GError **error);
void sl_peer_free (SlPeer *peer);
/** sl_peer_name: (transfer none): with its version. */
const char *sl_peer_name (const SlPeer *peer);
/** sl_peer_run: @n runs, one after the other, and the milliseconds that each took. */
gboolean sl_peer_run (SlPeer *peer, guint n, double *times, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPeer, sl_peer_free)
