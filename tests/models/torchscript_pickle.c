/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TorchScript's archives and pickles: real files as torch reads them, and what pickles must not do.
 */
#include <math.h>
#include <string.h>

#include "models/torch/pickle.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"
#include "tests/support/torchscript_writer.h"

#define HEAP ((gsize) 16 << 20)

typedef struct
{
  GBytes *bytes;
  SlGraph *graph;
  TsArchive *archive;
  TsHeap heap;
  TsValue value;
} Loaded;

static void
load (Loaded *loaded, GBytes *bytes, const char *name)
{
  g_autoptr (GError) error = NULL;
  *loaded = (Loaded){ .bytes = bytes, .graph = sl_graph_new (bytes) };
  ts_heap_init (&loaded->heap, HEAP);
  loaded->archive = ts_archive_open (bytes, loaded->graph, &error);
  g_assert_no_error (error);
  ts_pickle_read (&loaded->heap, loaded->archive, name, &loaded->value);
}

static void
unload (Loaded *loaded)
{
  ts_archive_free (loaded->archive);
  ts_heap_clear (&loaded->heap);
  sl_graph_unref (loaded->graph);
  g_bytes_unref (loaded->bytes);
}

static gboolean
load_file (Loaded *loaded, const char *relative, const char *name)
{
  g_autofree char *path = sl_test_data (relative);
  char *data;
  gsize length;
  if (path == NULL)
    return FALSE;
  g_assert_true (g_file_get_contents (path, &data, &length, NULL));
  load (loaded, g_bytes_new_take (data, length), name);
  g_assert_no_error (loaded->heap.error);
  return TRUE;
}

static TsValue
at (TsValue object, const char *path)
{
  g_auto (GStrv) names = g_strsplit (path, "/", -1);
  for (guint i = 0; names[i] != NULL; i++) {
    g_assert_cmpint (object.kind, ==, TS_OBJECT);
    const TsValue *next = ts_attribute (object.object, names[i]);
    g_assert_nonnull (next);
    object = *next;
  }
  return object;
}

/* Numbers printed by torch 1.13. */
static void
test_floats (void)
{
  static const struct
  {
    const char *name;
    guint rank;
    gint32 dims[4];
    gdouble first, last, sum;
  } rows[] = {
    { "mnist/conv1/weight",
      4,
      { 6, 1, 5, 5 },
      0.06146923080086708,
      0.12409614771604538,
      1.5822398755699396 },
    { "mnist/conv2/weight",
      4,
      { 16, 6, 5, 5 },
      -0.09757363796234131,
      0.017470460385084152,
      -35.01657782326947 },
    { "mnist/fc2/bias",
      1,
      { 10 },
      0.006291180849075317,
      -0.11807244271039963,
      -0.3292011050507426 },
    { "means", 4, { 1, 1, 1, 1 }, 0.1307000070810318, 0.1307000070810318, 0.1307000070810318 },
  };
  Loaded loaded;
  if (!load_file (&loaded, "models/pytorch_lenet5.pt", "data"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const TsValue value = at (loaded.value, rows[i].name);
    gdouble sum = 0;
    g_assert_cmpint (value.kind, ==, TS_TENSOR);
    g_assert_cmpint (value.tensor->dtype, ==, TS_FLOAT32);
    g_assert_cmpuint (value.tensor->rank, ==, rows[i].rank);
    g_assert_cmpmem (value.tensor->dims, rows[i].rank * sizeof (gint32), rows[i].dims,
                     rows[i].rank * sizeof (gint32));
    const gsize n = ts_tensor_elements (value.tensor);
    const gdouble *numbers = ts_tensor_floats (&loaded.heap, value.tensor, n);
    for (gsize k = 0; k < n; k++)
      sum += numbers[k];
    g_assert_true (numbers[0] == rows[i].first && numbers[n - 1] == rows[i].last);
    g_assert_cmpfloat_with_epsilon (sum, rows[i].sum, 1e-9);
  }
  unload (&loaded);
}

/* The first quantised convolution by torch: weights are stored with channels last, and stay in the
 * file so. */
static void
test_quantised (void)
{
  static const gint64 first[] = { -19, 38, -13, 5, -7 };
  Loaded loaded;
  if (!load_file (&loaded, "formats/models/mobilenet_v2_035.qnnpack.mobile.ptl", "constants"))
    return;
  const TsValue value = loaded.value.list->items[0];
  g_assert_cmpint (value.kind, ==, TS_PACKED);
  const TsPacked *packed = value.packed;
  g_assert_cmpint (packed->kind, ==, TS_PACKED_QUANTIZED_CONV);
  g_assert_true (packed->stride[0] == 2 && packed->stride[1] == 2 && packed->padding[0] == 1
                 && packed->dilation[1] == 1);
  g_assert_true (packed->groups == 1 && !packed->transposed && packed->bias->dims[0] == 16);
  g_assert_cmpfloat (packed->weight->quant.scales[0], ==, 0.010365468449890614);
  g_assert_cmpint (packed->weight->quant.zero_points[0], ==, 0);
  const gint64 *codes = ts_tensor_ints (&loaded.heap, packed->weight, 432);
  gint64 sum = 0;
  for (guint i = 0; i < 432; i++)
    sum += codes[i];
  g_assert_cmpmem (codes, sizeof first, first, sizeof first);
  g_assert_cmpint (sum, ==, 11);

  Lower onnx = { .graph = loaded.graph,
                 .arena = sl_graph_arena (loaded.graph),
                 .scratch = sl_arena_new (),
                 .may_copy = 0 };
  LowerValue *constant = ts_tensor_value (&onnx, &loaded.heap, packed->weight);
  g_assert_no_error (onnx.error);
  g_assert_no_error (loaded.heap.error);
  g_assert_true (lower_is_last (constant));
  const SlTensor *tensor = sl_graph_tensor (loaded.graph, constant->last);
  const guint8 *start = g_bytes_get_data (loaded.bytes, NULL);
  g_assert_true ((const guint8 *) tensor->data > start
                 && (const guint8 *) tensor->data < start + g_bytes_get_size (loaded.bytes));
  g_assert_cmpint (tensor->dims[3], ==, 3);
  g_assert_cmpint (((const gint8 *) tensor->data)[3], ==, 38);
  sl_arena_free (onnx.scratch);
  unload (&loaded);
}

/* A module of a class with __setstate__ has what that is to be called with. */
static void
test_state (void)
{
  Loaded loaded;
  if (!load_file (&loaded, "formats/models/mobilenet_v2_035.qnnpack.scripted.pt", "data"))
    return;
  const TsObject *conv = at (loaded.value, "features/0/0").object;
  g_assert_true (conv->has_state && conv->state.kind == TS_TUPLE);
  g_assert_cmpstr (strrchr (conv->class_name, '.'), ==, ".ConvReLU2d");
  g_assert_cmpuint (conv->attributes->n, ==, 0);
  g_assert_cmpint (conv->state.list->items[10].tensor->dtype, ==, TS_QINT8);
  unload (&loaded);
}

/* Every file there is: modules and constants are read. */
static void
test_files (void)
{
  g_autofree char *folder = sl_test_data ("formats/models");
  g_autoptr (GDir) dir = folder != NULL ? g_dir_open (folder, 0, NULL) : NULL;
  guint n = 0;
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    if (!g_str_has_suffix (name, ".pt") && !g_str_has_suffix (name, ".ptl")
        && !g_str_has_suffix (name, ".torchscript"))
      continue;
    g_autofree char *relative = g_build_filename ("formats/models", name, NULL);
    Loaded loaded;
    g_assert_true (load_file (&loaded, relative, "data"));
    g_assert_cmpint (loaded.value.kind, ==, TS_OBJECT);
    unload (&loaded);
    g_assert_true (load_file (&loaded, relative, "constants"));
    g_assert_cmpint (loaded.value.kind, ==, TS_TUPLE);
    unload (&loaded);
    n++;
  }
  g_assert_true (dir == NULL || n > 10);
}

static void
test_types (void)
{
  SlTorchscriptWriter *writer = sl_torchscript_writer_new ();
  GByteArray *pickle = sl_pickle_new ();
  const guint16 halves[3] = { 0x3c00, 0xc000, 0x0001 };
  const gint64 longs[6] = { 1, -2, 3, 4, 5, G_MAXINT64 };
  const gint64 dims[2] = { 2, 3 }, turned[2] = { 1, 2 }, three[1] = { 3 };
  Loaded loaded;
  sl_pickle_raw (pickle, "(", 1);
  sl_pickle_tensor (pickle, "HalfStorage", "0", 3, three, NULL, 1);
  sl_pickle_tensor (pickle, "LongStorage", "1", 6, dims, turned, 2);
  sl_pickle_int (pickle, -70000);
  sl_pickle_int (pickle, G_MININT64);
  sl_pickle_raw (pickle, "\x8a\x01\xff", 3);
  sl_pickle_float (pickle, -0.1);
  sl_pickle_raw (pickle, "N\x88\x89t", 4);
  sl_pickle_finish (pickle, writer, "data.pkl");
  sl_torchscript_writer_add (writer, "data/0", halves, sizeof halves);
  sl_torchscript_writer_add (writer, "data/1", longs, sizeof longs);
  load (&loaded, sl_torchscript_writer_finish (writer), "data");
  g_assert_no_error (loaded.heap.error);
  const TsValue *items = loaded.value.list->items;
  g_assert_cmpuint (loaded.value.list->n, ==, 9);
  const gdouble *reals = ts_tensor_floats (&loaded.heap, items[0].tensor, 3);
  g_assert_true (reals[0] == 1 && reals[1] == -2 && reals[2] == ldexp (1, -24));
  const gint64 *wholes = ts_tensor_ints (&loaded.heap, items[1].tensor, 6);
  g_assert_true (wholes[0] == 1 && wholes[1] == 3 && wholes[2] == 5 && wholes[3] == -2
                 && wholes[5] == G_MAXINT64);
  g_assert_true (items[2].number == -70000 && items[3].number == G_MININT64 && items[4].number == -1
                 && items[5].real == -0.1);
  g_assert_true (items[6].kind == TS_NONE && items[7].truth && items[8].kind == TS_BOOL
                 && !items[8].truth);
  g_assert_null (ts_tensor_ints (&loaded.heap, items[1].tensor, 5));
  expect_error (&loaded.heap.error, SL_ERROR_UNSUPPORTED,
                "a tensor of int64 is not a constant of at most 5 whole numbers", NULL);
  unload (&loaded);
}

/* The writer behind the tables: @body between the protocol and the end, and storage 0 of 8 bytes.
 */
static void
refuse (const char *body, gsize length, SlError code, const char *text)
{
  SlTorchscriptWriter *writer = sl_torchscript_writer_new ();
  GByteArray *pickle = sl_pickle_new ();
  Loaded loaded;
  sl_pickle_raw (pickle, body, length);
  sl_pickle_finish (pickle, writer, "data.pkl");
  sl_torchscript_writer_add (writer, "data/0", "12345678", 8);
  load (&loaded, sl_torchscript_writer_finish (writer), "data");
  expect_error (&loaded.heap.error, code, "data.pkl, byte ", text, NULL);
  unload (&loaded);
}

static void
test_refused (void)
{
  static const struct
  {
    const char *body;
    gsize length;
    SlError code;
    const char *text;
  } rows[] = {
#define ROW(body, code, text) { body, sizeof body - 1, code, text }
    ROW ("cos\nsystem\nX\2\0\0\0ls\x85R", SL_ERROR_UNSUPPORTED,
         "it names 'os system', which no model of PyTorch's needs"),
    ROW ("cbuiltins\neval\n", SL_ERROR_UNSUPPORTED, "it names 'builtins eval'"),
    ROW ("ctorch._utils\n_rebuild_sparse_tensor\n", SL_ERROR_UNSUPPORTED,
         "nothing of this one is run"),
    ROW ("cos", SL_ERROR_FORMAT, "it ends within a name"),
    ROW ("X\2\0\0\0lsX\0\0\0\0\x85R", SL_ERROR_UNSUPPORTED,
         "it calls 'ls', which is not supported"),
    ROW ("K\1K\1R", SL_ERROR_FORMAT, "a function is called that is none"),
    ROW ("\1", SL_ERROR_UNSUPPORTED, "instruction 0x01, which torch.jit.save() does not write"),
    ROW ("c__torch__.torch.classes.vulkan\nConv2dOpContext\n)\x81", SL_ERROR_UNSUPPORTED,
         "class torch.classes.vulkan.Conv2dOpContext is not supported"),
    ROW ("c__torch__.torch.classes.quantized\nConv2dPackedParamsBase\n)\x81K\1\x85"
         "b",
         SL_ERROR_UNSUPPORTED, "of a form that is not known"),
    ROW ("c__torch__.torch.classes.xnnpack\nLinearOpContext\n)\x81(NNNNtb", SL_ERROR_FORMAT,
         "the state of packed parameters is not"),
    ROW ("X\1\0\0\0x)\x81", SL_ERROR_FORMAT, "an object is made of what is no class"),
    ROW ("c__torch__\nNet\n)\x81}(K\1K\2ub", SL_ERROR_FORMAT, "an attribute has no name"),
    ROW ("NNb", SL_ERROR_FORMAT, "an instruction fills what is no list"),
    ROW ("\x80\4", SL_ERROR_UNSUPPORTED, "pickle protocol 4; expected 2"),
    ROW ("I42\n", SL_ERROR_UNSUPPORTED, "instruction 0x49"),
    ROW ("\x85", SL_ERROR_FORMAT, "an instruction needs more values than there are"),
    ROW ("\x8a\x09"
         "123456789",
         SL_ERROR_UNSUPPORTED, "a whole number of 9 bytes"),
    ROW ("X\xff\xff\xff\xff", SL_ERROR_FORMAT, "it ends within an instruction"),
    ROW ("X\1\0\0\0\xff", SL_ERROR_FORMAT, "a string is not UTF-8"),
    ROW ("X\1\0\0\0\0", SL_ERROR_FORMAT, "a string is not UTF-8"),
    ROW ("t", SL_ERROR_FORMAT, "a mark that was not set"),
    ROW ("(NNe", SL_ERROR_FORMAT, "an instruction needs more values than there are"),
    ROW ("K\1(Ne", SL_ERROR_FORMAT, "an instruction fills what is no list"),
    ROW ("}(Nu", SL_ERROR_FORMAT, "a key without a value"),
    ROW ("}]Ns", SL_ERROR_UNSUPPORTED, "a key of type List"),
    ROW ("N(\x86", SL_ERROR_FORMAT, "an instruction needs more values than there are"),
    ROW ("Nr\1\0\0\0", SL_ERROR_LIMIT, "a value is remembered at place 1; expected at most 0"),
    ROW ("h\0", SL_ERROR_FORMAT, "a value is used that was not remembered"),
    ROW ("NQ", SL_ERROR_FORMAT, "a storage is not named as torch does it"),
    ROW ("ctorch._utils\n_rebuild_tensor_v2\n(NK\0))tR", SL_ERROR_FORMAT,
         "a tensor is not described as torch does it"),
#undef ROW
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    refuse (rows[i].body, rows[i].length, rows[i].code, rows[i].text);
}

static void
refuse_tensor (const char *type, const char *key, gint64 elements, guint rank, const gint64 *dims,
               const gint64 *strides, const char *text)
{
  g_autoptr (GByteArray) pickle = g_byte_array_new ();
  sl_pickle_tensor (pickle, type, key, elements, dims, strides, rank);
  refuse ((const char *) pickle->data, pickle->len,
          strstr (text, "dimensions") != NULL ? SL_ERROR_LIMIT : SL_ERROR_FORMAT, text);
}

/* Tensors of a storage of two floats. */
static void
test_tensors (void)
{
  const gint64 huge = (gint64) 1 << 40, nine[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
  refuse_tensor ("FloatStorage", "0", 3, 1, (const gint64[]){ 2 }, NULL,
                 "storage '0' has 8 bytes; expected 3 elements of float32");
  refuse_tensor ("FloatStorage", "1", 2, 1, (const gint64[]){ 2 }, NULL,
                 "the archive has no member 'model/data/1'");
  refuse_tensor ("FloatStorage", "0", -1, 1, (const gint64[]){ 2 }, NULL, "a storage is not named");
  refuse_tensor ("FloatStorage", "0", 2, 1, (const gint64[]){ 3 }, NULL,
                 "a tensor has elements outside its storage");
  refuse_tensor ("FloatStorage", "0", 2, 1, (const gint64[]){ 2 }, (const gint64[]){ 2 },
                 "a tensor has elements outside its storage");
  refuse_tensor ("FloatStorage", "0", 2, 2, (const gint64[]){ 65536, 65536 },
                 (const gint64[]){ 0, 0 }, "outside its storage");
  refuse_tensor ("FloatStorage", "0", 2, 1, (const gint64[]){ 2 }, &huge, "outside its storage");
  refuse_tensor ("FloatStorage", "0", 2, 1, &huge, NULL,
                 "sizes and strides are not whole numbers from 0 on");
  refuse_tensor ("FloatStorage", "0", 2, 9, nine, NULL,
                 "a tensor has 9 dimensions; expected at most 8");
  refuse_tensor ("QInt8Storage", "0", 2, 1, (const gint64[]){ 2 }, NULL,
                 "a tensor of a quantised type without a scale");
}

/* Endless growth ends at a bound: values on the stack, remembered ones, and lists that hold each
 * other. */
static void
test_bombs (void)
{
  g_autofree char *nones = g_strnfill (600000, 'N'), *marks = g_strnfill (600000, '(');
  g_autoptr (GByteArray) shared = g_byte_array_new (), memory = g_byte_array_new ();
  refuse (nones, 600000, SL_ERROR_LIMIT, "more than 262144 values on its stack");
  refuse (marks, 600000, SL_ERROR_LIMIT, "more than 262144 marks");
  sl_pickle_raw (memory, "N", 1);
  for (guint i = 0; i < 300000; i++) {
    const guint32 place = GUINT32_TO_LE (i);
    sl_pickle_raw (memory, "r", 1);
    sl_pickle_raw (memory, (const char *) &place, sizeof place);
  }
  refuse ((const char *) memory->data, memory->len, SL_ERROR_LIMIT,
          "a value is remembered at place 262144");
  /* Each list has the one before twice: 2^200 elements for a reader that follows them all. */
  sl_pickle_raw (shared, "]q\0", 3);
  for (guint i = 1; i < 200; i++) {
    const char step[] = { 'h', (char) (i - 1), 'h', (char) (i - 1), 'e', 'q', (char) i };
    sl_pickle_raw (shared, "](", 2);
    sl_pickle_raw (shared, step, sizeof step);
  }
  sl_pickle_raw (shared, "cos\nsystem\n", 11);
  refuse ((const char *) shared->data, shared->len, SL_ERROR_UNSUPPORTED, "it names 'os system'");
}

/* A list of many long tuples of one value each: the heap's bound ends it. */
static void
test_heap (void)
{
  g_autoptr (GByteArray) pickle = g_byte_array_new ();
  sl_pickle_raw (pickle, "(", 1);
  for (guint i = 0; i < 200000; i++)
    sl_pickle_raw (pickle, "})\x85\x85", 4);
  refuse ((const char *) pickle->data, pickle->len, SL_ERROR_LIMIT,
          "the program's values take more than 16777216 bytes");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/torchscript-pickle/floats", test_floats);
  g_test_add_func ("/models/torchscript-pickle/quantised", test_quantised);
  g_test_add_func ("/models/torchscript-pickle/state", test_state);
  g_test_add_func ("/models/torchscript-pickle/files", test_files);
  g_test_add_func ("/models/torchscript-pickle/types", test_types);
  g_test_add_func ("/models/torchscript-pickle/refused", test_refused);
  g_test_add_func ("/models/torchscript-pickle/tensors", test_tensors);
  g_test_add_func ("/models/torchscript-pickle/bombs", test_bombs);
  g_test_add_func ("/models/torchscript-pickle/heap", test_heap);
  return g_test_run ();
}
