/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/advise/candidate.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/zoo_name.h"
#include "core/graph/work.h"
#include "models/zoo/cache.h"
#include "pipelines/description/build.h"
#include "tools/check/findings.h"
#include "tools/check/frame_cost.h"
#include "tools/contract_preview.h"

#define DETECTION " detection"
/* Frames of the first look, and of the measurement where a frame takes less than this. */
#define FIRST_FRAMES 4
#define FRAMES 20
#define QUICK_MS 60

void
sl_candidate_free (SlCandidate *candidate)
{
  g_free (candidate->model);
  g_free (candidate->classes);
  g_free (candidate->problem);
  g_strfreev (candidate->options);
  g_free (candidate);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlCandidate, sl_candidate_free)

/* (transfer full): "--tensor-limit 4545" as properties. */
static GStrv
options_of (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text != NULL ? text : "", " ", -1);
  g_autoptr (GStrvBuilder) options = g_strv_builder_new ();
  for (guint i = 0; words[i] != NULL && words[i + 1] != NULL; i += 2) {
    g_autofree char *option =
      g_strdup_printf ("%s=%s", words[i] + strspn (words[i], "-"), words[i + 1]);
    g_strv_builder_add (options, option);
  }
  return g_strv_builder_end (options);
}

/* (transfer full): an slinfer for the model. */
static GstElement *
make_infer (const SlCandidate *candidate, guint threads, GError **error)
{
  GstElement *infer = gst_object_ref_sink (gst_element_factory_make ("slinfer", NULL));
  g_autofree char *number = g_strdup_printf ("%u", threads);
  g_object_set (infer, "model", candidate->model, "threads", number, NULL);
  for (guint i = 0; candidate->options[i] != NULL; i++) {
    g_auto (GStrv) pair = g_strsplit (candidate->options[i], "=", 2);
    if (sl_property_from_text (G_OBJECT (infer), pair[0], pair[1], error))
      continue;
    gst_object_unref (infer);
    return NULL;
  }
  return infer;
}

/* (nullable): the label of @model that is @task. */
static const char *
label_of (const SlModel *model, const char *task)
{
  const SlLabels *labels = sl_model_contract (model)->labels;
  for (guint i = 0; labels != NULL && i < sl_labels_count (labels); i++)
    if (sl_labels_get (labels, i) != NULL
        && g_ascii_strcasecmp (sl_labels_get (labels, i), task) == 0)
      return sl_labels_get (labels, i);
  return NULL;
}

/* What can be known without a run; FALSE where the model is none for @task. */
static gboolean
look_at (SlCandidate *candidate, const char *task, gboolean by_label)
{
  g_autoptr (GError) error = NULL;
  GstElement *infer = make_infer (candidate, 1, &error);
  g_autoptr (SlModel) model = infer != NULL ? sl_check_load (infer, NULL, &error) : NULL;
  gst_clear_object (&infer);
  if (model == NULL) {
    candidate->problem = g_strdup (error->message);
    return !by_label;
  }
  const SlContract *contract = sl_model_contract (model);
  candidate->classes = task != NULL ? g_strdup (label_of (model, task)) : NULL;
  candidate->work = sl_graph_multiply_adds (sl_model_graph (model));
  candidate->eight_bits =
    contract->inputs[0].dtype == SL_DTYPE_U8 || contract->inputs[0].dtype == SL_DTYPE_I8;
  g_autoptr (SlDecoding) decoding = sl_contract_open_pictures (sl_model_contract (model), &error);
  if (decoding == NULL)
    candidate->problem = g_strdup (error->message);
  return !by_label || candidate->classes != NULL;
}

static SlCandidate *
candidate_new (const char *model, const char *options)
{
  SlCandidate *candidate = g_new0 (SlCandidate, 1);
  candidate->model = g_strdup (model);
  candidate->options = options_of (options);
  return candidate;
}

static gboolean
is_task (const SlZooRow *row, const char *task)
{
  g_autofree char *detection = g_strconcat (task, DETECTION, NULL);
  return g_ascii_strcasecmp (row->task, task) == 0
         || g_ascii_strcasecmp (row->task, detection) == 0;
}

/* Those whose task it is, and detectors of objects with a label of that name. */
static void
find_in_zoo (const char *task, GPtrArray *candidates, guint *here, GError **error)
{
  g_auto (GStrv) names = sl_zoo_rows_names (error);
  for (guint i = 0; names != NULL && names[i] != NULL; i++) {
    g_autoptr (SlZooRow) row = sl_zoo_cached_row (names[i]);
    if (row == NULL)
      continue;
    (*here)++;
    const gboolean exact = is_task (row, task);
    if (!exact && !g_str_has_suffix (row->task, DETECTION))
      continue;
    g_autofree char *model = g_strconcat (SL_ZOO_PREFIX, row->name, NULL);
    g_autoptr (SlCandidate) candidate = candidate_new (model, row->options);
    if (look_at (candidate, task, !exact))
      g_ptr_array_add (candidates, g_steal_pointer (&candidate));
  }
}

static GPtrArray *
refuse (const char *task, guint here, GError **error)
{
  if (here == 0)
    return sl_fail_null (
      error, SL_ERROR_OPEN,
      "no model of the zoo is here; fetch some by sightline get NAME (sightline zoo lists names "
      "and tasks), or state --model");
  return sl_fail_null (
    error, SL_ERROR_ARGUMENT,
    "--task %s: none of the %u models that are here does it; sightline zoo lists names and tasks, "
    "sightline get NAME fetches one",
    task, here);
}

GPtrArray *
sl_candidates_find (const char *task, const char *const *models, GError **error)
{
  g_autoptr (GPtrArray) candidates =
    g_ptr_array_new_with_free_func ((GDestroyNotify) sl_candidate_free);
  GError *failed = NULL;
  guint here = 0;
  for (guint i = 0; models != NULL && models[i] != NULL; i++) {
    g_autoptr (SlZooRow) row =
      sl_zoo_name (models[i]) != NULL ? sl_zoo_cached_row (sl_zoo_name (models[i])) : NULL;
    SlCandidate *candidate = candidate_new (models[i], row != NULL ? row->options : NULL);
    look_at (candidate, task, FALSE);
    g_ptr_array_add (candidates, candidate);
  }
  if (models == NULL)
    find_in_zoo (task, candidates, &here, &failed);
  if (failed != NULL) {
    g_propagate_error (error, failed);
    return NULL;
  }
  return candidates->len > 0 ? g_steal_pointer (&candidates) : refuse (task, here, error);
}

static gboolean
measure_with (const SlCandidate *candidate, GstCaps *caps, guint frames, SlPlanTimes *times,
              GError **error)
{
  gdouble ms[SL_N_STAGES];
  GstElement *infer = make_infer (candidate, times->threads, error);
  if (infer == NULL)
    return FALSE;
  GstElement *normalize = gst_object_ref_sink (gst_element_factory_make ("slnormalize", NULL));
  const gboolean good = sl_frame_cost (normalize, infer, NULL, caps, FALSE, frames, ms, error);
  if (good) {
    times->preprocess = ms[SL_STAGE_PREPROCESS];
    times->inference = ms[SL_STAGE_INFERENCE];
    times->decode = ms[SL_STAGE_DECODE];
  }
  gst_object_unref (normalize);
  gst_object_unref (infer);
  return good;
}

void
sl_candidate_measure (SlCandidate *candidate, GstCaps *caps, guint processors)
{
  g_autoptr (GError) error = NULL;
  for (guint threads = 1;
       threads <= processors && candidate->n_times < SL_ADVISED_THREADS && error == NULL;
       threads *= 2) {
    SlPlanTimes *times = &candidate->times[candidate->n_times];
    times->threads = threads;
    if (measure_with (candidate, caps, FIRST_FRAMES, times, &error)
        && (times->inference > QUICK_MS || measure_with (candidate, caps, FRAMES, times, &error)))
      candidate->n_times++;
  }
  if (error != NULL)
    candidate->problem = g_strdup (error->message);
}

/* A PPM file of smooth colours. */
static gboolean
draw_picture (const char *path)
{
  static const char head[] = "P6\n256 256\n255\n";
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_byte_array_append (bytes, (const guint8 *) head, sizeof head - 1);
  for (guint pixel = 0; pixel < 256 * 256; pixel++) {
    const guint8 rgb[] = { (guint8) pixel, (guint8) (pixel / 256), (guint8) (pixel / 97) };
    g_byte_array_append (bytes, rgb, sizeof rgb);
  }
  return g_file_set_contents (path, (const char *) bytes->data, (gssize) bytes->len, NULL);
}

/* In a process of its own, which says nothing. */
static gboolean
quantize (const SlCandidate *candidate, const char *picture, const char *output)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autoptr (GPtrArray) arguments = g_ptr_array_new_with_free_func (g_free);
  const char *const own[] = {
    program,    "quantize", candidate->model, "--calibrate", picture,
    "--output", output,     "--method",       "mse"
  }; /* in place of a recipe */
  int status = 1;
  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    g_ptr_array_add (arguments, g_strdup (own[i]));
  for (guint i = 0; candidate->options[i] != NULL; i++)
    g_ptr_array_add (arguments, g_strconcat ("--", candidate->options[i], NULL));
  g_ptr_array_add (arguments, NULL);
  return program != NULL
         && g_spawn_sync (NULL, (char **) arguments->pdata, NULL,
                          G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL,
                          NULL, &status, NULL)
         && g_spawn_check_wait_status (status, NULL);
}

SlCandidate *
sl_candidate_quantize (const SlCandidate *candidate, const char *folder)
{
  g_autofree char *picture = g_build_filename (folder, "picture.ppm", NULL),
                  *output = g_build_filename (folder, "trial.tflite", NULL);
  if (candidate->eight_bits || !draw_picture (picture) || !quantize (candidate, picture, output))
    return NULL;
  SlCandidate *made = candidate_new (output, NULL);
  made->is_trial = made->eight_bits = TRUE;
  made->work = candidate->work;
  return made;
}
