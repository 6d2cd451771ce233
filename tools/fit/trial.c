/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One session runs all readings: they differ in the tensor alone. */
#include "tools/fit/trial.h"

#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#include "core/base/thread_count.h"
#include "core/runtime/session.h"
#include "models/model.h"
#include "predict/contractspec.h"
#include "predict/opendecoding.h"
#include "sightline/error.h"
#include "tools/fit/first_layer.h"
#include "tools/fit/later_layers.h"
#include "tools/quantize/pictures.h"

/* A view of a picture: the part of it, and whether it is mirrored. */
typedef struct
{
  gdouble left, top, right, bottom;
  gboolean mirrored;
  gdouble light; /* what its bytes are multiplied by */
} View;

/* The first three are for all, the mirrored one where a mirrored picture means the same, the dark
 * one for boxes. */
static const View views[] = { { 0, 0, 1, 1, FALSE, 1 },
                              { 0.06, 0.06, 1, 1, FALSE, 1 },
                              { 0, 0, 0.94, 0.94, FALSE, 1 },
                              { 0, 0, 1, 1, TRUE, 1 },
                              { 0, 0, 1, 1, FALSE, 0.5 } };

/* Characters where nothing states them: rare ones, none of which a decoder's parameters use. */
#define FIRST_CHARACTER 0x20000u
#define MOST_CHARACTERS 0xffff
/* Boxes below it are not looked at. */
#define THRESHOLD 0.1

struct _SlTrial
{
  SlModel *model;
  SlSession *session;
  SlDecoding *decoding; /* (nullable) */
  SlLabels *labels;     /* (nullable) */
  const char *scores;   /* (nullable): the decoder that is used where the model's has no scores */
  char *text;           /* (nullable): the decoder text with an alphabet */
  SlFirstLayer *first;  /* (nullable) */
  SlLaterLayers *later; /* (nullable) */
  SlPictures *pictures;
  GPtrArray *frames;
  SlNormalizeSpec spec;
  SlSightKind kind;
  guint n_views, n_moved; /* of a picture that are run; and that are moved alone */
  void *outputs[SL_MAX_IO];
  SlSighting *sightings;
};

void
sl_trial_free (SlTrial *trial)
{
  if (trial == NULL)
    return;
  sl_pictures_free (trial->pictures);
  sl_first_layer_free (trial->first);
  sl_later_layers_free (trial->later);
  g_clear_pointer (&trial->session, sl_session_free);
  g_clear_pointer (&trial->decoding, sl_decoding_free);
  g_clear_pointer (&trial->labels, sl_labels_unref);
  g_clear_pointer (&trial->model, sl_model_unref);
  g_clear_pointer (&trial->frames, g_ptr_array_unref);
  for (guint i = 0; i < SL_MAX_IO; i++)
    sl_tensor_buffer_free (trial->outputs[i]);
  g_free (trial->text);
  g_free (trial->sightings);
  g_free (trial);
}

/* The model's own decoder where @decoder is NULL. */
static SlDecoding *
open_with (SlTrial *trial, const char *decoder, gdouble threshold, GError **error)
{
  SlContract *contract = sl_model_contract (trial->model);
  const SlDecodingSettings how = { .decoder = decoder,
                                   .threshold = threshold,
                                   .max_results = SL_SIGHTING_BOXES };
  g_clear_pointer (&trial->labels, sl_labels_unref);
  return sl_decoding_open (contract, contract->outputs, contract->n_outputs, &how, &trial->labels,
                           error);
}

static SlSightKind
kind_of (const char *decoder)
{
  static const struct
  {
    const char *decoder;
    SlSightKind kind;
  } kinds[] = { { "labels", SL_SIGHT_CLASSES }, { "segmentation", SL_SIGHT_MAP },
                { "pose", SL_SIGHT_POINTS },    { "landmarks", SL_SIGHT_POINTS },
                { "image", SL_SIGHT_NUMBERS },  { "vector", SL_SIGHT_NUMBERS },
                { "bins", SL_SIGHT_NUMBERS },   { "text", SL_SIGHT_NUMBERS },
                { "none", SL_SIGHT_NUMBERS },   { "simcc", SL_SIGHT_POINTS },
                { "ssrnet", SL_SIGHT_NUMBERS }, { "dot", SL_SIGHT_NUMBERS } };
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].decoder, decoder))
      return kinds[i].kind;
  return SL_SIGHT_BOXES;
}

/* How many classes the decoder text has, of which @stated tells all but the alphabet. */
static gint32
count_classes (const SlContract *contract, const char *stated)
{
  const SlTensorInfo *line = &contract->outputs[0];
  const guint from_end = strstr (stated, "transposed=yes") != NULL ? 2 : 1;
  return line->rank >= from_end ? line->dims[line->rank - from_end] : 0;
}

/* (transfer full) (nullable): the decoder text with any characters, since readings are compared by
 * the numbers; NULL where the user states another decoder or the characters. */
static char *
make_alphabet (const SlContract *contract, const SlModelSettings *stated)
{
  const char *decoder = stated->decoder;
  if (decoder == NULL || stated->labels != NULL || strstr (decoder, "alphabet=") != NULL
      || (!g_str_equal (decoder, "text") && !g_str_has_prefix (decoder, "text,")))
    return NULL;
  const gint32 n = MIN (count_classes (contract, decoder), MOST_CHARACTERS);
  GString *text = g_string_new (decoder);
  g_string_append (text, ",alphabet=");
  for (gint32 i = 0; i + 1 < n; i++)
    g_string_append_unichar (text, FIRST_CHARACTER + (gunichar) i);
  return g_string_free (text, FALSE);
}

/* A model whose outputs no decoder takes is looked at as numbers, unless the user names labels or a
 * decoder. */
static gboolean
open_decoding (SlTrial *trial, const SlModelOptions *options, GError **error)
{
  g_autoptr (GError) problem = NULL;
  trial->text = make_alphabet (sl_model_contract (trial->model), &options->settings);
  trial->decoding = open_with (trial, trial->text, THRESHOLD, &problem);
  if (trial->decoding == NULL
      && (options->settings.decoder != NULL || options->settings.labels != NULL)) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  const char *name = sl_trial_decoder (trial);
  trial->scores = trial->decoding != NULL
                    ? sl_decoding_scores_decoder (trial->decoding, sl_model_contract (trial->model))
                    : NULL;
  trial->kind = kind_of (trial->scores != NULL ? trial->scores : name);
  trial->n_moved = trial->kind == SL_SIGHT_POINTS || trial->kind == SL_SIGHT_NUMBERS ? 3 : 4;
  trial->n_views = trial->kind == SL_SIGHT_BOXES ? G_N_ELEMENTS (views) : trial->n_moved;
  return TRUE;
}

/* A decoder looks at the first values only, and may decide by them how it reads all: each reading
 * has its own. */
static gboolean
reopen_decoding (SlTrial *trial, GError **error)
{
  const gboolean all = trial->kind == SL_SIGHT_CLASSES || trial->scores != NULL;
  if (trial->decoding == NULL)
    return TRUE;
  sl_decoding_free (trial->decoding);
  trial->decoding = open_with (trial, trial->scores != NULL ? trial->scores : trial->text,
                               all ? 0 : THRESHOLD, error);
  return trial->decoding != NULL;
}

static gboolean
open_session (SlTrial *trial, const char *path, guint threads, GError **error)
{
  SlGraph *graph = sl_model_graph (trial->model);
  const SlContract *contract = sl_model_contract (trial->model);
  if (!sl_contract_spec (contract, &trial->spec)) {
    g_set_error (error, SL_ERROR, SL_ERROR_SHAPE,
                 "%s: its input is no picture; expected one of 1 or 3 channels", path);
    return FALSE;
  }
  if (!sl_contract_require_one_input (contract, error))
    return FALSE;
  gboolean good = TRUE;
  for (guint i = 0; i < sl_graph_n_outputs (graph) && good; i++)
    good =
      (trial->outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes)) != NULL;
  if (!good)
    g_set_error (error, SL_ERROR, SL_ERROR_LIMIT, "%s: not enough memory for the model's outputs",
                 path);
  trial->session = good ? sl_session_new (graph, threads, error) : NULL;
  return trial->session != NULL;
}

SlTrial *
sl_trial_new (const char *path, const SlModelOptions *options, SlSpawner *spawner,
              GPtrArray *frames, GError **error)
{
  const SlModelLoadOptions how = sl_model_options_load (options, FALSE);
  g_autoptr (SlTrial) trial = g_new0 (SlTrial, 1);
  trial->spec.filter = SL_FILTER_AUTO;
  trial->frames = g_ptr_array_ref (frames);
  trial->model = sl_model_load_with (path, &options->settings, &how, error);
  if (trial->model == NULL
      || !open_session (trial, path, sl_threads_resolve (options->threads), error))
    return NULL;
  if (!open_decoding (trial, options, error)) {
    g_prefix_error (error, "%s: ", path);
    return NULL;
  }
  trial->first = sl_first_layer_new (sl_model_graph (trial->model));
  trial->later =
    sl_later_layers_new (sl_model_graph (trial->model), sl_threads_resolve (options->threads));
  trial->pictures = sl_pictures_new (
    "fit", spawner, &trial->spec, sl_graph_input_tensor (sl_model_graph (trial->model), 0)->bytes);
  trial->sightings = g_new0 (SlSighting, (gsize) frames->len * trial->n_views);
  return g_steal_pointer (&trial);
}

const SlContract *
sl_trial_contract (const SlTrial *trial)
{
  return sl_model_contract (trial->model);
}

const char *
sl_trial_decoder (const SlTrial *trial)
{
  return trial->decoding != NULL ? sl_decoding_decoder (trial->decoding)->name : "none";
}

guint
sl_trial_pictures (const SlTrial *trial)
{
  return trial->frames->len;
}

void
sl_trial_weighed (const SlTrial *trial, SlWeighed *weighed)
{
  const SlContract *contract = sl_model_contract (trial->model);
  weighed->decoder = sl_trial_decoder (trial);
  weighed->kind = trial->kind;
  weighed->lean = trial->first != NULL ? sl_first_layer_lean (trial->first) : 0;
  weighed->origin = contract->image.layout == SL_LAYOUT_NHWC         ? SL_ORIGIN_TENSORFLOW
                    : g_str_equal (sl_trial_decoder (trial), "text") ? SL_ORIGIN_TEXT
                    : trial->kind == SL_SIGHT_CLASSES                ? SL_ORIGIN_CLASSES
                                                                     : SL_ORIGIN_OTHERS;
}

/* The part of the frame that @view has, in whole pixels. */
static gboolean
crop_of (const View *view, GstSample *frame, SlRect *crop)
{
  GstVideoInfo info;
  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (frame)))
    return FALSE;
  const gint width = GST_VIDEO_INFO_WIDTH (&info), height = GST_VIDEO_INFO_HEIGHT (&info);
  crop->x = (gint) (view->left * width);
  crop->y = (gint) (view->top * height);
  crop->width = MAX ((gint) (view->right * width) - crop->x, 1);
  crop->height = MAX ((gint) (view->bottom * height) - crop->y, 1);
  return TRUE;
}

/* What the layers of the model make of a picture, for values that were not tried before. */
static gboolean
look_at_layers (SlTrial *trial, const void *tensor, GError **error)
{
  if (trial->first != NULL)
    sl_first_layer_see (trial->first, tensor);
  return trial->later == NULL || sl_later_layers_see (trial->later, tensor, error);
}

static gboolean
run_view (SlTrial *trial, const SlReading *reading, GstSample *frame, const View *view,
          SlSighting *sighting, GError **error)
{
  static const SlResult nothing;
  const SlContract *contract = sl_model_contract (trial->model);
  SlNormalizeSpec spec = trial->spec;
  SlAffine map;
  gint width, height;
  sl_reading_spec (reading, &spec);
  for (guint c = 0; c < 3; c++)
    spec.gain[c] *= view->light;
  spec.orientation = view->mirrored ? SL_ORIENTATION_HORIZ : SL_ORIENTATION_IDENTITY;
  if (!crop_of (view, frame, &spec.crop))
    spec.crop = (SlRect){ 0 };
  sl_pictures_set_spec (trial->pictures, &spec);
  const void *tensor = sl_pictures_load_frame (trial->pictures, frame, error);
  if (tensor == NULL)
    return FALSE;
  if (view == views && isnan (reading->layers) && !look_at_layers (trial, tensor, error))
    return FALSE;
  sl_session_forget (trial->session); /* pictures are no sequence */
  const SlStatus status = sl_session_run (trial->session, &tensor, trial->outputs);
  if (status != SL_STATUS_OK) {
    g_set_error (error, SL_ERROR, SL_ERROR_BACKEND, "%s: %s", contract->model,
                 sl_session_status_text (trial->session, status));
    return FALSE;
  }
  const SlResult *result =
    trial->decoding != NULL
      ? sl_decoding_run (trial->decoding, (const void *const *) trial->outputs)
      : NULL;
  if (result != NULL && !sl_decoding_agrees (trial->decoding, NULL, NULL))
    result = &nothing;
  sl_pictures_map (trial->pictures, &map, &width, &height);
  sighting->left = view->left;
  sighting->top = view->top;
  sighting->right = view->right;
  sighting->bottom = view->bottom;
  sl_sighting_take (sighting, result, trial->kind, contract->outputs,
                    (const void *const *) trial->outputs, contract->n_outputs, &map,
                    trial->spec.width, trial->spec.height, width, height);
  return TRUE;
}

static void
forget_layers (SlTrial *trial)
{
  if (trial->first != NULL)
    sl_first_layer_forget (trial->first);
  if (trial->later != NULL)
    sl_later_layers_forget (trial->later);
}

static gdouble
layers_of (const SlTrial *trial, const SlReading *reading)
{
  SlLayerFit first = { 0 };
  if (trial->first != NULL)
    sl_first_layer_fit (trial->first, sl_reading_usual (reading), &first);
  const gdouble norm = trial->first != NULL ? sl_first_layer_norm (trial->first) : NAN;
  if (!isnan (norm))
    return norm;
  if (first.n == 0 && trial->later == NULL)
    return NAN;
  return sl_weigh_layers (&first, trial->later != NULL ? sl_later_layers_off (trial->later) : 0);
}

gboolean
sl_trial_run (SlTrial *trial, SlReading *reading, GError **error)
{
  const guint n = trial->frames->len;
  g_autofree gdouble *scores = g_new0 (gdouble, n);
  forget_layers (trial);
  if (!reopen_decoding (trial, error))
    return FALSE;
  for (guint p = 0; p < n; p++)
    for (guint v = 0; v < trial->n_views; v++)
      if (!run_view (trial, reading, trial->frames->pdata[p], &views[v],
                     &trial->sightings[p * trial->n_views + v], error))
        return FALSE;
  if (isnan (reading->layers))
    reading->layers = layers_of (trial, reading);
  const SlSightings sightings = { trial->sightings, n, trial->n_views, trial->n_moved };
  sl_sightings_score (&sightings, scores);
  g_array_set_size (reading->score_of, 0);
  g_array_append_vals (reading->score_of, scores, n);
  reading->said = 0;
  for (guint p = 0; p < n; p++)
    reading->said += scores[p] / n;
  return TRUE;
}
