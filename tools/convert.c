/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline convert`: a model of any format as a TensorFlow Lite file, with all that its contract
 * says.
 */
#include <stdio.h>

#include "core/base/printable.h"
#include "models/convert.h"
#include "models/state.h"
#include "tools/command.h"
#include "tools/options.h"

static gboolean
convert (const SlModelOptions *options, const char *path, GError **error)
{
  SlModelLoadOptions how = sl_model_options_load (options, FALSE);
  how.keep_activations = TRUE;
  how.state = SL_STATE_NONE; /* the file has every input and output */
  g_autoptr (SlModel) model =
    sl_model_load_with (options->settings.model, &options->settings, &how, error);
  if (model == NULL)
    return FALSE;
  g_autoptr (GBytes) bytes = sl_model_to_tflite (model, error);
  if (bytes == NULL)
    return FALSE;
  if (!sl_options_write (path, bytes, error))
    return FALSE;
  g_autofree char *shown = sl_printable (path, SL_PRINTABLE_MESSAGE);
  printf ("%s: %" G_GSIZE_FORMAT " bytes\n", shown, g_bytes_get_size (bytes));
  return TRUE;
}

static int
run_convert (int argc, char **argv)
{
  g_auto (SlModelOptions) options = { 0 };
  g_auto (GStrv) rest = NULL;
  g_autofree char *output = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree GOptionEntry *more =
    sl_model_options_entries (&options, SL_SETTINGS_CONTRACT | SL_SETTINGS_LIMITS);
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "The file to write", "FILE" },
    { NULL },
  };
  int status = sl_options_parse (
    "convert", "MODEL", "Converts a model to a TensorFlow Lite file with its labels and metadata.",
    NULL, argc, argv, entries, more, &rest);
  if (status >= 0)
    return status;
  status = SL_EXIT_USAGE;
  if (rest[0] == NULL || rest[1] != NULL)
    sl_options_usage ("convert", "expected one MODEL, got %u arguments", g_strv_length (rest));
  else if (output == NULL)
    sl_options_usage ("convert", "--output FILE is required");
  else if (sl_options_tflite ("convert", output)
           && sl_options_apart ("convert", "--output", output, "MODEL", rest[0])
           && sl_options_apart ("convert", "--output", output, "--labels", options.settings.labels)
           && sl_model_options_check ("convert", &options)) {
    options.settings.model = g_strdup (rest[0]);
    status = convert (&options, output, &error) ? SL_EXIT_OK : SL_EXIT_FAILED;
  }
  if (error != NULL)
    sl_complain ("convert", "%s", error->message);
  return status;
}

const SlCommand sl_command_convert = { "convert", "write a model as a TensorFlow Lite file",
                                       run_convert };
