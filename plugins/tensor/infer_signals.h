/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The signals of slinfer, dump, dumped and reset-state, and its messages about the recorder. */
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
