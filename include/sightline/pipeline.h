/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPipeline: a camera pipeline inside an application, without a line of GStreamer: from a
 * description file or a launch line, with predictions as a signal or to pull.
 */
#ifndef SL_PIPELINE_H
#define SL_PIPELINE_H

#include <gio/gio.h>

#include "sightline/frame.h"
#include "sightline/predictions.h"

G_BEGIN_DECLS

/**
 * SlPipelineState:
 * @SL_PIPELINE_STATE_STOPPED: holds no camera, no model and no thread
 * @SL_PIPELINE_STATE_STARTING: started; the first frame has not come yet
 * @SL_PIPELINE_STATE_RUNNING: at work
 * @SL_PIPELINE_STATE_PAUSED: ready, but frames wait
 * @SL_PIPELINE_STATE_ENDED: its stream came to an end
 * @SL_PIPELINE_STATE_FAILED: an error stopped it; sl_pipeline_start() tries again
 *
 * What a pipeline is doing.
 *
 * Since: 0.1
 */
typedef enum
{
  SL_PIPELINE_STATE_STOPPED,
  SL_PIPELINE_STATE_STARTING,
  SL_PIPELINE_STATE_RUNNING,
  SL_PIPELINE_STATE_PAUSED,
  SL_PIPELINE_STATE_ENDED,
  SL_PIPELINE_STATE_FAILED
} SlPipelineState;

#define SL_TYPE_PIPELINE_STATE (sl_pipeline_state_get_type ())
GType sl_pipeline_state_get_type (void);

#define SL_TYPE_PIPELINE (sl_pipeline_get_type ())

/**
 * SlPipeline:
 *
 * Every function may be called from any thread, but not from handlers of signals of the elements
 * inside. Signals are emitted in the thread-default main context of the thread that made the
 * pipeline, and only while that context is iterated. Without a main loop,
 * sl_pipeline_pull_predictions() brings predictions and errors.
 *
 * Since: 0.1
 */
G_DECLARE_FINAL_TYPE (SlPipeline, sl_pipeline, SL, PIPELINE, GObject)

SlPipeline *sl_pipeline_new_from_file (const char *path, GHashTable *parameters, GError **error);
SlPipeline *sl_pipeline_new_from_string (const char *text, GHashTable *parameters, GError **error);

gboolean sl_pipeline_set_parameter (SlPipeline *self, const char *name, const char *value,
                                    GError **error);
char *sl_pipeline_dup_parameter (SlPipeline *self, const char *name);
char **sl_pipeline_list_parameters (SlPipeline *self);
GObject *sl_pipeline_dup_element (SlPipeline *self, const char *name, GError **error);

gboolean sl_pipeline_start (SlPipeline *self, GError **error);
gboolean sl_pipeline_pause (SlPipeline *self, GError **error);
void sl_pipeline_stop (SlPipeline *self);
SlPipelineState sl_pipeline_get_state (SlPipeline *self);

gboolean sl_pipeline_push_frame (SlPipeline *self, SlFrame *frame, GError **error);
gboolean sl_pipeline_end_frames (SlPipeline *self, GError **error);
SlPredictions *sl_pipeline_pull_predictions (SlPipeline *self, gint64 timeout, GError **error);
GVariant *sl_pipeline_get_stats (SlPipeline *self);

G_END_DECLS

#endif
