/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON and text against literal strings, and JSON against another parser where there is one. */
#include <locale.h>
#include <math.h>
#include <string.h>

#ifdef SL_TEST_JSON_GLIB
#include <json-glib/json-glib.h>
#endif

#include "postprocess/predictions/prediction.h"
#include "tests/support/program.h"

static const SlObjectView objects[] = {
  { 10, 20, 30, 40, 0.0123457, 0.1, 0.5, 1, 0.83, 0, "person" },
  { 0, 0, 1, 1, 0, 0, 1e-7, 0.333333333, 1, 7, "traffic \"light\"\\" },
};
static const SlLabelled labels[] = { { 653, 220 / 256.0, "military uniform" }, { -1, 0.25, "7" } };

static const SlPredictionView full = {
  .source = "a/b \xC3\xA9.bmp",
  .frame = 12,
  .timestamp = G_GUINT64_CONSTANT (400000000),
  .width = 810,
  .height = 1080,
  .n_objects = 2,
  .n_labels = 2,
  .objects = objects,
  .labels = labels,
};

static char *
json_of (const SlPredictionView *prediction)
{
  GString *text = g_string_new (NULL);
  sl_prediction_append_json (text, prediction);
  return g_string_free (text, FALSE);
}

static char *
text_of (const SlPredictionView *prediction)
{
  GString *text = g_string_new (NULL);
  sl_prediction_append_text (text, prediction);
  return g_string_free (text, FALSE);
}

/* What a code says may be anything: it stays in its line, and JSON has all of it. */
static void
test_codes (void)
{
  const guint8 bytes[] = { 'a', '\\', 0, 0xff };
  const SlCodeView text = { "ean-13",
                            "1\n\x1b[2m\xE2\x80\xAE",
                            (const guint8 *) "",
                            1,
                            TRUE,
                            9,
                            { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } },
                            "52495" };
  const SlCodeView binary = { "qr-code", NULL, bytes, sizeof bytes, FALSE, 1, { { 0.5, -1 } } };
  const SlObjectView read[] = { { 0, 0, 1, 1, 0.25, 0.5, 0.75, 1, 0.5, 2, "linear", .code = &text },
                                { 0, 0, 1, 1, 0, 0, 0.5, 1, 0.5, 0, "qr", .code = &binary } };
  const SlPredictionView prediction = {
    .timestamp = 0, .width = 9, .height = 9, .n_objects = 2, .objects = read
  };
  g_autofree char *json = json_of (&prediction), *lines = text_of (&prediction);
  g_assert_cmpstr (lines, ==,
                   "linear 0.5 0 0 1 1\n  ean-13 1\\n\\x1b[2m\\u202e + 52495\nqr 0.5 0 0 1 1\n"
                   "  qr-code a\\x5c\\x00\\xff\n");
  g_assert_nonnull (strstr (
    json,
    "\"code\":{\"symbology\":\"ean-13\",\"text\":\"1\\n\\u001b[2m\\u202e\",\"add_on\":\"52495\","
    "\"checked\":true,\"quality\":9,\"corners\":[{\"x\":0.25,\"y\":0.5},{\"x\":0.75,\"y\":0.5},"
    "{\"x\":0.75,\"y\":1},{\"x\":0.25,\"y\":1}]}}"));
  g_assert_nonnull (strstr (
    json,
    "\"code\":{\"symbology\":\"qr-code\",\"text\":null,\"base64\":\"YVwA/w==\",\"checked\":false,"
    "\"quality\":1,\"corners\":[{\"x\":0.25,\"y\":-1},"));
  GString *shortened = g_string_new (NULL);
  sl_code_append_text (shortened, &binary, 2);
  g_assert_cmpstr (shortened->str, ==, "a...\\xff");
  g_string_free (shortened, TRUE);
}

/* What readings of an object said, and what a format corrected; the reading of the frame is in JSON
 * alone. */
static void
test_texts (void)
{
  const SlLabelled said[] = { { -1, 0.25, "AB 0", "reader.onnx" }, { 3, 0.5, "white", "w.onnx" } };
  const SlTextView text = {
    "ABO", 0.75, 12, "old", 3, { { 'A', 0, 1 }, { 'B', '8', 0.5 }, { 0x4eac, 0, 0.75 } }
  };
  const SlObjectView read[] = { { 0, 0, 1, 1, 0, 0, 1, 1, 0.5, 2, "plate", .n_labels = 2,
                                  .labels = said, .text = &text } };
  const SlPredictionView prediction = { .width = 9, .height = 9, .n_objects = 1, .objects = read };
  g_autofree char *json = json_of (&prediction), *lines = text_of (&prediction);
  g_assert_cmpstr (lines, ==, "plate 0.5 0 0 1 1\n  ABO 0.75 old\n  white 0.5\n");
  g_assert_nonnull (
    strstr (json, "\"text\":{\"text\":\"ABO\",\"confidence\":0.75,\"votes\":12,\"format\":\"old\","
                  "\"characters\":[{\"character\":\"A\",\"confidence\":1},"
                  "{\"character\":\"B\",\"confidence\":0.5,\"read\":\"8\"},"
                  "{\"character\":\"\xe4\xba\xac\",\"confidence\":0.75}]}"));
  g_assert_nonnull (strstr (json, "\"label\":\"AB 0\",\"label_id\":-1"));
}

static void
test_json (void)
{
  g_autofree char *json = json_of (&full);
  g_assert_cmpstr (
    json, ==,
    "{\"source\":\"a/b \xC3\xA9.bmp\",\"frame\":12,\"timestamp\":400000000,"
    "\"resolution\":{\"width\":810,\"height\":1080},\"objects\":[{\"x\":10,\"y\":20,\"w\":30,"
    "\"h\":40,\"roi_type\":\"person\",\"detection\":{\"bounding_box\":{\"x_min\":0.0123457,"
    "\"x_max\":0.5,\"y_min\":0.1,\"y_max\":1},\"confidence\":0.83,\"label\":\"person\","
    "\"label_id\":0}},{\"x\":0,\"y\":0,\"w\":1,\"h\":1,\"roi_type\":\"traffic "
    "\\\"light\\\"\\\\\",\"detection\":{\"bounding_box\":{\"x_min\":0,\"x_max\":1e-07,\"y_min\":0,"
    "\"y_max\":0.333333},\"confidence\":1,\"label\":\"traffic "
    "\\\"light\\\"\\\\\",\"label_id\":7}}],\"labels\":[{\"label\":\"military "
    "uniform\",\"label_id\":653,\"confidence\":0.859375},{\"label\":\"7\",\"label_id\":-1,"
    "\"confidence\":0.25}]}");
}

static void
test_json_unknown (void)
{
  const SlPredictionView empty = { .timestamp = G_MAXUINT64, .width = 1, .height = 1 };
  g_autofree char *json = json_of (&empty);
  g_assert_cmpstr (
    json, ==,
    "{\"source\":null,\"frame\":0,\"timestamp\":null,\"resolution\":{\"width\":1,\"height\":1},"
    "\"objects\":[],\"labels\":[]}");
}

/* What only some models give comes after what all do. */
static void
test_json_more (void)
{
  static const SlPoint points[] = { { 0.25, 0.5, 0.75 }, { 2, -1, 0 } };
  static const SlObjectView object = { 1, 2, 3, 4, 0, 0, 1, 1, 0.5, 0, "face", 2, points };
  static const char *const names[] = { "left", "right" };
  static const SlSkeleton skeleton = { 2, 0, names, NULL };
  static const guint8 cells[] = { 0, 7, 7, 7, 255, 0 };
  static const SlMaskClass classes[] = { { 7, "cat", 0.5 }, { 0, "background", 1 / 3.0 } };
  static const SlLatency latency = { 5000, 1000, -1, 30 };
  SlPredictionView prediction = { .timestamp = 0,
                                  .width = 9,
                                  .height = 9,
                                  .n_objects = 1,
                                  .objects = &object,
                                  .skeleton = &skeleton,
                                  .mask = { 3, 2, cells },
                                  .n_mask_classes = 2,
                                  .mask_classes = classes,
                                  .latency = &latency,
                                  .worker = "shop \"1\"" };
  g_autofree char *json = json_of (&prediction);
  g_assert_cmpstr (
    json, ==,
    "{\"source\":null,\"frame\":0,\"timestamp\":0,\"resolution\":{\"width\":9,\"height\":9},"
    "\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"roi_type\":\"face\","
    "\"detection\":{\"bounding_box\":{\"x_min\":0,\"x_max\":1,\"y_min\":0,\"y_max\":1},"
    "\"confidence\":0.5,\"label\":\"face\",\"label_id\":0},\"keypoints\":[{\"name\":\"left\","
    "\"x\":0.25,\"y\":0.5,\"confidence\":0.75},{\"name\":\"right\",\"x\":2,\"y\":-1,"
    "\"confidence\":0}]}],\"labels\":[],\"mask\":{\"width\":3,\"height\":2,"
    "\"classes\":[{\"label\":\"cat\",\"label_id\":7,\"fraction\":0.5},{\"label\":\"background\","
    "\"label_id\":0,\"fraction\":0.333333}],\"runs\":[0,1,7,3,255,1,0,1]},"
    "\"latency\":{\"age\":5000,\"preprocess\":1000,\"inference\":null,\"decode\":30},"
    "\"worker\":\"shop \\\"1\\\"\"}");
  g_autofree char *text = text_of (&prediction);
  g_assert_cmpstr (text, ==, "cat 0.5\nface 0.5 1 2 3 4\n");
  prediction.mask.background = SL_NO_BACKGROUND;
  g_autofree char *all = text_of (&prediction);
  g_assert_cmpstr (all, ==, "cat 0.5\nbackground 0.333333\nface 0.5 1 2 3 4\n");
}

/* Who an object is stands behind its id, in JSON alone; names are anybody's. */
static void
test_identity (void)
{
  static const struct
  {
    const char *cameras, *json, *name;
  } lists[] = {
    { "gate,hall", "\"name\":\"Anna \\\"B\\\"\",\"cameras\":[\"gate\",\"hall\"]}", "Anna \"B\"" },
    { "gate,hall", "\"cameras\":[\"gate\",\"hall\"]}", NULL },
    { "the \"gate\"", "\"cameras\":[\"the \\\"gate\\\"\"]}", NULL },
    { "", "\"cameras\":[]}", NULL },
    { NULL, "\"cameras\":[]}", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    const SlObjectView object = { .x = 1,
                                  .y = 2,
                                  .w = 3,
                                  .h = 4,
                                  .confidence = 0.5,
                                  .label = "cat",
                                  .object_id = 12,
                                  .identity = G_MAXINT64,
                                  .identity_confidence = 0.75,
                                  .identity_cameras = lists[i].cameras,
                                  .identity_name = lists[i].name };
    const SlPredictionView prediction = {
      .timestamp = 0, .width = 9, .height = 9, .n_objects = 1, .objects = &object
    };
    g_autofree char *json = json_of (&prediction), *text = text_of (&prediction),
                    *expected = g_strconcat (
                      "\"id\":12,\"identity\":{\"id\":9223372036854775807,\"confidence\":0.75,",
                      lists[i].json, ",\"detection\":", NULL);
    g_assert_nonnull (strstr (json, expected));
    g_assert_cmpstr (text, ==, "cat 0.5 1 2 3 4 12\n");
  }
}

/* Ids behind the type and at the end of the line; runs begin with what is outside, if only none of
 * it. */
static void
test_tracked (void)
{
  static const guint8 shares[2][6] = { { 0, 127, 128, 255, 200, 0 }, { 255, 128, 0, 0, 0, 0 } };
  const SlObjectView objects_with[] = {
    { 1, 2, 3, 4, 0, 0, 1, 1, 0.5, 0, "cat", 0, NULL, 12, 5, { 3, 2, shares[0] } },
    { 1, 2, 3, 4, 0, 0, 1, 1, 0.5, 0, "cat", 0, NULL, 0, 0, { 2, 3, shares[1] } },
  };
  const SlPredictionView prediction = {
    .timestamp = 0, .width = 9, .height = 9, .n_objects = 2, .objects = objects_with
  };
  g_autofree char *json = json_of (&prediction), *text = text_of (&prediction);
  static const char detection[] =
    "\"detection\":{\"bounding_box\":{\"x_min\":0,\"x_max\":1,\"y_min\":0,\"y_max\":1},"
    "\"confidence\":0.5,\"label\":\"cat\",\"label_id\":0}";
  g_autofree char *expected = g_strdup_printf (
    "\"roi_type\":\"cat\",\"id\":12,%s,\"mask\":{\"width\":3,\"height\":2,\"runs\":[2,3,1]}},"
    "{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"roi_type\":\"cat\",%s,\"mask\":{\"width\":2,\"height\":3,"
    "\"runs\":[0,2,4]}}]",
    detection, detection);
  if (strstr (json, expected) == NULL)
    g_error ("'%s' does not contain '%s'", json, expected);
  g_assert_cmpstr (text, ==, "cat 0.5 1 2 3 4 12\ncat 0.5 1 2 3 4\n");
}

/* What further models said of objects, and found inside them, is inside them. */
static void
test_nested (void)
{
  static const SlLabelled said[] = { { 1, 0.5, "smiles", "mood.tflite" },
                                     { 30, 0.25, "30", "age.tflite" } };
  const SlObjectView found[] = {
    { 0, 0, 9, 9, 0, 0, 1, 1, 0.5, 0, "person" },
    { 1, 1, 2, 2, 0, 0, 1, 1, 0.5, 3, "dog" },
    { 1, 2, 3, 4, 0, 0, 1, 1, 0.75, 1, "face", .n_labels = 2, .labels = said, .parent = 1 },
    { 2, 2, 1, 1, 0, 0, 1, 1, 1, 2, "eye", .parent = 3 },
  };
  const SlPredictionView prediction = { .width = 9, .height = 9, .n_objects = 4, .objects = found };
  g_autofree char *json = json_of (&prediction);
#define BOX                                                                            \
  "\"detection\":{\"bounding_box\":{\"x_min\":0,\"x_max\":1,\"y_min\":0,\"y_max\":1}," \
  "\"confidence\":"
  g_assert_cmpstr (
    json, ==,
    "{\"source\":null,\"frame\":0,\"timestamp\":0,\"resolution\":{\"width\":9,\"height\":9},"
    "\"objects\":[{\"x\":0,\"y\":0,\"w\":9,\"h\":9,\"roi_type\":\"person\"," BOX
    "0.5,\"label\":\"person\",\"label_id\":0},\"objects\":["
    "{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"roi_type\":\"face\"," BOX
    "0.75,\"label\":\"face\",\"label_id\":1},\"labels\":["
    "{\"label\":\"smiles\",\"label_id\":1,\"confidence\":0.5,\"model\":\"mood.tflite\"},"
    "{\"label\":\"30\",\"label_id\":30,\"confidence\":0.25,\"model\":\"age.tflite\"}],\"objects\":["
    "{\"x\":2,\"y\":2,\"w\":1,\"h\":1,\"roi_type\":\"eye\"," BOX
    "1,\"label\":\"eye\",\"label_id\":2}}]}]},"
    "{\"x\":1,\"y\":1,\"w\":2,\"h\":2,\"roi_type\":\"dog\"," BOX
    "0.5,\"label\":\"dog\",\"label_id\":3}}],\"labels\":[]}");
#undef BOX
  g_autofree char *text = text_of (&prediction);
  g_assert_cmpstr (
    text, ==,
    "person 0.5 0 0 9 9\n  face 0.75 1 2 3 4\n    smiles 0.5\n    30 0.25\n    eye 1 2 2 1 1\n"
    "dog 0.5 1 1 2 2\n");
}

/* Bytes that JSON or UTF-8 forbid. */
/* Numbers of each type as they are stored. */
static void
test_outputs (void)
{
  static const gfloat f32[] = { 0.1f, NAN, -3.4028235e38f };
  static const guint16 f16[] = { 0x3c00, 0x7c00 }, u16[] = { 65535 };
  static const gdouble f64[] = { 0.1 };
  static const gint8 i8[] = { -128 };
  static const guint8 u8[] = { 255 }, bools[] = { 1, 0 };
  static const gint16 i16[] = { -32768 };
  static const gint32 i32[] = { G_MININT32 };
  static const guint32 u32[] = { G_MAXUINT32 };
  static const gint64 i64[] = { G_MININT64 };
  static const guint64 u64[] = { G_MAXUINT64 };
  const struct
  {
    SlDtype dtype;
    const void *data;
    gsize n;
    const char *json;
  } cases[] = {
    { SL_DTYPE_F32, f32, 3,
      "\"float32\",\"shape\":[3],\"values\":[0.100000001,null,-3.40282347e+38]" },
    { SL_DTYPE_F16, f16, 2, "\"float16\",\"shape\":[2],\"values\":[1,null]" },
    { SL_DTYPE_F64, f64, 1, "\"float64\",\"shape\":[1],\"values\":[0.10000000000000001]" },
    { SL_DTYPE_I8, i8, 1, "[-128]" },
    { SL_DTYPE_U8, u8, 1, "[255]" },
    { SL_DTYPE_BOOL, bools, 2, "\"bool\",\"shape\":[2],\"values\":[1,0]" },
    { SL_DTYPE_I16, i16, 1, "[-32768]" },
    { SL_DTYPE_U16, u16, 1, "[65535]" },
    { SL_DTYPE_I32, i32, 1, "[-2147483648]" },
    { SL_DTYPE_U32, u32, 1, "[4294967295]" },
    { SL_DTYPE_I64, i64, 1, "[-9223372036854775808]" },
    { SL_DTYPE_U64, u64, 1, "[18446744073709551615]" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const SlTensorInfo info = { .name = (char *) "out\n",
                                .dtype = cases[i].dtype,
                                .rank = 1,
                                .dims = { (gint32) cases[i].n },
                                .bytes = cases[i].n * sl_dtype_size (cases[i].dtype),
                                .scale = i == 4 ? 0.5f : 0,
                                .zero_point = 3 };
    SlPredictionView prediction = { .width = 1,
                                    .height = 1,
                                    .outputs = { 1, &info, &cases[i].data } };
    g_autofree char *json = json_of (&prediction), *text = text_of (&prediction);
    g_assert_nonnull (strstr (json, "\"outputs\":[{\"name\":\"out\\n\",\"type\":"));
    if (strstr (json, cases[i].json) == NULL)
      g_error ("%s is not in %s", cases[i].json, json);
    g_assert_true ((strstr (json, "\"scale\":0.5,\"zero_point\":3") != NULL) == (i == 4));
    g_assert_true (g_str_has_prefix (text, "out\\n "));
  }
}

static void
test_vector (void)
{
  static const gfloat values[] = { 0.5f, -2 };
  static const char *const names[] = { "yaw", "pi\ntch" }, *const units[] = { "degrees", "%" };
  SlPredictionView prediction = {
    .timestamp = 0, .width = 1, .height = 1, .vector = { 2, values, TRUE }
  };
  g_autofree char *embedding = json_of (&prediction), *line = text_of (&prediction);
  g_assert_nonnull (
    strstr (embedding, "\"labels\":[],\"vector\":{\"kind\":\"embedding\",\"values\":[0.5,-2]}}"));
  g_assert_cmpstr (line, ==, "0.5 -2\n");
  prediction.vector.is_embedding = FALSE;
  g_autofree char *numbered = text_of (&prediction);
  g_assert_cmpstr (numbered, ==, "0 0.5\n1 -2\n");
  prediction.vector = (SlVector){ 2, values, FALSE, names, units };
  g_autofree char *named = json_of (&prediction), *rows = text_of (&prediction);
  g_assert_nonnull (strstr (
    named, "\"vector\":{\"kind\":\"values\",\"values\":[0.5,-2],\"names\":[\"yaw\",\"pi\\ntch\"],"
           "\"units\":[\"degrees\",\"%\"]}}"));
  g_assert_cmpstr (rows, ==, "yaw 0.5 degrees\npi tch -2 %\n");
}

static void
test_json_escapes (void)
{
  static const struct
  {
    const char *label, *expected;
  } cases[] = {
    { "", "\"\"" },
    { "a\nb\tc\rd", "\"a\\nb\\tc\\rd\"" },
    { "\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"" },
    { "\xff"
      "a",
      "\"\xEF\xBF\xBD"
      "a\"" },
    { "cut \xE2\x82", "\"cut \xEF\xBF\xBD\xEF\xBF\xBD\"" },
    { "\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" },
    { "\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
    { "\xE6\x97\xA5 \xF0\x9F\x98\x80 /", "\"\xE6\x97\xA5 \xF0\x9F\x98\x80 /\"" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const SlLabelled label = { 1, 0.5, cases[i].label };
    const SlPredictionView prediction = {
      .timestamp = 0, .width = 2, .height = 3, .n_labels = 1, .labels = &label
    };
    g_autofree char *json = json_of (&prediction);
    g_autofree char *expected = g_strdup_printf (
      "{\"source\":null,\"frame\":0,\"timestamp\":0,\"resolution\":{\"width\":2,\"height\":3},"
      "\"objects\":[],\"labels\":[{\"label\":%s,\"label_id\":1,\"confidence\":0.5}]}",
      cases[i].expected);
    g_assert_cmpstr (json, ==, expected);
    g_assert_true (g_utf8_validate (json, -1, NULL));
  }
}

static void
test_json_not_finite (void)
{
  const SlLabelled label = { 1, NAN, "x" };
  const SlPredictionView prediction = {
    .timestamp = 0, .width = 2, .height = 3, .n_labels = 1, .labels = &label
  };
  g_autofree char *json = json_of (&prediction);
  g_assert_true (g_str_has_suffix (json, "\"label_id\":1,\"confidence\":null}]}"));
}

/* Decimal commas of the locale must not reach the output. */
static void
test_locale (void)
{
  static const char *const commas[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "nl_NL.UTF-8",
                                        NULL };
  g_autofree char *old = g_strdup (setlocale (LC_ALL, NULL));
  guint i = 0;
  while (commas[i] != NULL && setlocale (LC_ALL, commas[i]) == NULL)
    i++;
  g_autofree char *json = json_of (&full), *text = text_of (&full);
  setlocale (LC_ALL, old);
  g_assert_nonnull (strstr (json, "\"confidence\":0.83"));
  g_assert_nonnull (strstr (text, "person 0.83 "));
  if (commas[i] == NULL)
    g_test_message ("no locale with a decimal comma is installed");
}

static void
test_text (void)
{
  const SlObjectView odd = { 0, 0, 5, 6, 0, 0, 1, 1, 0.5, 3, "two\nlines\xff" };
  const SlPredictionView empty = { .timestamp = 0 };
  SlPredictionView prediction = full;
  g_autofree char *both = text_of (&full);
  g_assert_cmpstr (both, ==, "person 0.83 10 20 30 40\ntraffic \"light\"\\ 1 0 0 1 1\n");
  prediction.n_objects = 0;
  g_autofree char *label = text_of (&prediction);
  g_assert_cmpstr (label, ==, "military uniform\n");
  g_autofree char *nothing = text_of (&empty);
  g_assert_cmpstr (nothing, ==, "");
  prediction = (SlPredictionView){ .n_objects = 1, .objects = &odd };
  g_autofree char *replaced = text_of (&prediction);
  g_assert_cmpstr (replaced, ==, "two lines\xEF\xBF\xBD 0.5 0 0 5 6\n");
}

#ifdef SL_TEST_JSON_GLIB
static void
test_json_parses (void)
{
  g_autofree char *json = json_of (&full);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  json_parser_load_from_data (parser, json, -1, &error);
  g_assert_no_error (error);
  JsonObject *root = json_node_get_object (json_parser_get_root (parser));
  JsonObject *object =
    json_array_get_object_element (json_object_get_array_member (root, "objects"), 1);
  JsonObject *detection = json_object_get_object_member (object, "detection");
  JsonObject *box = json_object_get_object_member (detection, "bounding_box");
  g_assert_cmpstr (json_object_get_string_member (root, "source"), ==, full.source);
  g_assert_cmpint (json_object_get_int_member (root, "timestamp"), ==, 400000000);
  g_assert_cmpstr (json_object_get_string_member (object, "roi_type"), ==, objects[1].label);
  g_assert_cmpfloat_with_epsilon (json_object_get_double_member (box, "y_max"), objects[1].y_max,
                                  1e-6);
  g_assert_cmpint (json_object_get_int_member (detection, "label_id"), ==, 7);
}
#endif

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/prediction/json", test_json);
  g_test_add_func ("/prediction/json_unknown", test_json_unknown);
  g_test_add_func ("/prediction/json_more", test_json_more);
  g_test_add_func ("/prediction/tracked", test_tracked);
  g_test_add_func ("/prediction/nested", test_nested);
  g_test_add_func ("/prediction/outputs", test_outputs);
  g_test_add_func ("/prediction/vector", test_vector);
  g_test_add_func ("/prediction/json_escapes", test_json_escapes);
  g_test_add_func ("/prediction/json_not_finite", test_json_not_finite);
  g_test_add_func ("/prediction/locale", test_locale);
  g_test_add_func ("/prediction/text", test_text);
  g_test_add_func ("/prediction/codes", test_codes);
  g_test_add_func ("/prediction/texts", test_texts);
  g_test_add_func ("/prediction/identity", test_identity);
#ifdef SL_TEST_JSON_GLIB
  g_test_add_func ("/prediction/json_parses", test_json_parses);
#endif
  return g_test_run ();
}
