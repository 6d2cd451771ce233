/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frame-by-frame steps of box decoders. Called by them only. */
#include "postprocess/detector.h"

#include <math.h>

#include "core/base/fail.h"
#include "postprocess/params.h"
#include "postprocess/select.h"

/* Candidates that go into suppression: several for each result, and enough for a crowd. */
#define CANDIDATES_PER_RESULT 4
#define MAX_CANDIDATES 2048

/* Codes mean nothing to boxes and confidences without their scale. */
static gboolean
check_scales (const SlDecoderConfig *config, GError **error)
{
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    if ((tensor->dtype == SL_DTYPE_U8 || tensor->dtype == SL_DTYPE_I8) && !(tensor->scale > 0))
      return sl_fail (
        error, SL_ERROR_CONTRACT,
        "decoder: tensor %u is %s and nothing states its scale; expected tensors right behind "
        "slinfer, or float32",
        t, sl_dtype_name (tensor->dtype));
  }
  return TRUE;
}

static const SlDecoderParam params[] = { SL_DETECTOR_PARAMS, { NULL } };

gboolean
sl_detector_init (SlDetector *self, const SlDecoderConfig *config, guint n, const SlValues *ranked,
                  double iou, GError **error)
{
  gboolean agnostic;
  double stated = iou;
  if (!check_scales (config, error)
      || !sl_decoder_param_double (config, params, "iou-threshold", iou, &stated, error)
      || !sl_decoder_param_bool (config, params, "agnostic", FALSE, &agnostic, error))
    return FALSE;
  const guint capacity = MIN (n, MAX (MAX_CANDIDATES, CANDIDATES_PER_RESULT * config->max_results));
  self->n = n;
  self->threshold = config->threshold;
  self->shown = config->words != NULL ? config->words->shown : G_MAXUINT;
  if (ranked != NULL) {
    self->ranks = g_new (guint8, n);
    self->lowest = sl_values_lowest (ranked, config->threshold);
  } else {
    self->scores = g_new (gfloat, n);
    self->bins = n > capacity ? g_new (guint32, SL_SELECT_BINS) : NULL;
  }
  self->top.capacity = capacity;
  self->top.items = g_new (SlRanked, capacity);
  self->candidates = g_new (SlDetection, capacity);
  self->origins = g_new (guint32, capacity);
  self->kept = g_new (guint, config->max_results);
  sl_nms_init (&self->nms, config->iou_threshold > 0 ? config->iou_threshold : (gfloat) stated,
               agnostic, config->max_results);
  return TRUE;
}

void
sl_detector_limit (SlDetector *self, guint most)
{
  self->top.capacity = MIN (self->top.capacity, most);
  if (self->scores != NULL && self->bins == NULL && self->n > self->top.capacity)
    self->bins = g_new (guint32, SL_SELECT_BINS);
}

void
sl_detector_clear (SlDetector *self)
{
  g_clear_pointer (&self->ranks, g_free);
  g_clear_pointer (&self->scores, g_free);
  g_clear_pointer (&self->bins, g_free);
  g_clear_pointer (&self->top.items, g_free);
  g_clear_pointer (&self->candidates, g_free);
  g_clear_pointer (&self->origins, g_free);
  g_clear_pointer (&self->kept, g_free);
  g_clear_pointer (&self->owned, g_free);
  sl_nms_clear (&self->nms);
}

void
sl_detector_close (gpointer state)
{
  sl_detector_clear (state);
  g_free (state);
}

void
sl_detector_select (SlDetector *self)
{
  self->n_candidates = 0;
  self->highest = 0;
  if (self->ranks != NULL)
    sl_select_codes (self->ranks, self->n, self->lowest, &self->top);
  else
    sl_select_floats (self->scores, self->n, self->threshold, self->bins, &self->top);
}

gboolean
sl_detector_add (SlDetector *self, const gfloat corners[4], gfloat confidence, gint32 label_id,
                 guint32 origin)
{
  self->highest = isfinite (confidence) ? MAX (self->highest, confidence) : self->highest;
  const SlDetection box = { corners[0],          corners[1], corners[2], corners[3],
                            MIN (confidence, 1), label_id,   0,          0 };
  if (self->n_candidates == self->top.capacity || !isfinite (box.x_min) || !isfinite (box.y_min)
      || !isfinite (box.x_max) || !isfinite (box.y_max) || !isfinite (confidence)
      || !(box.x_max > box.x_min) || !(box.y_max > box.y_min)
      || (label_id >= 0 && (guint) label_id >= self->shown))
    return FALSE;
  self->origins[self->n_candidates] = origin;
  self->candidates[self->n_candidates++] = box;
  return TRUE;
}

void
sl_detector_scale (SlDetector *self, gfloat x, gfloat y)
{
  for (guint i = 0; i < self->n_candidates; i++) {
    self->candidates[i].x_min *= x;
    self->candidates[i].x_max *= x;
    self->candidates[i].y_min *= y;
    self->candidates[i].y_max *= y;
  }
}

void
sl_detector_finish (SlDetector *self, gboolean suppress, SlResult *result)
{
  guint n = MIN (self->n_candidates, self->nms.max_results);
  if (suppress)
    n = sl_nms_run (&self->nms, self->candidates, self->n_candidates, self->kept);
  else
    for (guint i = 0; i < n; i++)
      self->kept[i] = i;
  sl_detector_keep (self, n, result);
}

void
sl_detector_keep (const SlDetector *self, guint n, SlResult *result)
{
  for (guint i = 0; i < n; i++)
    result->detections[i] = self->candidates[self->kept[i]];
  result->n_detections = n;
  result->highest = self->highest;
}

SlDetectedPoint *
sl_result_add_keypoints (SlResult *result, SlDetection *detection, guint n)
{
  if (n > SL_MAX_RESULT_KEYPOINTS - result->n_keypoints)
    return NULL;
  detection->first_keypoint = result->n_keypoints;
  detection->n_keypoints = n;
  result->n_keypoints += n;
  return &result->keypoints[detection->first_keypoint];
}

void
sl_detector_finish_faces (gpointer state, const void *const *data, SlFaceBox box, SlFacePoint point,
                          SlResult *result)
{
  SlDetector *self = state;
  sl_detector_select (self);
  for (guint i = 0; i < self->top.count; i++) {
    const SlRanked *ranked = &self->top.items[i];
    gfloat corners[4];
    box (state, data, ranked->index, corners);
    sl_detector_add (self, corners, ranked->key, 0, ranked->index);
  }
  sl_detector_finish (self, TRUE, result);
  result->skeleton = point != NULL ? &sl_skeleton_face : NULL;
  for (guint i = 0; point != NULL && i < result->n_detections; i++) {
    SlDetection *found = &result->detections[i];
    SlDetectedPoint *out = sl_result_add_keypoints (result, found, SL_FACE_POINTS);
    for (guint k = 0; k < SL_FACE_POINTS && out != NULL; k++) {
      gfloat x, y;
      point (state, data, self->origins[self->kept[i]], k, &x, &y);
      out[k] = isfinite (x) && isfinite (y) ? (SlDetectedPoint){ x, y, found->confidence }
                                            : (SlDetectedPoint){ 0 };
    }
  }
}
