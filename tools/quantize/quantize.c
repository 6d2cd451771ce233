/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline quantize`: pictures of a folder through quantize/quantize.h: twice to learn, then others to say what it cost.
 */
#include "quantize/quantize.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/thread_count.h"
#include "plugins/elements.h"
#include "sightline/error.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "models/convert.h"
#include "tools/options.h"
#include "tools/quantize/page.h"
#include "tools/quantize/pictures.h"
#include "tools/quantize/report.h"
#include "tools/quantize/sources.h"

/* How long an interrupted program may take to end. */
#define PATIENCE_MS 1900
/* Without pictures of their own to compare on, one of so many is not learned from. */
#define KEPT_BACK 5
#define DEFAULT_PICTURES 100
#define DEFAULT_PERCENT 99.99

typedef struct
{
  SlModelOptions model;
  char *calibrate, *evaluate, *output, *method, *percentile, *float_head, *pictures, *min_agreement, *weights, *activations, *html, *prune;
  gboolean json, weights_only, float16, equalize;
  guint most; /* pictures to learn from */
  gdouble limit;
  SlQuantizeOptions how;
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

static void
options_clear (Options *options)
{
  sl_model_options_clear (&options->model);
  g_free (options->calibrate);
  g_free (options->evaluate);
  g_free (options->output);
  g_free (options->method);
  g_free (options->percentile);
  g_free (options->float_head);
  g_free (options->pictures);
  g_free (options->min_agreement);
  g_free (options->weights);
  g_free (options->html);
  g_free (options->prune);
  g_free (options->activations);
}

/* A bar on a terminal; nothing elsewhere. */
static void
show_progress (const char *what, guint done, guint all)
{
  static const char bar[] = "##############################";
  const guint width = sizeof bar - 1;
  if (!isatty (STDERR_FILENO))
    return;
  const guint full = all > 0 ? width * done / all : width;
  fprintf (stderr, "\r\033[K%-12s [%.*s%*s] %u/%u", what, (int) full, bar, (int) (width - full), "", done, all);
  if (done == all)
    fputs ("\r\033[K", stderr);
  fflush (stderr);
}

/* What is done with each of @sources; those that cannot be read leave the list. */
typedef gboolean (*Step) (Job *job, const void *tensor, guint pass, GError **error);

static gboolean
for_each (Job *job, GPtrArray *sources, const char *what, Step step, guint pass, GError **error)
{
  const guint all = sources->len;
  gboolean good = TRUE;
  for (guint i = 0, done = 0; i < sources->len && good && !sl_interrupted (); done++) {
    show_progress (what, done, all);
    const void *tensor = sl_source_load (sources->pdata[i], job->pictures);
    if (tensor == NULL) {
      g_ptr_array_remove_index (sources, i);
      continue;
    }
    good = step (job, tensor, pass, error);
    i++;
  }
  show_progress (what, all, all);
  return good && !sl_interrupted ();
}

static gboolean
learn (Job *job, const void *tensor, guint pass, GError **error)
{
  return sl_quantizer_learn (job->quantizer, pass, tensor, error);
}

static gboolean
compare (Job *job, const void *tensor, guint pass, GError **error)
{
  return sl_quantizer_compare (job->quantizer, tensor, error);
}

/* Pictures to learn from lie evenly over the folder; without a folder of its own every fifth is kept back for the comparison. Where nothing is
 * learned, all are compared. */
static void
share_out (Job *job)
{
  g_autoptr (GPtrArray) candidates = g_ptr_array_new ();
  const GPtrArray *all = job->sources != NULL ? job->sources->all : NULL;
  for (guint i = 0; all != NULL && i < all->len; i++) {
    const gboolean kept = job->evaluation == NULL && all->len >= KEPT_BACK && i % KEPT_BACK == KEPT_BACK - 1;
    g_ptr_array_add (kept ? job->compared : candidates, all->pdata[i]);
  }
  const guint n = MIN (job->options->most, candidates->len);
  GPtrArray *to = job->options->how.what == SL_QUANTIZE_ALL ? job->learned : job->compared;
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (to, candidates->pdata[(guint64) i * candidates->len / n]);
  for (guint i = 0; job->evaluation != NULL && i < job->evaluation->all->len; i++)
    g_ptr_array_add (job->compared, job->evaluation->all->pdata[i]);
}

static gboolean
check_agreement (const Options *options, const SlQuantizeReport *report, GError **error)
{
  if (options->min_agreement == NULL || report->agreement >= options->limit)
    return TRUE;
  if (isnan (report->agreement)) {
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "--min-agreement: the agreement could not be measured, so %s is not written",
                 options->output);
    return FALSE;
  }
  /* Nodes are compared with those of the pruned model: the noisiest says nothing of what pruning cost. */
  const gboolean pruned = report->pruned > 0;
  g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT,
               "the models agree to %.3f (%s); expected at least %g, so %s is not written; the noisiest node%s is %s '%s' (%.1f dB): %stry "
               "another --method, or more pictures of what the model will see",
               report->agreement, report->measure, options->limit, options->output, pruned ? " of the pruned model" : "",
               report->worst[0].op, report->worst[0].name, report->worst[0].snr,
               pruned ? "state a lower share with --prune, whose zeros no layer that stays float brings back, or " : "");
  return FALSE;
}

static gboolean
make_and_compare (Job *job, GError **error)
{
  g_clear_pointer (&job->file, g_bytes_unref);
  job->file = sl_quantizer_finish (job->quantizer, error);
  if (job->file == NULL || !for_each (job, job->compared, "comparing", compare, 0, error))
    return FALSE;
  sl_quantizer_report (job->quantizer, &job->report);
  return TRUE;
}

/* Layers that add the most noise become float until the models agree as far as is asked for. */
static gboolean
make_enough (Job *job, GError **error)
{
  if (!make_and_compare (job, error))
    return FALSE;
  while (job->options->min_agreement != NULL && job->report.agreement < job->options->limit && sl_quantizer_keep (job->quantizer) > 0) {
    g_autoptr (GError) none_left = NULL;
    const SlQuantizeReport before = job->report;
    GBytes *kept = g_bytes_ref (job->file);
    if (make_and_compare (job, &none_left)) {
      g_bytes_unref (kept);
      continue;
    }
    /* Nothing would be quantised any more: what is left is the last that was. */
    g_clear_pointer (&job->file, g_bytes_unref);
    job->file = kept;
    job->report = before;
    return !sl_interrupted ();
  }
  return TRUE;
}

/* (transfer full): the model as it is before anything is done to it. */
static SlModel *
load (const Options *options, GError **error)
{
  const SlModelLoadOptions how = sl_limit_options_load (&options->model.limits, FALSE);
  const SlContractOverrides overrides = sl_model_options_overrides (&options->model);
  return sl_model_load_with (options->model.model, &overrides, &how, error);
}

static gboolean
write_page (Job *job, GError **error)
{
  const Options *options = job->options;
  g_autoptr (SlModel) model = load (options, error);
  g_autoptr (GBytes) floats = model != NULL ? sl_model_to_tflite (model, error) : NULL;
  const SlPage page = { .report = &job->report,
                        .source = options->model.model,
                        .output = options->output,
                        .floats = floats,
                        .limits = &options->model.limits,
                        .compared = job->compared,
                        .calibrated = job->learned->len,
                        .threads = options->how.threads };
  return floats != NULL && sl_page_write (&page, options->html, error);
}

static gboolean
finish (Job *job, GError **error)
{
  const Options *options = job->options;
  gsize size;
  if (options->json)
    sl_quantize_print_json (&job->report, job->learned->len, options->output, options->how.threads);
  else
    sl_quantize_print (&job->report, job->learned->len, options->output, options->how.threads);
  if (!check_agreement (options, &job->report, error))
    return FALSE;
  const char *data = g_bytes_get_data (job->file, &size);
  return g_file_set_contents (options->output, data, (gssize) size, error) && (options->html == NULL || write_page (job, error));
}

static gboolean
quantize (Job *job, GError **error)
{
  for (guint pass = 0; pass < SL_QUANTIZE_PASSES && job->options->how.what == SL_QUANTIZE_ALL; pass++) {
    if (!for_each (job, job->learned, "learning", learn, pass, error))
      return FALSE;
    if (job->learned->len > 0)
      continue;
    g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "%s: none of its pictures could be read", job->options->calibrate);
    return FALSE;
  }
  return make_enough (job, error);
}

/* Whether @job came out better than @other: by agreement, or else by the noise of the outputs. */
static gboolean
is_better (const Job *job, const Job *other)
{
  const gdouble a = job->report.agreement, b = other->report.agreement;
  return isnan (a) || isnan (b) || a == b ? job->report.output_snr > other->report.output_snr : a > b;
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
  SlQuantizeOptions how = options->how;
  SlNormalizeSpec spec = { .filter = SL_FILTER_AUTO };
  how.equalize = equalize;
  g_autoptr (SlModel) model = load (options, error);
  job->quantizer = model != NULL ? sl_quantizer_new (model, &how, error) : NULL;
  if (job->quantizer == NULL)
    return FALSE;
  sl_quantizer_spec (job->quantizer, &spec);
  job->pictures = sl_pictures_new ("quantize", spawner, &spec, sl_quantizer_tensor_bytes (job->quantizer));
  return quantize (job, error);
}

/* The same with equalised layers, whose file is taken where it is better. */
static gboolean
try_equalized (Job *job, SlSpawner *spawner, GError **error)
{
  Job other = { .options = job->options, .learned = g_ptr_array_ref (job->learned), .compared = g_ptr_array_ref (job->compared) };
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
  if ((options->calibrate != NULL && (sources = sl_sources_new (spawner, options->calibrate, options->most + kept, error)) == NULL)
      || (options->evaluate != NULL && (evaluation = sl_sources_new (spawner, options->evaluate, options->most, error)) == NULL))
    return FALSE;
  Job job = { .options = options, .sources = sources, .evaluation = evaluation };
  job.learned = g_ptr_array_new ();
  job.compared = g_ptr_array_new ();
  share_out (&job);
  const gboolean good = run_job (&job, spawner, FALSE, error) && (!options->equalize || try_equalized (&job, spawner, error));
  const gboolean done = good && finish (&job, error);
  job_clear (&job);
  return done;
}

/* Whether the page would take the place of a picture that @option names: of a file, or of one in a folder. */
static gboolean
loses_picture (const Options *options, const char *option, const char *argument)
{
  char *arguments[] = { options->html != NULL ? (char *) argument : NULL, NULL };
  g_autoptr (GPtrArray) inputs = sl_inputs_new (arguments);
  const SlInput *lost = inputs->len > 0 ? sl_inputs_find_file (inputs, options->html) : NULL;
  if (lost != NULL)
    sl_options_usage ("quantize", "--html is %s, a picture of %s, which would be lost; expected another name for --html", lost->name,
                      option);
  return lost != NULL;
}

static int
run (const Options *options)
{
  g_autoptr (GError) error = NULL;
  sl_interrupt_catch (PATIENCE_MS);
  g_autoptr (SlSpawner) spawner = sl_spawner_new (&error);
  if (spawner == NULL) {
    sl_complain ("quantize", "%s", error->message);
    return SL_EXIT_FAILED;
  }
  sl_elements_init (NULL, NULL);
  if (loses_picture (options, "--calibrate", options->calibrate) || loses_picture (options, "--evaluate", options->evaluate))
    return SL_EXIT_USAGE;
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
         && sl_options_apart ("quantize", "--output", options->output, "MODEL", options->model.model)
         && sl_options_apart ("quantize", "--output", options->output, "--labels", options->model.labels)
         && sl_options_apart ("quantize", "--html", options->html, "--output", options->output)
         && sl_options_apart ("quantize", "--html", options->html, "MODEL", options->model.model)
         && sl_options_apart ("quantize", "--html", options->html, "--labels", options->model.labels)
         && (options->html == NULL || sl_options_target ("quantize", "--html", options->html));
}

static gboolean
check (Options *options)
{
  static const char *const methods[] = { "minmax", "percentile", "mse", NULL }, *const heads[] = { "auto", "none", NULL };
  static const char *const scales[] = { "per-channel", "per-tensor", NULL }, *const types[] = { "int8", "uint8", NULL };
  gdouble percent = DEFAULT_PERCENT / 100, prune = 0;
  options->most = DEFAULT_PICTURES;
  options->how = (SlQuantizeOptions){ .method = SL_RANGE_MSE, .float_head = TRUE };
  if (!check_targets (options) || !sl_model_options_check ("quantize", &options->model)
      || !sl_options_choice ("quantize", "--method", &options->method, methods)
      || !sl_options_choice ("quantize", "--float-head", &options->float_head, heads)
      || !sl_options_choice ("quantize", "--weights", &options->weights, scales)
      || !sl_options_choice ("quantize", "--activations", &options->activations, types)
      || !sl_options_fraction ("quantize", "--percentile", options->percentile, &percent)
      || !sl_options_fraction ("quantize", "--min-agreement", options->min_agreement, &options->limit)
      || !sl_options_fraction ("quantize", "--prune", options->prune, &prune)
      || !sl_options_integer ("quantize", "--pictures", options->pictures, 1, 100000, &options->most))
    return FALSE;
  for (guint i = 0; options->method != NULL && methods[i] != NULL; i++)
    if (g_str_equal (options->method, methods[i]))
      options->how.method = (SlRangeMethod) i;
  options->how.float_head = options->float_head == NULL || g_str_equal (options->float_head, "auto");
  options->how.what = options->weights_only ? SL_QUANTIZE_WEIGHTS : options->float16 ? SL_QUANTIZE_FLOAT16 : SL_QUANTIZE_ALL;
  options->how.uint8 = options->activations != NULL && g_str_equal (options->activations, "uint8");
  options->how.per_tensor = options->how.uint8 || (options->weights != NULL && g_str_equal (options->weights, "per-tensor"));
  if (options->how.uint8 && options->weights != NULL && g_str_equal (options->weights, "per-channel")) {
    sl_options_usage ("quantize", "--activations uint8: weights of uint8 have one scale; expected --weights per-tensor");
    return FALSE;
  }
  options->how.percent = 100 * percent;
  options->how.prune = prune;
  options->how.threads = sl_threads_resolve (options->model.threads);
  return TRUE;
}

static int
run_quantize (int argc, char **argv)
{
  Options options = { 0 };
  g_auto (GStrv) rest = NULL;
  g_autofree GOptionEntry *more = sl_model_options_entries (&options.model);
  const GOptionEntry entries[] = {
    { "calibrate", 'c', 0, G_OPTION_ARG_FILENAME, &options.calibrate,
      "Pictures like those that the model will see: a folder, a video, a camera or a URI", "SOURCE" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "The file to write", "FILE" },
    { "evaluate", 'e', 0, G_OPTION_ARG_FILENAME, &options.evaluate, "Pictures to compare on (default: every fifth of those)", "SOURCE" },
    { "pictures", 0, 0, G_OPTION_ARG_STRING, &options.pictures, "Most pictures to learn from, 1..100000 (default 100)", "N" },
    { "method", 0, 0, G_OPTION_ARG_STRING, &options.method, "Ranges of values: minmax, percentile or mse (default mse)", "NAME" },
    { "percentile", 0, 0, G_OPTION_ARG_STRING, &options.percentile, "Share of values in a range, 0..1 (default 0.9999)", "X" },
    { "float-head", 0, 0, G_OPTION_ARG_STRING, &options.float_head, "Leave what 8 bits spoil as float: auto or none (default auto)",
      "HOW" },
    { "weights", 0, 0, G_OPTION_ARG_STRING, &options.weights, "Scales of weights: per-channel or per-tensor (default per-channel)", "HOW" },
    { "activations", 0, 0, G_OPTION_ARG_STRING, &options.activations, "Type of 8-bit values: int8 or uint8 (default int8)", "TYPE" },
    { "equalize", 0, 0, G_OPTION_ARG_NONE, &options.equalize, "Make channels of layers alike first, where that helps", NULL },
    { "prune", 0, 0, G_OPTION_ARG_STRING, &options.prune, "Make this share of each layer's weights zero first, the smallest, 0..1", "X" },
    { "weights-only", 0, 0, G_OPTION_ARG_NONE, &options.weights_only, "Weights of 8 bits, the rest float; needs no pictures", NULL },
    { "float16", 0, 0, G_OPTION_ARG_NONE, &options.float16, "Weights of float16, the rest float; needs no pictures", NULL },
    { "min-agreement", 0, 0, G_OPTION_ARG_STRING, &options.min_agreement, "Keep the worst layers float until the models agree so far, 0..1",
      "X" },
    { "html", 0, 0, G_OPTION_ARG_FILENAME, &options.html, "Write the report as a page, with pictures of both models' results", "FILE" },
    { "threads", 't', 0, G_OPTION_ARG_STRING, &options.model.threads_text, "Threads to compute with, 1..64 or auto (default 1)", "N" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL },
    { NULL },
  };
  int status = sl_options_parse ("quantize", "MODEL", "Makes a float model compute with 8 bits, and says what that costs.", NULL, argc,
                                 argv, entries, more, &rest);
  if (status < 0) {
    status = SL_EXIT_USAGE;
    options.model.model = g_strdup (rest[0]);
    if (rest[0] == NULL || rest[1] != NULL)
      sl_options_usage ("quantize", "expected one MODEL, got %u arguments", g_strv_length (rest));
    else if (options.output == NULL || (options.calibrate == NULL && !options.weights_only && !options.float16))
      sl_options_usage ("quantize", "%s is required", options.output == NULL ? "--output FILE" : "--calibrate SOURCE");
    else if (options.weights_only && options.float16)
      sl_options_usage ("quantize", "expected one of --weights-only and --float16");
    else if (check (&options))
      status = run (&options);
  }
  options_clear (&options);
  return status;
}

const SlCommand sl_command_quantize = { "quantize", "make a float model compute with 8 bits", run_quantize };
