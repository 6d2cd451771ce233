/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A library that is opened, used, closed and opened again, as plugins of applications and language
 * bindings do.
 *   unload MAKE_MODELS LIBSIGHTLINE [LIBSIGHTLINE_PIPELINE]
 */
#include <dlfcn.h>
#include <glib-object.h>
#include <glib/gstdio.h>

#define TIMES 3

typedef GObject *(*NewFromText) (const char *text, GError **error);
typedef GObject *(*NewWithParameters) (const char *text, gpointer parameters, GError **error);

static const char *library, *pipeline_library;
static char *model;

static gpointer
find (gpointer handle, const char *name)
{
  gpointer symbol = dlsym (handle, name);
  g_assert_nonnull (symbol);
  return symbol;
}

static gpointer
open_library (const char *path)
{
  gpointer handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL)
    g_error ("%s", dlerror ());
  return handle;
}

static void
test_predictor (void)
{
  for (guint i = 0; i < TIMES; i++) {
    g_autoptr (GError) error = NULL;
    gpointer handle = open_library (library);
    NewFromText make = (NewFromText) find (handle, "sl_predictor_new");
    GObject *predictor = make (model, &error);
    g_assert_no_error (error);
    g_assert_nonnull (predictor);
    g_object_unref (predictor);
    g_assert_cmpint (dlclose (handle), ==, 0);
  }
}

static void
test_pipeline (void)
{
  for (guint i = 0; i < TIMES; i++) {
    g_autoptr (GError) error = NULL;
    gpointer handle = open_library (pipeline_library);
    NewWithParameters make = (NewWithParameters) find (handle, "sl_pipeline_new_from_string");
    GObject *pipeline = make ("fakesrc ! fakesink", NULL, &error);
    g_assert_no_error (error);
    g_assert_nonnull (pipeline);
    g_object_unref (pipeline);
    g_assert_cmpint (dlclose (handle), ==, 0);
  }
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, >=, 3);
  g_autofree char *directory = g_dir_make_tmp ("sightline-unload-XXXXXX", &error);
  g_assert_no_error (error);
  char *const command[] = { argv[1], directory, NULL };
  g_assert_true (g_spawn_sync (NULL, (char **) command, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL,
                               NULL, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  model = g_build_filename (directory, "brightest_channel.tflite", NULL);
  library = argv[2];
  g_test_add_func ("/unload/predictor", test_predictor);
  if (argc > 3) {
    pipeline_library = argv[3];
    g_test_add_func ("/unload/pipeline", test_pipeline);
  }
  const int status = g_test_run ();
  g_autoptr (GDir) files = g_dir_open (directory, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name (files)) != NULL) {
    g_autofree char *path = g_build_filename (directory, name, NULL);
    g_unlink (path);
  }
  g_rmdir (directory);
  g_free (model);
  return status;
}
