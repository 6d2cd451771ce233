/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Boxes with a low confidence suppress none with a higher one, so a client's own threshold may be
 * applied to what a lower one has found.
 */
#include "tools/serve/http_model.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/runtime/session.h"

/* The least confidence that a client may ask for. */
#define LOW_THRESHOLD 0.05
/* DeepStack's, where the client states none. */
#define USUAL_CONFIDENCE 0.4
#define MAX_OBJECTS 300
#define MAX_LABELS 10

static SlDecoding *
open_decoding (const SlHttpModel *model, gdouble threshold, SlLabels **labels, GError **error)
{
  SlContract *contract = model->served->contract;
  const SlDecodingSettings how = { .threshold = threshold, .max_results = MAX_OBJECTS };
  SlDecoding *decoding =
    sl_decoding_open (contract, contract->outputs, contract->n_outputs, &how, labels, error);
  if (decoding == NULL)
    g_prefix_error (error, "%s: ", contract->model);
  return decoding;
}

/* What the decoder makes of an empty picture. */
static gboolean
try_model (SlHttpModel *model, SlSession *session, SlWork *work, void **outputs, GError **error)
{
  const SlContract *contract = model->served->contract;
  for (guint i = 0; i < contract->n_outputs; i++)
    if ((outputs[i] = sl_tensor_buffer_new (contract->outputs[i].bytes)) == NULL)
      return sl_fail (error, SL_ERROR_LIMIT, "%s: there is no memory for its outputs",
                      contract->model);
  memset (work->inputs[0], 0, contract->inputs[0].bytes);
  const SlStatus status = sl_session_run (session, (const void *const *) work->inputs, outputs);
  if (status != SL_STATUS_OK)
    return sl_fail (error, SL_ERROR_BACKEND, "%s: %s", contract->model,
                    sl_session_status_text (session, status));
  const SlResult *result = sl_decoding_run (model->own, (const void *const *) outputs);
  model->n_numbers = result->vector.n;
  if (result->n_classes > 0)
    model->finds = SL_HTTP_FINDS_LABELS;
  else if (result->mask.width > 0 || result->vector.n > 0 || result->picture.width > 0
           || result->outputs.n > 0)
    model->finds = SL_HTTP_FINDS_OTHER;
  return TRUE;
}

static gboolean
learn (SlHttpModel *model, guint threads, GError **error)
{
  void *outputs[SL_MAX_IO] = { NULL };
  g_autoptr (SlSession) session =
    sl_session_new (sl_model_graph (model->served->model), threads, error);
  SlWork *work = session != NULL ? sl_work_new (model->served, NULL, 0, error) : NULL;
  for (guint i = 0; work != NULL && i < model->served->contract->n_inputs; i++)
    memset (work->inputs[i], 0, model->served->contract->inputs[i].bytes);
  const gboolean good = work != NULL && try_model (model, session, work, outputs, error);
  for (guint i = 0; i < SL_MAX_IO; i++)
    sl_tensor_buffer_free (outputs[i]);
  sl_work_free (work);
  return good;
}

static gboolean
set_up (SlHttpModel *model, guint threads, GError **error)
{
  const SlContract *contract = model->served->contract;
  model->spec.filter = SL_FILTER_AUTO;
  if (!sl_contract_spec (contract, &model->spec)) {
    g_autofree char *summary = sl_contract_summary (contract);
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "--http: %s: expected a model whose input is a picture, got %s",
                    contract->model, summary);
  }
  if (!sl_contract_require_one_input (contract, error))
    return FALSE;
  model->own = open_decoding (model, -1, &model->labels, error);
  model->low =
    model->own != NULL ? open_decoding (model, LOW_THRESHOLD, &model->low_labels, error) : NULL;
  model->mapper = sl_prediction_mapper_new ();
  sl_prediction_mapper_choose (model->mapper, NULL, MAX_OBJECTS);
  return model->low != NULL && learn (model, threads, error);
}

SlHttpModel *
sl_http_model_new (SlServedModel *served, guint threads, GError **error)
{
  SlHttpModel *model = g_new0 (SlHttpModel, 1);
  g_mutex_init (&model->lock);
  model->served = served;
  if (set_up (model, threads, error))
    return model;
  sl_http_model_free (model);
  return NULL;
}

void
sl_http_model_free (SlHttpModel *model)
{
  if (model == NULL)
    return;
  g_clear_pointer (&model->own, sl_decoding_free);
  g_clear_pointer (&model->low, sl_decoding_free);
  g_clear_pointer (&model->labels, sl_labels_unref);
  g_clear_pointer (&model->low_labels, sl_labels_unref);
  g_clear_pointer (&model->mapper, sl_prediction_mapper_free);
  g_mutex_clear (&model->lock);
  g_free (model);
}

GString *
sl_http_begin_json (gboolean success, guint status, const char *command, const char *module)
{
  GString *json = g_string_new ("{");
  sl_json_append_boolean (json, "success", success);
  sl_json_append_count (json, "code", status);
  sl_json_append_text (json, "command", command);
  sl_json_append_text (json, "moduleId", "Sightline");
  sl_json_append_text (json, "moduleName", module != NULL ? module : "Sightline");
  return json;
}

void
sl_http_append_times (GString *json, const SlHttpAsked *asked)
{
  const gint64 now = g_get_monotonic_time ();
  const double ms = G_TIME_SPAN_MILLISECOND;
  sl_json_append_number (json, "inferenceMs", (double) (asked->end - asked->start) / ms, 4);
  sl_json_append_number (json, "processMs", (double) (now - asked->decoded) / ms, 4);
  sl_json_append_number (json, "analysisRoundTripMs", (double) (now - asked->received) / ms, 4);
  sl_json_append_number (json, "duration", (double) (now - asked->received) / G_USEC_PER_SEC, 4);
}

static void
append_object (GString *json, const SlObjectView *object)
{
  g_string_append (json, json->str[json->len - 1] == '[' ? "{" : ",{");
  sl_json_append_text (json, "label", object->label);
  sl_json_append_number (json, "confidence", object->confidence, 6);
  sl_json_append_count (json, "x_min", (guint) object->x);
  sl_json_append_count (json, "y_min", (guint) object->y);
  sl_json_append_count (json, "x_max", (guint) (object->x + object->w));
  sl_json_append_count (json, "y_max", (guint) (object->y + object->h));
  g_string_append_c (json, '}');
}

static void
append_detection (GString *json, const SlPredictionView *prediction)
{
  g_autoptr (GString) found = g_string_new (NULL);
  sl_json_append_key (json, "predictions");
  g_string_append_c (json, '[');
  for (guint i = 0; i < prediction->n_objects; i++) {
    append_object (json, &prediction->objects[i]);
    g_string_append_printf (found, "%s%s", i > 0 ? ", " : "Found ", prediction->objects[i].label);
  }
  g_string_append_c (json, ']');
  sl_json_append_count (json, "count", prediction->n_objects);
  sl_json_append_text (json, "message", found->len > 0 ? found->str : "No objects found");
}

static void
append_scene (GString *json, const SlPredictionView *prediction)
{
  const gboolean any = prediction->n_labels > 0;
  sl_json_append_text (json, "label", any ? prediction->labels[0].label : "");
  sl_json_append_number (json, "confidence", any ? prediction->labels[0].confidence : 0, 6);
}

static GString *
write_json (const SlHttpModel *model, const SlPredictionView *prediction, const SlHttpAsked *asked)
{
  if (asked->form == SL_HTTP_PREDICTIONS) {
    GString *line = g_string_new (NULL);
    sl_prediction_append_json (line, prediction);
    return line;
  }
  GString *json = sl_http_begin_json (TRUE, 200, asked->command, model->served->name);
  (asked->form == SL_HTTP_SCENE ? append_scene : append_detection) (json, prediction);
  sl_http_append_times (json, asked);
  g_string_append_c (json, '}');
  return json;
}

/* The least confidence of results; below 0 = the decoder's own threshold. */
static gdouble
find_least (const SlHttpAsked *asked)
{
  return asked->min_confidence < 0 && asked->form == SL_HTTP_DETECTION ? USUAL_CONFIDENCE
                                                                       : asked->min_confidence;
}

/* Objects and labels come with the best first. */
static void
leave_out (SlPredictionView *prediction, gdouble least)
{
  while (prediction->n_objects > 0
         && prediction->objects[prediction->n_objects - 1].confidence < least)
    prediction->n_objects--;
  while (prediction->n_labels > 0
         && prediction->labels[prediction->n_labels - 1].confidence < least)
    prediction->n_labels--;
}

/* Under the model's lock. */
static gboolean
predict (SlHttpModel *model, void *const *outputs, const SlFrameGeometry *geometry, gdouble least,
         SlPredictionView *prediction, GError **error)
{
  SlDecoding *decoding = least < 0 ? model->own : model->low;
  const SlResult *result = sl_decoding_run (decoding, (const void *const *) outputs);
  if (!sl_decoding_agrees (decoding, model->served->contract->model, error))
    return FALSE;
  *prediction = (SlPredictionView){ .source = NULL,
                                    .width = geometry->frame_width,
                                    .height = geometry->frame_height };
  sl_prediction_mapper_fill (model->mapper, result, least < 0 ? model->labels : model->low_labels,
                             sl_decoding_names (decoding, NULL), geometry, MAX_LABELS, prediction);
  leave_out (prediction, least);
  return TRUE;
}

GString *
sl_http_model_answer (SlHttpModel *model, void *const *outputs, const SlFrameGeometry *geometry,
                      const SlHttpAsked *asked, GError **error)
{
  SlPredictionView prediction;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&model->lock);
  return predict (model, outputs, geometry, find_least (asked), &prediction, error)
           ? write_json (model, &prediction, asked)
           : NULL;
}

gboolean
sl_http_model_see (SlHttpModel *model, void *const *outputs, const SlFrameGeometry *geometry,
                   void (*see) (const SlPredictionView *prediction, gpointer data), gpointer data,
                   GError **error)
{
  SlPredictionView prediction;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&model->lock);
  if (!predict (model, outputs, geometry, -1, &prediction, error))
    return FALSE;
  see (&prediction, data);
  return TRUE;
}
