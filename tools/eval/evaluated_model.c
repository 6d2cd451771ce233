/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures become tensors and outputs results as in a pipeline; boxes are compared in pixels of the
 * picture. */
#include "tools/eval/evaluated_model.h"

#include <math.h>
#include <string.h>

#include "core/base/thread_count.h"
#include "core/base/percentile.h"
#include "core/base/printable.h"
#include "core/base/suggest.h"
#include "core/runtime/session.h"
#include "models/model.h"
#include "predict/contractspec.h"
#include "predict/opendecoding.h"
#include "core/base/fail.h"
#include "tools/eval/class_map.h"

struct _SlEvaluatedModel
{
  char *path;
  SlModel *model;
  SlSession *session;
  SlDecoding *decoding;
  SlLabels *labels; /* (nullable) */
  SlNormalizeSpec spec;
  void *outputs[SL_MAX_IO];
  GArray *times, *ids; /* of gint64, us; of gint32: the model's class for each of the data set, -1 =
                          no map has it */
  GArray *seen;        /* of SlSeenPicture */
  SlTruthKind kind;
  gboolean numbered; /* maps have the numbers of its classes */
  SlClassScore *classes;
  SlMeasures measures;
  SlCellScore *cells;
};

void
sl_evaluated_model_free (SlEvaluatedModel *contender)
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
  g_array_unref (contender->seen);
  sl_class_score_free (contender->classes);
  sl_measures_clear (&contender->measures);
  g_free (contender->cells);
  g_free (contender);
}

static SlDecoding *
open_with (SlEvaluatedModel *contender, const char *decoder, gdouble threshold, gint most,
           GError **error)
{
  SlContract *contract = sl_model_contract (contender->model);
  const SlDecodingSettings how = { .decoder = decoder,
                                   .threshold = threshold,
                                   .max_results = most };
  g_clear_pointer (&contender->labels, sl_labels_unref);
  return sl_decoding_open (contract, contract->outputs, contract->n_outputs, &how,
                           &contender->labels, error);
}

static gboolean
open_decoding (SlEvaluatedModel *contender, gdouble threshold, GError **error)
{
  contender->decoding = open_with (contender, NULL, threshold, SL_MAX_RESULTS, error);
  if (contender->decoding == NULL)
    return FALSE;
  /* Numbers that nothing names are scores of the data set's classes. */
  const char *decoder =
    sl_decoding_scores_decoder (contender->decoding, sl_model_contract (contender->model));
  const char *name = decoder != NULL ? decoder : sl_decoding_decoder (contender->decoding)->name;
  if (g_str_equal (name, "image") || g_str_equal (name, "vector") || g_str_equal (name, "text"))
    return sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "its decoder is '%s'; expected a model that names pictures or their pixels, or finds boxes%s",
      name, g_str_equal (name, "vector") ? " (--decoder labels for scores of classes)" : "");
  contender->kind = g_str_equal (name, "labels") || g_str_equal (name, "words") ? SL_TRUTH_CLASSES
                    : g_str_equal (name, "segmentation")                        ? SL_TRUTH_CELLS
                                                                                : SL_TRUTH_OBJECTS;
  if (contender->kind == SL_TRUTH_CELLS)
    contender->cells = g_new0 (SlCellScore, 1);
  if (contender->kind != SL_TRUTH_CLASSES)
    return TRUE;
  contender->classes = sl_class_score_new ();
  sl_decoding_free (contender->decoding);
  contender->decoding = open_with (contender, decoder, 0, SL_CLASS_SCORE_BEST, error);
  return contender->decoding != NULL;
}

static gboolean
open_session (SlEvaluatedModel *contender, guint threads, GError **error)
{
  SlGraph *graph = sl_model_graph (contender->model);
  const SlContract *contract = sl_model_contract (contender->model);
  if (!sl_contract_spec (contract, &contender->spec))
    return sl_fail (error, SL_ERROR_SHAPE,
                    "%s: its input is no picture; expected one of 1 or 3 channels",
                    contender->path);
  if (!sl_contract_require_one_input (contract, error)
      || !sl_contract_require_range (contract, error))
    return FALSE;
  gboolean good = TRUE;
  for (guint i = 0; i < sl_graph_n_outputs (graph) && good; i++)
    good = (contender->outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes))
           != NULL;
  if (!good)
    sl_fail (error, SL_ERROR_LIMIT, "%s: not enough memory for the model's outputs",
             contender->path);
  contender->session = good ? sl_session_new (graph, threads, error) : NULL;
  return contender->session != NULL;
}

SlEvaluatedModel *
sl_evaluated_model_new (const char *path, const SlModelOptions *options, gdouble threshold,
                        GError **error)
{
  const SlModelLoadOptions how = sl_model_options_load (options, TRUE);
  g_autoptr (SlEvaluatedModel) contender = g_new0 (SlEvaluatedModel, 1);
  contender->path = g_strdup (path);
  contender->spec.filter = SL_FILTER_AUTO;
  contender->times = g_array_new (FALSE, FALSE, sizeof (gint64));
  contender->ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  contender->seen = g_array_new (FALSE, FALSE, sizeof (SlSeenPicture));
  contender->model = sl_model_load_with (path, &options->settings, &how, error);
  if (contender->model == NULL
      || !open_session (contender, sl_threads_resolve (options->threads), error))
    return NULL;
  if (open_decoding (contender, threshold, error))
    return g_steal_pointer (&contender);
  g_prefix_error (error, "%s: ", path);
  return NULL;
}

const char *
sl_evaluated_model_path (const SlEvaluatedModel *contender)
{
  return contender->path;
}

SlTruthKind
sl_evaluated_model_kind (const SlEvaluatedModel *contender)
{
  return contender->kind;
}

/* (transfer none) (nullable): the name of a class, by the labels or else by the decoder; *@n of
 * them are known. */
static const char *
name_of (const SlEvaluatedModel *contender, guint label, guint *n)
{
  const char *const *names = sl_decoding_names (contender->decoding, NULL);
  *n = contender->labels != NULL ? sl_labels_count (contender->labels)
       : names != NULL           ? g_strv_length ((char **) names)
                                 : 0;
  if (label >= *n)
    return NULL;
  return contender->labels != NULL ? sl_labels_get (contender->labels, label) : names[label];
}

char *
sl_evaluated_model_label (const SlEvaluatedModel *contender, gint32 label)
{
  guint n;
  const char *name = label >= 0 ? name_of (contender, (guint) label, &n) : NULL;
  if (name != NULL)
    return sl_printable (name, SL_PRINTABLE_LABEL);
  return label >= 0 ? g_strdup_printf ("%d", label) : g_strdup ("nothing");
}

/* (transfer full): case does not count, and a blank may be an underscore, as in names of folders.
 */
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

/* (transfer full): folded name -> Place; with @parts the names between the commas of "tench, Tinca
 * tinca". */
static GHashTable *
places_of_names (const SlEvaluatedModel *contender, gboolean parts)
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
refuse_class (const SlEvaluatedModel *contender, const SlTrueClass *class, guint count,
              GError **error)
{
  g_autofree const char **names = g_new0 (const char *, (gsize) count + 1);
  guint n = 0;
  for (guint i = 0; i < count; i++)
    names[i] = name_of (contender, i, &n);
  if (class->name == NULL || (class->number >= 0 && count > 0))
    return sl_fail (error, SL_ERROR_LABELS, "%s: class %d is none of %s; expected 0..%u",
                    class->where, class->number, contender->path, MAX (count, 1) - 1);
  g_autofree char *near =
    n > 0 ? sl_suggest_text (class->name, names, count)
          : g_strdup ("; expected a number: it has no labels (--labels gives them)");
  return sl_fail (error, SL_ERROR_LABELS, "%s: '%s' is no class of %s%s", class->where, class->name,
                  contender->path, near);
}

static gboolean
learn_class (SlEvaluatedModel *contender, GHashTable *names, GHashTable *parts,
             const SlTrueClass *class, GError **error)
{
  g_autofree char *key = class->name != NULL ? folded (class->name) : NULL;
  const Place *place = key != NULL ? g_hash_table_lookup (names, key) : NULL;
  if (place == NULL && key != NULL && class->number < 0)
    place = g_hash_table_lookup (parts, key);
  gint32 label = place != NULL ? place->label : class->number;
  guint named = 0;
  name_of (contender, 0, &named);
  const guint count = named > 0 ? named : sl_decoding_classes (contender->decoding);
  if (place != NULL && place->again >= 0)
    return sl_fail (
      error, SL_ERROR_LABELS,
      "%s: '%s' is the name of classes %d and %d of %s; expected the number of one of them",
      class->where, class->name, label, place->again, contender->path);
  if (label < 0 || (count > 0 && (guint) label >= count))
    return refuse_class (contender, class, count, error);
  if (contender->kind == SL_TRUTH_CELLS && label >= SL_CELL_VOID)
    return sl_fail (error, SL_ERROR_LABELS,
                    "%s: '%s' is class %d of %s; expected 0..%d, the classes that pixels can be of",
                    class->where, class->name, label, contender->path, SL_CELL_VOID - 1);
  g_array_append_val (contender->ids, label);
  return TRUE;
}

/* Whether the number @value of the map @path is that of a class. */
static gboolean
check_number (const SlEvaluatedModel *contender, guint8 value, const char *path, GError **error)
{
  const guint known =
    contender->numbered ? sl_decoding_classes (contender->decoding) : contender->ids->len;
  if (known == 0
      || (value < known
          && (contender->numbered || g_array_index (contender->ids, gint32, value) >= 0)))
    return TRUE;
  return sl_fail (error, SL_ERROR_LABELS,
                  "%s: class %u is none of %s; expected 0..%u, or %d where nothing is known", path,
                  value, contender->path, known - 1, SL_CELL_VOID);
}

static void
open_measures (SlEvaluatedModel *contender, const SlDataset *dataset)
{
  SlObjectScore **scores = contender->measures.scores;
  scores[SL_MEASURE_BOXES] = sl_object_score_new (SL_OBJECT_SCORE_MOST);
  contender->measures.pairs = sl_object_pairs_new ();
  if (dataset->masks)
    scores[SL_MEASURE_MASKS] = sl_object_score_new (SL_OBJECT_SCORE_MOST);
  if (dataset->points)
    scores[SL_MEASURE_POINTS] = sl_object_score_new (SL_OBJECT_SCORE_MAX_POINTS);
}

/* Whether anything is of class @index of the data set. classes.txt of maps may name more, such as
 * "background", than the model knows. */
static gboolean
is_used (const SlDataset *dataset, guint index)
{
  return dataset->kind != SL_TRUTH_CELLS
         || (index < G_N_ELEMENTS (dataset->numbers) && dataset->numbers[index] != NULL);
}

gboolean
sl_evaluated_model_learn (SlEvaluatedModel *contender, const SlDataset *dataset, GError **error)
{
  if (contender->kind == SL_TRUTH_OBJECTS)
    open_measures (contender, dataset);
  contender->numbered = dataset->numbered;
  g_autoptr (GHashTable) names = places_of_names (contender, FALSE),
                         parts = places_of_names (contender, TRUE);
  for (guint i = 0; i < dataset->classes->len; i++) {
    const gint32 none = -1;
    if (!is_used (dataset, i))
      g_array_append_val (contender->ids, none);
    else if (!learn_class (contender, names, parts, dataset->classes->pdata[i], error))
      return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (dataset->numbers); i++)
    if (dataset->numbers[i] != NULL
        && !check_number (contender, (guint8) i, dataset->numbers[i], error))
      return FALSE;
  return TRUE;
}

SlPictures *
sl_evaluated_model_pictures (const SlEvaluatedModel *contender, const char *command,
                             SlSpawner *spawner)
{
  return sl_pictures_new (command, spawner, &contender->spec,
                          sl_graph_input_tensor (sl_model_graph (contender->model), 0)->bytes);
}

/* (transfer full) (element-type SlGroundTruth): what is true of @sample, in pixels of the picture;
 * the parts stay the sample's. */
static GArray *
true_objects (const SlEvaluatedModel *contender, const SlSample *sample, gint width, gint height)
{
  GArray *objects = g_array_new (FALSE, FALSE, sizeof (SlGroundTruth));
  const gdouble x = sample->in_pixels ? 1 : width, y = sample->in_pixels ? 1 : height;
  for (guint i = 0; sample->objects != NULL && i < sample->objects->len; i++) {
    SlGroundTruth truth = g_array_index (sample->objects, SlGroundTruth, i);
    truth.label = g_array_index (contender->ids, gint32, truth.label);
    truth.box.x_min *= x;
    truth.box.x_max *= x;
    truth.box.y_min *= y;
    truth.box.y_max *= y;
    g_array_append_val (objects, truth);
  }
  return objects;
}

/* A model without masks or keypoints is measured by its boxes alone. */
static void
close_measures (SlEvaluatedModel *contender, const SlResult *result)
{
  if (result->n_detections == 0)
    return;
  if (result->masks == NULL)
    g_clear_pointer (&contender->measures.scores[SL_MEASURE_MASKS], sl_object_score_free);
  if (result->skeleton == NULL || result->skeleton->n_points != SL_EVAL_POINTS)
    g_clear_pointer (&contender->measures.scores[SL_MEASURE_POINTS], sl_object_score_free);
}

static gboolean
count_objects (SlEvaluatedModel *contender, const SlSight *sight, const SlSample *sample,
               const SlResult *result, GError **error)
{
  if (sample->width > 0
      && ((gint) sample->width != sight->width || (gint) sample->height != sight->height))
    return sl_fail (
      error, SL_ERROR_SHAPE, "%s: has %dx%d pixels; expected %ux%u, as the data set says",
      sample->input->name, sight->width, sight->height, sample->width, sample->height);
  close_measures (contender, result);
  g_autoptr (GArray) truths = true_objects (contender, sample, sight->width, sight->height);
  sl_measures_add (&contender->measures, truths, result, sight);
  return TRUE;
}

/* Numbers of a map become the model's classes. They were checked, but a file may change. */
static gboolean
translate_map (const SlEvaluatedModel *contender, SlClassMap *map, const char *path, GError **error)
{
  for (gsize i = 0; i < (gsize) map->width * map->height; i++) {
    if (map->cells[i] == SL_CELL_VOID)
      continue;
    if (!check_number (contender, map->cells[i], path, error))
      return FALSE;
    if (!contender->numbered)
      map->cells[i] = (guint8) g_array_index (contender->ids, gint32, map->cells[i]);
  }
  return TRUE;
}

/* The class of each pixel of the picture: that of the cell that its middle lies in. */
static void
count_pixels (SlEvaluatedModel *contender, const SlSight *sight, const SlClassMap *map,
              const SlClassMask *mask)
{
  g_autofree guint8 *found = g_malloc (MAX (map->width, 1));
  SlAffine back;
  const gboolean maps = sl_affine_invert (sight->map, &back);
  for (guint y = 0; y < map->height; y++) {
    for (guint x = 0; x < map->width; x++) {
      double tx = -1, ty = -1;
      if (maps)
        sl_affine_apply (&back, x + 0.5, y + 0.5, &tx, &ty);
      const double column = floor (tx * mask->width / sight->tensor_width),
                   row = floor (ty * mask->height / sight->tensor_height);
      const gboolean inside = column >= 0 && row >= 0 && column < mask->width && row < mask->height;
      found[x] = inside ? mask->classes[(gsize) row * mask->width + (gsize) column] : SL_CELL_VOID;
    }
    sl_cell_score_add (contender->cells, map->cells + (gsize) y * map->width, found, map->width);
  }
}

static gboolean
count_cells (SlEvaluatedModel *contender, const SlSight *sight, const SlSample *sample,
             const SlResult *result, SlSeenPicture *seen, GError **error)
{
  const guint64 pixels = contender->cells->pixels, right = contender->cells->right;
  SlClassMap map = { 0 };
  gboolean good = sl_class_map_read (sample->map, &map, error);
  if (good && ((gint) map.width != sight->width || (gint) map.height != sight->height)) {
    sl_fail (error, SL_ERROR_SHAPE, "%s: has %ux%u pixels; expected %dx%d, as its picture has",
             sample->map, map.width, map.height, sight->width, sight->height);
    good = FALSE;
  }
  good = good && translate_map (contender, &map, sample->map, error);
  if (good)
    count_pixels (contender, sight, &map, &result->mask);
  g_free (map.cells);
  seen->pixels = contender->cells->pixels - pixels;
  seen->right = contender->cells->right - right;
  return good;
}

static void
count_classes (SlEvaluatedModel *contender, const SlSample *sample, const SlResult *result,
               SlSeenPicture *seen)
{
  gint32 best[SL_CLASS_SCORE_BEST];
  const guint n = MIN (result->n_classes, SL_CLASS_SCORE_BEST);
  for (guint i = 0; i < n; i++)
    best[i] = result->classes[i].label_id;
  seen->truth = g_array_index (contender->ids, gint32, sample->truth);
  seen->guess = n > 0 ? best[0] : SL_CLASS_SCORE_NONE;
  seen->confidence = n > 0 ? (gdouble) result->classes[0].confidence : 0;
  sl_class_score_add (contender->classes, seen->truth, best, n);
}

/* What the model says of the picture @index, against what is true of it. */
static gboolean
count_picture (SlEvaluatedModel *contender, const SlSight *sight, const SlDataset *dataset,
               guint index, const SlResult *result, GError **error)
{
  const SlSample *sample = &g_array_index (dataset->samples, SlSample, index);
  SlSeenPicture seen = { .sample = index };
  if (contender->kind == SL_TRUTH_OBJECTS
        ? !count_objects (contender, sight, sample, result, error)
        : contender->kind == SL_TRUTH_CELLS
            && !count_cells (contender, sight, sample, result, &seen, error))
    return FALSE;
  if (contender->kind == SL_TRUTH_CLASSES)
    count_classes (contender, sample, result, &seen);
  g_array_append_val (contender->seen, seen);
  return TRUE;
}

gboolean
sl_evaluated_model_run (SlEvaluatedModel *contender, const SlPictures *pictures,
                        const SlDataset *dataset, guint index, const void *tensor, GError **error)
{
  sl_session_forget (contender->session); /* pictures are no sequence */
  const gint64 started = g_get_monotonic_time ();
  const SlStatus status = sl_session_run (contender->session, &tensor, contender->outputs);
  const gint64 took = g_get_monotonic_time () - started;
  if (status != SL_STATUS_OK)
    return sl_fail (error, SL_ERROR_BACKEND, "%s: %s", contender->path,
                    sl_session_status_text (contender->session, status));
  g_array_append_val (contender->times, took);
  const SlResult *result =
    sl_decoding_run (contender->decoding, (const void *const *) contender->outputs);
  if (!sl_decoding_agrees (contender->decoding, contender->path, error))
    return FALSE;
  SlAffine map;
  SlSight sight = { .map = &map,
                    .tensor_width = contender->spec.width,
                    .tensor_height = contender->spec.height };
  sl_pictures_map (pictures, &map, &sight.width, &sight.height);
  return count_picture (contender, &sight, dataset, index, result, error);
}

const GArray *
sl_evaluated_model_seen (const SlEvaluatedModel *contender)
{
  return contender->seen;
}

SlClassScore *
sl_evaluated_model_classes (const SlEvaluatedModel *contender)
{
  return contender->classes;
}

SlObjectScore *
sl_evaluated_model_objects (const SlEvaluatedModel *contender, SlMeasure measure)
{
  return contender->measures.scores[measure];
}

const SlCellScore *
sl_evaluated_model_cells (const SlEvaluatedModel *contender)
{
  return contender->cells;
}

GArray *
sl_evaluated_model_answers (const SlEvaluatedModel *contender, SlMeasure measure)
{
  if (contender->kind == SL_TRUTH_OBJECTS)
    return sl_object_score_answers (contender->measures.scores[measure]);
  GArray *answers = g_array_new (FALSE, FALSE, sizeof (SlAnswer));
  for (guint i = 0; i < contender->seen->len && contender->kind == SL_TRUTH_CLASSES; i++) {
    const SlSeenPicture *seen = &g_array_index (contender->seen, SlSeenPicture, i);
    const SlAnswer answer = { seen->confidence, seen->guess, i, seen->guess == seen->truth };
    if (seen->guess != SL_CLASS_SCORE_NONE)
      g_array_append_val (answers, answer);
  }
  sl_answers_sort (answers);
  return answers;
}

static GArray *
matrix_of_classes (const SlEvaluatedModel *contender)
{
  SlClassFigures all;
  g_autoptr (GArray) classes = sl_class_score_figures (contender->classes, &all),
                     wrong = sl_class_score_confusions (contender->classes);
  GArray *matrix = g_array_new (FALSE, FALSE, sizeof (SlMatrixCell));
  for (guint i = 0; i < classes->len; i++) {
    const SlClassFigures *one = &g_array_index (classes, SlClassFigures, i);
    const SlMatrixCell cell = { one->label, one->label, one->right };
    if (one->right > 0)
      g_array_append_val (matrix, cell);
  }
  for (guint i = 0; i < wrong->len; i++) {
    const SlConfusion *one = &g_array_index (wrong, SlConfusion, i);
    const SlMatrixCell cell = { one->truth, one->guess, one->pictures };
    g_array_append_val (matrix, cell);
  }
  return matrix;
}

static GArray *
matrix_of_cells (const SlCellScore *score)
{
  GArray *matrix = g_array_new (FALSE, FALSE, sizeof (SlMatrixCell));
  for (gint32 truth = 0; truth < SL_CELL_VOID; truth++)
    for (gint32 guess = 0; guess <= SL_CELL_VOID; guess++) {
      const SlMatrixCell cell = { truth, guess < SL_CELL_VOID ? guess : SL_MATRIX_NOTHING,
                                  score->pairs[truth][guess] };
      if (cell.n > 0)
        g_array_append_val (matrix, cell);
    }
  return matrix;
}

GArray *
sl_evaluated_model_matrix (const SlEvaluatedModel *contender, gdouble confidence)
{
  if (contender->kind == SL_TRUTH_OBJECTS)
    return sl_object_pairs_matrix (contender->measures.pairs, confidence);
  return contender->kind == SL_TRUTH_CELLS ? matrix_of_cells (contender->cells)
                                           : matrix_of_classes (contender);
}

gdouble
sl_evaluated_model_ms (SlEvaluatedModel *contender)
{
  return sl_percentile_median_ms (contender->times);
}
