/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A model that replaces another one, as elements do it: a thread loads it while the first one runs.
 * The process needs memory for one model more, at every replacement.
 */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "core/runtime/session.h"
#include "models/model_private.h"
#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"
#include "tests/support/sanitized.h"

/* Layers are smaller than a huge page: 1.9 MB each. */
#define N 700
#define LAYERS 10
#define REPLACEMENTS 16
#define MODEL_KIB ((guint64) N * N * LAYERS * sizeof (gfloat) / 1024)

typedef struct
{
  SlModel *model;
  SlSession *session;
} Loaded;

static char *
write_model (guint32 seed)
{
  g_autofree gfloat *weights = g_new (gfloat, N * N);
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  gsize size;
  sl_onnx_writer_input (w, "h0", SL_ONNX_FLOAT, 2, (gint64[]){ 100, N });
  for (guint i = 0; i < LAYERS; i++) {
    g_autofree char *name = g_strdup_printf ("w%u", i), *output = g_strdup_printf ("h%u", i + 1),
                    *inputs = g_strdup_printf ("h%u,w%u", i, i);
    for (guint k = 0; k < N * N; k++, seed = seed * 1664525 + 1013904223)
      weights[k] = (gfloat) ((gint32) (seed >> 16 & 255) - 128) / 1024;
    sl_onnx_writer_floats (w, name, 2, (const gint64[]){ N, N }, weights);
    sl_onnx_writer_node (w, "MatMul", inputs, output, NULL);
  }
  g_autofree char *last = g_strdup_printf ("h%u", LAYERS);
  sl_onnx_writer_output (w, last, SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  const char *data = g_bytes_get_data (bytes, &size);
  return write_temp ("model.onnx", data, (gssize) size);
}

static gpointer
load (gpointer path)
{
  g_autoptr (GError) error = NULL;
  Loaded *loaded = g_new0 (Loaded, 1);
  loaded->model = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  loaded->session = sl_session_new (sl_model_graph (loaded->model), 1, &error);
  g_assert_no_error (error);
  return loaded;
}

static void
loaded_free (Loaded *loaded)
{
  sl_session_free (loaded->session);
  sl_model_unref (loaded->model);
  g_free (loaded);
}

static void
run (const Loaded *loaded, const gfloat *x, gfloat *y)
{
  g_assert_cmpint (sl_session_run (loaded->session, (const void *[]){ x }, (void *[]){ y }), ==,
                   SL_STATUS_OK);
}

/* A field of /proc/self/status, in KiB. */
static guint64
memory (const char *field)
{
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents ("/proc/self/status", &text, NULL, NULL));
  const char *line = strstr (text, field);
  g_assert_nonnull (line);
  return g_ascii_strtoull (line + strlen (field), NULL, 10);
}

/* Not under valgrind either, which keeps what is freed as sanitizers do. */
static gboolean
can_measure (void)
{
#if defined TEST_ADDRESS_SANITIZER || defined TEST_THREAD_SANITIZER
  return FALSE;
#else
  const char *preload = g_getenv ("LD_PRELOAD");
  if (preload != NULL && strstr (preload, "vgpreload") != NULL)
    return FALSE;
#endif
  FILE *file = fopen ("/proc/self/clear_refs", "w");
  const gboolean reset = file != NULL && fputs ("5", file) >= 0 && fflush (file) == 0;
  if (file != NULL)
    fclose (file);
  return reset;
}

/* @peak: the most memory counts, also while a model is loaded; else what the process keeps. */
static void
replace (gboolean peak)
{
  char *const paths[2] = { write_model (1), write_model (2) };
  g_autofree gfloat *x = g_new0 (gfloat, 100 * N), *y = g_new0 (gfloat, 100 * N);
  Loaded *now = load (paths[0]);
  run (now, x, y);
  const guint64 before = memory ("VmRSS:");
  const gboolean measured = can_measure ();
  for (guint i = 1; measured && i <= REPLACEMENTS; i++) {
    GThread *thread = g_thread_new ("load", load, paths[i % 2]);
    run (now, x, y);
    Loaded *next = g_thread_join (thread);
    run (next, x, y);
    loaded_free (now);
    now = next;
    const guint64 now_kib = memory (peak ? "VmHWM:" : "VmRSS:");
    g_test_message ("replacement %u: %" G_GUINT64_FORMAT " KiB, %" G_GUINT64_FORMAT " before", i,
                    now_kib, before);
    g_assert_cmpuint (now_kib, <=, before + (peak ? MODEL_KIB * 4 / 3 : MODEL_KIB / 3));
  }
  loaded_free (now);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    sl_tflite_remove_temp (paths[i]);
    g_free (paths[i]);
  }
  if (!measured)
    g_test_skip ("the peak of the memory cannot be measured here");
}

static void
test_memory (void)
{
  replace (TRUE);
}

/* A model that goes gives its memory back. */
static void
test_returned (void)
{
  replace (FALSE);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/replaced/memory", test_memory);
  g_test_add_func ("/models/replaced/returned", test_returned);
  return g_test_run ();
}
