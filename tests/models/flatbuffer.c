/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The FlatBuffer cursor: bytes laid out by hand, then damaged. */
#include <string.h>

#include "models/tflite/flatbuffer.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

/* Fields of the root table: 0 int32, 1 absent, 2 string, 3 uint8, 4 vector of int32. */
static const guint8 sample[] = {
  24,   0,    0,    0,    'T', 'E', 'S', 'T', /* root, identifier */
  14,   0,    20,   0,    4,   0,   0,   0,   8,    0,    16,   0,
  12,   0,                /* 8: vtable of 14 bytes, table of 20 */
  0,    0,                /* hole */
  16,   0,    0,    0,    /* 24: table; its vtable lies 16 back */
  0xfe, 0xff, 0xff, 0xff, /* 28: field 0 = -2 */
  12,   0,    0,    0,    /* 32: field 2: string at 44 */
  20,   0,    0,    0,    /* 36: field 4: vector at 56 */
  200,  0,    0,    0,    /* 40: field 3 = 200 */
  5,    0,    0,    0,    'h', 'e', 'l', 'l', 'o',  0,    0,    0,    /* 44 */
  2,    0,    0,    0,    7,   0,   0,   0,   0xff, 0xff, 0xff, 0xff, /* 56 */
};

static void
test_read (void)
{
  g_autoptr (GError) error = NULL;
  /* At an odd address, so that any load that assumes alignment is caught by the sanitizer. */
  guint8 shifted[sizeof sample + 1];
  SlFlatBuffer fb;
  gsize length;
  memcpy (shifted + 1, sample, sizeof sample);
  sl_fb_init (&fb, shifted + 1, sizeof sample);
  g_assert_true (sl_fb_has_identifier (shifted + 1, sizeof sample, "TEST"));
  g_assert_false (sl_fb_has_identifier (shifted + 1, 7, "TEST"));
  const SlFbTable root = sl_fb_root (&fb);
  g_assert_true (sl_fb_present (&root));
  g_assert_cmpint (sl_fb_i32 (&root, 0, 9), ==, -2);
  g_assert_cmpint (sl_fb_i32 (&root, 1, 9), ==, 9);
  g_assert_cmpint (sl_fb_u8 (&root, 3, 9), ==, 200);
  g_assert_cmpint (sl_fb_u8 (&root, 100, 9), ==, 9);
  const char *text = sl_fb_string (&root, 2, &length);
  g_assert_cmpmem (text, length, "hello", 5);
  const SlFbVector vector = sl_fb_vector (&root, 4, 4);
  g_assert_cmpuint (vector.count, ==, 2);
  g_assert_cmpint (sl_fb_vector_i32 (&vector, 0), ==, 7);
  g_assert_cmpint (sl_fb_vector_i32 (&vector, 1), ==, -1);
  const SlFbTable none = sl_fb_table (&root, 50);
  g_assert_false (sl_fb_present (&none));
  g_assert_cmpint (sl_fb_i32 (&none, 0, 5), ==, 5);
  g_assert_null (sl_fb_string (&none, 0, &length));
  g_assert_true (sl_fb_check (&fb, &error));
  g_assert_no_error (error);
}

static void
read_everything (SlFlatBuffer *fb)
{
  gsize length;
  const SlFbTable root = sl_fb_root (fb);
  for (guint field = 0; field < 8; field++) {
    sl_fb_u8 (&root, field, 0);
    sl_fb_i32 (&root, field, 0);
    sl_fb_u64 (&root, field, 0);
    sl_fb_f32 (&root, field, 0);
    sl_fb_string (&root, field, &length);
    const SlFbTable table = sl_fb_table (&root, field);
    sl_fb_i32 (&table, 0, 0);
    const SlFbVector vector = sl_fb_vector (&root, field, 8);
    for (guint32 i = 0; i < vector.count; i++) {
      sl_fb_vector_i64 (&vector, i);
      const SlFbTable entry = sl_fb_vector_table (&vector, i);
      sl_fb_i32 (&entry, 0, 0);
    }
  }
}

/* Every byte set to each of some values, and every length: nothing may be read outside the exact
 * allocation. */
static void
test_damage (void)
{
  static const guint8 values[] = { 0, 1, 0x7f, 0x80, 0xff };
  for (gsize at = 0; at < sizeof sample; at++)
    for (guint v = 0; v < G_N_ELEMENTS (values); v++) {
      g_autofree guint8 *copy = g_memdup2 (sample, sizeof sample);
      SlFlatBuffer fb;
      copy[at] = values[v];
      sl_fb_init (&fb, copy, sizeof sample);
      read_everything (&fb);
    }
  for (gsize size = 0; size < sizeof sample; size++) {
    g_autofree guint8 *copy = g_memdup2 (sample, MAX (size, 1));
    SlFlatBuffer fb;
    sl_fb_init (&fb, copy, size);
    read_everything (&fb);
    g_assert_nonnull (fb.problem);
  }
}

static void
expect_problem (gsize at, guint8 value, gsize size, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *copy = g_memdup2 (sample, sizeof sample);
  SlFlatBuffer fb;
  gsize length;
  copy[at] = value;
  sl_fb_init (&fb, copy, size);
  const SlFbTable root = sl_fb_root (&fb);
  sl_fb_i32 (&root, 0, 0);
  sl_fb_string (&root, 2, &length);
  sl_fb_vector (&root, 4, 4);
  g_assert_false (sl_fb_check (&fb, &error));
  expect_error (&error, SL_ERROR_FORMAT, "damaged or truncated", text, NULL);
}

static void
test_messages (void)
{
  expect_problem (3, 0x7f, sizeof sample, "at byte 0 of 68 an offset leads outside the file");
  expect_problem (0, 24, 6, "ends before its first table");
  expect_problem (27, 0x7f, sizeof sample, "field list lies outside the file");
  expect_problem (8, 3, sizeof sample, "smaller than its header");
  expect_problem (11, 0xff, sizeof sample, "larger than the file");
  expect_problem (12, 19, sizeof sample, "a field lies outside its table");
  expect_problem (47, 0x7f, sizeof sample, "at byte 44 of 68 a list is longer than the file");
  expect_problem (59, 0xff, sizeof sample, "at byte 56 of 68 a list is longer than the file");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/flatbuffer/read", test_read);
  g_test_add_func ("/flatbuffer/damage", test_damage);
  g_test_add_func ("/flatbuffer/messages", test_messages);
  return g_test_run ();
}
