/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether models are given the rates that they are promised in the budget. Main thread. */
#pragma once

#include <gst/gst.h>

#include "predict/turns.h"

typedef struct _SlRunPromises SlRunPromises;

/** sl_promise_read: the figures of @infer, an slinfer. FALSE: it has no part in the budget. */
gboolean sl_promise_read (GstElement *infer, SlTurnFigures *figures);
/** sl_promise_words: (transfer full) (nullable): "3.1 of 5 frames a second", and that the camera
 * sends less than is promised, if the model runs on what it sends; NULL while the promise is kept,
 * from 95 % on, or the model has not run yet. */
char *sl_promise_words (const SlTurnFigures *figures);

/** sl_run_promises_new: nothing is known yet. */
SlRunPromises *sl_run_promises_new (void);
void sl_run_promises_free (SlRunPromises *promises);
/** sl_run_promises_tick: logs which promises of @pipeline, whose log lines have @name, are broken
 * now, and which are kept again. Looks every 5 seconds, first 5 seconds after its first frame, at
 * @since; a promise is broken when two looks in a row say so. */
void sl_run_promises_tick (SlRunPromises *promises, GstElement *pipeline, const char *name,
                           gint64 since, gint64 now);
