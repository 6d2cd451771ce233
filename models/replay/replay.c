/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs recorded inputs in a session again. Hashes decide about equality; stored values only give
 * the size of differences. */
#include "models/replay/replay.h"

#include <math.h>
#include <string.h>

#include "core/base/xxh64.h"
#include "core/base/fail.h"

gboolean
sl_replay_buffers_init (SlReplayBuffers *buffers, const SlBlackBoxInfo *info, GError **error)
{
  gboolean good = TRUE;
  for (; good && buffers->n_inputs < info->n_inputs; buffers->n_inputs++)
    good = (buffers->inputs[buffers->n_inputs] =
              sl_tensor_buffer_new (info->inputs[buffers->n_inputs].bytes))
           != NULL;
  for (; good && buffers->n_outputs < info->n_outputs; buffers->n_outputs++)
    good = (buffers->outputs[buffers->n_outputs] =
              sl_tensor_buffer_new (info->outputs[buffers->n_outputs].bytes))
           != NULL;
  if (!good)
    sl_fail (error, SL_ERROR_LIMIT, "not enough memory for the model's inputs and outputs");
  return good;
}

void
sl_replay_buffers_clear (SlReplayBuffers *buffers)
{
  for (guint i = 0; i < buffers->n_inputs; i++)
    sl_tensor_buffer_free (buffers->inputs[i]);
  for (guint i = 0; i < buffers->n_outputs; i++)
    sl_tensor_buffer_free (buffers->outputs[i]);
  memset (buffers, 0, sizeof *buffers);
}

SlStatus
sl_replay_buffers_run (SlReplayBuffers *buffers, SlSession *session)
{
  const SlGraph *graph = sl_session_graph (session);
  for (guint i = 0; i < sl_graph_n_held (graph); i++)
    memcpy (sl_session_held (session, i), buffers->inputs[sl_graph_n_inputs (graph) + i],
            sl_graph_tensor (graph, sl_graph_held (graph, i)->input)->bytes);
  return sl_session_run (session, (const void *const *) buffers->inputs, buffers->outputs);
}

static gdouble
range_of (const SlTensorInfo *tensor, const guint8 *data, gsize n)
{
  gdouble range = 0;
  for (gsize i = 0; i < n; i++) {
    const gdouble size = fabs (sl_dtype_value (tensor->dtype, data, i));
    if (isfinite (size) && size > range)
      range = size;
  }
  return range;
}

static gboolean
is_near (gdouble wanted, gdouble found, gdouble range, const SlReplayTolerance *tolerance)
{
  return tolerance != NULL && isfinite (wanted) && isfinite (found)
         && fabs (wanted - found)
              <= tolerance->of_value * fabs (wanted) + tolerance->of_range * range;
}

void
sl_replay_compare (const SlTensorInfo *tensor, const void *expected, const void *got,
                   const SlReplayTolerance *tolerance, SlReplayDifference *difference)
{
  const gsize size = sl_dtype_size (tensor->dtype);
  const guint8 *a = expected, *b = got;
  difference->stored = TRUE;
  difference->elements = tensor->bytes / size;
  difference->differing = difference->place = 0;
  difference->largest = 0;
  difference->range = range_of (tensor, a, difference->elements);
  for (gsize i = 0; i < difference->elements; i++) {
    if (memcmp (a + i * size, b + i * size, size) == 0)
      continue;
    const gdouble wanted = sl_dtype_value (tensor->dtype, a, i),
                  found = sl_dtype_value (tensor->dtype, b, i), apart = fabs (wanted - found);
    if (is_near (wanted, found, difference->range, tolerance))
      continue;
    difference->differing++;
    /* NaN counts as the largest difference, and stays. */
    if (difference->differing > 1 && !isnan (apart) && !(apart > difference->largest))
      continue;
    if (difference->differing > 1 && isnan (difference->largest))
      continue;
    difference->largest = apart;
    difference->place = i;
    difference->expected = wanted;
    difference->got = found;
  }
}

/* Whether all outputs of @inference are what the session gave; tells of those that are not. */
static gboolean
compare_outputs (const SlBlackBoxInfo *info, const SlBlackBoxInference *inference,
                 const SlReplayBuffers *buffers, SlReplayFound found, gpointer data)
{
  gboolean equal = TRUE;
  for (guint i = 0; i < info->n_outputs; i++) {
    SlReplayDifference difference = { .number = inference->number,
                                      .pts = inference->pts,
                                      .output = i };
    if (sl_xxh64 (buffers->outputs[i], info->outputs[i].bytes, 0) == inference->hashes[i])
      continue;
    if (inference->outputs[i] != NULL)
      sl_replay_compare (&info->outputs[i], inference->outputs[i], buffers->outputs[i], NULL,
                         &difference);
    found (inference->number, &difference, NULL, data);
    equal = FALSE;
  }
  return equal;
}

gboolean
sl_replay_run (const SlBlackBox *box, SlSession *session, SlReplayFound found, gpointer data,
               SlReplaySum *sum, GError **error)
{
  const SlBlackBoxInfo *info = sl_black_box_info (box);
  g_auto (SlReplayBuffers) buffers = { 0 };
  *sum = (SlReplaySum){ 0 };
  if (!sl_replay_buffers_init (&buffers, info, error))
    return FALSE;
  for (guint i = 0; i < sl_black_box_n_inferences (box); i++) {
    SlBlackBoxInference inference;
    sl_black_box_inference (box, i, &inference);
    for (guint k = 0; k < info->n_inputs; k++)
      memcpy (buffers.inputs[k], inference.inputs[k], info->inputs[k].bytes);
    const SlStatus status = sl_replay_buffers_run (&buffers, session);
    if (status != SL_STATUS_OK) {
      sum->failed++;
      found (inference.number, NULL, sl_session_status_text (session, status), data);
    } else if (!inference.finished) {
      sum->unfinished++;
      found (inference.number, NULL, NULL, data);
    } else if (compare_outputs (info, &inference, &buffers, found, data)) {
      sum->equal++;
    } else {
      sum->different++;
    }
  }
  return TRUE;
}
