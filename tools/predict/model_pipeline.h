/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model at work: one pipeline for the whole run of the program, fed frame by frame. */
#pragma once

#include <gst/gst.h>

#include "postprocess/predictions/prediction.h"
#include "tools/options.h"

/** Whether what codes say is read: where there is an slread, or without fail. */
typedef enum
{
  SL_READING_NO,
  SL_READING_IF_FOUND,
  SL_READING_YES
} SlReading;

/** NAN threshold and 0 top = the element's default. */
typedef struct
{
  const SlModelOptions *model;
  double threshold;
  guint top;
  const char *filter;  /* (nullable) */
  const char *classes; /* (nullable): which are shown, as slpostprocess has it */
  const char *redact;  /* (nullable): which are hidden: the model must have them */
  SlReading reading;
  const char *tiles;        /* (nullable): as slnormalize has it */
  const char *style_model;  /* (nullable): makes input 1 of the model of the picture of
                               sl_frame_predictor_set_style() */
  const char *text_model;   /* (nullable): reads a text on each object */
  const char *text_formats; /* (nullable): as sltext has it */
} SlFramePredictorOptions;

typedef struct _SlFramePredictor SlFramePredictor;

/** sl_frame_predictor_new: loads the model; every error about it comes from here. */
SlFramePredictor *sl_frame_predictor_new (const SlFramePredictorOptions *options, GError **error);
void sl_frame_predictor_free (SlFramePredictor *predictor);
/** sl_frame_predictor_run: @frame: in a format that slnormalize takes. Fills width, height,
 * timestamp, objects, labels and mask of @prediction, valid until the next run. FALSE with @error
 * set, after which the next run starts afresh; FALSE without when the program was interrupted. */
gboolean sl_frame_predictor_run (SlFramePredictor *predictor, GstSample *frame,
                                 SlPredictionView *prediction, GError **error);

/** sl_frame_predictor_set_style: before the first run, with a style model: the picture that it
 * looks at. */
void sl_frame_predictor_set_style (SlFramePredictor *predictor, GstSample *picture);
/** sl_frame_predictor_begin: frames of another source follow, which a model that carries state has
 * not seen. */
void sl_frame_predictor_begin (SlFramePredictor *predictor);
/** sl_frame_predictor_note: (nullable): an assumption that the user should know, a sentence. */
const char *sl_frame_predictor_note (const SlFramePredictor *predictor);
/** sl_frame_predictor_result: (transfer none): the last frame, with its predictions attached; valid
 * until the next run. */
GstSample *sl_frame_predictor_result (SlFramePredictor *predictor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlFramePredictor, sl_frame_predictor_free)
