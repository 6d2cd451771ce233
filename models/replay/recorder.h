/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Records a running model into a ring, and writes black boxes from it on request, in a separate
 * thread.
 */
#pragma once

#include "models/replay/black_box.h"

/** SlRecorderWritten: a black box is at @path, whole, or could not be written, with @error set; in
 * the recorder's thread, which may be told after sl_recorder_unref(). */
typedef void (*SlRecorderWritten) (const char *path, guint inferences, const GError *error,
                                   gpointer data);

/**
 * SlRecorderSettings:
 * @folder: black boxes go there
 * @seconds, @limit: what is kept: the last seconds, in at most so many bytes
 * @files: black boxes of a model that are kept in the folder, the newest
 * @written, @data: called for each black box, with this data
 * @free_data: (nullable): frees @data once nobody will be told any more
 */
typedef struct
{
  const char *folder;
  guint seconds;
  guint64 limit;
  guint files;
  SlRecorderWritten written;
  gpointer data;
  GDestroyNotify free_data;
} SlRecorderSettings;

typedef struct _SlRecorder SlRecorder;

/** sl_recorder_new: (transfer full): for @session of @model, loaded with @input_shape (nullable).
 * What processes left that are no more becomes a black box meanwhile. NULL with SL_ERROR_LIMIT when
 * an inference is larger than the limit; then @free_data has been called. A model runs without
 * black boxes, too: where the folder cannot be written to, or no thread can be started, nothing is
 * recorded, and the first sl_recorder_begin() says why. */
SlRecorder *sl_recorder_new (SlModel *model, SlSession *session, const char *input_shape,
                             const SlRecorderSettings *settings, GError **error);
/** sl_recorder_check: FALSE with @error set where sl_recorder_new() would record nothing with the
 * folder and the limit of @settings. Reads only. */
gboolean sl_recorder_check (SlModel *model, SlSession *session, const char *input_shape,
                            const SlRecorderSettings *settings, GError **error);
SlRecorder *sl_recorder_ref (SlRecorder *recorder);
/** sl_recorder_unref: any thread, including the recorder's own; never waits: the recorder's thread
 * finishes files that are being written. NULL is legal. */
void sl_recorder_unref (SlRecorder *recorder);
/** sl_recorder_place: (nullable): the file of the recording; @in_memory: (out): or on a disk, which
 * is worn out by it. */
const char *sl_recorder_place (const SlRecorder *recorder, gboolean *in_memory);
/** sl_recorder_begin, sl_recorder_end: before and after the model runs, in its thread; an inference
 * that fails has no end. FALSE with @error set, once, when an inference cannot be recorded, and
 * once, when it is, but there is less room than for the seconds. */
gboolean sl_recorder_begin (SlRecorder *recorder, guint64 pts, const void *const *inputs,
                            GError **error);
gboolean sl_recorder_end (SlRecorder *recorder, const void *const *outputs, GError **error);
/** sl_recorder_dump: (transfer full) (nullable): any thread: begins to write what is recorded now,
 * and returns where it will be. @reason: a sentence; NULL when nothing is recorded yet, or several
 * are being written. @held: (nullable) (transfer full): released with @release (nullable) after the
 * report of the black box, or at once, where there will be none. */
char *sl_recorder_dump (SlRecorder *recorder, const char *reason, gpointer held,
                        GDestroyNotify release);
/** sl_recorders_wait: for all recorders of the process: waits until requested files are written and
 * released recorders are freed. FALSE if that was not the case at @end, of the monotonic clock;
 * returns at once if @end is past. */
gboolean sl_recorders_wait (gint64 end);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRecorder, sl_recorder_unref)
