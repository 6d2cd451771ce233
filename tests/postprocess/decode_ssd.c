/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoder "ssd" on hand-written tensors, good and hostile. */
#include <math.h>
#include <string.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

static const gfloat boxes[] = {
  0.1f,  0.2f, 0.3f, 0.4f, /* y_min, x_min, y_max, x_max */
  -0.5f, 0,    0.5f, 1.5f, /* */
  0,     0,    1,    1,    /* */
};

static SlDecoderConfig
ssd_config (gfloat threshold, guint max_results)
{
  SlDecoderConfig config = { .threshold = threshold, .max_results = max_results };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 3, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 3), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 3), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1), 0, 0);
  return config;
}

static SlDecoding *
open_or_fail (const char *name, SlDecoderConfig *config)
{
  g_autoptr (GError) error = NULL;
  SlDecoding *decoding = sl_decoding_new (name, config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "ssd");
  g_assert_cmpuint (sl_decoding_decoder (decoding)->classes (config), ==, 0);
  config_clear (config);
  return decoding;
}

static void
test_plain (void)
{
  SlDecoderConfig config = ssd_config (0.3f, 10);
  g_autoptr (SlDecoding) decoding = open_or_fail (NULL, &config);
  const gfloat class_ids[] = { 7, 0, 2 }, scores[] = { 0.5f, 0.75f, 0.25f }, count = 3;
  const SlResult *result =
    sl_decoding_run (decoding, (const void *const[]){ boxes, class_ids, scores, &count });
  g_assert_cmpuint (result->n_classes, ==, 0);
  g_assert_cmpuint (result->n_detections, ==, 2);
  const SlDetection *first = &result->detections[0], *second = &result->detections[1];
  g_assert_cmpint (first->label_id, ==, 0);
  g_assert_cmpfloat (first->confidence, ==, 0.75f);
  g_assert_cmpfloat (first->y_min, ==, -0.5f);
  g_assert_cmpfloat (first->x_max, ==, 1.5f);
  g_assert_cmpint (second->label_id, ==, 7);
  g_assert_cmpfloat (second->y_min, ==, 0.1f);
  g_assert_cmpfloat (second->x_min, ==, 0.2f);
  g_assert_cmpfloat (second->y_max, ==, 0.3f);
  g_assert_cmpfloat (second->x_max, ==, 0.4f);
}

static void
test_count (void)
{
  static const struct
  {
    gfloat count;
    guint expected;
  } cases[] = { { 0, 0 }, { -4, 0 },    { NAN, 0 },      { INFINITY, 3 },
                { 2, 2 }, { 1e30f, 3 }, { -INFINITY, 0 } };
  SlDecoderConfig config = ssd_config (0, 10);
  g_autoptr (SlDecoding) decoding = open_or_fail ("ssd", &config);
  const gfloat class_ids[] = { 0, 0, 0 }, scores[] = { 0.5f, 0.5f, 0.5f };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const void *const data[] = { boxes, class_ids, scores, &cases[i].count };
    g_assert_cmpuint (sl_decoding_run (decoding, data)->n_detections, ==, cases[i].expected);
  }
}

/* One row at a time is spoilt; the other two stay. */
static void
test_hostile_rows (void)
{
  static const struct
  {
    gfloat class_id, score, x_max;
  } bad[] = { { NAN, 0.5f, 1 }, { -1, 0.5f, 1 },    { 3e9f, 0.5f, 1 }, { INFINITY, 0.5f, 1 },
              { 1, NAN, 1 },    { 1, INFINITY, 1 }, { 1, 0.5f, NAN },  { 1, 0.5f, INFINITY },
              { 1, 0.5f, 0 },   { 1, 0.5f, -1 } };
  SlDecoderConfig config = ssd_config (0, 10);
  g_autoptr (SlDecoding) decoding = open_or_fail ("ssd,check=no", &config);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    gfloat rows[12], class_ids[] = { 0, 0, bad[i].class_id },
                     scores[] = { 0.5f, 0.5f, bad[i].score };
    const gfloat count = 3;
    memcpy (rows, boxes, sizeof boxes);
    rows[11] = bad[i].x_max;
    const SlResult *result =
      sl_decoding_run (decoding, (const void *const[]){ rows, class_ids, scores, &count });
    g_assert_cmpuint (result->n_detections, ==, 2);
    g_assert_cmpfloat (result->detections[0].x_min, ==, 0.2f); /* equal scores keep their order */
  }
}

static void
test_limit_and_offset (void)
{
  SlDecoderConfig config = ssd_config (0, 1);
  config_param (&config, "background-offset", "-1");
  g_autoptr (SlDecoding) decoding = open_or_fail ("ssd", &config);
  const gfloat class_ids[] = { 0, 5, 6 }, scores[] = { 0.9f, 0.25f, 0.5f }, count = 3;
  const SlResult *result =
    sl_decoding_run (decoding, (const void *const[]){ boxes, class_ids, scores, &count });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpint (result->detections[0].label_id, ==, 5);
}

static void
test_orders (void)
{
  SlDecoderConfig config = { .threshold = 0, .max_results = 10 };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 3), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 1, 3, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 3), 0, 0);
  g_autoptr (SlDecoding) tf2 = open_or_fail (NULL, &config);
  const gfloat class_ids[] = { 7, 0, 2 }, scores[] = { 0.5f, 0.75f, 0.25f }, count = 1;
  const SlResult *result =
    sl_decoding_run (tf2, (const void *const[]){ scores, boxes, &count, class_ids });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpint (result->detections[0].label_id, ==, 7);
  g_assert_cmpfloat (result->detections[0].confidence, ==, 0.5f);

  config_param (&config, "order", "classes, boxes, count, scores");
  g_autoptr (SlDecoding) named = open_or_fail (NULL, &config);
  result = sl_decoding_run (named, (const void *const[]){ class_ids, boxes, &count, scores });
  g_assert_cmpint (result->detections[0].label_id, ==, 7);
}

static void
test_refused (void)
{
  static const char *const orders[] = { "boxes", "boxes,boxes,scores,count",
                                        "boxes,classes,scores,number",
                                        "count,classes,scores,boxes" };
  SlDecoderConfig config = ssd_config (0, 1);
  config.tensors[2].dims[1] = 2;
  assert_open_fails ("ssd", &config, SL_ERROR_SHAPE,
                     "got float32[1,3,4], float32[1,3], float32[1,2], float32[1]");
  config = ssd_config (0, 1);
  config.tensors[0].dtype = SL_DTYPE_U8;
  assert_open_fails ("ssd", &config, SL_ERROR_SHAPE,
                     "expected float32 tensors boxes[1,N,4], classes[1,N], scores[1,N], count[1]");
  config = ssd_config (0, 1);
  config.n_tensors = 3;
  assert_open_fails ("ssd", &config, SL_ERROR_SHAPE,
                     "got float32[1,3,4], float32[1,3], float32[1,3]");
  for (guint i = 0; i < G_N_ELEMENTS (orders); i++) {
    config = ssd_config (0, 1);
    config_param (&config, "order", orders[i]);
    assert_open_fails ("ssd", &config, SL_ERROR_SHAPE, orders[i]);
  }
  config = ssd_config (0, 1);
  config_param (&config, "background-offset", "99999");
  assert_open_fails ("ssd", &config, SL_ERROR_ARGUMENT,
                     "background-offset: expected an integer -1000..1000, got '99999'");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_ssd/plain", test_plain);
  g_test_add_func ("/decode_ssd/count", test_count);
  g_test_add_func ("/decode_ssd/hostile_rows", test_hostile_rows);
  g_test_add_func ("/decode_ssd/limit_and_offset", test_limit_and_offset);
  g_test_add_func ("/decode_ssd/orders", test_orders);
  g_test_add_func ("/decode_ssd/refused", test_refused);
  return g_test_run ();
}
