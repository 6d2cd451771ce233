/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See helpers.h. */
#include "tests/models/helpers.h"

#include <stdio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Processor time that a refusal may take on any machine: it is below a second on today's, which the
 * test prints. Sanitizers and valgrind are slower by far. */
#ifdef TEST_ADDRESS_SANITIZER
#define LONGEST_S 200
#else
#define LONGEST_S 20
#endif
/* Address space that loading may take beside the file itself. */
#define MEMORY ((rlim_t) 64 << 20)

void
expect_error (GError **error, SlError code, ...)
{
  va_list texts;
  const char *text;
  g_assert_error (*error, SL_ERROR, (gint) code);
  va_start (texts, code);
  while ((text = va_arg (texts, const char *)) != NULL)
    if (strstr ((*error)->message, text) == NULL)
      g_error ("'%s' is not in the message '%s'", text, (*error)->message);
  va_end (texts);
  g_clear_error (error);
}

/* What the process has and @bytes; sanitizers have terabytes, which stay unlimited. */
static void
limit_memory (rlim_t bytes, struct rlimit *before)
{
  getrlimit (RLIMIT_AS, before);
#ifndef TEST_ADDRESS_SANITIZER
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  const rlim_t now = (rlim_t) g_ascii_strtoull (text, NULL, 10) * (rlim_t) sysconf (_SC_PAGESIZE);
  g_assert_cmpint (setrlimit (RLIMIT_AS, &(struct rlimit){ now + bytes, before->rlim_max }), ==, 0);
#endif
}

SlModel *
load_bounded (const char *path, GError **error)
{
  struct stat status;
  struct rlimit before;
  g_assert_cmpint (stat (path, &status), ==, 0);
  limit_memory (MEMORY + (rlim_t) status.st_size, &before);
  const clock_t start = clock ();
  SlModel *model = sl_model_load (path, NULL, error);
  const clock_t took = clock () - start;
  setrlimit (RLIMIT_AS, &before);
  g_test_message ("%s (%ld us)", model == NULL ? (*error)->message : "loaded", (long) took);
  g_assert_cmpint (took, <, LONGEST_S * CLOCKS_PER_SEC);
  return model;
}

void
expect_file_refused (const char *path, SlError code, const char *text)
{
  g_autoptr (GError) error = NULL;
  SlModel *model = load_bounded (path, &error);
  g_assert_null (model);
  g_assert_cmpuint (strlen (error->message), <, 20000);
  expect_error (&error, code, path, text, NULL);
}

SlTfliteWriter *
picture_model (SlDtype dtype, guint rank, const gint32 *dims, gfloat scale, gint64 zero_point)
{
  SlTfliteWriter *writer = sl_tflite_writer_new ();
  SlTfliteTensor image = {
    .name = "image", .dtype = dtype, .rank = rank, .scale = scale, .zero_point = zero_point
  };
  SlTfliteTensor flat = {
    .name = "flat", .dtype = dtype, .rank = 2, .scale = scale, .zero_point = zero_point
  };
  gint32 elements = 1;
  for (guint i = 0; i < rank; i++)
    elements *= image.dims[i] = dims[i];
  flat.dims[0] = 1;
  flat.dims[1] = elements;
  const gint32 x = sl_tflite_writer_tensor (writer, &image),
               y = sl_tflite_writer_tensor (writer, &flat);
  SlTfliteOp op = {
    .op = SL_OP_RESHAPE, .n_inputs = 1, .inputs = { x }, .n_outputs = 1, .outputs = { y }
  };
  op.params.reshape.count = 2;
  op.params.reshape.dims[0] = 1;
  op.params.reshape.dims[1] = -1;
  sl_tflite_writer_op (writer, &op);
  sl_tflite_writer_io (writer, 1, &x, 1, &y);
  return writer;
}

SlGraph *
read_graph (SlTfliteWriter *writer, SlModelMetadata *metadata, GError **error)
{
  SlModelMetadata own = { 0 };
  g_autoptr (GBytes) bytes = sl_tflite_writer_finish (writer);
  g_autoptr (SlGraph) graph = sl_graph_new (bytes);
  const gboolean good = sl_reader_tflite.read (bytes, &(SlReaderSource){ .path = "memory" }, graph,
                                               metadata != NULL ? metadata : &own, error);
  sl_model_metadata_clear (&own);
  return good ? g_steal_pointer (&graph) : NULL;
}

gsize
resident_bytes (void)
{
  unsigned long all = 0, resident = 0;
  FILE *file = fopen ("/proc/self/statm", "r");
  if (file == NULL || fscanf (file, "%lu %lu", &all, &resident) != 2)
    resident = 0;
  if (file != NULL)
    fclose (file);
  return (gsize) resident * (gsize) sysconf (_SC_PAGESIZE);
}

char *
write_temp (const char *name, const char *content, gssize length)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *dir = g_dir_make_tmp ("sightline-XXXXXX", &error);
  g_assert_no_error (error);
  char *path = g_build_filename (dir, name, NULL);
  g_file_set_contents (path, content, length, &error);
  g_assert_no_error (error);
  return path;
}

static SlModel *
load_with_options (SlTfliteWriter *writer, const char *info, const SlModelSettings *overrides,
                   const SlModelLoadOptions *options, GError **error)
{
  g_autoptr (GError) failed = NULL;
  g_autofree char *path = sl_tflite_writer_save_temp (writer, "model.tflite", NULL);
  g_autofree char *info_path = g_strconcat (path, ".modelinfo", NULL);
  if (info != NULL)
    g_file_set_contents (info_path, info, -1, &failed);
  g_assert_no_error (failed);
  SlModel *model = sl_model_load_with (path, overrides, options, error);
  g_unlink (info_path);
  sl_tflite_remove_temp (path);
  return model;
}

SlModel *
load_with_info (SlTfliteWriter *writer, const char *info, const SlModelSettings *overrides,
                GError **error)
{
  return load_with_options (writer, info, overrides, &(SlModelLoadOptions){ 0 }, error);
}

SlModel *
load_skipping_with_info (SlTfliteWriter *writer, const char *info, const SlModelSettings *overrides,
                         GError **error)
{
  return load_with_options (writer, info, overrides,
                            &(SlModelLoadOptions){ .skip_input_quantize = TRUE }, error);
}

GError *
refused_onnx (const SlOnnxWriter *writer, const char *shapes)
{
  const SlModelLoadOptions options = { .input_shape = shapes };
  GError *error = NULL;
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  g_autofree char *path =
    write_temp ("model.onnx", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  g_assert_null (sl_model_load_with (path, NULL, &options, &error));
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, path));
  sl_tflite_remove_temp (path);
  return error;
}
