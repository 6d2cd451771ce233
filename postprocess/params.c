/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters and descriptions for decoders. Called when a decoder is opened, never per frame. */
#include "postprocess/params.h"

#include <math.h>

#include "core/base/fail.h"

const SlDecoderParam sl_decoder_model_params[] = { SL_PARAM_NUMBER (SL_PARAM_THRESHOLD, 0, 1),
                                                   SL_PARAM_BOOL (SL_PARAM_CHECK),
                                                   SL_PARAM_TEXT ("task"),
                                                   SL_PARAM_TEXT ("stride"),
                                                   SL_PARAM_LIST ("imgsz", 1, 65536, 2),
                                                   SL_PARAM_TEXT ("kpt_shape"),
                                                   { NULL } };

const char *
sl_decoder_param (const SlDecoderConfig *config, const char *key)
{
  return config->params != NULL ? g_hash_table_lookup (config->params, key) : NULL;
}

/* Reads numbers separated by ','. Returns 0 without numbers, with too many, or when one is outside
 * @lo..@hi. */
static guint
parse_numbers (const char *text, double lo, double hi, double *values, guint max)
{
  guint n = 0;
  for (;;) {
    char *end = NULL;
    double value = g_ascii_strtod (text, &end);
    if (end == text || n == max || !isfinite (value) || value < lo || value > hi)
      return 0;
    if (values != NULL)
      values[n] = value;
    n++;
    while (g_ascii_isspace (*end))
      end++;
    if (*end == '\0')
      return n;
    if (*end != ',')
      return 0;
    text = end + 1;
  }
}

static const char *const bool_words[] = { "no", "false", "0", "yes", "true", "1", NULL };
#define FIRST_YES 3

static gint
find_word (const char *const *words, const char *text)
{
  for (gint i = 0; words[i] != NULL; i++)
    if (g_ascii_strcasecmp (words[i], text) == 0)
      return i;
  return -1;
}

static gboolean
parse_integer (const SlDecoderParam *row, const char *text, gint64 *number)
{
  g_autofree char *trimmed = g_strstrip (g_strdup (text));
  return g_ascii_string_to_signed (trimmed, 10, (gint64) row->minimum, (gint64) row->maximum,
                                   number, NULL);
}

static gboolean
are_words (const char *const *choices, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  for (guint i = 0; words[i] != NULL; i++)
    if (find_word (choices, g_strstrip (words[i])) < 0)
      return FALSE;
  return words[0] != NULL;
}

static gboolean
takes_value (const SlDecoderParam *row, const char *text)
{
  gint64 number;
  switch (row->kind) {
    case SL_PARAM_IS_CHOICE:
      return find_word (row->choices, text) >= 0;
    case SL_PARAM_IS_BOOL:
      return find_word (bool_words, text) >= 0;
    case SL_PARAM_IS_INTEGER:
      return parse_integer (row, text, &number);
    case SL_PARAM_IS_NUMBER:
      return parse_numbers (text, row->minimum, row->maximum, NULL, 1) == 1;
    case SL_PARAM_IS_LIST:
      return g_strcmp0 (text, row->word) == 0
             || parse_numbers (text, row->minimum, row->maximum, NULL, row->most) > 0;
    case SL_PARAM_IS_WORDS:
      return are_words (row->choices, text);
    case SL_PARAM_IS_TEXT:
      break;
  }
  return TRUE;
}

/* (transfer full) */
static char *
describe_values (const SlDecoderParam *row)
{
  const char *const *words = row->kind == SL_PARAM_IS_BOOL ? bool_words : row->choices;
  g_autofree char *all = words != NULL ? g_strjoinv (", ", (char **) words) : NULL;
  switch (row->kind) {
    case SL_PARAM_IS_INTEGER:
      return g_strdup_printf ("an integer %.0f..%.0f", row->minimum, row->maximum);
    case SL_PARAM_IS_NUMBER:
      return g_strdup_printf ("a number %g..%g", row->minimum, row->maximum);
    case SL_PARAM_IS_LIST:
      return g_strdup_printf ("%s%s1 to %u numbers %g..%g with ',' between",
                              row->word != NULL ? row->word : "", row->word != NULL ? " or " : "",
                              row->most, row->minimum, row->maximum);
    case SL_PARAM_IS_WORDS:
      return g_strdup_printf ("words of %s with ',' between", all);
    case SL_PARAM_IS_CHOICE:
    case SL_PARAM_IS_BOOL:
    case SL_PARAM_IS_TEXT:
      break;
  }
  return g_strdup_printf ("one of %s", all);
}

const SlDecoderParam *
sl_decoder_param_row (const SlDecoderParam *params, const char *key)
{
  for (guint i = 0; params != NULL && params[i].name != NULL; i++)
    if (g_str_equal (params[i].name, key))
      return &params[i];
  return NULL;
}

gboolean
sl_decoder_param_check (const SlDecoderParam *row, const char *text, GError **error)
{
  if (takes_value (row, text))
    return TRUE;
  g_autofree char *expected = describe_values (row);
  return sl_fail (error, SL_ERROR_ARGUMENT, "decoder parameter %s: expected %s, got '%s'",
                  row->name, expected, text);
}

/* *@text becomes the value of @key, (nullable) NULL when it is absent; FALSE when its row does not
 * allow it. */
static gboolean
read_param (const SlDecoderConfig *config, const SlDecoderParam *params, const char *key,
            const SlDecoderParam **row, const char **text, GError **error)
{
  *row = sl_decoder_param_row (params, key);
  g_assert (*row != NULL);
  *text = sl_decoder_param (config, key);
  return *text == NULL || sl_decoder_param_check (*row, *text, error);
}

gboolean
sl_decoder_param_int (const SlDecoderConfig *config, const SlDecoderParam *params, const char *key,
                      gint fallback, gint *value, GError **error)
{
  const SlDecoderParam *row;
  const char *text;
  gint64 number = fallback;
  if (!read_param (config, params, key, &row, &text, error))
    return FALSE;
  if (text != NULL)
    parse_integer (row, text, &number);
  *value = (gint) number;
  return TRUE;
}

gboolean
sl_decoder_param_choice (const SlDecoderConfig *config, const SlDecoderParam *params,
                         const char *key, guint *value, GError **error)
{
  const SlDecoderParam *row;
  const char *text;
  *value = 0;
  if (!read_param (config, params, key, &row, &text, error))
    return FALSE;
  if (text != NULL)
    *value = (guint) find_word (row->choices, text);
  return TRUE;
}

gboolean
sl_decoder_param_bool (const SlDecoderConfig *config, const SlDecoderParam *params, const char *key,
                       gboolean fallback, gboolean *value, GError **error)
{
  const SlDecoderParam *row;
  const char *text;
  *value = fallback;
  if (!read_param (config, params, key, &row, &text, error))
    return FALSE;
  if (text != NULL)
    *value = find_word (bool_words, text) >= FIRST_YES;
  return TRUE;
}

gboolean
sl_decoder_param_double (const SlDecoderConfig *config, const SlDecoderParam *params,
                         const char *key, double fallback, double *value, GError **error)
{
  const SlDecoderParam *row;
  const char *text;
  *value = fallback;
  if (!read_param (config, params, key, &row, &text, error))
    return FALSE;
  if (text != NULL)
    parse_numbers (text, row->minimum, row->maximum, value, 1);
  return TRUE;
}

gboolean
sl_decoder_param_list (const SlDecoderConfig *config, const SlDecoderParam *params, const char *key,
                       double *values, guint *n, GError **error)
{
  const SlDecoderParam *row;
  const char *text;
  if (!read_param (config, params, key, &row, &text, error))
    return FALSE;
  if (text != NULL)
    *n = parse_numbers (text, row->minimum, row->maximum, values, row->most);
  return TRUE;
}

gboolean
sl_decoder_param_words (const SlDecoderConfig *config, const char *key, guint n,
                        gboolean may_be_one, char ***words, GError **error)
{
  const char *text = sl_decoder_param (config, key);
  if (text == NULL)
    return TRUE;
  g_auto (GStrv) stated = g_strsplit (text, ",", -1);
  const guint count = g_strv_length (stated);
  const gboolean repeated = may_be_one && count == 1;
  if (count != n && !repeated)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder parameter %s: expected %u words with ',' between, one a number of the vector%s, "
      "got %u",
      key, n, may_be_one ? ", or one for all" : "", count);
  *words = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    (*words)[i] = g_strdup (g_strstrip (stated[repeated ? 0 : i]));
  return TRUE;
}

gboolean
sl_decoder_param_size (const SlDecoderConfig *config, gint32 *width, gint32 *height, GError **error)
{
  double size[2];
  guint n = 0;
  if (!sl_decoder_param_list (config, sl_decoder_model_params, "imgsz", size, &n, error))
    return FALSE;
  *width = n > 0 ? (gint32) size[n - 1] : config->input_width;
  *height = n > 0 ? (gint32) size[0] : config->input_height;
  return TRUE;
}

gpointer
sl_decoder_refuse (const SlDecoderConfig *config, const char *decoder, const char *expected,
                   GError **error)
{
  g_autofree char *got = sl_decoder_describe (config);
  return sl_fail_null (error, SL_ERROR_SHAPE, "decoder %s: expected %s, got %s", decoder, expected,
                       got);
}

guint
sl_decoder_elements (const SlTensorInfo *tensor)
{
  guint64 elements = 1;
  for (guint i = 0; i < tensor->rank && i < SL_MAX_RANK; i++) {
    if (tensor->dims[i] <= 0)
      return 0;
    elements *= (guint64) tensor->dims[i];
    if (elements > G_MAXINT32)
      return 0;
  }
  return (guint) elements;
}

guint
sl_decoder_one_class (const SlDecoderConfig *config)
{
  return 1;
}

guint
sl_decoder_columns (const SlTensorInfo *tensor)
{
  return tensor->rank >= 2 ? (guint) tensor->dims[tensor->rank - 1] : 0;
}

gboolean
sl_decoder_is_vector (const SlTensorInfo *tensor)
{
  gint32 longest = 1;
  for (guint i = 0; i < tensor->rank; i++)
    longest = MAX (longest, tensor->dims[i]);
  return tensor->rank >= 1 && sl_decoder_elements (tensor) == (guint) longest;
}

char *
sl_decoder_describe (const SlDecoderConfig *config)
{
  return sl_tensor_infos_describe (config->tensors, MIN (config->n_tensors, SL_MAX_IO));
}

gboolean
sl_decoder_find_rows (const SlDecoderConfig *config, guint rows, guint columns, guint skip,
                      guint *at)
{
  for (*at = 0; *at < config->n_tensors; (*at)++) {
    const SlTensorInfo *tensor = &config->tensors[*at];
    if (tensor->dtype == SL_DTYPE_F32 && tensor->rank >= 2
        && (guint) tensor->dims[tensor->rank - 1] == columns
        && sl_decoder_elements (tensor) / columns == rows && skip-- == 0)
      return TRUE;
  }
  return FALSE;
}
