/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensor caps against spellings written out by hand, as other elements negotiate them.
 */
#include "plugins/tensor/caps.h"

#include <string.h>

#include "models/model.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

static const SlTensorInfo picture = {
  .dtype = SL_DTYPE_U8, .rank = 4, .dims = { 1, 224, 200, 3 }, .bytes = 224 * 200 * 3
};
static const SlTensorInfo boxes = {
  .dtype = SL_DTYPE_F32, .rank = 3, .dims = { 1, 10, 4 }, .bytes = 160
};
static const SlTensorInfo count = { .dtype = SL_DTYPE_F32, .rank = 1, .dims = { 1 }, .bytes = 4 };

typedef struct
{
  const char *name, *caps;
  gboolean accepted;
} SpellingCase;

static const SpellingCase picture_spellings[] = {
  { "own",
    "other/tensors,format=static,num_tensors=1,dimensions=3:200:224:1,types=uint8,framerate=30/1",
    TRUE },
  { "no-ones",
    "other/tensors,format=static,num_tensors=1,dimensions=3:200:224,types=uint8,framerate=0/1",
    TRUE },
  { "rank-8",
    "other/tensors,format=static,num_tensors=1,dimensions=3:200:224:1:1:1:1:1,types=uint8,"
    "framerate=0/1",
    TRUE },
  { "rank-16",
    "other/tensors,format=static,num_tensors=1,dimensions=3:200:224:1:1:1:1:1:1:1:1:1:1:1:1:1,"
    "types=uint8,framerate=0/1",
    TRUE },
  { "without-format", "other/tensors,num_tensors=1,dimensions=3:200:224:1,types=uint8", TRUE },
  { "legacy", "other/tensor,dimension=3:200:224:1,type=uint8,framerate=30/1", TRUE },
  { "legacy-no-ones", "other/tensor,dimension=3:200:224,type=uint8,framerate=30/1", TRUE },
  { "swapped", "other/tensors,format=static,num_tensors=1,dimensions=3:224:200:1,types=uint8",
    FALSE },
  { "type", "other/tensors,format=static,num_tensors=1,dimensions=3:200:224:1,types=int8", FALSE },
  { "flexible", "other/tensors,format=flexible", FALSE },
  { "batch-2", "other/tensors,format=static,num_tensors=1,dimensions=3:200:224:2,types=uint8",
    FALSE },
  { "two",
    "other/tensors,format=static,num_tensors=2,dimensions=(string)\"3:200:224:1,1\",types=\"uint8,"
    "uint8\"",
    FALSE },
};

static void
test_spelling (gconstpointer data)
{
  const SpellingCase *test = data;
  g_autoptr (GstCaps) ours = sl_tensor_caps_new (&picture, 1, NULL);
  g_autoptr (GstCaps) theirs = gst_caps_from_string (test->caps);
  g_assert_nonnull (theirs);
  g_assert_cmpint (gst_caps_can_intersect (theirs, ours), ==, test->accepted);
}

typedef struct
{
  const char *name, *caps;
  guint n;
  const char *described; /* or a fragment of the error when n is 0 */
} ParseCase;

static const ParseCase parse_cases[] = {
  { "one", "other/tensors,format=static,num_tensors=1,dimensions=3:200:224:1,types=uint8", 1,
    "uint8[1,224,200,3]" },
  { "legacy", "other/tensor,dimension=(string)1001:1,type=float32", 1, "float32[1,1001]" },
  { "comma", "other/tensors,num_tensors=2,dimensions=(string)\"4:10:1,1\",types=\"float32,int8\"",
    2, "float32[1,10,4], int8[1]" },
  { "dot", "other/tensors,num_tensors=2,dimensions=(string)4:10:1.1,types=(string)float32.int8", 2,
    "float32[1,10,4], int8[1]" },
  { "blanks", "other/tensors,num_tensors=2,dimensions=(string)\"4:10, 1\",types=\"float32, int8\"",
    2, "float32[10,4], int8[1]" },
  { "rank-16", "other/tensors,num_tensors=1,dimensions=3:2:1:1:1:1:1:1:1:1:1:1:1:1:1:1,types=uint8",
    1, "uint8[1,1,1,1,1,1,2,3]" },
  { "unfixed", "other/tensors,num_tensors=1,dimensions={3:2,3:2:1},types=uint8", 0,
    "expected fixed caps" },
  { "no-types", "other/tensors,num_tensors=1,dimensions=(string)3:2", 0, "expected other/tensors" },
  { "not-tensors", "video/x-raw,width=1", 0, "expected other/tensors" },
  { "no-tensor", "other/tensors,num_tensors=0,dimensions=3,types=uint8", 0, "num_tensors=1..64" },
  { "too-many", "other/tensors,num_tensors=65,dimensions=3,types=uint8", 0, "num_tensors=1..64" },
  { "count", "other/tensors,num_tensors=2,dimensions=(string)3:2,types=uint8", 0,
    "num_tensors=2, but dimensions \"3:2\" name 1" },
  { "type", "other/tensors,num_tensors=1,dimensions=(string)3:2,types=uint7", 0,
    "type \"uint7\" is unknown" },
  { "zero", "other/tensors,num_tensors=1,dimensions=3:0:1,types=uint8", 0,
    "dimensions \"3:0:1\": expected" },
  { "negative", "other/tensors,num_tensors=1,dimensions=(string)3:-1,types=uint8", 0,
    "dimensions \"3:-1\": expected" },
  { "letters", "other/tensors,num_tensors=1,dimensions=3x,types=uint8", 0,
    "dimensions \"3x\": expected" },
  { "empty", "other/tensors,num_tensors=1,dimensions=(string)\"\",types=uint8", 0,
    "dimensions \"\" name 0" },
  { "overflow",
    "other/tensors,num_tensors=1,dimensions=2147483647:2147483647:2147483647,types=float32", 0,
    "are more than 1073741824 bytes" },
  { "over-int", "other/tensors,num_tensors=1,dimensions=(string)\"4294967299\",types=uint8", 0,
    "dimensions \"4294967299\": expected" },
  { "rank-17",
    "other/tensors,num_tensors=1,dimensions=(string)\"1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1\","
    "types=uint8",
    0, "expected up to 16 numbers" },
  { "rank-9", "other/tensors,num_tensors=1,dimensions=(string)\"2:1:1:1:1:1:1:1:2\",types=uint8", 0,
    "expected at most 8 besides trailing ones" },
};

static void
test_parse (gconstpointer data)
{
  const ParseCase *test = data;
  SlTensorInfo tensors[SL_MAX_IO];
  g_autoptr (GstCaps) caps = gst_caps_from_string (test->caps);
  g_autoptr (GError) error = NULL;
  g_assert_nonnull (caps);
  guint n = sl_tensor_caps_parse (caps, tensors, &error);
  g_assert_cmpuint (n, ==, test->n);
  if (n == 0) {
    g_assert_nonnull (error);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, test->described));
    return;
  }
  g_assert_no_error (error);
  g_autofree char *text = sl_tensor_infos_describe (tensors, n);
  g_assert_cmpstr (text, ==, test->described);
  sl_tensor_infos_clear (tensors, n);
}

static void
test_parse_order (void)
{
  SlTensorInfo tensors[SL_MAX_IO];
  g_autoptr (GstCaps) caps = gst_caps_from_string (
    "other/tensors,num_tensors=2,dimensions=(string)3:200:224:1.7,types=(string)int16.float64");
  g_assert_cmpuint (sl_tensor_caps_parse (caps, tensors, NULL), ==, 2);
  g_assert_cmpuint (tensors[0].rank, ==, 4);
  g_assert_cmpint (tensors[0].dims[0], ==, 1);
  g_assert_cmpint (tensors[0].dims[1], ==, 224);
  g_assert_cmpint (tensors[0].dims[2], ==, 200);
  g_assert_cmpint (tensors[0].dims[3], ==, 3);
  g_assert_cmpuint (tensors[0].bytes, ==, 224 * 200 * 3 * 2);
  g_assert_cmpuint (tensors[1].bytes, ==, 7 * 8);
  sl_tensor_infos_clear (tensors, 2);
}

static void
test_several (void)
{
  const SlTensorInfo outputs[] = { boxes, count };
  g_autoptr (GstCaps) ours = sl_tensor_caps_new (outputs, 2, NULL);
  g_autoptr (GstCaps) comma = gst_caps_from_string (
    "other/tensors,format=static,num_tensors=2,dimensions=(string)\"4:10:1,1\",types=\"float32,"
    "float32\"");
  g_autoptr (GstCaps) dot = gst_caps_from_string (
    "other/tensors,format=static,num_tensors=2,dimensions=(string)4:10:1:1.1:1:1:1,"
    "types=float32.float32");
  g_autoptr (GstCaps) legacy = gst_caps_from_string ("other/tensor");
  g_assert_true (gst_caps_can_intersect (comma, ours));
  g_assert_true (gst_caps_can_intersect (dot, ours));
  g_assert_false (gst_caps_can_intersect (legacy, ours));
  g_autoptr (GstCaps) fixed = gst_caps_fixate (gst_caps_copy (ours));
  g_assert_cmpstr (gst_structure_get_string (gst_caps_get_structure (fixed, 0), "dimensions"), ==,
                   "4:10:1,1");
}

static void
test_same (void)
{
  SlTensorInfo trimmed = { .dtype = SL_DTYPE_U8, .rank = 3, .dims = { 224, 200, 3 } };
  SlTensorInfo longer = { .dtype = SL_DTYPE_U8, .rank = 6, .dims = { 1, 1, 1, 224, 200, 3 } };
  SlTensorInfo other = { .dtype = SL_DTYPE_U8, .rank = 4, .dims = { 1, 200, 224, 3 } };
  SlTensorInfo typed = { .dtype = SL_DTYPE_I8, .rank = 4, .dims = { 1, 224, 200, 3 } };
  SlTensorInfo scalar = { .dtype = SL_DTYPE_F32, .rank = 0 };
  g_assert_true (sl_tensors_same (&picture, 1, &trimmed, 1));
  g_assert_true (sl_tensors_same (&picture, 1, &longer, 1));
  g_assert_true (sl_tensors_same (&count, 1, &scalar, 1));
  g_assert_false (sl_tensors_same (&picture, 1, &other, 1));
  g_assert_false (sl_tensors_same (&picture, 1, &typed, 1));
  g_assert_false (sl_tensors_same (&picture, 1, &picture, 2));
}

static void
test_contract (void)
{
  g_autofree char *path = test_colour_model (SL_DTYPE_U8);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = sl_model_load (path, NULL, &error);
  g_autoptr (SlModel) again = sl_model_load (path, NULL, &error);
  g_autoptr (SlModel) bgr = sl_model_load (path, &(SlModelSettings){ .colour = "BGR" }, &error);
  g_assert_no_error (error);
  SlContract *contract = sl_model_contract (model);
  g_autoptr (GstCaps) caps = sl_tensor_caps_new (contract->inputs, 1, contract);
  g_autoptr (GstCaps) same = sl_tensor_caps_new (contract->inputs, 1, sl_model_contract (again));
  g_autoptr (GstCaps) other = sl_tensor_caps_new (contract->inputs, 1, sl_model_contract (bgr));
  g_autoptr (GstCaps) foreign = gst_caps_from_string (
    "other/tensors,format=static,num_tensors=1,dimensions=3:4:4,types=uint8,framerate=5/1");
  g_assert_true (sl_tensor_caps_contract (caps) == contract);
  g_assert_null (sl_tensor_caps_contract (foreign));
  g_assert_true (gst_caps_can_intersect (caps, same));
  g_assert_false (gst_caps_can_intersect (caps, other));
  g_autoptr (GstCaps) met = gst_caps_intersect (foreign, caps);
  g_assert_true (gst_caps_is_fixed (met));
  g_assert_true (sl_tensor_caps_contract (met) == contract);
  g_autofree char *text = gst_caps_to_string (met);
  g_assert_nonnull (strstr (text, "contract=(SlContract)"));
  g_assert_nonnull (strstr (text, "RGB"));
  test_remove_file (path);
}

/* Pads take as many tensors as a model may have. */
static void
test_template (void)
{
  g_autoptr (GstCaps) template = gst_caps_from_string (SL_TENSOR_TEMPLATE_CAPS);
  g_autoptr (GstCaps) most =
    gst_caps_from_string ("other/tensors,format=static,num_tensors=64,framerate=25/1");
  g_autoptr (GstCaps) more =
    gst_caps_from_string ("other/tensors,format=static,num_tensors=65,framerate=25/1");
  g_assert_cmpint (SL_MAX_IO, ==, 64);
  g_assert_true (gst_caps_is_subset (most, template));
  g_assert_false (gst_caps_can_intersect (more, template));
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/tensorcaps/spelling", picture_spellings, test_spelling);
  TEST_ADD_CASES ("/tensorcaps/parse", parse_cases, test_parse);
  g_test_add_func ("/tensorcaps/parse-order", test_parse_order);
  g_test_add_func ("/tensorcaps/several", test_several);
  g_test_add_func ("/tensorcaps/same", test_same);
  g_test_add_func ("/tensorcaps/contract", test_contract);
  g_test_add_func ("/tensorcaps/template", test_template);
  return test_elements_run ();
}
