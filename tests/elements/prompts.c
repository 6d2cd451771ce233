/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Classes that change while frames flow: a text model of a table of colours, a model that compares
 * the mean colour of a frame with embeddings, and one whose output is that colour. Each frame in
 * gives one answer out, of the classes before or after.
 */
#include <math.h>
#include <string.h>

#include "tests/elements/support.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define CAPS "video/x-raw,format=RGB,width=8,height=8,framerate=25/1"
#define WORDS 4
#define FRAMES 20

static const char tokenizer[] =
  "{\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"padding\":{\"strategy\":{\"Fixed\":2},"
  "\"pad_id\":0},\"truncation\":{\"max_length\":2},\"model\":{\"type\":\"WordPiece\","
  "\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"red\":1,\"green\":2,\"blue\":3}}}";

typedef struct
{
  TestLine line;
  GstElement *predict;
  char *model, *text, *tokens;
} Fixture;

static char *
save (const char *name, const SlOnnxWriter *writer)
{
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  g_autofree char *path = test_text_file (name, "");
  const char *data = g_bytes_get_data (bytes, NULL);
  g_assert_true (g_file_set_contents (path, data, (gssize) g_bytes_get_size (bytes), NULL));
  return g_steal_pointer (&path);
}

static char *
write_text_model (void)
{
  static const gfloat colours[WORDS * 3] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "input_ids", SL_ONNX_INT64, 2, (gint64[]){ 1, 2 });
  sl_onnx_writer_floats (w, "table", 2, (gint64[]){ WORDS, 3 }, colours);
  sl_onnx_writer_node (w, "Gather", "table,input_ids", "rows", NULL);
  sl_onnx_writer_node (w, "ReduceSum", "rows,one", "text_embeds", "keepdims i 0", NULL);
  sl_onnx_writer_ints (w, "one", 1, (gint64[]){ 1 });
  sl_onnx_writer_output (w, "text_embeds", SL_ONNX_FLOAT);
  return save ("text.onnx", w);
}

/* How the classes come into the model. */
typedef enum
{
  COSINE, /* it knows none of them */
  INPUT,  /* embeddings are an input */
  INSIDE  /* it has the text model, and an output that is -infinity, as where a token is none */
} Kind;

/* (transfer full): numbers of all classes from tokens. */
static char *
write_whole_model (void)
{
  static const gfloat colours[WORDS * 3] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  const gfloat none = -INFINITY;
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "input_ids", SL_ONNX_INT64, 2, (gint64[]){ 0, 0 });
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, 4, 4 });
  sl_onnx_writer_floats (w, "table", 2, (gint64[]){ WORDS, 3 }, colours);
  sl_onnx_writer_floats (w, "none", 1, (gint64[]){ 1 }, &none);
  sl_onnx_writer_ints (w, "one", 1, (gint64[]){ 1 });
  sl_onnx_writer_ints (w, "row", 2, (gint64[]){ 1, 3 });
  sl_onnx_writer_node (w, "Gather", "table,input_ids", "words", NULL);
  sl_onnx_writer_node (w, "ReduceSum", "words,one", "rows", "keepdims i 0", NULL);
  sl_onnx_writer_node (w, "Transpose", "rows", "columns", "perm I 1,0", NULL);
  sl_onnx_writer_node (w, "GlobalAveragePool", "x", "means", NULL);
  sl_onnx_writer_node (w, "Reshape", "means,row", "colour", NULL);
  sl_onnx_writer_node (w, "MatMul", "colour,columns", "logits_per_image", NULL);
  sl_onnx_writer_node (w, "Add", "logits_per_image,none", "masked", NULL);
  sl_onnx_writer_output (w, "logits_per_image", SL_ONNX_FLOAT);
  sl_onnx_writer_output (w, "masked", SL_ONNX_FLOAT);
  return save ("model.onnx", w);
}

static char *
write_model (gboolean takes)
{
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, 4, 4 });
  if (takes)
    sl_onnx_writer_input (w, "e", SL_ONNX_FLOAT, 2, (gint64[]){ 0, 3 });
  sl_onnx_writer_ints (w, "row", 2, (gint64[]){ 1, 3 });
  sl_onnx_writer_node (w, "GlobalAveragePool", "x", "means", NULL);
  sl_onnx_writer_node (w, "Reshape", "means,row", takes ? "colour" : "y", NULL);
  if (takes) {
    sl_onnx_writer_node (w, "Transpose", "e", "columns", "perm I 1,0", NULL);
    sl_onnx_writer_node (w, "MatMul", "colour,columns", "y", NULL);
  }
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  return save ("model.onnx", w);
}

static Fixture
setup (Kind kind)
{
  static const char *const decoders[] = {
    [COSINE] = "words", [INPUT] = "labels,activation=softmax", [INSIDE] = "words"
  };
  Fixture fixture = { .model = kind == INSIDE ? write_whole_model () : write_model (kind == INPUT),
                      .text = write_text_model (),
                      .tokens = test_text_file ("tokenizer.json", tokenizer) };
  g_autofree char *launch = g_strdup_printf (
    "slpredict name=it model=%s mean=0 std=255 decoder=%s %s%s tokenizer=%s "
    "prompts=\"rot=red;gruen=green\"",
    fixture.model, decoders[kind],
    kind == INSIDE ? "" : "text-model=", kind == INSIDE ? "" : fixture.text, fixture.tokens);
  fixture.line = test_line_open (launch, "text/x-raw,format=utf8", CAPS);
  fixture.predict = gst_bin_get_by_name (GST_BIN (fixture.line.harness->element), "it");
  return fixture;
}

static void
teardown (Fixture *fixture)
{
  gst_object_unref (fixture->predict);
  test_line_close (fixture->line.harness, fixture->line.bus);
  char *files[] = { fixture->model, fixture->text, fixture->tokens };
  test_remove_files (files, G_N_ELEMENTS (files));
}

/* To more classes, to others of the same number, to the same names of other colours. */
static void
test_change (gconstpointer data)
{
  Fixture fixture = setup ((Kind) GPOINTER_TO_INT (data));
  char word[16];
  test_see_green (fixture.line.harness, CAPS, word);
  g_assert_cmpstr (word, ==, "gruen");
  g_object_set (fixture.predict, "prompts", "bleu=blue;vert=green;rouge=red", NULL);
  test_see_switch (fixture.line.harness, CAPS, "gruen", "vert");
  g_object_set (fixture.predict, "prompts", "azul=blue;verde=green;rojo=red", NULL);
  test_see_switch (fixture.line.harness, CAPS, "vert", "verde");
  g_object_set (fixture.predict, "prompts", "verde=blue;azul=green;rojo=red", NULL);
  test_see_switch (fixture.line.harness, CAPS, "verde", "azul");
  test_assert_no_error (fixture.line.bus);
  teardown (&fixture);
}

/* Prompts without a sentence: the classes before go on, and the property says so. */
static void
test_bad (void)
{
  Fixture fixture = setup (INPUT);
  char word[16];
  test_see_green (fixture.line.harness, CAPS, word);
  g_object_set (fixture.predict, "prompts", "red;;green", NULL);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (fixture.line.bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_WARNING);
  g_autoptr (GError) error = NULL;
  g_autofree char *prompts = NULL;
  gst_message_parse_warning (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, "prompts=red;;green: expected 1 to 1000 classes"));
  for (guint i = 0; i < FRAMES; i++) {
    test_see_green (fixture.line.harness, CAPS, word);
    g_assert_cmpstr (word, ==, "gruen");
  }
  g_object_get (fixture.predict, "prompts", &prompts, NULL);
  g_assert_cmpstr (prompts, ==, "rot=red;gruen=green");
  teardown (&fixture);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_data_func ("/prompts/change/input", GINT_TO_POINTER (INPUT), test_change);
  g_test_add_data_func ("/prompts/change/cosine", GINT_TO_POINTER (COSINE), test_change);
  g_test_add_data_func ("/prompts/change/inside", GINT_TO_POINTER (INSIDE), test_change);
  g_test_add_func ("/prompts/bad", test_bad);
  return test_elements_run ();
}
