/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runtime that tests/support/fake_runtime.c plays, from the tests of slinfer that are compiled
 * with its path. */
#ifndef SL_TESTS_ELEMENTS_FAKE_H
#define SL_TESTS_ELEMENTS_FAKE_H

#include <dlfcn.h>
#include <fcntl.h>
#include <glib.h>
#include <sys/stat.h>

#include "tests/elements/support.h"
#include "tests/support/onnx_writer.h"

/* A variable of the library, which stays open. */
static inline void *
fake (const char *name)
{
  static void *handle;
  if (handle == NULL)
    handle = dlopen (FAKE_RUNTIME_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  void *variable = handle != NULL ? dlsym (handle, name) : NULL;
  g_assert_nonnull (variable);
  return variable;
}

/* What it is to do, in its words; NULL = nothing in particular. */
static inline void
set_fake (const char *words)
{
  g_strlcpy (fake ("fake_words"), words != NULL ? words : "", 64);
}

/* (transfer full): the path of a model with the operator @op, float32[1,3,4,4], which is Neg for
 * one that the fake computes. Its file is old, as those are that do not change any more. */
static inline char *
fake_model (const char *name, const char *op)
{
  const struct timespec old[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, 4, 4 });
  sl_onnx_writer_node (w, op, "x", "y", NULL);
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  sl_onnx_writer_property (w, "Image.NominalPixelRange", "Normalized_0_1");
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  char *path = test_text_file (name, "");
  g_assert_true (g_file_set_contents (path, data, (gssize) size, NULL));
  g_assert_cmpint (utimensat (AT_FDCWD, path, old, 0), ==, 0);
  return path;
}

#endif
