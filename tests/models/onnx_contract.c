/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ONNX models and the files beside them say of pixels, sizes and names, and what becomes of it in the contract. */
#include <string.h>

#include <glib/gstdio.h>

#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"

/** A model in a folder "onnx", and what stands beside or above it. */
typedef struct
{
  char *root, *folder, *path;
} Home;

static const char *const names[] = { "preprocessor_config.json", "config.json" };

/* x float32[1,3,height,width] -> Relu -> y; 0 = open. */
static SlOnnxWriter *
picture (gint64 height, gint64 width)
{
  SlOnnxWriter *writer = sl_onnx_writer_new (13);
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 3, height, width });
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
  sl_onnx_writer_node (writer, "Relu", "x", "y", NULL);
  return writer;
}

static void
home_new (Home *home, const SlOnnxWriter *writer)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  home->root = g_dir_make_tmp ("sightline-XXXXXX", &error);
  g_assert_no_error (error);
  home->folder = g_build_filename (home->root, "onnx", NULL);
  home->path = g_build_filename (home->folder, "model.onnx", NULL);
  g_mkdir (home->folder, 0700);
  g_file_set_contents (home->path, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), &error);
  g_assert_no_error (error);
}

static void
home_put (const Home *home, gboolean above, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (above ? home->root : home->folder, name, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
home_clear (Home *home)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *above = g_build_filename (home->root, names[i], NULL), *beside = g_build_filename (home->folder, names[i], NULL);
    g_unlink (above);
    g_unlink (beside);
  }
  g_unlink (home->path);
  g_rmdir (home->folder);
  g_rmdir (home->root);
  g_free (home->path);
  g_free (home->folder);
  g_free (home->root);
}

/* Files of image processors as they are written, and the numbers that their documentation makes of them. */
static void
test_preprocessor (void)
{
  static const struct
  {
    const char *text;
    gdouble mean[3], std[3];
    SlFit fit;
    SlColour colour;
    gint32 height, width;
  } rows[] = {
    { "{\"do_normalize\": true, \"do_rescale\": true, \"do_resize\": true, \"image_mean\": [0.5, 0.25, 0.1], \"image_std\": [0.5, 0.5, 1],"
      " \"image_processor_type\": \"ViTImageProcessor\", \"resample\": 2, \"rescale_factor\": 0.00392156862745098,"
      " \"size\": {\"height\": 32, \"width\": 48}}",
      { 127.5, 63.75, 25.5 },
      { 127.5, 127.5, 255 },
      SL_FIT_STRETCH,
      SL_COLOUR_RGB,
      32,
      48 },
    { "{\"feature_extractor_type\": \"X\", \"do_center_crop\": true, \"do_normalize\": false, \"image_mean\": [1, 2, 3], \"size\": 256,"
      " \"crop_size\": 64, \"do_flip_channel_order\": true}",
      { 0, 0, 0 },
      { 255, 255, 255 },
      SL_FIT_CROP,
      SL_COLOUR_BGR,
      64,
      64 },
    { "{\"do_rescale\": false, \"image_mean\": [120, 120, 120], \"image_std\": [60, 60, 60], \"size\": {\"shortest_edge\": 40}}",
      { 120, 120, 120 },
      { 60, 60, 60 },
      SL_FIT_STRETCH,
      SL_COLOUR_RGB,
      40,
      40 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlOnnxWriter) writer = picture (0, 0);
    g_autoptr (GError) error = NULL;
    Home home;
    home_new (&home, writer);
    home_put (&home, i == 1, names[0], rows[i].text);
    g_autoptr (SlModel) model = sl_model_load (home.path, NULL, &error);
    g_assert_no_error (error);
    const SlImageContract *image = &sl_model_contract (model)->image;
    g_assert_true (image->valid && image->range_known);
    for (guint c = 0; c < 3; c++) {
      g_assert_cmpfloat_with_epsilon (image->mean[c], rows[i].mean[c], 1e-9);
      g_assert_cmpfloat_with_epsilon (image->std[c], rows[i].std[c], 1e-9);
    }
    g_assert_cmpint (image->fit, ==, rows[i].fit);
    g_assert_cmpint (image->colour, ==, rows[i].colour);
    g_assert_cmpint (image->height, ==, rows[i].height);
    g_assert_cmpint (image->width, ==, rows[i].width);
    home_clear (&home);
  }
}

/* A file that is no image processor's changes nothing; one that says what cannot be is named. */
static void
test_preprocessor_errors (void)
{
  static const struct
  {
    const char *text;
    gint code;
    const char *says;
  } rows[] = {
    { "{\"some\": [1, {\"other\": null}]}", -1, NULL },
    { "[]", SL_ERROR_FORMAT, "preprocessor_config.json is no JSON object of a preprocessor or configuration: unexpected text at byte 0" },
    { "", SL_ERROR_FORMAT, "unexpected text at byte 0" },
    { "{\"image_mean\": [0.5", SL_ERROR_FORMAT, "unexpected text at byte 19" },
    { "{\"image_mean\": [1,2,3,4]}", SL_ERROR_FORMAT, "unexpected text" },
    { "{\"image_mean\": [0.5, 0.5, 0.5], \"image_std\": [0, 1, 1]}", SL_ERROR_CONTRACT, "image_std and rescale_factor above 0" },
    { "{\"image_mean\": [0.5, 0.5, 0.5], \"image_std\": [1, 1]}", SL_ERROR_CONTRACT, "expected 1 or 3 finite numbers" },
    { "{\"image_mean\": 0.5, \"image_std\": 0.5, \"rescale_factor\": 0}", SL_ERROR_CONTRACT, "rescale_factor above 0" },
    { "{\"image_mean\": 1e300, \"image_std\": 1, \"rescale_factor\": 1e-300}", SL_ERROR_CONTRACT, "give no pixel values" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlOnnxWriter) writer = picture (8, 8);
    g_autoptr (GError) error = NULL;
    Home home;
    home_new (&home, writer);
    home_put (&home, FALSE, names[0], rows[i].text);
    g_autoptr (SlModel) model = sl_model_load (home.path, NULL, &error);
    if (rows[i].says != NULL) {
      g_assert_null (model);
      expect_error (&error, (SlError) rows[i].code, home.path, rows[i].says, NULL);
    } else {
      g_assert_no_error (error);
      g_assert_false (sl_model_contract (model)->image.range_known);
    }
    home_clear (&home);
  }
}

static void
test_labels (void)
{
  g_autoptr (SlOnnxWriter) writer = picture (8, 8);
  g_autoptr (GError) error = NULL;
  Home home;
  home_new (&home, writer);
  home_put (&home, TRUE, names[1],
            "{\"hidden_act\": \"relu\", \"id2label\": {\"1\": \"dog\", \"0\": \"c\\u00e4t\\nand more\"}, \"x\": [[]]}");
  g_autoptr (SlModel) model = sl_model_load (home.path, NULL, &error);
  g_assert_no_error (error);
  const SlLabels *labels = sl_model_contract (model)->labels;
  g_assert_cmpuint (sl_labels_count (labels), ==, 2);
  g_assert_cmpstr (sl_labels_get (labels, 0), ==, "c\303\244t and more");
  g_assert_cmpstr (sl_labels_get (labels, 1), ==, "dog");
  home_clear (&home);
  /* Another program's file of that name. */
  home_new (&home, writer);
  home_put (&home, FALSE, names[1], "// settings\n{ \"id2label\": 3 }");
  g_autoptr (SlModel) other = sl_model_load (home.path, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (sl_model_contract (other)->labels);
  home_clear (&home);
}

/* A stated shape wins over files. */
static void
test_size (void)
{
  g_autoptr (SlOnnxWriter) writer = picture (0, 0);
  g_autoptr (GError) error = NULL;
  Home home;
  home_new (&home, writer);
  g_assert_null (sl_model_load (home.path, NULL, &error));
  expect_error (&error, SL_ERROR_SHAPE, "input 'x' is float32[1,3,d,d]: its size is not fixed", "input-shape=1,3,224,224", NULL);
  home_put (&home, FALSE, names[0], "{\"image_mean\": [0, 0, 0], \"image_std\": [1, 1, 1], \"size\": {\"height\": 32, \"width\": 48}}");
  g_autoptr (SlModel) model = sl_model_load_with (home.path, NULL, &(SlModelLoadOptions){ .input_shape = "1,3,16,24" }, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sl_model_contract (model)->image.width, ==, 24);
  home_clear (&home);
}

/* Properties that ONNX's specification names, and Ultralytics'. */
static void
test_properties (void)
{
  static const struct
  {
    const char *properties[8];
    gdouble mean, std;
    SlColour colour;
    SlFit fit;
    const char *decoder;
    guint n_labels;
  } rows[] = {
    { { "Image.BitmapPixelFormat", "Bgr8", "Image.NominalPixelRange", "NominalRange_0_255" },
      0,
      1,
      SL_COLOUR_BGR,
      SL_FIT_STRETCH,
      NULL,
      0 },
    { { "Image.BitmapPixelFormat", "Rgb8", "Image.NominalPixelRange", "Normalized_0_1" }, 0, 255, SL_COLOUR_RGB, SL_FIT_STRETCH, NULL, 0 },
    { { "Image.NominalPixelRange", "Normalized_1_1" }, 127.5, 127.5, SL_COLOUR_RGB, SL_FIT_STRETCH, NULL, 0 },
    { { "task", "detect", "names", "{0: 'person', 1: 'bus'}", "stride", "32", "imgsz", "[8, 8]" },
      0,
      255,
      SL_COLOUR_RGB,
      SL_FIT_LETTERBOX,
      "yolo",
      2 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlOnnxWriter) writer = picture (8, 8);
    g_autoptr (GError) error = NULL;
    Home home;
    for (guint k = 0; k + 1 < G_N_ELEMENTS (rows[i].properties) && rows[i].properties[k] != NULL; k += 2)
      sl_onnx_writer_property (writer, rows[i].properties[k], rows[i].properties[k + 1]);
    home_new (&home, writer);
    g_autoptr (SlModel) model = sl_model_load (home.path, NULL, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    g_assert_true (contract->image.range_known);
    g_assert_cmpfloat_with_epsilon (contract->image.mean[0], rows[i].mean, 1e-9);
    g_assert_cmpfloat_with_epsilon (contract->image.std[2], rows[i].std, 1e-9);
    g_assert_cmpint (contract->image.colour, ==, rows[i].colour);
    g_assert_cmpint (contract->image.fit, ==, rows[i].fit);
    g_assert_cmpstr (contract->decoder, ==, rows[i].decoder);
    g_assert_cmpuint (contract->labels != NULL ? sl_labels_count (contract->labels) : 0, ==, rows[i].n_labels);
    home_clear (&home);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx-contract/preprocessor", test_preprocessor);
  g_test_add_func ("/onnx-contract/preprocessor-errors", test_preprocessor_errors);
  g_test_add_func ("/onnx-contract/labels", test_labels);
  g_test_add_func ("/onnx-contract/size", test_size);
  g_test_add_func ("/onnx-contract/properties", test_properties);
  return g_test_run ();
}
