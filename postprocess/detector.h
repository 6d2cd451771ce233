/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What box decoders share: the best candidates by score, their boxes, suppression, the result. A
 * frame goes
 *
 *   scores of all candidates into @ranks or @scores -> sl_detector_select() -> sl_detector_add()
 * for each entry of @top,
 *   best first -> sl_detector_finish()
 *
 * All memory is allocated by sl_detector_init(). Of more candidates than fit, the best go on, so
 * that a frame costs little whatever a tensor holds.
 */
#pragma once

#include "postprocess/decoder.h"
#include "postprocess/nms.h"
#include "postprocess/topk.h"
#include "postprocess/values.h"

#define SL_FACE_POINTS 5
/** Parameters that sl_detector_init() reads. */
#define SL_DETECTOR_PARAMS SL_PARAM_NUMBER ("iou-threshold", 0, 1), SL_PARAM_BOOL ("agnostic")

/**
 * SlDetector:
 * @n: candidates in a frame
 * @ranks: rank of each candidate's score, when it was opened by ranks; @lowest passes
 * @scores: else the score; not a number or infinite = not there; @threshold passes
 * @top: after sl_detector_select(): indices of the best, best first
 * @candidates, @origins: boxes added, and the candidate each came from
 * @highest: score that was added, before it is limited to 1
 * @owned: (nullable): what else of the decoder is freed with it, such as prior boxes
 * @shown: classes from this one on are not reported
 * @kept: after sl_detector_finish(): index into @candidates of each detection of the result
 */
typedef struct
{
  guint n;
  guint8 *ranks;
  gfloat *scores;
  guint lowest;
  gfloat threshold, highest;
  guint shown;
  SlTopK top;
  SlDetection *candidates;
  guint32 *origins;
  guint n_candidates;
  guint *kept;
  gpointer owned;
  guint32 *bins;
  SlNms nms;
} SlDetector;

/** sl_detector_init: @ranked: (nullable): the scores' values when candidates compare by rank. @iou:
 * where nobody states one. */
gboolean sl_detector_init (SlDetector *self, const SlDecoderConfig *config, guint n,
                           const SlValues *ranked, double iou, GError **error);
/** sl_detector_limit: at most @most candidates are selected; for decoders with much work for
 * each. */
void sl_detector_limit (SlDetector *self, guint most);
/** sl_detector_clear: also for a zeroed struct. */
void sl_detector_clear (SlDetector *self);
/** sl_detector_close: SlDecoder.close of a state that begins with its SlDetector, which owns all
 * else. */
void sl_detector_close (gpointer state);
void sl_detector_select (SlDetector *self);
/** sl_detector_add: a box of candidate @origin; one that is not finite, has no area or is of a
 * class that is not reported is left out. FALSE then. */
gboolean sl_detector_add (SlDetector *self, const gfloat corners[4], gfloat confidence,
                          gint32 label_id, guint32 origin);
/** sl_detector_scale: multiplies the corners of all boxes added. */
void sl_detector_scale (SlDetector *self, gfloat x, gfloat y);
/** sl_detector_finish: suppresses, unless @suppress is FALSE, and fills @result. */
void sl_detector_finish (SlDetector *self, gboolean suppress, SlResult *result);
/** sl_detector_keep: fills @result with the first @n candidates that @kept names; for
 * decoders that suppress by themselves. */
void sl_detector_keep (const SlDetector *self, guint n, SlResult *result);
/** SlFaceBox: the corners of the face that candidate @row stands for; SlFacePoint: its point @k of
 * SL_FACE_POINTS. In 0..1 of the input; what is not finite is left out. */
typedef void (*SlFaceBox) (gconstpointer state, const void *const *data, guint row,
                           gfloat corners[4]);
typedef void (*SlFacePoint) (gconstpointer state, const void *const *data, guint row, guint k,
                             gfloat *x, gfloat *y);
/** sl_detector_finish_faces: all that follows the scores. @state begins with its SlDetector;
 * @point: (nullable): the model has none. */
void sl_detector_finish_faces (gpointer state, const void *const *data, SlFaceBox box,
                               SlFacePoint point, SlResult *result);
/** sl_result_add_keypoints: (nullable): room for @n more, as the keypoints of @detection. */
SlDetectedPoint *sl_result_add_keypoints (SlResult *result, SlDetection *detection, guint n);
