/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures become tensors and outputs results as in a pipeline; boxes are compared in pixels of the picture. */
#include "tools/eval/contender.h"

#include <math.h>
#include <string.h>

#include "base/thread_count.h"
#include "base/percentile.h"
#include "base/show.h"
#include "base/suggest.h"
#include "core/runtime/session.h"
#include "models/model.h"
#include "predict/contractspec.h"
#include "predict/opendecoding.h"
#include "sightline/error.h"

struct _SlContender
{
  char *path;
  SlModel *model;
  SlSession *session;
  SlDecoding *decoding;
  SlLabels *labels; /* (nullable) */
  SlNormalizeSpec spec;
  void *outputs[SL_MAX_IO];
  GArray *times, *ids; /* of gint64, us; of gint32: the model's class for each of the data set */
  SlClassScore *classes;
  SlBoxScore *boxes; /* NULL: it names pictures */
};

void
sl_contender_free (SlContender *contender)
{
  if (contender == NULL)
    return;
  g_free (contender->path);
  g_clear_pointer (&contender->session, sl_session_free);
  g_clear_pointer (&contender->decoding, sl_decoding_free);
  g_clear_pointer (&contender->labels, sl_labels_unref);
  g_clear_pointer (&contender->model, sl_model_unref);
  for (guint i = 0; i < SL_MAX_IO; i++)
    sl_tensor_buffer_free (contender->outputs[i]);
  g_array_unref (contender->times);
  g_array_unref (contender->ids);
  sl_class_score_free (contender->classes);
  sl_box_score_free (contender->boxes);
  g_free (contender);
}

static SlDecoding *
open_with (SlContender *contender, gdouble threshold, gint most, GError **error)
{
  SlContract *contract = sl_model_contract (contender->model);
  const SlDecodingSettings how = { .threshold = threshold, .max_results = most };
  g_clear_pointer (&contender->labels, sl_labels_unref);
  return sl_decoding_open (contract, contract->outputs, contract->n_outputs, &how, &contender->labels, error);
}

static gboolean
open_decoding (SlContender *contender, gdouble threshold, GError **error)
{
  static const char *const others[] = { "image", "segmentation" };
  contender->decoding = open_with (contender, threshold, SL_MAX_RESULTS, error);
  if (contender->decoding == NULL)
    return FALSE;
  const char *name = sl_decoding_decoder (contender->decoding)->name;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    if (!g_str_equal (name, others[i]))
      continue;
    g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED, "its decoder is '%s'; expected a model that names pictures or finds boxes", name);
    return FALSE;
  }
  if (!g_str_equal (name, "labels")) {
    contender->boxes = sl_box_score_new ();
    return TRUE;
  }
  contender->classes = sl_class_score_new ();
  sl_decoding_free (contender->decoding);
  contender->decoding = open_with (contender, 0, SL_CLASS_SCORE_BEST, error);
  return contender->decoding != NULL;
}

static gboolean
open_session (SlContender *contender, guint threads, GError **error)
{
  SlGraph *graph = sl_model_graph (contender->model);
  const SlContract *contract = sl_model_contract (contender->model);
  if (!sl_contract_require_range (contract, error))
    return FALSE;
  if (sl_graph_n_inputs (graph) != 1 || !sl_contract_spec (contract, &contender->spec)) {
    g_set_error (error, SL_ERROR, SL_ERROR_SHAPE, "%s: has %u inputs; expected one input, a picture", contender->path,
                 sl_graph_n_inputs (graph));
    return FALSE;
  }
  gboolean good = TRUE;
  for (guint i = 0; i < sl_graph_n_outputs (graph) && good; i++)
    good = (contender->outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes)) != NULL;
  if (!good)
    g_set_error (error, SL_ERROR, SL_ERROR_LIMIT, "%s: not enough memory for the model's outputs", contender->path);
  contender->session = good ? sl_session_new (graph, threads, error) : NULL;
  return contender->session != NULL;
}

SlContender *
sl_contender_new (const char *path, const SlModelOptions *options, gdouble threshold, GError **error)
{
  const SlModelLoadOptions how = sl_limit_options_load (&options->limits, TRUE);
  const SlContractOverrides overrides = sl_model_options_overrides (options);
  g_autoptr (SlContender) contender = g_new0 (SlContender, 1);
  contender->path = g_strdup (path);
  contender->spec.filter = SL_FILTER_AUTO;
  contender->times = g_array_new (FALSE, FALSE, sizeof (gint64));
  contender->ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  contender->model = sl_model_load_with (path, &overrides, &how, error);
  if (contender->model == NULL || !open_session (contender, sl_threads_resolve (options->threads), error))
    return NULL;
  if (open_decoding (contender, threshold, error))
    return g_steal_pointer (&contender);
  g_prefix_error (error, "%s: ", path);
  return NULL;
}

const char *
sl_contender_path (const SlContender *contender)
{
  return contender->path;
}

gboolean
sl_contender_finds_boxes (const SlContender *contender)
{
  return contender->boxes != NULL;
}

/* (transfer none) (nullable): the name of a class, by the labels or else by the decoder; *@n of them are known. */
static const char *
name_of (const SlContender *contender, guint label, guint *n)
{
  const char *const *names = sl_decoding_decoder (contender->decoding)->names;
  *n = contender->labels != NULL ? sl_labels_count (contender->labels) : names != NULL ? g_strv_length ((char **) names) : 0;
  if (label >= *n)
    return NULL;
  return contender->labels != NULL ? sl_labels_get (contender->labels, label) : names[label];
}

char *
sl_contender_label (const SlContender *contender, gint32 label)
{
  guint n;
  const char *name = label >= 0 ? name_of (contender, (guint) label, &n) : NULL;
  if (name != NULL)
    return sl_show (name, SL_SHOW_LABEL);
  return label >= 0 ? g_strdup_printf ("%d", label) : g_strdup ("nothing");
}

/* (transfer full): case does not count, and a blank may be an underscore, as in names of folders. */
static char *
folded (const char *name)
{
  g_autofree char *text = g_utf8_make_valid (name, -1);
  return g_strdelimit (g_utf8_casefold (text, -1), "_", ' ');
}

/** Where a name stands among the labels; @again: for the second time, -1 = once. */
typedef struct
{
  gint32 label, again;
} Place;

/* Puts @name of class @label among @places. */
static void
add_place (GHashTable *places, const char *name, gint32 label)
{
  g_autofree char *key = folded (name);
  Place *known = g_hash_table_lookup (places, key);
  const Place place = { label, -1 };
  if (known == NULL)
    g_hash_table_insert (places, g_steal_pointer (&key), g_memdup2 (&place, sizeof place));
  else if (known->label != label)
    known->again = label;
}

/* (transfer full): folded name -> Place; with @parts the names between the commas of "tench, Tinca tinca". */
static GHashTable *
places_of_names (const SlContender *contender, gboolean parts)
{
  GHashTable *places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  guint n = 0;
  name_of (contender, 0, &n);
  for (guint i = 0; i < n; i++) {
    const char *name = name_of (contender, i, &n);
    g_auto (GStrv) names = name != NULL && parts ? g_strsplit (name, ",", -1) : NULL;
    if (name != NULL && !parts)
      add_place (places, name, (gint32) i);
    for (guint k = 0; names != NULL && names[k] != NULL; k++)
      add_place (places, g_strstrip (names[k]), (gint32) i);
  }
  return places;
}

static gboolean
refuse_class (const SlContender *contender, const SlTrueClass *class, guint count, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, (gsize) count + 1);
  guint n = 0;
  for (guint i = 0; i < count; i++)
    names[i] = name_of (contender, i, &n);
  if (class->name == NULL || (class->number >= 0 && count > 0)) {
    g_set_error (error, SL_ERROR, SL_ERROR_LABELS, "%s: class %d is none of %s; expected 0..%u", class->where, class->number,
                 contender->path, MAX (count, 1) - 1);
    return FALSE;
  }
  g_autofree char *near =
    n > 0 ? sl_suggest_text (class->name, names, count) : g_strdup ("; expected a number: it has no labels (--labels gives them)");
  g_set_error (error, SL_ERROR, SL_ERROR_LABELS, "%s: '%s' is no class of %s%s", class->where, class->name, contender->path, near);
  return FALSE;
}

static gboolean
learn_class (SlContender *contender, GHashTable *names, GHashTable *parts, const SlTrueClass *class, GError **error)
{
  g_autofree char *key = class->name != NULL ? folded (class->name) : NULL;
  const Place *place = key != NULL ? g_hash_table_lookup (names, key) : NULL;
  if (place == NULL && key != NULL && class->number < 0)
    place = g_hash_table_lookup (parts, key);
  gint32 label = place != NULL ? place->label : class->number;
  guint named = 0;
  name_of (contender, 0, &named);
  const guint count = named > 0 ? named : sl_decoding_classes (contender->decoding);
  if (place != NULL && place->again >= 0) {
    g_set_error (error, SL_ERROR, SL_ERROR_LABELS, "%s: '%s' is the name of classes %d and %d of %s; expected the number of one of them",
                 class->where, class->name, label, place->again, contender->path);
    return FALSE;
  }
  if (label < 0 || (count > 0 && (guint) label >= count))
    return refuse_class (contender, class, count, error);
  g_array_append_val (contender->ids, label);
  return TRUE;
}

gboolean
sl_contender_learn (SlContender *contender, const SlDataset *dataset, GError **error)
{
  g_autoptr (GHashTable) names = places_of_names (contender, FALSE), parts = places_of_names (contender, TRUE);
  for (guint i = 0; i < dataset->classes->len; i++)
    if (!learn_class (contender, names, parts, dataset->classes->pdata[i], error))
      return FALSE;
  return TRUE;
}

SlPictures *
sl_contender_pictures (const SlContender *contender, const char *command, SlSpawner *spawner)
{
  return sl_pictures_new (command, spawner, &contender->spec, sl_graph_input_tensor (sl_model_graph (contender->model), 0)->bytes);
}

/* (transfer full) (element-type SlEvalBox): what is true of @sample, in pixels of the picture. */
static GArray *
true_boxes (const SlContender *contender, const SlSample *sample, gint width, gint height)
{
  GArray *boxes = g_array_new (FALSE, FALSE, sizeof (SlEvalBox));
  const gdouble x = sample->in_pixels ? 1 : width, y = sample->in_pixels ? 1 : height;
  for (guint i = 0; sample->boxes != NULL && i < sample->boxes->len; i++) {
    SlEvalBox box = g_array_index (sample->boxes, SlEvalBox, i);
    box.label = g_array_index (contender->ids, gint32, box.label);
    box.x_min *= x;
    box.x_max *= x;
    box.y_min *= y;
    box.y_max *= y;
    g_array_append_val (boxes, box);
  }
  return boxes;
}

/* (transfer full) (element-type SlEvalBox): boxes of @result in pixels of the picture, clipped to it. */
static GArray *
found_boxes (const SlContender *contender, const SlResult *result, const SlAffine *map, gint width, gint height)
{
  GArray *boxes = g_array_new (FALSE, FALSE, sizeof (SlEvalBox));
  for (guint i = 0; i < result->n_detections; i++) {
    const SlDetection *one = &result->detections[i];
    const gdouble w = contender->spec.width, h = contender->spec.height;
    const gdouble in[4] = { (gdouble) one->x_min * w, (gdouble) one->y_min * h, (gdouble) one->x_max * w, (gdouble) one->y_max * h };
    gdouble out[4];
    sl_affine_box (map, in, out);
    const SlEvalBox box = { CLAMP (out[0], 0, width),  CLAMP (out[1], 0, height), CLAMP (out[2], 0, width),
                            CLAMP (out[3], 0, height), (gdouble) one->confidence, .label = one->label_id };
    if (box.x_max > box.x_min && box.y_max > box.y_min)
      g_array_append_val (boxes, box);
  }
  return boxes;
}

static void
count_boxes (SlContender *contender, const SlPictures *pictures, const SlSample *sample, const SlResult *result)
{
  SlAffine map;
  gint width, height;
  sl_pictures_map (pictures, &map, &width, &height);
  g_autoptr (GArray) truth = true_boxes (contender, sample, width, height), found = found_boxes (contender, result, &map, width, height);
  sl_box_score_add (contender->boxes, (const SlEvalBox *) (void *) truth->data, truth->len, (const SlEvalBox *) (void *) found->data,
                    found->len);
}

gboolean
sl_contender_run (SlContender *contender, const SlPictures *pictures, const SlSample *sample, const void *tensor, GError **error)
{
  const gint64 started = g_get_monotonic_time ();
  const SlStatus status = sl_session_run (contender->session, &tensor, contender->outputs);
  const gint64 took = g_get_monotonic_time () - started;
  if (status != SL_STATUS_OK) {
    g_set_error (error, SL_ERROR, SL_ERROR_BACKEND, "%s: %s", contender->path, sl_session_status_text (contender->session, status));
    return FALSE;
  }
  g_array_append_val (contender->times, took);
  const SlResult *result = sl_decoding_run (contender->decoding, (const void *const *) contender->outputs);
  if (contender->boxes != NULL) {
    count_boxes (contender, pictures, sample, result);
    return TRUE;
  }
  gint32 best[SL_CLASS_SCORE_BEST];
  const guint n = MIN (result->n_classes, SL_CLASS_SCORE_BEST);
  for (guint i = 0; i < n; i++)
    best[i] = result->classes[i].label_id;
  sl_class_score_add (contender->classes, g_array_index (contender->ids, gint32, sample->truth), best, n);
  return TRUE;
}

SlClassScore *
sl_contender_classes (const SlContender *contender)
{
  return contender->classes;
}

SlBoxScore *
sl_contender_boxes (const SlContender *contender)
{
  return contender->boxes;
}

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const gint64 one = *(const gint64 *) a, two = *(const gint64 *) b;
  return (one > two) - (one < two);
}

gdouble
sl_contender_ms (SlContender *contender)
{
  GArray *times = contender->times;
  if (times->len == 0)
    return NAN;
  g_array_sort (times, compare_times);
  return (gdouble) g_array_index (times, gint64, sl_percentile_index (times->len, 50)) / 1000;
}
