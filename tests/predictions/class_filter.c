/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of classes against what each of some labels must be to them, and the messages of lists that
 * are wrong. */
#include "postprocess/predictions/class_filter.h"

#include <string.h>

#include "sightline/error.h"
#include "tests/support/program.h"

static const struct
{
  const char *text, *passes; /* the letters of a..d that pass; e stands for "x, y" */
} lists[] = {
  { NULL, "abcde" },   { "", "abcde" },         { "a", "a" },        { "a,c", "ac" },
  { " a , c ", "ac" }, { "!a", "bcde" },        { "! a,!c", "bde" }, { "a,b,!c", "ab" },
  { "x\\, y", "e" },   { "!x\\, y,!a", "bcd" }, { "a,a", "a" },      { "A", "" },
  { "x", "" },
};

static void
test_passes (void)
{
  static const char *const labels[] = { "a", "b", "c", "d", "x, y" };
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    g_autoptr (SlClassFilter) filter = NULL;
    g_autoptr (GError) error = NULL;
    g_assert_true (sl_class_filter_parse (lists[i].text, &filter, &error));
    g_assert_no_error (error);
    for (guint k = 0; k < G_N_ELEMENTS (labels); k++)
      g_assert_cmpint (sl_class_filter_passes (filter, labels[k]), ==,
                       strchr (lists[i].passes, "abcde"[k]) != NULL);
  }
}

static void
test_bad_lists (void)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "a,,b",
      "classes=a,,b: a name is empty; expected class names with ',' between, such as person,car or "
      "!dog" },
    { "a,",
      "classes=a,: a name is empty; expected class names with ',' between, such as person,car or "
      "!dog" },
    { "!",
      "classes=!: a name is empty; expected class names with ',' between, such as person,car or "
      "!dog" },
    { " ",
      "classes= : a name is empty; expected class names with ',' between, such as person,car or "
      "!dog" },
    { "a,!a", "classes=a,!a: 'a' is both wanted and not (!a): remove one of them" },
    { "!a,a", "classes=!a,a: 'a' is both wanted and not (!a): remove one of them" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SlClassFilter *filter = NULL;
    g_autoptr (GError) error = NULL;
    g_assert_false (sl_class_filter_parse (cases[i].text, &filter, &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
    g_assert_cmpstr (error->message, ==, cases[i].message);
    g_assert_null (filter);
  }
}

static void
test_too_many (void)
{
  g_autoptr (GString) text = g_string_new ("0");
  g_autoptr (GError) error = NULL;
  SlClassFilter *filter = NULL;
  for (guint i = 1; i < SL_CLASS_FILTER_MOST; i++)
    g_string_append_printf (text, ",%u", i);
  g_assert_true (sl_class_filter_parse (text->str, &filter, &error));
  sl_class_filter_free (filter);
  g_string_append (text, ",x");
  g_assert_false (sl_class_filter_parse (text->str, &filter, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
  g_assert_cmpstr (error->message, ==, "classes: more than 1000 names");
}

/* @message NULL: the list is good. */
static void
check (const char *text, const char *const *names, guint n, const char *message)
{
  g_autoptr (SlClassFilter) filter = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_true (sl_class_filter_parse (text, &filter, NULL));
  const gboolean good = sl_class_filter_check (filter, names, n, "coco.txt", &error);
  g_assert_cmpstr (error != NULL ? error->message : NULL, ==, message);
  g_assert_cmpint (good, ==, message == NULL);
}

static void
test_check (void)
{
  static const char *const few[] = { "person", NULL, "traffic light" };
  static const char *const many[] = { "person", "bicycle", "car",   "motorcycle", "airplane",
                                      "bus",    "train",   "truck", "boat",       "parking meter",
                                      "bench",  "bird",    "cat",   "dog" };
  check (NULL, few, 3, NULL);
  check ("person,!traffic light", few, 3, NULL);
  check ("1", few, 3, NULL);
  check ("0", few, 3, "classes: coco.txt has no class '0'; expected one of person, traffic light");
  check ("3", few, 3, "classes: coco.txt has no class '3'; expected one of person, traffic light");
  check ("persn", few, 3, "classes: coco.txt has no class 'persn'; did you mean 'person'?");
  check ("!Person", few, 3, "classes: coco.txt has no class 'Person'; did you mean 'person'?");
  check ("zebra", few, 3,
         "classes: coco.txt has no class 'zebra'; expected one of person, traffic light");
  check ("zzz", many, G_N_ELEMENTS (many),
         "classes: coco.txt has no class 'zzz'; the nearest are 'car', 'bus', 'cat'");
  check (
    "person", NULL, 0,
    "classes: coco.txt has no class 'person': its classes have no names; expected numbers from 0 "
    "to 65535, or names for them by labels=FILE");
  check ("17", NULL, 0, NULL);
  static const char *const numbers[] = { NULL, NULL };
  check (
    "2", numbers, 2,
    "classes: coco.txt has no class '2': its classes have no names; expected numbers from 0 to 1, "
    "or names for them by labels=FILE");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/class-filter/passes", test_passes);
  g_test_add_func ("/class-filter/bad-lists", test_bad_lists);
  g_test_add_func ("/class-filter/too-many", test_too_many);
  g_test_add_func ("/class-filter/check", test_check);
  return g_test_run ();
}
