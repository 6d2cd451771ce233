/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The messages of Frigate's zmq detector: headers as its releases write them, what strangers may
 * send in their place, pictures of each layout, and rows.
 */
#include <math.h>
#include <string.h>

#include "sightline/error.h"
#include "tests/support/program.h"
#include "tools/serve/zmq_message.h"

#define MUTANTS 20000

static void
read_header (const char *text, SlZmqHeader *header)
{
  g_autoptr (GError) error = NULL;
  sl_zmq_header_read (text, strlen (text), header, &error);
  g_assert_no_error (error);
}

static void
test_headers (void)
{
  static const struct
  {
    const char *text;
    guint width, height;
    gboolean planar, is_float;
  } good[] = {
    { "{\"shape\": [1, 320, 300, 3], \"dtype\": \"uint8\", \"model_type\": \"ssd\"}", 300, 320,
      FALSE, FALSE },
    { "{\"dtype\":\"float32\",\"shape\":[1,3,48,64],\"more\":{\"a\":[null]}}", 64, 48, TRUE, TRUE },
    { "{\"shape\":[8,9,3],\"dtype\":\"uint8\"}", 9, 8, FALSE, FALSE },
    { "{\"shape\":[1,3,5,3],\"dtype\":\"uint8\"}", 5, 3, FALSE, FALSE },
    { "{\"shape\":[1,1,1,3],\"dtype\":\"uint8\",\"model_request\":false}", 1, 1, FALSE, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    g_auto (SlZmqHeader) header = { 0 };
    read_header (good[i].text, &header);
    g_assert_cmpint (header.kind, ==, SL_ZMQ_PICTURE);
    g_assert_cmpuint (header.width, ==, good[i].width);
    g_assert_cmpuint (header.height, ==, good[i].height);
    g_assert_cmpint (header.planar, ==, good[i].planar);
    g_assert_cmpint (header.is_float, ==, good[i].is_float);
    g_assert_cmpuint (sl_zmq_picture_bytes (&header), ==,
                      (gsize) good[i].width * good[i].height * (good[i].is_float ? 12 : 3));
  }
}

static void
test_models (void)
{
  g_auto (SlZmqHeader) asks = { 0 }, sends = { 0 };
  read_header ("{\"model_request\": true, \"model_name\": \"yolo \\\"9\\\".onnx\"}", &asks);
  read_header ("{\"model_data\": true, \"model_name\": \"yolo.onnx\"}", &sends);
  g_assert_cmpint (asks.kind, ==, SL_ZMQ_MODEL_REQUEST);
  g_assert_cmpint (sends.kind, ==, SL_ZMQ_MODEL_DATA);
  g_autofree char *there = sl_zmq_model_answer (asks.kind, asks.name, "ssd.tflite"),
                  *refused = sl_zmq_model_answer (sends.kind, sends.name, "ssd.tflite");
  g_assert_cmpstr (
    there, ==,
    "{\"model_available\":true,\"model_loaded\":true,\"model_name\":\"yolo \\\"9\\\".onnx\","
    "\"message\":\"this worker runs its own model file\",\"model_file\":\"ssd.tflite\"}");
  g_assert_true (g_str_has_prefix (refused, "{\"model_saved\":false,\"model_loaded\":false,"));
}

static void
test_refusals (void)
{
  static const struct
  {
    const char *text, *message;
  } bad[] = {
    { "", "request: expected a header of JSON, got line 1: expected an object, but the file ends" },
    { "[]", "request: expected a header of JSON, got line 1: expected an object, got a list" },
    { "{\"shape\":[1,4,4,3]}",
      "request: dtype: expected uint8 or float32, got none: set input_dtype in Frigate" },
    { "{\"shape\":[1,4,4,3],\"dtype\":\"int64\"}",
      "request: dtype: expected uint8 or float32, got int64: set input_dtype in Frigate" },
    { "{\"dtype\":\"uint8\"}", "request: shape: expected [1,height,width,3] or [1,3,height,width] "
                               "of at most 32768 pixels a side, got []" },
    { "{\"shape\":[2,4,4,3],\"dtype\":\"uint8\"}",
      "request: shape: expected [1,height,width,3] or [1,3,height,width] of at most 32768 pixels a "
      "side, got [2,4,4,3]" },
    { "{\"shape\":[1,4,4,3,1],\"dtype\":\"uint8\"}",
      "request: shape: expected [1,height,width,3] or [1,3,height,width] of at most 32768 pixels a "
      "side, got [1,4,4,3,...]" },
    { "{\"shape\":[1,0,4,3],\"dtype\":\"uint8\"}",
      "request: shape: expected [1,height,width,3] or [1,3,height,width] of at most 32768 pixels a "
      "side, got [1,0,4,3]" },
    { "{\"shape\":[1,40000,4,3],\"dtype\":\"uint8\"}",
      "request: shape: expected [1,height,width,3] or [1,3,height,width] of at most 32768 pixels a "
      "side, got [1,40000,4,3]" },
    { "{\"shape\":[1,-4,4,3],\"dtype\":\"uint8\"}",
      "request: expected a header of JSON, got line 1: expected a whole number from 0 to "
      "2147483647, got -4" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_auto (SlZmqHeader) header = { 0 };
    g_autoptr (GError) error = NULL;
    g_assert_false (sl_zmq_header_read (bad[i].text, strlen (bad[i].text), &header, &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
    g_assert_cmpstr (error->message, ==, bad[i].message);
  }
}

/* Good headers with changed bytes are read or refused. */
static void
test_mutants (void)
{
  static const char *const seeds[] = {
    "{\"shape\": [1, 320, 320, 3], \"dtype\": \"uint8\", \"model_type\": \"ssd\"}",
    "{\"model_request\": true, \"model_name\": \"yolo.onnx\"}",
  };
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  for (guint i = 0; i < MUTANTS; i++) {
    const char *seed = seeds[i % G_N_ELEMENTS (seeds)];
    const gsize n = (gsize) g_rand_int_range (random, 0, (gint32) strlen (seed) + 1);
    g_autofree char *text = g_memdup2 (seed, n); /* no byte behind it */
    for (gint k = g_rand_int_range (random, 0, 4); n > 0 && k > 0; k--)
      text[g_rand_int_range (random, 0, (gint32) n)] = (char) g_rand_int (random);
    g_auto (SlZmqHeader) header = { 0 };
    g_autoptr (GError) error = NULL;
    if (sl_zmq_header_read (text, n, &header, &error))
      g_assert_no_error (error);
    else
      g_assert_nonnull (error);
  }
}

/* The same picture in each layout and type. */
static void
test_pictures (void)
{
  enum
  {
    W = 3,
    H = 2,
    N = W * H * 3
  };
  static const guint8 packed[N] = { 0,  10,  20,  30,  40,  50,  60,  70,  80,
                                    90, 100, 110, 120, 130, 140, 150, 160, 255 };
  guint8 planar[N], scratch[N];
  gfloat unit[N], large[N];
  SlImageInfo info;
  SlImage image;
  for (guint i = 0; i < N; i++) {
    planar[i % 3 * W * H + i / 3] = packed[i];
    unit[i] = (gfloat) packed[i] / 255;
    large[i] = packed[i];
  }
  const struct
  {
    SlZmqHeader header;
    const void *data;
    const guint8 *expected;
  } cases[] = {
    { { .width = W, .height = H }, packed, packed },
    { { .width = W, .height = H, .planar = TRUE }, planar, planar },
    { { .width = W, .height = H, .is_float = TRUE }, unit, packed },
    { { .width = W, .height = H, .is_float = TRUE }, large, packed },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    sl_zmq_picture_image (&cases[i].header, cases[i].data, scratch, &info, &image);
    g_assert_cmpint (info.width, ==, W);
    g_assert_cmpint (info.height, ==, H);
    g_assert_cmpint (info.format, ==, cases[i].header.planar ? SL_PIXEL_RGBP : SL_PIXEL_RGB);
    for (guint plane = 0; plane < (cases[i].header.planar ? 3 : 1); plane++)
      for (int row = 0; row < H; row++)
        g_assert_cmpmem (image.plane[plane] + row * image.stride[plane],
                         (gsize) image.stride[plane],
                         cases[i].expected + plane * W * H + row * image.stride[plane],
                         (gsize) image.stride[plane]);
  }
  unit[0] = NAN;
  unit[1] = -INFINITY;
  unit[2] = 0.5f;
  sl_zmq_picture_image (&cases[2].header, unit, scratch, &info, &image);
  g_assert_cmpuint (scratch[0], ==, 0);
  g_assert_cmpuint (scratch[1], ==, 0);
  g_assert_cmpuint (scratch[2], ==, 128);
}

static void
test_rows (void)
{
  static const gint32 ids[] = { 7, -1, 0 };
  SlObjectView objects[SL_ZMQ_ROWS + 5];
  gfloat rows[SL_ZMQ_ROWS][SL_ZMQ_COLUMNS];
  for (guint i = 0; i < G_N_ELEMENTS (objects); i++)
    objects[i] = (SlObjectView){ .label_id = (gint32) i % 4,
                                 .confidence = 0.5,
                                 .x_min = 0.125,
                                 .y_min = 0.25,
                                 .x_max = 0.5,
                                 .y_max = 1 };
  const SlPredictionView prediction = { .n_objects = G_N_ELEMENTS (objects), .objects = objects };
  g_assert_cmpuint (sl_zmq_rows (&prediction, NULL, 0, rows), ==, SL_ZMQ_ROWS);
  const gfloat expected[] = { 3, 0.5f, 0.25f, 0.125f, 1, 0.5f };
  g_assert_cmpmem (rows[3], sizeof rows[3], expected, sizeof expected);
  g_assert_cmpuint (sl_zmq_rows (&prediction, ids, G_N_ELEMENTS (ids), rows), ==, 13);
  g_assert_cmpfloat (rows[0][0], ==, 7); /* classes 1 and 3 have no number of the client's */
  g_assert_cmpfloat (rows[1][0], ==, 0);
  g_assert_cmpfloat (rows[2][0], ==, 7);
  g_assert_cmpfloat (rows[13][1], ==, 0);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/remote/zmq_message/headers", test_headers);
  g_test_add_func ("/remote/zmq_message/models", test_models);
  g_test_add_func ("/remote/zmq_message/refusals", test_refusals);
  g_test_add_func ("/remote/zmq_message/mutants", test_mutants);
  g_test_add_func ("/remote/zmq_message/pictures", test_pictures);
  g_test_add_func ("/remote/zmq_message/rows", test_rows);
  return g_test_run ();
}
