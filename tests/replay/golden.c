/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Golden files: made, passed, and failed by what differs by how much. */
#include "models/replay/golden.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/base/xxh64.h"
#include "models/replay/replay.h"
#include "tests/models/helpers.h"
#include "tests/models/tiny.h"
#include "tests/support/program.h"

typedef struct
{
  char *path, *golden;
  SlModel *model;
  SlSession *session;
} Fixture;

static void
setup (Fixture *f, SlTfliteWriter *writer)
{
  g_autoptr (GError) error = NULL;
  f->path = sl_tflite_writer_save_temp (writer, "model.tflite", NULL);
  sl_tflite_writer_free (writer);
  f->model = sl_model_load (f->path, NULL, &error);
  g_assert_no_error (error);
  f->session = sl_session_new (sl_model_graph (f->model), 1, &error);
  g_assert_no_error (error);
  f->golden = sl_golden_path (f->model);
  g_assert_true (g_str_has_suffix (f->golden, "/model.tflite.golden"));
}

static void
teardown (Fixture *f)
{
  g_unlink (f->golden);
  sl_session_free (f->session);
  sl_model_unref (f->model);
  sl_tflite_remove_temp (f->path);
  g_free (f->path);
  g_free (f->golden);
}

static void
make (Fixture *f)
{
  GError *error = NULL;
  g_assert_true (sl_golden_make (f->model, f->session, NULL, &error));
  g_assert_no_error (error);
}

/* Rewrites the golden file with byte @at of output 0 changed by @flip, which touches the first
 * value of 4 bytes; without outputs where
 * @stored is FALSE. */
static void
spoil (Fixture *f, gsize at, guint8 flip, gboolean stored)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlBlackBox) box = sl_black_box_open (f->golden, &error);
  g_assert_no_error (error);
  const SlBlackBoxInfo *info = sl_black_box_info (box);
  SlBlackBoxInference inference;
  sl_black_box_inference (box, 0, &inference);
  g_autofree guint8 *output = g_memdup2 (inference.outputs[0], info->outputs[0].bytes);
  output[at] ^= flip;
  inference.outputs[0] = stored ? output : NULL;
  inference.hashes[0] = sl_xxh64 (output, info->outputs[0].bytes, 0);
  g_autoptr (SlBlackBoxWriter) writer = sl_black_box_writer_new (f->golden, info, &error);
  g_assert_no_error (error);
  g_assert_true (sl_black_box_writer_add (writer, &inference, &error)
                 && sl_black_box_writer_finish (writer, &error));
}

static void
test_passes (void)
{
  SlTfliteWriter *(*const models[]) (void) = { tiny_classifier, tiny_channels, tiny_float };
  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    Fixture f;
    g_autoptr (GError) error = NULL;
    g_autofree char *first = NULL, *second = NULL;
    gsize size, again;
    GStatBuf info;
    setup (&f, models[i]());
    g_assert_true (sl_golden_check (f.model, f.session, &error)); /* no file, no test */
    make (&f);
    g_assert_true (g_file_get_contents (f.golden, &first, &size, NULL));
    g_autofree char *part = g_strconcat (f.golden, ".part", NULL);
    g_assert_true (g_file_set_contents (part, "left by one that was killed", -1, NULL));
    make (&f);
    g_assert_true (g_file_get_contents (f.golden, &second, &again, NULL));
    g_assert_cmpuint (size, ==, again);
    g_assert_cmpint (g_stat (f.golden, &info), ==, 0);
    g_assert_cmpint (info.st_mode & 0777, ==, 0644);
    for (guint threads = 1; threads <= 2; threads++) {
      g_autoptr (SlSession) session = sl_session_new (sl_model_graph (f.model), threads, NULL);
      g_assert_true (sl_golden_check (f.model, session, &error));
      g_assert_no_error (error);
    }
    teardown (&f);
  }
}

/* The input is the same whenever it is made. */
static void
test_input (void)
{
  guint8 first[6 * 6 * 3];
  for (guint i = 0; i < 2; i++) {
    Fixture f;
    SlBlackBoxInference inference;
    setup (&f, tiny_classifier ());
    make (&f);
    g_autoptr (SlBlackBox) box = sl_black_box_open (f.golden, NULL);
    g_assert_cmpstr (sl_black_box_info (box)->reason, ==, "self-test");
    sl_black_box_inference (box, 0, &inference);
    if (i == 0)
      memcpy (first, inference.inputs[0], sizeof first);
    g_assert_cmpmem (inference.inputs[0], sizeof first, first, sizeof first);
    teardown (&f);
  }
}

static void
test_differs (void)
{
  Fixture f;
  g_autoptr (GError) error = NULL;
  setup (&f, tiny_classifier ()); /* uint8[1,4] */
  make (&f);
  spoil (&f, 2, 1, TRUE);
  g_assert_false (sl_golden_check (f.model, f.session, &error));
  expect_error (
    &error, SL_ERROR_BACKEND,
    "model.tflite.golden: this machine computes the model differently: value 2 of output 0 of the "
    "self-test: ",
    "expected ", ", got ", "(1 of 4 values differ; expected of ",
    "test its memory and processor; SIGHTLINE_CPU=c tells",
    "make the file anew with sightline check --make-golden", NULL);
  teardown (&f);
  setup (&f, tiny_float ());
  make (&f);
  spoil (&f, 0, 1, TRUE); /* a float's last bit */
  g_assert_true (sl_golden_check (f.model, f.session, &error));
  g_assert_no_error (error);
  spoil (&f, 3, 0x40, TRUE); /* an exponent's highest */
  g_assert_false (sl_golden_check (f.model, f.session, &error));
  expect_error (&error, SL_ERROR_BACKEND,
                "this machine computes the model differently: value 0 of output 0", NULL);
  teardown (&f);
}

/* Values of all kinds: near is near to the value, not to the largest beside it. */
static void
test_tolerance (void)
{
  static const SlReplayTolerance tolerance = { SL_GOLDEN_OF_VALUE, SL_GOLDEN_OF_RANGE };
  static const struct
  {
    gfloat expected, got;
    gboolean near;
  } cases[] = {
    { 0.9f, 0.3f, FALSE },          { 0.5f, 0.53f, FALSE },         { 0.5f, 0.505f, TRUE },
    { 1e-7f, 1e-3f, TRUE },         { 640.0f, 640.5f, TRUE },       { 640.0f, 642.0f, FALSE },
    { -INFINITY, -INFINITY, TRUE }, { -INFINITY, INFINITY, FALSE }, { INFINITY, 1.0f, FALSE },
    { 1.0f, INFINITY, FALSE },      { NAN, 1.0f, FALSE },           { 0.0f, -0.0f, TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const gfloat expected[] = { 640.0f, cases[i].expected, -INFINITY },
                 got[] = { 640.0f, cases[i].got, -INFINITY };
    const SlTensorInfo tensor = { .dtype = SL_DTYPE_F32, .bytes = sizeof expected };
    SlReplayDifference difference;
    sl_replay_compare (&tensor, expected, got, &tolerance, &difference);
    g_assert_cmpuint (difference.differing, ==, cases[i].near ? 0 : 1);
    g_assert_cmpfloat (difference.range, ==, 640);
    sl_replay_compare (&tensor, expected, got, NULL, &difference);
    g_assert_cmpuint (difference.differing, ==,
                      memcmp (&cases[i].expected, &cases[i].got, sizeof (gfloat)) != 0);
  }
}

static void
test_wrong_file (void)
{
  Fixture f, other;
  g_autoptr (GError) error = NULL;
  setup (&f, tiny_float ());
  setup (&other, tiny_channels ());
  make (&other);
  g_assert_cmpint (g_rename (other.golden, f.golden), ==, 0);
  g_assert_false (sl_golden_check (f.model, f.session, &error));
  expect_error (
    &error, SL_ERROR_CONTRACT,
    "model.tflite.golden: made for another model, another input-shape or other fixed inputs; make "
    "it anew with sightline check --make-golden, or delete it: ",
    "expected the model that was recorded", NULL);
  make (&f);
  spoil (&f, 0, 1, FALSE);
  g_assert_false (sl_golden_check (f.model, f.session, &error));
  expect_error (&error, SL_ERROR_FORMAT,
                "expected an inference with all its outputs, got a black box without", NULL);
  g_assert_true (g_file_set_contents (f.golden, "nothing", -1, NULL));
  g_assert_false (sl_golden_check (f.model, f.session, &error));
  expect_error (&error, SL_ERROR_FORMAT, "model.tflite.golden: expected a black box of Sightline",
                NULL);
  g_assert_cmpint (g_unlink (f.golden) + symlink ("/nowhere", f.golden), ==, 0);
  g_assert_false (sl_golden_check (f.model, f.session, &error));
  expect_error (&error, SL_ERROR_OPEN, "model.tflite.golden: ", "no such file, check the path",
                NULL);
  teardown (&f);
  teardown (&other);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/golden/passes", test_passes);
  g_test_add_func ("/golden/input", test_input);
  g_test_add_func ("/golden/differs", test_differs);
  g_test_add_func ("/golden/tolerance", test_tolerance);
  g_test_add_func ("/golden/wrong-file", test_wrong_file);
  return g_test_run ();
}
