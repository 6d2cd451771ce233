/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline advise`: which model, how many threads and which rate fit some cameras on this
 * machine, measured, as a description file.
 */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/printable.h"
#include "plugins/elements.h"
#include "tools/advise/advice.h"
#include "tools/advise/codec_cost.h"
#include "tools/bench/timing.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/run/settings.h"

#define NAME "advise"
#define MOST_CAMERAS 64
#define DEFAULT_MARGIN 0.25
#define MOST_MARGIN 0.9
/* After so many seconds nothing more is measured. */
#define DEFAULT_SECONDS 50
#define MARK "# By sightline advise"

typedef struct
{
  char *camera, *cameras, *task, *rate, *margin, *codec, *seconds, *output;
  char **models;
  gboolean json;
  guint limit; /* seconds */
} Options;

/* The caps of a camera's decoded frames. */
static GstCaps *
camera_caps (const SlAdvisedCamera *camera)
{
  return gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "NV12", "width", G_TYPE_INT,
                              (gint) camera->width / 2 * 2, "height", G_TYPE_INT,
                              (gint) camera->height / 2 * 2, "framerate", GST_TYPE_FRACTION, 15, 1,
                              NULL);
}

static gint
compare_work (gconstpointer a, gconstpointer b)
{
  const SlCandidate *first = *(const SlCandidate *const *) a,
                    *second = *(const SlCandidate *const *) b;
  return first->work < second->work ? -1 : first->work > second->work;
}

/* Small models first, so that the time goes far; trials behind what they are made of. */
static void
measure_all (SlAdvice *advice, const Options *options, const char *folder)
{
  SlProgress progress;
  g_autoptr (GstCaps) caps = camera_caps (&advice->aim.camera);
  const double end = sl_timing_now_ms () + 1e3 * options->limit;
  const guint n = advice->candidates->len;
  g_ptr_array_sort (advice->candidates, compare_work);
  sl_progress_start (&progress, NAME, "models", n);
  for (guint i = 0; i < n; i++) {
    SlCandidate *candidate = g_ptr_array_index (advice->candidates, i);
    sl_progress_show (&progress, i);
    if (candidate->problem == NULL && sl_timing_now_ms () > end)
      candidate->problem = g_strdup_printf (
        "not measured: %u seconds are over; --seconds states more", options->limit);
    if (candidate->problem != NULL)
      continue;
    sl_candidate_measure (candidate, caps, advice->aim.processors);
    SlCandidate *trial = candidate->problem == NULL && sl_timing_now_ms () < end
                           ? sl_candidate_quantize (candidate, folder)
                           : NULL;
    if (trial == NULL)
      continue;
    sl_candidate_measure (trial, caps, advice->aim.processors);
    g_free (trial->model);
    trial->model = g_strdup (candidate->model);
    g_ptr_array_add (advice->candidates, trial);
  }
  sl_progress_hide ();
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    g_unlink (path);
  }
  g_rmdir (folder);
}

static gboolean
measure (SlAdvice *advice, const Options *options, GError **error)
{
  g_autoptr (GError) undecoded = NULL;
  g_autofree char *folder = g_dir_make_tmp ("sightline-advise-XXXXXX", error);
  if (folder == NULL)
    return FALSE;
  advice->candidates =
    sl_candidates_find (options->task, (const char *const *) options->models, error);
  if (advice->candidates == NULL) {
    remove_folder (folder);
    return FALSE;
  }
  if (!sl_codec_cost (options->codec, &advice->aim.camera, folder, &advice->aim.decode_ms,
                      &advice->decoder, &undecoded))
    advice->undecoded = g_strdup (undecoded->message);
  measure_all (advice, options, folder);
  remove_folder (folder);
  sl_advice_plan (advice);
  return TRUE;
}

static int
conclude (const SlAdvice *advice, const Options *options, GError **error)
{
  const SlAdviceRow *best = sl_advice_best (advice);
  g_autofree char *text = best != NULL ? sl_advice_describe (advice, best) : NULL;
  if (options->json)
    sl_advice_print_json (advice, text);
  else
    sl_advice_print (advice);
  if (best == NULL) {
    g_autofree char *way_out = sl_advice_way_out (advice);
    return sl_complain (NAME, "%s", way_out);
  }
  if (!options->json)
    sl_advice_print_best (advice, best);
  if (options->output == NULL) {
    if (!options->json)
      printf ("\n%s", text);
    return SL_EXIT_OK;
  }
  g_autoptr (GString) file = g_string_new (text);
  return sl_options_write_text ("--output", options->output, file, error) ? SL_EXIT_OK
                                                                          : SL_EXIT_FAILED;
}

/* Texts that become lines of a description: one line each. */
static gboolean
check_texts (const Options *options)
{
  const char *bad =
    options->task != NULL && strpbrk (options->task, "\n\r") != NULL ? options->task : NULL;
  for (guint i = 0; options->models != NULL && options->models[i] != NULL; i++)
    if (strpbrk (options->models[i], "\n\r") != NULL)
      bad = options->models[i];
  g_autofree char *shown = bad != NULL ? sl_printable (bad, SL_PRINTABLE_NAME) : NULL;
  if (bad != NULL)
    sl_options_usage (NAME, "'%s': expected a text of one line, which a description can have",
                      shown);
  return bad == NULL;
}

static gboolean
check (Options *options, SlAdvice *advice)
{
  SlPlanAim *aim = &advice->aim;
  const char *camera = options->camera != NULL ? options->camera : "1080p15";
  if (options->task == NULL && options->models == NULL) {
    sl_options_usage (NAME, "expected --task TASK, such as person, or --model MODEL");
    return FALSE;
  }
  if (!sl_advised_camera_parse (camera, &aim->camera)) {
    sl_options_usage (
      NAME, "--camera %s: expected a size and a rate, such as 1080p15 or 1280x720@10", camera);
    return FALSE;
  }
  if (options->codec == NULL)
    options->codec = g_strdup (sl_codec_names ()[0]);
  aim->cameras = 1;
  aim->rate = aim->camera.rate;
  aim->margin = DEFAULT_MARGIN;
  aim->processors = g_get_num_processors ();
  options->limit = DEFAULT_SECONDS;
  advice->task = options->task;
  return check_texts (options)
         && sl_options_integer (NAME, "--cameras", options->cameras, 1, MOST_CAMERAS, &aim->cameras)
         && sl_options_number (NAME, "--rate", options->rate, 0.01, aim->camera.rate, &aim->rate)
         && sl_options_number (NAME, "--margin", options->margin, 0, MOST_MARGIN, &aim->margin)
         && sl_options_integer (NAME, "--seconds", options->seconds, 1, 86400, &options->limit)
         && sl_options_choice (NAME, "--codec", &options->codec, sl_codec_names ())
         && sl_options_report (NAME, "--output", options->output, MARK);
}

static int
run (Options *options, SlAdvice *advice)
{
  g_autoptr (GError) error = NULL;
  advice->codec = options->codec;
  sl_elements_init (NULL, NULL);
  sl_run_register_elements ();
  if (!measure (advice, options, &error))
    return sl_complain (NAME, "%s", error->message);
  const int status = conclude (advice, options, &error);
  return error != NULL ? sl_complain (NAME, "%s", error->message) : status;
}

static int
run_advise (int argc, char **argv)
{
  Options options = { NULL };
  g_auto (SlAdvice) advice = { 0 };
  g_auto (GStrv) rest = NULL;
  const GOptionEntry entries[] = {
    SL_TEXT_ENTRY ("task", &options.task,
                   "What is looked for: a task of sightline zoo, or a label, such as person",
                   "TASK"),
    SL_TEXT_ENTRY ("camera", &options.camera, "Size and frame rate of a camera (default 1080p15)",
                   "SIZE"),
    SL_TEXT_ENTRY ("cameras", &options.cameras, "How many there are, 1..64 (default 1)", "N"),
    SL_TEXT_ENTRY ("codec", &options.codec, "What they send: h264, jpeg or raw (default h264)",
                   "NAME"),
    SL_TEXT_ENTRY ("rate", &options.rate,
                   "Predictions a second of each camera (default the frame rate)", "X"),
    SL_TEXT_ENTRY ("margin", &options.margin,
                   "Share of each processor that stays free, 0..0.9 (default 0.25)", "X"),
    { "model", 'm', 0, G_OPTION_ARG_STRING_ARRAY, &options.models,
      "A model to measure in place of those of the zoo; may be repeated", "MODEL" },
    SL_TEXT_ENTRY ("seconds", &options.seconds,
                   "Begin no measurement after so many seconds (default 50)", "N"),
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write the description to a file",
      "FILE" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL },
    { NULL }
  };
  int status = sl_options_parse (
    NAME, "", "Measures which model, threads and rate fit cameras on this machine.", NULL, argc,
    argv, entries, NULL, &rest);
  if (status < 0 && rest[0] != NULL)
    status = sl_options_usage (NAME, "expected options alone, got '%s'", rest[0]);
  else if (status < 0)
    status = check (&options, &advice) ? run (&options, &advice) : SL_EXIT_USAGE;
  sl_options_clear (entries);
  return status;
}

const SlCommand sl_command_advise = { NAME, "find a model and settings for cameras on this machine",
                                      run_advise };
