/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Score calibration against the formula in double precision, and in the decoders that apply it. */
#include "postprocess/calibration.h"

#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

static SlCalibration *
parse (const char *text, guint classes)
{
  g_autoptr (GError) error = NULL;
  SlDecoderConfig config = { 0 };
  SlCalibration *calibration = NULL;
  config_param (&config, SL_CALIBRATION_PARAM, text);
  g_assert_true (sl_calibration_new (&config, classes, &calibration, &error));
  g_assert_no_error (error);
  config_clear (&config);
  return calibration;
}

static double
sigmoid (double scale, double x)
{
  return scale / (1 + exp (-x));
}

static void
test_formula (void)
{
  static const char rows[] = "1,2,-0.5\r\n0.9, -1.5 ,0.25,0.3\r\n\r\n1,0,0\r\n";
  static const char *const transforms[] = { "identity", "log", "inverse-logistic" };
  for (guint t = 0; t < 3; t++) {
    g_autofree char *text = g_strdup_printf ("%s,0.125\n%s", transforms[t], rows);
    g_autoptr (SlCalibration) calibration = parse (text, 4);
    for (double s = 0.05; s < 1; s += 0.05) {
      const double x = t == 0 ? s : t == 1 ? log (s) : log (s / (1 - s));
      g_assert_cmpfloat_with_epsilon (sl_calibration_apply (calibration, 0, s),
                                      sigmoid (1, 2 * x - 0.5), 1e-12);
      g_assert_cmpfloat_with_epsilon (sl_calibration_apply (calibration, 1, s),
                                      s < 0.3 ? 0.125 : sigmoid (0.9, -1.5 * x + 0.25), 1e-12);
      g_assert_cmpfloat (sl_calibration_apply (calibration, 2, s), ==, 0.125);
      g_assert_cmpfloat (sl_calibration_apply (calibration, 3, s), ==, 0.5);
      g_assert_cmpfloat (sl_calibration_apply (calibration, 4, s), ==, 0.125);
    }
    for (guint i = 0; i < 4; i++)
      for (guint edge = 0; edge < 4; edge++) {
        const double edges[] = { 0, 1, -3, INFINITY },
                     got = sl_calibration_apply (calibration, (gint32) i, edges[edge]);
        g_assert_true (got >= 0 && got <= 1);
      }
    g_assert_true (isnan (sl_calibration_apply (calibration, 0, NAN)));
  }
}

static void
test_none (void)
{
  SlDecoderConfig config = { 0 };
  SlCalibration *calibration = NULL;
  g_assert_true (sl_calibration_new (&config, 3, &calibration, NULL));
  g_assert_null (calibration);
  g_assert_null (parse ("none", 3));
}

static void
test_errors (void)
{
  static const struct
  {
    const char *text, *message;
  } rows[] = {
    { "",
      "score-calibration, line 1: expected identity, log or inverse-logistic, ',' and the default "
      "score, got ''" },
    { "root,0\n",
      "line 1: expected identity, log or inverse-logistic, ',' and the default score, got "
      "'root,0'" },
    { "log,x\n1,1,1", "line 1: expected identity" },
    { "log,0\n1,1,1\n1,2\n",
      "line 3: expected scale,slope,offset or scale,slope,offset,lowest, the scale not below 0, "
      "got '1,2'" },
    { "log,0\n1,1,1,1,1\n", "line 2: expected scale,slope,offset" },
    { "log,0\n-1,1,1\n", "line 2: expected scale,slope,offset" },
    { "log,0\n1,nan,1\n", "line 2: expected scale,slope,offset" },
    { "log,0\n1,1,1\n1,1,1\n1,1,1\n1,1,1\n",
      "score-calibration: 4 lines for 3 classes; expected one a class" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlDecoderConfig config = { .max_results = 3 };
    config_add (&config, SL_DTYPE_F32, DIMS (1, 3), 0, 0);
    config_param (&config, SL_CALIBRATION_PARAM, rows[i].text);
    assert_open_fails ("labels", &config, SL_ERROR_ARGUMENT, rows[i].message);
  }
}

/* The order of classes may change, and what has no curve gets the default, here below every
 * threshold. */
static void
test_labels (void)
{
  static const gfloat floats[] = { 0.75f, 0.5f, 0.25f, 0.9375f };
  static const guint8 codes[] = { 192, 128, 64, 240 };
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    SlDecoderConfig config = { .max_results = 4, .threshold = 0 };
    config_add (&config, i == 0 ? SL_DTYPE_F32 : SL_DTYPE_U8, DIMS (1, 4), i == 0 ? 0 : 1 / 256.f,
                0);
    config_param (&config, SL_CALIBRATION_PARAM, "identity,-1\n1,1,-2\n1,4,0\n1,1,0,0.5\n\n");
    g_autoptr (SlDecoding) decoding = sl_decoding_new ("labels", &config, &error);
    g_assert_no_error (error);
    config_clear (&config);
    const void *data = i == 0 ? (const void *) floats : codes;
    const SlResult *result = sl_decoding_run (decoding, &data);
    g_assert_cmpuint (result->n_classes, ==, 2);
    g_assert_cmpint (result->classes[0].label_id, ==, 1);
    g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, sigmoid (1, 4 * 0.5), 1e-6);
    g_assert_cmpint (result->classes[1].label_id, ==, 0);
    g_assert_cmpfloat_with_epsilon (result->classes[1].confidence, sigmoid (1, 0.75 - 2), 1e-6);
    g_assert_cmpstr (sl_decoding_note (decoding), ==,
                     "scores are calibrated, as the model's metadata states");
  }
}

static void
test_ssd (void)
{
  static const gfloat boxes[] = { 0, 0, 0.5f, 0.5f, 0, 0, 1, 1, 0.5f, 0.5f, 1, 1 },
                      classes[] = { 0, 1, 2 }, scores[] = { 0.9f, 0.8f, 0.7f };
  static const gfloat count = 3;
  g_autoptr (GError) error = NULL;
  SlDecoderConfig config = { .max_results = 3, .threshold = 0.5f };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 3, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 3), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 3), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1), 0, 0);
  config_param (&config, SL_CALIBRATION_PARAM, "inverse-logistic,0.25\n1,1,0\n1,2,1\n");
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("ssd", &config, &error);
  g_assert_no_error (error);
  config_clear (&config);
  const void *data[] = { boxes, classes, scores, &count };
  const SlResult *result = sl_decoding_run (decoding, data);
  g_assert_cmpuint (result->n_detections, ==, 2);
  g_assert_cmpint (result->detections[0].label_id, ==, 1);
  g_assert_cmpfloat_with_epsilon (result->detections[0].confidence,
                                  sigmoid (1, 2 * log (0.8 / 0.2) + 1), 1e-5);
  g_assert_cmpint (result->detections[1].label_id, ==, 0);
  g_assert_cmpfloat_with_epsilon (result->detections[1].confidence, 0.9, 1e-5);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/calibration/formula", test_formula);
  g_test_add_func ("/calibration/none", test_none);
  g_test_add_func ("/calibration/errors", test_errors);
  g_test_add_func ("/calibration/labels", test_labels);
  g_test_add_func ("/calibration/ssd", test_ssd);
  return g_test_run ();
}
