/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline infer`: raw tensors in, raw tensors out, nothing in between but the model. What golden
 * tests use, and what a user compares with another runtime.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "core/base/printable.h"
#include "core/base/fail.h"
#include "core/runtime/session.h"
#include "models/backend.h"
#include "models/model.h"
#include "tools/command.h"
#include "tools/options.h"

/* Buffers of one run; free with io_clear(). */
typedef struct
{
  guint n_inputs, n_outputs;
  void *inputs[SL_MAX_IO];
  void *outputs[SL_MAX_IO];
} Io;

static void
io_clear (Io *io)
{
  for (guint i = 0; i < io->n_inputs; i++)
    sl_tensor_buffer_free (io->inputs[i]);
  for (guint i = 0; i < io->n_outputs; i++)
    sl_tensor_buffer_free (io->outputs[i]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Io, io_clear)

static char *
shape_text (const SlTensor *tensor)
{
  GString *text = g_string_new ("[");
  for (guint i = 0; i < tensor->rank; i++)
    g_string_append_printf (text, "%s%d", i > 0 ? "," : "", tensor->dims[i]);
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

static gboolean
allocate (SlGraph *graph, Io *io, GError **error)
{
  gboolean good = TRUE;
  for (; io->n_inputs < sl_graph_n_inputs (graph) && good; io->n_inputs++)
    good = (io->inputs[io->n_inputs] =
              sl_tensor_buffer_new (sl_graph_input_tensor (graph, io->n_inputs)->bytes))
           != NULL;
  for (; io->n_outputs < sl_graph_n_outputs (graph) && good; io->n_outputs++)
    good = (io->outputs[io->n_outputs] =
              sl_tensor_buffer_new (sl_graph_output_tensor (graph, io->n_outputs)->bytes))
           != NULL;
  return good
         || sl_fail (error, SL_ERROR_LIMIT, "not enough memory for the model's inputs and outputs");
}

static gboolean
wrong_size (const char *path, guint index, const SlTensor *tensor, const char *got, GError **error)
{
  g_autofree char *described = sl_tensor_describe (tensor);
  return sl_fail (error, SL_ERROR_SHAPE,
                  "%s: expected %" G_GSIZE_FORMAT " bytes for input %u '%s' %s, got %s", path,
                  tensor->bytes, index, tensor->name, described, got);
}

static gboolean
read_input (const char *path, guint index, const SlTensor *tensor, void *buffer, GError **error)
{
  GStatBuf status;
  FILE *file = g_stat (path, &status) == 0 ? g_fopen (path, "rb") : NULL;
  if (file == NULL || S_ISDIR (status.st_mode)) {
    sl_fail (error, SL_ERROR_OPEN, "%s: %s; expected a file with the bytes of input %u", path,
             file == NULL ? g_strerror (errno) : "is a directory", index);
    g_clear_pointer (&file, fclose);
    return FALSE;
  }
  gsize got = fread (buffer, 1, tensor->bytes, file);
  gboolean more = got == tensor->bytes && fgetc (file) != EOF;
  fclose (file);
  if (got == tensor->bytes && !more)
    return TRUE;
  g_autofree char *size = S_ISREG (status.st_mode)
                            ? g_strdup_printf ("%" G_GINT64_FORMAT, (gint64) status.st_size)
                          : more ? g_strdup ("more")
                                 : g_strdup_printf ("%" G_GSIZE_FORMAT, got);
  return wrong_size (path, index, tensor, size, error);
}

static gboolean
read_inputs (SlModel *model, char **paths, Io *io, GError **error)
{
  SlGraph *graph = sl_model_graph (model);
  guint given = g_strv_length (paths), wanted = sl_graph_n_inputs (graph);
  if (given != wanted) {
    GString *list = g_string_new (NULL);
    for (guint i = 0; i < wanted; i++) {
      g_autofree char *described = sl_tensor_describe (sl_graph_input_tensor (graph, i));
      g_string_append_printf (list, "%s'%s' %s", i > 0 ? ", " : "",
                              sl_graph_input_tensor (graph, i)->name, described);
    }
    sl_fail (error, SL_ERROR_ARGUMENT, "%s: expected %u times --input (%s), got %u",
             sl_model_path (model), wanted, list->str, given);
    g_string_free (list, TRUE);
    return FALSE;
  }
  for (guint i = 0; i < given; i++)
    if (!read_input (paths[i], i, sl_graph_input_tensor (graph, i), io->inputs[i], error))
      return FALSE;
  return TRUE;
}

/* Not g_file_set_contents(): what is there already may be a device, a pipe or longer than the
 * tensor. */
static gboolean
write_file (const char *path, const void *data, gsize bytes, GError **error)
{
  FILE *file = g_fopen (path, "wb");
  gboolean written = file != NULL && fwrite (data, 1, bytes, file) == bytes;
  int problem = errno;
  if (file != NULL && fclose (file) != 0 && written) {
    written = FALSE;
    problem = errno;
  }
  if (!written)
    sl_fail (error, SL_ERROR_OPEN, "%s: cannot be written: %s", path, g_strerror (problem));
  return written;
}

static gboolean
write_output (const char *prefix, guint index, const SlTensor *tensor, const void *data,
              GError **error)
{
  char scale[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *path = g_strdup_printf ("%s.%u.bin", prefix, index);
  g_autofree char *shape = shape_text (tensor),
                  *name = sl_printable (tensor->name, SL_PRINTABLE_MESSAGE);
  if (!write_file (path, data, tensor->bytes, error))
    return FALSE;
  printf ("%s\t%s\t%s\t%s\t%d\t%" G_GSIZE_FORMAT "\n", name, sl_dtype_name (tensor->dtype), shape,
          g_ascii_formatd (scale, sizeof scale, "%.9g", sl_tensor_scale (tensor)),
          sl_tensor_zero_point (tensor), tensor->bytes);
  return TRUE;
}

static gboolean
infer (const SlModelOptions *options, char **inputs, const char *prefix, guint frames,
       GError **error)
{
  g_auto (Io) io = { 0 };
  SlModelLoadOptions how = sl_model_options_load (options, FALSE);
  g_autofree char *notice = NULL;
  how.any_backend = TRUE;
  g_autoptr (SlModel) model =
    sl_model_load_with (options->settings.model, &options->settings, &how, error);
  if (model == NULL)
    return FALSE;
  SlGraph *graph = sl_model_graph (model);
  if (!allocate (graph, &io, error) || !read_inputs (model, inputs, &io, error))
    return FALSE;
  g_autoptr (SlSession) session = sl_model_session_new (model, options->threads, &notice, error);
  if (session == NULL)
    return sl_fail_prefix (error, "%s: ", options->settings.model);
  SlStatus status = SL_STATUS_OK;
  for (guint i = 0; i < frames && status == SL_STATUS_OK; i++)
    status = sl_session_run (session, (const void *const *) io.inputs, io.outputs);
  if (notice == NULL)
    notice = sl_session_take_notice (session);
  if (notice != NULL)
    sl_complain ("infer", "%s: %s", options->settings.model, notice);
  if (status != SL_STATUS_OK)
    return sl_fail (error, SL_ERROR_BACKEND, "%s: %s", options->settings.model,
                    sl_session_status_text (session, status));
  for (guint i = 0; i < io.n_outputs; i++)
    if (!write_output (prefix, i, sl_graph_output_tensor (graph, i), io.outputs[i], error))
      return FALSE;
  return TRUE;
}

static int
run_infer (int argc, char **argv)
{
  g_auto (SlModelOptions) options = { 0 };
  g_auto (GStrv) inputs = NULL, rest = NULL;
  g_autofree char *prefix = NULL, *frames_text = NULL;
  guint frames = 1;
  g_autoptr (GError) error = NULL;
  g_autofree GOptionEntry *more = sl_model_options_entries (
    &options, SL_SETTINGS_LIMITS | SL_SETTINGS_BACKEND | SL_SETTINGS_WORDS);
  const GOptionEntry entries[] = {
    { "model", 'm', 0, G_OPTION_ARG_FILENAME, &options.settings.model, "The model", "FILE" },
    { "input", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &inputs,
      "File with the bytes of an input; repeat it for each input, in the model's order", "FILE" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &prefix, "Write PREFIX.0.bin, PREFIX.1.bin, ...",
      "PREFIX" },
    { "frames", 'n', 0, G_OPTION_ARG_STRING, &frames_text,
      "Run N times on the same inputs, for a model with state, and write the last outputs", "N" },
    { "threads", 't', 0, G_OPTION_ARG_STRING, &options.settings.threads,
      "Threads to compute with, 1..64 or auto (0 = auto; default 1)", "N" },
    { NULL },
  };
  int status = sl_options_parse (
    "infer", "", "Runs a model on raw tensors.",
    "Prints a line for each output: name, type, shape, scale, zero point and bytes, separated by "
    "tabs.",
    argc, argv, entries, more, &rest);
  if (status >= 0)
    return status;
  status = SL_EXIT_USAGE;
  if (rest[0] != NULL)
    sl_options_usage ("infer", "unexpected argument '%s'", rest[0]);
  else if (options.settings.model == NULL || inputs == NULL || prefix == NULL)
    sl_options_usage ("infer", "%s is required",
                      options.settings.model == NULL ? "--model FILE"
                      : inputs == NULL               ? "--input FILE"
                                                     : "--output PREFIX");
  else if (sl_model_options_check ("infer", &options)
           && sl_options_integer ("infer", "--frames", frames_text, 1, 1000000, &frames))
    status = infer (&options, inputs, prefix, frames, &error) ? SL_EXIT_OK : SL_EXIT_FAILED;
  if (error != NULL)
    sl_complain ("infer", "%s", error->message);
  return status;
}

const SlCommand sl_command_infer = { "infer", "run a model on raw tensors", run_infer };
