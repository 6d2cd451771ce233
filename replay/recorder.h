/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records a running model into a ring, and writes black boxes of it on request, in a thread of its own.
 */
#ifndef SL_REPLAY_RECORDER_H
#define SL_REPLAY_RECORDER_H

#include "replay/black_box.h"

G_BEGIN_DECLS

/** SlRecorderWritten: a black box is at @path, whole, or could not be written, with @error set; in the recorder's thread, where
 *  sl_recorder_unref() must not drop the last reference. */
typedef void (*SlRecorderWritten) (const char *path, guint inferences, const GError *error, gpointer data);

/**
 * SlRecorderSettings:
 * @folder: black boxes go there
 * @seconds, @limit: what is kept: the last seconds, in at most so many bytes
 * @files: black boxes that are kept in the folder, the newest
 * @written, @data: who is told of black boxes
 */
typedef struct
{
  const char *folder;
  guint seconds;
  guint64 limit;
  guint files;
  SlRecorderWritten written;
  gpointer data;
} SlRecorderSettings;

typedef struct _SlRecorder SlRecorder;

/** sl_recorder_new: (transfer full): for @session of @model, loaded with @input_shape (nullable). What processes left that are no more becomes a
 *  black box meanwhile. NULL with SL_ERROR_OPEN when the folder cannot be written to, or SL_ERROR_LIMIT when an inference is larger than the
 *  limit, or no thread can be started. */
SlRecorder *sl_recorder_new (SlModel *model, SlSession *session, const char *input_shape, const SlRecorderSettings *settings,
                             GError **error);
SlRecorder *sl_recorder_ref (SlRecorder *recorder);
/** sl_recorder_unref: the last one waits for what is being written. NULL is legal. */
void sl_recorder_unref (SlRecorder *recorder);
/** sl_recorder_retire: @old (transfer full), whose place @recorder takes, is released by @recorder's thread: nobody waits here for what is being
 *  written. */
void sl_recorder_retire (SlRecorder *recorder, SlRecorder *old);
/** sl_recorder_begin, sl_recorder_end: before and after the model runs, in its thread; an inference that fails has no end. FALSE with @error
 *  set once, when nothing can be recorded any more. */
gboolean sl_recorder_begin (SlRecorder *recorder, guint64 pts, const void *const *inputs, GError **error);
gboolean sl_recorder_end (SlRecorder *recorder, const void *const *outputs, GError **error);
/** sl_recorder_dump: (transfer full) (nullable): any thread: begins to write what is recorded now, and returns where it will be. @reason:
 *  a sentence; NULL when nothing is recorded yet, or several are being written. */
char *sl_recorder_dump (SlRecorder *recorder, const char *reason);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRecorder, sl_recorder_unref)

G_END_DECLS

#endif
