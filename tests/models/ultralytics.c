/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The dictionary in Ultralytics' exports, as Python and as JSON write it, and what else may stand
 * there. */
#include "models/ultralytics.h"

#include <string.h>

#include "tests/models/helpers.h"
#include "tests/support/program.h"

static const char *const good[] = {
  "{'description': 'Some \\'model\\'', 'stride': 32, 'task': 'detect', 'imgsz': [224, 320], "
  "'names': {0: 'person', 1: \"bird's\"}}",
  "{\"task\": \"detect\", \"stride\": 32, \"imgsz\": [224, 320],\n"
  " \"names\": {\"0\": \"person\", \"1\": \"bird's\"}, \"nms\": false}\n",
  "{\"names\": [\"person\", \"bird's\"], \"task\": \"detect\", \"stride\": 32, \"imgsz\": [224, "
  "320], \"v\": -1.5e+3}",
  "{\"names\": [\"p\\u0065rson\", \"bird\\x27s\"], \"task\": \"detect\", \"stride\": \"32\", "
  "\"imgsz\": (224, 320),}",
  "{'a': {'b': 0, 'c': [1, (2, 3), {}]}, 'x': None, 'stride': 32, 'task': 'detect', 'imgsz': [224, "
  "320], 'names': ['person', \"bird's\"]}",
};

static void
test_good (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    g_autoptr (GError) error = NULL;
    SlModelMetadata metadata = { 0 };
    sl_ultralytics_read (good[i], strlen (good[i]), "meta", &metadata, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_labels_count (metadata.labels), ==, 2);
    g_assert_cmpstr (sl_labels_get (metadata.labels, 0), ==, "person");
    g_assert_cmpstr (sl_labels_get (metadata.labels, 1), ==, "bird's");
    g_assert_cmpstr (g_hash_table_lookup (metadata.params, "task"), ==, "detect");
    g_assert_cmpstr (g_hash_table_lookup (metadata.params, "stride"), ==, "32");
    g_assert_cmpstr (g_hash_table_lookup (metadata.params, "imgsz"), ==, "224,320");
    g_assert_cmpuint (metadata.n_mean, ==, 1);
    g_assert_cmpfloat (metadata.mean[0], ==, 0);
    g_assert_cmpfloat (metadata.std[0], ==, 255);
    g_assert_true (metadata.fit_letterbox);
    g_assert_true (metadata.has_colour);
    if (i == 0)
      g_assert_cmpstr (metadata.description, ==, "Some 'model'");
    sl_model_metadata_clear (&metadata);
  }
}

static void
test_classify (void)
{
  static const char text[] = "{'task': 'classify', 'imgsz': 224, 'names': {5: '3 stars'}}";
  g_autoptr (GError) error = NULL;
  SlModelMetadata metadata = { 0 };
  g_assert_true (sl_ultralytics_read (text, strlen (text), "meta", &metadata, &error));
  g_assert_cmpstr (metadata.decoder, ==, "labels");
  g_assert_false (metadata.fit_letterbox);
  g_assert_cmpuint (sl_labels_count (metadata.labels), ==, 6);
  g_assert_cmpstr (sl_labels_get (metadata.labels, 5), ==, "3 stars");
  g_assert_cmpstr (g_hash_table_lookup (metadata.params, "imgsz"), ==, "224");
  sl_model_metadata_clear (&metadata);
}

static void
test_tasks (void)
{
  static const struct
  {
    const char *text, *decoder, *keypoints;
  } cases[] = {
    { "{'task': 'detect', 'names': {0: 'a'}}", "yolo", NULL },
    { "{'task': 'pose', 'kpt_shape': [17, 3], 'names': {0: 'person'}}", "yolo", "17,3" },
    { "{'task': 'segment'}", "yolo", NULL },
    { "{'task': 'obb'}", "yolo", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    SlModelMetadata metadata = { 0 };
    g_assert_true (
      sl_ultralytics_read (cases[i].text, strlen (cases[i].text), "meta", &metadata, &error));
    g_assert_cmpstr (metadata.decoder, ==, cases[i].decoder);
    g_assert_cmpstr (g_hash_table_lookup (metadata.params, "kpt_shape"), ==, cases[i].keypoints);
    sl_model_metadata_clear (&metadata);
  }
}

/* Someone else's dictionary changes nothing. */
static void
test_foreign (void)
{
  static const char text[] = "{\"author\": \"me\", \"names\": {\"a\": 1}}", empty[] = " { } ";
  g_autoptr (GError) error = NULL;
  SlModelMetadata metadata = { 0 };
  g_assert_true (sl_ultralytics_read (empty, strlen (empty), "meta", &metadata, &error));
  g_assert_null (metadata.labels);
  g_assert_cmpuint (metadata.n_mean, ==, 0);
  g_assert_false (sl_ultralytics_read (text, strlen (text), "meta", &metadata, &error));
  expect_error (&error, SL_ERROR_FORMAT, "meta inside the model is not a dictionary",
                "unexpected text at byte", NULL);
  sl_model_metadata_clear (&metadata);
}

/* Every prefix, and deep nesting, is refused or read, but never beyond its end. */
static void
test_damage (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    for (gsize length = 0; length < strlen (good[i]); length++) {
      g_autoptr (GError) error = NULL;
      g_autofree char *copy = g_memdup2 (good[i], MAX (length, 1));
      SlModelMetadata metadata = { 0 };
      if (!sl_ultralytics_read (copy, length, "meta", &metadata, &error))
        g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
      sl_model_metadata_clear (&metadata);
    }
  g_autofree char *nested = g_strnfill (100000, '[');
  g_autofree char *deep = g_strconcat ("{'x': ", nested, NULL);
  g_autoptr (GError) error = NULL;
  SlModelMetadata metadata = { 0 };
  g_assert_false (sl_ultralytics_read (deep, strlen (deep), "meta", &metadata, &error));
  expect_error (&error, SL_ERROR_FORMAT, "not a dictionary", NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ultralytics/good", test_good);
  g_test_add_func ("/ultralytics/classify", test_classify);
  g_test_add_func ("/models/ultralytics/tasks", test_tasks);
  g_test_add_func ("/ultralytics/foreign", test_foreign);
  g_test_add_func ("/ultralytics/damage", test_damage);
  return g_test_run ();
}
