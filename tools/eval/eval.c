/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline eval`: labelled pictures through each model in turn. All is checked before the first
 * picture is read: models, the data set, and that each model has its classes.
 */
#include <math.h>
#include <string.h>

#include "core/base/printable.h"
#include "core/base/thread_count.h"
#include "core/base/fail.h"
#include "tools/command.h"
#include "tools/eval/eval_tracks.h"
#include "tools/eval/page.h"
#include "tools/eval/verdicts.h"
#include "tools/html_page.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/progress.h"

/* How long an interrupted program may take to end. */
#define PATIENCE_MS 1900
/* Below it a box hardly moves average precision. */
#define DEFAULT_THRESHOLD 0.001
#define MAX_WORST 100000

typedef struct
{
  SlModelOptions model;
  char *dataset, *images, *tracks, *threshold_text, *csv, *html, *worst_text;
  guint worst;
  gdouble threshold;
  gboolean json;
} Options;

static void
contender_free (gpointer contender)
{
  sl_evaluated_model_free (contender);
}

static const char *const what_they_do[] = { "names pictures", "finds boxes", "names pixels" };

static gboolean
open_contenders (const Options *options, char **models, GPtrArray *contenders, GError **error)
{
  for (guint i = 0; models[i] != NULL && !sl_interrupted (); i++) {
    SlEvaluatedModel *contender =
      sl_evaluated_model_new (models[i], &options->model, options->threshold, error);
    if (contender == NULL)
      return FALSE;
    g_ptr_array_add (contenders, contender);
    const SlTruthKind first = sl_evaluated_model_kind (contenders->pdata[0]),
                      this = sl_evaluated_model_kind (contender);
    if (first == this)
      continue;
    return sl_fail (error, SL_ERROR_ARGUMENT, "%s %s and %s %s; expected models of one kind",
                    models[0], what_they_do[first], models[i], what_they_do[this]);
  }
  return !sl_interrupted ();
}

static gboolean
run_contender (SlEvaluatedModel *contender, SlDataset *dataset, SlSpawner *spawner, GError **error)
{
  g_autoptr (SlPictures) pictures = sl_evaluated_model_pictures (contender, "eval", spawner);
  SlProgress progress;
  sl_progress_start (&progress, sl_evaluated_model_path (contender), "pictures",
                     dataset->samples->len);
  for (guint i = 0; i < dataset->samples->len && !sl_interrupted (); i++) {
    SlSample *sample = &g_array_index (dataset->samples, SlSample, i);
    const void *tensor = sample->unreadable ? NULL : sl_pictures_load (pictures, sample->input);
    if (tensor == NULL)
      sample->unreadable = TRUE;
    else if (!sl_evaluated_model_run (contender, pictures, dataset, i, tensor, error))
      return FALSE;
    sl_progress_show (&progress, i + 1);
  }
  sl_progress_hide ();
  return !sl_interrupted ();
}

/* Whether all of the data set was read; *@any whether some was. */
static gboolean
is_whole (const SlDataset *dataset, gboolean *any)
{
  guint read = 0;
  for (guint i = 0; i < dataset->samples->len; i++)
    read += !g_array_index (dataset->samples, SlSample, i).unreadable;
  *any = read > 0;
  return read == dataset->samples->len;
}

/* After the figures are printed: a full disk loses none of them. */
static gboolean
write_files (const Options *options, const SlEvalReport *report, GError **error)
{
  g_autoptr (GString) csv =
    options->csv != NULL ? sl_verdicts_csv (report->contenders, report->dataset) : NULL;
  return (csv == NULL || sl_options_write_text ("--csv", options->csv, csv, error))
         && (options->html == NULL
             || sl_eval_page_write (report, &options->model.settings, options->html, error));
}

static gboolean
evaluate (const Options *options, char **models, SlSpawner *spawner, GError **error)
{
  g_autoptr (GPtrArray) contenders = g_ptr_array_new_with_free_func (contender_free);
  gboolean any;
  if (!open_contenders (options, models, contenders, error))
    return FALSE;
  g_autoptr (SlDataset) dataset = sl_dataset_new (
    options->dataset, sl_evaluated_model_kind (contenders->pdata[0]), options->images, error);
  if (dataset == NULL)
    return FALSE;
  for (guint i = 0; i < contenders->len; i++)
    if (!sl_evaluated_model_learn (contenders->pdata[i], dataset, error))
      return FALSE;
  for (guint i = 0; i < contenders->len; i++)
    if (!run_contender (contenders->pdata[i], dataset, spawner, error))
      return FALSE;
  const gboolean whole = is_whole (dataset, &any);
  if (!any)
    return sl_fail (error, SL_ERROR_OPEN, "%s: none of its pictures could be read",
                    options->dataset);
  const SlEvalReport report = { options->dataset, dataset, contenders,
                                sl_threads_resolve (options->model.threads), options->worst };
  if (options->json)
    sl_eval_print_json (&report);
  else
    sl_eval_print (&report);
  return write_files (options, &report, error) && whole;
}

static int
run (const Options *options, char **models)
{
  g_autoptr (GError) error = NULL;
  sl_interrupt_catch (PATIENCE_MS);
  g_autoptr (SlSpawner) spawner = sl_spawner_new (&error);
  if (spawner == NULL)
    return sl_complain ("eval", "%s", error->message);
  const gboolean good = evaluate (options, models, spawner, &error);
  if (sl_interrupted ())
    return SL_EXIT_INTERRUPTED;
  if (error != NULL)
    sl_complain ("eval", "%s", error->message);
  return good ? SL_EXIT_OK : SL_EXIT_FAILED;
}

/* Nothing that is read is written over, and long work is not begun for what cannot be written. */
static gboolean
check_target (const Options *options, const char *option, const char *path, const char *head,
              char **models)
{
  gboolean good =
    sl_options_apart ("eval", option, path, "--dataset", options->dataset)
    && sl_options_apart ("eval", option, path, "--labels", options->model.settings.labels);
  for (guint i = 0; models[i] != NULL && good; i++)
    good = sl_options_apart ("eval", option, path, "MODEL", models[i]);
  if (!good || !sl_options_report ("eval", option, path, head))
    return FALSE;
  if (path == NULL || !sl_dataset_would_read (options->dataset, path))
    return TRUE;
  g_autofree char *shown = sl_printable (path, SL_PRINTABLE_MESSAGE);
  sl_options_usage (
    "eval",
    "%s: '%s' would be a picture or labels of the data set from then on; expected a name outside "
    "of %s, or another ending",
    option, shown, options->dataset);
  return FALSE;
}

static gboolean
check_targets (const Options *options, char **models)
{
  return sl_options_apart ("eval", "--html", options->html, "--csv", options->csv)
         && check_target (options, "--csv", options->csv, SL_VERDICTS_HEAD, models)
         && check_target (options, "--html", options->html, SL_HTML_HEAD, models);
}

/* Files of boxes: no model and no picture is read. */
static int
run_tracks (const Options *options, char **files)
{
  g_autoptr (GError) error = NULL;
  const struct
  {
    const char *option, *value;
  } others[] = { { "--dataset", options->dataset },
                 { "--images", options->images },
                 { "--csv", options->csv },
                 { "--html", options->html },
                 { "--worst", options->worst_text } };
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (others[i].value != NULL)
      return sl_options_usage ("eval", "%s is about pictures; expected --tracks without it",
                               others[i].option);
  if (sl_eval_tracks (options->tracks, files,
                      options->threshold_text ? options->threshold : -INFINITY, options->json,
                      &error))
    return SL_EXIT_OK;
  return sl_complain ("eval", "%s", error->message);
}

static int
run_eval (int argc, char **argv)
{
  Options options = { .threshold = DEFAULT_THRESHOLD };
  g_auto (GStrv) rest = NULL;
  g_autofree GOptionEntry *more = sl_model_options_entries (
    &options.model, SL_SETTINGS_CONTRACT | SL_SETTINGS_LIMITS | SL_SETTINGS_WORDS);
  const GOptionEntry entries[] = {
    { "dataset", 'd', 0, G_OPTION_ARG_FILENAME, &options.dataset,
      "Labelled pictures: a folder, or a file that lists them", "PATH" },
    { "images", 0, 0, G_OPTION_ARG_FILENAME, &options.images,
      "Where the pictures of a COCO file are (default: near it)", "FOLDER" },
    { "tracks", 0, 0, G_OPTION_ARG_FILENAME, &options.tracks,
      "True boxes of tracked objects; what follows are then files of predictions, and no models",
      "FILE" },
    { "threshold", 0, 0, G_OPTION_ARG_STRING, &options.threshold_text,
      "Confidence from which on boxes count, 0..1 (default 0.001)", "X" },
    { "threads", 't', 0, G_OPTION_ARG_STRING, &options.model.settings.threads,
      "Threads to compute with, 1..64 or auto (0 = auto; default 1)", "N" },
    { "csv", 0, 0, G_OPTION_ARG_FILENAME, &options.csv,
      "Write how well each picture was predicted, a row a picture and model", "FILE" },
    { "html", 0, 0, G_OPTION_ARG_FILENAME, &options.html,
      "Write a page with curves, calibration, confusion matrix, classes and the worst pictures",
      "FILE" },
    { "worst", 'w', 0, G_OPTION_ARG_STRING, &options.worst_text,
      "List so many pictures of each model that are wrong, the worst first", "N" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object, with all classes",
      NULL },
    { NULL },
  };
  int status =
    sl_options_parse ("eval", "MODEL...", "Measures how good models are on labelled pictures.",
                      NULL, argc, argv, entries, more, &rest);
  if (status < 0) {
    status = SL_EXIT_USAGE;
    if (rest[0] == NULL)
      sl_options_usage ("eval", "expected at least one %s",
                        options.tracks != NULL ? "file of predictions" : "MODEL");
    else if (options.tracks != NULL) {
      if (sl_options_fraction ("eval", "--threshold", options.threshold_text, &options.threshold))
        status = run_tracks (&options, rest);
    } else if (options.dataset == NULL)
      sl_options_usage ("eval", "--dataset PATH is required");
    else if (sl_model_options_check ("eval", &options.model)
             && sl_options_fraction ("eval", "--threshold", options.threshold_text,
                                     &options.threshold)
             && sl_options_integer ("eval", "--worst", options.worst_text, 1, MAX_WORST,
                                    &options.worst)
             && check_targets (&options, rest))
      status = run (&options, rest);
  }
  sl_options_clear (entries);
  sl_model_options_clear (&options.model);
  return status;
}

const SlCommand sl_command_eval = { "eval", "measure how good models are on labelled pictures",
                                    run_eval };
