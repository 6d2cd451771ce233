/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoder plug-ins: found by path and by name, refused with a sentence, and what they give checked.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "postprocess/plugin.h"
#include "tests/postprocess/support.h"
#include "tests/support/program.h"

static SlDecoderConfig
one_number (void)
{
  SlDecoderConfig config = { .threshold = 0.25f, .max_results = 5 };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 1), 0, 0);
  return config;
}

static char *
path_of (const char *name)
{
  return g_build_filename (SL_TEST_PLUGINS, name, NULL);
}

static SlDecoding *
open_good (const char *more)
{
  g_autofree char *path = path_of ("good.so"), *text = g_strconcat (path, more, NULL);
  SlDecoderConfig config = one_number ();
  g_autoptr (GError) error = NULL;
  SlDecoding *decoding = sl_decoding_new (text, &config, &error);
  g_assert_no_error (error);
  return decoding;
}

static const SlResult *
run (SlDecoding *decoding, gfloat what)
{
  return sl_decoding_run (decoding, (const void *const[]){ &what });
}

static void
test_found (void)
{
  SlDecoderConfig config = one_number ();
  g_autoptr (SlDecoding) by_path = open_good (""), again = open_good ("");
  g_assert_cmpstr (sl_decoding_decoder (by_path)->name, ==, "good");
  g_assert_true (sl_decoding_decoder (by_path) == sl_decoding_decoder (again));
  g_assert_cmpstr (sl_decoding_decoder (by_path)->names[2], ==, "two");
  assert_open_fails ("good", &config, SL_ERROR_ARGUMENT,
                     "got 'good'; a plug-in is named by its path, ./good.so");
  g_setenv ("SIGHTLINE_DECODERS", "/nowhere::" SL_TEST_PLUGINS, TRUE);
  g_autoptr (SlDecoding) by_name = sl_decoding_new ("good,mood", &config, NULL);
  g_assert_null (by_name);
  g_autoptr (SlDecoding) named = sl_decoding_new ("good", &config, NULL);
  g_assert_true (sl_decoding_decoder (named) == sl_decoding_decoder (by_path));
  assert_open_fails ("../good", &config, SL_ERROR_OPEN, "decoder ../good: no such file");
  g_unsetenv ("SIGHTLINE_DECODERS");
  g_assert_true (sl_decoder_plugin_is_path ("./mine,a=b"));
  g_assert_true (sl_decoder_plugin_is_path (" mine.so ,a=b"));
  g_assert_false (sl_decoder_plugin_is_path ("mine,file=/a/b.so"));
  g_assert_false (sl_decoder_plugin_is_path (NULL));
}

static void
test_refused (void)
{
  static const struct
  {
    const char *file;
    SlError code;
    const char *message;
  } cases[] = {
    { "none.so", SL_ERROR_OPEN,
      "none.so: no such file; expected the path of a decoder plug-in, a shared object "
      "(docs/decoder-plugins.md)" },
    { "", SL_ERROR_OPEN, ": not a file; expected the path of a decoder plug-in" },
    { "rowless.so", SL_ERROR_FORMAT,
      "rowless.so: it exports no 'sightline_decoder'; expected a decoder plug-in, which has that "
      "row" },
    { "other_abi.so", SL_ERROR_UNSUPPORTED,
      "other_abi.so: expected version 1 of the decoder ABI and a row of at least " },
    { "other_abi.so", SL_ERROR_UNSUPPORTED, " bytes, got version 77 and " },
    { "short.so", SL_ERROR_UNSUPPORTED,
      "got version 1 and 24 bytes: build it with the sightline/decoder_plugin.h of this version" },
    { "nameless.so", SL_ERROR_FORMAT,
      "nameless.so: its row is wrong: name: expected a-z, 0-9, '-' and '_'; correct "
      "'sightline_decoder'" },
    { "good.so,colour=red", SL_ERROR_ARGUMENT,
      "decoder good: no parameter 'colour'; there are: mood" },
    { "good.so,mood=bad", SL_ERROR_SHAPE, "xxxx; it takes any tensors, got float32[1,1]" },
    { "good.so,mood=silent", SL_ERROR_SHAPE,
      "good.so): it gives no reason; it takes any tensors, got float32[1,1]" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SlDecoderConfig config = one_number ();
    g_autofree char *path = g_strconcat (SL_TEST_PLUGINS, "/", cases[i].file, NULL);
    assert_open_fails (path, &config, cases[i].code, cases[i].message);
  }
}

static void
test_no_object (void)
{
  g_autofree char *folder = g_dir_make_tmp ("sl-plugin-XXXXXX", NULL),
                  *text = g_build_filename (folder, "text.so", NULL);
  g_autofree char *pipe = g_build_filename (folder, "pipe.so", NULL);
  SlDecoderConfig config = one_number ();
  g_assert_true (g_file_set_contents (text, "no code\n", -1, NULL));
  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  assert_open_fails (text, &config, SL_ERROR_FORMAT, "text.so: the dynamic linker refuses it (");
  assert_open_fails (pipe, &config, SL_ERROR_OPEN, "pipe.so: not a file");
  g_remove (text);
  g_remove (pipe);
  g_rmdir (folder);
}

static void
test_wrong_numbers (void)
{
  g_autoptr (SlDecoding) decoding = open_good ("");
  g_assert_cmpuint (run (decoding, 0)->n_detections, ==, 0);
  const SlResult *result = run (decoding, 2);
  g_assert_cmpuint (result->vector.n, ==, 0);
  g_assert_cmpuint (result->mask.width, ==, 0);
  result = run (decoding, 3);
  g_assert_cmpuint (result->vector.n, ==, 0); /* a vector with a NaN */
  g_assert_cmpuint (result->mask.width * result->mask.height, ==, 4);
  g_assert_cmpint (result->mask.background, ==, SL_NO_BACKGROUND);
  g_assert_cmpuint (run (decoding, 4)->vector.n, ==, 0);
}

/* 100000 objects and labels, each of another confidence i / 100000: the best five, best first. */
static void
test_too_many (void)
{
  g_autoptr (SlDecoding) decoding = open_good ("");
  for (guint turn = 0; turn < 2; turn++) {
    const SlResult *result = run (decoding, 1);
    g_assert_cmpuint (result->n_detections, ==, 5);
    g_assert_cmpuint (result->n_classes, ==, 5);
    for (guint i = 0; i < 5; i++) {
      const SlDetection *found = &result->detections[i];
      g_assert_cmpfloat_with_epsilon (found->confidence, (99999 - (gint) i) / 100000.f, 1e-6);
      g_assert_cmpfloat (found->x_min, ==, found->confidence);
      g_assert_cmpfloat (result->classes[i].confidence, ==, found->confidence);
      if (found->n_keypoints == 0)
        continue;
      const SlDetectedPoint *points = &result->keypoints[found->first_keypoint];
      g_assert_cmpfloat (points[0].x, ==, found->x_min);
      g_assert_cmpfloat (points[0].confidence, ==, 1);
      g_assert_cmpfloat (points[1].x + points[1].confidence, ==, 0);
    }
    g_assert_cmpuint (result->n_keypoints, >, 0);
    g_assert_cmpstr (result->skeleton->names[1], ==, "right");
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decoder_plugin/found", test_found);
  g_test_add_func ("/decoder_plugin/refused", test_refused);
  g_test_add_func ("/decoder_plugin/no_object", test_no_object);
  g_test_add_func ("/decoder_plugin/wrong_numbers", test_wrong_numbers);
  g_test_add_func ("/decoder_plugin/too_many", test_too_many);
  return g_test_run ();
}
