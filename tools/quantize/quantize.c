/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline quantize`: runs pictures of a folder through models/quantize/quantize.h, two passes
 * for calibration, then other pictures to measure the loss.
 */
#include "models/quantize/quantize.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/thread_count.h"
#include "core/base/zoo_name.h"
#include "models/zoo/cache.h"
#include "core/base/fail.h"
#include "tools/command.h"
#include "tools/html_page.h"
#include "tools/interrupt.h"
#include "models/convert.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/quantize/making.h"
#include "tools/quantize/page.h"
#include "tools/quantize/pictures.h"
#include "tools/quantize/report.h"
#include "tools/quantize/sources.h"

/* How long an interrupted program may take to end. */
#define PATIENCE_MS 1900
/* Without pictures of their own to compare on, one of so many is not learned from. */
#define KEPT_BACK 5
#define DEFAULT_PICTURES 100

typedef struct
{
  SlModelOptions model;
  SlMakingOptions making;
  char *calibrate, *evaluate, *output, *pictures, *html;
  gboolean json, weights_only, float16, equalize;
  guint most; /* pictures to learn from */
} Options;

typedef struct
{
  const Options *options;
  SlQuantizer *quantizer;
  GBytes *file; /* (nullable): the best so far */
  SlQuantizeReport report;
  SlPictures *pictures;
  const SlSources *sources, *evaluation; /* (nullable) */
  GPtrArray *learned, *compared;         /* of these, without copies */
} Job;

/* What is done with each of @sources; those that cannot be read leave the list. */
typedef gboolean (*Step) (Job *job, const void *tensor, guint pass, GError **error);

static gboolean
for_each (Job *job, GPtrArray *sources, const char *what, Step step, guint pass, GError **error)
{
  SlProgress progress;
  gboolean good = TRUE;
  sl_progress_start (&progress, what, "pictures", sources->len);
  for (guint i = 0, done = 0; i < sources->len && good && !sl_interrupted (); done++) {
    sl_progress_show (&progress, done);
    const void *tensor = sl_source_load (sources->pdata[i], job->pictures);
    if (tensor == NULL) {
      g_ptr_array_remove_index (sources, i);
      continue;
    }
    good = step (job, tensor, pass, error);
    i++;
  }
  sl_progress_hide ();
  return good && !sl_interrupted ();
}

static gboolean
learn (Job *job, const void *tensor, guint pass, GError **error)
{
  return sl_quantizer_learn (job->quantizer, pass, tensor, error);
}

static gboolean
compare_one (Job *job, const void *tensor, guint pass, GError **error)
{
  return sl_quantizer_compare (job->quantizer, tensor, error);
}

static gboolean
compare_all (gpointer data, GError **error)
{
  Job *job = data;
  return for_each (job, job->compared, "comparing", compare_one, 0, error);
}

/* Pictures to learn from lie evenly over the folder; without a folder of its own every fifth is
 * kept back for the comparison. Where nothing is learned, all are compared. */
static void
share_out (Job *job)
{
  g_autoptr (GPtrArray) candidates = g_ptr_array_new ();
  const GPtrArray *all = job->sources != NULL ? job->sources->all : NULL;
  for (guint i = 0; all != NULL && i < all->len; i++) {
    const gboolean kept =
      job->evaluation == NULL && all->len >= KEPT_BACK && i % KEPT_BACK == KEPT_BACK - 1;
    g_ptr_array_add (kept ? job->compared : candidates, all->pdata[i]);
  }
  const guint n = MIN (job->options->most, candidates->len);
  GPtrArray *to = job->options->making.how.what == SL_QUANTIZE_ALL ? job->learned : job->compared;
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (to, candidates->pdata[(guint64) i * candidates->len / n]);
  for (guint i = 0; job->evaluation != NULL && i < job->evaluation->all->len; i++)
    g_ptr_array_add (job->compared, job->evaluation->all->pdata[i]);
}

/* (transfer full): the model as it is before anything is done to it. */
static SlModel *
load (const Options *options, GError **error)
{
  SlModelLoadOptions how = sl_model_options_load (&options->model, FALSE);
  how.keep_activations = TRUE;
  return sl_model_load_with (options->model.settings.model, &options->model.settings, &how, error);
}

static gboolean
write_page (Job *job, GError **error)
{
  const Options *options = job->options;
  g_autoptr (SlModel) model = load (options, error);
  g_autoptr (GBytes) floats = model != NULL ? sl_model_to_tflite (model, error) : NULL;
  const SlPage page = { .report = &job->report,
                        .source = options->model.settings.model,
                        .output = options->output,
                        .floats = floats,
                        .limits = { .tensor_limit = options->model.settings.tensor_limit,
                                    .work_limit = options->model.settings.work_limit },
                        .compared = job->compared,
                        .calibrated = job->learned->len,
                        .threads = options->making.how.threads };
  return floats != NULL && sl_page_write (&page, options->html, error);
}

static gboolean
finish (Job *job, GError **error)
{
  const Options *options = job->options;
  const SlLearned learned = { .pictures = job->learned->len };
  if (options->json)
    sl_quantize_print_json (&job->report, &learned, options->output, options->making.how.threads);
  else
    sl_quantize_print (&job->report, &learned, options->output, options->making.how.threads);
  if (!sl_making_check_agreement (&options->making, &job->report, options->output, error))
    return FALSE;
  return sl_options_write (options->output, job->file, error)
         && (options->html == NULL || write_page (job, error));
}

static gboolean
quantize (Job *job, GError **error)
{
  for (guint pass = 0;
       pass < SL_QUANTIZE_PASSES && job->options->making.how.what == SL_QUANTIZE_ALL; pass++) {
    if (!for_each (job, job->learned, "learning", learn, pass, error))
      return FALSE;
    if (job->learned->len > 0)
      continue;
    return sl_fail (error, SL_ERROR_OPEN, "%s: none of its pictures could be read",
                    job->options->calibrate);
  }
  job->file =
    sl_making_file (job->quantizer, &job->options->making, compare_all, job, &job->report, error);
  return job->file != NULL && !sl_interrupted ();
}

/* Whether @job came out better than @other: by agreement, or else by the noise of the outputs. */
static gboolean
is_better (const Job *job, const Job *other)
{
  const gdouble a = job->report.agreement, b = other->report.agreement;
  return isnan (a) || isnan (b) || a == b ? job->report.output_snr > other->report.output_snr
                                          : a > b;
}

static void
job_clear (Job *job)
{
  g_clear_pointer (&job->file, g_bytes_unref);
  g_clear_pointer (&job->quantizer, sl_quantizer_free);
  g_clear_pointer (&job->pictures, sl_pictures_free);
  g_clear_pointer (&job->learned, g_ptr_array_unref);
  g_clear_pointer (&job->compared, g_ptr_array_unref);
}

/* Quantises the model, with or without equalising, on @inputs. */
static gboolean
run_job (Job *job, SlSpawner *spawner, gboolean equalize, GError **error)
{
  const Options *options = job->options;
  SlQuantizeOptions how = options->making.how;
  SlNormalizeSpec spec = { .filter = SL_FILTER_AUTO };
  how.equalize = equalize;
  g_autoptr (SlModel) model = load (options, error);
  job->quantizer = model != NULL ? sl_quantizer_new (model, &how, error) : NULL;
  if (job->quantizer == NULL)
    return FALSE;
  sl_quantizer_spec (job->quantizer, &spec);
  job->pictures =
    sl_pictures_new ("quantize", spawner, &spec, sl_quantizer_tensor_bytes (job->quantizer));
  return quantize (job, error);
}

/* The same with equalised layers, whose file is taken where it is better. */
static gboolean
try_equalized (Job *job, SlSpawner *spawner, GError **error)
{
  Job other = { .options = job->options,
                .learned = g_ptr_array_ref (job->learned),
                .compared = g_ptr_array_ref (job->compared) };
  const gboolean good = run_job (&other, spawner, TRUE, error);
  if (good && other.report.equalized > 0 && is_better (&other, job)) {
    const Job plain = *job;
    *job = other;
    job->sources = plain.sources;
    job->evaluation = plain.evaluation;
    other = plain;
  }
  job_clear (&other);
  return good;
}

static gboolean
open_and_quantize (const Options *options, SlSpawner *spawner, GError **error)
{
  const guint kept = options->evaluate == NULL ? options->most / (KEPT_BACK - 1) : 0;
  g_autoptr (SlSources) sources = NULL;
  g_autoptr (SlSources) evaluation = NULL;
  if ((options->calibrate != NULL
       && (sources = sl_sources_new (spawner, options->calibrate, options->most + kept, error))
            == NULL)
      || (options->evaluate != NULL
          && (evaluation = sl_sources_new (spawner, options->evaluate, options->most, error))
               == NULL))
    return FALSE;
  Job job = { .options = options, .sources = sources, .evaluation = evaluation };
  job.learned = g_ptr_array_new ();
  job.compared = g_ptr_array_new ();
  share_out (&job);
  const gboolean good = run_job (&job, spawner, FALSE, error)
                        && (!options->equalize || try_equalized (&job, spawner, error));
  const gboolean done = good && finish (&job, error);
  job_clear (&job);
  return done;
}

static int
run (const Options *options)
{
  g_autoptr (GError) error = NULL;
  sl_interrupt_catch (PATIENCE_MS);
  g_autoptr (SlSpawner) spawner = sl_spawner_new (&error);
  if (spawner == NULL)
    return sl_complain ("quantize", "%s", error->message);
  const gboolean good = open_and_quantize (options, spawner, &error);
  if (sl_interrupted ())
    return SL_EXIT_INTERRUPTED;
  if (error != NULL)
    sl_complain ("quantize", "%s", error->message);
  return good ? SL_EXIT_OK : SL_EXIT_FAILED;
}

/* Nothing that is read is written over, and long work is not begun for what cannot be written. */
static gboolean
check_targets (const Options *options)
{
  return sl_options_tflite ("quantize", options->output)
         && sl_options_apart ("quantize", "--output", options->output, "MODEL",
                              options->model.settings.model)
         && sl_options_apart ("quantize", "--output", options->output, "--labels",
                              options->model.settings.labels)
         && sl_options_apart ("quantize", "--html", options->html, "--output", options->output)
         && sl_options_apart ("quantize", "--html", options->html, "MODEL",
                              options->model.settings.model)
         && sl_options_apart ("quantize", "--html", options->html, "--labels",
                              options->model.settings.labels)
         && sl_options_report ("quantize", "--html", options->html, SL_HTML_HEAD);
}

static gboolean
check (Options *options)
{
  options->most = DEFAULT_PICTURES;
  if (!check_targets (options) || !sl_model_options_check ("quantize", &options->model)
      || !sl_making_options_check ("quantize", &options->making)
      || !sl_options_integer ("quantize", "--pictures", options->pictures, 1, 100000,
                              &options->most))
    return FALSE;
  options->making.how.what = options->weights_only ? SL_QUANTIZE_WEIGHTS
                             : options->float16    ? SL_QUANTIZE_FLOAT16
                                                   : SL_QUANTIZE_ALL;
  options->making.how.threads = sl_threads_resolve (options->model.threads);
  return TRUE;
}

/* Whether the command line says how the model gets fewer bits. */
static gboolean
states_making (const Options *options)
{
  const SlMakingOptions *making = &options->making;
  return options->weights_only || options->float16 || options->equalize || making->prune_blocks
         || making->method != NULL || making->percentile != NULL || making->float_head != NULL
         || making->weights != NULL || making->activations != NULL || making->min_agreement != NULL
         || making->prune != NULL;
}

/* The row of the zoo that @model names may have a recipe, which counts where the command line has
 * none: its words are parsed as if they stood there. -1 to go on, else the exit status. */
static int
take_recipe (const Options *options, const GOptionEntry *entries, const GOptionEntry *more)
{
  const char *name = sl_zoo_name (options->model.settings.model);
  g_autoptr (SlZooRow) row = name != NULL ? sl_zoo_row_load (name, NULL) : NULL;
  if (row == NULL && name != NULL)
    row = sl_zoo_cached_row (name);
  if (row == NULL || row->quantize == NULL || states_making (options))
    return -1;
  if (g_str_has_prefix (row->quantize, SL_ZOO_NO)) {
    sl_complain ("quantize", "%s: no recipe holds: %s", options->model.settings.model,
                 row->quantize + strlen (SL_ZOO_NO));
    return -1;
  }
  sl_complain ("quantize", "%s: by its recipe, %s", options->model.settings.model, row->quantize);
  g_autofree char *line = g_strconcat ("quantize ", row->quantize, NULL);
  g_auto (GStrv) words = g_strsplit (line, " ", -1), rest = NULL;
  g_autofree char **arguments = g_memdup2 (words, (g_strv_length (words) + 1) * sizeof *words);
  return sl_options_parse ("quantize", "", "", NULL, (int) g_strv_length (words), arguments,
                           entries, more, &rest);
}

static int
run_quantize (int argc, char **argv)
{
  Options options = { 0 };
  g_auto (GStrv) rest = NULL;
  g_autofree GOptionEntry *more =
    sl_model_options_entries (&options.model, SL_SETTINGS_CONTRACT | SL_SETTINGS_LIMITS);
  const GOptionEntry entries[] = {
    { "calibrate", 'c', 0, G_OPTION_ARG_FILENAME, &options.calibrate,
      "Pictures like those that the model will see: a folder, a video, a camera or a URI",
      "SOURCE" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "The file to write", "FILE" },
    { "evaluate", 'e', 0, G_OPTION_ARG_FILENAME, &options.evaluate,
      "Pictures to compare on (default: every fifth of those)", "SOURCE" },
    { "pictures", 0, 0, G_OPTION_ARG_STRING, &options.pictures,
      "Most pictures for calibration, 1..100000 (default 100)", "N" },
    SL_MAKING_ENTRIES (&options.making),
    { "equalize", 0, 0, G_OPTION_ARG_NONE, &options.equalize,
      "First equalise the ranges of channels, if that helps", NULL },
    { "weights-only", 0, 0, G_OPTION_ARG_NONE, &options.weights_only,
      "8-bit weights, the rest float; needs no pictures", NULL },
    { "float16", 0, 0, G_OPTION_ARG_NONE, &options.float16,
      "float16 weights, the rest float; needs no pictures", NULL },
    { "html", 0, 0, G_OPTION_ARG_FILENAME, &options.html,
      "Write the report as a page, with pictures of both models' results", "FILE" },
    { "threads", 't', 0, G_OPTION_ARG_STRING, &options.model.settings.threads,
      "Threads to compute with, 1..64 or auto (0 = auto; default 1)", "N" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL },
    { NULL },
  };
  int status = sl_options_parse ("quantize", "MODEL",
                                 "Quantises a float model to 8 bits, and measures the loss.", NULL,
                                 argc, argv, entries, more, &rest);
  if (status < 0) {
    status = SL_EXIT_USAGE;
    options.model.settings.model = g_strdup (rest[0]);
    const int taken = take_recipe (&options, entries, more);
    if (taken >= 0)
      status = taken;
    else if (rest[0] == NULL || rest[1] != NULL)
      sl_options_usage ("quantize", "expected one MODEL, got %u arguments", g_strv_length (rest));
    else if (options.output == NULL
             || (options.calibrate == NULL && !options.weights_only && !options.float16))
      sl_options_usage ("quantize", "%s is required",
                        options.output == NULL ? "--output FILE" : "--calibrate SOURCE");
    else if (options.weights_only && options.float16)
      sl_options_usage ("quantize", "expected one of --weights-only and --float16");
    else if (check (&options))
      status = run (&options);
  }
  sl_options_clear (entries);
  sl_model_options_clear (&options.model);
  return status;
}

const SlCommand sl_command_quantize = { "quantize", "quantise a float model to 8 bits",
                                        run_quantize };
