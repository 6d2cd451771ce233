/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels files as they come: plain, numbered, with CRLF, marks, gaps; and files that are not
 * labels. */
#include "models/labels.h"

#include <string.h>

#include "tests/models/helpers.h"
#include "tests/support/program.h"
#include "tests/support/sanitized.h"
#include "tests/support/testdata.h"

/* Of a process that reads a file of 15 MiB, in KiB. */
#define LARGEST_PEAK (220 << 10)
#define MEMORY_FILES 6

static const struct
{
  const char *text;
  guint count;
  const char *names[4]; /* NULL = no name */
} good[] = {
  { "person\nbicycle\ncar\n", 3, { "person", "bicycle", "car" } },
  { "person\nbicycle", 2, { "person", "bicycle" } },
  { "person\r\nbicycle\r\n\r\n\r\n", 2, { "person", "bicycle" } },
  { "person\rbicycle\r", 2, { "person", "bicycle" } },
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
    g_autoptr (SlLabels) labels =
      sl_labels_parse (good[i].text, strlen (good[i].text), "test.txt", &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_labels_count (labels), ==, good[i].count);
    for (guint k = 0; k < good[i].count; k++)
      g_assert_cmpstr (sl_labels_get (labels, k), ==, good[i].names[k]);
    g_assert_null (sl_labels_get (labels, good[i].count));
    g_assert_cmpstr (sl_labels_origin (labels), ==, "test.txt");
  }
}

/* Files of other formats: cat and dog in each of them. */
static const struct
{
  const char *origin, *text;
  guint first; /* class of cat; dog's is the one behind it */
} formats[] = {
  { "map.pbtxt", "item {\n  id: 1\n  name: 'cat'\n}\nitem {\n  id: 2\n  name: 'dog'\n}\n", 1 },
  { "map.pbtxt",
    "# ids\nitem: { name: \"/m/01\", id: 7 display_name: \"cat\" keypoints { id: 1 label: 'x' } "
    "}\r\nitem{id:8;name:'dog'}",
    7 },
  { "noname", "item {\n name: \"cat\"\n id: 0 # first\n}\nitem { name: \"dog\" id: 1 }", 0 },
  { "data.yaml", "path: ../data\ntrain: images/train\nnc: 2\nnames:\n  0: cat\n  1: dog\n", 0 },
  { "data.yaml", "names: ['cat', \"dog\"]  # two\nnc: 2\n", 0 },
  { "data.yml", "names: [cat,\n        dog ]\n", 0 },
  { "data.yaml", "names: {0: cat, 1: 'dog'}\nroboflow:\n  version: 1\n", 0 },
  { "data.yaml", "---\nnames:\n- cat # a cat\n- 'dog'\nnc: 2\n", 0 },
  { "data.yaml", "model:\n  names:\n    - cat\n    - dog\n  depth: 1\n", 0 },
  { "data.yaml", "class_names:\n  cat: 0\n  dog: 1\n", 0 },
  { "list", "- cat\n- dog\n", 0 },
  { "test.txt", "names:\r\n  0: cat\r\n  1: dog\r\n", 0 },
  { "labels.csv", "0,cat\n1,dog\n", 0 },
  { "labels.csv",
    "\xef\xbb\xbf"
    "cat,0\r\ndog,1\r\n",
    0 },
  { "labels.csv", "id;name\n3;cat\n4;dog\n", 3 },
  { "labels.csv", "index,mid,display_name\n0,/m/09x0r,cat\n1,/m/01h8n0,\"dog\"\n", 0 },
  { "labels.csv", "Class Name,Class ID\ndog,1\ncat,0\n", 0 },
  { "labels.csv", "name,colour\ncat,red\ndog,blue\n", 0 },
  { "labels.csv", "class,label\n1,dog\n0,cat\n", 0 },
  { "labels.txt", "cat\t0\ndog\t1\n", 0 },
  { "labels.txt", "0:cat\n1:dog\n", 0 },
  { "labels.txt", "cat: 0\ndog: 1\n", 0 },
  { "labels.json", "{\n  \"0\": \"cat\",\n  \"1\": \"dog\"\n}\n", 0 },
  { "labels.json", "{\"dog\": 1, \"cat\": 0}", 0 },
  { "labels.json", "[\"cat\", \"dog\"]", 0 },
  { "labels.json", "{\"0\": [\"n02123045\", \"cat\"], \"1\": [\"n02084071\", \"dog\"]}", 0 },
  { "config.json",
    "{\"architectures\": [\"ViT\"], \"id2label\": {\"0\": \"cat\", \"1\": \"dog\"}, \"label2id\": "
    "{\"cat\": 0, \"dog\": 1}, \"size\": 224}",
    0 },
  { "instances.json",
    "{\"images\": [{\"id\": 1}], \"categories\": [{\"supercategory\": \"animal\", \"id\": 1, "
    "\"name\": \"cat\"}, {\"id\": 2, \"name\": \"dog\"}]}",
    1 },
  { "labels.json", "[{\"name\": \"cat\"}, {\"name\": \"dog\"}]", 0 },
  { "labels", "['cat', 'dog']\n", 0 },
  { "test.txt", "# classes\ncat\ndog\n", 0 },
  { "test.txt", "// classes\n\n# of my model\n\ncat\n# and\ndog\n# end\n", 0 },
  { "test.txt", "# classes\n0 cat\n1 dog\n", 0 },
};

static void
test_formats (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlLabels) labels =
      sl_labels_parse (formats[i].text, strlen (formats[i].text), formats[i].origin, &error);
    g_test_message ("%s", formats[i].text);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_labels_count (labels), ==, formats[i].first + 2);
    g_assert_cmpstr (sl_labels_get (labels, formats[i].first), ==, "cat");
    g_assert_cmpstr (sl_labels_get (labels, formats[i].first + 1), ==, "dog");
    for (guint k = 0; k < formats[i].first; k++)
      g_assert_null (sl_labels_get (labels, k));
  }
  static const char utf16[] = "\xff\xfe"
                              "c\0a\0t\0\r\0\n\0d\0o\0g\0";
  g_autoptr (SlLabels) labels = sl_labels_parse (utf16, sizeof utf16 - 1, "windows.txt", NULL);
  g_assert_cmpstr (sl_labels_get (labels, 0), ==, "cat");
  g_assert_cmpstr (sl_labels_get (labels, 1), ==, "dog");
}

/* YAML: a quote within single quotes is written twice. */
static void
test_quotes (void)
{
  static const char *const files[] = {
    "names:\n- 'driver''s cabin'\n- ''''\n- cat\n", "names: ['driver''s cabin', '''', cat]\n",
    "names:\n  0: 'driver''s cabin' # one\n  1: ''''\n  2: cat\n",
    "names: {0: 'driver''s cabin', 1: '''', 2: cat}\n"
  };
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlLabels) labels =
      sl_labels_parse (files[i], strlen (files[i]), "data.yaml", &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_labels_count (labels), ==, 3);
    g_assert_cmpstr (sl_labels_get (labels, 0), ==, "driver's cabin");
    g_assert_cmpstr (sl_labels_get (labels, 1), ==, "'");
    g_assert_cmpstr (sl_labels_get (labels, 2), ==, "cat");
  }
}

/* Lists of one name a line that look like other formats at their beginning. */
static void
test_plain_lists (void)
{
  static const char *const lists[][4] = {
    { "{", "|", "}", "~" },
    { "#", "$", "%", "&" },
    { "[PAD]", "[UNK]", "the", "a" },
    { "<blank>", "a", "b", "c" },
    { "tench, Tinca tinca", "goldfish, Carassius auratus", "hen, cock", "ray, 2" },
    { "names", "labels", "item", "classes" },
    { "Tomato: blight", "Potato: healthy", "Corn: rust", "Rice: blast" },
    { "C#", "C++", "C//", "#" },
    { "level 0", "level 1", "level 2", "level 3" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    g_autofree char *text =
      g_strjoin ("\n", lists[i][0], lists[i][1], lists[i][2], lists[i][3], NULL);
    g_autoptr (GError) error = NULL;
    g_autoptr (SlLabels) labels = sl_labels_parse (text, strlen (text), "keys.txt", &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_labels_count (labels), ==, 4);
    for (guint k = 0; k < 4; k++)
      g_assert_cmpstr (sl_labels_get (labels, k), ==, lists[i][k]);
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
test_no_lists (void)
{
  static const struct
  {
    const char *origin, *text, *message;
  } files[] = {
    { "data.yaml", "path: ../data\ntrain: images/train\n",
      "a YAML file without class names; expected a line 'names:'" },
    { "coco.txt", "path: ../data\ntrain: images/train\nnc: 2\n",
      "a YAML file without class names" },
    { "data.yaml", "names: coco.names\n",
      "line 1: expected a list of names here; if this is another file with names, give that one" },
    { "data.yaml", "nc: 3\nnames: [cat, dog]\n", "line 1: nc is 3, but there are 2 names" },
    { "data.yaml", "names: [cat, dog\n", "line 1: expected a ']' at the end of names" },
    { "data.yaml", "names:\n  - cat\n      - dog\n", "line 3: expected one name a line" },
    { "data.yaml", "names:\n  cat\n  dog\n", "line 2: expected a number, ':' and a name" },
    { "data.yaml", "names:\n  a: cat\n  b: dog\n", "expected a number and a name for each class" },
    { "data.yaml", "names:\n  0: cat\n  0: dog\n", "class 0 is named twice: 'cat' and 'dog'" },
    { "labels.json", "{\"model\": \"yolo\"}", "expected a number and a name for each class" },
    { "labels.json", "{\"layers\": [1, 2]}",
      "a JSON file without class names; expected a list of names or a map" },
    { "labels.json", "[\"cat\", \"dog\"", "line 1: expected JSON with a list of names" },
    { "labels.json", "{\n\"0\": \"cat\"\n\"1\": \"dog\"}",
      "line 3: expected JSON with ',' or '}'" },
    { "labels.json", "[\"cat\"] 1", "line 1: expected JSON with nothing behind it" },
    { "labels.json", "[]", "it names no class" },
    { "map.pbtxt", "item { name: 'cat' }",
      "line 1: expected an id and a name in the item that ends here" },
    { "map.pbtxt", "item { id: 1 name: 'cat'", "line 1: expected the name of a field or '}'" },
    { "map.pbtxt", "item { id: one name: 'cat' }", "expected a number behind id" },
    { "map.pbtxt", "item { id: 1 name: 'cat' }\nitem { id: 1 name: 'dog' }",
      "class 1 is named twice: 'cat' and 'dog'" },
    { "graph.pbtxt", "node {\n  op: 'Conv2D'\n}",
      "this is a .pbtxt file without items, and no list of names" },
    { "labels.csv", "0,cat,red\n1,dog,blue\n",
      "a table of 3 columns, several of which may be names" },
    { "labels.csv", "file,label\na.jpg,cat\nb.jpg,cat\n",
      "line 3: 'cat' again; expected a table with one line a class" },
    { "page.txt", "<!DOCTYPE html>\n<html></html>", "this is HTML, and no list of names" },
    { "a.xml", "<?xml version='1.0'?>\n<annotation/>", "this is XML, and no list of names" },
    { "coco.data", "classes= 2\ntrain = a.txt\nnames = data/coco.names\n",
      "a file of Darknet that names the file with the class names; give that one, "
      "data/coco.names" },
    { "test.txt", "# cat\n# dog\n", "the file is empty" },
    { "train.txt", "train/a.jpg\ntrain/b.PNG\n",
      "this is a list of other files, and no list of names" },
    { "lists.txt", "a.txt\nb.txt\n", "this is a list of other files, and no list of names" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autoptr (GError) error = NULL;
    g_test_message ("%s", files[i].text);
    g_assert_null (
      sl_labels_parse (files[i].text, strlen (files[i].text), files[i].origin, &error));
    expect_error (&error, SL_ERROR_LABELS, "labels ", files[i].origin, files[i].message, NULL);
  }
  g_autofree char *line = g_strnfill (1001, 'x');
  expect_bad (line, 1001, SL_ERROR_LABELS, "line 1 has 1001 characters, which is no name");
}

/* Every beginning of a file, and every file with one character changed, is read or refused, and
 * nothing is read behind its end. */
static void
test_broken_formats (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    const gsize length = strlen (formats[i].text);
    for (gsize n = 0; n < length; n++) {
      g_autofree char *copy = g_memdup2 (formats[i].text, n + 1);
      copy[n] = "{[\"',:\n# "[n % 10];
      g_autoptr (SlLabels) beginning = sl_labels_parse (copy, n, formats[i].origin, NULL);
      g_autoptr (SlLabels) changed = sl_labels_parse (copy, n + 1, formats[i].origin, NULL);
      g_assert_true (beginning == NULL || sl_labels_count (beginning) > 0);
      g_assert_true (changed == NULL || sl_labels_count (changed) > 0);
    }
  }
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
  expect_bad ("0 dog\n1 cat\n1 cow\n", 18, SL_ERROR_LABELS,
              "line 3 names class 1 again; it is 'cat' already");
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
  expect_bad (large, (16 << 20) + 1, SL_ERROR_LABELS,
              "16777217 bytes; a labels file has at most 16777216");
}

/* A file of 15 MiB that repeats @row, and has @begin before. */
static char *
fill (const char *begin, const char *row, gboolean numbered)
{
  GString *text = g_string_new (begin);
  for (guint i = 0; text->len < 15 << 20; i++)
    if (numbered)
      g_string_append_printf (text, row, i);
    else
      g_string_append (text, row);
  return g_string_free (text, FALSE);
}

/* Files of the largest size in short pieces: the memory that they take beside themselves, whatever
 * becomes of them. */
static void
test_memory (gconstpointer data)
{
  static const struct
  {
    const char *name, *begin, *row;
    gboolean numbered;
    const char *says;
  } files[] = {
    { "names.yaml", "names: [", "a,", FALSE, "over the limit of 1000000" },
    { "names.yaml", "names: {", "%u: a,", TRUE, "more than 1000000 classes, the limit" },
    { "names.yaml", "names:\n", "- a\n", FALSE, "over the limit of 1000000" },
    { "names.csv", "id,name\n", "%u,a\n", TRUE, "'a' again" },
    { "names.csv", "", "a,a\n", FALSE, "over the limit of 1000000" },
    { "names.csv", "", "a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a\n", FALSE,
      NULL },
  };
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr (GError) error = NULL;
  if (!g_test_subprocess ()) {
#if defined(TEST_ADDRESS_SANITIZER) || defined(TEST_THREAD_SANITIZER)
    g_test_skip ("the sanitizer keeps what is freed");
#else
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed ();
#endif
    return;
  }
  g_autofree char *text = fill (files[i].begin, files[i].row, files[i].numbered), *status = NULL;
  g_autoptr (SlLabels) labels = sl_labels_parse (text, strlen (text), files[i].name, &error);
  g_assert_true ((labels != NULL) == (files[i].says == NULL));
  if (files[i].says != NULL)
    expect_error (&error, SL_ERROR_LABELS, files[i].name, files[i].says, NULL);
  g_assert_true (g_file_get_contents ("/proc/self/status", &status, NULL, NULL));
  const guint64 peak = g_ascii_strtoull (strstr (status, "VmHWM:") + strlen ("VmHWM:"), NULL, 10);
  g_printerr ("# %s: %" G_GUINT64_FORMAT " MiB\n", files[i].row, peak >> 10);
  g_assert_cmpuint (peak, <, LARGEST_PEAK);
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
  expect_error (&error, SL_ERROR_OPEN, dir,
                "is a directory; expected a text file with one class name a line", NULL);
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

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/labels/good", test_good);
  g_test_add_func ("/labels/formats", test_formats);
  g_test_add_func ("/labels/quotes", test_quotes);
  g_test_add_func ("/labels/plain_lists", test_plain_lists);
  g_test_add_func ("/labels/no_lists", test_no_lists);
  g_test_add_func ("/labels/broken_formats", test_broken_formats);
  g_test_add_func ("/labels/bad", test_bad);
  g_test_add_func ("/labels/many", test_many);
  for (guint i = 0; i < MEMORY_FILES; i++) {
    g_autofree char *name = g_strdup_printf ("/labels/memory/%u", i);
    g_test_add_data_func (name, GUINT_TO_POINTER (i), test_memory);
  }
  g_test_add_func ("/labels/files", test_files);
  g_test_add_func ("/labels/real", test_real);
  return g_test_run ();
}
