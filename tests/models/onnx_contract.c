/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ONNX models and the files beside them say of pixels, sizes and names, and what becomes of it
 * in the contract. */
#include <string.h>

#include <glib/gstdio.h>

#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

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
  g_file_set_contents (home->path, g_bytes_get_data (bytes, NULL),
                       (gssize) g_bytes_get_size (bytes), &error);
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
    g_autofree char *above = g_build_filename (home->root, names[i], NULL),
                    *beside = g_build_filename (home->folder, names[i], NULL);
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

/* Files of image processors as they are written, and the numbers that their documentation makes of
 * them. */
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
    { "{\"do_normalize\": true, \"do_rescale\": true, \"do_resize\": true, \"image_mean\": [0.5, "
      "0.25, 0.1], \"image_std\": [0.5, 0.5, 1], \"image_processor_type\": \"ViTImageProcessor\", "
      "\"resample\": 2, \"rescale_factor\": 0.00392156862745098, \"size\": {\"height\": 32, "
      "\"width\": 48}}",
      { 127.5, 63.75, 25.5 },
      { 127.5, 127.5, 255 },
      SL_FIT_STRETCH,
      SL_COLOUR_RGB,
      32,
      48 },
    { "{\"feature_extractor_type\": \"X\", \"do_center_crop\": true, \"do_normalize\": false, "
      "\"image_mean\": [1, 2, 3], \"size\": 256, \"crop_size\": 64, \"do_flip_channel_order\": "
      "true}",
      { 0, 0, 0 },
      { 255, 255, 255 },
      SL_FIT_CROP,
      SL_COLOUR_BGR,
      64,
      64 },
    { "{\"do_rescale\": false, \"image_mean\": [120, 120, 120], \"image_std\": [60, 60, 60], "
      "\"size\": {\"shortest_edge\": 40}}",
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

/* What torchvision's Resize and CenterCrop are given by these files: the part of the resized
 * picture that is left. */
static void
test_crop_share (void)
{
  static const struct
  {
    const char *name, *text;
    SlFit fit;
    gdouble share;
  } rows[] = {
    { "preprocessor_config.json",
      "{\"image_processor_type\": \"MobileNetV2ImageProcessor\", \"do_center_crop\": true, "
      "\"size\": {\"shortest_edge\": 256}, \"crop_size\": {\"height\": 224, \"width\": 224}}",
      SL_FIT_CROP, 224.0 / 256 },
    { "preprocessor_config.json",
      "{\"image_processor_type\": \"CLIPImageProcessor\", \"do_center_crop\": true, \"size\": 224, "
      "\"crop_size\": 224}",
      SL_FIT_CROP, 1 },
    { "preprocessor_config.json",
      "{\"image_processor_type\": \"DeiTImageProcessor\", \"do_center_crop\": true, \"size\": "
      "{\"height\": 256, \"width\": 256}, \"crop_size\": {\"height\": 224, \"width\": 224}}",
      SL_FIT_STRETCH, 224.0 / 256 },
    { "preprocessor_config.json",
      "{\"crop_size\": 224, \"do_center_crop\": true, \"feature_extractor_type\": "
      "\"DeiTFeatureExtractor\", \"size\": 256}",
      SL_FIT_STRETCH, 224.0 / 256 },
    { "preprocessor_config.json",
      "{\"size\": 256, \"crop_size\": 224, \"do_center_crop\": true, \"feature_extractor_type\": "
      "\"BeitFeatureExtractor\"}",
      SL_FIT_STRETCH, 224.0 / 256 },
    { "preprocessor_config.json",
      "{\"size\": 224, \"crop_size\": 224, \"do_center_crop\": true, \"feature_extractor_type\": "
      "\"FlavaFeatureExtractor\"}",
      SL_FIT_STRETCH, 1 },
    { "preprocessor_config.json",
      "{\"do_normalize\": true, \"do_resize\": true, \"feature_extractor_type\": "
      "\"ViTFeatureExtractor\", \"size\": 224}",
      SL_FIT_STRETCH, 1 },
    { "preprocessor_config.json",
      "{\"do_center_crop\": true, \"do_resize\": true, \"feature_extractor_type\": "
      "\"LevitFeatureExtractor\", \"size\": 224}",
      SL_FIT_CROP, 224.0 / 256 },
    { "preprocessor_config.json",
      "{\"crop_size\": {\"height\": 224, \"width\": 224}, \"do_center_crop\": true, "
      "\"image_processor_type\": \"LevitImageProcessor\", \"size\": {\"shortest_edge\": 224}}",
      SL_FIT_CROP, 224.0 / 256 },
    { "preprocessor_config.json",
      "{\"do_center_crop\": true, \"crop_size\": 224, \"image_processor_type\": "
      "\"LevitImageProcessorFast\", \"size\": 240}",
      SL_FIT_CROP, 224.0 / 274 },
    { "preprocessor_config.json",
      "{\"image_processor_type\": \"ConvNextImageProcessor\", \"crop_pct\": 0.875, \"size\": "
      "{\"shortest_edge\": 224}}",
      SL_FIT_CROP, 224.0 / 256 },
    { "preprocessor_config.json",
      "{\"image_processor_type\": \"ConvNextImageProcessor\", \"crop_pct\": 0.875, \"size\": "
      "{\"shortest_edge\": 384}}",
      SL_FIT_STRETCH, 1 },
    { "preprocessor_config.json",
      "{\"image_processor_type\": \"PoolFormerImageProcessor\", \"do_center_crop\": true, "
      "\"crop_pct\": 0.9, \"size\": {\"shortest_edge\": 224}, \"crop_size\": {\"height\": 224, "
      "\"width\": 224}}",
      SL_FIT_CROP, 224.0 / 248 },
    { "preprocessor_config.json",
      "{\"image_processor_type\": \"X\", \"do_center_crop\": true, \"crop_pct\": null, \"size\": "
      "{\"shortest_edge\": 200}, \"crop_size\": 224}",
      SL_FIT_CROP, 1 },
    { "config.json",
      "{\"pretrained_cfg\": {\"input_size\": [3, 224, 224], \"crop_pct\": 0.95, \"crop_mode\": "
      "\"center\", \"mean\": [0.5, 0.5, 0.5], \"std\": [0.5, 0.5, 0.5]}}",
      SL_FIT_CROP, 224.0 / 235 },
    { "config.json",
      "{\"pretrained_cfg\": {\"input_size\": [3, 224, 224], \"crop_pct\": 0.95, \"crop_mode\": "
      "\"squash\", \"mean\": [0.5, 0.5, 0.5], \"std\": [0.5, 0.5, 0.5]}}",
      SL_FIT_STRETCH, 224.0 / 235 },
    { "config.json",
      "{\"pretrained_cfg\": {\"input_size\": [3, 224, 224], \"crop_pct\": 1.0,"
      " \"mean\": [0.5, 0.5, 0.5], \"std\": [0.5, 0.5, 0.5]}}",
      SL_FIT_CROP, 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlOnnxWriter) writer = picture (0, 0);
    g_autoptr (GError) error = NULL;
    Home home;
    home_new (&home, writer);
    home_put (&home, FALSE, rows[i].name, rows[i].text);
    g_autoptr (SlModel) model = sl_model_load (home.path, NULL, &error);
    g_assert_no_error (error);
    const SlImageContract *image = &sl_model_contract (model)->image;
    g_assert_cmpint (image->fit, ==, rows[i].fit);
    g_assert_cmpfloat (image->crop_share, ==, rows[i].share);
    g_assert_cmpint (image->width, ==, strstr (rows[i].text, "384") != NULL ? 384 : 224);
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
    { "[]", SL_ERROR_FORMAT,
      "preprocessor_config.json is no JSON object of a preprocessor or configuration: unexpected "
      "text at byte 0" },
    { "", SL_ERROR_FORMAT, "unexpected text at byte 0" },
    { "{\"image_mean\": [0.5", SL_ERROR_FORMAT, "unexpected text at byte 19" },
    { "{\"image_mean\": [1,2,3,4]}", SL_ERROR_FORMAT, "unexpected text" },
    { "{\"image_mean\": [0.5, 0.5, 0.5], \"image_std\": [0, 1, 1]}", SL_ERROR_CONTRACT,
      "image_std and rescale_factor above 0" },
    { "{\"image_mean\": [0.5, 0.5, 0.5], \"image_std\": [1, 1]}", SL_ERROR_CONTRACT,
      "expected 1 or 3 finite numbers" },
    { "{\"image_mean\": 0.5, \"image_std\": 0.5, \"rescale_factor\": 0}", SL_ERROR_CONTRACT,
      "rescale_factor above 0" },
    { "{\"image_mean\": 1e300, \"image_std\": 1, \"rescale_factor\": 1e-300}", SL_ERROR_CONTRACT,
      "image_mean, image_std and rescale_factor give no pixel values" },
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
  home_put (
    &home, TRUE, names[1],
    "{\"hidden_act\": \"relu\", \"id2label\": {\"1\": \"dog\", \"0\": \"c\\u00e4t\\nand more\"}, "
    "\"x\": [[]]}");
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
  expect_error (&error, SL_ERROR_SHAPE, "input 'x' is float32[1,3,d,d]: its size is not fixed",
                "input-shape=1,3,224,224", NULL);
  home_put (
    &home, FALSE, names[0],
    "{\"image_mean\": [0, 0, 0], \"image_std\": [1, 1, 1], \"size\": {\"height\": 32, \"width\": "
    "48}}");
  g_autoptr (SlModel) model = sl_model_load_with (
    home.path, NULL, &(SlModelLoadOptions){ .input_shape = "1,3,16,24" }, &error);
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
    { { "Image.BitmapPixelFormat", "Rgb8", "Image.NominalPixelRange", "Normalized_0_1" },
      0,
      255,
      SL_COLOUR_RGB,
      SL_FIT_STRETCH,
      NULL,
      0 },
    { { "Image.NominalPixelRange", "Normalized_1_1" },
      127.5,
      127.5,
      SL_COLOUR_RGB,
      SL_FIT_STRETCH,
      NULL,
      0 },
    { { "task", "detect", "names", "{0: 'person', 1: 'bus'}", "stride", "32", "imgsz", "[8, 8]" },
      0,
      255,
      SL_COLOUR_RGB,
      SL_FIT_LETTERBOX,
      "yolo",
      2 },
    /* YOLOv5 says no task. */
    { { "names", "{0: 'cat', 1: 'dog'}", "stride", "32" },
      0,
      255,
      SL_COLOUR_RGB,
      SL_FIT_LETTERBOX,
      NULL,
      2 },
    { { "names", "['cat', 'dog', 'cow']", "stride", "32" },
      0,
      255,
      SL_COLOUR_RGB,
      SL_FIT_LETTERBOX,
      NULL,
      3 },
    /* RT-DETR is trained on stretched pictures; older versions tell it by their description alone.
     */
    { { "task", "detect", "names", "{0: 'cat'}", "head", "RTDETRDecoder" },
      0,
      255,
      SL_COLOUR_RGB,
      SL_FIT_STRETCH,
      "yolo",
      1 },
    { { "task", "detect", "names", "{0: 'cat'}", "description",
        "Ultralytics rtdetr-l model trained on my.yaml" },
      0,
      255,
      SL_COLOUR_RGB,
      SL_FIT_STRETCH,
      "yolo",
      1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlOnnxWriter) writer = picture (8, 8);
    g_autoptr (GError) error = NULL;
    Home home;
    for (guint k = 0; k + 1 < G_N_ELEMENTS (rows[i].properties) && rows[i].properties[k] != NULL;
         k += 2)
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
    g_assert_cmpuint (contract->labels != NULL ? sl_labels_count (contract->labels) : 0, ==,
                      rows[i].n_labels);
    home_clear (&home);
  }
}

/* YOLOv5's exports of classifiers have the same two properties; their pixels are others. */
static void
test_classifier_of_yolov5 (void)
{
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  g_autoptr (GError) error = NULL;
  Home home;
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 3, 8, 8 });
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
  sl_onnx_writer_node (writer, "GlobalAveragePool", "x", "p", NULL);
  sl_onnx_writer_node (writer, "Flatten", "p", "y", NULL);
  sl_onnx_writer_property (writer, "names", "{0: 'a', 1: 'b', 2: 'c'}");
  sl_onnx_writer_property (writer, "stride", "32");
  home_new (&home, writer);
  g_autoptr (SlModel) model = sl_model_load (home.path, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (sl_model_contract (model)->image.range_known);
  g_assert_cmpint (sl_model_contract (model)->image.fit, ==, SL_FIT_STRETCH);
  g_assert_cmpuint (sl_labels_count (sl_model_contract (model)->labels), ==, 3);
  home_clear (&home);
}

/* What an output with the denotation IMAGE gets from the properties of pictures. */
static void
test_output_pictures (void)
{
  static const struct
  {
    const char *format, *range, *colour, *numbers;
    gdouble mean, std;
  } rows[] = {
    { "Bgr8", "NominalRange_0_255", "BGR", "0,255", 0, 1 },
    { "Rgb8", "Normalized_0_1", "RGB", "0,1", 0, 255 },
    { "Bgr8", "Normalized_1_1", "BGR", "-1,1", 127.5, 127.5 },
    { "Rgb8", "NominalRange_16_235", "RGB", "16,235", -16 * 255.0 / 219, 255.0 / 219 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (gint denoted = 0; denoted < 2; denoted++) {
      g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
      g_autoptr (GError) error = NULL;
      Home home;
      sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 3, 8, 8 });
      if (denoted)
        sl_onnx_writer_picture_output (writer, "y", SL_ONNX_FLOAT);
      else
        sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
      sl_onnx_writer_node (writer, "Relu", "x", "y", NULL);
      sl_onnx_writer_property (writer, "Image.BitmapPixelFormat", rows[i].format);
      sl_onnx_writer_property (writer, "Image.NominalPixelRange", rows[i].range);
      home_new (&home, writer);
      g_autoptr (SlModel) model = sl_model_load (home.path, NULL, &error);
      g_assert_no_error (error);
      const SlContract *contract = sl_model_contract (model);
      g_assert_cmpfloat_with_epsilon (contract->image.mean[0], rows[i].mean, 1e-9);
      g_assert_cmpfloat_with_epsilon (contract->image.std[0], rows[i].std, 1e-9);
      g_assert_cmpstr (contract->decoder, ==, denoted ? "image" : NULL);
      g_assert_cmpint (contract->decoder_params != NULL, ==, denoted);
      if (denoted) {
        g_assert_cmpstr (g_hash_table_lookup (contract->decoder_params, "colour"), ==,
                         rows[i].colour);
        g_assert_cmpstr (g_hash_table_lookup (contract->decoder_params, "range"), ==,
                         rows[i].numbers);
      }
      home_clear (&home);
    }
}

/* timm's config.json has all in one. */
static void
test_timm (void)
{
  g_autoptr (SlOnnxWriter) writer = picture (0, 0);
  g_autoptr (GError) error = NULL;
  Home home;
  home_new (&home, writer);
  home_put (
    &home, FALSE, names[1],
    "{\"architecture\": \"resnet18\", \"num_classes\": 2, \"label_names\": [\"cat\", \"dog\"], "
    "\"pretrained_cfg\": {\"tag\": \"a1\", \"input_size\": [3, 24, 32], \"interpolation\": "
    "\"bicubic\", \"crop_pct\": 0.95, \"crop_mode\": \"center\", \"mean\": [0.485, 0.456, 0.406], "
    "\"std\": [0.229, 0.224, 0.225], \"fixed\": {\"a\": [1]}}}");
  g_autoptr (SlModel) model = sl_model_load (home.path, NULL, &error);
  g_assert_no_error (error);
  const SlContract *contract = sl_model_contract (model);
  g_assert_cmpint (contract->image.width, ==, 32);
  g_assert_cmpint (contract->image.height, ==, 24);
  g_assert_cmpint (contract->image.fit, ==, SL_FIT_CROP);
  g_assert_cmpfloat_with_epsilon (contract->image.mean[0], 0.485 * 255, 1e-9);
  g_assert_cmpfloat_with_epsilon (contract->image.std[2], 0.225 * 255, 1e-9);
  g_assert_cmpstr (sl_labels_get (contract->labels, 1), ==, "dog");
  home_clear (&home);
  home_new (&home, writer);
  home_put (
    &home, FALSE, names[1],
    "{\"pretrained_cfg\": {\"input_size\": [3, 8, 8], \"mean\": [0, 0, 0], \"std\": [1, 0, 1]}}");
  g_assert_null (sl_model_load (home.path, NULL, &error));
  expect_error (
    &error, SL_ERROR_CONTRACT,
    "config.json: mean and std give no pixel values; expected 1 or 3 finite numbers, those of std "
    "above 0",
    NULL);
  home_clear (&home);
}

/* float16 pixels are written as such. */
static void
test_float16 (void)
{
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  g_autoptr (GError) error = NULL;
  Home home;
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT16, 4, (const gint64[]){ 1, 3, 8, 8 });
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT16);
  sl_onnx_writer_node (writer, "Relu", "x", "y", NULL);
  home_new (&home, writer);
  const SlModelSettings overrides = { .mean = "127.5", .std = "127.5" };
  g_autoptr (SlModel) model = sl_model_load (home.path, &overrides, &error);
  g_assert_no_error (error);
  const SlContract *contract = sl_model_contract (model);
  g_assert_true (contract->image.valid && contract->image.range_known);
  g_assert_cmpint (contract->inputs[0].dtype, ==, SL_DTYPE_F16);
  g_assert_cmpfloat_with_epsilon (contract->image.gain[0], 1 / 127.5, 1e-12);
  g_autoptr (SlModel) unknown = sl_model_load (home.path, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (sl_model_contract (unknown)->image.range_known);
  home_clear (&home);
}

/* A model that begins with a normalisation: its numbers tell which pixels it takes, unless somebody
 * states something else. */
static void
test_own_normalisation (void)
{
  static const struct
  {
    gfloat means[3], deviations[3];
    const char *op, *std;
    gdouble expected; /* 0 = unknown */
  } rows[] = {
    { { 0.485f, 0.456f, 0.406f }, { 0.229f, 0.224f, 0.225f }, "Div", NULL, 255 },
    { { 0.5f, 0.5f, 0.5f }, { 2, 2, 2 }, "Mul", NULL, 255 },
    { { 123.675f, 116.28f, 103.53f }, { 58.395f, 57.12f, 57.375f }, "Div", NULL, 1 },
    { { 0.485f, 0.456f, 0.406f }, { 0.229f, 0.224f, 0.225f }, "Div", "127.5", 127.5 },
    { { 0.485f, 0.456f, 0.406f }, { 58, 58, 58 }, "Div", NULL, 0 },
    { { 0, 0, 0 }, { 0.229f, 0.224f, 0.225f }, "Div", NULL, 0 },
    { { 0.485f, 0.456f, 0.406f }, { 0.229f, 0.224f, 0.225f }, "Add", NULL, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
    g_autoptr (GError) error = NULL;
    Home home;
    const gint64 dims[] = { 1, 3, 1, 1 };
    sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 3, 8, 8 });
    sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
    sl_onnx_writer_floats (writer, "mean", 4, dims, rows[i].means);
    sl_onnx_writer_floats (writer, "deviation", 4, dims, rows[i].deviations);
    sl_onnx_writer_node (writer, "Sub", "x,mean", "b", NULL);
    sl_onnx_writer_node (writer, rows[i].op, "b,deviation", "z", NULL);
    sl_onnx_writer_node (writer, "Relu", "z", "y", NULL);
    home_new (&home, writer);
    const SlModelSettings overrides = { .mean = "0", .std = rows[i].std };
    g_autoptr (SlModel) model =
      sl_model_load (home.path, rows[i].std != NULL ? &overrides : NULL, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    g_assert_cmpint (contract->image.range_known, ==, rows[i].expected > 0);
    g_assert_cmpint (contract->range_by_model, ==, rows[i].expected > 0 && rows[i].std == NULL);
    if (rows[i].expected > 0)
      g_assert_cmpfloat (contract->image.std[0], ==, rows[i].expected);
    home_clear (&home);
  }
}

/* The same where the factor comes first, as in x / 127.5 - 1, and behind a channel that is stated.
 */
static void
test_own_scale_and_shift (void)
{
  static const struct
  {
    gfloat factor, shift;
    gdouble expected; /* 0 = unknown */
  } rows[] = { { 1 / 127.5f, 1, 1 }, { 2, 1, 255 }, { 1 / 127.5f, 40, 0 }, { 30, 1, 0 } };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    const gboolean alpha = i % 2 == 1;
    g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
    g_autoptr (GError) error = NULL;
    Home home;
    sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4,
                          (const gint64[]){ 1, 8, 8, alpha ? 4 : 3 });
    sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
    sl_onnx_writer_floats (writer, "factor", 1, (const gint64[]){ 1 }, &rows[i / 2].factor);
    sl_onnx_writer_floats (writer, "shift", 1, (const gint64[]){ 1 }, &rows[i / 2].shift);
    sl_onnx_writer_node (writer, "Mul", "x,factor", "b", NULL);
    sl_onnx_writer_node (writer, "Sub", "b,shift", "z", NULL);
    sl_onnx_writer_node (writer, "Relu", "z", "y", NULL);
    home_new (&home, writer);
    const SlModelLoadOptions how = { .fixed_inputs = alpha ? "0[3]=1" : NULL };
    g_autoptr (SlModel) model = sl_model_load_with (home.path, NULL, &how, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    g_assert_true (contract->image.valid);
    g_assert_cmpint (contract->range_by_model, ==, rows[i / 2].expected > 0);
    if (rows[i / 2].expected > 0)
      g_assert_cmpfloat (contract->image.std[0], ==, rows[i / 2].expected);
    home_clear (&home);
  }
}

/* A model that scales its pixels itself, as Keras' Rescaling does, and a user who scales them too.
 */
static void
test_scaled_twice (void)
{
  static const struct
  {
    const char *op;
    gfloat number;
    const char *before, *std, *said;
  } rows[] = {
    { "Mul", 1 / 255.0f, NULL, "255",
      "multiplies its pixels by 0.003922 (1/255), and they are divided by 255 before: state mean=0 "
      "and std=1" },
    { "Div", 127.5f, NULL, "127.5",
      "multiplies its pixels by 0.007843 (1/127.5), and they are divided by 127.5 before" },
    { "Div", 255, "Sub", "58.4", "(1/255), and they are divided by 58.4 before" },
    { "Mul", 1 / 255.0f, NULL, "1", NULL },
    { "Mul", 2, NULL, "255", NULL },
    { "Add", 0.5f, NULL, "255", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
    g_autoptr (GError) error = NULL;
    Home home;
    sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 3, 8, 8 });
    sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
    sl_onnx_writer_floats (writer, "number", 1, (const gint64[]){ 1 }, &rows[i].number);
    sl_onnx_writer_floats (writer, "mean", 1, (const gint64[]){ 1 }, &rows[i].number);
    if (rows[i].before != NULL)
      sl_onnx_writer_node (writer, rows[i].before, "x,mean", "b", NULL);
    sl_onnx_writer_node (writer, rows[i].op, rows[i].before != NULL ? "b,number" : "x,number", "z",
                         NULL);
    sl_onnx_writer_node (writer, "Relu", "z", "y", NULL);
    home_new (&home, writer);
    const SlModelSettings overrides = { .mean = "0", .std = rows[i].std };
    g_autoptr (SlModel) model = sl_model_load (home.path, &overrides, &error);
    g_assert_no_error (error);
    g_assert_cmpint (sl_model_notice (model) != NULL, ==, rows[i].said != NULL);
    if (rows[i].said != NULL && strstr (sl_model_notice (model), rows[i].said) == NULL)
      g_error ("'%s' is not in '%s'", rows[i].said, sl_model_notice (model));
    g_autoptr (SlModel) unstated = sl_model_load (home.path, NULL, &error);
    g_assert_no_error (error);
    g_assert_false (sl_contract_require_range (sl_model_contract (unstated), &error));
    g_assert_cmpint (strstr (error->message, "so they are probably 0..255: mean=0 and std=1")
                       != NULL,
                     ==, rows[i].number != 2 && i != 5);
    home_clear (&home);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx-contract/preprocessor", test_preprocessor);
  g_test_add_func ("/onnx-contract/crop_share", test_crop_share);
  g_test_add_func ("/onnx-contract/preprocessor-errors", test_preprocessor_errors);
  g_test_add_func ("/onnx-contract/labels", test_labels);
  g_test_add_func ("/onnx-contract/size", test_size);
  g_test_add_func ("/onnx-contract/properties", test_properties);
  g_test_add_func ("/onnx-contract/classifier-of-yolov5", test_classifier_of_yolov5);
  g_test_add_func ("/onnx-contract/output-pictures", test_output_pictures);
  g_test_add_func ("/onnx-contract/timm", test_timm);
  g_test_add_func ("/onnx-contract/float16", test_float16);
  g_test_add_func ("/onnx-contract/own-normalisation", test_own_normalisation);
  g_test_add_func ("/onnx-contract/own-normalisation_scaled", test_own_scale_and_shift);
  g_test_add_func ("/onnx-contract/scaled-twice", test_scaled_twice);
  return g_test_run ();
}
