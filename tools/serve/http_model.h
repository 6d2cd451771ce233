/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A served model as clients that post pictures see it: what it finds, and its results as JSON. Any
 * thread.
 */
#pragma once

#include "predict/contractspec.h"
#include "predict/opendecoding.h"
#include "tools/serve/served_model.h"

typedef enum
{
  SL_HTTP_FINDS_OBJECTS,
  SL_HTTP_FINDS_LABELS,
  SL_HTTP_FINDS_OTHER /* masks, vectors, tensors, pictures */
} SlHttpFinds;

/** SlHttpForm: the JSON of docs/predictions.md, or the one of DeepStack. From
 * SL_HTTP_RECOGNIZE on: about faces, and the people that they belong to. */
typedef enum
{
  SL_HTTP_PREDICTIONS,
  SL_HTTP_DETECTION,
  SL_HTTP_SCENE,
  SL_HTTP_RECOGNIZE,
  SL_HTTP_REGISTER,
  SL_HTTP_FACES,
  SL_HTTP_FORGET
} SlHttpForm;

/** SlHttpAsked: what a client asked for. @min_confidence: below 0 = not stated; @command: of
 * DeepStack's JSON; times in microseconds */
typedef struct
{
  SlHttpForm form;
  gdouble min_confidence;
  const char *command;
  gint64 received, decoded, start, end;
} SlHttpAsked;

/** SlHttpModel: @spec: of the pictures; the rest is under the lock. @own: with its own
 * threshold; @low: with a low one, for clients that state theirs; @n_numbers: of the vector that it
 * makes, 0 = it makes none */
typedef struct
{
  SlServedModel *served;
  SlNormalizeSpec spec;
  SlHttpFinds finds;
  guint n_numbers;
  GMutex lock;
  SlDecoding *own, *low;
  SlLabels *labels, *low_labels;
  SlPredictionMapper *mapper;
} SlHttpModel;

/** sl_http_model_new: runs the model once, on an empty picture. NULL with @error set. */
SlHttpModel *sl_http_model_new (SlServedModel *served, guint threads, GError **error);
void sl_http_model_free (SlHttpModel *model);
/** sl_http_model_answer: (transfer full): @outputs as JSON; NULL with @error set where the values
 * contradict the decoder. */
GString *sl_http_model_answer (SlHttpModel *model, void *const *outputs,
                               const SlFrameGeometry *geometry, const SlHttpAsked *asked,
                               GError **error);
/** sl_http_begin_json: (transfer full): the members that all answers like DeepStack's have.
 * @module: (nullable): name of the model */
GString *sl_http_begin_json (gboolean success, guint status, const char *command,
                             const char *module);
/** sl_http_append_times: how long the answer took, as members. */
void sl_http_append_times (GString *json, const SlHttpAsked *asked);
/** sl_http_model_see: calls @see with the prediction of @outputs by the decoder's own threshold,
 * which is valid until it returns. FALSE with @error set, as sl_http_model_answer(). */
gboolean sl_http_model_see (SlHttpModel *model, void *const *outputs,
                            const SlFrameGeometry *geometry,
                            void (*see) (const SlPredictionView *prediction, gpointer data),
                            gpointer data, GError **error);
