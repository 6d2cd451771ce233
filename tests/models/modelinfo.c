/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MODEL.modelinfo: files in GStreamer's shape, our keys, and each thing that can be wrong in them.
 */
#include "models/modelinfo.h"

#include <string.h>

#include "tests/models/helpers.h"
#include "tests/support/program.h"

static const char complete[] =
  "[modelinfo]\nversion=1.0\ngroup-id=mobilenet-v2-output\n\n"
  "[serving_default_input:0]\nid=image\ntype=float32\ndims=-1,224,192,3\ndir=input\n"
  "ranges=-1.0,1.0;0.0,2.0;-3,3\nmean-note=ignored\nfit=crop\ndecoder-scale=2\n\n"
  "[StatefulPartitionedCall:0]\nid=scores\ntype=uint8\ndims=1001,1\ndims-order=col-major\n"
  "dir=output\n\n"
  "[sightline]\ncolour=BGR\nlayout=NHWC\npad-value=114\ndecoder=labels\nlabels=sub/l.txt\n"
  "decoder-softmax=true\n";

static SlModelInfo *
parse (const char *text, gssize length, char **dir, GError **error)
{
  g_autofree char *path = write_temp ("m.modelinfo", text, length);
  SlModelInfo *info = sl_modelinfo_load (path, "serving_default_input:0", error);
  if (dir != NULL)
    *dir = g_path_get_dirname (path);
  sl_tflite_remove_temp (path);
  return info;
}

static void
test_complete (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *dir = NULL;
  g_autoptr (SlModelInfo) info = parse (complete, -1, &dir, &error);
  g_autofree char *labels = g_build_filename (dir, "sub/l.txt", NULL);
  g_assert_no_error (error);
  g_assert_cmpuint (info->tensors->len, ==, 2);
  const SlInfoTensor *in = sl_modelinfo_find (info, "serving_default_input:0");
  g_assert_cmpint (in->dir, ==, SL_INFO_INPUT);
  g_assert_cmpint (in->dtype, ==, SL_DTYPE_F32);
  g_assert_cmpuint (in->rank, ==, 4);
  g_assert_cmpint (in->dims[0], ==, -1);
  g_assert_cmpint (in->dims[2], ==, 192);
  g_assert_cmpuint (in->n_ranges, ==, 3);
  g_assert_cmpfloat (in->lo[0], ==, -1);
  g_assert_cmpfloat (in->hi[1], ==, 2);
  g_assert_cmpfloat (in->lo[2], ==, -3);
  const SlInfoTensor *out = sl_modelinfo_find (info, "StatefulPartitionedCall:0");
  g_assert_cmpint (out->dir, ==, SL_INFO_OUTPUT);
  g_assert_cmpint (out->dims[0], ==, 1);
  g_assert_cmpint (out->dims[1], ==, 1001);
  g_assert_cmpstr (out->id, ==, "scores");
  g_assert_null (sl_modelinfo_find (info, "other"));
  g_assert_cmpstr (info->keys.colour, ==, "BGR");
  g_assert_cmpstr (info->keys.fit, ==, "crop");
  g_assert_cmpstr (info->keys.layout, ==, "NHWC");
  g_assert_cmpstr (info->keys.pad_value, ==, "114");
  g_assert_cmpstr (info->keys.decoder, ==, "labels");
  g_assert_cmpstr (info->keys.labels, ==, labels);
  g_assert_cmpstr (g_hash_table_lookup (info->params, "softmax"), ==, "true");
  g_assert_cmpstr (g_hash_table_lookup (info->params, "scale"), ==, "2");
}

/* As GStreamer's own generator writes them: keys that are not ours, and what its user left open. */
static void
test_others (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModelInfo) info = parse (
    "[modelinfo]\nversion=1.1\ngroup-id=PLACEHOLDER\n\n"
    "[image]\nid=image_0\ntype=uint8\ndims=-1,-1,-1,3\ndir=input\ncaps=video/x-raw,format=RGB\n"
    "ranges=0.0,255.0;0.0,255.0;0.0,255.0\n\n"
    "[boxes]\nid=PLACEHOLDER_boxes\ntype=float32\ndims=-1,-1,4\ndims-order=row-major\ndir=output\n",
    -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_modelinfo_find (info, "image")->id, ==, "image_0");
  g_assert_null (sl_modelinfo_find (info, "boxes")->id);
}

#define HEAD "[modelinfo]\nversion=1.0\n"
#define IN "[serving_default_input:0]\n"

static const struct
{
  const char *text;
  const char *expected;
} bad[] = {
  { "", "[modelinfo] version: missing; write 'version=1.0' there" },
  { "[modelinfo]\ngroup-id=x\n", "[modelinfo] version: missing" },
  { "[modelinfo]\nversion=2.0\n", "[modelinfo] version: expected 1.0 or 1.1, got '2.0'" },
  { "version=1.0\n", "not a key file" },
  { "[modelinfo\nversion=1.0\n", "not a key file" },
  { "[modelinfo]\nversion=1.0\nrubbish\n", "not a key file" },
  { HEAD "[x]\ndir=sideways\n", "[x] dir: expected input or output, got 'sideways'" },
  { HEAD "[x]\ntype=bfloat16\n",
    "[x] type: expected an element type like uint8, int8 or float32, got 'bfloat16'" },
  { HEAD "[x]\ndims=1,a,3\n",
    "[x] dims: expected 1 to 8 sizes with ',' between, -1 for any, got '1,a,3'" },
  { HEAD "[x]\ndims=\n", "[x] dims: expected 1 to 8 sizes" },
  { HEAD "[x]\ndims=1,2,3,4,5,6,7,8,9\n", "[x] dims: expected 1 to 8 sizes" },
  { HEAD "[x]\ndims=1,0,3\n",
    "[x] dims: expected sizes of 1 or more, -1 for any, ',' between, got '1,0,3'" },
  { HEAD "[x]\ndims=1,2.5\n", "[x] dims: expected sizes of 1 or more" },
  { HEAD "[x]\ndims=1e300\n", "[x] dims: expected sizes of 1 or more" },
  { HEAD "[x]\ndims-order=diagonal\n",
    "[x] dims-order: expected row-major or col-major, got 'diagonal'" },
  { HEAD "[x]\nranges=0\n",
    "[x] ranges: expected 'min,max', or one such pair a channel with ';' between" },
  { HEAD "[x]\nranges=0,nan\n", "[x] ranges: expected 'min,max'" },
  { HEAD "[x]\nranges=1,1\n", "min and max different, got '1,1'" },
  { HEAD "[x]\nranges=0,1;0,1\n", "[x] ranges: expected 1 or 3 pairs" },
  { HEAD "[x]\nranges=0,1;0,1;0,1;0,1\n", "[x] ranges: expected 'min,max'" },
  { HEAD "[sightline]\ncolor=RGB\n",
    "[sightline] color: unknown key; expected one of labels, mean, std, colour, layout, fit, "
    "crop-share, pad-value, decoder, input-shape, fixed-inputs, state, backend, provider, "
    "fallback, precision, decoder-NAME" },
  { HEAD "[sightline]\ndelegate=evil.so\n",
    "[sightline] delegate: not taken from a file that comes with a model; expected it as property "
    "or option" },
  { HEAD "[sightline]\nprovider-options=backend_path=evil.so\n",
    "[sightline] provider-options: not taken from a file" },
  { HEAD "[sightline]\ntensor-limit=100000\n", "[sightline] tensor-limit: not taken from a file" },
  { HEAD "[sightline]\nfallback=yes\n", "[sightline] fallback: expected true or false, got 'yes'" },
  { HEAD "[sightline]\nmean=\n", "[sightline] mean: expected a value, got ''" },
  { HEAD IN "mean=1\n[sightline]\nmean=2\n",
    "[serving_default_input:0] mean: stated in [sightline] too; expected it once" },
};

static void
test_bad (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (parse (bad[i].text, -1, NULL, &error));
    expect_error (&error, SL_ERROR_CONTRACT, "m.modelinfo: ", bad[i].expected, NULL);
  }
}

static void
test_files (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *large = g_strnfill ((1 << 20) + 1, '\n');
  g_assert_null (parse (large, -1, NULL, &error));
  expect_error (&error, SL_ERROR_LIMIT, "1048577 bytes; a modelinfo file has at most 1048576",
                NULL);
  g_assert_null (parse ("[modelinfo]\nversion=\xff\xfe\n", -1, NULL, &error));
  expect_error (&error, SL_ERROR_CONTRACT, "m.modelinfo: ", NULL);
  g_assert_null (parse ("[a]\0\0", 5, NULL, &error));
  expect_error (&error, SL_ERROR_CONTRACT, "m.modelinfo: ", NULL);
  g_assert_null (sl_modelinfo_load ("/nonexistent/x.modelinfo", "", &error));
  expect_error (&error, SL_ERROR_OPEN, "/nonexistent/x.modelinfo: no such file", NULL);
}

/* Contradictions with a model whose input "image" is uint8[1,4,5,3] and whose output "flat" is
 * uint8[1,60]. */
static const struct
{
  const char *text;
  const char *expected; /* NULL = it fits */
} against[] = {
  { "[image]\ndir=input\ntype=uint8\ndims=1,4,5,3\n[flat]\ndir=output\ndims=-1,60\n", NULL },
  { "[image]\ndims=3,5,4,1\ndims-order=col-major\n", NULL },
  { "[image]\ntype=float32\n", "[image] type: it says float32, the model's tensor is uint8" },
  { "[image]\ndims=1,4,4,3\n",
    "[image] dims: it says uint8[1,4,4,3], the model's tensor is uint8[1,4,5,3]" },
  { "[image]\ndims=4,5,3\n",
    "[image] dims: it says uint8[4,5,3], the model's tensor is uint8[1,4,5,3]" },
  { "[image]\ndir=output\n",
    "[image]: the model has no output of that name; it has 'image' (input), 'flat' (output)" },
  { "[flat]\ndir=input\n", "[flat]: the model has no input of that name" },
  { "[other]\n", "[other]: the model has no input or output of that name" },
  { "[in]\ndir=input\ntype=uint8\ndims=-1,4,5,3\n[out]\ndir=output\ntype=uint8\ndims=1,60\n",
    NULL },
  { "[in]\ndir=input\ntype=uint8\ndims=1,4,4,3\n", "[in]: the model has no input of that name" },
  { "[in]\ndir=input\ndims=1,4,5,3\n", "[in]: the model has no input of that name" },
  { "[in]\ntype=uint8\ndims=1,4,5,3\n", "[in]: the model has no input or output of that name" },
  { "[image]\ndir=input\n[in]\ndir=input\ntype=uint8\ndims=1,4,5,3\n",
    "[in]: the model has no input of that name" },
  { "[out]\ndir=output\ntype=uint8\ndims=1,60\nranges=0,1\n",
    "[out] ranges: it is an output; ranges are for inputs" },
  { "[flat]\nranges=0,1\n", "[flat] ranges: it is an output; ranges are for inputs" },
  { "[image]\nranges=0,255\nmean=1\n",
    "[image] ranges: mean or std is stated too; expected one of the two ways" },
};

static void
test_against_model (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (against); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlTfliteWriter) writer =
      picture_model (SL_DTYPE_U8, 4, (gint32[]){ 1, 4, 5, 3 }, 0.5f, 128);
    g_autofree char *text = g_strconcat (HEAD, against[i].text, NULL);
    g_autoptr (SlModel) model = load_with_info (writer, text, NULL, &error);
    g_assert_true ((model != NULL) == (against[i].expected == NULL));
    if (against[i].expected == NULL)
      g_assert_no_error (error);
    else
      expect_error (&error, SL_ERROR_CONTRACT,
                    "model.tflite: ", "model.tflite.modelinfo: ", against[i].expected, NULL);
  }
}

/* A group of another name that agrees is the tensor's: its range and its id are. */
static void
test_alike (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer =
    picture_model (SL_DTYPE_F32, 4, (gint32[]){ 1, 4, 5, 3 }, 0, 0);
  g_autoptr (SlModel) model =
    load_with_info (writer,
                    HEAD "[pixels]\ndir=input\ntype=float32\ndims=-1,4,5,3\nranges=-1,1\n"
                         "[result]\ndir=output\ntype=float32\ndims=1,60\nid=numbers\n",
                    NULL, &error);
  g_assert_no_error (error);
  const SlContract *contract = sl_model_contract (model);
  g_assert_cmpfloat (contract->image.mean[0], ==, 127.5);
  g_assert_cmpfloat (contract->image.std[0], ==, 127.5);
  g_assert_cmpstr (contract->outputs[0].id, ==, "numbers");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/modelinfo/complete", test_complete);
  g_test_add_func ("/modelinfo/others", test_others);
  g_test_add_func ("/modelinfo/bad", test_bad);
  g_test_add_func ("/modelinfo/files", test_files);
  g_test_add_func ("/modelinfo/against-model", test_against_model);
  g_test_add_func ("/modelinfo/alike", test_alike);
  return g_test_run ();
}
