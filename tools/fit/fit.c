/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline fit`: which pixel values, order of channels and fit a model wants that states none. It
 * tells what it found and changes nothing, unless it is asked to write a description file.
 */
#include <stdio.h>

#include "sightline/error.h"
#include "tools/command.h"
#include "tools/fit/finding.h"
#include "tools/fit/page.h"
#include "tools/html_page.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/predict/inputs.h"
#include "tools/predict/decoder_client.h"

/* How long an interrupted program may take to end. */
#define PATIENCE_MS 1900
/* Seconds that a decoder may be without progress. */
#define TIMEOUT 10
#define DEFAULT_PICTURES 12
#define MAX_PICTURES 200

typedef struct
{
  SlModelOptions model;
  char *pictures_text, *truth, *html, *output;
  guint pictures;
  gboolean json, write;
} Options;

static void
options_clear (Options *options)
{
  sl_model_options_clear (&options->model);
  g_free (options->pictures_text);
  g_free (options->truth);
  g_free (options->html);
  g_free (options->output);
}

static void
unref_sample (gpointer sample)
{
  gst_sample_unref (sample);
}

/* The first frame of each of @inputs; NULL with @error set where there is none at all. */
static GPtrArray *
read_frames (SlSpawner *spawner, const GPtrArray *inputs, guint most, GError **error)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (unref_sample);
  g_autoptr (SlDecoderClient) frames = sl_decoder_client_new (spawner, TIMEOUT, "", NULL);
  const guint n = MIN (inputs->len, most);
  for (guint i = 0; i < n && !sl_interrupted (); i++) {
    const SlInput *input = inputs->pdata[(guint64) i * inputs->len / n];
    g_autoptr (GError) problem = NULL;
    GstSample *sample = NULL;
    if (sl_decoder_client_open (frames, input, &problem)) {
      sample = sl_decoder_client_next (frames, &problem);
      sl_decoder_client_close (frames);
    }
    if (sample != NULL)
      g_ptr_array_add (found, sample);
    else if (!sl_interrupted ())
      sl_complain ("fit", "%s: %s", input->name,
                   problem != NULL ? problem->message : "has no picture in it");
  }
  if (found->len > 0)
    return g_steal_pointer (&found);
  if (!sl_interrupted ())
    g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "none of the pictures could be read");
  return NULL;
}

/* The description file that was asked for. What is not chosen is not written. */
static gboolean
write_info (const Options *options, const SlFinding *finding, const char *model, GError **error)
{
  g_autofree char *beside = g_strconcat (model, ".modelinfo", NULL),
                  *text = sl_finding_info (finding, &options->model);
  const char *path = options->output != NULL ? options->output : beside;
  if (!options->write && options->output == NULL)
    return TRUE;
  if (!finding->chosen) {
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT,
                 "%s: not written, since no reading was chosen: state one in it yourself", path);
    return FALSE;
  }
  if (options->output == NULL && g_file_test (path, G_FILE_TEST_EXISTS)) {
    g_set_error (
      error, SL_ERROR, SL_ERROR_ARGUMENT,
      "%s: is there already, and may state more; remove it first, or name another file with "
      "--output",
      path);
    return FALSE;
  }
  if (!g_file_set_contents (path, text, -1, error))
    return FALSE;
  fprintf (stderr, "written: %s\n", path);
  return TRUE;
}

static gboolean
fit (const Options *options, char **arguments, SlSpawner *spawner, GError **error)
{
  const char *model = arguments[0];
  g_autoptr (GPtrArray) inputs = sl_inputs_new (arguments + 1, FALSE);
  g_autoptr (GPtrArray) frames = read_frames (spawner, inputs, options->pictures, error);
  g_autoptr (SlTrial) trial =
    frames != NULL ? sl_trial_new (model, &options->model, spawner, frames, error) : NULL;
  const SlFitTruth truth = { model, options->truth, &options->model, spawner, MAX_PICTURES };
  g_autoptr (SlFinding) finding =
    trial != NULL
      ? sl_finding_new (trial, &options->model, options->truth != NULL ? &truth : NULL, error)
      : NULL;
  if (finding == NULL)
    return FALSE;
  sl_finding_print (finding, model, options->json);
  return (options->html == NULL
          || sl_fit_page_write (finding, model, &options->model, inputs, options->html, error))
         && write_info (options, finding, model, error);
}

static int
run (const Options *options, char **arguments)
{
  g_autoptr (GError) error = NULL;
  sl_interrupt_catch (PATIENCE_MS);
  g_autoptr (SlSpawner) spawner = sl_spawner_new (&error);
  if (spawner == NULL) {
    sl_complain ("fit", "%s", error->message);
    return SL_EXIT_FAILED;
  }
  const gboolean good = fit (options, arguments, spawner, &error);
  if (sl_interrupted ())
    return SL_EXIT_INTERRUPTED;
  if (error != NULL)
    sl_complain ("fit", "%s", error->message);
  return good ? SL_EXIT_OK : SL_EXIT_FAILED;
}

static int
run_fit (int argc, char **argv)
{
  Options options = { .pictures = DEFAULT_PICTURES };
  g_auto (GStrv) rest = NULL;
  g_autofree GOptionEntry *more =
    sl_model_options_entries (&options.model, SL_SETTINGS_CONTRACT | SL_SETTINGS_LIMITS);
  const GOptionEntry entries[] = {
    { "pictures", 0, 0, G_OPTION_ARG_STRING, &options.pictures_text,
      "Most pictures, 1..200 (default 12)", "N" },
    { "truth", 0, 0, G_OPTION_ARG_FILENAME, &options.truth,
      "Labelled pictures, as for eval: the combination that agrees with most labels is best",
      "PATH" },
    { "html", 0, 0, G_OPTION_ARG_FILENAME, &options.html,
      "Write a page with the pictures as the model sees them with the best combinations", "FILE" },
    { "write", 'w', 0, G_OPTION_ARG_NONE, &options.write, "Write the choice to MODEL.modelinfo",
      NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write the choice to another file",
      "FILE" },
    { "threads", 't', 0, G_OPTION_ARG_STRING, &options.model.settings.threads,
      "Threads to compute with, 1..64 or auto (0 = auto; default 1)", "N" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json,
      "Print one JSON object, with all combinations", NULL },
    { NULL },
  };
  int status = sl_options_parse ("fit", "MODEL PICTURE...",
                                 "Finds out which pixel values, colours and fit a model expects.",
                                 NULL, argc, argv, entries, more, &rest);
  if (status < 0) {
    status = SL_EXIT_USAGE;
    if (rest[0] == NULL || rest[1] == NULL)
      sl_options_usage ("fit", "expected MODEL and at least one PICTURE");
    else if (sl_model_options_check ("fit", &options.model)
             && sl_options_integer ("fit", "--pictures", options.pictures_text, 1, MAX_PICTURES,
                                    &options.pictures)
             && sl_options_apart ("fit", "--html", options.html, "--output", options.output)
             && sl_options_report ("fit", "--html", options.html, SL_HTML_HEAD)
             && sl_options_report ("fit", "--output", options.output, SL_FIT_HEAD))
      status = run (&options, rest);
  }
  options_clear (&options);
  return status;
}

const SlCommand sl_command_fit = { "fit",
                                   "find out which pixel values, colours and fit a model expects",
                                   run_fit };
