/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "text": a line of text, step by step. The output has T steps from left to right, and for
 * each step a score of each of C classes. Its shape is [T,1,C], [1,T,C] or, with "transposed",
 * [1,C,T]. The best class of each step counts. One class is no character:
 *  - "blank", of networks trained with CTC (connectionist temporal classification), such as CRNN:
 *    equal neighbours are one character, and blanks are dropped.
 *  - "end", of networks with attention, such as PARSeq and ViTSTR, or with a place for each
 *    character: each step is a character, and the first end ends the text.
 * The text is the label of the whole picture. Its confidence is the mean of the best shares of its
 * characters, which are given, too.
 *
 * Parameters: "blank" or "end" (one is needed) is that class, mostly 0 or the last. "alphabet" is
 * the string of characters, where no labels name them. "transposed" is yes for [1,C,T].
 * "activation" is none or softmax; by default the model's last operators tell, else the first value
 * outside 0..1. Names are given for all C classes, or for all but that one. With the blank first
 * they may also leave out a space at the end. "<space>" is a space.
 */
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/prefix.h"
#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/values.h"

#define MAX_STEPS 4096
#define MAX_CLASSES 65536
#define LONGEST_NAME 64
#define SPACE "<space>"
#define FLOAT_SLACK 1e-3f
/* Fewer steps or classes than these are hardly text. */
#define FEW_STEPS 4
#define FEW_CLASSES 11
/* A line of text is so many times as wide as it is high, or more. */
#define LINE_PROPORTION 3

static const char *const activations[] = { "none", "softmax", NULL };
static const SlDecoderParam params[] = { SL_PARAM_INTEGER ("blank", 0, G_MAXINT32),
                                         SL_PARAM_INTEGER ("end", 0, G_MAXINT32),
                                         SL_PARAM_TEXT ("alphabet"),
                                         SL_PARAM_BOOL ("transposed"),
                                         SL_PARAM_CHOICE ("activation", activations),
                                         { NULL } };

typedef struct
{
  guint steps, classes, blank;
  gsize step, class_step; /* from a number to that of the next step, the next class */
  gboolean ends;          /* @blank ends the text, and equal neighbours are two characters */
  gboolean softmax, watch;
  gfloat threshold;
  SlValues values;
  char **names;   /* of each class; empty: the blank, and classes without a name */
  guint *lengths; /* of each name, in characters */
  char *text;
  gfloat *shares; /* of the characters of @text */
} State;

/* Steps and classes: the two dimensions that are not 1, of which one may be missing. FALSE when
 * there are more. */
static gboolean
find_shape (const SlDecoderConfig *config, gboolean transposed, guint *steps, guint *classes)
{
  const SlTensorInfo *tensor = &config->tensors[0];
  guint sizes[2] = { 1, 1 }, n = 0;
  if (config->n_tensors != 1 || !sl_values_readable (tensor->dtype) || tensor->rank < 2)
    return FALSE;
  for (guint i = tensor->rank; i-- > 0;)
    if (tensor->dims[i] > 1) {
      if (n == 2)
        return FALSE;
      sizes[n++] = (guint) tensor->dims[i];
    }
  *steps = sizes[transposed ? 0 : 1];
  *classes = sizes[transposed ? 1 : 0];
  return *classes >= 2 && *classes <= MAX_CLASSES && *steps <= MAX_STEPS;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  return FALSE;
}

/* Whether the input is a line of text by its proportions, and has room for the steps: the shorter
 * dimension, since classes may be the first. */
static gboolean
reads_line (const SlDecoderConfig *config, guint steps, guint classes)
{
  return config->input_width >= LINE_PROPORTION * config->input_height
         && MIN (steps, classes) <= (guint) config->input_width;
}

/* Shares of many classes, a batch of one in the middle, where recurrent layers of PyTorch and Keras
 * have it, or anything of a line of text. */
static const char *
unmatched (const SlDecoderConfig *config)
{
  const SlTensorInfo *tensor = &config->tensors[0];
  guint steps, classes;
  if (!find_shape (config, FALSE, &steps, &classes) || tensor->rank != 3 || steps < FEW_STEPS
      || classes < FEW_CLASSES
      || (tensor->dims[1] != 1 && tensor->values != SL_VALUES_SHARES
          && !reads_line (config, steps, classes)))
    return NULL;
  return "they may be the characters of a text, step by step: state decoder=text,blank=0 (or the "
         "last class; end= for a network with attention) with labels of one character a line, or "
         "alphabet=0123... behind it; transposed=yes where classes are the first dimension";
}

static void
close_text (gpointer opened)
{
  State *state = opened;
  g_strfreev (state->names);
  g_free (state->lengths);
  g_free (state->shares);
  g_free (state->text);
  g_free (state);
}

/* (transfer full): the characters of @text, one a word, SPACE for a space. */
static GPtrArray *
split_characters (const char *text)
{
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);
  for (const char *at = text, *next; *at != '\0'; at = next) {
    next = sl_has_prefix (at, SPACE) ? at + strlen (SPACE) : g_utf8_next_char (at);
    g_ptr_array_add (words, g_strndup (at, (gsize) (next - at)));
  }
  return words;
}

/* (transfer full) (nullable): what the characters are called, in order. */
static GPtrArray *
read_words (const SlDecoderConfig *config, GError **error)
{
  const char *alphabet = sl_decoder_param (config, "alphabet");
  if (alphabet != NULL && g_utf8_validate (alphabet, -1, NULL))
    return split_characters (alphabet);
  if (alphabet != NULL)
    return sl_fail_null (
      error, SL_ERROR_ARGUMENT,
      "decoder parameter alphabet: expected characters in UTF-8, got other bytes");
  if (config->n_labels == 0 || config->label_names == NULL)
    return sl_fail_null (
      error, SL_ERROR_LABELS,
      "decoder text: nothing says which characters the classes are: give labels with one character "
      "a line, or state alphabet=0123... in the order of the classes");
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < config->n_labels; i++)
    g_ptr_array_add (words, g_strdup (config->label_names[i]));
  return words;
}

/* A name for each class from @words, which may leave the blank out; @labels also a space behind all
 * others, as Paddle does. */
static gboolean
name_classes (State *state, GPtrArray *words, gboolean labels, GError **error)
{
  const guint n = words->len;
  const gboolean with_blank = n == state->classes,
                 with_space = labels && state->blank == 0 && n + 2 == state->classes;
  if (!with_blank && !with_space && n + 1 != state->classes)
    return sl_fail (
      error, SL_ERROR_LABELS,
      "decoder text: %u characters for %u classes, of which one is blank: expected %u, or %u with "
      "one for the blank; a space is written as " SPACE,
      n, state->classes, state->classes - 1, state->classes);
  state->names = g_new0 (char *, state->classes + 1);
  for (guint c = 0; c < state->classes; c++) {
    const guint at = with_blank || c < state->blank ? c : c - 1;
    const char *word = c == state->blank ? "" : at < n ? g_ptr_array_index (words, at) : " ";
    if (word == NULL)
      return sl_fail (
        error, SL_ERROR_LABELS,
        "decoder text: class %u has an empty line among the labels; a space is written as " SPACE,
        c);
    if (strlen (word) > LONGEST_NAME)
      return sl_fail (
        error, SL_ERROR_LABELS,
        "decoder text: the name of class %u has %u bytes; expected one character, at most %d", c,
        (guint) strlen (word), LONGEST_NAME);
    state->names[c] = g_utf8_make_valid (strcmp (word, SPACE) == 0 ? " " : word, -1);
  }
  return TRUE;
}

static gboolean
read_blank (State *state, const SlDecoderConfig *config, GError **error)
{
  gint blank, end;
  if (!sl_decoder_param_int (config, params, "blank", -1, &blank, error)
      || !sl_decoder_param_int (config, params, "end", -1, &end, error))
    return FALSE;
  if (blank >= 0 && end >= 0)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "decoder text: blank=%d and end=%d: expected one of them: blank of a network "
                    "trained with CTC, end of one with attention",
                    blank, end);
  state->ends = end >= 0;
  blank = MAX (blank, end);
  if (blank >= (gint) state->classes)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "decoder parameter %s: expected an integer 0..%u, got '%d'",
                    state->ends ? "end" : "blank", state->classes - 1, blank);
  if (blank < 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder text: nothing says which of the %u classes is no character: state blank=0, as "
      "PyTorch and Paddle have it, or blank=%u, as Keras does, or end=, the class behind the last "
      "character of a network with attention",
      state->classes, state->classes - 1);
  state->blank = (guint) blank;
  return TRUE;
}

static gboolean
read_activation (State *state, const SlDecoderConfig *config, GError **error)
{
  const SlValueKind kind = config->tensors[0].values;
  guint activation;
  if (!sl_decoder_param_choice (config, params, "activation", &activation, error))
    return FALSE;
  const gboolean stated = sl_decoder_param (config, "activation") != NULL;
  state->softmax = stated ? activation == 1 : kind == SL_VALUES_LOGITS;
  state->watch = !stated && kind != SL_VALUES_LOGITS && kind != SL_VALUES_SHARES
                 && kind != SL_VALUES_PROBABILITIES;
  return TRUE;
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  if (!read_blank (state, config, error) || !read_activation (state, config, error))
    return FALSE;
  g_autoptr (GPtrArray) words = read_words (config, error);
  return words != NULL
         && name_classes (state, words, sl_decoder_param (config, "alphabet") == NULL, error);
}

static gpointer
open_text (const SlDecoderConfig *config, GError **error)
{
  gboolean transposed;
  guint steps, classes;
  gsize longest = 0;
  if (!sl_decoder_param_bool (config, params, "transposed", FALSE, &transposed, error))
    return NULL;
  if (!find_shape (config, transposed, &steps, &classes))
    return sl_decoder_refuse (
      config, "text",
      "one tensor [T,1,C] or [1,T,C], with transposed=yes [1,C,T], of uint8, int8 or float32, of "
      "at most 4096 steps and 2 to 65536 classes",
      error);
  State *state = g_new0 (State, 1);
  *state = (State){ .steps = steps,
                    .classes = classes,
                    .step = transposed ? 1 : classes,
                    .class_step = transposed ? steps : 1,
                    .threshold = config->threshold };
  if (!read_parameters (state, config, error)) {
    close_text (state);
    return NULL;
  }
  sl_values_init (&state->values, &config->tensors[0], SL_SCORES_PLAIN);
  state->lengths = g_new (guint, classes);
  for (guint c = 0; c < classes; c++) {
    longest = MAX (longest, strlen (state->names[c]));
    state->lengths[c] = (guint) g_utf8_strlen (state->names[c], -1);
  }
  state->text = g_malloc (steps * longest + 1);
  state->shares = g_new (gfloat, steps * MAX (longest, 1));
  return state;
}

static gfloat
score_at (const State *state, const void *data, guint t, guint c)
{
  return sl_values_get (&state->values, data, t * state->step + c * state->class_step);
}

/* The best class of step @t, the blank where no score is a number; *@share: of that class. */
static guint
best_class (State *state, const void *data, guint t, double *share)
{
  guint best = state->blank;
  gfloat highest = -INFINITY;
  double sum = 0;
  for (guint c = 0; c < state->classes; c++) {
    const gfloat score = score_at (state, data, t, c);
    if (score > highest) {
      highest = score;
      best = c;
    }
    if (state->watch && isfinite (score) && (score < -FLOAT_SLACK || score > 1 + FLOAT_SLACK)) {
      state->watch = FALSE;
      state->softmax = TRUE;
    }
  }
  *share = isfinite (highest) ? CLAMP (highest, 0, 1) : highest > 0;
  if (!state->softmax || !isfinite (highest))
    return best;
  for (guint c = 0; c < state->classes; c++) {
    const double part = exp ((double) score_at (state, data, t, c) - (double) highest);
    sum += isnan (part) ? 0 : part;
  }
  *share = 1 / sum;
  return best;
}

/* Text as it grows; the last character began at @last. */
typedef struct
{
  gsize bytes;
  guint characters, last, n; /* @n: classes that were appended */
  double sum;
} Line;

/* @share counts for all characters of the class's name. */
static void
set_share (State *state, Line *line, double share)
{
  for (guint i = line->last; i < line->characters; i++)
    state->shares[i] = (gfloat) share;
}

static void
append_class (State *state, Line *line, guint class, double share)
{
  const gsize bytes = strlen (state->names[class]);
  memcpy (state->text + line->bytes, state->names[class], bytes);
  line->bytes += bytes;
  line->last = line->characters;
  line->characters += state->lengths[class];
  line->sum += share;
  line->n++;
  set_share (state, line, share);
}

static void
decode_text (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  guint before = state->blank;
  double highest = 0;
  Line line = { 0 };
  for (guint t = 0; t < state->steps; t++) {
    double share;
    const guint best = best_class (state, data[0], t, &share);
    if (best == state->blank && state->ends)
      break;
    if (best != state->blank && (best != before || state->ends)) {
      append_class (state, &line, best, share);
      highest = share;
    } else if (best != state->blank && share > highest) {
      /* A character counts with the best of its steps. */
      line.sum += share - highest;
      highest = share;
      set_share (state, &line, share);
    }
    before = best;
  }
  state->text[line.bytes] = '\0';
  if (line.bytes > 0 && line.sum / line.n >= state->threshold)
    result->classes[result->n_classes++] = (SlClass){ SL_TEXT_ID, (gfloat) (line.sum / line.n),
                                                      state->text, line.characters, state->shares };
}

const SlDecoder sl_decoder_text = {
  .name = "text",
  .description =
    "the characters of a line of text, step by step (CTC or attention), such as float32[26,1,37], "
    "with blank= or end= stated",
  .params = params,
  .threshold = 0,
  .matches = matches,
  .unmatched = unmatched,
  .open = open_text,
  .decode = decode_text,
  .close = close_text,
};
