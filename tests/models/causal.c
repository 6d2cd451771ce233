/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text models of a fixed length: those that are causal are cut to the tokens that matter, and give
 * what double precision gives for all of them; others stay whole.
 */
#include <math.h>
#include <string.h>

#include "core/runtime/session.h"
#include "models/text_encoder.h"
#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define WHOLE 24 /* tokens of the file */
#define CUT 8
#define WIDTH 4
#define WORDS 8
#define END 7 /* the largest number: the token at the end of a text */

/* Ways to write a text model that change what may be left out. */
typedef enum
{
  CAUSAL,
  NAMED_END,   /* the place is that of the first END, not of the largest number */
  OPEN_MASK,   /* queries have all keys */
  HALF_MASK,   /* the lowest number of float16 hides later keys */
  TEXT_MASK,   /* -10000 does */
  SOFT_MASK,   /* later keys count little, but they count */
  MOVED_PLACE, /* the row before the largest number */
  BY_POSITION, /* the place depends on positions, too */
  MEAN         /* the mean of all rows */
} Form;

static const struct
{
  const char *name;
  guint tokens; /* that are left */
} forms[] = { [CAUSAL] = { "causal", CUT },
              [NAMED_END] = { "named-end", CUT },
              [OPEN_MASK] = { "open-mask", WHOLE },
              [HALF_MASK] = { "half-mask", CUT },
              [TEXT_MASK] = { "text-mask", CUT },
              [SOFT_MASK] = { "soft-mask", WHOLE },
              [MOVED_PLACE] = { "moved-place", WHOLE },
              [BY_POSITION] = { "by-position", WHOLE },
              [MEAN] = { "mean", WHOLE } };

typedef struct
{
  gfloat table[WORDS * WIDTH], places[WHOLE * WIDTH], weights[3][WIDTH * WIDTH],
    mask[WHOLE * WHOLE];
} Numbers;

static void
fill (GRand *random, gfloat *numbers, gsize n)
{
  for (gsize i = 0; i < n; i++)
    numbers[i] = (gfloat) g_rand_double_range (random, -1, 1);
}

static void
numbers_init (Numbers *numbers, Form form)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (11);
  fill (random, numbers->table, WORDS * WIDTH);
  fill (random, numbers->places, WHOLE * WIDTH);
  for (guint i = 0; i < 3; i++)
    fill (random, numbers->weights[i], WIDTH * WIDTH);
  for (guint q = 0; q < WHOLE; q++)
    for (guint k = 0; k < WHOLE; k++)
      numbers->mask[q * WHOLE + k] = k <= q || form == OPEN_MASK ? 0
                                     : form == SOFT_MASK         ? -3
                                     : form == HALF_MASK         ? -65504
                                     : form == TEXT_MASK         ? -10000
                                                                 : -INFINITY;
}

/* "place", one number, of "ids". */
static void
write_place (SlOnnxWriter *w, Form form)
{
  const char *from = "ids";
  if (form == NAMED_END) {
    sl_onnx_writer_ints (w, "end", 1, (gint64[]){ END });
    sl_onnx_writer_node (w, "Equal", "ids,end", "is_end", NULL);
    sl_onnx_writer_node (w, "Cast", "is_end", "ends", "to i 6", NULL);
    from = "ends";
  }
  if (form == BY_POSITION) {
    gint64 falling[WHOLE];
    for (guint i = 0; i < WHOLE; i++)
      falling[i] = i == WHOLE - 1 ? 0 : -1;
    sl_onnx_writer_ints (w, "falling", WHOLE, falling);
    sl_onnx_writer_node (w, "Add", "ids,falling", "moved", NULL);
    from = "moved";
  }
  sl_onnx_writer_node (w, "ArgMax", from, form == MOVED_PLACE ? "largest" : "place", "axis i 1",
                       "keepdims i 0", NULL);
  if (form == MOVED_PLACE) {
    sl_onnx_writer_ints (w, "back", 1, (gint64[]){ -1 });
    sl_onnx_writer_node (w, "Add", "largest,back", "place", NULL);
  }
}

/* (transfer full): the path of a text model: a table and positions, attention, and the row at the
 * place. */
static char *
write_model (const Numbers *numbers, Form form)
{
  static const char *const names[] = { "q", "k", "v" };
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "ids", SL_ONNX_INT64, 2, (gint64[]){ 1, WHOLE });
  sl_onnx_writer_floats (w, "table", 2, (gint64[]){ WORDS, WIDTH }, numbers->table);
  sl_onnx_writer_floats (w, "places", 2, (gint64[]){ WHOLE, WIDTH }, numbers->places);
  sl_onnx_writer_floats (w, "mask", 2, (gint64[]){ WHOLE, WHOLE }, numbers->mask);
  sl_onnx_writer_node (w, "Gather", "table,ids", "rows", NULL);
  sl_onnx_writer_node (w, "Add", "rows,places", "x", NULL);
  for (guint i = 0; i < 3; i++) {
    g_autofree char *weights = g_strconcat (names[i], "_weights", NULL),
                    *inputs = g_strconcat ("x,", weights, NULL);
    sl_onnx_writer_floats (w, weights, 2, (gint64[]){ WIDTH, WIDTH }, numbers->weights[i]);
    sl_onnx_writer_node (w, "MatMul", inputs, names[i], NULL);
  }
  sl_onnx_writer_node (w, "Transpose", "k", "turned", "perm I 0,2,1", NULL);
  sl_onnx_writer_node (w, "MatMul", "q,turned", "scores", NULL);
  sl_onnx_writer_node (w, "Add", "scores,mask", "masked", NULL);
  sl_onnx_writer_node (w, "Softmax", "masked", "shares", "axis i -1", NULL);
  sl_onnx_writer_node (w, "MatMul", "shares,v", "seen", NULL);
  sl_onnx_writer_node (w, "Add", "x,seen", "sums", NULL);
  sl_onnx_writer_ints (w, "flat", 2, (gint64[]){ WHOLE, WIDTH });
  sl_onnx_writer_node (w, "Reshape", "sums,flat", "all", NULL);
  if (form == MEAN)
    sl_onnx_writer_node (w, "ReduceMean", "all", "text_embeds", "axes I 0", "keepdims i 1", NULL);
  else {
    write_place (w, form);
    sl_onnx_writer_node (w, "Gather", "all,place", "text_embeds", NULL);
  }
  sl_onnx_writer_output (w, "text_embeds", SL_ONNX_FLOAT);
  sl_onnx_writer_output (w, "sums", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  return write_temp ("causal.onnx", g_bytes_get_data (bytes, NULL),
                     (gssize) g_bytes_get_size (bytes));
}

static void
multiply (const double *x, const gfloat *weights, double *out)
{
  for (guint i = 0; i < WIDTH; i++) {
    out[i] = 0;
    for (guint k = 0; k < WIDTH; k++)
      out[i] += x[k] * (double) weights[k * WIDTH + i];
  }
}

/* Row @row of the sums for all of @ids. */
static void
expected_row (const Numbers *numbers, const gint64 *ids, guint row, double *out)
{
  double x[WHOLE][WIDTH], shares[WHOLE], q[WIDTH], most = -INFINITY, sum = 0;
  for (guint i = 0; i < WHOLE; i++)
    for (guint k = 0; k < WIDTH; k++)
      x[i][k] = (double) (numbers->table[ids[i] * WIDTH + k] + numbers->places[i * WIDTH + k]);
  multiply (x[row], numbers->weights[0], q);
  for (guint i = 0; i < WHOLE; i++) {
    double k[WIDTH];
    multiply (x[i], numbers->weights[1], k);
    shares[i] = (double) numbers->mask[row * WHOLE + i];
    for (guint d = 0; d < WIDTH; d++)
      shares[i] += q[d] * k[d];
    most = fmax (most, shares[i]);
  }
  for (guint i = 0; i < WHOLE; i++)
    sum += exp (shares[i] - most);
  memcpy (out, x[row], sizeof x[row]);
  for (guint i = 0; i < WHOLE; i++) {
    double v[WIDTH];
    multiply (x[i], numbers->weights[2], v);
    for (guint d = 0; d < WIDTH; d++)
      out[d] += exp (shares[i] - most) / sum * v[d];
  }
}

static void
expected (const Numbers *numbers, Form form, const gint64 *ids, guint end, double *out)
{
  double row[WIDTH];
  if (form != MEAN) {
    expected_row (numbers, ids, form == MOVED_PLACE ? end - 1 : end, out);
    return;
  }
  memset (out, 0, sizeof row);
  for (guint i = 0; i < WHOLE; i++) {
    expected_row (numbers, ids, i, row);
    for (guint k = 0; k < WIDTH; k++)
      out[k] += row[k] / WHOLE;
  }
}

static SlModel *
load (const char *path, guint tokens)
{
  g_autoptr (GError) error = NULL;
  const SlModelLoadOptions options = { .tokens = tokens };
  SlModel *model = sl_model_load_with (path, NULL, &options, &error);
  g_assert_no_error (error);
  return model;
}

/* Runs @model on a text that ends at @end. */
static void
expect_text (SlModel *model, const Numbers *numbers, Form form, guint end)
{
  const SlContract *contract = sl_model_contract (model);
  gint64 ids[WHOLE] = { 0 };
  gfloat vector[WIDTH], *rows = sl_tensor_buffer_new (contract->outputs[1].bytes);
  double wanted[WIDTH];
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, NULL);
  for (guint i = 0; i < end; i++)
    ids[i] = 1 + (i * 5 + end) % (END - 1);
  ids[end] = END;
  expected (numbers, form, ids, end, wanted);
  g_assert_cmpuint (contract->outputs[0].bytes, ==, sizeof vector);
  g_assert_cmpint (sl_session_run (session, (const void *[]){ ids }, (void *[]){ vector, rows }),
                   ==, SL_STATUS_OK);
  for (guint k = 0; k < WIDTH; k++)
    g_assert_cmpfloat_with_epsilon ((double) vector[k], wanted[k], 1e-5);
  for (guint i = 0; i < (guint) contract->outputs[1].dims[1]; i++) {
    expected_row (numbers, ids, i, wanted);
    for (guint k = 0; k < WIDTH; k++)
      g_assert_cmpfloat_with_epsilon ((double) rows[i * WIDTH + k], wanted[k], 1e-5);
  }
  sl_tensor_buffer_free (rows);
}

static void
test_form (gconstpointer data)
{
  const Form form = (Form) GPOINTER_TO_UINT (data);
  g_autofree Numbers *numbers = g_new (Numbers, 1);
  numbers_init (numbers, form);
  g_autofree char *path = write_model (numbers, form);
  sl_tflite_make_old (path); /* so that models of one file share a graph */
  g_autoptr (SlModel) whole = load (path, 0);
  g_autoptr (SlModel) cut = load (path, CUT);
  g_autoptr (SlModel) longer = load (path, WHOLE + 1);
  g_assert_cmpint (sl_model_contract (whole)->inputs[0].dims[1], ==, WHOLE);
  g_assert_cmpint (sl_model_contract (longer)->inputs[0].dims[1], ==, WHOLE);
  g_assert_cmpint (sl_model_contract (cut)->inputs[0].dims[1], ==, (gint32) forms[form].tokens);
  for (guint end = 1; end < CUT - 1; end++) {
    expect_text (whole, numbers, form, end);
    expect_text (cut, numbers, form, end);
  }
  sl_tflite_remove_temp (path);
}

static const char tokenizer[] =
  "{\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"padding\":{\"strategy\":{\"Fixed\":24},"
  "\"pad_id\":0},\"truncation\":{\"max_length\":24},\"model\":{\"type\":\"WordPiece\","
  "\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,\"red\":2,\"cat\":3,\"end\":7}}}";

/* The longest sentence decides; one that needs all leaves the model whole. */
static void
test_encoder (void)
{
  static const struct
  {
    const char *text;
    guint tokens;
  } rows[] = { { "a cat end", 8 },
               { "a red red cat a red cat end", 16 },
               { "a a a a a a a a a a a a a a a a a end", WHOLE } };
  g_autofree Numbers *numbers = g_new (Numbers, 1);
  numbers_init (numbers, CAUSAL);
  g_autofree char *path = write_model (numbers, CAUSAL);
  g_autoptr (GBytes) bytes = g_bytes_new_static (tokenizer, strlen (tokenizer));
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTokenizer) tokens = sl_tokenizer_parse (bytes, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GPtrArray) texts = g_ptr_array_new ();
    double sum[WIDTH] = { 0 }, wanted[WIDTH], squares = 0;
    const gint64 ids[WHOLE] = { 1, 3, END };
    g_ptr_array_add (texts, (gpointer) "a cat end");
    g_ptr_array_add (texts, (gpointer) rows[i].text);
    g_autoptr (SlTextEncoder) encoder = sl_text_encoder_new (path, tokens, texts, 2, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_text_encoder_tokens (encoder), ==, rows[i].tokens);
    g_assert_true (sl_text_encoder_add (encoder, "a cat end", sum, &error));
    expected_row (numbers, ids, 2, wanted);
    for (guint k = 0; k < WIDTH; k++)
      squares += wanted[k] * wanted[k];
    for (guint k = 0; k < WIDTH; k++)
      g_assert_cmpfloat_with_epsilon (sum[k], wanted[k] / sqrt (squares), 1e-5);
  }
  sl_tflite_remove_temp (path);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++) {
    g_autofree char *name = g_strconcat ("/models/causal/", forms[i].name, NULL);
    g_test_add_data_func (name, GUINT_TO_POINTER (i), test_form);
  }
  g_test_add_func ("/models/causal/encoder", test_encoder);
  return g_test_run ();
}
