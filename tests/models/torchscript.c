/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The TorchScript reader: archives of torch's that are no programs, the size of inputs, and what
 * extra files say. */
#include <string.h>

#include "tests/models/helpers.h"
#include "tests/support/program.h"
#include "tests/support/torchscript_writer.h"
#include "models/zip_writer.h"

static const char program[] = "class Net(Module):\n"
                              "  def forward(self: __torch__.Net,\n"
                              "    x: Tensor) -> Tensor:\n"
                              "    return torch.relu(x)\n";

/* What the reader makes of an archive, up to the end of its program. */
static gboolean
read_with (SlTorchscriptWriter *writer, const char *input_shape, SlModelMetadata *metadata,
           GError **error)
{
  g_autoptr (GBytes) bytes = sl_torchscript_writer_finish (writer);
  g_autoptr (SlGraph) graph = sl_graph_new (bytes);
  g_assert_true (sl_reader_find (bytes) == &sl_reader_torchscript);
  return sl_reader_torchscript.read (
    bytes, &(SlReaderSource){ .path = "/nowhere/model.pt", .input_shape = input_shape }, graph,
    metadata, error);
}

static SlTorchscriptWriter *
net (void)
{
  SlTorchscriptWriter *writer = sl_torchscript_writer_new ();
  sl_torchscript_writer_text (writer, "code/__torch__.py", program);
  return writer;
}

static void
refuse_archive (const char *first, const char *second, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GByteArray) out = g_byte_array_new ();
  ZipMember members[] = { { (char *) first, g_bytes_new_static ("\x80\2N.", 4), FALSE },
                          { (char *) second, g_bytes_new_static ("\x80\2N.", 4), FALSE } };
  zip_append (out, members, G_N_ELEMENTS (members));
  g_autofree char *path = write_temp ("model.pt", (const char *) out->data, out->len);
  g_assert_null (sl_model_load (path, NULL, &error));
  expect_error (&error, SL_ERROR_UNSUPPORTED, path, text, NULL);
  sl_tflite_remove_temp (path);
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    g_bytes_unref (members[i].data);
}

static void
test_kinds (void)
{
  refuse_archive (
    "archive/data.pkl", "archive/data/0",
    "a PyTorch file without a program: a pickled Python module, or weights alone (state_dict); "
    "load it in Python, then export the model with torch.export.save(torch.export.export(model.eval"
    "(), (example,)), 'model.pt2'), with torch.jit.script(model.eval()).save('model.pt')");
  refuse_archive ("archive/data.pkl", "archive/code/__torch__.py",
                  "a PyTorch file without a program");
  refuse_archive ("model/model.json", "model/tensors/data.pkl",
                  "TorchScript of PyTorch before 1.4");
  refuse_archive ("model/other", "model/x/data.pkl",
                  "a zip archive of PyTorch's: no data.pkl in it");
}

static void
refuse (SlTorchscriptWriter *writer, const char *input_shape, SlError code, const char *text)
{
  g_autoptr (GError) error = NULL;
  SlModelMetadata metadata = { 0 };
  g_assert_false (read_with (writer, input_shape, &metadata, &error));
  expect_error (&error, code, text, NULL);
  sl_model_metadata_clear (&metadata);
}

static void
test_shapes (void)
{
  refuse (net (), NULL, SL_ERROR_SHAPE,
          "the file does not state the size of its input; state it, for example as "
          "input-shape=1,3,224,224");
  refuse (net (), "1,3,0,4", SL_ERROR_ARGUMENT,
          "input-shape is '1,3,0,4'; expected whole numbers with ',' between");
  refuse (net (), "1,3,4,4;", SL_ERROR_ARGUMENT, "input-shape is '1,3,4,4;'");
}

static void
test_pickles (void)
{
  SlTorchscriptWriter *writer = net ();
  sl_torchscript_writer_add (writer, "data.pkl", "\x80\2N.", 4);
  refuse (writer, "1,3,4,4", SL_ERROR_FORMAT,
          "data.pkl holds a None and constants.pkl a Tuple; expected a module and a tuple");
  writer = net ();
  sl_torchscript_writer_add (writer, "data.pkl", "\x80\2cos\nsystem\nX\2\0\0\0ls\x85R.", 24);
  refuse (writer, "1,3,4,4", SL_ERROR_UNSUPPORTED, "data.pkl, byte 3: it names 'os system'");
}

/* A description of Ultralytics', labels and a description of our own, all saved as extra files. */
static void
test_extra (void)
{
  static const char config[] =
    "{\"task\": \"detect\", \"imgsz\": [32, 64], \"stride\": 32, \"names\": {\"0\": \"ball\", "
    "\"1\": \"exit\"}}";
  static const char info[] =
    "[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\nmean=127.5\nstd=127.5\n";
  SlModelMetadata metadata = { 0 };
  g_autoptr (GError) error = NULL;
  SlTorchscriptWriter *writer = net ();
  sl_torchscript_writer_text (writer, "extra/config.txt", config);
  sl_torchscript_writer_text (writer, "extra/other.bin", "x");
  read_with (writer, NULL, &metadata, &error);
  g_assert_cmpstr (metadata.decoder, ==, "yolo");
  g_assert_cmpstr (sl_labels_get (metadata.labels, 1), ==, "exit");
  g_assert_true (metadata.n_mean == 1 && metadata.std[0] == 255 && metadata.fit_letterbox);
  g_assert_cmpstr (metadata.description, ==, "Net");
  sl_model_metadata_clear (&metadata);
  g_clear_error (&error);

  metadata = (SlModelMetadata){ 0 };
  writer = net ();
  sl_torchscript_writer_text (writer, "extra/labels.txt", "one\ntwo\nthree\n");
  sl_torchscript_writer_text (writer, "extra/net.modelinfo", info);
  read_with (writer, "1,3,4,4", &metadata, &error);
  g_assert_cmpuint (sl_labels_count (metadata.labels), ==, 3);
  g_assert_cmpstr (metadata.info->keys.mean, ==, "127.5");
  sl_model_metadata_clear (&metadata);
}

static void
test_bad_extra (void)
{
  SlTorchscriptWriter *writer = net ();
  sl_torchscript_writer_text (writer, "extra/config.txt", "{{");
  refuse (writer, "1,3,4,4", SL_ERROR_FORMAT, "config.txt inside the model is not a dictionary");
  writer = net ();
  sl_torchscript_writer_text (writer, "extra/a.modelinfo",
                              "[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\nlabels=l.txt\n");
  refuse (writer, "1,3,4,4", SL_ERROR_CONTRACT,
          "extra file a.modelinfo inside the model: [sightline] labels: names the file ");
  writer = net ();
  sl_torchscript_writer_text (
    writer, "extra/a.modelinfo",
    "[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\ninput-shape=1,x\n");
  refuse (writer, NULL, SL_ERROR_ARGUMENT, "input-shape is '1,x'");
  for (guint i = 0; i < 3; i++) {
    static const char *const kinds[] = { "labels.txt", "config.txt", "b.modelinfo" };
    static const char *const texts[] = { "one\n", "{\"task\": \"classify\"}",
                                         "[modelinfo]\nversion=1.0\ngroup-id=x\n" };
    g_autofree char *name = g_strconcat ("extra/", kinds[i], NULL);
    g_autofree char *said = g_strdup_printf (
      "extra file %s inside the model: expected one of its kind, got another", kinds[i]);
    writer = net ();
    sl_torchscript_writer_text (writer, name, texts[i]);
    sl_torchscript_writer_text (writer, name, texts[i]);
    refuse (writer, "1,3,4,4", SL_ERROR_FORMAT, said);
  }
}

/* A module with a part of that class. */
static SlTorchscriptWriter *
net_with (const char *module, const char *class_name)
{
  SlTorchscriptWriter *writer = net ();
  GByteArray *pickle = sl_pickle_new ();
  sl_pickle_global (pickle, "__torch__", "Net");
  sl_pickle_raw (pickle, ")\x81}(", 4);
  sl_pickle_text (pickle, "model");
  sl_pickle_global (pickle, module, class_name);
  sl_pickle_raw (pickle, ")\x81}bub", 6);
  sl_pickle_finish (pickle, writer, "data.pkl");
  return writer;
}

static void
expect_hint (const char *module, const char *class_name, const char *hint)
{
  SlModelMetadata metadata = { 0 };
  g_autoptr (GError) error = NULL;
  read_with (net_with (module, class_name), "1,3,4,4", &metadata, &error);
  if (hint == NULL)
    g_assert_null (metadata.range_hint);
  else
    g_assert_nonnull (strstr (metadata.range_hint, hint));
  sl_model_metadata_clear (&metadata);
}

/* The message that asks for the range has the proposal behind its own ones. */
static void
test_range (void)
{
  gsize size;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes =
    sl_torchscript_writer_finish (net_with ("__torch__.torchvision.models.resnet", "ResNet"));
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *path = write_temp ("model.pt", data, (gssize) size);
  g_autoptr (SlModel) model =
    sl_model_load_with (path, NULL, &(SlModelLoadOptions){ .input_shape = "1,3,4,4" }, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_model_format (model), ==, "torchscript");
  g_assert_false (sl_contract_require_range (sl_model_contract (model), &error));
  expect_error (&error, SL_ERROR_CONTRACT, "input 'x' is float32[1,3,4,4]",
                ".modelinfo; torchvision's models are trained with mean=123.675,116.28,103.53 and "
                "std=58.395,57.12,57.375",
                NULL);
  sl_tflite_remove_temp (path);
}

/* What is known of a family of models is proposed, never taken. */
static void
test_hint (void)
{
  expect_hint ("__torch__.torchvision.models.resnet", "ResNet",
               "mean=123.675,116.28,103.53 and std=58.395,57.12,57.375");
  expect_hint ("__torch__.torchvision.models.detection.ssd", "SSD",
               "detectors take 0..1: mean=0 and std=255");
  expect_hint ("__torch__.ultralytics.nn.tasks", "DetectionModel", NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/torchscript/kinds", test_kinds);
  g_test_add_func ("/models/torchscript/shapes", test_shapes);
  g_test_add_func ("/models/torchscript/pickles", test_pickles);
  g_test_add_func ("/models/torchscript/extra", test_extra);
  g_test_add_func ("/models/torchscript/bad-extra", test_bad_extra);
  g_test_add_func ("/models/torchscript/hint", test_hint);
  g_test_add_func ("/models/torchscript/range", test_range);
  return g_test_run ();
}
