/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of text: each path through the steps against a second implementation in double, and what is
 * refused. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define STEPS 9
#define CLASSES 5

static const char *const letters[] = { "a", "b", "c", "d", "e" };

static SlDecoderConfig
new_config (const gint32 *dims, guint n_labels)
{
  SlDecoderConfig config = {
    .threshold = 0, .max_results = 1, .n_labels = n_labels, .label_names = letters
  };
  config_add (&config, SL_DTYPE_F32, dims, 0, 0);
  return config;
}

static SlDecoding *
open_text (const char *name, const SlDecoderConfig *config)
{
  g_autoptr (GError) error = NULL;
  SlDecoding *decoding = sl_decoding_new (name, config, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_decoding_classes (decoding), ==, 0);
  return decoding;
}

/* Scores in which class @path[t] wins step t; digits are classes. */
static void
fill (gfloat *scores, const char *path, gboolean transposed)
{
  for (guint t = 0; t < STEPS; t++)
    for (guint c = 0; c < CLASSES; c++)
      scores[transposed ? c * STEPS + t : t * CLASSES + c] =
        (guint) (path[t] - '0') == c ? 0.6f + 0.01f * (gfloat) t : 0.02f * (gfloat) c;
}

/* The text of @scores and the mean over its characters of their best step's share, in the plainest
 * way. */
static char *
read_plainly (const gfloat *scores, guint blank, gboolean softmax, double *confidence)
{
  GString *text = g_string_new (NULL);
  gint before = -1;
  double best_of[STEPS] = { 0 }, sum = 0;
  for (guint t = 0; t < STEPS; t++) {
    const gfloat *row = scores + t * CLASSES;
    gint best = 0;
    double all = 0;
    for (gint c = 1; c < CLASSES; c++)
      best = row[c] > row[best] ? c : best;
    for (gint c = 0; c < CLASSES; c++)
      all += exp ((double) row[c]);
    const double share = softmax ? exp ((double) row[best]) / all : row[best];
    if (best != before && best != (gint) blank)
      g_string_append (text, letters[best < (gint) blank ? best : best - 1]);
    if (best != (gint) blank)
      best_of[text->len - 1] = MAX (best_of[text->len - 1], share);
    before = best;
  }
  for (guint i = 0; i < text->len; i++)
    sum += best_of[i];
  *confidence = text->len > 0 ? sum / (double) text->len : 0;
  return g_string_free (text, FALSE);
}

static void
test_paths (void)
{
  static const struct
  {
    const char *path;
    guint blank;
    const char *text;
  } rows[] = {
    { "000000000", 4, "a" },  { "040404040", 4, "aaaaa" },  { "001122334", 4, "abcd" },
    { "444444444", 4, "" },   { "400440112", 4, "aabc" },   { "123401234", 0, "abcdabcd" },
    { "000010200", 0, "ab" }, { "102020201", 2, "baaaab" },
  };
  gfloat scores[STEPS * CLASSES];
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint form = 0; form < 3; form++) {
      SlDecoderConfig config = new_config (form == 0   ? DIMS (STEPS, 1, CLASSES)
                                           : form == 1 ? DIMS (1, STEPS, CLASSES)
                                                       : DIMS (1, CLASSES, 1, STEPS),
                                           CLASSES - 1);
      g_autofree char *name =
        g_strdup_printf ("text,blank=%u%s", rows[i].blank, form == 2 ? ",transposed=yes" : "");
      g_autoptr (SlDecoding) decoding = open_text (name, &config);
      double confidence;
      fill (scores, rows[i].path, FALSE);
      g_autofree char *expected = read_plainly (scores, rows[i].blank, FALSE, &confidence);
      g_assert_cmpstr (expected, ==, rows[i].text);
      fill (scores, rows[i].path, form == 2);
      const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ scores });
      g_assert_cmpuint (result->n_classes, ==, expected[0] != '\0');
      if (result->n_classes == 0)
        continue;
      g_assert_cmpstr (result->classes[0].text, ==, expected);
      g_assert_cmpint (result->classes[0].label_id, ==, SL_TEXT_ID);
      g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, confidence, 1e-6);
    }
}

/* Random logits, which a number outside 0..1 tells, or the operators or the user do. */
static void
test_logits (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (22);
  gfloat scores[STEPS * CLASSES];
  for (guint i = 0; i < 200; i++) {
    for (guint k = 0; k < G_N_ELEMENTS (scores); k++)
      scores[k] = (gfloat) g_rand_double_range (rand, -6, 6);
    scores[0] = -9;
    SlDecoderConfig config = new_config (DIMS (1, STEPS, CLASSES), CLASSES - 1);
    config.tensors[0].values = i % 3 == 0 ? SL_VALUES_LOGITS : SL_VALUES_UNKNOWN;
    const guint blank = i % CLASSES;
    g_autofree char *name =
      g_strdup_printf ("text,blank=%u%s", blank, i % 3 == 1 ? ",activation=softmax" : "");
    g_autoptr (SlDecoding) decoding = open_text (name, &config);
    double confidence;
    g_autofree char *expected = read_plainly (scores, blank, TRUE, &confidence);
    const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ scores });
    g_assert_cmpuint (result->n_classes, ==, expected[0] != '\0');
    if (result->n_classes > 0) {
      g_assert_cmpstr (result->classes[0].text, ==, expected);
      g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, confidence, 1e-5);
    }
  }
}

/* Names of all classes, of all but the blank, and of all but the blank and a space; or an alphabet.
 */
static void
test_names (void)
{
  static const char *const spaced[] = { "a", "<space>", "??", "d", "e" }, *const gap[] = {
    "a", "b", "c", NULL, "e"
  };
  static const char *const alphabet = "text,blank=4,alphabet=\xe4\xba\xac"
                                      "1,2";
  gfloat scores[STEPS * CLASSES];
  fill (scores, "123412340", FALSE);
  SlDecoderConfig config = new_config (DIMS (STEPS, 1, CLASSES), 3);
  g_autoptr (SlDecoding) paddle = open_text ("text,blank=0", &config);
  g_assert_cmpstr (sl_decoding_run (paddle, (const void *const[]){ scores })->classes[0].text, ==,
                   "abc abc ");
  config.n_labels = CLASSES;
  config.label_names = spaced;
  g_autoptr (SlDecoding) all = open_text ("text,blank=0", &config);
  g_assert_cmpstr (sl_decoding_run (all, (const void *const[]){ scores })->classes[0].text, ==,
                   " ??de ??de");
  config.label_names = gap;
  assert_open_fails ("text,blank=0", &config, SL_ERROR_LABELS,
                     "class 3 has an empty line among the labels; a space is written as <space>");
  fill (scores, "011233441", FALSE);
  g_autoptr (SlDecoding) stated = open_text (alphabet, &config);
  g_assert_cmpstr (sl_decoding_run (stated, (const void *const[]){ scores })->classes[0].text, ==,
                   "\xe4\xba\xac"
                   "1,21");
}

static void
test_odd_numbers (void)
{
  gfloat scores[STEPS * CLASSES];
  SlDecoderConfig config = new_config (DIMS (STEPS, 1, CLASSES), CLASSES - 1);
  g_autoptr (SlDecoding) decoding = open_text ("text,blank=4", &config);
  for (guint i = 0; i < G_N_ELEMENTS (scores); i++)
    scores[i] = NAN;
  g_assert_cmpuint (sl_decoding_run (decoding, (const void *const[]){ scores })->n_classes, ==, 0);
  scores[1] = INFINITY;
  scores[2] = 3;
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ scores });
  g_assert_cmpstr (result->classes[0].text, ==, "b");
  g_assert_cmpfloat (result->classes[0].confidence, ==, 1);
  scores[1] = -INFINITY;
  g_assert_cmpfloat (
    sl_decoding_run (decoding, (const void *const[]){ scores })->classes[0].confidence, ==, 1);
  config.threshold = 0.7f;
  g_autoptr (SlDecoding) sure = open_text ("text,blank=4", &config);
  fill (scores, "012344444", FALSE);
  g_assert_cmpuint (sl_decoding_run (sure, (const void *const[]){ scores })->n_classes, ==, 0);
}

/* The message proposes text for softmax rows and for inputs of the proportions of a line, not for
 * rows of other pictures; a table of rows is no map of pixels. */
static void
test_proposed (void)
{
  static const struct
  {
    gint32 dims[4];
    gint32 width, height;
    SlValueKind values;
    gboolean text;
  } cases[] = { { { 1, 40, 6625 }, 320, 48, SL_VALUES_SHARES, TRUE },
                { { 1, 68, 18 }, 94, 24, SL_VALUES_LOGITS, TRUE },
                { { 1, 68, 18 }, 94, 32, SL_VALUES_LOGITS, FALSE },
                { { 1, 300, 100 }, 94, 24, SL_VALUES_LOGITS, FALSE },
                { { 1, 300, 57 }, 640, 640, SL_VALUES_LOGITS, FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SlDecoderConfig config = new_config (cases[i].dims, 0);
    g_autoptr (GError) error = NULL;
    config.label_names = NULL;
    config.input_width = cases[i].width;
    config.input_height = cases[i].height;
    config.tensors[0].values = cases[i].values;
    g_assert_null (sl_decoding_new (NULL, &config, &error));
    g_assert_cmpint (strstr (error->message, "state decoder=text,blank=0") != NULL, ==,
                     cases[i].text);
    g_assert_cmpint (strstr (error->message, "transposed=yes where classes are the first") != NULL,
                     ==, cases[i].text);
    g_assert_null (strstr (error->message, "depth"));
  }
}

/* With an end class equal neighbours stay two, and what follows the end does not count. */
static void
test_end (void)
{
  static const struct
  {
    const char *path;
    guint end;
    const char *text;
  } rows[] = { { "001122334", 4, "aabbccdd" },
               { "004112233", 4, "aa" },
               { "444444444", 4, "" },
               { "123401234", 0, "abcd" },
               { "111111111", 0, "aaaaaaaaa" } };
  gfloat scores[STEPS * CLASSES];
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlDecoderConfig config = new_config (DIMS (1, STEPS, CLASSES), CLASSES - 1);
    g_autofree char *name = g_strdup_printf ("text,end=%u", rows[i].end);
    g_autoptr (SlDecoding) decoding = open_text (name, &config);
    double sum = 0;
    fill (scores, rows[i].path, FALSE);
    const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ scores });
    const guint n = (guint) strlen (rows[i].text);
    g_assert_cmpuint (result->n_classes, ==, n > 0);
    for (guint k = 0; k < n; k++) {
      g_assert_cmpfloat_with_epsilon ((double) result->classes[0].shares[k], 0.6 + 0.01 * k, 1e-6);
      sum += 0.6 + 0.01 * k;
    }
    if (n == 0)
      continue;
    g_assert_cmpuint (result->classes[0].n_shares, ==, n);
    g_assert_cmpstr (result->classes[0].text, ==, rows[i].text);
    g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, sum / n, 1e-6);
  }
}

/* A character has the share of its best step; all characters of a class's name have it. */
static void
test_shares (void)
{
  static const char *const names[] = { "\xe4\xba\xac", "xy", "c", "d" };
  static const double expected[] = { 0.61, 0.64, 0.64, 0.68 };
  SlDecoderConfig config = new_config (DIMS (STEPS, 1, CLASSES), CLASSES - 1);
  gfloat scores[STEPS * CLASSES];
  config.label_names = names;
  g_autoptr (SlDecoding) decoding = open_text ("text,blank=4", &config);
  fill (scores, "004114422", FALSE);
  const SlClass *found = &sl_decoding_run (decoding, (const void *const[]){ scores })->classes[0];
  g_assert_cmpstr (found->text, ==,
                   "\xe4\xba\xac"
                   "xyc");
  g_assert_cmpuint (found->n_shares, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpfloat_with_epsilon ((double) found->shares[i], expected[i], 1e-6);
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config (DIMS (14, 1, 87), 0);
  config.label_names = NULL;
  assert_open_fails (
    NULL, &config, SL_ERROR_SHAPE,
    "they may be the characters of a text, step by step: state decoder=text,blank=0");
  assert_open_fails (
    "text", &config, SL_ERROR_ARGUMENT,
    "which of the 87 classes is no character: state blank=0, as PyTorch and Paddle have it, or "
    "blank=86");
  assert_open_fails ("text,blank=1,end=2", &config, SL_ERROR_ARGUMENT,
                     "decoder text: blank=1 and end=2: expected one of them: blank of a network "
                     "trained with CTC, end of one with attention");
  assert_open_fails ("text,end=87", &config, SL_ERROR_ARGUMENT,
                     "end: expected an integer 0..86, got '87'");
  assert_open_fails ("text,blank=86", &config, SL_ERROR_LABELS,
                     "give labels with one character a line, or state alphabet=");
  assert_open_fails ("text,blank=87", &config, SL_ERROR_ARGUMENT,
                     "blank: expected an integer 0..86, got '87'");
  assert_open_fails ("text,blank=86,alphabet=abc", &config, SL_ERROR_LABELS,
                     "3 characters for 87 classes, of which one is blank: expected 86, or 87");
  assert_open_fails ("text,blank=0,alphabet= abc", &config, SL_ERROR_LABELS,
                     "a space is written as <space>");
  assert_open_fails ("text,blank=86,alphabet=\xff", &config, SL_ERROR_ARGUMENT,
                     "expected characters in UTF-8");
  assert_open_fails ("text,blank=86,activation=relu", &config, SL_ERROR_ARGUMENT,
                     "expected one of none, softmax");
  config = new_config (DIMS (2, 14, 87), 0);
  assert_open_fails ("text,blank=0", &config, SL_ERROR_SHAPE,
                     "expected one tensor [T,1,C] or [1,T,C]");
  config = new_config (DIMS (1, 5000, 87), 0);
  assert_open_fails ("text,blank=0", &config, SL_ERROR_SHAPE, "at most 4096 steps");
  g_autofree char *name = g_strnfill (65, 'x');
  config = new_config (DIMS (9, 1, 3), 2);
  config.label_names = (const char *const[]){ "a", name };
  assert_open_fails ("text,blank=0", &config, SL_ERROR_LABELS,
                     "the name of class 2 has 65 bytes; expected one character, at most 64");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_text/proposed", test_proposed);
  g_test_add_func ("/decode_text/paths", test_paths);
  g_test_add_func ("/decode_text/logits", test_logits);
  g_test_add_func ("/decode_text/names", test_names);
  g_test_add_func ("/decode_text/odd_numbers", test_odd_numbers);
  g_test_add_func ("/decode_text/end", test_end);
  g_test_add_func ("/decode_text/shares", test_shares);
  g_test_add_func ("/decode_text/refused", test_refused);
  return g_test_run ();
}
