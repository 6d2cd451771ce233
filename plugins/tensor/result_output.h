/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlResultOutput: the form in which slpostprocess sends predictions: video, text or JSON, as
 * downstream takes it. Sticky events wait until the form is chosen. One thread at a time.
 */
#pragma once

#include "plugins/meta/frame_meta.h"
#include "postprocess/predictions/prediction.h"

#define SL_RESULT_TEXT_CAPS "text/x-raw, format=(string)utf8"
#define SL_RESULT_JSON_CAPS "application/x-json"
/** Of the source pad's template. */
#define SL_RESULT_OUTPUT_CAPS "video/x-raw(ANY); " SL_RESULT_TEXT_CAPS "; " SL_RESULT_JSON_CAPS

typedef enum
{
  SL_RESULT_NONE, /* not chosen yet */
  SL_RESULT_VIDEO,
  SL_RESULT_TEXT,
  SL_RESULT_JSON
} SlResultForm;

/**
 * SlResultOutput: zeroed at first.
 * @caps: (nullable): the caps that downstream was sent
 * @held: of GstEvent: sticky events that wait for them
 */
typedef struct
{
  SlResultForm form;
  GstCaps *caps;
  GQueue held;
} SlResultOutput;

/** sl_result_output_fits: whether what was chosen also serves a buffer whose video is of caps
 * @video (nullable). */
gboolean sl_result_output_fits (const SlResultOutput *output, const GstCaps *video);
/** sl_result_output_choose: asks downstream of @pad and sends it caps and the held events. @video:
 * (nullable): caps of the video that there is; @meta: (nullable): the frame's meta. An error
 * message of @owner says what does not fit. */
GstFlowReturn sl_result_output_choose (SlResultOutput *output, GstElement *owner, GstPad *pad,
                                       GstCaps *video, const SlFrameMeta *meta);
/** sl_result_output_is_lines: whether downstream of @pad takes text or JSON rather than video. */
gboolean sl_result_output_is_lines (GstPad *pad);
/** sl_result_output_write: @line becomes what downstream gets of @prediction as text or JSON, empty
 * where there is nothing to say. */
void sl_result_output_write (const SlResultOutput *output, const SlPredictionView *prediction,
                             GString *line);
/** sl_result_output_clear: nothing is chosen then. */
void sl_result_output_clear (SlResultOutput *output);
