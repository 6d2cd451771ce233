/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels files as they come: plain, numbered, with CRLF, marks, gaps; and everything that is none. */
#include "models/labels.h"

#include <string.h>

#include "tests/models/helpers.h"
#include "tests/support/testdata.h"

static const struct
{
  const char *text;
  guint count;
  const char *names[4]; /* NULL = no name */
} good[] = {
  { "person\nbicycle\ncar\n", 3, { "person", "bicycle", "car" } },
  { "person\nbicycle", 2, { "person", "bicycle" } },
  { "person\r\nbicycle\r\n\r\n\r\n", 2, { "person", "bicycle" } },
  { "\xef\xbb\xbfperson\nbicycle\n", 2, { "person", "bicycle" } },
  { "0  person\n1  bicycle\n", 2, { "person", "bicycle" } },
  { "0\tperson\r\n3 traffic light \r\n", 4, { "person", NULL, NULL, "traffic light" } },
  { "2: cat\n0: dog\n", 3, { "dog", NULL, "cat" } },
  { "person\n\ncar\n", 3, { "person", NULL, "car" } },
  { "person\n???\ncar\n", 3, { "person", NULL, "car" } },
  { "0\n1\n2\n", 3, { "0", "1", "2" } },
  { "3d printer\n1 man\n", 2, { "3d printer", "1 man" } },
  { "tench, Tinca tinca\n  goldfish  \n", 2, { "tench, Tinca tinca", "goldfish" } },
  { "\xc3\xa9l\xc3\xa9phant\n", 1, { "\xc3\xa9l\xc3\xa9phant" } },
};

static void
test_good (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlLabels) labels = sl_labels_parse (good[i].text, strlen (good[i].text), "test.txt", &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_labels_count (labels), ==, good[i].count);
    for (guint k = 0; k < good[i].count; k++)
      g_assert_cmpstr (sl_labels_get (labels, k), ==, good[i].names[k]);
    g_assert_null (sl_labels_get (labels, good[i].count));
    g_assert_cmpstr (sl_labels_origin (labels), ==, "test.txt");
  }
}

static void
expect_bad (const char *text, gsize length, SlError code, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (sl_labels_parse (text, length, "test.txt", &error));
  expect_error (&error, code, "labels test.txt: ", expected, NULL);
}

static void
test_bad (void)
{
  expect_bad ("", 0, SL_ERROR_LABELS, "the file is empty; expected one class name a line");
  expect_bad (NULL, 0, SL_ERROR_LABELS, "the file is empty");
  expect_bad ("\r\n\n  \n", 6, SL_ERROR_LABELS, "the file is empty");
  expect_bad ("\xef\xbb\xbf", 3, SL_ERROR_LABELS, "the file is empty");
  expect_bad ("caf\xe9\n", 5, SL_ERROR_LABELS, "not UTF-8 text at byte 3");
  expect_bad ("p\0e\0", 4, SL_ERROR_LABELS, "not UTF-8 text at byte 1");
  expect_bad ("0 dog\n1 cat\n1 cow\n", 18, SL_ERROR_LABELS, "line 3 names class 1 again; it is 'cat' already");
  expect_bad ("1000000 dog\n", 12, SL_ERROR_LABELS, "class 1000000 is over the limit of 1000000");
  expect_bad ("99999999999999999999999 dog\n", 28, SL_ERROR_LABELS, "over the limit");
}

static void
test_many (void)
{
  g_autofree char *text = g_strnfill (2100000, '\n');
  for (gsize i = 0; i < 2100000; i += 2)
    text[i] = 'x';
  expect_bad (text, 2100000, SL_ERROR_LABELS, "over the limit of 1000000");
  g_autofree char *large = g_strnfill ((16 << 20) + 1, 'x');
  expect_bad (large, (16 << 20) + 1, SL_ERROR_LABELS, "16777217 bytes; a labels file has at most 16777216");
}

static void
test_files (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = write_temp ("labels.txt", "cat\ndog\n", -1);
  g_autofree char *dir = g_path_get_dirname (path);
  g_autoptr (SlLabels) labels = sl_labels_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_labels_count (labels), ==, 2);
  g_assert_cmpstr (sl_labels_origin (labels), ==, path);
  g_assert_null (sl_labels_load (dir, &error));
  expect_error (&error, SL_ERROR_OPEN, dir, "is a directory; expected a text file with one class name a line", NULL);
  g_assert_null (sl_labels_load ("/dev/null", &error));
  expect_error (&error, SL_ERROR_OPEN, "labels /dev/null: is not a regular file", NULL);
  sl_tflite_remove_temp (path);
  g_assert_null (sl_labels_load (path, &error));
  expect_error (&error, SL_ERROR_OPEN, path, "no such file", NULL);
  g_autofree char *empty = write_temp ("empty.txt", "", 0);
  g_assert_null (sl_labels_load (empty, &error));
  expect_error (&error, SL_ERROR_LABELS, empty, "the file is empty", NULL);
  sl_tflite_remove_temp (empty);
}

static void
test_real (void)
{
  static const struct
  {
    const char *file;
    guint count, index;
    const char *name;
  } files[] = {
    { "models/coco_labels.txt", 90, 0, "person" },
    { "models/coco-labels-2014_2017.txt", 80, 79, "toothbrush" },
    { "models/imagenet_labels.txt", 1001, 653, "military uniform" },
    { "models/imagenet_labels.txt", 1001, 654, "milk can" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = sl_test_data (files[i].file);
    if (path == NULL)
      return;
    g_autoptr (SlLabels) labels = sl_labels_load (path, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_labels_count (labels), ==, files[i].count);
    g_assert_cmpstr (sl_labels_get (labels, files[i].index), ==, files[i].name);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/labels/good", test_good);
  g_test_add_func ("/labels/bad", test_bad);
  g_test_add_func ("/labels/many", test_many);
  g_test_add_func ("/labels/files", test_files);
  g_test_add_func ("/labels/real", test_real);
  return g_test_run ();
}
