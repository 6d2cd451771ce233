/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which model is loaded when none is named: what SIGHTLINE_MODEL says, else the installed one; what
 * is said when neither is there; and that the model of the source tree is complete: it loads, and
 * states its picture, its decoder and its labels.
 */
#include <string.h>

#include "config.h"
#include "models/default.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

#define VARIABLE "SIGHTLINE_MODEL"
#define INSTALLED SL_MODEL_DIR "/codes.tflite"

static void
test_named (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = write_temp ("mine.tflite", "x", -1);
  g_setenv (VARIABLE, path, TRUE);
  g_autofree char *found = sl_default_model_find (&error);
  g_assert_no_error (error);
  g_assert_cmpstr (found, ==, path);
  g_assert_null (sl_model_load (NULL, NULL, &error));
  expect_error (&error, SL_ERROR_FORMAT, path, "the file has 1 bytes", NULL);
  sl_tflite_remove_temp (path);
}

static void
test_named_missing (void)
{
  g_autoptr (GError) error = NULL;
  g_setenv (VARIABLE, "/nonexistent/m.tflite", TRUE);
  g_assert_null (sl_default_model_find (&error));
  expect_error (
    &error, SL_ERROR_OPEN,
    "/nonexistent/m.tflite, which the environment variable SIGHTLINE_MODEL names",
    "does not exist; name a model (model=FILE.tflite of the element, --model FILE of the program)",
    NULL);
  g_assert_null (sl_model_load (NULL, NULL, &error));
  expect_error (&error, SL_ERROR_OPEN, "/nonexistent/m.tflite", NULL);
}

static void
test_not_named (void)
{
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < 2; i++) {
    if (i == 0)
      g_unsetenv (VARIABLE);
    else
      g_setenv (VARIABLE, "", TRUE);
    g_autofree char *found = sl_default_model_find (&error);
    if (g_file_test (INSTALLED, G_FILE_TEST_EXISTS))
      g_assert_cmpstr (found, ==, INSTALLED);
    else
      expect_error (
        &error, SL_ERROR_OPEN,
        "neither in the environment variable SIGHTLINE_MODEL (not set) nor at " INSTALLED,
        "or install Sightline", NULL);
  }
}

static void
test_shipped (void)
{
  g_autoptr (GError) error = NULL;
  static const char *const labels[] = { "qr", "matrix", "linear", "stacked" };
  g_autofree char *path =
    g_build_filename (g_getenv ("SIGHTLINE_SOURCE_ROOT"), "models", "codes", "codes.tflite", NULL);
  g_setenv (VARIABLE, path, TRUE);
  g_autoptr (SlModel) model = sl_model_load (NULL, NULL, &error);
  g_assert_no_error (error);
  const SlContract *contract = sl_model_contract (model);
  const SlImageContract *image = &contract->image;
  g_assert_cmpstr (sl_model_path (model), ==, path);
  g_assert_true (image->valid && image->range_known);
  g_assert_cmpint (image->width, ==, 320);
  g_assert_cmpint (image->height, ==, 320);
  g_assert_cmpint (image->colour, ==, SL_COLOUR_RGB);
  g_assert_cmpint (image->fit, ==, SL_FIT_LETTERBOX);
  g_assert_cmpint (contract->inputs[0].dtype, ==, SL_DTYPE_I8);
  for (guint c = 0; c < 3; c++) {
    g_assert_cmpfloat (image->gain[c], ==, 1);
    g_assert_cmpfloat (image->offset[c], ==, -128);
  }
  g_assert_cmpstr (contract->decoder, ==, "yolo");
  g_assert_cmpuint (sl_labels_count (contract->labels), ==, G_N_ELEMENTS (labels));
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    g_assert_cmpstr (sl_labels_get (contract->labels, i), ==, labels[i]);
}

/* Where a model is named, by whom ever, it is not known to be the code finder. */
static void
test_finder (void)
{
  g_unsetenv (VARIABLE);
  g_assert_true (sl_default_model_is_finder (NULL));
  g_assert_true (sl_default_model_is_finder (""));
  g_assert_false (sl_default_model_is_finder ("codes.tflite"));
  g_setenv (VARIABLE, "/some/folder/codes.tflite", TRUE);
  g_assert_true (sl_default_model_is_finder (NULL));
  g_setenv (VARIABLE, "/some/codes.tflite/ssd.tflite", TRUE);
  g_assert_false (sl_default_model_is_finder (NULL));
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/default/named", test_named);
  g_test_add_func ("/default/named-missing", test_named_missing);
  g_test_add_func ("/default/not-named", test_not_named);
  g_test_add_func ("/default/shipped", test_shipped);
  g_test_add_func ("/default/finder", test_finder);
  return g_test_run ();
}
