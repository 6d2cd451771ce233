/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a TFLite file says about itself, from its bytes to the contract: TFLite Metadata, labels in
 * the appended archive, Ultralytics' text; and what happens when one of them is wrong or missing.
 */
#include <math.h>
#include <string.h>

#include "models/tflite/schema.h"
#include "tests/models/helpers.h"
#include "models/tflite/flatbuffer_writer.h"
#include "tests/support/program.h"

static const char ultralytics[] =
  "{'description': 'Nano', 'task': 'detect', 'stride': 32, 'imgsz': [4, 6], 'names': {0: 'person', "
  "1: 'bus'}}";

static SlTfliteWriter *
picture (gint32 channels)
{
  const gint32 dims[] = { 1, 4, 6, channels };
  return picture_model (SL_DTYPE_F32, 4, dims, 0, 0);
}

static void
expect_refused (SlTfliteWriter *writer, SlError code, const char *text, const char *more)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (load_with_info (writer, NULL, NULL, &error));
  expect_error (&error, code, "model.tflite: ", text, more, NULL);
}

static void
test_complete (void)
{
  for (guint i = 0; i < 4; i++) {
    g_autoptr (SlTfliteWriter) writer = picture (3);
    g_autoptr (GError) error = NULL;
    SlModelMetadata metadata = { 0 };
    sl_tflite_writer_picture_metadata (writer,
                                       &(SlTfliteMetadata){ .name = i % 2 == 0 ? "Named" : NULL,
                                                            .description = "Described",
                                                            .n_mean = i < 2 ? 3 : 1,
                                                            .mean = { 1, 2, 3 },
                                                            .std = { 4, 5, 6 },
                                                            .colour = 1,
                                                            .labels_file = "names.txt",
                                                            .labels_type = i < 2 ? 2 : 3 });
    sl_tflite_writer_member (writer, "other.txt", "wrong\n", -1, FALSE);
    sl_tflite_writer_member (writer, "names.txt", "cat\r\ndog\r\n???\r\nbird\r\n", -1, i % 2 == 0);
    g_autoptr (SlGraph) graph = read_graph (writer, &metadata, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_graph_n_nodes (graph), ==, 1);
    g_assert_cmpstr (metadata.description, ==, i % 2 == 0 ? "Named" : "Described");
    sl_model_metadata_clear (&metadata);
    g_autoptr (SlModel) model = load_with_info (writer, NULL, NULL, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    g_assert_true (contract->image.range_known);
    for (guint c = 0; c < 3; c++) {
      g_assert_cmpfloat (contract->image.mean[c], ==, i < 2 ? c + 1 : 1);
      g_assert_cmpfloat (contract->image.std[c], ==, i < 2 ? c + 4 : 4);
    }
    g_assert_cmpint (contract->image.colour, ==, SL_COLOUR_RGB);
    g_assert_cmpuint (sl_labels_count (contract->labels), ==, 4);
    g_assert_cmpstr (sl_labels_get (contract->labels, 1), ==, "dog");
    g_assert_null (sl_labels_get (contract->labels, 2));
    g_assert_cmpstr (sl_labels_origin (contract->labels), ==, "names.txt inside the model");
  }
}

static void
test_wrong_normalisation (void)
{
  static const struct
  {
    SlTfliteMetadata metadata;
    gint channels;
    SlError code;
    const char *text;
  } rows[] = {
    { { .n_mean = 2, .mean = { 1, 2 }, .std = { 1, 2 } },
      3,
      SL_ERROR_FORMAT,
      "the metadata states 2 means and 2 standard deviations; expected 1 or 3 of each" },
    { { .n_mean = 1, .mean = { 1 }, .std = { 0 } },
      3,
      SL_ERROR_FORMAT,
      "the metadata states mean 1 and standard deviation 0; expected finite numbers, the second "
      "above 0" },
    { { .n_mean = 1, .mean = { 1 }, .std = { -2 } },
      3,
      SL_ERROR_FORMAT,
      "standard deviation -2; expected finite numbers, the second above 0" },
    { { .n_mean = 1, .mean = { INFINITY }, .std = { 1 } },
      3,
      SL_ERROR_FORMAT,
      "the metadata states mean inf and standard deviation 1" },
    { { .n_mean = 3, .mean = { 1, 1, 1 }, .std = { 1, 1, NAN } },
      3,
      SL_ERROR_FORMAT,
      "nan; expected finite numbers" },
    { { .n_mean = 3, .mean = { 1, 1, 1 }, .std = { 1, 1, 1 } },
      1,
      SL_ERROR_CONTRACT,
      "the model's metadata mean: 3 values for a picture of 1 channel; expected 1" },
    { { .colour = 2 },
      3,
      SL_ERROR_CONTRACT,
      "the model's metadata colour=GRAY contradicts input 'image' float32[1,4,6,3], which has 3" },
    { { .colour = 1 },
      1,
      SL_ERROR_CONTRACT,
      "the model's metadata colour=RGB contradicts input 'image' float32[1,4,6,1]" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlTfliteWriter) writer = picture (rows[i].channels);
    sl_tflite_writer_picture_metadata (writer, &rows[i].metadata);
    expect_refused (writer, rows[i].code, rows[i].text, NULL);
  }
}

/* A gray model whose metadata agrees; a metadata buffer that says nothing; one of another kind; one
 * of another name. */
static void
test_ignored (void)
{
  for (guint i = 0; i < 4; i++) {
    g_autoptr (SlTfliteWriter) writer = picture (1);
    g_autoptr (GError) error = NULL;
    g_autoptr (GBytes) other = g_bytes_new_static ("\x04\0\0\0M009garbage", 15);
    g_autoptr (GBytes) damaged = g_bytes_new_static ("\xff\xff\xff\xffM001", 8);
    if (i == 0)
      sl_tflite_writer_picture_metadata (writer, &(SlTfliteMetadata){ .colour = 2 });
    else if (i == 1)
      sl_tflite_writer_picture_metadata (writer, &(SlTfliteMetadata){ .n_mean = 0 });
    else
      sl_tflite_writer_metadata (writer, i == 2 ? TFL_METADATA_NAME : "min_runtime_version",
                                 i == 2 ? other : damaged);
    g_autoptr (SlModel) model = load_with_info (writer, NULL, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpint (sl_model_contract (model)->image.colour, ==, SL_COLOUR_GRAY);
    g_assert_false (sl_model_contract (model)->image.range_known);
    g_assert_null (sl_model_contract (model)->labels);
  }
}

static void
test_damaged_buffer (void)
{
  static const char *const buffers[] = { "\xff\xff\xff\xffM001", "\x08\0\0\0M001\xff\xff\xff\x7f",
                                         "\x08\0\0\0M001\x04\0\0\0" };
  static const gsize sizes[] = { 8, 12, 12 };
  for (guint i = 0; i < G_N_ELEMENTS (buffers); i++) {
    g_autoptr (SlTfliteWriter) writer = picture (3);
    g_autoptr (GBytes) bytes = g_bytes_new_static (buffers[i], sizes[i]);
    sl_tflite_writer_metadata (writer, TFL_METADATA_NAME, bytes);
    expect_refused (writer, SL_ERROR_FORMAT,
                    "metadata: the FlatBuffer is damaged or truncated: at byte ",
                    "; get a new copy of the file");
  }
}

/* Labels that the metadata names and the file lost: refused, unless someone states others. */
static void
test_missing_labels (void)
{
  g_autoptr (SlTfliteWriter) writer = picture (3);
  g_autoptr (GError) error = NULL;
  g_autofree char *path = write_temp ("labels.txt", "one\ntwo\n", -1);
  g_autofree char *info =
    g_strdup_printf ("[modelinfo]\nversion=1.0\n[sightline]\nlabels=%s\n", path);
  const SlModelSettings overrides = { .labels = path };
  sl_tflite_writer_picture_metadata (writer, &(SlTfliteMetadata){ .labels_file = "lost.txt" });
  expect_refused (
    writer, SL_ERROR_FORMAT,
    "its metadata names the labels file 'lost.txt', which is not in the archive behind the model",
    "get a new copy, or state labels=FILE");
  sl_tflite_writer_member (writer, "found.txt", "x\n", -1, FALSE);
  expect_refused (writer, SL_ERROR_FORMAT, "its metadata names the labels file 'lost.txt'", NULL);
  g_autoptr (SlModel) by_info = load_with_info (writer, info, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (SlModel) by_property = load_with_info (writer, NULL, &overrides, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_labels_get (sl_model_contract (by_info)->labels, 1), ==, "two");
  g_assert_cmpstr (sl_labels_origin (sl_model_contract (by_property)->labels), ==, path);
  sl_tflite_remove_temp (path);
}

static void
test_bad_labels (void)
{
  static const struct
  {
    const char *text;
    gssize length;
    const char *message;
  } rows[] = {
    { "", 0, "labels l.txt inside the model: the file is empty; expected one class name a line" },
    { "caf\xe9\n", -1, "labels l.txt inside the model: not UTF-8 text at byte 3" },
    { "0 a\n0 b\n", -1,
      "labels l.txt inside the model: line 2 names class 0 again; it is 'a' already" }
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlTfliteWriter) writer = picture (3);
    sl_tflite_writer_picture_metadata (writer, &(SlTfliteMetadata){ .labels_file = "l.txt" });
    sl_tflite_writer_member (writer, "l.txt", rows[i].text, rows[i].length, FALSE);
    expect_refused (writer, SL_ERROR_LABELS, rows[i].message, NULL);
  }
}

/* A changed byte of the packed labels is noticed by their checksum; a changed directory by its
 * structure. */
static void
test_damaged_archive (void)
{
  static const struct
  {
    const char *find;
    gsize plus;
    const char *message;
  } rows[] = {
    { "zebra", 1,
      "the zip archive in the file is damaged: the contents differ from their checksum or size at "
      "byte" },
    { "PK\x01\x02", 0, "the zip archive in the file is damaged: no directory entry at byte" },
    { "PK\x03\x04", 0, "the zip archive in the file is damaged: no member header at byte" }
  };
  g_autoptr (SlTfliteWriter) writer = picture (3);
  sl_tflite_writer_picture_metadata (writer, &(SlTfliteMetadata){ .labels_file = "l.txt" });
  sl_tflite_writer_member (writer, "l.txt", "zebra\n", -1, FALSE);
  g_autoptr (GBytes) bytes = sl_tflite_writer_finish (writer);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    gsize size;
    g_autofree char *copy = g_memdup2 (g_bytes_get_data (bytes, &size), g_bytes_get_size (bytes));
    for (gsize at = 0; at + 5 <= size; at++)
      if (memcmp (copy + at, rows[i].find, strlen (rows[i].find)) == 0)
        copy[at + rows[i].plus] ^= 0x20;
    g_autofree char *path = write_temp ("model.tflite", copy, (gssize) size);
    g_assert_null (sl_model_load (path, NULL, &error));
    expect_error (&error, SL_ERROR_FORMAT, path, rows[i].message, NULL);
    sl_tflite_remove_temp (path);
  }
}

static void
test_ultralytics (void)
{
  static const char *const names[] = { "temp_meta.txt", "metadata.json" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (SlTfliteWriter) writer = picture (3);
    g_autoptr (GError) error = NULL;
    sl_tflite_writer_member (writer, names[i], ultralytics, -1, i == 1);
    g_autoptr (SlModel) model = load_with_info (writer, NULL, NULL, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    g_assert_true (contract->image.range_known);
    g_assert_cmpfloat (contract->image.mean[0], ==, 0);
    g_assert_cmpfloat (contract->image.std[2], ==, 255);
    g_assert_cmpint (contract->image.fit, ==, SL_FIT_LETTERBOX);
    g_assert_cmpint (contract->image.pad_value, ==, 114);
    g_assert_cmpuint (sl_labels_count (contract->labels), ==, 2);
    g_assert_cmpstr (sl_labels_get (contract->labels, 1), ==, "bus");
    g_assert_cmpstr (g_hash_table_lookup (contract->decoder_params, "task"), ==, "detect");
    g_assert_cmpstr (g_hash_table_lookup (contract->decoder_params, "stride"), ==, "32");
    g_assert_cmpstr (g_hash_table_lookup (contract->decoder_params, "imgsz"), ==, "4,6");
  }
}

/* Ultralytics also writes TFLite Metadata; its labels win, even where that names a file that is not
 * there. */
static void
test_both (void)
{
  g_autoptr (SlTfliteWriter) writer = picture (3);
  g_autoptr (GError) error = NULL;
  sl_tflite_writer_picture_metadata (writer,
                                     &(SlTfliteMetadata){ .name = "x", .labels_file = "lost.txt" });
  sl_tflite_writer_member (writer, "temp_meta.txt", ultralytics, -1, FALSE);
  g_autoptr (SlModel) model = load_with_info (writer, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_labels_get (sl_model_contract (model)->labels, 0), ==, "person");
  g_autoptr (SlTfliteWriter) wrong = picture (3);
  sl_tflite_writer_member (wrong, "temp_meta.txt", "names: person", -1, FALSE);
  expect_refused (
    wrong, SL_ERROR_FORMAT,
    "temp_meta.txt inside the model is not a dictionary of names, task, stride and imgsz",
    "unexpected text at byte 0");
}

/* A description inside the model says what one beside it would; one beside it wins. */
static void
test_info_inside (void)
{
  static const char inside[] =
    "[modelinfo]\nversion=1.0\n[sightline]\nmean=127.5\nstd=127.5\nfit=letterbox\npad-value=9\n"
    "decoder=yolo\n"
    "decoder-boxes=grid\ndecoder-strides=8,16\n";
  static const char beside[] =
    "[modelinfo]\nversion=1.0\n[sightline]\nfit=crop\ndecoder-strides=4\n";
  for (guint i = 0; i < 2; i++) {
    g_autoptr (SlTfliteWriter) writer = picture (3);
    g_autoptr (GError) error = NULL;
    sl_tflite_writer_member (writer, "sightline.modelinfo", inside, -1, i == 1);
    g_autoptr (SlModel) model = load_with_info (writer, i == 0 ? NULL : beside, NULL, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    g_assert_true (contract->image.range_known);
    g_assert_cmpfloat (contract->image.mean[1], ==, 127.5);
    g_assert_cmpint (contract->image.fit, ==, i == 0 ? SL_FIT_LETTERBOX : SL_FIT_CROP);
    g_assert_cmpint (contract->image.pad_value, ==, 9);
    g_assert_cmpstr (contract->decoder, ==, "yolo");
    g_assert_cmpstr (g_hash_table_lookup (contract->decoder_params, "boxes"), ==, "grid");
    g_assert_cmpstr (g_hash_table_lookup (contract->decoder_params, "strides"), ==,
                     i == 0 ? "8,16" : "4");
  }
}

static void
test_bad_info_inside (void)
{
  static const struct
  {
    const char *text;
    SlError code;
    const char *message;
  } rows[] = {
    { "fit=crop", SL_ERROR_CONTRACT, "sightline.modelinfo inside the model: not a key file" },
    { "[sightline]\nfit=crop\n", SL_ERROR_CONTRACT,
      "sightline.modelinfo inside the model: [modelinfo] version: missing" },
    { "[modelinfo]\nversion=1.0\n[sightline]\nfits=crop\n", SL_ERROR_CONTRACT,
      "sightline.modelinfo inside the model: [sightline] fits: unknown key" },
    { "[modelinfo]\nversion=1.0\n[sightline]\nfit=wide\n", SL_ERROR_ARGUMENT,
      "sightline.modelinfo inside the model fit: expected stretch, letterbox or crop, got 'wide'" },
    { "[modelinfo]\nversion=1.0\n[sightline]\nlabels=/l.txt\n", SL_ERROR_CONTRACT,
      "sightline.modelinfo inside the model: [sightline] labels: names the file /l.txt, which is "
      "not inside the model" },
    { "[modelinfo]\nversion=1.0\n[other]\ndir=input\n", SL_ERROR_CONTRACT,
      "sightline.modelinfo inside the model: [other]: the model has no input of that name" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlTfliteWriter) writer = picture (3);
    sl_tflite_writer_member (writer, "sightline.modelinfo", rows[i].text, -1, FALSE);
    expect_refused (writer, rows[i].code, rows[i].message, NULL);
  }
}

/* A metadata entry whose buffer does not exist. */
static void
test_missing_buffer (void)
{
  g_autoptr (FbWriter) fb = fb_writer_new ();
  g_autoptr (GError) error = NULL;
  FbNode *model = fb_table (fb), *subgraphs = fb_refs (fb), *subgraph = fb_table (fb),
         *tensors = fb_refs (fb), *entries = fb_refs (fb);
  FbNode *entry = fb_table (fb), *tensor = fb_table (fb), *buffers = fb_refs (fb);
  static const gint32 zero = 0;
  fb_push (tensors, tensor);
  fb_push (buffers, fb_table (fb));
  fb_ref (subgraph, TFL_SUBGRAPH_TENSORS, tensors);
  fb_ref (subgraph, TFL_SUBGRAPH_INPUTS, fb_vector (fb, &zero, 1, 4, 4, 0));
  fb_ref (subgraph, TFL_SUBGRAPH_OUTPUTS, fb_vector (fb, &zero, 1, 4, 4, 0));
  fb_push (subgraphs, subgraph);
  fb_ref (entry, TFL_METADATA_ENTRY_NAME, fb_string (fb, TFL_METADATA_NAME));
  fb_i32 (entry, TFL_METADATA_ENTRY_BUFFER, 5);
  fb_push (entries, entry);
  fb_i32 (model, TFL_MODEL_VERSION, TFL_VERSION);
  fb_ref (model, TFL_MODEL_SUBGRAPHS, subgraphs);
  fb_ref (model, TFL_MODEL_BUFFERS, buffers);
  fb_ref (model, TFL_MODEL_METADATA, entries);
  g_autoptr (GByteArray) bytes = fb_finish (fb, model, TFL_IDENTIFIER);
  g_autofree char *path =
    write_temp ("model.tflite", (const char *) bytes->data, (gssize) bytes->len);
  g_assert_null (sl_model_load (path, NULL, &error));
  expect_error (&error, SL_ERROR_FORMAT, path, "metadata: buffer 5 does not exist; the file has 1",
                NULL);
  sl_tflite_remove_temp (path);
}

static SlTfliteWriter *
calibrated (guint8 transformation, gfloat default_score, const char *file)
{
  SlTfliteWriter *writer = picture (3);
  sl_tflite_writer_picture_metadata (writer, &(SlTfliteMetadata){ .n_mean = 1,
                                                                  .mean = { 0 },
                                                                  .std = { 1 },
                                                                  .calibrated = TRUE,
                                                                  .transformation = transformation,
                                                                  .default_score = default_score,
                                                                  .calibration_file = file });
  sl_tflite_writer_member (writer, "curves.txt", "1,2,3\n\n0.5,-1,0,0.25\n", -1, TRUE);
  return writer;
}

/* The unit and its file become the decoder's parameter. */
static void
test_calibration (void)
{
  static const char *const transformations[] = { "identity", "log", "inverse-logistic" };
  for (guint8 i = 0; i < 3; i++) {
    g_autoptr (SlTfliteWriter) writer = calibrated (i, -0.5f, "curves.txt");
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model = load_with_info (writer, NULL, NULL, &error);
    g_assert_no_error (error);
    g_autofree char *expected =
      g_strdup_printf ("%s,-0.5\n1,2,3\n\n0.5,-1,0,0.25\n", transformations[i]);
    g_assert_cmpstr (
      g_hash_table_lookup (sl_model_contract (model)->decoder_params, "score-calibration"), ==,
      expected);
  }
  const struct
  {
    guint8 transformation;
    gfloat default_score;
    const char *file, *text;
  } rows[] = {
    { 3, 0, "curves.txt",
      "the metadata calibrates scores with transformation 3, default score 0 and the file "
      "'curves.txt'; expected" },
    { 0, NAN, "curves.txt",
      "default score nan and the file 'curves.txt'; expected transformation 0..2, a finite score "
      "and a file in" },
    { 0, 0, "gone.txt",
      "the file 'gone.txt'; expected transformation 0..2, a finite score and a file in the archive "
      "behind the model" },
    { 0, 0, NULL, "the file ''; expected" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlTfliteWriter) writer =
      calibrated (rows[i].transformation, rows[i].default_score, rows[i].file);
    expect_refused (writer, SL_ERROR_FORMAT, rows[i].text, NULL);
  }
}

/* What is for people, in the file's words; none of it changes the contract. */
static void
test_statements (void)
{
  static const char *const expected[][2] = {
    { "producer", NULL },   { "name", "Named" },       { "description", "Described\x1b" },
    { "author", "Nobody" }, { "licence", "EUPL-1.2" },
  };
  g_autoptr (SlTfliteWriter) writer = picture (3);
  g_autoptr (GError) error = NULL;
  const char *name, *value = NULL;
  guint n = 0;
  sl_tflite_writer_picture_metadata (writer, &(SlTfliteMetadata){ .name = "Named",
                                                                  .description = "Described\x1b",
                                                                  .author = "Nobody",
                                                                  .licence = "EUPL-1.2" });
  g_autoptr (SlModel) model = load_with_info (writer, NULL, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; (name = sl_model_statement (model, i, &value)) != NULL; i++) {
    while (n < G_N_ELEMENTS (expected) && strcmp (name, expected[n][0]) != 0)
      n++;
    g_assert_cmpuint (n, <, G_N_ELEMENTS (expected));
    if (expected[n][1] != NULL)
      g_assert_cmpstr (value, ==, expected[n][1]);
  }
  g_assert_cmpuint (n, ==, G_N_ELEMENTS (expected) - 1);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tflite-metadata/complete", test_complete);
  g_test_add_func ("/tflite-metadata/wrong-normalisation", test_wrong_normalisation);
  g_test_add_func ("/tflite-metadata/ignored", test_ignored);
  g_test_add_func ("/tflite-metadata/damaged-buffer", test_damaged_buffer);
  g_test_add_func ("/tflite-metadata/missing-labels", test_missing_labels);
  g_test_add_func ("/tflite-metadata/bad-labels", test_bad_labels);
  g_test_add_func ("/tflite-metadata/damaged-archive", test_damaged_archive);
  g_test_add_func ("/tflite-metadata/ultralytics", test_ultralytics);
  g_test_add_func ("/tflite-metadata/both", test_both);
  g_test_add_func ("/tflite-metadata/info-inside", test_info_inside);
  g_test_add_func ("/tflite-metadata/bad-info-inside", test_bad_info_inside);
  g_test_add_func ("/tflite-metadata/missing-buffer", test_missing_buffer);
  g_test_add_func ("/tflite-metadata/calibration", test_calibration);
  g_test_add_func ("/tflite-metadata/statements", test_statements);
  return g_test_run ();
}
