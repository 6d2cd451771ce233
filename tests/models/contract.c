/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contracts: what follows from a model's input, what metadata, key file and properties add, in
 * which order, and every contradiction between them. Expected numbers are worked out here from real
 * = scale * (code - zero point) and real = (byte - mean) / std.
 */
#include "models/contract.h"

#include <math.h>
#include <string.h>

#include "core/base/picture.h"
#include "tests/models/helpers.h"
#include "tests/models/tiny.h"
#include "tests/support/program.h"

#define HEADER "[modelinfo]\nversion=1.0\ngroup-id=test\n"

static const gint32 nhwc[] = { 1, 4, 6, 3 }, nchw[] = { 1, 3, 4, 6 }, gray[] = { 1, 4, 6, 1 };

static SlModel *
load (SlDtype dtype, const gint32 dims[4], gfloat scale, gint64 zero_point, const char *info,
      const SlModelSettings *overrides, GError **error)
{
  g_autoptr (SlTfliteWriter) writer = picture_model (dtype, 4, dims, scale, zero_point);
  return load_with_info (writer, info, overrides, error);
}

/* stored(byte) of channel @c as the contract says, against the definition. */
static void
expect_mapping (const SlImageContract *image, gint c, gdouble mean, gdouble std, gdouble scale,
                gdouble zero_point)
{
  for (gint byte = 0; byte <= 255; byte += 5) {
    const gdouble expected = (byte - mean) / std / scale + zero_point;
    g_assert_cmpfloat_with_epsilon (byte * image->gain[c] + image->offset[c], expected,
                                    1e-6 * (1 + fabs (expected)));
  }
}

static void
test_bytes (void)
{
  static const struct
  {
    SlDtype dtype;
    gfloat scale;
    gint64 zero_point;
    gint offset;
  } rows[] = { { SL_DTYPE_U8, 0.0078125f, 128, 0 },
               { SL_DTYPE_U8, 1 / 255.0f, 0, 0 },
               { SL_DTYPE_U8, 3.0f, 7, 0 },
               { SL_DTYPE_I8, 0.0078125f, 0, -128 },
               { SL_DTYPE_I8, 1 / 255.0f, -128, -128 },
               { SL_DTYPE_I8, 0.01f, 5, -128 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model =
      load (rows[i].dtype, nhwc, rows[i].scale, rows[i].zero_point, NULL, NULL, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    const SlImageContract *image = &contract->image;
    g_assert_true (image->valid);
    g_assert_true (image->range_known);
    g_assert_true (sl_contract_require_range (contract, &error));
    g_assert_cmpint (image->width, ==, 6);
    g_assert_cmpint (image->height, ==, 4);
    g_assert_cmpint (image->channels, ==, 3);
    g_assert_cmpint (image->layout, ==, SL_LAYOUT_NHWC);
    g_assert_cmpint (image->colour, ==, SL_COLOUR_RGB);
    g_assert_cmpint (image->fit, ==, SL_FIT_STRETCH);
    for (gint c = 0; c < 3; c++) {
      g_assert_cmpfloat (image->gain[c], ==, 1);
      g_assert_cmpfloat (image->offset[c], ==, rows[i].offset);
      expect_mapping (image, c, image->mean[c], image->std[c], (gdouble) rows[i].scale,
                      (gdouble) rows[i].zero_point);
    }
    g_assert_cmpstr (contract->inputs[0].name, ==, "image");
    g_assert_cmpint (contract->inputs[0].dtype, ==, rows[i].dtype);
    g_assert_cmpuint (contract->inputs[0].bytes, ==, 72);
    g_assert_cmpfloat (contract->inputs[0].scale, ==, rows[i].scale);
    g_assert_cmpint (contract->inputs[0].zero_point, ==, rows[i].zero_point);
    g_assert_cmpstr (contract->outputs[0].name, ==, "flat");
    g_assert_cmpint (contract->outputs[0].dims[1], ==, 72);
    g_assert_null (contract->decoder);
    g_assert_null (contract->labels);
  }
}

static void
test_float_without_range (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = load (SL_DTYPE_F32, nhwc, 0, 0, NULL, NULL, &error);
  g_assert_no_error (error);
  const SlContract *contract = sl_model_contract (model);
  g_assert_true (contract->image.valid);
  g_assert_false (contract->image.range_known);
  g_assert_false (sl_contract_require_range (contract, &error));
  expect_error (&error, SL_ERROR_CONTRACT, contract->model, "input 'image' is float32[1,4,6,3]",
                "give mean and std, as properties or options",
                "or write 'ranges=-1.0,1.0' or 'ranges=0.0,1.0' under [image] of ", ".modelinfo",
                NULL);
}

/* A row of vectors has the shape of a gray picture of rank 3. */
static void
test_vectors (void)
{
  static const gint32 shape[] = { 1, 10, 64 };
  const SlModelSettings settings = { .mean = "0", .std = "255" };
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlTfliteWriter) writer = picture_model (SL_DTYPE_F32, 3, shape, 0, 0);
    g_autoptr (SlModel) model = load_with_info (writer, NULL, i == 1 ? &settings : NULL, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    g_assert_cmpint (sl_contract_may_be_vectors (contract), ==, i == 0);
    g_assert_cmpint (sl_contract_require_range (contract, &error), ==, i == 1);
    if (i == 0)
      expect_error (
        &error, SL_ERROR_CONTRACT,
        "input 'image' is float32[1,10,64] and nothing states which values its pixels take; "
        "if it is no picture, run it with sightline infer; if it is, give mean and std",
        NULL);
  }
}

/* Each way of stating a float input's range, and the order in which they win. */
static void
test_range (void)
{
  static const struct
  {
    const char *info;
    SlModelSettings overrides;
    gdouble mean[3], std[3];
  } rows[] = {
    { HEADER "[image]\nranges=-1.0,1.0\n",
      { 0 },
      { 127.5, 127.5, 127.5 },
      { 127.5, 127.5, 127.5 } },
    { HEADER "[image]\nranges=0,1\n", { 0 }, { 0, 0, 0 }, { 255, 255, 255 } },
    { HEADER "[image]\nranges=0,255;-128,127;255,0\n", { 0 }, { 0, 128, 255 }, { 1, 1, -1 } },
    { HEADER "[sightline]\nmean=127\nstd=128\n", { 0 }, { 127, 127, 127 }, { 128, 128, 128 } },
    { HEADER "[image]\nmean=1, 2 ,3\n", { 0 }, { 1, 2, 3 }, { 1, 1, 1 } },
    { HEADER "[image]\nstd=255\n", { 0 }, { 0, 0, 0 }, { 255, 255, 255 } },
    { NULL,
      { .mean = "123.675,116.28,103.53", .std = "58.395,57.12,57.375" },
      { 123.675, 116.28, 103.53 },
      { 58.395, 57.12, 57.375 } },
    { NULL, { .std = "255" }, { 0, 0, 0 }, { 255, 255, 255 } },
    { HEADER "[sightline]\nmean=1\nstd=2\n", { .mean = "5" }, { 5, 5, 5 }, { 2, 2, 2 } },
    { HEADER "[image]\nranges=-1,1\n",
      { .mean = "0", .std = "255" },
      { 0, 0, 0 },
      { 255, 255, 255 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model =
      load (SL_DTYPE_F32, nhwc, 0, 0, rows[i].info, &rows[i].overrides, &error);
    g_assert_no_error (error);
    const SlImageContract *image = &sl_model_contract (model)->image;
    g_assert_true (image->range_known);
    for (gint c = 0; c < 3; c++) {
      g_assert_cmpfloat_with_epsilon (image->mean[c], rows[i].mean[c], 1e-9);
      g_assert_cmpfloat_with_epsilon (image->std[c], rows[i].std[c], 1e-9);
      expect_mapping (image, c, rows[i].mean[c], rows[i].std[c], 1, 0);
    }
  }
}

/* Mean and std of a quantised input fold into its scale; what comes within a code of the bytes
 * becomes the bytes. */
static void
test_quantised_range (void)
{
  static const struct
  {
    SlDtype dtype;
    gfloat scale;
    gint64 zero_point;
    const char *mean, *std;
    gboolean exact;
    gdouble m, s;
  } rows[] = {
    { SL_DTYPE_U8, 0.0078125f, 128, "127.5", "127.5", TRUE, 0, 0 },
    { SL_DTYPE_U8, 0.007843138f, 127, "127.5", "127.5", TRUE, 0, 0 },
    { SL_DTYPE_I8, 0.003921569f, -128, "0", "255", TRUE, 0, 0 },
    { SL_DTYPE_I8, 0.007843138f, -1, "127.5", "127.5", TRUE, 0, 0 },
    { SL_DTYPE_U8, 0.0078125f, 128, "0", "255", FALSE, 0, 255 },
    { SL_DTYPE_I8, 0.018658f, -14, "123.675", "58.395", FALSE, 123.675, 58.395 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    const SlModelSettings overrides = { .mean = rows[i].mean, .std = rows[i].std };
    g_autoptr (SlModel) model =
      load (rows[i].dtype, nhwc, rows[i].scale, rows[i].zero_point, NULL, &overrides, &error);
    g_assert_no_error (error);
    const SlImageContract *image = &sl_model_contract (model)->image;
    for (gint c = 0; c < 3; c++) {
      if (!rows[i].exact)
        expect_mapping (image, c, rows[i].m, rows[i].s, (gdouble) rows[i].scale,
                        (gdouble) rows[i].zero_point);
      else
        expect_mapping (image, c, 0, 1, 1, rows[i].dtype == SL_DTYPE_U8 ? 0 : -128);
    }
  }
}

/* ranges= of a quantised input are codes, as the tensor stores them. */
static void
test_quantised_codes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model =
    load (SL_DTYPE_U8, nhwc, 0.5f, 10, HEADER "[image]\nranges=16,235\n", NULL, &error);
  g_assert_no_error (error);
  const SlImageContract *image = &sl_model_contract (model)->image;
  g_assert_cmpfloat_with_epsilon (image->offset[0], 16, 1e-9);
  g_assert_cmpfloat_with_epsilon (255 * image->gain[0] + image->offset[0], 235, 1e-9);
}

static void
test_layout (void)
{
  static const struct
  {
    const gint32 *dims;
    SlModelSettings overrides;
    SlLayout layout;
    SlColour colour;
    gint channels;
  } rows[] = { { nhwc, { 0 }, SL_LAYOUT_NHWC, SL_COLOUR_RGB, 3 },
               { nchw, { 0 }, SL_LAYOUT_NCHW, SL_COLOUR_RGB, 3 },
               { nchw, { .layout = "nchw", .colour = "bgr" }, SL_LAYOUT_NCHW, SL_COLOUR_BGR, 3 },
               { gray, { 0 }, SL_LAYOUT_NHWC, SL_COLOUR_GRAY, 1 },
               { gray, { .colour = "GRAY" }, SL_LAYOUT_NHWC, SL_COLOUR_GRAY, 1 },
               { nhwc, { .colour = "BGR" }, SL_LAYOUT_NHWC, SL_COLOUR_BGR, 3 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model =
      load (SL_DTYPE_U8, rows[i].dims, 1, 0, NULL, &rows[i].overrides, &error);
    g_assert_no_error (error);
    const SlImageContract *image = &sl_model_contract (model)->image;
    g_assert_cmpint (image->layout, ==, rows[i].layout);
    g_assert_cmpint (image->colour, ==, rows[i].colour);
    g_assert_cmpint (image->channels, ==, rows[i].channels);
    g_assert_cmpint (image->width, ==, 6);
    g_assert_cmpint (image->height, ==, 4);
  }
}

/* Key file over metadata, properties over both. */
static void
test_layers (void)
{
  static const char info[] = HEADER
    "[sightline]\ncolour=BGR\nfit=letterbox\npad-value=7\ndecoder=ssd\ndecoder-scale=2\nmean=3\n"
    "std=2\n";
  const SlModelSettings overrides = {
    .fit = "crop", .decoder = "labels", .colour = "RGB", .pad_value = "0"
  };
  for (guint i = 0; i < 3; i++) {
    g_autoptr (SlTfliteWriter) writer = picture_model (SL_DTYPE_F32, 4, nhwc, 0, 0);
    g_autoptr (GError) error = NULL;
    sl_tflite_writer_picture_metadata (
      writer,
      &(SlTfliteMetadata){ .n_mean = 1, .mean = { 127.5f }, .std = { 127.5f }, .colour = 1 });
    g_autoptr (SlModel) model =
      load_with_info (writer, i >= 1 ? info : NULL, i >= 2 ? &overrides : NULL, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    const SlImageContract *image = &contract->image;
    g_assert_cmpfloat (image->mean[2], ==, i == 0 ? 127.5 : 3);
    g_assert_cmpfloat (image->std[2], ==, i == 0 ? 127.5 : 2);
    g_assert_cmpint (image->colour, ==, i == 1 ? SL_COLOUR_BGR : SL_COLOUR_RGB);
    g_assert_cmpint (image->fit, ==,
                     i == 0   ? SL_FIT_STRETCH
                     : i == 1 ? SL_FIT_LETTERBOX
                              : SL_FIT_CROP);
    g_assert_cmpint (image->pad_value, ==, i == 0 ? 114 : i == 1 ? 7 : 0);
    g_assert_cmpstr (contract->decoder, ==, i == 0 ? NULL : i == 1 ? "ssd" : "labels");
    if (i > 0)
      g_assert_cmpstr (g_hash_table_lookup (contract->decoder_params, "scale"), ==, "2");
  }
}

/* A layer that states the fit means its own share: without one, all of the part. */
static void
test_crop_share (void)
{
  static const struct
  {
    const char *info;
    SlModelSettings overrides;
    SlFit fit;
    gdouble share;
  } rows[] = {
    { NULL, { 0 }, SL_FIT_STRETCH, 1 },
    { "fit=crop\n", { 0 }, SL_FIT_CROP, 1 },
    { "fit=crop\ncrop-share=0.875\n", { 0 }, SL_FIT_CROP, 0.875 },
    { "fit=stretch\ncrop-share=0.9\n", { .crop_share = "0.5" }, SL_FIT_STRETCH, 0.5 },
    { "fit=crop\ncrop-share=0.875\n", { .fit = "crop" }, SL_FIT_CROP, 1 },
    { "fit=crop\ncrop-share=0.875\n", { .fit = "letterbox" }, SL_FIT_LETTERBOX, 1 },
    { "fit=letterbox\n", { .fit = "crop", .crop_share = "0.95" }, SL_FIT_CROP, 0.95 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlTfliteWriter) writer = picture_model (SL_DTYPE_U8, 4, nhwc, 0, 0);
    g_autoptr (GError) error = NULL;
    g_autofree char *info =
      rows[i].info != NULL ? g_strconcat (HEADER "[sightline]\n", rows[i].info, NULL) : NULL;
    g_autoptr (SlModel) model = load_with_info (writer, info, &rows[i].overrides, &error);
    g_assert_no_error (error);
    const SlImageContract *image = &sl_model_contract (model)->image;
    g_assert_cmpint (image->fit, ==, rows[i].fit);
    g_assert_cmpfloat (image->crop_share, ==, rows[i].share);
    g_autofree char *summary = sl_contract_summary (sl_model_contract (model));
    g_assert_true ((strstr (summary, "of the central 0.") != NULL) == (rows[i].share != 1));
  }
}

static void
test_decoder_by_graph (void)
{
  g_autoptr (SlTfliteWriter) writer = tiny_detector (2);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = load_with_info (writer, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_model_contract (model)->decoder, ==, "ssd");
  g_assert_cmpuint (sl_model_contract (model)->n_outputs, ==, 4);
  /* [1,3,4] is no picture of three rows, but coordinates. */
  g_assert_false (sl_model_contract (model)->image.valid);
}

/* Of rank 3 and one channel, what has sides of a picture is one; 146 points of two coordinates are
 * no picture. */
static void
test_rank_three (void)
{
  static const gint32 shapes[][3] = { { 1, 28, 28 }, { 1, 4, 5 }, { 1, 146, 2 }, { 1, 3, 68 } };
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlTfliteWriter) writer = picture_model (SL_DTYPE_U8, 3, shapes[i], 0, 0);
    g_autoptr (SlModel) model = load_with_info (writer, NULL, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpint (sl_model_contract (model)->image.valid, ==, i < 2);
  }
}

/* Malformed and contradictory statements: who said what, what is expected. */
static void
test_contradictions (void)
{
  static const struct
  {
    SlDtype dtype;
    const gint32 *dims;
    const char *info;
    SlModelSettings overrides;
    SlError code;
    const char *text, *more;
  } rows[] = {
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .mean = "1,2" },
      SL_ERROR_ARGUMENT,
      "property mean: expected 1 or 3 finite numbers",
      "got '1,2'" },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .mean = "nan" },
      SL_ERROR_ARGUMENT,
      "property mean: expected 1 or 3 finite",
      "got 'nan'" },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .mean = "1,2,3,4" },
      SL_ERROR_ARGUMENT,
      "property mean: expected",
      "got '1,2,3,4'" },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .std = "0" },
      SL_ERROR_ARGUMENT,
      "property std: expected 1 or 3 finite numbers above 0",
      "got '0'" },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .std = "-127.5" },
      SL_ERROR_ARGUMENT,
      "property std: expected 1 or 3 finite numbers above 0",
      "got '-127.5'" },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .std = "1,-1,1" },
      SL_ERROR_ARGUMENT,
      "property std: expected",
      "got '1,-1,1'" },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .std = "1,0,1" },
      SL_ERROR_ARGUMENT,
      "property std: expected",
      "got '1,0,1'" },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .std = "half" },
      SL_ERROR_ARGUMENT,
      "property std: expected",
      "got 'half'" },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .mean = "0.485,0.456,0.406", .std = "0.229,0.224,0.225" },
      SL_ERROR_CONTRACT,
      "mean 0.485 and std 0.229 look like numbers of pixels in 0..1, as PyTorch states them",
      "mean=123.675,116.28,103.53 and std=58.395,57.12,57.375" },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .mean = "0.5", .std = "0.5" },
      SL_ERROR_CONTRACT,
      "mean 0.5 and std 0.5 look like numbers of pixels in 0..1",
      "mean=127.5 and std=127.5" },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .std = "1e-320" },
      SL_ERROR_CONTRACT,
      "and std ",
      "give no finite value; expected moderate numbers" },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .colour = "YUV" },
      SL_ERROR_ARGUMENT,
      "property colour: expected RGB, BGR or GRAY, got 'YUV'",
      NULL },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .fit = "fill" },
      SL_ERROR_ARGUMENT,
      "property fit: expected stretch, letterbox or crop, got 'fill'",
      NULL },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .pad_value = "-2" },
      SL_ERROR_ARGUMENT,
      "property pad-value: expected a whole number 0..255",
      "got '-2'" },
    { SL_DTYPE_F32,
      nhwc,
      NULL,
      { .layout = "HWC" },
      SL_ERROR_ARGUMENT,
      "property layout: expected NHWC or NCHW, got 'HWC'",
      NULL },
    { SL_DTYPE_U8,
      nhwc,
      NULL,
      { .colour = "GRAY" },
      SL_ERROR_CONTRACT,
      "property colour=GRAY contradicts input 'image' uint8[1,4,6,3]",
      "which has 3 channels: expected colour=RGB or BGR" },
    { SL_DTYPE_U8,
      gray,
      NULL,
      { .colour = "BGR" },
      SL_ERROR_CONTRACT,
      "property colour=BGR contradicts input 'image' uint8[1,4,6,1]",
      "which has 1 channel: expected colour=GRAY" },
    { SL_DTYPE_U8,
      nhwc,
      NULL,
      { .layout = "NCHW" },
      SL_ERROR_CONTRACT,
      "property layout=NCHW contradicts input 'image' uint8[1,4,6,3]",
      "expected 1 or 3 channels in the first after the batch dimension" },
    { SL_DTYPE_U8,
      nchw,
      NULL,
      { .layout = "NHWC" },
      SL_ERROR_CONTRACT,
      "property layout=NHWC contradicts input 'image' uint8[1,3,4,6]",
      "in the last dimension" },
    { SL_DTYPE_F32,
      gray,
      NULL,
      { .mean = "1,2,3" },
      SL_ERROR_CONTRACT,
      "property mean: 3 values for a picture of 1 channel; expected 1",
      NULL },
    { SL_DTYPE_F32,
      gray,
      NULL,
      { .std = "1,2,3" },
      SL_ERROR_CONTRACT,
      "property std: 3 values for a picture of 1 channel; expected 1",
      NULL },
    { SL_DTYPE_F32,
      gray,
      HEADER "[image]\nranges=0,1;0,1;0,1\n",
      { 0 },
      SL_ERROR_CONTRACT,
      ".modelinfo ranges: 3 values",
      "a picture of 1 channel" },
    { SL_DTYPE_F32,
      nhwc,
      HEADER "[image]\nranges=0,1\nmean=4\n",
      { 0 },
      SL_ERROR_CONTRACT,
      "[image] ranges: mean or std is stated too; expected one of the two ways",
      ".modelinfo: " },
    { SL_DTYPE_F32,
      nhwc,
      HEADER "[sightline]\npad-value=256\n",
      { 0 },
      SL_ERROR_ARGUMENT,
      ".modelinfo pad-value: expected a whole number 0..255, got '256'",
      NULL },
    { SL_DTYPE_F32,
      nhwc,
      HEADER "[sightline]\nfit=squash\n",
      { 0 },
      SL_ERROR_ARGUMENT,
      ".modelinfo fit: expected stretch",
      "got 'squash'" },
    { SL_DTYPE_F32,
      nhwc,
      HEADER "[sightline]\nfit=crop\ncrop-share=1.5\n",
      { 0 },
      SL_ERROR_ARGUMENT,
      ".modelinfo crop-share: expected a number 0.01..1, such as 0.875 for 224 of 256 pixels, got "
      "'1.5'",
      NULL },
    { SL_DTYPE_F32,
      nhwc,
      HEADER "[sightline]\nfit=letterbox\ncrop-share=0.5\n",
      { 0 },
      SL_ERROR_ARGUMENT,
      ".modelinfo crop-share: expected fit=crop or fit=stretch beside it",
      "got '0.5'" },
    { SL_DTYPE_U8,
      nhwc,
      HEADER "[sightline]\ncolour=GRAY\n",
      { 0 },
      SL_ERROR_CONTRACT,
      ".modelinfo colour=GRAY contradicts input",
      NULL },
    { SL_DTYPE_F32,
      nhwc,
      HEADER "[image]\ndims=1,8,8,3\n",
      { 0 },
      SL_ERROR_CONTRACT,
      "[image] dims: it says float32[1,8,8,3]",
      "the model's tensor is float32[1,4,6,3]" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    const gfloat scale = rows[i].dtype == SL_DTYPE_F32 ? 0 : 1;
    g_assert_null (
      load (rows[i].dtype, rows[i].dims, scale, 0, rows[i].info, &rows[i].overrides, &error));
    expect_error (&error, rows[i].code, "model.tflite: ", rows[i].text, rows[i].more, NULL);
  }
}

/* Inputs that are no pictures load; only properties that speak of a picture contradict them. */
static void
test_no_picture (void)
{
  static const gint32 batch[] = { 2, 4, 4, 3 }, deep[] = { 1, 4, 4, 5 },
                      wide[] = { 1, 1, 40000, 3 };
  const gint32 *const shapes[] = { batch, deep, wide };
  const SlModelSettings overrides = { .mean = "0", .std = "255" };
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model =
      load (SL_DTYPE_F32, shapes[i], 0, 0, HEADER "[sightline]\nmean=4\n", NULL, &error);
    g_assert_no_error (error);
    g_assert_false (sl_model_contract (model)->image.valid);
    g_assert_true (sl_contract_require_range (sl_model_contract (model), &error));
    g_assert_null (load (SL_DTYPE_F32, shapes[i], 0, 0, NULL, &overrides, &error));
    expect_error (
      &error, SL_ERROR_CONTRACT, "properties describe a picture, but input 'image' is float32[",
      "expected uint8, int8, int32, int64, float32 or float16 with 1 or 3 channels and batch 1",
      NULL);
  }
}

/* What a message adds about an input of several pictures, and of four channels. */
static void
test_shape_hint (void)
{
  static const struct
  {
    const char *name;
    guint rank;
    gint32 dims[4];
    const char *hint;
  } rows[] = {
    { "x", 4, { 2, 8, 9, 3 }, "; the file takes 2 pictures at once: input-shape=1,8,9,3 runs it" },
    { "x", 4, { 4, 3, 8, 9 }, "; the file takes 4 pictures at once: input-shape=1,3,8,9 runs it" },
    { "x",
      4,
      { 1, 8, 9, 4 },
      "; fixed-inputs=0[3]=0 makes a constant of the last of 4 channels, such as a mask" },
    { "with_alpha:0",
      4,
      { 1, 8, 9, 4 },
      "; its name says that the last of 4 channels is alpha: fixed-inputs=0[3]=1" },
    { "x", 4, { 2, 8, 9, 5 }, "" },
    { "x", 2, { 2, 3 }, "" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlTensorInfo input = { .name = (char *) rows[i].name, .rank = rows[i].rank };
    memcpy (input.dims, rows[i].dims, sizeof rows[i].dims);
    g_autofree char *hint = sl_contract_shape_hint (&input);
    g_assert_true (g_str_has_prefix (hint, rows[i].hint));
    g_assert_true (rows[i].hint[0] != '\0' || hint[0] == '\0');
  }
}

/* A file of several pictures runs with one: its shapes of all of them become those of one. */
static void
test_file_batch (void)
{
  for (guint form = 0; form < 2; form++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
    const SlTfliteTensor picture = {
      .name = "image", .dtype = SL_DTYPE_F32, .rank = 4, .dims = { 2, 4, 4, 3 }
    };
    const SlTfliteTensor row = {
      .name = "row", .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 2, 48 }
    };
    const gint32 x = sl_tflite_writer_tensor (writer, &picture),
                 y = sl_tflite_writer_tensor (writer, &picture),
                 z = sl_tflite_writer_tensor (writer, &row);
    sl_tflite_writer_op (
      writer,
      &(SlTfliteOp){
        .op = SL_OP_NEG, .n_inputs = 1, .inputs = { x }, .n_outputs = 1, .outputs = { y } });
    sl_tflite_writer_op (
      writer, &(SlTfliteOp){ .op = SL_OP_RESHAPE,
                             .params.reshape = { .count = 2, .dims = { 2, form == 0 ? 48 : -1 } },
                             .n_inputs = 1,
                             .inputs = { y },
                             .n_outputs = 1,
                             .outputs = { z } });
    sl_tflite_writer_io (writer, 1, &x, 1, &z);
    g_autoptr (SlModel) model = load_with_info (
      writer, HEADER "[sightline]\ninput-shape=1,4,4,3\nmean=0\nstd=1\n", NULL, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    g_assert_true (contract->image.valid);
    g_assert_cmpuint (contract->outputs[0].rank, ==, 2);
    g_assert_cmpint (contract->outputs[0].dims[0], ==, 1);
    g_assert_cmpint (contract->outputs[0].dims[1], ==, 48);
  }
}

static void
test_summary (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer = tiny_classifier ();
  g_autoptr (SlModel) model = load_with_info (writer, NULL, NULL, &error);
  g_autoptr (SlModel) unknown =
    load (SL_DTYPE_F32, nchw, 0, 0, NULL, &(SlModelSettings){ .decoder = "labels" }, &error);
  g_assert_no_error (error);
  g_autofree char *a = sl_contract_summary (sl_model_contract (model)),
                  *b = sl_contract_summary (sl_model_contract (unknown));
  g_assert_cmpstr (a, ==, "uint8[1,6,6,3] RGB NHWC, decoder by shape, 4 labels");
  g_assert_cmpstr (b, ==, "float32[1,3,4,6] RGB NCHW, range unknown, decoder labels, no labels");
}

/* An input is a picture up to the side that the preprocessor makes. */
static void
test_largest_side (void)
{
  for (gint32 side = SL_MAX_SIDE; side <= SL_MAX_SIDE + 1; side++) {
    const gint32 wide[] = { 1, 1, side, 3 }, high[] = { 1, side, 1, 3 };
    g_autoptr (SlModel) a = load (SL_DTYPE_U8, wide, 0, 0, NULL, NULL, NULL),
                        b = load (SL_DTYPE_U8, high, 0, 0, NULL, NULL, NULL);
    g_assert_cmpint (sl_model_contract (a)->image.valid, ==, side == 32768);
    g_assert_cmpint (sl_model_contract (b)->image.valid, ==, side == 32768);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/contract/bytes", test_bytes);
  g_test_add_func ("/contract/float-without-range", test_float_without_range);
  g_test_add_func ("/contract/vectors", test_vectors);
  g_test_add_func ("/contract/range", test_range);
  g_test_add_func ("/contract/quantised-range", test_quantised_range);
  g_test_add_func ("/contract/quantised-codes", test_quantised_codes);
  g_test_add_func ("/contract/layout", test_layout);
  g_test_add_func ("/contract/largest-side", test_largest_side);
  g_test_add_func ("/contract/layers", test_layers);
  g_test_add_func ("/contract/crop_share", test_crop_share);
  g_test_add_func ("/contract/decoder-by-graph", test_decoder_by_graph);
  g_test_add_func ("/contract/rank-three", test_rank_three);
  g_test_add_func ("/contract/contradictions", test_contradictions);
  g_test_add_func ("/contract/no-picture", test_no_picture);
  g_test_add_func ("/contract/shape-hint", test_shape_hint);
  g_test_add_func ("/contract/file-batch", test_file_batch);
  g_test_add_func ("/contract/summary", test_summary);
  return g_test_run ();
}
