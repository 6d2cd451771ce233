/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The signals of slinfer, dump, dumped and reset-state, and its messages. */
#pragma once

#include <gst/gst.h>

#include "models/replay/recorder.h"

/** sl_infer_signals_add: for slinfer's class. @dump: char *(element, reason); @reset_state: void
 * (element). */
void sl_infer_signals_add (GType type, GCallback dump, GCallback reset_state);
/** sl_infer_signals_dumped: emits dumped; @error (nullable). */
void sl_infer_signals_dumped (gpointer element, const char *path, guint inferences,
                              const GError *error);
/** sl_infer_tell_recorder_failed: posts @error as a warning of @element, and clears it. */
void sl_infer_tell_recorder_failed (GstElement *element, GError **error);
/** sl_infer_tell_recorder_place: logs where @recorder (nullable) writes; posts an info message of
 * @element where it writes to a disk. */
void sl_infer_tell_recorder_place (GstElement *element, SlRecorder *recorder);
/** sl_infer_tell_notice: warns that something else runs the model at @path than was asked for.
 * @notice: (transfer full) (nullable) */
void sl_infer_tell_notice (GstElement *element, const char *path, char *notice);
/** sl_infer_tell_file_changed: warns that the model at @path is another one by now. */
void sl_infer_tell_file_changed (GstElement *element, const char *path);
/** sl_infer_tell_model_changed: posts the message model-changed. */
void sl_infer_tell_model_changed (GstElement *element, const char *path, const char *before);
