/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* FlexBuffer maps: one laid out by hand, others from the test writer, all damaged. */
#include "models/tflite/flexbuffer.h"

#include <string.h>

#include "tests/models/helpers.h"
#include "tests/support/flexbuffer_writer.h"
#include "tests/support/program.h"

/* { "a": -3, "bc": 2.5f, "d": true, "e": 7 through an indirect int32 } with 4-byte values. */
static const guint8 sample[] = {
  'a',        0,          'b',     'c',        0,  'd', 0,    'e',  0,  0, 0, 0, /* 0: keys */
  7,          0,          0,       0, /* 12: the indirect number */
  4,          0,          0,       0, /* 16: number of keys */
  20,         0,          0,       0,          22, 0,   0,    0,    23, 0, 0, 0, 25,
  0,          0,          0, /* 20: offsets back to the keys */
  16,         0,          0,       0,          4,  0,   0,    0,    4,  0, 0, 0, /* 36: back to the
                                                                                    offsets, their
                                                                                    width, count */
  253,        255,        255,     255,        0,  0,   0x20, 0x40, 1,  0, 0, 0, 48,
  0,          0,          0,                   /* 48: values */
  1 << 2 | 2, 3 << 2 | 2, 26 << 2, 6 << 2 | 2, /* 64: types */
  20,         9 << 2 | 2, 1,                   /* 68: root */
};

static void
test_read (void)
{
  g_autoptr (GError) error = NULL;
  SlFlexMap map;
  gdouble value = 0;
  g_assert_true (sl_flex_map_open (&map, sample, sizeof sample, &error));
  g_assert_no_error (error);
  g_assert_true (sl_flex_map_number (&map, "a", &value));
  g_assert_cmpfloat (value, ==, -3);
  g_assert_true (sl_flex_map_number (&map, "bc", &value));
  g_assert_cmpfloat (value, ==, 2.5);
  g_assert_true (sl_flex_map_number (&map, "d", &value));
  g_assert_cmpfloat (value, ==, 1);
  g_assert_true (sl_flex_map_number (&map, "e", &value));
  g_assert_cmpfloat (value, ==, 7);
  g_assert_false (sl_flex_map_number (&map, "b", &value));
}

static void
test_wide (void)
{
  const FlexEntry entries[] = { { "zeta", FLEX_FLOAT, 0.1 },
                                { "alpha", FLEX_INT, -5e9 },
                                { "mid", FLEX_BOOL, 1 } };
  g_autoptr (GBytes) bytes = flex_map (entries, G_N_ELEMENTS (entries), 8);
  g_autoptr (GError) error = NULL;
  SlFlexMap map;
  gdouble value = 0;
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);
  g_assert_true (sl_flex_map_open (&map, data, size, &error));
  g_assert_true (sl_flex_map_number (&map, "zeta", &value));
  g_assert_cmpfloat (value, ==, 0.1);
  g_assert_true (sl_flex_map_number (&map, "alpha", &value));
  g_assert_cmpfloat (value, ==, -5e9);
}

static void
test_damage (void)
{
  static const guint8 values[] = { 0, 1, 2, 3, 8, 0x24, 0x7f, 0xff };
  static const char *const keys[] = { "a", "bc", "d", "e", "none" };
  gdouble value;
  SlFlexMap map;
  for (gsize at = 0; at < sizeof sample; at++)
    for (guint v = 0; v < G_N_ELEMENTS (values); v++) {
      g_autofree guint8 *copy = g_memdup2 (sample, sizeof sample);
      copy[at] = values[v];
      if (sl_flex_map_open (&map, copy, sizeof sample, NULL))
        for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
          sl_flex_map_number (&map, keys[k], &value);
    }
  for (gsize size = 0; size < sizeof sample; size++) {
    g_autofree guint8 *copy = g_memdup2 (sample, MAX (size, 1));
    if (sl_flex_map_open (&map, copy, size, NULL))
      sl_flex_map_number (&map, "bc", &value);
  }
}

static void
test_message (void)
{
  g_autoptr (GError) error = NULL;
  SlFlexMap map;
  g_assert_false (sl_flex_map_open (&map, "nonsense", 8, &error));
  expect_error (&error, SL_ERROR_FORMAT, "8 bytes of custom options are not a FlexBuffer map",
                NULL);
  g_assert_false (sl_flex_map_open (&map, NULL, 0, &error));
  expect_error (&error, SL_ERROR_FORMAT, "0 bytes", NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/flexbuffer/read", test_read);
  g_test_add_func ("/flexbuffer/wide", test_wide);
  g_test_add_func ("/flexbuffer/damage", test_damage);
  g_test_add_func ("/flexbuffer/message", test_message);
  return g_test_run ();
}
