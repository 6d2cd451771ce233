/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last inferences of a running model, in a file that outlives the process. It is in memory, so
 * it wears out no disk: in $RUNTIME_DIRECTORY, which service managers set, or in /dev/shm. It
 * leaves half of that to other programs, and is shorter if little is free. If there is almost no
 * room, it is in the folder of the black boxes. After a crash the file is still there;
 * sl_ring_recover() makes a black box from it.
 *
 * The file is written with pwrite(), not mapped, so a full disk is an error and not a signal. Each
 * slot of one size holds an inference. A slot has a hash, so that partly written ones are detected
 * and skipped. An inference is written before it runs, so a crashing one is included. Slots that a
 * black box still needs are not overwritten; if there is no other room, new inferences are not
 * recorded.
 */
#pragma once

#include "models/replay/black_box.h"

typedef struct _SlRing SlRing;

/** sl_ring_new: (transfer full): for inferences of @info (transfer none), which must outlive it; of
 * the last @seconds, at most @limit bytes. NULL with SL_ERROR_LIMIT when one does not fit @limit,
 * SL_ERROR_OPEN when the file cannot be made. */
SlRing *sl_ring_new (const SlBlackBoxInfo *info, const char *folder, guint seconds, guint64 limit,
                     GError **error);
/** sl_ring_most: how many inferences of @info fit @limit bytes; 0 with SL_ERROR_LIMIT set. */
guint sl_ring_most (const SlBlackBoxInfo *info, guint64 limit, GError **error);
/** sl_ring_remove: the file's name goes; the ring itself is used as before. NULL is legal. */
void sl_ring_remove (SlRing *ring);
/** sl_ring_free: the file goes. NULL is legal. */
void sl_ring_free (SlRing *ring);
/** sl_ring_path: where it lies; @in_memory: (out): or on the folder's disk. */
const char *sl_ring_path (const SlRing *ring, gboolean *in_memory);
/** sl_ring_begin, sl_ring_end: in the thread that runs the model, before and after it runs. FALSE
 * with SL_ERROR_OPEN when the inference cannot be written; the next one may; with SL_ERROR_LIMIT,
 * once, when it is, but there is less room than for the seconds. */
gboolean sl_ring_begin (SlRing *ring, guint64 pts, const void *const *inputs, GError **error);
gboolean sl_ring_end (SlRing *ring, const void *const *outputs, GError **error);

/** SlRingView: which inferences a black box is to have, oldest first. */
typedef struct _SlRingView SlRingView;

/** sl_ring_view: (transfer full) (nullable): those of the last seconds, any thread; NULL without
 * any. Takes microseconds. To be freed before @ring. */
SlRingView *sl_ring_view (SlRing *ring);
void sl_ring_view_free (SlRingView *view);
/** sl_ring_write: adds those of @view, but for what could not be recorded; any thread, while others
 * are written. FALSE with SL_ERROR_OPEN, also where nothing was recorded.
 *  @n: (out): how many */
gboolean sl_ring_write (SlRingView *view, SlBlackBoxWriter *writer, guint *n, GError **error);

/** SlRingRecovered: a black box was written to @path; or could not be, with @error set. */
typedef void (*SlRingRecovered) (const char *path, guint inferences, const GError *error,
                                 gpointer data);

/** sl_ring_recover: makes black boxes in @folder of what processes left that are no more, and keeps
 * @keep files there. */
void sl_ring_recover (const char *folder, guint keep, SlRingRecovered recovered, gpointer data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRing, sl_ring_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRingView, sl_ring_view_free)
