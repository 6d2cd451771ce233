/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TorchScript archives that lie, and programs that would not end or would grow: each is refused
 * with a sentence, within a second and with little memory. Nothing that a pickle names is called.
 */
#include <glib/gstdio.h>

#include <string.h>

#include "tests/models/helpers.h"
#include "tests/support/program.h"
#include "tests/support/torchscript_writer.h"

static const char size_stated[] =
  "[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\ninput-shape=1,3,8,8\n";

static char *
write_archive (SlTorchscriptWriter *writer)
{
  gsize size;
  sl_torchscript_writer_text (writer, "extra/net.modelinfo", size_stated);
  g_autoptr (GBytes) bytes = sl_torchscript_writer_finish (writer);
  const char *data = g_bytes_get_data (bytes, &size);
  return write_temp ("model.pt", data, (gssize) size);
}

static void
refuse_archive (SlTorchscriptWriter *writer, SlError code, const char *text)
{
  g_autofree char *path = write_archive (writer);
  expect_file_refused (path, code, text);
  sl_tflite_remove_temp (path);
}

/* A module whose forward() has these lines, indented by four; @before goes before the class. */
static SlTorchscriptWriter *
write_program (const char *before, const char *body)
{
  SlTorchscriptWriter *writer = sl_torchscript_writer_new ();
  g_autofree char *program = g_strconcat (before,
                                          "class Net(Module):\n"
                                          "  __parameters__ = []\n"
                                          "  def forward(self: __torch__.Net,\n"
                                          "    x: Tensor) -> Tensor:\n",
                                          body, NULL);
  sl_torchscript_writer_add (writer, "code/__torch__.py", program, strlen (program));
  return writer;
}

static void
refuse_program (const char *before, const char *body, SlError code, const char *text)
{
  refuse_archive (write_program (before, body), code, text);
}

/* May be a model or not, but is soon known to be one. */
static void
bound_program (const char *body)
{
  g_autofree char *path = write_archive (write_program ("", body));
  g_autoptr (GError) error = NULL;
  SlModel *model = load_bounded (path, &error);
  sl_model_unref (model);
  sl_tflite_remove_temp (path);
}

/* So many numbers that their product leaves 64 bits. */
static void
test_normalized_shape (void)
{
  static const char *const bodies[] = {
    "    s = [32767, 32767, 32767, 32767, 32767, 32767, 32767, 32767]\n"
    "    return torch.layer_norm(x, s, None, None, 0.001)\n",
    "    s = [16384, 16384, 16384, 16384, 16384, 16384, 16384, 16384]\n"
    "    return torch.rms_norm(x, s)\n",
  };
  for (guint i = 0; i < G_N_ELEMENTS (bodies); i++)
    refuse_program ("", bodies[i], SL_ERROR_LIMIT, "2147483647 channels; expected 1 to 1048576");
}

static void
test_no_forward (void)
{
  static const char text[] = "class Net(Module):\n"
                             "  __parameters__ = []\n"
                             "  forward : int\n";
  SlTorchscriptWriter *writer = sl_torchscript_writer_new ();
  sl_torchscript_writer_add (writer, "code/__torch__.py", text, strlen (text));
  refuse_archive (writer, SL_ERROR_FORMAT, "an object of __torch__.Net has no attribute 'forward'");
}

static void
test_loops (void)
{
  refuse_program ("", "    a = True\n    while a:\n      b = 1\n    return x\n", SL_ERROR_LIMIT,
                  "steps");
  refuse_program ("", "    for i in range(4611686018427387904):\n      pass\n    return x\n",
                  SL_ERROR_LIMIT, "steps");
  refuse_program (
    "", "    y = x\n    for i in range(1000000):\n      y = torch.add(y, x)\n    return y\n",
    SL_ERROR_LIMIT, "");
  refuse_program (
    "",
    "    y = x\n    for i in range(1000000):\n      y = torch.add(torch.size(x, 0), 1)\n"
    "    return x\n",
    SL_ERROR_LIMIT, "values take more than");
}

static void
test_growth (void)
{
  refuse_program (
    "", "    a = [1]\n    for i in range(100):\n      a = torch.add(a, a)\n    return x\n",
    SL_ERROR_LIMIT, "");
  refuse_program (
    "", "    a = \"ab\"\n    for i in range(100):\n      a = torch.add(a, a)\n    return x\n",
    SL_ERROR_LIMIT, "");
  refuse_program ("", "    a = torch.mul([0], 1099511627776)\n    return x\n", SL_ERROR_LIMIT, "");
  refuse_program (
    "",
    "    a = annotate(List[int], [])\n    for i in range(9000000):\n      _0 = torch.append(a, i)\n"
    "    return x\n",
    SL_ERROR_LIMIT, "");
  refuse_program ("",
                  "    a = annotate(Dict[int, int], {})\n    for i in range(9000000):\n"
                  "      torch._set_item(a, i, i)\n    return x\n",
                  SL_ERROR_LIMIT, "");
}

/* Each write through a stepped slice tells all places of what it is a part of. */
static void
test_stepped_writes (void)
{
  refuse_program ("",
                  "    y = torch.expand(torch.zeros([1]), [33554432])\n"
                  "    for i in range(4000):\n"
                  "      _0 = torch.fill_(torch.slice(y, 0, 0, 9223372036854775807, 2), i)\n"
                  "    return torch.add(x, torch.sum(y))\n",
                  SL_ERROR_LIMIT, "");
}

/* Weights [4,2] with two scales along dimension 1, as constant c0: a linear layer of four outputs
 * has no scale for the last two. */
static void
test_scales (void)
{
  static const gint64 two[1] = { 2 };
  static const gdouble scales[2] = { 0.5, 0.25 };
  static const gint64 zeros[2] = { 0 };
  static const gint8 codes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  SlTorchscriptWriter *writer =
    write_program ("", "    q = torch.quantize_per_tensor(x, 0.5, 0, 13)\n"
                       "    p = ops.quantized.linear_prepack(CONSTANTS.c0, torch.ones([4]))\n"
                       "    return torch.dequantize(ops.quantized.linear(q, p, 0.5, 0))\n");
  GByteArray *pickle = sl_pickle_new ();
  sl_pickle_raw (pickle, "(", 1);
  sl_pickle_global (pickle, "torch._utils", "_rebuild_qtensor");
  sl_pickle_raw (pickle, "((", 2);
  sl_pickle_text (pickle, "storage");
  sl_pickle_global (pickle, "torch", "QInt8Storage");
  sl_pickle_text (pickle, "0");
  sl_pickle_text (pickle, "cpu");
  sl_pickle_int (pickle, 8);
  sl_pickle_raw (pickle, "tQK\0(K\4K\2t(K\2K\1t(", 17);
  sl_pickle_global (pickle, "torch", "per_channel_affine");
  sl_pickle_tensor (pickle, "DoubleStorage", "1", 2, two, NULL, 1);
  sl_pickle_tensor (pickle, "LongStorage", "2", 2, two, NULL, 1);
  sl_pickle_raw (pickle, "K\1t\x89", 4);
  sl_pickle_global (pickle, "collections", "OrderedDict");
  sl_pickle_raw (pickle, ")RtRt", 5);
  sl_pickle_finish (pickle, writer, "constants.pkl");
  sl_torchscript_writer_add (writer, "constants/0", codes, sizeof codes);
  sl_torchscript_writer_add (writer, "constants/1", scales, sizeof scales);
  sl_torchscript_writer_add (writer, "constants/2", zeros, sizeof zeros);
  refuse_archive (
    writer, SL_ERROR_FORMAT,
    "its weights have 2 scales along dimension 1; expected one, or 4 along the output channels");
}

/* Lists that have the one before twice: 2^60 elements for a reader that follows them all. */
static void
test_nested (void)
{
  static const char nest[] =
    "    a = annotate(List[Any], [])\n    for i in range(60):\n      a = [a, a]\n";
  static const char *const uses[] = {
    "    b = str(a)\n    return torch.add(x, torch.len(b))\n",
    "    b = torch.format(\"{}\", a)\n    return torch.add(x, torch.len(b))\n",
    ("    c = annotate(List[Any], [])\n    for i in range(60):\n      c = [c, c]\n"
     "    return torch.add(x, int(torch.eq(a, c)))\n"),
    "    return torch.tensor(a)\n",
    "    return a\n",
    "    return torch.stack(a)\n",
    "    return torch.add(x, int(torch.__contains__(a, a)))\n",
  };
  for (guint i = 0; i < G_N_ELEMENTS (uses); i++) {
    g_autofree char *body = g_strconcat (nest, uses[i], NULL);
    bound_program (body);
  }
}

static void
test_tensors (void)
{
  static const char *const bodies[] = {
    "    return torch.zeros([1048576, 1048576])\n",
    "    return torch.ones([2147483647])\n",
    "    return torch.add(x, torch.full([100000, 100000], 1.5))\n",
    "    return torch.arange(1099511627776)\n",
    "    return torch.repeat(x, [4096, 4096, 64, 64])\n",
    "    return torch.add(torch.expand(torch.zeros([1]), [65536, 65536]), 1)\n",
    ("    y = torch.zeros([64, 64])\n    for i in range(40):\n      y = torch.cat([y, y], 0)\n"
     "    return y\n"),
    "    y = x\n    for i in range(40):\n      y = torch.cat([y, y], 0)\n    return y\n",
    "    return torch.upsample_nearest2d(x, [1000000, 1000000], None)\n",
  };
  for (guint i = 0; i < G_N_ELEMENTS (bodies); i++)
    refuse_program ("", bodies[i], SL_ERROR_LIMIT, "");
}

static void
test_recursion (void)
{
  g_autofree char *open = g_strnfill (100000, '('), *list = g_strnfill (100000, '['),
                  *minus = g_strnfill (100000, '-');
  g_autofree char *deep = g_strconcat ("    a = ", open, "\n    return x\n", NULL);
  g_autofree char *lists = g_strconcat ("    a = ", list, "\n    return x\n", NULL);
  g_autofree char *signs = g_strconcat ("    a = ", minus, "1\n    return x\n", NULL);
  g_autoptr (GString) nested = g_string_new (NULL), calls = g_string_new ("    return ");
  refuse_program ("def f(x: Tensor) -> Tensor:\n  return __torch__.f(x)\n",
                  "    return __torch__.f(x)\n", SL_ERROR_LIMIT, "more than 200 deep");
  refuse_program ("", "    return (self).forward(x, )\n", SL_ERROR_LIMIT, "more than 200 deep");
  refuse_program ("", deep, SL_ERROR_FORMAT, "nested more than 200 deep");
  refuse_program ("", lists, SL_ERROR_FORMAT, "nested more than 200 deep");
  refuse_program ("", signs, SL_ERROR_FORMAT, "nested more than 200 deep");
  for (guint i = 0; i < 2000; i++) {
    g_string_append_printf (nested, "%*sif True:\n", 4 + (gint) i, "");
    g_string_append (calls, "torch.neg(");
  }
  g_string_append_printf (nested, "%*spass\n    return x\n", 2004, "");
  g_string_append (calls, "x\n");
  refuse_program ("", nested->str, SL_ERROR_FORMAT, "more than 63 blocks inside each other");
  refuse_program ("", calls->str, SL_ERROR_FORMAT, "nested more than 200 deep");
}

/* Texts that are no Python, and names of nothing. */
static void
test_texts (void)
{
  g_autofree char *digits = g_strnfill (10000, '9'), *name = g_strnfill (10000, 'a'),
                  *spaces = g_strnfill (8000000, ' ');
  g_autofree char *number = g_strconcat ("    return torch.add(x, ", digits, ")\n", NULL);
  g_autofree char *call = g_strconcat ("    return torch.", name, "(x)\n", NULL);
  SlTorchscriptWriter *writer = sl_torchscript_writer_new ();
  refuse_program ("", number, SL_ERROR_FORMAT, "");
  refuse_program ("", call, SL_ERROR_UNSUPPORTED, "");
  refuse_program ("", "    return ops.os.system(\"ls\")\n", SL_ERROR_UNSUPPORTED,
                  "os::system: this operator is not supported");
  refuse_program ("", "    return __import__(\"os\")\n", SL_ERROR_FORMAT,
                  "nothing is called '__import__' here");
  refuse_program ("", "    return open(\"/etc/passwd\")\n", SL_ERROR_FORMAT,
                  "nothing is called 'open' here");
  sl_torchscript_writer_text (writer, "code/__torch__.py", spaces);
  refuse_archive (writer, SL_ERROR_LIMIT, "member 'model/code/__torch__.py' has 8000000 bytes");
}

static void
refuse_pickle (const char *member, GByteArray *pickle, SlError code, const char *text)
{
  SlTorchscriptWriter *writer = sl_torchscript_writer_new ();
  sl_torchscript_writer_text (
    writer, "code/__torch__.py",
    "class Net(Module):\n  def forward(self, x: Tensor) -> Tensor:\n    return x\n");
  sl_pickle_finish (pickle, writer, member);
  refuse_archive (writer, code, text);
}

static void
test_pickles (void)
{
  static const char *const members[] = { "data.pkl", "constants.pkl" };
  g_autofree char *folder = g_dir_make_tmp ("sightline-XXXXXX", NULL),
                  *trace = g_build_filename (folder, "ran", NULL);
  g_autofree char *command = g_strdup_printf ("touch %s", trace);
  for (guint i = 0; i < G_N_ELEMENTS (members); i++) {
    GByteArray *call = sl_pickle_new (), *values = sl_pickle_new (), *marks = sl_pickle_new (),
               *nested = sl_pickle_new ();
    sl_pickle_global (call, "os", "system");
    sl_pickle_text (call, command);
    sl_pickle_raw (call, "\x85R", 2);
    refuse_pickle (members[i], call, SL_ERROR_UNSUPPORTED,
                   "it names 'os system', which no model of PyTorch's needs");
    g_assert_false (g_file_test (trace, G_FILE_TEST_EXISTS));
    for (guint k = 0; k < 4000000; k++)
      sl_pickle_raw (values, "N", 1);
    refuse_pickle (members[i], values, SL_ERROR_LIMIT, "values on its stack");
    for (guint k = 0; k < 1000000; k++)
      sl_pickle_raw (marks, "(", 1);
    refuse_pickle (members[i], marks, SL_ERROR_LIMIT, "marks");
    for (guint k = 0; k < 4000000; k++)
      sl_pickle_raw (nested, "]\x85", 2);
    refuse_pickle (members[i], nested, SL_ERROR_LIMIT, "values on its stack");
  }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/torchscript-hostile/no-forward", test_no_forward);
  g_test_add_func ("/models/torchscript-hostile/normalized-shape", test_normalized_shape);
  g_test_add_func ("/torchscript-hostile/loops", test_loops);
  g_test_add_func ("/torchscript-hostile/growth", test_growth);
  g_test_add_func ("/torchscript-hostile/stepped-writes", test_stepped_writes);
  g_test_add_func ("/torchscript-hostile/scales", test_scales);
  g_test_add_func ("/torchscript-hostile/nested", test_nested);
  g_test_add_func ("/torchscript-hostile/tensors", test_tensors);
  g_test_add_func ("/torchscript-hostile/recursion", test_recursion);
  g_test_add_func ("/torchscript-hostile/texts", test_texts);
  g_test_add_func ("/torchscript-hostile/pickles", test_pickles);
  return g_test_run ();
}
